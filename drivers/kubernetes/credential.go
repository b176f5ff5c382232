package kubernetes

import (
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/kubeconfig"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

// Bounds on what goes into the Authorization header, in bytes.
const (
	maxToken    = 32 << 10
	maxUsername = 256
	maxPassword = 4 << 10
)

// credentialFields says how the parts of a credential are called where it came
// from, for errors.
type credentialFields struct {
	whole, token, certificate, key, username, password string
}

// credential rebuilds a credential of exactly one kind.
func credential(in broker.Credential, f credentialFields) (broker.Credential, error) {
	var (
		none        broker.Credential
		token       = !in.Token.Empty()
		certificate = in.ClientCertificate != "" || !in.ClientKey.Empty()
		basic       = in.Username != "" || !in.Password.Empty()
		out         broker.Credential
		err         error
	)
	switch {
	case token && !certificate && !basic:
		out, err = bearer(in, f)
	case certificate && !token && !basic:
		out, err = clientCertificate(in, f)
	case basic && !token && !certificate:
		out, err = basicAuth(in, f)
	case token || certificate: // two of three have one of these
		return none, broker.Invalid(f.whole, "holds more than one kind of credential: give a token, or a client certificate with its key, "+
			"or a user name with its password")
	default:
		return none, broker.Invalid(f.whole, "holds no credential that can be used: give a token or a client certificate with its key")
	}
	if err != nil {
		return none, err
	}
	if in.Kind != "" && in.Kind != out.Kind {
		return none, broker.Invalid(f.whole, "names another kind than that of the secrets in it")
	}
	return out, nil
}

func bearer(in broker.Credential, f credentialFields) (broker.Credential, error) {
	token := in.Token.Reveal()
	if len(token) > maxToken {
		return broker.Credential{}, broker.Invalid(f.token, "is longer than %d bytes", maxToken)
	}
	if !isToken(token) {
		return broker.Credential{}, broker.Invalid(f.token, "holds white space or characters that no token has")
	}
	return broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token)}, nil
}

func clientCertificate(in broker.Credential, f credentialFields) (broker.Credential, error) {
	switch {
	case in.ClientCertificate == "":
		return broker.Credential{}, broker.Invalid(f.certificate, "is required with a client key")
	case in.ClientKey.Empty():
		return broker.Credential{}, broker.Invalid(f.key, "is required with a client certificate")
	}
	cert, key, keyAtFault, err := rebuild.KeyPair(in.ClientCertificate, in.ClientKey.Reveal())
	switch {
	case keyAtFault:
		return broker.Credential{}, broker.Invalid(f.key, "%s", err)
	case err != nil:
		return broker.Credential{}, broker.Invalid(f.certificate, "%s", err)
	}
	return broker.Credential{Kind: broker.CredentialClientCertificate, ClientCertificate: cert, ClientKey: secret.NewText(key)}, nil
}

