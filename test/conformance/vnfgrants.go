package conformance

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// VNFGrantStore is what [VNFGrants] checks.
type VNFGrantStore interface {
	grant.Store
	broker.Store
}

// VNFGrants checks the contract of [grant.Store]. open returns an empty store, and sees to its end.
func VNFGrants(t *testing.T, open func(t *testing.T) VNFGrantStore) {
	s, ctx := open(t), t.Context()
	made := func(client, operation, instance string, age time.Duration) grant.Grant {
		t.Helper()
		g := grant.Grant{
			ID: uuid.NewString(), Client: client, Project: "north", State: grant.Deciding, Digest: "d", Refusal: "r", Maker: "m", Holds: true, Lease: "l",
			Request: grant.GrantRequest{
				ID: operation, Type: grant.Instantiate, Instance: instance, VNFD: "v", NewVNFD: "n", Add: []string{"a"}, Temporary: []string{"t"},
				Remove: []string{"r"}, Update: []string{"u"}, OperationURL: "http://o", InstanceURL: "http://i",
			},
			Placement: oauth.Placement{VIM: "edge", TTL: time.Minute}, VIM: "id", VIMName: "edge", CreatedAt: epoch.Add(age), DecidedAt: epoch.Add(time.Second),
			Followed: true, LookAt: epoch.Add(age), Outcome: "COMPLETED", Revision: 1,
		}
		if err := s.CreateVNFGrant(ctx, g, 0, entry("create-"+g.ID)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	want := func(what string, got grant.Grant, err error, want grant.Grant) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, differs:\n%s", what, err, diff)
		}
	}
	none := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", what, err)
		}
	}
	first := made("c1", "op-1", "i-1", 0)
	second := made("c1", "op-2", "i-1", time.Minute)
	other := made("c2", "op-1", "i-1", 2*time.Minute) // another client's
	got, err := s.VNFGrant(ctx, first.ID)
	want("by id", got, err, first)
	got, err = s.VNFGrantOf(ctx, "c1", "op-2")
	want("by operation", got, err, second)
	got, err = s.HoldingVNFGrant(ctx, "c1", "i-1")
	want("the newest that holds", got, err, second)
	_, err = s.VNFGrant(ctx, uuid.NewString())
	none("no id", err)
	_, err = s.VNFGrantOf(ctx, "c3", "op-1")
	none("no client", err)
	_, err = s.HoldingVNFGrant(ctx, "c1", "i-2")
	none("no instance", err)
	_, err = s.UpdateVNFGrant(ctx, uuid.NewString(), func(*grant.Grant) error { return nil }, entry("none"))
	none("an update of none", err)
	twice := first
	twice.ID = uuid.NewString()
	if err := s.CreateVNFGrant(ctx, twice, 0, entry("twice")); !errors.Is(err, broker.ErrExists) {
		t.Errorf("a second grant for the operation = %v, want ErrExists", err)
	}
	third := twice
	third.Request.ID = "op-3"
	if err := s.CreateVNFGrant(ctx, third, 2, entry("third")); !errors.Is(err, broker.ErrQuota) {
		t.Errorf("a third of two that the client may have = %v, want ErrQuota", err)
	}

	due := func(what string, at time.Duration, each, limit int, want ...grant.Grant) {
		t.Helper()
		found, err := s.DueVNFGrants(ctx, epoch.Add(at), each, limit)
		if err != nil || !slices.EqualFunc(found, want, func(x, y grant.Grant) bool { return x.ID == y.ID }) {
			t.Errorf("%s: due are %v, %v, want %v", what, ids(found), err, ids(want))
		}
	}
	due("what is due", time.Minute, 10, 10, first, second)
	due("at most one", time.Minute, 10, 1, first)
	due("each client in its turn", time.Hour, 10, 10, first, other, second)
	due("one of each client", time.Hour, 1, 10, first, other)
	if err := s.NoteVNFGrant(ctx, second, epoch.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if err := s.NoteVNFGrant(ctx, second, epoch.Add(2*time.Hour)); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a note on what was noted since = %v, want ErrConflict", err)
	}
	second.LookAt = epoch.Add(time.Hour)
	got, err = s.VNFGrant(ctx, second.ID)
	want("after a look", got, err, second)
	stale := second
	stale.Revision = 7
	if err := s.NoteVNFGrant(ctx, stale, epoch.Add(2*time.Hour)); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a note on another revision = %v, want ErrConflict", err)
	}

	refusal := errors.New("no")
	if _, err := s.UpdateVNFGrant(ctx, first.ID, func(*grant.Grant) error { return refusal }, entry("refused")); !errors.Is(err, refusal) {
		t.Errorf("UpdateVNFGrant = %v, want the change's own error", err)
	}
	if _, err := s.UpdateVNFGrant(ctx, first.ID, func(g *grant.Grant) error { g.State = grant.Ended; return nil }, entry("bad")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a move that is none = %v, want ErrConflict", err)
	}
	stored, err := s.UpdateVNFGrant(ctx, first.ID, func(g *grant.Grant) error {
		*g = grant.Grant{State: grant.Refused, Refusal: "policy"}
		return nil
	}, entry("update"))
	changed := first
	changed.State, changed.Refusal, changed.Revision = grant.Refused, "policy", 2
	changed.Request.Add, changed.Request.Temporary, changed.Request.Remove, changed.Request.Update = nil, nil, nil, nil
	changed.Maker, changed.Holds, changed.Lease, changed.Placement, changed.VIM, changed.VIMName = "", false, "", oauth.Placement{}, "", ""
	changed.DecidedAt, changed.Followed, changed.LookAt, changed.Outcome = time.Time{}, false, time.Time{}, ""
	want("what an update stores", stored, err, changed)
	got, err = s.VNFGrant(ctx, first.ID)
	want("after an update", got, err, changed)
	due("those that are followed", 2*time.Hour, 10, 10, other, second)
	if err := s.NoteVNFGrant(ctx, changed, epoch); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a note on what is not followed = %v, want ErrConflict", err)
	}

	forgotten := func(what, client string, before time.Duration, limit, want int) {
		t.Helper()
		if n, err := s.ForgetVNFGrants(ctx, client, epoch.Add(before), limit); err != nil || n != want {
			t.Errorf("%s: forgotten are %d, %v, want %d", what, n, err, want)
		}
	}
	if _, err := s.UpdateVNFGrant(ctx, other.ID, func(g *grant.Grant) error { g.State = grant.Refused; return nil }, entry("followed")); err != nil {
		t.Fatal(err)
	}
	forgotten("what is young", "", 0, 10, 0)
	forgotten("another client's", "c3", time.Hour, 10, 0)
	forgotten("what is followed", "c2", time.Hour, 10, 0)
	forgotten("none", "c1", time.Hour, 0, 0)
	forgotten("what was refused", "c1", time.Hour, 10, 1)
	refused, err := s.VNFGrant(ctx, other.ID)
	if err == nil {
		err = s.NoteVNFGrant(ctx, refused, time.Time{})
	}
	if err != nil {
		t.Fatal(err)
	}
	due("what is not followed any more", 2*time.Hour, 10, 10, second)
	forgotten("of every client", "", time.Hour, 10, 1)
	made("c4", "op-1", "i-1", 0)
	vnfGrantsThatStay(t, s, made, forgotten)
	vnfGrantRecords(t, open(t))
}

