package clientconfig

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Cloud is what an OpenStack lease has besides an endpoint, which is then
// Keystone's without the version. It is the zero value for a cluster. The
// credential is an application credential here, or a project's token in
// [Config.Token].
type Cloud struct {
	Region string `json:"region,omitempty"`
	// ProjectID is always set for a cloud.
	ProjectID   string `json:"projectId"`
	ProjectName string `json:"projectName,omitempty"`
	// ProjectDomain is the project's domain by name.
	ProjectDomain           string `json:"projectDomain,omitempty"`
	ApplicationCredentialID string `json:"applicationCredentialId,omitempty"`
	// Delegated says that the token was made with an application credential. Keystone
	// exchanges it for no other, so that it is of use to clients that take it as it is.
	Delegated bool `json:"delegated,omitempty"`
	// ApplicationCredentialSecret goes with its id.
	ApplicationCredentialSecret secret.Text `json:"-"`
}

// onCloud reports whether the configuration is for OpenStack.
func (c Config) onCloud() bool { return c.Cloud.ProjectID != "" }

func (c Config) authURL() string { return c.Endpoint + "/v3" }

// Auth types of keystoneauth, which clients of OpenStack name.
const (
	authByAppCred = "v3applicationcredential"
	authByToken   = "v3token"
)

func (c Config) authType() string {
	if c.Cloud.ApplicationCredentialID != "" {
		return authByAppCred
	}
	return authByToken
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
	ProjectID     string `yaml:"project_id,omitempty"`
}

// cloudsYAML is a clouds.yaml with one cloud, named after the VIM. The format has
// no place for a CA but the name of a file: without one, the CA stands in
// comments, for whoever writes that file.
func (c Config) cloudsYAML(caFile string) (secret.Text, error) {
	if !c.onCloud() {
		return secret.Text{}, fmt.Errorf("a cluster has no clouds.yaml, only an OpenStack cloud has: %w", ErrFormat)
	}
	entry := cloudEntry{
		AuthType: c.authType(), Region: c.Cloud.Region, Version: 3, CACert: caFile,
		Auth: cloudAuth{URL: c.authURL(), AppCredID: c.Cloud.ApplicationCredentialID, AppCredSecret: c.Cloud.ApplicationCredentialSecret.Reveal()},
	}
	if token := c.Token.Reveal(); token != "" {
		entry.Auth.Token, entry.Auth.ProjectID = token, c.askedProject()
	}
	if c.InsecureSkipVerify {
		entry.Verify = new(bool)
	}
	var out bytes.Buffer
	if caFile == "" {
		out.WriteString(c.caComment("here as cacert"))
	}
	out.WriteString(c.tokenComment())
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(cloudsFile{Clouds: map[string]cloudEntry{c.name(): entry}}); err != nil {
		return secret.Text{}, fmt.Errorf("encoding clouds.yaml of VIM %q: %w", c.VIM, err)
	}
	if err := enc.Close(); err != nil {
		return secret.Text{}, fmt.Errorf("encoding clouds.yaml of VIM %q: %w", c.VIM, err)
	}
	return secret.NewText(out.String()), nil
}

// askedProject is the project that a client is to ask a token for with the lease's:
// for none, where it would be refused. gophercloud then takes the lease's as it is.
func (c Config) askedProject() string {
	if c.Cloud.Delegated {
		return ""
	}
	return c.Cloud.ProjectID
}

// tokenComment says who can use a token that Keystone exchanges for no other.
func (c Config) tokenComment() string {
	if !c.Cloud.Delegated {
		return ""
	}
	return "# Keystone exchanges this token for no other: it is for clients that take it as it is, as\n" +
		"# gophercloud does. The openstack command exchanges tokens, and is refused.\n"
}

// caComment holds the CA, for whoever writes the file that goes where; empty
// without one.
func (c Config) caComment(where string) string {
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

// cloudVariables are those that openstackclient, Terraform and gophercloud read.
// They can be told a CA only as a file: see [Config.caComment].
func (c Config) cloudVariables() []variable {
	vars := []variable{
		{"OS_AUTH_TYPE", c.authType()},
		{"OS_AUTH_URL", c.authURL()},
		{"OS_IDENTITY_API_VERSION", "3"},
		{"OS_REGION_NAME", c.Cloud.Region},
		{"OS_APPLICATION_CREDENTIAL_ID", c.Cloud.ApplicationCredentialID},
		{"OS_APPLICATION_CREDENTIAL_SECRET", c.Cloud.ApplicationCredentialSecret.Reveal()},
		{"OS_TOKEN", c.Token.Reveal()},
		{"OS_INSECURE", c.insecure()},
	}
	if !c.Token.Empty() {
		vars = append(vars, variable{"OS_PROJECT_ID", c.askedProject()})
	}
	return vars
}
