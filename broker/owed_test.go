package broker_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/rows"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// standby is a store that takes no writes while it refuses.
type standby struct {
	broker.Store
	refuses atomic.Pointer[error]
}

func (s *standby) refuse(err error) {
	if err == nil {
		s.refuses.Store(nil)
		return
	}
	s.refuses.Store(&err)
}

func (s *standby) refusal() error {
	if err := s.refuses.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *standby) Check(ctx context.Context) error {
	if err := s.refusal(); err != nil {
		return err
	}
	return s.Store.Check(ctx)
}

func (s *standby) Append(ctx context.Context, e audit.Entry) error {
	if err := s.refusal(); err != nil {
		return err
	}
	return s.Store.Append(ctx, e)
}

func (s *standby) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	if err := s.refusal(); err != nil {
		return broker.Lease{}, err
	}
	return s.Store.CreateLease(ctx, l, q, e)
}

func (s *standby) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	if err := s.refusal(); err != nil {
		return broker.Lease{}, err
	}
	return s.Store.UpdateLease(ctx, id, change, e)
}

func (s *standby) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	if err := s.refusal(); err != nil {
		return err
	}
	return s.Store.DeferLease(ctx, id, attempts, next, class)
}

// onStandby is a bench whose store can be told to take no writes.
func onStandby(t *testing.T, o benchOptions) (*bench, *standby) {
	t.Helper()
	b := newBench(t, o)
	s := &standby{Store: b.store}
	b.options.Store = s
	b.Broker = mustNew(t, b.options)
	b.Probe(t.Context())
	return b, s
}

var diskFull = rows.Full(errors.New("no space left on device"))

// recording is the fault of the part that records; empty: there is none.
func (b *bench) recording() string {
	b.t.Helper()
	parts, err := b.Ready()
	if err != nil {
		b.t.Fatalf("Ready() = %v", err)
	}
	for _, p := range parts {
		if p.Part == broker.PartRecording {
			return p.Fault
		}
	}
	b.t.Fatal("no part records")
	return ""
}

