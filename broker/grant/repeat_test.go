package grant_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/policy"
)

// A repeat is the first request again, whatever of it the answer rests on.
func TestARepeatIsTheWholeRequestAgain(t *testing.T) {
	s := set(t, false)
	first := ask(grant.Instantiate, "op-1", "vnfd-1")
	first.Rest, first.Additional = []byte(`{"flavourId":"simple"}`), []byte(`{"password":"canary-weak"}`)
	given, _ := s.granted(first)
	if again, _ := s.granted(first); again.ID != given.ID {
		t.Errorf("a repeat is given grant %s, not %s", again.ID, given.ID)
	}
	for name, spoil := range map[string]func(*grant.GrantRequest){
		"something else of it":   func(r *grant.GrantRequest) { r.Rest = []byte(`{"flavourId":"other"}`) },
		"other additionalParams": func(r *grant.GrantRequest) { r.Additional = []byte(`{"password":"guess"}`) },
		"no additionalParams":    func(r *grant.GrantRequest) { r.Additional = nil },
		"another VNFD":           func(r *grant.GrantRequest) { r.VNFD = "vnfd-2" },
		"another link":           func(r *grant.GrantRequest) { r.InstanceURL = "http://vnfm/vnflcm/v2/vnf_instances/i-2" },
	} {
		other := first
		spoil(&other)
		s.refused(name, broker.ErrConflict, "another request", s.tacker, other)
	}
	// Of a password that is among additionalParams nothing is kept that tells whether two clients have the same.
	twin := policy.Principal{Name: "client:" + uuid.NewString(), Project: "ran", Roles: s.tacker.Roles}
	if theirs, _, err := s.Request(t.Context(), twin, first); err != nil || theirs.Digest == given.Digest {
		t.Errorf("another client's digest of the same request is %s, too: %v", theirs.Digest, err)
	}
}

func TestARepeatThatMeetsTheFirstWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := setUp(t, grant.Options{Standing: true})
		begun, end := make(chan struct{}), make(chan struct{})
		s.issuing = func() {
			s.issuing = nil
			close(begun)
			<-end
		}
		type answer struct {
			grant grant.Grant
			lent  grant.Loan
			err   error
		}
		answers := make(chan answer, 2)
		request := func() {
			g, lent, err := s.Request(t.Context(), s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
			answers <- answer{g, lent, err}
		}
		go request()
		<-begun
		go request()
		synctest.Wait()
		if n := len(answers); n != 0 || len(s.asked) != 1 {
			t.Errorf("while the first is decided on %d are answered, and %d leases asked for", n, len(s.asked))
		}
		close(end)
		one, two := <-answers, <-answers
		if one.err != nil || two.err != nil || one.grant.ID != two.grant.ID || one.lent.Lease.ID != two.lent.Lease.ID || two.grant.State != grant.Granted {
			t.Errorf("answered with %+v %v, and %+v %v", one.grant, one.err, two.grant, two.err)
		}
	})
}

func TestARepeatWaitsSoLong(t *testing.T) {
	later := func(what string, err error) {
		t.Helper()
		if known, ok := errors.AsType[*broker.Error](err); !ok || !errors.Is(known.Kind, broker.ErrUnavailable) || known.RetryAfter <= 0 {
			t.Errorf("%s = %v, want ErrUnavailable, and when to repeat it", what, err)
		}
	}
	s := setUp(t, grant.Options{Standing: true, Patience: time.Nanosecond})
	r := ask(grant.Instantiate, "op-1", "vnfd-1")
	s.issuing = func() {
		s.issuing = nil
		_, _, err := s.Request(t.Context(), s.tacker, r)
		later("a repeat that meets the first", err)
	}
	s.granted(r)
	// Another process decides: the lease's key is in use there.
	r = ask(grant.Instantiate, "op-2", "vnfd-1")
	s.fail = &broker.Error{Kind: broker.ErrConflict, Field: "Idempotency-Key", Detail: "the first request with it is still running", RetryAfter: time.Second}
	_, c, err := s.Request(t.Context(), s.tacker, r)
	if later("a repeat that meets the first of another process", err); !c.Config.LeaseSecret.Empty() {
		t.Error("it is lent something")
	}
	s.fail = nil
	s.granted(r)
}
