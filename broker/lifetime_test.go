package broker_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// A lease whose time is up has ended, also before the reaper has come by.
func TestAnExpiredLeaseIsNotRenewed(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.clock.Add(l.ExpiresAt.Sub(b.clock.Now()))
	b.kube.Requests()
	_, config, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
	wantKind(t, "RenewLease() at the expiry", err, broker.ErrConflict)
	if got := b.kube.Requests(); len(got) != 0 || !config.Token.Empty() {
		t.Errorf("the VIM was asked %v for a lease that has expired", got)
	}
}

// However often a lease is renewed, its end stays where it was when it was issued.
func TestRenewalsDoNotOutliveTheMaximum(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.MaxTTL = time.Hour }})
	b.mustRegister(alice, "edge1")
	l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", TTL: 20 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	end := b.clock.Now().Add(time.Hour)
	for n := range 3 {
		b.clock.Add(15 * time.Minute)
		renewed, config, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
		if err != nil {
			t.Fatalf("renewal %d = %v", n+1, err)
		}
		if renewed.ExpiresAt.After(end) || config.ExpiresAt.After(end) || !renewed.MaxExpiresAt.Equal(end) {
			t.Errorf("after renewal %d the lease ends at %v, its credential at %v, at the latest %v; want none past %v", n+1, renewed.ExpiresAt, config.ExpiresAt, renewed.MaxExpiresAt, end)
		}
	}
	b.clock.Add(10 * time.Minute)
	_, _, err = b.RenewLease(t.Context(), alice, l.ID, time.Hour)
	wantKind(t, "a renewal with five minutes left", err, broker.ErrConflict)
}

// A stored credential that is passed through ends when it ends.
func TestACredentialThatHasExpiredIsNotPassedThrough(t *testing.T) {
	b := newBench(t, benchOptions{policies: map[string][]byte{"site.cedar": []byte(
		`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM);`)}})
	b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	r := b.registration("edge1")
	r.Credential.Token = secret.NewText(b.kube.AdminTokenFor(30 * time.Minute))
	end := b.clock.Now().Add(30 * time.Minute)
	if _, err := b.RegisterVIM(t.Context(), alice, r); err != nil {
		t.Fatal(err)
	}
	l, config, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", TTL: time.Hour})
	if err != nil || !l.ExpiresAt.Equal(end) || !config.ExpiresAt.Equal(end) {
		t.Errorf("a lease of an hour on a credential of half an hour ends at %v (%v), want %v", l.ExpiresAt, err, end)
	}
	b.clock.Add(30 * time.Minute)
	_, config, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "a lease on a credential that has expired", err, broker.ErrUnauthorized)
	if !config.Token.Empty() {
		t.Error("a credential that has expired was passed through")
	}
}

// What a revision guards is everything that changes the VIM or its keys.
func TestEveryWriteOfAVIMHonoursTheRevision(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	namespace, description, credential := "kube-system", "changed", b.registration("").Credential
	if _, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Description: &description}); err != nil {
		t.Fatal(err)
	}
	stale := v.Revision
	writes := map[string]func(revision int64) error{
		"a change of its description": func(n int64) error {
			_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Description: &description, IfRevision: n})
			return err
		},
		"a change of its namespace": func(n int64) error {
			_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Namespace: &namespace, IfRevision: n})
			return err
		},
		"a change of its credential": func(n int64) error {
			_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Credential: credential, IfRevision: n})
			return err
		},
		"a rotation of its credential": func(n int64) error {
			_, err := b.RotateVIM(t.Context(), alice, v.ID, credential, n)
			return err
		},
		"a rotation of its key": func(n int64) error {
			_, err := b.RekeyVIM(t.Context(), alice, v.ID, "", n)
			return err
		},
		"its deletion": func(n int64) error {
			_, _, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{IfRevision: n})
			return err
		},
		"its deletion by drain": func(n int64) error {
			_, _, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true, IfRevision: n})
			return err
		},
	}
	now, err := b.store.VIM(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	for what, write := range writes {
		wantKind(t, what+" by someone who read an earlier revision", write(stale), broker.ErrPrecondition)
		if after, err := b.store.VIM(t.Context(), v.ID); err != nil || after.Revision != now.Revision {
			t.Errorf("%s by someone who read an earlier revision changed the row: revision %d, %v, want %d", what, after.Revision, err, now.Revision)
		}
	}
	b.wantKeys(1)
	for _, what := range []string{"a change of its credential", "a rotation of its key"} {
		now, err := b.store.VIM(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := writes[what](now.Revision); err != nil {
			t.Errorf("%s by someone who read the present revision = %v", what, err)
		}
	}
}
