package clientconfig

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Cluster is a [Client] of a Kubernetes cluster.
type Cluster struct {
	// Namespace is the one a client starts in; empty means the server's default.
	Namespace string
}

// Forms implements [Client].
func (k Cluster) Forms() []Form {
	return []Form{
		{Kubeconfig, false, k.kubeconfig},
		{Environment, false, k.environment},
		{ExecCredential, true, k.execCredential},
		{JSON, true, k.json},
		{VIMConnection, true, k.vimConnectionInfo},
	}
}

// Accepts implements [Client].
func (Cluster) Accepts(c secret.Credential) bool { return c.ApplicationCredentialID == "" }

// layOut writes a kubeconfig, and each part that it names into a file of its own: CA,
// token, certificate, key. A password has no file form: it stands in the kubeconfig.
// KUBECONFIG is for kubectl and Helm, KUBE_CONFIG_PATH for Terraform. client-go
// reads the token file again within a minute.
func (k Cluster) layOut(c Config, write func(kind string, text secret.Text) (string, error)) (l layout, err error) {
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
	text, err := k.encode(c, cluster, user)
	if err != nil {
		return layout{}, err
	}
	if l.main, err = write("kubeconfig", secret.NewText(text)); err != nil {
		return layout{}, err
	}
	l.ca, l.renewable = cluster.CertificateAuthority, user.TokenFile
	l.env = []string{"KUBECONFIG=" + l.main, "KUBE_CONFIG_PATH=" + l.main}
	if k.Namespace != "" {
		l.env = append(l.env, "KUBE_NAMESPACE="+k.Namespace, "HELM_NAMESPACE="+k.Namespace)
	}
	return l, nil
}

func (Cluster) renewed(c Config, _ layout) (secret.Text, error) {
	if c.Token.Empty() {
		return secret.Text{}, fmt.Errorf("only a token can be replaced: %w", ErrFormat)
	}
	return c.Token, nil
}
