package broker_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/faults"
	"github.com/vimbroker/vimbroker/test/field"
)

var standingBenches = faults.Kit[*standingBench]{
	New: func(t *testing.T) *standingBench { return newStandingBench(t, benchOptions{}) },
	Copies: func(b *standingBench) func(t *testing.T) *standingBench {
		next := b.copies()
		return func(t *testing.T) *standingBench {
			c := *b
			c.bench = next(t)
			return &c
		}
	},
	World: func(b *standingBench) faults.World { return b.world() },
}

// stood is a standing lease with its secret: LOGIN SECRET.
func (b *standingBench) stood() string {
	b.plain = secret.Text{}
	l, plain := b.mustStand()
	b.plain = plain
	return l.ID
}

type standing = faults.Flow[*standingBench]

func TestSweepStandingLeases(t *testing.T) {
	issue := func(b *standingBench, _ string) (any, error) {
		l, config, err := b.IssueLease(b.t.Context(), vnfm, standingRequest())
		if err == nil {
			b.plain = config.Credential.LeaseSecret
		}
		return l, err
	}
	mints := func(b *standingBench, _ string) any {
		all, _, err := b.Leases(b.t.Context(), root, broker.LeaseQuery{State: broker.LeaseActive})
		if err != nil || len(all) != 1 {
			return []any{len(all), err}
		}
		_, token, err := b.mint(all[0].Login, b.plain)
		return []any{token.Empty(), err}
	}
	mint := func(b *standingBench, login string) (any, error) {
		l, token, err := b.mint(login, b.plain)
		return []any{l, token.Empty()}, err
	}
	faults.Sweep(t, standingBenches,
		standing{Name: "issue", Leaves: leftOver, Do: issue, Then: mints},
		standing{Name: "issue again", Leaves: `^entry: done lease:issue `, Given: (*standingBench).stood, Do: issue, Then: mints},
		standing{Name: "mint", Leaves: `^entry: done lease:mint `, Given: (*standingBench).stood, Do: mint},
		standing{Name: "mint in the place of one that ended", Leaves: leftOver + `|^entry: done lease:`, Given: func(b *standingBench) string {
			id := b.stood()
			b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
			b.mustReap()
			return id
		}, Do: mint},
		standing{Name: "renew", Leaves: `^entry: done lease:mint `, Given: (*standingBench).stood, Do: func(b *standingBench, id string) (any, error) {
			l, config, err := b.RenewLease(b.t.Context(), vnfm, id, 0)
			return []any{l, config}, err
		}},
		standing{
			Name: "end its secrets", GoesOn: true, Meanwhile: later, Leaves: `^entry: done lease:revoke `, Given: (*standingBench).stood,
			Do: func(b *standingBench, _ string) (any, error) {
				return b.RevokeLeases(b.t.Context(), root, broker.LeaseSelector{Principal: vnfm.Name, NewSecret: true})
			},
		},
	)
}

var clouds = faults.Kit[*cloudBench]{
	New: func(t *testing.T) *cloudBench { return newUserBench(t) },
	World: func(b *cloudBench) faults.World {
		w := b.world()
		w.Objects = func() (all []string) {
			for _, u := range b.cloud.Users("lease-") {
				all = append(all, u.Name)
			}
			return all
		}
		return w
	},
}

func TestFieldSweepUsers(t *testing.T) {
	field.Only(t)
	issue := func(b *cloudBench, _ string) (any, error) {
		l, config, err := b.IssueLease(b.t.Context(), root, aUser)
		return []any{l, config}, err
	}
	issued := func(b *cloudBench) string {
		l, _, err := b.IssueLease(b.t.Context(), root, aUser)
		b.must(err)
		return l.ID
	}
	faults.Sweep(t, clouds,
		faults.Flow[*cloudBench]{Name: "issue", Leaves: leftOver, Do: issue},
		faults.Flow[*cloudBench]{Name: "issue again", Leaves: `^entry: done lease:issue `, Given: issued, Do: issue},
		faults.Flow[*cloudBench]{Name: "renew", Leaves: `^entry: done lease:renew `, Given: issued, Do: func(b *cloudBench, id string) (any, error) {
			l, config, err := b.RenewLease(b.t.Context(), root, id, 0)
			return []any{l, config}, err
		}},
	)
}

