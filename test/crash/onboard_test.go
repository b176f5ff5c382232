package crash_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/field"
)

// onboardDeaths say the same of a server that follows the clusters of a management
// cluster: the failpoints of onboarding, and those of others between which what it does lies.
var onboardDeaths = map[string][]scenario{
	"onboard.leased":         {onboarding},
	"onboard.added":          {onboarding},
	"onboard.registering":    {onboarding},
	"onboard.admitted":       {onboarding},
	"onboard.vim-registered": {onboarding},

	"onboard.vim-rotated": {followingARotation},
	"onboard.pushed":      {pushing},

	"onboard.come-back": {comingBack},

	"onboard.retiring":    {lettingGo},
	"onboard.vim-deleted": {lettingGo},

	"register.intent":  {onboarding},
	"register.checked": {onboarding},
	"seal.key-stored":  {onboarding, followingARotation},
	"register.done":    {onboarding},
	"update.checked":   {followingARotation},
	"update.switched":  {followingARotation},
	"delete.draining":  {lettingGo},
	"delete.forgotten": {lettingGo},

	// The broker's own account: one that was made and not recorded is taken over.
	"account.admitted":      {onboarding, followingARotation},
	"k8s.account.namespace": {onboarding},
	"k8s.account.made":      {onboarding},
	"k8s.account.bound":     {onboarding},
	"k8s.account.token":     {onboarding, followingARotation},
	"account.appointed":     {onboarding, followingARotation},
	"k8s.account.dismissed": {lettingGo},
}

func TestKilledWhileOnboarding(t *testing.T) { beforeAFleet.first(t) }

// fleet is a management cluster, and the cluster "edge" that Cluster API makes there. Its
// VIMs are the hub, under any name that it is registered with, and edge.
type fleet struct {
	*cluster // the hub
	edge     *cluster
}

func fakeFleet(t testing.TB) *fleet {
	t.Helper()
	f := &fleet{fakeCluster(t), fakeCluster(t)}
	f.fake.ServeClusterAPI("v1beta2")
	return f
}

func (f *fleet) objects(t testing.TB) []string {
	t.Helper()
	both := append(f.cluster.objects(t), f.edge.objects(t)...)
	slices.Sort(both)
	return both
}

func (f *fleet) others(t testing.TB) []string {
	t.Helper()
	return append(f.cluster.others(t), f.edge.others(t)...)
}

func (f *fleet) works(t testing.TB, token string) bool {
	t.Helper()
	return f.cluster.works(t, token) || f.edge.works(t, token)
}

// create makes the cluster, or has its control plane's provider rotate credential and authority.
func (f *fleet) create() {
	f.fake.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", Ready: true, Kubeconfig: f.edge.fake.Anew()})
}

func fleetOf(s *scene) *fleet { return s.up.(*fleet) }

// enable has the hub's clusters followed. It may be told again.
func enable(s *scene) error {
	_, err := s.EnableManagementCluster(s.ctx(), v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	})
	return err
}

// follow registers the hub, and has its clusters followed.
func follow(s *scene) {
	s.t.Helper()
	s.register("hub")
	if err := enable(s); err != nil {
		s.t.Fatal(err)
	}
}

// awaitCluster waits until the cluster edge is so; it fails if the server does not answer.
func awaitCluster(s *scene, what string, so func(v1.WorkloadCluster) error) (err error) {
	s.t.Helper()
	eventually(s.t, what, func() error {
		var l v1.List[v1.WorkloadCluster]
		if l, err = s.Clusters(s.ctx(), client.ClusterQuery{Name: "edge"}); err != nil {
			if cutOff(err) {
				return nil
			}
			return err
		}
		if len(l.Items) != 1 {
			return fmt.Errorf("there are %d rows", len(l.Items))
		}
		return so(l.Items[0])
	})
	return err
}

