// Package grants is the door /grant: ETSI GS NFV-SOL 003's granting of VNF life-cycle operations
// (clause 9), for VNFMs that are registered clients.
//
// A grant is decided on at once and answered with 201, or, if the server is set up so, with 202
// and decided on when the VNFM asks for it. The door also has a callback for the VNFM's own
// notifications: with them a lease ends as soon as its instance is terminated.
//
// A client that asks for version 1.2.0 gets the form that SOL003 had before the map of VIM
// connections: the array vimConnections. So does version 1 of Tacker's API, which names no
// version.
package grants

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// Grants decides; [grant.Grants] says what each method does.
type Grants interface {
	Request(ctx context.Context, p policy.Principal, r grant.GrantRequest) (grant.Grant, grant.Loan, error)
	Grant(ctx context.Context, p policy.Principal, id string) (grant.Grant, grant.Loan, error)
	Notify(ctx context.Context, p policy.Principal, operation, state string) error
}

var _ Grants = (*grant.Grants)(nil)

const (
	// answerTime bounds an answer, which waits for a VIM.
	answerTime = time.Minute
	// maxBody bounds a request in bytes: some ten thousand resources.
	maxBody = 2 << 20
	prefix  = "/grant/v1"
	// withArray is the version whose grants have an array of VIM connections; the other has a map.
	withArray, withMap = "1.2.0", "1.4.0"
	// callback is the path to which a VNFM posts its notifications. The standard leaves the path to
	// the server.
	callback = "/notifications"
)

var wire codec.Codec

type server struct {
	grants Grants
	// tokenURL is where tokens are fetched under a lease.
	tokenURL string
}

// Door returns /grant, version 1. issuer is the URL of the server as its clients know it; it may be
// empty if no standing lease is lent.
func Door(g Grants, issuer string) api.Door {
	s := &server{grants: g, tokenURL: issuer + "/oidc/token"}
	body := api.Body{Limit: maxBody, Types: []string{"application/json"}}
	major := sol013.Major{Path: prefix, Versions: []string{withArray, withMap}, Older: ofTackerV1}
	d := sol013.Door(sol013.API{Name: "grant", Majors: []sol013.Major{major}},
		api.Route{Method: "POST", Path: "/grants", Body: body, Timeout: answerTime, Status: http.StatusCreated, Handle: s.request},
		api.Route{Method: "GET", Path: "/grants/{id}", Timeout: answerTime, Handle: s.show},
	)
	// A VNFM tests the callback with GET, and sends the version of its own interface.
	d.Routes = append(d.Routes,
		api.Route{
			Method: "GET", Path: prefix + callback, Timeout: answerTime, Status: http.StatusNoContent, Quiet: true,
			Handle: func(*api.Call) (api.Answer, error) { return api.Answer{}, nil },
		},
		api.Route{Method: "POST", Path: prefix + callback, Body: body, Timeout: answerTime, Status: http.StatusNoContent, Handle: s.notified},
	)
	return d
}

// ofTackerV1 takes the JSON text out of the JSON string in which version 1 of Tacker's API sends it, without the
// header Version. No other client does, so a client that forgets the header learns of it.
func ofTackerV1(c *api.Call) string {
	var text string
	if jsontext.Value(c.Content).Kind() != '"' || wire.Tolerant(c.Content, &text) != nil {
		return ""
	}
	c.Content = []byte(text)
	return withArray
}

// resource is a ResourceDefinition, as far as the answer rests on it.
type resource struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// types are those of resources, in every version of SOL003.
var types = []string{"COMPUTE", "VL", "STORAGE", "LINKPORT", "OSCONTAINER", "VIRTUALCP"}

// constraint is a PlacementConstraint or, without the first two, a VimConstraint.
type constraint struct {
	Kind       string `json:"affinityOrAntiAffinity"`
	Scope      string `json:"scope"`
	BestEffort bool   `json:"fallbackBestEffort"`
	Resources  []struct {
		IDType string `json:"idType"`
		ID     string `json:"resourceId"`
	} `json:"resource"`
}

var scopes = []string{"NFVI_POP", "ZONE", "ZONE_GROUP", "NFVI_NODE"}

