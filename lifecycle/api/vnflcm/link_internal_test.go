package vnflcm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// cps are so many connection points.
func cps(n int) []sol003.ExtCP { return slices.Repeat([]sol003.ExtCP{{CPDID: "CP"}}, n) }

func TestLinksOfARequest(t *testing.T) {
	external := func(id string, points ...sol003.ExtCP) sol003.AskedLinks {
		return sol003.AskedLinks{External: []sol003.AskedLink{{ID: "e", ResourceID: id, CPs: points}}}
	}
	managed := func(id, of string) sol003.AskedLinks {
		return sol003.AskedLinks{Managed: []sol003.AskedLink{{ID: "m", ResourceID: id, DescID: of}}}
	}
	many := func(external, managed int) sol003.AskedLinks {
		return sol003.AskedLinks{
			External: slices.Repeat([]sol003.AskedLink{{ID: "e", ResourceID: "r", CPs: cps(1)}}, external),
			Managed:  slices.Repeat([]sol003.AskedLink{{ID: "m", ResourceID: "r", DescID: "d"}}, managed),
		}
	}
	ported := external("r", cps(1)...)
	ported.External[0].Ports = []jsontext.Value{jsontext.Value("{}")}
	for name, c := range map[string]struct {
		asked sol003.AskedLinks
		n     int
		says  string
	}{
		"none": {sol003.AskedLinks{}, 0, ""}, "one": {external("r", cps(1)...), 1, ""}, "one of the descriptor's": {managed("r", "d"), 1, ""},
		"as many as there may be": {many(200, 200), 400, ""}, "too many": {many(201, 0), 0, "more than 200 links"},
		"too many of the descriptor's": {many(0, 201), 0, "more than 200 links"}, "no id": {external("", cps(1)...), 0, "e needs a resourceId"},
		"no point": {external("r"), 0, "1 to 200 extCps"}, "200 points": {external("r", cps(200)...), 1, ""}, "201 points": {external("r", cps(201)...), 0, "1 to 200 extCps"},
		"a port of others": {ported, 0, "no port of others"}, "a point of no name": {external("r", sol003.ExtCP{}), 0, "needs a cpdId"},
		"no link of the descriptor": {managed("r", ""), 0, "m needs a resourceId and a vnfVirtualLinkDescId"},
		"no id for one":             {managed("", "d"), 0, "m needs a resourceId and a vnfVirtualLinkDescId"},
	} {
		got, err := links(c.asked)
		if len(got) != c.n || (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %d links, %v, want %d and %q", name, len(got), err, c.n, c.says)
		}
	}
	got, err := links(sol003.AskedLinks{External: external("r", cps(2)...).External, Managed: managed("s", "d").Managed})
	if err != nil || got[0].Ext != "e" || got[0].Name != "r" || len(got[0].CPs) != 2 || got[1].Ext != "m" || got[1].Name != "s" || got[1].VL != "d" {
		t.Errorf("the links are %+v, %v", got, err)
	}
}

