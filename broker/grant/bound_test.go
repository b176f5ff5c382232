package grant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// A lease that is issued after its grant was given up is taken back, and nobody gets its secret.
func TestADecisionThatComesTooLateLeavesNoLease(t *testing.T) {
	s := set(t, false)
	s.issuing = func() {
		s.issuing = nil
		s.clock.Add(11 * time.Minute)
		if err := s.Follow(t.Context()); err != nil {
			t.Error(err)
		}
		s.revoked = nil // what the pass revokes now is not issued yet
	}
	s.refused("a request whose lease takes too long", broker.ErrDenied, "in time", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	its := broker.LeaseSelector{Principal: s.tacker.Name, Operation: "op-1"}
	if !slices.Contains(s.revoked, its) {
		t.Errorf("revoked are %+v, want what was issued too late: %+v", s.revoked, its)
	}
}

// A process that dies between issuing and recording, after its grant was given up, is followed up.
func TestWhatWasRefusedIsLookedForOnceMore(t *testing.T) {
	for name, refuse := range map[string]func(*scene){
		"not decided in time": func(s *scene) {
			s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
			s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
			s.clock.Add(11 * time.Minute)
			if err := s.Follow(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		},
		"refused by the broker": func(s *scene) {
			s.fail = &broker.Error{Kind: broker.ErrDenied, Detail: "no"}
			s.refused("what policy denies", broker.ErrDenied, "no", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, false)
			refuse(s)
			for n, want := range []int{1, 0} {
				s.revoked = nil
				s.clock.Add(6 * time.Minute)
				if err := s.Follow(t.Context()); err != nil || len(s.revoked) != want {
					t.Errorf("look %d: revoked %+v, %v, want %d", n, s.revoked, err, want)
				}
			}
		})
	}
}

// Leases are revoked only once nobody can be told of them any more.
func TestAGrantIsRefusedBeforeItsLeaseIsRevoked(t *testing.T) {
	s := set(t, false)
	s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.clock.Add(11 * time.Minute)
	s.revoking = func() {
		if now, err := s.options.Store.VNFGrantOf(t.Context(), s.client.ID, "op-1"); err != nil || now.State != grant.Refused {
			t.Errorf("while its lease is revoked the grant is %s, %v", now.State, err)
		}
	}
	if err := s.Follow(t.Context()); err != nil || len(s.revoked) == 0 {
		t.Errorf("revoked %+v, %v", s.revoked, err)
	}
}

// hanging are the links of one client that do not answer until another's was asked, however long that takes.
type hanging struct {
	t     *testing.T
	asked chan struct{} // closed once the other's was
	once  sync.Once
}

func (h *hanging) OperationState(_ context.Context, url string, _ *egress.Rules) (string, error) {
	if !strings.Contains(url, "hangs-") {
		h.once.Do(func() { close(h.asked) })
		return "COMPLETED", nil
	}
	select {
	case <-h.asked:
	case <-time.After(time.Minute):
		h.t.Error("an operation was asked about in vain, and the other client's waited for it")
		h.once.Do(func() { close(h.asked) }) // the rest has nothing to wait for
	}
	return "", errors.New("no answer")
}

// A VNFM with any number of operations that does not answer keeps no other client waiting.
func TestAVNFMThatHangsDelaysNoOther(t *testing.T) {
	s := set(t, false)
	o := s.options
	o.VNFM = &hanging{t: t, asked: make(chan struct{})}
	s.Grants = grant.New(o)
	mallet := policy.Principal{Name: "client:" + uuid.NewString(), Project: "ran", Roles: s.tacker.Roles}
	for n := range 300 {
		r := ask(grant.Instantiate, fmt.Sprintf("hangs-%d", n), "plain-1")
		r.Instance = fmt.Sprintf("i-%d", n)
		if _, _, err := s.Request(t.Context(), mallet, r); err != nil {
			t.Fatal(err)
		}
	}
	s.clock.Add(time.Second)
	mine, _ := s.granted(ask(grant.Instantiate, "op-1", "plain-1"))
	s.clock.Add(time.Minute)
	if err := s.Follow(t.Context()); err != nil {
		t.Error(err)
	}
	if now, err := s.options.Store.VNFGrant(t.Context(), mine.ID); err != nil || now.State != grant.Ended {
		t.Errorf("after one pass the other's is %s, %v, want ended", now.State, err)
	}
}

// A client has so many grants; those that lend nothing any more make room, and only they.
func TestGrantsOfAClientAreBounded(t *testing.T) {
	s := setUp(t, grant.Options{Standing: true, PerClient: 3})
	for n := range 3 {
		s.granted(ask(grant.Instantiate, fmt.Sprintf("op-%d", n), "plain-1"))
	}
	s.refused("one too many", broker.ErrQuota, "as many as it may have", s.tacker, ask(grant.Instantiate, "op-3", "plain-1"))
	if len(s.asked) != 3 {
		t.Errorf("%d leases were asked for", len(s.asked))
	}
	other := policy.Principal{Name: "client:" + uuid.NewString(), Project: "ran", Roles: s.tacker.Roles}
	if _, _, err := s.Request(t.Context(), other, ask(grant.Instantiate, "op-3", "plain-1")); err != nil {
		t.Errorf("another client's first: %v", err)
	}
	s.clock.Add(time.Minute)
	for who, operation := range map[*policy.Principal]string{&s.tacker: "op-1", &other: "op-3"} {
		if err := s.Notify(t.Context(), *who, operation, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
	}
	s.granted(ask(grant.Instantiate, "op-3", "plain-1"))
	if _, err := s.options.Store.VNFGrantOf(t.Context(), s.client.ID, "op-1"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("the one that had ended: %v", err)
	}
	if _, err := s.options.Store.VNFGrantOf(t.Context(), strings.TrimPrefix(other.Name, "client:"), "op-3"); err != nil {
		t.Errorf("the other client's made room for it: %v", err)
	}
	s.refused("one too many again", broker.ErrQuota, "as many as it may have", s.tacker, ask(grant.Instantiate, "op-4", "plain-1"))
	// The lease of an instance stands on its grant, whatever the client asks for.
	s = setUp(t, grant.Options{Standing: true, PerClient: 1})
	s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.clock.Add(time.Minute)
	if err := s.Notify(t.Context(), s.tacker, "op-1", "ROLLED_BACK"); err != nil {
		t.Fatal(err)
	}
	s.granted(ask(grant.Instantiate, "op-2", "vnfd-1"))
}

// revokedBySomebody has a lease end in the store as the broker would.
func (s *scene) revokedBySomebody(l broker.Lease) {
	s.t.Helper()
	store := s.options.Store.(broker.Store)
	v := broker.VIM{
		ID: l.VIM, Project: "core", Name: l.VIMName, Type: "kubernetes", State: broker.VIMRegistered,
		Current: broker.Generation{Number: 1, Sealed: "sealed", SealedAs: broker.SealedCurrent, Key: "ref", KeyStore: "keydir"}, Revision: 1,
	}
	l.VIMType, l.VIMProject, l.VIMGeneration, l.Project, l.State, l.CreatedAt, l.Handle, l.Revision = v.Type, v.Project, 1, "core", broker.LeasePending, s.clock.Now(), "handle", 1
	err := store.CreateVIM(s.t.Context(), v, 0, audit.Entry{Outcome: audit.Done})
	if err == nil {
		_, err = store.CreateLease(s.t.Context(), l, broker.Quota{}, audit.Entry{Outcome: audit.Done})
	}
	for _, state := range []broker.LeaseState{broker.LeaseActive, broker.LeaseRevoking, broker.LeaseRevoked} {
		if err == nil {
			_, err = store.UpdateLease(s.t.Context(), l.ID, func(l *broker.Lease) error {
				l.State, l.Reason, l.IssuedAt, l.ExpiresAt, l.RevokedAt = state, broker.ReasonRequested, l.CreatedAt, l.CreatedAt.Add(time.Hour), time.Time{}
				if state == broker.LeaseRevoked {
					l.RevokedAt = l.CreatedAt.Add(time.Minute)
				}
				return nil
			}, audit.Entry{Outcome: audit.Done})
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.ended[l.ID] = broker.ReasonRequested
}

// A client that asks for ever more has its instance not joined again that somebody has cut off.
func TestACutOffOutlivesTheBound(t *testing.T) {
	s := setUp(t, grant.Options{Standing: true, PerClient: 2})
	_, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.revokedBySomebody(lent.Lease)
	if err := s.Notify(t.Context(), s.tacker, "op-1", "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		other := ask(grant.Instantiate, fmt.Sprintf("fill-%d", n), "plain-1")
		other.Instance = "i-2"
		s.clock.Add(time.Minute)
		s.granted(other)
		if err := s.Notify(t.Context(), s.tacker, other.ID, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
	}
	s.clock.Add(time.Minute)
	s.refused("SCALE of what was cut off", broker.ErrDenied, "was revoked", s.tacker, ask("SCALE", "op-2", "vnfd-1"))
	s.clock.Add(100 * 24 * time.Hour)
	if err := s.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.refused("SCALE a hundred days later", broker.ErrDenied, "was revoked", s.tacker, ask("SCALE", "op-3", "vnfd-1"))
}

// Of a grant that lends nothing any more nothing is kept that its client can make long.
func TestResourcesGoWithTheGrant(t *testing.T) {
	s := set(t, false)
	r := ask(grant.Instantiate, "op-1", "vnfd-1")
	r.Update, r.Remove, r.Temporary = []string{"u"}, []string{"r"}, []string{"t"}
	given, _ := s.granted(r)
	if err := s.Notify(t.Context(), s.tacker, "op-1", "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	now, err := s.options.Store.VNFGrant(t.Context(), given.ID)
	if of := now.Request; err != nil || len(given.Request.Add) != 1 || len(of.Add)+len(of.Update)+len(of.Remove)+len(of.Temporary) > 0 {
		t.Errorf("kept are %+v, %v", now.Request, err)
	}
	if again, _ := s.granted(r); again.ID != given.ID {
		t.Error("a repeat is another grant")
	}
	r.Add = []string{"another"}
	s.refused("another request", broker.ErrConflict, "another request", s.tacker, r)
}

// A VNFM is asked soon after the grant, then ever more rarely, until a day has passed.
func TestLooksBecomeRarer(t *testing.T) {
	s := set(t, false)
	given, _ := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	began, before, looks := given.DecidedAt, given.DecidedAt, 0
	for now := given; now.Followed; looks++ {
		wait := now.LookAt.Sub(before)
		if age := before.Sub(began); wait < 10*time.Second || wait > 5*time.Minute || wait > 10*time.Second && wait > age {
			t.Fatalf("look %d comes %v after the one before, at %v", looks, wait, age)
		}
		before = now.LookAt
		s.clock.Add(now.LookAt.Sub(s.clock.Now()))
		if err := s.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		var err error
		if now, err = s.options.Store.VNFGrant(t.Context(), given.ID); err != nil || now.Revision > 3 {
			t.Fatalf("after a look: revision %d, %v", now.Revision, err)
		}
	}
	if looks < 280 || looks > 300 || before.Sub(began) < 24*time.Hour {
		t.Errorf("%d looks in %v", looks, before.Sub(began))
	}
}
