package barbican

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// defaultTimeout bounds one request to Keystone or Barbican where Options do not.
const defaultTimeout = 10 * time.Second

// Options say where Keystone and Barbican are, and how to get in. No variable of
// the environment is read (OS_AUTH_URL, OS_CLOUD, HTTPS_PROXY and the like), and no
// clouds.yaml.
type Options struct {
	// AuthURL is Keystone's URL, with or without /v3: https, or http on loopback.
	AuthURL string
	// Endpoint is Barbican's URL, with or without /v1: https, or http on loopback.
	// Keystone's catalog is not consulted.
	Endpoint string
	// Auth is how to log in.
	Auth Auth
	// Folder is the prefix of the names of this deployment's secrets; empty means
	// "vimbroker". Deployments that share a project each need their own.
	Folder string
	// CAFile holds the authorities (PEM) that both certificates are checked
	// against; empty means the system's. It is read again when it changes.
	CAFile string
	// Timeout bounds one request; 0 means [defaultTimeout]. Get, Delete and Check
	// take at most three times that, and Put four times. List takes a request for
	// each hundred keys, and is bounded as a whole by its context only.
	Timeout time.Duration
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Log is told when the way to Barbican is lost and found; nil means slog.Default().
	Log *slog.Logger
}

// Auth is one way to log in: exactly one field is set. The files are read again at
// each login, so what is in them may be replaced at any time. White space around
// their contents is ignored.
type Auth struct {
	ApplicationCredential *ApplicationCredential
	Password              *Password
}

// ApplicationCredential logs in with an application credential, which names user
// and project by itself.
type ApplicationCredential struct {
	ID         string
	SecretFile string
}

// Password logs a user in to a project. Each of the two is given by its id, or by
// its name and its domain's id.
type Password struct {
	UserID, Username, UserDomainID      string
	ProjectID, Project, ProjectDomainID string
	PasswordFile                        string
}

// Validate returns every fault in the options, joined, without asking anyone or
// reading a file: what [Open] would refuse.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults returns the options complete, or every fault in them.
func (o Options) withDefaults() (Options, error) {
	if o.Folder == "" {
		o.Folder = "vimbroker"
	}
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
	var err error
	o.AuthURL, err = address(o.AuthURL, "v3")
	need(err == nil, "address of Keystone: %w", err)
	o.Endpoint, err = address(o.Endpoint, "v1")
	need(err == nil, "address of Barbican: %w", err)
	need(folderForm().MatchString(o.Folder), "folder %q: must be 1 to 64 letters, digits and \"._-\"", o.Folder)
	need(o.Timeout > 0, "timeout %v: must be positive", o.Timeout)

	ac, p := o.Auth.ApplicationCredential, o.Auth.Password
	need((ac == nil) != (p == nil), "login: give either an application credential or a password")
	if ac != nil {
		need(ac.ID != "", "login by application credential: needs its id")
		need(ac.SecretFile != "", "login by application credential: needs the file of its secret")
	}
	if p != nil {
		need(p.PasswordFile != "", "login by password: needs the file of the password")
		need(either(p.UserID, p.Username, p.UserDomainID), "login by password: give the user's id, or the user's name and its domain's id")
		need(either(p.ProjectID, p.Project, p.ProjectDomainID),
			"login by password: give the project's id, or the project's name and its domain's id")
	}
	return o, errors.Join(errs...)
}

// either reports whether a thing is given in exactly one of the two ways.
func either(id, name, domain string) bool {
	if id != "" {
		return name == "" && domain == ""
	}
	return name != "" && domain != ""
}

// folderForm has no character that means something else in a pattern of SQL, but
// "_": Barbican searches names by such, and what it finds is compared again.
var folderForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// address completes a service's URL: version and a slash at its end.
func address(text, version string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("must be a URL like https://cloud.example:5000")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return "", errors.New("must be scheme, host, port and path only")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !egress.OwnHost(u.Hostname())) {
		return "", errors.New("must be https, or http on a loopback address")
	}
	path := strings.TrimRight(u.Path, "/")
	u.Path = strings.TrimSuffix(path, "/"+version) + "/" + version + "/"
	return u.String(), nil
}
