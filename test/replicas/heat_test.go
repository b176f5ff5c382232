package replicas

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// TestAStackGoesOn kills every replica while Heat makes a stack: the one that starts again finds it, waits for it, and
// makes no second one.
func TestAStackGoesOn(t *testing.T) {
	t.Parallel()
	f := newFleetOn(t, shared(t), footing{program: present, settings: "sol003: {enabled: true}\n"})
	keystone, heat := fakekeystone.New(t, fakekeystone.Options{}), fakeheat.New(t)
	heat.Believe(keystone)
	keystone.SetCatalog(
		fakekeystone.Endpoint{Service: "identity", Interface: "public", Region: "RegionOne", URL: keystone.Endpoint + "/v3"},
		fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: heat.URL + "/heat/v1/project"},
	)
	user := keystone.User("operator", keystone.Project("demo"), "member")
	first, last, ctx := f.replicas[0], f.replicas[2], t.Context()
	vim, err := registers(t, first, v1.Registration{
		Name: "cloud", Type: "openstack", Endpoint: keystone.Endpoint, CACert: keystone.CA + heat.CA, Project: "demo", Domain: fakekeystone.DomainName,
		Credential: v1.Credential{Username: user.Name, Password: secret.NewText(user.Password)},
	})
	if err != nil {
		t.Fatal(err)
	}
	content := csar.TackerHeat().Zip(t)
	p, err := first.CreatePackage(ctx, nil)
	if err == nil {
		err = first.UploadPackage(ctx, p.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err != nil {
		t.Fatal(err)
	}
	i, err := first.CreateVNF(ctx, sol003.CreateVNFRequest{VNFDID: csar.TackerHeatVNFD})
	if err != nil {
		t.Fatal(err)
	}
	heat.Hold(true)
	if _, err := first.BeginVNF(ctx, i.ID, "instantiate", sol003.InstantiateRequest{
		FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: vim.ID, VIMType: "ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
		Params: sol003.AdditionalParams{NFV: jsontext.Value(`{"CP":{"VDU1_CP1":{"network":"net0"}}}`)},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Heat is at it", func(context.Context) error {
		if len(heat.Stacks()) == 0 {
			return errors.New("it has no stack")
		}
		return nil
	})
	for _, r := range f.replicas {
		r.broker.Kill()
	}
	heat.Hold(false)
	last.start()
	await := func(operation string) {
		t.Helper()
		eventually(t, operation+" is completed", func(ctx context.Context) error { return completed(ctx, last, i.ID, operation) })
	}
	await("INSTANTIATE")
	if n := heat.Count("POST", "/heat/v1/project/stacks"); n != 1 || len(heat.Stacks()) != 1 {
		t.Errorf("a stack was asked for %d times, and there are %q", n, heat.Stacks())
	}
	if _, err := last.BeginVNF(ctx, i.ID, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"}); err != nil {
		t.Fatal(err)
	}
	await("TERMINATE")
	if left := keystone.Planted(); len(heat.Stacks()) > 0 || len(left) > 0 {
		t.Errorf("after terminate there are %q, and %d trusts", heat.Stacks(), len(left))
	}
}
