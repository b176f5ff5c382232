package kubernetes

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
)

// maxKubeconfig bounds a kubeconfig, in bytes.
const maxKubeconfig = 256 << 10

// kubeconfig is all that is taken from one: the fields of the one context that
// was selected, and where each part stood.
type kubeconfig struct {
	// unverified: the registration itself says not to verify the server.
	unverified              bool
	context, cluster, user  string // paths, for errors
	server, ca, serverName  string
	token, certificate, key string
	namespace               string
}

// parseKubeconfig reads the context of that name, or the current one, out of a
// kubeconfig into an allow-list of fields. It opens no file and runs nothing.
// What it does not know is refused, in the whole file's frame and in the context,
// cluster and user that are selected; the others are not looked into.
func parseKubeconfig(document, context string, unverified bool) (*kubeconfig, error) {
	if len(document) > maxKubeconfig {
		return nil, broker.Invalid("kubeconfig", "is longer than %d bytes", maxKubeconfig)
	}
	root, err := rebuild.Document("kubeconfig", document)
	if err != nil {
		return nil, err
	}
	f := frame{}
	if err := f.read(root); err != nil {
		return nil, err
	}
	missing := "context"
	if context == "" {
		context, missing = f.current, "kubeconfig.current-context"
	}
	if context == "" {
		return nil, broker.Invalid("context", "is required, as the kubeconfig has no current-context")
	}
	k := &kubeconfig{unverified: unverified}
	return k, k.resolve(&f, context, missing)
}

// frame is a kubeconfig's outer structure.
type frame struct {
	current                   string
	clusters, users, contexts entries
}

// entries are the named parts of one of the three lists.
type entries map[string]entry

type entry struct {
	path string
	body *yaml.Node
}

func (f *frame) read(root *yaml.Node) error {
	return rebuild.Members("kubeconfig", root, func(key, path string, v *yaml.Node) (err error) {
		switch key {
		case "apiVersion":
			return literal(path, v, "v1")
		case "kind":
			return literal(path, v, "Config")
		case "preferences":
			if !rebuild.IsNull(v) && (v.Kind != yaml.MappingNode || len(v.Content) > 0) {
				return broker.Invalid(path, notUsed)
			}
		case "current-context":
			f.current, err = rebuild.Text(path, v)
		case "clusters":
			f.clusters, err = named(path, "cluster", v)
		case "users":
			f.users, err = named(path, "user", v)
		case "contexts":
			f.contexts, err = named(path, "context", v)
		default:
			return refuse(path, refusedAtTop[key])
		}
		return err
	})
}

// named reads a list of {name: …, <kind>: {…}}, in which no name comes twice.
func named(path, kind string, list *yaml.Node) (entries, error) {
	if rebuild.IsNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, broker.Invalid(path, "is not a list")
	}
	all := make(entries, len(list.Content))
	for i, item := range list.Content {
		var (
			at   = fmt.Sprintf("%s[%d]", path, i)
			name string
			body *yaml.Node
		)
		err := rebuild.Members(at, item, func(key, path string, v *yaml.Node) (err error) {
			switch key {
			case "name":
				name, err = rebuild.Text(path, v)
			case kind:
				body = v
			default:
				return rebuild.ErrUnknown
			}
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case name == "" || body == nil:
			return nil, broker.Invalid(at, "needs a name and a %s", kind)
		case all[name].body != nil:
			return nil, broker.Invalid(at+".name", "is the name of an earlier %s too", kind)
		}
		all[name] = entry{path: at + "." + kind, body: body}
	}
	return all, nil
}

// resolve follows the context to its cluster and user; missing is the field that named it.
func (k *kubeconfig) resolve(f *frame, context, missing string) error {
	selected, ok := f.contexts[context]
	if !ok {
		return broker.Invalid(missing, "names a context that the kubeconfig does not have")
	}
	k.context = selected.path
	var cluster, user string
	err := rebuild.Members(k.context, selected.body, func(key, path string, v *yaml.Node) (err error) {
		switch key {
		case "cluster":
			cluster, err = rebuild.Text(path, v)
		case "user":
			user, err = rebuild.Text(path, v)
		case "namespace":
			k.namespace, err = rebuild.Text(path, v)
		default:
			return refuse(path, refusedInContext[key])
		}
		return err
	})
	if err != nil {
		return err
	}
	c, ok := f.clusters[cluster]
	if !ok {
		return broker.Invalid(k.context+".cluster", "names a cluster that the kubeconfig does not have")
	}
	u, ok := f.users[user]
	if !ok {
		return broker.Invalid(k.context+".user", "names a user that the kubeconfig does not have")
	}
	k.cluster, k.user = c.path, u.path
	if err := rebuild.Members(k.cluster, c.body, k.readCluster); err != nil {
		return err
	}
	return rebuild.Members(k.user, u.body, k.readUser)
}

func (k *kubeconfig) readCluster(key, path string, v *yaml.Node) (err error) {
	switch key {
	case "server":
		k.server, err = rebuild.Text(path, v)
	case "certificate-authority-data":
		k.ca, err = data(path, v)
	case "tls-server-name":
		if k.serverName, err = rebuild.Text(path, v); err == nil {
			k.serverName = strings.ToLower(k.serverName)
		}
	case "insecure-skip-tls-verify":
		if v.Kind != yaml.ScalarNode || v.Value != "false" && (v.Value != "true" || !k.unverified) {
			return refuse(path, "a kubeconfig alone cannot turn off the verification of the server; remove it, or set insecureSkipVerify beside the kubeconfig too")
		}
	case "disable-compression":
		if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!bool" {
			return broker.Invalid(path, "is not true or false")
		}
	default:
		return refuse(path, refusedInCluster[key])
	}
	return err
}

func (k *kubeconfig) readUser(key, path string, v *yaml.Node) (err error) {
	switch key {
	case "token":
		k.token, err = rebuild.Text(path, v)
	case "client-certificate-data":
		k.certificate, err = data(path, v)
	case "client-key-data":
		k.key, err = data(path, v)
	default:
		return refuse(path, refusedInUser[key])
	}
	return err
}

// data decodes a field that holds base64.
func data(path string, n *yaml.Node) (string, error) {
	encoded, err := rebuild.Text(path, n)
	if err != nil {
		return "", err
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // the decoder skips line breaks
		return "", broker.Invalid(path, "is not base64 in one line")
	}
	return string(plain), nil
}

func literal(path string, n *yaml.Node, want string) error {
	if n.Kind != yaml.ScalarNode || n.Value != want {
		return broker.Invalid(path, "is not %q", want)
	}
	return nil
}
