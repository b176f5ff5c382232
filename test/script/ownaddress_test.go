package script

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestAKubeconfigThatLeadsBackToTheBroker: a tenant writes the broker's own address into the secret
// of his cluster, with its true certificate and a token that the broker takes, or one that it does
// not. The cluster gets a condition that says why, and no VIM; the broker goes on.
func TestAKubeconfigThatLeadsBackToTheBroker(t *testing.T) {
	hub := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}})
	home := t.TempDir()
	certificate, key := story.ServerCertificate(t)
	ca, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	token, digest := policy.NewToken()
	config := story.WriteFile(t, "vimbroker.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tls: {certFile: %q, keyFile: %q}
tokensFile: %q
egress: {allowLoopback: true}
`, home, certificate, key, story.WriteFile(t, "tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n", 0o600)), 0o600)
	b, err := story.Serve(story.BuildWithFailpoints(t, t.TempDir()), home, []string{"HOME=" + home}, "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	c, err := client.New(client.Options{Addr: b.URL, Token: secret.NewText(token), CAFile: certificate})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RegisterVIM(t.Context(), v1.Registration{Name: "hub", Kubeconfig: secret.NewText(hub.Kubeconfig())}, ""); err != nil {
		t.Fatal(err)
	}
	leads := func(to, path, token string) string {
		return fmt.Sprintf(`{current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
  clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}], users: [{name: a, user: {token: %q}}]}`,
			to+path, base64.StdEncoding.EncodeToString(ca), token)
	}
	want := map[string]v1.WorkloadCluster{}
	for name, one := range map[string]struct{ kubeconfig, state, reason, says string }{
		"known":   {leads(b.URL, "", token), "waiting", "unreachable", "no API server that"},
		"below":   {leads(b.URL, "/v1/vims", token), "waiting", "unreachable", "no API server that"},
		"unknown": {leads(b.URL, "", "somebody-else"), "waiting", "unreachable", "no API server that"},
		"plain":   {leads(strings.Replace(b.URL, "https:", "http:", 1), "", token), "quarantined", "secretInvalid", "https"},
	} {
		hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: name, Ready: true, Kubeconfig: one.kubeconfig})
		want[name] = v1.WorkloadCluster{State: one.state, Reason: one.reason, Message: one.says}
	}
	if _, err := c.EnableManagementCluster(t.Context(), v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	}); err != nil {
		t.Fatal(err)
	}
	for name, one := range want {
		var now v1.WorkloadCluster
		if !real.Poll(t, time.Minute, func() bool {
			l, err := c.Clusters(t.Context(), client.ClusterQuery{Name: name})
			if err != nil || len(l.Items) != 1 {
				return false
			}
			now = l.Items[0]
			return now.State == one.State && now.Reason == one.Reason
		}) {
			t.Errorf("%s is %s (%s: %s), want %s (%s)", name, now.State, now.Reason, now.Message, one.State, one.Reason)
		}
		if !strings.Contains(now.Message, one.Message) || strings.Contains(now.Message, token) {
			t.Errorf("%s: the message is %q, want %q in it, and no token", name, now.Message, one.Message)
		}
		if now.VIM != "" {
			t.Errorf("%s is VIM %s", name, now.VIM)
		}
	}
	if l, err := c.VIMs(t.Context(), client.VIMQuery{}); err != nil || len(l.Items) != 1 {
		t.Errorf("%d VIMs are registered, %v, want the management cluster alone", len(l.Items), err)
	}
	if strings.Contains(b.Log.String(), token) {
		t.Error("the log holds a tenant's token")
	}
	if _, err := c.Leases(t.Context(), client.LeaseQuery{}); err != nil {
		t.Errorf("the broker answers %v", err)
	}
}