func basicAuth(in broker.Credential, f credentialFields) (broker.Credential, error) {
	password := in.Password.Reveal()
	switch {
	case in.Username == "":
		return broker.Credential{}, broker.Invalid(f.username, "is required with a password")
	case password == "":
		return broker.Credential{}, broker.Invalid(f.password, "is required with a user name")
	case len(in.Username) > maxUsername || strings.ContainsRune(in.Username, ':') || hasControl(in.Username):
		return broker.Credential{}, broker.Invalid(f.username, "holds a colon or control characters, or more than %d bytes", maxUsername)
	case len(password) > maxPassword || hasControl(password):
		return broker.Credential{}, broker.Invalid(f.password, "holds control characters, or more than %d bytes", maxPassword)
	}
	return broker.Credential{Kind: broker.CredentialBasicAuth, Username: in.Username, Password: secret.NewText(password)}, nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func isZero(c broker.Credential) bool {
	return c.Kind == "" && c.Token.Empty() && c.ClientCertificate == "" && c.ClientKey.Empty() && c.Username == "" && c.Password.Empty()
}

// credentialExpiry returns the credential's own time of expiry; zero if it
// states none. Nothing is verified: the value is for people.
func credentialExpiry(c broker.Credential) time.Time {
	switch c.Kind {
	case broker.CredentialClientCertificate:
		return rebuild.CertificateExpiry(c.ClientCertificate)
	case broker.CredentialBearerToken:
		return tokenExpiry(c.Token.Reveal())
	}
	return time.Time{}
}

// tokenExpiry reads the exp claim of a JWT (RFC 7519, section 4.1.4).
func tokenExpiry(token string) time.Time {
	const year9999 = 253402300799 // what RFC 3339 can write
	var c struct {
		Exp float64 `json:"exp"`
	}
	if !payload(token, &c) || c.Exp <= 0 || c.Exp > year9999 {
		return time.Time{}
	}
	return time.Unix(int64(c.Exp), 0).UTC()
}

// maxKubeconfig bounds a kubeconfig, in bytes.
const maxKubeconfig = 256 << 10

// Why keys that the format knows are refused. A kubeconfig from outside is
// hostile: these run commands here, send our files there, or turn verification off.
const (
	readsFile  = "names a file of the machine it was made on: put the data in its place (kubectl config view --raw --flatten)"
	unverified = "is refused: a kubeconfig alone cannot turn off the verification of the server; remove it, or set insecureSkipVerify " +
		"beside the kubeconfig too"
)

var refusals = map[kubeconfig.FieldKind]string{
	kubeconfig.Command:       "would run a command: register a token or client certificate instead",
	kubeconfig.TokenFile:     readsFile,
	kubeconfig.NamedFile:     readsFile,
	kubeconfig.Login:         "is accepted only outside a kubeconfig, as user name and password",
	kubeconfig.Impersonation: "impersonates another, which is not supported: register the credential of that identity itself",
	kubeconfig.Proxy:         "is not supported: the broker connects without a proxy",
	kubeconfig.Unused:        "is not used: remove it",
}

// parseKubeconfig reads the context of that name, or the current one. It refuses
// unknown fields, at the top of the file and in the selected context, cluster and
// user; it does not read the others.
func parseKubeconfig(document, context string, insecure bool) (c kubeconfig.Context, err error) {
	if len(document) > maxKubeconfig {
		return c, broker.Invalid("kubeconfig", "is longer than %d bytes", maxKubeconfig)
	}
	rules := kubeconfig.FieldRules{Refusals: refusals, Unverified: unverified}
	if insecure {
		rules.Unverified = ""
	}
	d := &strictyaml.Document{Root: "kubeconfig", Foreign: true}
	f := kubeconfig.Read(d, []byte(document), rules)
	if f == nil {
		return c, rebuild.Fault(d)
	}
	missing := "context"
	if context == "" {
		context, missing = f.Current, "kubeconfig.current-context"
	}
	switch {
	case context == "":
		return c, broker.Invalid("context", "is required, as the kubeconfig has no current-context")
	case !slices.Contains(f.Contexts(), context):
		return c, broker.Invalid(missing, "names a context that the kubeconfig does not have")
	}
	c = f.Context(context, rules)
	return c, rebuild.Fault(d)
}

// Normalize implements [broker.Driver]. Either r.Kubeconfig is set, or
// r.Endpoint and r.Credential; r.Namespace goes with both, and is "default" if
// neither it nor the kubeconfig's context says otherwise.
func (d *Driver) Normalize(r broker.Registration) (broker.Target, broker.Credential, error) {
	t, c, err := normalize(r)
	if err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	return t, c, nil
}

func normalize(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	switch {
	case r.Type != "" && r.Type != Type:
		return t, c, broker.Invalid("type", "is not kubernetes")
	case !r.CloudsYAML.Empty(), r.Cloud != "":
		return t, c, broker.Invalid("cloudsYaml", "is OpenStack's; give a kubeconfig")
	case r.Scope.Region != "":
		return t, c, broker.Invalid("region", "is OpenStack's; leave it out")
	case r.Scope != broker.Scope{}:
		return t, c, broker.Invalid("project", "and domains are OpenStack's; leave them out, and name what clients start in as the namespace")
	}
	if r.Kubeconfig.Empty() {
		t, c, err = fromFields(r)
	} else {
		t, c, err = fromKubeconfig(r)
	}
	if err != nil {
		return t, c, err
	}
	if r.Namespace != "" {
		t.Namespace = r.Namespace
		if !rbac.IsLabel(t.Namespace) {
			return t, c, broker.Invalid("namespace", "must be a DNS label of at most 63 characters")
		}
	}
	if t.Namespace == "" {
		t.Namespace = "default"
	}
	return t, c, nil
}

func fromFields(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	if r.Context != "" {
		return t, c, broker.Invalid("context", "selects from a kubeconfig, and there is none")
	}
	if t.Endpoint, err = rebuild.Endpoint("endpoint", r.Endpoint, false); err != nil {
		return t, c, err
	}
	if t.CACert, err = rebuild.CABundle("caCert", r.CACert); err != nil {
		return t, c, err
	}
	if r.InsecureSkipVerify && t.CACert != "" {
		return t, c, broker.Invalid("insecureSkipVerify", "contradicts caCert: a server is either verified or not")
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	if t.ServerName, err = rebuild.ServerName("serverName", r.ServerName); err != nil {
		return t, c, err
	}
	c, err = credential(r.Credential, credentialFields{
		whole: "credential", token: "credential.token",
		certificate: "credential.clientCertificate", key: "credential.clientKey",
		username: "credential.username", password: "credential.password",
	})
	return t, c, err
}

func fromKubeconfig(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	const only = "cannot be given beside a kubeconfig, which says it"
	switch {
	case r.Endpoint != "":
		return t, c, broker.Invalid("endpoint", only)
	case r.CACert != "":
		return t, c, broker.Invalid("caCert", only)
	case r.ServerName != "":
		return t, c, broker.Invalid("serverName", "cannot be given beside a kubeconfig; put it there as tls-server-name")
	case !isZero(r.Credential):
		return t, c, broker.Invalid("credential", only)
	}
	k, err := parseKubeconfig(r.Kubeconfig.Reveal(), r.Context, r.InsecureSkipVerify)
	if err != nil {
		return t, c, err
	}
	if t.Endpoint, err = rebuild.Endpoint(k.Cluster+".server", k.Server, false); err != nil {
		return t, c, err
	}
	if t.CACert, err = rebuild.CABundle(k.Cluster+".certificate-authority-data", k.CA); err != nil {
		return t, c, err
	}
	if r.InsecureSkipVerify && t.CACert != "" {
		return t, c, broker.Invalid("insecureSkipVerify", "contradicts certificate-authority-data of the kubeconfig: leave one of them out")
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	if t.ServerName = strings.ToLower(k.ServerName); t.ServerName != "" && !rebuild.IsHostName(t.ServerName) {
		return t, c, broker.Invalid(k.Cluster+".tls-server-name", "must be a DNS name")
	}
	if t.Namespace = k.Namespace; t.Namespace != "" && !rbac.IsLabel(t.Namespace) {
		return t, c, broker.Invalid(k.At+".namespace", "is not a DNS label of at most 63 characters")
	}
	c, err = credential(broker.Credential{
		Token:             k.Token,
		ClientCertificate: k.Certificate,
		ClientKey:         k.Key,
	}, credentialFields{
		whole: k.User, token: k.User + ".token",
		certificate: k.User + ".client-certificate-data", key: k.User + ".client-key-data",
	})
	return t, c, err
}
