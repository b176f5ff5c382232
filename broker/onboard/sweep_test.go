package onboard_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/test/faults"
)

var benches = faults.Kit[*bench]{
	New: func(t *testing.T) *bench { return newBench(t) },
	World: func(b *bench) faults.World {
		return faults.World{
			Objects: func() (all []string) {
				for _, kube := range b.kubes {
					for _, kind := range []string{"serviceaccounts", "clusterrolebindings", "secrets"} {
						all = append(all, kube.Names(kind, "")...)
					}
				}
				all = slices.DeleteFunc(all, func(name string) bool { return !strings.Contains(name, "vimbroker") })
				slices.Sort(all)
				return all
			},
			Keys: func() (all []string) {
				held, err := b.store.KeysInUse(b.t.Context(), "")
				if err != nil {
					b.t.Fatal(err)
				}
				for _, k := range held {
					all = append(all, fmt.Sprint(k.Owner.ID, " ", k.Owner.Generation))
				}
				return all
			},
			Pass: b.pass,
		}
	},
}

// pass lets time go by, and has cluster a/edge followed and the broker's passes run, as long as anything is to be done.
func (b *bench) pass(wait time.Duration) error {
	ctx := b.t.Context()
	var failed []error
	for range 3 {
		b.clock.Add(wait + 6*time.Minute)
		b.show()
		failed = append(failed, b.Settle(ctx, b.clock.Now().Add(-5*time.Minute)), b.Reap(ctx))
		if err := b.w.Refresh(ctx); errors.Is(err, onboard.ErrChanged) { // it is followed no more, or by others
			break
		}
		_, err := b.w.Step(ctx, "a", "edge")
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// step is a step for cluster a/edge.
func (b *bench) step(string) (any, error) {
	_, err := b.w.Step(b.t.Context(), "a", "edge")
	return nil, err
}

// followed is how cluster a/edge stands.
func (b *bench) followed(string) any {
	var all []any
	for _, c := range b.rows("a", "edge") {
		all = append(all, c.State, c.Reason, c.VIM != "")
	}
	return all
}

func (b *bench) aCluster() string {
	b.cluster("a", "edge")
	b.show()
	if err := b.w.Refresh(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return ""
}

func (b *bench) aRegistered() string {
	b.cluster("a", "edge")
	b.look("a", "edge")
	return b.want("a", "edge", onboard.StateRegistered, "").VIM
}

type flow = faults.Flow[*bench]

func TestSweepClusters(t *testing.T) {
	faults.Sweep(t, benches,
		flow{Name: "becomes a VIM", Only: []faults.Mode{faults.Fails, faults.Lost}, GoesOn: true, Leaves: `^entry: done `, Given: (*bench).aCluster, Do: (*bench).step, Then: (*bench).followed},
		flow{
			Name: "has another credential", Only: []faults.Mode{faults.Fails}, GoesOn: true, Leaves: `^entry: done `, Varies: `\b(generation|number)=\d+|\.\d+\.<hex>|^<vim a\.edge> \d+$`,
			Given: func(b *bench) string {
				id := b.aRegistered()
				b.secret(b.source.clusters["a/edge"], certified(b.kube("a/edge")))
				b.show()
				return id
			}, Do: (*bench).step, Then: (*bench).followed,
		},
	)
}

func TestSweepManagements(t *testing.T) {
	faults.Sweep(t, benches,
		flow{Name: "disable", Repeated: broker.ErrNotFound, Given: func(b *bench) string { return b.hub.ID }, Do: func(b *bench, id string) (any, error) {
			return nil, b.Disable(b.t.Context(), root, id)
		}},
		flow{Name: "change", Leaves: `^entry: done `, Given: func(b *bench) string { return b.hub.ID }, Do: func(b *bench, id string) (any, error) {
			return b.Enable(b.t.Context(), root, id, onboard.Settings{Namespaces: []string{"a", "b", "c"}})
		}},
	)
}
