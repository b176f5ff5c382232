package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/onboard"
)

// OnboardingStore is what keeps management clusters, clusters and the VIMs that they are.
type OnboardingStore interface {
	broker.Store
	onboard.Store
}

// Onboard checks the contract of [onboard.Store]. open returns an empty store.
func Onboard(t *testing.T, open func(t *testing.T) OnboardingStore) {
	check := func(name string, f func(*testing.T, onboardTest)) {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			f(t, onboardTest{OnboardingStore: s, ctx: t.Context(), verbs: storeTest{Store: s, ctx: t.Context()}})
		})
	}
	check("Management", managementRows)
	check("Cluster", clusterRows)
	check("ClusterList", clusterLists)
	check("ClusterMoves", clusterMoves)
	check("ClusterSystem", clusterSystems)
	check("ClusterFence", clusterFence)
}

type onboardTest struct {
	OnboardingStore
	ctx   context.Context
	verbs storeTest
}

// fullManagement has every field set.
func fullManagement(vim string) onboard.Management {
	return onboard.Management{
		VIM: vim, Settings: onboard.Settings{
			Namespaces: []string{"a", "b"}, Selector: map[string]string{"onboard": "yes"}, NamespaceSelector: map[string]string{"tenant": "yes"},
			Projects: map[string]string{"": "north", "b": "south"}, SecretName: "{cluster}-kubeconfig", SecretKey: "value",
			NameTemplate: "{namespace}.{cluster}", CopyLabels: []string{"site"}, ControlPlanes: []string{"planes.example.org"},
			Account: "leases", MaxGone: 5, MaxGoneShare: 30, Annotation: "in",
		}, EnabledBy: "alice", CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second), WatchedAt: epoch.Add(2 * time.Second),
		Trouble: "it does not answer", HeldAt: epoch.Add(3 * time.Second), ReleasedUntil: epoch.Add(4 * time.Second), Revision: 1,
	}
}

// fullCluster has every field set.
func fullCluster(management string) onboard.Cluster {
	id := uuid.NewString()
	return onboard.Cluster{
		ID: id, Management: management, Namespace: "a", Name: "edge", UID: "uid-" + id, Project: "north",
		State: onboard.StateRegistered, Reason: onboard.ReasonUnreachable, Message: "it \"does\" not answer", VIM: "vim-" + id, System: "system-" + id, Rival: "rival", Former: "former",
		Secret: "uid/17", PushToken: "hash", PushExpiresAt: epoch.Add(5 * time.Second), PushedAt: epoch.Add(6 * time.Second), ReadyAt: epoch, RegisteredAt: epoch.Add(time.Second), GoneAt: epoch.Add(2 * time.Second),
		CreatedAt: epoch.Add(3 * time.Second), UpdatedAt: epoch.Add(4 * time.Second), Attempts: 3, Revision: 1,
	}
}

func (s onboardTest) enable(t *testing.T, name string) onboard.Management {
	t.Helper()
	m := fullManagement(s.verbs.mustCreateVIM(t, plainVIM("north", name)).ID)
	if err := s.EnableManagement(s.ctx, m, entry("enable")); err != nil {
		t.Fatalf("EnableManagement = %v", err)
	}
	return m
}

