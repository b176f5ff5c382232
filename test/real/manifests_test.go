package real_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/cnf"
	"github.com/vimbroker/vimbroker/test/real"
)

// stand is an instance on the real cluster, whose every step runs with the credential of an
// account that holds the step's rules and nothing else.
type stand struct {
	t       *testing.T
	cluster *real.Cluster
	core    *coreclient.CoreV1Client
	rbac    *rbacclient.RbacV1Client
	reviews *authorizationclient.AuthorizationV1Client
	driver  lifecycle.Driver
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
	reviews, err := authorizationclient.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{t: t, cluster: c, core: core, rbac: rbac, reviews: reviews, driver: manifests.New(), vnfcs: map[string][]lifecycle.VNFC{}}
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
func (s *stand) as(g lifecycle.StageRules) lifecycle.Connection {
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
	s.learns(g, account.Name)
	token, err := s.core.ServiceAccounts(s.home).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	fatal(err)
	allowed := egress.Default()
	allowed.AllowLoopback = true
	return lifecycle.Connection{Egress: allowed, Config: clientconfig.Config{
		Endpoint: s.cluster.Endpoint, CACert: s.cluster.CAPEM, Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token.Status.Token)},
	}, Further: func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
		return do(s.as(g))
	}}
}

// learns waits until the API server knows of the roles of an account: only the engine repeats what a fresh lease is refused.
func (s *stand) learns(g lifecycle.StageRules, account string) {
	s.t.Helper()
	if len(g.Rules) == 0 {
		return
	}
	r := g.Rules[0]
	plural, sub, _ := strings.Cut(r.Resources[0], "/")
	asked := authorizationv1.ResourceAttributes{Verb: r.Verbs[0], Group: r.APIGroups[0], Resource: plural, Subresource: sub}
	if len(r.ResourceNames) > 0 {
		asked.Name = r.ResourceNames[0]
	}
	in := slices.Clone(g.Namespaces)
	if g.ClusterWide {
		in = append(in, "")
	}
	for _, asked.Namespace = range in {
		if !real.Poll(s.t, patience, func() bool {
			review, err := s.reviews.SubjectAccessReviews().Create(s.t.Context(), &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + s.home + ":" + account, ResourceAttributes: &asked},
			}, metav1.CreateOptions{})
			return err == nil && review.Status.Allowed
		}) {
			s.t.Fatalf("an account may not %+v by its role", asked)
		}
	}
}

// plan plans an operation with the rights of a survey.
func (s *stand) plan(op lifecycle.OperationType) (lifecycle.Plan, error) {
	s.t.Helper()
	s.in.Operation, s.in.Standing = op, s.resources
	return s.driver.Plan(s.t.Context(), s.as(s.driver.Survey(s.in)), s.in)
}

// do plans an operation and runs it.
func (s *stand) do(op lifecycle.OperationType) error {
	s.t.Helper()
	p, err := s.plan(op)
	if err != nil {
		return err
	}
	s.resources = union(p.Resources, s.resources)
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*patience)
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
	s.in.Replicas, s.in.Scaled = map[string]int32{"web": 5}, []string{"web"}
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
	var seen []lifecycle.Observation
	for _, stage := range p.Stages {
		var some []lifecycle.Resource
		for _, o := range stage.Waves[0].Objects {
			some = append(some, o.Resource)
		}
		var more []lifecycle.Observation
		if more, err = s.driver.Observe(s.t.Context(), s.as(stage.Grant), s.in.Instance, some); err != nil {
			break
		}
		seen = append(seen, more...)
	}
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

func TestManifestsCustomAndOrdered(t *testing.T) { // alone: others make the same definition
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

// give sets the manifests of a stand.
func (s *stand) give(text string) {
	s.in.Manifests = []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(text)}}
}

// wantError fails unless an error is of a kind and says all the words.
func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("error %v, want one that says %q", err, w)
			return
		}
	}
	if !errors.Is(err, kind) {
		t.Errorf("error %v is not %v", err, kind)
	}
}

const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: ours}\n"

