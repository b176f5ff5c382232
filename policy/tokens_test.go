package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
)

func TestAuthenticate(t *testing.T) {
	plain, digest := policy.NewToken()
	other, _ := policy.NewToken()
	const guessable = "hunter2"
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{
		{Name: "alice@example.com", Project: "core", Roles: []string{"member", "auditor"}, SHA256: digest},
		{Name: "bob", Project: "core", Roles: []string{"member"}, SHA256: policy.Digest(guessable)},
	})
	if err != nil {
		t.Fatalf("NewStaticTokens() = %v", err)
	}
	got, err := tokens.Authenticate(t.Context(), plain)
	want := policy.Principal{Name: "alice@example.com", Project: "core", Roles: []string{"member", "auditor"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Authenticate() = %v (-want +got):\n%s", err, diff)
	}
	got.Roles[0] = policy.RoleAdmin
	if again, _ := tokens.Authenticate(t.Context(), plain); again.Roles[0] != "member" {
		t.Errorf("a caller changed the roles behind its token to %q", again.Roles)
	}
	for name, bearer := range map[string]string{
		"nothing": "", "another token": other, "a guessable one": guessable, "the digest": digest,
		"one cut short": plain[:len(plain)-1], "one with a space": plain + " ", "the prefix": "vbt_",
	} {
		p, err := tokens.Authenticate(t.Context(), bearer)
		if !errors.Is(err, policy.ErrUnauthenticated) || p.Name != "" {
			t.Errorf("%s: Authenticate() = %v, %v, want ErrUnauthenticated", name, p, err)
		}
		if bearer != "" && err != nil && strings.Contains(err.Error(), bearer) {
			t.Errorf("%s: the error holds the token", name)
		}
	}
}

func TestNewStaticTokensNamesEveryFault(t *testing.T) {
	plain, digest := policy.NewToken()
	_, second := policy.NewToken()
	_, third := policy.NewToken()
	_, fourth := policy.NewToken()
	_, err := policy.NewStaticTokens([]policy.StaticToken{
		{Name: "alice", Project: "core", Roles: []string{"member"}, SHA256: digest},
		{Name: "alice", Project: "core", Roles: []string{"member"}, SHA256: second},
		{Name: "system:reaper", Project: "core", Roles: []string{"system"}, SHA256: third},
		{Name: "bob", Project: "", Roles: nil, SHA256: plain},
		{Name: "carol", Project: "core", Roles: []string{"member"}, SHA256: digest},
		{Name: "dan", Project: "core", Roles: []string{"a b"}, SHA256: strings.ToUpper(second)},
		{Name: "erin", Project: "core", Roles: []string{"member", "system", "a b"}, SHA256: fourth, PreviousSHA256: "x"},
		{Name: "alice", Project: "other", Roles: []string{"member"}, SHA256: second, PreviousSHA256: fourth},
	})
	if err == nil {
		t.Fatal("NewStaticTokens() = nil, want faults")
	}
	if strings.Contains(err.Error(), plain) {
		t.Errorf("the error holds a token that stood where a digest belongs")
	}
	for _, want := range []string{
		`token 2 ("alice"): the name is taken`,
		`token 3 ("system:reaper"): the name must`,
		`token 3 ("system:reaper"): the role "system" is the broker's own`,
		`token 4 ("bob"): the project must`,
		`token 4 ("bob"): it needs at least one role`,
		`token 4 ("bob"): the SHA-256 must`,
		`token 5 ("carol"): the digest is another token's`,
		`token 6 ("dan"): the role "a b" must`,
		`token 6 ("dan"): the SHA-256 must`,
		`token 7 ("erin"): the role "system" is the broker's own`,
		`token 7 ("erin"): the role "a b" must`,
		`token 7 ("erin"): the SHA-256 must`,
		`token 8 ("alice"): the name is taken`,
		"token 8 (\"alice\"): the digest is another token's\ntoken 8 (\"alice\"): the digest is another token's",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("NewStaticTokens() = %v\nwant in it: %s", err, want)
		}
	}
}

func TestNewTokensDiffer(t *testing.T) {
	a, digestA := policy.NewToken()
	b, digestB := policy.NewToken()
	if a == b || digestA == digestB {
		t.Errorf("two tokens or digests are alike")
	}
	if !strings.HasPrefix(a, "vbt_") || digestA != policy.Digest(a) {
		t.Errorf("NewToken() gave a token without the prefix vbt_ or a digest of something else")
	}
}

func TestOwnToken(t *testing.T) {
	plain, digest := policy.NewToken()
	for token, want := range map[string]bool{plain: true, plain[1:]: false, plain + "A": false, "gAAAAABl" + plain[8:]: false, digest: false, "": false} {
		if got := policy.OwnToken(token); got != want {
			t.Errorf("OwnToken of %d characters = %t, want %t", len(token), got, want)
		}
	}
}

