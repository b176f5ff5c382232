package vault

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// defaultTimeout bounds one request to Vault where Options do not.
const defaultTimeout = 5 * time.Second

// Options say where Vault is, and how to get in. No variable of the environment
// is read (VAULT_ADDR, VAULT_TOKEN, HTTPS_PROXY and the like).
type Options struct {
	// Address is Vault's URL: https://host:port, or http:// on loopback.
	Address string
	// Peers are the API addresses of the cluster's other nodes. A standby that
	// does not forward redirects to the active node: such a redirect is followed,
	// once, to Address and these, and to nowhere else. None is right where
	// standbys forward, as they do by default.
	Peers []string
	// Namespace is the Vault Enterprise or OpenBao namespace; empty means the root.
	Namespace string
	// Mount is where the KV version 2 engine is mounted; empty means "secret".
	Mount string
	// Path is the folder of this deployment in the mount; empty means
	// "vimbroker". Deployments that share a mount each need their own.
	Path string
	// CACert (PEM) or the file CAFile holds the authorities that Vault's
	// certificate is checked against; without either, the system's. At most one
	// is set. The file is read again when it changes.
	CACert, CAFile string
	// TLSServerName is the name that Vault's certificate must be for; empty means
	// the host in Address.
	TLSServerName string
	// Auth is how to log in.
	Auth Auth
	// Timeout bounds one request; 0 means [defaultTimeout]. A call of Put, Get,
	// Delete or Check takes at most twice that. List takes as many requests as
	// there are VIMs, and is bounded as a whole by its context only.
	Timeout time.Duration
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Log is told when the way to Vault is lost and found; nil means slog.Default().
	Log *slog.Logger
}

// Auth is one way to log in: exactly one field is set. The files are read again
// at each login, so what is in them may be replaced at any time. White space
// around their contents is ignored.
type Auth struct {
	AppRole *AppRole
	JWT     *JWT
	// TokenFile holds a token that someone else looks after, such as Vault Agent.
	// It is renewed where Vault allows it.
	TokenFile string
}

// AppRole logs in with a role id and the secret id in a file.
type AppRole struct {
	RoleID       string
	SecretIDFile string
	// MountPath is where the method is mounted; empty means "approle".
	MountPath string
}

// JWT logs in with the signed token in a file: Vault's JWT method or, with the
// MountPath "kubernetes", a pod's service account.
type JWT struct {
	Role      string
	TokenFile string
	// MountPath is where the method is mounted; empty means "jwt".
	MountPath string
}

// Validate returns every fault in the options, joined, without asking Vault or
// reading a file: what [Open] would refuse.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults returns the options complete, or every fault in them.
func (o Options) withDefaults() (Options, error) {
	def := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	def(&o.Mount, "secret")
	def(&o.Path, "vimbroker")
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, err := parseAddress(o.Address)
	need(err == nil, "address: %w", err) // not quoted: it may hold a password
	for i, peer := range o.Peers {
		_, err := parseAddress(peer)
		need(err == nil, "peer %d: %w", i+1, err)
	}
	need(isPath(o.Mount), "mount %q: must be %s", o.Mount, pathForm)
	need(isPath(o.Path) && len(o.Path) <= maxPath, "path %q: must be %s, of at most %d bytes", o.Path, pathForm, maxPath)
	need(o.Namespace == "" || isPath(o.Namespace), "namespace %q: must be %s", o.Namespace, pathForm)
	need(o.CACert == "" || o.CAFile == "", "authorities: give the certificates or the file that holds them, not both")
	need(o.Timeout > 0, "timeout %v: must be positive", o.Timeout)

	ways := 0
	if a := o.Auth.AppRole; a != nil {
		ways++
		copied := *a
		def(&copied.MountPath, "approle")
		o.Auth.AppRole = &copied
		need(copied.RoleID != "", "login by AppRole: needs a role id")
		need(copied.SecretIDFile != "", "login by AppRole: needs the file of the secret id")
		need(isPath(copied.MountPath), "login by AppRole: mount path %q: must be %s", copied.MountPath, pathForm)
	}
	if j := o.Auth.JWT; j != nil {
		ways++
		copied := *j
		def(&copied.MountPath, "jwt")
		o.Auth.JWT = &copied
		need(copied.Role != "", "login by JWT: needs a role")
		need(copied.TokenFile != "", "login by JWT: needs the file of the token")
		need(isPath(copied.MountPath), "login by JWT: mount path %q: must be %s", copied.MountPath, pathForm)
	}
	if o.Auth.TokenFile != "" {
		ways++
	}
	need(ways == 1, "login: give exactly one of AppRole, JWT and token file")
	return o, errors.Join(errs...)
}

// maxPath bounds Options.Path, so that whole paths stay far under what Vault's
// storage takes.
const maxPath = 128

const pathForm = "segments of letters, digits, '.', '_' and '-', with '/' between them"

var segment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]+$`) })

// isPath reports whether s can stand in a request's path unchanged.
func isPath(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !segment().MatchString(part) || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// parseAddress reads an address of Vault: scheme, host and port, nothing else.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("must be a URL like https://vault.example:8200")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("must be scheme, host and port only")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !egress.OwnHost(u.Hostname())) {
		return nil, errors.New("must be https, or http on a loopback address")
	}
	if _, _, err := net.SplitHostPort(u.Host); err != nil {
		u.Host = net.JoinHostPort(u.Hostname(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	}
	u.Path = ""
	return u, nil
}
