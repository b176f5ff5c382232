package tacker

import (
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

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
		case raw == nil && name == "ssl_ca_cert":
			value = "None"
		case raw == nil:
			continue
		case name == "cert_verify":
			verify, ok := boolean(raw)
			if !ok || t != openstack {
				return a, invalid("auth_cred.cert_verify", "must be True or False, and is for openstack only")
			}
			insecure := !verify
			a.insecure = &insecure
			continue
		case !isText:
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

// project is a vim_project, rebuilt.
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
