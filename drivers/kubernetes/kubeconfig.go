package kubernetes

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/kubeconfig"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// maxKubeconfig bounds a kubeconfig, in bytes.
const maxKubeconfig = 256 << 10

// Why keys that the format knows are refused. A kubeconfig from outside is
// hostile: these run commands here, send our files there, or turn verification off.
const (
	readsFile  = "names a file of the machine it was made on: put the data in its place (kubectl config view --raw --flatten)"
	unverified = "is refused: a kubeconfig alone cannot turn off the verification of the server; remove it, or set insecureSkipVerify " +
		"beside the kubeconfig too"
)

var refusals = map[kubeconfig.FieldKind]string{
	kubeconfig.Command:       "would run a command: register a token or client certificate instead",
	kubeconfig.TokenFile:     readsFile,
	kubeconfig.NamedFile:     readsFile,
	kubeconfig.Login:         "is accepted only outside a kubeconfig, as user name and password",
	kubeconfig.Impersonation: "impersonates another, which is not supported: register the credential of that identity itself",
	kubeconfig.Proxy:         "is not supported: the broker connects without a proxy",
	kubeconfig.Unused:        "is not used: remove it",
}

// parseKubeconfig reads the context of that name, or the current one. It refuses
// unknown fields, at the top of the file and in the selected context, cluster and
// user; it does not read the others.
func parseKubeconfig(document, context string, insecure bool) (c kubeconfig.Context, err error) {
	if len(document) > maxKubeconfig {
		return c, broker.Invalid("kubeconfig", "is longer than %d bytes", maxKubeconfig)
	}
	rules := kubeconfig.FieldRules{Refusals: refusals, Unverified: unverified}
	if insecure {
		rules.Unverified = ""
	}
	d := &strictyaml.Document{Root: "kubeconfig", Foreign: true}
	f := kubeconfig.Read(d, []byte(document), rules)
	if f == nil {
		return c, rebuild.Fault(d)
	}
	missing := "context"
	if context == "" {
		context, missing = f.Current, "kubeconfig.current-context"
	}
	switch {
	case context == "":
		return c, broker.Invalid("context", "is required, as the kubeconfig has no current-context")
	case !slices.Contains(f.Contexts(), context):
		return c, broker.Invalid(missing, "names a context that the kubeconfig does not have")
	}
	c = f.Context(context, rules)
	return c, rebuild.Fault(d)
}
