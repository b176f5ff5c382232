package broker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// file is a tokens file: who stands in it, in its order.
type file []policy.HeldToken

func (f file) Held() []policy.HeldToken { return f }

// tokens lists "ID" and "ID@use" of what p sees, in pages of a size.
func tokens(t *testing.T, b *broker.Broker, p policy.Principal, size int) []string {
	t.Helper()
	var all []string
	page := broker.Page{Size: size}
	for {
		found, next, err := b.Tokens(t.Context(), p, page)
		if err != nil || len(found) > size {
			t.Fatalf("Tokens(%+v) = %d of them, %v", page, len(found), err)
		}
		for _, token := range found {
			line := token.ID
			if !token.LastUsedAt.IsZero() {
				line += token.LastUsedAt.Format("@15:04")
			}
			all = append(all, line)
		}
		if page.Token = next; next == "" {
			return all
		}
	}
}

// When a token was last used is noted at once and written in batches. A store that fails
// loses no use and fails nobody.
func TestTokensShowWhenTheyWereLastUsed(t *testing.T) {
	b := newBench(t, benchOptions{holders: file{
		{ID: "a1", Name: "alice", Project: "demo"},
		{ID: "a0", Name: "alice", Project: "demo", Previous: true},
		{ID: "b1", Name: "bob", Project: "demo"},
		{ID: "m1", Name: "mallet", Project: "other"},
	}})
	chief := policy.Principal{Name: "chief", Project: "demo", Roles: []string{policy.RoleProjectAdmin}}
	used := func(at string) string { return "@" + at }
	first := b.clock.Now().Format("15:04")
	b.TokenUsed("a1")
	b.TokenUsed("m1")
	all := []string{"a1" + used(first), "a0", "b1", "m1" + used(first)}
	for size := 1; size <= 5; size++ {
		if got := tokens(t, b.Broker, root, size); !slices.Equal(got, all) {
			t.Errorf("in pages of %d: %v, want %v", size, got, all)
		}
		if got := tokens(t, b.Broker, chief, size); !slices.Equal(got, all[:3]) {
			t.Errorf("an administrator of the project, in pages of %d: %v, want %v", size, got, all[:3])
		}
	}
	for _, p := range []policy.Principal{alice, rita} {
		if _, _, err := b.Tokens(t.Context(), p, broker.Page{}); err == nil {
			t.Errorf("%s lists tokens", p.Name)
		}
	}
	if _, _, err := b.Tokens(t.Context(), chief, broker.Page{Token: "m1"}); err == nil {
		t.Error("a page begins behind a token of another project")
	}
	stored := func() map[string]time.Time {
		t.Helper()
		uses, err := b.store.TokenUses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return uses
	}
	if len(stored()) != 0 {
		t.Fatal("a use was written at once")
	}
	b.store.fail("RecordTokenUses", 1)
	if err := b.RecordTokenUses(t.Context()); err == nil {
		t.Fatal("the write did not fail")
	}
	b.clock.Add(time.Hour)
	b.TokenUsed("a0")
	if err := b.RecordTokenUses(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := b.clock.Now()
	want := map[string]time.Time{"a1": now.Add(-time.Hour), "a0": now, "m1": now.Add(-time.Hour)}
	if diff := cmp.Diff(want, stored()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if got, want := tokens(t, b.Broker, chief, 9), []string{"a1" + used(first), "a0" + used(now.Format("15:04")), "b1"}; !slices.Equal(got, want) {
		t.Errorf("after the write: %v, want %v", got, want)
	}
	b.store.fail("RecordTokenUses", 1) // there is nothing to write
	if err := b.RecordTokenUses(t.Context()); err != nil {
		t.Errorf("nothing new is written: %v", err)
	}
}
