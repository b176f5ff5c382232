package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// LifecycleStore is a store of instances and operations with its job queue.
type LifecycleStore interface {
	lifecycle.Store
	catalog.Store
	JobStore
	broker.VIMStore
	asset.Store
	KeysInUse(ctx context.Context, id string) ([]broker.RetiredKey, error)
}

// Lifecycle is the suite of [lifecycle.Store]. open gives an empty store.
func Lifecycle(t *testing.T, open func(t *testing.T) LifecycleStore) {
	check := func(name string, f func(*testing.T, lifecycleTest)) {
		t.Run(name, func(t *testing.T) {
			s := lifecycleTest{LifecycleStore: open(t), t: t}
			p := emptyPackage("north")
			p.ID = sampleShape().Package
			createPackage(t, s, p)
			f(t, s)
		})
	}
	check("Instance", instanceRows)
	check("Operation", operationRows)
	check("OneAtATime", oneAtATime)
	check("Moves", operationMoves)
	check("Progress", operationProgress)
	check("Delete", instanceDeletion)
	check("Packages", instancePackages)
	check("VIMs", instanceVIMs)
	check("VIMRace", func(t *testing.T, s lifecycleTest) { VIMRace(t, s, s) })
	check("Links", linkRows)
	check("AssetUses", linkUses)
	check("LinkRace", linkRace)
	check("InstanceQuota", instanceQuota)
	check("PackageRace", packageRace)
	check("List", lifecycleLists)
	check("Fence", operationFence)
	check("Drift", instanceDrift)
	check("Count", operationCounts)
	check("ByRequest", operationByRequest)
	check("Turns", operationTurns)
	check("TurnRace", turnRace)
	check("SecretParameters", secretParametersRows)
	check("SecretParametersNeeded", secretParametersNeeded)
}

type lifecycleTest struct {
	LifecycleStore
	t *testing.T
	// instance is the one that a check is about, where there is one.
	instance string
}

func sampleInstance(project string) lifecycle.Instance {
	return lifecycle.Instance{
		ID: uuid.NewString(), Project: project, Name: "web \u2603", Description: "d", State: lifecycle.NotInstantiated, CreatedBy: "alice", CreatedAt: epoch,
		Metadata: []byte(`{"a":1}`), Extensions: []byte(`{"b":2}`), Configurable: []byte(`{"c":3}`), Revision: 1,
		Shape: sampleShape(),
	}
}

func sampleShape() lifecycle.Shape {
	return lifecycle.Shape{
		Package: "p", Product: lifecycle.Product{VNFDID: "d", Provider: "pr", Name: "n", SoftwareVersion: "1", VNFDVersion: "2"},
		Part: lifecycle.Part{VIM: "v", VIMName: "edge", VIMType: "kubernetes", Namespace: "ns"}, Flavour: "f", Files: []string{"a.yaml"},
		Variables: map[string]string{"A": "nul \x00"}, Scale: map[string]int{"a": 1}, Replicas: map[string]int32{"front": 2},
		Resources: []lifecycle.Resource{{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "ns", Name: "front", VDU: "front", Outlives: true, Wave: 1, Applied: "m"}},
		VNFCs:     []lifecycle.VNFC{{VDU: "front", Kind: "Pod", Namespace: "ns", Name: "front-1", UID: "u", Ready: true}},
	}
}

func sampleOperation(i lifecycle.Instance) lifecycle.Operation {
	return lifecycle.Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: i.Project, Type: lifecycle.Instantiate, State: lifecycle.Starting,
		Asker:     policy.Delegation{Name: "alice", Project: i.Project, Roles: []string{"member"}, At: epoch},
		StartedAt: epoch, StateEnteredAt: epoch, QueuedAt: epoch.Add(time.Second), Deadline: epoch.Add(time.Hour), Params: []byte(`{"flavourId":"f"}`),
		Before: sampleShape(), Target: sampleShape(), VNFCs: sampleShape().VNFCs, Cancel: lifecycle.Graceful, Events: 1,
		Failure: &lifecycle.Failure{Status: 409, Title: "t", Detail: "d"}, Plan: "p", Stage: 1, Wave: 2,
		Steps: []lifecycle.Observation{{Resource: sampleShape().Resources[0], Standing: true, Ready: true, Message: "m", ChangedBy: []string{"kubectl"}, VNFCs: sampleShape().VNFCs}}, Revision: 1,
	}
}

