package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
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

// Limit bounds one answer.
type Limit struct {
	// Bytes bounds the body.
	Bytes int
	// Values bounds the JSON values in it, member names included, Items the
	// elements of any one array.
	Values, Items int
}

// The limits of all that is read from VIMs and key stores.
var (
	// Small is the limit of one object, and the default. Kubernetes allows an
	// object 256 KiB of annotations.
	Small = Limit{Bytes: 320 << 10, Values: 20_000, Items: 1000}
	// Catalog is the limit of a Keystone token with its catalog, which has some
	// hundred KiB in a large cloud.
	Catalog = Limit{Bytes: 1 << 20, Values: 40_000, Items: 2048}
	// List is the limit of one page of a list.
	List = Limit{Bytes: 4 << 20, Values: 200_000, Items: 5000}
	// Keys is the limit of the list of all keys in a key store: 40 bytes for each VIM.
	Keys = Limit{Bytes: 16 << 20, Values: 500_000, Items: 500_000}
)

// maxDepth bounds how deep JSON nests. An object of Kubernetes nests up to some twenty deep.
const maxDepth = 64

type limitKey struct{}

// Expect returns a context whose calls may answer up to the limit.
func Expect(ctx context.Context, l Limit) context.Context {
	return context.WithValue(ctx, limitKey{}, l)
}

func limitOf(ctx context.Context) Limit {
	if l, ok := ctx.Value(limitKey{}).(Limit); ok {
		return l
	}
	return Small
}

// limitError says which bound an answer exceeds.
type limitError string

func (e limitError) Error() string { return string(e) }

func tooLong(bytes int) error {
	return limitError(fmt.Sprintf("the answer is longer than %d KiB", bytes>>10))
}

// Check counts the values of JSON that an answer held in another form, packed or in a text, before it is
// decoded. Its length is the caller's to bound.
func (l Limit) Check(text []byte) error {
	_, err := l.check(text)
	return err
}

// check counts the values of the JSON that body begins with, before any decoder
// allocates for them. A body that is not JSON passes: the decoder refuses it.
func (l Limit) check(body []byte) (values int, _ error) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return 0, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for ; ; values++ {
		t, err := d.ReadToken()
		if err != nil {
			return values, nil // a decoder refuses it before it allocates anything
		}
		if values > l.Values {
			return values, limitError(fmt.Sprintf("the answer holds more than %d values", l.Values))
		}
		depth := d.StackDepth()
		switch {
		case depth == 0:
			return values, nil
		case depth > maxDepth:
			return values, limitError(fmt.Sprintf("the answer nests more than %d deep", maxDepth))
		}
		if kind, n := d.StackIndex(depth); kind == '[' && n > int64(l.Items) {
			return values, limitError(fmt.Sprintf("the answer holds a list of more than %d items", l.Items))
		}
		if t.Kind() == '0' && len(t.String()) > maxNumber {
			return values, limitError(fmt.Sprintf("the answer holds a number of more than %d digits", maxNumber))
		}
	}
}

// maxNumber bounds a number, in digits.
const maxNumber = 64

// chunk is the size of an answer's first buffer, and the least share of the budget.
const chunk = 16 << 10

// read reads a body of at most limit bytes within a share of the budget. expected is how long
// the server says that it is; negative if it does not, and no more than a first guess at the
// memory to read it into.
func read(ctx context.Context, s *share, r io.Reader, expected int64, limit int) ([]byte, error) {
	if err := s.grow(ctx, chunk); err != nil {
		return nil, err
	}
	room := chunk
	if 0 <= expected && expected < chunk {
		room = int(expected) + 1 // where the end is found
	}
	body := make([]byte, 0, room)
	for {
		if len(body) > limit {
			return nil, tooLong(limit)
		}
		if len(body) == room {
			if room < chunk {
				room = chunk // it is longer than was said
			} else {
				more := min(room, limit+1-room)
				if err := s.grow(ctx, more); err != nil {
					return nil, err
				}
				room += more
			}
			body = slices.Grow(body, room-len(body))
		}
		n, err := r.Read(body[len(body):room])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type streamKey struct{}

// Stream returns a context whose calls answer with a stream of lines: the body of a
// success is not read whole. Read it with [Lines], and close it. The context's end ends
// it; the answer's header comes within the time of any other answer.
func Stream(ctx context.Context) context.Context { return context.WithValue(ctx, streamKey{}, true) }

func streamed(ctx context.Context) bool {
	yes, _ := ctx.Value(streamKey{}).(bool)
	return yes
}

// stream is roundTrip for a stream. An answer that is no success is read whole.
func (t *Transport) stream(way *http.Transport, request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	late := time.AfterFunc(answerTimeout, func() { cancel(context.DeadlineExceeded) })
	bounded := request.Clone(context.WithValue(ctx, connectsKey{}, new(atomic.Int32)))
	bounded.Header.Set("User-Agent", "vimbroker")
	bounded.Header.Set("Accept-Encoding", "identity")
	response, err := way.RoundTrip(bounded)
	if err == nil {
		if err = plain(response.Header); err != nil {
			_ = response.Body.Close()
		}
	}
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		end := func() { cancel(nil) }
		err = take(ctx, request.Context(), end, response)
		defer end()
	}
	inTime := late.Stop()
	if err != nil {
		cancel(nil)
		if !inTime {
			t.abandon(way)
			err = errors.Join(context.DeadlineExceeded, err)
		}
		return nil, err
	}
	response.Request = request
	if response.StatusCode < http.StatusMultipleChoices {
		response.Body = &flowing{response.Body, func() { cancel(nil) }}
	}
	return response, nil
}

// flowing is the body of a stream.
type flowing struct {
	io.ReadCloser
	end func()
}

func (f *flowing) Close() error {
	f.end()
	return f.ReadCloser.Close()
}

// Lines yields the lines of a stream, each within the limit. A line that exceeds it, or
// whose JSON does, ends the stream with a [*CallError]. server names who sent it in errors. A
// line is good until the next.
func Lines(body io.Reader, l Limit, server string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, min(chunk, l.Bytes)), l.Bytes)
		for lines.Scan() {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			if _, err := l.check(line); err != nil {
				yield(nil, Unanswered(err, server))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = tooLong(l.Bytes)
		}
		if err == nil {
			return
		}
		if f := Unanswered(err, server); f != nil {
			err = f
		} else {
			err = broken(server)
		}
		yield(nil, err)
	}
}
