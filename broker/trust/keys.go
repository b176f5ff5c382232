package trust

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// freshFor is for how long keys are not fetched again unless a token has an unknown one.
	freshFor = 5 * time.Minute
	// LookEvery is how often each process looks whether administrators have changed the table.
	LookEvery = 5 * time.Second
	// askAgain is how soon an issuer is asked again because of a token, or because it did not answer.
	askAgain = 10 * time.Second
	// KeepFor is for how long known keys count while the issuer is away.
	KeepFor     = 24 * time.Hour
	fetchWithin = 10 * time.Second
	// maxKeys bounds a set.
	maxKeys = 64
)

// Source fetches what issuers publish.
type Source interface {
	// Keys returns the JWK set of an entry's issuer, and the issuer as it names itself. One that does not
	// name itself as the entry does is an error. Errors hold nothing of the answer.
	Keys(ctx context.Context, e Authority) (issuer string, set []byte, err error)
}

// known is what is known of an entry's keys. It is not changed once made.
type known struct {
	issuer  string
	keys    []jose.JSONWebKey
	fetched time.Time // of the keys; zero: there are none yet
	tried   time.Time
	fault   string // of the last try
}

var errKeys = errors.New("no set of public keys that sign")

// parseKeys reads a JWK set. Keys of a kind or for a use that is not ours are left out.
func parseKeys(text []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) > maxKeys {
		return nil, errKeys
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) != nil || !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" {
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errKeys
	}
	return keys, nil
}

// find returns the key of an id for an algorithm. Without an id it is the only one for the algorithm.
func (k *known) find(id, algorithm string) (jose.JSONWebKey, bool) {
	var found []jose.JSONWebKey
	for _, key := range k.keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found = append(found, key)
		}
	}
	if len(found) != 1 {
		return jose.JSONWebKey{}, false
	}
	return found[0], true
}

// due reports whether the keys are to be fetched at a time. asked: a token has an unknown one.
func (k *known) due(now time.Time, asked bool) bool {
	if k == nil {
		return true
	}
	since := now.Sub(k.tried)
	return since >= freshFor || since >= askAgain && (asked || k.fault != "")
}

// counts reports whether the keys may still be used.
func (k *known) counts(now time.Time) bool {
	return k != nil && now.Sub(k.fetched) < KeepFor
}

// State is how an entry's keys stand, for who runs the broker.
type State struct {
	Name string
	// Fetched is when keys were had last; zero: never.
	Fetched time.Time
	// Fault is that of the last fetch; empty if it had keys.
	Fault string
}

func (t *row) fetch(ctx context.Context, source Source, now func() time.Time) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	before := t.keys.Load()
	next := known{tried: now()}
	if before != nil {
		next.issuer, next.keys, next.fetched = before.issuer, before.keys, before.fetched
	}
	issuer, text, err := source.Keys(ctx, t.Authority)
	var keys []jose.JSONWebKey
	if err == nil {
		keys, err = parseKeys(text)
	}
	switch {
	case err != nil:
		next.fault = err.Error()
	default:
		next.issuer, next.keys, next.fetched = issuer, keys, next.tried
	}
	t.asked.Store(false)
	t.keys.Store(&next)
}

// sameKeys reports whether what is known of one entry's keys holds for another.
func sameKeys(a, b Authority) bool {
	return a.Issuer == b.Issuer && a.VIM == b.VIM && a.CA == b.CA && a.Keys == b.Keys
}

// Refresh fetches the keys that are due, of all entries side by side, and returns when that is done.
func (c *Gatekeeper) Refresh(ctx context.Context) {
	done := make(chan struct{})
	rows := slices.DeleteFunc(slices.Clone(c.table.Load().rows), func(t *row) bool {
		return !t.fetched() || !t.keys.Load().due(c.Now(), t.asked.Load())
	})
	for _, t := range rows {
		go func() {
			defer func() { done <- struct{}{} }()
			if t.fetching.CompareAndSwap(false, true) {
				defer t.fetching.Store(false)
				t.fetch(ctx, c.Source, c.Now)
			}
		}()
	}
	for range rows {
		<-done
	}
	for _, t := range rows {
		if k := t.keys.Load(); k != nil && k.fault != "" && t.told.Swap(k.fault) != k.fault {
			c.Log.WarnContext(ctx, "the keys of an issuer are not to be had", "trust", t.Name, "error", k.fault)
		} else if k != nil && k.fault == "" && t.told.Swap("") != "" {
			c.Log.InfoContext(ctx, "the keys of an issuer are to be had again", "trust", t.Name)
		}
	}
}

// Run keeps the table and its keys fresh until the context ends.
func (c *Gatekeeper) Run(ctx context.Context) {
	ticks := time.NewTicker(LookEvery)
	defer ticks.Stop()
	for {
		if err := c.Load(ctx); err != nil && ctx.Err() == nil {
			c.Log.WarnContext(ctx, "the entries of the table of trust are those of before", "error", err)
		}
		if c.dirty.Swap(false) {
			go c.Changed(ctx)
		}
		go c.Refresh(ctx) // an issuer that hangs keeps the others from nothing
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		case <-c.wake:
		}
	}
}

// States says how the keys of each entry stand, by name.
func (c *Gatekeeper) States() []State {
	var all []State
	for _, t := range c.table.Load().rows {
		if !t.fetched() {
			continue
		}
		s := State{Name: t.Name, Fault: "not asked yet"}
		if k := t.keys.Load(); k != nil {
			s.Fetched, s.Fault = k.fetched, k.fault
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Fault names the entries whose keys are not to be had; empty if there is none.
func (c *Gatekeeper) Fault() string {
	var down []string
	for _, s := range c.States() {
		if s.Fault != "" {
			down = append(down, s.Name+" ("+s.Fault+")")
		}
	}
	if len(down) == 0 {
		return ""
	}
	return "keys are not to be had of " + strings.Join(down, ", ")
}
