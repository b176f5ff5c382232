package heat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Service is one of a cloud's, for one call of a driver.
type Service struct {
	name      string
	transport *remote.Transport
	client    *gophercloud.ServiceClient
}

// Close lets go of the connections.
func (s *Service) Close() { s.transport.CloseIdleConnections() }

// server is a cloud's Heat.
type server struct{ *Service }

// connect finds the cloud's Heat.
func connect(ctx context.Context, c lifecycle.Connection) (*server, error) {
	s, err := Dial(ctx, c.Config, c.Egress, "orchestration", orchestrator)
	return &server{s}, err
}

// Dial finds a service of the cloud, of a type and with a name for errors, in the catalog of the lease's token. The egress
// rules apply to the catalog's address.
func Dial(ctx context.Context, c clientconfig.Config, rules *egress.Rules, service, name string) (*Service, error) {
	way, err := remote.New(rules, remote.Options{
		Server: "the cloud", CA: remote.Authorities{PEM: c.CACert}, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify,
	})
	if err != nil {
		return nil, broker.Invalid("caCert", "holds no certificate")
	}
	provider := &gophercloud.ProviderClient{HTTPClient: *way.Client()}
	at, err := endpoint(ctx, &gophercloud.ServiceClient{
		ProviderClient: provider, Endpoint: c.Endpoint + "/v3/", Type: "identity",
	}, c, service, name)
	if err != nil {
		way.CloseIdleConnections()
		return nil, err
	}
	return &Service{name, way, &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: at, Type: service}}, nil
}

// endpoint has the connection use the lease's token, and returns the service's URL.
func endpoint(ctx context.Context, identity *gophercloud.ServiceClient, c clientconfig.Config, kind, name string) (string, error) {
	ctx = remote.Expect(ctx, remote.Catalog)
	var body struct {
		Catalog []tokens.CatalogEntry `json:"catalog"`
	}
	if c.ApplicationCredentialID != "" {
		r := tokens.Create(ctx, identity, &tokens.AuthOptions{
			ApplicationCredentialID: c.ApplicationCredentialID, ApplicationCredentialSecret: c.ApplicationCredentialSecret.Reveal(),
		})
		if err := r.ExtractInto(&body); err != nil {
			return "", refusal(err, "log in with the lease", keystone)
		}
		identity.SetToken(r.Header.Get("X-Subject-Token"))
	} else {
		identity.SetToken(c.Token.Reveal())
		r := tokens.Get(ctx, identity, c.Token.Reveal())
		if err := r.ExtractInto(&body); err != nil {
			return "", refusal(err, "look at the lease's token", keystone)
		}
	}
	if body.Catalog == nil {
		return "", foreign("look at the lease's token", keystone, 0)
	}
	region := ""
	if cloud, ok := c.Client.(clientconfig.OpenStackClient); ok {
		region = cloud.Region
	}
	for _, service := range body.Catalog {
		for _, e := range service.Endpoints {
			if service.Type != kind || e.Interface != "public" || region != "" && e.Region != region {
				continue
			}
			u, err := url.Parse(e.URL)
			if err != nil || u.Host == "" || u.User != nil ||
				u.Scheme != "https" && !(u.Scheme == "http" && strings.HasPrefix(c.Endpoint, "http:")) {
				return "", &broker.Error{
					Kind: broker.ErrUnsupported, Detail: "the catalog's endpoint of " + name + " is none that a token is sent to",
					Remedy: "have the cloud's catalog name an https URL for the service " + kind,
				}
			}
			return strings.TrimSuffix(e.URL, "/") + "/", nil
		}
	}
	return "", &broker.Error{
		Kind: broker.ErrUnsupported, Detail: "the cloud has no public endpoint of " + name + " (" + kind + ") in the VIM's region",
		Remedy: "see openstack catalog list; register the VIM with the region that has " + name,
	}
}

// Call asks the service. doing completes "cannot".
func (s *Service) Call(ctx context.Context, method, path string, body, into any, doing string) error {
	o := &gophercloud.RequestOpts{
		OkCodes: []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}, JSONResponse: into,
	}
	if body != nil {
		o.JSONBody = body
	}
	response, err := s.client.Request(remote.Expect(ctx, remote.List), method, s.client.Endpoint+path, o)
	if err == nil {
		_ = response.Body.Close()
	}
	return refusal(err, doing, s.name)
}

// The name of the remote side, for errors.
const (
	keystone     = "Keystone"
	orchestrator = "Heat"
)

// answerError is an answer of a service that is no success.
type answerError struct {
	fault broker.Error
	code  int
	// said is its text, not fit to be shown.
	said secret.Text
}

// Error names the refusal.
func (e *answerError) Error() string { return e.fault.Error() }

// Unwrap returns the [*broker.Error].
func (e *answerError) Unwrap() error { return &e.fault }

