package files

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// localKubeconfig is one context of a person's own kubeconfig, ready to be sent:
// rebuilt from the fields that a registration may have, with the files that it
// names read in. The server refuses kubeconfigs that name files, because it
// would read its own; this process reads as the person, whose files they are.
// It runs nothing: an exec plugin or auth provider is a fault.
type localKubeconfig struct {
	// Context is the chosen one.
	Context string
	// Inlined are the files that were read besides the kubeconfig itself.
	Inlined []string
	Text    secret.Text
}

// kubeEntry is an item of a kubeconfig's named lists.
type kubeEntry struct {
	node *yaml.Node
	at   string
}

// ReadKubeconfig reads a kubeconfig and picks a context, the current one for an
// empty name. insecure: the person says not to verify the server, so the kubeconfig may
// say it too; the registration carries it.
func ReadKubeconfig(name, context string, insecure bool, text []byte) (localKubeconfig, error) {
	d := &Document{Name: name}
	root := d.Parse(text)
	if root == nil {
		return localKubeconfig{}, d.Err()
	}
	var current string
	contexts, clusters, users := make(map[string]kubeEntry), make(map[string]kubeEntry), make(map[string]kubeEntry)
	d.Mapping(root, "", Fields{
		"apiVersion":      d.Text(new(string)),
		"kind":            d.Text(new(string)),
		"preferences":     ignore,
		"extensions":      ignore,
		"current-context": d.Text(&current),
		"contexts":        d.named(contexts, "context"),
		"clusters":        d.named(clusters, "cluster"),
		"users":           d.named(users, "user"),
	})
	if context == "" {
		context = current
	}
	if len(d.Faults) == 0 && context == "" {
		d.Fault(nil, "current-context", "is not set; choose with --context (there are: %s)", strings.Join(slices.Sorted(maps.Keys(contexts)), ", "))
	}
	if len(d.Faults) > 0 {
		return localKubeconfig{}, d.Err()
	}
	return d.inline(&kubeInliner{Document: d, insecure: insecure}, context, contexts, clusters, users)
}

// inline rebuilds the one context with everything it needs.
func (d *Document) inline(k *kubeInliner, context string, contexts, clusters, users map[string]kubeEntry) (localKubeconfig, error) {
	chosen, ok := contexts[context]
	if !ok {
		d.Fault(nil, "contexts", "there is no context of that name; there are: %s", strings.Join(slices.Sorted(maps.Keys(contexts)), ", "))
		return localKubeconfig{}, d.Err()
	}
	var cluster, user, namespace string
	d.Mapping(chosen.node, chosen.at, Fields{
		"cluster":    d.Text(&cluster),
		"user":       d.Text(&user),
		"namespace":  d.Text(&namespace),
		"extensions": ignore,
	})
	clusterOut := k.rebuild(clusters, cluster, "clusters", k.clusterFields)
	userOut := k.rebuild(users, user, "users", k.userFields)
	if err := d.Err(); err != nil {
		return localKubeconfig{}, err
	}
	contextOut := map[string]string{"cluster": "vim", "user": "vim"}
	if namespace != "" {
		contextOut["namespace"] = namespace
	}
	rebuilt, err := yaml.Marshal(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": "vim",
		"clusters":        []any{map[string]any{"name": "vim", "cluster": clusterOut}},
		"users":           []any{map[string]any{"name": "vim", "user": userOut}},
		"contexts":        []any{map[string]any{"name": "vim", "context": contextOut}},
	})
	if err != nil {
		return localKubeconfig{}, fmt.Errorf("rebuilding %s: %w", d.Name, err)
	}
	return localKubeconfig{Context: context, Inlined: k.inlined, Text: secret.NewText(string(rebuilt))}, nil
}

// kubeInliner gathers the fields of one cluster or user.
type kubeInliner struct {
	*Document
	insecure bool
	inlined  []string
	// files are those of the entry at hand, by the key that their content goes under.
	files map[string]kubeFile
}

// kubeFile is a file that a kubeconfig names.
type kubeFile struct {
	name string
	kubeEntry
}

func (k *kubeInliner) clusterFields(out map[string]string) Fields {
	return Fields{
		"server":                     k.keep(out, "server"),
		"tls-server-name":            k.keep(out, "tls-server-name"),
		"certificate-authority-data": k.keep(out, "certificate-authority-data"),
		"certificate-authority":      k.file("certificate-authority-data"),
		"insecure-skip-tls-verify":   k.refuseUnverified,
		"disable-compression":        ignore,
		"extensions":                 ignore,
		"proxy-url":                  k.refuse("the broker connects without a proxy; register the cluster's own address"),
	}
}

