package real_test

import (
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/kube"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestKubernetesDriver(t *testing.T) {
	c := real.Kubernetes(t)
	proxy := c.BasicAuthProxy(t)
	env := kube.Env(t, c.Config())
	env.MaxTTL, env.Await = real.MaxTokenTTL, real.Poll
	register := func(cred broker.Credential) broker.Registration {
		return broker.Registration{Name: "real", Type: "kubernetes", Endpoint: c.Endpoint, CACert: c.CAPEM, Credential: cred}
	}
	kubeconfig, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	password := func(p string) broker.Registration {
		r := register(broker.Credential{Username: proxy.Username, Password: secret.NewText(p)})
		r.Endpoint, r.CACert = proxy.Endpoint, proxy.CAPEM
		return r
	}
	env.Registration = register(broker.Credential{Token: secret.NewText(c.AdminToken(t))})
	env.Others = map[string]broker.Registration{
		"a certificate": register(broker.Credential{ClientCertificate: c.AdminCert, ClientKey: secret.NewText(c.AdminKey)}),
		"a kubeconfig":  {Name: "real", Type: "kubernetes", Kubeconfig: secret.NewText(string(kubeconfig))},
		"a password":    password(proxy.Password),
	}
	stranger := fakekube.New(t, fakekube.Options{})
	env.Refused = map[string]broker.Registration{
		"another cluster's token": register(broker.Credential{Token: secret.NewText(stranger.AdminToken)}),
		"another cluster's certificate": register(broker.Credential{
			ClientCertificate: stranger.AdminCert, ClientKey: secret.NewText(stranger.AdminKey),
		}),
		"a wrong password": password("wrong-" + proxy.Password),
	}
	conformance.Driver(t, env)
}
