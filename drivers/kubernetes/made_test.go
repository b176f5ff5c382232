package kubernetes_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// No pod gets a token of a lease's account.
func TestWhatIsMadeForALeaseServesNothingElse(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	l.issue(g)
	there := l.Update("serviceaccounts", l.home(), g.Handle, func(o metav1.Object) {
		if sa := o.(*corev1.ServiceAccount); sa.AutomountServiceAccountToken == nil || *sa.AutomountServiceAccountToken {
			t.Errorf("pods get the token of service account %s", g.Handle)
		}
	})
	if !there {
		t.Error("the lease has no account")
	}
}

// A credential may be good for leases and not see the names of all namespaces.
func TestCheckWithoutTheRightToListNamespaces(t *testing.T) {
	l := newLab(t)
	l.Deny(fakekube.Denial{Verb: "list", Resource: "namespaces"})
	r, err := l.driver.Check(t.Context(), l.access)
	if err != nil || !r.CanMint || r.Discovered.Regions == nil || len(r.Discovered.Regions) > 0 {
		t.Errorf("Check() = can mint %v, discovered %+v, %v; want it to mint, and no regions", r.CanMint, r.Discovered, err)
	}
}

// What identifies a cluster is short and printable; anything else is no API server's.
func TestCheckRefusesAStrangeIdentity(t *testing.T) {
	for name, uid := range map[string]string{"none": "", "a long one": strings.Repeat("x", 65), "one with a line break": "a\nb"} {
		l := newLab(t)
		l.Update("namespaces", "", "kube-system", func(o metav1.Object) { o.SetUID(types.UID(uid)) })
		_, err := l.driver.Check(t.Context(), l.access)
		want(t, "Check of a cluster whose identity is "+name, err, broker.ErrUnreachable)
	}
}
