package broker_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/policy"
)

// elsewhere is a second key directory, under another name.
type elsewhere struct{ secret.KeyStore }

func (elsewhere) Name() string { return "elsewhere" }

func TestRekeyKeepsLeasesAndLeavesOneKeyPerGeneration(t *testing.T) {
	b := newBench(t, benchOptions{lag: 10 * time.Second})
	b.mustRegister(alice, "edge1")
	l, token := b.mustIssue(alice, "edge1")
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(2) // the lease needs the first
	v, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0)
	if err != nil || v.Current.Number != 2 || len(v.Past) != 1 || v.Pending != nil {
		t.Fatalf("RekeyVIM() = %+v, %v", v, err)
	}
	b.wantKeys(2)
	// Not renewed in between: a renewal is sealed with the new key in any case.
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(30 * time.Second)
	b.mustReap()
	if b.row(l.ID).ConfirmedDeadAt.IsZero() {
		t.Error("a lease sealed anew could not be tried")
	}
	b.wantKeys(1)
	b.wantNowhere("the leased token", token.Reveal())
}

func TestMigrateToAnotherKeyStoreAndBack(t *testing.T) {
	b := newBench(t, benchOptions{})
	second, err := keydir.Open(filepath.Join(b.dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	there := elsewhere{second}
	b.addKeyStore(there)
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	count := func(keys secret.KeyStore) int {
		t.Helper()
		held, err := keys.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return len(held)
	}
	v, err := b.RekeyVIM(t.Context(), alice, "edge1", "elsewhere", 0)
	if err != nil || v.Current.KeyStore != "elsewhere" || count(b.keys) != 0 || count(there) != 1 {
		t.Fatalf("RekeyVIM(elsewhere) = %+v, %v; %d and %d keys, want 0 and 1", v, err, count(b.keys), count(there))
	}
	b.mustIssue(alice, "edge1")
	if v, err = b.RekeyVIM(t.Context(), alice, "edge1", "", 0); err != nil || v.Current.KeyStore != "keydir" || count(b.keys) != 1 || count(there) != 0 {
		t.Errorf("RekeyVIM(back) = %+v, %v; %d and %d keys, want 1 and 0", v, err, count(b.keys), count(there))
	}
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("RenewLease() = %v", err)
	}
	_, err = b.RekeyVIM(t.Context(), alice, "edge1", "nowhere", 0)
	wantField(t, "an unknown key store", err, "keyStore")
}

func TestAFailedRekeyLeavesTheVIMAsItWas(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.store.fail("Rekey", 1)
	_, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0)
	wantKind(t, "RekeyVIM()", err, broker.ErrUnavailable)
	b.wantKeys(1)
	b.mustIssue(alice, "edge1")
	if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0); err != nil {
		t.Errorf("RekeyVIM() again = %v", err)
	}
}

// outpaced is a key store with some calls of Get before which a VIM is sealed anew.
type outpaced struct {
	secret.KeyStore
	rekey func()
	times int
	under bool
}

// newOutpacedBench has a VIM whose key lies in such a key store.
func newOutpacedBench(t *testing.T) (*bench, *outpaced, broker.VIM) {
	t.Helper()
	b := newBench(t, benchOptions{})
	keys := &outpaced{KeyStore: b.keys}
	b.options.Keys = []secret.KeyStore{keys}
	b.Broker = mustNew(t, b.options)
	return b, keys, b.mustRegister(alice, "edge1")
}

func (o *outpaced) Get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
	if o.times > 0 && !o.under {
		o.times, o.under = o.times-1, true
		o.rekey()
		o.under = false
	}
	return o.KeyStore.Get(ctx, ref)
}

// However often a VIM is sealed anew between the look at its row and at its key, its credential is opened as it is now.
func TestACredentialThatIsSealedAnewAgainAndAgainOpens(t *testing.T) {
	b, keys, v := newOutpacedBench(t)
	l, _ := b.mustIssue(alice, "edge1")
	keys.rekey = func() {
		if _, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0); err != nil {
			t.Errorf("RekeyVIM() = %v", err)
		}
	}
	for _, keys.times = range []int{1, 2, 5} {
		if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil || keys.times != 0 {
			t.Errorf("RenewLease() = %v, %d rekeys are left", err, keys.times)
		}
	}
	b.wantKeys(1)
}

