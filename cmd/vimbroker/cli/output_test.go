package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/golden"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func sampleVIM() v1.VIM {
	return v1.VIM{
		ID: "5b2f0a52-6f3f-4a55-9a86-1f0c6f0f7c01", Name: "edge-1", Type: "kubernetes", Endpoint: "https://10.0.0.1:6443",
		Status: "reachable", State: "registered", Project: "acme", Labels: map[string]string{"site": "north", "env": "lab"},
		Default: true, Generation: 2, Revision: 7,
		Credential:         v1.StoredCredential{Kind: "bearerToken", ExpiresAt: noon.Add(30 * 24 * time.Hour), KeyStore: "keydir"},
		InsecureSkipVerify: true, Namespace: "web", CheckedAt: noon.Add(-90 * time.Second), Version: "v1.36.3",
		Identity: "9e1f", MintMessage: "cannot create serviceaccounts/token", Warnings: []string{"insecureSkipVerify"},
		CreatedAt: noon.Add(-3 * 24 * time.Hour), UpdatedAt: noon.Add(-5 * time.Hour), CreatedBy: "alice",
	}
}

func sampleLease() v1.Lease {
	return v1.Lease{
		ID: "0d9c4a0e-27b1-4e0c-8c0c-8f1c5e2b7a11", VIM: sampleVIM().ID, VIMName: "edge-1", VIMGeneration: 2, Principal: "alice", Project: "acme",
		State: "active", Role: "edit", Namespaces: []string{"db", "web"}, Format: "kubeconfig", Purpose: "roll out\x1b[31m 1.2",
		IssuedAt: noon.Add(-2 * time.Minute), ExpiresAt: noon.Add(58 * time.Minute), MaxExpiresAt: noon.Add(11 * time.Hour),
		Derived: true, Revocable: true, MaxRevocationLag: "10s",
		Grade: "namespaces", GradeReasons: []string{"the holder can read secrets in namespace web"}, CredentialID: "JTI=1",
	}
}

func sampleVNF() sol003.VNFInstance {
	return sol003.VNFInstance{
		ID: "342e17b8-eb02-4f1e-9859-4705aab0d23d", Name: "web", VNFDID: "web-1.0", Provider: "acme", ProductName: "web", SoftwareVersion: "1.0", State: "INSTANTIATED",
		Instantiated: &sol003.InstantiatedVNFInfo{
			FlavourID: "simple", ScaleStatus: []sol003.ScaleInfo{{AspectID: "front", Level: 1}}, VNFCs: []sol003.VNFCInfo{{ID: "front-front-7d4b9c-x2x9z", VDUID: "front"}},
		},
		Own: &sol003.InstanceDetail{
			Project: "acme", CreatedBy: "alice", CreatedAt: noon.Add(-time.Hour), Namespace: "shop", VIMName: "edge-1",
			Resources: []sol003.Resource{{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "shop", Name: "front"}, {Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "shop", Name: "data", Outlives: true}},
			NotDone:   []string{"the VNFD's VnfVirtualLink internalVL1 is not made: only what the package's files make is"},
		},
	}
}

// sampleEffects has one of each deed.
func sampleEffects() []sol003.Effect {
	three, all := int32(3), sampleVNF().Own.Resources
	return []sol003.Effect{
		{Deed: sol003.DeedMake, Resource: all[1]},
		{Deed: sol003.DeedApply, Resource: all[0]},
		{Deed: sol003.DeedScale, Resource: all[0], Replicas: &three},
		{Deed: sol003.DeedReplace, Resource: all[0]},
		{Deed: sol003.DeedDelete, Resource: all[0]},
	}
}

func sampleOperation() sol003.OpOcc {
	yes, no, until := true, false, noon.Add(10*time.Minute)
	return sol003.OpOcc{
		ID: "bde115b1-f26f-402e-affa-baaa27119f24", Operation: "INSTANTIATE", State: "PROCESSING", InstanceID: sampleVNF().ID, StartedAt: noon.Add(-time.Minute), StateEnteredAt: noon.Add(-30 * time.Second),
		Own: &sol003.OperationDetail{Project: "acme", AskedBy: "alice", Deadline: &until, NotDone: []string{"the VNFD's VnfVirtualLink internalVL1 is not made: only what the package's files make is"}, Steps: []sol003.Resource{
			{Kind: "ConfigMap", Name: "pages", Namespace: "shop", Standing: &yes, Ready: &yes}, {Kind: "Deployment", Name: "front", Namespace: "shop", Standing: &yes, Ready: &no, Message: "is not ready: 0 of 1 are available"},
		}},
	}
}

