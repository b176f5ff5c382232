package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/lifecycle/grant"
)

// VNFGrantStore is what [VNFGrants] checks.
type VNFGrantStore = grant.Store

// VNFGrants checks the contract of [grant.Store]. open returns an empty store, and sees to its end.
func VNFGrants(t *testing.T, open func(t *testing.T) VNFGrantStore) {
	s, ctx := open(t), t.Context()
	made := func(client, operation, instance string, age time.Duration) grant.Grant {
		t.Helper()
		g := grant.Grant{
			ID: uuid.NewString(), Client: client, Project: "north", State: grant.Deciding, Digest: "d", Refusal: "r", Maker: "m", Holds: true, Lease: "l",
			Request: grant.Request{
				ID: operation, Type: grant.Instantiate, Instance: instance, VNFD: "v", NewVNFD: "n", Add: []string{"a"}, Temporary: []string{"t"},
				Remove: []string{"r"}, Update: []string{"u"}, OperationURL: "http://o", InstanceURL: "http://i",
			},
			Placement: oauth.Placement{VIM: "edge", TTL: time.Minute}, VIM: "id", VIMName: "edge", CreatedAt: epoch.Add(age), DecidedAt: epoch.Add(time.Second),
			Followed: true, LookAt: epoch.Add(age), Looks: 2, Outcome: "COMPLETED", Revision: 1,
		}
		if err := s.CreateVNFGrant(ctx, g, entry("create-"+g.ID)); err != nil {
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
	made("c2", "op-1", "i-1", 2*time.Minute) // another client's
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
	if err := s.CreateVNFGrant(ctx, twice, entry("twice")); !errors.Is(err, broker.ErrExists) {
		t.Errorf("a second grant for the operation = %v, want ErrExists", err)
	}

	if due, err := s.DueVNFGrants(ctx, epoch.Add(time.Minute), 10); err != nil || len(due) != 2 || due[0].ID != first.ID {
		t.Errorf("due are %d, %v, want two, the oldest first", len(due), err)
	}
	if due, err := s.DueVNFGrants(ctx, epoch.Add(time.Minute), 1); err != nil || len(due) != 1 {
		t.Errorf("of at most one due are %d, %v", len(due), err)
	}
	looked := second
	looked.LookAt, looked.Looks, looked.Outcome = epoch.Add(time.Hour), 3, "not this"
	if err := s.NoteVNFGrant(ctx, looked); err != nil {
		t.Error(err)
	}
	if err := s.NoteVNFGrant(ctx, looked); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a note on another revision = %v, want ErrConflict", err)
	}
	second.LookAt, second.Looks, second.Revision = looked.LookAt, 3, 2
	got, err = s.VNFGrant(ctx, second.ID)
	want("after a look", got, err, second)

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
	changed.Maker, changed.Holds, changed.Lease, changed.Placement, changed.VIM, changed.VIMName = "", false, "", oauth.Placement{}, "", ""
	changed.DecidedAt, changed.Followed, changed.LookAt, changed.Looks, changed.Outcome = time.Time{}, false, time.Time{}, 0, ""
	want("what an update stores", stored, err, changed)
	got, err = s.VNFGrant(ctx, first.ID)
	want("after an update", got, err, changed)
	if due, err := s.DueVNFGrants(ctx, epoch.Add(2*time.Hour), 10); err != nil || len(due) != 2 {
		t.Errorf("due are %d, %v, want those that are followed", len(due), err)
	}

	if n, err := s.ForgetVNFGrants(ctx, epoch, 10); err != nil || n != 0 {
		t.Errorf("forgotten of what is young: %d, %v", n, err)
	}
	if n, err := s.ForgetVNFGrants(ctx, epoch.Add(time.Hour), 10); err != nil || n != 1 {
		t.Errorf("forgotten are %d, %v, want the one that was refused", n, err)
	}
	if all, err := s.VNFGrants(ctx, "", 10); err != nil || len(all) != 2 || all[0].ID > all[1].ID {
		t.Errorf("all are %d, %v", len(all), err)
	}
	if rest, err := s.VNFGrants(ctx, "zzz", 10); err != nil || len(rest) != 0 {
		t.Errorf("after the last there are %d, %v", len(rest), err)
	}
}