// TestRevokedBeforeItIsRecorded revokes while the store takes no writes.
func TestRevokedBeforeItIsRecorded(t *testing.T) {
	for name, refusal := range map[string]error{"full": diskFull, "standby": rows.NoWrites(errors.New("25006"))} {
		t.Run(name, func(t *testing.T) {
			b, store := onStandby(t, benchOptions{})
			b.mustRegister(alice, "edge")
			l, token := b.mustIssue(alice, "edge")
			kept, _ := b.mustIssue(alice, "edge")
			store.refuse(refusal)
			b.Probe(t.Context())

			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge", TTL: time.Hour})
			wantKind(t, "IssueLease()", err, broker.ErrUnavailable)
			_, _, err = b.RenewLease(t.Context(), alice, kept.ID, time.Hour)
			wantKind(t, "RenewLease()", err, broker.ErrUnavailable)
			_, err = b.RevokeLease(t.Context(), mallet, l.ID)
			wantKind(t, "RevokeLease() of another project", err, broker.ErrUnavailable) // its refusal cannot be recorded
			_, err = b.RevokeLease(t.Context(), rita, l.ID)
			wantKind(t, "RevokeLease() of a reader", err, broker.ErrUnavailable)
			if n := b.upstream(); n != 2 {
				t.Fatalf("%d lease objects on the VIM before anybody who may has revoked, want 2", n)
			}

			acted := b.clock.Now()
			for range 2 { // again is harmless
				got, err := b.RevokeLease(t.Context(), alice, l.ID)
				if err != nil || !got.Unrecorded || got.State != broker.LeaseRevoked || got.Reason != broker.ReasonRequested || !got.RevokedAt.Equal(acted) {
					t.Fatalf("RevokeLease() = %s, unrecorded %t, revoked at %v, %v", got.State, got.Unrecorded, got.RevokedAt, err)
				}
			}
			if n := b.upstream(); n != 1 {
				t.Errorf("%d lease objects on the VIM, want that of the other lease", n)
			}
			if row := b.row(l.ID); row.State != broker.LeaseActive {
				t.Errorf("the row is %s", row.State)
			}
			if n := b.Vitals(t.Context()).Unrecorded; n != 1 {
				t.Errorf("Vitals().Unrecorded = %d, want 1", n)
			}
			if fault := b.recording(); !strings.Contains(fault, "1 revocations") || !strings.Contains(fault, refusal.(*broker.Error).Detail[:20]) { //nolint:errorlint // ours
				t.Errorf("the part recording says %q", fault)
			}
			if log := b.log.String(); strings.Count(log, "revoked before that is recorded") != 1 || !strings.Contains(log, l.ID) {
				t.Error("the log does not say once that a lease was revoked")
			}
			wantKind(t, "RecordOwed()", b.RecordOwed(t.Context()), broker.ErrUnavailable)

			store.refuse(nil)
			b.clock.Add(7 * time.Minute)
			b.Probe(t.Context())
			if fault := b.recording(); !strings.Contains(fault, "1 revocations") {
				t.Errorf("before it is recorded the part recording says %q", fault)
			}
			if err := b.RecordOwed(t.Context()); err != nil {
				t.Fatalf("RecordOwed() = %v", err)
			}
			row := b.row(l.ID)
			if row.State != broker.LeaseRevoked || !row.RevokedAt.Equal(acted) || row.Reason != broker.ReasonRequested {
				t.Errorf("the row is %s for %q, revoked at %v, want %v", row.State, row.Reason, row.RevokedAt, acted)
			}
			entries, err := b.store.Entries(t.Context(), audit.Query{Lease: l.ID, Action: policy.LeaseRevoke, Limit: 10})
			if err != nil || len(entries) != 2 || entries[0].Outcome != audit.Done || entries[1].Outcome != audit.Intent {
				t.Fatalf("recorded %+v, %v, want intent and done", entries, err)
			}
			for _, e := range entries {
				at, err := time.Parse(time.RFC3339Nano, e.Detail[audit.DetailActedAt])
				if err != nil || !at.Equal(acted) || !e.Time.Equal(b.clock.Now()) || e.Principal != alice.Name {
					t.Errorf("%s by %s at %v says that it was done at %q", e.Outcome, e.Principal, e.Time, e.Detail[audit.DetailActedAt])
				}
			}
			if b.Vitals(t.Context()).Unrecorded != 0 || b.recording() != "" {
				t.Errorf("after it was recorded: %d unrecorded, %q", b.Vitals(t.Context()).Unrecorded, b.recording())
			}
			b.mustReap()
			if row := b.row(l.ID); row.ConfirmedDeadAt.IsZero() {
				t.Error("the reaper does not try the credential of a lease that was recorded late")
			}
			b.wantNowhere("the token", token.Reveal())
		})
	}
}

// Only a store that can be read and refuses the write lets a revocation go first.
func TestNothingIsRevokedFirstOnAnotherFault(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(rows.Unavailable(errors.New("58030")))
	_, err := b.RevokeLease(t.Context(), alice, l.ID)
	wantKind(t, "RevokeLease()", err, broker.ErrUnavailable)
	_, err = b.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: "edge"})
	wantKind(t, "RevokeLeases()", err, broker.ErrUnavailable)
	if n := b.upstream(); n != 1 {
		t.Errorf("%d lease objects on the VIM, want 1", n)
	}
}

