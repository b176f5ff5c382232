package helm_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	storagedriver "helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// secrets are those of the fake cluster, as Helm's storage reads and writes them.
type secrets struct {
	coreclient.SecretInterface
	t *testing.T
	s *fakeobjects.Server
}

const secretsOfCNF = "/api/v1/namespaces/cnf/secrets/"

func (c secrets) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Secret, error) {
	there := c.s.Get(secretsOfCNF + name)
	if there == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	text, err := json.Marshal(there)
	if err != nil {
		return nil, err
	}
	var o corev1.Secret
	return &o, json.Unmarshal(text, &o)
}

func (c secrets) List(ctx context.Context, options metav1.ListOptions) (*corev1.SecretList, error) {
	selector, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, err
	}
	var all corev1.SecretList
	for _, path := range c.s.Paths() {
		name, is := strings.CutPrefix(path, secretsOfCNF)
		if !is {
			continue
		}
		o, err := c.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if selector.Matches(labels.Set(o.Labels)) {
			all.Items = append(all.Items, *o)
		}
	}
	return &all, nil
}

// TestHelmReadsTheRecords: Helm's own storage finds each revision with its state, its values and what it consists of.
func TestHelmReadsTheRecords(t *testing.T) {
	s := fakeobjects.New(t)
	releases := storage.Init(storagedriver.NewSecrets(secrets{t: t, s: s}))
	in := inputOf(cnf.Chart("canary"))
	name := "vnf" + strings.ReplaceAll(in.Instance, "-", "")[:12]
	in.Parameters = []byte(`{"helm_values": {"colour": "blue"}}`)
	run := func(in lifecycle.PlanInput, waves int) []lifecycle.Resource {
		t.Helper()
		p, err := plan(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range p.Stages {
			for _, w := range stage.Waves {
				if waves--; waves < 0 {
					return p.Resources
				}
				if err := driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return p.Resources
	}
	states := func() (all []string) {
		t.Helper()
		found, err := releases.History(name)
		if err != nil {
			t.Fatal(err)
		}
		of := func(r release.Releaser) *releasev1.Release { return r.(*releasev1.Release) }
		slices.SortFunc(found, func(a, b release.Releaser) int { return of(a).Version - of(b).Version })
		for _, r := range found {
			all = append(all, of(r).Info.Status.String())
		}
		return all
	}
	const whole = 100
	in.Standing = run(in, 1)
	if got := states(); !slices.Equal(got, []string{"pending-install"}) {
		t.Fatalf("Helm sees %v", got)
	}
	in.Standing = run(in, whole)
	last, err := releases.Last(name)
	if err != nil {
		t.Fatal(err)
	}
	r := last.(*releasev1.Release)
	if r.Namespace != "cnf" || r.Version != 1 || r.Config["colour"] != "blue" || r.Chart.Name() != "web" || len(r.Hooks) != 2 ||
		r.ApplyMethod != "ssa" || !strings.Contains(r.Manifest, "password: canary") || r.Info.FirstDeployed.IsZero() {
		t.Errorf("Helm reads %+v %+v", r, r.Info)
	}
	for n := range 12 {
		in.Operation, in.Mark = lifecycle.ChangePackage, in.Mark+"x"
		in.Standing = run(in, whole)
		if want := min(n+2, 10); len(states()) != want {
			t.Fatalf("after revision %d Helm sees %v, want %d of them", n+2, states(), want)
		}
	}
	if got := states(); got[9] != "deployed" || slices.ContainsFunc(got[:9], func(s string) bool { return s != "superseded" }) {
		t.Errorf("Helm sees %v, want that the last is deployed and all before it superseded", got)
	}
}

// TestRecordsOfStrangers: what lies on the cluster under the name of a release's record is no record where it is another
// instance's, and an error where the instance's own has become something else.
func TestRecordsOfStrangers(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(cnf.Chart("canary"))
	name := func(version string) string {
		return "sh.helm.release.v1.vnf" + strings.ReplaceAll(in.Instance, "-", "")[:12] + ".v" + version
	}
	put := func(version, owner, text string) {
		t.Helper()
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		value := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(packed.Bytes())))
		s.Put(secretsOfCNF+name(version), map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"release": value},
			"metadata": map[string]any{"name": name(version), "namespace": "cnf", "labels": map[string]any{
				"vimbroker.io/instance": owner, "vimbroker.io/operation": in.Mark,
			}},
		})
	}
	const planted = `"info": {"status": "deployed"}, "manifest": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: planted}\n"`

	// Another instance's chart or manifests have planted it: this one has no release, and heals by its own chart.
	put("1", uuid.NewString(), `{"version": 1, `+planted+`}`)
	in.Operation = lifecycle.Heal
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	if applied(p, "planted") != "" || applied(p, "login") == "" {
		t.Error("another instance's Secret is taken for a record of the release")
	}

	many := func(of string) string {
		var out strings.Builder
		for n := range 65 {
			fmt.Fprintf(&out, `, "%s%d": 1`, of, n)
		}
		return out.String()
	}
	for name, text := range map[string]string{
		"null":          `null`,
		"no info":       `{"version": 1}`,
		"info is null":  `{"version": 1, "info": null}`,
		"other version": `{"version": 2, ` + planted + `}`,
		"members":       `{"version": 1, ` + planted + many("a") + `}`,
		"infos":         `{"version": 1, "info": {"status": "deployed"` + many("a") + `}}`,
		"long":          `{"version": 1, ` + planted + `, "name": "` + strings.Repeat("a", 16<<20) + `"}`,
		"no gzip":       "",
		"definitions":   `{"version": 1, ` + planted + `, "vimbroker.io/definitions": [` + strings.Repeat("{},", 20_000) + `{}]}`,
	} {
		put("1", in.Instance, text)
		for _, operation := range []lifecycle.OperationType{lifecycle.Instantiate, lifecycle.Heal, lifecycle.ScaleVNF, lifecycle.Terminate} {
			in.Operation = operation
			if _, err := plan(t, s, in); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "is no record of the release") {
				t.Errorf("%s of a record with %s: %v, want a conflict that says so", operation, name, err)
			}
		}
	}

	// Each may be long, and so may Secrets of nobody's beside them: the release is gone on with, and ended.
	const revisions = 10
	for n := range revisions + 4 {
		status, owner := "superseded", in.Instance
		if n == revisions-1 {
			status = "deployed"
		}
		text := fmt.Sprintf(`{"version": %d, %s, "name": "%s"}`, n+1, strings.Replace(planted, "deployed", status, 1), strings.Repeat("a", 7<<20))
		if n >= revisions {
			owner, text = "", strings.Repeat("a", 15<<20)
		}
		put(strconv.Itoa(n+1), owner, text)
	}
	in.Standing = nil
	for n := range revisions {
		in.Standing = append(in.Standing, manifests.SecretNamed("cnf", name(strconv.Itoa(n+1))))
	}
	for _, operation := range []lifecycle.OperationType{lifecycle.Heal, lifecycle.ScaleVNF, lifecycle.Terminate} {
		in.Operation, in.Mark = operation, uuid.NewString()
		if _, err := plan(t, s, in); err != nil {
			t.Errorf("%s of a release with revisions of 70 MiB: %v", operation, err)
		}
	}
	in.Standing = nil
	for n := range revisions + 4 {
		s.Remove(secretsOfCNF + name(strconv.Itoa(n+1)))
	}

	// What is written into a record does not become another one.
	in.Operation = lifecycle.Heal
	put("1", in.Instance, `{"version": 1, `+strings.NewReplacer("ConfigMap", "Secret", "planted", name("2")).Replace(planted)+`}`)
	in.Mark = uuid.NewString() // of another operation than has made it
	if _, err := plan(t, s, in); err == nil || !strings.Contains(err.Error(), "records of releases") {
		t.Errorf("a record that holds a record: %v", err)
	}

	// Hooks that cannot be: too many, and another kind of value.
	in.Operation = lifecycle.Terminate
	for says, hooks := range map[string]string{
		"more than 1000 hooks": "[" + strings.Repeat(`{"events":["pre-delete"]},`, 1000) + `{}]`,
		"hooks that cannot be": `[{"events": 1}]`,
	} {
		put("1", in.Instance, `{"version": 1, `+planted+`, "hooks": `+hooks+`}`)
		if _, err := plan(t, s, in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("hooks: %v, want %q", err, says)
		}
	}
}

