package broker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Oversight shows, proves and prunes the audit log, and says how the broker is.
type Oversight struct {
	*core
	signatures notary.Store
	past       Pruner
	status     StatusStore
	uses       TokenUseStore
	notary     *notary.Notary
	courier    *delivery.Courier
	logins     *audit.Logins
	holders    TokenHolders
	tokenUses  tokenUses
	storeProbe *probe
	self       Replica
	trust      func() string // the fault of [PartTrust]; nil: there is no such part
}

// RecordLogin records that a caller was authenticated; see [audit.Logins].
func (b *Oversight) RecordLogin(ctx context.Context, p policy.Principal) { b.logins.In(ctx, p) }

// RecordRefusedLogin records that a caller is not let in, and why; see [audit.Logins].
func (b *Oversight) RecordRefusedLogin(ctx context.Context, why error) { b.logins.Refused(ctx, why) }

// WatchAudit is the pass that raises an alarm, as an error in the log, where the audit log is
// further behind than [audit.SequencedWithin], is not signed or anchored for long, or is not guarded any
// more, and where a sink is late.
func (b *Oversight) WatchAudit(ctx context.Context) error {
	behind, err := b.entries.Behind(ctx)
	if err != nil {
		return err
	}
	if behind > audit.SequencedWithin {
		b.log.ErrorContext(ctx, "audit entries wait for their place in the log: until they have it, no proof covers them", "behind", behind)
	}
	if err := b.watchSigned(ctx); err != nil {
		return err
	}
	sinks, err := b.courier.Statuses(ctx)
	if err != nil {
		return err
	}
	for _, s := range sinks {
		if s.Late() {
			b.log.ErrorContext(ctx, "an audit sink is late", "sink", s.Name, "mode", string(s.Mode), "behind", s.Behind,
				"waiting", s.Waiting, "fault", s.Fault)
		}
	}
	_, err = b.unguarded(ctx)
	return err
}

// watchSigned raises an alarm where entries have waited for long for a checkpoint, or for one that every
// anchor has, and still do when both were tried: the server may have been down, or the clock have jumped.
func (b *Oversight) watchSigned(ctx context.Context) error {
	unsigned, unanchored, err := b.auditWaits(ctx)
	late := signedLate * b.terms.CheckpointEvery
	if err != nil || max(unsigned, unanchored) <= late {
		return err
	}
	fault := b.SignAudit(ctx)
	if unsigned, unanchored, err = b.auditWaits(ctx); err != nil {
		return err
	}
	if unsigned > late {
		b.log.ErrorContext(ctx, "the audit log is not signed: no checkpoint covers its newest entries", "since", unsigned, "error", fault)
	}
	if unanchored > late {
		b.log.ErrorContext(ctx, "an anchor of the audit log does not get its checkpoints", "since", unanchored, "error", fault)
	}
	return nil
}

func (b *Oversight) auditWaits(ctx context.Context) (unsigned, unanchored time.Duration, err error) {
	if unsigned, err = b.AuditUnsigned(ctx); err != nil {
		return 0, 0, err
	}
	unanchored, err = b.auditUnanchored(ctx)
	return unsigned, unanchored, err
}

// signedLate is after how many intervals without a checkpoint an alarm is raised.
const signedLate = 10

// AuditSinks says how far each sink of the audit log has come, to who may read all of it.
func (b *Oversight) AuditSinks(ctx context.Context, p policy.Principal) ([]delivery.Status, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return nil, err
	}
	return b.courier.Statuses(ctx)
}

// unguarded names, and logs, what kept the audit log from being changed and is gone or another.
func (b *Oversight) unguarded(ctx context.Context) ([]string, error) {
	missing, err := b.entries.Unguarded(ctx)
	if err == nil && len(missing) > 0 {
		b.log.ErrorContext(ctx, "what keeps the audit log from being changed was taken away from the database, or is another", "missing", missing)
	}
	return missing, err
}

// RecordStart records that the server starts. The entry names the guards of the log that were
// taken away or changed.
func (b *Oversight) RecordStart(ctx context.Context, detail ...string) error {
	missing, err := b.unguarded(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		detail = append(detail, audit.DetailUnguarded, strings.Join(missing, ","))
	}
	return b.RecordServer(ctx, audit.ServerStart, audit.Done, detail...)
}

// RecordServer records what happened to the broker itself: its start, or a reload. Keys
// and values alternate in detail; empty values are left out.
func (b *Oversight) RecordServer(ctx context.Context, action policy.Action, outcome audit.Outcome, detail ...string) error {
	e := audit.Entry{
		Time: b.now(), Principal: "system:server", Action: action, Kind: audit.KindServer, Outcome: outcome,
		Detail: map[string]string{},
	}
	for i := 1; i < len(detail); i += 2 {
		if detail[i] != "" {
			e.Detail[detail[i-1]] = audit.Cut(detail[i])
		}
	}
	if err := b.entries.Append(ctx, e); err != nil {
		return fmt.Errorf("recording %s: %w", action, err)
	}
	return nil
}

