package real

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// writeFiles makes the authorities, keys and certificates of a cluster whose API
// server listens on port, and the kubeconfig.
func (c *Cluster) writeFiles(port int) error {
	var err error
	if c.ca, err = pki.NewCA("test cluster CA"); err != nil {
		return err
	}
	if c.proxyCA, err = pki.NewCA("test front proxy CA"); err != nil {
		return err
	}
	server, err := c.ca.Server("127.0.0.1", "localhost", "::1", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	admin, err := c.ca.Client("admin", []string{"system:masters"}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		return err
	}
	private, public, err := pki.NewKey()
	if err != nil {
		return err
	}
	caKey, err := c.ca.KeyPEM()
	if err != nil {
		return err
	}
	c.port, c.Endpoint, c.CAPEM = port, "https://127.0.0.1:"+strconv.Itoa(port), string(c.ca.PEM)
	c.AdminCert, c.AdminKey, c.Kubeconfig = string(admin.Cert), string(admin.Key), c.file("kubeconfig")
	for name, text := range map[string][]byte{
		"ca.crt": c.ca.PEM, "ca.key": caKey, "proxy-ca.crt": c.proxyCA.PEM,
		"server.crt": server.Cert, "server.key": server.Key, "sa.key": private, "sa.pub": public,
		"kubeconfig": c.kubeconfig(c.AdminCert, c.AdminKey),
	} {
		if err := os.WriteFile(c.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// ReplaceCA gives the API server a certificate of another authority, which alone signs administrators from then on. Tokens of
// service accounts go on working.
func (c *Cluster) ReplaceCA(t testing.TB) {
	t.Helper()
	ca, err := pki.NewCA("the next test cluster CA")
	if err != nil {
		t.Fatal(err)
	}
	server, err := ca.Server("127.0.0.1", "localhost", "::1", "kubernetes.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := ca.Client("admin", []string{"system:masters"}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	c.ca, c.CAPEM, c.AdminCert, c.AdminKey = ca, string(ca.PEM), string(admin.Cert), string(admin.Key)
	for name, text := range map[string][]byte{
		"ca.crt": ca.PEM, "server.crt": server.Cert, "server.key": server.Key, "kubeconfig": c.kubeconfig(c.AdminCert, c.AdminKey),
	} {
		if err := os.WriteFile(c.file(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Restart(t)
}

// kubeconfig has a client certificate and everything else inline.
func (c *Cluster) kubeconfig(certificate, key string) []byte {
	return c.kubeconfigOf("client-certificate-data: " + encoded(certificate) + "\n    client-key-data: " + encoded(key))
}

func encoded(pem string) string { return base64.StdEncoding.EncodeToString([]byte(pem)) }

// kubeconfigOf is a kubeconfig with this user, of two lines of YAML at most.
func (c *Cluster) kubeconfigOf(user string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user:
    %s
contexts:
- name: test
  context:
    cluster: test
    user: admin
    namespace: default
`, c.Endpoint, encoded(c.CAPEM), user)
}
