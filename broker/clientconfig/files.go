package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Files are one client configuration on disk: a main file that names the others,
// each 0600. Safe for concurrent use.
type Files struct {
	dir    *Dir
	config Config // without its secrets: what Replace compares with
	names  []string
	layout
	closed bool // guarded by dir.mu, as is names
}

// layout is a client's form of a configuration on disk.
type layout struct {
	// main is the path of the file that names the others.
	main string
	// renewable is the path of the file with the credential; empty if it cannot be replaced.
	renewable string
	// env are the variables, as NAME=value, that make clients use the files.
	env []string
	// ca is the path of the CA file; empty if there is none.
	ca string
}

// onDisk is a [Client] that also reads files.
type onDisk interface {
	// layOut writes a configuration with write, which returns the path of a new file.
	layOut(c Config, write func(kind string, text secret.Text) (string, error)) (layout, error)
	// renewed is the content of the renewable file for a later credential.
	renewed(c Config, at layout) (secret.Text, error)
}

// Write puts a configuration into files. When anything fails, on a full or
// read-only disk for one, what was written is removed before Write returns the error.
func (d *Dir) Write(c Config) (_ *Files, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	client, ok := c.Client.(onDisk)
	if !ok {
		return nil, fmt.Errorf("writing client configuration: clients of this type of VIM read no files: %w", ErrFormat)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("writing client configuration: %w", fs.ErrClosed)
	}
	f := &Files{dir: d, config: c.withoutSecrets()}
	f.layout, err = client.layOut(c, func(kind string, text secret.Text) (string, error) {
		name, err := f.write(kind, text)
		return filepath.Join(d.path, name), err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing client configuration: %w", err), f.remove())
	}
	failpoint.At("files.written")
	return f, nil
}

// Main is the path of the file that names the others: the kubeconfig or clouds.yaml.
func (f *Files) Main() string { return f.main }

// Env gives the variables, as NAME=value, that make clients use the files. None
// holds a secret.
func (f *Files) Env() []string { return slices.Clone(f.env) }

// Replace puts the credential of a renewed lease in place of the previous one, in
// one step: a reader sees one or the other. Only a token of a cluster, and the
// clouds.yaml of a cloud, can be replaced, and only for the same server. After
// Close it is an error.
func (f *Files) Replace(c Config) error {
	if c.check() != nil {
		return ErrCredential
	}
	client, _ := c.Client.(onDisk) // it is one where it is as that of the files
	switch {
	case reflect.TypeOf(c.Client) != reflect.TypeOf(f.config.Client) || f.renewable == "":
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
	text, err := client.renewed(c, f.layout)
	if err != nil {
		return fmt.Errorf("replacing the credential in files: %w", err)
	}
	name := filepath.Base(f.renewable)
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
	if f.dir.closed {
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

func (c Config) withoutSecrets() Config {
	c.Credential = secret.Credential{}
	return c
}
