package tacker

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// attribute is one of a VIM's, as Tacker's attribute map has it.
type attribute struct {
	name                string
	post, put, required bool
	check               func(any) string // returns what is wrong, empty if nothing is
}

// attributes stand in the order in which Tacker looks at them.
var attributes = []attribute{
	{name: "id"},
	{name: "tenant_id", post: true, check: text(0)},
	{name: "type", post: true, required: true, check: text(1)},
	{name: "auth_url", post: true, required: true, check: text(0)},
	{name: "auth_cred", post: true, put: true, required: true, check: filled},
	{name: "vim_project", post: true, put: true, required: true, check: filled},
	{name: "name", post: true, put: true, required: true, check: text(0)},
	{name: "description", post: true, put: true, check: text(0)},
	{name: "status"},
	{name: "is_default", post: true, put: true, check: truth},
	{name: "placement_attr"},
	{name: "shared"},
	{name: "created_at"},
	{name: "updated_at"},
	{name: "extra", post: true, put: true, check: dictionary},
}

// body is the object under "vim", checked by the attribute map. Its values may be
// credentials: only what a check knows to be harmless may come into a message.
type body map[string]any

func read(c *api.Call) (body, error) {
	put := c.Method == http.MethodPut
	switch {
	case len(c.Content) == 0 && put:
		return nil, &fault{http.StatusBadRequest, "BadRequest", "Bad body request: Invalid format: b''"}
	case len(c.Content) == 0:
		return nil, bad("Resource body required")
	}
	var whole any
	// Unknown attributes are Tacker's to name: the attribute map below does that.
	if (codec.Codec{}).Tolerant(c.Content, &whole) != nil {
		return nil, &fault{http.StatusBadRequest, "MalformedRequestBody", "Malformed request body: Cannot understand JSON"}
	}
	outer, _ := whole.(map[string]any)
	if len(outer) == 0 {
		return nil, bad("Resource body required")
	}
	if _, bulk := outer["vims"]; bulk {
		return nil, bad("Bulk operation not supported")
	}
	b, isObject := outer["vim"].(map[string]any)
	if !isObject {
		return nil, bad("Unable to find 'vim' in request body")
	}
	delete(b, "project_id") // some clients send it beside tenant_id
	return b, check(b, put)
}

