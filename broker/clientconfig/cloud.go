package clientconfig

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// OpenStackClient is a [Client] of an OpenStack cloud. The endpoint is Keystone's without the
// version, and the credential is an application credential, a project's token, or a user's
// name and password.
type OpenStackClient struct {
	Region      string `json:"region,omitempty"`
	ProjectID   string `json:"projectId"`
	ProjectName string `json:"projectName,omitempty"`
	// ProjectDomain is the project's domain by name.
	ProjectDomain string `json:"projectDomain,omitempty"`
	// UserDomain is the domain of the user whose password the credential is, by name; where that
	// is not known it is UserDomainID, by id.
	UserDomain   string `json:"userDomain,omitempty"`
	UserDomainID string `json:"userDomainId,omitempty"`
	// Delegated says that the token was made with an application credential. Keystone
	// exchanges it for no other, so only clients that use it unchanged can use it.
	Delegated bool `json:"delegated,omitempty"`
}

// Forms implements [Client].
func (l OpenStackClient) Forms() []Form {
	return []Form{
		{CloudsYAML, false, func(c Config) (secret.Text, error) { return l.cloudsYAML(c, ""), nil }},
		{Environment, false, l.environment},
		{JSON, true, l.json},
		{VIMConnection, true, l.vimConnectionInfo},
	}
}

// Accepts implements [Client].
func (l OpenStackClient) Accepts(c secret.Credential) bool {
	return !c.Token.Empty() || c.ApplicationCredentialID != "" || !c.Password.Empty() && l.UserDomain+l.UserDomainID != ""
}

func authURL(c Config) string { return c.Endpoint + "/v3" }

// Auth types of keystoneauth, which clients of OpenStack name.
const (
	authByAppCred  = "v3applicationcredential"
	authByToken    = "v3token"
	authByPassword = "v3password"
)

func authType(c Config) string {
	switch {
	case c.ApplicationCredentialID != "":
		return authByAppCred
	case !c.Password.Empty():
		return authByPassword
	}
	return authByToken
}

// userDomainID is the user's domain by id, where it is not known by name.
func (l OpenStackClient) userDomainID() string {
	if l.UserDomain != "" {
		return ""
	}
	return l.UserDomainID
}

// cloudsFile is the form that openstackclient, Terraform and gophercloud read.
type cloudsFile struct {
	Clouds map[string]cloudEntry `yaml:"clouds"`
}

type cloudEntry struct {
	AuthType string    `yaml:"auth_type"`
	Auth     cloudAuth `yaml:"auth"`
	Region   string    `yaml:"region_name,omitempty"`
	Version  int       `yaml:"identity_api_version"`
	CACert   string    `yaml:"cacert,omitempty"` // a path
	Verify   *bool     `yaml:"verify,omitempty"`
}

// cloudAuth holds plaintext. It lives from the call that fills it to the one that
// renders it.
type cloudAuth struct {
	URL           string `yaml:"auth_url"`
	AppCredID     string `yaml:"application_credential_id,omitempty"`
	AppCredSecret string `yaml:"application_credential_secret,omitempty"`
	Token         string `yaml:"token,omitempty"`
	Username      string `yaml:"username,omitempty"`
	Password      string `yaml:"password,omitempty"`
	UserDomain    string `yaml:"user_domain_name,omitempty"`
	UserDomainID  string `yaml:"user_domain_id,omitempty"`
	ProjectID     string `yaml:"project_id,omitempty"`
}

// cloudsYAML is a clouds.yaml with one cloud, named after the VIM. The format has
// no place for a CA but the name of a file: without one, the CA stands in comments, for
// the person who writes that file.
func (l OpenStackClient) cloudsYAML(c Config, caFile string) secret.Text {
	entry := cloudEntry{
		AuthType: authType(c), Region: l.Region, Version: 3, CACert: caFile,
		Auth: cloudAuth{URL: authURL(c), AppCredID: c.ApplicationCredentialID, AppCredSecret: c.ApplicationCredentialSecret.Reveal()},
	}
	if token := c.Token.Reveal(); token != "" {
		entry.Auth.Token, entry.Auth.ProjectID = token, l.askedProject()
	}
	if password := c.Password.Reveal(); password != "" {
		entry.Auth.Username, entry.Auth.Password, entry.Auth.ProjectID = c.Username, password, l.ProjectID
		entry.Auth.UserDomain, entry.Auth.UserDomainID = l.UserDomain, l.userDomainID()
	}
	if c.InsecureSkipVerify {
		entry.Verify = new(bool)
	}
	var out bytes.Buffer
	if caFile == "" {
		out.WriteString(caComment(c, "here as cacert"))
	}
	out.WriteString(l.tokenComment())
	encodeYAML(&out, cloudsFile{Clouds: map[string]cloudEntry{c.name(): entry}})
	return secret.NewText(out.String())
}

