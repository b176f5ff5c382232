package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func ptr[T any](v T) *T { return &v }

func TestVIMFromRegistrationToDeletion(t *testing.T) {
	b := newBench(t)
	alice, ctx := b.as("alice"), t.Context()

	r := b.registration("core-1")
	r.Labels = map[string]string{"site": "north", "tier": "edge"}
	v, err := alice.RegisterVIM(ctx, r, "")
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "core-1" || v.Type != "kubernetes" || v.Endpoint != b.kube.Endpoint || v.Status != "reachable" || v.State != "registered" ||
		v.Project != "demo" || v.Generation != 1 || v.Credential.Kind != "bearerToken" || v.Credential.KeyStore != "keydir" || v.CreatedBy != "alice" ||
		!v.CanMint || v.Identity == "" || v.Version == "" || v.CheckedAt.IsZero() {
		t.Errorf("RegisterVIM() = %+v", v)
	}
	if !slices.Contains(v.Warnings, v1.WarnExpiring) || v.Credential.ExpiresAt.IsZero() {
		t.Errorf("a token that ends tomorrow: warnings %v, expires %v", v.Warnings, v.Credential.ExpiresAt)
	}

	shown, err := alice.VIM(ctx, "core-1")
	if err != nil || shown.ID != v.ID {
		t.Errorf("VIM(name) = %v, %v", shown.ID, err)
	}
	changed, err := alice.UpdateVIM(ctx, v.ID, v1.Change{Labels: map[string]*string{"tier": nil, "rack": ptr("7")}}, shown.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if len(changed.Labels) != 2 || changed.Labels["site"] != "north" || changed.Labels["rack"] != "7" || changed.Generation != 1 {
		t.Errorf("UpdateVIM(labels) = %v, generation %d", changed.Labels, changed.Generation)
	}
	_, err = alice.UpdateVIM(ctx, v.ID, v1.Change{Default: ptr(true)}, shown.Revision)
	wantProblem(t, "UpdateVIM with an old revision", err, http.StatusPreconditionFailed)

	rotated, err := alice.RotateVIM(ctx, v.ID, v1.Rotation{}, changed.Revision)
	if err != nil || rotated.Generation != 1 {
		t.Errorf("RotateVIM(nothing) = generation %d, %v; want the same", rotated.Generation, err)
	}
	_, err = alice.RotateVIM(ctx, v.ID, v1.Rotation{KeyStore: "elsewhere"}, 0)
	wantProblem(t, "RotateVIM to an unknown key store", err, http.StatusUnprocessableEntity)
	keys, err := alice.Keys(ctx, client.VIMQuery{}, true)
	if err != nil || len(keys.Items) != 1 || keys.Items[0].KeyStore != "keydir" || keys.Items[0].Opens == nil || !*keys.Items[0].Opens {
		t.Errorf("Keys(try) = %+v, %v; want one in keydir that opens", keys.Items, err)
	}
	rotated, err = alice.RotateVIM(ctx, v.ID, v1.Rotation{Credential: v1.Credential{Username: b.kube.Username, Password: secret.NewText(b.kube.Password)}}, 0)
	if err != nil || rotated.Credential.Kind != "basicAuth" {
		t.Errorf("RotateVIM(password) = %q, %v", rotated.Credential.Kind, err)
	}
	if checked, err := alice.CheckVIM(ctx, v.ID); err != nil || checked.Status != "reachable" {
		t.Errorf("CheckVIM() = %q, %v", checked.Status, err)
	}

	_, _, err = alice.DeleteVIM(ctx, v.ID, client.Deletion{IfRevision: 1})
	wantProblem(t, "DeleteVIM with an old revision", err, http.StatusPreconditionFailed)
	if _, gone, err := alice.DeleteVIM(ctx, v.ID, client.Deletion{}); err != nil || !gone {
		t.Errorf("DeleteVIM() = gone %v, %v", gone, err)
	}
	_, err = alice.VIM(ctx, v.ID)
	wantProblem(t, "VIM() after its deletion", err, http.StatusNotFound)
}

func TestVIMInUseIsRefusedOrDrained(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	b.mustIssue("core-1", "")
	_, _, err := b.as("alice").DeleteVIM(t.Context(), "core-1", client.Deletion{})
	if p := wantProblem(t, "DeleteVIM with a live lease", err, http.StatusConflict); p.Remedy == "" {
		t.Error("the refusal does not say what to do")
	}
	b.kube.Fail(fake.Fault{Method: "DELETE", Kind: fake.Drop, Times: -1})
	v, gone, err := b.as("alice").DeleteVIM(t.Context(), "core-1", client.Deletion{Drain: true})
	if err != nil || gone || v.Status != "draining" {
		t.Errorf("DeleteVIM(drain) of one that does not answer = %q, gone %v, %v; want draining", v.Status, gone, err)
	}
	b.kube.Heal()
	if err := b.broker.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, gone, err := b.as("root").DeleteVIM(t.Context(), v.ID, client.Deletion{Drain: true, Force: true}); err != nil || !gone {
		t.Errorf("DeleteVIM(force) = gone %v, %v", gone, err)
	}
}

// A credential of few rights registers, with what it lacks in the report; only that the
// cluster cannot be told from others refuses it.
func TestACredentialOfFewRightsIsReported(t *testing.T) {
	b := newBench(t)
	b.kube.Deny(fakekube.Denial{Verb: "list", Resource: "namespaces"})
	v := b.mustRegister("without-namespaces")
	if regions := v.Discovered.Regions; v.Status != "reachable" || !v.CanMint || len(regions) != 0 {
		t.Errorf("without list on namespaces: %s, can mint %v, namespaces %v", v.Status, v.CanMint, regions)
	}
	b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	if v = b.mustRegister("without-tokens"); v.Status != "reachable" || v.CanMint || !strings.Contains(v.MintMessage, "serviceaccounts/token") {
		t.Errorf("without create on serviceaccounts/token: %s, can mint %v: %s", v.Status, v.CanMint, v.MintMessage)
	}
	b.kube.Deny(fakekube.Denial{Verb: "get", Resource: "namespaces"})
	_, err := b.as("alice").RegisterVIM(t.Context(), b.registration("without-identity"), "")
	if p := wantProblem(t, "without get on namespaces", err, http.StatusUnprocessableEntity); !strings.Contains(p.Detail+p.Remedy, "get on namespaces") {
		t.Errorf("without get on namespaces: %+v", p)
	}
}

func TestRepeatedRegistrationIsOne(t *testing.T) {
	b := newBench(t)
	r := b.registration("core-1")
	first, err := b.as("alice").RegisterVIM(t.Context(), r, "once")
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.as("alice").RegisterVIM(t.Context(), r, "once")
	if err != nil || again.ID != first.ID {
		t.Errorf("the same key again = %q, %v; want %q", again.ID, err, first.ID)
	}
	_, err = b.as("alice").RegisterVIM(t.Context(), r, "other")
	wantProblem(t, "the same name under another key", err, http.StatusConflict)
}

func TestRegistrationByKubeconfigNeedsNoType(t *testing.T) {
	b := newBench(t)
	v, err := b.as("alice").RegisterVIM(t.Context(), v1.Registration{Name: "core-1", Kubeconfig: secret.NewText(b.kube.Kubeconfig())}, "")
	if err != nil || v.Type != "kubernetes" {
		t.Errorf("RegisterVIM(kubeconfig) = %q, %v", v.Type, err)
	}
}

func TestInsecureIsVisible(t *testing.T) {
	b := newBench(t)
	r := b.registration("core-1")
	r.CACert, r.InsecureSkipVerify = "", true
	v, err := b.as("alice").RegisterVIM(t.Context(), r, "")
	if err != nil || !v.InsecureSkipVerify || !slices.Contains(v.Warnings, v1.WarnInsecure) {
		t.Errorf("RegisterVIM(insecure) = %v, %v, %v", v.InsecureSkipVerify, v.Warnings, err)
	}
}

func TestCloudsAreReadByTheirDriver(t *testing.T) {
	b := newBench(t)
	for name, r := range map[string]v1.Registration{
		"endpoint":   {Name: "os", Type: "openstack", Endpoint: "ftp://keystone.example/v3"},
		"cloudsYaml": {Name: "os", CloudsYAML: secret.NewText("clouds: []"), Cloud: "one"},
		"credential.applicationCredentialSecret": {
			Name: "os", Type: "openstack", Endpoint: "https://keystone.example", Credential: v1.Credential{ApplicationCredentialID: "1"},
		},
		"project": {
			Name: "os", Type: "openstack", Endpoint: "https://keystone.example", Domain: "Default",
			Credential: v1.Credential{Username: "u", Password: secret.NewText("s3cret")},
		},
	} {
		_, err := b.as("alice").RegisterVIM(t.Context(), r, "")
		p := wantProblem(t, name, err, http.StatusUnprocessableEntity)
		if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Field, name) {
			t.Errorf("%s: faults %+v", name, p.Errors)
		}
	}
}

