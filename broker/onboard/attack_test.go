package onboard_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/test/fake"
)

// canary stands in every secret that an attacker writes.
const canary = "canary-of-a-tenant"

// TestAttackersGetAConditionAndNothingElse: whatever a tenant of the management cluster
// writes into a secret that counts as the cluster's, the cluster ends without a VIM and
// with a reason, and nothing of the secret shows.
func TestAttackersGetAConditionAndNothingElse(t *testing.T) {
	b := newBench(t)
	target := fake.New(t, func(w http.ResponseWriter, r *http.Request) {
		// Something that is no API server, like the broker or a key store.
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, `{"name":"`+canary+`"}`)
	})
	good := func(name string) string { return b.kube("a/" + name).Kubeconfig() }
	user := func(name, with string) string { return strings.Replace(good(name), "user: {", "user: {"+with+", ", 1) }
	cluster := func(name, with string) string {
		return strings.Replace(good(name), "cluster: {", "cluster: {"+with+", ", 1)
	}
	for name, c := range map[string]struct {
		kubeconfig string
		why        onboard.ClusterReason
	}{
		"exec":          {user("exec", "exec: {apiVersion: client.authentication.k8s.io/v1, command: "+canary+"}"), onboard.ReasonSecretInvalid},
		"auth-provider": {user("auth-provider", "auth-provider: {name: gcp, config: {access-token: "+canary+"}}"), onboard.ReasonSecretInvalid},
		"token-file":    {user("token-file", "tokenFile: /etc/"+canary), onboard.ReasonSecretInvalid},
		"key-file":      {user("key-file", "client-key: /etc/"+canary+", client-certificate: /etc/passwd"), onboard.ReasonSecretInvalid},
		"impersonating": {user("impersonating", "as: "+canary), onboard.ReasonSecretInvalid},
		"ca-file":       {cluster("ca-file", "certificate-authority: /etc/"+canary), onboard.ReasonSecretInvalid},
		"proxy":         {cluster("proxy", `proxy-url: "http://`+canary+`"`), onboard.ReasonSecretInvalid},
		"in-url":        {strings.Replace(good("in-url"), "https://", "https://u:"+canary+"@", 1), onboard.ReasonSecretInvalid},
		"unix":          {strings.Replace(good("unix"), "https://", "unix://", 1), onboard.ReasonSecretInvalid},
		"garbage":       {canary + ": [\x01", onboard.ReasonSecretInvalid},
		"bomb":          {"a: &a [" + canary + "]\nb: [*a,*a,*a,*a,*a,*a]\n", onboard.ReasonSecretInvalid},
		"other-token":   {strings.Replace(good("other-token"), b.kube("a/other-token").AdminToken, canary, 1), onboard.ReasonCredentialRefused},
		"no-api-server": {strings.NewReplacer(b.kube("a/no-api-server").Endpoint, target.URL, b.kube("a/no-api-server").AdminToken, canary).
			Replace(good("no-api-server")), onboard.ReasonUnreachable},
		"metadata": {strings.Replace(good("metadata"), b.kube("a/metadata").Endpoint, "https://169.254.169.254", 1), onboard.ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s := b.cluster("a", name)
			b.secret(s, c.kubeconfig)
			b.look("a", name)
			row := b.row("a", name)
			if row.Reason != c.why || row.State != onboard.StateQuarantined && row.State != onboard.StateWaiting {
				t.Errorf("it is %s (%s: %s), want %s", row.State, row.Reason, row.Message, c.why)
			}
			if row.VIM != "" || row.Message == "" || strings.Contains(row.Message, canary) {
				t.Errorf("VIM %q, message %q", row.VIM, row.Message)
			}
			if name == "metadata" && !strings.Contains(row.Message, "egress rules") {
				t.Errorf("message %q, want the egress rules' refusal", row.Message)
			}
		})
	}
	if got := b.vims(); len(got) != 0 {
		t.Errorf("%d VIMs are registered", len(got))
	}
	if strings.Contains(b.log.String(), canary) {
		t.Error("the log holds what a tenant wrote")
	}
	for name, content := range files(t, b.dir) {
		if strings.Contains(string(content), canary) {
			t.Errorf("%s holds what a tenant wrote", name)
		}
	}
}

