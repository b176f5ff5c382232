package onboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// verdict is what a look at a/edge makes of a world: how the cluster stands, and its VIM.
type verdict struct {
	given func(*world)
	want  State
	why   ClusterReason
	vim   string
	then  func(*world) bool // what else holds
}

// asked reports whether a call was made.
func (x *world) asked(call string) bool { return slices.Contains(x.calls, call) }

func (x *world) edge(change func(*Seen)) {
	s := x.clusters[key{"a", "edge"}]
	change(&s)
	x.clusters[key{"a", "edge"}] = s
}

func waiting(c *Cluster) { c.State, c.VIM, c.System, c.Secret = StateWaiting, "", "", "" }

// rival is another cluster that leads to the system of a/edge.
func (x *world) rival(id string, change func(*Cluster)) {
	x.row(id, func(c *Cluster) {
		c.Management, c.Name, c.UID = "old", id, id
		change(c)
	})
}

func (x *world) untied(change func(*broker.VIM)) {
	x.vim("v", func(v *broker.VIM) {
		v.Labels[broker.LabelManagement] = "old"
		if change != nil {
			change(v)
		}
	})
}

func TestWhatALookDecides(t *testing.T) {
	shown := map[string]verdict{
		// A VIM of before follows the cluster, or does not.
		"a VIM of its name that somebody made":   {given: func(x *world) { x.untied(func(v *broker.VIM) { v.CreatedBy = "alice" }) }, want: StateWaiting, why: ReasonNameTaken},
		"a VIM of its name that was no cluster":  {given: func(x *world) { x.untied(func(v *broker.VIM) { v.Labels[broker.LabelCluster] = "" }) }, want: StateWaiting, why: ReasonNameTaken},
		"a VIM of its name that leads elsewhere": {given: func(x *world) { x.untied(func(v *broker.VIM) { v.Current.Identity = "another" }) }, want: StateWaiting, why: ReasonNameTaken},
		"a VIM of another cluster that drains": {given: func(x *world) {
			x.untied(func(v *broker.VIM) { v.State = broker.VIMDraining })
			x.rival("d", func(c *Cluster) { c.GoneAt = x.now })
		}, want: StateQuarantined, why: ReasonSystemTaken},
		"another cluster without a VIM": {given: func(x *world) {
			x.untied(func(v *broker.VIM) { v.Default = true })
			x.rival("d", func(c *Cluster) { c.VIM = "" })
		}, want: StateQuarantined, why: ReasonSystemTaken, then: func(x *world) bool { return !x.asked("UpdateVIM") }},
		"another project's cluster, proven": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(c *Cluster) { c.Project, c.GoneAt = "south", x.now })
			x.admission.Shows = func(vim string) (bool, error) { return vim == "v", nil }
		}, want: StateQuarantined, why: ReasonSystemTaken},
		"another VIM's cluster": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(c *Cluster) { c.Project, c.VIM = "south", "w" })
		}, want: StateRegistered, vim: "v"},
		"another cluster that is there": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(*Cluster) {})
		}, want: StateQuarantined, why: ReasonSystemTaken},
		"another cluster that is gone": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(c *Cluster) { c.GoneAt = x.now })
		}, want: StateRegistered, vim: "v", then: func(x *world) bool {
			d, last := x.rows["d"], audit.Entry{}
			for _, e := range x.entries {
				if strings.Contains(e.Detail[audit.DetailReason], "on another management cluster") {
					last = e
				}
			}
			return d.State == StateRetired && d.VIM == "" && d.UpdatedAt.Equal(x.now) &&
				last.Detail[audit.DetailOld+detailState] == "registered" && last.Detail[audit.DetailNew+detailState] == "retired"
		}},
		"another cluster that is gone and quarantined": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(c *Cluster) { c.State, c.GoneAt = StateQuarantined, x.now })
		}, want: StateRegistered, vim: "v"},
		"another cluster that is let go of": {given: func(x *world) {
			x.untied(nil)
			x.rival("d", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now })
		}, want: StateQuarantined, why: ReasonSystemTaken},

		// Who has the system.
		"another project's cluster without a VIM": {given: func(x *world) {
			x.rival("d", func(c *Cluster) { c.Project, c.VIM = "south", "" })
			x.admission.Shows = func(string) (bool, error) { return true, nil }
		}, want: StateRegistered, vim: "new", then: func(x *world) bool { return strings.Contains(x.log.String(), "which is not proven") }},
		"another project's cluster, where nothing can be shown": {given: func(x *world) {
			x.rival("d", func(c *Cluster) { c.Project = "south" })
		}, want: StateRegistered, vim: "new"},
		"another project's cluster, where showing fails": {given: func(x *world) {
			x.rival("d", func(c *Cluster) { c.Project = "south" })
			x.rival("e", func(c *Cluster) { c.Project, c.VIM = "south", "w" })
			x.admission.Shows = func(vim string) (bool, error) {
				if vim == "v" {
					return true, errDown
				}
				return false, nil
			}
		}, want: StateWaiting, why: ReasonUnavailable, then: func(x *world) bool { return strings.Contains(x.one("uid-edge").Message, "it is down") }},
		"another project's cluster, and behind it one of the project": {given: func(x *world) {
			x.rival("d", func(c *Cluster) { c.Project = "south" })
			x.rival("e", func(*Cluster) {})
		}, want: StateQuarantined, why: ReasonSystemTaken},
		"somebody who is first": {given: func(x *world) {
			x.hook = func(call string) error {
				if call == "UpdateCluster" && x.one("uid-edge").State == StateRegistering && x.one("uid-edge").System == "" {
					return &broker.Error{Kind: broker.ErrExists, Field: "system"}
				}
				return nil
			}
		}, want: StateRegistering, why: ReasonNotReady, then: func(x *world) bool { return x.vims["new"].ID == "" }},
		"a rival that has no system any more": {given: func(x *world) {
			x.row("c", func(c *Cluster) {
				waiting(c)
				c.State, c.Rival, c.Secret, c.Reason = StateQuarantined, "d", "1", ReasonSystemTaken
			})
			x.rival("d", func(c *Cluster) { c.System = "" })
		}, want: StateRegistered, vim: "new"},
		"a rival that is not there any more": {given: func(x *world) {
			x.row("c", func(c *Cluster) {
				waiting(c)
				c.State, c.Rival, c.Secret, c.Reason = StateQuarantined, "d", "1", ReasonSystemTaken
			})
		}, want: StateRegistered, vim: "new"},
		"a rival that is there": {given: func(x *world) {
			x.row("c", func(c *Cluster) {
				waiting(c)
				c.State, c.Rival, c.Secret, c.Reason = StateQuarantined, "d", "1", ReasonSystemTaken
			})
			x.rival("d", func(*Cluster) {})
		}, want: StateQuarantined, why: ReasonSystemTaken, then: func(x *world) bool { return !x.asked("Secret") }},
		"a rival, and another secret": {given: func(x *world) {
			x.row("c", func(c *Cluster) {
				waiting(c)
				c.State, c.Rival, c.Secret, c.Reason = StateQuarantined, "d", "0", ReasonSystemTaken
			})
			x.rival("d", func(c *Cluster) { c.System = "another" })
		}, want: StateRegistered, vim: "new", then: func(x *world) bool { return x.rows["c"].Rival == "" }},
		"a system of before, after a doubt": {given: func(x *world) {
			x.row("c", func(c *Cluster) { c.State, c.VIM, c.Reason = StateQuarantined, "", ReasonOtherSystem })
		}, want: StateRegistered, vim: "new", then: func(x *world) bool {
			return slices.ContainsFunc(x.entries, func(e audit.Entry) bool {
				return e.Detail[audit.DetailOld+detailState] == "quarantined" && e.Detail[audit.DetailNew+detailState] == "registering"
			})
		}},

		// What comes of a registration.
		"a registration that was begun, of a paused one": {given: func(x *world) {
			x.row("c", func(c *Cluster) { waiting(c); c.State = StateRegistering })
			x.edge(func(s *Seen) { s.Paused = true })
		}, want: StateRegistered, why: ReasonPaused, vim: "new"},
		"a registration that was begun, of one that is not ready": {given: func(x *world) {
			x.row("c", func(c *Cluster) { waiting(c); c.State = StateRegistering })
			x.edge(func(s *Seen) { s.Ready = false })
		}, want: StateRegistered, vim: "new"},
		"another project's VIM of the cluster": {given: func(x *world) {
			x.vim("v", func(v *broker.VIM) { v.Project = "south" })
			x.fails["RegisterVIM"] = broker.ErrConflict
		}, want: StateRegistering, why: ReasonUnavailable, then: func(x *world) bool { return x.one("uid-edge").Attempts == 1 }},
		"a VIM of the cluster that somebody made": {given: func(x *world) {
			x.vim("v", func(v *broker.VIM) { v.CreatedBy = "alice" })
			x.fails["RegisterVIM"] = broker.ErrConflict
		}, want: StateRegistering, why: ReasonUnavailable},
		"a label that cannot be": {given: func(x *world) { x.fails["RegisterVIM"] = broker.Invalid("labels.site", "is too long") }, want: StateWaiting, why: ReasonRefused},
		"a name that cannot be":  {given: func(x *world) { x.fails["RegisterVIM"] = broker.Invalid("name", "is too long") }, want: StateWaiting, why: ReasonRefused},
		"no more said":           {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrInvalid }, want: StateQuarantined, why: ReasonSecretInvalid},
		"refused":                {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrUnauthorized }, want: StateWaiting, why: ReasonCredentialRefused},
		"forbidden":              {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrForbidden }, want: StateWaiting, why: ReasonCredentialRefused},
		"unreachable":            {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrUnreachable }, want: StateWaiting, why: ReasonUnreachable},
		"denied":                 {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrDenied }, want: StateWaiting, why: ReasonRefused},
		"over the quota":         {given: func(x *world) { x.fails["RegisterVIM"] = broker.ErrQuota }, want: StateWaiting, why: ReasonRefused},
		"an owner of another name": {given: func(x *world) {
			got := x.secrets[key{"a", "edge"}]
			got.Owners[0].Name = "other"
		}, want: StateQuarantined, why: ReasonSecretForeign},

		// What a VIM that there is becomes.
		"a doubt that stays": {given: func(x *world) {
			x.registered()
			x.row("c", func(c *Cluster) { c.State, c.Reason = StateQuarantined, ReasonOtherSystem })
			x.edge(func(s *Seen) { s.Paused = true })
		}, want: StateQuarantined, why: ReasonOtherSystem, vim: "v", then: func(x *world) bool { return !x.asked("UpdateVIM") }},
		"one that is said to be gone": {given: func(x *world) {
			x.registered()
			x.vim("v", func(v *broker.VIM) { v.Labels[broker.LabelGone], v.Suspended = "true", suspendedGone })
		}, want: StateRegistered, vim: "v", then: func(x *world) bool {
			return x.vims["v"].Labels[broker.LabelGone] == "" && x.vims["v"].Suspended == ""
		}},
		"suspended by somebody": {given: func(x *world) {
			x.registered()
			x.vim("v", func(v *broker.VIM) { v.Suspended = "we move house" })
			x.edge(func(s *Seen) { s.Paused = true })
		}, want: StateRegistered, why: ReasonPaused, vim: "v", then: func(x *world) bool { return x.vims["v"].Suspended == "we move house" }},
		"a new credential that conflicts otherwise": {given: func(x *world) { x.renewed(&broker.Error{Kind: broker.ErrConflict, Field: "revision"}) }, want: StateRegistered, why: ReasonUnavailable, vim: "v"},
		"a new credential that fails inside":        {given: func(x *world) { x.renewed(errors.New("inside")) }, want: StateRegistered, why: ReasonUnavailable, vim: "v"},
		"a new credential that is refused":          {given: func(x *world) { x.renewed(broker.ErrUnauthorized) }, want: StateRegistered, why: ReasonCredentialRefused, vim: "v"},
		"a new credential that is forbidden":        {given: func(x *world) { x.renewed(broker.ErrForbidden) }, want: StateRegistered, why: ReasonCredentialRefused, vim: "v"},
		"a new credential of nobody":                {given: func(x *world) { x.renewed(broker.ErrUnreachable) }, want: StateRegistered, why: ReasonUnreachable, vim: "v"},
		"a secret that cannot be compared":          {given: func(x *world) { x.renewed(nil); x.sound(); x.fails["SameTarget"] = errDown }, want: StateRegistered, why: ReasonUnavailable, vim: "v"},
		"a secret that is compared as garbage": {given: func(x *world) { x.renewed(nil); x.sound(); x.fails["SameTarget"] = broker.ErrInvalid }, want: StateRegistered, vim: "v", then: func(x *world) bool {
			return x.vims["v"].Current.Number == 2
		}},
		"a secret of the same system": {given: func(x *world) { x.renewed(nil); x.sound() }, want: StateRegistered, vim: "v", then: func(x *world) bool {
			return x.rows["c"].Secret == "2" && x.vims["v"].Current.Number == 1
		}},
		"a refused account, and a secret of the same system": {given: func(x *world) {
			x.renewed(nil)
			x.vim("v", func(v *broker.VIM) { v.Health.Status = broker.HealthUnauthorized })
		}, want: StateRegistered, why: ReasonCredentialRefused, vim: "v", then: func(x *world) bool { return x.vims["v"].Current.Number == 2 }},

		// Which rows are looked at.
		"one that is being let go of, and shown again": {given: func(x *world) {
			x.registered()
			x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now })
		}, want: StateRetired, vim: "v", then: func(x *world) bool { return x.deletion == broker.Deletion{Drain: true} }},
		"one that is being let go of, of a namespace that is not watched": {given: func(x *world) {
			x.registered()
			x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now })
			x.m.Namespaces = []string{"b"}
		}, want: StateRetired, vim: "v"},
		"one that waits in a namespace that is not watched": {given: func(x *world) {
			x.row("c", waiting)
			x.m.Namespaces = []string{"b"}
		}, want: StateWaiting, why: ReasonNotFollowed},
		"one in doubt in a namespace that is not watched": {given: func(x *world) {
			x.row("c", func(c *Cluster) { c.State, c.Reason = StateQuarantined, ReasonOtherSystem })
			x.m.Namespaces = []string{"b"}
		}, want: StateQuarantined, why: ReasonOtherSystem, vim: "v"},
	}
	for name, v := range shown {
		x := newWorld(t)
		v.given(x)
		w := x.watcher()
		again, err := w.step(t.Context(), key{"a", "edge"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.holds(x, name)
		x.came(w, name, 0, again, err)
	}
	gone := map[string]verdict{
		"paused":                {given: func(x *world) { x.going(suspendedPaused) }, want: StateRegistered, why: ReasonMoving, vim: "v"},
		"deleted, though named": {given: func(x *world) { x.going(suspendedDeleting); x.rival("d", named) }, want: StateRetired, vim: "v"},
		"named elsewhere":       {given: func(x *world) { x.going(""); x.rival("d", named) }, want: StateRegistered, why: ReasonMoving, vim: "v"},
		"named elsewhere and by others": {given: func(x *world) {
			x.going("")
			x.rival("d", named)
			x.rival("e", func(c *Cluster) { named(c); c.State = StateRetired })
		}, want: StateRegistered, why: ReasonMoving, vim: "v"},
		"named by a retired one": {given: func(x *world) { x.going(""); x.rival("d", func(c *Cluster) { named(c); c.State = StateRetired }) }, want: StateRetired, vim: "v"},
		"named by a VIM":         {given: func(x *world) { x.going(""); x.rival("d", func(c *Cluster) { named(c); c.VIM = "w" }) }, want: StateRetired, vim: "v"},
		"named by its own hub":   {given: func(x *world) { x.going(""); x.rival("d", func(c *Cluster) { named(c); c.Management = "hub" }) }, want: StateRetired, vim: "v"},
		"named elsewhere, and its VIM is deleted": {given: func(x *world) {
			x.row("c", nil)
			x.rival("d", named)
		}, want: StateRegistered, why: ReasonMoving, vim: "v"},
		"its VIM is deleted": {given: func(x *world) { x.row("c", nil) }, want: StateRetired, vim: "v", then: func(x *world) bool {
			return x.rows["c"].GoneAt.Equal(x.now)
		}},
		"no VIM, and none looked for": {given: func(x *world) { x.row("c", waiting) }, want: StateRetired, then: func(x *world) bool { return !x.asked("VIMs") }},
		"paused, long ago": {given: func(x *world) {
			x.going(suspendedPaused)
			x.row("c", func(c *Cluster) { c.GoneAt = x.now.Add(-moveFor) })
		}, want: StateRetired, vim: "v"},
		"many that went ten minutes ago": {
			given: func(x *world) { x.going(""); x.went(x.now.Add(-breakerWindow)) }, want: StateRegistered, why: ReasonHeld, vim: "v",
			then: func(x *world) bool { return x.m.HeldAt.Equal(x.now) },
		},
		"many that went where nothing is watched any more": {
			given: func(x *world) {
				x.going("")
				x.went(x.now)
				x.row("d", func(c *Cluster) { c.Namespace, c.Name, c.UID, c.State = "left", "d", "d", StateRetiring })
				x.row("e", func(c *Cluster) { c.Namespace, c.Name, c.UID, c.State = "left", "e", "e", StateRetired })
			}, want: StateRegistered, why: ReasonHeld, vim: "v",
		},
		"many that were made again": {given: func(x *world) {
			x.going("")
			for _, id := range []string{"d", "e", "f"} {
				x.put("a", id)
				x.row(id, func(c *Cluster) { c.Name, c.UID = id, "before "+id })
			}
		}, want: StateRegistered, why: ReasonHeld, vim: "v"},
		"many that went before that": {given: func(x *world) { x.going(""); x.went(x.now.Add(-breakerWindow - 1)) }, want: StateRetired, vim: "v"},
		"held since before": {
			given: func(x *world) { x.going(""); x.m.HeldAt = x.now.Add(-time.Hour) }, want: StateRegistered, why: ReasonHeld, vim: "v",
			then: func(x *world) bool { return x.m.HeldAt.Before(x.now) },
		},
		"instances that end with it": {
			given: func(x *world) { x.silent(broker.NextEndUses) }, want: StateRetiring, why: ReasonDraining, vim: "v",
			then: func(x *world) bool {
				return x.vims["v"].Labels[broker.LabelGone] == "true" && x.vims["v"].Suspended == suspendedGone && x.deletion == broker.Deletion{Gone: true}
			},
		},
		"something else in the way": {
			given: func(x *world) { x.silent(broker.NextListVIMs) }, want: StateRetiring, why: ReasonDraining, vim: "v",
			then: func(x *world) bool { return x.vims["v"].Labels[broker.LabelGone] == "" },
		},
		"one that drains": {given: func(x *world) {
			x.silent(broker.NextListVIMs)
			x.vim("v", func(v *broker.VIM) { v.State = broker.VIMDraining })
			x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now.Add(time.Microsecond-silentFor) })
		}, want: StateRetiring, why: ReasonDraining, vim: "v", then: func(x *world) bool { return x.rows["c"].Attempts == 0 && !x.asked("DeleteVIM") }},
		"one that drains since long": {given: func(x *world) {
			x.silent(broker.NextListVIMs)
			x.vim("v", func(v *broker.VIM) { v.State = broker.VIMDraining })
		}, want: StateRetiring, why: ReasonDraining, vim: "v", then: func(x *world) bool { return x.rows["c"].Attempts == 1 && !x.asked("DeleteVIM") }},
		"one that does not answer, and was there a moment ago": {given: func(x *world) {
			x.vim("v", func(v *broker.VIM) { v.Health.Status = broker.HealthUnreachable })
			x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now })
		}, want: StateRetired, vim: "v", then: func(x *world) bool { return x.deletion == broker.Deletion{Drain: true} }},
		"one whose VIM follows another": {given: func(x *world) {
			x.registered()
			x.vim("v", func(v *broker.VIM) { v.Labels[broker.LabelCluster] = "uid-other" })
		}, want: StateRetired, then: func(x *world) bool { return !x.asked("DeleteVIM") }},
		"a watch that has not listed": {given: func(x *world) { x.silent(broker.NextListVIMs) }, want: StateRetiring, why: ReasonDraining, vim: "v"},
	}
	for name, v := range gone {
		x := newWorld(t)
		v.given(x)
		w := x.watcher()
		x.drop(w, "a", "edge")
		if name == "a watch that has not listed" {
			clear(w.listed)
		}
		again, err := w.step(t.Context(), key{"a", "edge"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.holds(x, name)
		x.came(w, name+", which is gone", 0, again, err)
		if c := x.rows["c"]; c.State != StateRegistered && len(w.missing) > 0 {
			t.Errorf("%s: it is still said to be missing", name)
		}
	}
}

func (v verdict) holds(x *world, name string) {
	x.t.Helper()
	c := x.one("uid-edge")
	if c.State != v.want || c.Reason != v.why || c.VIM != v.vim {
		x.t.Errorf("%s: it is %s (%s: %s) with VIM %q, want %s (%s) with %q", name, c.State, c.Reason, c.Message, c.VIM, v.want, v.why, v.vim)
	}
	if v.then != nil && !v.then(x) {
		x.t.Errorf("%s: calls %v, rows %+v, VIMs %+v, log %s", name, x.calls, x.rows, x.vims, x.log.String())
	}
}

// renewed has a registered cluster, whose VIM has no account, have another secret, whose adoption fails so.
func (x *world) renewed(err error) {
	x.registered()
	x.vim("v", func(v *broker.VIM) { v.Current.Discovered = broker.Discovered{} })
	x.secretOf(x.clusters[key{"a", "edge"}], "system-edge", "2")
	if err != nil {
		x.fails["UpdateVIM"] = err
	}
}

func (x *world) sound() { x.vim("v", nil) }

// going has a registered cluster whose VIM is suspended so.
func (x *world) going(suspended string) {
	x.registered()
	x.vim("v", func(v *broker.VIM) { v.Suspended = suspended })
}

// named is a cluster of the same name on another management cluster.
func named(c *Cluster) { c.Name, c.VIM, c.System, c.State = "edge", "", "", StateWaiting }

// went has three others of the hub be retired since then.
func (x *world) went(since time.Time) {
	for _, id := range []string{"d", "e", "f"} {
		x.row(id, func(c *Cluster) { c.Name, c.UID, c.State, c.UpdatedAt = id, id, StateRetired, since })
	}
}

// silent has a cluster be let go of whose system has not answered for long, and whose VIM is not deleted.
func (x *world) silent(next broker.Next) {
	x.vim("v", func(v *broker.VIM) { v.Health.Status = broker.HealthUnreachable })
	x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now.Add(-silentFor) })
	x.delete = func(broker.Deletion) (bool, error) {
		return false, &broker.Error{Kind: broker.ErrConflict, Detail: "it is in use", Next: next}
	}
}

