package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A change that names a revision is made to that one alone, also where the VIM changes between the decision and the write; one that
// names none is decided on once more and made.
func TestAChangeOfARevisionThatIsOvertaken(t *testing.T) {
	cred := Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}
	for what, change := range map[string]Change{
		"a name": {Name: new("n")}, "a label": {Labels: map[string]*string{"a": new("b")}}, "a namespace": {Namespace: new("n")}, "a credential": {Credential: cred},
		"a share": {SharedWith: &[]string{"q"}},
	} {
		for revision, want := range map[int64]string{0: "nil", 1: "changed since it was read If-Match"} {
			s := newStage(t)
			s.during["UpdateVIM 1"] = func() {
				v := s.tape.vims[vimID]
				v.Revision, v.Description = 2, "another's"
				s.tape.vims[vimID] = v
			}
			change.IfRevision = revision
			_, err := s.UpdateVIM(t.Context(), person, vimID, change)
			if v := s.tape.vims[vimID]; kindOf(err) != want || v.Description != "another's" || err != nil && v.Revision != 2 {
				t.Errorf("%s, of revision %d: %v, want %s; the VIM is %+v", what, revision, err, want, v)
			}
		}
	}
}

// A write that needs several further rights needs each: whichever is denied, nothing is written.
func TestEachFurtherRightIsNeeded(t *testing.T) {
	for action, field := range map[policy.Action]string{
		policy.VIMShare: "shared", policy.VIMVouch: "podsHeldBy", policy.VIMLabelReserved: "labels", policy.VIMShow: "",
	} {
		for what, write := range map[string]func(*stage) error{
			"an update": func(s *stage) error {
				_, err := s.UpdateVIM(t.Context(), person, vimID, Change{Shared: new(true), PodsHeldBy: new("kyverno"), Labels: map[string]*string{"vimbroker.io/a": new("b")}})
				return err
			},
			"a registration": func(s *stage) error {
				_, err := s.RegisterVIM(t.Context(), person, Registration{
					Name: "other", Type: "a", Endpoint: "https://vim", Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText(sent)},
					Shared: true, Labels: map[string]string{"vimbroker.io/a": "b"},
				})
				return err
			},
		} {
			s := newStage(t)
			s.actor.is.Rules = true
			s.core.drivers["a"] = s.actor
			s.denies[action] = true
			err := write(s)
			want := strings.TrimSpace("denied " + field)
			if field == "" || what == "a registration" && action == policy.VIMVouch {
				want = "nil"
			}
			if written := len(s.tape.vims) > 1 || s.tape.vims[vimID].Shared; kindOf(err) != want || written != (err == nil) {
				t.Errorf("%s without %s: %v, want %s; written is %v", what, action, err, want, written)
			}
		}
	}
}

// How a VIM is deleted says which right that needs: that its system is gone before that it is forced. What the last inventory found
// there is not counted any more.
func TestWhichRightADeletionNeeds(t *testing.T) {
	for _, c := range []struct {
		d     Deletion
		needs policy.Action
	}{
		{Deletion{}, policy.VIMDelete},
		{Deletion{Drain: true}, policy.VIMDelete},
		{Deletion{Force: true}, policy.VIMForceDelete},
		{Deletion{Drain: true, Force: true}, policy.VIMForceDelete},
		{Deletion{Gone: true}, policy.VIMRetire},
		{Deletion{Gone: true, Force: true}, policy.VIMRetire},
		{Deletion{Gone: true, Drain: true, Force: true}, policy.VIMRetire},
	} {
		for _, denied := range []policy.Action{policy.VIMDelete, policy.VIMForceDelete, policy.VIMRetire} {
			s := newStage(t)
			s.l.State = LeaseRevoked
			s.put()
			s.denies[denied] = true
			found := Discrepancy{Orphans: 1, Ghosts: 2, Unbound: 3, Foreign: 4}
			s.Leaser.discrepancies.set(vimID, found)
			_, gone, err := s.DeleteVIM(t.Context(), person, vimID, c.d)
			if allowed := denied != c.needs; (err == nil) != allowed || gone != allowed || !allowed && !errors.Is(err, ErrDenied) {
				t.Errorf("%+v without %s: gone %v, %v", c.d, denied, gone, err)
			}
			if gone {
				found = Discrepancy{}
			}
			same(t, fmt.Sprintf("%+v without %s: what an inventory found", c.d, denied), s.Leaser.discrepancies.sum(), found)
		}
	}
}

