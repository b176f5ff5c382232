package tacker

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
)

func (s *server) create(c *api.Call) (api.Answer, error) {
	b, err := read(c)
	if err != nil {
		return api.Answer{}, err
	}
	r, err := registration(b)
	if err != nil {
		return api.Answer{}, err
	}
	if tenant, _ := b.text("tenant_id"); tenant != "" && tenant != c.Principal.Project {
		r.Project = tenant
	}
	v, err := s.Registry.RegisterVIM(c.Context(), c.Principal, r)
	if errors.Is(err, broker.ErrDenied) && r.Project != "" {
		return api.Answer{}, bad("Specifying 'tenant_id' other than authenticated tenant in request requires admin privileges")
	}
	if err != nil {
		return api.Answer{}, s.secondDefault(c, cmp.Or(r.Project, c.Principal.Project), err)
	}
	return answer(v, created), nil
}

func registration(b body) (r broker.Registration, err error) {
	kind, _ := b.text("type")
	r.Type = broker.VIMType(kind)
	if r.Type != kubernetes && r.Type != openstack {
		return r, invalid("type", "it is neither openstack nor kubernetes")
	}
	cred, err := parseCred(r.Type, b["auth_cred"])
	if err != nil {
		return r, err
	}
	in, err := parseProject(r.Type, b["vim_project"])
	if err != nil {
		return r, err
	}
	r.Name, _ = b.text("name")
	r.Endpoint, _ = b.text("auth_url")
	r.Description, _ = b.text("description")
	r.Default, _ = b.truth("is_default")
	r.Credential = cred.credential
	if cred.caCert != nil {
		r.CACert = *cred.caCert
	}
	if cred.insecure != nil {
		r.InsecureSkipVerify = *cred.insecure
	}
	if r.Type == kubernetes {
		r.Namespace = in.name
	} else {
		r.Scope = cred.scope(in.into(broker.Scope{}))
	}
	r.Extra, err = b.extra()
	return r, err
}

// into replaces those fields of a scope that the project gives.
func (p project) into(s broker.Scope) broker.Scope {
	if p.id != "" || p.name != "" {
		s.ProjectID, s.ProjectName = p.id, p.name
	}
	if p.domainID != "" || p.domainName != "" {
		s.ProjectDomainID, s.ProjectDomainName = p.domainID, p.domainName
	}
	return s
}

func (a authCred) scope(s broker.Scope) broker.Scope {
	if a.userDomain != nil {
		s.UserDomainID, s.UserDomainName = "", *a.userDomain
	}
	return s
}

func (s *server) update(c *api.Call) (api.Answer, error) {
	id := vimID(c.Request)
	b, err := read(c)
	if err != nil {
		return api.Answer{}, err
	}
	if uuid.Validate(id) != nil {
		return api.Answer{}, noSuchVIM()
	}
	var change broker.Change
	if name, given := b.text("name"); given {
		change.Name = &name
	}
	if description, given := b.text("description"); given {
		change.Description = &description
	}
	if yes, given := b.truth("is_default"); given {
		change.Default = &yes
	}
	if change.Extra, err = b.extra(); err != nil {
		return api.Answer{}, err
	}
	_, cred := b["auth_cred"]
	_, in := b["vim_project"]
	if cred || in {
		v, err := s.Registry.VIM(c.Context(), c.Principal, id)
		if err != nil {
			return api.Answer{}, err
		}
		if err := generation(&change, b, v); err != nil {
			return api.Answer{}, err
		}
		change.IfRevision = v.Revision
	}
	v, err := s.Registry.UpdateVIM(c.Context(), c.Principal, id, change)
	if err != nil {
		return api.Answer{}, s.secondDefault(c, "", err)
	}
	return answer(v, updated), nil
}

// generation finds what a body changes of endpoint, CA, scope and credential. A value that
// the VIM already has is no change.
func generation(change *broker.Change, b body, v broker.VIM) error {
	cred, err := parseCred(v.Type, b["auth_cred"])
	if err != nil {
		return err
	}
	in, err := parseProject(v.Type, b["vim_project"])
	if err != nil {
		return err
	}
	now := v.Current.Target
	change.Credential = cred.credential
	switch {
	case cred.username && !cred.secretGiven && cred.credential.Username == v.Current.Username:
		change.Credential.Username = "" // the one that is there
	case !cred.username && !cred.credential.Password.Empty():
		change.Credential.Username = v.Current.Username
	}
	if cred.caCert != nil && !sameText(*cred.caCert, now.CACert) {
		change.CACert = cred.caCert
	}
	if cred.insecure != nil && *cred.insecure != now.InsecureSkipVerify {
		change.InsecureSkipVerify = cred.insecure
	}
	if v.Type == kubernetes {
		if in.name != "" && in.name != now.Namespace {
			change.Namespace = &in.name
		}
		return nil
	}
	if scope := cred.scope(in.into(now.Scope)); scope != now.Scope {
		change.Scope = &scope
	}
	return nil
}

// sameText compares PEM, whose line breaks may have become spaces.
func sameText(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// remove deletes a VIM. A VIM that is draining counts as deleted here: no lease is issued
// from it any more, and the broker finishes the rest.
func (s *server) remove(c *api.Call) (api.Answer, error) {
	id := vimID(c.Request)
	if uuid.Validate(id) != nil {
		return api.Answer{}, noSuchVIM()
	}
	_, _, err := s.Registry.DeleteVIM(c.Context(), c.Principal, id, broker.Deletion{})
	return api.Answer{}, err
}

// noSuchVIM: this API accepts only ids, although the domain accepts names too.
func noSuchVIM() error { return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM"} }

// unlisted is Tacker's answer to filters that make its server fail.
func unlisted() error {
	return &fault{http.StatusInternalServerError, "HTTPInternalServerError", internal}
}
