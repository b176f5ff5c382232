package kubernetes_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/kube"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// clock is the time of a fake cluster, which tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Now()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// await moves the clock by seconds until done.
func (c *clock) await(_ *testing.T, most time.Duration, done func() bool) bool {
	for waited := time.Duration(0); ; waited += time.Second {
		if done() {
			return true
		}
		if waited > most {
			return false
		}
		c.Add(time.Second)
	}
}

func TestConformance(t *testing.T) {
	now := newClock()
	s := fakekube.New(t, fakekube.Options{Now: now.Now, CacheLag: 10 * time.Second, MaxTokenTTL: 2 * time.Hour})
	env := kube.Env(t, &rest.Config{
		Host: s.Endpoint, BearerToken: s.AdminToken, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.CA)},
	})
	env.New = func(log *slog.Logger) broker.Driver {
		return kubernetes.New(kubernetes.Options{Now: now.Now, Log: log})
	}
	env.Now, env.Await, env.MaxTTL = now.Now, now.await, 2*time.Hour
	env.Remote = []string{fakekube.Canary}
	register := func(c broker.Credential) broker.Registration {
		return broker.Registration{Name: "fake", Type: broker.Kubernetes, Endpoint: s.Endpoint, CACert: s.CA, Credential: c}
	}
	env.Registration = register(broker.Credential{Token: secret.NewText(s.AdminToken)})
	env.Others = map[string]broker.Registration{
		"a certificate": register(broker.Credential{ClientCertificate: s.AdminCert, ClientKey: secret.NewText(s.AdminKey)}),
		"a password":    register(broker.Credential{Username: s.Username, Password: secret.NewText(s.Password)}),
		"a token that expires": register(broker.Credential{
			Token: secret.NewText(s.AdminTokenFor(time.Hour)),
		}),
		"a kubeconfig": {Name: "fake", Type: broker.Kubernetes, Kubeconfig: secret.NewText(s.Kubeconfig())},
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