// An intent is stored with what it was decided on: the revision of the VIM, that of the lease whose place is taken, and each bound.
func TestAnIntentNamesWhatItRestsOn(t *testing.T) {
	s := newStage(t)
	s.core.terms.Quota = Quota{PerPrincipal: 1, PerClient: 2, PerVIM: 3, PerProject: 4}
	var kept Quota
	s.core.leases = bounds{s.tape, &kept}
	i := &issuing{Leaser: s.Leaser, vim: VIM{ID: vimID, Revision: 5}, old: Lease{Revision: 6}, act: must(s, policy.LeaseIssue)}
	if _, err := i.create(t.Context()); err != nil {
		t.Error(err)
	}
	same(t, "what the intent rests on", kept, Quota{PerPrincipal: 1, PerClient: 2, PerVIM: 3, PerProject: 4, VIMRevision: 5, OldRevision: 6})
}

// bounds is a store that keeps what a lease is bounded by.
type bounds struct {
	LeaseStore
	kept *Quota
}

func (b bounds) CreateLease(_ context.Context, l Lease, q Quota, _ audit.Entry) (Lease, error) {
	*b.kept = q
	return l, nil
}

// A log is behind from the moment on that no entry may wait for longer.
func TestWhenTheLogIsBehind(t *testing.T) {
	for behind, want := range map[time.Duration]bool{0: false, audit.SequencedWithin: false, audit.SequencedWithin + 1: true} {
		s := newStage(t)
		s.tape.behind = behind
		if err := s.WatchAudit(t.Context()); err != nil || s.logs("wait for their place in the log") != want {
			t.Errorf("behind by %s: %v, and the log says %s", behind, err, s.log)
		}
	}
}

// A VIM without authorities of its own is lent where the system has some, if its holder has to verify it.
func TestWhereNoAuthoritiesAreFound(t *testing.T) {
	system := remote.SystemRoots
	t.Cleanup(func() { remote.SystemRoots = system })
	for _, c := range []struct {
		own, system string
		insecure    bool
		want        string
	}{
		{"ca", "", false, "nil"}, {"", "roots", false, "nil"}, {"", "", false, "not supported"}, {"ca", "roots", true, "not supported"},
	} {
		remote.SystemRoots = func() string { return c.system }
		s := newStage(t)
		s.v.Current.Target = Target{CACert: c.own, InsecureSkipVerify: c.insecure}
		s.put()
		_, config, err := s.IssueLease(t.Context(), person, LeaseRequest{VIM: vimID, Verified: true})
		if kindOf(err) != c.want || config.CACert != map[bool]string{true: c.own + strings.Repeat(c.system, 1-len(c.own)/2)}[err == nil] {
			t.Errorf("its own %q, the system's %q, insecure %v: with %q, %v", c.own, c.system, c.insecure, config.CACert, err)
		}
		if _, plain, err := s.IssueLease(t.Context(), person, LeaseRequest{VIM: vimID}); err != nil || plain.CACert != c.own {
			t.Errorf("its own %q, for who need not verify: with %q, %v", c.own, plain.CACert, err)
		}
	}
}

