package real_test

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/test/real"
)

// A namespace that is deleted and made again, and a binding that somebody deletes, leave no lease without its rights
// for longer than one token.
func TestLeasesOutliveTheirBindings(t *testing.T) {
	t.Parallel()
	a := apply(t, real.Kubernetes(t), rbac.Options{Profile: rbac.Leases, Roles: []string{"view", "edit"}})
	a.check()
	for what, take := range map[string]func(){
		"the binding is deleted": func() { a.kubectl("", "delete", "rolebindings", "-n", a.at, "-l", "vimbroker.io/vim="+a.access.VIM) },
		"the namespace is made again": func() {
			a.kubectl("", "delete", "namespace", a.at, "--wait")
			a.kubectl("", "create", "namespace", a.at)
		},
	} {
		standing, _ := a.granted(broker.Grant{Role: "edit", Namespaces: []string{a.at}})
		if _, err := a.driver.Issue(t.Context(), a.access, standing); err != nil {
			t.Fatal(err)
		}
		next, _ := a.granted(broker.Grant{Role: "edit", Namespaces: []string{a.at}})
		for kind, mint := range map[string]func() (broker.Minted, error){
			"a token": func() (broker.Minted, error) { return a.driver.Renew(t.Context(), a.access, standing) },
			"a lease": func() (broker.Minted, error) { return a.driver.Issue(t.Context(), a.access, next) },
		} {
			take()
			var m broker.Minted
			var err error
			real.Poll(t, patience, func() bool { // the API server goes on seeing the namespace that is gone, for a moment
				m, err = mint()
				return !errors.Is(err, broker.ErrConflict)
			})
			if err != nil || !real.Poll(t, patience, func() bool {
				_, err := a.as(m).CoreV1().ConfigMaps(a.at).List(t.Context(), metav1.ListOptions{})
				return err == nil
			}) {
				t.Errorf("after %s %s has no rights: %v", what, kind, err)
			}
		}
	}
}
