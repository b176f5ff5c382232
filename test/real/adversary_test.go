package real_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/test/real"
)

// What becomes of an attempt. The words stand in docs/adversary.md.
const (
	refused = "refused"
	// ends: it works, and what it gained ends with the lease.
	ends = "ends"
	// later: it works, and ends with the other lease, or once the grant is tidied away.
	later = "later"
	// stays: it works, and stays until somebody removes it.
	stays = "**stays**"
	// works: it changes something, and gains no credential.
	works = "works"
)

// holder is one column: what a holder has.
type holder struct {
	title string
	grant broker.Grant
	// open: the lease's namespace enforces no Pod Security.
	open bool
	// wide: the lease is for the whole cluster, which prepared mode does not have.
	wide bool
	want broker.Grade
}

func holders(at string) []holder {
	rule := func(groups, resources string, verbs ...string) broker.Rule {
		return broker.Rule{APIGroups: []string{groups}, Resources: strings.Split(resources, " "), Verbs: verbs}
	}
	in := []string{at}
	return []holder{
		{title: "view", grant: broker.Grant{Role: "view", Namespaces: in}, want: broker.GradeBounded},
		{title: "rules", grant: broker.Grant{Rules: []broker.Rule{rule("", "configmaps", "create", "list")}, Namespaces: in}, want: broker.GradeBounded},
		{title: "rules on its namespace", grant: broker.Grant{Rules: []broker.Rule{
			rule("", "namespaces namespaces/status", "get", "update", "patch", "delete"),
		}, Namespaces: in}, want: broker.GradeUnbounded},
		{title: "rules on revisions", grant: broker.Grant{Rules: []broker.Rule{
			rule("apps", "controllerrevisions", "get", "list", "create", "delete"),
		}, Namespaces: in}, want: broker.GradeNamespaces},
		{title: "edit", grant: broker.Grant{Role: "edit", Namespaces: in}, want: broker.GradeNamespaces},
		{title: "edit, no Pod Security", grant: broker.Grant{Role: "edit"}, open: true, want: broker.GradeUnbounded},
		{title: "rules on networks", grant: broker.Grant{Rules: []broker.Rule{
			rule("k8s.cni.cncf.io", "network-attachment-definitions", "create"),
		}, Namespaces: in}, want: broker.GradeUnbounded},
		{title: "admin", grant: broker.Grant{Role: "admin", Namespaces: in}, want: broker.GradeNamespaces},
		{title: "view, cluster-wide", grant: broker.Grant{Role: "view", ClusterWide: true}, wide: true, want: broker.GradeBounded},
		{title: "rules, cluster-wide", grant: broker.Grant{Rules: []broker.Rule{
			rule("", "namespaces", "delete"), rule("", "serviceaccounts", "create", "get", "patch", "delete"),
		}, ClusterWide: true}, wide: true, want: broker.GradeBounded},
		{title: "edit, cluster-wide", grant: broker.Grant{Role: "edit", ClusterWide: true}, wide: true, want: broker.GradeUnbounded},
		{title: "cluster-admin", grant: broker.Grant{Role: "cluster-admin", ClusterWide: true}, wide: true, want: broker.GradeUnbounded},
	}
}

// another is the column of another tenant of the cluster: who holds the credential that another
// VIM is registered with, which may bind view alone.
const another = "another VIM's credential"

// identity is a service account.
type identity struct{ namespace, name string }

func (i identity) user() string { return "system:serviceaccount:" + i.namespace + ":" + i.name }

// raider is who tries, and what there is to be had.
type raider struct {
	*applied
	title  string
	config *rest.Config
	client clientset.Interface
	lease  broker.Issued
	// own is the lease's account, spare that of a second lease of the same grant, and victim that
	// of a lease of another grant of the VIM.
	own, spare, victim identity
	spareLease         broker.Issued
	// vim is the account that the VIM is registered with, theirs and theirVIM those of another VIM.
	vim, theirs, theirVIM identity
	// binding and role are those of the victim's home; next is the name of a home to come.
	binding, next string
	tenant        bool // the other tenant, who has no lease
}

