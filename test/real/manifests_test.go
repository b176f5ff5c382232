package real_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
)

// stand is an instance on the real cluster, whose every step runs with the credential of an
// account that holds the step's rules and nothing else.
type stand struct {
	t       *testing.T
	cluster *real.Cluster
	core    *coreclient.CoreV1Client
	rbac    *rbacclient.RbacV1Client
	driver  *manifests.Driver
	in      lifecycle.PlanInput
	home    string
	// resources are what the instance consists of, as the engine would have stored it.
	resources []lifecycle.Resource
	vnfcs     map[string][]lifecycle.VNFC
}

func newStand(t *testing.T) *stand {
	t.Helper()
	c := real.Kubernetes(t)
	c.WithNode(t)
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	rbac, err := rbacclient.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{t: t, cluster: c, core: core, rbac: rbac, driver: manifests.New(), vnfcs: map[string][]lifecycle.VNFC{}}
	s.home, s.in.Namespace = s.namespace("home"), s.namespace("cnf")
	s.in.Instance, s.in.Name = uuid.NewString(), "stand"
	return s
}

func (s *stand) namespace(kind string) string {
	s.t.Helper()
	n, err := s.core.Namespaces().Create(s.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "manifests-" + kind + "-"}}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.core.Namespaces().Delete(context.Background(), n.Name, metav1.DeleteOptions{}) })
	return n.Name
}

// as is a connection that may do what a grant says.
func (s *stand) as(g lifecycle.Grant) lifecycle.Connection {
	s.t.Helper()
	ctx := s.t.Context()
	account, err := s.core.ServiceAccounts(s.home).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{GenerateName: "lease-"}}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for _, r := range g.Rules {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs})
	}
	to := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: s.home, Name: account.Name}}
	meta := metav1.ObjectMeta{Name: "lease-" + uuid.NewString()}
	fatal := func(err error) {
		if err != nil {
			s.t.Helper()
			s.t.Fatal(err)
		}
	}
	if g.ClusterWide {
		_, err := s.rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		fatal(err)
		_, err = s.rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: to, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: meta.Name}}, metav1.CreateOptions{})
		fatal(err)
		s.t.Cleanup(func() {
			_ = s.rbac.ClusterRoles().Delete(context.Background(), meta.Name, metav1.DeleteOptions{})
			_ = s.rbac.ClusterRoleBindings().Delete(context.Background(), meta.Name, metav1.DeleteOptions{})
		})
	}
	for _, n := range g.Namespaces {
		_, err := s.rbac.Roles(n).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		fatal(err)
		_, err = s.rbac.RoleBindings(n).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: to, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: meta.Name}}, metav1.CreateOptions{})
		fatal(err)
	}
	token, err := s.core.ServiceAccounts(s.home).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	fatal(err)
	allowed := egress.Default()
	allowed.AllowLoopback = true
	return lifecycle.Connection{Egress: allowed, Config: clientconfig.Config{
		Endpoint: s.cluster.Endpoint, CACert: s.cluster.CAPEM, Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token.Status.Token)},
	}}
}

// plan plans an operation with the rights of a survey.
func (s *stand) plan(op lifecycle.OperationType) (lifecycle.Plan, error) {
	s.t.Helper()
	s.in.Operation, s.in.Standing = op, s.resources
	return s.driver.Plan(s.t.Context(), s.as(s.driver.Survey()), s.in)
}

// do plans an operation and runs it.
func (s *stand) do(op lifecycle.OperationType) error {
	s.t.Helper()
	p, err := s.plan(op)
	if err != nil {
		return err
	}
	s.resources = union(p.Resources, s.resources)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for i, stage := range p.Stages {
		c := s.as(stage.Grant)
		for j, w := range stage.Waves {
			err := s.driver.Run(ctx, c, s.in.Instance, w, func(o lifecycle.Observation) {
				for k, r := range s.resources {
					if r.Kind == o.Kind && r.Name == o.Name && r.Group == o.Group {
						s.resources[k] = o.Resource
					}
				}
				if o.VNFCs != nil {
					s.vnfcs[o.VDU] = o.VNFCs
				}
			})
			if err != nil {
				return fmt.Errorf("stage %d, wave %d (%s): %w", i, j, w.Deed, err)
			}
		}
	}
	s.resources = slices.DeleteFunc(s.resources, func(r lifecycle.Resource) bool {
		return !slices.ContainsFunc(p.Resources, func(o lifecycle.Resource) bool { return o.Kind == r.Kind && o.Name == r.Name && o.Group == r.Group })
	})
	return nil
}

