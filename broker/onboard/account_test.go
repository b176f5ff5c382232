package onboard_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// certified is a kubeconfig with a certificate of system:masters, as Cluster API writes it.
func certified(k *fakekube.Server) string {
	data := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return strings.Replace(k.Kubeconfig(), fmt.Sprintf("user: {token: %q}", k.AdminToken),
		fmt.Sprintf("user: {client-certificate-data: %s, client-key-data: %s}", data(k.AdminCert), data(k.AdminKey)), 1)
}

// certifiedCluster shows a Cluster whose secret holds a certificate.
func (b *bench) certifiedCluster(namespace, name string) onboard.Seen {
	b.t.Helper()
	s := b.cluster(namespace, name)
	b.secret(s, certified(b.kube(namespace+"/"+name)))
	return s
}

// accounts are the broker's own on a cluster, with what was made for them.
func accounts(k *fakekube.Server) (names []string) {
	for _, kind := range []string{"namespaces", "serviceaccounts", "clusterroles", "clusterrolebindings"} {
		for _, n := range k.Names(kind, "") {
			if strings.Contains(n, "account-") {
				names = append(names, kind+" "+n)
			}
		}
	}
	return names
}

// TestTheCertificateIsNotKept: the VIM works as an account of the broker's own, and the
// certificate is never stored.
func TestTheCertificateIsNotKept(t *testing.T) {
	b := newBench(t)
	s := b.certifiedCluster("a", "edge")
	kube := b.kube("a/edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	v := b.vim(c.VIM)
	if v.Current.Number != 1 || v.Current.CredentialKind != broker.CredentialBearerToken || v.Current.Discovered.Profile != "engine" || !v.Health.CanMint {
		t.Errorf("generation %d holds a %s with profile %q, can mint: %t", v.Current.Number, v.Current.CredentialKind, v.Current.Discovered.Profile, v.Health.CanMint)
	}
	b.lease(alice, c.VIM)
	made := accounts(kube)
	if len(made) != 6 {
		t.Errorf("the account is %q", made)
	}
	// While the account is well a rotated certificate is not needed, whoever begins to watch.
	for range 3 {
		b.secret(s, certified(kube))
		b.look("a", "edge")
	}
	if c = b.want("a", "edge", onboard.StateRegistered, ""); c.Secret != b.source.secrets["a/edge-kubeconfig"].Version {
		t.Error("it is not noted that the secret was seen")
	}
	if told := b.events("a/edge"); len(told) != 1 {
		t.Errorf("events %v, want one", told)
	}
	if v = b.vim(c.VIM); v.Current.Number != 1 || v.Current.CredentialKind != broker.CredentialBearerToken || !slices.Equal(accounts(kube), made) {
		t.Errorf("after a rotation generation %d holds a %s, and the accounts are %q", v.Current.Number, v.Current.CredentialKind, accounts(kube))
	}
	// Where a secret leads elsewhere, no account is made there.
	other := b.kube("other")
	b.secret(s, certified(other))
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem)
	if got := accounts(other); len(got) > 0 {
		t.Errorf("on another system there is %q", got)
	}
	// Nothing that the broker keeps holds the certificate or its key, nor does its log.
	key := strings.Split(kube.AdminKey, "\n")[1]
	cert := strings.Split(kube.AdminCert, "\n")[1]
	for name, content := range files(t, b.dir) {
		if strings.Contains(string(content), key) || strings.Contains(string(content), cert) {
			t.Errorf("%s holds the certificate", name)
		}
	}
	if strings.Contains(b.log.String(), key) || strings.Contains(b.log.String(), cert) {
		t.Error("the log holds the certificate")
	}
	// It goes with the VIM.
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.clock.Add(time.Minute)
	if err := b.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	if left := accounts(kube); len(left) > 0 {
		t.Errorf("the cluster is let go of, and there is still %q", left)
	}
}