// TestWhatAnAttemptThatDiedHasMadeGoesWithItsCluster: a cluster that is gone leaves no VIM behind, whatever came between.
func TestWhatAnAttemptThatDiedHasMadeGoesWithItsCluster(t *testing.T) {
	for state, goes := range map[State]bool{StateWaiting: false, StateRegistering: true, StateQuarantined: true} {
		x := newWorld(t)
		x.vim("v", nil)
		x.row("c", func(c *Cluster) { c.State, c.VIM = state, "" })
		w := x.watcher()
		x.drop(w, "a", "edge")
		if _, err := w.step(t.Context(), key{"a", "edge"}); err != nil || (x.deletion == broker.Deletion{Drain: true}) != goes {
			t.Errorf("the VIM of one that is %s is deleted so: %+v, %v, after %v", state, x.deletion, err, x.calls)
		}
	}
}

// TestAClusterIsGoneOnlyWhereItsHubSaysSo: any other answer of the management cluster leaves a VIM whose cluster is not listed.
func TestAClusterIsGoneOnlyWhereItsHubSaysSo(t *testing.T) {
	for _, kind := range []error{
		broker.ErrNotFound, broker.ErrInvalid, broker.ErrDenied, broker.ErrUnsupported, broker.ErrUnauthorized, broker.ErrForbidden,
		broker.ErrUnreachable, broker.ErrUnavailable, broker.ErrUnopenable,
	} {
		x := newWorld(t)
		x.registered()
		w := x.watcher()
		x.drop(w, "a", "edge")
		x.fails["source.Cluster"] = kind
		_, err := w.step(t.Context(), key{"a", "edge"})
		c, gone := x.rows["c"], errors.Is(kind, broker.ErrNotFound)
		if err != nil || x.asked("DeleteVIM") != gone || (c.Reason == ReasonDoubtful) != !gone {
			t.Errorf("where its hub says %v it is %s (%s), %v, after %v", kind, c.State, c.Reason, err, x.calls)
		}
	}
}