// A set goes on where one VIM does not answer; that is the reaper's once the store takes writes.
func TestASetIsRevokedBeforeItIsRecorded(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	var ids []string
	for range 5 {
		l, _ := b.mustIssue(alice, "edge")
		ids = append(ids, l.ID)
	}
	other, _ := b.mustIssue(bob, "edge")
	// One waits after tries that failed: who asks now has it tried now.
	if _, err := b.store.UpdateLease(t.Context(), ids[0], func(l *broker.Lease) error {
		l.State, l.Reason, l.Attempts, l.NextAttemptAt = broker.LeaseRevoking, broker.ReasonRequested, 3, b.clock.Now().Add(time.Hour)
		return nil
	}, audit.Entry{Time: b.clock.Now(), Principal: "alice", Project: "demo", Action: policy.LeaseRevoke, Kind: policy.KindLease, Resource: ids[0], Outcome: audit.Intent}); err != nil {
		t.Fatal(err)
	}
	store.refuse(diskFull)
	got, err := b.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: "edge", Principal: "alice"})
	if err != nil || len(got) != 5 || b.upstream() != 1 {
		t.Fatalf("RevokeLeases() = %d leases, %v; %d objects are left, want that of bob's lease", len(got), err, b.upstream())
	}
	for _, l := range got {
		if !l.Unrecorded || l.State != broker.LeaseRevoked {
			t.Errorf("a lease is %s, unrecorded %t", l.State, l.Unrecorded)
		}
	}
	b.kube.BlackHole(true)
	hasty := b.options
	hasty.Terms.CallTimeout = 300 * time.Millisecond
	impatient := mustNew(t, hasty)
	got, err = impatient.RevokeLeases(t.Context(), bob, broker.LeaseSelector{Principal: "bob"})
	if err != nil || len(got) != 1 || !got[0].Unrecorded || got[0].State != broker.LeaseRevoking || got[0].LastError == "" {
		t.Errorf("RevokeLeases() with a VIM that is silent = %+v, %v", got, err)
	}
	b.kube.BlackHole(false)
	store.refuse(nil)
	if err := errors.Join(b.RecordOwed(t.Context()), impatient.RecordOwed(t.Context())); err != nil {
		t.Fatal(err)
	}
	if l := b.row(other.ID); l.State != broker.LeaseRevoking {
		t.Errorf("the lease on the silent VIM is %s, want revoking", l.State)
	}
	b.mustReap()
	b.wantRevoked(append(ids, other.ID))
	b.wantChain(policy.LeaseRevoke)
}

// A VIM that did not answer is asked again before the store takes writes: by then its answer may be late.
func TestASilentVIMIsAskedAgainBeforeItIsRecorded(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	other, _ := b.mustIssue(alice, "edge")
	hasty := b.options
	hasty.Terms.CallTimeout = 300 * time.Millisecond
	impatient := mustNew(t, hasty)
	store.refuse(diskFull)
	b.kube.BlackHole(true)
	for _, id := range []string{l.ID, other.ID} {
		got, err := impatient.RevokeLease(t.Context(), alice, id)
		if err != nil || !got.Unrecorded || got.State != broker.LeaseRevoking {
			t.Fatalf("RevokeLease() with a VIM that is silent = %s, unrecorded %t, %v", got.State, got.Unrecorded, err)
		}
	}
	impatient.RetryOwed(t.Context())
	if n := b.upstream(); n != 2 {
		t.Fatalf("%d lease objects on a VIM that is silent, want 2", n)
	}
	b.kube.BlackHole(false)
	b.clock.Add(time.Minute)
	acted := b.clock.Now()
	revoked := func() bool {
		log := b.log.String()
		return !slices.ContainsFunc([]string{l.ID, other.ID}, func(id string) bool {
			return !regexp.MustCompile("lease=" + id + " .*state=revoked").MatchString(log)
		})
	}
	// On a loaded machine a try may be too short.
	for patience := time.Now().Add(time.Minute); !revoked() && time.Now().Before(patience); {
		impatient.RetryOwed(t.Context())
	}
	impatient.RetryOwed(t.Context()) // again is harmless
	if n := b.upstream(); n != 0 {
		t.Errorf("%d lease objects on the VIM, want none before anything is recorded", n)
	}
	for _, id := range []string{l.ID, other.ID} {
		if row := b.row(id); row.State != broker.LeaseActive {
			t.Errorf("the row is %s", row.State)
		}
		if n := strings.Count(b.log.String(), "lease="+id); n < 2 {
			t.Errorf("the log names lease %s %d times, want at each answer", id, n)
		}
	}
	b.clock.Add(time.Minute)
	store.refuse(nil)
	if err := impatient.RecordOwed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{l.ID, other.ID} {
		if row := b.row(id); row.State != broker.LeaseRevoked || !row.RevokedAt.Equal(acted) {
			t.Errorf("the row is %s, revoked at %v, want %v", row.State, row.RevokedAt, acted)
		}
	}
}