var pushes = faults.Kit[*pushing]{
	New: newPushing,
	Copies: func(b *pushing) func(t *testing.T) *pushing {
		next := standingBenches.Copies(b.standingBench)
		return func(t *testing.T) *pushing {
			c := *b
			c.standingBench = next(t)
			return &c
		}
	},
	World: func(b *pushing) faults.World {
		w := b.world()
		w.Objects = func() []string { return slices.Concat(b.ours(), b.kube.Names("secrets", "default")) }
		return w
	},
}

func TestSweepPushes(t *testing.T) {
	push := func(b *pushing, id string) (any, error) {
		l, at, err := b.PushLease(b.t.Context(), root, id, "argocd", "of-it")
		return []any{l, at.Name, at.Namespace}, err
	}
	pushed := func(b *pushing) string {
		id := b.stood()
		_, err := push(b, id)
		b.must(err)
		return id
	}
	keep := func(b *pushing, _ string) (any, error) { return nil, b.KeepPushed(b.t.Context()) }
	faults.Sweep(t, pushes,
		faults.Flow[*pushing]{Name: "push", Leaves: `^entry: done lease:push `, Given: func(b *pushing) string { return b.stood() }, Do: push},
		faults.Flow[*pushing]{Name: "keep what was changed", GoesOn: true, Leaves: `^entry: `, Given: func(b *pushing) string {
			id := pushed(b)
			s := b.secret("of-it")
			s.Data["server"] = []byte("https://elsewhere")
			_, err := b.secrets.CoreV1().Secrets("default").Update(b.t.Context(), s, metav1.UpdateOptions{})
			b.must(err)
			return id
		}, Do: keep, Then: func(b *pushing, _ string) any { return string(b.secret("of-it").Data["server"]) }},
		faults.Flow[*pushing]{Name: "remove what is cut off", GoesOn: true, Leaves: `^entry: `, Given: func(b *pushing) string {
			id := pushed(b)
			b.mustRevoke(id)
			return id
		}, Do: keep, Then: func(b *pushing, _ string) any { return b.secret("of-it") == nil }},
	)
}

func TestFieldSweepPasses(t *testing.T) {
	field.Only(t)
	system := policy.Principal{Name: "root", Project: "admin", Roles: []string{policy.RoleAdmin}}
	faults.Sweep(t, benches,
		passes("tidy", func(b *bench) string {
			b.mustRevoke(b.aLease())
			b.must(b.Settle(b.t.Context(), b.clock.Now().Add(-time.Hour)))
			b.clock.Add(broker.DefaultTerms().TidyAfter + time.Minute)
			return ""
		}, func(b *bench) error { return b.Settle(b.t.Context(), b.clock.Now().Add(-time.Hour)) }),
		passes("settle a write", func(b *bench) string {
			id := b.anEdge()
			b.half(id)
			return id
		}, func(b *bench) error { return b.Settle(b.t.Context(), b.clock.Now()) }),
		passes("check", func(b *bench) string {
			b.clock.Add(time.Hour)
			return b.anEdge()
		}, func(b *bench) error {
			b.clock.Add(time.Hour)
			return b.CheckDue(b.t.Context())
		}),
		passes("seal anew", func(b *bench) string { return b.aLease() }, func(b *bench) error { return b.SealAnew(b.t.Context()) }),
		flow{
			Name: "sign", GoesOn: true, Given: (*bench).anEdge, Varies: `(?s)^audit_checkpoints: .*| (since|verifier)=\S+`, Leaves: `^audit_keys:.* state=abandoned|^entry: done `,
			Do: func(b *bench, _ string) (any, error) { return nil, b.SignAudit(b.t.Context()) },
		},
		flow{Name: "settle the inventory", Given: func(b *bench) string {
			l := b.row(b.aLease())
			b.object(l, "6f0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b11", "lease-6f0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b11")
			b.lose(l.Handle)
			return l.VIM
		}, Leaves: `^entry: done `, Do: func(b *bench, id string) (any, error) {
			inv, err := b.Inventory(b.t.Context(), system, id, true)
			return inv.Settled, err
		}},
		passes("end without access", func(b *bench) string {
			b.options.Terms.EndWithAccess = true
			b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{}}
			b.Broker = mustNew(b.t, b.options)
			return b.aLease()
		}, func(b *bench) error { return b.EndWithoutAccess(b.t.Context()) }),
		passes("grade anew", func(b *bench) string {
			b.options.Terms.EndWithAccess = true
			b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{}}
			b.Broker = mustNew(b.t, b.options)
			return b.aLease()
		}, func(b *bench) error { return b.GradeAnew(b.t.Context()) }),
	)
}