// gain is what an attempt left: whether that still gives something. Nil where it gave nothing
// but the change.
type gain func() bool

// attempt is one row. try's error is the cluster's refusal.
type attempt struct {
	title string
	try   func(ctx context.Context, r *raider) (gain, error)
	// becomes: it makes the holder somebody whom only an unbounded lease may become.
	becomes bool
	// own: there is no such thing for who has no lease.
	own bool
}

var dry = []string{metav1.DryRunAll}

func attempts() []attempt {
	token := func(of func(*raider) identity) func(context.Context, *raider) (gain, error) {
		return func(ctx context.Context, r *raider) (gain, error) { return r.token(ctx, r.client, of(r)) }
	}
	impersonate := func(whom func(*raider) identity) func(context.Context, *raider) (gain, error) {
		return func(ctx context.Context, r *raider) (gain, error) {
			c := rest.CopyConfig(r.config)
			c.Impersonate = rest.ImpersonationConfig{UserName: whom(r).user()}
			return r.credential(c), ignore(whoami(ctx, c))
		}
	}
	own := func(r *raider) identity { return r.own }
	victim := func(r *raider) identity { return r.victim }
	ours := func(r *raider) identity { return identity{r.victim.namespace, "default"} }
	inside := func(r *raider) identity { return identity{r.at, "default"} }
	registered := func(r *raider) identity { return r.vim }
	theirs := func(r *raider) identity { return r.theirs }
	theirVIM := func(r *raider) identity { return r.theirVIM }
	system := func(*raider) identity { return identity{"kube-system", "clusterrole-aggregation-controller"} }
	patch := func(of func(*raider) identity, text string, o metav1.PatchOptions) func(context.Context, *raider) (gain, error) {
		return func(ctx context.Context, r *raider) (gain, error) {
			i := of(r)
			_, err := r.client.CoreV1().ServiceAccounts(i.namespace).Patch(ctx, i.name, types.MergePatchType, []byte(text), o)
			return nil, err
		}
	}
	pod := func(of func(*raider) identity) func(context.Context, *raider) (gain, error) {
		return func(ctx context.Context, r *raider) (gain, error) { return r.pod(ctx, of(r)) }
	}
	mallory := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "mallory"}
	relabel := `{"metadata":{"labels":{"vimbroker.io/vim":"another","vimbroker.io/lease":"another"},"annotations":{"a":"b"}}}`
	return []attempt{
		{title: "a token of its own account, for 24 h", try: token(own), own: true},
		{title: "a token of another lease's account", try: token(victim), becomes: true},
		{title: "a token of account default of our namespace", try: token(ours), becomes: true},
		{title: "a token of account default of its own namespace", try: token(inside)},
		{title: "a token of the account that the VIM is registered with", try: token(registered), becomes: true},
		{title: "a token of a lease of another VIM", try: token(theirs), becomes: true},
		{title: "a token of the account that another VIM is registered with", try: token(theirVIM), becomes: true},
		{title: "a token of an account of kube-system that can escalate", try: token(system), becomes: true},
		{title: "impersonate another lease's account", try: impersonate(victim), becomes: true},
		{title: "impersonate the account that the VIM is registered with", try: impersonate(registered), becomes: true},
		{title: "impersonate a lease's account of another VIM", try: impersonate(theirs), becomes: true},
		{title: "impersonate an account of kube-system that can escalate", try: impersonate(system), becomes: true},
		{title: "impersonate an account of its own namespace", try: impersonate(inside)},
		{title: "change another lease's account as the cluster's garbage collector", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			c := rest.CopyConfig(r.config)
			c.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:kube-system:generic-garbage-collector"}
			client, err := clientset.NewForConfig(c)
			if err != nil {
				return nil, err
			}
			_, err = client.CoreV1().ServiceAccounts(r.victim.namespace).Patch(ctx, r.victim.name, types.MergePatchType, []byte(relabel), metav1.PatchOptions{DryRun: dry})
			return nil, err
		}},
		{title: "a pod in our namespace", try: pod(ours), becomes: true},
		{title: "a Deployment in our namespace", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			n, labels := r.victim.namespace, map[string]string{"app": "raid"}
			d, err := r.client.AppsV1().Deployments(n).Create(ctx, &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-"},
				Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: runs("default"),
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				return nil, err
			}
			return func() bool {
				_, err := r.admin.AppsV1().Deployments(n).Get(r.t.Context(), d.Name, metav1.GetOptions{})
				return err == nil && r.lives(identity{n, "default"})
			}, nil
		}},
		{title: "a pod in its own namespace, as any account there", try: pod(inside)},
		{title: "a pod in its own namespace that has its node's files", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			p := runs("default")
			p.Volumes = []corev1.Volume{{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			_, err := r.client.CoreV1().Pods(r.at).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-"}, Spec: p}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
		{title: "a network in its own namespace that is its node's interface", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			return nil, r.client.CoreV1().RESTClient().Post().AbsPath("/apis/k8s.cni.cncf.io/v1/namespaces", r.at, "network-attachment-definitions").
				Param("dryRun", metav1.DryRunAll).SetHeader("Content-Type", "application/json").Body([]byte(`{"apiVersion": "k8s.cni.cncf.io/v1",
				"kind": "NetworkAttachmentDefinition", "metadata": {"name": "raid"}, "spec": {"config": "{\"type\": \"host-device\", \"device\": \"eth0\"}"}}`)).
				Do(ctx).Error()
		}},
		{title: "a Service in its own namespace with the address of another", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.CoreV1().Services(r.at).Create(ctx, &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "raid"}, Spec: corev1.ServiceSpec{ExternalIPs: []string{"192.0.2.1"}, Ports: []corev1.ServicePort{{Port: 80}}},
			}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
		{title: "a token Secret of another lease's account", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) { return r.tokenSecret(ctx, r.victim) }},
		{title: "a token Secret in its own namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			return r.tokenSecret(ctx, identity{r.at, "default"})
		}},
		{title: "read Secrets in our namespace", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.CoreV1().Secrets(r.victim.namespace).List(ctx, metav1.ListOptions{})
			return nil, err
		}},
		{title: "relabel and annotate its own account", try: patch(own, relabel, metav1.PatchOptions{}), own: true},
		{title: "put a finalizer on its own account", own: true, try: patch(own, `{"metadata":{"finalizers":["example.com/hold"]}}`, metav1.PatchOptions{DryRun: dry})},
		{title: "delete its own account, and make another of its name", try: func(ctx context.Context, r *raider) (gain, error) { return r.replace(ctx) }, own: true},
		{title: "relabel another lease's account", try: patch(victim, relabel, metav1.PatchOptions{})},
		{title: "delete another lease's account", try: func(ctx context.Context, r *raider) (gain, error) {
			return nil, r.client.CoreV1().ServiceAccounts(r.victim.namespace).Delete(ctx, r.victim.name, metav1.DeleteOptions{DryRun: dry})
		}},
		{title: "relabel our namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.CoreV1().Namespaces().Patch(ctx, r.victim.namespace, types.MergePatchType, []byte(relabel), metav1.PatchOptions{DryRun: dry})
			return nil, err
		}},
		{title: "delete our namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			return nil, r.client.CoreV1().Namespaces().Delete(ctx, r.victim.namespace, metav1.DeleteOptions{DryRun: dry})
		}},
		{title: "lift the Pod Security level of its own namespace", becomes: true, try: lift()},
		{title: "lift it by the status of the namespace", becomes: true, try: lift("status")},
		{title: "delete its own namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			return nil, r.client.CoreV1().Namespaces().Delete(ctx, r.at, metav1.DeleteOptions{DryRun: dry})
		}},
		{title: "make a namespace in which pods reach their nodes", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				GenerateName: "raid-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
			}}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
		{title: "write a revision that a StatefulSet makes pods of", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.AppsV1().ControllerRevisions(r.at).Create(ctx, &appsv1.ControllerRevision{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-"}, Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"spec":{"serviceAccountName":"default"}}}}`)},
			}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
		{title: "change the binding of another grant in its own namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.RbacV1().RoleBindings(r.at).Patch(ctx, r.binding, types.MergePatchType, []byte(relabel), metav1.PatchOptions{DryRun: dry})
			return nil, err
		}},
		{title: "delete it", try: func(ctx context.Context, r *raider) (gain, error) {
			return nil, r.client.RbacV1().RoleBindings(r.at).Delete(ctx, r.binding, metav1.DeleteOptions{DryRun: dry})
		}},
		{title: "widen the role of another grant's exact rules", try: func(ctx context.Context, r *raider) (gain, error) {
			more := `{"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list","get","watch"]}]}`
			_, err := r.client.RbacV1().Roles(r.at).Patch(ctx, r.binding, types.MergePatchType, []byte(more), metav1.PatchOptions{DryRun: dry})
			return nil, err
		}},
		{title: "give role view in its own namespace to somebody else", try: func(ctx context.Context, r *raider) (gain, error) {
			return r.give(ctx, r.at, "view", mallory)
		}},
		{title: "bind the group of our namespace to cluster-admin", becomes: true, try: func(ctx context.Context, r *raider) (gain, error) {
			return r.give(ctx, "", "cluster-admin", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + r.victim.namespace})
		}},
		{title: "bind that group to role view in its own namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			return r.give(ctx, r.at, "view", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + r.victim.namespace})
		}},
		{title: "take the name of another grant's binding in its own namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.RbacV1().RoleBindings(r.at).Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: r.next},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}, Subjects: []rbacv1.Subject{mallory},
			}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
		{title: "take the name of another grant's namespace", try: func(ctx context.Context, r *raider) (gain, error) {
			_, err := r.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: r.next, Labels: map[string]string{"vimbroker.io/vim": r.access.VIM, "vimbroker.io/grant": r.next},
			}}, metav1.CreateOptions{DryRun: dry})
			return nil, err
		}},
	}
}

