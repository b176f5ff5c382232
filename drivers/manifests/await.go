package manifests

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// waiting is an object that a wave waits for.
type waiting struct {
	lifecycle.Object

	// done reports whether the wait is over; o is nil for a missing object. An error ends
	// the waiting.
	done func(o *found) (bool, error)
	// makes are the names of the templates of which it makes claims, as a StatefulSet does; outlives says that those
	// claims stay when it goes.
	makes    []string
	outlives bool
	// is holds the last observation of the object, and why the reason that its pods give.
	is      lifecycle.Observation
	why     string
	over    bool
	failure error
}

// see takes in a reading of an object, and reports it if it has changed.
func (r *run) see(w *waiting, o *found) {
	was := w.is
	w.is = r.observation(o, r.instance, w.Resource)
	w.claimed(o)
	if w.is.Standing && w.Applied != "" && !o.passed {
		w.is.ChangedBy = o.changedBy(w.Applied, false)
	}
	w.over, w.failure = w.done(o)
	if !w.is.Ready {
		w.is.Message += w.why
	}
	if w.over || w.is.Standing != was.Standing || w.is.Message != was.Message { // what is not ready says why
		r.tell(w.is)
	}
}

const (
	// longestPause bounds the time between two looks.
	longestPause = time.Second
	// pauseEach is the shortest pause for each object that is looked at: a look at many costs the API server more.
	pauseEach = 5 * time.Millisecond
	// explainEvery is how many of the shortest pauses lie between two looks at why something is not ready.
	explainEvery = 50
)

// await polls the objects until all are done, one fails, or the context ends. While one after the other is over it
// looks soon again, so that the last is not seen late; while nothing happens, less and less often.
func (r *run) await(ctx context.Context, all []*waiting) error {
	explained, every := time.Now(), all
	for pause := r.pause; ; {
		var open []*waiting
		for _, w := range all {
			if errors.Is(w.failure, errFailed) {
				return r.unready(ctx, []*waiting{w}, w.failure)
			} else if w.failure != nil {
				return r.cut(ctx, w.Resource, w.failure)
			}
			if !w.over {
				open = append(open, w)
			}
		}
		if len(open) == 0 {
			return r.components(ctx, every)
		}
		if len(open) < len(all) {
			pause = r.pause
		}
		pause = min(max(pause, time.Duration(len(open))*pauseEach), longestPause)
		if err := lifecycle.Sleep(ctx, pause); err != nil {
			return r.unready(ctx, open, err)
		}
		err := each(ctx, open, func(ctx context.Context, w *waiting) error {
			o, err := r.getWaited(ctx, w.Resource)
			if err == nil {
				r.see(w, o)
			}
			return err
		})
		if ctx.Err() != nil {
			return r.unready(ctx, open, ctx.Err())
		}
		if err != nil {
			return err
		}
		if time.Since(explained) > explainEvery*r.pause {
			r.explain(ctx, slices.DeleteFunc(slices.Clone(open), func(w *waiting) bool { return w.over }))
			explained = time.Now()
		}
		all, pause = open, pause*3/2
	}
}

// maxNamed bounds how many objects an error names.
const maxNamed = 5

// unready is the error of the objects that are still waited for.
func (r *run) unready(ctx context.Context, open []*waiting, cause error) error {
	r.explain(ctx, open)
	var says []string
	for _, w := range open[:min(len(open), maxNamed)] {
		says = append(says, title(w.Resource)+" "+cmp.Or(w.is.Message, "is ready, and its pods are not yet those that it is to have"))
	}
	if len(open) > maxNamed {
		says = append(says, "and others")
	}
	return unreadyError(strings.Join(says, "; "), cause)
}

func notReady(r lifecycle.Resource, message string, cause error) error {
	return unreadyError(title(r)+" "+message, cause)
}

func unreadyError(detail string, cause error) error {
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		detail = "not ready in time: " + detail
	case errors.Is(cause, context.Canceled):
		detail = "the operation was stopped while it waited: " + detail
	case errors.Is(cause, errFailed):
		detail = errFailed.Error() + ": " + detail
	}
	return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: detail, Cause: cause}
}

// cut returns the error unchanged, or the error of the object that a call was about when the
// context ended.
func (*run) cut(ctx context.Context, r lifecycle.Resource, err error) error {
	if ctx.Err() == nil || errors.Is(ctx.Err(), context.Canceled) && !errors.Is(err, broker.ErrUnreachable) {
		return err
	}
	return notReady(r, "is not answered for: the API server, or an admission webhook, is still at it", ctx.Err())
}