func (k *kubeInliner) userFields(out map[string]string) Fields {
	const ownToken = "it is not sent and nothing is run; make a service account for the broker and register with --endpoint URL --bearer-token-file FILE"
	return Fields{
		"token":                   k.keep(out, "token"),
		"client-certificate-data": k.keep(out, "client-certificate-data"),
		"client-certificate":      k.file("client-certificate-data"),
		"client-key-data":         k.keep(out, "client-key-data"),
		"client-key":              k.file("client-key-data"),
		"extensions":              ignore,
		"exec":                    k.refuse(ownToken),
		"auth-provider":           k.refuse(ownToken),
		"tokenFile":               k.refuse("such tokens are replaced behind the broker's back; " + ownToken),
		"username":                k.refuse("register with --endpoint URL --username NAME --password-file FILE"),
		"password":                k.refuse("register with --endpoint URL --username NAME --password-file FILE"),
		"as":                      k.refuse("the broker never acts as another; register a credential of its own"),
		"as-uid":                  k.refuse("the broker never acts as another; register a credential of its own"),
		"as-groups":               k.refuse("the broker never acts as another; register a credential of its own"),
		"as-user-extra":           k.refuse("the broker never acts as another; register a credential of its own"),
	}
}

// rebuild reads the one entry of that name into fields that may be sent. What
// stands inline wins over a file, as it does for kubectl.
func (k *kubeInliner) rebuild(from map[string]kubeEntry, name, list string, vocabulary func(map[string]string) Fields) map[string]string {
	out := make(map[string]string)
	entry, ok := from[name]
	if !ok {
		k.Fault(nil, list, "there is no entry %q, which the context names", Printable(name))
		return out
	}
	k.files = make(map[string]kubeFile)
	k.Mapping(entry.node, entry.at, vocabulary(out))
	for _, key := range slices.Sorted(maps.Keys(k.files)) {
		if out[key] == "" {
			k.read(k.files[key], key, out)
		}
	}
	return out
}

// keep copies a string under its own key.
func (k *kubeInliner) keep(out map[string]string, key string) reader {
	return func(n *yaml.Node, at string) {
		var s string
		k.Text(&s)(n, at)
		if s != "" {
			out[key] = s
		}
	}
}

// file notes the file that a value names, for the key that holds its content.
func (k *kubeInliner) file(key string) reader {
	return func(n *yaml.Node, at string) {
		var name string
		k.Text(&name)(n, at)
		if name != "" {
			k.files[key] = kubeFile{name, kubeEntry{n, at}}
		}
	}
}

// inPEM is what a file must hold to be sent under a key.
var inPEM = map[string]string{
	"certificate-authority-data": "certificate",
	"client-certificate-data":    "certificate",
	"client-key-data":            "private key",
}

// pemBlocks keeps the certificates of a file, or its private keys. A file may hold
// both, and only what belongs to the field is sent.
func pemBlocks(content []byte, keys bool) []byte {
	var kept []byte
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if keys && strings.HasSuffix(block.Type, "PRIVATE KEY") || !keys && block.Type == "CERTIFICATE" {
			kept = append(kept, pem.EncodeToMemory(block)...)
		}
	}
	return kept
}

// read inlines a file; its name is relative to the kubeconfig.
func (k *kubeInliner) read(f kubeFile, key string, out map[string]string) {
	name := f.name
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(k.Name), name)
	}
	content, err := ReadNamed(name)
	if err != nil {
		k.Fault(f.node, f.at, "%v", err)
		return
	}
	kept := pemBlocks(content, key == "client-key-data")
	clear(content)
	if len(kept) == 0 {
		k.Fault(f.node, f.at, "%s holds no %s in PEM, so it is not sent; name the right file", name, inPEM[key])
		return
	}
	k.inlined = append(k.inlined, name)
	out[key] = base64.StdEncoding.EncodeToString(kept)
}

// refuse notes a field that no registration may have; an empty one is none.
func (k *kubeInliner) refuse(why string) reader {
	return func(n *yaml.Node, at string) {
		if empty := n.Kind == yaml.ScalarNode && n.Value == ""; !empty {
			k.Fault(n, at, "%s", why)
		}
	}
}

// refuseUnverified refuses a file that turns verification off, unless the person asked for that.
func (k *kubeInliner) refuseUnverified(n *yaml.Node, at string) {
	var on bool
	k.Flag(&on)(n, at)
	if on && !k.insecure {
		k.Fault(n, at, "the server would not be verified; add --insecure-skip-verify if you mean it, or give the cluster a certificate-authority")
	}
}

// ignore reads nothing: the field says nothing about where to connect or as whom.
func ignore(*yaml.Node, string) {}

// named reads a list of {name, inner} entries. A name that stands twice is a
// fault: which of the two counts differs from reader to reader.
func (d *Document) named(into map[string]kubeEntry, inner string) reader {
	return func(n *yaml.Node, at string) {
		if n.ShortTag() == "!!null" {
			return
		}
		d.List(n, at, func(item *yaml.Node, path string) {
			var name string
			var entry kubeEntry
			d.Mapping(item, path, Fields{
				"name":       d.Text(&name),
				"extensions": ignore,
				inner:        func(n *yaml.Node, at string) { entry = kubeEntry{n, at} },
			})
			switch _, taken := into[name]; {
			case entry.node == nil:
				d.Fault(item, path, "must have a name and a %s", inner)
			case taken:
				d.Fault(item, path, "another entry has the same name; keep one")
			default:
				into[name] = entry
			}
		})
	}
}