// TestOnlyASystemThatDoesNotAnswerIsGone: any other answer of a VIM whose cluster is gone has its leases revoked where they are.
func TestOnlyASystemThatDoesNotAnswerIsGone(t *testing.T) {
	for _, status := range []broker.HealthStatus{
		broker.HealthUnchecked, broker.HealthReachable, broker.HealthUnreachable, broker.HealthUnauthorized, broker.HealthIdentityChanged,
		broker.HealthUnopenable,
	} {
		x := newWorld(t)
		x.vim("v", func(v *broker.VIM) { v.Health.Status = status })
		c := x.row("c", func(c *Cluster) { c.State, c.GoneAt = StateRetiring, x.now.Add(-silentFor) })
		w := x.watcher()
		gone := status == broker.HealthUnreachable
		if _, err := w.retire(t.Context(), c); err != nil || x.deletion != (broker.Deletion{Drain: !gone, Gone: gone}) {
			t.Errorf("a VIM that is %s is deleted so: %+v, %v", status, x.deletion, err)
		}
	}
}

// TestARowOfBeforeIsNoRival: a look that remembers a cluster as it was does not take the row of now for another cluster.
func TestARowOfBeforeIsNoRival(t *testing.T) {
	x := newWorld(t)
	x.untied(nil)
	before := x.row("c", func(c *Cluster) { c.State, c.Reason = StateQuarantined, ReasonSystemTaken })
	before.VIM, before.System = "", ""
	w := x.watcher()
	if _, err := w.register(t.Context(), before, x.clusters[key{"a", "edge"}]); err != nil || x.rows["c"].State != StateRegistered || x.rows["c"].VIM != "v" {
		t.Errorf("it is %+v, %v", x.rows["c"], err)
	}
}