// lift has a namespace of the holder's enforce nothing on pods any more.
func lift(subresource ...string) func(context.Context, *raider) (gain, error) {
	return func(ctx context.Context, r *raider) (gain, error) {
		privileged := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`)
		n, err := r.client.CoreV1().Namespaces().Patch(ctx, r.at, types.MergePatchType, privileged, metav1.PatchOptions{DryRun: dry}, subresource...)
		if err == nil && n.Labels["pod-security.kubernetes.io/enforce"] != "privileged" {
			err = errors.New("the cluster takes a patch of its labels, and leaves them")
		}
		return nil, err
	}
}

func ignore[T any](_ T, err error) error { return err }

// runs is a pod that would run as an account.
func runs(as string) corev1.PodSpec {
	return corev1.PodSpec{ServiceAccountName: as, Containers: []corev1.Container{{Name: "raid", Image: "raid"}}}
}

// lives reports whether an account is there.
func (a *applied) lives(i identity) bool {
	s, err := a.admin.CoreV1().ServiceAccounts(i.namespace).Get(a.t.Context(), i.name, metav1.GetOptions{})
	return err == nil && s.DeletionTimestamp == nil
}

// credential is a gain that can be tried. What the cluster did not answer counts as alive.
func (a *applied) credential(c *rest.Config) gain {
	return func() bool {
		_, err := whoami(a.t.Context(), c)
		return !apierrors.IsUnauthorized(err)
	}
}

// token asks for a token that outlives the lease.
func (a *applied) token(ctx context.Context, client clientset.Interface, of identity) (gain, error) {
	day := int64(24 * 3600)
	t, err := client.CoreV1().ServiceAccounts(of.namespace).CreateToken(ctx, of.name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	c := a.holding(t.Status.Token)
	return a.credential(c), ignore(whoami(ctx, c))
}

func (r *raider) pod(ctx context.Context, as identity) (gain, error) {
	p, err := r.client.CoreV1().Pods(as.namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-"}, Spec: runs(as.name),
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return func() bool {
		_, err := r.admin.CoreV1().Pods(as.namespace).Get(r.t.Context(), p.Name, metav1.GetOptions{})
		return err == nil && r.lives(as)
	}, nil
}

// tokenSecret has the cluster write a token without end into a Secret, and reads it.
func (r *raider) tokenSecret(ctx context.Context, of identity) (gain, error) {
	secrets := r.client.CoreV1().Secrets(of.namespace)
	s, err := secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "raid-", Annotations: map[string]string{corev1.ServiceAccountNameKey: of.name}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if !real.Poll(r.t, patience, func() bool {
		s, err = secrets.Get(ctx, s.Name, metav1.GetOptions{})
		return err != nil || len(s.Data[corev1.ServiceAccountTokenKey]) > 0
	}) {
		return nil, errors.New("the cluster writes no token into a token Secret")
	}
	if err != nil {
		return nil, err
	}
	return r.credential(r.holding(string(s.Data[corev1.ServiceAccountTokenKey]))), nil
}

// replace deletes the account of the spare lease, makes another of its name, and a token of that.
func (r *raider) replace(ctx context.Context) (gain, error) {
	accounts := r.client.CoreV1().ServiceAccounts(r.spare.namespace)
	was, err := r.admin.CoreV1().ServiceAccounts(r.spare.namespace).Get(ctx, r.spare.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if err := accounts.Delete(ctx, r.spare.name, metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: r.spare.name, Labels: was.Labels}}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	g, err := r.token(ctx, r.client, r.spare)
	if apierrors.IsForbidden(err) {
		return func() bool { return false }, nil // replaced, and of no use
	}
	return g, err
}

// give binds somebody to a role. It gives something while whom it names can exist.
func (r *raider) give(ctx context.Context, place, role string, to rbacv1.Subject) (gain, error) {
	meta := metav1.ObjectMeta{GenerateName: "raid-"}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	var err error
	var there func() error
	if place == "" {
		var b *rbacv1.ClusterRoleBinding
		b, err = r.client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{to}}, metav1.CreateOptions{})
		there = func() error {
			return ignore(r.admin.RbacV1().ClusterRoleBindings().Get(r.t.Context(), b.Name, metav1.GetOptions{}))
		}
	} else {
		var b *rbacv1.RoleBinding
		b, err = r.client.RbacV1().RoleBindings(place).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{to}}, metav1.CreateOptions{})
		there = func() error {
			return ignore(r.admin.RbacV1().RoleBindings(place).Get(r.t.Context(), b.Name, metav1.GetOptions{}))
		}
	}
	if err != nil {
		return nil, err
	}
	return func() bool {
		if there() != nil {
			return false
		}
		home, ours := strings.CutPrefix(to.Name, "system:serviceaccounts:")
		if !ours {
			return true
		}
		n, err := r.admin.CoreV1().Namespaces().Get(r.t.Context(), home, metav1.GetOptions{})
		return err == nil && n.DeletionTimestamp == nil
	}, nil
}

// lend issues a lease, and finds its account.
func (a *applied) lend(g broker.Grant) (broker.Minted, broker.Issued, identity, broker.Grade, error) {
	a.t.Helper()
	g, grade := a.granted(g)
	m, err := a.driver.Issue(a.t.Context(), a.access, g)
	if err != nil {
		return m, broker.Issued{}, identity{}, grade, err
	}
	found, err := a.admin.CoreV1().ServiceAccounts("").List(a.t.Context(), metav1.ListOptions{LabelSelector: "vimbroker.io/lease=" + g.Lease})
	if err != nil || len(found.Items) != 1 {
		a.t.Fatalf("the accounts of a lease: %v, %v, want one", found, err)
	}
	i := identity{found.Items[0].Namespace, found.Items[0].Name}
	if !real.Poll(a.t, patience, func() bool { return a.lives(identity{i.namespace, "default"}) }) {
		a.t.Fatal("the cluster gives a namespace no account default")
	}
	return m, broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g}, i, grade, nil
}

// homeName is the name of a home to come. That it can be known is the point.
func homeName(vim, role, namespace string) string {
	text, _ := json.Marshal(struct {
		VIM        string   `json:"vim"`
		Role       string   `json:"role"`
		Namespaces []string `json:"namespaces"`
		Epoch      int64    `json:"epoch"`
	}{vim, role, []string{namespace}, 7})
	sum := sha256.Sum256(text)
	return "vimbroker-" + hex.EncodeToString(sum[:10])
}

// raid is one mode, with or without the guard: a cell for each attempt of each holder.
type raid struct {
	prepared bool
	cells    map[string]map[string]string // by attempt and holder
}

func (d *raid) set(row, column, cell string) {
	if d.cells[row] == nil {
		d.cells[row] = map[string]string{}
	}
	d.cells[row][column] = cell
}

// tried is an attempt that worked and left something.
type tried struct {
	row, column string
	alive       gain
}

// run has everybody try everything, revokes all leases, and tidies.
func (d *raid) run(t *testing.T, c *real.Cluster) {
	o := rbac.Options{Profile: rbac.Engine, Roles: []string{"view", "edit", "admin", "cluster-admin"}}
	theirs := rbac.Options{Profile: rbac.Leases, Roles: []string{"view"}}
	if d.prepared {
		o.Pool, theirs.Pool = 16, 1
	}
	a, b := apply(t, c, o), apply(t, c, theirs)
	for _, x := range []*applied{a, b} {
		if r := x.check(); !r.CanMint {
			t.Fatalf("leases cannot be minted: %s", r.MintMessage)
		}
	}
	theirLease, _, theirAccount, _, err := b.lend(broker.Grant{Role: "view", Namespaces: []string{b.at}})
	if err != nil {
		t.Fatal(err)
	}
	exact := broker.Grant{Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}, Namespaces: []string{a.at}}
	var raiders []*raider
	var victims []broker.Issued
	for _, h := range holders(a.at) {
		in := *a
		if h.open {
			in.at, h.grant.Namespaces = a.open, []string{a.open}
		}
		exact := broker.Grant{Rules: exact.Rules, Namespaces: []string{in.at}}
		m, lease, own, grade, err := a.lend(h.grant)
		if d.prepared && h.wide {
			if !errors.Is(err, broker.ErrForbidden) {
				t.Errorf("in prepared mode %s = %v, want a refusal", h.title, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", h.title, err)
		}
		if grade != h.want {
			t.Errorf("%s has the grade %s, want %s", h.title, grade, h.want)
		}
		_, spareLease, spare, _, err := a.lend(h.grant)
		if err != nil {
			t.Fatal(err)
		}
		_, victimLease, victim, _, err := a.lend(exact)
		if err != nil {
			t.Fatal(err)
		}
		victims = append(victims, victimLease)
		raiders = append(raiders, &raider{
			applied: &in, title: h.title, config: a.holding(m.Credential.Token.Reveal()), client: a.as(m), lease: lease,
			own: own, spare: spare, spareLease: spareLease, victim: victim,
			vim: identity{a.operators(), "broker"}, theirs: theirAccount, theirVIM: identity{b.operators(), "broker"},
			binding: in.bindingOf(victim.namespace), next: homeName(a.access.VIM, "view", in.at),
		})
	}
	_, victimLease, victim, _, err := a.lend(exact)
	if err != nil {
		t.Fatal(err)
	}
	victims = append(victims, victimLease)
	tenant := &raider{
		applied: a, title: another, tenant: true, config: b.holding(b.access.Credential.Token.Reveal()), victim: victim,
		vim: identity{a.operators(), "broker"}, theirs: raiders[0].own, theirVIM: identity{a.operators(), "broker"},
		binding: a.bindingOf(victim.namespace), next: homeName(a.access.VIM, "view", a.at),
	}
	if tenant.client, err = clientset.NewForConfig(tenant.config); err != nil {
		t.Fatal(err)
	}

	var left []tried
	for _, r := range append(slices.Clone(raiders), tenant) {
		for _, try := range attempts() {
			if r.tenant && try.own {
				d.set(try.title, r.title, "-")
				continue
			}
			gained, err := try.try(t.Context(), r)
			switch {
			case apierrors.IsForbidden(err):
				d.set(try.title, r.title, refused)
			case err != nil:
				t.Errorf("%s: %s: %v", r.title, try.title, err)
			case gained == nil:
				d.set(try.title, r.title, works)
			default:
				d.set(try.title, r.title, stays)
				left = append(left, tried{try.title, r.title, gained})
			}
		}
	}

	for _, r := range raiders {
		d.revoke(t, r)
	}
	left = d.fade(t, left, ends)
	for _, v := range victims {
		if err := a.driver.Revoke(t.Context(), a.access, v); err != nil {
			t.Errorf("Revoke of another lease: %v", err)
		}
	}
	grants := []broker.Grant{victims[0].Grant}
	for _, r := range raiders {
		grants = append(grants, r.lease.Grant)
	}
	for _, g := range grants {
		if err := a.driver.Tidy(t.Context(), a.access, g); err != nil {
			t.Errorf("Tidy: %v", err)
		}
	}
	d.fade(t, left, later)
	if dead, err := b.driver.Dead(t.Context(), b.access, theirLease.Credential); dead || err != nil {
		t.Errorf("the lease of another VIM: dead %v, %v, want it alive", dead, err)
	}
	d.hold(t)
}

// bindingOf is the name of the one binding of a home in the VIM's namespace.
func (a *applied) bindingOf(home string) string {
	a.t.Helper()
	found, err := a.admin.RbacV1().RoleBindings(a.at).List(a.t.Context(), metav1.ListOptions{})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, b := range found.Items {
		if len(b.Subjects) == 1 && b.Subjects[0].Name == "system:serviceaccounts:"+home {
			return b.Name
		}
	}
	a.t.Fatalf("home %s is bound nowhere in %s", home, a.at)
	return ""
}

// revoke revokes a raider's leases. Revocation is true to its word: it deletes the account
// that was issued, whatever its labels say by now, and takes no other for it.
func (d *raid) revoke(t *testing.T, r *raider) {
	t.Helper()
	if err := r.driver.Revoke(t.Context(), r.access, r.lease); err != nil {
		t.Errorf("%s: Revoke: %v", r.title, err)
	}
	err := r.driver.Revoke(t.Context(), r.access, r.spareLease)
	const replaced = "delete its own account, and make another of its name"
	switch d.cells[replaced][r.title] {
	case refused:
		if err != nil {
			t.Errorf("%s: Revoke: %v", r.title, err)
		}
	default:
		if !errors.Is(err, broker.ErrConflict) {
			t.Errorf("%s: Revoke where another account has the name = %v, want a conflict", r.title, err)
		}
	}
	if !real.Poll(t, patience, r.dead()) {
		t.Errorf("%s: revoked, and its token is taken", r.title)
	}
}

func (r *raider) dead() func() bool {
	alive := r.credential(r.config)
	return func() bool { return !alive() }
}

// fade waits for what ends within the published lag, marks it so, and returns the rest.
func (d *raid) fade(t *testing.T, left []tried, as string) []tried {
	t.Helper()
	real.Poll(t, 15*time.Second, func() bool { // a token is kept for ten after it was asked for
		left = slices.DeleteFunc(left, func(l tried) bool {
			if l.alive() {
				return false
			}
			d.set(l.row, l.column, as)
			return true
		})
		return len(left) == 0
	})
	return left
}

// hold asserts what the table must never say, whatever is written in the docs.
func (d *raid) hold(t *testing.T) {
	t.Helper()
	for _, h := range holders("") {
		for _, try := range attempts() {
			cell, ok := d.cells[try.title][h.title]
			if try.becomes && h.want != broker.GradeUnbounded && ok && cell != refused {
				t.Errorf("%s, whose grade is %s: %s: %s", h.title, h.want, try.title, cell)
			}
			if try.own && cell == stays {
				t.Errorf("%s: %s outlives the lease and its grant", h.title, try.title)
			}
		}
	}
	if d.prepared {
		for _, try := range attempts() {
			if cell := d.cells[try.title][another]; cell != refused && cell != "-" {
				t.Errorf("in prepared mode another VIM's credential: %s: %s", try.title, cell)
			}
		}
	}
}

// table writes the two raids of a mode as Markdown: where the guard makes a difference, the cell
// says both.
func table(bare, guarded *raid) string {
	var b strings.Builder
	var columns []string
	line := func(first string, cells func(string) string) {
		b.WriteString("| " + first + " |")
		for _, c := range columns {
			b.WriteString(" " + cells(c) + " |")
		}
		b.WriteString("\n")
	}
	grades := map[string]string{another: "-"}
	for _, h := range holders("") {
		if !bare.prepared || !h.wide {
			columns = append(columns, h.title)
			grades[h.title] = string(h.want)
		}
	}
	columns = append(columns, another)
	line("", func(c string) string { return c })
	line("---", func(string) string { return "---" })
	line("*grade*", func(c string) string { return "*" + grades[c] + "*" })
	for _, try := range attempts() {
		line(try.title, func(c string) string {
			without, with := bare.cells[try.title][c], guarded.cells[try.title][c]
			if without == with {
				return without
			}
			return without + "; guard: " + with
		})
	}
	return b.String()
}

// TestAdversary has the holders of leases try to become somebody else, to outlive their leases,
// and to spoil others', and compares what came of it with docs/adversary.md.
func TestAdversary(t *testing.T) {
	c := real.OwnKubernetes(t)
	serveNetworks(t, c)
	raids := map[string]*raid{}
	for _, guarded := range []bool{false, true} {
		if guarded {
			guard(t, c)
		}
		t.Run(fmt.Sprintf("guard=%v", guarded), func(t *testing.T) {
			for _, prepared := range []bool{false, true} {
				d := &raid{prepared: prepared, cells: map[string]map[string]string{}}
				raids[fmt.Sprint(prepared, guarded)] = d
				t.Run(fmt.Sprintf("prepared=%v", prepared), func(t *testing.T) {
					t.Parallel()
					d.run(t, c)
				})
			}
		})
	}
	tables := map[string]string{}
	for mode, prepared := range map[string]bool{"managed": false, "prepared": true} {
		tables[mode] = table(raids[fmt.Sprint(prepared, false)], raids[fmt.Sprint(prepared, true)])
	}
	real.KeepTables(t, "../../docs/adversary.md", tables)
}

// serveNetworks has a cluster serve the networks of Multus, as far as its API server has a part in that.
func serveNetworks(t *testing.T, c *real.Cluster) {
	t.Helper()
	a := &applied{Cluster: c, t: t}
	a.kubectl("", "apply", "-f", "testdata/definitions/multus.yaml")
	a.kubectl("", "wait", "--for=condition=Established", "--timeout=120s", "crd/network-attachment-definitions.k8s.cni.cncf.io")
}

// guard applies the guard, and waits until it guards.
func guard(t *testing.T, c *real.Cluster) {
	t.Helper()
	admin, err := clientset.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	a := &applied{Cluster: c, t: t, admin: admin}
	a.kubectl("", "apply", "-f", "../../deploy/kubernetes-guard.yaml")
	nobody := rest.CopyConfig(c.Config())
	nobody.Impersonate = rest.ImpersonationConfig{UserName: "guarded", Groups: []string{"system:authenticated"}}
	client, err := clientset.NewForConfig(nobody)
	if err != nil {
		t.Fatal(err)
	}
	a.kubectl(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: guarded}, rules: [{apiGroups: [""], resources: [namespaces], verbs: [create]}]}`, "apply", "-f", "-")
	a.kubectl("", "create", "clusterrolebinding", "guarded", "--clusterrole=guarded", "--user=guarded")
	if !real.Poll(t, patience, func() bool {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-guarded"}}, metav1.CreateOptions{DryRun: dry})
		return err != nil && strings.Contains(err.Error(), "only the broker may write")
	}) {
		t.Fatal("the guard does not guard")
	}
}
