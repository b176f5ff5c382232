package clientconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// environment gives lines for a POSIX shell to evaluate, with the variables that
// Terraform's kubernetes provider (KUBE_) and Helm (HELM_) read. kubectl reads no such
// variables, and would use the person's own cluster: so KUBECONFIG names a file
// without any. Helm can be told a CA only as a file, and no client certificate or
// password. Variables that would lead these programs elsewhere are taken away.
func (k KubernetesClient) environment(c Config) (secret.Text, error) {
	vars := []variable{
		{"KUBECONFIG", "/dev/null"},
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
	}
	const who = "# For Terraform's kubernetes provider and Helm. kubectl reads none of these: KUBECONFIG keeps it from\n# acting on " +
		"another cluster. For kubectl, take a kubeconfig (--format kubeconfig), or use exec.\n"
	return c.exports(who+without(clusterVariables, vars), vars)
}

// Variables by which the programs of a format find a cluster or cloud, or log in.
var (
	clusterVariables = []string{
		"KUBE_CONFIG_PATH", "KUBE_CONFIG_PATHS", "KUBE_CTX", "KUBE_CTX_AUTH_INFO", "KUBE_CTX_CLUSTER", "KUBE_CLUSTER_CA_CERT_DATA",
		"KUBE_INSECURE", "KUBE_TLS_SERVER_NAME", "KUBE_NAMESPACE", "KUBE_TOKEN", "KUBE_CLIENT_CERT_DATA", "KUBE_CLIENT_KEY_DATA",
		"KUBE_USER", "KUBE_PASSWORD", "HELM_KUBECONTEXT", "HELM_KUBECAFILE", "HELM_KUBEASUSER", "HELM_KUBEASGROUPS",
		"HELM_KUBEINSECURE_SKIP_TLS_VERIFY", "HELM_KUBETLS_SERVER_NAME", "HELM_NAMESPACE", "HELM_KUBETOKEN",
	}
	cloudVariables = []string{
		"OS_CLOUD", "OS_CLIENT_CONFIG_FILE", "OS_AUTH_TYPE", "OS_AUTH_URL", "OS_URL", "OS_ENDPOINT", "OS_TOKEN", "OS_USERNAME", "OS_USER_ID",
		"OS_PASSWORD", "OS_PROJECT_NAME", "OS_PROJECT_ID", "OS_TENANT_NAME", "OS_TENANT_ID", "OS_PROJECT_DOMAIN_NAME",
		"OS_PROJECT_DOMAIN_ID", "OS_USER_DOMAIN_NAME", "OS_USER_DOMAIN_ID", "OS_DOMAIN_NAME", "OS_DOMAIN_ID", "OS_SYSTEM_SCOPE",
		"OS_TRUST_ID", "OS_APPLICATION_CREDENTIAL_ID", "OS_APPLICATION_CREDENTIAL_NAME", "OS_APPLICATION_CREDENTIAL_SECRET",
		"OS_REGION_NAME", "OS_INSECURE", "OS_CERT", "OS_KEY",
	}
)

func without(names []string, set []variable) string {
	var gone []string
	for _, name := range names {
		if !slices.ContainsFunc(set, func(v variable) bool { return v.name == name && v.value != "" }) {
			gone = append(gone, name)
		}
	}
	return "unset " + strings.Join(gone, " ") + "\n"
}

// variable holds plaintext, from filling to quoting.
type variable struct{ name, value string }

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
