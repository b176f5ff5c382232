package broker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

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
	// TokenUses returns what is stored.
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

// note keeps the later time of each.
func (u *tokenUses) note(uses map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	later(u.noted, uses)
}

// take empties it.
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

// later keeps in to the later time of each.
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
// refused logins that were only counted; of refused mints those of an hour that is over, and
// when ctx ends all.
func (b *Oversight) KeepLogins(ctx context.Context) {
	ticks := time.NewTicker(tokenUsesEvery)
	defer ticks.Stop()
	record := func(ctx context.Context, level slog.Level, counted time.Time) {
		b.logins.Tell(ctx)
		if err := b.refusedMints.Tell(ctx, b.entries, counted); err != nil {
			b.log.Log(ctx, level, "refusals of tokens that were only counted are not written", "error", err)
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
	res := projectResource(p.Project)
	if all {
		res = projectResource(anyProject)
	}
	if err := b.read(ctx, p, policy.TokenList, res); err != nil {
		return nil, "", err
	}
	uses, err := b.uses.TokenUses(ctx)
	if err != nil {
		return nil, "", err
	}
	if uses == nil {
		uses = map[string]time.Time{}
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
