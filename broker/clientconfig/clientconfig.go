// Package clientconfig turns a leased credential into what a client reads: a
// kubeconfig, environment variables, an exec credential, JSON; in memory, or as
// files that are removed again.
package clientconfig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Format names a client configuration's form.
type Format string

// The formats a lease can be asked for in.
const (
	Kubeconfig     Format = "kubeconfig"
	CloudsYAML     Format = "clouds.yaml"
	Environment    Format = "env"
	ExecCredential Format = "exec-credential"
	JSON           Format = "json"
	// VIMConnection is one VimConnectionInfo of ETSI GS NFV-SOL 003.
	VIMConnection Format = "vim-connection-info"
)

// ErrFormat: there is no such format, or it cannot express this configuration.
var ErrFormat = errors.New("client configuration format not supported")

// ErrCredential: a configuration does not hold exactly one kind of credential.
var ErrCredential = errors.New("client configuration needs exactly one kind of credential")

// Config is everything a client needs to use one lease: where to go, how to
// know the server, and the credential. Exactly one kind of credential is set:
// Token; ClientCertificate with ClientKey; Username with Password (these
// two only when a stored credential is passed through); or the application
// credential of Cloud.
type Config struct {
	// VIM is the VIM's name, and becomes the context's or cloud's name.
	VIM string
	// VIMID is the VIM's id; empty where a configuration is for no lease.
	VIMID string
	// Lease is the lease's id.
	Lease    string
	Endpoint string
	// CACert is a PEM bundle; empty means the system's roots.
	CACert             string
	InsecureSkipVerify bool
	// ServerName is checked in the certificate instead of the endpoint's host, if set.
	ServerName string
	// Namespace is the one a client starts in; empty means the server's default.
	Namespace         string
	Token             secret.Text
	ClientCertificate string
	ClientKey         secret.Text
	Username          string
	Password          secret.Text
	// Cloud is set for an OpenStack cloud, and zero for a cluster.
	Cloud Cloud
	// ExpiresAt is when the credential stops working by itself.
	ExpiresAt time.Time
}

// Render gives the configuration in the form that f names. The result holds the
// credential, and ends with a newline. The same configuration gives the same
// text. What f cannot express is [ErrFormat].
func (c Config) Render(f Format) (secret.Text, error) {
	if err := c.check(); err != nil {
		return secret.Text{}, err
	}
	switch f {
	case Kubeconfig, ExecCredential:
		if c.onCloud() {
			return secret.Text{}, fmt.Errorf("an OpenStack cloud has no %s, only a cluster has: %w", f, ErrFormat)
		}
	}
	switch f {
	case Kubeconfig:
		return c.kubeconfig()
	case Environment:
		return c.environment()
	case ExecCredential:
		return c.execCredential()
	case JSON:
		return c.json()
	case CloudsYAML:
		return c.cloudsYAML("")
	case VIMConnection:
		return c.vimConnectionInfo()
	default:
		return secret.Text{}, fmt.Errorf("format %q: %w", f, ErrFormat)
	}
}

// check reports whether exactly one kind of credential is there, and whole.
func (c Config) check() error {
	kinds := 0
	for _, present := range []bool{
		!c.Token.Empty(),
		c.ClientCertificate != "" && !c.ClientKey.Empty(),
		c.Username != "" && !c.Password.Empty(),
		c.Cloud.ApplicationCredentialID != "" && !c.Cloud.ApplicationCredentialSecret.Empty(),
	} {
		if present {
			kinds++
		}
	}
	half := (c.ClientCertificate == "") != c.ClientKey.Empty() || (c.Username == "") != c.Password.Empty() ||
		(c.Cloud.ApplicationCredentialID == "") != c.Cloud.ApplicationCredentialSecret.Empty()
	if onlyCluster := c.ClientCertificate != "" || c.Username != ""; kinds != 1 || half || c.onCloud() && onlyCluster {
		return ErrCredential
	}
	return nil
}

var unplain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// name is the VIM's name as a context's: without anything that a shell or a
// command line could take for more than a name. Names that had to be altered
// keep apart by a digest.
func (c Config) name() string {
	const limit = 63
	plain := unplain().ReplaceAllString(c.VIM, "-")
	if plain == c.VIM && len(plain) <= limit && plain != "" && plain[0] != '-' {
		return plain
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(c.VIM)))[:8]
	return "vim-" + plain[:min(len(plain), limit-len("vim-")-len("-")-len(digest))] + "-" + digest
}
