package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/v1"
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
	}
}

func TestTablesGolden(t *testing.T) {
	vim, lease := sampleVIM(), sampleLease()
	ended := lease
	ended.State, ended.Reason, ended.RevokedAt, ended.ConfirmedDeadAt = "revoked", "requested", noon.Add(-30*time.Second), noon
	for name, print := range map[string]func(p *program) error{
		"vim-list": func(p *program) error {
			return p.print(nil, func(w io.Writer) { p.vimTable(w, []v1.VIM{vim, {Name: "b"}}) })
		},
		"vim-show": func(p *program) error { return p.printVIM(vim) },
		"lease-list": func(p *program) error {
			return p.print(nil, func(w io.Writer) { p.leaseTable(w, []v1.Lease{lease, ended}) })
		},
		"lease-show": func(p *program) error { return p.printLease(ended) },
		"revoked":    func(p *program) error { return p.printRevoked([]v1.Lease{ended}) },
		"inventory": func(p *program) error {
			return p.printInventories(v1.List[v1.Inventory]{Items: []v1.Inventory{{
				VIMName: "edge-1", Upstream: 3, Rows: 3, Settled: true,
				Orphans: []v1.Upstream{{Handle: "lease-1", Lease: "1", CreatedAt: noon.Add(-time.Hour)}}, Ghosts: []v1.Lease{lease},
			}}})
		},
		"audit": func(p *program) error {
			return p.print(nil, func(w io.Writer) {
				p.auditTable(w, []v1.AuditEntry{{
					Seq: 7, Time: noon, Principal: "alice", Action: "lease:issue", Kind: "VIM", Resource: vim.ID, Outcome: "done",
					Detail: map[string]string{"ttl": "1h0m0s", "role": "edit"},
				}})
			})
		},
		"decision": func(p *program) error { return p.printDecision(v1.Decision{}) },
		"vim-yaml": func(p *program) error {
			p.output = "yaml"
			return p.printVIM(vim)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &program{out: &out, err: io.Discard, output: "table", now: func() time.Time { return noon }}
			if err := print(p); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
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

func TestTimesAreToldAsPeopleDo(t *testing.T) {
	p := &program{now: func() time.Time { return noon }}
	for d, want := range map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", time.Second: "in 1s", -59 * time.Second: "59s ago", 90 * time.Second: "in 2m",
		59*time.Minute + 59*time.Second: "in 60m", 3 * time.Hour: "in 3h", -47 * time.Hour: "2d ago", 30 * 24 * time.Hour: "in 30d",
	} {
		if got := p.when(noon.Add(d)); got != want {
			t.Errorf("when(now%+v) = %q, want %q", d, got, want)
		}
	}
	if got := p.when(time.Time{}); got != "" {
		t.Errorf("when(never) = %q, want nothing", got)
	}
	zone := time.FixedZone("far", 14*3600)
	if got, want := p.moment(noon.Add(time.Hour).In(zone)), "in 60m (2026-11-20T13:00:00Z)"; got != want {
		t.Errorf("moment in another zone = %q, want %q", got, want)
	}
}

// No lifetime is another word for the server's default: that is what no flag says.
func TestALifetimeIsAboveZero(t *testing.T) {
	for _, text := range []string{"0s", "0", "-5m", "soon", ""} {
		for _, line := range []string{"lease issue --vim x", "lease renew x", "exec x", "credential --vim x"} {
			p := &program{out: io.Discard, err: io.Discard}
			root := p.rootCommand()
			root.SetArgs(append(strings.Fields(line), "--ttl="+text))
			root.SetOut(io.Discard)
			root.SetErr(io.Discard)
			if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "must be a duration above zero") {
				t.Errorf("%s --ttl=%s: %v", line, text, err)
			}
		}
	}
}

// Every command says what it does, at length and with an example, and completes
// its arguments.
func TestEveryCommandHelps(t *testing.T) {
	p := &program{out: io.Discard, err: io.Discard}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.Long == "" || c.Example == "" {
			t.Errorf("%s: Short %q, Long %d bytes, Example %q: one is missing, or Short ends in a full stop", c.CommandPath(), c.Short, len(c.Long), c.Example)
		}
		for _, line := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len(line) > 160 {
				t.Errorf("%s: a line of its help is %d bytes long", c.CommandPath(), len(line))
			}
		}
		if strings.ContainsAny(c.Use, " ") && !strings.HasPrefix(strings.SplitN(c.Use, " ", 2)[1], "-") && c.ValidArgsFunction == nil {
			t.Errorf("%s takes arguments and completes none", c.CommandPath())
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(p.rootCommand())
}