// form says what is wrong with a constraint, if anything is.
func (k constraint) form(places bool) string {
	switch {
	case places && k.Kind != "AFFINITY" && k.Kind != "ANTI_AFFINITY":
		return "has a constraint whose affinityOrAntiAffinity is neither AFFINITY nor ANTI_AFFINITY"
	case places && !slices.Contains(scopes, k.Scope):
		return "has a constraint whose scope is none of " + strings.Join(scopes, ", ")
	case len(k.Resources) < 2:
		return "has a constraint of fewer than two resources"
	}
	for _, r := range k.Resources {
		if r.ID == "" || r.IDType != "RES_MGMT" && r.IDType != "GRANT" {
			return "has a constraint with a resource that lacks a resourceId, or whose idType is neither RES_MGMT nor GRANT"
		}
	}
	return ""
}

// apart is the scope in which resources are to be apart at any rate; empty where they need not be.
func (in grantRequest) apart() string {
	for _, k := range in.Places {
		if k.Kind == "ANTI_AFFINITY" && k.Scope != "NFVI_NODE" && !k.BestEffort {
			return k.Scope
		}
	}
	return ""
}

// grantRequest is a GrantRequest, as far as the answer rests on it.
type grantRequest struct {
	Instance  string                    `json:"vnfInstanceId"`
	Operation string                    `json:"vnfLcmOpOccId"`
	VNFD      string                    `json:"vnfdId"`
	NewVNFD   string                    `json:"dstVnfdId"`
	Type      string                    `json:"operation"`
	Automatic *bool                     `json:"isAutomaticInvocation"`
	Add       []resource                `json:"addResources"`
	Temporary []resource                `json:"tempResources"`
	Remove    []resource                `json:"removeResources"`
	Update    []resource                `json:"updateResources"`
	Params    map[string]jsontext.Value `json:"additionalParams"`
	Places    []constraint              `json:"placementConstraints"`
	VIMs      []constraint              `json:"vimConstraints"`
	Links     sol003.Links              `json:"_links"`
}

// check refuses what the standard has and the answer does not rest on.
func (in grantRequest) check() error {
	if in.Automatic == nil {
		return broker.Invalid("isAutomaticInvocation", "is missing; it must be true or false")
	}
	for _, list := range []struct {
		field string
		all   []resource
	}{{"addResources", in.Add}, {"tempResources", in.Temporary}, {"removeResources", in.Remove}, {"updateResources", in.Update}} {
		if slices.ContainsFunc(list.all, func(r resource) bool { return !slices.Contains(types, r.Type) }) {
			return broker.Invalid(list.field, "has a resource whose type is none of %s", strings.Join(types, ", "))
		}
	}
	for field, all := range map[string][]constraint{"placementConstraints": in.Places, "vimConstraints": in.VIMs} {
		for _, k := range all {
			if wrong := k.form(field == "placementConstraints"); wrong != "" {
				return broker.Invalid(field, "%s", wrong)
			}
		}
	}
	return nil
}

func (s *server) request(c *api.Call) (api.Answer, error) {
	var in grantRequest
	if err := wire.Tolerant(c.Content, &in); err != nil {
		return api.Answer{}, err
	}
	if err := in.check(); err != nil {
		return api.Answer{}, err
	}
	r := grant.GrantRequest{
		ID: in.Operation, Type: grant.GrantedOperation(in.Type), Instance: in.Instance, VNFD: in.VNFD, NewVNFD: in.NewVNFD,
		Add: ids(in.Add), Temporary: ids(in.Temporary), Remove: ids(in.Remove), Update: ids(in.Update),
		OperationURL: in.Links["vnfLcmOpOcc"].Href, InstanceURL: in.Links["vnfInstance"].Href,
		Apart: in.apart(), Parameters: map[string]string{},
	}
	var err error
	if r.Rest, r.Additional, err = spelled(c.Content); err != nil {
		return api.Answer{}, err
	}
	for name, value := range in.Params {
		if value.Kind() == '"' {
			var text string
			if wire.Tolerant(value, &text) == nil {
				r.Parameters[name] = text
			}
		}
	}
	given, connection, err := s.grants.Request(c.Context(), c.Principal, r)
	if err != nil {
		return api.Answer{}, err
	}
	return s.answer(c, http.StatusCreated, given, connection)
}

