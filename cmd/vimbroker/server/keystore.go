package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/vault"
)

// keyStoreConfig is one key store; exactly one field is set.
type keyStoreConfig struct {
	Keydir   *keydirConfig
	Vault    *vaultConfig
	Barbican *barbicanConfig
}

// kinds are its kinds: one, if it has no fault.
func (k keyStoreConfig) kinds() (all []string) {
	for kind, given := range map[string]bool{"keydir": k.Keydir != nil, "vault": k.Vault != nil, "barbican": k.Barbican != nil} {
		if given {
			all = append(all, kind)
		}
	}
	return all
}

// keydirConfig is a directory of keys; an empty Dir means "keys" in the data directory.
type keydirConfig struct{ Dir string }

// vaultConfig is Vault's options, with the role id in a file as everything is
// that helps to log in.
type vaultConfig struct {
	vault.Options
	RoleIDFile string
}

// fields is a key store's vocabulary.
func (k *keyStoreConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"keydir": files.Made(d, &k.Keydir, func(k *keydirConfig, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{"dir": d.Text(&k.Dir)}
		}),
		"vault":    files.Made(d, &k.Vault, (*vaultConfig).fields),
		"barbican": files.Made(d, &k.Barbican, (*barbicanConfig).fields),
	}
}

func (v *vaultConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"address":    d.Text(&v.Address),
		"peers":      d.Texts(&v.Peers),
		"namespace":  d.Text(&v.Namespace),
		"mount":      d.Text(&v.Mount),
		"path":       d.Text(&v.Path),
		"caFile":     d.Text(&v.CAFile),
		"serverName": d.Text(&v.TLSServerName),
		"timeout":    d.Duration(&v.Timeout),
		"auth": d.Section(strictyaml.Fields{
			"appRole": func(n *yaml.Node, at string) {
				v.Auth.AppRole = new(vault.AppRole)
				d.Mapping(n, at, strictyaml.Fields{
					"roleIDFile":   d.Text(&v.RoleIDFile),
					"secretIDFile": d.Text(&v.Auth.AppRole.SecretIDFile),
					"mountPath":    d.Text(&v.Auth.AppRole.MountPath),
				})
			},
			"jwt": func(n *yaml.Node, at string) {
				v.Auth.JWT = new(vault.JWT)
				d.Mapping(n, at, strictyaml.Fields{
					"role":      d.Text(&v.Auth.JWT.Role),
					"tokenFile": d.Text(&v.Auth.JWT.TokenFile),
					"mountPath": d.Text(&v.Auth.JWT.MountPath),
				})
			},
			"tokenFile": d.Text(&v.Auth.TokenFile),
		}),
	}
}

// validateKeyStores notes the faults of the list itself. A kind stands in it once: VIMs
// name their key store by its kind.
func (c *config) validateKeyStores(d *strictyaml.Document) {
	seen := map[string]bool{}
	for i, k := range c.KeyStores {
		at := fmt.Sprintf("keyStores[%d]", i)
		kinds := k.kinds()
		if len(kinds) != 1 {
			d.Fault(nil, at, "must be exactly one of keydir, vault and barbican")
			continue
		}
		kind := kinds[0]
		if seen[kind] {
			d.Fault(nil, at, "is a second %s; keep one", kind)
		}
		seen[kind] = true
	}
}

// loadKeyStores reads the files that the key stores' settings name, and notes every
// fault. It queries no key store: one that is down is no fault of the configuration.
func (c *config) loadKeyStores(d *strictyaml.Document) {
	for i, k := range c.KeyStores {
		if k.Vault != nil {
			k.Vault.load(d, fmt.Sprintf("keyStores[%d].vault", i))
		}
		if k.Barbican != nil {
			k.Barbican.load(d, fmt.Sprintf("keyStores[%d].barbican", i))
		}
	}
}

func (v *vaultConfig) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", v.CAFile)
	if v.Auth.AppRole != nil {
		v.Auth.AppRole.RoleID = files.LoginFile(d, at+".auth.appRole.roleIDFile", v.RoleIDFile)
		files.LoginFile(d, at+".auth.appRole.secretIDFile", v.Auth.AppRole.SecretIDFile)
	}
	if v.Auth.JWT != nil {
		files.LoginFile(d, at+".auth.jwt.tokenFile", v.Auth.JWT.TokenFile)
	}
	if v.Auth.TokenFile != "" {
		files.LoginFile(d, at+".auth.tokenFile", v.Auth.TokenFile)
	}
	for _, err := range parts(v.complete().Validate()) {
		d.Fault(nil, at, "%v", err)
	}
}

// complete returns the options with what stands for files that loginFile has
// found fault with already, so that nothing is reported twice.
func (v *vaultConfig) complete() vault.Options {
	o := v.Options
	if a := o.Auth.AppRole; a != nil {
		named := *a
		named.RoleID, named.SecretIDFile = "given", "given"
		o.Auth.AppRole = &named
	}
	if j := o.Auth.JWT; j != nil {
		named := *j
		named.TokenFile = "given"
		o.Auth.JWT = &named
	}
	return o
}

// parts takes joined errors apart.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// keyStore is an open key store, with what keeps it going.
type keyStore struct {
	secret.KeyStore
	// run keeps it usable until the context ends; nil if nothing needs doing.
	run   func(context.Context) error
	close func() error
}

// openKeyStores opens the key stores in their order. One that cannot be asked
// now is no error: readiness says so until it can.
func openKeyStores(ctx context.Context, c config, log *slog.Logger) (open []keyStore, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeKeyStores(open))
			open = nil
		}
	}()
	configured := c.KeyStores
	if len(configured) == 0 {
		configured = []keyStoreConfig{{Keydir: new(keydirConfig)}}
	}
	for _, k := range configured {
		if k.Barbican != nil {
			s, err := k.Barbican.open(ctx, log)
			if err != nil {
				return open, err
			}
			open = append(open, s)
			continue
		}
		if k.Vault != nil {
			o := k.Vault.Options
			o.Log = log
			s, err := vault.Open(ctx, o)
			if err != nil {
				return open, err
			}
			open = append(open, keyStore{s, s.Run, func() error {
				// The context of the server has ended.
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), remoteCloseTime)
				defer cancel()
				if err := s.Close(ctx); err != nil {
					log.Warn("Vault's token was not given back; it expires by itself", "error", err)
				}
				return nil
			}})
			continue
		}
		dir := k.Keydir.Dir
		if dir == "" {
			// Nothing else makes it if the database is elsewhere.
			if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
				return open, fmt.Errorf("making the data directory: %w", err)
			}
			dir = filepath.Join(c.DataDir, "keys")
		}
		s, err := keydir.Open(dir)
		if err != nil {
			return open, err
		}
		open = append(open, keyStore{s, nil, s.Close})
	}
	return open, nil
}

// remoteCloseTime bounds giving Vault's token back.
const remoteCloseTime = 3 * time.Second

func closeKeyStores(open []keyStore) error {
	var errs []error
	for _, k := range open {
		errs = append(errs, k.close())
	}
	return errors.Join(errs...)
}