func (s onboardTest) add(t *testing.T, c onboard.Cluster) onboard.Cluster {
	t.Helper()
	if err := s.AddCluster(s.ctx, c, entry("add")); err != nil {
		t.Fatalf("AddCluster = %v", err)
	}
	return c
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

func managementRows(t *testing.T, s onboardTest) {
	m := s.enable(t, "hub")
	mustBeFull(t, m)
	got, err := s.Management(s.ctx, m.VIM)
	if err != nil {
		t.Fatalf("Management = %v", err)
	}
	wantSame(t, "a management cluster as stored", got, m)
	wantErr(t, "enabling it again", s.EnableManagement(s.ctx, m, entry("again")), broker.ErrExists)
	wantErr(t, "enabling no VIM", s.EnableManagement(s.ctx, fullManagement(uuid.NewString()), entry("none")), broker.ErrNotFound)
	if _, err := s.Management(s.ctx, uuid.NewString()); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Management of nothing = %v", err)
	}
	want := got
	want.Namespaces, want.Selector, want.Projects, want.CopyLabels = []string{"c"}, nil, map[string]string{"": "west"}, nil
	want.SecretName, want.Trouble, want.HeldAt, want.Revision = "x-{cluster}", "", time.Time{}, 2
	changed, err := s.UpdateManagement(s.ctx, m.VIM, func(m *onboard.Management) error {
		*m = want
		m.VIM, m.CreatedAt, m.Revision = "other", time.Time{}, 99
		return nil
	}, entry("change"))
	if err != nil {
		t.Fatalf("UpdateManagement = %v", err)
	}
	wantSame(t, "a changed management cluster", changed, want)
	refusal := errors.New("no")
	if _, err := s.UpdateManagement(s.ctx, m.VIM, func(*onboard.Management) error { return refusal }, entry("no")); !errors.Is(err, refusal) {
		t.Errorf("UpdateManagement that is refused = %v", err)
	}
	want.WatchedAt, want.Trouble = epoch.Add(time.Hour), "trouble"
	if err := s.NoteManagement(s.ctx, want); err != nil {
		t.Errorf("NoteManagement = %v", err)
	}
	s.enable(t, "hub-2")
	all, err := s.Managements(s.ctx)
	if err != nil || len(all) != 2 {
		t.Fatalf("Managements = %d, %v, want 2", len(all), err)
	}
	for _, m := range all {
		if m.VIM == want.VIM {
			wantSame(t, "a management cluster in the list", m, want)
		}
	}
	c := s.add(t, fullCluster(m.VIM))
	for range 2 {
		if err := s.DisableManagement(s.ctx, m.VIM, entry("disable")); err != nil {
			t.Errorf("DisableManagement = %v", err)
		}
	}
	_, err = s.Cluster(s.ctx, c.ID)
	wantErr(t, "a cluster of a management cluster that is none any more", err, broker.ErrNotFound)
	if _, err := s.VIM(s.ctx, m.VIM); err != nil {
		t.Errorf("the VIM of a management cluster that is none any more: %v", err)
	}
	wantErr(t, "noting nothing", s.NoteManagement(s.ctx, m), broker.ErrNotFound)
}

