// Package kubeconfig reads one context of a kubeconfig into the fields that a
// registration may have. It runs nothing, and opens no file by itself.
//
// The server and the command line read by this one vocabulary. They treat a field that
// cannot be registered differently: see [FieldRules].
package kubeconfig

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// FieldKind is a group of fields that cannot be registered for the same reason.
type FieldKind int

// The kinds of fields that cannot be registered.
const (
	// Command makes a client run a program.
	Command FieldKind = iota
	// TokenFile names a file whose token is replaced from time to time.
	TokenFile
	// NamedFile names a file with a certificate or a key.
	NamedFile
	// Login is a user name or a password.
	Login
	// Impersonation makes the user act as another.
	Impersonation
	// Proxy is the proxy that a client connects through.
	Proxy
	// Unused says nothing about where to connect or as whom.
	Unused
)

// FieldRules are a reader's rules for fields that cannot be registered.
type FieldRules struct {
	// Refusals say what is wrong with a kind of field, and what to do about it. Kinds
	// without one are ignored.
	Refusals map[FieldKind]string
	// Unverified is the refusal of a context that turns verification of the server
	// off; empty allows it.
	Unverified string
	// File, if not nil, returns the value for a field (like "client-key-data") from the
	// file that the node names, and refuses NamedFile itself. An inline value wins over
	// a file, as in kubectl.
	File func(n *yaml.Node, at, name, field string) string
}

// Context is one context of a kubeconfig with its cluster and user.
type Context struct {
	// At, Cluster and User are where the parts stand, for errors.
	At, Cluster, User string

	Namespace, Server, ServerName string
	// CA and Certificate are PEM, as Key is.
	CA, Certificate string
	Token, Key      secret.Text
}

// Kubeconfig is a kubeconfig, of which no context was chosen yet.
type Kubeconfig struct {
	// Current is the current context's name; it may be empty, or not exist.
	Current string

	document                  *strictyaml.Document
	contexts, clusters, users map[string]entry
}

// entry is an item of one of the named lists.
type entry struct {
	node *yaml.Node
	at   string
}

// Read reads a kubeconfig's frame; the contexts, clusters and users are not looked
// into. If there are faults they are in d, and the answer is nil.
func Read(d *strictyaml.Document, text []byte, rules FieldRules) *Kubeconfig {
	root := d.Parse(text)
	if root == nil {
		return nil
	}
	f := &Kubeconfig{document: d}
	d.Mapping(root, d.Root, strictyaml.Fields{
		"apiVersion":      literal(d, "v1"),
		"kind":            literal(d, "Config"),
		"preferences":     rules.refuse(d, Unused),
		"extensions":      rules.refuse(d, Unused),
		"current-context": d.Text(&f.Current),
		"contexts":        f.named(&f.contexts, "context", rules),
		"clusters":        f.named(&f.clusters, "cluster", rules),
		"users":           f.named(&f.users, "user", rules),
	})
	if len(d.Faults) > 0 {
		return nil
	}
	return f
}

// Contexts are the names of all contexts, sorted.
func (f *Kubeconfig) Contexts() []string { return slices.Sorted(maps.Keys(f.contexts)) }

// Context reads the context of that name, which must exist. Faults are in the document.
func (f *Kubeconfig) Context(name string, rules FieldRules) Context {
	d, chosen := f.document, f.contexts[name]
	c := Context{At: chosen.at}
	var cluster, user string
	d.Mapping(chosen.node, chosen.at, strictyaml.Fields{
		"cluster":    d.Text(&cluster),
		"user":       d.Text(&user),
		"namespace":  d.Text(&c.Namespace),
		"extensions": rules.refuse(d, Unused),
	})
	k := reader{Document: d, rules: rules}
	c.Cluster = k.read(f.clusters, cluster, c.At+".cluster", k.cluster(&c))
	c.User = k.read(f.users, user, c.At+".user", k.user(&c))
	return c
}

// reader reads a cluster or a user.
type reader struct {
	*strictyaml.Document
	rules FieldRules
	// files are those that the entry names.
	files []func()
}

// read reads the entry of that name, which the context names at a path, and returns
// where it stands.
func (k *reader) read(from map[string]entry, name, by string, fields strictyaml.Fields) string {
	found, ok := from[name]
	if !ok {
		k.Fault(nil, by, "is a name that the kubeconfig does not have")
		return ""
	}
	k.Mapping(found.node, found.at, fields)
	for _, take := range k.files {
		take()
	}
	k.files = nil
	return found.at
}

