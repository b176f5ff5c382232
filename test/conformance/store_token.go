package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/trust"
)

// tokenUses: of each token the latest use that was ever told counts.
func tokenUses(t *testing.T, s storeTest) {
	want := func(what string, uses map[string]time.Time) {
		t.Helper()
		got, err := s.TokenUses(s.ctx)
		if err != nil {
			t.Fatalf("TokenUses() = %v", err)
		}
		wantSame(t, what, got, uses)
	}
	record := func(uses map[string]time.Time) {
		t.Helper()
		if err := s.RecordTokenUses(s.ctx, uses); err != nil {
			t.Fatalf("RecordTokenUses() = %v", err)
		}
	}
	want("the uses of no token", nil)
	later := epoch.Add(time.Minute)
	record(map[string]time.Time{"b": epoch, "a": later})
	want("the first uses", map[string]time.Time{"a": later, "b": epoch})
	record(map[string]time.Time{"a": epoch, "b": later, "c": epoch})
	want("later and earlier uses", map[string]time.Time{"a": later, "b": later, "c": epoch})
	record(nil)
	want("the uses after none", map[string]time.Time{"a": later, "b": later, "c": epoch})
	if len(s.entries(t)) != 0 {
		t.Error("the use of a token is an audit entry")
	}
}

// usedTokens: a token is used once, until it has ended and is forgotten.
func usedTokens(t *testing.T, st storeTest) {
	s := struct {
		trust.Store
		ctx context.Context
	}{st.Store.(trust.Store), st.ctx}
	end := epoch.Add(time.Hour)
	if err := s.UseOnce(s.ctx, "a", end); err != nil {
		t.Fatalf("UseOnce() = %v", err)
	}
	if err := s.UseOnce(s.ctx, "a", end.Add(time.Hour)); !errors.Is(err, broker.ErrExists) {
		t.Errorf("UseOnce() of a used token = %v, want broker.ErrExists", err)
	}
	for _, before := range []time.Time{end, end.Add(time.Second)} {
		if err := s.ForgetUsed(s.ctx, before); err != nil {
			t.Fatalf("ForgetUsed() = %v", err)
		}
		err := s.UseOnce(s.ctx, "a", end)
		if ended := before.After(end); ended != (err == nil) {
			t.Errorf("UseOnce() after those before %v were forgotten = %v", before, err)
		}
	}
}