func check(b body, put bool) error {
	var strange []string
	for name := range b {
		if !slices.ContainsFunc(attributes, func(a attribute) bool { return a.name == name }) {
			strange = append(strange, plain(name))
		}
	}
	if len(strange) > 0 {
		slices.Sort(strange)
		return bad("Unrecognized attribute(s) '" + strings.Join(strange, ", ") + "'")
	}
	for _, a := range attributes {
		_, given := b[a.name]
		switch {
		case put && given && !a.put:
			return bad("Cannot update read-only attribute " + a.name)
		case !put && !given && a.required:
			return bad("Failed to parse request. Required attribute '" + a.name + "' not specified")
		case !put && given && !a.post:
			return bad("Attribute '" + a.name + "' not allowed in POST")
		}
	}
	for _, a := range attributes {
		if v, given := b[a.name]; given {
			if wrong := a.check(v); wrong != "" {
				return invalid(a.name, wrong)
			}
		}
	}
	return nil
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,31}$`) })

// plain repeats a name only if it looks like one: a credential may stand in its place.
func plain(name string) string {
	if identifier().MatchString(name) {
		return name
	}
	return "?"
}

func text(shortest int) func(any) string {
	return func(v any) string {
		s, ok := v.(string)
		switch {
		case !ok:
			return "'" + scalar(v) + "' is not a valid string"
		case len(s) < shortest:
			return "'' is too short: a string that is not empty is wanted"
		}
		return ""
	}
}

// scalar repeats a number or truth value, and nothing else.
func scalar(v any) string {
	switch v := v.(type) {
	case float64, bool:
		return fmt.Sprint(v)
	case nil:
		return "None"
	}
	return "The value"
}

func filled(v any) string {
	if m, ok := v.(map[string]any); !ok || len(m) == 0 {
		return "it is not a dictionary, or it is empty"
	}
	return ""
}

func dictionary(v any) string {
	if _, ok := v.(map[string]any); !ok && v != nil {
		return "it is not a dictionary"
	}
	return ""
}

// truth accepts what Tacker's convert_to_boolean accepts.
func truth(v any) string {
	if _, ok := boolean(v); !ok {
		return "it cannot be converted to boolean"
	}
	return ""
}

func boolean(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case float64:
		return v == 1, v == 0 || v == 1
	case string:
		switch strings.ToLower(v) {
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
	}
	return false, false
}

func (b body) text(name string) (string, bool) {
	s, ok := b[name].(string)
	return s, ok
}

func (b body) truth(name string) (value, given bool) {
	v, given := b[name]
	value, _ = boolean(v)
	return value, given
}

// extra returns the object as JSON text, or empty.
func (b body) extra() (string, error) {
	m, _ := b["extra"].(map[string]any)
	if len(m) == 0 {
		return "", nil
	}
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil { // a text that is none
		return "", invalid("extra", "it is not a dictionary")
	}
	return string(text), nil
}

// The types of VIM that this API has words for.
const (
	kubernetes broker.VIMType = "kubernetes"
	openstack  broker.VIMType = "openstack"
)

// authCred is an auth_cred, rebuilt field by field. A nil pointer is a field that is not there.
type authCred struct {
	credential            broker.Credential
	caCert                *string
	insecure              *bool
	userDomain            *string
	username, secretGiven bool
}

// parseCred rebuilds auth_cred for a type of VIM. No value of it comes into an error.
func parseCred(t broker.VIMType, v any) (a authCred, err error) {
	m, _ := v.(map[string]any)
	for name, raw := range m {
		value, isText := raw.(string)
		switch {
		case raw == nil && name != "ssl_ca_cert":
			continue
		case name == "cert_verify":
			verify, ok := boolean(raw)
			if !ok || t != openstack {
				return a, invalid("auth_cred.cert_verify", "must be True or False, and is for openstack only")
			}
			insecure := !verify
			a.insecure = &insecure
			continue
		case raw != nil && !isText:
			return a, invalid("auth_cred."+plain(name), "it is not a valid string")
		}
		switch {
		case name == "username":
			a.credential.Username, a.username = value, true
		case name == "password":
			a.credential.Password, a.secretGiven = secret.NewText(value), true
		case name == "bearer_token" && t == kubernetes:
			a.credential.Token, a.secretGiven = secret.NewText(value), true
		case name == "ssl_ca_cert":
			a.authority(t, value)
		case name == "user_domain_name" && t == openstack:
			a.userDomain = &value
		case name == "oidc_token_url", name == "client_id", name == "client_secret":
			return a, invalid("auth_cred."+name, "OpenID Connect is not supported; give bearer_token, or username and password")
		default:
			return a, invalid("auth_cred", "holds a key that a VIM of type "+string(t)+" does not have")
		}
	}
	return a, nil
}

// authority takes a CA, or one of the words by which VIM files say that the server is
// not to be verified.
func (a *authCred) authority(t broker.VIMType, value string) {
	none := ""
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "none", "null":
		a.caCert = &none
		if t == kubernetes {
			yes := true
			a.insecure = &yes
		}
	default:
		a.caCert = &value
	}
}

type project struct{ id, name, domainID, domainName string }

func parseProject(t broker.VIMType, v any) (p project, err error) {
	m, _ := v.(map[string]any)
	for name, raw := range m {
		value, isText := raw.(string)
		if raw == nil {
			continue
		}
		if !isText {
			return p, invalid("vim_project."+plain(name), "it is not a valid string")
		}
		onCloud := t == openstack
		switch {
		case name == "name":
			p.name = value
		case name == "id" && onCloud:
			p.id = value
		case name == "project_domain_name" && onCloud:
			p.domainName = value
		case name == "project_domain_id" && onCloud:
			p.domainID = value
		default:
			return p, invalid("vim_project", "holds a key that a VIM of type "+string(t)+" does not have")
		}
	}
	return p, nil
}
