package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// A name is looked for among all VIMs that have it: the project's own counts before shared ones, one that is only being
// registered is none, and what cannot be read matters in the own project alone.
func TestANameThatSeveralVIMsHave(t *testing.T) {
	all := map[string]VIM{
		"own": {Project: "p"}, "own registering": {Project: "p", State: VIMRegistering}, "own damaged": {Project: "p", Damaged: true},
		"own draining": {Project: "p", State: VIMDraining}, "own damaged registering": {Project: "p", State: VIMRegistering, Damaged: true},
		"q": {Project: "q"}, "r": {Project: "r"}, "q registering": {Project: "q", State: VIMRegistering}, "q damaged": {Project: "q", Damaged: true},
		"q draining": {Project: "q", State: VIMDraining}, "default": {Project: "p", Default: true}, "q default": {Project: "q", Default: true},
	}
	lookUp := func(names, ref string) string {
		var found []VIM
		for name := range strings.SplitSeq(names, ", ") {
			v := all[name]
			v.Name = name
			found = append(found, v)
		}
		b := &core{vims: &rows{found: found}}
		v, err := b.lookUpVIM(t.Context(), person, ref)
		return v.Name + strings.TrimPrefix(kindOf(err), "nil")
	}
	for names, want := range map[string]string{
		"own, q, r": "own", "q, own": "own", "q, r, own": "own", "q, r": "conflict vim", "q": "q", "own draining": "own draining", "q draining": "q draining",
		"own registering, q": "q", "own registering": "not found", "q registering, r": "r", "q registering": "not found", "q registering, own": "own",
		"own damaged, q": "temporarily unavailable", "q, own damaged": "temporarily unavailable", "own damaged registering, q": "q",
		"q damaged, r": "r", "q damaged": "not found", "q damaged, own": "own", "r, q damaged": "r", "q, q draining": "conflict vim",
	} {
		if got := lookUp(names, "edge"); got != want {
			t.Errorf("among %s: %s, want %s", names, got, want)
		}
	}
	for names, want := range map[string]string{
		"default": "default", "q default, default": "default", "q default": "invalid vim", "own registering, default": "default",
		"own damaged, default": "default", "own damaged": "invalid vim", "own registering": "invalid vim", "own draining": "own draining",
	} {
		if got := lookUp(names, ""); got != want {
			t.Errorf("the default among %s: %s, want %s", names, got, want)
		}
	}
	for _, state := range []VIMState{VIMRegistering, VIMRegistered, VIMDraining} {
		for _, project := range []string{"p", "q"} {
			b := &core{vims: &rows{all: map[string]VIM{vimID: {ID: vimID, Project: project, State: state}}}}
			v, err := b.lookUpVIM(t.Context(), person, vimID)
			if there := state != VIMRegistering; (err == nil) != there || (v.ID == vimID) != there || !there && !errors.Is(err, ErrNotFound) {
				t.Errorf("by id, %s in %s: %q, %v", state, project, v.ID, err)
			}
			trusted := &Registry{core: b}
			v, err = trusted.trustedVIM(t.Context(), vimID)
			if there := state == VIMRegistered; (err == nil) != there || there && v.ID != vimID || !there && !errors.Is(err, ErrNotFound) {
				t.Errorf("for trust by id, %s in %s: %q, %v", state, project, v.ID, err)
			}
		}
	}
}

// What the log and a row say of an error is its kind, of each kind, also where it is wrapped, and never its words.
func TestTheClassOfAnError(t *testing.T) {
	for _, kind := range []error{
		ErrNotFound, ErrInvalid, ErrExists, ErrConflict, ErrPrecondition, ErrDenied, ErrQuota, ErrUnsupported, ErrUnauthorized, ErrForbidden,
		ErrUnreachable, ErrUnavailable, ErrUnopenable, job.ErrFenced, context.DeadlineExceeded, context.Canceled,
	} {
		for _, err := range []error{kind, fmt.Errorf("doing a secret thing: %w", kind), &Error{Kind: kind, Detail: "a secret thing"}} {
			if got := class(err); got != kind.Error() {
				t.Errorf("%v is of class %q, want %q", err, got, kind)
			}
		}
		if got, want := message(&Error{Kind: kind, Detail: "what to do"}), "what to do"; got != want {
			t.Errorf("%v is told as %q, want %q", kind, got, want)
		}
	}
	for _, err := range []error{errStep, notary.ErrNone, fmt.Errorf("a secret thing: %w", errStep)} {
		if class(err) != "internal error" || message(err) != "internal error" {
			t.Errorf("%v is of class %q, and told as %q", err, class(err), message(err))
		}
	}
}

// What is seen of accounts' tokens where a VIM does not answer as it should: nobody is let in but where the stored credential may
// not ask.
func TestATokenIsTakenOnDoubtInOneCaseAlone(t *testing.T) {
	r, v := sealedVIM(t, knower{})
	r.vims = &rows{all: map[string]VIM{vimID: v}}
	for _, kind := range []error{ErrForbidden, ErrUnauthorized, ErrUnreachable, ErrUnavailable, ErrUnsupported, ErrNotFound, ErrConflict, ErrInvalid} {
		r.drivers["a"] = knower{fails: &Error{Kind: kind}}
		taken, err := r.ReviewToken(t.Context(), vimID, "token", "audience")
		if only := errors.Is(kind, ErrForbidden); taken != only || (err == nil) != only {
			t.Errorf("a VIM that answers %v: taken is %v, %v", kind, taken, err)
		}
	}
	v.Current.KeyStore = "vault"
	r.vims = &rows{all: map[string]VIM{vimID: v}}
	if taken, err := r.ReviewToken(t.Context(), vimID, "token", "audience"); taken || err == nil {
		t.Errorf("a VIM whose credential does not open: taken is %v, %v", taken, err)
	}
}