// What belongs to clouds is refused for a cluster, and not dropped without a word.
func TestClustersHaveNothingOfClouds(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	for field, r := range map[string]v1.Registration{
		"region":     {Region: "RegionOne"},
		"project":    {UserDomain: "Default"},
		"cloudsYaml": {CloudsYAML: secret.NewText("clouds: {}"), Cloud: "one"},
	} {
		spoilt := b.registration("core-2")
		spoilt.Region, spoilt.UserDomain, spoilt.CloudsYAML, spoilt.Cloud = r.Region, r.UserDomain, r.CloudsYAML, r.Cloud
		_, err := b.as("alice").RegisterVIM(t.Context(), spoilt, "")
		if p := wantProblem(t, field, err, http.StatusUnprocessableEntity); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: faults %+v", field, p.Errors)
		}
	}
	credential := b.registration("core-1").Credential
	_, err := b.as("alice").UpdateVIM(t.Context(), "core-1", v1.Change{Scope: &v1.Scope{Region: "RegionOne"}, Credential: credential}, 0)
	wantProblem(t, "a region for a cluster", err, http.StatusUnprocessableEntity)
}

func TestCredentialIsOneWholeKind(t *testing.T) {
	b := newBench(t)
	text := secret.NewText("s3cret")
	for field, c := range map[string]v1.Credential{
		"credential":                   {Token: text, Username: "u", Password: text},
		"credential.clientKey":         {ClientCertificate: "pem"},
		"credential.clientCertificate": {ClientKey: text},
		"credential.password":          {Username: "u"},
		"credential.username":          {Password: text},
	} {
		r := b.registration("core-1")
		r.Credential = c
		_, err := b.as("alice").RegisterVIM(t.Context(), r, "")
		p := wantProblem(t, field, err, http.StatusUnprocessableEntity)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: faults %+v", field, p.Errors)
		}
	}
}