// Where another credential takes the place of the one that is being opened, and that goes, nobody is told that a key is lost: a
// lease is issued with the other, and whoever asks for more is told to ask again.
func TestACredentialThatGoesWhileItIsOpened(t *testing.T) {
	b, keys, v := newOutpacedBench(t)
	keys.rekey = func() {
		token := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
		if _, err := b.RotateVIM(t.Context(), alice, v.ID, token, 0); err != nil {
			t.Errorf("RotateVIM() = %v", err)
		}
	}
	keys.times = 1
	_, err := b.CheckVIM(t.Context(), alice, v.ID)
	wantKind(t, "CheckVIM()", err, broker.ErrConflict)
	if v, err = b.CheckVIM(t.Context(), alice, v.ID); err != nil || v.Current.Number != 2 {
		t.Errorf("CheckVIM() again = %+v, %v", v.Current, err)
	}
	keys.times = 1
	l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: v.ID})
	if err != nil || l.VIMGeneration != 3 || keys.times != 0 {
		t.Errorf("IssueLease() = %+v, %v", l, err)
	}
	b.wantKeys(1)
}

// Rotations, updates, leases and deletion at once: each ends whole or is a conflict.
func TestRekeyRaces(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	other := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
	work := map[string]func() error{
		"rekey":  func() error { _, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0); return err },
		"rotate": func() error { _, err := b.RotateVIM(t.Context(), alice, v.ID, other, 0); return err },
		"issue": func() error {
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: v.ID})
			return err
		},
		"renew": func() error {
			l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: v.ID})
			if err == nil {
				_, _, err = b.RenewLease(t.Context(), alice, l.ID, 0)
			}
			if err == nil {
				_, err = b.RevokeLease(t.Context(), alice, l.ID)
			}
			return err
		},
	}
	var wg sync.WaitGroup
	for name, do := range work {
		for range 3 {
			wg.Go(func() {
				for range 4 {
					if err := do(); err != nil && !errors.Is(err, broker.ErrConflict) {
						t.Errorf("%s = %v", name, err)
					}
				}
			})
		}
	}
	wg.Wait()
	if err := b.Settle(t.Context(), b.clock.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(20 * time.Minute)
	b.mustReap()
	leases, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{Page: broker.Page{Size: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	active := 0
	for _, l := range leases {
		if l.State != broker.LeaseActive {
			continue
		}
		active++
		if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
			t.Errorf("a lease that was issued cannot be renewed: %v", err)
		}
	}
	if active == 0 || b.upstream() != active {
		t.Errorf("%d active leases, %d objects upstream", active, b.upstream())
	}
	if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || !gone {
		t.Fatalf("DeleteVIM() = %v, %v", gone, err)
	}
	b.wantKeys(0)
	if b.upstream() != 0 {
		t.Errorf("%d objects left upstream", b.upstream())
	}
}

// keeper has more that is sealed for a VIM.
type keeper struct {
	rekeyed []string
	left    int
	err     error
}

func (k *keeper) RekeySecretParameters(_ context.Context, vim, keyStore string) error {
	k.rekeyed = append(k.rekeyed, vim+" to "+keyStore)
	return k.err
}

func (k *keeper) SecretParametersElsewhere(context.Context, string, string) (int, error) {
	return k.left, k.err
}

// What keepers have goes with its VIM, and is counted where it lies elsewhere.
func TestKeepersAreRekeyedWithTheVIM(t *testing.T) {
	b := newBench(t, benchOptions{})
	second, err := keydir.Open(filepath.Join(b.dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	b.addKeyStore(elsewhere{second})
	one, two := &keeper{left: 2}, &keeper{left: 1}
	b.AddKeeper(one)
	b.AddKeeper(two)
	v := b.mustRegister(alice, "edge1")
	found, _, err := b.KeyStatuses(t.Context(), alice, broker.VIMQuery{}, false)
	if err != nil || len(found) != 1 || found[0].Elsewhere != 3 {
		t.Errorf("KeyStatuses() = %+v, %v, want 3 elsewhere", found, err)
	}
	if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "nowhere", 0); err == nil || len(one.rekeyed) != 0 {
		t.Errorf("RekeyVIM(nowhere) = %v, and a keeper was asked: %q", err, one.rekeyed)
	}
	if _, err := b.RekeyVIM(t.Context(), mallet, "edge1", "elsewhere", 0); err == nil || len(one.rekeyed) != 0 {
		t.Errorf("RekeyVIM() of another's = %v, and a keeper was asked: %q", err, one.rekeyed)
	}
	two.err = errors.New("it does not open")
	v, err = b.RekeyVIM(t.Context(), alice, "edge1", "elsewhere", 0)
	wantKind(t, "RekeyVIM() where a keeper fails", err, broker.ErrUnavailable)
	want := []string{v.ID + " to elsewhere"}
	if v.Current.KeyStore != "elsewhere" || !slices.Equal(one.rekeyed, want) || !slices.Equal(two.rekeyed, want) {
		t.Errorf("the VIM is in %s; keepers were asked %q and %q", v.Current.KeyStore, one.rekeyed, two.rekeyed)
	}
	two.err = nil
	if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "elsewhere", 0); err != nil || len(two.rekeyed) != 2 {
		t.Errorf("RekeyVIM() again = %v; the keeper was asked %q", err, two.rekeyed)
	}
}

// sealedFor records what it is asked to seal anew.
type sealedFor struct {
	due []broker.Due
	err error
}

func (s *sealedFor) Reseal(_ context.Context, due broker.Due) error {
	s.due = append(s.due, due)
	return s.err
}

func TestWhatBelongsToNoVIMIsSealedAnew(t *testing.T) {
	b := newBench(t, benchOptions{})
	second, err := keydir.Open(filepath.Join(b.dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	b.addKeyStore(elsewhere{second})
	one, two := &sealedFor{err: errors.New("one of them")}, &sealedFor{}
	b.AddSealer(one)
	b.AddSealer(two)
	signs := func() string {
		t.Helper()
		keys, err := b.AuditKeys(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if k.State == notary.Signing {
				return k.ID
			}
		}
		return ""
	}
	if _, err := b.RotateAuditKey(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	before := signs()
	later := time.Now().Add(time.Hour)
	for _, c := range []struct {
		p        policy.Principal
		to       string
		before   time.Time
		want     error
		asked    int
		replaced bool
	}{
		{alice, "", later, broker.ErrDenied, 0, false},
		{root, "nowhere", later, broker.ErrInvalid, 0, false},
		{root, "", time.Time{}, broker.ErrUnavailable, 1, false}, // one fails, and the other is asked nevertheless
		{root, "elsewhere", time.Time{}, broker.ErrUnavailable, 2, true},
		{root, "", later, broker.ErrUnavailable, 3, true},
	} {
		if err := b.RekeyRest(t.Context(), c.p, c.to, c.before); !errors.Is(err, c.want) {
			t.Errorf("RekeyRest by %s to %q = %v, want %v", c.p.Name, c.to, err, c.want)
		}
		if len(one.due) != c.asked || len(two.due) != c.asked || (signs() != before) != c.replaced {
			t.Errorf("to %q: asked %d and %d times, want %d; the audit key was replaced: %v", c.to, len(one.due), len(two.due), c.asked, signs() != before)
		}
	}
	one.err = nil
	if err := b.RekeyRest(t.Context(), root, "", time.Time{}); err != nil {
		t.Errorf("RekeyRest = %v", err)
	}
	if due := two.due[1]; due.To.Name() != "elsewhere" {
		t.Errorf("it was asked for %q", due.To.Name())
	}
}