// TestRenderedOnce: whoever goes on with an operation, or takes it back, needs no chart and no program that renders:
// what is to stand is recorded, the definitions of subcharts included.
func TestRenderedOnce(t *testing.T) {
	s := fakeobjects.New(t)
	definition := func(plural string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + ".example.com}\n" +
			"spec: {group: example.com, scope: Namespaced, names: {kind: K" + plural + ", plural: " + plural + "}, versions: [{name: v1, served: true, storage: true}]}\n"
	}
	in := inputOf(chartOf(map[string]string{
		"crds/a.yaml": definition("outers"), "charts/sub/crds/b.yaml": definition("inners"),
		"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"templates/a.yaml":      configMap + "{salt: {{ randAlphaNum 16 | quote }}}",
	}))
	run := func(p lifecycle.Plan, waves int) {
		t.Helper()
		for _, stage := range p.Stages {
			for _, w := range stage.Waves {
				if waves--; waves < 0 {
					return
				}
				if err := driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const whole = 100
	without := helm.New(helm.Options{Program: []string{"/nonexistent"}})
	goOn := func(in lifecycle.PlanInput) lifecycle.Plan {
		t.Helper()
		in.Manifests = nil
		p, err := without.Plan(t.Context(), s.Connection(without.Survey(in)), in)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	run(p, 1)
	in.Standing = p.Resources
	again := goOn(in)
	if !reflect.DeepEqual(again.Resources, p.Resources) || applied(again, "a") != applied(p, "a") || applied(again, "outers.example.com") == "" || applied(again, "inners.example.com") == "" {
		t.Errorf("going on the plan is of\n%v, and was of\n%v", again.Resources, p.Resources)
	}
	run(again, whole)
	stood := applied(p, "a")

	first := in.Mark
	in.Operation, in.Mark = lifecycle.ScaleVNF, first+"x"
	if p, err = plan(t, s, in); err != nil {
		t.Fatal(err)
	}
	run(p, 1)
	in.Standing, in.Undone, in.Mark = append(in.Standing, p.Resources...), in.Mark, in.Mark+"-back"
	back := goOn(in)
	if applied(back, "a") != stood || applied(back, "outers.example.com") != "" {
		t.Errorf("going back applies %s, want %s, and no definition", applied(back, "a"), stood)
	}
	run(back, 1)
	if applied(goOn(in), "a") != stood {
		t.Error("going on going back applies something else")
	}

	// Of what failed to be made nothing is needed either, and of an older version's record the chart is.
	in.Undone, in.Operation = "", lifecycle.Terminate
	goOn(in)
	in.Operation, in.Mark = lifecycle.ScaleVNF, first+"y"
	if p, err = plan(t, s, in); err != nil {
		t.Fatal(err)
	}
	run(p, whole)
	in.Standing = append(in.Standing, p.Resources...)
	if _, err := without.Plan(t.Context(), s.Connection(without.Survey(in)), in); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("with definitions that nobody has recorded Plan = %v, want %v", err, broker.ErrUnsupported)
	}
}

// TestARollbackTakesHooksAway: a hook that succeeded before another failed, and that would have gone with its success, goes
// with the rollback; one without that policy stays, as Helm leaves it.
func TestARollbackTakesHooksAway(t *testing.T) {
	s := fakeobjects.New(t)
	hook := func(name, annotations string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {helm.sh/hook: pre-upgrade, " + annotations + "}}\n"
	}
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": configMap + "{}\n" +
		hook("passing", "helm.sh/hook-weight: '-1', helm.sh/hook-delete-policy: 'hook-succeeded,before-hook-creation'") + hook("staying", "helm.sh/hook-weight: '0'")}))
	const at = "/api/v1/namespaces/cnf/configmaps/"
	run := func(until string) {
		t.Helper()
		p, err := plan(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range p.Stages {
			for _, w := range stage.Waves {
				if until != "" && s.Get(at+until) != nil {
					continue
				}
				if err := driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
					t.Fatal(err)
				}
			}
		}
		in.Standing = append(in.Standing, p.Resources...)
	}
	run("")
	first := in.Mark
	in.Operation, in.Mark = lifecycle.ChangePackage, first+"x"
	run("staying")
	if s.Get(at+"passing") == nil || s.Get(at+"staying") == nil {
		t.Fatal("the hooks did not run: the test sees nothing")
	}
	in.Undone, in.Mark = in.Mark, in.Mark+"-back"
	run("")
	if s.Get(at+"passing") != nil || s.Get(at+"staying") == nil {
		t.Errorf("after the rollback there is %v, want staying and not passing", s.Paths())
	}
}

