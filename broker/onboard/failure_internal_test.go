package onboard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// passage is something that is done in a world, and how a/edge stands after it.
type passage struct {
	given func(*world)
	do    func(context.Context, *watcher) error
	want  State
	why   ClusterReason
	// logged are calls whose failure the log tells at the least, quiet those whose failure changes nothing.
	logged, quiet []string
}

func stepped(ctx context.Context, w *watcher) error {
	_, err := w.step(ctx, key{"a", "edge"})
	return err
}

var boss = policy.Principal{Name: "boss", Project: "default"}

// pusher is who holds the token "vbpush_ID_x" of cluster c.
const clusterID = "6a3c2f0e-5f3e-4a44-8b1e-4f5d1c1d9a10"

func pushing(x *world) {
	x.secrets = map[key]ClusterSecret{}
	x.row(clusterID, func(c *Cluster) {
		c.State, c.VIM, c.System, c.Secret = StateWaiting, "", "", ""
		c.PushToken, c.PushExpiresAt = hashOf(pushToken+clusterID+"_x"), x.now.Add(time.Minute)
	})
}

func pushes(ctx context.Context, w *watcher) error {
	_, err := w.Push(ctx, policy.Principal{Name: pushPrincipal + clusterID, Project: "north"}, Pushed{
		Management: "hub", Namespace: "a", UID: "uid-edge", Kubeconfig: secret.NewText("system-edge"),
	})
	return err
}

