package kubernetes

import (
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

// Normalize implements [broker.Driver]. Either r.Kubeconfig is set, or
// r.Endpoint and r.Credential; r.Namespace goes with both, and is "default" if
// neither it nor the kubeconfig's context says otherwise.
func (d *Driver) Normalize(r broker.Registration) (broker.Target, broker.Credential, error) {
	t, c, err := normalize(r)
	if err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	return t, c, nil
}

func normalize(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	switch {
	case r.Type != "" && r.Type != Type:
		return t, c, broker.Invalid("type", "is not kubernetes")
	case !r.CloudsYAML.Empty(), r.Cloud != "":
		return t, c, broker.Invalid("cloudsYaml", "is OpenStack's; give a kubeconfig")
	case r.Scope.Region != "":
		return t, c, broker.Invalid("region", "is OpenStack's; leave it out")
	case r.Scope != broker.Scope{}:
		return t, c, broker.Invalid("project", "and domains are OpenStack's; leave them out, and name what clients start in as the namespace")
	}
	if r.Kubeconfig.Empty() {
		t, c, err = fromFields(r)
	} else {
		t, c, err = fromKubeconfig(r)
	}
	if err != nil {
		return t, c, err
	}
	if r.Namespace != "" {
		t.Namespace = r.Namespace
		if !rbac.IsLabel(t.Namespace) {
			return t, c, broker.Invalid("namespace", "must be a DNS label of at most 63 characters")
		}
	}
	if t.Namespace == "" {
		t.Namespace = "default"
	}
	return t, c, nil
}

func fromFields(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	if r.Context != "" {
		return t, c, broker.Invalid("context", "selects from a kubeconfig, and there is none")
	}
	if t.Endpoint, err = rebuild.Endpoint("endpoint", r.Endpoint, false); err != nil {
		return t, c, err
	}
	if t.CACert, err = rebuild.CABundle("caCert", r.CACert); err != nil {
		return t, c, err
	}
	if r.InsecureSkipVerify && t.CACert != "" {
		return t, c, broker.Invalid("insecureSkipVerify", "contradicts caCert: a server is either verified or not")
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	if t.ServerName, err = rebuild.ServerName("serverName", r.ServerName); err != nil {
		return t, c, err
	}
	c, err = credential(r.Credential, credentialFields{
		whole: "credential", token: "credential.token",
		certificate: "credential.clientCertificate", key: "credential.clientKey",
		username: "credential.username", password: "credential.password",
	})
	return t, c, err
}

func fromKubeconfig(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	const only = "cannot be given beside a kubeconfig, which says it"
	switch {
	case r.Endpoint != "":
		return t, c, broker.Invalid("endpoint", only)
	case r.CACert != "":
		return t, c, broker.Invalid("caCert", only)
	case r.ServerName != "":
		return t, c, broker.Invalid("serverName", "cannot be given beside a kubeconfig; put it there as tls-server-name")
	case !isZero(r.Credential):
		return t, c, broker.Invalid("credential", only)
	}
	k, err := parseKubeconfig(r.Kubeconfig.Reveal(), r.Context, r.InsecureSkipVerify)
	if err != nil {
		return t, c, err
	}
	if t.Endpoint, err = rebuild.Endpoint(k.Cluster+".server", k.Server, false); err != nil {
		return t, c, err
	}
	if t.CACert, err = rebuild.CABundle(k.Cluster+".certificate-authority-data", k.CA); err != nil {
		return t, c, err
	}
	if r.InsecureSkipVerify && t.CACert != "" {
		return t, c, broker.Invalid("insecureSkipVerify", "contradicts certificate-authority-data of the kubeconfig: leave one of them out")
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	if t.ServerName = strings.ToLower(k.ServerName); t.ServerName != "" && !rebuild.IsHostName(t.ServerName) {
		return t, c, broker.Invalid(k.Cluster+".tls-server-name", "must be a DNS name")
	}
	if t.Namespace = k.Namespace; t.Namespace != "" && !rbac.IsLabel(t.Namespace) {
		return t, c, broker.Invalid(k.At+".namespace", "is not a DNS label of at most 63 characters")
	}
	c, err = credential(broker.Credential{
		Token:             k.Token,
		ClientCertificate: k.Certificate,
		ClientKey:         k.Key,
	}, credentialFields{
		whole: k.User, token: k.User + ".token",
		certificate: k.User + ".client-certificate-data", key: k.User + ".client-key-data",
	})
	return t, c, err
}
