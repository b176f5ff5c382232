package openstack

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// maxCloudsYAML bounds a clouds.yaml, in bytes.
const maxCloudsYAML = 256 << 10

// Why keys that the format knows are refused. A clouds.yaml from outside is
// hostile: these read files here, fetch from elsewhere, or turn verification off.
const (
	readsFile = "it names a file of the machine it was made on, which is not opened: leave it out, and give the certificates " +
		"themselves beside the clouds.yaml, as caCert"
	noClient   = "a cloud that wants client certificates cannot be registered"
	fromOther  = "it takes values from another file or from a vendor: write them here"
	notToken   = "a token ends soon and cannot make leases: register user name and password, or an application credential"
	notProject = "a VIM is a project: name that"
	unverified = "a clouds.yaml alone cannot turn off the verification of the server: leave it out and give the server's CA beside the " +
		"clouds.yaml, as caCert, or set insecureSkipVerify beside it too"
	notHere = "the broker goes by the cloud's catalog: leave it out"
)

var (
	refusedInCloud = map[string]string{
		"cert": noClient, "key": noClient, "insecure": unverified,
		"profile": fromOther, "vendor": fromOther, "cloud": fromOther,
		"regions": "give one region in region_name, and register another VIM for each of the others",
	}
	refusedInAuth = map[string]string{
		"token": notToken, "trust_id": notProject, "domain_id": notProject, "domain_name": notProject, "system_scope": notProject,
		"passcode":                    "one-time passwords cannot be stored",
		"application_credential_name": "give application_credential_id",
		"tenant_name":                 "it is called project_name today",
		"tenant_id":                   "it is called project_id today",
	}
)

// unusedInCloud reports whether a key says how a client behaves.
func unusedInCloud(key string) bool {
	return key == "interface" || key == "endpoint_type" || strings.HasSuffix(key, "_api_version") || strings.HasSuffix(key, "_interface")
}

// fromCloudsYAML reads one cloud of a clouds.yaml into an allow-list of fields. It
// opens no file: neither those that it names, nor secure.yaml and the vendors'
// profiles, which clients merge in; CA certificates are given beside it. The other
// clouds are not looked into.
func fromCloudsYAML(r broker.Registration) (broker.Registration, paths, error) {
	const only = "cannot be given beside a clouds.yaml, which says it"
	for field, given := range map[string]bool{
		"endpoint": r.Endpoint != "",
		"project":  r.Scope != broker.Scope{}, "credential": !r.Credential.Empty(),
	} {
		if given {
			return r, paths{}, broker.Invalid(field, only)
		}
	}
	document := r.CloudsYAML.Reveal()
	if len(document) > maxCloudsYAML {
		return r, paths{}, broker.Invalid("cloudsYaml", "is longer than %d bytes", maxCloudsYAML)
	}
	if r.Cloud == "" {
		return r, paths{}, broker.Invalid("cloud", "is required: the name of the cloud in the clouds.yaml")
	}
	const at = "cloudsYaml.clouds.CLOUD" // its name may be anything, and is not repeated
	cloud := &cloud{
		Document: &strictyaml.Document{Root: "cloudsYaml", Foreign: true},
		caGiven:  r.CACert != "" || r.InsecureSkipVerify, unverified: r.InsecureSkipVerify,
	}
	found := cloud.find([]byte(document), r.Cloud, at)
	if err := rebuild.Fault(cloud.Document); err != nil {
		return r, paths{}, err
	}
	if !found {
		return r, paths{}, broker.Invalid("cloud", "is not in the clouds.yaml")
	}
	if err := cloud.checkAgreement(at); err != nil {
		return r, paths{}, err
	}
	r.Endpoint, r.Scope, r.Credential = cloud.endpoint, cloud.scope, cloud.credential
	auth := at + ".auth."
	return r, paths{
		endpoint: auth + "auth_url", ca: "caCert", insecure: "insecureSkipVerify",
		credential: at + ".auth", username: auth + "username", password: auth + "password",
		appCred: auth + "application_credential_id", appCredSecret: auth + "application_credential_secret",
		region: at + ".region_name", project: auth + "project_name",
		projectDomain: auth + "project_domain_name", userDomain: auth + "user_domain_name",
	}, nil
}

// cloud is all that is taken from one.
type cloud struct {
	*strictyaml.Document
	// The fields that the registration gives in addition to the clouds.yaml: its CA, or not to
	// verify the server.
	caGiven, unverified bool

	authType, endpoint, domainID, domainName string
	scope                                    broker.Scope
	credential                               broker.Credential
}