func clusterRows(t *testing.T, s onboardTest) {
	m := s.enable(t, "hub")
	c := fullCluster(m.VIM)
	mustBeFull(t, c)
	s.add(t, c)
	got, err := s.Cluster(s.ctx, c.ID)
	if err != nil {
		t.Fatalf("Cluster = %v", err)
	}
	wantSame(t, "a cluster as stored", got, c)
	twin := fullCluster(m.VIM)
	twin.UID, twin.System = c.UID, ""
	wantErr(t, "the same cluster once more", s.AddCluster(s.ctx, twin, entry("twin")), broker.ErrExists)
	want := c
	want.State, want.Reason, want.VIM, want.Secret, want.Revision = onboard.StateQuarantined, onboard.ReasonOtherSystem, "other", "uid/18", 2
	changed, err := s.UpdateCluster(s.ctx, c.ID, func(c *onboard.Cluster) error {
		*c = want
		c.ID, c.Management, c.Namespace, c.Name, c.UID, c.CreatedAt, c.Revision = "x", "x", "x", "x", "x", time.Time{}, 99
		return nil
	}, entry("change"))
	if err != nil {
		t.Fatalf("UpdateCluster = %v", err)
	}
	wantSame(t, "a changed cluster", changed, want)
	want.Reason, want.Message, want.Attempts, want.Secret = onboard.ReasonUnavailable, "later", 9, "uid/19"
	put := want
	put.State, put.VIM = onboard.StateWaiting, "ignored"
	if err := s.DeferCluster(s.ctx, put); err != nil {
		t.Errorf("DeferCluster = %v", err)
	}
	got, _ = s.Cluster(s.ctx, c.ID)
	wantSame(t, "a cluster that was put off", got, want)
	refusal := errors.New("no")
	if _, err := s.UpdateCluster(s.ctx, c.ID, func(*onboard.Cluster) error { return refusal }, entry("no")); !errors.Is(err, refusal) {
		t.Errorf("UpdateCluster that is refused = %v", err)
	}
	wantErr(t, "putting off nothing", s.DeferCluster(s.ctx, fullCluster(m.VIM)), broker.ErrNotFound)
	if err := s.ForgetCluster(s.ctx, c.ID); err != nil {
		t.Errorf("ForgetCluster = %v", err)
	}
	if _, err := s.Cluster(s.ctx, c.ID); err != nil {
		t.Errorf("a cluster that is not retired was forgotten: %v", err)
	}
	if _, err := s.UpdateCluster(s.ctx, c.ID, func(c *onboard.Cluster) error { c.State = onboard.StateRetired; return nil }, entry("retire")); err != nil {
		t.Fatal(err)
	}
	count, err := s.CountClusters(s.ctx)
	if err != nil || count.States[onboard.StateRetired] != 1 || count.Reasons[onboard.ReasonUnavailable] != 1 {
		t.Errorf("CountClusters = %+v, %v", count, err)
	}
	for range 2 {
		if err := s.ForgetCluster(s.ctx, c.ID); err != nil {
			t.Errorf("ForgetCluster = %v", err)
		}
	}
	_, err = s.Cluster(s.ctx, c.ID)
	wantErr(t, "a cluster that was forgotten", err, broker.ErrNotFound)
}

func clusterLists(t *testing.T, s onboardTest) {
	one, two := s.enable(t, "hub"), s.enable(t, "hub-2")
	add := func(m onboard.Management, namespace, name, project string, state onboard.State) {
		c := fullCluster(m.VIM)
		c.Namespace, c.Name, c.Project, c.State = namespace, name, project, state
		s.add(t, c)
	}
	add(one, "b", "x", "north", onboard.StateRegistered)
	add(one, "a", "y", "north", onboard.StateWaiting)
	add(one, "a", "x", "south", onboard.StateRegistered)
	add(one, "a", "x", "south", onboard.StateRetired) // an earlier one of the name
	add(two, "a", "x", "north", onboard.StateRegistered)
	for _, c := range []struct {
		f    onboard.ClusterFilter
		want int
	}{
		{onboard.ClusterFilter{}, 5},
		{onboard.ClusterFilter{Management: one.VIM}, 4},
		{onboard.ClusterFilter{Project: "north"}, 3},
		{onboard.ClusterFilter{Namespace: "a", Name: "x"}, 3},
		{onboard.ClusterFilter{Management: one.VIM, State: onboard.StateRegistered}, 2},
		{onboard.ClusterFilter{Project: "nobody"}, 0},
		{onboard.ClusterFilter{Project: "north", Name: "x"}, 2},
		{onboard.ClusterFilter{Project: "north", Management: one.VIM}, 2},
		{onboard.ClusterFilter{Project: "north", State: onboard.StateRegistered}, 2},
	} {
		for _, size := range []int{1, 2, 100} {
			seen, f := map[string]bool{}, c.f
			var last onboard.Cluster
			for f.Size = size; ; {
				page, next, err := s.Clusters(s.ctx, f)
				if err != nil || len(page) > size {
					t.Fatalf("Clusters(%+v) = %d, %v", f, len(page), err)
				}
				for _, c := range page {
					if c.Management == last.Management && (c.Namespace < last.Namespace || c.Namespace == last.Namespace && c.Name < last.Name) {
						t.Errorf("%s/%s comes after %s/%s", c.Namespace, c.Name, last.Namespace, last.Name)
					}
					seen[c.ID], last = true, c
				}
				if f.Token = next; next == "" {
					break
				}
			}
			if len(seen) != c.want {
				t.Errorf("Clusters(%+v) by pages of %d: %d, want %d", c.f, size, len(seen), c.want)
			}
		}
	}
	_, _, err := s.Clusters(s.ctx, onboard.ClusterFilter{Page: broker.Page{Token: "forged"}})
	wantErr(t, "a page that was never given out", err, broker.ErrInvalid)
}