func TestPointsOfARequest(t *testing.T) {
	const layer = `"layerProtocol":"IP_OVER_ETHERNET"`
	protocol := func(ips string) string {
		return `{"cpdId":"CP","cpConfig":{"c":{"cpProtocolData":[{` + layer + `,"ipOverEthernet":{"ipAddresses":[` + ips + `]}}]}}}`
	}
	fixed := func(n int) string {
		return `{"type":"IPV4","fixedAddresses":["` + strings.Join(slices.Repeat([]string{"10.0.0.1"}, n), `","`) + `"]}`
	}
	for text, says := range map[string]string{
		`{"cpdId":"CP"}`: "", `{"cpdId":"CP","cpConfig":{"c":{}}}`: "",
		`{"cpConfig":{"c":{}}}`: "needs a cpdId", `{"cpdId":"CP","cpConfig":{"c":{},"d":{}}}`: "at most one cpConfig",
		`{"cpdId":"CP","cpConfig":{"` + strings.Repeat("x", 101) + `":{}}}`: "needs a cpdId", `{"cpdId":"CP","cpConfig":{"` + strings.Repeat("x", 100) + `":{}}}`: "",
		`{"cpdId":"CP","cpConfig":{"c":{"linkPortId":"p"}}}`:                                                                       "names a linkPortId",
		`{"cpdId":"CP","cpConfig":{"c":{"cpProtocolData":[{"layerProtocol":"OTHER"}]}}}`:                                           "another layer",
		`{"cpdId":"CP","cpConfig":{"c":{"cpProtocolData":[{` + layer + `,"ipOverEthernet":{"macAddress":"fa:16:3e:00:00:01"}}]}}}`: "a MAC address",
		protocol(`{"type":"IPV4","numDynamicAddresses":1}`):                                                                        "", protocol(`{"type":"IPV4","numDynamicAddresses":2}`): "too many addresses",
		protocol(fixed(1)): "", protocol(fixed(16)): "", protocol(fixed(17)): "too many addresses",
		protocol(`{"type":"IPV4","fixedAddresses":["10.0.0.1"],"numDynamicAddresses":1}`): "fixed and dynamic ones at once",
		protocol(`{"type":"IPV4","addresses":["10.0.0.1"]}`):                              "too many addresses",
		protocol(`{"type":"IPV4","fixedAddresses":["10.0.0"]}`):                           "a fixed address that is none",
		protocol(`{"type":"IPV4","fixedAddresses":["10.0.0.1","10.0.0"]}`):                "a fixed address that is none",
		protocol(fixed(1) + `,{"type":"IPV4","fixedAddresses":["10.0.0"]}`):               "a fixed address that is none",
		protocol(fixed(1) + `,{"type":"IPV4","numDynamicAddresses":2}`):                   "too many addresses",
	} {
		var p sol003.ExtCP
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := wrong(p); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%s: %q, want %q", text, got, says)
		}
	}
}