func (s *stand) must(op lifecycle.OperationType) {
	s.t.Helper()
	if err := s.do(op); err != nil {
		s.t.Fatalf("%s: %v", op, err)
	}
}

func union(a, b []lifecycle.Resource) []lifecycle.Resource {
	for _, r := range b {
		if !slices.ContainsFunc(a, func(o lifecycle.Resource) bool { return o.Kind == r.Kind && o.Name == r.Name && o.Group == r.Group }) {
			a = append(a, r)
		}
	}
	return a
}

// sample takes the manifests of a sample.
func (s *stand) sample(name string) {
	s.t.Helper()
	files, err := filepath.Glob("../../docs/samples/" + name + "/*.yaml")
	if err != nil || len(files) == 0 {
		s.t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			s.t.Fatal(err)
		}
		s.in.Manifests = append(s.in.Manifests, lifecycle.Manifest{Path: filepath.Base(f), Text: secret.NewText(string(text))})
	}
}

// labelled lists what carries the instance's label.
func (s *stand) labelled() string {
	s.t.Helper()
	out, err := s.kubectl("get", "deployments,statefulsets,jobs,pods,services,secrets,configmaps,persistentvolumeclaims", "-n", s.in.Namespace,
		"-l", "vimbroker.io/instance="+s.in.Instance, "-o", "name")
	if err != nil {
		s.t.Fatal(out, err)
	}
	return strings.TrimSpace(out)
}