func clusterMoves(t *testing.T, s onboardTest) {
	m := s.enable(t, "hub")
	for _, from := range onboard.States() {
		for _, to := range onboard.States() {
			c := fullCluster(m.VIM)
			c.State = from
			s.add(t, c)
			_, err := s.UpdateCluster(s.ctx, c.ID, func(c *onboard.Cluster) error { c.State = to; return nil }, entry("move"))
			if allowed := from == to || from.CanMove(to); allowed != (err == nil) || !allowed && !errors.Is(err, broker.ErrConflict) {
				t.Errorf("%s to %s = %v", from, to, err)
			}
		}
	}
}

func clusterSystems(t *testing.T, s onboardTest) {
	m, other := s.enable(t, "hub"), s.enable(t, "hub-2")
	c := s.add(t, fullCluster(m.VIM))
	late := fullCluster(other.VIM)
	late.System = ""
	s.add(t, late)
	foreign := fullCluster(other.VIM)
	foreign.Project, foreign.System = "south", c.System
	s.add(t, foreign) // a claim of another project excludes nobody
	if same, _, err := s.Clusters(s.ctx, onboard.ClusterFilter{System: c.System}); err != nil || len(same) != 2 {
		t.Errorf("%d clusters lead to the system, %v, want 2", len(same), err)
	}
	claim := func() error {
		_, err := s.UpdateCluster(s.ctx, late.ID, func(l *onboard.Cluster) error { l.System = c.System; return nil }, entry("claim"))
		return err
	}
	err := claim()
	var e *broker.Error
	if !errors.Is(err, broker.ErrExists) || !errors.As(err, &e) || e.Field != "system" {
		t.Errorf("a system that another cluster of the project has = %v", err)
	}
	for _, to := range []onboard.State{onboard.StateRetiring, onboard.StateRetired} {
		if _, err := s.UpdateCluster(s.ctx, c.ID, func(c *onboard.Cluster) error { c.State = to; return nil }, entry("retire")); err != nil {
			t.Fatal(err)
		}
	}
	if err := claim(); err != nil {
		t.Errorf("a system whose cluster is retired = %v", err)
	}
	if same, _, err := s.Clusters(s.ctx, onboard.ClusterFilter{System: c.System}); err != nil || len(same) != 2 {
		t.Errorf("%d clusters lead to the system after that, %v, want 2", len(same), err)
	}
}

// clusterFence: a worker whose job was taken over writes nothing.
func clusterFence(t *testing.T, s onboardTest) {
	m := s.enable(t, "hub")
	c := s.add(t, fullCluster(m.VIM))
	late := job.WithClaim(s.ctx, job.Claim{Job: job.Job{Kind: onboard.JobKind, Subject: m.VIM}, Fence: 99})
	for what, write := range map[string]func() error{
		"AddCluster": func() error { return s.AddCluster(late, fullCluster(m.VIM), entry("x")) },
		"UpdateCluster": func() error {
			_, err := s.UpdateCluster(late, c.ID, func(c *onboard.Cluster) error { c.State = onboard.StateRetiring; return nil }, entry("x"))
			return err
		},
		"DeferCluster":   func() error { return s.DeferCluster(late, c) },
		"ForgetCluster":  func() error { return s.ForgetCluster(late, c.ID) },
		"NoteManagement": func() error { return s.NoteManagement(late, m) },
		"UpdateManagement": func() error {
			_, err := s.UpdateManagement(late, m.VIM, func(*onboard.Management) error { return nil }, entry("x"))
			return err
		},
	} {
		wantErr(t, what+" of a worker that was overtaken", write(), job.ErrFenced)
	}
	got, err := s.Cluster(s.ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the cluster after that", got, c)
}
