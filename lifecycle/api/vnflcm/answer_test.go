package vnflcm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/doors"
)

// TestErrorsAreAnswered: whatever the domain refuses is answered as its kind, and one of a package is one of the request.
func TestErrorsAreAnswered(t *testing.T) {
	const one, op = "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d", "/vnf_lcm_op_occs/bde115b1-f26f-402e-affa-baaa27119f24"
	for _, c := range []struct {
		method, path, body string
		err                error
		status             int
	}{
		{"POST", "/vnf_instances", `{"vnfdId":"d"}`, &broker.Error{Kind: broker.ErrNotFound, Field: "vnfdId", Detail: "no such package"}, 422},
		{"POST", "/vnf_instances", `{"vnfdId":"d"}`, &broker.Error{Kind: broker.ErrQuota, Detail: "full"}, 429},
		{"GET", "/vnf_instances", ``, &broker.Error{Kind: broker.ErrDenied}, 403},
		{"DELETE", one, ``, &broker.Error{Kind: broker.ErrConflict, Detail: "the instance is INSTANTIATED"}, 409},
		{"PATCH", one, `{}`, &broker.Error{Kind: broker.ErrConflict}, 409},
		{"POST", one + "/instantiate", `{"flavourId":"f"}`, &broker.Error{Kind: broker.ErrConflict}, 409},
		{"POST", one + "/instantiate?dry_run", `{"flavourId":"f"}`, &broker.Error{Kind: broker.ErrConflict}, 409},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e"}`, &broker.Error{Kind: broker.ErrConflict, Field: "vnfdId", Detail: "the package is disabled"}, 422},
		{"POST", one + "/change_ext_conn", `{"extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1"}]}]}`, &broker.Error{Kind: broker.ErrConflict}, 409},
		{"GET", "/vnf_lcm_op_occs", ``, &broker.Error{Kind: broker.ErrDenied}, 403},
		{"POST", op + "/cancel", `{"cancelMode":"FORCEFUL"}`, &broker.Error{Kind: broker.ErrConflict}, 409},
	} {
		l := newLife()
		l.err = c.err
		if answer, text := serve(t, l).Ask(c.method, c.path, c.body); answer.StatusCode != c.status {
			t.Errorf("%s %s of %v = %d %s, want %d", c.method, c.path, c.err, answer.StatusCode, text, c.status)
		}
	}
}

