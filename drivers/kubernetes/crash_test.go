//go:build unix && failpoints

package kubernetes_test

import (
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/process"
)

// errand is what the child is to do, and where.
type errand struct {
	Endpoint, CA, Token, VIM string
	Grant                    broker.Grant
}

// TestKilledOnTheWay kills a process with SIGKILL between the steps of issuing and
// tidying, and shows that the next one finishes both.
func TestKilledOnTheWay(t *testing.T) {
	var e errand
	if process.Errand(t, &e) {
		perish(t, e)
	}
	for _, point := range []string{"k8s.home.namespace", "k8s.home.bound", "k8s.issue.account", "k8s.tidy.unbound"} {
		for what, namespaces := range map[string][]string{"on the cluster": nil, "in two namespaces": {"default", "kube-public"}} {
			t.Run(point+" "+what, func(t *testing.T) {
				l := newTLSLab(t)
				g := l.grant("view", namespaces...)
				g.Role, g.Rules = "", []broker.Rule{reads("configmaps")}
				before := slices.Concat(l.Names("clusterroles", ""), l.Names("clusterrolebindings", ""), l.Names("namespaces", ""))
				process.KillAt(t, point, errand{l.Endpoint, l.CA, l.AdminToken, l.access.VIM, g})
				if point != "k8s.tidy.unbound" {
					l.issue(g)
				}
				for _, step := range []error{
					l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}),
					l.driver.Tidy(t.Context(), l.access, g),
				} {
					if step != nil {
						t.Error(step)
					}
				}
				after := slices.Concat(l.Names("clusterroles", ""), l.Names("clusterrolebindings", ""), l.Names("namespaces", ""))
				if left := slices.Concat(l.Names("roles", ""), l.Names("rolebindings", "")); !slices.Equal(before, after) || len(left) > 0 {
					t.Errorf("left on the cluster: %q %q, want %q", after, left, before)
				}
			})
		}
	}
}

func perish(t *testing.T, e errand) {
	a := accessTo(t, broker.Registration{Endpoint: e.Endpoint, CACert: e.CA, Credential: broker.Credential{Token: secret.NewText(e.Token)}})
	a.VIM = e.VIM
	d := kubernetes.New(kubernetes.Options{})
	m, err := d.Issue(t.Context(), a, e.Grant)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Revoke(t.Context(), a, issued(e.Grant, m)); err != nil {
		t.Fatal(err)
	}
	if err := d.Tidy(t.Context(), a, e.Grant); err != nil {
		t.Fatal(err)
	}
	t.Fatal("the process lives on")
}
