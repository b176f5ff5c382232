package clientconfig

import (
	"fmt"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// environment gives lines for a POSIX shell to evaluate, with the variables that
// Terraform's kubernetes provider (KUBE_) and Helm (HELM_) read. kubectl reads no
// such variables: for it there are kubeconfigs. Helm can be told a CA
// only as a file, and no client certificate or password.
func (k Cluster) environment(c Config) (secret.Text, error) {
	return c.exports("", []variable{
		{"KUBE_HOST", c.Endpoint},
		{"KUBE_CLUSTER_CA_CERT_DATA", c.verified(c.CACert)},
		{"KUBE_INSECURE", c.insecure()},
		{"KUBE_TLS_SERVER_NAME", c.ServerName},
		{"KUBE_NAMESPACE", k.Namespace},
		{"KUBE_TOKEN", c.Token.Reveal()},
		{"KUBE_CLIENT_CERT_DATA", c.ClientCertificate},
		{"KUBE_CLIENT_KEY_DATA", c.ClientKey.Reveal()},
		{"KUBE_USER", c.Username},
		{"KUBE_PASSWORD", c.Password.Reveal()},
		{"HELM_KUBEAPISERVER", c.Endpoint},
		{"HELM_KUBEINSECURE_SKIP_TLS_VERIFY", c.insecure()},
		{"HELM_KUBETLS_SERVER_NAME", c.ServerName},
		{"HELM_NAMESPACE", k.Namespace},
		{"HELM_KUBETOKEN", c.Token.Reveal()},
	})
}

// variable holds plaintext, from filling to quoting.
type variable struct{ name, value string }

// exports writes the variables that have a value, below a comment.
func (c Config) exports(comment string, vars []variable) (secret.Text, error) {
	var out strings.Builder
	out.WriteString(comment)
	for _, v := range vars {
		if v.value == "" {
			continue
		}
		quoted, err := quote(v.value)
		if err != nil {
			return secret.Text{}, fmt.Errorf("environment of VIM %q: %s: %w", c.VIM, v.name, err)
		}
		fmt.Fprintf(&out, "export %s=%s\n", v.name, quoted)
	}
	return secret.NewText(out.String()), nil
}

// verified is s where the server is verified, and empty where it is not.
func (c Config) verified(s string) string {
	if c.InsecureSkipVerify {
		return ""
	}
	return s
}

func (c Config) insecure() string {
	if c.InsecureSkipVerify {
		return "true"
	}
	return ""
}

// quote makes one word of s, for any POSIX shell: between single quotes nothing
// is special but the single quote.
func quote(s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("a NUL character cannot stand in a variable: %w", ErrFormat)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}