// steps are passages of a look at a/edge.
var steps = map[string]passage{
	"a new cluster": {given: func(*world) {}, want: StateRegistered},
	"one that is not ready": {given: func(x *world) {
		s := x.clusters[key{"a", "edge"}]
		s.Ready = false
		x.clusters[key{"a", "edge"}] = s
		x.row("c", func(c *Cluster) { c.State, c.VIM, c.System, c.Message = StateWaiting, "", "", "another" })
	}, want: StateWaiting, why: ReasonNotReady},
	"one that is paused": {given: func(x *world) {
		s := x.clusters[key{"a", "edge"}]
		s.Paused = true
		x.clusters[key{"a", "edge"}] = s
		x.row("c", func(c *Cluster) { c.State, c.VIM, c.System = StateWaiting, "", "" })
	}, want: StateWaiting, why: ReasonPaused},
	"one that is being deleted": {given: func(x *world) {
		s := x.clusters[key{"a", "edge"}]
		s.Deleting = true
		x.clusters[key{"a", "edge"}] = s
		x.row("c", func(c *Cluster) { c.State, c.VIM, c.System = StateWaiting, "", "" })
	}, want: StateWaiting, why: ReasonDeleting},
	"one without a secret": {given: func(x *world) {
		x.secrets = map[key]ClusterSecret{}
		x.row("c", func(c *Cluster) { c.State, c.VIM, c.System = StateWaiting, "", "" })
	}, want: StateWaiting, why: ReasonSecretMissing},
	"one with a foreign secret": {given: func(x *world) {
		x.secretOf(Seen{Namespace: "a", Name: "edge", UID: "another"}, "system-edge", "2")
		x.row("c", func(c *Cluster) { c.State, c.VIM, c.System = StateWaiting, "", "" })
	}, want: StateQuarantined, why: ReasonSecretForeign},
	"one with a secret that is foreign still": {given: func(x *world) {
		x.secretOf(Seen{Namespace: "a", Name: "edge", UID: "another"}, "system-edge", "2")
		x.row("c", func(c *Cluster) {
			c.State, c.VIM, c.System, c.Reason, c.Message, c.Secret = StateQuarantined, "", "", ReasonSecretForeign, "another", "2"
		})
		x.m.UpdatedAt = x.now.Add(time.Second)
	}, want: StateQuarantined, why: ReasonSecretForeign},
	"one that leads to the hub": {given: func(x *world) {
		x.secretOf(x.clusters[key{"a", "edge"}], "hub-system", "2")
	}, want: StateQuarantined, why: ReasonSystemTaken},
	"one that leads elsewhere": {given: func(x *world) {
		x.secretOf(x.clusters[key{"a", "edge"}], "another", "2")
		x.row("c", func(c *Cluster) { c.State, c.VIM = StateRegistering, "" })
	}, want: StateQuarantined, why: ReasonOtherSystem},
	"one with garbage": {given: func(x *world) {
		x.fails["RegisterVIM"] = broker.Invalid("kubeconfig", "is none")
	}, want: StateQuarantined, why: ReasonSecretInvalid},
	"one whose system another has": {given: func(x *world) {
		x.row("d", func(c *Cluster) { c.Name, c.UID, c.VIM = "other", "other", "" })
	}, want: StateQuarantined, why: ReasonSystemTaken},
	"one that another keeps from being a VIM": {given: func(x *world) {
		x.row("c", func(c *Cluster) {
			c.State, c.VIM, c.System, c.Rival, c.Reason = StateQuarantined, "", "", "d", ReasonSystemTaken
		})
		x.row("d", func(c *Cluster) { c.Name, c.UID, c.State = "other", "other", StateRetired })
	}, want: StateRegistered},
	"one that an attempt that died registered": {given: func(x *world) {
		x.raced = true
		x.vim("v", nil)
		x.row("c", func(c *Cluster) { c.State, c.VIM = StateRegistering, "" })
	}, want: StateRegistered},
	"one that has moved": {given: func(x *world) {
		x.vim("v", func(v *broker.VIM) { v.Labels[broker.LabelManagement] = "old" })
		x.row("d", func(c *Cluster) { c.Management, c.GoneAt = "old", x.now })
	}, want: StateRegistered},
	"one whose VIM has another's name": {given: func(x *world) {
		x.vim("v", func(v *broker.VIM) { v.Labels[broker.LabelManagement] = "old" })
	}, want: StateRegistered},
	"a registered one": {given: func(x *world) { x.registered() }, want: StateRegistered},
	"one with another secret": {given: func(x *world) {
		x.registered()
		x.secretOf(x.clusters[key{"a", "edge"}], "system-edge", "2")
	}, want: StateRegistered},
	"one with another secret and no account": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) { v.Current.Discovered = broker.Discovered{} })
		x.secretOf(x.clusters[key{"a", "edge"}], "system-edge", "2")
	}, want: StateRegistered},
	"one with another secret that leads elsewhere": {given: func(x *world) {
		x.registered()
		x.secretOf(x.clusters[key{"a", "edge"}], "another", "2")
	}, want: StateQuarantined, why: ReasonOtherSystem},
	"one with another secret of garbage": {given: func(x *world) {
		x.registered()
		x.fails["UpdateVIM"] = broker.Invalid("kubeconfig", "is none")
		x.secretOf(x.clusters[key{"a", "edge"}], "another", "2")
	}, want: StateQuarantined, why: ReasonSecretInvalid},
	"one with another label": {given: func(x *world) {
		x.registered()
		x.m.CopyLabels = []string{"site"}
		s := x.clusters[key{"a", "edge"}]
		s.Labels = map[string]string{"site": "x"}
		x.clusters[key{"a", "edge"}] = s
	}, want: StateRegistered},
	"one that is paused when registered": {given: func(x *world) {
		x.registered()
		s := x.clusters[key{"a", "edge"}]
		s.Paused = true
		x.clusters[key{"a", "edge"}] = s
	}, want: StateRegistered, why: ReasonPaused},
	"one that is well again": {given: func(x *world) {
		x.registered()
		x.row("c", func(c *Cluster) { c.Reason, c.Message = ReasonUnreachable, "it was not there" })
	}, want: StateRegistered},
	"one that was thought to be moving": {given: func(x *world) {
		x.registered()
		x.row("c", func(c *Cluster) { c.GoneAt, c.Reason, c.Message = x.now, ReasonMoving, moving })
	}, want: StateRegistered},
	"one whose VIM is deleted by hand": {given: func(x *world) { x.row("c", nil) }, want: StateWaiting},
	"one whose VIM is being deleted by hand": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) { v.State = broker.VIMDraining })
	}, want: StateRegistered, why: ReasonDraining},
	"one that is not selected": {given: func(x *world) {
		x.registered()
		x.m.Selector = map[string]string{"tier": "edge"}
	}, want: StateRegistered, why: ReasonNotSelected},
	"one of a namespace that is not watched": {given: func(x *world) {
		x.registered()
		x.m.Namespaces = []string{"b"}
	}, want: StateRegistered, why: ReasonNotFollowed},
	"one that is restored": {given: func(x *world) {
		x.row("c", func(c *Cluster) { c.State, c.VIM = StateRetired, "" })
	}, want: StateRegistered},
}

