package conformance

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
)

// behind puts a cable that can be cut between the driver and the VIM.
func (s *subject) behind(t *testing.T) *real.Cut {
	t.Helper()
	u, err := url.Parse(s.a.Target.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	cut := real.NewCut(t, u.Host)
	s.a.Target.Endpoint = "https://" + cut.Addr()
	return cut
}

// each calls every method that talks to the VIM.
func (s *subject) each(t *testing.T, g broker.Grant, m broker.Minted, call func(method string, f func(context.Context) error)) {
	t.Helper()
	call("Check", func(ctx context.Context) error { _, err := s.d.Check(ctx, s.a); return err })
	call("Issue", func(ctx context.Context) error { _, err := s.d.Issue(ctx, s.a, g); return err })
	call("Renew", func(ctx context.Context) error { _, err := s.d.Renew(ctx, s.a, g); return err })
	call("Dead", func(ctx context.Context) error { _, err := s.d.Dead(ctx, s.a, m.Credential); return err })
	call("Inventory", func(ctx context.Context) error { _, err := s.d.Inventory(ctx, s.a); return err })
	call("Revoke", func(ctx context.Context) error {
		return s.d.Revoke(ctx, s.a, broker.Issued{Handle: g.Handle, Grant: g})
	})
	call("Forget", func(ctx context.Context) error { return s.d.Forget(ctx, s.a) })
}

func faultUnreachable(t *testing.T, s *subject) {
	cut := s.behind(t)
	g := s.grant(t, s.Reader, s.MinTTL)
	m := s.issue(t, g)
	for state, cable := range map[string]func(){"refused": cut.Refuse, "dropped": cut.Drop} {
		cable()
		s.each(t, g, m, func(method string, f func(context.Context) error) {
			wantKind(t, method+" where connections are "+state, f(t.Context()), broker.ErrUnreachable)
		})
	}
	cut.Pass(t)
	s.each(t, g, m, func(method string, f func(context.Context) error) {
		if err := f(t.Context()); err != nil {
			t.Errorf("%s after the VIM came back: %v", method, err)
		}
	})
}

func faultBlackHole(t *testing.T, s *subject) {
	const deadline, slack = 300 * time.Millisecond, 20 * time.Second // a driver gives up by itself after 30 s
	cut := s.behind(t)
	g := s.grant(t, s.Reader, s.MinTTL)
	m := s.issue(t, g)
	cut.BlackHole()
	s.each(t, g, m, func(method string, f func(context.Context) error) {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		began := time.Now()
		wantKind(t, method+" into a black hole", f(ctx), broker.ErrUnreachable)
		if took := time.Since(began); took > deadline+slack {
			t.Errorf("%s into a black hole took %v, its deadline was %v", method, took, deadline)
		}
	})
	cut.Pass(t)
	if !s.alive(t, m) {
		t.Error("revoked by a call that could not be made")
	}
}

// faultStranded is the connection that a firewall forgot: the driver keeps it, the VIM
// is well, and whoever connects anew gets through.
func faultStranded(t *testing.T, s *subject) {
	deadlines := []time.Duration{time.Second, 10 * time.Second, 30 * time.Second} // the first goes down that connection
	cut := s.behind(t)
	if _, err := s.d.Check(t.Context(), s.a); err != nil {
		t.Fatal(err)
	}
	cut.Strand()
	var err error
	for _, deadline := range deadlines {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		_, err = s.d.Check(ctx, s.a)
		cancel()
		if err == nil {
			return
		}
		wantKind(t, "Check over a stranded connection", err, broker.ErrUnreachable)
	}
	t.Errorf("calls of %v went down a stranded connection; the last: %v", deadlines, err)
}

func faultEgress(t *testing.T, s *subject) {
	// Used and kept under the good rules first: a kept connection must not get
	// round the rules of another call.
	if _, err := s.d.Check(t.Context(), s.a); err != nil {
		t.Fatal(err)
	}
	s.a.Egress = &egress.Rules{}
	_, err := s.d.Check(t.Context(), s.a)
	wantKind(t, "Check against egress rules", err, broker.ErrUnreachable)
	s.a.Egress = s.Egress
}
