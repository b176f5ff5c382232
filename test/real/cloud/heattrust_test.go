package cloud_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/story"
)

// A VNF runs on both kinds of cloud, under each kind of lease for Heat, whose grade is shown. What a holder planted
// goes with his lease; the trust that the stack lives on does not, and the stack scales on.
func TestAStackOutlivesItsLeases(t *testing.T) {
	t.Parallel()
	bin := story.Build(t, t.TempDir())
	for _, c := range []struct {
		// trusts says what cloud it is; where application credentials may make them, the VIM is registered with one.
		trusts bool
		kind   broker.CredentialKind
		reason string
	}{
		{false, broker.CredentialProjectToken, "the lease is a token"},
		{true, broker.CredentialApplicationCredential, "trust"},
	} {
		t.Run(fmt.Sprintf("trusts allowed %t", c.trusts), func(t *testing.T) {
			o := cloud(t, c.trusts)
			who := o.Project(t)
			var users struct{ Users []struct{ ID string } }
			o.Do(t, http.MethodGet, o.AuthURL+"/users?name=heat&domain_id="+url.QueryEscape(o.Admin.DomainID), nil, &users)
			heat := users.Users[0].ID
			m := story.NewSite(t, bin, fmt.Sprintf("sol003: {enabled: true}\nlease: {removeLeft: true, stackTrustees: [%q]}\n", heat))
			auth := fmt.Sprintf("user_id: %q, password: %q, project_id: %q", who.UserID, who.Password, who.ProjectID)
			if c.trusts {
				id, text := o.ApplicationCredential(t, who, "registered", true)
				auth = fmt.Sprintf("application_credential_id: %q, application_credential_secret: %q", id, text)
			}
			m.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, %s}}}\n", o.AuthURL, auth))
			m.Write(t, "root/edge.csar", string(csar.TackerHeat().Zip(t)))
			m.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one cloud")
			m.Must(t, "vimbroker package upload edge.csar")
			m.Must(t, "vimbroker vnf create --vnfd "+csar.TackerHeatVNFD+" edge")
			const instantiate = `vimbroker vnf instantiate edge --vim cloud --nfv '{"CP": {"VDU1_CP1": {"network": "net0"}}}' `
			if got := m.Must(t, instantiate+"--dry-run"); !strings.Contains(got, "unbounded in the project, for heat") || !strings.Contains(got, c.reason) {
				t.Errorf("a dry run shows no unbounded lease because of %q:\n%s", c.reason, got)
			}
			m.Must(t, instantiate+"--wait")
			if got := o.Trustees(t, who); !slices.Equal(got, []string{heat}) {
				t.Errorf("with a stack there are trusts for %q, want one for Heat's user %s", got, heat)
			}

			token, err := os.ReadFile(m.File("root/token"))
			if err != nil {
				t.Fatal(err)
			}
			api, err := client.New(client.Options{Addr: m.Broker.URL, Token: secret.NewText(strings.TrimSpace(string(token)))})
			if err != nil {
				t.Fatal(err)
			}
			l, err := api.IssueLease(t.Context(), v1.LeaseRequest{VIM: "cloud", TTL: "10m", Purpose: openstack.Heat, Format: string(clientconfig.JSON)}, "")
			if err != nil {
				t.Fatal(err)
			}
			config, err := clientconfig.Decode(l.ClientConfig.Text)
			config.Kind = broker.CredentialApplicationCredential
			if !config.Token.Empty() {
				config.Kind = broker.CredentialProjectToken
			}
			if err != nil || config.Kind != c.kind {
				t.Fatalf("a lease for Heat is a %s, %v, want a %s", config.Kind, err, c.kind)
			}
			a := adversary{t, o, who, tokenOfLease(t, o, config.Credential)}
			planted := a.plant(o.Colleague(t, who).UserID, "member")
			if planted["trust"] == "" {
				t.Fatal("the holder of a lease for Heat makes no trust: the test proves nothing")
			}
			m.Must(t, "vimbroker lease revoke --wait "+l.ID)
			if left := a.there(planted); len(left) > 0 {
				t.Errorf("after the revocation there are still %q", left)
			}
			if got := o.Trustees(t, who); !slices.Equal(got, []string{heat}) {
				t.Errorf("after the revocation there are trusts for %q, want that of the stack alone", got)
			}

			m.Must(t, "vimbroker vnf scale edge --aspect VDU1_scale --steps 1 --wait")
			m.Must(t, "vimbroker vnf terminate edge --wait")
			if got := o.Trustees(t, who); len(got) > 0 {
				t.Errorf("without a stack there are trusts for %q", got)
			}
			var leases struct {
				Items []struct {
					ID, State, Purpose string
					LeftBehind         []string
				}
			}
			m.Decode(t, "vimbroker lease list --all -o json", &leases)
			operations := 0
			for _, one := range leases.Items {
				if one.Purpose == "heat" && one.ID != l.ID {
					operations++
				}
				if one.State == "active" && one.Purpose == "heat" || (len(one.LeftBehind) > 0) != (one.ID == l.ID) {
					t.Errorf("lease %s for %s is %s, and left behind %q", one.ID, one.Purpose, one.State, one.LeftBehind)
				}
			}
			if operations < 3 { // an attempt that is tried again takes another
				t.Errorf("%d leases for Heat, want one for each operation", operations)
			}
		})
	}
}