func (k *reader) cluster(c *Context) strictyaml.Fields {
	return strictyaml.Fields{
		"server":                     k.Text(&c.Server),
		"tls-server-name":            k.Text(&c.ServerName),
		"certificate-authority-data": k.data(&c.CA),
		"certificate-authority":      k.file("certificate-authority-data", func() bool { return c.CA == "" }, func(s string) { c.CA = s }),
		"insecure-skip-tls-verify":   k.verification,
		"disable-compression":        k.Flag(new(bool)),
		"extensions":                 k.rules.refuse(k.Document, Unused),
		"proxy-url":                  k.rules.refuse(k.Document, Proxy),
	}
}

func (k *reader) user(c *Context) strictyaml.Fields {
	fields := strictyaml.Fields{
		"token":                   k.Secret(&c.Token),
		"client-certificate-data": k.data(&c.Certificate),
		"client-certificate": k.file("client-certificate-data", func() bool { return c.Certificate == "" },
			func(s string) { c.Certificate = s }),
		"client-key-data": k.key(&c.Key),
		"client-key":      k.file("client-key-data", func() bool { return c.Key.Empty() }, func(s string) { c.Key = secret.NewText(s) }),
	}
	for kind, keys := range map[FieldKind][]string{
		Command:       {"exec", "auth-provider"},
		TokenFile:     {"tokenFile"},
		Login:         {"username", "password"},
		Impersonation: {"as", "as-uid", "as-groups", "as-user-extra"},
		Unused:        {"extensions"},
	} {
		for _, key := range keys {
			fields[key] = k.rules.refuse(k.Document, kind)
		}
	}
	return fields
}

// file reads the name of a file, whose content belongs under a field.
func (k *reader) file(field string, missing func() bool, set func(string)) strictyaml.ReadValue {
	if k.rules.File == nil {
		return k.rules.refuse(k.Document, NamedFile)
	}
	return func(n *yaml.Node, at string) {
		var name string
		if k.Text(&name)(n, at); name == "" {
			return
		}
		k.files = append(k.files, func() {
			if missing() {
				set(k.rules.File(n, at, name, field))
			}
		})
	}
}

// data reads base64.
func (k *reader) data(to *string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		var encoded string
		k.Text(&encoded)(n, at)
		plain, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || strings.ContainsAny(encoded, "\r\n") { // the decoder skips line breaks
			k.Fault(n, at, "must be base64 in one line")
			return
		}
		*to = string(plain)
	}
}

func (k *reader) key(to *secret.Text) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		var s string
		if k.data(&s)(n, at); s != "" {
			*to = secret.NewText(s)
		}
	}
}

func (k *reader) verification(n *yaml.Node, at string) {
	var off bool
	if k.Flag(&off)(n, at); off && k.rules.Unverified != "" {
		k.Fault(n, at, "%s", k.rules.Unverified)
	}
}

// refuse refuses a kind of field if there is a reason; an empty value is none.
func (r FieldRules) refuse(d *strictyaml.Document, kind FieldKind) strictyaml.ReadValue {
	why := r.Refusals[kind]
	return func(n *yaml.Node, at string) {
		empty := n.Kind == yaml.ScalarNode && n.Value == "" || kind == Unused && n.Kind == yaml.MappingNode && len(n.Content) == 0
		if why != "" && !empty {
			d.Fault(n, at, "%s", why)
		}
	}
}

func literal(d *strictyaml.Document, want string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		if s, ok := d.Scalar(n, at, want, "!!str"); ok && s != want {
			d.Fault(n, at, "must be %s", want)
		}
	}
}

// named reads a list of {name, inner} entries. A name that stands twice is a fault:
// which of the two counts differs from reader to reader.
func (f *Kubeconfig) named(into *map[string]entry, inner string, rules FieldRules) strictyaml.ReadValue {
	d := f.document
	return func(n *yaml.Node, at string) {
		*into = make(map[string]entry)
		if strictyaml.IsNull(n) {
			return
		}
		d.List(n, at, func(item *yaml.Node, path string) {
			var name string
			var found entry
			d.Mapping(item, path, strictyaml.Fields{
				"name":       d.Text(&name),
				"extensions": rules.refuse(d, Unused),
				inner:        func(n *yaml.Node, at string) { found = entry{n, at} },
			})
			switch _, taken := (*into)[name]; {
			case name == "" || found.node == nil:
				d.Fault(item, path, "must have a name and a %s", inner)
			case taken:
				d.Fault(item, path+".name", "another entry has the same name; keep one")
			default:
				(*into)[name] = found
			}
		})
	}
}
