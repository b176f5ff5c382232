package trust_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// shelf keeps entries; meanwhile is what another process does before a change.
type shelf struct {
	used
	all       []trust.Listed
	log       []audit.Entry
	meanwhile func(*shelf)
}

func (s *shelf) TrustEntries(context.Context) ([]trust.Listed, error) {
	return slices.Clone(s.all), nil
}

func (s *shelf) ChangeTrust(_ context.Context, change func([]trust.Listed) ([]trust.Listed, error), e audit.Entry) error {
	if s.meanwhile != nil {
		s.meanwhile(s)
	}
	next, err := change(slices.Clone(s.all))
	if err == nil {
		s.all, s.log = next, append(s.log, e)
	}
	return err
}

func (s *shelf) Append(_ context.Context, e audit.Entry) error {
	s.log = append(s.log, e)
	return nil
}

func (s *shelf) Entries(context.Context, audit.Query) ([]audit.Entry, error) { return s.log, nil }

type yes struct{ policy.Decider }

func (yes) Decide(policy.Request) policy.Decision { return policy.Decision{Allowed: true} }

// What the log says an entry was is what it was: a change at the same time has the other one refused.
func TestAnEntryThatIsChangedAtTheSameTimeIsNotReplaced(t *testing.T) {
	root := policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}
	e := corp()
	e.Issuer = "https://id.example"
	for what, meanwhile := range map[string]func(*shelf){
		"another change": func(s *shelf) { s.all[0].UpdatedAt = s.all[0].UpdatedAt.Add(time.Second) },
		"a deletion":     func(s *shelf) { s.all = nil },
	} {
		s := &shelf{all: []trust.Listed{{Authority: e, CreatedBy: "ann", UpdatedAt: noon}}, meanwhile: meanwhile}
		table := trust.Table{
			Gatekeeper: trust.New(trust.Options{Store: s, Log: testlog.Silent(t), Now: func() time.Time { return noon.Add(time.Hour) }}),
			Guard:      &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now},
		}
		if _, err := table.Update(t.Context(), root, e); !errors.Is(err, broker.ErrConflict) {
			t.Errorf("a change beside %s: %v", what, err)
		}
		if err := table.Delete(t.Context(), root, "corp"); !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("a deletion beside %s: %v", what, err)
		}
		for _, one := range s.log {
			if one.Outcome != audit.Failed {
				t.Errorf("beside %s the log has %+v", what, one)
			}
		}
	}
	s := &shelf{meanwhile: func(s *shelf) { s.all = []trust.Listed{{Authority: e, CreatedBy: "ann", UpdatedAt: noon}} }}
	table := trust.Table{
		Gatekeeper: trust.New(trust.Options{Store: s, Log: testlog.Silent(t)}), Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now},
	}
	if _, err := table.Create(t.Context(), root, e); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("two creations: %v", err)
	}
}

// Run calls back once the entries of administrators are other ones, whoever changed them.
func TestAChangeOfAnotherProcessIsFollowed(t *testing.T) {
	e := corp()
	e.Issuer, e.Keys = "https://id.example", string(newBench(t, corp()).issuer.JWKS())
	s, changed := &shelf{}, make(chan struct{}, 1)
	g := trust.New(trust.Options{Store: s, Log: testlog.Silent(t), Changed: func(context.Context) { changed <- struct{}{} }})
	s.all = []trust.Listed{{Authority: e, CreatedBy: "ann", UpdatedAt: noon}}
	if g.Trusts("oidc:corp:alice") || !g.Trusts("keystone:u@d") || !g.Trusts("alice") {
		t.Error("Trusts() knows an entry that is not loaded, or knows of others")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go g.Run(ctx)
	<-changed
	if !g.Trusts("oidc:corp:alice") || !g.Knows(e.Issuer) {
		t.Error("the entry of another process is not there")
	}
	g.Wake()
	select {
	case <-changed:
		t.Error("nothing has changed, and that is said")
	default:
	}
	if left := g.States(); len(left) != 0 || strings.Contains(g.Fault(), "corp") {
		t.Errorf("an entry with keys is waited for: %v", left)
	}
}
