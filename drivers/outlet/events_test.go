package outlet_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestEventsAreCloudEvents: of the log's lines only those are posted that tell what became
// of a cluster's VIM, as a batch that any tool of CloudEvents reads, signed, and the same
// when it is sent again.
func TestEventsAreCloudEvents(t *testing.T) {
	var bodies [][]byte
	var heads []http.Header
	h := fake.New(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies, heads = append(bodies, body), append(heads, r.Header)
		w.WriteHeader(http.StatusNoContent)
	})
	o, err := outlet.NewEvents(outlet.WebhookOptions{
		URL: h.URL, CAFile: story.WriteFile(t, "ca.pem", h.CA, 0o600), Rules: loopback(),
		HMACKeyFile: story.WriteFile(t, "key", keyCanary+"\n", 0o600),
	})
	mustDo(t, err)
	t.Cleanup(func() { mustDo(t, o.Close()) })
	entry := func(seq int64, action policy.Action, outcome audit.Outcome, detail map[string]string) []byte {
		line, err := audit.Line(audit.Entry{
			Seq: seq, Time: noon, Principal: "system:onboard", Project: "p", Action: action, Kind: policy.KindVIM, Resource: "hub-id",
			Outcome: outcome, Detail: detail,
		})
		mustDo(t, err)
		return line
	}
	others := [][]byte{
		entry(1, policy.VIMRegister, audit.Done, nil),
		entry(2, policy.ClusterFollow, audit.Done, map[string]string{"new.state": "waiting"}),
		entry(3, policy.ClusterFollow, audit.Failed, map[string]string{"old.state": "registering", "new.state": "registered"}),
	}
	mustDo(t, o.Send(t.Context(), others))
	if len(bodies) != 0 {
		t.Fatalf("%d requests were sent for lines that tell nothing", len(bodies))
	}
	told := append(others,
		entry(4, policy.ClusterFollow, audit.Done, map[string]string{"cluster": "a/edge", "clusterProject": "north", "clusterVIM": "v1", "old.state": "registering", "new.state": "registered"}),
		entry(5, policy.ClusterFollow, audit.Done, map[string]string{"cluster": "a/edge", "clusterProject": "north", "clusterVIM": "v1", "new.secret": "uid/2"}),
		entry(6, policy.ClusterFollow, audit.Done, map[string]string{"cluster": "a/edge", "clusterProject": "north", "clusterVIM": "v1", "old.state": "registered", "new.state": "quarantined", "new.secret": "uid/3", "reason": "otherSystem", "error": fake.Canary}),
		entry(7, policy.ClusterFollow, audit.Done, map[string]string{"cluster": "a/edge", "clusterProject": "north", "clusterVIM": "v1", "old.state": "retiring", "new.state": "retired"}),
	)
	mustDo(t, o.Send(t.Context(), told))
	mustDo(t, o.Send(t.Context(), told))
	h.Fail(fake.Fault{Kind: fake.Refuse, Status: 503})
	if err := o.Send(t.Context(), told); err == nil || !strings.Contains(err.Error(), "answers 503") {
		t.Errorf("Send of what is refused = %v", err)
	}
	if len(bodies) != 2 || string(bodies[0]) != string(bodies[1]) || heads[0].Get("Webhook-Id") != heads[1].Get("Webhook-Id") {
		t.Errorf("what is sent again differs: %s\n%s", bodies[0], bodies[1])
	}
	if got := heads[0].Get("Content-Type"); !strings.HasPrefix(got, "application/cloudevents-batch+json") {
		t.Errorf("Content-Type = %q", got)
	}
	if !strings.HasPrefix(heads[0].Get("Webhook-Signature"), "v1,") {
		t.Error("the batch is not signed")
	}
	if strings.Contains(string(bodies[0]), fake.Canary) {
		t.Error("an event holds more of the entry than it tells")
	}
	var batch []event.Event
	mustDo(t, json.Unmarshal(bodies[0], &batch))
	var kinds []string
	for i, e := range batch {
		mustDo(t, e.Validate())
		if leaf := tree.Leaf(told[len(others)+i]); e.ID() != hex.EncodeToString(leaf[:]) {
			t.Errorf("the id of event %d is %s, want its leaf in the tree of the log", i, e.ID())
		}
		kinds = append(kinds, e.Type())
		if e.Subject() != "a/edge" || e.Source() != "/v1/management-clusters/hub-id" || !strings.Contains(string(e.Data()), `"vim":"v1"`) ||
			!strings.Contains(string(e.Data()), `"project":"north"`) || !e.Time().Equal(noon) {
			t.Errorf("event %s", e)
		}
	}
	if got := strings.Join(kinds, " "); got != "vim.registered vim.updated vim.quarantined vim.retired" {
		t.Errorf("the events are %s", got)
	}
}