// TestADoubtIsRecordedOnce for each reason, version of the secret and rival.
func TestADoubtIsRecordedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		f        fault
		recorded bool
	}{
		"the same":        {fault{reason: ReasonSecretForeign, message: "new", version: "1"}, false},
		"of no version":   {fault{reason: ReasonSecretForeign, message: "new"}, false},
		"another version": {fault{reason: ReasonSecretForeign, message: "new", version: "2"}, true},
		"another rival":   {fault{reason: ReasonSecretForeign, message: "new", rival: "d"}, true},
		"another reason":  {fault{reason: ReasonSecretInvalid, message: "new"}, true},
		"another state":   {fault{reason: ReasonSecretForeign, message: "new", version: "1"}, true},
	} {
		x := newWorld(t)
		row := x.row("c", func(c *Cluster) {
			if c.State, c.Reason, c.Message = StateQuarantined, ReasonSecretForeign, "old"; name == "another state" {
				c.State = StateWaiting
			}
		})
		if err := x.watcher().quarantine(t.Context(), row, c.f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := x.rows["c"]
		if len(x.entries) > 0 != c.recorded || got.State != StateQuarantined || got.Message != "new" || got.Reason != c.f.reason || got.Rival != c.f.rival || c.f.version == "2" && got.Secret != "2" {
			t.Errorf("%s: %d entries, and it is %+v", name, len(x.entries), got)
		}
	}
	var e takenError
	if said := e.text(""); !strings.Contains(said, "another cluster's VIM") {
		t.Errorf("of a cluster that is not known it is said: %s", said)
	}
}

// TestAChangedVIMHasItsClusterLookedAt, by whichever server changed or checked it.
func TestAChangedVIMHasItsClusterLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*broker.VIM)
		looked bool
	}{
		"nothing":          {func(*broker.VIM) {}, false},
		"its revision":     {func(v *broker.VIM) { v.Revision++ }, true},
		"its status":       {func(v *broker.VIM) { v.Health.Status = broker.HealthUnreachable }, true},
		"whether it mints": {func(v *broker.VIM) { v.Health.CanMint = false }, true},
	} {
		x := newWorld(t)
		x.registered()
		w := x.watcher()
		w.queue = newQueue(x.clock)
		x.vim("v", c.change)
		if err := w.refresh(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, looked := w.queue.due[key{"a", "edge"}]; looked != c.looked || len(w.queue.due) > 1 {
			t.Errorf("%s: due are %v", name, w.queue.due)
		}
	}
}

// TestAClusterIsToldOfTheVIMAsItsChangeFoundIt, whose check may have been another server's.
func TestAClusterIsToldOfTheVIMAsItsChangeFoundIt(t *testing.T) {
	x := newWorld(t)
	x.registered()
	x.vim("v", func(v *broker.VIM) { v.Suspended = suspendedPaused })
	w := x.watcher()
	x.hook = func(call string) error {
		if v := x.vims["v"]; call == "UpdateVIM" {
			v.Health = broker.Health{Status: broker.HealthUnreachable, Message: "it is silent"}
			x.vims["v"] = v
		}
		return nil
	}
	if _, err := w.step(t.Context(), key{"a", "edge"}); err != nil {
		t.Fatal(err)
	}
	if c := x.rows["c"]; !x.asked("UpdateVIM") || c.Reason != ReasonUnreachable || c.Message != "it is silent" {
		t.Errorf("calls %v, and it is %+v", x.calls, c)
	}
}

