package rest_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// onboarding has the API answer about clusters, which nobody watches here.
func (b *bench) onboarding() {
	b.t.Helper()
	driver := clusterapi.New()
	b.t.Cleanup(driver.Close)
	rules := egress.Default()
	rules.AllowLoopback = true
	b.clusters = onboard.New(onboard.Options{
		Store: b.store, Broker: b.broker, Source: driver, Guard: b.broker.Guard(),
		Egress: func(string) *egress.Rules { return rules }, Log: testlog.To(b.t, slog.NewJSONHandler(b.log, nil)),
	})
	b.rewire(b.broker, b.authenticator())
}

// TestWithoutOnboarding: a server that follows no clusters says so, and takes no push.
func TestWithoutOnboarding(t *testing.T) {
	b := newBench(t)
	id := uuid.NewString()
	for _, r := range [][3]string{
		{"POST", "/v1/management-clusters", `{"vim":"hub","namespaces":["tenant"]}`},
		{"GET", "/v1/management-clusters", ""},
		{"GET", "/v1/management-clusters/hub", ""},
		{"DELETE", "/v1/management-clusters/hub", ""},
		{"POST", "/v1/management-clusters/hub/release", "{}"},
		{"GET", "/v1/clusters", ""},
		{"GET", "/v1/clusters/" + id, ""},
		{"POST", "/v1/clusters/" + id + "/push-token", "{}"},
		{"DELETE", "/v1/clusters/" + id + "/push-token", ""},
	} {
		if answer, body := b.raw("root", r[0], r[1], r[2]); answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "does not follow the clusters") {
			t.Errorf("%s %s = %d %s", r[0], r[1], answer.StatusCode, body)
		}
	}
	push := `{"managementCluster":"hub","namespace":"tenant","clusterUid":"u","kubeconfig":"x"}`
	if answer, body := b.raw("", "POST", "/v1/onboard", push, "Authorization", "Bearer vbpush_"+id+"_x"); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a push = %d %s", answer.StatusCode, body)
	}
}

