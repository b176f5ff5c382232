package kubernetes_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
)

// Clients start in the VIM's namespace unless the lease is for others.
func TestNamespaceThatClientsStartIn(t *testing.T) {
	for _, c := range []struct {
		vim   string
		lease []string
		want  string
	}{
		{"", nil, ""},
		{"web", nil, "web"},
		{"", []string{"a", "b"}, "a"},
		{"web", []string{"a", "b"}, "a"},
		{"b", []string{"a", "b"}, "b"},
	} {
		a := broker.Access{Target: broker.Target{Namespace: c.vim}}
		got := kubernetes.New(kubernetes.Options{}).Client(a, c.lease, broker.CredentialBearerToken)
		if got != clientconfig.Client(clientconfig.KubernetesClient{Namespace: c.want}) {
			t.Errorf("VIM in %q, lease in %v: %+v, want %q", c.vim, c.lease, got, c.want)
		}
	}
}
