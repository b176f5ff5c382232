// Package job is work that outlives the request that asked for it: jobs, their workers,
// and the claim that keeps two workers from writing for one subject.
package job

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"
)

// ErrFenced: the worker's claim on the job has ended, because another worker took
// the job over or the attempt is over. Nothing was written.
var ErrFenced = errors.New("another worker has taken the job over")

// ErrAgain is returned by work that yields its place to others before it is done. It is
// no failure: the work goes to the end of the queue of its kind, without a backoff.
var ErrAgain = errors.New("the job leaves its place to others")

// Progressed wraps the error of work that came further than the attempt before it. The failures
// of earlier attempts no longer count: the backoff is reset. Progressed(nil) is nil.
func Progressed(err error) error {
	if err == nil {
		return nil
	}
	return progressed{err}
}

// HasProgressed reports whether err says that the work came further.
func HasProgressed(err error) bool {
	var p progressed
	return errors.As(err, &p)
}

type progressed struct{ error }

func (p progressed) Unwrap() error { return p.error }

// Job names work on one subject. The subject's row says what to do, not the job.
type Job struct {
	// Kind is in kebab case.
	Kind string
	// Subject is the id of the object that the work is about.
	Subject string
}

var kindForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]+(-[a-z0-9]+)*$`) })

func (j Job) Valid() bool {
	return kindForm().MatchString(j.Kind) && len(j.Kind) <= 64 && j.Subject != "" && len(j.Subject) <= 255
}

// Worker works the jobs of one kind. Work is called for one subject by one worker at
// a time. It reads from the subject's row how far the previous attempt came, and resumes there.
// If it fails or panics, it is called again after a backoff that grows up to [MaxBackoff] with
// the failures in a row, which [Progressed] resets; work that must not be repeated returns nil,
// and work that yields its place to others [ErrAgain].
//
// The context carries the worker's [Claim]: every write of the store that is made with
// it is refused with [ErrFenced] once another worker has taken over. The context ends
// when that is noticed, and when the process stops.
type Worker struct {
	Kind string
	// AtOnce is the number of jobs of the kind that one process works in parallel.
	AtOnce int
	Work   func(ctx context.Context, subject string) error
}

// PassPrefix begins the kind of the jobs that are passes: they are never done.
const PassPrefix = "pass-"

const (
	// MaxBackoff is the longest wait between two attempts.
	MaxBackoff = time.Minute
	// TakeoverAfter is the silence of a worker after which another takes its job over.
	TakeoverAfter = 15 * time.Second
)

// Claim is the right to write for a job's subject during one attempt.
type Claim struct {
	Job
	// Fence grows with every attempt on the subject. The claim with the larger fence
	// holds.
	Fence int64
}

type claimKey struct{}

// WithClaim returns a context whose writes are made under the claim.
func WithClaim(ctx context.Context, c Claim) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// WithoutClaim returns a context whose writes are under no claim: for a worker's writes on other subjects.
func WithoutClaim(ctx context.Context) context.Context {
	return context.WithValue(ctx, claimKey{}, nil)
}

// ClaimOf returns the claim that the context carries.
func ClaimOf(ctx context.Context) (Claim, bool) {
	c, ok := ctx.Value(claimKey{}).(Claim)
	return c, ok
}

// Backoff is the wait before the next try after so many failures in a row: one second after
// the first, twice that after each further one, and at most that long.
func Backoff(failures int, most time.Duration) time.Duration {
	return min(time.Second<<min(max(failures-1, 0), 20), most)
}

// Spread shortens a wait by up to a quarter, so that those who failed together do not try
// again together.
func Spread(wait time.Duration) time.Duration {
	return wait - rand.N(wait/4+1) //nolint:gosec // a pause needs no secrecy
}
