package audit

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

const (
	// FoldWithin is the time in which refusals that are alike are only counted.
	FoldWithin = time.Hour
	// maxFolds bounds the remembered refusals. When it is reached, all are forgotten, with the
	// counts, and more entries are recorded than necessary.
	maxFolds = 65536
)

// Folds folds the refusals of requests that a program repeats by itself, such as a poll of an ended
// object: one refusal in [FoldWithin] of those that are alike is recorded, with the count of the
// others before it, and [Folds.Tell] records the last ones. Safe for concurrent use.
type Folds struct {
	mu   sync.Mutex
	seen map[refusal]folded
}

// refusal is the key by which two refusals are alike.
type refusal struct {
	about                               string
	action                              policy.Action
	outcome                             Outcome
	principal, project, source, why, of string
	policies                            string // that decided
}

type folded struct {
	at      time.Time // of the last entry
	repeats int       // since
	last    Entry     // of the repeats
}

// NewFolds returns Folds that have seen nothing.
func NewFolds() *Folds { return &Folds{seen: map[refusal]folded{}} }

type foldKey struct{}

type folding struct {
	*Folds
	about string
}

// Under returns a context under which the refusals of a [Guard], and those of [AppendRefusal], are
// folded. Refusals with another about are not alike.
func (f *Folds) Under(ctx context.Context, about string) context.Context {
	return context.WithValue(ctx, foldKey{}, folding{f, about})
}

// AppendRefusal appends the entry of something that was refused, unless it is folded.
func AppendRefusal(ctx context.Context, sink Sink, e Entry) error {
	f, folds := ctx.Value(foldKey{}).(folding)
	if !folds {
		return sink.Append(ctx, e)
	}
	key := refusal{
		about: f.about, action: e.Action, outcome: e.Outcome, principal: e.Principal, project: e.Project,
		source: e.Detail[DetailSource], why: e.Detail[DetailError], of: e.Detail[DetailReason], policies: e.Detail[DetailPolicy],
	}
	repeats, due := f.due(key, e)
	if !due {
		return nil
	}
	err := sink.Append(ctx, e.repeated(repeats))
	if err == nil {
		f.recorded(key, e.Time, repeats)
	}
	return err
}

// repeated is an entry that stands for so many others, too.
func (e Entry) repeated(others int) Entry {
	if others > 0 {
		e.Detail = maps.Clone(e.Detail)
		e.Detail[DetailRepeats] = strconv.Itoa(others)
	}
	return e
}

func (f *Folds) due(key refusal, e Entry) (repeats int, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.seen[key]
	if !e.Time.Before(before.at.Add(FoldWithin)) {
		return before.repeats, true
	}
	before.repeats++
	before.last = e
	f.seen[key] = before
	return 0, false
}

// Tell records the refusals that were only counted since an entry that was made by a time: the last of refusals
// that are alike, with the count of the others. A refusal that cannot be written is recorded the next time, and
// its error returned.
func (f *Folds) Tell(ctx context.Context, sink Sink, by time.Time) error {
	f.mu.Lock()
	counted := map[refusal]folded{}
	for key, r := range f.seen {
		if r.at.After(by) {
			continue
		}
		if r.repeats > 0 {
			counted[key] = r
		}
		delete(f.seen, key)
	}
	f.mu.Unlock()
	var failed error
	for key, r := range counted {
		if failed == nil {
			failed = sink.Append(ctx, r.last.repeated(r.repeats-1))
		}
		if failed != nil {
			f.untold(key, r)
		}
	}
	return failed
}

// untold puts back what could not be told.
func (f *Folds) untold(key refusal, r folded) {
	f.mu.Lock()
	defer f.mu.Unlock()
	since, again := f.seen[key]
	if !again {
		since.at = r.at
	}
	if since.repeats == 0 {
		since.last = r.last
	}
	since.repeats += r.repeats
	f.seen[key] = since
}

// recorded says that an entry with so many repeats is in the log.
func (f *Folds) recorded(key refusal, at time.Time, repeats int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= maxFolds {
		clear(f.seen)
	}
	since := f.seen[key]
	since.at, since.repeats = at, since.repeats-min(repeats, since.repeats)
	f.seen[key] = since
}

// PollWithin is the time within which the same read by the same principal is a poll.
const PollWithin = 10 * time.Minute

// maxRemembered bounds the remembered reads and logins. When it is reached, all are
// forgotten, and more entries are recorded than necessary.
const maxRemembered = 10000

// Reads says which reads are recorded. A read that is repeated within [PollWithin] is a
// poll, and is not. Safe for concurrent use.
type Reads struct {
	mu   sync.Mutex
	seen map[read]time.Time
}

// read is the key by which two reads are alike.
type read struct {
	principal, project string
	action             policy.Action
	kind               policy.Kind
	resource           string
}

// NewReads records all reads but polls.
func NewReads() *Reads { return &Reads{seen: map[read]time.Time{}} }

func (r *Reads) due(e Entry) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !e.Time.Before(r.seen[readOf(e)].Add(PollWithin))
}

// recorded says that a read is in the log.
func (r *Reads) recorded(e Entry) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= maxRemembered {
		clear(r.seen)
	}
	r.seen[readOf(e)] = e.Time
}

func readOf(e Entry) read { return read{e.Principal, e.Project, e.Action, e.Kind, e.Resource} }