// vnfGrantsThatStay: a grant that holds a lease is not forgotten while that lives, nor while it is known that
// it ended other than with its operation.
func vnfGrantsThatStay(
	t *testing.T, store VNFGrantStore, made func(client, operation, instance string, age time.Duration) grant.Grant,
	forgotten func(what, client string, before time.Duration, limit, want int),
) {
	s := storeTest{Store: store, ctx: t.Context()}
	v := s.mustCreateVIM(t, plainVIM("north", "core"))
	for name, c := range map[string]struct {
		state  broker.LeaseState
		reason broker.Reason
		holds  bool
		gone   int
	}{
		"a lease that lives":                         {broker.LeaseActive, "", true, 0},
		"one that lives, and is another grant's":     {broker.LeaseActive, "", false, 1},
		"one that is being revoked":                  {broker.LeaseRevoking, broker.ReasonExpired, true, 0},
		"one that somebody has revoked":              {broker.LeaseRevoked, broker.ReasonRequested, true, 0},
		"another grant's that somebody has revoked":  {broker.LeaseRevoked, broker.ReasonRequested, false, 1},
		"one that has ended with its last operation": {broker.LeaseRevoked, broker.ReasonOperationEnded, true, 1},
		"one that has expired":                       {broker.LeaseRevoked, broker.ReasonExpired, true, 0},
	} {
		l := s.mustCreateLease(t, plainLease(v))
		ways := map[broker.LeaseState][]broker.LeaseState{
			broker.LeaseActive: {"active"}, broker.LeaseRevoking: {"active", "revoking"}, broker.LeaseRevoked: {"active", "revoking", "revoked"},
		}
		s.mustMove(t, l.ID, ways[c.state]...)
		if _, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error { l.Reason = c.reason; return nil }, entry("reason")); err != nil {
			t.Fatal(err)
		}
		g := made("stays", name, "i-9", 0)
		if _, err := store.UpdateVNFGrant(s.ctx, g.ID, func(g *grant.Grant) error {
			g.State, g.Lease, g.Holds, g.Followed = grant.Granted, l.ID, c.holds, false
			return nil
		}, entry("granted")); err != nil {
			t.Fatal(err)
		}
		forgotten(name+", granted", "stays", time.Hour, 10, 0)
		if _, err := store.UpdateVNFGrant(s.ctx, g.ID, func(g *grant.Grant) error { g.State = grant.Ended; return nil }, entry("ended")); err != nil {
			t.Fatal(err)
		}
		forgotten(name, "stays", time.Hour, 10, c.gone)
	}
	// A lease that has taken the place of one whose row is gone.
	l := plainLease(v)
	l.Login, l.SecretSHA256 = uuid.NewString(), "digest"
	g := made("lasts", "op", "i-9", 0)
	for _, change := range []func(*grant.Grant){
		func(g *grant.Grant) { g.State, g.Lease, g.Holds = grant.Granted, l.Login, true },
		func(g *grant.Grant) { g.State, g.Followed = grant.Ended, false },
	} {
		if _, err := store.UpdateVNFGrant(s.ctx, g.ID, func(g *grant.Grant) error { change(g); return nil }, entry("lasts")); err != nil {
			t.Fatal(err)
		}
	}
	l.SecretSHA256 = "" // CreateLease passes secrets on where there are some
	l.ID = l.Login
	l.SecretSHA256 = "digest"
	l = s.mustCreateLease(t, l)
	for state, gone := range map[string]int{"active": 0} {
		s.mustMove(t, l.ID, broker.LeaseState(state))
		forgotten("with a successor that is "+state, "lasts", time.Hour, 10, gone)
	}
}