// A token that has expired is nobody's, and the one before it is taken while its holder
// changes over.
func TestTokensExpireAndOverlap(t *testing.T) {
	fresh, digest := policy.NewToken()
	before, previous := policy.NewToken()
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	end := now.Add(time.Hour)
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{
		{Name: "alice", Project: "core", Roles: []string{"member"}, SHA256: digest, PreviousSHA256: previous, ExpiresAt: end},
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens.Now = func() time.Time { return now }
	want := func(when string, known bool) {
		t.Helper()
		for name, bearer := range map[string]string{"the token": fresh, "the one before": before} {
			if p, err := tokens.Authenticate(t.Context(), bearer); (err == nil) != known || known != (p.Name == "alice") {
				t.Errorf("%s, %s is that of %q, %v, want known %t", when, name, p.Name, err, known)
			}
		}
		if _, err := tokens.Lookup(t.Context(), "alice", "core"); (err == nil) != known {
			t.Errorf("%s, Lookup() = %v, want known %t", when, err, known)
		}
	}
	want("before the end", true)
	now = end.Add(-1)
	want("at the last moment", true)
	now = end
	want("at the end", false)
	if _, err := policy.NewStaticTokens([]policy.StaticToken{{Name: "a", Project: "b", Roles: []string{"c"}, SHA256: digest, PreviousSHA256: digest}}); err == nil {
		t.Error("a token that is its own predecessor is taken")
	}
}

// What is held names each token by how its digest begins, and holds nothing of the token.
func TestHeldTokens(t *testing.T) {
	now, nowDigest := policy.NewToken()
	before, beforeDigest := policy.NewToken()
	other, otherDigest := policy.NewToken()
	until := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{
		{Name: "bob", Project: "core", Roles: []string{"reader"}, SHA256: otherDigest},
		{Name: "alice", Project: "core", Roles: []string{"member"}, SHA256: nowDigest, PreviousSHA256: beforeDigest, ExpiresAt: until},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.HeldToken{
		{ID: policy.TokenID(now), Name: "alice", Project: "core", Roles: []string{"member"}, ExpiresAt: until},
		{ID: policy.TokenID(before), Name: "alice", Project: "core", Roles: []string{"member"}, Previous: true, ExpiresAt: until},
		{ID: policy.TokenID(other), Name: "bob", Project: "core", Roles: []string{"reader"}},
	}
	got := tokens.Held()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Held() (-want +got):\n%s", diff)
	}
	var many []policy.StaticToken
	for n := range 20 {
		_, digest := policy.NewToken()
		many = append(many, policy.StaticToken{Name: fmt.Sprintf("n%02d", n), Project: fmt.Sprint("p", n/10), Roles: []string{"reader"}, SHA256: digest})
	}
	crowd, err := policy.NewStaticTokens(many)
	if err != nil {
		t.Fatal(err)
	}
	for n, one := range crowd.Held() {
		if one.Name != many[n].Name || one.Project != many[n].Project {
			t.Errorf("of twenty the token %d is that of %s in %s", n, one.Name, one.Project)
		}
	}
	// Two digests that are none are two faults, and not the same token.
	none := policy.StaticToken{Name: "a", Project: "p", Roles: []string{"reader"}, SHA256: "x"}
	twin := none
	twin.Name = "b"
	if _, err := policy.NewStaticTokens([]policy.StaticToken{none, twin}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two digests that are none: %v", err)
	}
	for i, digest := range []string{nowDigest, beforeDigest, otherDigest} {
		if !strings.HasPrefix(digest, got[i].ID) || len(got[i].ID) != 12 {
			t.Errorf("the id %q is not how the digest begins", got[i].ID)
		}
	}
	for _, cut := range []string{nowDigest[:62], nowDigest + "00"} {
		if _, err := policy.NewStaticTokens([]policy.StaticToken{{Name: "a", Project: "p", Roles: []string{"reader"}, SHA256: cut}}); err == nil {
			t.Errorf("a digest of %d digits is taken", len(cut))
		}
	}
	if found, err := tokens.Lookup(t.Context(), "alice", "core"); err != nil {
		t.Fatal(err)
	} else {
		found.Roles[0] = policy.RoleAdmin
	}
	got[0].Roles[0] = policy.RoleAdmin
	if p, _ := tokens.Authenticate(t.Context(), now); p.Roles[0] != "member" {
		t.Error("who lists tokens can change what they are worth")
	}
}

// A refused login tells a caller nothing, and is what an unknown caller gets.
func TestARefusedLoginTellsNothing(t *testing.T) {
	var err error = &policy.RefusedLogin{Authenticator: "a", Reason: "because"}
	if !errors.Is(err, policy.ErrUnauthenticated) || err.Error() != policy.ErrUnauthenticated.Error() {
		t.Errorf("it says %v", err)
	}
	for name, want := range map[string]bool{
		"a": true, "A9._@-": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "": false, ".a": false, "a:b": false, "a b": false, "a\n": false,
	} {
		if policy.ValidName(name) != want {
			t.Errorf("%q is a name: %v", name, !want)
		}
	}
}