// askedProject is the project that a client requests a token for with the lease's token:
// none, if the request would be refused. gophercloud then uses the lease's token
// unchanged.
func (l OpenStackClient) askedProject() string {
	if l.Delegated {
		return ""
	}
	return l.ProjectID
}

// tokenComment says who can use a token that Keystone exchanges for no other.
func (l OpenStackClient) tokenComment() string {
	if !l.Delegated {
		return ""
	}
	return "# Keystone exchanges this token for no other: it is for clients that take it as it is, as\n" +
		"# gophercloud does. The openstack command exchanges tokens, and is refused.\n"
}

// caComment holds the CA, for the person who writes the file that goes where; empty
// without one.
func caComment(c Config, where string) string {
	ca := strings.TrimSpace(c.verified(c.CACert))
	if ca == "" {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Keystone's certificate chains to this CA: put it into a file, and its name %s.\n", where)
	for line := range strings.Lines(ca) {
		out.WriteString("# " + strings.TrimSpace(line) + "\n")
	}
	return out.String()
}

// variables are those that openstackclient, Terraform and gophercloud read.
// They can be told a CA only as a file: see [caComment].
func (l OpenStackClient) variables(c Config) []variable {
	vars := []variable{
		{"OS_AUTH_TYPE", authType(c)},
		{"OS_AUTH_URL", authURL(c)},
		{"OS_IDENTITY_API_VERSION", "3"},
		{"OS_REGION_NAME", l.Region},
		{"OS_APPLICATION_CREDENTIAL_ID", c.ApplicationCredentialID},
		{"OS_APPLICATION_CREDENTIAL_SECRET", c.ApplicationCredentialSecret.Reveal()},
		{"OS_TOKEN", c.Token.Reveal()},
		{"OS_INSECURE", c.insecure()},
	}
	if !c.Token.Empty() {
		vars = append(vars, variable{"OS_PROJECT_ID", l.askedProject()})
	}
	if password := c.Password.Reveal(); password != "" {
		vars = append(vars,
			variable{"OS_USERNAME", c.Username}, variable{"OS_PASSWORD", password}, variable{"OS_USER_DOMAIN_NAME", l.UserDomain},
			variable{"OS_USER_DOMAIN_ID", l.userDomainID()}, variable{"OS_PROJECT_ID", l.ProjectID})
	}
	return vars
}

func (l OpenStackClient) environment(c Config) (secret.Text, error) {
	comment := caComment(c, "into OS_CACERT")
	if c.InsecureSkipVerify {
		comment = "# The server is not verified. The openstack command heeds no variable for that: give it --insecure.\n"
	}
	vars := l.variables(c)
	return c.exports(comment+l.tokenComment()+without(cloudVariables, vars), vars)
}

// layOut writes a clouds.yaml that names a CA file. Commands that start after a
// renewal read the new one.
func (l OpenStackClient) layOut(c Config, write func(kind string, text secret.Text) (string, error)) (at layout, err error) {
	if ca := c.verified(c.CACert); ca != "" {
		if at.ca, err = write("ca", secret.NewText(ca)); err != nil {
			return layout{}, err
		}
	}
	if at.main, err = write("clouds-yaml", l.cloudsYAML(c, at.ca)); err != nil {
		return layout{}, err
	}
	at.renewable = at.main
	at.env = []string{"OS_CLIENT_CONFIG_FILE=" + at.main, "OS_CLOUD=" + c.name()}
	if at.ca != "" {
		at.env = append(at.env, "OS_CACERT="+at.ca)
	}
	return at, nil
}

func (l OpenStackClient) renewed(c Config, at layout) (secret.Text, error) {
	return l.cloudsYAML(c, at.ca), nil
}
