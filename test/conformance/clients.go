package conformance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Clients checks the contract of [oauth.Store]. open returns an empty store, and sees to its
// end.
func Clients(t *testing.T, open func(t *testing.T) oauth.Store) {
	check := func(name string, f func(*testing.T, oauth.Store)) {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
	check("Rows", clientRows)
	check("List", clientLists)
	check("End", clientEnds)
	check("Quota", clientQuotas)
}

// TokenKeyStore is what [TokenKeys] needs: the ledger besides the keys.
type TokenKeyStore interface {
	oauth.TokenKeyStore
	RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error)
	KeysInUse(ctx context.Context, vim string) ([]broker.RetiredKey, error)
}

// TokenKeys checks the contract of [oauth.TokenKeyStore]. open returns an empty store, and sees to
// its end.
func TokenKeys(t *testing.T, open func(t *testing.T) TokenKeyStore) {
	s, ctx := open(t), t.Context()
	change := func(f func([]oauth.TokenKey) []oauth.TokenKey) error {
		return s.ChangeTokenKeys(ctx, func(keys []oauth.TokenKey) ([]oauth.TokenKey, error) { return f(keys), nil }, entry("keys"))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wantRefs := func(what string, found []broker.RetiredKey, err error, refs ...string) {
		t.Helper()
		var got []string
		for _, k := range found {
			got = append(got, string(k.Ref))
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, refs) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, refs)
		}
	}
	first := oauth.TokenKey{ID: uuid.NewString(), State: oauth.KeyMaking, CreatedAt: epoch}
	must(change(func([]oauth.TokenKey) []oauth.TokenKey { return []oauth.TokenKey{first} }))
	signs := first
	signs.State, signs.Public, signs.Sealed = oauth.KeySigning, `{"kty":"EC"}`, keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref-1"}
	must(change(func([]oauth.TokenKey) []oauth.TokenKey { return []oauth.TokenKey{signs} }))
	used, err := s.KeysInUse(ctx, first.ID)
	wantRefs("in use", used, err, "ref-1")
	if got, err := s.TokenKeys(ctx); err != nil || len(got) != 1 || got[0] != signs {
		t.Errorf("TokenKeys = %+v, %v, want %+v", got, err, signs)
	}

	second := signs
	second.ID, second.CreatedAt, second.Ref = uuid.NewString(), epoch.Add(time.Second), "ref-2"
	if err := change(func(keys []oauth.TokenKey) []oauth.TokenKey { return append(keys, second) }); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a second key that signs = %v, want ErrConflict", err)
	}
	verifies := signs
	verifies.State, verifies.Until, verifies.Sealed = oauth.KeyVerifying, epoch.Add(time.Hour), keyring.Sealed{}
	must(change(func([]oauth.TokenKey) []oauth.TokenKey { return []oauth.TokenKey{second, verifies} }))
	if got, err := s.TokenKeys(ctx); err != nil || len(got) != 2 || got[0] != verifies || got[1] != second {
		t.Errorf("TokenKeys = %+v, %v, want the older first", got, err)
	}
	retired, err := s.RetiredKeys(ctx, 10)
	wantRefs("retired by a rotation", retired, err, "ref-1")
	if err := change(func([]oauth.TokenKey) []oauth.TokenKey { return []oauth.TokenKey{second, signs} }); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a key that signs again = %v, want ErrConflict", err)
	}
	refusal := errors.New("no")
	if err := s.ChangeTokenKeys(ctx, func([]oauth.TokenKey) ([]oauth.TokenKey, error) { return nil, refusal }, entry("refused")); err != refusal { //nolint:errorlint // as it is
		t.Errorf("ChangeTokenKeys = %v, want the change's own error", err)
	}
	must(change(func([]oauth.TokenKey) []oauth.TokenKey { return nil }))
	if got, err := s.TokenKeys(ctx); err != nil || len(got) != 0 {
		t.Errorf("TokenKeys = %+v, %v, want none", got, err)
	}
	retired, err = s.RetiredKeys(ctx, 10)
	wantRefs("retired by removal", retired, err, "ref-1", "ref-2")
}

