package lifecycle_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/faults"
)

var vaults = faults.Kit[*vault]{
	New: func(t *testing.T) *vault {
		return newVault(t, func(o *lifecycle.Options) { o.Terms.LookEvery = time.Hour })
	},
	World: func(v *vault) faults.World {
		w := plants.World(v.plant)
		w.Secrets = []string{canaryVariable, canaryParameter}
		w.Keys = func() []string {
			return slices.Concat(faults.KeysOf(v.t, v.first.KeyStore), []string{"and"}, faults.KeysOf(v.t, v.two.KeyStore))
		}
		return w
	},
}

// sealed is a flow about what has secret parameters.
func sealed(name string, given func(*vault) string, do func(*vault, context.Context, string) (any, error)) faults.Flow[*vault] {
	return faults.Flow[*vault]{
		Name: name, Given: given, Only: fails, Repeated: broker.ErrConflict,
		Do: func(v *vault, id string) (any, error) { return do(v, v.t.Context(), id) },
	}
}

// moved may be done again: it is then a change of nothing.
func moved(given func(*vault) string, do func(*vault, context.Context, string) (any, error)) faults.Flow[*vault] {
	f := sealed("move", given, do)
	f.Leaves = `^vnf_operations:|^entry: `
	return f
}

func (v *vault) aRunning() string { return v.withSecrets(secretive()).ID }

func TestSweepSecretParameters(t *testing.T) {
	other := lifecycle.PackageChange{VNFDID: "web-1", Variables: map[string]string{"password": "other", "color": "blue"}}
	faults.Sweep(t, vaults,
		sealed("instantiate", func(v *vault) string { return v.made().ID }, func(v *vault, ctx context.Context, id string) (any, error) {
			return v.Instantiate(ctx, alice, id, secretive())
		}),
		sealed("change", (*vault).aRunning, func(v *vault, ctx context.Context, id string) (any, error) {
			return v.ChangePackage(ctx, alice, id, other)
		}),
		moved(func(v *vault) string {
			v.lends.identities = map[string]string{"far": "edge"}
			return v.aRunning()
		}, func(v *vault, ctx context.Context, id string) (any, error) {
			return v.Modify(ctx, alice, id, lifecycle.Modification{VIM: "far"})
		}),
		sealed("work", func(v *vault) string {
			o, err := v.ChangePackage(v.t.Context(), alice, v.aRunning(), other)
			if err != nil {
				v.t.Fatal(err)
			}
			return o.ID
		}, func(v *vault, ctx context.Context, id string) (any, error) { return nil, v.Work(ctx, id) }),
	)
	faults.Reads(t, vaults, (*vault).aRunning, map[string]func(v *vault, id string) (any, error){
		"SecretParametersElsewhere": func(v *vault, _ string) (any, error) {
			return v.SecretParametersElsewhere(v.t.Context(), "edge", "second")
		},
		"Preview": func(v *vault, id string) (any, error) {
			made, err := v.Preview(v.t.Context(), alice, id, other)
			return made.Effects, err
		},
	})
}

func TestSweepVIMsOfRequests(t *testing.T) {
	faults.Sweep(t, plants,
		faults.Flow[*plant]{
			Name: "let go", Only: fails, GoesOn: true, Varies: `site-[0-9a-f]{8}`, Given: func(p *plant) string {
				id := p.brings().ID
				p.clock.Add(time.Hour)
				return id
			},
			Do: func(p *plant, _ string) (any, error) { return nil, p.LetGo(p.t.Context()) },
		},
	)
}