func TestManifestsWebLifeCycle(t *testing.T) {
	s := newStand(t)
	s.sample("web")
	s.in.Replicas = map[string]int32{"web": 2}
	s.must(lifecycle.Instantiate)
	if n := len(s.vnfcs["web"]); n != 2 {
		t.Errorf("instantiated with %d VNFCs, want 2", n)
	}
	s.in.Replicas = map[string]int32{"web": 5}
	s.must(lifecycle.ScaleVNF)
	if n := len(s.vnfcs["web"]); n != 5 {
		t.Errorf("scaled to %d VNFCs, want 5", n)
	}
	s.in.Replicas = map[string]int32{"web": 1}
	s.must(lifecycle.ScaleVNF)
	old := s.vnfcs["web"][0]
	s.in.VNFCs = []lifecycle.VNFC{old}
	s.must(lifecycle.Heal)
	s.in.VNFCs = nil
	if n := s.vnfcs["web"]; len(n) != 1 || n[0].UID == old.UID || !n[0].Ready {
		t.Errorf("healed to %+v, want another one than %s", n, old.UID)
	}

	// Nothing of ours is drift; a change by hand is, and the one who made it is named.
	for _, o := range s.observe() {
		if !o.Standing || !o.Ready || o.ChangedBy != nil {
			t.Errorf("%s stands %v, ready %v, changed by %q: %s", o.Name, o.Standing, o.Ready, o.ChangedBy, o.Message)
		}
	}
	if out, err := s.kubectl("-n", s.in.Namespace, "set", "image", "deployment/web", "web=example.com/other:1", "--field-manager=mallory"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := s.kubectl("-n", s.in.Namespace, "delete", "service", "web"); err != nil {
		t.Fatal(out, err)
	}
	for _, o := range s.observe() {
		if got := slices.Contains(o.ChangedBy, "mallory"); got != (o.Kind == "Deployment") || o.Standing == (o.Kind == "Service") {
			t.Errorf("%s %s: standing %v, changed by %q", o.Kind, o.Name, o.Standing, o.ChangedBy)
		}
	}
	s.must(lifecycle.Heal)
	for _, o := range s.observe() {
		if !o.Standing || !o.Ready || o.ChangedBy != nil {
			t.Errorf("after a repair %s stands %v, ready %v, changed by %q: %s", o.Name, o.Standing, o.Ready, o.ChangedBy, o.Message)
		}
	}
	if image, _ := s.kubectl("-n", s.in.Namespace, "get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[*].image}"); image != "registry.k8s.io/e2e-test-images/agnhost:2.53" {
		t.Errorf("the repaired image is %q", image)
	}

	// Another version of the package has no Secret and another image.
	text := s.in.Manifests[0].Text.Reveal()
	before, after, _ := strings.Cut(text, "apiVersion: v1\nkind: Secret")
	_, after, _ = strings.Cut(after, "---\n")
	s.in.Manifests[0].Text = secret.NewText(strings.Replace(before+after, "        envFrom:\n        - secretRef: {name: web-login}\n", "", 1))
	s.in.Variables = map[string]string{"VERSION": "2.54"}
	s.must(lifecycle.ChangePackage)
	if out, _ := s.kubectl("-n", s.in.Namespace, "get", "secret", "web-login"); !strings.Contains(out, "NotFound") {
		t.Errorf("the Secret that the package has no more is there: %s", out)
	}
	s.must(lifecycle.Terminate)
	if left := s.labelled(); left != "" {
		t.Errorf("terminated, and there is %s", left)
	}
}

func (s *stand) observe() []lifecycle.Observation {
	s.t.Helper()
	in := s.in
	in.Observing, in.Standing = true, s.resources
	p, err := s.driver.Plan(s.t.Context(), lifecycle.Connection{}, in)
	if err != nil {
		s.t.Fatal(err)
	}
	seen, err := s.driver.Observe(s.t.Context(), s.as(p.Stages[0].Grant), s.in.Instance, s.resources)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

func (s *stand) kubectl(args ...string) (string, error) {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), s.cluster.Kubectl, append([]string{"--kubeconfig", s.cluster.Kubeconfig}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestManifestsCustomAndOrdered(t *testing.T) {
	t.Run("custom", func(t *testing.T) {
		s := newStand(t)
		s.sample("custom")
		s.in.Replicas = map[string]int32{"slicer": 1}
		s.in.Variables = map[string]string{"MAX_USERS": "7"}
		s.must(lifecycle.Instantiate)
		if got, _ := s.kubectl("-n", s.in.Namespace, "get", "slicepolicy", "gold", "-o", "jsonpath={.spec.maxUsers}"); got != "7" {
			t.Errorf("maxUsers = %q, want 7", got)
		}
		// Another instance uses the definition, and does not own it.
		other := newStand(t)
		other.in.Manifests, other.in.Replicas = s.in.Manifests, s.in.Replicas
		other.must(lifecycle.Instantiate)
		if slices.ContainsFunc(other.resources, func(r lifecycle.Resource) bool { return r.Kind == "CustomResourceDefinition" }) {
			t.Error("the other instance counts the definition among its own")
		}
		other.must(lifecycle.Terminate)
		if out, err := s.kubectl("get", "crd", "slicepolicies.ran.example.com"); err != nil {
			t.Errorf("the definition went with the other instance: %s", out)
		}
		s.must(lifecycle.Terminate)
		if out, _ := s.kubectl("get", "crd", "slicepolicies.ran.example.com"); !strings.Contains(out, "NotFound") {
			t.Errorf("the definition is there: %s", out)
		}
	})
	t.Run("ordered", func(t *testing.T) {
		s := newStand(t)
		s.sample("ordered")
		s.in.Replicas = map[string]int32{"db": 1, "app": 2}
		s.must(lifecycle.Instantiate)
		times, _ := s.kubectl("-n", s.in.Namespace, "get", "pod", "-l", "app=app", "-o", "jsonpath={.items[0].metadata.creationTimestamp}")
		done, _ := s.kubectl("-n", s.in.Namespace, "get", "job", "schema", "-o", "jsonpath={.status.completionTime}")
		if done == "" || times < done {
			t.Errorf("the application began at %q, the job was complete at %q", times, done)
		}
		s.must(lifecycle.Terminate)
		if left := s.labelled(); left != "persistentvolumeclaim/subscribers" {
			t.Errorf("terminated, and there is %q, want the volume's claim alone", left)
		}
	})
}