// What is another's is never adopted, whenever it came; the very objects of every kind are told apart.
func TestManifestsNeverAdopt(t *testing.T) {
	s := newStand(t)
	apply := func(text string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), s.cluster.Kubectl, "--kubeconfig", s.cluster.Kubeconfig, "-n", s.in.Namespace, "create", "-f", "-", "-o", "jsonpath={.metadata.resourceVersion}")
		c.Stdin = strings.NewReader(text)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	s.cluster.WithNode(t)
	if out, err := s.kubectl("create", "-f", "../../docs/samples/custom/definition.yaml"); err != nil {
		t.Fatal(out)
	}
	t.Cleanup(func() { _, _ = s.kubectl("delete", "crd", "slicepolicies.ran.example.com") })
	if out, err := s.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd/slicepolicies.ran.example.com"); err != nil {
		t.Fatal(out)
	}
	pod := "{containers: [{name: a, image: a}]}"
	template := "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: " + pod + "}}"
	for kind, text := range map[string]string{
		"configmap":       settings,
		"secret":          "apiVersion: v1\nkind: Secret\nmetadata: {name: foreign}\n",
		"service":         "apiVersion: v1\nkind: Service\nmetadata: {name: foreign}\nspec: {ports: [{port: 80}]}\n",
		"serviceaccount":  "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: foreign}\n",
		"pvc":             "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: foreign}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
		"pod":             "apiVersion: v1\nkind: Pod\nmetadata: {name: foreign}\nspec: " + pod + "\n",
		"deployment":      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: foreign}\nspec: " + template + "\n",
		"statefulset":     "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: foreign}\nspec: " + template + "\n",
		"job":             "apiVersion: batch/v1\nkind: Job\nmetadata: {name: foreign}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n",
		"role":            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: foreign}\n",
		"networkpolicy":   "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: foreign}\nspec: {podSelector: {}}\n",
		"custom resource": "apiVersion: ran.example.com/v1\nkind: SlicePolicy\nmetadata: {name: foreign}\nspec: {slice: a}\n",
		"namespace":       "apiVersion: v1\nkind: Namespace\nmetadata: {name: foreign-" + s.in.Namespace + "}\n",
		"priority class":  "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: foreign-" + s.in.Namespace + "}\nvalue: 7\n",
	} {
		t.Run(kind, func(t *testing.T) {
			s := *s
			s.t, s.resources = t, nil
			s.give(text)
			p, err := s.plan(lifecycle.Instantiate)
			if err != nil {
				t.Fatal(err)
			}
			apply(text) // after the plan was made: nobody has seen it
			stage := p.Stages[0]
			c := s.as(stage.Grant)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = s.driver.Run(ctx, c, s.in.Instance, stage.Waves[0], func(lifecycle.Observation) { t.Error("it tells of progress") })
			wantError(t, err, broker.ErrConflict, "is not the instance's")
			r := stage.Waves[0].Objects[0].Resource
			// It stays as it was, and does not go with the instance either.
			s.resources = []lifecycle.Resource{r}
			s.must(lifecycle.Terminate)
			path := []string{"get", r.Plural + "." + r.Group, r.Name, "-o", "jsonpath={.metadata.labels.vimbroker\\.io/instance}{.metadata.managedFields[?(@.manager==\"vimbroker\")].manager}{.metadata.deletionTimestamp}"}
			if r.Namespace != "" {
				path = append(path, "-n", r.Namespace)
			}
			if got, err := s.kubectl(path...); err != nil || got != "" {
				t.Errorf("the foreign object: %v %q", err, got)
			}
		})
	}
	_, _ = s.kubectl("delete", "namespace/foreign-"+s.in.Namespace, "priorityclass/foreign-"+s.in.Namespace, "--wait=false")
}

