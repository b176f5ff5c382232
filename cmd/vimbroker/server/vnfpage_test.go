package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// worked is a VNF of north's whose every text others wrote, with an operation in each state that a person acts on.
type worked struct {
	pkg, instance string
	operations    map[lifecycle.OperationState]string
}

// evil is hostile text of 4 KB that turns what follows it, and begins with a word to find it by.
func evil(word string) string { return word + " \u202e" + hostile + strings.Repeat("x", 4000) }

func newWorked(t *testing.T, s *server) worked {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	entry := audit.Entry{Time: now, Principal: "nora", Project: "north", Action: policy.VNFCreate, Outcome: audit.Done, Detail: map[string]string{audit.DetailReason: evil("reason")}}
	w := worked{pkg: uuid.NewString(), operations: map[lifecycle.OperationState]string{}}
	must(s.store.CreatePackage(t.Context(), catalog.Package{
		ID: w.pkg, Project: "north", State: catalog.Created, VNFDID: "vnfd-1", Provider: evil("provider"), ProductName: evil("product"),
		SoftwareVersion: evil("1.0"), VNFMInfo: []string{evil("vnfm")}, Signer: evil("signer"), Warnings: []string{evil("warning")},
		Artifacts: []vnfpkg.Artifact{{Path: evil("artifact"), Algorithm: "SHA-256", Hash: "ab"}}, CreatedBy: "nora", CreatedAt: now, UpdatedAt: now,
	}, 0, entry))
	front := lifecycle.Resource{Kind: "Deployment", Namespace: "shop", Name: evil("front"), VDU: "front", Wave: 1}
	back := lifecycle.Resource{Kind: evil("Service"), Namespace: "shop", Name: evil("back"), Wave: 2}
	shape := lifecycle.Shape{
		Package: w.pkg, Product: lifecycle.Product{VNFDID: "vnfd-1", Provider: evil("provider"), Name: evil("product"), SoftwareVersion: evil("1.0")},
		Part: lifecycle.Part{VIMName: evil("edge"), Namespace: evil("shop")}, Flavour: evil("flavour"), Scale: map[string]int{evil("aspect"): 1},
		MaxScale: map[string]int{evil("aspect"): 3}, Resources: []lifecycle.Resource{front, back},
		VNFCs: []lifecycle.VNFC{{VDU: "front", Kind: "Pod", Namespace: "shop", Name: evil("pod"), CPs: []lifecycle.CP{{CPD: evil("cp"), MAC: "02:00:00:00:00:01"}}}},
	}
	for _, state := range []lifecycle.OperationState{lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RolledBack, lifecycle.Failed, lifecycle.Starting} {
		i := lifecycle.Instance{
			ID: uuid.NewString(), Project: "north", Name: evil("web"), Description: evil("description"), State: lifecycle.Instantiated,
			CreatedBy: "nora", CreatedAt: now, Revision: 1, Shape: shape,
		}
		must(s.store.CreateInstance(t.Context(), i, 0, entry))
		must(s.store.SaveDrift(t.Context(), i.ID, 1, lifecycle.Drift{TriedAt: now, SeenAt: now, Count: 1, Resources: []lifecycle.Observation{
			{Resource: front, Standing: true, Ready: true, ChangedBy: []string{evil("kubectl")}},
		}}))
		o := lifecycle.Operation{
			ID: uuid.NewString(), Instance: i.ID, Project: "north", Type: lifecycle.Instantiate, State: lifecycle.Starting, StartedAt: now,
			Asker:          policy.Delegation{Name: "nora", Project: "north", Roles: []string{policy.RoleProjectAdmin, policy.RoleMember}, At: now},
			StateEnteredAt: now, QueuedAt: now, TurnAt: now.Add(time.Second), Deadline: now.Add(time.Hour), Before: shape, Target: shape,
			Steps: []lifecycle.Observation{
				{Resource: front, Standing: true, Ready: true},
				{Resource: back, Standing: true, Message: evil("endpoints")},
			},
		}
		if state == lifecycle.Starting {
			o.TurnAt = time.Time{} // it waits for its turn
		}
		must(s.store.BeginOperation(t.Context(), o, 1, nil, entry))
		if state != lifecycle.Starting {
			_, err := s.store.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
				o.State = lifecycle.Processing
				return nil
			}, entry)
			must(err)
		}
		if state != lifecycle.Starting && state != lifecycle.Processing {
			_, err := s.store.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
				o.State, o.Failure = lifecycle.FailedTemp, &lifecycle.Failure{Status: 409, Title: "Conflict", Detail: evil("refused")}
				return nil
			}, entry)
			must(err)
		}
		w.instance, w.operations[state] = i.ID, o.ID
	}
	return w
}

