package replicas

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/field"
)

const (
	// linkRacers are at it at the same time, for linkNames links and those that their instances make for themselves.
	linkRacers, linkNames = 12, 4
	// afterwards is longer than anybody works on a link here, and shorter than others keep away from one whose worker was killed.
	afterwards = 10 * time.Second
	ownVNFD    = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40032"
)

// Links are made, used, released and deleted on three replicas by racers who know nothing of one another: at the end the uses are
// those of the instances that stand, and then nothing is left. What a killed replica was at is gone on with after half a minute, so
// the long form alone kills some.
func TestLinksAreRacedFor(t *testing.T) {
	t.Parallel()
	raceForLinks(t, 48, 0)
}

func TestFieldLinksAreRacedFor(t *testing.T) {
	field.Only(t)
	raceForLinks(t, 2000, 20)
}

func raceForLinks(t *testing.T, races int64, kills int) {
	t.Helper()
	r := newLinkRace(t)
	r.left.Store(races)
	var all errgroup.Group
	for n := range linkRacers {
		all.Go(func() error { return r.race(t.Context(), n) })
	}
	over, raced := make(chan error, 1), make(chan struct{})
	var aging sync.WaitGroup
	go func() { over <- all.Wait() }()
	for k := range kills {
		for r.left.Load() > races*int64(kills-k)/int64(kills+1) {
			select {
			case err := <-over:
				t.Fatal("the racers have ended early: ", err)
			case <-time.After(50 * time.Millisecond):
			}
		}
		one := r.any()
		one.broker.Kill()
		killed := time.After(afterwards)
		one.start()
		aging.Go(func() { // others would keep away for two minutes
			select {
			case <-killed:
				r.age(afterwards - time.Second)
			case <-raced:
			}
		})
	}
	err := <-over
	close(raced)
	aging.Wait()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d races, %d kills: %s", races, kills, r.said())
	r.prove()
}

// linkRace is a cloud whose networks are raced for.
type linkRace struct {
	*fleet
	keystone *fakekeystone.Server
	heat     *fakeheat.Server
	neutron  *fakeneutron.Server
	vim      string
	// instances are the racers'.
	instances []string
	left      atomic.Int64
	// did counts what was done, by what it was and whether it came about.
	did [8]atomic.Int64
}

var deeds = []string{"made", "not made", "used", "not used", "released", "not released", "deleted", "not deleted"}

func (r *linkRace) said() string {
	var all []string
	for n := range r.did {
		all = append(all, fmt.Sprintf("%d %s", r.did[n].Load(), deeds[n]))
	}
	return strings.Join(all, ", ")
}