// TestANoteIsStoredOnce, unless there was a failure or its text is another.
func TestANoteIsStoredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Cluster)
		stored bool
	}{
		"the same":           {func(*Cluster) {}, false},
		"another text":       {func(c *Cluster) { c.Message = "old" }, true},
		"after a failure":    {func(c *Cluster) { c.Attempts = 1 }, true},
		"for another reason": {func(c *Cluster) { c.Reason = ReasonPaused }, true},
	} {
		x := newWorld(t)
		row := x.row("c", func(row *Cluster) {
			row.Reason, row.Message = ReasonDraining, "text"
			c.change(row)
		})
		w := x.watcher()
		if err := w.note(t.Context(), row, ReasonDraining, "text"); err != nil || x.asked("DeferCluster") != c.stored {
			t.Errorf("%s: calls %v, %v", name, x.calls, err)
		}
		if got := x.rows["c"]; got.Reason != ReasonDraining || got.Message != "text" || got.Attempts != 0 {
			t.Errorf("%s: it is %+v", name, got)
		}
	}
}

// TestALookThatAnotherWorkerHasTakenOver says nothing, and is not taken up again; one that fails is both.
func TestALookThatAnotherWorkerHasTakenOver(t *testing.T) {
	for err, again := range map[error]bool{job.ErrFenced: false, errDown: true} {
		x := newWorld(t)
		x.row("c", waiting)
		x.fails["Cluster"] = err
		w := x.watcher()
		wait := w.look(t.Context(), key{"a", "edge"})
		if (wait > 0) != again || strings.Contains(x.log.String(), "cannot be followed now") != again {
			t.Errorf("after %v it waits %s and says %q", err, wait, x.log.String())
		}
	}
}

// TestAnEndedLookSaysNothing of what fails because of that.
func TestAnEndedLookSaysNothing(t *testing.T) {
	x := newWorld(t)
	x.row("c", waiting)
	w := x.watcher()
	ctx, cancel := context.WithCancel(t.Context())
	x.fails["Cluster"] = context.Canceled
	cancel()
	if wait := w.look(ctx, key{"a", "edge"}); wait != 0 || x.log.Len() > 0 {
		t.Errorf("it waits %s and says %q", wait, x.log.String())
	}
}

// TestOtherLabelsOfANamespace have its clusters looked at, and no others.
func TestOtherLabelsOfANamespace(t *testing.T) {
	x := newWorld(t)
	x.m.Namespaces, x.m.NamespaceSelector = []string{AllNamespaces}, map[string]string{"k": "v"}
	x.put("b", "same")
	x.put("c", "seen")
	x.row("c", func(c *Cluster) { c.Name, c.UID = "rowed", "rowed" })
	x.row("d", func(c *Cluster) { c.Namespace, c.Name, c.UID = "b", "kept", "kept" })
	w := x.watcher()
	w.selected = map[string]bool{"b": true}
	w.queue = newQueue(x.clock)
	x.labels = map[string]map[string]string{"a": {"k": "v"}, "b": {"k": "v"}, "c": {"k": "w"}, "d": {"k": "v"}}
	if err := w.selectNamespaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(w.queue.due) != 2 || w.queue.due[key{"a", "edge"}].IsZero() || w.queue.due[key{"a", "rowed"}].IsZero() {
		t.Errorf("those that are looked at are %v", w.queue.due)
	}
}

// TestTheNextLookIsTheFirstThatIsDue of all rows of a name.
func TestTheNextLookIsTheFirstThatIsDue(t *testing.T) {
	x := newWorld(t)
	x.clusters = map[key]Seen{}
	for n := range 9 {
		x.row(fmt.Sprint(n), func(c *Cluster) {
			c.State, c.UID, c.UpdatedAt = StateRetired, fmt.Sprint(n), x.now.Add(time.Duration(n-4)*time.Hour)
		})
	}
	if again, err := x.watcher().step(t.Context(), key{"a", "edge"}); err != nil || again != KeepRetired-4*time.Hour {
		t.Errorf("it is looked at again after %s, %v", again, err)
	}
}

// TestNoClusterIsAddedWhere a row is not removed, or as many are followed as can be.
func TestNoClusterIsAddedWhere(t *testing.T) {
	x := newWorld(t)
	x.row("c", func(c *Cluster) { c.State = StateRetired })
	x.fails["ForgetCluster"] = errDown
	w := x.watcher()
	if _, err := w.step(t.Context(), key{"a", "edge"}); !errors.Is(err, errDown) || x.asked("AddCluster") {
		t.Errorf("a row that is not removed: %v, calls %v", err, x.calls)
	}
	x = newWorld(t)
	w = x.watcher()
	all := make(map[string]Cluster, maxClusters)
	for n := range maxClusters {
		all[fmt.Sprint(n)] = Cluster{}
	}
	w.rows[key{"b", "many"}] = all
	if _, err := w.step(t.Context(), key{"a", "edge"}); err != nil || x.asked("AddCluster") || !strings.Contains(w.troubled(), "more clusters than are followed") {
		t.Errorf("one more than can be: %v, calls %v, trouble %q", err, x.calls, w.troubled())
	}
	delete(all, "0")
	if _, err := w.step(t.Context(), key{"a", "edge"}); err != nil || !x.asked("AddCluster") {
		t.Errorf("the last one: %v, calls %v", err, x.calls)
	}
	// The write took effect, and its row is gone again.
	x = newWorld(t)
	x.fails["AddCluster"] = broker.ErrExists
	if _, err := x.watcher().step(t.Context(), key{"a", "edge"}); !errors.Is(err, broker.ErrExists) {
		t.Errorf("a row that is and is not there: %v", err)
	}
}

// TestASecretThatIsReadAsItWas is not adopted again.
func TestASecretThatIsReadAsItWas(t *testing.T) {
	x := newWorld(t)
	x.registered()
	v := x.vim("v", func(v *broker.VIM) { v.Health.CanMint = false })
	w := x.watcher()
	w.versions[key{"a", "edge"}] = "2"
	w.reread["c"] = v.Health.CheckedAt
	if _, _, err := w.rotate(t.Context(), x.rows["c"], x.clusters[key{"a", "edge"}], &v); err != nil || x.asked("UpdateVIM") || !x.asked("Secret") {
		t.Errorf("calls %v, %v", x.calls, err)
	}
	refused := func(account string) (*world, broker.VIM) {
		x := newWorld(t)
		x.m.Account = AccountNone
		x.registered()
		return x, x.vim("v", func(v *broker.VIM) {
			v.Current.Discovered.Cluster.Profile = account
			v.Health.Status, v.Health.CheckedAt = broker.HealthUnauthorized, x.now
		})
	}
	for account, again := range map[string]bool{AccountEngine: true, "": false} { // a lost account is made again, of the same secret
		x, v := refused(account)
		w := x.watcher()
		if _, _, err := w.rotate(t.Context(), x.rows["c"], x.clusters[key{"a", "edge"}], &v); err != nil || x.asked("UpdateVIM") != again || !x.asked("Secret") {
			t.Errorf("of account %q that is refused: calls %v, %v", account, x.calls, err)
		}
	}
	for _, c := range []struct {
		call  string
		fails error
		again bool
	}{
		{"UpdateVIM", broker.ErrUnreachable, true},
		{"UpdateVIM", broker.ErrUnauthorized, false},
		{"UpdateVIM", nil, false},
		{"Secret", broker.ErrUnreachable, true},
		{"Secret", broker.ErrNotFound, false},
	} {
		x, v := refused(AccountEngine)
		w := x.watcher()
		w.versions[key{"a", "edge"}] = x.rows["c"].Secret
		if c.fails != nil {
			x.fails[c.call] = c.fails
		}
		_, _, _ = w.rotate(t.Context(), x.rows["c"], x.clusters[key{"a", "edge"}], &v)
		asked := len(x.calls)
		_, _, _ = w.rotate(t.Context(), x.rows["c"], x.clusters[key{"a", "edge"}], &v)
		if again := len(x.calls) > asked; again != c.again {
			t.Errorf("after %s = %v the same check has it tried again: %v, want %v; calls %v", c.call, c.fails, again, c.again, x.calls)
		}
	}
}

