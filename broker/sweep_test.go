package broker_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/faults"
	"github.com/vimbroker/vimbroker/test/field"
)

// world is what a sweep sees of a bench.
func (b *bench) world() faults.World {
	return faults.World{
		Objects: b.ours, Keys: b.held, Secrets: []string{b.kube.AdminToken},
		Pass: func(wait time.Duration) error {
			ctx := b.t.Context()
			b.clock.Add(wait + b.options.Terms.AbandonedAfter + time.Minute)
			err := errors.Join(b.Settle(ctx, b.clock.Now().Add(-b.options.Terms.AbandonedAfter)), b.Reap(ctx))
			b.clock.Add(time.Minute)
			return errors.Join(err, b.Reap(ctx))
		},
	}
}

// held are the keys in the key store.
func (b *bench) held() (all []string) {
	b.t.Helper()
	keys, err := b.keys.List(b.t.Context(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, k := range keys {
		all = append(all, fmt.Sprint(k.Owner.ID, " ", k.Owner.Generation))
	}
	return all
}

var benches = faults.Kit[*bench]{
	New:    func(t *testing.T) *bench { return newBench(t, benchOptions{}) },
	Copies: (*bench).copies,
	World:  (*bench).world,
}

// copies ends the use of a bench and makes others that are like it, of which one is used at a time: they have the clock and the
// VIM in common.
func (b *bench) copies() func(t *testing.T) *bench {
	b.t.Helper()
	b.must(b.store.Store.(io.Closer).Close())
	now, back, dir := b.clock.Now(), b.kube.Remember(), b.dir
	return func(t *testing.T) *bench {
		t.Helper()
		c := *b
		c.t, c.dir = t, t.TempDir()
		c.must(os.CopyFS(c.dir, os.DirFS(dir)))
		c.must(errors.Join(os.Chmod(filepath.Join(c.dir, "data"), 0o700), os.Chmod(filepath.Join(c.dir, "keys"), 0o700)))
		b.clock.Set(now)
		back()
		c.reopen()
		c.options.Store, c.options.Keys = c.store, []secret.KeyStore{c.keys}
		c.Broker = mustNew(t, c.options)
		return &c
	}
}

// handed is a lease with what was handed out: it must work on the VIM.
func (b *bench) handed(l broker.Lease, c clientconfig.Config, err error) (any, error) {
	works := slices.ContainsFunc(b.kube.Tokens(), func(t fakekube.Token) bool {
		return t.ServiceAccount == l.Handle && t.ID == strings.TrimPrefix(l.CredentialID, "JTI=")
	})
	return []any{l, c, works}, err
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) anEdge() string { return b.mustRegister(alice, "edge").ID }

func (b *bench) aLease() string {
	b.anEdge()
	l, _ := b.mustIssue(alice, "edge")
	return l.ID
}

// leased is a VIM with a lease on it.
func (b *bench) leased() string { return b.row(b.aLease()).VIM }

// leftOver is what an issue that failed leaves: the row of the lease, which has ended.
const leftOver = `^leases:.* reason=(abandoned|auditFailed|issueFailed).* state=revoked |^ended_leases`

// anotherGeneration is what tells one generation from another.
const anotherGeneration = `\b(generation|number|Number)[=:]\d+|\.\d+\.<hex>|^<vim edge> \d+$`

// later is a lease that the reaper revokes.
const later = ` State:revoking `

type flow = faults.Flow[*bench]

// passes is a flow that is a pass.
func passes(name string, given func(*bench) string, run func(*bench) error) flow {
	return flow{Name: name, GoesOn: true, Given: given, Do: func(b *bench, _ string) (any, error) { return nil, run(b) }}
}

func TestSweepLeases(t *testing.T) {
	faults.Sweep(t, benches,
		flow{Name: "issue", Leaves: leftOver, Given: (*bench).anEdge, Do: func(b *bench, _ string) (any, error) {
			return b.handed(b.IssueLease(b.t.Context(), alice, broker.LeaseRequest{VIM: "edge", TTL: time.Hour, IdempotencyKey: "k"}))
		}},
		flow{Name: "issue again", Leaves: `^entry: done lease:issue `, Given: func(b *bench) string {
			b.anEdge()
			l, _, err := b.IssueLease(b.t.Context(), alice, broker.LeaseRequest{VIM: "edge", TTL: time.Hour, IdempotencyKey: "k"})
			b.must(err)
			return l.ID
		}, Do: func(b *bench, _ string) (any, error) {
			return b.handed(b.IssueLease(b.t.Context(), alice, broker.LeaseRequest{VIM: "edge", TTL: time.Hour, IdempotencyKey: "k"}))
		}},
		flow{Name: "renew", Leaves: `^entry: done lease:renew `, Given: (*bench).aLease, Do: func(b *bench, id string) (any, error) {
			return b.handed(b.RenewLease(b.t.Context(), alice, id, time.Hour))
		}},
		flow{Name: "weigh", Given: (*bench).anEdge, Do: func(b *bench, _ string) (any, error) {
			return b.WeighLease(b.t.Context(), alice, broker.LeaseRequest{VIM: "edge", Role: "view"})
		}},
	)
}

func TestSweepEndsOfLeases(t *testing.T) {
	faults.Sweep(t, benches,
		flow{Name: "revoke", Meanwhile: later, Given: (*bench).aLease, Do: func(b *bench, id string) (any, error) {
			return b.RevokeLease(b.t.Context(), alice, id)
		}},
		flow{Name: "begin to end", Given: (*bench).aLease, Do: func(b *bench, _ string) (any, error) {
			return nil, b.EndLeases(b.t.Context(), alice, broker.LeaseSelector{VIM: "edge"})
		}},
		flow{Name: "end an operation's", Given: func(b *bench) string {
			b.anEdge()
			l, _, err := b.IssueLease(b.t.Context(), alice, broker.LeaseRequest{VIM: "edge", Operation: "op-1"})
			b.must(err)
			return l.ID
		}, Do: func(b *bench, _ string) (any, error) { return nil, b.EndOperation(b.t.Context(), "op-1") }},
		passes("reap", func(b *bench) string {
			id := b.aLease()
			b.clock.Add(time.Hour + time.Second)
			return id
		}, func(b *bench) error { return b.Reap(b.t.Context()) }),
		passes("confirm", func(b *bench) string {
			id := b.aLease()
			_, err := b.RevokeLease(b.t.Context(), alice, id)
			b.must(err)
			b.clock.Add(30 * time.Second)
			return id
		}, func(b *bench) error { return b.Reap(b.t.Context()) }),
		passes("give up", func(b *bench) string {
			id := b.aLease()
			b.must(b.EndLeases(b.t.Context(), alice, broker.LeaseSelector{VIM: "edge"}))
			b.kube.FailNext("", "", 503, -1)
			_, err := b.CheckVIM(b.t.Context(), alice, "edge")
			b.must(err)
			b.clock.Add(24 * time.Hour)
			return id
		}, func(b *bench) error { return b.Reap(b.t.Context()) }),
	)
}

func TestFieldSweepVIMs(t *testing.T) {
	field.Only(t)
	faults.Sweep(t, benches,
		flow{Name: "register", Leaves: `^entry: done vim:register `, Do: func(b *bench, _ string) (any, error) {
			r := b.registration("edge")
			r.IdempotencyKey = "k"
			return b.RegisterVIM(b.t.Context(), alice, r)
		}},
		flow{Name: "describe", Leaves: `^entry: done vim:update `, Given: (*bench).anEdge, Do: func(b *bench, id string) (any, error) {
			return b.UpdateVIM(b.t.Context(), alice, id, broker.Change{Description: new("another")})
		}},
		flow{Name: "rotate", Varies: anotherGeneration, Leaves: `^entry: done vim:rotate `, Given: (*bench).aLease, Do: func(b *bench, id string) (any, error) {
			return b.RotateVIM(b.t.Context(), alice, "edge", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminToken)}, 0)
		}},
		flow{Name: "seal anew", Leaves: `^entry: done vim:rotate `, Given: (*bench).aLease, Do: func(b *bench, _ string) (any, error) {
			return b.RekeyVIM(b.t.Context(), alice, "edge", "", 0)
		}},
		flow{Name: "check", Given: (*bench).anEdge, Do: func(b *bench, id string) (any, error) { return b.CheckVIM(b.t.Context(), alice, id) }},
	)
}