func inState(state string) func(v1.WorkloadCluster) error {
	return func(c v1.WorkloadCluster) error {
		if c.State != state || c.Reason != "" {
			return fmt.Errorf("it is %s (%s: %s)", c.State, c.Reason, c.Message)
		}
		return nil
	}
}

// generation is that of the cluster's VIM.
func generation(s *scene, at int64) func(v1.WorkloadCluster) error {
	return func(c v1.WorkloadCluster) error {
		if err := inState("registered")(c); err != nil {
			return err
		}
		v, err := s.VIM(s.ctx(), c.VIM)
		if err == nil && v.Generation != at {
			err = fmt.Errorf("its VIM is in generation %d", v.Generation)
		}
		return err
	}
}

var (
	onboarding = scenario{
		name:    "onboard a cluster",
		prepare: func(s *scene) { fleetOf(s).create() },
		act: func(s *scene) error {
			if _, err := s.RegisterVIM(s.ctx(), s.up.registration(s.t, "hub"), ""); err != nil {
				return err
			}
			if err := enable(s); err != nil {
				return err
			}
			return awaitCluster(s, "the cluster is registered", inState("registered"))
		},
		after: onboarded,
	}

	followingARotation = scenario{
		name: "follow a rotation",
		prepare: func(s *scene) {
			fleetOf(s).create()
			follow(s)
			if err := awaitCluster(s, "the cluster is registered", inState("registered")); err != nil {
				s.t.Fatal(err)
			}
		},
		act: func(s *scene) error {
			found, err := s.Clusters(s.ctx(), client.ClusterQuery{Name: "edge"})
			if err != nil {
				return err
			}
			before := found.Items[0].UpdatedAt
			fleetOf(s).create()
			return awaitCluster(s, "the rotation was adopted", func(c v1.WorkloadCluster) error {
				if !c.UpdatedAt.After(before) { // its VIM is in another generation before its row says so
					return fmt.Errorf("its row is of %s", c.UpdatedAt)
				}
				return generation(s, 2)(c)
			})
		},
		after: func(s *scene) {
			// Once, whatever was killed.
			if err := awaitCluster(s, "the rotation was adopted", generation(s, 2)); err != nil {
				s.t.Error(err)
			}
			onboarded(s)
		},
	}

	pushing = scenario{
		name: "push a kubeconfig",
		prepare: func(s *scene) {
			fleetOf(s).fake.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", Ready: true})
			follow(s)
			if err := awaitCluster(s, "the cluster waits for its secret", func(c v1.WorkloadCluster) error {
				if c.Reason != "secretMissing" {
					return fmt.Errorf("it is %s (%s)", c.State, c.Reason)
				}
				return nil
			}); err != nil {
				s.t.Fatal(err)
			}
		},
		act: func(s *scene) error {
			found, err := s.Clusters(s.ctx(), client.ClusterQuery{Name: "edge"})
			if err != nil {
				return err
			}
			c := found.Items[0]
			token, err := s.IssuePushToken(s.ctx(), c.ID, v1.PushTokenRequest{})
			if err != nil {
				return err
			}
			pusher, err := client.New(client.Options{Addr: s.URL, Token: token.Token})
			if err != nil {
				return err
			}
			_, err = pusher.Push(s.ctx(), v1.Push{
				ManagementCluster: "hub", Namespace: c.Namespace, ClusterUID: c.UID, Kubeconfig: secret.NewText(fleetOf(s).edge.fake.Kubeconfig()),
			})
			return err
		},
		after: onboarded,
	}

	comingBack = scenario{
		name:    "have a VIM back",
		prepare: followingARotation.prepare,
		act: func(s *scene) error {
			for _, step := range []func() error{
				func() error { return s.DisableManagementCluster(s.ctx(), "hub") },
				func() error {
					_, _, err := s.DeleteVIM(s.ctx(), "hub", client.Deletion{Drain: true})
					return err
				},
				func() error {
					_, err := s.RegisterVIM(s.ctx(), s.up.registration(s.t, "hub"), "")
					return err
				},
				func() error { return enable(s) },
			} {
				if err := step(); err != nil {
					return err
				}
			}
			return awaitCluster(s, "the cluster is registered", inState("registered"))
		},
		after: onboarded,
	}

	lettingGo = scenario{
		name:    "let a cluster go",
		prepare: followingARotation.prepare,
		act: func(s *scene) error {
			fleetOf(s).fake.DropCluster("tenant", "edge")
			return awaitCluster(s, "the cluster is retired", inState("retired"))
		},
		after: func(s *scene) {
			if err := awaitCluster(s, "the cluster is retired", inState("retired")); err != nil {
				s.t.Error(err)
			}
			if found := s.vims(); len(found) != 1 {
				s.t.Errorf("%d VIMs, want the hub alone", len(found))
			}
			if left := fleetOf(s).edge.others(s.t); len(left) > 0 {
				s.t.Errorf("the cluster is let go of, and there is still %q", left)
			}
			leave(s)
		},
	}
)

