package clientconfig

import (
	"encoding/json"
	"strings"
)

// argoConfig is the part of a cluster of Argo CD that says how it is reached, with the fields that we write
// (https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters).
type argoConfig struct {
	Exec argoExec `json:"execProviderConfig"`
	TLS  argoTLS  `json:"tlsClientConfig"`
}

type argoExec struct {
	APIVersion  string            `json:"apiVersion"`
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	InstallHint string            `json:"installHint,omitempty"`
}

type argoTLS struct {
	ServerName string `json:"serverName,omitempty"`
	CA         []byte `json:"caData,omitempty"`
}

// ArgoCDCluster is the content of a Secret that is a cluster of Argo CD. It holds no credential and names the plugin to get
// one from. Argo CD does not tell its plugins which cluster it asks for; the plugin is told so (--untold).
func (KubernetesClient) ArgoCDCluster(c Config, p Plugin, namespaces []string) map[string]string {
	config, _ := json.Marshal(argoConfig{
		Exec: argoExec{APIVersion: execAPIVersion, Command: p.Command, Args: append(p.Args, "--untold"), Env: p.Env, InstallHint: p.InstallHint},
		TLS:  argoTLS{ServerName: c.ServerName, CA: []byte(c.CACert)},
	})
	data := map[string]string{"name": c.name(), "server": c.Endpoint, "config": string(config)}
	if len(namespaces) > 0 {
		data["namespaces"] = strings.Join(namespaces, ",")
	}
	return data
}