// wantJSON compares what an answer has at a path of members and places with JSON.
func wantJSON(t *testing.T, what, text, want string) {
	t.Helper()
	var got, should any
	if err := errors.Join(json.Unmarshal([]byte(text), &got), json.Unmarshal([]byte(want), &should)); err != nil {
		t.Fatalf("%s: %v of %s and %s", what, err, text, want)
	}
	if diff := cmp.Diff(should, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestStoragesOfAnInstanceAreShown with the volumes in the place of its claims, and points that have no address without one.
func TestStoragesOfAnInstanceAreShown(t *testing.T) {
	l := newLife()
	l.i.Shape.Resources[0].Storages = []lifecycle.Storage{{Desc: "disk", Kind: "OS::Cinder::Volume", Name: "v1", UID: "u"}}
	l.i.Shape.Volumes = []lifecycle.Volume{{ID: "1", Name: "vol", Storage: "data", Claim: "data-0"}}
	l.i.Shape.ExtCPs = []string{"CP1"}
	l.i.Shape.VNFCs[0].CPs = []lifecycle.CP{{CPD: "CP1", ID: "p1"}, {CPD: "CP2", ID: "p2", Addresses: map[string][]string{"s": {"10.0.0.1"}}}}
	l.i.Drift = lifecycle.Drift{TriedAt: noon, SeenAt: noon, Count: 1, Resources: []lifecycle.Observation{{Resource: l.i.Shape.Resources[0], Message: "is missing"}}}
	_, text := serve(t, l).Ask("GET", "/vnf_instances/x", "")
	var shown struct {
		Instantiated struct {
			Storages json.RawMessage `json:"virtualStorageResourceInfo"`
			ExtCPs   json.RawMessage `json:"extCpInfo"`
			VNFCs    []struct {
				CPs json.RawMessage `json:"vnfcCpInfo"`
			} `json:"vnfcResourceInfo"`
		} `json:"instantiatedVnfInfo"`
		Own struct {
			Drift json.RawMessage `json:"drift"`
		} `json:"vimbroker"`
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, "storages", string(shown.Instantiated.Storages), `[
		{"id":"v1","virtualStorageDescId":"disk","storageResource":{"vimConnectionId":"vim","resourceId":"v1","vimLevelResourceType":"OS::Cinder::Volume"}},
		{"id":"shop.data-0","virtualStorageDescId":"data","storageResource":{"vimConnectionId":"vim","resourceId":"data-0","vimLevelResourceType":"PersistentVolumeClaim"},"metadata":{"namespace":"shop"}}]`)
	wantJSON(t, "external points", string(shown.Instantiated.ExtCPs), `[{"id":"ext-p1","cpdId":"CP1","cpConfigId":"CP1","cpProtocolInfo":[],"associatedVnfcCpId":"p1"}]`)
	wantJSON(t, "points", string(shown.Instantiated.VNFCs[0].CPs), `[{"id":"p1","cpdId":"CP1"},
		{"id":"p2","cpdId":"CP2","cpProtocolInfo":[{"layerProtocol":"IP_OVER_ETHERNET","ipOverEthernet":{"ipAddresses":[{"type":"IPV4","addresses":["10.0.0.1"],"numDynamicAddresses":0,"subnetId":"s"}]}}]}]`)
	wantJSON(t, "drift", string(shown.Own.Drift), `{"count":1,"seenAt":"2031-05-06T12:00:00Z","triedAt":"2031-05-06T12:00:00Z","resources":[
		{"kind":"Deployment","apiVersion":"apps/v1","namespace":"shop","name":"front","standing":false,"ready":false,"message":"is missing"}]}`)
	l.i.Drift.SeenAt = time.Time{}
	if _, text := serve(t, l).Ask("GET", "/vnf_instances/x", ""); strings.Contains(text, "seenAt") {
		t.Errorf("what was never seen is shown as %s", text)
	}
}

// changed is an operation that has changed one of each thing.
func changed() lifecycle.Operation {
	o := newLife().o
	o.State, o.Type, o.Failure = lifecycle.Completed, lifecycle.ChangeConn, nil
	disk := lifecycle.Storage{Desc: "disk", Kind: "Volume", Name: "v1", UID: "u"}
	of := lifecycle.Resource{Version: "v1", Kind: "Volume", Name: "v"}
	o.Before.Part, o.Target.Part = lifecycle.Part{VIM: "1", VIMName: "edge", Connection: "site"}, lifecycle.Part{VIM: "1", VIMName: "edge", VIMType: "kubernetes", Connection: "site"}
	of.Storages = []lifecycle.Storage{disk}
	o.Steps = []lifecycle.Observation{{Resource: of, Standing: true}}
	o.Target.Links = []lifecycle.Link{
		{ID: "2", VL: "inner", Made: asset.Made{Network: "n"}}, {ID: "1", Ext: "sgi", CPs: []sol003.ExtCP{{CPDID: "CP1"}}, Made: asset.Made{Network: "m"}},
	}
	return o
}

const changedThings = `{"affectedVirtualLinks":[{"id":"2","vnfVirtualLinkDescId":"inner","changeType":"ADDED","networkResource":{"vimConnectionId":"site","resourceId":"n","vimLevelResourceType":"OS::Neutron::Net"}}],
	"affectedVirtualStorages":[{"id":"v1","virtualStorageDescId":"disk","changeType":"ADDED","storageResource":{"vimConnectionId":"site","resourceId":"v1","vimLevelResourceType":"Volume"}}]}`

// TestChangesOfAnOperationAreShown: its links and storages, and the connections that it has left; how it waits, and until when it
// works.
func TestChangesOfAnOperationAreShown(t *testing.T) {
	l := newLife()
	l.o = changed()
	show := func() (shown struct {
		Changes   json.RawMessage       `json:"resourceChanges"`
		Connected []struct{ ID string } `json:"changedExtConnectivity"`
		Changed   struct {
			VIMs map[string]struct{ VIMID, VIMType string } `json:"vimConnectionInfo"`
		} `json:"changedInfo"`
		Own struct {
			Waiting  json.RawMessage `json:"waiting"`
			Deadline *time.Time      `json:"deadline"`
		} `json:"vimbroker"`
	},
	) {
		t.Helper()
		_, text := serve(t, l).Ask("GET", "/vnf_lcm_op_occs/x", "")
		if err := json.Unmarshal([]byte(text), &shown); err != nil {
			t.Fatal(err)
		}
		return shown
	}
	shown := show()
	wantJSON(t, "changes", string(shown.Changes), changedThings)
	if len(shown.Connected) != 1 || shown.Connected[0].ID != "sgi" || shown.Own.Waiting != nil || shown.Own.Deadline != nil {
		t.Errorf("a change of connections is shown with %+v", shown)
	}
	l.o.Type, l.o.Params = lifecycle.ModifyInfo, []byte(`{"vimConnectionInfo":{"site":{"vimId":"other"},"gone":null}}`)
	if shown = show(); len(shown.Changed.VIMs) != 2 || shown.Changed.VIMs["site"].VIMID != "1" || shown.Changed.VIMs["site"].VIMType != "ETSINFV.KUBERNETES.V_1" || shown.Changed.VIMs["gone"].VIMID != "" {
		t.Errorf("a modification is shown with %+v", shown.Changed)
	}
	l.o.State, l.o.Type, l.o.Deadline = lifecycle.Processing, lifecycle.Heal, noon.Add(time.Minute)
	l.o.Waiting = &lifecycle.Waiting{Since: noon, Position: 3, Reason: "the project is full"}
	shown = show()
	wantJSON(t, "waiting", string(shown.Own.Waiting), `{"since":"2031-05-06T12:00:00Z","position":3,"reason":"the project is full"}`)
	if shown.Own.Deadline != nil {
		t.Errorf("one that waits ends at %v", shown.Own.Deadline)
	}
	l.o.TurnAt, l.o.Waiting = noon, nil
	if shown = show(); shown.Own.Waiting != nil || shown.Own.Deadline == nil || !shown.Own.Deadline.Equal(l.o.Deadline) {
		t.Errorf("one that works is shown with %+v", shown.Own)
	}
}

// listeners are subscriptions that are asked for.
type listeners struct {
	asked subscription.NewSubscription
	one   subscription.Subscription
	old   bool
	err   error
}

func (s *listeners) Create(_ context.Context, _ policy.Principal, r subscription.NewSubscription) (subscription.Subscription, bool, error) {
	s.asked = r
	return s.one, !s.old, s.err
}

func (s *listeners) Subscription(context.Context, policy.Principal, string) (subscription.Subscription, error) {
	return s.one, s.err
}

func (s *listeners) Subscriptions(context.Context, policy.Principal, broker.Page) ([]subscription.Subscription, string, error) {
	return []subscription.Subscription{s.one}, "", s.err
}

func (s *listeners) Delete(context.Context, policy.Principal, string) error { return s.err }

// TestSubscriptionsAreAskedFor with what authenticates the server, which is never shown; one that is there is shown the way to.
func TestSubscriptionsAreAskedFor(t *testing.T) {
	l := newLife()
	s := &listeners{one: subscription.Subscription{ID: "s", Callback: "https://nfvo/", Verbosity: subscription.Full, Project: "core", Auth: []string{"BASIC"}}}
	c := doors.Serve(t, nil, vnflcm.Door(l, l, s))
	base := c.URL
	c.URL, c.Version = c.URL+sol003.Prefix, sol003.Version
	const callback = `{"callbackUri":"https://nfvo/"`
	for body, want := range map[string]subscription.NewSubscription{
		callback + `}`: {},
		callback + `,"authentication":{"authType":["BASIC"],"paramsBasic":{"userName":"u","password":"canary"}}}`: {
			Auth: []string{"BASIC"}, Credentials: subscription.Credentials{User: "u", Password: secret.NewText("canary")},
		},
		callback + `,"verbosity":"SHORT","authentication":{"authType":["OAUTH2_CLIENT_CREDENTIALS"],"paramsOauth2ClientCredentials":{"clientId":"i","clientPassword":"canary","tokenEndpoint":"https://as/"}}}`: {
			Verbosity: "SHORT", Auth: []string{"OAUTH2_CLIENT_CREDENTIALS"},
			Credentials: subscription.Credentials{ClientID: "i", ClientPassword: secret.NewText("canary"), TokenEndpoint: "https://as/"},
		},
	} {
		answer, text := c.Ask("POST", "/subscriptions", body)
		if where := base + sol003.Prefix + "/subscriptions/s"; answer.StatusCode != http.StatusCreated || answer.Header.Get("Location") != where || strings.Contains(text, "canary") {
			t.Errorf("%s = %d %s at %s, want %s", body, answer.StatusCode, text, answer.Header.Get("Location"), where)
		}
		want.Callback, want.Base = "https://nfvo/", base
		if diff := cmp.Diff(want, s.asked); diff != "" {
			t.Errorf("%s asked for (-want +got):\n%s", body, diff)
		}
	}
	if answer, text := c.Ask("POST", "/subscriptions", callback+`,"authentication":{}}`); answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, "authentication.authType") {
		t.Errorf("an authentication of no way = %d %s", answer.StatusCode, text)
	}
	s.old = true
	if answer, text := c.Ask("POST", "/subscriptions", callback+`}`); answer.StatusCode != http.StatusSeeOther || text != "" || !strings.HasSuffix(answer.Header.Get("Location"), "/subscriptions/s") {
		t.Errorf("one that is there = %d %s", answer.StatusCode, text)
	}
	if _, text := c.Ask("GET", "/subscriptions/s", ""); strings.Contains(text, "deliveredAt") || strings.Contains(text, "givenUpAt") || strings.Contains(text, "failingSince") {
		t.Errorf("one that nothing was sent to is %s", text)
	}
	s.one.DeliveredAt, s.one.GivenUpAt, s.one.FailingSince = noon, noon.Add(time.Second), noon.Add(time.Minute)
	if _, text := c.Ask("GET", "/subscriptions/s", ""); !strings.Contains(text, `"deliveredAt":"2031-05-06T12:00:00Z"`) ||
		!strings.Contains(text, `"givenUpAt":"2031-05-06T12:00:01Z"`) || !strings.Contains(text, `"failingSince":"2031-05-06T12:01:00Z"`) {
		t.Errorf("one that was sent something is %s", text)
	}
	s.err = &broker.Error{Kind: broker.ErrDenied, Detail: "no"}
	for _, ask := range [][3]string{{"POST", "/subscriptions", callback + `}`}, {"GET", "/subscriptions", ""}, {"GET", "/subscriptions/s", ""}, {"DELETE", "/subscriptions/s", ""}} {
		if answer, text := c.Ask(ask[0], ask[1], ask[2]); answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s = %d %s, want 403", ask[0], ask[1], answer.StatusCode, text)
		}
	}
}

