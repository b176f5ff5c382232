package audit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// The actions of [ServerActions].
const (
	Login        policy.Action = "server:login"
	ServerStart  policy.Action = "server:start"
	ServerReload policy.Action = "server:reload"
	// ServerPrune removed rows older than the retention.
	ServerPrune policy.Action = "server:prune"
	// SessionBegin and SessionEnd are about a person's session at the page, which is the resource.
	SessionBegin policy.Action = "server:session-begin"
	SessionEnd   policy.Action = "server:session-end"
	// ServerSink is about deliveries to a sink of the audit log, which is the resource.
	ServerSink policy.Action = "server:sink"
)

// ServerActions are the actions that are recorded and that no policy decides on.
var ServerActions = []policy.Action{Login, ServerStart, ServerReload, ServerPrune, ServerSink, SessionBegin, SessionEnd}

// KindServer is the broker itself.
const KindServer policy.Kind = "Server"

const (
	// loginAgain is the time for which a caller from the same address counts as logged
	// in.
	loginAgain = time.Hour
	// refusalAgain is the time in which further refusals to an address are only counted,
	// and refusalsAtOnce bounds the entries about refusals in that time.
	refusalAgain   = time.Minute
	refusalsAtOnce = 60
	// loginDeadline bounds how long recording keeps a request waiting.
	loginDeadline = 2 * time.Second
)

// Logins records who logs in and who is refused. A caller shows a token with every
// request: one entry stands for an hour of one principal at one address. Refusals to one
// address for one reason are one entry a minute, with the count of the others; 60 of these a minute
// are told apart, and [Logins.Tell] has the counts of floods that have ended. An entry that
// cannot be written is logged, and lets the caller in: the caller's acts are then recorded, or
// not done. Safe for concurrent use.
type Logins struct {
	sink Sink
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	in      map[[3]string]time.Time // by principal, project and address
	refused map[[3]string]refusals  // by address, authenticator and reason
	window  time.Time               // since when begun counts
	begun   int
	unsaid  int // refusals to addresses that had no entry
}

type refusals struct {
	at      time.Time // of the last entry
	repeats int
}

// NewLogins records in a sink.
func NewLogins(sink Sink, now func() time.Time, log *slog.Logger) *Logins {
	return &Logins{sink: sink, now: now, log: log, in: map[[3]string]time.Time{}, refused: map[[3]string]refusals{}}
}

// In records that a principal was authenticated.
func (l *Logins) In(ctx context.Context, p policy.Principal) {
	now, source := l.now(), SourceOf(ctx)
	who := [3]string{p.Name, p.Project, source}
	l.mu.Lock()
	at, known := l.in[who]
	known = known && now.Before(at.Add(loginAgain))
	if !known {
		if len(l.in) >= maxRemembered {
			clear(l.in)
		}
		l.in[who] = now
	}
	l.mu.Unlock()
	if known {
		return
	}
	if !l.record(ctx, Entry{
		Principal: p.Name, Project: p.Project, Resource: p.Project, Outcome: Done,
		Detail: loginDetail(p),
	}) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.in, who)
	}
}

// loginDetail is how a principal came in.
func loginDetail(p policy.Principal) map[string]string {
	said := map[string]string{detailAuthenticator: p.Authenticator()}
	if p.Login.Entry != "" {
		said[DetailTrust], said[detailShown] = p.Login.Entry, Cut(p.Login.Shown)
	}
	return said
}

// Refused records that a caller is not let in, with the authenticator and the reason of a
// [policy.RefusedLogin].
func (l *Logins) Refused(ctx context.Context, why error) {
	what := [3]string{SourceOf(ctx)}
	if said := (*policy.RefusedLogin)(nil); errors.As(why, &said) {
		what[1], what[2] = said.Authenticator, said.Reason
	}
	if repeats, due := l.countRefusal(what); due {
		l.recordRefusal(ctx, what, repeats)
	}
}

// recordRefusal records one refusal, and how many others the entry stands for.
func (l *Logins) recordRefusal(ctx context.Context, what [3]string, repeats int) bool {
	e := Entry{Outcome: Denied, Detail: map[string]string{}}
	for i, key := range []string{detailAuthenticator, DetailReason} {
		if text := what[i+1]; text != "" {
			e.Detail[key] = text
		}
	}
	if repeats > 0 {
		e.Detail[DetailRepeats] = strconv.Itoa(repeats)
	}
	return l.record(WithSource(ctx, what[0]), e)
}

// Tell records the refusals that were only counted so far, as the last of each address and reason with
// the count of the others, so that a flood that has ended is told, too. A refusal that cannot be
// written is recorded the next time.
func (l *Logins) Tell(ctx context.Context) {
	l.mu.Lock()
	counted := map[[3]string]int{}
	for what, r := range l.refused {
		if r.repeats > 0 {
			counted[what] = r.repeats
			delete(l.refused, what)
		}
	}
	if l.unsaid > 0 {
		counted[[3]string{}] += l.unsaid
		l.unsaid = 0
	}
	l.mu.Unlock()
	written := true
	order := func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }
	for _, what := range slices.SortedFunc(maps.Keys(counted), order) {
		if written = written && l.recordRefusal(ctx, what, counted[what]-1); !written {
			l.mu.Lock()
			l.unsaid += counted[what]
			l.mu.Unlock()
		}
	}
}

// countRefusal reports whether to record a refusal, and how many were not recorded since
// the previous entry.
func (l *Logins) countRefusal(what [3]string) (repeats int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !now.Before(l.window.Add(refusalAgain)) {
		l.window, l.begun = now, 0
	}
	r := l.refused[what]
	if now.Before(r.at.Add(refusalAgain)) {
		r.repeats++
		l.refused[what] = r
		return 0, false
	}
	if l.begun == refusalsAtOnce {
		l.unsaid++
		return 0, false
	}
	l.begun++
	if len(l.refused) >= maxRemembered {
		for _, other := range l.refused {
			l.unsaid += other.repeats
		}
		clear(l.refused)
	}
	l.refused[what] = refusals{at: now}
	repeats = r.repeats + l.unsaid
	l.unsaid = 0
	return repeats, true
}

// record completes an entry about a login and writes it, whatever becomes of the request.
func (l *Logins) record(ctx context.Context, e Entry) bool {
	e.Time, e.Request, e.Door, e.Action, e.Kind = l.now(), byRequest.of(ctx), DoorOf(ctx), Login, KindServer
	if source := SourceOf(ctx); source != "" {
		e.Detail[DetailSource] = source
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginDeadline)
	defer cancel()
	if err := l.sink.Append(ctx, e); err != nil {
		l.log.WarnContext(ctx, "a login is not in the audit log", "principal", e.Principal, "outcome", e.Outcome, "error", err)
		return false
	}
	return true
}