func newLinkRace(t *testing.T) *linkRace {
	t.Helper()
	f := newFleetOn(t, shared(t), footing{program: present, settings: "sol003: {enabled: true}\n"})
	r := &linkRace{fleet: f, keystone: fakekeystone.New(t, fakekeystone.Options{}), heat: fakeheat.New(t), neutron: fakeneutron.New(t)}
	r.heat.Believe(r.keystone)
	r.neutron.Believe(r.keystone)
	r.keystone.SetCatalog(
		fakekeystone.Endpoint{Service: "identity", Interface: "public", Region: "RegionOne", URL: r.keystone.Endpoint + "/v3"},
		fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: r.heat.URL + "/heat/v1/project"},
		fakekeystone.Endpoint{Service: "network", Interface: "public", Region: "RegionOne", URL: r.neutron.Endpoint()},
	)
	user := r.keystone.User("operator", r.keystone.Project("demo"), "member")
	first, ctx := f.replicas[0], t.Context()
	vim, err := registers(t, first, v1.Registration{
		Name: "cloud", Type: "openstack", Endpoint: r.keystone.Endpoint, CACert: r.keystone.CA + r.heat.CA + r.neutron.CA, Project: "demo",
		Domain: fakekeystone.DomainName, Credential: v1.Credential{Username: user.Name, Password: secret.NewText(user.Password)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.vim = vim.ID
	content := csar.TackerHeatOwn(ownVNFD).Zip(t)
	p, err := first.CreatePackage(ctx, nil)
	if err == nil {
		err = first.UploadPackage(ctx, p.ID, bytes.NewReader(content), int64(len(content)))
	}
	for range linkRacers {
		if err == nil {
			var i sol003.VNFInstance
			i, err = first.CreateVNF(ctx, sol003.CreateVNFRequest{VNFDID: ownVNFD})
			r.instances = append(r.instances, i.ID)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// patient asks one replica after the other until one does something, or refuses it.
func (r *linkRace) patient(ctx context.Context, do func(context.Context, *replica) error) error {
	return (&cnfs{fleet: r.fleet}).until(ctx, "a request", func(ctx context.Context, one *replica) error {
		err := do(ctx, one)
		if code := client.Status(err); code >= 400 && code < 500 || code == http.StatusServiceUnavailable {
			return wrong{err}
		}
		return err
	})
}

// done counts a deed, and passes on an error that says neither yes nor no. While somebody may be at work on a link, or was killed at
// that, nothing is done, and it is no race.
func (r *linkRace) done(deed int, err error, no ...int) (bool, error) {
	switch code := client.Status(err); {
	case err == nil:
		r.did[deed].Add(1)
		return true, nil
	case code == http.StatusServiceUnavailable:
		r.left.Add(1)
		<-time.After(100 * time.Millisecond)
		return false, nil
	case slices.Contains(no, code):
		r.did[deed+1].Add(1)
		return false, nil
	}
	return false, fmt.Errorf("%s: %w", deeds[deed], err)
}

// name is a link that racers know of: one that is made by hand, or another instance's own.
func (r *linkRace) name(dice *rand.Rand) string {
	if dice.IntN(4) == 0 {
		return "vl-1-" + r.instances[dice.IntN(len(r.instances))]
	}
	return fmt.Sprintf("link-%d", dice.IntN(linkNames))
}

// race has one racer make and use, release and delete until there are no races left. A racer has one instance.
func (r *linkRace) race(ctx context.Context, n int) error {
	dice, used := rand.New(rand.NewPCG(uint64(n), 34)), false //nolint:gosec // it is repeated
	for r.left.Add(-1) >= 0 {
		var err error
		name := r.name(dice)
		switch step := dice.IntN(6); {
		case step < 5 && !used:
			if strings.HasPrefix(name, "link") {
				_, err = r.done(0, r.patient(ctx, func(ctx context.Context, one *replica) error {
					_, err := one.CreateVirtualLink(ctx, v1.VirtualLinkRequest{Name: name, VIM: r.vim, Spec: &spec.LinkSpec{CIDR: "10.9.0.0/24"}})
					return err
				}), http.StatusConflict)
			}
			if err != nil {
				break
			}
			used, err = r.operate(ctx, n, "instantiate", sol003.InstantiateRequest{
				FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: r.vim, VIMType: "ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
				AskedLinks: sol003.AskedLinks{External: []sol003.AskedLink{
					{ID: "ext", ResourceID: name, CPs: []sol003.ExtCP{{CPDID: "VDU1_CP1"}}},
				}},
			})
		case step < 5:
			var done bool
			done, err = r.operate(ctx, n, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"})
			used = used && !done
		default:
			_, err = r.done(6, r.patient(ctx, func(ctx context.Context, one *replica) error {
				_, err := one.DeleteVirtualLink(ctx, name, false)
				return err
			}), http.StatusConflict, http.StatusNotFound)
		}
		if err != nil {
			r.left.Store(0)
			return err
		}
	}
	return nil
}

// operate begins an operation on a racer's instance, and waits for its end. It reports whether it was done; one that the link is
// gone for, or is going, is refused.
func (r *linkRace) operate(ctx context.Context, n int, task string, request any) (bool, error) {
	id, deed := r.instances[n], map[string]int{"instantiate": 2, "terminate": 4}[task]
	begun, err := r.done(deed, r.patient(ctx, func(ctx context.Context, one *replica) error {
		_, err := one.BeginVNF(ctx, id, task, request)
		if client.Status(err) == http.StatusConflict && completed(ctx, one, id, strings.ToUpper(task)) == nil {
			return nil // an earlier request has begun it, and its answer was lost
		}
		return err
	}), http.StatusConflict, http.StatusUnprocessableEntity, http.StatusNotFound)
	if !begun || err != nil {
		return false, err
	}
	return true, (&cnfs{fleet: r.fleet}).until(ctx, task+" to its end", func(ctx context.Context, one *replica) error {
		return completed(ctx, one, id, strings.ToUpper(task))
	})
}

// prove compares the uses of the links with the instances that stand, and the networks with the links; then it ends all uses,
// and wants nothing left.
func (r *linkRace) prove() {
	r.t.Helper()
	ctx := r.t.Context()
	r.age(0)
	uses := map[string]int{} // by network
	for _, id := range r.instances {
		i, err := r.any().VNF(ctx, id)
		if err != nil {
			r.t.Fatal(err)
		}
		if i.Instantiated == nil {
			continue
		}
		its := map[string]bool{}
		for _, l := range i.Instantiated.ExtLinks {
			its[l.Handle.ResourceID] = true
		}
		for _, l := range i.Instantiated.Links {
			its[l.Network.ResourceID] = true
		}
		for network := range its {
			uses[network]++
		}
	}
	r.t.Logf("%d networks are used: %v", len(uses), uses)
	for l, err := range r.any().AllVirtualLinks(ctx) {
		if err != nil {
			r.t.Fatal(err)
		}
		one, err := r.any().VirtualLink(ctx, l.ID)
		if client.Status(err) == http.StatusNotFound {
			continue // it was on its way out
		}
		if err != nil || len(one.Networks) == 0 {
			r.t.Errorf("link %s is %+v, %v", l.Name, one, err)
			continue
		}
		network := one.Networks[0].NetworkID
		if one.UseCount != uses[network] {
			r.t.Errorf("link %s has %d uses, and instances have its network %s %d times", l.Name, one.UseCount, network, uses[network])
		}
		delete(uses, network)
	}
	if len(uses) > 0 {
		r.t.Errorf("instances use networks of no link: %v", uses)
	}
	for n, id := range r.instances {
		if i, err := r.any().VNF(ctx, id); err == nil && i.State == "INSTANTIATED" {
			if _, err := r.operate(ctx, n, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"}); err != nil {
				r.t.Error(err)
			}
		}
	}
	r.age(0)
	eventually(r.t, "all links are gone", func(ctx context.Context) error {
		for l, err := range r.any().AllVirtualLinks(ctx) {
			if err == nil && l.MadeFor == "" || err == nil && l.State != "ready" {
				_, err = r.any().DeleteVirtualLink(ctx, l.ID, false)
			}
			if err != nil && client.Status(err) != http.StatusNotFound {
				return err
			}
		}
		for l, err := range r.any().AllVirtualLinks(ctx) {
			return fmt.Errorf("link %s is %s (%s), %w", l.Name, l.State, l.Fault, err)
		}
		return nil
	})
	if left := r.neutron.All(); len(left) > 0 {
		r.t.Errorf("on the cloud there is still %q", left)
	}
	if left := r.heat.Stacks(); len(left) > 0 {
		r.t.Errorf("there are still the stacks %q", left)
	}
	if n := r.count(`SELECT (SELECT count(*) FROM asset_uses) + (SELECT count(*) FROM assets)`); n > 0 {
		r.t.Errorf("%d rows of links and uses are left", n)
	}
	r.settle()
	eventually(r.t, "all leases have ended", func(context.Context) error {
		for _, c := range r.keystone.AppCreds() {
			return fmt.Errorf("the application credential %s is left", c.Name)
		}
		return nil
	})
	r.proveAudit()
}

// age has whoever began that long ago to work on a link, and was killed, be long gone.
func (r *linkRace) age(past time.Duration) {
	r.count(fmt.Sprintf(`WITH old AS (UPDATE assets SET since = since - interval '1 hour'
		WHERE (state <> 'ready' OR loose) AND since <= now() - interval '%d seconds' RETURNING id) SELECT count(*) FROM old`, int(past.Seconds())))
}

// count asks the database for a number.
func (r *linkRace) count(sql string) (n int) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.dsn)
	if err == nil {
		defer conn.Close(context.WithoutCancel(r.t.Context()))
		err = conn.QueryRow(r.t.Context(), sql).Scan(&n)
	}
	if err != nil {
		r.t.Errorf("%s: %v", sql, err)
	}
	return n
}