func waitingOperation() sol003.OpOcc {
	o := sampleOperation()
	o.State, o.StateEnteredAt = "STARTING", o.StartedAt
	o.Own = &sol003.OperationDetail{Project: "acme", AskedBy: "alice", Waiting: &sol003.Waiting{
		Since: o.StartedAt, Position: 2, Reason: "the VIM has 32 operations under way, as many as are allowed at once (vnf.operationsPerVIM)",
	}}
	return o
}

func TestTablesGolden(t *testing.T) {
	vim, lease := sampleVIM(), sampleLease()
	ended := lease
	ended.State, ended.Reason, ended.RevokedAt, ended.ConfirmedDeadAt = "revoked", "requested", noon.Add(-30*time.Second), noon
	for name, print := range map[string]func(p *program) error{
		"vim-list": func(p *program) error {
			return p.Print(nil, func(w io.Writer) { p.vimTable(w, []v1.VIM{vim, {Name: "b"}}) })
		},
		"vim-show": func(p *program) error { return p.printVIM(vim) },
		"vim-show-unchecked": func(p *program) error {
			return p.printVIM(v1.VIM{ID: vim.ID, Name: "b", Type: "kubernetes", Endpoint: vim.Endpoint, Status: "unknown", State: "registered", Generation: 1, Revision: 1, CreatedAt: noon, CreatedBy: "alice"})
		},
		"vnf-list": func(p *program) error {
			return p.Print(nil, func(w io.Writer) { p.vnfTable(w, []sol003.VNFInstance{sampleVNF()}) })
		},
		"vnf-show":            func(p *program) error { return printed(p, p.vnfFacts)(sampleVNF()) },
		"vnf-op-show":         func(p *program) error { return printed(p, p.operationFacts)(sampleOperation()) },
		"vnf-op-show-waiting": func(p *program) error { return printed(p, p.operationFacts)(waitingOperation()) },
		"vnf-op-list": func(p *program) error {
			return p.Print(nil, func(w io.Writer) {
				p.operationTable(w, []sol003.OpOcc{sampleOperation(), waitingOperation()}, map[string]string{sampleOperation().InstanceID: "web"})
			})
		},
		"vnf-preview": func(p *program) error {
			return printed(p, p.previewFacts)(sol003.Preview{
				Refusal: "policy does not allow alice to vnf:instantiate with this plan (policy default.wide-plans-need-admin; it reaches: node, cluster)", Privileged: true,
				PodSecurity: "privileged", NotDone: []string{"the VNFD's VnfVirtualLink internalVL1 is not made: only what the package's files make is"}, ReachesLeftOut: 7, Reaches: []sol003.Reach{
					{What: "node", Kind: "Deployment", Namespace: "shop", Name: "front", Field: "seccompProfile", Why: "pod-security: baseline"},
					{What: "cluster", Kind: "Service", Namespace: "shop", Name: "steal", Field: "externalIPs 8.8.8.8", Why: "traffic of others"},
				},
				Effects: sampleEffects(), Images: []string{"registry.example/web:1"},
				Leases: []sol003.PreviewLease{{
					Namespaces: []string{"shop"}, Grade: "namespaces", GradeReasons: []string{"the holder can read secrets in namespace shop"},
					Rules: []sol003.Rule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"front"}, Verbs: []string{"create", "patch"}}},
				}},
			})
		},
		"grant-list": func(p *program) error {
			return p.Print(nil, func(w io.Writer) { p.grantTable(w, []v1.Grant{sampleGrant(), refusedGrant()}) })
		},
		"grant-show":         func(p *program) error { return printed(p, p.grantFacts)(sampleGrant()) },
		"grant-show-refused": func(p *program) error { return printed(p, p.grantFacts)(refusedGrant()) },
		"grant-show-user": func(p *program) error {
			g := sampleGrant()
			g.Profile, g.TokenAt = "user", time.Time{}
			return printed(p, p.grantFacts)(g)
		},
		"lease-list": func(p *program) error {
			return p.Print(nil, func(w io.Writer) { p.leaseTable(w, []v1.Lease{lease, ended}) })
		},
		"lease-show": func(p *program) error { return printed(p, p.leaseFacts)(ended) },
		"revoked":    func(p *program) error { return p.printRevoked([]v1.Lease{ended}) },
		"inventory": func(p *program) error {
			return p.printInventories(v1.List[v1.Inventory]{Items: []v1.Inventory{{
				VIMName: "edge-1", Upstream: 3, Rows: 3, Settled: true,
				Orphans: []v1.Upstream{{Handle: "lease-1", Lease: "1", CreatedAt: noon.Add(-time.Hour)}}, Foreign: []string{"a binding of ours that is not ours"}, Ghosts: []v1.Lease{lease},
				Unbound: []v1.Unbound{{Lease: lease, Namespaces: []string{"db", "web"}}},
			}}})
		},
		"audit": func(p *program) error {
			return p.Print(nil, func(w io.Writer) {
				p.auditTable(w, []v1.AuditEntry{{
					Seq: 7, Time: noon, Principal: "alice", Action: "lease:issue", Kind: "VIM", Resource: vim.ID, Outcome: "done",
					Detail: map[string]string{"ttl": "1h0m0s", "role": "edit", "vimName": "edge-1", "lease": "0b5f6c1e-7f1e-4a57-9a44-0a3b3a0f9d11", "source": "192.0.2.7"},
				}})
			})
		},
		"decision": func(p *program) error { return printed(p, p.decisionFacts)(v1.Decision{}) },
		"vim-yaml": func(p *program) error {
			p.Output = "yaml"
			return p.printVIM(vim)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &program{&console.Console{Out: &out, Err: io.Discard, Output: "table", Now: func() time.Time { return noon }}}
			if err := print(p); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".golden")
			if golden.Updating() {
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("output differs (-want +got):\n%s", diff)
			}
			if strings.ContainsRune(out.String(), 0x1b) {
				t.Error("another caller's words reach the terminal with control characters")
			}
		})
	}
}