// find reads the cloud of that name, and reports whether there is one. at is its path
// in faults.
func (c *cloud) find(text []byte, name, at string) (found bool) {
	root := c.Parse(text)
	if root == nil {
		return false
	}
	c.Mapping(root, c.Root, strictyaml.Fields{
		// How a client behaves, which a VIM has no use for.
		"cache": strictyaml.Ignore, "client": strictyaml.Ignore, "ansible": strictyaml.Ignore,
		"clouds": func(n *yaml.Node, path string) {
			c.Pairs(n, path, func(key, body *yaml.Node, _ string) {
				if key.Value == name {
					found = true
					c.Pairs(body, at, func(key, value *yaml.Node, path string) { c.read(key, value, at, path) })
				}
			})
		},
	})
	return found
}

// read reads a key of the cloud, which stands at a path.
func (c *cloud) read(key, value *yaml.Node, at, path string) {
	fields := strictyaml.Fields{
		"auth":                 func(n *yaml.Node, path string) { c.Mapping(n, path, c.auth()) },
		"auth_type":            c.Text(&c.authType),
		"region_name":          c.Text(&c.scope.Region),
		"verify":               c.verify,
		"identity_api_version": c.version,
		"cacert":               c.Text(new(string)),
	}
	if !c.caGiven {
		fields["cacert"] = c.refuse(readsFile)
	}
	for key, why := range refusedInCloud {
		fields[key] = c.refuse(why)
	}
	read := fields[key.Value]
	switch {
	case read != nil:
		read(value, path)
	case unusedInCloud(key.Value) && value.Kind == yaml.ScalarNode:
	case strings.HasSuffix(key.Value, "_endpoint_override"):
		c.refuse(notHere)(value, path)
	default:
		c.Unknown(key, at, nil)
	}
}

func (c *cloud) verify(n *yaml.Node, at string) {
	off := n.Kind == yaml.ScalarNode && strings.EqualFold(n.Value, "false")
	if n.Kind != yaml.ScalarNode || !strings.EqualFold(n.Value, "true") && (!off || !c.unverified) {
		c.refuse(unverified)(n, at)
	}
}

func (c *cloud) version(n *yaml.Node, at string) {
	if n.Kind != yaml.ScalarNode || !strings.HasPrefix(strings.TrimPrefix(n.Value, "v"), "3") {
		c.Fault(n, at, "must be 3: no other version of Keystone's API is spoken")
	}
}

func (c *cloud) auth() strictyaml.Fields {
	fields := strictyaml.Fields{
		"auth_url":                      c.Text(&c.endpoint),
		"username":                      c.Text(&c.credential.Username),
		"user_id":                       c.Text(&c.credential.UserID),
		"password":                      c.Secret(&c.credential.Password),
		"application_credential_id":     c.Text(&c.credential.ApplicationCredentialID),
		"application_credential_secret": c.Secret(&c.credential.ApplicationCredentialSecret),
		"project_name":                  c.Text(&c.scope.ProjectName),
		"project_id":                    c.Text(&c.scope.ProjectID),
		"user_domain_name":              c.Text(&c.scope.UserDomainName),
		"user_domain_id":                c.Text(&c.scope.UserDomainID),
		"project_domain_name":           c.Text(&c.scope.ProjectDomainName),
		"project_domain_id":             c.Text(&c.scope.ProjectDomainID),
		"default_domain":                c.Text(&c.domainID),
		"default_domain_id":             c.Text(&c.domainID),
		"default_domain_name":           c.Text(&c.domainName),
	}
	for key, why := range refusedInAuth {
		fields[key] = c.refuse(why)
	}
	return fields
}

// refuse is the fault of a key that is known and refused.
func (c *cloud) refuse(why string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) { c.Fault(n, at, "is refused: %s", why) }
}

// checkAgreement checks the parts of a cloud against each other, and fills in its default domain.
func (c *cloud) checkAgreement(at string) error {
	switch c.authType {
	case "", "password", "v3password":
		if c.authType != "" && c.credential.ApplicationCredentialID != "" {
			return broker.Invalid(at+".auth_type", "is password, and there is an application credential")
		}
	case "v3applicationcredential":
		if !c.credential.Password.Empty() {
			return broker.Invalid(at+".auth_type", "is v3applicationcredential, and there is a password")
		}
		c.credential.Username, c.credential.UserID = "", "" // some files repeat whose it is
	default:
		return broker.Invalid(at+".auth_type", "must be password, v3password or v3applicationcredential")
	}
	if c.scope.UserDomainID == "" && c.scope.UserDomainName == "" {
		c.scope.UserDomainID, c.scope.UserDomainName = c.domainID, c.domainName
	}
	if c.scope.ProjectDomainID == "" && c.scope.ProjectDomainName == "" {
		c.scope.ProjectDomainID, c.scope.ProjectDomainName = c.domainID, c.domainName
	}
	return nil
}
