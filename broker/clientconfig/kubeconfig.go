package clientconfig

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// kubeconfigFile is the form that kubectl, helm and client-go read, with the
// fields that we write (k8s.io/client-go/tools/clientcmd/api/v1).
type kubeconfigFile struct {
	APIVersion     string         `yaml:"apiVersion"`
	Kind           string         `yaml:"kind"`
	Clusters       []namedCluster `yaml:"clusters"`
	Contexts       []namedContext `yaml:"contexts"`
	CurrentContext string         `yaml:"current-context"`
	Users          []namedUser    `yaml:"users"`
}

type namedCluster struct {
	Name    string      `yaml:"name"`
	Cluster kubeCluster `yaml:"cluster"`
}

type kubeCluster struct {
	Server                   string `yaml:"server"`
	CertificateAuthority     string `yaml:"certificate-authority,omitempty"` // a path
	CertificateAuthorityData string `yaml:"certificate-authority-data,omitempty"`
	InsecureSkipTLSVerify    bool   `yaml:"insecure-skip-tls-verify,omitempty"`
	TLSServerName            string `yaml:"tls-server-name,omitempty"`
}

type namedContext struct {
	Name    string      `yaml:"name"`
	Context kubeContext `yaml:"context"`
}

type kubeContext struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace,omitempty"`
}

type namedUser struct {
	Name string   `yaml:"name"`
	User kubeUser `yaml:"user"`
}

// kubeUser holds plaintext. It lives from the call that fills it to the one that
// renders it.
type kubeUser struct {
	Token                 string    `yaml:"token,omitempty"`
	TokenFile             string    `yaml:"tokenFile,omitempty"`
	ClientCertificate     string    `yaml:"client-certificate,omitempty"` // a path
	ClientCertificateData string    `yaml:"client-certificate-data,omitempty"`
	ClientKey             string    `yaml:"client-key,omitempty"` // a path
	ClientKeyData         string    `yaml:"client-key-data,omitempty"`
	Username              string    `yaml:"username,omitempty"`
	Password              string    `yaml:"password,omitempty"`
	Exec                  *kubeExec `yaml:"exec,omitempty"`
}

type kubeExec struct {
	APIVersion         string    `yaml:"apiVersion"`
	Command            string    `yaml:"command"`
	Args               []string  `yaml:"args,omitempty"`
	Env                []kubeEnv `yaml:"env,omitempty"`
	InstallHint        string    `yaml:"installHint,omitempty"`
	InteractiveMode    string    `yaml:"interactiveMode"`
	ProvideClusterInfo bool      `yaml:"provideClusterInfo"`
}

type kubeEnv struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// inlineCluster is where to go, with the CA in the text itself.
func inlineCluster(c Config) kubeCluster {
	k := kubeCluster{Server: c.Endpoint, TLSServerName: c.ServerName, InsecureSkipTLSVerify: c.InsecureSkipVerify}
	if !c.InsecureSkipVerify { // clients refuse a CA beside insecure-skip-tls-verify
		k.CertificateAuthorityData = base64.StdEncoding.EncodeToString([]byte(c.CACert))
	}
	return k
}

// kubeconfig holds everything inline: one cluster, one user, one context.
func (k KubernetesClient) kubeconfig(c Config) (secret.Text, error) {
	return secret.NewText(k.encode(c, inlineCluster(c), kubeUser{
		Token:                 c.Token.Reveal(),
		ClientCertificateData: base64.StdEncoding.EncodeToString([]byte(c.ClientCertificate)),
		ClientKeyData:         base64.StdEncoding.EncodeToString([]byte(c.ClientKey.Reveal())),
		Username:              c.Username,
		Password:              c.Password.Reveal(),
	})), nil
}

func (k KubernetesClient) encode(c Config, cluster kubeCluster, user kubeUser) string {
	name := c.name()
	var out bytes.Buffer
	encodeYAML(&out, kubeconfigFile{
		APIVersion: "v1", Kind: "Config",
		Clusters:       []namedCluster{{name, cluster}},
		Contexts:       []namedContext{{name, kubeContext{Cluster: name, User: name, Namespace: k.Namespace}}},
		CurrentContext: name,
		Users:          []namedUser{{name, user}},
	})
	return out.String()
}

// encodeYAML writes plain data, which YAML always has a form for.
func encodeYAML(out *bytes.Buffer, v any) {
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	_ = enc.Encode(v)
	_ = enc.Close()
}

// EnvClientID is the variable from which a plugin has the id of the client that it logs in as.
const EnvClientID = "VIMBROKER_CLIENT_ID"