// fullClient has every field set, so that one that a store forgets shows.
func fullClient(project, name string) oauth.Client {
	return oauth.Client{
		ID: uuid.NewString(), Name: name, Project: project, Roles: []string{"site", "vnfm"}, State: oauth.Active,
		SHA256: "ab", Certificate: oauth.Certificate{Kind: oauth.SANURI, Name: "spiffe://core/tacker"}, PreviousSHA256: "cd", PreviousUntil: epoch.Add(time.Hour), RotatedAt: epoch.Add(time.Minute), Ending: true,
		Placements: []oauth.Placement{{
			VNFD: "b1*", Instance: "97", Parameters: map[string]string{"site": "n*"}, VIM: "edge", Role: "edit",
			Rules:      []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
			Namespaces: []string{"web"}, ClusterWide: true, TTL: time.Minute, Grade: broker.GradeBounded, Profile: oauth.Token, Zone: "nova",
			Flavours: map[string]string{"a": "m1.small"}, Images: map[string]string{"b": "cirros"},
		}},
		CreatedBy: "alice", CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second), Revision: 1,
	}
}

func createClient(t *testing.T, s oauth.Store, c oauth.Client) {
	t.Helper()
	if err := s.CreateClient(t.Context(), c, 0, entry("create-"+c.ID)); err != nil {
		t.Fatalf("CreateClient(%s) = %v", c.Name, err)
	}
}

func clientRows(t *testing.T, s oauth.Store) {
	ctx := t.Context()
	want := fullClient("north", "tacker")
	createClient(t, s, want)
	got, err := s.Client(ctx, want.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Client = %v, differs:\n%s", err, diff)
	}
	createClient(t, s, fullClient("south", "tacker")) // another project's
	taken := new(broker.Error)
	if err := s.CreateClient(ctx, fullClient("north", "tacker"), 0, entry("twice")); !errors.As(err, &taken) || !errors.Is(err, broker.ErrExists) || taken.Field != "name" {
		t.Errorf("a second client of the name = %v, want ErrExists about name", err)
	}
	for what, read := range map[string]func() (oauth.Client, error){
		"no id": func() (oauth.Client, error) { return s.Client(ctx, uuid.NewString()) },
		"an update of none": func() (oauth.Client, error) {
			return s.UpdateClient(ctx, uuid.NewString(), func(*oauth.Client) error { return nil }, entry("none"))
		},
	} {
		if c, err := read(); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s: found %s, %v, want ErrNotFound", what, c.ID, err)
		}
	}

	// What an update may change, and what it may not.
	changed := fullClient("south", "other")
	changed.Roles, changed.SHA256, changed.PreviousSHA256, changed.PreviousUntil, changed.Ending = []string{"vnfm"}, "ef", "", time.Time{}, false
	changed.Placements = nil
	changed.RotatedAt, changed.UpdatedAt = epoch.Add(time.Hour), epoch.Add(2*time.Hour)
	stored, err := s.UpdateClient(ctx, want.ID, func(c *oauth.Client) error {
		*c = changed
		c.CreatedBy, c.CreatedAt, c.Revision = "eve", epoch.Add(time.Hour), 99
		return nil
	}, entry("update"))
	if err != nil {
		t.Fatalf("UpdateClient = %v", err)
	}
	changed.ID, changed.Name, changed.Project, changed.CreatedBy, changed.CreatedAt, changed.Revision = want.ID, "tacker", "north", "alice", epoch, 2
	got, err = s.Client(ctx, want.ID)
	if err != nil || !cmp.Equal(changed, stored) || !cmp.Equal(changed, got) {
		t.Errorf("after the update: %v\nanswered: %s\nstored: %s", err, cmp.Diff(changed, stored), cmp.Diff(changed, got))
	}
	refusal := errors.New("no")
	if _, err := s.UpdateClient(ctx, want.ID, func(c *oauth.Client) error { c.SHA256 = "x"; return refusal }, entry("refused")); err != refusal { //nolint:errorlint // as it is
		t.Errorf("UpdateClient = %v, want the change's own error", err)
	}
	if got, err = s.Client(ctx, want.ID); err != nil || !cmp.Equal(got, changed) {
		t.Errorf("a refused update changed something: %v\n%s", err, cmp.Diff(changed, got))
	}
}