// TestWhatAVIMHasLost and whether it is sound is said by its check, and by its account.
func TestWhatAVIMHasLost(t *testing.T) {
	for _, c := range []struct {
		status           broker.HealthStatus
		mints, account   bool
		refused, isSound bool
	}{
		{broker.HealthReachable, true, true, false, true},
		{broker.HealthReachable, true, false, false, false},
		{broker.HealthReachable, false, true, true, false},
		{broker.HealthReachable, false, false, false, false},
		{broker.HealthUnreachable, true, true, false, false},
		{broker.HealthUnreachable, false, true, false, false},
		{broker.HealthUnauthorized, true, true, true, false},
		{broker.HealthUnauthorized, false, false, true, false},
	} {
		x := newWorld(t)
		v := x.vim("v", func(v *broker.VIM) {
			if v.Health = (broker.Health{Status: c.status, CanMint: c.mints}); !c.account {
				v.Current.Discovered = broker.Discovered{}
			}
		})
		refused, account := lost(v)
		if is := x.watcher().sound(v); refused != c.refused || account != c.account || is != c.isSound {
			t.Errorf("%+v: refused %t, account %t, sound %t", c, refused, account, is)
		}
	}
}

// TestACallerIsToldNoMoreThanThereIs, and each limit of a push holds.
func TestACallerIsToldNoMoreThanThereIs(t *testing.T) {
	x := newWorld(t)
	x.registered()
	x.row("c", func(c *Cluster) { c.Rival = "none" })
	o := x.onboarding()
	if v, err := o.Cluster(t.Context(), boss, "c"); err != nil || v.VIMName != "a.edge" || len(v.SameSystem) != 0 {
		t.Errorf("Cluster() = %+v, %v", v, err)
	}
	x.rival("d", func(c *Cluster) { c.Project = "south" })
	x.deny = func(r policy.Request) bool { return r.Resource.Project == "south" }
	if v, err := o.Cluster(t.Context(), boss, "c"); err != nil || len(v.SameSystem) != 0 {
		t.Errorf("who may not see the other project sees %+v, %v", v.SameSystem, err)
	}
	if all, _, err := o.Clusters(t.Context(), boss, ClusterQuery{}); err != nil || len(all) != 1 || all[0].ID != "c" {
		t.Errorf("Clusters() = %+v, %v", all, err)
	}
	delete(x.vims, "v")
	if v, err := o.Cluster(t.Context(), boss, "c"); err != nil || v.VIMName != "" || v.ID != "c" {
		t.Errorf("Cluster() whose VIM is gone = %+v, %v", v, err)
	}
	x.deny = func(r policy.Request) bool { return r.Resource.Project == "" }
	x.fails["Cluster"] = errDown
	if _, err := o.Cluster(t.Context(), boss, "c"); !errors.Is(err, errDown) {
		t.Errorf("Cluster() that cannot be read = %v", err)
	}
	delete(x.fails, "Cluster")
	x.fails["append"] = errDown
	if _, err := o.Cluster(t.Context(), boss, "none"); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("a look that cannot be recorded = %v", err)
	}
	x.deny = nil
	delete(x.fails, "append")
	c, err := o.Count(t.Context())
	if err != nil || len(c.Each) != 1 || c.Each[0].VIM != "hub" || c.Managements != 2 {
		t.Errorf("Count() = %+v, %v", c, err)
	}
	x.m = Management{}
	for what, err := range map[string]error{
		"Release":    func() error { _, err := o.Release(t.Context(), boss, "hub"); return err }(),
		"Management": func() error { _, err := o.Management(t.Context(), boss, "hub"); return err }(),
	} {
		if known, is := errors.AsType[*broker.Error](err); !is || !errors.Is(err, broker.ErrNotFound) || known.Remedy != "enable it as one first" {
			t.Errorf("%s() of a VIM that is none = %v", what, err)
		}
	}
}