func (s lifecycleTest) create(i lifecycle.Instance) lifecycle.Instance {
	s.t.Helper()
	if err := s.CreateInstance(s.t.Context(), i, 0, entry("create")); err != nil {
		s.t.Fatalf("CreateInstance = %v", err)
	}
	return i
}

func (s lifecycleTest) begin(i lifecycle.Instance) lifecycle.Operation {
	s.t.Helper()
	o := sampleOperation(i)
	if err := s.BeginOperation(s.t.Context(), o, i.Revision, nil, entry("begin")); err != nil {
		s.t.Fatalf("BeginOperation = %v", err)
	}
	return o
}

func (s lifecycleTest) update(o lifecycle.Operation, to lifecycle.OperationState) error {
	_, err := s.UpdateOperation(s.t.Context(), o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
		o.State = to
		return nil
	}, entry("update"))
	return err
}

// wantError fails unless err is of a kind.
func (s lifecycleTest) wantError(what string, err, kind error) {
	s.t.Helper()
	if !errors.Is(err, kind) {
		s.t.Errorf("%s = %v, want %v", what, err, kind)
	}
}

// entries counts the entries of a request.
func (s lifecycleTest) entries(what string) int {
	s.t.Helper()
	all, err := s.Entries(s.t.Context(), audit.Query{Resource: what, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// instanceDrift: looking at an instance is no change of it, and writes nothing over one.
func instanceDrift(t *testing.T, s lifecycleTest) {
	made := func(state lifecycle.InstanceState) lifecycle.Instance {
		i := sampleInstance("north")
		i.State = state
		return s.create(i)
	}
	due := func(limit int) (ids []string) {
		t.Helper()
		all, err := s.InstancesToObserve(t.Context(), epoch.Add(time.Hour), limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range all {
			ids = append(ids, i.ID)
		}
		return ids
	}
	made(lifecycle.NotInstantiated)
	busy, a, b := made(lifecycle.Instantiated), made(lifecycle.Instantiated), made(lifecycle.Instantiated)
	s.begin(busy)
	if got := due(10); len(got) != 2 || !slices.Contains(got, a.ID) || !slices.Contains(got, b.ID) {
		t.Errorf("due are %v, want %s and %s", got, a.ID, b.ID)
	}
	seen := lifecycle.Drift{
		TriedAt: epoch.Add(2 * time.Minute), SeenAt: epoch, Count: 2, Unseen: "no answer",
		Resources: []lifecycle.Observation{{Resource: sampleShape().Resources[0], Standing: true, ChangedBy: []string{"kubectl"}, Message: "m"}},
	}
	if err := s.SaveDrift(t.Context(), a.ID, a.Revision, seen); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveDrift(t.Context(), b.ID, b.Revision, lifecycle.Drift{TriedAt: epoch.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	a.Drift = seen
	got, err := s.Instance(t.Context(), a.ID)
	if diff := cmp.Diff(a, got); err != nil || diff != "" {
		t.Errorf("Instance = %v, differs by (-want +got):\n%s", err, diff)
	}
	if got := due(10); !slices.Equal(got, []string{b.ID, a.ID}) {
		t.Errorf("due are %v, want the one first that was looked at before the other", got)
	}
	if got := due(1); !slices.Equal(got, []string{b.ID}) {
		t.Errorf("of which one is %v", got)
	}
	if all, err := s.InstancesToObserve(t.Context(), epoch, 10); err != nil || len(all) != 0 {
		t.Errorf("before %v due are %d, %v", epoch, len(all), err)
	}
	count, err := s.CountInstances(t.Context())
	want := lifecycle.InstanceCount{States: map[lifecycle.InstanceState]int{lifecycle.NotInstantiated: 1, lifecycle.Instantiated: 3}, Drifted: 1, Unseen: 1}
	if diff := cmp.Diff(want, count); err != nil || diff != "" {
		t.Errorf("CountInstances = %v, differs by (-want +got):\n%s", err, diff)
	}
	s.wantError("an instance that has changed", s.SaveDrift(t.Context(), a.ID, a.Revision+1, seen), broker.ErrConflict)
	if err := s.SaveDrift(t.Context(), a.ID, a.Revision, lifecycle.Drift{SeenAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that JSON cannot say is saved")
	}
	s.wantError("one that is not there", s.SaveDrift(t.Context(), uuid.NewString(), 1, seen), broker.ErrNotFound)
	// An operation that ends says what it has made: what was seen before it is over.
	o := s.begin(a)
	if _, err := s.UpdateOperation(t.Context(), o.ID, func(_ *lifecycle.Operation, i *lifecycle.Instance) error {
		i.Drift = lifecycle.Drift{}
		return nil
	}, entry("ends")); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Instance(t.Context(), a.ID); err != nil || got.Drift.Count != 0 || !got.Drift.TriedAt.IsZero() {
		t.Errorf("after an operation the drift is %+v, %v", got.Drift, err)
	}
}

func instanceRows(t *testing.T, s lifecycleTest) {
	i := s.create(sampleInstance("north"))
	got, err := s.Instance(t.Context(), i.ID)
	if diff := cmp.Diff(i, got); err != nil || diff != "" {
		t.Errorf("Instance = %v, differs by (-want +got):\n%s", err, diff)
	}
	if s.entries("create") != 1 {
		t.Error("the write is not recorded")
	}
	s.wantError("a second of the id", s.CreateInstance(t.Context(), i, 0, entry("again")), broker.ErrExists)
	if s.entries("again") != 0 {
		t.Error("a write that failed is recorded")
	}
	_, err = s.Instance(t.Context(), uuid.NewString())
	s.wantError("one that is not there", err, broker.ErrNotFound)
}

// operationCounts counts what has not ended.
func operationCounts(t *testing.T, s lifecycleTest) {
	want := func(when string, want ...lifecycle.OperationCount) {
		t.Helper()
		got, err := s.LiveOperations(t.Context())
		slices.SortFunc(got, func(a, b lifecycle.OperationCount) int { return strings.Compare(string(a.State), string(b.State)) })
		for i := range got {
			got[i].Oldest = got[i].Oldest.UTC().Truncate(time.Second)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s LiveOperations = %v (-want +got):\n%s", when, err, diff)
		}
	}
	want("of nothing")
	first := s.begin(s.create(sampleInstance("north")))
	second := s.begin(s.create(sampleInstance("south")))
	starting := lifecycle.OperationCount{
		Type: first.Type, State: first.State, Count: 2, Oldest: first.StateEnteredAt.Truncate(time.Second),
		Waiting: 2, OldestWaiting: first.QueuedAt.Truncate(time.Second),
	}
	want("of two", starting)
	s.give(first.ID, second.ID)
	starting.Waiting, starting.OldestWaiting = 0, time.Time{}
	want("of two that have their turn", starting)
	later := first.StateEnteredAt.Add(-time.Hour)
	move := func(to lifecycle.OperationState) {
		t.Helper()
		if _, err := s.UpdateOperation(t.Context(), second.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
			o.State, o.StateEnteredAt = to, later
			return nil
		}, entry("move")); err != nil {
			t.Fatal(err)
		}
	}
	move(lifecycle.Processing)
	move(lifecycle.FailedTemp)
	starting.Count = 1
	want("of one that has failed", lifecycle.OperationCount{Type: second.Type, State: lifecycle.FailedTemp, Count: 1, Oldest: later.Truncate(time.Second)}, starting)
	for _, f := range []lifecycle.OperationFilter{{Failed: true}, {Project: second.Project, Failed: true}} {
		if all, _, err := s.Operations(t.Context(), f); len(all) != 1 || err != nil || all[0].ID != second.ID {
			t.Errorf("Operations(%+v) = %v, %v, want the one that has failed", f, all, err)
		}
	}
	move(lifecycle.Failed)
	want("of one that was given up", starting)
}

// give gives operations their turn.
func (s lifecycleTest) give(ids ...string) {
	s.t.Helper()
	if err := s.GiveTurns(s.t.Context(), func([]lifecycle.Place) []string { return ids }, func(o *lifecycle.Operation) { o.TurnAt = epoch.Add(time.Minute) }); err != nil {
		s.t.Fatal(err)
	}
}

// operationTurns: an operation has a job once it has its turn, and waits for another after a retry.
func operationTurns(t *testing.T, s lifecycleTest) {
	queued := func(project string, at time.Duration) lifecycle.Operation {
		i := s.create(sampleInstance(project))
		o := sampleOperation(i)
		o.QueuedAt = epoch.Add(at)
		if err := s.BeginOperation(t.Context(), o, i.Revision, nil, entry("begin")); err != nil {
			t.Fatal(err)
		}
		return o
	}
	third, first, second := queued("north", 3*time.Second), queued("south", time.Second), queued("north", 2*time.Second)
	place := func(o lifecycle.Operation, waits bool) lifecycle.Place {
		return lifecycle.Place{Operation: o.ID, Project: o.Project, VIM: "v", QueuedAt: o.QueuedAt, Waits: waits}
	}
	want := func(when string, want ...lifecycle.Place) {
		t.Helper()
		got, err := s.Places(t.Context())
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s Places = %v (-want +got):\n%s", when, err, diff)
		}
	}
	jobs := func(when string, want ...lifecycle.Operation) {
		t.Helper()
		taken, err := s.TakeJobs(t.Context(), lifecycle.JobKind, 10, s.Now().Add(time.Minute))
		if err != nil || len(taken) != len(want) {
			t.Errorf("%s TakeJobs = %v, %v, want %d", when, taken, err, len(want))
		}
		for _, o := range want {
			if !slices.ContainsFunc(taken, func(a queue.Attempt) bool { return a.Job == o.Job() }) {
				t.Errorf("%s %s has no job", when, o.ID)
			}
		}
	}
	want("of three", place(first, true), place(second, true), place(third, true))
	if err := s.GiveTurns(t.Context(), func(got []lifecycle.Place) []string {
		if len(got) != 3 {
			t.Errorf("to choose from are %v", got)
		}
		return nil
	}, nil); err != nil {
		t.Fatal(err)
	}
	jobs("before a turn")
	s.give(second.ID, first.ID)
	jobs("after two turns", first, second)
	want("after two turns", place(first, false), place(second, false), place(third, true))
	got, err := s.Operation(t.Context(), first.ID)
	first.TurnAt, first.Revision = epoch.Add(time.Minute), 2
	if diff := cmp.Diff(first, got); err != nil || diff != "" {
		t.Errorf("Operation = %v, differs by (-want +got):\n%s", err, diff)
	}
	// What does not wait is left out, and what has ended has no place.
	s.give(first.ID)
	if got, err := s.Operation(t.Context(), first.ID); err != nil || got.Revision != 2 {
		t.Errorf("after a second turn of one the operation has revision %d, %v", got.Revision, err)
	}
	for _, to := range []lifecycle.OperationState{lifecycle.Processing, lifecycle.FailedTemp} {
		if err := s.update(first, to); err != nil {
			t.Fatal(err)
		}
	}
	want("after one has failed", place(second, false), place(third, true))
	if _, err := s.UpdateOperation(t.Context(), first.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
		o.State, o.QueuedAt, o.TurnAt = lifecycle.Processing, epoch.Add(time.Hour), time.Time{}
		return nil
	}, entry("retry")); err != nil {
		t.Fatal(err)
	}
	first.QueuedAt = epoch.Add(time.Hour)
	want("after a retry", place(second, false), place(third, true), place(first, true))
	s.give(first.ID)
	want("after its turn", place(second, false), place(third, true), place(first, false))
}

// turnRace: of callers at the same time each sees what the one before has given.
func turnRace(t *testing.T, s lifecycleTest) {
	for range 12 {
		s.begin(s.create(sampleInstance("north")))
	}
	const bound = 3
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := s.GiveTurns(t.Context(), func(places []lifecycle.Place) []string {
				var waiting []string
				for _, p := range places {
					if p.Waits {
						waiting = append(waiting, p.Operation)
					}
				}
				free := bound - (len(places) - len(waiting))
				if free <= 0 {
					return nil
				}
				rand.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
				return waiting[:min(free, len(waiting))]
			}, func(o *lifecycle.Operation) { o.TurnAt = epoch }); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	places, err := s.Places(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	busy := 0
	for _, p := range places {
		if !p.Waits {
			busy++
		}
	}
	if busy != bound {
		t.Errorf("%d operations have their turn, want %d", busy, bound)
	}
}

func operationRows(t *testing.T, s lifecycleTest) {
	i := s.create(sampleInstance("north"))
	o := s.begin(i)
	got, err := s.Operation(t.Context(), o.ID)
	if diff := cmp.Diff(o, got); err != nil || diff != "" {
		t.Errorf("Operation = %v, differs by (-want +got):\n%s", err, diff)
	}
	if due, err := s.DueKinds(t.Context(), []string{lifecycle.JobKind}); err != nil || len(due) != 0 {
		t.Errorf("DueKinds = %v, %v; want none before the operation has its turn", due, err)
	}
	_, err = s.Operation(t.Context(), uuid.NewString())
	s.wantError("one that is not there", err, broker.ErrNotFound)

	no := errors.New("no")
	_, err = s.UpdateOperation(t.Context(), o.ID, func(*lifecycle.Operation, *lifecycle.Instance) error { return no }, entry("refused"))
	if err != no || s.entries("refused") != 0 { //nolint:errorlint // as it is
		t.Errorf("a change that fails: %v", err)
	}
	stored, err := s.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
		o.State, o.ID, o.Project, o.Revision = lifecycle.Processing, "x", "x", 99
		i.State, i.ID, i.Project, i.Revision = lifecycle.Instantiated, "x", "x", 99
		return nil
	}, entry("update"))
	if err != nil || stored.State != lifecycle.Processing || stored.ID != o.ID || stored.Revision != 2 {
		t.Errorf("UpdateOperation = %+v, %v", stored, err)
	}
	after, err := s.Instance(t.Context(), i.ID)
	if err != nil || after.State != lifecycle.Instantiated || after.Project != "north" || after.Revision != 3 {
		t.Errorf("the instance is %+v, %v", after, err)
	}
}

// oneAtATime: the store lets one operation of an instance live, whoever comes at the same time.
func oneAtATime(t *testing.T, s lifecycleTest) {
	i := s.create(sampleInstance("north"))
	var wg sync.WaitGroup
	results := make([]error, 8)
	for n := range results {
		wg.Go(func() {
			results[n] = s.BeginOperation(t.Context(), sampleOperation(i), i.Revision, nil, entry(fmt.Sprint("begin", n)))
		})
	}
	wg.Wait()
	begun := 0
	for _, err := range results {
		if err == nil {
			begun++
			continue
		}
		s.wantError("BeginOperation", err, broker.ErrConflict)
	}
	if begun != 1 {
		t.Errorf("%d operations have begun, want 1", begun)
	}
	stale := sampleOperation(i)
	stale.State = lifecycle.Completed
	s.wantError("an operation while one is live", s.BeginOperation(t.Context(), stale, 2, nil, entry("live")), broker.ErrConflict)
}

func operationMoves(t *testing.T, s lifecycleTest) {
	i := s.create(sampleInstance("north"))
	o := s.begin(i)
	s.wantError("STARTING to COMPLETED", s.update(o, lifecycle.Completed), broker.ErrConflict)
	for _, to := range []lifecycle.OperationState{lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack, lifecycle.RolledBack} {
		if err := s.update(o, to); err != nil {
			t.Errorf("to %s = %v", to, err)
		}
	}
	s.wantError("ROLLED_BACK to PROCESSING", s.update(o, lifecycle.Processing), broker.ErrConflict)
	now, err := s.Instance(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.wantError("a revision of before", s.BeginOperation(t.Context(), sampleOperation(i), i.Revision, nil, entry("stale")), broker.ErrConflict)
	modify := sampleOperation(i)
	modify.Type, modify.State = lifecycle.ModifyInfo, lifecycle.Completed
	if err := s.BeginOperation(t.Context(), modify, now.Revision, func(i *lifecycle.Instance) { i.Name = "other" }, entry("modify")); err != nil {
		t.Errorf("one that is over at once = %v", err)
	}
	if now, err = s.Instance(t.Context(), i.ID); err != nil || now.Name != "other" {
		t.Errorf("the instance is %q, %v", now.Name, err)
	}
}

func operationProgress(t *testing.T, s lifecycleTest) {
	o := s.begin(s.create(sampleInstance("north")))
	change := o
	change.Stage, change.Wave, change.Plan, change.Steps = 3, 4, "q", nil
	change.State, change.Cancel = lifecycle.Completed, ""
	change.Before.Links = []lifecycle.Link{{Name: "old"}}
	change.Target.Links = []lifecycle.Link{{Name: "lan", Spans: true, Ports: []asset.Port{{Name: "a", ID: "p", MAC: "m", IPs: []string{"10.0.0.7/24"}}}}}
	change.Target.Name, change.Target.Files = "other", nil
	if err := s.SaveProgress(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	want := o
	want.Stage, want.Wave, want.Plan, want.Steps, want.Revision = 3, 4, "q", nil, 2
	want.Before.Links, want.Target.Links = change.Before.Links, change.Target.Links
	got, err := s.Operation(t.Context(), o.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Operation = %v, differs by (-want +got):\n%s", err, diff)
	}
}

func instanceDeletion(t *testing.T, s lifecycleTest) {
	i := s.create(sampleInstance("north"))
	o := s.begin(i)
	s.wantError("while an operation lives", s.DeleteInstance(t.Context(), i.ID, entry("delete")), broker.ErrConflict)
	if err := s.update(o, lifecycle.RolledBack); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteInstance(t.Context(), i.ID, entry("delete")); err != nil {
		t.Errorf("DeleteInstance = %v", err)
	}
	_, err := s.Operation(t.Context(), o.ID)
	s.wantError("its operation", err, broker.ErrNotFound)
	if err := s.DeleteInstance(t.Context(), i.ID, entry("delete")); err != nil || s.entries("delete") != 1 {
		t.Errorf("a second time = %v, %d entries", err, s.entries("delete"))
	}
	full := sampleInstance("north")
	full.State = lifecycle.Instantiated
	s.create(full)
	s.wantError("one that has resources", s.DeleteInstance(t.Context(), full.ID, entry("delete")), broker.ErrConflict)
}

// instancePackages: a package is in use as long as an instance, or a live operation on one, needs it.
func instancePackages(t *testing.T, s lifecycleTest) {
	before, after, other := emptyPackage("north"), emptyPackage("north"), emptyPackage("north")
	for _, p := range []catalog.Package{before, after, other} {
		createPackage(t, s, p)
	}
	want := func(when string, used ...string) {
		t.Helper()
		for _, p := range []catalog.Package{before, after, other} {
			got, err := s.Package(t.Context(), p.ID)
			if err != nil || got.InUse != slices.Contains(used, p.ID) {
				t.Errorf("%s a package is in use: %t, %v", when, got.InUse, err)
			}
		}
	}
	change := func(to lifecycle.OperationState, pkg string) {
		t.Helper()
		i, err := s.Instance(t.Context(), s.instance)
		if err != nil {
			t.Fatal(err)
		}
		o := sampleOperation(i)
		o.Before.Package, o.Target.Package = i.Shape.Package, after.ID
		if err := s.BeginOperation(t.Context(), o, i.Revision, nil, entry("begin")); err != nil {
			t.Fatal(err)
		}
		want("while it is changed", before.ID, after.ID)
		for _, state := range []lifecycle.OperationState{lifecycle.Processing, lifecycle.FailedTemp, to} {
			_, err := s.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
				o.State = state
				if state == to {
					i.Shape.Package = pkg
				}
				return nil
			}, entry("update"))
			if err != nil {
				t.Fatal(err)
			}
			if state != to {
				want("while it is changed", before.ID, after.ID)
			}
		}
	}
	want("before an instance is made")
	i := sampleInstance("north")
	i.Shape.Package = before.ID
	s.create(i)
	s.instance = i.ID
	want("after an instance is made", before.ID)
	change(lifecycle.Failed, before.ID)
	want("after a change that failed", before.ID)
	if err := s.DeletePackage(t.Context(), before.ID, entry("delete-package")); err == nil {
		t.Error("a package in use was deleted")
	}
	if err := s.DeleteInstance(t.Context(), i.ID, entry("delete")); err != nil {
		t.Fatal(err)
	}
	want("after the instance is deleted")
}

// instanceQuota: of a crowd that makes instances at the same time no more get one than the project may have. Another
// project's are not counted.
func instanceQuota(t *testing.T, s lifecycleTest) {
	const most, crowd = 3, 8
	s.create(sampleInstance("south"))
	made := make(chan error, crowd)
	for range crowd {
		go func() { made <- s.CreateInstance(t.Context(), sampleInstance("north"), most, entry("crowd")) }()
	}
	in := 0
	for range crowd {
		if err := <-made; err == nil {
			in++
		} else {
			s.wantError("one more than the project may have", err, broker.ErrQuota)
		}
	}
	if in != most || s.entries("crowd") != most {
		t.Errorf("%d instances came in and %d are recorded, want %d", in, s.entries("crowd"), most)
	}
	s.create(sampleInstance("north")) // without a bound
}

// packageRace: an instance that is made while its package is being deleted holds it, or is not made. So does one
// that goes over to it.
func packageRace(t *testing.T, s lifecycleTest) {
	gone := sampleInstance("north")
	gone.Shape.Package = uuid.NewString()
	s.wantError("an instance of a package that is gone", s.CreateInstance(t.Context(), gone, 0, entry("create")), broker.ErrConflict)
	for n := range 20 {
		p := emptyPackage("north")
		createPackage(t, s, p)
		i := sampleInstance("north")
		take := func() error {
			i.Shape.Package = p.ID
			return s.CreateInstance(t.Context(), i, 0, entry("create"))
		}
		if n%2 == 1 {
			s.create(i)
			o := sampleOperation(i)
			o.Target.Package = p.ID
			take = func() error { return s.BeginOperation(t.Context(), o, 1, nil, entry("begin")) }
		}
		var taken, deleted error
		var both sync.WaitGroup
		both.Go(func() { taken = take() })
		both.Go(func() { deleted = s.DeletePackage(t.Context(), p.ID, entry("delete-package")) })
		both.Wait()
		now, err := s.Package(t.Context(), p.ID)
		switch {
		case taken == nil && deleted == nil, taken != nil && deleted != nil:
			t.Errorf("taken: %v, deleted: %v, want one of them refused", taken, deleted)
		case taken == nil:
			s.wantError("the deletion", deleted, broker.ErrConflict)
			if err != nil || !now.InUse {
				t.Errorf("the package is in use: %t, %v", now.InUse, err)
			}
		default:
			s.wantError("the taking", taken, broker.ErrConflict)
			s.wantError("the package", err, broker.ErrNotFound)
		}
	}
}

func lifecycleLists(t *testing.T, s lifecycleTest) {
	var want []string
	for n := range 5 {
		i := sampleInstance("north")
		i.CreatedAt = epoch.Add(time.Duration(n/2) * time.Second) // some at the same time
		s.create(i)
		o := sampleOperation(i)
		o.StartedAt = i.CreatedAt
		if err := s.BeginOperation(t.Context(), o, 1, nil, entry("begin")); err != nil {
			t.Fatal(err)
		}
		want = append(want, i.ID)
	}
	s.create(sampleInstance("south"))
	seen := map[string]bool{}
	last := time.Time{}
	f := lifecycle.InstanceFilter{Project: "north", Page: broker.Page{Size: 2}}
	for range 3 {
		page, next, err := s.Instances(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page {
			if seen[i.ID] || !last.IsZero() && i.CreatedAt.After(last) {
				t.Errorf("%s at %v comes twice or too late", i.ID, i.CreatedAt)
			}
			seen[i.ID], last = true, i.CreatedAt
		}
		f.Token = next
	}
	if len(seen) != len(want) || f.Token != "" {
		t.Errorf("%d instances in three pages, then %q", len(seen), f.Token)
	}
	if all, _, err := s.Instances(t.Context(), lifecycle.InstanceFilter{}); len(all) != 6 || err != nil {
		t.Errorf("%d instances of all projects, %v", len(all), err)
	}
	if all, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{Project: "north"}); len(all) != 5 || err != nil {
		t.Errorf("%d operations, %v", len(all), err)
	}
	if all, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{Project: "north", Instance: want[0]}); len(all) != 1 || err != nil {
		t.Errorf("%d operations of an instance, %v", len(all), err)
	}
	if all, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{Instance: want[0]}); len(all) != 1 || err != nil {
		t.Errorf("%d operations of an instance, of all projects, %v", len(all), err)
	}
	if all, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{}); len(all) != 5 || err != nil {
		t.Errorf("%d operations of all projects, %v", len(all), err)
	}
	named := sampleInstance("north")
	named.Name = "a name of its own"
	s.create(named)
	for _, f := range []lifecycle.InstanceFilter{{Name: named.Name}, {Project: "north", Name: named.Name}} {
		if all, _, err := s.Instances(t.Context(), f); len(all) != 1 || err != nil || all[0].ID != named.ID {
			t.Errorf("Instances(%+v) = %v, %v", f, all, err)
		}
	}
	if all, _, err := s.Instances(t.Context(), lifecycle.InstanceFilter{Project: "south", Name: named.Name}); len(all) != 0 || err != nil {
		t.Errorf("%d instances of the name in another project, %v", len(all), err)
	}
	if all, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{Project: "south"}); len(all) != 0 || err != nil {
		t.Errorf("%d operations of another project, %v", len(all), err)
	}
	_, _, err := s.Operations(t.Context(), lifecycle.OperationFilter{Page: broker.Page{Token: "x"}})
	s.wantError("a token that no list gave out", err, broker.ErrInvalid)
}

