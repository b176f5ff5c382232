package kubernetes_test

import (
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/kube"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func TestConformance(t *testing.T) {
	now := clock.New(time.Now())
	s := fakekube.New(t, fakekube.Options{Now: now.Now, CacheLag: 10 * time.Second, MaxTokenTTL: 2 * time.Hour})
	env := kube.Env(t, &rest.Config{
		Host: s.Endpoint, BearerToken: s.AdminToken, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.CA)},
	})
	env.New = func(log *slog.Logger) broker.Driver {
		return kubernetes.New(kubernetes.Options{Now: now.Now, Log: log})
	}
	env.Now, env.Await, env.MaxTTL = now.Now, now.Await, 2*time.Hour
	env.Remote = []string{fake.Canary}
	register := func(c broker.Credential) broker.Registration {
		return broker.Registration{Name: "fake", Type: "kubernetes", Endpoint: s.Endpoint, CACert: s.CA, Credential: c}
	}
	env.Registration = register(broker.Credential{Token: secret.NewText(s.AdminToken)})
	env.Others = map[string]broker.Registration{
		"a certificate": register(broker.Credential{ClientCertificate: s.AdminCert, ClientKey: secret.NewText(s.AdminKey)}),
		"a password":    register(broker.Credential{Username: s.Username, Password: secret.NewText(s.Password)}),
		"a token that expires": register(broker.Credential{
			Token: secret.NewText(s.AdminTokenFor(time.Hour)),
		}),
		"a kubeconfig": {Name: "fake", Type: "kubernetes", Kubeconfig: secret.NewText(s.Kubeconfig())},
	}
	stranger := fakekube.New(t, fakekube.Options{})
	env.Refused = map[string]broker.Registration{
		"an expired token":        register(broker.Credential{Token: secret.NewText(s.AdminTokenFor(-time.Hour))}),
		"another cluster's token": register(broker.Credential{Token: secret.NewText(stranger.AdminToken)}),
		"another cluster's certificate": register(broker.Credential{
			ClientCertificate: stranger.AdminCert, ClientKey: secret.NewText(stranger.AdminKey),
		}),
		"a wrong password": register(broker.Credential{Username: s.Username, Password: secret.NewText("wrong-" + stranger.Password)}),
	}
	conformance.Driver(t, env)
}
