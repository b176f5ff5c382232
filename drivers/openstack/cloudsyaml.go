package openstack

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// maxCloudsYAML bounds a clouds.yaml, in bytes.
const maxCloudsYAML = 256 << 10

// Why keys that the format knows are refused. A clouds.yaml from outside is
// hostile: these read files here, fetch from elsewhere, or turn verification off.
const (
	readsFile  = "it names a file of the machine it was made on, which is not opened: leave it out, and give the certificates themselves beside the clouds.yaml, as caCert"
	noClient   = "a cloud that wants client certificates cannot be registered"
	fromOther  = "it takes values from another file or from a vendor: write them here"
	notToken   = "a token ends soon and cannot make leases: register user name and password, or an application credential"
	notProject = "a VIM is a project: name that"
	unverified = "a clouds.yaml alone cannot turn off the verification of the server: leave it out and give the server's CA beside the clouds.yaml, as caCert, or set insecureSkipVerify beside it too"
	notHere    = "the broker goes by the cloud's catalog: leave it out"
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
	// unused are keys at the top that say how a client behaves; a VIM has no use for them.
	unused = map[string]bool{"cache": true, "client": true, "ansible": true}
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
	root, err := rebuild.Document("cloudsYaml", document)
	if err != nil {
		return r, paths{}, err
	}
	body, err := selectCloud(root, r.Cloud)
	if err != nil {
		return r, paths{}, err
	}
	const at = "cloudsYaml.clouds.CLOUD" // its name may be anything, and is not repeated
	cloud := &cloud{caGiven: r.CACert != "" || r.InsecureSkipVerify, unverified: r.InsecureSkipVerify}
	if err := rebuild.Members(at, body, cloud.read); err != nil {
		return r, paths{}, err
	}
	if err := cloud.fits(at); err != nil {
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

// selectCloud returns the body of the cloud of that name.
func selectCloud(root *yaml.Node, name string) (*yaml.Node, error) {
	var found *yaml.Node
	err := rebuild.Members("cloudsYaml", root, func(key, path string, v *yaml.Node) error {
		switch {
		case unused[key]:
			return nil
		case key != "clouds":
			return rebuild.ErrUnknown
		}
		return rebuild.Members(path, v, func(key, _ string, v *yaml.Node) error {
			if key == name {
				found = v
			}
			return nil
		})
	})
	if err == nil && found == nil {
		err = broker.Invalid("cloud", "is not in the clouds.yaml")
	}
	return found, err
}

// cloud is all that is taken from one.
type cloud struct {
	// What the registration says beside the clouds.yaml: its CA, or not to verify the server.
	caGiven, unverified bool

	authType, endpoint, domainID, domainName string
	scope                                    broker.Scope
	credential                               broker.Credential
}

func (c *cloud) read(key, path string, v *yaml.Node) (err error) {
	switch key {
	case "auth":
		return rebuild.Members(path, v, c.readAuth)
	case "auth_type":
		c.authType, err = rebuild.Text(path, v)
	case "region_name":
		c.scope.Region, err = rebuild.Text(path, v)
	case "verify":
		off := v.Kind == yaml.ScalarNode && strings.EqualFold(v.Value, "false")
		if v.Kind != yaml.ScalarNode || !strings.EqualFold(v.Value, "true") && (!off || !c.unverified) {
			return refuse(path, unverified)
		}
	case "cacert":
		if !c.caGiven {
			return refuse(path, readsFile)
		}
		_, err = rebuild.Text(path, v)
	case "identity_api_version":
		if v.Kind != yaml.ScalarNode || !strings.HasPrefix(strings.TrimPrefix(v.Value, "v"), "3") {
			return broker.Invalid(path, "must be 3: no other version of Keystone's API is spoken")
		}
	default:
		switch {
		case unusedInCloud(key) && v.Kind == yaml.ScalarNode:
			return nil
		case strings.HasSuffix(key, "_endpoint_override"):
			return refuse(path, notHere)
		}
		return refuse(path, refusedInCloud[key])
	}
	return err
}

func (c *cloud) readAuth(key, path string, v *yaml.Node) (err error) {
	into := map[string]*string{
		"auth_url": &c.endpoint,
		"username": &c.credential.Username, "user_id": &c.credential.UserID,
		"project_name": &c.scope.ProjectName, "project_id": &c.scope.ProjectID,
		"user_domain_name": &c.scope.UserDomainName, "user_domain_id": &c.scope.UserDomainID,
		"project_domain_name": &c.scope.ProjectDomainName, "project_domain_id": &c.scope.ProjectDomainID,
		"default_domain": &c.domainID, "default_domain_id": &c.domainID, "default_domain_name": &c.domainName,
		"application_credential_id": &c.credential.ApplicationCredentialID,
	}[key]
	if into != nil {
		*into, err = rebuild.Text(path, v)
		return err
	}
	text := ""
	switch key {
	case "password":
		text, err = rebuild.Text(path, v)
		c.credential.Password = secret.NewText(text)
	case "application_credential_secret":
		text, err = rebuild.Text(path, v)
		c.credential.ApplicationCredentialSecret = secret.NewText(text)
	default:
		return refuse(path, refusedInAuth[key])
	}
	return err
}

// fits holds the parts of a cloud against one another, and fills in its default domain.
func (c *cloud) fits(at string) error {
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

// refuse is the error of a key that is known and refused; without a reason it is not known.
func refuse(path, why string) error {
	if why == "" {
		return rebuild.ErrUnknown
	}
	return broker.Invalid(path, "is refused: %s", why)
}