// TestClustersOverREST: a management cluster from enabling to disabling, and a cluster of it that is pushed.
func TestClustersOverREST(t *testing.T) {
	b := newBench(t)
	b.onboarding()
	root, ctx := b.as("root"), t.Context()
	hub, edge := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}}), fakekube.New(t, fakekube.Options{})
	v, err := root.RegisterVIM(ctx, v1.Registration{Name: "hub", Kubeconfig: secret.NewText(hub.Kubeconfig())}, "")
	if err != nil {
		t.Fatal(err)
	}
	answer, body := b.raw("root", "POST", "/v1/management-clusters", `{"vim":"hub","namespaces":["tenant"],"projects":{"":"demo"}}`)
	if answer.StatusCode != http.StatusCreated || answer.Header.Get("Location") != "/v1/management-clusters/"+v.ID || !strings.Contains(body, `"account":"engine"`) {
		t.Fatalf("enabling = %d, Location %q: %s", answer.StatusCode, answer.Header.Get("Location"), body)
	}
	// An administrator registers for another project, and nobody else does.
	other := v1.Registration{Name: "theirs", VIMProject: "demo", Kubeconfig: secret.NewText(fakekube.New(t, fakekube.Options{}).Kubeconfig())}
	if v, err := root.RegisterVIM(ctx, other, ""); err != nil || v.Project != "demo" {
		t.Errorf("a VIM for another project is of %s, %v", v.Project, err)
	}
	if _, err := b.as("mallet").RegisterVIM(ctx, other, ""); client.Status(err) != http.StatusForbidden {
		t.Errorf("a member registers for another project: %v", err)
	}
	uid := hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", Ready: true})
	now := time.Now().UTC().Truncate(time.Microsecond)
	c := onboard.Cluster{
		ID: uuid.NewString(), Management: v.ID, Namespace: "tenant", Name: "edge", UID: uid, Project: "demo",
		State: onboard.StateWaiting, Reason: onboard.ReasonSecretMissing, CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	seen := audit.Entry{Time: now, Principal: "system:onboard", Project: "admin", Action: policy.ClusterFollow, Kind: policy.KindVIM, Resource: v.ID, Outcome: audit.Done}
	if err := b.store.AddCluster(ctx, c, seen); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]int{"": 1, "waiting": 1, "registered": 0} {
		l, err := b.as("alice").Clusters(ctx, client.ClusterQuery{State: state})
		if err != nil || len(l.Items) != want {
			t.Errorf("%d clusters in state %q, %v, want %d", len(l.Items), state, err, want)
		}
	}
	show := func() (w v1.WorkloadCluster) {
		t.Helper()
		answer, body := b.raw("alice", "GET", "/v1/clusters/"+c.ID, "")
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("showing it = %d %s", answer.StatusCode, body)
		}
		if err := json.Unmarshal([]byte(body), &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	if answer, _ := b.raw("mallet", "GET", "/v1/clusters/"+c.ID, ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("another project is shown it: %d", answer.StatusCode)
	}

	issue := func() string {
		t.Helper()
		answer, body := b.raw("root", "POST", "/v1/clusters/"+c.ID+"/push-token", `{"ttl":"5m"}`)
		var issued struct{ Token string }
		if err := json.Unmarshal([]byte(body), &issued); err != nil || answer.StatusCode != http.StatusCreated || issued.Token == "" {
			t.Fatalf("issuing a token = %d", answer.StatusCode)
		}
		return issued.Token
	}
	revoked := issue()
	if at := show().PushTokenExpiresAt; at.Before(now.Add(4*time.Minute)) || at.After(now.Add(10*time.Minute)) {
		t.Errorf("the token is shown to be good until %v, from %v", at, now)
	}
	if answer, body := b.raw("root", "DELETE", "/v1/clusters/"+c.ID+"/push-token", ""); answer.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("revoking it = %d %s", answer.StatusCode, body)
	}
	token := issue()
	text, err := json.Marshal(map[string]string{"managementCluster": "hub", "namespace": "tenant", "clusterUid": uid, "kubeconfig": edge.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	for authorization, want := range map[string]int{
		token: http.StatusUnauthorized, "Basic " + token: http.StatusUnauthorized, "Bearer " + revoked: http.StatusUnauthorized,
		"Bearer " + b.tokens["root"]: http.StatusUnauthorized, "": http.StatusUnauthorized,
	} {
		if answer, _ := b.raw("", "POST", "/v1/onboard", string(text), "Authorization", authorization); answer.StatusCode != want {
			t.Errorf("a push with another authorization = %d, want %d", answer.StatusCode, want)
		}
	}
	runs := strings.Replace(string(text), "user: {", "user: {exec: {command: id}, ", 1)
	answer, body = b.raw("", "POST", "/v1/onboard", runs, "Authorization", "Bearer "+token)
	if answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "quarantined (secretInvalid)") || strings.Contains(body, edge.AdminToken) {
		t.Fatalf("a push of what cannot be taken = %d %s", answer.StatusCode, body)
	}
	answer, body = b.raw("", "POST", "/v1/onboard", string(text), "Authorization", "Bearer "+token)
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, `"state":"registered"`) || strings.Contains(body, edge.AdminToken) {
		t.Fatalf("a push = %d %s", answer.StatusCode, body)
	}
	if w := show(); w.State != "registered" || w.VIMName != "tenant.edge" || !w.PushTokenExpiresAt.IsZero() || w.PushedAt.IsZero() || w.VIMStatus != "reachable" {
		t.Errorf("it is %+v", w)
	}

	// One that was enabled before there were accounts keeps credentials, and says so.
	if _, err := b.store.UpdateManagement(ctx, v.ID, func(m *onboard.Management) error {
		m.Account = ""
		return nil
	}, seen); err != nil {
		t.Fatal(err)
	}
	if m, err := root.ManagementCluster(ctx, "hub"); err != nil || m.Account != "none" || m.VIMName != "hub" {
		t.Errorf("it is shown as %+v, %v", m, err)
	}
	if answer, body := b.raw("root", "POST", "/v1/management-clusters/hub/release", "{}"); answer.StatusCode != http.StatusOK || !strings.Contains(body, "releasedUntil") {
		t.Errorf("releasing = %d %s", answer.StatusCode, body)
	}
	if answer, body := b.raw("root", "DELETE", "/v1/management-clusters/hub", ""); answer.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("disabling = %d %s", answer.StatusCode, body)
	}
	if answer, _ := b.raw("root", "GET", "/v1/management-clusters/hub", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("what is disabled is shown: %d", answer.StatusCode)
	}
	if strings.Contains(b.log.String(), token) || strings.Contains(b.log.String(), edge.AdminToken) {
		t.Error("the log holds a token")
	}
}
