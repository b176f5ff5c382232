package tacker

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
)

// occasion is why a VIM is shown: the time that the request itself set is shown in
// microseconds, others in seconds, as Tacker does.
type occasion int

const (
	asRead occasion = iota
	created
	updated
)

const (
	seconds      = "2006-01-02 15:04:05"
	microseconds = "2006-01-02 15:04:05.000000"
	mask         = "***"
)

func answer(v broker.VIM, o occasion) api.Answer {
	return api.Answer{Body: map[string]any{"vim": vim(v, o)}}
}

// vim lists what may be shown of a VIM. Its status is always ACTIVE, as Tacker's is;
// REST version 1 shows more.
func vim(v broker.VIM, o occasion) map[string]any {
	extra, ok := codec.Kept(v.Extra)
	if !ok {
		extra = jsontext.Value("{}")
	}
	return map[string]any{
		"id": v.ID, "type": string(v.Type), "tenant_id": v.Project, "name": v.Name,
		"description": v.Description, "is_default": v.Default, "status": "ACTIVE",
		"placement_attr": map[string]any{"regions": v.Current.Discovered.Regions},
		"created_at":     stamp(v.CreatedAt, o == created), "updated_at": updatedAt(v, o),
		"extra": extra, "auth_url": authURL(v), "vim_project": vimProject(v), "auth_cred": shownCred(v),
	}
}

func stamp(t time.Time, fresh bool) string {
	if fresh {
		return t.UTC().Format(microseconds)
	}
	return t.UTC().Format(seconds)
}

// updatedAt is nil until the first change: a registration is two writes.
func updatedAt(v broker.VIM, o occasion) any {
	if v.Revision <= 2 && o != updated {
		return nil
	}
	return stamp(v.UpdatedAt, o == updated)
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`.+v3/?$`) })

// authURL is Keystone's with its version, as Tacker stores it.
func authURL(v broker.VIM) string {
	endpoint := v.Current.Target.Endpoint
	if v.Type == openstack && !versioned().MatchString(endpoint) {
		return strings.TrimSuffix(endpoint, "/") + "/v3"
	}
	return endpoint
}

func vimProject(v broker.VIM) map[string]any {
	t := v.Current.Target
	if v.Type == kubernetes {
		return map[string]any{"name": t.Namespace}
	}
	p := map[string]any{"name": t.Scope.ProjectName, "project_domain_name": t.Scope.ProjectDomainName}
	if t.Scope.ProjectID != "" {
		p["id"] = t.Scope.ProjectID
	}
	return p
}

// shownCred is made of what is stored in the clear: nothing is opened for it. The CA is
// no secret and is shown, where Tacker shows its ciphertext.
func shownCred(v broker.VIM) map[string]any {
	g := v.Current
	c := map[string]any{"auth_url": authURL(v), "key_type": "fernet_key"}
	if strings.HasPrefix(g.KeyStore, "barbican") {
		c["key_type"], c["secret_uuid"] = "barbican_key", mask
	}
	switch g.CredentialKind {
	case broker.CredentialBearerToken:
		c["bearer_token"], c["username"] = mask, "None"
	case broker.CredentialClientCertificate:
		c["client_key"], c["username"] = mask, "None"
	case broker.CredentialApplicationCredential:
		c["application_credential_secret"] = mask
	default:
		c["username"], c["password"] = g.Username, mask
	}
	if v.Type == kubernetes {
		c["ssl_ca_cert"] = g.Target.CACert
		if g.Target.InsecureSkipVerify {
			c["ssl_ca_cert"] = "None"
		}
		return c
	}
	s := g.Target.Scope
	c["cert_verify"] = "True"
	if g.Target.InsecureSkipVerify {
		c["cert_verify"] = "False"
	}
	if g.Target.CACert != "" {
		c["ssl_ca_cert"] = g.Target.CACert
	}
	c["project_id"] = nil
	if s.ProjectID != "" {
		c["project_id"] = s.ProjectID
	}
	c["project_name"], c["project_domain_name"], c["user_domain_name"] = s.ProjectName, s.ProjectDomainName, s.UserDomainName
	return c
}

// show returns one VIM; what the query says counts for lists only.
func (s *server) show(c *api.Call) (api.Answer, error) {
	id := vimID(c.Request)
	if uuid.Validate(id) != nil {
		return api.Answer{}, noSuchVIM()
	}
	v, err := s.Registry.VIM(c.Context(), c.Principal, id)
	if err != nil {
		return api.Answer{}, err
	}
	return answer(v, asRead), nil
}

// list returns all VIMs that the caller may see and the filters select, whole or
// only the fields that are named. It filters by name, type, id and is_default; a filter
// that is repeated selects any of its values. Unknown parameters are ignored.
func (s *server) list(c *api.Call) (api.Answer, error) {
	query := c.Query
	if s.Compat && (query.Has("is_default") || query.Has("shared") || len(query["name"]) > 1) {
		return api.Answer{}, unlisted()
	}
	found, err := s.find(c, query)
	if err != nil {
		return api.Answer{}, err
	}
	fields := query["fields"]
	vims := make([]any, 0, len(found))
	for _, v := range found {
		if !selected(v, query) {
			continue
		}
		shown := vim(v, asRead)
		if len(fields) > 0 {
			for name := range shown {
				if !slices.Contains(fields, name) {
					delete(shown, name)
				}
			}
		}
		vims = append(vims, shown)
	}
	return api.Answer{Body: map[string]any{"vims": vims}}, nil
}

// find reads as few VIMs as the filters allow; without filters, all.
func (s *server) find(c *api.Call, query url.Values) ([]broker.VIM, error) {
	ctx := c.Context()
	if ids := query["id"]; len(ids) == 1 {
		if uuid.Validate(ids[0]) != nil {
			return nil, nil
		}
		v, err := s.Registry.VIM(ctx, c.Principal, ids[0])
		if errors.Is(err, broker.ErrNotFound) {
			return nil, nil
		}
		return []broker.VIM{v}, err
	}
	var q broker.VIMQuery
	if names := query["name"]; len(names) == 1 {
		q.Name = names[0]
	}
	if types := query["type"]; len(types) == 1 {
		q.Type = broker.VIMType(types[0])
	}
	return broker.AllVIMs(ctx, c.Principal, q, s.Registry.VIMs)
}

func selected(v broker.VIM, query url.Values) bool {
	for name, value := range map[string]string{"id": v.ID, "name": v.Name, "type": string(v.Type)} {
		if wanted, given := query[name]; given && !slices.Contains(wanted, value) {
			return false
		}
	}
	wanted, given := query["is_default"]
	return !given || slices.ContainsFunc(wanted, func(text string) bool {
		yes, ok := boolean(text)
		return ok && yes == v.Default
	})
}