// Plugin is a command that prints an exec credential: a kubeconfig names it in
// place of a credential.
type Plugin struct {
	// Command is looked up in PATH unless it holds a slash.
	Command string
	Args    []string
	// Env is added to what the plugin inherits. It holds no secret: it stands in
	// the kubeconfig.
	Env map[string]string
	// InstallHint is the text that a client prints if the command is missing.
	InstallHint string
}

// PluginKubeconfig is a kubeconfig that holds no credential and names the plugin
// to get one from. The plugin is told which cluster it is asked for, and is never
// given the terminal. A credential in c is not used.
func (k KubernetesClient) PluginKubeconfig(c Config, p Plugin) string {
	exec := &kubeExec{
		APIVersion:         execAPIVersion,
		Command:            p.Command,
		Args:               p.Args,
		InstallHint:        p.InstallHint,
		InteractiveMode:    "Never",
		ProvideClusterInfo: true,
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		exec.Env = append(exec.Env, kubeEnv{name, p.Env[name]})
	}
	return k.encode(c, inlineCluster(c), kubeUser{Exec: exec})
}

// KubernetesClient is a [Client] of a Kubernetes cluster.
type KubernetesClient struct {
	// Namespace is the one a client starts in; empty means the server's default.
	Namespace string
}

// Forms implements [Client].
func (k KubernetesClient) Forms() []Form {
	return []Form{
		{Kubeconfig, false, k.kubeconfig},
		{Environment, false, k.environment},
		{ExecCredential, true, k.execCredential},
		{JSON, true, k.json},
		{VIMConnection, true, k.vimConnectionInfo},
	}
}

// Accepts implements [Client].
func (KubernetesClient) Accepts(c secret.Credential) bool { return c.ApplicationCredentialID == "" }

// layOut writes a kubeconfig, and each part that it names into a file of its own: CA,
// token, certificate, key. A password has no file form: it stands in the kubeconfig.
// KUBECONFIG is for kubectl and Helm, KUBE_CONFIG_PATH for Terraform. client-go
// reads the token file again within a minute.
func (k KubernetesClient) layOut(c Config, write func(kind string, text secret.Text) (string, error)) (l layout, err error) {
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
		if *part.path, err = write(part.kind, part.text); err != nil {
			return layout{}, err
		}
	}
	if l.main, err = write("kubeconfig", secret.NewText(k.encode(c, cluster, user))); err != nil {
		return layout{}, err
	}
	l.ca, l.renewable = cluster.CertificateAuthority, user.TokenFile
	l.env = []string{"KUBECONFIG=" + l.main, "KUBE_CONFIG_PATH=" + l.main}
	if k.Namespace != "" {
		l.env = append(l.env, "KUBE_NAMESPACE="+k.Namespace, "HELM_NAMESPACE="+k.Namespace)
	}
	return l, nil
}

func (KubernetesClient) renewed(c Config, _ layout) (secret.Text, error) {
	if c.Token.Empty() {
		return secret.Text{}, fmt.Errorf("only a token can be replaced: %w", ErrFormat)
	}
	return c.Token, nil
}

// execAPIVersion is that of the exec credential protocol
// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/).
const execAPIVersion = "client.authentication.k8s.io/v1"

// execMargin is how much earlier than it really does an exec credential expires:
// a client asks for a new one at that time, and still has a working one then.
const execMargin = 10 * time.Second

type execCredential struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       execSpec   `json:"spec"`
	Status     execStatus `json:"status"`
}

type execSpec struct {
	Interactive bool `json:"interactive"`
}

// execStatus holds plaintext, from filling to encoding.
type execStatus struct {
	ExpirationTimestamp   string `json:"expirationTimestamp,omitempty"`
	Token                 string `json:"token,omitempty"`
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	ClientKeyData         string `json:"clientKeyData,omitempty"`
}

// execCredential is the output of an exec plugin, on one line.
func (KubernetesClient) execCredential(c Config) (secret.Text, error) {
	if c.Username != "" {
		return secret.Text{}, fmt.Errorf("an exec credential is a token or a certificate, not a password: %w", ErrFormat)
	}
	out := execCredential{
		APIVersion: execAPIVersion,
		Kind:       "ExecCredential",
		Status: execStatus{
			Token:                 c.Token.Reveal(),
			ClientCertificateData: c.ClientCertificate,
			ClientKeyData:         c.ClientKey.Reveal(),
		},
	}
	if !c.ExpiresAt.IsZero() {
		out.Status.ExpirationTimestamp = c.ExpiresAt.Add(-execMargin).UTC().Format(time.RFC3339)
	}
	return encodeJSON(out, "")
}