// refusal translates gophercloud's answer. Only said holds the remote side's text.
func refusal(err error, doing, who string) error {
	if err == nil {
		return nil
	}
	var a gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &a) {
		e := broker.Unanswered(err, who)
		if e == nil {
			return foreign(doing, who, 0)
		}
		e.Detail = "cannot " + doing + ": " + e.Detail
		return e
	}
	var body struct {
		Code  int `json:"code"`
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Neutron struct {
			Type string `json:"type"`
		} `json:"NeutronError"`
	}
	_ = json.Unmarshal(a.Body, &body)
	ours := body.Code == a.Actual || body.Error.Code == a.Actual || body.Neutron.Type != ""
	e := &answerError{code: a.Actual, said: secret.NewText(body.Error.Message)}
	set := func(kind error, detail, remedy string) error {
		e.fault = broker.Error{Kind: kind, Detail: fmt.Sprintf("cannot %s: %s (%d)", doing, detail, a.Actual), Remedy: remedy}
		return e
	}
	switch {
	case body.Neutron.Type == "OverQuota":
		return set(broker.ErrQuota, who+" says that the quota is used up", "remove what is not needed")
	case a.Actual == http.StatusTooManyRequests:
		return set(broker.ErrUnreachable, who+" limits requests", "try again later")
	case a.Actual >= http.StatusInternalServerError:
		return set(broker.ErrUnreachable, who+" cannot do it now", "try again later")
	case a.Actual == http.StatusUnauthorized, a.Actual == http.StatusNotFound && who == keystone:
		// A page of some gateway is no final refusal.
		if !ours && !strings.Contains(string(a.Body), "Authentication required") {
			return foreign(doing, who, a.Actual)
		}
		return set(broker.ErrUnauthorized, who+" does not know the lease's credential", "see whether the lease was revoked")
	case !ours:
		return foreign(doing, who, a.Actual)
	case a.Actual == http.StatusForbidden:
		return set(broker.ErrForbidden, who+" does not let the lease do it",
			"give the registered user the roles that "+who+" asks for (member; for Heat heat_stack_owner); see the cloud's quota of stacks, "+
				"and whether it leaves a type of resources to its administrators")
	case a.Actual == http.StatusNotFound:
		return set(broker.ErrNotFound, who+" does not find it", "see whether it was removed")
	case a.Actual == http.StatusConflict:
		return set(broker.ErrConflict, "the state of what stands there does not allow it", "see what is in the way, and try again")
	}
	return set(broker.ErrInvalid, who+" finds it invalid", "correct the template in the package, the parameters or the specification")
}

func foreign(doing, who string, code int) error {
	detail := "cannot " + doing + ": what answers is not " + who
	if code != 0 {
		detail += fmt.Sprintf(" (%d)", code)
	}
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: "check the endpoint, and what stands in front of it"}
}

// is reports whether err is an answer with that code.
func is(err error, code int) bool {
	var e *answerError
	return errors.As(err, &e) && e.code == code
}

// maxReason bounds the repeated part of a reason of Heat's, in bytes.
const maxReason = 300

// reason is Heat's reason for a failure, fit to be shown: without the values that w hides, on one
// line, bounded.
func (w wish) reason(text string) string {
	for _, hidden := range w.Unspoken {
		text = strings.ReplaceAll(text, hidden, "(a value of the template)")
	}
	return printable(text)
}

// printable is a text on one line, bounded.
func printable(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// moment reads a time of Heat's: UTC, with or without its zone.
func moment(text string) string {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

const (
	// portType is the type of resources that connect servers.
	portType = "OS::Neutron::Port"
	// maxPorts bounds the ports of a stack whose addresses are asked for: Heat asks Neutron about each.
	maxPorts = 256
)

// port is a resource of that type, with what Neutron says of it.
type port struct {
	Name       string `json:"resource_name"`
	Physical   string `json:"physical_resource_id"`
	Attributes struct {
		Device string    `json:"device_id"`
		MAC    string    `json:"mac_address"`
		IPs    []address `json:"fixed_ips"`
	} `json:"attributes"`
}

type address struct {
	Subnet  string `json:"subnet_id"`
	Address string `json:"ip_address"`
}

// connected are the connection points of servers, by the servers' ids. A stack with too many ports has none here.
func (s *server) connected(ctx context.Context, k *stack, all []part) (map[string][]lifecycle.CP, error) {
	ports := 0
	for _, p := range all {
		if p.Type == portType {
			ports++
		}
	}
	if ports == 0 || ports > maxPorts {
		return nil, nil
	}
	var body struct {
		Resources []port `json:"resources"`
	}
	query := url.Values{"nested_depth": {"10"}, "type": {portType}, "with_detail": {"true"}}
	if err := s.Call(ctx, http.MethodGet, k.path()+"/resources?"+query.Encode(), nil, &body,
		"look at the ports of stack "+k.Name); err != nil {
		return nil, err
	}
	points := map[string][]lifecycle.CP{}
	for _, p := range body.Resources[:min(len(body.Resources), maxPorts)] {
		if IsID(p.Physical) && printable(p.Name) == p.Name {
			points[p.Attributes.Device] = append(points[p.Attributes.Device], p.point())
		}
	}
	for _, of := range points {
		slices.SortFunc(of, func(a, b lifecycle.CP) int { return strings.Compare(a.CPD+" "+a.ID, b.CPD+" "+b.ID) })
	}
	return points, nil
}

// maxAddresses bounds the addresses of a port that are kept.
const maxAddresses = 16

// point is a port in the form of a connection point. Values that are no addresses are left out.
func (p port) point() lifecycle.CP {
	c := lifecycle.CP{CPD: p.Name, ID: p.Physical}
	if mac, err := net.ParseMAC(p.Attributes.MAC); err == nil {
		c.MAC = mac.String()
	}
	for _, a := range p.Attributes.IPs[:min(len(p.Attributes.IPs), maxAddresses)] {
		if ip, err := netip.ParseAddr(a.Address); err == nil && ip.Zone() == "" && IsID(a.Subnet) {
			if c.Addresses == nil {
				c.Addresses = map[string][]string{}
			}
			c.Addresses[a.Subnet] = append(c.Addresses[a.Subnet], ip.String())
		}
	}
	return c
}