// The lease of an operation can do what its plan names, and nothing beside it.
func TestManifestsLeaseIsCutToThePlan(t *testing.T) {
	s := newStand(t)
	s.sample("web")
	s.in.Replicas = map[string]int32{"web": 1}
	p, err := s.plan(lifecycle.Instantiate)
	if err != nil || len(p.Stages) != 1 {
		t.Fatalf("%d stages, %v", len(p.Stages), err)
	}
	c := s.as(p.Stages[0].Grant)
	may := func(args ...string) bool {
		out, _ := exec.CommandContext(t.Context(), s.cluster.Kubectl, append([]string{
			"--server", s.cluster.Endpoint, "--insecure-skip-tls-verify", "--token", c.Config.Token.Reveal(), "auth", "can-i",
		}, args...)...).Output()
		return strings.TrimSpace(string(out)) == "yes"
	}
	n := s.in.Namespace
	for want, all := range map[bool][][]string{
		true: {
			{"patch", "deployments.apps/web", "-n", n}, {"get", "secrets/web-login", "-n", n}, {"create", "services/web", "-n", n}, {"list", "pods", "-n", n},
		},
		false: {
			{"patch", "deployments.apps/other", "-n", n},
			{"get", "secrets/other", "-n", n},
			{"list", "secrets", "-n", n},
			{"watch", "deployments.apps", "-n", n},
			{"create", "deployments.apps", "-n", n},
			{"delete", "deployments.apps/web", "-n", n},
			{"get", "statefulsets.apps/web", "-n", n},
			{"patch", "deployments.apps/web", "-n", "default"},
			{"get", "secrets/web-login", "-n", "kube-system"},
			{"get", "pods/web", "-n", n},
			{"create", "pods", "-n", n},
			{"create", "serviceaccounts/token", "-n", n},
			{"impersonate", "serviceaccounts", "-n", n},
			{"get", "namespaces/" + n},
			{"create", "roles.rbac.authorization.k8s.io", "-n", n},
			{"get", "serviceaccounts", "-n", s.home},
			{"*", "*"},
		},
	} {
		for _, args := range all {
			if got := may(args...); got != want {
				t.Errorf("%v is allowed: %v, want %v", args, got, want)
			}
		}
	}
}

