package broker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// outage issues leases on a VIM, and lets them fall due while it is down for so
// long that each was tried and waits for its next try.
func outage(t *testing.T, leases int, down fake.Fault) (*bench, []string) {
	t.Helper()
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	var ids []string
	for range leases {
		l, _ := b.mustIssue(alice, v.Name)
		ids = append(ids, l.ID)
	}
	b.kube.Fail(down)
	b.clock.Add(time.Hour)
	for range 60 {
		b.clock.Add(5 * time.Second)
		b.mustReap()
	}
	for _, id := range ids {
		if l := b.row(id); l.State != broker.LeaseRevoking || l.Reason != broker.ReasonExpired {
			t.Fatalf("a lease due on a VIM that is down is %s, %s, want revoking, expired", l.State, l.Reason)
		}
	}
	return b, ids
}

func (b *bench) wantRevoked(ids []string) {
	b.t.Helper()
	for _, id := range ids {
		if l := b.row(id); l.State != broker.LeaseRevoked {
			b.t.Errorf("a lease is %s after %d tries, due in %v; want revoked", l.State, l.Attempts, l.NextAttemptAt.Sub(b.clock.Now()))
		}
	}
	if n := b.upstream(); n != 0 {
		b.t.Errorf("%d lease objects are left on the VIM", n)
	}
}

// Leases that were tried during an outage do not sit out their own waits when it is over.
func TestTheFirstPassAfterAnOutageRevokesAll(t *testing.T) {
	b, ids := outage(t, 20, fake.Fault{Kind: fake.Drop, Times: -1})
	b.kube.Heal()
	b.clock.Add(5 * time.Second)
	b.mustReap()
	b.wantRevoked(ids)
}

// So does a check that is not the reaper's.
func TestACheckEndsAnOutage(t *testing.T) {
	b, ids := outage(t, 20, fake.Fault{Kind: fake.Drop, Times: -1})
	b.kube.Heal()
	if v, err := b.CheckVIM(t.Context(), alice, "edge1"); err != nil || v.Health.Status != broker.HealthReachable {
		t.Fatalf("CheckVIM() = %s, %v", v.Health.Status, err)
	}
	for _, id := range ids {
		if l := b.row(id); l.NextAttemptAt.After(b.clock.Now()) || l.Attempts != 0 {
			t.Errorf("a lease is due in %v after %d tries, want now and none", l.NextAttemptAt.Sub(b.clock.Now()), l.Attempts)
		}
	}
	b.mustReap()
	b.wantRevoked(ids)
}

// A credential that the VIM refuses makes every lease wait; a new one ends that.
func TestANewCredentialEndsTheWait(t *testing.T) {
	b, ids := outage(t, 5, fake.Fault{Kind: fake.Refuse, Status: 401, Times: -1})
	for _, id := range ids {
		if l := b.row(id); l.Attempts < 5 {
			t.Fatalf("a lease was tried %d times in five minutes with a credential that is refused", l.Attempts)
		}
	}
	b.kube.Heal()
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{
		Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0)),
	}, 0); err != nil {
		t.Fatal(err)
	}
	b.mustReap()
	b.wantRevoked(ids)
}

// readStore counts the leases that are read in lists.
type readStore struct {
	broker.Store
	leases int
}

func (s *readStore) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	leases, next, err := s.Store.Leases(ctx, f)
	s.leases += len(leases)
	return leases, next, err
}

// What waits on a VIM that is down costs a pass one request, and no lease is read;
// the same goes for a process that has just started.
func TestAVIMThatIsDownCostsAPassOneRequest(t *testing.T) {
	b, ids := outage(t, 20, fake.Fault{Kind: fake.Drop, Times: -1})
	before := b.row(ids[0])
	b.kube.Requests()
	options := b.options
	read := &readStore{Store: b.store}
	options.Store = read
	again := mustNew(t, options)
	for range 3 {
		b.clock.Add(5 * time.Second)
		if err := again.Reap(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.kube.Requests()); n != 3 || read.leases != 0 {
		t.Errorf("three passes over 20 leases made %d requests and read %d leases, want one each and none", n, read.leases)
	}
	if after := b.row(ids[0]); after.Attempts != before.Attempts {
		t.Errorf("a lease was tried %d times, and then %d", before.Attempts, after.Attempts)
	}
}

// A VIM that drains is asked no more often either, and goes when it is back.
func TestADrainingVIMThatIsDownCostsAPassOneRequest(t *testing.T) {
	b, ids := outage(t, 5, fake.Fault{Kind: fake.Drop, Times: -1})
	v, gone, err := b.DeleteVIM(t.Context(), alice, "edge1", broker.Deletion{Drain: true})
	if err != nil || gone {
		t.Fatalf("DeleteVIM() of a VIM that is down = %v, %v, want draining", gone, err)
	}
	b.kube.Requests()
	b.clock.Add(5 * time.Second)
	b.mustReap()
	if n := len(b.kube.Requests()); n != 1 {
		t.Errorf("the pass made %d requests, want one", n)
	}
	b.kube.Heal()
	b.clock.Add(5 * time.Second)
	b.mustReap()
	b.wantRevoked(ids)
	_, err = b.VIM(t.Context(), alice, v.ID)
	wantKind(t, "showing the VIM", err, broker.ErrNotFound)
}

// watchedStore tells of leases as they are written.
type watchedStore struct {
	broker.Store
	written func(broker.Lease)
}

func (s *watchedStore) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	l, err := s.Store.UpdateLease(ctx, id, change, e)
	if err == nil {
		s.written(l)
	}
	return l, err
}