// onboarded proves that the cluster is one VIM with one key, and ends the watch.
func onboarded(s *scene) {
	s.t.Helper()
	if len(s.vims()) == 0 { // killed before anybody was told
		s.register("hub")
	}
	if err := enable(s); err != nil {
		s.t.Fatal(err)
	}
	if err := awaitCluster(s, "the cluster is registered", inState("registered")); err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, v := range s.vims() {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"hub", "tenant.edge"}) {
		s.t.Errorf("VIMs %q, want the hub and the cluster's", names)
	}
	leave(s)
}

// leave ends the watch, and waits until its lease has ended: what it does would change what
// is looked at next. A watch notices within ten seconds; the next server has none.
func leave(s *scene) {
	s.t.Helper()
	if err := s.DisableManagementCluster(s.ctx(), "hub"); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	s.wantKilled()
	s.restart()
	eventually(s.t, "the lease on the hub has ended", func() error {
		for _, l := range s.leases() {
			if l.Purpose == "onboarding" && l.State != "revoked" {
				return fmt.Errorf("lease %s is %s", l.ID, l.State)
			}
		}
		return nil
	})
	for _, server := range s.servers {
		for _, c := range []*cluster{fleetOf(s).cluster, fleetOf(s).edge} {
			if strings.Contains(server.Log.String(), c.fake.AdminToken) {
				s.t.Error("a credential of a cluster stands in a server's log")
			}
		}
	}
}

// TestRestartsMidRegistration kills server after server between the steps of one
// cluster's registration: one VIM and one key come of it.
func TestRestartsMidRegistration(t *testing.T) {
	t.Parallel()
	diesAgainAndAgain(t, 8)
}

func TestFieldFiftyRestartsMidRegistration(t *testing.T) {
	field.Only(t)
	diesAgainAndAgain(t, 50)
}

func diesAgainAndAgain(t *testing.T, restarts int) {
	t.Helper()
	f := fakeFleet(t)
	s := newScene(t, f)
	follow(s)
	// Each is passed in every life, whatever the one before came to.
	points := []string{
		"onboard.leased", "onboard.registering", "register.intent", "register.checked", "seal.key-stored", "keydir.put.temp", "keydir.put.linked",
	}
	dice := rand.New(rand.NewPCG(20, 26)) //nolint:gosec // a test's dice
	s.arm("onboard.added")
	f.create()
	s.wantKilled()
	for round := range restarts {
		point := points[dice.IntN(len(points))]
		s.server = launch(t, s.dir, point)
		s.servers = append(s.servers[:0], s.server)
		state, err := s.Ended(patience)
		if err != nil {
			t.Fatalf("round %d: the server did not come to %s: %v", round, point, err)
		}
		if state.Exited() {
			t.Fatalf("round %d: the server ended by itself at %s: %v", round, point, state)
		}
	}
	s.restart()
	onboarded(s)
	s.prove()
}