// An external link of two parts is shown once, with the points and ports of both; one of the descriptor's that was given is
// shown as managed, too.
func TestLinksAreShown(t *testing.T) {
	s := lifecycle.Shape{Part: lifecycle.Part{VIM: "v", Connection: "one"}, Links: []lifecycle.Link{
		{ID: "1", Ext: "e", CPs: cps(1), Made: asset.Made{Network: "n"}, Ports: []asset.Port{{ID: "p", Name: "x"}}},
		{ID: "2", Ext: "e", CPs: cps(2), Ports: []asset.Port{{ID: "q", Name: "y"}}},
		{ID: "3", Name: "nad", CPs: cps(1), Spec: spec.LinkSpec{NAD: &spec.PodNetwork{}}},
		{ID: "4", VL: "own", Own: true},
		{ID: "5", VL: "given", Ext: "m"},
	}}
	var info sol003.InstantiatedVNFInfo
	connected(&info, s)
	var got []string
	for _, l := range info.ExtLinks {
		got = append(got, fmt.Sprint(l.ID, " ", l.Handle.Type, " ", l.Handle.ResourceID, " ", len(l.CPs), len(l.Ports)))
	}
	if want := []string{"e OS::Neutron::Net n 3 2", "3 NetworkAttachmentDefinition nad 1 0"}; !slices.Equal(got, want) {
		t.Errorf("external links are shown as %q, want %q", got, want)
	}
	if p := info.ExtLinks[0].Ports[0]; p.ID != "x" || p.Handle.ResourceID != "p" || p.Handle.Type != "OS::Neutron::Port" {
		t.Errorf("a port is shown as %+v", p)
	}
	if len(info.Links) != 2 || info.Links[0].ID != "4" || info.Links[1].ID != "5" || len(info.Managed) != 1 || info.Managed[0].ID != "m" || info.Managed[0].DescID != "given" {
		t.Errorf("links are shown as %+v and %+v", info.Links, info.Managed)
	}
	s.ExtCPs = []string{"SEEN"}
	s.VNFCs = []lifecycle.VNFC{{CPs: []lifecycle.CP{
		{ID: "1", CPD: "SEEN", MAC: "m"}, {ID: "2", CPD: "INNER"}, {ID: "4", CPD: "SEEN"}, {ID: "3", CPD: "CP", Addresses: map[string][]string{"s": {"10.0.0.1", "fd00::1"}}},
	}}}
	s.Links = []lifecycle.Link{{CPs: []sol003.ExtCP{{CPDID: "CP", Config: map[string]sol003.CPConfig{"conf": {}}}, {CPDID: "LATER", Config: map[string]sol003.CPConfig{"l": {}}}}}}
	got = nil
	for _, p := range external(s) {
		got = append(got, fmt.Sprint(p.ID, " ", p.CPDID, " ", p.ConfigID, " ", len(p.Protocol), p.Protocol == nil))
	}
	if want := []string{"ext-1 SEEN SEEN 1 false", "ext-4 SEEN SEEN 0 false", "ext-3 CP conf 1 false", "ext-LATER LATER l 0 false"}; !slices.Equal(got, want) {
		t.Errorf("points are shown as %q, want %q", got, want)
	}
	points := connectionPoints(s.VNFCs[0].CPs)
	if len(points[1].Protocol) != 0 || len(points[3].Protocol[0].Address.IPs) != 2 || points[0].Protocol[0].Address.MAC != "m" {
		t.Errorf("points of a pod are shown as %+v", points)
	}
	if ips := points[3].Protocol[0].Address.IPs; ips[0].Type != "IPV4" || ips[1].Type != "IPV6" || ips[1].SubnetID != "s" {
		t.Errorf("its addresses are shown as %+v", ips)
	}
	many := connectionPoints([]lifecycle.CP{{Addresses: map[string][]string{"t": {"fd00::2"}, "s": {"10.0.0.1", "fd00::1", "10.0.0.2"}, "none": nil}}})
	if got := fmt.Sprint(many[0].Protocol[0].Address.IPs); got != fmt.Sprint([]sol003.IPAddresses{
		{Type: "IPV4", Addresses: []string{"10.0.0.1", "10.0.0.2"}, SubnetID: "s"},
		{Type: "IPV6", Addresses: []string{"fd00::1"}, SubnetID: "s"},
		{Type: "IPV6", Addresses: []string{"fd00::2"}, SubnetID: "t"},
	}) {
		t.Errorf("many addresses are shown as %s", got)
	}
	shown := resource(lifecycle.Shape{Part: lifecycle.Part{Connection: "one"}, More: []lifecycle.Part{{Name: "p", Connection: "two"}}}, lifecycle.Resource{Version: "v1", Group: "g", Part: "p"})
	if shown.VIMConnectionID != "p" || shown.APIVersion != "g/v1" {
		t.Errorf("a resource of a part is shown as %+v", shown)
	}
	if shown = resource(s, lifecycle.Resource{Version: "v1"}); shown.VIMConnectionID != "" || shown.APIVersion != "v1" {
		t.Errorf("a resource of the one part is shown as %+v", shown)
	}
}