func TestListsFilterAndPage(t *testing.T) {
	b := newBench(t)
	alice := b.as("alice")
	for _, name := range []string{"a", "b", "c"} {
		r := b.registration(name)
		r.Labels = map[string]string{"site": "north"}
		if name == "b" {
			r.Labels["tier"] = "edge"
		}
		if _, err := alice.RegisterVIM(t.Context(), r, ""); err != nil {
			t.Fatal(err)
		}
	}
	names := func(q client.VIMQuery) string {
		t.Helper()
		var got []string
		for v, err := range alice.AllVIMs(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v.Name)
		}
		return strings.Join(got, " ")
	}
	for want, q := range map[string]client.VIMQuery{
		"a b c": {PageSize: 2},
		"b":     {Labels: map[string]string{"site": "north", "tier": "edge"}},
		"c":     {Name: "c", Status: "reachable", Type: "kubernetes"},
		"":      {Status: "unreachable"},
	} {
		if got := names(q); got != want {
			t.Errorf("VIMs(%+v) = %q, want %q", q, got, want)
		}
	}
	page, err := alice.VIMs(t.Context(), client.VIMQuery{PageSize: 2})
	if err != nil || len(page.Items) != 2 || page.NextPageToken == "" {
		t.Errorf("VIMs(2) = %d items, next %q, %v", len(page.Items), page.NextPageToken, err)
	}
	if _, body := b.raw("mallet", "GET", "/v1/vims", ""); body != `{"items":[],"nextPageToken":""}` {
		t.Errorf("an empty list is %s", body)
	}
}

func TestInventoryShowsAndSettlesOrphans(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	l := b.mustIssue("core-1", "")
	i, err := b.as("alice").Inventory(t.Context(), "core-1", false)
	if err != nil || i.VIMName != "core-1" || i.Upstream != 1 || i.Rows != 1 || len(i.Orphans)+len(i.Ghosts) != 0 {
		t.Errorf("Inventory() = %+v, %v", i, err)
	}
	for _, there := range b.leases() {
		namespace, name, _ := strings.Cut(there, "/")
		b.kube.Delete("serviceaccounts", namespace, name)
	}
	i, err = b.as("root").Inventory(t.Context(), i.VIM, true)
	if err != nil || len(i.Ghosts) != 1 || i.Ghosts[0].ID != l.ID || !i.Settled {
		t.Errorf("Inventory(settle) = %+v, %v", i, err)
	}
	ended, err := b.as("alice").Lease(t.Context(), l.ID)
	if err != nil || ended.State != "revoked" || ended.Reason != "goneUpstream" {
		t.Errorf("the ghost is %q because %q, %v", ended.State, ended.Reason, err)
	}
}