// TokenHolders lists callers' static tokens, as [policy.StaticTokens] does.
type TokenHolders interface{ Held() []policy.HeldToken }

// Token is a caller's static token, and when it was last used. It is not the token itself.
type Token struct {
	policy.HeldToken
	// LastUsedAt is exact for this process, and up to a minute old for others on the
	// store; zero means never.
	LastUsedAt time.Time
}

// TokenUseStore keeps when static tokens were last used, by [policy.HeldToken.ID].
type TokenUseStore interface {
	// RecordTokenUses keeps the later of what is stored and what is given, of each. It
	// needs no audit entry: a use is an observation, and what is done with the token has
	// an entry of its own.
	RecordTokenUses(ctx context.Context, uses map[string]time.Time) error
	// TokenUses returns a map that is the caller's.
	TokenUses(ctx context.Context) (map[string]time.Time, error)
}

const (
	// tokenUsesEvery is how often what was noted of tokens is written: of each token at most once.
	tokenUsesEvery = time.Minute
	// tokenUsesDeadline bounds the last write, when the process ends.
	tokenUsesDeadline = 2 * time.Second
)

// tokenUses are the uses that are not written yet, by token. Safe for concurrent use.
type tokenUses struct {
	mu    sync.Mutex
	noted map[string]time.Time
}

func (u *tokenUses) note(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	later(u.noted, uses)
}

func (u *tokenUses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.noted
	u.noted = map[string]time.Time{}
	return taken
}

func (u *tokenUses) addTo(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	later(uses, u.noted)
}

func later(to, from map[string]time.Time) {
	for id, at := range from {
		if at.After(to[id]) {
			to[id] = at
		}
	}
}

// TokenUsed notes that a token was shown and taken. It writes nothing: see [Broker.RecordTokenUses].
func (b *Oversight) TokenUsed(id string) { b.tokenUses.note(map[string]time.Time{id: b.now()}) }

// RecordTokenUses writes what was noted since it was last called. A use that could not be written
// stays noted.
func (b *Oversight) RecordTokenUses(ctx context.Context) error {
	uses := b.tokenUses.take()
	if len(uses) == 0 {
		return nil
	}
	if err := b.uses.RecordTokenUses(ctx, uses); err != nil {
		b.tokenUses.note(uses)
		return err
	}
	return nil
}

// KeepLogins records once a minute, and when ctx ends, when tokens were last used, and the
// refused logins that were only counted; of refused mints, and of looks at what is not found, those
// of an hour that is over, and when ctx ends all.
func (b *Oversight) KeepLogins(ctx context.Context) {
	ticks := time.NewTicker(tokenUsesEvery)
	defer ticks.Stop()
	record := func(ctx context.Context, level slog.Level, counted time.Time) {
		b.logins.Tell(ctx)
		for _, folds := range []*audit.Folds{b.refusedMints, b.guard.Missed} {
			if err := folds.Tell(ctx, b.entries, counted); err != nil {
				b.log.Log(ctx, level, "refusals that were only counted are not written", "error", err)
			}
		}
		if err := b.RecordTokenUses(ctx); err != nil {
			b.log.Log(ctx, level, "when tokens were last used is not written", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenUsesDeadline)
			defer cancel()
			record(ctx, slog.LevelWarn, b.now())
			return
		case <-ticks.C:
			record(ctx, slog.LevelDebug, b.now().Add(-audit.FoldWithin)) // tried again; readiness reports a store that is down
		}
	}
}

// Tokens returns a page of callers' static tokens, and the next page's token: those of
// p's project, or of all projects for those who may list them.
func (b *Oversight) Tokens(ctx context.Context, p policy.Principal, page Page) ([]Token, string, error) {
	page, err := page.Valid()
	if err != nil {
		return nil, "", err
	}
	all := b.seesAll(p, policy.TokenList)
	res := InProject(p.Project)
	if all {
		res = InProject(anyProject)
	}
	if err := b.read(ctx, p, policy.TokenList, res); err != nil {
		return nil, "", err
	}
	uses, err := b.uses.TokenUses(ctx)
	if err != nil {
		return nil, "", err
	}
	b.tokenUses.addTo(uses)
	var found []Token
	begun := page.Token == ""
	for _, held := range b.staticTokens() {
		switch {
		case !all && held.Project != p.Project:
		case !begun:
			begun = held.ID == page.Token
		case len(found) == page.Size:
			return found, found[len(found)-1].ID, nil
		default:
			found = append(found, Token{held, uses[held.ID]})
		}
	}
	if !begun {
		return nil, "", Invalid("pageToken", "names a token that is not listed any more; begin again without it")
	}
	return found, "", nil
}

func (b *Oversight) staticTokens() []policy.HeldToken {
	if b.holders == nil {
		return nil
	}
	return b.holders.Held()
}
