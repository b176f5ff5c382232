package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var ada = policy.Principal{Name: "ada", Project: "core", Roles: []string{policy.RoleAdmin}}

// TestForget: what cannot be reached is let go of, by those who may. The operation and the entry say what is left; package
// and VIM are free.
func TestForget(t *testing.T) {
	p := newPlant(t)
	ctx := t.Context()
	i := p.running()
	if _, err := p.Forget(ctx, alice, i.ID); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a member forgets: %v", err)
	}
	if _, err := p.Forget(ctx, carol, i.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("another project's member forgets: %v", err)
	}
	begun, err := p.Terminate(ctx, alice, i.ID, nil)
	if _, err := p.Forget(ctx, ada, i.ID); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("forgotten while it is terminated: %v", err)
	}
	p.yard.failsAt(0, errBroken)
	failed := p.ends(lifecycle.FailedTemp, begun, err)
	o, err := p.Forget(ctx, ada, i.ID)
	if err != nil || o.State != lifecycle.Completed || len(o.Steps) != 2 || !o.Steps[0].Standing || !strings.Contains(o.Steps[0].Message, "left") {
		t.Fatalf("Forget = %+v, %v", o, err)
	}
	if was, err := p.Operation(ctx, alice, failed.ID); err != nil || was.State != lifecycle.Failed {
		t.Errorf("the operation that had failed is %s, %v", was.State, err)
	}
	entries, err := p.store.Entries(ctx, audit.Query{Principal: "ada", Limit: 10})
	if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Action == policy.VNFForget && e.Outcome == audit.Done && strings.Contains(e.Detail[audit.DetailLeft], "2 objects on VIM edge")
	}) {
		t.Errorf("the entries are %+v, %v", entries, err)
	}
	if now := p.instance(i.ID); now.State != lifecycle.NotInstantiated || now.Shape.VIM != "" || len(now.Shape.Resources) != 0 {
		t.Errorf("the instance is %+v", now)
	}
	if _, err := p.Forget(ctx, ada, i.ID); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("forgotten again: %v", err)
	}
	if v, err := p.store.VIM(ctx, "edge"); err != nil {
		t.Error(err)
	} else if _, err := p.store.UpdateIdleVIM(ctx, v.ID, false, func(*broker.VIM) error { return nil },
		audit.Entry{Time: p.clock.Now(), Action: policy.VIMDelete, Outcome: audit.Intent}); err != nil {
		t.Errorf("something still stands on the VIM: %v", err)
	}
	if err := p.DeleteInstance(ctx, alice, i.ID, 0); err != nil {
		t.Error(err)
	}
	if err := p.store.DeletePackage(ctx, "web-1", audit.Entry{Time: p.clock.Now(), Action: policy.PackageDelete, Outcome: audit.Done}); err != nil {
		t.Errorf("the package is held: %v", err)
	}
}

// A VIM that came with the request of an instance that is forgotten is nobody's any more, and goes.
func TestAVIMThatCameWithARequestIsForgottenToo(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	p.wantBrought(1, "while the instance is on it")
	if _, err := p.Forget(t.Context(), ada, i.ID); err != nil {
		t.Fatal(err)
	}
	p.wantBrought(0, "after the instance was forgotten")
}

// TestMove: an instance moves to another VIM of the very system that it is on, and to no other; what is hidden goes with it.
func TestMove(t *testing.T) {
	v := newVault(t)
	ctx := t.Context()
	v.lends.identities = map[string]string{"edge": "kube"}
	i := v.withSecrets(secretive())
	to := lifecycle.Modification{VIM: "far"}
	if _, err := v.Modify(ctx, alice, i.ID, to); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("moved to another system: %v", err)
	}
	v.lends.identities["far"] = "kube"
	if _, err := v.Modify(ctx, alice, i.ID, to); err != nil {
		t.Fatal(err)
	}
	now := v.instance(i.ID)
	if now.Shape.VIM != "far" || now.Shape.VIMName != "far" || len(now.Shape.Resources) != len(i.Shape.Resources) || now.Shape.Concealed.ID == i.Shape.Concealed.ID {
		t.Errorf("the instance is %+v", now.Shape)
	}
	if h, err := v.store.SecretParameters(ctx, now.Shape.Concealed.ID); err != nil || h.VIM != "far" || h.State != keyring.Active {
		t.Errorf("what is hidden is of VIM %s, %s, %v", h.VIM, h.State, err)
	}
	if h, err := v.store.SecretParameters(ctx, i.Shape.Concealed.ID); err == nil && h.State != keyring.Abandoned {
		t.Errorf("what was hidden is %s", h.State)
	}
	v.completes(v.Heal(ctx, alice, i.ID, lifecycle.Healing{}))
	v.wantPlanned(map[string]string{"password": canaryVariable, "color": "red"}, string(secretive().Parameters))
	if last := v.lends.asked[len(v.lends.asked)-1]; last.VIM != "far" {
		t.Errorf("healing took a lease on %s", last.VIM)
	}
	if _, err := v.Modify(ctx, alice, v.made().ID, to); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("moved without resources: %v", err)
	}
}

// TestTerminateWhereTheNamespaceIsGone: what was in it is gone. To heal there is an error all the same.
func TestTerminateWhereTheNamespaceIsGone(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	p.lends.gone = "default"
	begun, err := p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})
	p.ends(lifecycle.RolledBack, begun, err)
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if !slices.Equal(p.yard.gone, []string{"default"}) || p.instance(i.ID).State != lifecycle.NotInstantiated {
		t.Errorf("the driver was told that %v are gone, and the instance is %s", p.yard.gone, p.instance(i.ID).State)
	}
}

// TestTerminateWhereTheClusterIsGone: nobody is asked, and nothing is left. Other operations ask.
func TestTerminateWhereTheClusterIsGone(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	p.lends.systemGone = true
	asked := len(p.lends.asked)
	p.completes(p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	if len(p.lends.asked) == asked {
		t.Error("healing asks nobody")
	}
	asked = len(p.lends.asked)
	o := p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if now := p.instance(i.ID); len(p.lends.asked) != asked || now.State != lifecycle.NotInstantiated || len(now.Shape.Resources) != 0 {
		t.Errorf("terminated by %s with %d leases the instance is %+v", o.ID, len(p.lends.asked)-asked, now)
	}
}