// A process that ends waits for no VIM that is asked again.
func TestNoVIMIsAskedAgainForLongerThanTheProcessLasts(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	patient := b.options
	patient.Terms.CallTimeout = time.Hour
	serving := mustNew(t, patient)
	store.refuse(diskFull)
	b.kube.Fail(fake.Fault{Method: "DELETE", Path: "serviceaccounts", Times: -1, Kind: fake.Refuse, Status: 500})
	if got, err := serving.RevokeLease(t.Context(), alice, l.ID); err != nil || got.State != broker.LeaseRevoking {
		t.Fatalf("RevokeLease() with a VIM that fails = %s, %v", got.State, err)
	}
	b.kube.Heal()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	b.kube.Fail(fake.Fault{Times: -1, Kind: fake.Hang, Reached: end})
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		serving.RetryOwed(ctx)
	}()
	select {
	case <-returned:
	case <-time.After(25 * time.Second): // less than an answer is waited for
		t.Error("RetryOwed() goes on after its context has ended")
		b.kube.Heal()
		<-returned
	}
}

// Each who revokes a lease that is owed is recorded, once.
func TestEachWhoRevokesWhatIsOwedIsRecorded(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(diskFull)
	for _, p := range []policy.Principal{alice, root, root, alice} {
		if got, err := b.RevokeLease(t.Context(), p, l.ID); err != nil || got.State != broker.LeaseRevoked {
			t.Fatalf("RevokeLease() by %s = %s, %v", p.Name, got.State, err)
		}
	}
	store.refuse(nil)
	if err := b.RecordOwed(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Lease: l.ID, Action: policy.LeaseRevoke, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]audit.Outcome{}
	for _, e := range entries {
		by[e.Principal] = append(by[e.Principal], e.Outcome)
		if e.Detail[audit.DetailActedAt] == "" {
			t.Errorf("the entry of %s does not say when it was done", e.Principal)
		}
	}
	if len(by) != 2 || len(by[alice.Name]) != 2 || len(by[root.Name]) != 1 || by[root.Name][0] != audit.Done {
		t.Errorf("recorded %v, want intent and done of alice, and done of root", by)
	}
}

// Two replicas revoke the same lease, one of which can record it.
func TestAnotherReplicaRecordsTheSameRevocation(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(diskFull)
	if got, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || !got.Unrecorded {
		t.Fatalf("RevokeLease() = %+v, %v", got, err)
	}
	b.clock.Add(time.Second)
	options := b.options
	options.Store = b.store
	if got, err := mustNew(t, options).RevokeLease(t.Context(), bob, l.ID); err != nil || got.State != broker.LeaseRevoked || got.Unrecorded {
		t.Fatalf("RevokeLease() at the other replica = %+v, %v", got, err)
	}
	before := b.row(l.ID)
	store.refuse(nil)
	if err := b.RecordOwed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := b.row(l.ID); !after.RevokedAt.Equal(before.RevokedAt) || after.Revision != before.Revision {
		t.Errorf("the row was written once more: %+v", after)
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Lease: l.ID, Principal: "alice", Action: policy.LeaseRevoke, Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Detail[audit.DetailActedAt] == "" {
		t.Errorf("the revocation that came first is recorded as %+v, %v", entries, err)
	}
}

// Where the process dies before it has recorded, the row stands as active, an inventory finds the
// lease missing, and revoking it again ends it.
func TestARevocationThatDiesUnrecordedIsFound(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(diskFull)
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
		t.Fatal(err)
	}
	store.refuse(nil)
	b.Broker = mustNew(t, b.options) // the process died
	if err := b.RecordOwed(t.Context()); err != nil || b.row(l.ID).State != broker.LeaseActive {
		t.Fatalf("RecordOwed() of a new process = %v, and the row is %s", err, b.row(l.ID).State)
	}
	inv, err := b.Inventory(t.Context(), root, b.row(l.ID).VIM, false)
	if err != nil || len(inv.Ghosts) != 1 {
		t.Errorf("Inventory() = %+v, %v, want one lease that is missing", inv, err)
	}
	if got, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || got.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease() = %s, %v", got.State, err)
	}
}