// What others write of packages, VNFs and operations is text on every page, and a tenant sees none of another's.
func TestPagesOfVNFs(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, north, south := tenants(t, s)
	w := newWorked(t, s)
	b, stranger, root := newBrowser(t, s), newBrowser(t, s), newBrowser(t, s)
	b.logIn(north)
	stranger.logIn(south)
	root.logIn(admin)
	b.all.Reset()
	b.see("/ui/", "3 things need somebody", "operation INSTANTIATE", "refused")
	b.see("/ui/vnfs/"+w.instance, "Topology", "VDU", "front", "Pod", "pod", "connection point", "Deployment", "Service", "Drift", "changed by",
		"kubectl", "1 resource", "1 of 3")
	b.see("/ui/packages/"+w.pkg, "provider", "signer", "warning", "artifact", "SHA-256 ab")
	b.see("/ui/operations?failed=yes", "refused")
	b.see("/ui/operations/"+w.operations[lifecycle.Processing], "Time line", "asked for by nora", "its turn came", "wave 1", "wave 2",
		"endpoints", "Waits until")
	b.see("/ui/operations/"+w.operations[lifecycle.FailedTemp], "refused", "/retry", "/rollback", "/fail")
	b.see("/ui/operations/"+w.operations[lifecycle.Starting], "waits for its turn", "number 1 of its project")
	b.crawl("/ui/")
	all := b.all.String()
	for _, markup := range []string{"\u202e", "<script>alert", "<img src=x", strings.Repeat("x", 400)} {
		if strings.Contains(all, markup) {
			n := strings.Index(all, markup)
			t.Errorf("a page has %.40q, which others wrote: %q", markup, all[max(0, n-200):n+20])
		}
	}
	if !strings.Contains(all, `\u202e&lt;script&gt;alert(1)`) {
		t.Error("no page has what others wrote")
	}
	entries, err := s.store.Entries(t.Context(), audit.Query{Action: policy.VNFCreate, Limit: 1})
	if err != nil || len(entries) != 1 {
		t.Fatalf("the log has %v, %v", entries, err)
	}
	if text := root.see(fmt.Sprintf("/ui/audit/%d", entries[0].Seq), "reason"); strings.Contains(text, "\u202e") {
		t.Error("an entry turns its text")
	}
	pages := []string{"/ui/vnfs/" + w.instance, "/ui/packages/" + w.pkg}
	for _, id := range w.operations {
		for _, act := range []string{"", "/retry", "/rollback", "/fail", "/cancel"} {
			pages = append(pages, "/ui/operations/"+id+act)
		}
	}
	for _, page := range pages {
		if status, text := stranger.send(page, nil); status != http.StatusNotFound || strings.Contains(text, "product") {
			t.Errorf("%s of another tenant = %d %s, want 404", page, status, text)
		}
	}
	for _, list := range []string{"/ui/", "/ui/vnfs", "/ui/packages", "/ui/operations"} {
		if text := stranger.see(list); strings.Contains(text, "product") || strings.Contains(text, "refused") {
			t.Errorf("%s shows what another tenant has: %s", list, text)
		}
	}
	if text := stranger.see("/ui/operations"); !strings.Contains(text, "vimbroker vnf instantiate") {
		t.Errorf("a list without operations does not say what to type: %s", text)
	}
}

// Each act on an operation is the domain's, and in the log with its door.
func TestActsOnOperations(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	_, north, south := tenants(t, s)
	w := newWorked(t, s)
	b, stranger := newBrowser(t, s), newBrowser(t, s)
	b.logIn(north)
	stranger.logIn(south)
	own := formToken.FindStringSubmatch(stranger.see("/ui/vnfs"))[1]
	for _, c := range []struct {
		of     lifecycle.OperationState
		act    string
		action policy.Action
		then   func(lifecycle.Operation) bool
	}{
		{lifecycle.FailedTemp, "retry", policy.VNFRetry, func(o lifecycle.Operation) bool { return o.State == lifecycle.Processing }},
		{lifecycle.RolledBack, "rollback", policy.VNFRollback, func(o lifecycle.Operation) bool { return o.State == lifecycle.RollingBack }},
		{lifecycle.Failed, "fail", policy.VNFFail, func(o lifecycle.Operation) bool { return o.State == lifecycle.Failed }},
		{lifecycle.Processing, "cancel", policy.VNFCancel, func(o lifecycle.Operation) bool { return o.Cancel == lifecycle.Graceful }},
	} {
		path := "/ui/operations/" + w.operations[c.of] + "/" + c.act
		if status, _ := stranger.send(path, map[string][]string{"form-token": {own}}); status != http.StatusNotFound {
			t.Errorf("%s by another tenant = %d, want 404", c.act, status)
		}
		if status, text := b.do(path, nil); status != http.StatusSeeOther {
			t.Errorf("%s = %d %s", c.act, status, text)
		}
		if o, err := s.store.Operation(t.Context(), w.operations[c.of]); err != nil || !c.then(o) {
			t.Errorf("after %s it is %s, canceled %q, %v", c.act, o.State, o.Cancel, err)
		}
		found, err := s.store.Entries(t.Context(), audit.Query{Principal: "nora", Action: c.action, Limit: 1})
		if err != nil || len(found) != 1 || found[0].Door != audit.DoorPage {
			t.Errorf("%s: the log has %+v, %v", c.act, found, err)
		}
	}
}
