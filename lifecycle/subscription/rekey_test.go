package subscription_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// named is a key store of another name, which puts no key while it is full.
type named struct {
	secret.KeyStore
	name string
	full bool
}

func (n *named) Name() string { return n.name }

func (n *named) Put(ctx context.Context, owner secret.Owner, key *secret.Key) (secret.Ref, error) {
	if n.full {
		return "", secret.ErrUnavailable
	}
	return n.KeyStore.Put(ctx, owner, key)
}

func (n *named) count(t *testing.T, id string) int {
	t.Helper()
	held, err := n.List(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return len(held)
}

// TestSecretsAreSealedAnew in another key store, and under another key of the same, while notifications go on.
func TestSecretsAreSealedAnew(t *testing.T) {
	second := &named{name: "second"}
	o := newOffice(t, func(options *subscription.Options) {
		keys, err := keydir.Open(filepath.Join(t.TempDir(), "second"))
		if err != nil {
			t.Fatal(err)
		}
		second.KeyStore = keys
		options.Keys = append(options.Keys, second)
	})
	first := &named{KeyStore: o.keys}
	password := ""
	s := newSubscriber(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ = r.BasicAuth()
		w.WriteHeader(http.StatusNoContent)
	})
	open := newSubscriber(t, nil)
	one := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
	})
	o.subscribe(open) // has nothing that is sealed
	row := func() subscription.Subscription {
		t.Helper()
		now, err := o.store.Subscription(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	works := func(when string) {
		t.Helper()
		password = ""
		o.happens(lifecycle.Starting)
		if err := o.work(one.ID); err != nil || password != canary {
			t.Errorf("%s: %v, authenticated %v", when, err, password == canary)
		}
	}
	for _, c := range []struct {
		when              string
		due               broker.Due
		moves             bool
		inFirst, inSecond int
	}{
		{"elsewhere alone, from where it is", broker.Due{To: keyring.Ring{o.keys}}, false, 1, 0},
		{"to the second", broker.Due{To: keyring.Ring{second}}, true, 0, 1},
		{"all that is older", broker.Due{To: keyring.Ring{second}, Before: time.Now().Add(time.Hour)}, true, 0, 1},
		{"back", broker.Due{To: keyring.Ring{o.keys}}, true, 1, 0},
	} {
		before := row()
		if err := o.Reseal(t.Context(), c.due); err != nil {
			t.Errorf("%s: %v", c.when, err)
		}
		now := row()
		if (now.Ref != before.Ref) != c.moves || now.State != subscription.Active || first.count(t, one.ID) != c.inFirst || second.count(t, one.ID) != c.inSecond {
			t.Errorf("%s: from %+v to %+v, %d and %d keys", c.when, before, now, first.count(t, one.ID), second.count(t, one.ID))
		}
		works(c.when)
	}

	// A key store that takes no key leaves it as it was.
	before := row()
	second.full = true
	if err := o.Reseal(t.Context(), broker.Due{To: keyring.Ring{second}}); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("into a full key store = %v", err)
	}
	if now := row(); now.Ref != before.Ref || now.State != subscription.Active {
		t.Errorf("it is %+v, was %+v", now, before)
	}
	works("after a failure")

	// A process that died between the key and the switch: notifications go on, and the pass destroys the key.
	second.full = false
	_, err := o.store.RekeySubscription(t.Context(), one.ID, func(now *subscription.Subscription) error {
		now.State, now.Since = subscription.Rekeying, o.clock.Now()
		return nil
	})
	key, keyErr := secret.NewKey()
	if err := errors.Join(err, keyErr); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Put(t.Context(), secret.Owner{ID: one.ID, Generation: 1}, key); err != nil {
		t.Fatal(err)
	}
	works("while it is sealed anew")
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.ID != one.ID {
		t.Errorf("Subscription = %v", err)
	}
	for _, c := range []struct {
		before time.Time
		state  subscription.State
		keys   int
	}{{o.clock.Now(), subscription.Rekeying, 1}, {o.clock.Now().Add(time.Second), subscription.Active, 0}} {
		if err := o.Settle(t.Context(), c.before); err != nil {
			t.Fatal(err)
		}
		if now := row(); now.State != c.state || now.Ref != before.Ref || second.count(t, one.ID) != c.keys {
			t.Errorf("after the pass it is %+v, with %d keys in the second", now, second.count(t, one.ID))
		}
	}
	works("at the end")
}