// TestEgressRulesOfTheProject hold for the address that a cluster's secret names, also when it
// is registered already, and not those of the management cluster's project.
func TestEgressRulesOfTheProject(t *testing.T) {
	b := newBench(t)
	b.closed = "north"
	b.cluster("a", "edge")
	b.cluster("b", "edge")
	b.look("a", "edge")
	b.look("b", "edge")
	if c := b.want("a", "edge", onboard.StateWaiting, onboard.ReasonUnreachable); !strings.Contains(c.Message, "egress rules") {
		t.Errorf("the message is %q", c.Message)
	}
	b.want("b", "edge", onboard.StateRegistered, "")
	if got := b.kube("a/edge").Requests(); len(got) != 0 {
		t.Errorf("it was asked %d times", len(got))
	}
	b.closed = "south"
	b.kube("b/edge").Requests()
	b.secret(b.source.clusters["b/edge"], b.kube("b/edge").Anew())
	b.look("b", "edge")
	b.want("b", "edge", onboard.StateRegistered, onboard.ReasonUnreachable)
	if got := b.kube("b/edge").Requests(); len(got) != 0 {
		t.Errorf("a rotation asked it %d times", len(got))
	}
}

// TestATenantsOwnProjectOnly: no label, name or second namespace makes a cluster another
// project's VIM, or takes the place of one.
func TestATenantsOwnProjectOnly(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) {
		m.NameTemplate, m.CopyLabels = "vim-{cluster}", []string{"project", "vimbroker.io/cluster", "x/y"}
	})
	victim := b.cluster("b", "edge")
	b.look("b", "edge")
	first := b.want("b", "edge", onboard.StateRegistered, "")
	thief := b.cluster("a", "edge")
	thief.Labels = map[string]string{"project": "south", "vimbroker.io/cluster": victim.UID, "vimbroker.io/management-cluster": "x", "x/y": "z"}
	b.source.put(thief)
	b.look("a", "edge")
	second := b.row("a", "edge")
	if second.State == onboard.StateRegistered { // names are unique in a project alone
		v := b.vim(second.VIM)
		if v.ID == first.VIM || v.Project != "north" || v.Labels[broker.LabelCluster] != thief.UID || v.Labels["cluster/vimbroker.io.cluster"] != victim.UID {
			t.Errorf("the VIM is of %s, with labels %v", v.Project, v.Labels)
		}
	}
	if v := b.vim(first.VIM); v.Project != "south" || v.Labels[broker.LabelCluster] != victim.UID {
		t.Errorf("the victim's VIM is of %s, with labels %v", v.Project, v.Labels)
	}
	// The same name in the same project waits, and nothing is overwritten.
	other := newBench(t, func(m *onboard.Settings) { m.NameTemplate, m.Projects = "{cluster}", map[string]string{"": "north"} })
	other.cluster("a", "edge")
	other.look("a", "edge")
	kept := other.want("a", "edge", onboard.StateRegistered, "")
	other.cluster("b", "edge")
	other.look("b", "edge")
	other.want("b", "edge", onboard.StateWaiting, onboard.ReasonNameTaken)
	other.source.drop("b", "edge")
	other.gone("b", "edge")
	if v := other.vim(kept.VIM); v.Labels[broker.LabelClusterNamespace] != "a" {
		t.Error("the one that was first is another's now")
	}
	// A name that no VIM can have is said to be one.
	long := strings.Repeat("x", 253)
	named := b.cluster("a", long)
	b.source.drop("a", long)
	named.UID = "u-long"
	b.source.put(named)
	b.secret(named, b.kube("a/"+long).Kubeconfig())
	b.look("a", long)
	if c := b.row("a", long); c.Reason != onboard.ReasonRefused || !strings.Contains(c.Message, "name") {
		t.Errorf("a cluster with a name of 253 characters is %s (%s: %s)", c.State, c.Reason, c.Message)
	}
}

