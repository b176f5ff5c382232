package openstack

import (
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Bounds on a credential's parts, in bytes.
const (
	maxPassword = 4 << 10
	maxSecret   = 1 << 10
)

// Normalize implements [broker.Driver]. Either r.CloudsYAML and r.Cloud are set,
// or r.Endpoint, r.Scope and r.Credential. The endpoint is Keystone's, with or
// without /v3; http is taken, because Tacker's own VIM files have it, and shown as
// a warning. A project is needed with a password and comes with an application
// credential; of user domain and project domain one stands for both.
func (d *Driver) Normalize(r broker.Registration) (broker.Target, broker.Credential, error) {
	t, c, err := normalize(r)
	if err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	return t, c, nil
}

// paths say how the parts of a registration are called where it came from, for errors.
type paths struct {
	endpoint, ca, insecure                                 string
	credential, username, password, appCred, appCredSecret string
	region, project, projectDomain, userDomain             string
}

var fieldPaths = paths{
	endpoint: "endpoint", ca: "caCert", insecure: "insecureSkipVerify",
	credential: "credential", username: "credential.username", password: "credential.password",
	appCred: "credential.applicationCredentialId", appCredSecret: "credential.applicationCredentialSecret",
	region: "region", project: "project", projectDomain: "projectDomain", userDomain: "userDomain",
}

func normalize(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	p := fieldPaths
	switch {
	case r.Type != "" && r.Type != Type:
		return t, c, broker.Invalid("type", "is not openstack")
	case r.Namespace != "":
		return t, c, broker.Invalid("namespace", "is Kubernetes'; an OpenStack VIM is a project")
	case !r.Kubeconfig.Empty(), r.Context != "":
		return t, c, broker.Invalid("kubeconfig", "is Kubernetes'; give a clouds.yaml")
	case !r.CloudsYAML.Empty():
		if r, p, err = fromCloudsYAML(r); err != nil {
			return t, c, err
		}
	case r.Cloud != "":
		return t, c, broker.Invalid("cloud", "selects from a clouds.yaml, and there is none")
	}
	if t.Endpoint, err = authURL(p.endpoint, r.Endpoint); err != nil {
		return t, c, err
	}
	if t.CACert, err = rebuild.CABundle(p.ca, r.CACert); err != nil {
		return t, c, err
	}
	switch plain := strings.HasPrefix(t.Endpoint, "http://"); {
	case plain && t.CACert != "":
		return t, c, broker.Invalid(p.ca, "is of no use: the endpoint is http, where nobody shows a certificate")
	case r.InsecureSkipVerify && t.CACert != "":
		return t, c, broker.Invalid(p.insecure, "contradicts caCert: a server is either verified or not")
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	if t.ServerName, err = rebuild.ServerName("serverName", r.ServerName); err != nil {
		return t, c, err
	}
	if c, err = credential(r.Credential, p); err != nil {
		return t, c, err
	}
	t.Scope, err = scope(r.Scope, c, p)
	return t, c, err
}

// authURL rebuilds Keystone's URL, without the version that clients put behind it.
func authURL(field, raw string) (string, error) {
	e, err := rebuild.Endpoint(field, raw, true)
	return strings.TrimSuffix(e, "/v3"), err
}

// credential rebuilds a credential of exactly one kind.
func credential(in broker.Credential, p paths) (broker.Credential, error) {
	var none broker.Credential
	if !in.Token.Empty() || in.ClientCertificate != "" || !in.ClientKey.Empty() {
		return none, broker.Invalid(p.credential,
			"is of a kind that Keystone does not take: give user name and password, or an application credential")
	}
	user := in.Username != "" || in.UserID != ""
	password := user || !in.Password.Empty()
	appCred := in.ApplicationCredentialID != "" || !in.ApplicationCredentialSecret.Empty()
	switch {
	case password && appCred:
		return none, broker.Invalid(p.credential,
			"holds more than one kind of credential: give user name and password, or an application credential")
	case appCred:
		return applicationCredential(in, p)
	case !password:
		return none, broker.Invalid(p.credential, "is required: user name and password, or an application credential")
	}
	text := in.Password.Reveal()
	switch {
	case !user:
		return none, broker.Invalid(p.username, "is required with a password")
	case text == "":
		return none, broker.Invalid(p.password, "is required with a user name")
	case in.Username != "" && !isName(in.Username):
		return none, broker.Invalid(p.username, "is not the name of a user")
	case in.UserID != "" && !isID(in.UserID):
		return none, broker.Invalid(p.username, "is not the id of a user")
	case len(text) > maxPassword || strings.ContainsRune(text, 0):
		return none, broker.Invalid(p.password, "is longer than %d bytes, or holds a NUL", maxPassword)
	case in.Kind != "" && in.Kind != broker.CredentialPassword && in.Kind != broker.CredentialBasicAuth:
		return none, broker.Invalid(p.credential, "names another kind than that of the secrets in it")
	}
	return broker.Credential{Kind: broker.CredentialPassword, Username: in.Username, UserID: in.UserID, Password: secret.NewText(text)}, nil
}

func applicationCredential(in broker.Credential, p paths) (broker.Credential, error) {
	text := in.ApplicationCredentialSecret.Reveal()
	switch {
	case in.ApplicationCredentialID == "":
		return broker.Credential{}, broker.Invalid(p.appCred, "is required with its secret")
	case text == "":
		return broker.Credential{}, broker.Invalid(p.appCredSecret, "is required with its id")
	case !isID(in.ApplicationCredentialID):
		return broker.Credential{}, broker.Invalid(p.appCred, "is not the id of an application credential")
	case len(text) > maxSecret || strings.ContainsRune(text, 0):
		return broker.Credential{}, broker.Invalid(p.appCredSecret, "is longer than %d bytes, or holds a NUL", maxSecret)
	case in.Kind != "" && in.Kind != broker.CredentialApplicationCredential:
		return broker.Credential{}, broker.Invalid(p.credential, "names another kind than that of the secrets in it")
	}
	return broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: in.ApplicationCredentialID,
		ApplicationCredentialSecret: secret.NewText(text),
	}, nil
}

// scope rebuilds what of a cloud a VIM is.
func scope(in broker.Scope, c broker.Credential, p paths) (broker.Scope, error) {
	for _, f := range []struct {
		field, value string
		ok           func(string) bool
	}{
		{p.region, in.Region, isName},
		{p.project, in.ProjectID, isID},
		{p.project, in.ProjectName, isName},
		{p.projectDomain, in.ProjectDomainID, isID},
		{p.projectDomain, in.ProjectDomainName, isName},
		{p.userDomain, in.UserDomainID, isID},
		{p.userDomain, in.UserDomainName, isName},
	} {
		if f.value != "" && !f.ok(f.value) {
			return broker.Scope{}, broker.Invalid(f.field, "is neither a name nor an id of Keystone's")
		}
	}
	if c.Kind == broker.CredentialApplicationCredential {
		return in, nil // it brings its own
	}
	userDomain := in.UserDomainID != "" || in.UserDomainName != ""
	projectDomain := in.ProjectDomainID != "" || in.ProjectDomainName != ""
	if in.ProjectID == "" && in.ProjectName == "" {
		return in, broker.Invalid(p.project, "is required with a password")
	}
	if !userDomain && c.UserID == "" {
		if !projectDomain {
			return in, broker.Invalid(p.userDomain, `is required: the domain of the user, often "Default"`)
		}
		in.UserDomainID, in.UserDomainName = in.ProjectDomainID, in.ProjectDomainName
	}
	if !projectDomain && in.ProjectID == "" {
		if !userDomain {
			return in, broker.Invalid(p.projectDomain, `is required with the name of a project, often "Default"`)
		}
		in.ProjectDomainID, in.ProjectDomainName = in.UserDomainID, in.UserDomainName
	}
	return in, nil
}
