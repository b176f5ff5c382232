package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Files are one client configuration on disk, as a kubeconfig that names the
// others: CA, and token or certificate and key, each in a file of its own, 0600.
// (A password has no file form: it stands in the kubeconfig.) For a cloud it is a
// clouds.yaml that names a CA file. Safe for concurrent use.
type Files struct {
	dir    *Dir
	config Config // without its secrets: what Replace compares with
	names  []string
	// kubeconfig and token are names in dir; token is empty for other credentials.
	kubeconfig string
	token      string
	// clouds is the clouds.yaml, and ca the path of the CA file; empty without.
	clouds, ca string
	closed     bool // guarded by dir.mu, as is names
}

// Write puts a configuration into files. When anything fails, on a full or
// read-only disk for one, what was written is removed before Write errs.
func (d *Dir) Write(c Config) (_ *Files, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("writing client configuration: %w", fs.ErrClosed)
	}
	f := &Files{dir: d, config: c.withoutSecrets()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing client configuration: %w", err), f.remove())
		}
	}()

	if c.onCloud() {
		if err := f.writeCloud(c); err != nil {
			return nil, err
		}
		return f, nil
	}
	cluster := kubeCluster{Server: c.Endpoint, TLSServerName: c.ServerName, InsecureSkipTLSVerify: c.InsecureSkipVerify}
	user := kubeUser{Username: c.Username, Password: c.Password.Reveal()}
	for _, part := range []struct {
		kind string
		text secret.Text
		path *string
	}{
		{"ca", secret.NewText(c.verified(c.CACert)), &cluster.CertificateAuthority},
		{"token", c.Token, &user.TokenFile},
		{"client-certificate", secret.NewText(c.ClientCertificate), &user.ClientCertificate},
		{"client-key", c.ClientKey, &user.ClientKey},
	} {
		if part.text.Empty() {
			continue
		}
		name, err := f.write(part.kind, part.text)
		if err != nil {
			return nil, err
		}
		*part.path = filepath.Join(d.path, name)
		if part.kind == "token" {
			f.token = name
		}
	}
	text, err := c.encodeKubeconfig(cluster, user)
	if err != nil {
		return nil, err
	}
	if f.kubeconfig, err = f.write("kubeconfig", secret.NewText(text)); err != nil {
		return nil, err
	}
	failpoint.At("files.written")
	return f, nil
}

// writeCloud writes CA and clouds.yaml.
func (f *Files) writeCloud(c Config) error {
	if ca := c.verified(c.CACert); ca != "" {
		name, err := f.write("ca", secret.NewText(ca))
		if err != nil {
			return err
		}
		f.ca = filepath.Join(f.dir.path, name)
	}
	text, err := c.cloudsYAML(f.ca)
	if err != nil {
		return err
	}
	if f.clouds, err = f.write("clouds-yaml", text); err != nil {
		return err
	}
	return nil
}

// CloudsYAML is the path of the clouds.yaml; empty for a cluster.
func (f *Files) CloudsYAML() string {
	if f.clouds == "" {
		return ""
	}
	return filepath.Join(f.dir.path, f.clouds)
}

// Kubeconfig is the path of the kubeconfig.
func (f *Files) Kubeconfig() string { return filepath.Join(f.dir.path, f.kubeconfig) }

// Env gives the variables, as NAME=value, that make kubectl and Helm (KUBECONFIG)
// and Terraform (KUBE_CONFIG_PATH) use the files, or those that make clients of
// OpenStack use the one cloud of the clouds.yaml. None holds a secret.
func (f *Files) Env() []string {
	if f.clouds != "" {
		env := []string{"OS_CLIENT_CONFIG_FILE=" + f.CloudsYAML(), "OS_CLOUD=" + f.config.name()}
		if f.ca != "" {
			env = append(env, "OS_CACERT="+f.ca)
		}
		return env
	}
	env := []string{"KUBECONFIG=" + f.Kubeconfig(), "KUBE_CONFIG_PATH=" + f.Kubeconfig()}
	if f.config.Namespace != "" {
		env = append(env, "KUBE_NAMESPACE="+f.config.Namespace, "HELM_NAMESPACE="+f.config.Namespace)
	}
	return env
}

// Replace puts the token of a renewed lease in place of the one before, at once:
// a reader sees one or the other. Running clients pick it up (client-go reads the
// file again within a minute). Of a cloud the whole clouds.yaml is replaced, which
// commands that start later read. Of a cluster only a token can be replaced; all
// only for the same server; after Close it is an error.
func (f *Files) Replace(c Config) error {
	switch {
	case c.check() != nil:
		return ErrCredential
	case f.clouds != "" != c.onCloud(), f.clouds == "" && (f.token == "" || c.Token.Empty()):
		return fmt.Errorf("replacing the credential in files: only a token can be: %w", ErrFormat)
	case c.Endpoint != f.config.Endpoint || c.CACert != f.config.CACert || c.ServerName != f.config.ServerName ||
		c.InsecureSkipVerify != f.config.InsecureSkipVerify:
		return errors.New("replacing the token in files: it is for another server")
	}
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	if f.closed || f.dir.closed {
		return fmt.Errorf("replacing the token in files: %w", fs.ErrClosed)
	}
	text, name := c.Token, f.token
	if f.clouds != "" {
		var err error
		if text, err = c.cloudsYAML(f.ca); err != nil {
			return fmt.Errorf("replacing the credential in files: %w", err)
		}
		name = f.clouds
	}
	next, err := f.write("next-"+name, text)
	if err != nil {
		return fmt.Errorf("replacing the token in files: %w", err)
	}
	if err := f.dir.files.Rename(next, name); err != nil {
		return errors.Join(fmt.Errorf("replacing the token in files: %w", err), f.dir.files.Remove(next))
	}
	f.names = f.names[:len(f.names)-1] // next has no name of its own any more
	return nil
}

// Close removes the files. Closing again is harmless; after an error it tries
// again. Closing the Dir removes them, too.
func (f *Files) Close() error {
	failpoint.At("files.closing")
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	if f.closed || f.dir.closed {
		return nil
	}
	if err := f.remove(); err != nil {
		return fmt.Errorf("removing client configuration: %w", err)
	}
	f.closed = true
	return nil
}

// remove removes what was written; what is gone is removed.
func (f *Files) remove() error {
	var left []string
	var faults []error
	for _, name := range f.names {
		if err := f.dir.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, name)
			faults = append(faults, err)
		}
	}
	f.names = left
	return errors.Join(faults...)
}

// write makes a new file and returns its name. A file that could not be written
// whole is removed.
func (f *Files) write(kind string, text secret.Text) (name string, err error) {
	name = kind + "-" + random()
	// With O_EXCL a Root adds O_NOFOLLOW and means it; O_CLOEXEC it always adds.
	file, err := f.dir.files.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	f.names = append(f.names, name)
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr // a full disk may show only here
		}
		if err != nil {
			if removeErr := f.dir.files.Remove(name); removeErr == nil {
				f.names = f.names[:len(f.names)-1]
			}
		}
	}()
	if err := file.Chmod(0o600); err != nil { // whatever the umask
		return "", err
	}
	_, err = file.WriteString(text.Reveal())
	return name, err
}

// withoutSecrets keeps what is not secret.
func (c Config) withoutSecrets() Config {
	c.Token, c.ClientKey, c.Password = secret.Text{}, secret.Text{}, secret.Text{}
	c.Cloud.ApplicationCredentialSecret = secret.Text{}
	return c
}
