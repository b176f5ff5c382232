package test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

var update = flag.Bool("update", false, "rewrite docs/states.md")

// TestGoldenStates keeps the pictures in docs/states.md those of the tables.
func TestGoldenStates(t *testing.T) {
	const file = "../docs/states.md"
	var b strings.Builder
	b.WriteString("# State machines\n\n`make generate` makes this page from the tables in the code.\n")
	picture(&b, "A lease", broker.LeaseActive, broker.LeaseIrrevocable, broker.LeasePending, broker.LeaseRevoked, broker.LeaseRevoking)
	picture(&b, "A VIM", broker.VIMDraining, broker.VIMRegistered, broker.VIMRegistering)
	picture(&b, "A client that logs in by OAuth 2.0", oauth.Active, oauth.Deleting)
	picture(&b, "A grant to the VNFM of others", grant.Deciding, grant.Ended, grant.Granted, grant.Refused)
	picture(&b, "A key that signs clients' tokens", oauth.KeyAbandoned, oauth.KeyMaking, oauth.KeySigning, oauth.KeyVerifying)
	picture(&b, "An operation on a VNF instance", lifecycle.Completed, lifecycle.Failed, lifecycle.FailedTemp, lifecycle.Processing,
		lifecycle.RolledBack, lifecycle.RollingBack, lifecycle.Starting)
	picture(&b, "A subscription to VNF instances", subscription.Abandoned, subscription.Active, subscription.Making)
	picture(&b, "A VNF package", catalog.Created, catalog.Disabled, catalog.Enabled, catalog.Processing, catalog.Uploading)
	picture(&b, "Hidden parameters of a VNF instance", lifecycle.HiddenAbandoned, lifecycle.HiddenKept, lifecycle.HiddenMaking,
		lifecycle.HiddenRekeying)
	picture(&b, "A key that signs the audit log", notary.Abandoned, notary.Making, notary.Retired, notary.Revoked, notary.Signing)
	picture(&b, "A cluster of Cluster API", onboard.States()...)
	drawn := strings.Count(b.String(), "stateDiagram")
	if all := machines(t); len(all) != drawn {
		t.Errorf("%s has %d state machines, the code %d: %s", file, drawn, len(all), strings.Join(all, ", "))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what the tables say: run make generate", file)
	}
}

// machines names the types of the product that say which move may follow.
func machines(t *testing.T) (all []string) {
	t.Helper()
	method := regexp.MustCompile(`(?m)^func \(\w+ (\w+)\) CanMove\(`)
	eachSource(t, func(pkg, file string) {
		text, err := os.ReadFile(file) //nolint:gosec // it is of the repository
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllSubmatch(text, -1) {
			all = append(all, pkg+"."+string(m[1]))
		}
	})
	return all
}

// picture draws the moves between states. A state without any has no line.
func picture[S interface {
	~string
	CanMove(S) bool
}](b *strings.Builder, title string, states ...S) {
	fmt.Fprintf(b, "\n## %s\n\n```mermaid\nstateDiagram-v2\n", title)
	slices.Sort(states)
	for _, from := range states {
		for _, to := range states {
			if from.CanMove(to) {
				fmt.Fprintf(b, "    %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
}
