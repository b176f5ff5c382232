package asset_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/faults"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// standing is a cloud that keeps what is made.
type standing struct {
	cloud
	made map[string]bool
}

func (s standing) Make(_ context.Context, _ asset.Connection, a asset.Asset) (asset.Made, error) {
	s.made[a.Handle()] = true
	return asset.Made{Network: a.Handle()}, nil
}

func (s standing) Remove(_ context.Context, _ asset.Connection, a asset.Asset) error {
	delete(s.made, a.Handle())
	return nil
}

// swept are assets in a sweep.
type swept struct {
	*asset.Assets
	t     *testing.T
	clock *clock.Clock
	cloud standing
}

var alice = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}

var stocks = faults.Kit[*swept]{
	New: func(t *testing.T) *swept {
		s := &swept{t: t, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), cloud: standing{made: map[string]bool{}}}
		store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "vimbroker.db"), Now: s.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		v := broker.VIM{ID: "v", Name: "nfv1", Project: "core", Type: "openstack", State: broker.VIMRegistered}
		if err := store.CreateVIM(t.Context(), v, 0, audit.Entry{Time: s.clock.Now(), Action: policy.VIMRegister, Outcome: audit.Done}); err != nil {
			t.Fatal(err)
		}
		s.Assets = asset.New(asset.Options{
			Store: store, Leaser: s.cloud, Drivers: on(s.cloud), Guard: &audit.Guard{Policy: yes{}, Sink: store, Now: s.clock.Now},
			Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: s.clock.Now,
		})
		return s
	},
	World: func(s *swept) faults.World {
		return faults.World{
			Objects: func() (all []string) {
				for handle := range s.cloud.made {
					all = append(all, handle)
				}
				slices.Sort(all)
				return all
			},
			Keys: func() []string { return nil },
			Pass: func(wait time.Duration) error {
				s.clock.Add(wait + 10*time.Minute)
				var failed []error
				for _, pass := range s.Passes() {
					failed = append(failed, pass.Run(s.t.Context()))
				}
				return errors.Join(failed...)
			},
		}
	},
}

func (s *swept) aLink() string {
	l, _, err := s.Create(s.t.Context(), alice, asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"})
	if err != nil {
		s.t.Fatal(err)
	}
	return l.ID
}

func TestSweepAssets(t *testing.T) {
	type flow = faults.Flow[*swept]
	faults.Sweep(t, stocks,
		flow{Name: "make", Leaves: `^entry: done `, Do: func(s *swept, _ string) (any, error) {
			l, _, err := s.Create(s.t.Context(), alice, asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"})
			return l.State, err
		}},
		flow{Name: "remove", Leaves: `^entry: denied link:show`, Repeated: broker.ErrNotFound, Given: (*swept).aLink, Do: func(s *swept, id string) (any, error) {
			_, _, err := s.Delete(s.t.Context(), alice, policy.KindLink, id, false)
			return nil, err
		}, Now: func(s *swept, id string) any {
			_, _, _, err := s.Show(s.t.Context(), alice, policy.KindLink, id)
			return err
		}},
	)
	faults.Reads(t, stocks, (*swept).aLink, map[string]func(s *swept, id string) (any, error){
		"Show": func(s *swept, id string) (any, error) {
			l, uses, all, err := s.Show(s.t.Context(), alice, policy.KindLink, id)
			return []any{l, uses, all}, err
		},
		"List": func(s *swept, _ string) (any, error) {
			all, _, err := s.List(s.t.Context(), alice, policy.KindLink, broker.Page{})
			return all, err
		},
	})
}