// more are passages of a look at a/edge, too.
var more = map[string]passage{
	"one that its control plane's secret is of": {given: func(x *world) {
		plane := ObjectReference{"controlplane." + capiGroup, "KubeadmControlPlane", "plane"}
		k := key{"a", "edge"}
		s, got := x.clusters[k], x.secrets[k]
		s.ControlPlane, got.Owners = plane, []OwnerReference{{plane.Group, plane.Kind, "gone", "u"}, {plane.Group, plane.Kind, "plane", "u"}}
		x.clusters[k], x.secrets[k], x.planes["plane"] = s, got, "u"
	}, want: StateRegistered},
	"one whose control plane is gone": {given: func(x *world) {
		plane := ObjectReference{"controlplane." + capiGroup, "KubeadmControlPlane", "plane"}
		k := key{"a", "edge"}
		s, got := x.clusters[k], x.secrets[k]
		s.ControlPlane, got.Owners = plane, []OwnerReference{{plane.Group, plane.Kind, "plane", "u"}}
		x.clusters[k], x.secrets[k] = s, got
	}, want: StateQuarantined, why: ReasonSecretForeign},
	"one with another secret that is foreign": {given: func(x *world) {
		x.registered()
		x.secretOf(Seen{Namespace: "a", Name: "edge", UID: "another"}, "system-edge", "2")
	}, want: StateQuarantined, why: ReasonSecretForeign},
	"one whose new credential is refused": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) { v.Current.Discovered = broker.Discovered{} })
		x.secretOf(x.clusters[key{"a", "edge"}], "system-edge", "2")
		x.fails["UpdateVIM"] = broker.ErrUnauthorized
	}, want: StateRegistered, why: ReasonCredentialRefused},
	"one whose new credential cannot be compared": {given: func(x *world) {
		x.registered()
		x.secretOf(x.clusters[key{"a", "edge"}], "system-edge", "2")
		x.fails["SameTarget"] = broker.ErrUnreachable
	}, want: StateRegistered, why: ReasonUnavailable},
	"one whose VIM does not answer": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) {
			v.Health = broker.Health{Status: broker.HealthUnreachable, Message: "nothing answers"}
		})
	}, want: StateRegistered, why: ReasonUnreachable},
	"one whose row is there already": {given: func(x *world) {
		x.hook = func(call string) error {
			if call == "AddCluster" && len(x.rows) == 0 {
				x.row("c", func(c *Cluster) { c.State, c.VIM, c.System, c.Secret = StateWaiting, "", "", "" })
			}
			return nil
		}
	}, want: StateRegistered},
}

// ends are passages of a look at a/edge, which is gone.
var ends = map[string]passage{
	"one with a VIM": {given: func(x *world) { x.registered() }, want: StateRetired},
	"one without":    {given: func(x *world) { x.row("c", func(c *Cluster) { c.State, c.VIM = StateWaiting, "" }) }, want: StateRetired},
	"one that an attempt that died registered": {given: func(x *world) {
		x.vim("v", nil)
		x.row("c", func(c *Cluster) { c.State, c.VIM = StateRegistering, "" })
	}, want: StateRetired},
	"one whose VIM follows another": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) { v.Labels[broker.LabelManagement] = "new" })
	}, want: StateRetired},
	"one that moves": {given: func(x *world) {
		x.registered()
		x.vim("v", func(v *broker.VIM) { v.Suspended = suspendedPaused })
	}, want: StateRegistered, why: ReasonMoving},
	"one whose VIM drains": {given: func(x *world) {
		x.registered()
		x.delete = func(broker.Deletion) (bool, error) { return false, nil }
	}, want: StateRetiring, why: ReasonDraining},
	"one whose VIM drains since before": {given: func(x *world) {
		x.vim("v", func(v *broker.VIM) { v.State = broker.VIMDraining })
		x.row("c", func(c *Cluster) { c.State, c.GoneAt, c.Reason = StateRetiring, x.now, ReasonDraining })
	}, want: StateRetiring, why: ReasonDraining},
	"one whose system is gone": {given: func(x *world) {
		x.vim("v", func(v *broker.VIM) { v.Health.Status = broker.HealthUnreachable })
		x.row("c", func(c *Cluster) { c.State, c.GoneAt, c.Reason = StateRetiring, x.now.Add(-silentFor), ReasonDraining })
	}, want: StateRetired},
	"one whose VIM is to drain": {given: func(x *world) {
		x.vim("v", nil)
		x.row("c", func(c *Cluster) {
			c.State, c.GoneAt, c.Reason, c.Message = StateRetiring, x.now, ReasonDraining, "another"
		})
		x.delete = func(broker.Deletion) (bool, error) { return false, nil }
	}, want: StateRetiring, why: ReasonDraining},
	"one that is retired since long": {given: func(x *world) {
		x.row("c", func(c *Cluster) { c.State, c.UpdatedAt = StateRetired, x.now.Add(-KeepRetired) })
	}},
	"one whose instances are to be told": {given: func(x *world) {
		x.vim("v", func(v *broker.VIM) { v.Health.Status = broker.HealthUnreachable })
		x.row("c", func(c *Cluster) { c.State, c.GoneAt, c.Reason = StateRetiring, x.now.Add(-silentFor), ReasonDraining })
		x.delete = func(broker.Deletion) (bool, error) {
			return false, &broker.Error{Kind: broker.ErrConflict, Detail: "instances stand on it", Next: broker.NextEndUses}
		}
	}, want: StateRetiring, why: ReasonDraining},
	"too many": {given: func(x *world) {
		x.registered()
		for _, id := range []string{"d", "e", "f"} {
			x.row(id, func(c *Cluster) { c.Name, c.UID, c.State = id, id, StateRetiring })
		}
	}, want: StateRegistered, why: ReasonHeld},
}

