package remote

import (
	"context"
	"errors"
	"slices"
	"sync"
)

const (
	// maxDecoding bounds, in bytes, what all answers of this process take that are being read or
	// decoded at a time. One answer's limit is below it.
	maxDecoding = 64 << 20
	// perValue is the approximate memory of one decoded JSON value, in bytes.
	perValue = 64
)

// errBusy says that there is no room for an answer.
var errBusy = errors.New("the broker reads too many answers now")

// answers is the budget that all answers share.
var answers = newBudget(maxDecoding)

// budget shares out the memory of answers. It is safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	free    int
	coming  int // from shares that give way
	settled int // had by answers that were read: they grow no more, and end without anybody's room
	wanted  int // by those in the queue
	queue   []*wish
	reading map[*share]bool // they may have to give way
}

// share is one answer's part of the budget.
type share struct {
	of   *budget
	end  context.CancelFunc // ends the answer's call
	size int
	gave int // what it had when it had to give way
	// settled: the answer was read, and what it has counts as settled.
	settled bool
}

// wish is a share's for more.
type wish struct {
	share   *share
	bytes   int
	granted chan struct{}
}

func newBudget(bytes int) *budget { return &budget{free: bytes, reading: map[*share]bool{}} }

// share is that of an answer that is about to be read; end ends its call. Release it.
func (b *budget) share(end context.CancelFunc) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &share{of: b, end: end}
	b.reading[s] = true
	return s
}

// grow adds to a share. It waits, in turn and until ctx ends, if answers that give way or were read
// make room for all that wait. If they do not, the largest of the answers that are still being read
// gives way, if it is larger than this one becomes: a server that sends much and then stalls holds
// up no other. Without one so large, an answer that has nothing yet waits, and another fails: two
// that hold something and wait would wait for each other. An answer that has waited for the whole
// time of its call fails as well.
func (s *share) grow(ctx context.Context, bytes int) error {
	b := s.of
	b.mu.Lock()
	full := func() bool { return b.free+b.coming+b.settled < b.wanted+bytes }
	for s.gave == 0 && full() {
		if !b.makeRoom(s.size + bytes) {
			break
		}
	}
	if s.gave > 0 || full() && s.size > 0 {
		b.mu.Unlock()
		return errBusy
	}
	w := &wish{share: s, bytes: bytes, granted: make(chan struct{})}
	b.queue = append(b.queue, w)
	b.wanted += bytes
	b.serve()
	b.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.queue, w); i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
		b.wanted -= bytes
		b.serve()
	}
	if s.gave > 0 || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return errBusy // and not the server's fault
	}
	return ctx.Err()
}

// makeRoom has the largest answer give way; false if it has no more than size.
func (b *budget) makeRoom(size int) bool {
	var largest *share
	for s := range b.reading {
		if largest == nil || s.size > largest.size {
			largest = s
		}
	}
	if largest == nil || largest.size <= size {
		return false
	}
	delete(b.reading, largest)
	largest.gave = largest.size
	b.coming += largest.gave
	largest.end()
	return true
}

// serve gives those that wait what they want, one after the other.
func (b *budget) serve() {
	for len(b.queue) > 0 && b.queue[0].bytes <= b.free {
		w := b.queue[0]
		b.queue = b.queue[1:]
		b.wanted -= w.bytes
		b.free -= w.bytes
		w.share.size += w.bytes
		close(w.granted)
	}
}

// settle says that the answer was read, and keeps its share. It fails if it had to give way.
func (s *share) settle() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.reading, s)
	if s.gave > 0 {
		return errBusy
	}
	s.settled = true
	s.of.settled += s.size
	return nil
}

// release gives back what the share has. More than once is as once.
func (s *share) release() {
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.reading, s)
	b.free += s.size
	b.coming -= s.gave
	if s.settled {
		b.settled -= s.size
	}
	s.size, s.gave, s.settled = 0, 0, false
	b.serve()
}
