package files

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// vimFile is a VIM configuration file of OpenStack Tacker, as operators have them:
//
//	auth_url, type (openstack if absent), project_name, extra
//	kubernetes: bearer_token, or username with password; ssl_ca_cert
//	openstack:  username, password, project_domain_name, user_domain_name, cert_verify
//
// ssl_ca_cert is PEM, perhaps with spaces where its line breaks were (the server
// repairs that), or the word None: then the server's certificate is not
// verified. Absent, the system's roots count; Tacker verifies nothing then.
type vimFile struct {
	authURL, kind, project    string
	projectDomain, userDomain string
	domain                    string
	username                  string
	password, token           secret.Text
	caCert                    string
	insecure                  bool
	extra                     jsontext.Value
}

// ReadVIMFile turns a Tacker VIM file into a registration; name and labels are
// the caller's to set.
func ReadVIMFile(file string, text []byte) (v1.Registration, error) {
	d := &strictyaml.Document{Name: file}
	f := vimFile{kind: "openstack"}
	root := d.Parse(text)
	if root == nil {
		return v1.Registration{}, d.Err()
	}
	d.Mapping(root, "", f.fields(d))
	if len(d.Faults) == 0 {
		f.validate(d)
	}
	return f.registration(), d.Err()
}

func (f *vimFile) fields(d *strictyaml.Document) strictyaml.Fields {
	const noOIDC = "tokens from an OIDC provider are not supported; give bearer_token"
	refuse := func(why string) strictyaml.ReadValue {
		return func(n *yaml.Node, at string) { d.Fault(n, at, "%s", why) }
	}
	return strictyaml.Fields{
		"auth_url":            d.Text(&f.authURL),
		"type":                d.Text(&f.kind),
		"project_name":        d.Text(&f.project),
		"project_domain_name": d.Text(&f.projectDomain),
		"user_domain_name":    d.Text(&f.userDomain),
		"domain_name":         d.Text(&f.domain), // of both, as Tacker's samples have it
		"username":            d.Text(&f.username),
		"password":            d.Secret(&f.password),
		"bearer_token":        d.Secret(&f.token),
		"ssl_ca_cert": func(n *yaml.Node, at string) {
			d.Text(&f.caCert)(n, at)
			if f.caCert == "None" {
				f.caCert, f.insecure = "", true
			} else if n.ShortTag() == "!!str" && strings.TrimSpace(f.caCert) == "" {
				d.Fault(n, at, "is empty; write the certificate, or the word None to leave the server unverified")
			}
		},
		"cert_verify": func(n *yaml.Node, at string) {
			// Tacker's own files write it as a word or in quotes.
			s, ok := d.Scalar(n, at, "True or False", "!!str", "!!bool")
			if !ok {
				return
			}
			switch strings.ToLower(s) {
			case "true":
			case "false":
				f.insecure = true
			default:
				d.Fault(n, at, "must be True or False")
			}
		},
		"oidc_token_url": refuse(noOIDC),
		"client_id":      refuse(noOIDC),
		"client_secret":  refuse(noOIDC),
		"extra":          d.Object(&f.extra),
	}
}

// validate notes the faults of the file as a whole.
func (f *vimFile) validate(d *strictyaml.Document) {
	need := func(ok bool, key, format string, args ...any) {
		if !ok {
			d.Fault(nil, key, format, args...)
		}
	}
	u, err := url.Parse(f.authURL)
	need(err == nil && u.Scheme != "" && u.Host != "", "auth_url", "must be a URL like https://192.168.11.110:6443")
	basic := f.username != "" || !f.password.Empty()
	switch f.kind {
	case "kubernetes":
		need(!f.token.Empty() || basic, "bearer_token", "must be set, or username with password")
		need(f.token.Empty() || !basic, "bearer_token", "cannot stand beside username and password; keep one of them")
		need(f.projectDomain+f.userDomain+f.domain == "", "project_domain_name",
			"belongs to openstack VIMs only, and so do user_domain_name and domain_name")
	case "openstack":
		need(f.token.Empty(), "bearer_token", "belongs to kubernetes VIMs only; is type: \"kubernetes\" missing?")
		need(basic, "username", "must be set, with password")
		need(f.project != "", "project_name", "must be set")
	default:
		need(false, "type", "must be kubernetes or openstack")
	}
	need(!basic || f.username != "" && !f.password.Empty(), "password", "must be set together with username")
}

func (f *vimFile) registration() v1.Registration {
	r := v1.Registration{
		Type:               f.kind,
		Endpoint:           f.authURL,
		CACert:             f.caCert,
		InsecureSkipVerify: f.insecure,
		Extra:              f.extra,
		Credential:         v1.Credential{Username: f.username, Password: f.password, Token: f.token},
	}
	if f.kind == "kubernetes" {
		if r.Namespace = f.project; r.Namespace == "" {
			r.Namespace = "default"
		}
		return r
	}
	r.Project = f.project
	if f.projectDomain == "" && f.userDomain == "" {
		r.Domain = f.domain
		return r
	}
	switch {
	case f.projectDomain == f.userDomain, f.userDomain == "":
		r.Domain = f.projectDomain
	case f.projectDomain == "":
		r.Domain = f.userDomain
	default:
		r.ProjectDomain, r.UserDomain = f.projectDomain, f.userDomain
	}
	return r
}