// operationByRequest: the process that was asked for an operation and does it may write until the operation's job begins,
// at its deadline.
func operationByRequest(t *testing.T, s lifecycleTest) {
	begin := func(deadline time.Time) lifecycle.Operation {
		i := s.create(sampleInstance("north"))
		o := sampleOperation(i)
		o.TurnAt, o.Deadline = epoch, deadline
		if err := s.BeginOperation(t.Context(), o, i.Revision, nil, entry("begin")); err != nil {
			t.Fatal(err)
		}
		return o
	}
	save := func(o lifecycle.Operation) error {
		return s.SaveProgress(job.WithClaim(t.Context(), job.Claim{Job: o.Job()}), o)
	}
	early, late := begin(s.Now().Add(time.Hour)), begin(s.Now().Add(-time.Minute))
	for _, o := range []lifecycle.Operation{early, late} {
		if err := save(o); err != nil {
			t.Errorf("the process that was asked saves %v before the job begins", err)
		}
	}
	if due, err := s.TakeJobs(t.Context(), lifecycle.JobKind, 10, s.Now().Add(time.Minute)); err != nil || len(due) != 1 || due[0].Job != late.Job() {
		t.Fatalf("TakeJobs = %v, %v, want that of %s", due, err, late.ID)
	}
	s.wantError("saving once the job has begun", save(late), job.ErrFenced)
	if err := save(early); err != nil {
		t.Errorf("the job of another operation has begun: %v", err)
	}
}

// operationFence: a worker whose attempt is over writes nothing more.
func operationFence(t *testing.T, s lifecycleTest) {
	o := s.begin(s.create(sampleInstance("north")))
	ctx := job.WithClaim(t.Context(), job.Claim{Job: o.Job(), Fence: 99})
	s.wantError("SaveProgress", s.SaveProgress(ctx, o), job.ErrFenced)
	_, err := s.UpdateOperation(ctx, o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
		o.State = lifecycle.Processing
		return nil
	}, entry("fenced"))
	s.wantError("UpdateOperation", err, job.ErrFenced)
	if got, err := s.Operation(t.Context(), o.ID); err != nil || got.Revision != 1 {
		t.Errorf("the operation has revision %d, %v", got.Revision, err)
	}
}
