package cloud_test

import (
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/real"
)

// A lease to read reads, where a service obeys access rules, as Barbican is set up to
// here, and is refused where one does not, as Heat is not. The first ones of a user,
// which have Keystone keep the rules, may come at once.
func TestOpenStackReading(t *testing.T) {
	o := real.OpenStack(t)
	who := o.Project(t)
	v := newVIM(t, registration(o.TLS(t), who))
	grants, minted := make([]broker.Grant, 4), make([]broker.Minted, 4)
	var all errgroup.Group
	for i := range grants {
		grants[i] = v.grant(t, "member,creator,heat_stack_owner", openstack.Read, 10*time.Minute)
		all.Go(func() (err error) {
			minted[i], err = v.Issue(t.Context(), v.Access, grants[i])
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	token := tokenOfLease(t, o, minted[0].Credential)
	stored := map[string]any{"name": "x"}
	for _, c := range []struct {
		method, url string
		body        any
		want        int
	}{
		{"GET", o.KeyManager + "/v1/secrets", nil, http.StatusOK},
		{"POST", o.KeyManager + "/v1/secrets", stored, http.StatusUnauthorized},
		{"GET", o.Orchestration + "/v1/" + who.ProjectID + "/stacks", nil, http.StatusUnauthorized},
		{"GET", o.AuthURL + "/auth/projects", nil, http.StatusOK},
	} {
		if got := o.As(t, token, c.method, c.url, c.body, nil); got != c.want {
			t.Errorf("%s %s with a lease to read: %d, want %d", c.method, c.url, got, c.want)
		}
	}
	free, err := v.Issue(t.Context(), v.Access, v.grant(t, "member,creator,heat_stack_owner", "", 10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.As(t, tokenOfLease(t, o, free.Credential), "POST", o.KeyManager+"/v1/secrets", stored, nil); got != http.StatusOK {
		t.Errorf("a lease for anything keeps a secret: %d, want 200", got)
	}
	for i, g := range grants {
		v.end(t, g, minted[i].Credential)
	}
}