// A VIM that nobody has shown yet is read once, and one that is gone is told of once.
func TestAVIMIsReadOnce(t *testing.T) {
	x := newWorld(t)
	x.registered()
	w := x.watcher()
	clear(w.vims)
	read := func() (n int) {
		for _, call := range x.calls {
			if call == "VIM" {
				n++
			}
		}
		return n
	}
	before := read()
	for range 2 {
		if err := stepped(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if n := read() - before; n != 1 {
		t.Errorf("it is read %d times: %q", n, x.calls)
	}
	x = newWorld(t)
	x.vim("v", nil)
	x.row("c", func(c *Cluster) { c.State, c.VIM = StateRegistering, "" })
	w = x.watcher()
	clear(w.vims)
	x.drop(w, "a", "edge")
	if err := stepped(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.entries, func(e audit.Entry) bool { return e.Detail[detailVIMName] == "a.edge" }) {
		t.Errorf("no entry names the VIM that an attempt that died made: %v", x.entries)
	}
	w.former["gone"] = broker.VIM{Name: "edge"}
	if first, then := w.wasVIM("gone"), w.wasVIM("gone"); first.Name != "edge" || then.Name != "" {
		t.Errorf("a VIM that is gone was %q, and is kept as %q", first.Name, then.Name)
	}
}

// TestLookingAtTheQueue counts what is due and not being looked at.
func TestLookingAtTheQueue(t *testing.T) {
	x := newWorld(t)
	w := x.watcher()
	w.queue = newQueue(x.clock)
	for name, after := range map[string]time.Duration{"past": -time.Second, "now": 0, "later": 1, "taken": -time.Second} {
		w.queue.add(key{"a", name}, after)
	}
	w.queue.working[key{"a", "taken"}] = true
	end := w.Onboarding.follows("hub", w)
	if queue, _ := w.depth("hub"); queue != 2 {
		t.Errorf("%d are due, want those of the past and of now", queue)
	}
	if c, err := w.Count(t.Context()); err != nil || c.Each[0].Queue != 2 {
		t.Errorf("Count() = %+v, %v", c, err)
	}
	end()
	if queue, _ := w.depth("hub"); queue != 0 {
		t.Errorf("a watch that has ended has %d due", queue)
	}
}

func TestTheBoundsOfAPush(t *testing.T) {
	for ttl, fine := range map[time.Duration]bool{
		time.Minute - 1: false, time.Minute: true, maxPushTTL: true, maxPushTTL + 1: false,
	} {
		x := newWorld(t)
		x.registered()
		_, until, err := x.onboarding().IssuePushToken(t.Context(), boss, "c", ttl)
		known, _ := errors.AsType[*broker.Error](err)
		if fine && (err != nil || !until.Equal(x.now.Add(ttl))) || !fine && (known == nil || known.Field != "ttl") {
			t.Errorf("a token for %s: until %s, %v", ttl, until, err)
		}
	}
	for _, state := range []State{StateRetiring, StateRetired} {
		x := newWorld(t)
		x.row("c", func(c *Cluster) { c.State = state })
		if _, _, err := x.onboarding().IssuePushToken(t.Context(), boss, "c", 0); !errors.Is(err, errGone) {
			t.Errorf("a token for one that is %s: %v", state, err)
		}
	}
	for _, token := range []string{pushToken + clusterID, clusterID + "_x", pushToken + "c_x"} {
		x := newWorld(t)
		pushing(x)
		x.row(clusterID, func(c *Cluster) { c.PushToken = hashOf(token) })
		x.row("c", func(c *Cluster) { c.PushToken = hashOf(token) })
		if who, err := x.onboarding().Pusher(t.Context(), token); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("the token %s is that of %+v, %v", token, who, err)
		}
	}
	x := newWorld(t)
	pushing(x)
	for size, fine := range map[int]bool{MaxKubeconfig: true, MaxKubeconfig + 1: false} {
		in := Pushed{Management: "hub", Namespace: "a", UID: "uid-edge", Kubeconfig: secret.NewText(strings.Repeat("x", size))}
		if err := x.onboarding().mayPush(x.rows[clusterID], x.vims["hub"], in); (err == nil) != fine {
			t.Errorf("a kubeconfig of %d bytes: %v", size, err)
		}
	}
}

// TestWhatUsesATokenUp: a push after which the cluster is registered with what was pushed, and none other.
func TestWhatUsesATokenUp(t *testing.T) {
	x := newWorld(t)
	pushing(x)
	x.vim("v", nil)
	x.row(clusterID, func(c *Cluster) { c.PushExpiresAt = x.now.Add(time.Minute) })
	x.fails["UpdateVIM"] = errDown
	if err := pushes(t.Context(), x.watcher()); err != nil || !x.rows[clusterID].PushedAt.IsZero() || x.rows[clusterID].Secret != "1" {
		t.Errorf("a push that is not adopted: %v, and the row is %+v", err, x.rows[clusterID])
	}
	if last := x.entries[len(x.entries)-1]; last.Outcome != audit.Failed {
		t.Errorf("the last entry is %+v", last)
	}
	// A VIM that somebody deletes meanwhile has no name in the answer.
	x = newWorld(t)
	pushing(x)
	x.hook = func(call string) error {
		if call == "VIM" && !x.rows[clusterID].PushedAt.IsZero() {
			delete(x.vims, "new")
		}
		return nil
	}
	v, err := x.onboarding().Push(t.Context(), policy.Principal{Name: pushPrincipal + clusterID}, Pushed{
		Management: "hub", Namespace: "a", UID: "uid-edge", Kubeconfig: secret.NewText("system-edge"),
	})
	if err != nil || v.State != StateRegistered || v.VIMName != "" {
		t.Errorf("Push() = %+v, %v", v, err)
	}
}

// TestWhatEndsAWatch: other settings, namespaces or control planes do, each in its time, and a failure is noted.
func TestWhatEndsAWatch(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*world, *watcher)
		want  error
	}{
		"nothing":                        {func(*world, *watcher) {}, nil},
		"other settings":                 {func(x *world, _ *watcher) { x.m.Revision++ }, errChanged},
		"no settings":                    {func(x *world, _ *watcher) { x.m = Management{} }, errChanged},
		"a namespace that was missing":   {func(x *world, w *watcher) { w.absent["b"], w.noticed = true, x.now.Add(-absentEvery) }, errChanged},
		"one that was missing just now":  {func(x *world, w *watcher) { w.absent["b"], w.noticed = true, x.now.Add(1-absentEvery) }, nil},
		"a control plane that is served": {func(_ *world, w *watcher) { w.wanted, w.planes = true, nil }, errChanged},
		"one that cannot be asked for": {func(x *world, w *watcher) {
			w.wanted, w.planes, x.fails["WeighLease"] = true, []string{"some.other"}, errDown
		}, nil},
	} {
		x := newWorld(t)
		w := x.watcher()
		c.given(x, w)
		if err := w.refresh(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	x := newWorld(t)
	x.fails["IssueLease"], x.fails["NoteManagement"] = errDown, errNone
	if err := x.onboarding().follow(t.Context(), "hub"); !errors.Is(err, errDown) || !errors.Is(err, errNone) {
		t.Errorf("a watch that does not begin, which cannot be noted: %v", err)
	}
	x = newWorld(t)
	x.m = Management{}
	delete(x.vims, "hub")
	if err := x.onboarding().follow(t.Context(), "hub"); err != nil {
		t.Errorf("a management cluster that is none any more: %v", err)
	}
}

// TestTheLastNamespaceIsNotLeftOut of a lease, and none twice.
func TestTheLastNamespaceIsNotLeftOut(t *testing.T) {
	x := newWorld(t)
	x.m.Namespaces = []string{"a", "b", "c"}
	w := x.watcher()
	for _, c := range []struct {
		namespace string
		want      bool
	}{{"a", true}, {"a", false}, {"b", true}, {"c", false}} {
		if got := w.leaveOut(c.namespace); got != c.want {
			t.Errorf("%s is left out: %t", c.namespace, got)
		}
	}
	if got := w.namespaces(); !slices.Equal(got, []string{"c"}) || !w.noticed.Equal(x.now) {
		t.Errorf("those that are watched are %v", got)
	}
	for namespaces, fine := range map[string]bool{"a": false, "a b": true} {
		x := newWorld(t)
		x.m.Namespaces = strings.Fields(namespaces)
		lacks := true
		x.hook = func(call string) error {
			if call == "IssueLease" && lacks {
				lacks = false
				return &broker.Error{Kind: broker.ErrNotFound, Cause: &broker.MissingNamespace{Name: "a"}}
			}
			return nil
		}
		_, err := x.watcher().lease(t.Context())
		if (err == nil) != fine || fine && !slices.Equal(x.leases[1].Namespaces, []string{"b"}) || !fine && len(x.leases) != 1 {
			t.Errorf("a lease of %s where a is missing: %v, asked for %+v", namespaces, err, x.leases)
		}
	}
}

// TestALeaseThatIsNotRenewed as the watch ends is not replaced.
func TestALeaseThatIsNotRenewed(t *testing.T) {
	x := newWorld(t)
	w := x.watcher()
	fires := make(chan time.Time, 1)
	fires <- x.now
	w.After = func(time.Duration) <-chan time.Time { return fires }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x.hook = func(call string) error {
		if call == "RenewLease" {
			cancel()
			return errDown
		}
		return nil
	}
	if err := w.keepLease(ctx, broker.Lease{ID: "l"}); !errors.Is(err, context.Canceled) || x.asked("IssueLease") {
		t.Errorf("it ends with %v, calls %v", err, x.calls)
	}
}

// TestAWatchOfANamespaceIsBegunAgain, after longer and longer, and soon where it had lasted.
func TestAWatchOfANamespaceIsBegunAgain(t *testing.T) {
	x := newWorld(t)
	w := x.watcher()
	lasts := []time.Duration{0, watchAgain, watchAgain + time.Microsecond, 0}
	x.hook = func(call string) error {
		if call == "Watch" {
			x.now = x.now.Add(lasts[0])
			lasts = lasts[1:]
			return errDown
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waits []time.Duration
	w.After = func(wait time.Duration) <-chan time.Time {
		if waits = append(waits, wait); len(lasts) == 0 {
			cancel()
			return nil
		}
		fires := make(chan time.Time, 1)
		fires <- x.now
		return fires
	}
	if err := w.watchNamespace(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	for i, most := range []time.Duration{time.Second, 2 * time.Second, time.Second, 2 * time.Second} {
		if waits[i] > most || waits[i] < most*3/4 {
			t.Errorf("the waits are %v", waits)
		}
	}
	if said := w.troubles["a"]; said != errDown.Detail {
		t.Errorf("the trouble is %q", said)
	}
}

// TestAWatchThatLastedSoLong has come further, and one that lasted just as long has not.
func TestAWatchThatLastedSoLong(t *testing.T) {
	for lasted, further := range map[time.Duration]bool{watchAgain: false, watchAgain + time.Millisecond: true} {
		synctest.Test(t, func(t *testing.T) {
			x := newWorld(t)
			x.clusters, x.secrets = map[key]Seen{}, map[key]ClusterSecret{}
			o := x.onboarding()
			o.Now = time.Now
			o.After = func(wait time.Duration) <-chan time.Time {
				if wait == leaseTTL/3 {
					return time.After(lasted)
				}
				return time.After(wait)
			}
			x.fails["RenewLease"] = errDown
			issued := 0
			x.hook = func(call string) error {
				if call == "IssueLease" {
					if issued++; issued == 2 {
						return errDown
					}
				}
				return nil
			}
			if err := o.follow(t.Context(), "hub"); !errors.Is(err, errDown) || job.HasProgressed(err) != further {
				t.Errorf("after %s it ends with %v, further: %t", lasted, err, !further)
			}
		})
	}
}

// TestTroublesAreNamed by their namespaces, three at most.
func TestTroublesAreNamed(t *testing.T) {
	w := newWorld(t).watcher()
	w.trouble("a", "x")
	w.trouble("", "y")
	w.trouble(troubleSelecting, "z")
	if said := w.troubled(); said != "y; z; namespace a: x" {
		t.Errorf("the trouble is %q", said)
	}
	w.trouble("b", "x")
	if said := w.troubled(); said != "y; z; namespace a: x; 1 more namespaces" {
		t.Errorf("the trouble is %q", said)
	}
}

// TestHowManySecretsAreKeptInMind: half of the room is for clusters that are known.
func TestHowManySecretsAreKeptInMind(t *testing.T) {
	x := newWorld(t)
	w := x.watcher()
	mine, other, kept := key{"a", "edge"}, key{"b", "other"}, key{"b", "0"}
	clear(w.versions)
	for n := 0; n < 2*maxSeen; n++ {
		for k, room := range map[key]bool{mine: true, other: n < maxSeen} {
			if n >= maxSeen-1 && n < maxSeen+2 && w.hasRoom(k) != room {
				t.Errorf("beside %d secrets that of %s is kept in mind: %t", n, k.name, !room)
			}
		}
		w.versions[key{"b", fmt.Sprint(n)}] = "1"
	}
	if w.hasRoom(mine) || w.hasRoom(other) || !w.hasRoom(kept) {
		t.Error("there is room beyond the bound, or none for what is kept")
	}
	w.sawSecrets("a", []SecretVersion{{Namespace: "a", Name: w.m.secretName("edge"), Cluster: "edge", Version: "1"}})
	if len(w.versions) != 2*maxSeen {
		t.Errorf("%d versions are kept", len(w.versions))
	}
}

// TestWhichSecretsHaveTheirClustersLookedAt: those that are new, changed or gone, of the namespace that is shown, and at first
// clusters without one.
func TestWhichSecretsHaveTheirClustersLookedAt(t *testing.T) {
	x := newWorld(t)
	w := x.watcher()
	w.queue = newQueue(x.clock)
	clear(w.versions)
	w.versions[key{"a", "same"}], w.versions[key{"a", "changed"}], w.versions[key{"a", "gone"}], w.versions[key{"b", "other"}] = "1", "1", "1", "1"
	shows := func(name, version string) SecretVersion {
		return SecretVersion{Namespace: "a", Name: w.m.secretName(name), Cluster: name, Version: version}
	}
	due := func() (all []string) {
		for k := range w.queue.due {
			all = append(all, k.namespace+"/"+k.name)
		}
		clear(w.queue.due)
		slices.Sort(all)
		return all
	}
	list := []SecretVersion{shows("same", "1"), shows("changed", "2"), shows("new", "1"), {Namespace: "a", Name: "another", Cluster: "edge", Version: "1"}}
	w.sawSecrets("a", list)
	if got := due(); !slices.Equal(got, []string{"a/changed", "a/gone", "a/new"}) {
		t.Errorf("those that are looked at are %v", got)
	}
	w.told["a"] = false
	w.sawSecrets("a", list)
	if got := due(); !slices.Equal(got, []string{"a/edge"}) {
		t.Errorf("at first they are %v", got)
	}
	w.sawSecrets("a", list)
	if got := due(); len(got) > 0 {
		t.Errorf("without a change they are %v", got)
	}
}

// TestWhichClustersAListHasLookedAt: those that it shows, and those with a row that it shows no more, of the namespace alone.
func TestWhichClustersAListHasLookedAt(t *testing.T) {
	x := newWorld(t)
	for id, at := range map[string]key{"c": {"a", "edge"}, "d": {"a", "gone"}, "e": {"b", "other"}} {
		x.row(id, func(c *Cluster) { c.Namespace, c.Name, c.UID = at.namespace, at.name, at.name })
	}
	w := x.watcher()
	w.seen[key{"a", "unborn"}], w.seen[key{"b", "kept"}] = Seen{}, Seen{}
	w.queue = newQueue(x.clock)
	w.sawClusters("a", []Seen{{Namespace: "a", Name: "new"}})
	var due, seen []string
	for k := range w.queue.due {
		due = append(due, k.namespace+"/"+k.name)
	}
	for k := range w.seen {
		seen = append(seen, k.namespace+"/"+k.name)
	}
	slices.Sort(due)
	slices.Sort(seen)
	if !slices.Equal(due, []string{"a/edge", "a/gone", "a/new"}) || !slices.Equal(seen, []string{"a/new", "b/kept"}) {
		t.Errorf("%v are looked at, and %v are kept in mind", due, seen)
	}
}

// TestRowsThatAreLeft are looked at where they are to go, and are said not to be followed otherwise.
func TestRowsThatAreLeft(t *testing.T) {
	x := newWorld(t)
	x.row("c", func(c *Cluster) { c.State = StateRetiring })
	x.row("d", func(c *Cluster) { c.Name, c.UID = "other", "other" })
	x.clusters, x.secrets = map[key]Seen{}, map[key]ClusterSecret{}
	x.m.Namespaces = []string{"b"}
	w := x.watcher()
	w.queue = newQueue(x.clock)
	if err := w.leaveRows(t.Context()); err != nil || x.rows["d"].Reason != ReasonNotFollowed || x.rows["c"].Reason != "" {
		t.Errorf("the rows are %+v, %v", x.rows, err)
	}
	if _, due := w.queue.due[key{"a", "edge"}]; !due || len(w.queue.due) != 1 {
		t.Errorf("those that are due are %v", w.queue.due)
	}
}