// TestEarlierRevisionsCountWhole: what an earlier revision holds is used where it is needed: its hooks go with the
// instance, and it is superseded as it was.
func TestEarlierRevisionsCountWhole(t *testing.T) {
	s := fakeobjects.New(t)
	with := func(name string) []lifecycle.Manifest {
		return chartOf(map[string]string{"templates/a.yaml": configMap + "{}\n---\n" +
			strings.Replace(configMap, "name: a", "name: "+name+", annotations: {helm.sh/hook: 'post-install,post-upgrade'}", 1) + "{}"})
	}
	in := inputOf(with("first-hook"))
	for _, next := range []string{"second-hook", "third-hook", ""} {
		for _, waves := range []int{1, 100} { // once it is recorded, somebody else goes on
			p, err := plan(t, s, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, stage := range p.Stages {
				for _, w := range stage.Waves {
					if waves--; waves < 0 {
						break
					}
					if err := driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
						t.Fatal(err)
					}
				}
			}
			in.Standing = p.Resources
		}
		in.Operation, in.Mark, in.Manifests = lifecycle.ChangePackage, uuid.NewString(), with(next)
	}
	found, err := storage.Init(storagedriver.NewSecrets(secrets{t: t, s: s})).History("vnf" + strings.ReplaceAll(in.Instance, "-", "")[:12])
	if err != nil || len(found) != 3 {
		t.Fatalf("Helm sees %d revisions, %v, want 3", len(found), err)
	}
	for _, r := range found {
		if r := r.(*releasev1.Release); r.Chart == nil || r.Chart.Name() != "web" || r.Manifest == "" || len(r.Hooks) != 1 {
			t.Errorf("revision %d is %+v, want it as it was made", r.Version, r)
		}
	}
	in.Operation, in.Standing = lifecycle.Terminate, nil
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"first-hook", "second-hook", "third-hook"} {
		if !slices.ContainsFunc(p.Stages, func(stage lifecycle.Stage) bool {
			return slices.ContainsFunc(stage.Waves, func(w lifecycle.Wave) bool {
				return w.Deed == lifecycle.Delete && slices.ContainsFunc(w.Objects, func(o lifecycle.Object) bool { return o.Name == hook })
			})
		}) {
			t.Errorf("to terminate, %s is not removed", hook)
		}
	}
}