// TestNotificationsSayWhatHasHappened: of an instance that it was made, of an operation how it stands, and in full what it has
// changed.
func TestNotificationsSayWhatHasHappened(t *testing.T) {
	s := subscription.Subscription{ID: "s", Base: "https://broker", Verbosity: subscription.Full}
	o := changed()
	_, moved := lifecycle.Moved(o, lifecycle.Instance{ID: "i"})
	moved.ID, moved.At = "e", noon
	short := s
	short.Verbosity = "SHORT"
	begun := moved
	begun.State = lifecycle.Processing
	failed := moved
	failed.State, failed.Failure = lifecycle.FailedTemp, &lifecycle.Failure{Status: 409, Title: "conflict", Detail: "of another"}
	modified, replaced := moved, moved
	modified.Asked, replaced.NewProduct = []byte(`{"vnfInstanceName":"shop"}`), &lifecycle.Product{VNFDID: "d2", Name: "web"}
	const links = `"_links":{"vnfInstance":{"href":"https://broker/vnflcm/v2/vnf_instances/i"},"subscription":{"href":"https://broker/vnflcm/v2/subscriptions/s"}`
	const occ = `,"vnfLcmOpOcc":{"href":"https://broker/vnflcm/v2/vnf_lcm_op_occs/bde115b1-f26f-402e-affa-baaa27119f24"}}`
	head := func(kind string) string {
		return `"id":"e","notificationType":"` + kind + `","subscriptionId":"s","timeStamp":"2031-05-06T12:00:00Z","vnfInstanceId":"i"`
	}
	op := func(state, status, verbosity string) string {
		return head("VnfLcmOperationOccurrenceNotification") + `,"operationState":"` + state + `","operation":"CHANGE_EXT_CONN","isAutomaticInvocation":false,"vnfLcmOpOccId":"bde115b1-f26f-402e-affa-baaa27119f24",
			"verbosity":"` + verbosity + `","notificationStatus":"` + status + `","vimbroker":{"number":1}`
	}
	things := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(changedThings), "{"), "}")
	connected := `"changedExtConnectivity":[{"id":"sgi","resourceHandle":{"vimConnectionId":"site","resourceId":"m","vimLevelResourceType":"OS::Neutron::Net"},"currentVnfExtCpData":[{"cpdId":"CP1"}]}]`
	for name, c := range map[string]struct {
		s    subscription.Subscription
		e    lifecycle.Event
		want string
	}{
		"an instance":   {s, lifecycle.Event{ID: "e", Kind: lifecycle.InstanceCreated, At: noon, Instance: "i"}, `{` + head("VnfIdentifierCreationNotification") + `,` + links + `}}`},
		"a beginning":   {short, begun, `{` + op("PROCESSING", "START", "SHORT") + `,` + links + occ + `}`},
		"an end":        {short, moved, `{` + op("COMPLETED", "RESULT", "SHORT") + `,` + links + occ + `}`},
		"a failure":     {short, failed, `{` + op("FAILED_TEMP", "RESULT", "SHORT") + `,"error":{"status":409,"title":"conflict","detail":"of another"},` + links + occ + `}`},
		"in full":       {s, moved, `{` + op("COMPLETED", "RESULT", "FULL") + `,` + things + `,` + connected + `,` + links + occ + `}`},
		"modified":      {s, modified, `{` + op("COMPLETED", "RESULT", "FULL") + `,` + things + `,` + connected + `,"changedInfo":{"vnfInstanceName":"shop"},` + links + occ + `}`},
		"a new product": {s, replaced, `{` + op("COMPLETED", "RESULT", "FULL") + `,` + things + `,` + connected + `,"modificationsTriggeredByVnfPkgChange":{"vnfdId":"d2","vnfProductName":"web"},` + links + occ + `}`},
	} {
		text, err := vnflcm.Notification(c.s, c.e)
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, name, string(text), c.want)
	}
}