// TestALostAccountIsMadeAnew: by the secret, which is read once for each check.
func TestALostAccountIsMadeAnew(t *testing.T) {
	for name, lose := range map[string]func(*fakekube.Server, string){
		"without the right to bind": func(k *fakekube.Server, home string) {
			k.Update("clusterroles", "", home, func(o metav1.Object) {
				r := o.(*rbacv1.ClusterRole)
				r.Rules = slices.DeleteFunc(r.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Verbs, "bind") })
			})
			k.Delete("clusterroles", "", home+"-engine")
		},
		"deleted":        func(k *fakekube.Server, home string) { k.Delete("serviceaccounts", home, "vimbroker") },
		"without rights": func(k *fakekube.Server, home string) { k.Delete("clusterrolebindings", "", home) },
		"with its role empty": func(k *fakekube.Server, home string) {
			k.Delete("clusterroles", "", home)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.certifiedCluster("a", "edge")
			kube := b.kube("a/edge")
			b.look("a", "edge")
			c := b.want("a", "edge", onboard.StateRegistered, "")
			made := accounts(kube)
			lose(kube, strings.TrimPrefix(made[0], "namespaces "))
			b.clock.Add(time.Minute)
			if v, err := b.CheckVIM(t.Context(), root, c.VIM); err != nil || v.Health.Status == broker.HealthReachable && v.Health.CanMint {
				t.Fatalf("the VIM is %s, %v", v.Health.Status, err)
			}
			reads := b.source.reads
			for range 3 {
				b.look("a", "edge")
			}
			b.want("a", "edge", onboard.StateRegistered, "")
			if got := b.source.reads - reads; got != 1 {
				t.Errorf("the secret was read %d times, want once", got)
			}
			if v := b.vim(c.VIM); v.Current.Discovered.Profile != "engine" || v.Health.Status != broker.HealthReachable || !slices.Equal(accounts(kube), made) {
				t.Errorf("the VIM is %s with profile %q; the account is %q, was %q", v.Health.Status, v.Current.Discovered.Profile, accounts(kube), made)
			}
			b.lease(alice, c.VIM)
		})
	}
}

// TestAClusterThatLetsNoAccountBe keeps the credential, and says so.
func TestAClusterThatLetsNoAccountBe(t *testing.T) {
	b := newBench(t)
	s := b.certifiedCluster("a", "edge")
	kube := b.kube("a/edge")
	kube.Deny(fakekube.Denial{Verb: "create", Resource: "clusterroles"})
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, onboard.ReasonCredentialKept)
	v := b.vim(c.VIM)
	if v.Current.CredentialKind != broker.CredentialClientCertificate || !strings.Contains(v.Current.Discovered.NoAccount, "clusterroles") || !strings.Contains(c.Message, "clusterroles") {
		t.Errorf("it keeps a %s: %q; the cluster says %q", v.Current.CredentialKind, v.Current.Discovered.NoAccount, c.Message)
	}
	if left := accounts(kube); len(left) > 0 {
		t.Errorf("the cluster lets no account be, and there is %q", left)
	}
	b.lease(alice, c.VIM)
	b.look("a", "edge")
	if n := b.vim(c.VIM).Current.Number; n != 1 {
		t.Errorf("looking again made generation %d", n)
	}
	kube.Deny()
	b.secret(s, certified(kube)) // the next secret tries again
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}

// TestAClusterThatCannotMint is registered and says so, with an account of the broker's own
// asked for or not; it is well once it can.
func TestAClusterThatCannotMint(t *testing.T) {
	for _, account := range []string{onboard.AccountEngine, onboard.AccountNone} {
		t.Run(account, func(t *testing.T) {
			b := newBench(t, func(m *onboard.Settings) { m.Account = account })
			s := b.certifiedCluster("a", "edge")
			kube := b.kube("a/edge")
			kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
			b.look("a", "edge")
			c := b.want("a", "edge", onboard.StateRegistered, onboard.ReasonCannotMint)
			if v := b.vim(c.VIM); v.Health.CanMint || c.Message == "" || c.Message != v.Health.MintMessage {
				t.Errorf("its VIM can mint: %t; the cluster says %q, the VIM %q", v.Health.CanMint, c.Message, v.Health.MintMessage)
			}
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: c.VIM, Role: "view", Namespaces: []string{"default"}})
			if err == nil {
				t.Error("a lease was issued")
			}
			kube.Deny()
			b.secret(s, certified(kube))
			b.look("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, "")
			b.lease(alice, c.VIM)
		})
	}
}

