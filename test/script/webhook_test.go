package script

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	webhookKey   = "whsec_Y2FuYXJ5LWtleS1vZi10aGUtd2ViaG9vay0tLS0="
	webhookToken = "canary-token-of-the-webhook"
)

// receiver is somebody's webhook: it takes CloudEvents that Standard Webhooks' own library
// finds signed, and fails at the first post.
type receiver struct {
	*fake.Server
	mu     sync.Mutex
	bodies []string
	refuse []string // ids of the events of the post that failed
	taken  []event.Event
	faults []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(webhookKey)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{}
	r.Server = fake.New(t, func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = verifier.Verify(body, request.Header)
		}
		var batch []event.Event
		if err == nil {
			err = json.Unmarshal(body, &batch)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies = append(r.bodies, string(body))
		if got := request.Header.Get("Authorization"); err == nil && got != "Bearer "+webhookToken {
			err = fmt.Errorf("it came with the authorization %q", got)
		}
		if err != nil {
			r.faults = append(r.faults, err.Error())
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if r.refuse == nil {
			for _, e := range batch {
				r.refuse = append(r.refuse, e.ID())
			}
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.taken = append(r.taken, batch...)
		w.WriteHeader(http.StatusNoContent)
	})
	return r
}

// kinds are the types of the events that were taken, in their order.
func (r *receiver) kinds() (kinds []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.taken {
		kinds = append(kinds, e.Type())
	}
	return kinds
}

// TestAWebhookIsToldOfClusters: whoever listens is told once of each thing that becomes of a
// cluster's VIM, signed, also where it failed at first; no secret is in what it is told.
func TestAWebhookIsToldOfClusters(t *testing.T) {
	hook := newReceiver(t)
	hub, edge, other := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}}), fakekube.New(t, fakekube.Options{}), fakekube.New(t, fakekube.Options{})
	site := story.NewSite(t, story.BuildWithFailpoints(t, t.TempDir()), fmt.Sprintf(
		"audit: {egress: {allowLoopback: true}, sinks: [{name: fleet, kind: webhook, mode: bestEffort, cloudEvents: true, url: %q, caFile: %q, tokenFile: %q, hmacKeyFile: %q}]}",
		hook.URL+"/events", story.WriteFile(t, "ca.pem", hook.CA, 0o600), story.WriteFile(t, "token", webhookToken+"\n", 0o600), story.WriteFile(t, "key", webhookKey+"\n", 0o600),
	))
	admin, err := os.ReadFile(site.File("root/token"))
	if err != nil {
		t.Fatal(err)
	}
	broker, err := client.New(client.Options{Addr: site.Broker.URL, Token: secret.NewText(strings.TrimSpace(string(admin)))})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	put := func(kubeconfig string) {
		hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", Ready: true, Kubeconfig: kubeconfig})
	}
	put(edge.Kubeconfig())
	if _, err := broker.RegisterVIM(ctx, v1.Registration{Name: "hub", Kubeconfig: secret.NewText(hub.Kubeconfig())}, ""); err != nil {
		t.Fatal(err)
	}
	m, err := broker.EnableManagementCluster(ctx, v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	await := func(state string, generation int64) (c v1.WorkloadCluster) {
		t.Helper()
		if !real.Poll(t, time.Minute, func() bool {
			found, err := broker.Clusters(ctx, client.ClusterQuery{Name: "edge"})
			if err != nil || len(found.Items) != 1 || found.Items[0].State != state {
				return false
			}
			c = found.Items[0]
			if generation == 0 {
				return true
			}
			v, err := broker.VIM(ctx, c.VIM)
			return err == nil && v.Generation == generation
		}) {
			t.Fatalf("the cluster is not %s in generation %d\n%s", state, generation, site.Broker.Log)
		}
		return c
	}
	next := edge.Anew()
	rotated := token.FindString(next)
	c := await("registered", 1)
	lease, err := broker.IssueLease(ctx, v1.LeaseRequest{VIM: c.VIM, Role: "view", Format: "kubeconfig"}, "")
	if err != nil {
		t.Fatal(err)
	}
	put(strings.Replace(edge.Kubeconfig(), edge.AdminToken, edge.AdminTokenFor(0), 1)) // not needed
	put(next)
	await("registered", 2)
	put(other.Kubeconfig())
	await("quarantined", 2)
	hub.DropCluster("tenant", "edge")
	await("retired", 0)
	real.Poll(t, time.Minute, func() bool { return slices.Contains(hook.kinds(), "vim.retired") })
	if err := site.Broker.Stop(); err != nil { // from here on nothing comes any more
		t.Error(err)
	}

	if got := strings.Join(hook.kinds(), " "); got != "vim.registered vim.updated vim.quarantined vim.retired" {
		t.Errorf("it was told %q", got)
	}
	hook.mu.Lock()
	defer hook.mu.Unlock()
	if len(hook.faults) > 0 {
		t.Errorf("the receiver refuses: %q", hook.faults)
	}
	for i, e := range hook.taken {
		if e.Subject() != "tenant/edge" || e.Source() != "/v1/management-clusters/"+m.VIM || !strings.Contains(string(e.Data()), c.VIM) {
			t.Errorf("event %s", e)
		}
		if i == 0 && (len(hook.refuse) == 0 || hook.refuse[0] != e.ID()) {
			t.Errorf("the post that failed held the events %q; the first that was taken is %s", hook.refuse, e.ID())
		}
	}
	secrets := canaries{text: map[string][]string{}}
	for name, text := range map[string]string{
		"the caller's token": string(admin), "the webhook's token": webhookToken, "the webhook's key": webhookKey[len("whsec_"):],
		"the hub's token": hub.AdminToken, "the cluster's token": edge.AdminToken, "its next token": rotated, "another's token": other.AdminToken,
		"the lease's token": token.FindString(lease.ClientConfig.Text.Reveal()),
	} {
		if text == "" {
			t.Errorf("there is no %s to look for", name)
		}
		secrets.add(name, text)
	}
	for _, body := range hook.bodies {
		if found := secrets.in([]byte(body)); found != nil || strings.Contains(body, "eyJ") { // how each token begins, also one that was cut
			t.Errorf("a body holds a secret, %q: %s", found, body)
		}
	}
}