func clientLists(t *testing.T, s oauth.Store) {
	var north []string
	for _, name := range []string{"e", "b", "d", "a", "c"} {
		c := fullClient("north", name)
		c.Ending = name == "b"
		createClient(t, s, c)
		north = append(north, name)
	}
	slices.Sort(north)
	createClient(t, s, fullClient("south", "a"))
	list := func(f oauth.Filter) (names []string) {
		t.Helper()
		for pages := 0; ; pages++ {
			found, next, err := s.Clients(t.Context(), f)
			if err != nil || len(found) > f.Size {
				t.Fatalf("Clients(%+v) = %d clients, %v", f, len(found), err)
			}
			for _, c := range found {
				names = append(names, c.Name)
			}
			if next == "" || pages > 20 {
				return names
			}
			f.Token = next
		}
	}
	for size := 1; size <= 7; size++ {
		page := broker.Page{Size: size}
		if got := list(oauth.Filter{Project: "north", Page: page}); !slices.Equal(got, north) {
			t.Errorf("pages of %d list %v, want %v", size, got, north)
		}
		if got := list(oauth.Filter{Page: page}); len(got) != 6 || got[5] != "a" {
			t.Errorf("all projects have %v", got)
		}
	}
	page := broker.Page{Size: 10}
	if got := list(oauth.Filter{Name: "c", Page: page}); !slices.Equal(got, []string{"c"}) {
		t.Errorf("by name there are %v", got)
	}
	if got := list(oauth.Filter{Project: "north", Name: "c", Page: page}); !slices.Equal(got, []string{"c"}) {
		t.Errorf("by name in its project there are %v", got)
	}
	if got := list(oauth.Filter{Ending: true, Page: page}); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("with leases that are ending, of all projects, there are %v", got)
	}
	if got := list(oauth.Filter{Project: "north", Ending: true, Page: page}); !slices.Equal(got, []string{"b"}) {
		t.Errorf("with leases that are ending there are %v", got)
	}
	if _, _, err := s.Clients(t.Context(), oauth.Filter{Page: broker.Page{Size: 1, Token: "forged"}}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a forged page token = %v, want ErrInvalid", err)
	}
}

// clientEnds: a client goes only once it is being deleted, and never comes back from that.
func clientEnds(t *testing.T, s oauth.Store) {
	ctx := t.Context()
	c := fullClient("north", "tacker")
	createClient(t, s, c)
	if err := s.DeleteClient(ctx, c.ID, entry("too early")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("DeleteClient of an active one = %v, want ErrConflict", err)
	}
	deleting := func(now *oauth.Client) error {
		now.State, now.SHA256, now.PreviousSHA256 = oauth.Deleting, "", ""
		return nil
	}
	for range 2 { // staying is no move
		if _, err := s.UpdateClient(ctx, c.ID, deleting, entry("deleting")); err != nil {
			t.Fatal(err)
		}
	}
	for what, change := range map[string]func(*oauth.Client) error{
		"active again":      func(now *oauth.Client) error { now.State = oauth.Active; return nil },
		"a secret":          func(now *oauth.Client) error { now.SHA256 = "ab"; return nil },
		"no leases to end":  func(now *oauth.Client) error { now.Ending = false; return nil },
		"an unknown state ": func(now *oauth.Client) error { now.State = "gone"; return nil },
	} {
		if _, err := s.UpdateClient(ctx, c.ID, change, entry("back")); !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%s = %v, want a refusal", what, err)
		}
	}
	count := func() int {
		all, err := s.Entries(ctx, audit.Query{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := count()
	for range 2 { // the second finds nothing, and writes nothing
		if err := s.DeleteClient(ctx, c.ID, entry("delete")); err != nil {
			t.Errorf("DeleteClient = %v", err)
		}
	}
	if n := count() - before; n != 1 {
		t.Errorf("deleting twice wrote %d entries, want 1", n)
	}
	if _, err := s.Client(ctx, c.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a deleted client: %v, want ErrNotFound", err)
	}
	createClient(t, s, fullClient("north", "tacker")) // the name is free
}

// clientQuotas: of many at the same time, only as many come in as may.
func clientQuotas(t *testing.T, s oauth.Store) {
	var all sync.WaitGroup
	refused := make(chan error, 8)
	for i := range 8 {
		all.Go(func() {
			refused <- s.CreateClient(t.Context(), fullClient("north", string(rune('a'+i))), 3, entry("crowd"))
		})
	}
	all.Wait()
	in := 0
	for range 8 {
		switch err := <-refused; {
		case err == nil:
			in++
		case !errors.Is(err, broker.ErrQuota):
			t.Errorf("CreateClient = %v, want ErrQuota", err)
		}
	}
	if in != 3 {
		t.Errorf("%d clients came in, want 3", in)
	}
	if err := s.CreateClient(t.Context(), fullClient("south", "a"), 3, entry("elsewhere")); err != nil {
		t.Errorf("another project = %v", err)
	}
}
