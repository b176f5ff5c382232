package lessee

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

const (
	// envExecInfo is the variable with a client's data for an exec plugin.
	envExecInfo = "KUBERNETES_EXEC_INFO"
	execVersion = "client.authentication.k8s.io/v1"
)

// cluster is a client's description, for its exec plugin, of the cluster that the
// credential is for: all fields that decide where the credential goes
// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/).
type cluster struct {
	Server     string `json:"server"`
	ServerName string `json:"tls-server-name"`
	Insecure   bool   `json:"insecure-skip-tls-verify"`
	CA         []byte `json:"certificate-authority-data"`
	Proxy      string `json:"proxy-url"`
	// Config is what the list of clusters says to the plugin, where the client has the cluster from one.
	Config json.RawMessage `json:"config"`

	// allowed is the proxy that it may name.
	allowed string
}

// errUntold: a client of Kubernetes asks, and does not say for which cluster.
var errUntold = errors.New("the client does not tell which cluster it asks for: set provideClusterInfo: true in the kubeconfig's exec")

// told is the cluster that the client asks for. Run by hand, with nothing told, the plugin gives no
// credential: it would stand on a terminal, or in a log.
func (p *program) told(proxy string) (*cluster, error) {
	text := p.Env.Get(envExecInfo)
	if text == "" {
		return nil, errors.New(envExecInfo + " is not set: this command is for kubectl to run, and gives its token to nobody else; " +
			"for a lease of your own take vimbroker lease issue")
	}
	var info struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Cluster *cluster `json:"cluster"`
		} `json:"spec"`
	}
	switch {
	case json.Unmarshal([]byte(text), &info) != nil:
		return nil, errors.New(envExecInfo + " is not the JSON that a client of Kubernetes gives its plugin")
	case info.APIVersion != execVersion || info.Kind != "ExecCredential":
		return nil, errors.New("the kubeconfig's exec.apiVersion must be " + execVersion)
	case info.Spec.Cluster == nil:
		return nil, errUntold
	}
	info.Spec.Cluster.allowed = proxy
	return info.Spec.Cluster, nil
}

// profiled takes the VIM, and the role that is not asked for by a flag, from a ClusterProfile that a hub shows. Where the
// credential goes is compared with that VIM as ever.
func (c *cluster) profiled(f *Flags) (vim string, err error) {
	var said struct{ VIM, Role string }
	if json.Unmarshal(c.Config, &said) != nil || said.VIM == "" {
		return "", errors.New("the client does not say which VIM it asks for: --profile is for clients that have the cluster " +
			"from a ClusterProfile of a hub of vimbroker")
	}
	if f.role == "" && len(f.rules) == 0 {
		f.role = said.Role
	}
	return said.VIM, nil
}

// apiServer is the address that a credential may go to, and the way that this is known.
type apiServer struct {
	vim, endpoint, ca, serverName string
	insecure                      bool
}

func serverOfVIM(v v1.VIM) apiServer {
	return apiServer{v.Name, v.Endpoint, v.CACert, v.ServerName, v.InsecureSkipVerify}
}

func serverOfConfig(c clientconfig.Config) apiServer {
	return apiServer{c.VIM, c.Endpoint, c.CACert, c.ServerName, c.InsecureSkipVerify}
}

// same refuses unless the client asks for this very server, and would know it by nothing less
// than the broker does. Nil asks for nobody knows which.
func (c *cluster) same(s apiServer) error {
	switch {
	case c == nil:
		return nil
	case !sameServer(c.Server, s.endpoint):
		return fmt.Errorf("the kubeconfig is for another cluster than %s: its server must be %s", s.vim, s.endpoint)
	case c.Proxy != c.allowed:
		return fmt.Errorf("the kubeconfig goes to %s by another proxy than --proxy names: its proxy-url must be %q", s.vim, c.allowed)
	case c.Insecure && !s.insecure:
		return fmt.Errorf("the kubeconfig would not verify the server of %s: remove insecure-skip-tls-verify from it", s.vim)
	case s.insecure:
		return nil // the client verifies no less
	case c.ServerName != s.serverName:
		return fmt.Errorf("the kubeconfig would verify another name than that of %s: its tls-server-name must be %q", s.vim, s.serverName)
	case !withinCA(c.CA, []byte(s.ca)):
		return fmt.Errorf("the kubeconfig would verify the server of %s by another CA: its certificate-authority-data must be that of the VIM",
			s.vim)
	}
	return nil
}

// withinCA reports whether each CA that the client trusts is one of the VIM's. None means the
// system's roots.
func withinCA(client, vim []byte) bool {
	trusted, known := certificates(client), certificates(vim)
	if len(trusted) == 0 {
		return len(bytes.TrimSpace(client)) == 0 && len(known) == 0
	}
	for _, c := range trusted {
		if !slices.ContainsFunc(known, c.Equal) {
			return false
		}
	}
	return true
}

// certificates are those of a PEM bundle, as far as clients use them.
func certificates(bundle []byte) (all []*x509.Certificate) {
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// sameServer compares two server URLs as clients connect to them.
func sameServer(a, b string) bool {
	left, right := serverOf(a), serverOf(b)
	return left != "" && left == right
}

// serverOf is a server URL in one spelling, or empty if it is none.
func serverOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return strings.ToLower(u.Hostname()) + ":" + port + strings.TrimRight(u.EscapedPath(), "/")
}