// Services of a cloud may take a token from their caches after Keystone has refused it:
// the lease says so until that time is over.
func TestConfirmedDeadSaysWhereItWasTried(t *testing.T) {
	p := &program{&console.Console{Now: func() time.Time { return noon }}}
	const elsewhere = ", where it was issued; services may take it from their caches until "
	for name, c := range map[string]struct {
		lag       string
		revoked   time.Time
		confirmed time.Time
		want      string
	}{
		"within the lag":     {"5m0s", noon.Add(-2 * time.Second), noon, p.Moment(noon) + elsewhere + p.Moment(noon.Add(298*time.Second))},
		"at the lag's end":   {"10s", noon.Add(-10 * time.Second), noon, p.Moment(noon)},
		"after the lag":      {"10s", noon.Add(-time.Minute), noon, p.Moment(noon)},
		"not confirmed":      {"5m0s", noon, time.Time{}, ""},
		"a lag that is none": {"soon", noon.Add(-time.Second), noon, p.Moment(noon)},
	} {
		t.Run(name, func(t *testing.T) {
			l := v1.Lease{MaxRevocationLag: c.lag, RevokedAt: c.revoked, ConfirmedDeadAt: c.confirmed}
			if got := p.confirmedDead(l); got != c.want {
				t.Errorf("confirmedDead() = %q, want %q", got, c.want)
			}
		})
	}
}