// others are passages of callers and of the watch.
var others = map[string]passage{
	"a refresh": {given: func(x *world) {
		x.registered()
		x.m.NamespaceSelector = map[string]string{"k": "v"}
		x.row("c", func(c *Cluster) { c.Rival = "d" })
		x.row("d", func(c *Cluster) { c.Name, c.UID = "other", "other" })
	}, do: func(ctx context.Context, w *watcher) error { return w.refresh(ctx) }, want: StateRegistered},
	"a watch": {given: watched, do: func(ctx context.Context, w *watcher) error { return w.follow(ctx, "hub") }, logged: []string{"VIM", "RevokeLeases"}, quiet: []string{"Watch"}},
	"a load":  {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error { return w.load(ctx) }, want: StateRegistered},
	"rows that are left": {given: func(x *world) {
		x.registered()
		x.m.Namespaces = []string{"b"}
	}, do: func(ctx context.Context, w *watcher) error { return w.leaveRows(ctx) }, want: StateRegistered, why: ReasonNotFollowed},
	"enabling": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		_, err := w.Enable(ctx, boss, "hub", Settings{})
		return err
	}, want: StateRegistered},
	"enabling by configuration": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		return w.EnableConfigured(ctx, "default", "hub", Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}})
	}, want: StateRegistered},
	"disabling": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		return w.Disable(ctx, boss, "hub")
	}, want: StateRegistered},
	"releasing": {given: func(x *world) { x.registered(); x.m.HeldAt = x.now }, do: func(ctx context.Context, w *watcher) error {
		_, err := w.Release(ctx, boss, "hub")
		return err
	}, want: StateRegistered},
	"a look at a management cluster": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		_, err := w.Management(ctx, boss, "hub")
		return err
	}, want: StateRegistered},
	"a list of management clusters": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		all, err := w.Managements(ctx, boss)
		return cmp.Or(err, short(w, len(all)))
	}, want: StateRegistered},
	"a list of clusters": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		all, _, err := w.Clusters(ctx, boss, ClusterQuery{Management: "hub"})
		return cmp.Or(err, short(w, len(all)))
	}, want: StateRegistered},
	"a look at a cluster": {given: func(x *world) {
		x.registered()
		x.row("c", func(c *Cluster) { c.Rival = "d" })
		x.row("d", func(c *Cluster) { c.Name, c.UID, c.System = "other", "other", "another" })
	}, do: func(ctx context.Context, w *watcher) error {
		v, err := w.Cluster(ctx, boss, "c")
		return cmp.Or(denied(err), short(w, len(v.SameSystem)))
	}, want: StateRegistered},
	"a token": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		_, _, err := w.IssuePushToken(ctx, boss, "c", 0)
		return denied(err)
	}, want: StateRegistered},
	"a token's end": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		return denied(w.RevokePushToken(ctx, boss, "c"))
	}, want: StateRegistered},
	"a token's holder": {given: pushing, do: func(ctx context.Context, w *watcher) error {
		_, err := w.Pusher(ctx, pushToken+clusterID+"_x")
		return err
	}, want: StateWaiting},
	"a push": {given: pushing, do: pushes, want: StateRegistered, logged: []string{"RevokeLeases"}},
	"a push where labels are asked for": {given: func(x *world) {
		pushing(x)
		s := x.clusters[key{"a", "edge"}]
		s.Labels = map[string]string{"tier": "edge"}
		x.clusters[key{"a", "edge"}], x.m.Selector = s, s.Labels
	}, do: pushes, want: StateRegistered, logged: []string{"RevokeLeases"}},
	"a push for a VIM": {given: func(x *world) {
		pushing(x)
		x.vim("v", nil)
		x.row(clusterID, func(c *Cluster) { c.PushExpiresAt = x.now.Add(time.Minute) })
	}, do: pushes, want: StateRegistered, logged: []string{"RevokeLeases"}},
	"a push that is not taken": {given: func(x *world) {
		pushing(x)
		x.put("a", "edge")
		s := x.clusters[key{"a", "edge"}]
		s.Ready = false
		x.clusters[key{"a", "edge"}] = s
	}, do: pushes, want: StateWaiting, why: ReasonNotReady, logged: []string{"RevokeLeases"}},
	"counting": {given: func(x *world) { x.registered() }, do: func(ctx context.Context, w *watcher) error {
		_, err := w.Count(ctx)
		return err
	}, want: StateRegistered, quiet: []string{"VIM"}},
}

