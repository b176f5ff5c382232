package real_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestHelmConformance(t *testing.T) {
	t.Parallel()
	program := story.BuildRenderer(t, filepath.Join(t.TempDir(), "vimbroker"))
	lifecycleConformance(t, func() lifecycle.Driver { return helm.New(helm.Options{Program: []string{program}}) }, cnf.Chart)
}

// outsider is Helm itself, as an administrator of the cluster runs it.
func (s *stand) outsider() *action.Configuration {
	s.t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &s.cluster.Kubeconfig, &s.in.Namespace
	c := action.NewConfiguration()
	if err := c.Init(flags, s.in.Namespace, "secret"); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// revisions are what Helm's history says: "1 superseded".
func (s *stand) revisions() (all []string) {
	s.t.Helper()
	found, err := action.NewHistory(s.outsider()).Run("vnf" + strings.ReplaceAll(s.in.Instance, "-", "")[:12])
	if err != nil {
		s.t.Fatal(err)
	}
	var list []*release.Release
	for _, r := range found {
		list = append(list, r.(*release.Release))
	}
	slices.SortFunc(list, func(a, b *release.Release) int { return a.Version - b.Version })
	for _, r := range list {
		all = append(all, r.Info.Status.String())
	}
	return all
}

func (s *stand) mark() { s.in.Mark = uuid.NewString() }

// TestHelmGoesOnWithReleases: what is made here is a release that Helm lists and rolls back, and what Helm has made
// of it is gone on with here, down to nothing.
func TestHelmGoesOnWithReleases(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.driver = helm.New(helm.Options{Program: []string{story.BuildRenderer(t, filepath.Join(t.TempDir(), "vimbroker"))}})
	name := "vnf" + strings.ReplaceAll(s.in.Instance, "-", "")[:12]
	s.in.Manifests, s.in.Replicas = cnf.Chart("one"), map[string]int32{cnf.VDU: 1}
	s.mark()
	s.must(lifecycle.Instantiate)
	password := func() string {
		s.t.Helper()
		out, err := s.kubectl("-n", s.in.Namespace, "get", "secret", "login", "-o", "go-template={{.data.password | base64decode}}")
		if err != nil {
			t.Fatal(out)
		}
		return out
	}
	if got := password(); got != "one" {
		t.Fatalf("the password is %q", got)
	}
	listed, err := action.NewList(s.outsider()).Run()
	if err != nil || len(listed) != 1 || listed[0].(*release.Release).Name != name {
		t.Fatalf("helm list = %v, %v, want %s", listed, err, name)
	}

	s.in.Manifests = cnf.Chart("two")
	s.mark()
	s.must(lifecycle.ChangePackage)
	if got, want := s.revisions(), []string{"superseded", "deployed"}; password() != "two" || !slices.Equal(got, want) {
		t.Fatalf("after a change of package the password is %q, and the revisions are %v", password(), got)
	}

	// Helm rolls it back, and the drift is seen.
	back := action.NewRollback(s.outsider())
	back.Version, back.WaitStrategy, back.Timeout = 1, kube.StatusWatcherStrategy, 5*time.Minute
	if err := back.Run(name); err != nil {
		t.Fatalf("helm rollback: %v", err)
	}
	if got, want := s.revisions(), []string{"superseded", "superseded", "deployed"}; password() != "one" || !slices.Equal(got, want) {
		t.Fatalf("after Helm's rollback the password is %q, and the revisions are %v", password(), got)
	}
	if !slices.ContainsFunc(s.observe(), func(o lifecycle.Observation) bool { return o.Kind == "Secret" && len(o.ChangedBy) > 0 }) {
		t.Error("what Helm has changed is no drift")
	}

	// Helm upgrades it with other values; that replaces a hook, too.
	files := []*archive.BufferedFile{}
	for _, m := range cnf.Chart("two") {
		files = append(files, &archive.BufferedFile{Name: strings.TrimPrefix(m.Path, "Files/kubernetes/web/"), Data: []byte(m.Text.Reveal())})
	}
	chart, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	up := action.NewUpgrade(s.outsider())
	up.Namespace, up.WaitStrategy, up.Timeout = s.in.Namespace, kube.StatusWatcherStrategy, 5*time.Minute
	if _, err := up.Run(name, chart, map[string]any{"password": "three"}); err != nil {
		t.Fatalf("helm upgrade: %v", err)
	}

	// What is done here next goes on from there: heal keeps what Helm has made, and the next revision is the fifth.
	s.mark()
	s.must(lifecycle.Heal)
	if got := password(); got != "three" {
		t.Errorf("healed, the password is %q, and Helm has set three", got)
	}
	s.in.Kept = true
	s.in.Replicas, s.in.Scaled = map[string]int32{cnf.VDU: 3}, []string{cnf.VDU}
	s.mark()
	s.must(lifecycle.ScaleVNF)
	s.in.Scaled = nil
	if got, want := s.revisions(), []string{"superseded", "superseded", "superseded", "superseded", "deployed"}; len(s.vnfcs[cnf.VDU]) != 3 || !slices.Equal(got, want) {
		t.Errorf("scaled to %d VNFCs, and the revisions are %v", len(s.vnfcs[cnf.VDU]), got)
	}
	if got := password(); got != "three" {
		t.Errorf("scaled, the password is %q, and Helm has set three", got)
	}
	s.mark()
	s.must(lifecycle.Terminate)
	if left, err := s.kubectl("-n", s.in.Namespace, "get", "deployments,secrets,configmaps,jobs", "-o", "name"); err != nil || strings.TrimSpace(left) != "configmap/kube-root-ca.crt" {
		t.Errorf("after TERMINATE there is\n%s", left)
	}
}

// TestHelmGoesOnAfterAKill: what was rendered before the kill is what stands after it, at every wave, and a release
// that was left pending is not.
func TestHelmGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.driver = helm.New(helm.Options{Program: []string{story.BuildRenderer(t, filepath.Join(t.TempDir(), "vimbroker"))}})
	s.in.Manifests, s.in.Replicas = cnf.Chart("one"), map[string]int32{cnf.VDU: 1}
	s.mark()
	first, err := s.plan(lifecycle.Instantiate)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.driver.Run(t.Context(), s.as(first.Stages[0].Grant), s.in.Instance, first.Stages[0].Waves[0], func(lifecycle.Observation) {}); err != nil {
		t.Fatal(err)
	}
	s.resources = first.Resources
	if got := s.revisions(); !slices.Equal(got, []string{"pending-install"}) {
		t.Fatalf("the revisions are %v", got)
	}
	again, err := s.plan(lifecycle.Instantiate)
	if err != nil {
		t.Fatal(err)
	}
	if salt := manifestOf(t, first, "login"); salt != manifestOf(t, again, "login") {
		t.Error("a plan that goes on renders the chart anew")
	}
	s.must(lifecycle.Instantiate)

	// An operation that was given up leaves a release as pending, and the next one takes it up.
	s.mark()
	s.in.Manifests = cnf.Chart("two")
	given, err := s.plan(lifecycle.ChangePackage)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.driver.Run(t.Context(), s.as(given.Stages[0].Grant), s.in.Instance, given.Stages[0].Waves[0], func(lifecycle.Observation) {}); err != nil {
		t.Fatal(err)
	}
	s.resources = union(s.resources, given.Resources)
	s.in.Mark, s.in.Undone, s.in.Manifests = s.in.Mark+"-back", s.in.Mark, cnf.Chart("one")
	s.must(lifecycle.ChangePackage)
	if got, want := s.revisions(), []string{"superseded", "failed", "deployed"}; !slices.Equal(got, want) {
		t.Errorf("after a rollback the revisions are %v, want %v", got, want)
	}
	s.in.Undone = ""
	s.must(lifecycle.Terminate)
}

// manifestOf is the object of that name that a plan applies.
func manifestOf(t *testing.T, p lifecycle.Plan, name string) string {
	t.Helper()
	var text secret.Text
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			for _, o := range w.Objects {
				if o.Name == name && !o.Manifest.Empty() {
					text = o.Manifest
				}
			}
		}
	}
	if text.Empty() {
		t.Fatalf("the plan does not apply %s", name)
	}
	return text.Reveal()
}