// vnfGrantRecords checks the list: its order, its pages, its filters, and what it says of leases.
func vnfGrantRecords(t *testing.T, store VNFGrantStore) {
	s := storeTest{Store: store, ctx: t.Context()}
	v := s.mustCreateVIM(t, plainVIM("north", "core"))
	l := plainLease(v)
	l.RenewedAt = epoch.Add(time.Hour)
	l = s.mustCreateLease(t, l)
	issued := s.mustMove(t, l.ID, broker.LeaseActive).IssuedAt
	var all []string // the oldest first
	made := func(project string, change func(*grant.Grant)) grant.Grant {
		t.Helper()
		id, err := uuid.NewV7()
		if err != nil {
			t.Fatal(err)
		}
		g := grant.Grant{
			ID: id.String(), Client: "c1", Project: project, State: grant.Granted, Maker: "m", VIM: "vim-id", VIMName: "edge", Lease: "gone",
			Request: grant.GrantRequest{ID: id.String(), Type: grant.Instantiate, Instance: "i-1", VNFD: "v"}, CreatedAt: epoch, Revision: 1,
		}
		change(&g)
		if err := store.CreateVNFGrant(s.ctx, g, 0, entry("create-"+g.ID)); err != nil {
			t.Fatal(err)
		}
		all = append(all, g.ID)
		return g
	}
	plain := made("north", func(*grant.Grant) {})
	stands := made("north", func(g *grant.Grant) { g.Lease = l.ID })
	token := made("south", func(g *grant.Grant) { g.Lease, g.Placement.Profile = l.ID, oauth.Token })
	other := made("south", func(g *grant.Grant) { g.Client = "c2" })
	elsewhere := made("south", func(g *grant.Grant) { g.Request.Instance = "i-2" })
	named := made("south", func(g *grant.Grant) { g.VIM, g.VIMName = "other-id", "vim-id" })
	refused := made("south", func(g *grant.Grant) { g.State, g.Lease, g.VIM, g.VIMName = grant.Refused, "", "", "" })
	slices.Reverse(all)
	for name, c := range map[string]struct {
		f    grant.Filter
		want []string
	}{
		"all":           {grant.Filter{}, all},
		"a project":     {grant.Filter{Project: "north"}, []string{stands.ID, plain.ID}},
		"a client":      {grant.Filter{Query: grant.Query{Client: "c2"}}, []string{other.ID}},
		"an instance":   {grant.Filter{Query: grant.Query{Instance: "i-2"}}, []string{elsewhere.ID}},
		"an operation":  {grant.Filter{Query: grant.Query{Operation: plain.ID}}, []string{plain.ID}},
		"a lease":       {grant.Filter{Query: grant.Query{Lease: l.ID}}, []string{token.ID, stands.ID}},
		"a VIM":         {grant.Filter{Query: grant.Query{VIM: "other-id"}}, []string{named.ID}},
		"a name":        {grant.Filter{VIMName: "edge"}, []string{elsewhere.ID, other.ID, token.ID, stands.ID, plain.ID}},
		"a state":       {grant.Filter{Query: grant.Query{State: grant.Refused}}, []string{refused.ID}},
		"both":          {grant.Filter{Project: "north", Query: grant.Query{Lease: l.ID}}, []string{stands.ID}},
		"its client":    {grant.Filter{Project: "south", Query: grant.Query{Client: "c2"}}, []string{other.ID}},
		"its instance":  {grant.Filter{Project: "south", Query: grant.Query{Instance: "i-2"}}, []string{elsewhere.ID}},
		"its operation": {grant.Filter{Project: "north", Query: grant.Query{Operation: plain.ID}}, []string{plain.ID}},
		"its VIM":       {grant.Filter{Project: "south", Query: grant.Query{VIM: "other-id"}}, []string{named.ID}},
		"its name":      {grant.Filter{Project: "south", VIMName: "vim-id"}, []string{named.ID}},
		"its state":     {grant.Filter{Project: "south", Query: grant.Query{State: grant.Refused}}, []string{refused.ID}},
		"nothing":       {grant.Filter{Project: "north", Query: grant.Query{Client: "c2"}}, nil},
	} {
		for size := 1; size <= 8; size++ {
			var got []string
			f := c.f
			for f.Size = size; ; {
				page, next, err := store.VNFGrantRecords(s.ctx, f)
				if err != nil || len(page) > size {
					t.Fatalf("%s: a page of %d has %d, %v", name, size, len(page), err)
				}
				for _, r := range page {
					got = append(got, r.ID)
				}
				if f.Token = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, %d a page: %v, want %v", name, size, got, c.want)
			}
		}
	}
	for id, want := range map[string]grant.Record{
		plain.ID:  {Grant: plain},
		stands.ID: {Grant: stands, LeaseState: broker.LeaseActive, TokenAt: epoch.Add(time.Hour)},
		token.ID:  {Grant: token, LeaseState: broker.LeaseActive, TokenAt: issued},
	} {
		got, err := store.VNFGrantRecord(s.ctx, id)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("VNFGrantRecord: %v, differs:\n%s", err, diff)
		}
	}
	if _, err := store.VNFGrantRecord(s.ctx, uuid.NewString()); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("VNFGrantRecord of none = %v", err)
	}
	if _, _, err := store.VNFGrantRecords(s.ctx, grant.Filter{Query: grant.Query{Page: broker.Page{Token: "x"}}}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a page token of nobody's = %v, want ErrInvalid", err)
	}
}

func ids(all []grant.Grant) (out []string) {
	for _, g := range all {
		out = append(out, g.ID)
	}
	return out
}