// watched ends a watch soon after it has begun: its management cluster is none any more.
func watched(x *world) {
	x.clusters = map[key]Seen{}
	x.m.NamespaceSelector = map[string]string{"k": "v"}
	x.m.Namespaces = []string{AllNamespaces}
	x.labels = map[string]map[string]string{"a": nil}
	x.row("c", func(c *Cluster) { c.UID = "other" })
	read := 0
	x.hook = func(call string) error {
		if call == "Management" {
			if read++; read == 2 {
				x.m = Management{}
			}
		}
		return nil
	}
}

// short is an error of a list that has not one entry, although policy allows that it has.
func short(w *watcher, n int) error {
	x := w.Guard.Policy.(deciding).x
	switch at := x.failAt; {
	case n == 1:
		return nil
	case at > 1 && at <= len(x.calls) && strings.HasPrefix(x.calls[at-1], "decide"):
		return errDown
	}
	return errors.New("nothing is said of what is not there")
}

// denied has the refusal to see a cluster, which is not found then, be a failure.
func denied(err error) error {
	if errors.Is(err, broker.ErrNotFound) {
		return errDown
	}
	return err
}

// TestAFailureIsTold: whatever call of a passage fails, the passage says so, or the row of the cluster, or the trouble of the
// management cluster; and without a failure the passage leads where it is to.
func TestAFailureIsTold(t *testing.T) {
	run := func(name string, p passage, gone bool) {
		do := p.do
		if do == nil {
			do = stepped
		}
		for at := 0; ; at++ {
			x := newWorld(t)
			p.given(x)
			w := x.watcher()
			if gone {
				x.drop(w, "a", "edge")
			}
			x.failAt = at
			err := do(t.Context(), w)
			if at > len(x.calls) {
				return
			}
			if at == 0 && !slices.Contains(x.calls, "Watch") { // which calls beside the passage
				x.came(w, name, 0, 0, err)
			}
			told := errors.Is(err, errDown) || errors.Is(err, broker.ErrDenied) || strings.Contains(x.m.Trouble, errDown.Detail)
			if at > 0 && slices.Contains(p.logged, x.calls[at-1]) {
				told = told || strings.Contains(x.log.String(), errDown.Detail)
			}
			for _, c := range x.rows {
				told = told || strings.Contains(c.Message, errDown.Detail) || strings.Contains(c.Message, "does not allow")
			}
			if at == 0 {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				c := x.one("uid-edge")
				if c.State != p.want || c.Reason != p.why {
					t.Errorf("%s: it is %s (%s: %s), want %s (%s)", name, c.State, c.Reason, c.Message, p.want, p.why)
				}
				continue
			}
			if call := x.calls[at-1]; !told && !slices.Contains(p.quiet, call) {
				t.Errorf("%s: call %d of %v, %s, fails: %v, and nobody is told", name, at, x.calls, call, err)
			}
		}
	}
	for name, p := range steps {
		run(name, p, false)
	}
	for name, p := range more {
		run(name, p, false)
	}
	for name, p := range ends {
		run(name+", which is gone", p, true)
	}
	for name, p := range others {
		run(name, p, false)
	}
}

// one is the row of a cluster on the hub.
func (x *world) one(uid string) (found Cluster) {
	x.t.Helper()
	for _, c := range x.rows {
		if c.UID == uid && c.Management == "hub" {
			if found.ID != "" {
				x.t.Errorf("%s has two rows", uid)
			}
			found = c
		}
	}
	return found
}