// TestTenThousandSecrets: secrets of clusters that are not there cost no row, and no look
// at what they hold.
func TestTenThousandSecrets(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	all := b.source.versions("a")
	for i := range 10_000 {
		name := fmt.Sprint("ghost", i)
		all = append(all, onboard.SecretVersion{Name: name + "-kubeconfig", Cluster: name, Version: "1"})
	}
	b.w.Sight("a").Secrets(all)
	for _, s := range all {
		if _, err := b.w.Step(t.Context(), "a", s.Cluster); err != nil {
			t.Fatal(err)
		}
	}
	b.want("a", "edge", onboard.StateRegistered, "")
	found, _, err := b.store.Clusters(t.Context(), onboard.ClusterFilter{Page: broker.Page{Size: broker.MaxPage}})
	if err != nil || len(found) != 1 || b.source.reads != 1 {
		t.Errorf("%d rows, %v, %d secrets were read; want one", len(found), err, b.source.reads)
	}
}

// TestAClusterThatFlipsItsUID, as one does whose management cluster is restored from a
// backup: each object is a VIM of its own, and one that comes back is taken anew.
func TestAClusterThatFlipsItsUID(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	first := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, first.VIM)
	show := func(uid string) {
		s.UID = uid
		b.source.put(s)
		b.secret(s, b.kube("a/edge").Kubeconfig()) // the same system
		for range 4 {
			b.look("a", "edge")
			b.clock.Add(onboard.Settled)
		}
		b.clock.Add(time.Minute)
		b.look("a", "edge")
	}
	vims := map[string]bool{first.VIM: true}
	for _, uid := range []string{"flipped", first.UID, "flipped"} {
		show(uid)
		live := 0
		for _, c := range b.rows("a", "edge") {
			if c.State != onboard.StateRetired {
				if live++; c.State != onboard.StateRegistered || c.UID != uid || vims[c.VIM] {
					t.Errorf("shown %s: it is %s (%s: %s) with UID %s", uid, c.State, c.Reason, c.Message, c.UID)
				}
				vims[c.VIM] = true
			}
		}
		if live != 1 || len(b.vims()) != 1 {
			t.Fatalf("%d clusters are alive, %d VIMs, want one", live, len(b.vims()))
		}
	}
	if l = b.leaseRow(l.ID); l.State != broker.LeaseRevoked {
		t.Errorf("a lease on the first is %s", l.State)
	}
}

// TestTroubleOfOthersDelaysNobody: of 200 clusters 20 take connections and never answer,
// and 5 refuse their credential; the others are registered while those still hang.
func TestTroubleOfOthersDelaysNobody(t *testing.T) {
	const all, dark, refused = 200, 20, 5
	b := newBench(t)
	b.serve(func(terms *broker.Terms) { terms.CallTimeout = time.Minute }) // a machine that is busy answers late too
	for i := range all {
		name := fmt.Sprintf("c%03d", i)
		s := b.cluster("a", name)
		kube := b.kube("a/" + name)
		switch {
		case i < dark: // first in every order
			kube.BlackHole(true)
		case i < dark+refused:
			b.secret(s, strings.Replace(kube.Kubeconfig(), kube.AdminToken, "expired", 1))
		}
	}
	for _, namespace := range b.m.Namespaces {
		b.kube("hub").PutSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "any"}})
	}
	b.source.shows = true
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- b.Worker().Work(ctx, b.hub.ID)
	}()
	t.Cleanup(func() {
		for _, kube := range b.kubes {
			kube.BlackHole(false)
		}
		cancel()
		for range done { //nolint:revive // until it is closed
		}
	})
	patience := time.After(2 * time.Minute)
	for {
		n, err := b.store.CountClusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.States[onboard.StateRegistered] == all-dark-refused && n.Reasons[onboard.ReasonCredentialRefused] == refused {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the watch ended: %v", err)
		case <-patience:
			t.Fatalf("%v, %v; want all that answer to be registered", n.States, n.Reasons)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestALookThatIsCutOff, as one is when the server stops, ends in an error.
func TestALookThatIsCutOff(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.show()
	ctx, cancel := context.WithCancel(t.Context())
	b.kube("a/edge").After("GET", "/namespaces/kube-system$", cancel)
	if _, err := b.w.Step(ctx, "a", "edge"); err == nil {
		t.Error("a look that nothing could be stored of succeeded")
	}
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}