func TestRevisionsOfARequest(t *testing.T) {
	for given, want := range map[string]int64{"": 0, "*": 0, `"1"`: 1, ` "7" `: 7, `"0"`: -1, `"-1"`: -1, `7`: -1, `"07"`: -1, `"x"`: -1, `W/"7"`: -1, `""7""`: -1} {
		got, err := ifMatch(&api.Call{Request: &http.Request{Header: http.Header{"If-Match": {given}}}})
		if known, is := errors.AsType[*broker.Error](err); want < 0 && (!is || known.Field != "If-Match") || want >= 0 && (err != nil || got != want) {
			t.Errorf("If-Match: %s is %d, %v", given, got, err)
		}
	}
	for name, c := range map[string]struct{ of, want error }{
		"no package":       {&broker.Error{Kind: broker.ErrNotFound, Field: "vnfdId"}, broker.ErrInvalid},
		"a disabled one":   {&broker.Error{Kind: broker.ErrConflict, Field: "vnfdId"}, broker.ErrInvalid},
		"one not allowed":  {&broker.Error{Kind: broker.ErrDenied, Field: "vnfdId"}, broker.ErrDenied},
		"no such instance": {&broker.Error{Kind: broker.ErrNotFound}, broker.ErrNotFound},
		"another error":    {http.ErrBodyNotAllowed, http.ErrBodyNotAllowed},
	} {
		if got := unusable(c.of); !errors.Is(got, c.want) || errors.Is(got, broker.ErrNotFound) != errors.Is(c.want, broker.ErrNotFound) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A filter is the same after it was asked for and shown.
func TestFiltersOfSubscriptions(t *testing.T) {
	whole := sol003.SubscriptionFilter{
		NotificationTypes: []string{"a"}, OperationTypes: []string{"b"}, OperationStates: []string{"c"},
		Instances: &sol003.InstanceFilter{VNFDIDs: []string{"d"}, Providers: []sol003.ProviderFilter{{Provider: "e"}}, InstanceIDs: []string{"f"}, Names: []string{"g"}},
	}
	text := func(f *sol003.SubscriptionFilter) string {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, f := range []*sol003.SubscriptionFilter{
		nil, &whole,
		{NotificationTypes: []string{"a"}},
		{OperationTypes: []string{"a"}},
		{OperationStates: []string{"a"}},
		{Instances: &sol003.InstanceFilter{VNFDIDs: []string{"d"}}},
		{Instances: &sol003.InstanceFilter{Names: []string{"d"}}},
		{Instances: &sol003.InstanceFilter{InstanceIDs: []string{"d"}}},
		{Instances: &sol003.InstanceFilter{Providers: []sol003.ProviderFilter{{Provider: "e"}}}},
	} {
		if got := text(shownFilter(asked(f))); got != text(f) {
			t.Errorf("%s is shown as %s", text(f), got)
		}
	}
	if got := shownFilter(subscription.Filter{}); got != nil {
		t.Errorf("a filter of nothing is shown as %+v", got)
	}
}

// What an operation would do to a resource is one word.
func TestEffectsAreShown(t *testing.T) {
	for _, c := range []struct {
		of   lifecycle.Effect
		want string
	}{
		{lifecycle.Effect{Deed: lifecycle.Apply}, "make"},
		{lifecycle.Effect{Deed: lifecycle.Apply, Stands: true}, "apply"},
		{lifecycle.Effect{Deed: lifecycle.Delete}, "delete"},
		{lifecycle.Effect{Deed: lifecycle.Replace}, "replace"},
		{lifecycle.Effect{Deed: lifecycle.Scale, Replicas: 3}, "scale"},
	} {
		got := effect(lifecycle.Shape{}, c.of)
		if got.Deed != c.want || (got.Replicas != nil) != (c.want == "scale") || got.Replicas != nil && *got.Replicas != c.of.Replicas {
			t.Errorf("%s, which stands %t, is shown as %+v", c.of.Deed, c.of.Stands, got)
		}
	}
}

// A request is shown without what it brings of VIMs, and not at all where that cannot be told.
func TestRequestsAreShown(t *testing.T) {
	for request, want := range map[string]string{
		`{"vimConnectionInfo":{}}`: `{}`, `{"vimConnectionInfo":null}`: `{}`,
		`{"vimConnectionInfo":{"a":{"vimId":"i"},"b":"canary"},"x":1}`: `{"x":1}`,
		`{"vimConnectionInfo":{"a":{"vimId":"i","y":"canary"}}}`:       `{"vimConnectionInfo":{"a":{"vimId":"i"}}}`,
		`["canary"]`: "", `{"a":`: "",
	} {
		if got, err := showable([]byte(request)); string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%s is shown as %s, %v, want %s", request, got, err, want)
		}
	}
	if got, err := unbrought([]byte(`{"a":`)); err == nil || got != nil {
		t.Errorf("half a request is shown as %s", got)
	}
}