// What does not match fails the command, unless it was settled; what is somebody else's
// does not.
func TestAnInventoryThatDoesNotMatchFails(t *testing.T) {
	orphans, ghosts := []v1.Upstream{{Handle: "lease-1"}}, []v1.Lease{sampleLease()}
	for name, c := range map[string]struct {
		found v1.Inventory
		want  string
	}{
		"nothing":           {v1.Inventory{}, ""},
		"foreign alone":     {v1.Inventory{Foreign: []string{"a binding"}}, ""},
		"an orphan":         {v1.Inventory{Orphans: orphans}, "holds 1 orphan and lacks 0 leased objects"},
		"a ghost":           {v1.Inventory{Ghosts: ghosts}, "holds 0 orphans and lacks 1 leased object;"},
		"both, and settled": {v1.Inventory{Orphans: orphans, Ghosts: ghosts, Settled: true}, ""},
	} {
		c.found.VIMName = "edge-1"
		p := &program{&console.Console{Out: io.Discard, Err: io.Discard, Output: "table", Now: func() time.Time { return noon }}}
		err := p.printInventories(v1.List[v1.Inventory]{Items: []v1.Inventory{{VIMName: "edge-0"}, c.found}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "edge-1 "+c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	p := &program{&console.Console{Out: io.Discard, Err: io.Discard, Output: "table", Now: func() time.Time { return noon }}}
	err := p.printInventories(v1.List[v1.Inventory]{Items: []v1.Inventory{
		{VIMName: "edge-1", Orphans: orphans}, {VIMName: "edge-2"}, {VIMName: "edge-3", Ghosts: ghosts},
	}})
	if err == nil || !strings.Contains(err.Error(), "edge-1 holds 1") || !strings.Contains(err.Error(), "edge-3 holds 0") {
		t.Errorf("of two that do not match: %v, want both", err)
	}
}

func TestScopeOfALease(t *testing.T) {
	l := sampleLease()
	if got := scopeOf(l); got != "db, web" {
		t.Errorf("the scope of a lease in two namespaces is %q", got)
	}
	l.Namespaces, l.ClusterWide = nil, true
	if got := scopeOf(l); !strings.Contains(got, "cluster-wide") {
		t.Errorf("the scope of a cluster-wide lease is %q", got)
	}
}

func sampleGrant() v1.Grant {
	return v1.Grant{
		ID: "0197a2f0-6ad9-7a1a-9c55-4a9a1f0c7a11", Client: "8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", Project: "core", State: "granted",
		Operation: "18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11", OperationType: "INSTANTIATE", OperationURL: "https://vnfm.example/vnflcm/v2/vnf_lcm_op_occs/18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11",
		Instance: "97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11", VNFD: "b1bb0ce7-ebca-4fa7-95ed-4840d70a1177", Profile: "oidc", VIM: "5f1c", VIMName: "edge-1",
		Lease: "6f0d5f1a-2c59-4b60-9f11-7a1d2c3b4e5f", LeaseState: "active", TokenAt: noon.Add(-time.Minute), AskedAgainAt: noon.Add(time.Minute),
		CreatedAt: noon.Add(-time.Hour), DecidedAt: noon.Add(-time.Hour),
	}
}

func refusedGrant() v1.Grant {
	g := sampleGrant()
	g.State, g.Refusal, g.Operation = "refused", "no placement of the client tacker-north matches the request", "op-2"
	g.VIM, g.VIMName, g.Lease, g.LeaseState, g.TokenAt, g.AskedAgainAt = "", "", "", "", time.Time{}, time.Time{}
	return g
}

// Leases by rule are a cluster's, where its credential can make them.
func TestLeasesByRuleAreSaid(t *testing.T) {
	for _, c := range []struct {
		v    v1.VIM
		want string
	}{
		{v1.VIM{Type: "kubernetes", CanMint: true}, "yes, so operations and onboarding too"},
		{v1.VIM{Type: "kubernetes", CanMint: true, MintMessage: "lacks x"}, "lacks x; vimbroker vim rbac --for engine prints what is missing"},
		{v1.VIM{Type: "kubernetes", MintMessage: "lacks x"}, ""},
		{v1.VIM{Type: "openstack", CanMint: true}, ""},
	} {
		if got := byRule(c.v); got != c.want {
			t.Errorf("%+v: %q, want %q", c.v, got, c.want)
		}
	}
}

// Who uses an asset is named, and how many are not.
func TestUsersThatAreNotNamedAreCounted(t *testing.T) {
	for count, want := range map[int]string{0: "a, b", 2: "a, b", 3: "a, b and 1 more", 4: "a, b and 2 more"} {
		if got := usersOf(v1.Standing{Uses: []v1.LinkUse{{Instance: "a"}, {Instance: "b"}}, UseCount: count}); got != want {
			t.Errorf("of %d: %q, want %q", count, got, want)
		}
	}
}
