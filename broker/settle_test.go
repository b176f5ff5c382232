package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// interruptedKeys lets something happen, once, while its keys are listed.
type interruptedKeys struct {
	secret.KeyStore
	meanwhile func()
}

func (k *interruptedKeys) List(ctx context.Context, id string) ([]secret.Held, error) {
	if f := k.meanwhile; f != nil {
		k.meanwhile = nil
		f()
	}
	return k.KeyStore.List(ctx, id)
}

// half makes of a VIM what a process leaves that was killed writing its next generation.
func (b *bench) half(id string) {
	b.t.Helper()
	if _, err := b.store.UpdateVIM(b.t.Context(), id, func(v *broker.VIM) error {
		v.Pending = &broker.Pending{Generation: v.Current.Number + 1, Since: b.clock.Now()}
		return nil
	}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Intent}); err != nil {
		b.t.Fatal(err)
	}
	b.clock.Add(time.Hour)
}

// Two settle passes can come upon the same unfinished write: the one at start,
// and the periodic one. When the first has settled it, the VIM can be written
// again; the second must not take that write's key for an abandoned one.
func TestASettlePassThatIsLateDestroysNoKeyInUse(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	b.half(v.ID)
	rotated := false
	options := b.options
	options.Keys = []secret.KeyStore{&interruptedKeys{KeyStore: b.keys, meanwhile: func() {
		b.clock.Add(time.Second)
		if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
			t.Error(err)
		}
		_, err := b.RotateVIM(t.Context(), root, "edge1", broker.Credential{
			Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0)),
		}, 0)
		if err != nil {
			t.Errorf("RotateVIM() behind the first settle pass: %v", err)
		}
		rotated = true
	}}}
	if err := mustNew(t, options).Settle(t.Context(), b.clock.Now()); err != nil {
		t.Error(err)
	}
	if !rotated {
		t.Fatal("the settle pass listed no keys")
	}
	b.mustIssue(root, "edge1") // the VIM opens
	b.wantKeys(1)
}

// A writer that was only asleep finds that its write was taken over: it does not
// switch, and leaves no key.
func TestAWriterThatWasTakenOverLeavesNothing(t *testing.T) {
	writes := map[string]func(*bench) error{
		"register": func(b *bench) error {
			_, err := b.RegisterVIM(t.Context(), root, b.registration("edge2"))
			return err
		},
		"rotate": func(b *bench) error {
			_, err := b.RotateVIM(t.Context(), root, "edge1", broker.Credential{
				Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0)),
			}, 0)
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(root, "edge1")
			b.kube.After("GET", "/version$", func() { // in the middle of its check of the VIM
				b.clock.Add(time.Hour)
				if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
					t.Error(err)
				}
			})
			err := write(b)
			if err == nil {
				t.Fatal("the write succeeded although it was taken over")
			}
			b.wantKeys(1)
			b.mustIssue(root, "edge1") // the VIM opens
		})
	}
}
