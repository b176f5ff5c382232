package helm_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

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
	name := "vnf" + strings.ReplaceAll(in.Instance, "-", "")
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
				if err := driver().Run(t.Context(), connect(s, stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
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
