package csar_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// nfvo is a subscriber; it keeps what it is told.
type nfvo struct {
	*httptest.Server
	mu   sync.Mutex
	told []string
}

func (r *rig) nfvo() *nfvo {
	n := new(nfvo)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			n.mu.Lock()
			n.told = append(n.told, string(body))
			n.mu.Unlock()
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	r.t.Cleanup(n.Close)
	return n
}

// subscribes asks to be told of everything, does what instances go through, and compares what it is told with the
// documents.
func (c *contract) subscribes(goThrough func()) {
	n := c.nfvo()
	body := `{"callbackUri":"` + n.URL + `","filter":{"notificationTypes":["VnfLcmOperationOccurrenceNotification","VnfIdentifierCreationNotification",
		"VnfIdentifierDeletionNotification"]},"authentication":{"authType":["BASIC"],"paramsBasic":{"userName":"u","password":"canary-of-the-contract"}},"verbosity":"FULL"}`
	at := c.created(http.StatusCreated, "POST", lcm+"/subscriptions", body)
	if h, _ := c.want(http.StatusSeeOther, "POST", lcm+"/subscriptions", body); h.Get("Location") != c.URL+at {
		c.t.Errorf("the same again leads to %q, want %q", h.Get("Location"), at)
	}
	c.want(http.StatusUnprocessableEntity, "POST", lcm+"/subscriptions", `{"callbackUri":"http://169.254.169.254/"}`)
	c.want(http.StatusBadRequest, "POST", lcm+"/subscriptions", `{}`)
	for filter, want := range map[string]int{"": 1, "?filter=(eq,verbosity,FULL)": 1, "?filter=(eq,verbosity,SHORT)": 0} {
		_, text := c.want(http.StatusOK, "GET", lcm+"/subscriptions"+filter, "")
		var all []any
		if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != want || strings.Contains(text, "canary") {
			c.t.Errorf("subscriptions%s are %s, %v", filter, text, err)
		}
	}
	goThrough()
	if err := c.rig.subscriptions.Work(c.t.Context(), base(at)); err != nil {
		c.t.Fatal(err)
	}
	c.told(n.told)
	c.want(http.StatusNoContent, "DELETE", at, "")
	c.want(http.StatusNotFound, "GET", at, "")
}

// told compares notifications with SOL003: attributes that the document of the interface has as well with its schemas,
// the others with the tables of clauses 5.5.2.17 to 5.5.2.19.
func (c *contract) told(all []string) {
	occurrence := c.resource(lcm, "/vnf_lcm_op_occs/x").GetOperation("GET").Responses.Status(200).Value.Content.Get("application/json").Schema.Value
	property := func(of *openapi3.Schema, name string) *openapi3.Schema { return of.Properties[name].Value }
	schemas := map[string]*openapi3.Schema{
		"affectedVnfcs": property(property(occurrence, "resourceChanges"), "affectedVnfcs"),
	}
	for _, name := range []string{"error", "changedInfo", "modificationsTriggeredByVnfPkgChange", "operation", "operationState"} {
		schemas[name] = property(occurrence, name)
	}
	seen, count := map[string]bool{}, map[string]float64{}
	for _, text := range all {
		var n map[string]any
		if err := json.Unmarshal([]byte(text), &n); err != nil || strings.Contains(text, "canary") {
			c.t.Fatalf("a notification is %s: %v", text, err)
		}
		must := []string{"id", "notificationType", "subscriptionId", "timeStamp", "vnfInstanceId", "_links"}
		may := []string{}
		links := []string{"vnfInstance", "subscription"}
		kind, _ := n["notificationType"].(string)
		if seen[kind] = true; kind == "VnfLcmOperationOccurrenceNotification" {
			must = append(must, "notificationStatus", "operationState", "operation", "isAutomaticInvocation", "vnfLcmOpOccId")
			may = append(may, "verbosity", "affectedVnfcs", "changedInfo", "modificationsTriggeredByVnfPkgChange", "error", "vimbroker")
			links = append(links, "vnfLcmOpOcc")
			id := n["vnfLcmOpOccId"].(string)
			if count[id]++; n["vimbroker"].(map[string]any)["number"] != count[id] {
				c.t.Errorf("notification %v of an operation is %s", count[id], text)
			}
		}
		for _, name := range must {
			if n[name] == nil {
				c.t.Errorf("a notification without %s: %s", name, text)
			}
		}
		for name, value := range n {
			if !slices.Contains(must, name) && !slices.Contains(may, name) {
				c.t.Errorf("a notification with %s: %s", name, text)
			}
			if schema := schemas[name]; schema != nil {
				seen[name] = true
				part, _ := json.Marshal(value)
				c.fits(name+" of a notification", schema, string(part))
			}
		}
		to, _ := n["_links"].(map[string]any)
		for _, name := range links {
			href := ""
			if l, ok := to[name].(map[string]any); ok {
				href, _ = l["href"].(string)
			}
			if !strings.HasPrefix(href, c.URL+lcm+"/") {
				c.t.Errorf("the link %s of a notification leads to %q", name, href)
			}
		}
		if len(to) != len(links) {
			c.t.Errorf("a notification has the links %v", to)
		}
	}
	for _, name := range []string{
		"VnfLcmOperationOccurrenceNotification", "VnfIdentifierCreationNotification", "VnfIdentifierDeletionNotification",
		"affectedVnfcs", "error", "changedInfo", "modificationsTriggeredByVnfPkgChange",
	} {
		if !seen[name] {
			c.t.Errorf("of %d notifications none has %s", len(all), name)
		}
	}
}