// spelled is a request without its additionalParams, and these, each with its members in order and without
// space between them.
func spelled(content []byte) (rest, additional []byte, err error) {
	var members map[string]jsontext.Value
	if err := wire.Tolerant(content, &members); err != nil {
		return nil, nil, err
	}
	params := members["additionalParams"]
	delete(members, "additionalParams")
	var text bytes.Buffer
	if err := wire.Encode(&text, members); err != nil {
		return nil, nil, err
	}
	all := jsontext.Value(text.Bytes())
	for _, value := range []*jsontext.Value{&all, &params} {
		if len(*value) == 0 {
			continue
		}
		if err := value.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)); err != nil {
			return nil, nil, err
		}
	}
	return all, params, nil
}

func ids(all []resource) (out []string) {
	for _, r := range all {
		out = append(out, r.ID)
	}
	return out
}

func (s *server) show(c *api.Call) (api.Answer, error) {
	given, connection, err := s.grants.Grant(c.Context(), c.Principal, c.PathValue("id"))
	if err != nil {
		return api.Answer{}, err
	}
	return s.answer(c, http.StatusOK, given, connection)
}

// notified takes a VnfLcmOperationOccurrenceNotification; others are taken and dropped.
func (s *server) notified(c *api.Call) (api.Answer, error) {
	var in struct {
		Operation string `json:"vnfLcmOpOccId"`
		State     string `json:"operationState"`
	}
	if err := wire.Tolerant(c.Content, &in); err != nil {
		return api.Answer{}, err
	}
	if in.Operation == "" || in.State == "" {
		return api.Answer{}, nil
	}
	return api.Answer{}, s.grants.Notify(c.Context(), c.Principal, in.Operation, in.State)
}

// grantBody is a Grant.
type grantBody struct {
	ID        string         `json:"id"`
	Instance  string         `json:"vnfInstanceId"`
	Operation string         `json:"vnfLcmOpOccId"`
	VIMs      map[string]any `json:"vimConnectionInfo,omitempty"`
	// List holds VimConnectionInfos, each with its id among its members.
	List      []map[string]jsontext.Value `json:"vimConnections,omitempty"`
	Zones     []zone                      `json:"zones"`
	Add       []granted                   `json:"addResources,omitempty"`
	Temporary []granted                   `json:"tempResources,omitempty"`
	Remove    []granted                   `json:"removeResources,omitempty"`
	Update    []granted                   `json:"updateResources,omitempty"`
	Assets    *assets                     `json:"vimAssets,omitempty"`
	sol003.AskedLinks
	Links sol003.Links `json:"_links"`
}

type zone struct {
	ID   string `json:"id"`
	Zone string `json:"zoneId"`
	VIM  string `json:"vimConnectionId"`
}

type granted struct {
	Resource string `json:"resourceDefinitionId"`
	VIM      string `json:"vimConnectionId"`
	Zone     string `json:"zoneId,omitempty"`
}

type assets struct {
	Flavours []flavour `json:"computeResourceFlavours,omitempty"`
	Images   []image   `json:"softwareImages,omitempty"`
}

type flavour struct {
	VIM     string `json:"vimConnectionId"`
	Compute string `json:"vnfdVirtualComputeDescId"`
	Flavour string `json:"vimFlavourId"`
}

type image struct {
	VIM   string `json:"vimConnectionId"`
	Image string `json:"vnfdSoftwareImageId"`
	Named string `json:"vimSoftwareImageId"`
}

// answer is a grant as the VNFM reads it. One that is not decided on yet has no body.
func (s *server) answer(c *api.Call, status int, g grant.Grant, connection grant.Loan) (api.Answer, error) {
	self := sol013.URL(c, prefix+"/grants/"+g.ID)
	h := http.Header{}
	if status == http.StatusCreated {
		h.Set("Location", self)
	}
	if g.State == grant.Deciding {
		return api.Answer{Status: http.StatusAccepted, Header: h}, nil
	}
	info, err := s.connection(g, connection)
	if err != nil {
		return api.Answer{}, err
	}
	// The login of a standing lease outlives the lease, and so does the connection: the standard lets no grant change one
	// that was given. Another lease is another connection.
	login := cmp.Or(connection.Lease.Login, connection.Lease.ID)
	vim := "vim-" + strings.SplitN(login, "-", 2)[0]
	where := zone{ID: "zone-1", Zone: cmp.Or(g.Placement.Zone, "default"), VIM: vim}
	all := func(ids []string, at string) (out []granted) {
		for _, id := range ids {
			out = append(out, granted{Resource: id, VIM: vim, Zone: at})
		}
		return out
	}
	body := grantBody{
		ID: g.ID, Instance: g.Request.Instance, Operation: g.Request.ID, Zones: []zone{where},
		Add: all(g.Request.Add, where.ID), Temporary: all(g.Request.Temporary, where.ID),
		Remove: all(g.Request.Remove, ""), Update: all(g.Request.Update, where.ID),
		Assets: assetsOf(g.Placement, vim),
		Links: sol003.Links{
			"self": {Href: self}, "vnfLcmOpOcc": {Href: g.Request.OperationURL}, "vnfInstance": {Href: g.Request.InstanceURL},
		},
	}
	if sol013.Version(c) == withArray {
		var members map[string]jsontext.Value
		if err := wire.Tolerant(info, &members); err != nil {
			return api.Answer{}, err
		}
		members["id"] = jsontext.Value(`"` + vim + `"`)
		body.List = []map[string]jsontext.Value{members}
	} else {
		body.VIMs, body.AskedLinks = map[string]any{vim: info}, linksOf(g, vim)
	}
	return api.Answer{Status: status, Header: h, Body: body}, nil
}