// TestAccountIsASetting: none keeps the certificate; a change of it is followed.
func TestAccountIsASetting(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Account = onboard.AccountNone })
	b.certifiedCluster("a", "edge")
	kube := b.kube("a/edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	if v := b.vim(c.VIM); v.Current.CredentialKind != broker.CredentialClientCertificate || len(accounts(kube)) != 0 {
		t.Errorf("without an account the VIM holds a %s, and there is %q", v.Current.CredentialKind, accounts(kube))
	}
	for n, account := range []string{onboard.AccountEngine, onboard.AccountLeases} {
		m := b.m
		m.Account = account
		if _, err := b.Enable(t.Context(), root, "hub", m.Settings); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b.look("a", "edge")
		}
		if v := b.vim(c.VIM); v.Current.Discovered.Profile != account || v.Current.Number != int64(n+2) {
			t.Errorf("with %s the VIM has profile %q in generation %d", account, v.Current.Discovered.Profile, v.Current.Number)
		}
	}
	m := b.m
	m.Account = "root"
	_, err := b.Enable(t.Context(), root, "hub", m.Settings)
	wantKind(t, "an account of no profile", err, broker.ErrInvalid)
}

// TestTheAccountsTokenIsRenewed: by the check, once half of its life is over, and not by
// whoever may not.
func TestTheAccountsTokenIsRenewed(t *testing.T) {
	b := newBench(t)
	b.certifiedCluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	first := b.vim(c.VIM)
	kube := b.kube("a/edge")
	reads := b.source.reads
	for i, step := range []struct {
		after      time.Duration
		generation int64
	}{{11 * time.Hour, 1}, {2 * time.Hour, 2}, {6 * time.Hour, 2}, {13 * time.Hour, 3}} {
		b.clock.Add(step.after)
		if err := b.CheckDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := b.vim(c.VIM)
		if v.Current.Number != step.generation || v.Health.Status != broker.HealthReachable {
			t.Errorf("step %d: generation %d, %s: %s", i, v.Current.Number, v.Health.Status, v.Health.Message)
		}
	}
	last := b.vim(c.VIM)
	if !last.Current.CredentialExpiresAt.After(first.Current.CredentialExpiresAt) || len(accounts(kube)) != 6 || b.source.reads != reads {
		t.Errorf("the token ends %s, the first ended %s; the secret was read %d times", last.Current.CredentialExpiresAt, first.Current.CredentialExpiresAt, b.source.reads-reads)
	}
	b.lease(alice, c.VIM)
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:check", Limit: 100})
	if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool { return e.Action == "vim:rotate" && e.Outcome == audit.Done }) {
		t.Errorf("the audit log does not say that the token was renewed: %v", err)
	}
	// A token that cannot be renewed ends; the account is made anew by the secret.
	kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	b.clock.Add(25 * time.Hour)
	if err := b.CheckDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	kube.Deny()
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	if v := b.vim(c.VIM); v.Current.Discovered.Profile != "engine" || v.Current.Number != 4 {
		t.Errorf("after its token had ended the VIM has profile %q in generation %d", v.Current.Discovered.Profile, v.Current.Number)
	}
}

// TestATokenIsNotRenewedFromAnotherSystem: where another system has come to the address
// between the check and the renewal, the VIM keeps the token and the system that it had.
func TestATokenIsNotRenewedFromAnotherSystem(t *testing.T) {
	b := newBench(t)
	b.certifiedCluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	before, kube := b.vim(c.VIM), b.kube("a/edge")
	b.clock.Add(13 * time.Hour)
	kube.After("POST", "/serviceaccounts/vimbroker/token$", func() { kube.ChangeIdentity() })
	if err := b.CheckDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kube.Identity() == before.Current.Identity {
		t.Fatal("no token was asked for: the test shows nothing")
	}
	after := b.vim(c.VIM)
	if after.Current.Number != before.Current.Number || after.Current.Identity != before.Current.Identity || after.Pending != nil {
		t.Errorf("the VIM is %s in generation %d, was %s in %d", after.Current.Identity, after.Current.Number, before.Current.Identity, before.Current.Number)
	}
	if !strings.Contains(b.log.String(), "another system answers there") {
		t.Error("the log does not say why the token is not renewed")
	}
}
