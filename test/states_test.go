package test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/golden"
)

// TestGoldenStates keeps the pictures in docs/states.md those of the tables.
func TestGoldenStates(t *testing.T) {
	const file = "../docs/states.md"
	var b strings.Builder
	b.WriteString("# State machines\n\n`make generate` makes this page from the tables in the code.\n")
	all := machines(t)
	picture(t, &b, all, "A lease", broker.LeaseActive, broker.LeaseIrrevocable, broker.LeasePending, broker.LeaseRevoked, broker.LeaseRevoking)
	picture(t, &b, all, "A VIM", broker.VIMDraining, broker.VIMRegistered, broker.VIMRegistering)
	picture(t, &b, all, "A client that logs in by OAuth 2.0", oauth.Active, oauth.Deleting)
	picture(t, &b, all, "A grant to the VNFM of others", grant.Deciding, grant.Ended, grant.Granted, grant.Refused)
	picture(t, &b, all, "An operation on a VNF instance", lifecycle.Completed, lifecycle.Failed, lifecycle.FailedTemp, lifecycle.Processing,
		lifecycle.RolledBack, lifecycle.RollingBack, lifecycle.Starting)
	picture(t, &b, all, "A virtual link or a volume", asset.Making, asset.Ready, asset.Removing)
	picture(t, &b, all, "A VNF package", catalog.Created, catalog.Disabled, catalog.Enabled, catalog.Processing, catalog.Uploading)
	picture(t, &b, all, "What is sealed: keys that sign, secrets of subscriptions, secret parameters", keyring.Abandoned, keyring.Active,
		keyring.Making, keyring.Rekeying, keyring.Retired, keyring.Revoked, keyring.Signing, keyring.Verifying)
	picture(t, &b, all, "A cluster of Cluster API", onboard.States()...)
	for machine := range all {
		t.Errorf("%s has no picture of %s", file, machine)
	}
	if golden.Updating() {
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

// machines are the types of the product that say which move may follow, with the states of each, by package and type.
func machines(t *testing.T) map[string][]string {
	t.Helper()
	method := regexp.MustCompile(`(?m)^func \(\w+ (\w+)\) CanMove\(`)
	constant := regexp.MustCompile(`(?m)^\t\w+ +(\w+) += "([^"]*)"$`)
	all, states := map[string][]string{}, map[string][]string{}
	eachSource(t, func(pkg, file string) {
		text, err := os.ReadFile(file) //nolint:gosec // it is of the repository
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			all[path.Base(pkg)+"."+m[1]] = nil
		}
		for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
			states[path.Base(pkg)+"."+m[1]] = append(states[path.Base(pkg)+"."+m[1]], m[2])
		}
	})
	for machine := range all {
		all[machine] = states[machine]
	}
	return all
}

// picture walks all pairs of states and draws the moves between them. It takes the machine out of those that are
// to be drawn. A state without any move has no line.
func picture[S interface {
	~string
	CanMove(S) bool
}](t *testing.T, b *strings.Builder, machines map[string][]string, title string, states ...S) {
	t.Helper()
	machine := fmt.Sprintf("%T", states[0])
	slices.Sort(states)
	declared := slices.Sorted(slices.Values(machines[machine]))
	if !slices.EqualFunc(states, declared, func(s S, text string) bool { return string(s) == text }) {
		t.Errorf("%s: the picture has the states %v, the code %v", machine, states, declared)
	}
	delete(machines, machine)
	fmt.Fprintf(b, "\n## %s\n\n```mermaid\nstateDiagram-v2\n", title)
	for _, from := range states {
		if from.CanMove(from) {
			t.Errorf("%s: %s may become itself: staying is no move", machine, from)
		}
		for _, to := range states {
			if from.CanMove(to) {
				fmt.Fprintf(b, "    %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
}