func assetsOf(p oauth.Placement, vim string) *assets {
	if len(p.Flavours)+len(p.Images) == 0 {
		return nil
	}
	a := &assets{}
	for compute, name := range p.Flavours {
		a.Flavours = append(a.Flavours, flavour{vim, compute, name})
	}
	for id, name := range p.Images {
		a.Images = append(a.Images, image{vim, id, name})
	}
	return a
}

// linksOf are the networks of the placement's virtual links. The addresses of connection points are the cloud's to choose.
func linksOf(g grant.Grant, vim string) (all sol003.AskedLinks) {
	for _, cp := range slices.Sorted(maps.Keys(g.Links)) {
		l, config := g.Links[cp], sol003.CPConfig{Protocol: []sol003.CPProtocol{{Layer: "IP_OVER_ETHERNET"}}}
		all.External = append(all.External, sol003.AskedLink{
			ID: l.ID, VIM: vim, ResourceID: l.Made.Network, CPs: []sol003.ExtCP{{CPDID: cp, Config: map[string]sol003.CPConfig{cp: config}}},
		})
	}
	for _, vl := range slices.Sorted(maps.Keys(g.ManagedLinks)) {
		l := g.ManagedLinks[vl]
		all.Managed = append(all.Managed, sol003.AskedLink{ID: l.ID, DescID: vl, VIM: vim, ResourceID: l.Made.Network})
	}
	return all
}

// standing is a VimConnectionInfo of a cluster that tokens are fetched for, as Tacker reads it.
type standing struct {
	VIMID   string            `json:"vimId"`
	VIMType string            `json:"vimType"`
	Face    map[string]string `json:"interfaceInfo"`
	Access  oidc              `json:"accessInfo"`
	Extra   map[string]string `json:"extra"`
}

type oidc struct {
	TokenURL string      `json:"oidc_token_url"`
	Username string      `json:"username"`
	Password secret.Text `json:"password"`
	ClientID string      `json:"client_id"`
}

// errUnverified: without ssl_ca_cert Tacker sends the secret to any server that answers at the
// token URL.
var errUnverified = errors.New("a grant with the secret of a lease has no authorities by which the token endpoint is verified")

func (s *server) connection(g grant.Grant, c grant.Loan) (jsontext.Value, error) {
	if c.Config.LeaseSecret.Empty() {
		text, err := c.Config.Render(clientconfig.VIMConnection)
		return jsontext.Value(text.Reveal()), err
	}
	info := standing{
		VIMID: c.Lease.VIM, VIMType: "ETSINFV.KUBERNETES.V_1", Face: map[string]string{"endpoint": c.Config.Endpoint},
		Access: oidc{TokenURL: s.tokenURL, Username: cmp.Or(c.Lease.Login, c.Lease.ID), Password: c.Config.LeaseSecret, ClientID: g.Client},
		Extra:  map[string]string{"lease_id": cmp.Or(c.Lease.Login, c.Lease.ID)},
	}
	switch {
	case c.Config.CACert != "" && !c.Config.InsecureSkipVerify:
		info.Face["ssl_ca_cert"] = c.Config.CACert
	case strings.HasPrefix(s.tokenURL, "https:"):
		return nil, errUnverified
	}
	var out bytes.Buffer
	err := wire.Encode(&out, info)
	return out.Bytes(), err
}