// What ends an operation is said with the object's name, within the operation's time.
func TestManifestsThatNeverGetReady(t *testing.T) {
	within := func(s *stand, d time.Duration, op lifecycle.OperationType) error {
		s.t.Helper()
		p, err := s.plan(op)
		if err != nil {
			return err
		}
		s.resources = union(p.Resources, s.resources)
		for _, stage := range p.Stages {
			for _, w := range stage.Waves {
				c, began := s.as(stage.Grant), time.Now()
				ctx, cancel := context.WithTimeout(s.t.Context(), d)
				err := s.driver.Run(ctx, c, s.in.Instance, w, func(lifecycle.Observation) {})
				cancel()
				if took := time.Since(began); took > d+time.Minute {
					s.t.Errorf("it took %v, want about %v", took, d)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	// says repeats it with more time, until what the cluster does by itself has been done and is said.
	says := func(s *stand, d time.Duration, op lifecycle.OperationType, words ...string) error {
		s.t.Helper()
		for {
			err := within(s, d, op)
			if err == nil || d > time.Minute || !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
				wantError(s.t, err, lifecycle.ErrNotReady, words...)
				return err
			}
			d *= 4
		}
	}
	t.Run("image", func(t *testing.T) {
		s := newStand(t)
		s.sample("web")
		s.in.Replicas = map[string]int32{"web": 2}
		s.give(strings.Replace(s.in.Manifests[0].Text.Reveal(), `"registry.k8s.io/e2e-test-images/agnhost:${VERSION:=2.53}"`, real.MissingImage, 1))
		err := says(s, 3*time.Second, lifecycle.Instantiate, "Deployment "+s.in.Namespace+"/web", "ImagePullBackOff")
		wantError(t, err, context.DeadlineExceeded)
		s.must(lifecycle.Terminate)
		if left := s.labelled(); left != "" {
			t.Errorf("rolled back, and there is %s", left)
		}
	})
	t.Run("job", func(t *testing.T) {
		s := newStand(t)
		s.give("apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {activeDeadlineSeconds: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: " + real.MissingImage + "}]}}}\n")
		wantError(t, within(s, time.Minute, lifecycle.Instantiate), lifecycle.ErrNotReady, "Job "+s.in.Namespace+"/once has failed (DeadlineExceeded: ", "by itself")
	})
	t.Run("finalizer", func(t *testing.T) {
		s := newStand(t)
		s.give(strings.Replace(settings, "{name: settings}", "{name: settings, finalizers: [example.com/never]}", 1))
		s.must(lifecycle.Instantiate)
		says(s, 2*time.Second, lifecycle.Terminate, "ConfigMap "+s.in.Namespace+"/settings is being deleted and waits for example.com/never")
		if out, err := s.kubectl("-n", s.in.Namespace, "patch", "configmap", "settings", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
			t.Fatal(out)
		}
		s.must(lifecycle.Terminate)
	})
	t.Run("claim", func(t *testing.T) {
		s := newStand(t)
		const spec = "storageClassName: " + real.MissingClass + ", accessModes: [ReadWriteOnce]"
		set := "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  selector: {matchLabels: {a: b}}\n" +
			"  volumeClaimTemplates: [{metadata: {name: data}, spec: {" + spec + ", resources: {requests: {storage: 1Gi}}}}]\n" +
			"  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: "
		s.give(set + real.MissingImage + "}]}}\n") // no kubelet waits for volumes here
		says(s, 3*time.Second, lifecycle.Instantiate, "its claim data-db-0 is not ready: ProvisioningFailed", "not found")
		s.must(lifecycle.Terminate)
		s = newStand(t)
		s.give(set + "registry.k8s.io/pause}]}}\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + s.in.Namespace + "}\n" +
			"spec: {" + spec + ", capacity: {storage: 1Gi}, hostPath: {path: /nowhere}}\n")
		s.must(lifecycle.Instantiate)
		if !real.Poll(t, patience, func() bool {
			out, _ := s.kubectl("-n", s.in.Namespace, "get", "pvc", "data-db-0", "-o", "jsonpath={.status.phase}")
			return out == "Bound"
		}) {
			t.Fatal("the claim gets no volume of the package")
		}
		says(s, 2*time.Second, lifecycle.Terminate, "kubernetes.io/pv-protection", "claim "+s.in.Namespace+"/data-db-0 uses it; delete that claim")
		if out, err := s.kubectl("-n", s.in.Namespace, "delete", "pvc", "data-db-0"); err != nil {
			t.Fatal(out)
		}
		s.must(lifecycle.Terminate)
	})
	t.Run("definition", func(t *testing.T) {
		s := newStand(t)
		s.sample("custom")
		// Its kind's name is taken by the one that stands.
		t.Cleanup(func() { _, _ = s.kubectl("delete", "crd", "slices.held.example.com", "others.held.example.com") })
		first := strings.NewReplacer("slicepolicies.ran", "slices.held", "ran.example", "held.example", "plural: slicepolicies", "plural: slices").Replace(s.in.Manifests[0].Text.Reveal())
		second := strings.NewReplacer("slicepolicies.ran", "others.held", "ran.example", "held.example", "plural: slicepolicies", "plural: others").Replace(s.in.Manifests[0].Text.Reveal())
		s.give(first)
		s.must(lifecycle.Instantiate)
		other := newStand(t)
		other.give(second)
		wantError(t, within(other, time.Minute, lifecycle.Instantiate), lifecycle.ErrNotReady, "CustomResourceDefinition others.held.example.com", "NamesAccepted is False")
		s.must(lifecycle.Terminate)
	})
	t.Run("webhook", func(t *testing.T) {
		s := newStand(t)
		// A listener that takes connections and never answers.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		hook := fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: hangs.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 2
  clientConfig: {url: "https://%s/"}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
`, s.in.Namespace, l.Addr(), s.in.Namespace)
		c := exec.CommandContext(t.Context(), s.cluster.Kubectl, "--kubeconfig", s.cluster.Kubeconfig, "create", "-f", "-")
		c.Stdin = strings.NewReader(hook)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		t.Cleanup(func() { _, _ = s.kubectl("delete", "validatingwebhookconfiguration", s.in.Namespace) })
		real.Poll(t, patience, func() bool { // until the API server knows of it
			out, _ := s.kubectl("-n", s.in.Namespace, "create", "configmap", "probe", "--dry-run=server")
			return strings.Contains(out, "failed calling webhook")
		})
		s.give(settings)
		wantError(t, within(s, time.Minute, lifecycle.Instantiate), broker.ErrUnreachable, "cannot apply ConfigMap "+s.in.Namespace+"/settings", "webhook hangs.example.com does not answer")
		wantError(t, within(s, time.Second, lifecycle.Instantiate), lifecycle.ErrNotReady, "ConfigMap "+s.in.Namespace+"/settings")
	})
}

// A package that brings roles needs a lease that holds what they grant.
func TestManifestsThatBringRoles(t *testing.T) {
	s := newStand(t)
	const text = `apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: reader}]
`
	s.give(text)
	p, err := s.plan(lifecycle.Instantiate)
	if err != nil || !p.Facts.BringsRBAC {
		t.Fatalf("%+v %v", p.Facts, err)
	}
	// Without them the API server refuses, and the error names what is missing.
	g := p.Stages[0].Grant
	g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r broker.Rule) bool { return slices.Contains(r.Resources, "configmaps") })
	err = s.driver.Run(t.Context(), s.as(g), s.in.Instance, p.Stages[0].Waves[0], func(lifecycle.Observation) {})
	wantError(t, err, broker.ErrForbidden, "Role "+s.in.Namespace+"/reader", `Resources:["configmaps"]`, `Verbs:["get" "list"]`)
	s.must(lifecycle.Instantiate)
	s.resources = p.Resources
	s.must(lifecycle.Terminate)
}

// Roles of paths, aggregated ones, and names with colons, as charts of the field have them, need no right but on their names.
func TestManifestsThatBringRolesOfPaths(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.give(strings.ReplaceAll(`apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "NAME:paths", labels: {aggregate-to: NAME}}
rules:
- {nonResourceURLs: [/metrics, /metrics/*], verbs: [get]}
- {apiGroups: [""], resources: [nodes/metrics], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "NAME:all"}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregate-to: NAME}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "NAME:paths"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "NAME:paths"}
subjects: [{kind: ServiceAccount, name: reader, namespace: "${VNF_NAMESPACE}"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "NAME:all"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "NAME:all"}
subjects: [{kind: ServiceAccount, name: reader, namespace: "${VNF_NAMESPACE}"}]
`, "NAME", s.in.Namespace))
	s.must(lifecycle.Instantiate)
	s.must(lifecycle.Heal)
	s.must(lifecycle.Terminate)
}

// Errors name fields and never values.
func TestManifestsThatTheServerRefuses(t *testing.T) {
	const canary = "c4n4ry"
	for says, text := range map[string]string{
		"spec.replicas":               "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: " + canary + "}\n",
		"spec.unknown":                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {unknown: " + canary + "}\n",
		"not of the form of its kind": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: '" + canary + "!'}\n",
		"metadata.name":               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\ndata: {a: " + canary + "}\n",
		"spec.ports[0].port":          "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 99999999, name: " + canary + "}]}\n",
	} {
		s := newStand(t)
		s.give(text)
		err := s.do(lifecycle.Instantiate)
		wantError(t, err, broker.ErrInvalid, says)
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("the error repeats a value: %v", err)
		}
	}
}

func TestManifestsConformance(t *testing.T) {
	t.Parallel()
	lifecycleConformance(t, func() lifecycle.Driver { return manifests.New() }, cnf.Manifests)
}

// lifecycleConformance holds a driver to its contract on the real cluster.
func lifecycleConformance(t *testing.T, driver func() lifecycle.Driver, of func(string) []lifecycle.Manifest) {
	s := newStand(t)
	kubectlPath := func(r lifecycle.Resource, args ...string) []string {
		return append(append(args, r.Plural+"."+r.Group, r.Name), "-n", r.Namespace)
	}
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:     driver,
		Connect: func(t *testing.T, g lifecycle.StageRules) lifecycle.Connection { s.t = t; return s.as(g) },
		Namespace: func(t *testing.T) string {
			s.t = t
			return s.namespace("cnf")
		},
		Manifests: of, VDU: cnf.VDU,
		Remove: func(t *testing.T, r lifecycle.Resource) {
			if out, err := s.kubectl(kubectlPath(r, "delete")...); err != nil {
				t.Fatal(out)
			}
		},
		Unlabel: func(t *testing.T, r lifecycle.Resource) {
			if out, err := s.kubectl(kubectlPath(r, "patch", "--type=merge", "-p", `{"metadata":{"labels":null}}`)...); err != nil {
				t.Fatal(out)
			}
		},
		Plant: func(t *testing.T, r lifecycle.Resource) func() bool {
			c := exec.CommandContext(t.Context(), s.cluster.Kubectl, "--kubeconfig", s.cluster.Kubeconfig, "create", "-f", "-")
			c.Stdin = strings.NewReader(fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\n", strings.TrimPrefix(r.Group+"/"+r.Version, "/"), r.Kind, r.Name, r.Namespace))
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s", out)
			}
			version := kubectlPath(r, "get", "-o", "jsonpath={.metadata.uid} {.metadata.resourceVersion}")
			was, _ := s.kubectl(version...)
			return func() bool { is, err := s.kubectl(version...); return err == nil && is == was }
		},
	})
}

// TestManifestsLeaveAutoscalersAlone: a real autoscaler raises the number to its least; heal and a change of package
// leave it, and it is no drift.
func TestManifestsLeaveAutoscalersAlone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.give(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.invalid/web:1}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 3
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`)
	number := func() string {
		out, err := s.kubectl("get", "deployment", "web", "-n", s.in.Namespace, "-o", "jsonpath={.spec.replicas}")
		if err != nil {
			t.Fatal(out)
		}
		return out
	}
	wantNumber := func(when, want string) {
		t.Helper()
		if got := number(); got != want {
			t.Errorf("%s there are %s replicas, want %s", when, got, want)
		}
	}
	s.must(lifecycle.Instantiate)
	_, _ = s.kubectl("scale", "deployment", "web", "-n", s.in.Namespace, "--replicas=2") // somebody, before the autoscaler
	s.must(lifecycle.Heal)
	if !real.Poll(t, patience, func() bool { return number() == "3" }) { // it looks every 15 s
		t.Fatalf("the autoscaler has not set the number, which is %s", number())
	}
	for _, op := range []lifecycle.OperationType{lifecycle.Heal, lifecycle.ChangePackage} {
		for _, o := range s.observe() {
			if len(o.ChangedBy) > 0 {
				t.Errorf("before %s %s is changed by %q", op, o.Kind, o.ChangedBy)
			}
		}
		s.must(op)
		wantNumber("after "+string(op), "3")
	}
	s.must(lifecycle.Terminate)
}

// TestManifestsHandANumberOver: a workload whose manifest says no number any more, because an autoscaler is to set it,
// keeps the one that it has.
func TestManifestsHandANumberOver(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.invalid/web:1}]}
`
	s.give(text)
	s.must(lifecycle.Instantiate)
	s.give(strings.Replace(text, "  replicas: 2\n", "", 1))
	for range 2 {
		s.must(lifecycle.ChangePackage)
		if out, err := s.kubectl("get", "deployment", "web", "-n", s.in.Namespace, "-o", "jsonpath={.spec.replicas}"); out != "2" {
			t.Errorf("there are %s replicas, %v, want 2", out, err)
		}
	}
	s.must(lifecycle.Terminate)
}

// TestManifestsLeaveTheAutoscalersOfOthersAlone: one that somebody made beside the package keeps the number as well.
func TestManifestsLeaveTheAutoscalersOfOthersAlone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.give(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.invalid/web:1}]}
`)
	s.must(lifecycle.Instantiate)
	if out, err := s.kubectl("autoscale", "deployment", "web", "-n", s.in.Namespace, "--min=3", "--max=5", "--cpu=50%"); err != nil {
		t.Fatal(out)
	}
	number := func() string {
		out, err := s.kubectl("get", "deployment", "web", "-n", s.in.Namespace, "-o", "jsonpath={.spec.replicas}")
		if err != nil {
			t.Fatal(out)
		}
		return out
	}
	if !real.Poll(t, patience, func() bool { return number() == "3" }) {
		t.Fatalf("the autoscaler has not set the number, which is %s", number())
	}
	for _, op := range []lifecycle.OperationType{lifecycle.Heal, lifecycle.ChangePackage, lifecycle.Heal} {
		for _, o := range s.observe() {
			if len(o.ChangedBy) > 0 {
				t.Errorf("before %s %s is changed by %q", op, o.Kind, o.ChangedBy)
			}
		}
		s.must(op)
		if got := number(); got != "3" {
			t.Errorf("after %s there are %s replicas, want 3", op, got)
		}
	}
	s.must(lifecycle.Terminate)
}