// While calls to VIMs hang, and were they more than are worked on at a time, what
// is due on another VIM is revoked, confirmed, and what falls due on it later too.
func TestSilentVIMsHoldUpNoOther(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(terms *broker.Terms) {
		terms.CallTimeout, terms.ReapEvery = time.Hour, 10*time.Millisecond
	}})
	silent := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	const many = 40
	for i := range many {
		r := b.registration(fmt.Sprint("silent-", i))
		r.Endpoint, r.CACert = silent.Endpoint, silent.CA
		r.Credential.Token = secret.NewText(silent.AdminToken)
		if _, err := b.RegisterVIM(t.Context(), alice, r); err != nil {
			t.Fatal(err)
		}
		b.mustIssue(alice, r.Name)
	}
	well := b.mustRegister(alice, "well")
	first, _ := b.mustIssue(alice, well.Name)
	b.clock.Add(10 * time.Minute)
	second, _ := b.mustIssue(alice, well.Name)

	confirmed := make(chan string, 2)
	options := b.options
	options.Store = &watchedStore{Store: b.store, written: func(l broker.Lease) {
		switch {
		case l.VIM != well.ID: // the same pass ends these once the silence is over
		case !l.ConfirmedDeadAt.IsZero():
			b.clock.Add(10 * time.Minute) // then the second is due
			confirmed <- l.ID
		case l.State == broker.LeaseRevoked:
			b.clock.Add(5 * time.Second) // then it is tried
		}
	}}
	silent.BlackHole(true)
	b.clock.Add(50*time.Minute + time.Second)
	done := make(chan error)
	go func() { done <- mustNew(t, options).Reap(t.Context()) }()
	for _, want := range []string{first.ID, second.ID} {
		select {
		case got := <-confirmed:
			if got != want {
				t.Errorf("lease %s is confirmed dead, want %s", got, want)
			}
		case err := <-done:
			t.Fatalf("the pass has ended: %v", err)
		}
	}
	select {
	case err := <-done:
		t.Errorf("the pass has ended while calls hang: %v", err)
	default:
	}
	silent.BlackHole(false)
	if err := <-done; err != nil {
		t.Errorf("Reap() = %v", err)
	}
	b.clock.Add(5 * time.Second)
	b.mustReap()
	if n := len(leasesOn(silent)); n != 0 {
		t.Errorf("%d of %d lease objects are left on VIMs that were silent", n, many)
	}
}

// lookedStore tells of each look of a pass, and cannot list the leases of one VIM.
type lookedStore struct {
	broker.Store
	looked func()
	broken string
	lists  atomic.Int32 // of that VIM
}

func (s *lookedStore) DueVIMs(ctx context.Context, at time.Time) ([]broker.DueVIM, error) {
	s.looked()
	return s.Store.DueVIMs(ctx, at)
}

func (s *lookedStore) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	if f.VIM == s.broken {
		s.lists.Add(1)
		return nil, "", &broker.Error{Kind: broker.ErrUnavailable, Detail: "the disk is worn"}
	}
	return s.Store.Leases(ctx, f)
}