// Whatever step of a read fails, it is no answer.
func TestSweepReads(t *testing.T) {
	type read = func(b *bench, id string) (any, error)
	ctx := t.Context()
	faults.Reads(t, benches, func(b *bench) string {
		id := b.aLease()
		b.must(b.SignAudit(ctx))
		return id
	}, map[string]read{
		"Lease": func(b *bench, id string) (any, error) { return b.Lease(ctx, alice, id) },
		"Leases": func(b *bench, _ string) (any, error) {
			all, _, err := b.Leases(ctx, alice, broker.LeaseQuery{VIM: "edge"})
			return all, err
		},
		"VIM": func(b *bench, _ string) (any, error) { return b.VIM(ctx, alice, "edge") },
		"VIMs": func(b *bench, _ string) (any, error) {
			all, _, err := b.VIMs(ctx, alice, broker.VIMQuery{})
			return all, err
		},
		"SameTarget": func(b *bench, _ string) (any, error) {
			return b.SameTarget(ctx, alice, "edge", secret.NewText(b.kube.Kubeconfig()))
		},
		"KeyStatuses": func(b *bench, _ string) (any, error) {
			all, _, err := b.KeyStatuses(ctx, root, broker.VIMQuery{}, true)
			return all, err
		},
		"Entries": func(b *bench, _ string) (any, error) {
			all, err := b.Entries(ctx, alice, audit.Query{})
			return len(all) > 0, err
		},
		"EntriesAfter": func(b *bench, _ string) (any, error) { return b.EntriesAfter(ctx, root, 0, 2) },
		"AuditTree": func(b *bench, _ string) (any, error) {
			_, _, err := b.AuditTree(ctx, root, 0)
			return nil, err
		},
		"ProveEntry": func(b *bench, _ string) (any, error) {
			_, e, _, err := b.ProveEntry(ctx, root, 1)
			return e, err
		},
		"ProveGrowth": func(b *bench, _ string) (any, error) {
			_, _, err := b.ProveGrowth(ctx, root, 1, 2)
			return nil, err
		},
		"Checkpoint":    func(b *bench, _ string) (any, error) { return b.Checkpoint(ctx, root) },
		"AuditKeys":     func(b *bench, _ string) (any, error) { return b.AuditKeys(ctx, root) },
		"AuditAnchors":  func(b *bench, _ string) (any, error) { return b.AuditAnchors(ctx, root) },
		"AuditUnsigned": func(b *bench, _ string) (any, error) { return b.AuditUnsigned(ctx) },
		"Retention":     func(b *bench, _ string) (any, error) { return b.Retention(ctx, root) },
		"Replicas":      func(b *bench, _ string) (any, error) { return b.Replicas(ctx, root) },
		"Ended": func(b *bench, id string) (any, error) {
			over, why, err := b.Ended(ctx, id)
			return []any{over, why}, err
		},
		"Replaceable": func(b *bench, id string) (any, error) { return b.Replaceable(ctx, id) },
		"Inventory":   func(b *bench, _ string) (any, error) { return b.Inventory(ctx, alice, "edge", false) },
	})
}
