package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A VIM that drains says which leases it waits for and why, and what else.
func TestADrainingVIMSaysWhatItWaitsFor(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	waits := func(want ...string) {
		t.Helper()
		v, err := b.VIM(t.Context(), alice, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.WaitsFor(t.Context(), alice, v)
		if err != nil || len(got) != len(want) {
			t.Fatalf("WaitsFor() = %q, %v, want %q", got, err, want)
		}
		for i, text := range want {
			for part := range strings.SplitSeq(text, "|") {
				if !strings.Contains(got[i], part) {
					t.Errorf("it waits for %q, want %q", got[i], part)
				}
			}
		}
	}
	waits() // it is not draining
	l, _ := b.mustIssue(alice, v.Name)
	b.kube.Fail(fake.Fault{Method: "DELETE", Path: "/serviceaccounts/", Kind: fake.Refuse, Status: 403, Times: -1})
	if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || gone {
		t.Fatalf("DeleteVIM() = %v, %v, want that it drains", gone, err)
	}
	waits("lease " + l.ID + " of alice, which is revoking, tries: 1: the credential may not delete serviceaccount|(403)|; the next try is at 2")

	// The lease ends, and the rest cannot be removed.
	b.kube.Heal()
	b.kube.Fail(fake.Fault{Method: "DELETE", Path: "/clusterrolebindings/|/rolebindings/|/namespaces/[^/]*$", Kind: fake.Refuse, Status: 403, Times: -1})
	b.clock.Add(time.Hour)
	b.mustReap()
	waits("the VIM, which was unauthorized at 2|: the credential may not delete |; the next try is at 2")

	// It rests, each time for twice as long, and is then asked once.
	for _, rest := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
		b.kube.Requests()
		b.clock.Add(rest - time.Second)
		b.mustReap()
		if n := b.deletions(); n != 0 {
			t.Errorf("a drain that failed was tried again %d times within %v", n, rest)
		}
		b.clock.Add(time.Second)
		b.mustReap()
		if n := b.deletions(); n == 0 {
			t.Errorf("a drain that failed was not tried again after %v", rest)
		}
	}

	// Whoever has mended it need not wait.
	b.kube.Heal()
	if _, err := b.CheckVIM(t.Context(), alice, v.ID); err != nil {
		t.Fatal(err)
	}
	b.mustReap()
	if _, err := b.VIM(t.Context(), alice, v.ID); err == nil {
		t.Error("the VIM is still there")
	}
}

// The end of the last lease that a drain waits for is its turn, too, though it rests.
func TestADrainGoesOnWithItsLastLease(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, v.Name)
	b.kube.FailNext("DELETE", "/serviceaccounts/", 503, 1)
	v, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true})
	if err != nil || gone {
		t.Fatalf("DeleteVIM() = %v, %v, want that it drains", gone, err)
	}
	next := b.row(l.ID).NextAttemptAt
	if !v.Health.Next.After(next) {
		t.Fatalf("the drain rests until %v, and the lease is tried at %v: this shows nothing", v.Health.Next, next)
	}
	b.clock.Add(next.Sub(b.clock.Now()))
	b.mustReap()
	_, err = b.VIM(t.Context(), alice, v.ID)
	wantKind(t, "the VIM whose last lease has ended", err, broker.ErrNotFound)
}

// A drain that is stuck on a credential which was lost goes on with another one, of the same
// cluster and at the same place; nothing else of a VIM that drains can be changed.
func TestTheCredentialOfADrainingVIMCanBeReplaced(t *testing.T) {
	for name, replace := range map[string]func(*bench, broker.VIM, broker.Credential) error{
		"rotate": func(b *bench, v broker.VIM, c broker.Credential) error {
			_, err := b.RotateVIM(t.Context(), alice, v.ID, c, 0)
			return err
		},
		"update": func(b *bench, v broker.VIM, c broker.Credential) error {
			_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Credential: c, Endpoint: ptr(v.Current.Target.Endpoint)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			r := b.registration("edge1")
			r.Credential.Token = secret.NewText(b.kube.AdminTokenFor(time.Hour))
			v, err := b.RegisterVIM(t.Context(), alice, r)
			if err != nil {
				t.Fatal(err)
			}
			l, _ := b.mustIssue(alice, v.Name)
			if name == "update" { // what the VIM waits for is only what the broker keeps on it
				if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
					t.Fatal(err)
				}
			}
			b.clock.Add(2 * time.Hour) // the VIM's credential has ended
			for range 3 {
				if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || gone {
					t.Fatalf("DeleteVIM() = %v, %v, want that it drains", gone, err)
				}
				b.clock.Add(time.Minute)
				b.mustReap()
			}
			another := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
			for what, c := range map[string]broker.Change{
				"the name":      {Name: ptr("edge2")},
				"both":          {Name: ptr("edge2"), Credential: another},
				"sharing":       {Shared: ptr(true), Credential: another},
				"the target":    {Endpoint: ptr("https://localhost:6443"), Credential: another},
				"the namespace": {Namespace: ptr("elsewhere")},
			} {
				_, err := b.UpdateVIM(t.Context(), root, v.ID, c)
				wantKind(t, "changing "+what+" of a VIM that drains", err, broker.ErrConflict)
			}
			_, err = b.RotateVIM(t.Context(), alice, v.ID, broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("canary-of-a-stranger")}, 0)
			wantKind(t, "a credential that the VIM refuses", err, broker.ErrUnauthorized)
			if err := replace(b, v, another); err != nil {
				t.Fatalf("replacing the credential = %v", err)
			}
			if got, err := b.VIM(t.Context(), alice, v.ID); err != nil || got.State != broker.VIMDraining {
				t.Errorf("the VIM is %s, %v, want draining", got.State, err)
			}
			b.mustReap()
			b.wantRevoked([]string{l.ID})
			_, err = b.VIM(t.Context(), alice, v.ID)
			wantKind(t, "showing the VIM", err, broker.ErrNotFound)
			b.wantKeys(0)
			b.wantNowhere("a credential that was refused", "canary-of-a-stranger")
			b.wantNowhere("the other credential", another.Token.Reveal())
		})
	}
}