// While a pass goes on because a VIM hangs, one that is down, or whose rows cannot be read, is
// left alone for half a minute and then tried again.
func TestWhatFailsRestsWhileAPassGoesOn(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(terms *broker.Terms) {
		terms.CallTimeout, terms.ReapEvery = time.Hour, 10*time.Millisecond
	}})
	well := b.kube
	down := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	hanging := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	ids := map[string]string{}
	for name, at := range map[string]*fakekube.Server{"hangs": hanging, "down": down, "broken": well} {
		b.kube = at
		ids[name] = b.mustRegister(alice, name).ID
		b.mustIssue(alice, name)
	}
	hanging.BlackHole(true)
	down.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
	b.clock.Add(time.Hour + time.Second)

	looks := make(chan struct{})
	store := &lookedStore{Store: b.store, broken: ids["broken"], looked: func() { looks <- struct{}{} }}
	options := b.options
	options.Store = store
	done := make(chan error)
	go func() { done <- mustNew(t, options).Reap(t.Context()) }()
	lookUntil := func(what string, so func() bool) {
		t.Helper()
		for n := 0; !so(); n++ {
			select {
			case <-looks:
			case <-time.After(time.Minute):
				t.Fatalf("not within %d looks: %s", n, what)
			}
		}
	}
	found := func() bool {
		v, err := b.store.VIM(t.Context(), ids["down"])
		if err != nil {
			t.Fatal(err)
		}
		return v.Health.Status == broker.HealthUnreachable
	}
	lookUntil("one VIM is found down, and the other is tried", func() bool { return found() && store.lists.Load() > 0 })
	down.Requests()
	for range 20 {
		<-looks
	}
	if n, lists := len(down.Requests()), store.lists.Load(); n != 0 || lists != 1 {
		t.Errorf("within its rest a VIM that is down was asked %d times, and one that cannot be read was tried %d times; want none and once", n, lists)
	}
	b.clock.Add(30 * time.Second)
	asked := 0
	lookUntil("both are tried again", func() bool {
		asked += len(down.Requests())
		return asked > 0 && store.lists.Load() > 1
	})

	hanging.BlackHole(false)
	for {
		select {
		case <-looks:
			continue
		case err := <-done:
			wantKind(t, "Reap() with a VIM that cannot be read", err, broker.ErrUnavailable)
		}
		break
	}
}

// roomless is a driver that finds no room for an answer.
type roomless struct {
	*grading
	full bool
}

func (d *roomless) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	if d.full {
		return broker.Report{}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "no room"}
	}
	return d.grading.Check(ctx, a)
}

// That the broker cannot check a VIM now is not stored as that VIM's health.
func TestACheckWithoutRoomSaysNothingOfTheVIM(t *testing.T) {
	b, g := newGradingBench(t)
	d := &roomless{grading: g}
	b.options.Drivers = []broker.Driver{d}
	b.Broker = mustNew(t, b.options)
	was, err := b.VIM(t.Context(), alice, "edge1")
	if err != nil || was.Health.Status != broker.HealthReachable {
		t.Fatalf("the VIM is %s, %v", was.Health.Status, err)
	}
	d.full = true
	_, err = b.CheckVIM(t.Context(), alice, "edge1")
	wantKind(t, "CheckVIM() without room", err, broker.ErrUnavailable)
	b.clock.Add(24 * time.Hour)
	wantKind(t, "CheckDue() without room", b.CheckDue(t.Context()), broker.ErrUnavailable)
	if now, err := b.VIM(t.Context(), alice, "edge1"); err != nil || now.Health != was.Health {
		t.Errorf("the VIM's health is %+v, %v, want %+v as before", now.Health, err, was.Health)
	}
}

// What falls due while a VIM is known to be down is nobody's: the pass after the outage revokes it.
func TestWhatFallsDueDuringAnOutageIsRevokedAfterIt(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, v.Name)
	b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
	if v, err := b.CheckVIM(t.Context(), alice, v.ID); err != nil || v.Health.Status != broker.HealthUnreachable {
		t.Fatalf("CheckVIM() = %s, %v, want unreachable", v.Health.Status, err)
	}
	b.clock.Add(time.Hour + time.Second)
	b.mustReap()
	if got := b.row(l.ID); got.State != broker.LeaseRevoking {
		t.Fatalf("the lease is %s, want revoking", got.State)
	}
	b.kube.Heal()
	b.clock.Add(5 * time.Second)
	b.mustReap()
	b.wantRevoked([]string{l.ID})
}

// sealedKeys is a key store that cannot be asked.
type sealedKeys struct{ secret.KeyStore }

func (sealedKeys) Get(context.Context, secret.Ref) (*secret.Key, error) {
	return nil, context.DeadlineExceeded
}

// That the key store was away is not held against leases and their VIM.
func TestLeasesDoNotWaitForAKeyStoreThatIsBack(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.clock.Add(time.Hour + time.Second)
	options := b.options
	options.Keys = []secret.KeyStore{sealedKeys{b.keys}}
	wantKind(t, "Reap() without keys", mustNew(t, options).Reap(t.Context()), broker.ErrUnavailable)
	if got := b.row(l.ID); got.State != broker.LeaseRevoking || got.Attempts != 0 || got.LastError == "" {
		t.Errorf("the lease is %s after %d tries, %q; want revoking, none, and the reason", got.State, got.Attempts, got.LastError)
	}
	b.mustReap()
	b.wantRevoked([]string{l.ID})
}