// Leases are looked at again once a write has changed what policy sees of their VIM, and no other write has that.
func TestWhichWritesEndLeases(t *testing.T) {
	base := VIM{ID: vimID, Project: "p", Name: "edge", Type: "a", SharedWith: []string{"q"}, Labels: map[string]string{"a": "1"}}
	for what, c := range map[string]struct {
		change func(*VIM)
		want   bool
	}{
		"another name":           {func(v *VIM) { v.Name = "n" }, true},
		"shared with all":        {func(v *VIM) { v.Shared = true }, true},
		"shared with another":    {func(v *VIM) { v.SharedWith = []string{"r"} }, true},
		"shared with none":       {func(v *VIM) { v.SharedWith = nil }, true},
		"another value":          {func(v *VIM) { v.Labels = map[string]string{"a": "2"} }, true},
		"another label":          {func(v *VIM) { v.Labels = map[string]string{"b": "1"} }, true},
		"another host":           {func(v *VIM) { v.Current.Target.Endpoint = "https://other" }, true},
		"another namespace":      {func(v *VIM) { v.Current.Target.Namespace = "n" }, false},
		"another description":    {func(v *VIM) { v.Description, v.Extra = "d", "{}" }, false},
		"suspended, the default": {func(v *VIM) { v.Suspended, v.Default = "s", true }, false},
	} {
		s := newStage(t)
		s.core.terms.EndWithAccess = true
		s.denies[policy.LeaseIssue] = true
		after := base
		c.change(&after)
		s.Leaser.endChanged(t.Context(), base, after)
		if got := s.row().State == LeaseRevoking; got != c.want {
			t.Errorf("%s: leases are ended: %v, want %v", what, got, c.want)
		}
	}
}

// seek is a store that keeps what VIMs are looked for.
type seek struct {
	VIMStore
	by *VIMFilter
}

func (s seek) VIMs(_ context.Context, f VIMFilter) ([]VIM, string, error) {
	*s.by = f
	return nil, "", nil
}

// What a caller or the table of trust calls a VIM is looked for as it is written: a project ends at the first slash, and a name has
// what is behind it.
func TestWhatVIMsAreLookedFor(t *testing.T) {
	for ref, want := range map[string]VIMFilter{
		"p/n": {Project: "p", Name: "n"}, "p/n/x": {Project: "p", Name: "n/x"}, "p/": {Project: "p"}, "n": {Project: "n"}, "/n": {Name: "n"}, "P/N": {Project: "P", Name: "N"},
	} {
		var by VIMFilter
		_, err := (&Registry{core: &core{vims: seek{by: &by}}}).trustedVIM(t.Context(), ref)
		want.State, want.Page = VIMRegistered, Page{Size: 10}
		if same(t, "of "+ref+" in the table of trust the filter", by, want); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for ref, want := range map[string]VIMFilter{
		"edge": {Project: "p", Name: "edge", Page: Page{Size: 10}}, "q/edge": {Project: "p", Name: "q/edge", Page: Page{Size: 10}},
		"": {Project: "p", Default: true, Page: Page{Size: 100}},
	} {
		var by VIMFilter
		_, _ = (&core{vims: seek{by: &by}}).lookUpVIM(t.Context(), person, ref)
		same(t, fmt.Sprintf("of %q the filter", ref), by, want)
	}
	for name, want := range map[string]string{"": "s of project p", "n": `"n" (s) of project p`, "a\n\x1b[2J": `"a\n\x1b[2J" (s) of project p`} {
		if got := (Use{Subject: "s", Project: "p", Name: name}).String(); got != want {
			t.Errorf("a use is called %s, want %s", got, want)
		}
	}
	for key, want := range map[string]bool{"!": true, "~": true, "a b": false, "\x7f": false, "é": false, "日": false, "a\u0100": false, "\x00": false, "": true} {
		if err := CheckIdempotencyKey(key); (err == nil) != want {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	zone := time.FixedZone("there", 3600)
	if got := Clock(func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 1999, zone) })(); got != time.Date(2029, 12, 31, 23, 0, 0, 1000, time.UTC) {
		t.Errorf("the clock says %s", got)
	}
}
