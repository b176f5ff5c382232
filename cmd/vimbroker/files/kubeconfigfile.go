package files

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/kubeconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// localKubeconfig is one context of a person's own kubeconfig, ready to be sent:
// rebuilt from the fields that a registration may have, with the files that it
// names read in. The server refuses kubeconfigs that name files, because it
// would read its own; this process reads as the person, whose files they are.
// It runs nothing: an exec plugin or auth provider is a fault.
type localKubeconfig struct {
	// Context is the chosen one.
	Context string
	// Inlined are the files that were read in addition to the kubeconfig itself.
	Inlined []string
	Text    secret.Text
}

const (
	ownToken = "it is not sent and nothing is run; make a service account for the broker and register with --endpoint URL " +
		"--bearer-token-file FILE"
	unsafe = "the server would not be verified; add --insecure-skip-verify if you mean it, or give the cluster a certificate-authority"
)

// refusals are why fields of a kubeconfig are not sent.
var refusals = map[kubeconfig.FieldKind]string{
	kubeconfig.Command:       ownToken,
	kubeconfig.TokenFile:     "such tokens are replaced behind the broker's back; " + ownToken,
	kubeconfig.Login:         "register with --endpoint URL --username NAME --password-file FILE",
	kubeconfig.Impersonation: "the broker never acts as another; register a credential of its own",
	kubeconfig.Proxy:         "the broker connects without a proxy; register the cluster's own address",
}

// ReadKubeconfig reads a kubeconfig and picks a context, the current one for an
// empty name. insecure: the person says not to verify the server, so the kubeconfig may
// say it too; the registration carries it.
func ReadKubeconfig(name, context string, insecure bool, text []byte) (localKubeconfig, error) {
	d := &strictyaml.Document{Name: name}
	k := &kubeInliner{Document: d}
	rules := kubeconfig.FieldRules{Refusals: refusals, Unverified: unsafe, File: k.read}
	if insecure {
		rules.Unverified = ""
	}
	f := kubeconfig.Read(d, text, rules)
	if f == nil {
		return localKubeconfig{}, d.Err()
	}
	all := f.Contexts()
	if context == "" {
		context = f.Current
	}
	switch {
	case context == "":
		d.Fault(nil, "current-context", "is not set; choose with --context (there are: %s)", strings.Join(all, ", "))
		return localKubeconfig{}, d.Err()
	case !slices.Contains(all, context):
		d.Fault(nil, "contexts", "there is no context of that name; there are: %s", strings.Join(all, ", "))
		return localKubeconfig{}, d.Err()
	}
	chosen := f.Context(context, rules)
	if err := d.Err(); err != nil {
		return localKubeconfig{}, err
	}
	rebuilt, err := rebuild(chosen)
	if err != nil {
		return localKubeconfig{}, fmt.Errorf("rebuilding %s: %w", name, err)
	}
	return localKubeconfig{Context: context, Inlined: k.inlined, Text: rebuilt}, nil
}

// rebuild writes a kubeconfig with one context, whose parts are all called "vim".
func rebuild(c kubeconfig.Context) (secret.Text, error) {
	fields := func(pairs ...string) map[string]string {
		out := make(map[string]string)
		for pair := range slices.Chunk(pairs, 2) {
			if pair[1] != "" {
				out[pair[0]] = pair[1]
			}
		}
		return out
	}
	data := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	text, err := yaml.Marshal(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": "vim",
		"clusters": []any{map[string]any{"name": "vim", "cluster": fields(
			"server", c.Server, "tls-server-name", c.ServerName, "certificate-authority-data", data(c.CA))}},
		"users": []any{map[string]any{"name": "vim", "user": fields(
			"token", c.Token.Reveal(), "client-certificate-data", data(c.Certificate), "client-key-data", data(c.Key.Reveal()))}},
		"contexts": []any{map[string]any{"name": "vim", "context": fields("cluster", "vim", "user", "vim", "namespace", c.Namespace)}},
	})
	return secret.NewText(string(text)), err
}

// kubeInliner reads the files that a kubeconfig names.
type kubeInliner struct {
	*strictyaml.Document
	inlined []string
}

// inPEM is the PEM type that a file must hold to be sent under a field.
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

// read returns what belongs under a field of a file, whose name is relative to the
// kubeconfig.
func (k *kubeInliner) read(n *yaml.Node, at, name, field string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(k.Name), name)
	}
	content, err := ReadNamed(name)
	if err != nil {
		k.Fault(n, at, "%v", err)
		return ""
	}
	kept := pemBlocks(content, field == "client-key-data")
	clear(content)
	if len(kept) == 0 {
		k.Fault(n, at, "%s holds no %s in PEM, so it is not sent; name the right file", name, inPEM[field])
		return ""
	}
	k.inlined = append(k.inlined, name)
	return string(kept)
}
