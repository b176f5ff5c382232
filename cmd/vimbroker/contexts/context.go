// Package contexts keeps how a person reaches servers: contexts, each with a server, a way to a token, and a
// project. Files are merged as kubeconfigs are; logins lie beside the first one, for their owner alone.
package contexts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The variables that name files of contexts, and the context.
const (
	EnvConfig  = "VIMBROKER_CONFIG"
	EnvContext = "VIMBROKER_CONTEXT"
)

// Context is one server, and how a token for it is had.
type Context struct {
	Name   string `yaml:"name" json:"name"`
	Server string `yaml:"server" json:"server"`
	// CAFile holds the authorities of the server's certificate; empty means the system's.
	CAFile string `yaml:"caFile,omitempty" json:"caFile,omitempty"`
	// Project is the one that commands with --project mean without it.
	Project string `yaml:"project,omitempty" json:"project,omitempty"`
	// TokenFile holds a static token.
	TokenFile string `yaml:"tokenFile,omitempty" json:"tokenFile,omitempty"`
	// From is where the platform puts a token: github, gitlab, kubernetes or file:PATH.
	From string `yaml:"from,omitempty" json:"from,omitempty"`
	// Audience is the one that tokens are for.
	Audience string `yaml:"audience,omitempty" json:"audience,omitempty"`
	// Issuer, ClientID and Scopes are those of a person's login.
	Issuer   string   `yaml:"issuer,omitempty" json:"issuer,omitempty"`
	ClientID string   `yaml:"clientID,omitempty" json:"clientID,omitempty"`
	Scopes   []string `yaml:"scopes,omitempty" json:"scopes,omitempty"`

	file string // that it is kept in
}

// file is the content of one file.
type file struct {
	Current  string    `yaml:"current,omitempty"`
	Contexts []Context `yaml:"contexts"`
}

// Merged are the contexts of all files. Of two with one name the first counts, as the first current one does.
type Merged struct {
	Current  string
	Contexts []Context

	files []string
}

// Files are where contexts are kept, by the environment; the first takes new ones.
func Files(get func(string) string) []string {
	if names := filepath.SplitList(get(EnvConfig)); len(names) > 0 {
		return names
	}
	dir := get("XDG_CONFIG_HOME")
	if dir == "" {
		if get("HOME") == "" {
			return nil
		}
		dir = filepath.Join(get("HOME"), ".config")
	}
	return []string{filepath.Join(dir, "vimbroker", "contexts.yaml")}
}

// Load reads all files. One that is not there is empty.
func Load(get func(string) string) (Merged, error) {
	s := Merged{files: Files(get)}
	for _, name := range s.files {
		f, err := read(name)
		if err != nil {
			return s, err
		}
		if s.Current == "" {
			s.Current = f.Current
		}
		for _, c := range f.Contexts {
			if _, there := s.Find(c.Name); !there {
				c.file = name
				s.Contexts = append(s.Contexts, c)
			}
		}
	}
	if name := get(EnvContext); name != "" {
		if _, there := s.Find(name); !there {
			return s, fmt.Errorf("%s names the context %q, which is in none of %s", EnvContext, name, strings.Join(s.files, ", "))
		}
		s.Current = name
	}
	return s, nil
}

func read(name string) (f file, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("reading contexts: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && len(bytes.TrimSpace(text)) > 0 {
		return f, fmt.Errorf("reading contexts: %s is not in their form: %w", name, err)
	}
	return f, nil
}

// Find returns the context of a name.
func (s Merged) Find(name string) (Context, bool) {
	at := slices.IndexFunc(s.Contexts, func(c Context) bool { return c.Name == name })
	if at < 0 {
		return Context{}, false
	}
	return s.Contexts[at], true
}

// Now returns the current context, if there is one.
func (s Merged) Now() (Context, bool) {
	if s.Current == "" {
		return Context{}, false
	}
	return s.Find(s.Current)
}

// change alters one file, and no other process alters it meanwhile.
func change(name string, alter func(*file)) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keeping contexts: %w", err)
	}
	unlock, err := lock(name)
	if err != nil {
		return fmt.Errorf("keeping contexts: %w", err)
	}
	defer unlock()
	f, err := read(name)
	if err != nil {
		return err
	}
	alter(&f)
	text, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("keeping contexts: %w", err)
	}
	return replace(name, text)
}

// home is the file that a context is kept in, or the first.
func (s Merged) home(name string) (string, error) {
	if c, there := s.Find(name); there {
		return c.file, nil
	}
	if len(s.files) == 0 {
		return "", errors.New("contexts cannot be kept: neither " + EnvConfig + " nor HOME is set")
	}
	return s.files[0], nil
}

// Put keeps a context in place of one with its name, and makes it the current one.
func (s Merged) Put(c Context) error {
	name, err := s.home(c.Name)
	if err != nil {
		return err
	}
	err = change(name, func(f *file) {
		f.Contexts = append(slices.DeleteFunc(f.Contexts, func(old Context) bool { return old.Name == c.Name }), c)
	})
	if err != nil {
		return err
	}
	return s.Use(c.Name)
}

// Use makes a context the current one.
func (s Merged) Use(name string) error {
	if len(s.files) == 0 {
		return errors.New("contexts cannot be kept: neither " + EnvConfig + " nor HOME is set")
	}
	return change(s.files[0], func(f *file) { f.Current = name })
}

// Remove removes a context, and its login.
func (s Merged) Remove(name string) error {
	c, there := s.Find(name)
	if !there {
		return fmt.Errorf("there is no context %q", name)
	}
	if err := s.Forget(c); err != nil {
		return err
	}
	if s.Current == name {
		if err := s.Use(""); err != nil {
			return err
		}
	}
	return change(c.file, func(f *file) {
		f.Contexts = slices.DeleteFunc(f.Contexts, func(old Context) bool { return old.Name == name })
	})
}

// replace writes a file that only its owner reads, whole or not at all.
func replace(name string, text []byte) error {
	next, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // for its owner alone
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		_ = os.Remove(next.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// loginFile is where the login of a context lies.
func (s Merged) loginFile(c Context) (string, error) {
	if strings.ContainsAny(c.Name, "/\\\x00") || strings.HasPrefix(c.Name, ".") || c.Name == "" {
		return "", fmt.Errorf("%q cannot be the name of a context: a file is named so", c.Name)
	}
	home := c.file
	if home == "" && len(s.files) > 0 {
		home = s.files[0]
	}
	return filepath.Join(filepath.Dir(home), "logins", c.Name+".json"), nil
}

// Forget removes the login of a context.
func (s Merged) Forget(c Context) error {
	name, err := s.loginFile(c)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting a login: %w", err)
	}
	return nil
}

// WithLogin reads the login of a context into login, and keeps what do makes of it; no other process does so
// meanwhile. Without a change nothing is written.
func WithLogin[T any](s Merged, c Context, do func(login *T) (changed bool, err error)) error {
	name, err := s.loginFile(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keeping a login: %w", err)
	}
	unlock, err := lock(name)
	if err != nil {
		return fmt.Errorf("keeping a login: %w", err)
	}
	defer unlock()
	var login T
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &login)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the login in %s cannot be read; log in again", name)
	}
	changed, err := do(&login)
	if changed {
		if text, err := json.Marshal(login); err != nil {
			return fmt.Errorf("keeping a login: %w", err)
		} else if err := replace(name, text); err != nil {
			return err
		}
	}
	return err
}
