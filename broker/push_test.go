package broker_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// pushing is a bench with two targets, each in namespace default of the one VIM.
type pushing struct {
	*standingBench
	secrets *kubernetes.Clientset
}

func newPushing(t *testing.T) *pushing {
	t.Helper()
	b := newStandingBench(t, benchOptions{lag: 10 * time.Second})
	b.options.PushTargets = map[string]broker.PushTarget{}
	for _, form := range []broker.PushForm{broker.FormArgoCD, broker.FormKubeconfig} {
		b.options.PushTargets[string(form)] = broker.PushTarget{
			Name: string(form), Project: "demo", VIM: "edge1", Namespace: "default", Form: form,
			Plugin: clientconfig.Plugin{Command: "/tools/vimbroker", Env: map[string]string{"VIMBROKER_ADDR": "https://broker"}},
		}
	}
	b.Broker = mustNew(t, b.options)
	k, err := kubernetes.NewForConfig(&rest.Config{Host: b.kube.Endpoint, BearerToken: b.kube.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)}})
	if err != nil {
		t.Fatal(err)
	}
	return &pushing{b, k}
}

func (b *pushing) secret(name string) *corev1.Secret {
	b.t.Helper()
	s, err := b.secrets.CoreV1().Secrets("default").Get(b.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return s
}

func (b *pushing) keep() {
	b.t.Helper()
	if err := b.KeepPushed(b.t.Context()); err != nil {
		b.t.Errorf("KeepPushed() = %v", err)
	}
}

// What is pushed names the lease and the plugin, and holds no credential; it follows its lease, and goes with it.
func TestAKubeconfigIsPushed(t *testing.T) {
	b := newPushing(t)
	l, plain := b.mustStand()
	for target, key := range map[string]string{"argocd": "config", "kubeconfig": "value"} {
		for range 2 {
			if _, at, err := b.PushLease(t.Context(), root, l.ID, target, "of-"+target); err != nil || at.Namespace != "default" {
				t.Fatalf("PushLease to %s = %+v, %v", target, at, err)
			}
		}
		s := b.secret("of-" + target)
		if s == nil {
			t.Fatalf("nothing is in %s", target)
		}
		whole := ""
		for _, text := range s.Data {
			whole += string(text)
		}
		for _, word := range []string{"/tools/vimbroker", "--lease", l.Login, "https://broker", strings.TrimPrefix(vnfm.Name, "client:"), b.kube.Endpoint} {
			if !strings.Contains(whole, word) {
				t.Errorf("what is in %s lacks %s: %s", target, word, whole)
			}
		}
		for _, word := range []string{plain.Reveal(), "vbl_", "eyJ", b.kube.AdminToken} {
			if strings.Contains(whole, word) {
				t.Errorf("what is in %s holds a credential", target)
			}
		}
		if len(s.Data[key]) == 0 || (target == "argocd") != (s.Labels["argocd.argoproj.io/secret-type"] == "cluster") {
			t.Errorf("%s has %v with labels %v", target, s.Data, s.Labels)
		}
	}

	// Somebody changes one, and removes the other: the first is as it was, and the other is left so.
	s := b.secret("of-argocd")
	right := string(s.Data["server"])
	s.Data["server"] = []byte("https://elsewhere")
	if _, err := b.secrets.CoreV1().Secrets("default").Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.kube.Delete("secrets", "default", "of-kubeconfig")
	b.keep()
	if s = b.secret("of-argocd"); string(s.Data["server"]) != right || b.secret("of-kubeconfig") != nil {
		t.Errorf("after a pass %s is there, and of-kubeconfig: %v", s.Data["server"], b.secret("of-kubeconfig") != nil)
	}

	// An end that has a successor leaves it, a revocation takes it away.
	b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
	b.mustReap()
	b.keep()
	if b.secret("of-argocd") == nil {
		t.Error("what names a lease that may have a successor is gone")
	}
	b.wantMint("after its end", l.Login, plain)
	if _, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Instance: l.Instance}); err != nil {
		t.Fatal(err)
	}
	b.keep()
	if b.secret("of-argocd") != nil {
		t.Error("what names a lease that was revoked is there")
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Action: policy.LeasePush, Limit: 50})
	if err != nil || len(entries) == 0 {
		t.Fatalf("the audit log has %d entries, %v", len(entries), err)
	}
	done := map[string]int{}
	for _, e := range entries {
		if e.Outcome == audit.Done {
			done[e.Principal+" "+e.Detail[audit.DetailTarget]]++
		}
	}
	if done["root argocd/of-argocd"] != 2 || done["root kubeconfig/of-kubeconfig"] != 2 || done["system:targets argocd/of-argocd"] != 2 || len(done) != 3 {
		t.Errorf("the audit log says %v", done)
	}
}

func TestWhatIsNotPushed(t *testing.T) {
	b := newPushing(t)
	l, _ := b.mustStand()
	push := func(p policy.Principal, id, target, name string) error {
		_, _, err := b.PushLease(t.Context(), p, id, target, name)
		return err
	}
	wantKind(t, "by its holder", push(vnfm, l.ID, "argocd", "x"), broker.ErrDenied)
	wantKind(t, "to no target", push(root, l.ID, "elsewhere", "x"), broker.ErrInvalid)
	wantKind(t, "under a wrong name", push(root, l.ID, "argocd", "../x"), broker.ErrInvalid)
	ordinary, _ := b.mustIssue(alice, "edge1")
	wantKind(t, "an ordinary lease", push(root, ordinary.ID, "argocd", "x"), broker.ErrUnsupported)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, Data: map[string][]byte{"a": []byte("b")}}
	if _, err := b.secrets.CoreV1().Secrets("default").Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "in another's place", push(root, l.ID, "argocd", "theirs"), broker.ErrConflict)
	if s := b.secret("theirs"); string(s.Data["a"]) != "b" {
		t.Errorf("another's Secret is %v", s.Data)
	}

	if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "a lease that has ended", push(root, l.ID, "argocd", "x"), broker.ErrConflict)
	if b.secret("x") != nil {
		t.Error("something was pushed")
	}
}

// No kubeconfig goes to, or leads to, a VIM whose certificate nobody verifies.
func TestNothingIsPushedUnverified(t *testing.T) {
	for _, unverified := range []string{"edge1", "hub"} {
		b := newPushing(t)
		hub := b.options.PushTargets["argocd"]
		hub.Name, hub.VIM = "hub", "hub"
		b.options.PushTargets["hub"] = hub
		b.Broker = mustNew(t, b.options)
		b.mustRegister(alice, "hub")
		l, _ := b.mustStand()
		if _, _, err := b.PushLease(t.Context(), root, l.ID, "hub", "verified"); err != nil {
			t.Fatal(err)
		}
		insecure, none := true, ""
		token := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminToken)}
		if _, err := b.UpdateVIM(t.Context(), alice, unverified, broker.Change{InsecureSkipVerify: &insecure, CACert: &none, Credential: token}); err != nil {
			t.Fatal(err)
		}
		_, _, err := b.PushLease(t.Context(), root, l.ID, "hub", "x")
		wantKind(t, "PushLease() where "+unverified+" is not verified", err, broker.ErrUnsupported)
		if b.secret("x") != nil {
			t.Error("something was pushed")
		}
	}
}