// Each field of what was minted is looked through for each secret: that which was sent, and that which came.
func TestWhatWasMintedEchoesNoCredential(t *testing.T) {
	for _, known := range []string{sent, fresh} {
		for field, set := range map[string]func(*Minted){
			"UID": func(m *Minted) { m.UID = "u " + known }, "CredentialID": func(m *Minted) { m.CredentialID = "c " + known },
			"Unseen": func(m *Minted) { m.Unseen = "no " + known },
		} {
			s := newStage(t)
			set(&s.actor.minted)
			m, err := s.mint(t.Context(), s.actor.Issue, Access{Credential: Credential{Token: secret.NewText(sent)}}, Grant{})
			if !errors.Is(err, ErrUnreachable) || m.UID+m.CredentialID+m.Unseen != "" || m.Credential.Token.Reveal() != fresh {
				t.Errorf("%s holds %q: %+v, %v", field, known, m, err)
			}
		}
	}
	for what, c := range map[string]struct {
		change func(*stage)
		want   error
	}{
		"it is well":             {func(s *stage) { s.actor.minted.UID, s.actor.minted.CredentialID = "u", "c" }, nil},
		"it ends now":            {func(s *stage) { s.actor.minted.ExpiresAt = s.clock.Now() }, ErrUnreachable},
		"it ends in a moment":    {func(s *stage) { s.actor.minted.ExpiresAt = s.clock.Now().Add(1) }, nil},
		"it is empty":            {func(s *stage) { s.actor.minted.Credential = Credential{} }, ErrUnreachable},
		"it has no end":          {func(s *stage) { s.actor.minted.ExpiresAt = s.actor.minted.ExpiresAt.AddDate(-9000, 0, 0) }, ErrUnreachable},
		"the VIM did not answer": {func(s *stage) { s.fails["Issue"] = &Error{Kind: ErrUnauthorized} }, ErrUnauthorized},
	} {
		s := newStage(t)
		c.change(s)
		if _, err := s.mint(t.Context(), s.actor.Issue, Access{}, Grant{}); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

// An operator's numbers are those of all VIMs together, without those that are gone, beside what no row explains.
func TestDiscrepanciesAddUp(t *testing.T) {
	d := discrepancies{byVIM: map[string]Discrepancy{}}
	d.set("a", Discrepancy{Orphans: 1, Ghosts: 2, Unbound: 3, Foreign: 4})
	d.set("b", Discrepancy{Orphans: 10, Ghosts: 20, Unbound: 30, Foreign: 40})
	d.set("c", Discrepancy{Orphans: 100, Ghosts: 100, Unbound: 100, Foreign: 100})
	d.setUnexplained(7)
	d.set("a", Discrepancy{Orphans: 2, Ghosts: 3, Unbound: 4, Foreign: 5})
	d.forget("c")
	if got, want := d.sum(), (Discrepancy{Orphans: 12, Ghosts: 23, Unbound: 34, Foreign: 45, Unexplained: 7}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
}

// An object of a lease that has ended is removed by the pass where its row leaves no doubt: nobody was handed anything, and the
// row is of this VIM and of this object.
func TestWhichLateObjectsAreRemoved(t *testing.T) {
	late := func(change func(*stage, *Upstream)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			u := Upstream{Handle: s.l.Handle, Lease: leaseID}
			if change != nil {
				change(s, &u)
			}
			s.actor.listed = []Upstream{{Handle: "another", Lease: "another"}, u}
			s.takeInventory(ctx, vimID)
			return fmt.Sprint("removed ", s.count("Revoke"), ", left ", s.Leaser.discrepancies.sum().Orphans)
		}
	}
	never := func(s *stage) { s.l.State, s.l.IssuedAt = LeaseRevoked, s.l.RevokedAt }
	with := func(change func(*Lease)) func(*stage) { return func(s *stage) { never(s); change(&s.l) } }
	unknown := func(s *stage, u *Upstream) { u.Lease = "unknown" }
	outcomes(t, []result{
		{"it was never issued", never, late(nil), "removed 1, left 1"},
		{"it was issued", func(s *stage) { s.l.State = LeaseRevoked }, late(nil), "removed 0, left 2"},
		{"it is on another VIM", with(func(l *Lease) { l.VIM = leaseID }), late(nil), "removed 0, left 2"},
		{"its object has another name", never, late(func(_ *stage, u *Upstream) { u.Handle = "other" }), "removed 0, left 2"},
		{"its object names no lease that is known", never, late(unknown), "removed 0, left 2"},
		{"it cannot be removed", never, late(func(s *stage, _ *Upstream) { s.fails["Revoke"] = &Error{Kind: ErrForbidden} }), "removed 1, left 2"},
		{"that may not be", never, late(func(s *stage, _ *Upstream) { s.denies[policy.LeaseRevoke] = true }), "removed 0, left 2"},
	})
}
