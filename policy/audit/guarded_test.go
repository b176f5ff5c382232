package audit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// asking is a policy that denies all, and notes what it is asked.
type asking struct{ asked []string }

func (a *asking) Decide(r policy.Request) policy.Decision {
	a.asked = append(a.asked, string(r.Action))
	return policy.Decision{}
}

// What a guard does with each action: while the server is held back, and where somebody looks for what there is not. An object
// of each kind is hidden from who may not see it.
func TestWhatAGuardDoesWithEachAction(t *testing.T) {
	p, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	words := func(err error) []string {
		typo, ok := errors.AsType[*policy.Typo](err)
		if !ok {
			t.Fatalf("%v is no typo", err)
		}
		return typo.Known
	}
	var said strings.Builder
	kinds := map[string]bool{}
	for _, name := range words(p.CheckAction("none")) {
		action := policy.Action(name)
		held := errors.New("held")
		g, s := guard(allowing)
		g.Held = func(context.Context) error { return held }
		_, err := g.Enter(t.Context(), alice, action, edge, policy.Wish{})
		g.Missed = audit.NewFolds()
		for range 2 {
			if err := g.Missing(t.Context(), alice, action, policy.KindVIM); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&said, "%s: held back %t, folded %t\n", action, errors.Is(err, held), len(s.entries) == 1)
		for _, kind := range words(p.Check(policy.Request{Action: action, Resource: policy.Resource{Kind: "none"}})) {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		a, s := &asking{}, &sink{}
		g := &audit.Guard{Policy: a, Sink: s, Now: func() time.Time { return noon }}
		_, err := g.Enter(t.Context(), alice, policy.VIMUpdate, policy.Resource{Kind: policy.Kind(kind), ID: "x", Project: "other"}, policy.Wish{})
		fmt.Fprintf(&said, "%s: hidden %t, asked %v\n", kind, errors.Is(err, audit.ErrHidden), a.asked[1:])
	}
	golden.Compare(t, filepath.Join("testdata", "guarded.txt"), said.String())
}

// Every entry says who asked, for whom, from where, by which door and in which request, whichever way it is made.
func TestEveryEntrySaysWhoAskedAndHow(t *testing.T) {
	p := policy.Principal{
		Name: "keystone:alice", Project: "core", Roles: []string{policy.RoleMember}, Actor: "system:lifecycle", Warrant: "the roles of the request count",
		Login: policy.Arrival{Entry: "corp", Shown: "Alice"},
	}
	lease := policy.Resource{Kind: policy.KindLease, ID: "l", Project: "core", VIMProject: "other", VIM: "v", VIMName: "edge", EndpointHost: "edge.example"}
	ways := map[string]func(context.Context, *audit.Guard) error{
		"denied": func(ctx context.Context, g *audit.Guard) error {
			g.Policy = showing{answer{Policies: []string{"site.no", "site.never"}}}
			_, err := g.Enter(ctx, p, policy.LeaseRenew, lease, policy.Wish{TTL: time.Hour, Role: "edit", For: "bob", ClusterWide: true})
			return err
		},
		"not evaluated": func(ctx context.Context, g *audit.Guard) error {
			g.Policy = showing{answer{Allowed: true, Errors: []string{"site.broken: x"}}}
			_, err := g.Enter(ctx, p, policy.LeaseRenew, lease, policy.Wish{})
			return err
		},
		"hidden": func(ctx context.Context, g *audit.Guard) error {
			g.Policy = answer{Policies: []string{"site.no"}}
			_, err := g.Enter(ctx, p, policy.LeaseRenew, lease, policy.Wish{})
			return err
		},
		"hidden, on a VIM of the caller's project": func(ctx context.Context, g *audit.Guard) error {
			of := lease
			of.Project, of.VIMProject = "other", "core"
			return g.Hide(ctx, p, policy.LeaseShow, of)
		},
		"hidden, of no project": func(ctx context.Context, g *audit.Guard) error {
			return g.Hide(ctx, p, policy.VIMShow, policy.Resource{Kind: policy.KindVIM, ID: "v"})
		},
		"missing": func(ctx context.Context, g *audit.Guard) error {
			return g.Missing(ctx, p, policy.LeaseShow, policy.KindLease)
		},
		"refused in part": func(ctx context.Context, g *audit.Guard) error {
			return g.Refuse(ctx, p, policy.LeaseRevoke, lease, audit.DetailReason, "2 of 3", audit.DetailFor, "")
		},
		"by a part of the broker": func(ctx context.Context, g *audit.Guard) error {
			g.Policy = showing{}
			_, err := g.Enter(ctx, policy.Principal{Name: "system:reaper", Roles: []string{policy.RoleSystem}}, policy.LeaseRevoke, lease, policy.Wish{})
			return err
		},
		"in": func(ctx context.Context, g *audit.Guard) error {
			audit.NewLogins(g.Sink, g.Now, testlog.Silent(t)).In(ctx, p)
			return nil
		},
		"not let in": func(ctx context.Context, g *audit.Guard) error {
			audit.NewLogins(g.Sink, g.Now, testlog.Silent(t)).Refused(ctx, &policy.RefusedLogin{Authenticator: "oidc:corp", Reason: "expired"})
			return nil
		},
	}
	for _, end := range []audit.Outcome{audit.Intent, audit.Done, audit.Failed, audit.Read} {
		ways["allowed, "+string(end)] = func(ctx context.Context, g *audit.Guard) error {
			g.Reads = audit.NewReads()
			act, err := g.Enter(ctx, p, policy.LeaseRenew, lease, policy.Wish{})
			if err != nil {
				return err
			}
			act.With(audit.DetailTTL, "1h")
			switch end {
			case audit.Read:
				return act.Read(ctx)
			case audit.Done:
				return g.Sink.Append(ctx, act.Done(audit.DetailReason, "because", audit.DetailTarget, ""))
			case audit.Failed:
				return g.Sink.Append(ctx, act.Failed("unreachable"))
			}
			return g.Sink.Append(ctx, act.Intent())
		}
	}
	var said strings.Builder
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		for _, question := range []bool{false, true} {
			g, s := guard(allowing)
			ctx := audit.WithRequest(audit.WithDoor(audit.WithSource(t.Context(), "192.0.2.7"), audit.DoorPage), "r1")
			if question {
				ctx, way = audit.AsQuestion(ctx), way+", as a question"
			}
			err := ways[strings.TrimSuffix(way, ", as a question")](ctx, g)
			fmt.Fprintf(&said, "%s: %v\n", way, err)
			for _, e := range s.entries {
				line, err := audit.Line(e)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&said, "  %s\n", line)
			}
		}
	}
	golden.Compare(t, filepath.Join("testdata", "entries.txt"), said.String())
}