// What was passed through cannot be taken back, so nothing was done that has to be recorded.
func TestNothingIsOwedForWhatCannotBeRevoked(t *testing.T) {
	b, store := onStandby(t, benchOptions{policies: map[string][]byte{"site.cedar": []byte(
		`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM);`)}})
	b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(diskFull)
	_, err := b.RevokeLease(t.Context(), alice, l.ID)
	wantKind(t, "RevokeLease()", err, broker.ErrUnavailable)
	if n := b.Vitals(t.Context()).Unrecorded; l.Derived || n != 0 {
		t.Errorf("derived %t, %d unrecorded, want neither", l.Derived, n)
	}
}

// Nothing is taken back of a lease that has ended.
func TestNothingIsOwedForALeaseThatHasEnded(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
		t.Fatal(err)
	}
	store.refuse(diskFull)
	_, err := b.RevokeLease(t.Context(), alice, l.ID)
	wantKind(t, "RevokeLease()", err, broker.ErrUnavailable)
	if n := b.Vitals(t.Context()).Unrecorded; n != 0 {
		t.Errorf("%d unrecorded, want none", n)
	}
}

// toldSink keeps what it gets.
type toldSink struct {
	mu    sync.Mutex
	lines []string
}

func (s *toldSink) Send(_ context.Context, lines [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lines {
		s.lines = append(s.lines, string(l))
	}
	return nil
}

func (*toldSink) Close() error { return nil }

// A required sink is told at once; one of best effort waits for the log.
func TestARequiredSinkIsToldBeforehand(t *testing.T) {
	b, store := onStandby(t, benchOptions{})
	required, other := &toldSink{}, &toldSink{}
	b.options.Courier = delivery.New(b.options.Store, []delivery.Sink{
		{Name: "siem", Mode: delivery.Required, Within: time.Hour, Outlet: required},
		{Name: "other", Mode: delivery.BestEffort, Within: time.Hour, Outlet: other},
	}, b.clock.Now, b.options.Log)
	b.Broker = mustNew(t, b.options)
	b.mustRegister(alice, "edge")
	l, _ := b.mustIssue(alice, "edge")
	store.refuse(diskFull)
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
		t.Fatal(err)
	}
	if len(required.lines) != 1 || len(other.lines) != 0 {
		t.Fatalf("sinks are told %q and %q, want one line and none", required.lines, other.lines)
	}
	e, err := audit.ParseLine([]byte(required.lines[0]))
	if err != nil || e.Seq != 0 || e.Outcome != audit.Done || e.Resource != l.ID || e.Principal != "alice" || e.Detail[audit.DetailRecorded] != "false" {
		t.Errorf("the required sink is told %+v, %v", e, err)
	}
}

// The background goes on until the store takes writes, and a process that ends tries once more.
func TestKeepRecording(t *testing.T) {
	for name, test := range map[string]struct {
		back func(stop func(), store *standby)
		want broker.LeaseState
	}{
		"the store takes writes again":          {func(_ func(), store *standby) { store.refuse(nil) }, broker.LeaseRevoked},
		"and the process ends at that moment":   {func(stop func(), store *standby) { store.refuse(nil); stop() }, broker.LeaseRevoked},
		"the process ends, and nothing is well": {func(stop func(), _ *standby) { stop() }, broker.LeaseActive},
	} {
		t.Run(name, func(t *testing.T) {
			b, store := onStandby(t, benchOptions{})
			written := make(chan broker.LeaseState, 10)
			b.options.Store = &watchedStore{Store: store, written: func(l broker.Lease) { written <- l.State }}
			b.Broker = mustNew(t, b.options)
			b.mustRegister(alice, "edge")
			l, _ := b.mustIssue(alice, "edge")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan struct{})
			go func() { defer close(ended); b.KeepRecording(ctx) }()
			store.refuse(diskFull)
			if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
				t.Fatal(err)
			}
			test.back(stop, store)
			if ctx.Err() == nil {
				for state := broker.LeaseActive; state != broker.LeaseRevoked; state = <-written {
				}
				stop()
			}
			<-ended
			if row := b.row(l.ID); row.State != test.want {
				t.Errorf("the row is %s, want %s", row.State, test.want)
			}
			said := strings.Contains(b.log.String(), "the server ends, and that a lease was revoked is not recorded")
			if said != (test.want == broker.LeaseActive) {
				t.Errorf("the log says that it was not recorded: %t", said)
			}
		})
	}
}