// errDrains says that a VIM is not gone yet.
var errDrains = errors.New("the VIM drains")

func TestFieldSweepEndsOfVIMs(t *testing.T) {
	field.Only(t)
	remove := func(d broker.Deletion) func(*bench, string) (any, error) {
		return func(b *bench, id string) (any, error) {
			_, gone, err := b.DeleteVIM(b.t.Context(), root, id, d)
			if errors.Is(err, broker.ErrNotFound) {
				return nil, nil // it has gone with the first call
			}
			if err == nil && !gone {
				err = errDrains
			}
			return nil, err
		}
	}
	faults.Sweep(t, benches,
		flow{Name: "delete", Kind: errDrains, Varies: ` confirmed_dead_at=<time>`, Given: (*bench).anEdge, Do: remove(broker.Deletion{})},
		flow{Name: "drain", Kind: errDrains, Varies: ` confirmed_dead_at=<time>`, Given: (*bench).leased, Do: remove(broker.Deletion{Drain: true})},
		flow{Name: "retire", Only: []faults.Mode{faults.Fails}, Kind: errDrains, Varies: ` confirmed_dead_at=<time>`, Given: (*bench).leased, Do: remove(broker.Deletion{Gone: true})},
		flow{Name: "force", Only: []faults.Mode{faults.Fails}, Kind: errDrains, Varies: ` confirmed_dead_at=<time>`, Given: func(b *bench) string {
			id := b.leased()
			b.kube.FailNext("", "", 503, -1)
			return id
		}, Do: remove(broker.Deletion{Force: true})},
	)
}
