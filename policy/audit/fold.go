package audit

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

const (
	// FoldWithin is how long refusals that are alike are only counted.
	FoldWithin = time.Hour
	// maxFolds bounds what is remembered of refusals. When it is reached, all is forgotten, and
	// more is recorded than need be.
	maxFolds = 65536
)

// Folds folds the refusals of what a program repeats by itself, such as a poll of what has ended: of
// those that are alike one in [FoldWithin] is recorded, with the count of the others before it. Safe
// for concurrent use.
type Folds struct {
	mu   sync.Mutex
	seen map[refusal]folded
}

// refusal is what is the same refusal again.
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
}

// NewFolds returns Folds that have seen nothing.
func NewFolds() *Folds { return &Folds{seen: map[refusal]folded{}} }

type foldKey struct{}

type folding struct {
	*Folds
	about string
}

// Under returns a context under which the refusals of a [Guard], and those of [AppendRefusal], are
// folded. What they are about is part of what makes two alike.
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
	repeats, due := f.due(key, e.Time)
	if !due {
		return nil
	}
	if repeats > 0 {
		e.Detail[DetailRepeats] = strconv.Itoa(repeats)
	}
	err := sink.Append(ctx, e)
	if err == nil {
		f.recorded(key, e.Time, repeats)
	}
	return err
}

func (f *Folds) due(key refusal, at time.Time) (repeats int, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, again := f.seen[key]
	if !again || !at.Before(before.at.Add(FoldWithin)) {
		return before.repeats, true
	}
	before.repeats++
	f.seen[key] = before
	return 0, false
}

// recorded says that an entry with so many repeats is in the log.
func (f *Folds) recorded(key refusal, at time.Time, repeats int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= maxFolds {
		clear(f.seen)
	}
	f.seen[key] = folded{at: at, repeats: f.seen[key].repeats - min(repeats, f.seen[key].repeats)}
}
