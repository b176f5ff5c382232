// Package clientconfig turns a leased credential into a form that a client reads: a
// kubeconfig, environment variables, an exec credential, JSON; in memory, or as files
// that are removed again.
package clientconfig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Format names a client configuration's form.
type Format string

// The formats of clusters and clouds.
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

// ErrCredential: a configuration does not hold exactly one kind of credential, or
// one that its clients cannot use.
var ErrCredential = errors.New("client configuration needs exactly one kind of credential")

// Config is everything a client needs to use one lease: where to go, how to
// know the server, the credential, and what only clients of this type of VIM need.
type Config struct {
	// VIM is the VIM's name, and becomes the context's or cloud's name.
	VIM string
	// VIMID is the VIM's id; empty if a configuration is for no lease.
	VIMID string
	// Lease is the lease's id.
	Lease    string
	Endpoint string
	// CACert is a PEM bundle; empty means the system's roots.
	CACert             string
	InsecureSkipVerify bool
	// ServerName is checked in the certificate instead of the endpoint's host, if set.
	ServerName string
	// Credential is of exactly one kind. Username and password, and a client
	// certificate, occur only where a stored credential is passed through.
	secret.Credential
	// Client names the forms that the clients of this type of VIM read.
	Client Client
	// ExpiresAt is when the credential stops working by itself.
	ExpiresAt time.Time
}

// Client is the part of a configuration that depends on the type of VIM. The
// type's driver fills it in. [KubernetesClient] and [OpenStackClient] are clients.
type Client interface {
	// Forms are the forms of configuration that these clients read; the first is the default.
	Forms() []Form
	// Accepts reports whether these clients can use a credential of one kind.
	Accepts(secret.Credential) bool
}

// Form is one form of client configuration.
type Form struct {
	Format Format
	// Object: the text is one JSON object.
	Object bool
	// Render writes the text, which holds the credential and ends with a newline.
	// A configuration that it cannot express is [ErrFormat].
	Render func(Config) (secret.Text, error)
}

// Formats names the forms that a client reads; the first is the default.
func Formats(c Client) []Format {
	var names []Format
	for _, f := range c.Forms() {
		names = append(names, f.Format)
	}
	return names
}

// Known names the formats of clusters and clouds, each once.
func Known() []Format {
	names := Formats(KubernetesClient{})
	for _, f := range Formats(OpenStackClient{}) {
		if !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	return names
}

// Render gives the configuration in the form that f names. The result holds the
// credential, and ends with a newline. The same configuration gives the same
// text. A configuration that f cannot express is [ErrFormat].
func (c Config) Render(f Format) (secret.Text, error) {
	if err := c.check(); err != nil {
		return secret.Text{}, err
	}
	form, ok := c.form(f)
	if !ok {
		return secret.Text{}, fmt.Errorf("a VIM of this type has no client configuration of format %q: %w", f, ErrFormat)
	}
	return form.Render(c)
}

// Object reports whether the form that f names is one JSON object.
func (c Config) Object(f Format) bool {
	form, _ := c.form(f)
	return form.Object
}

func (c Config) form(f Format) (Form, bool) {
	if c.Client == nil {
		return Form{}, false
	}
	forms := c.Client.Forms()
	i := slices.IndexFunc(forms, func(known Form) bool { return known.Format == f })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// check refuses a credential that is not complete, not of exactly one kind, or of
// no use to the clients.
func (c Config) check() error {
	kinds := 0
	for _, kind := range [][2]bool{
		{!c.Token.Empty(), !c.Token.Empty()},
		{c.ClientCertificate != "", !c.ClientKey.Empty()},
		{c.Username != "", !c.Password.Empty()},
		{c.ApplicationCredentialID != "", !c.ApplicationCredentialSecret.Empty()},
	} {
		if kind[0] != kind[1] {
			return ErrCredential
		}
		if kind[0] {
			kinds++
		}
	}
	if kinds != 1 || c.Client != nil && !c.Client.Accepts(c.Credential) {
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
