package barbican

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/drivers/keystone"
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
	Auth keystone.Auth
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
	o.AuthURL, err = keystone.Address(o.AuthURL, "v3")
	need(err == nil, "address of Keystone: %w", err)
	o.Endpoint, err = keystone.Address(o.Endpoint, "v1")
	need(err == nil, "address of Barbican: %w", err)
	need(folderForm().MatchString(o.Folder), "folder %q: must be 1 to 64 letters, digits and \"._-\"", o.Folder)
	need(o.Timeout > 0, "timeout %v: must be positive", o.Timeout)
	return o, errors.Join(append(errs, o.Auth.Flaws()...)...)
}

// folderForm has no character that means something else in a pattern of SQL, but
// "_": Barbican searches names by such, and what it finds is compared again.
var folderForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })
