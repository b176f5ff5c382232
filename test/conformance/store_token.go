package conformance

import (
	"testing"
	"time"
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
