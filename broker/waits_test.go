package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A VIM that drains says which leases it waits for and why, and what else.
func TestADrainingVIMSaysWhatItWaitsFor(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	waits := func(want ...string) {
		t.Helper()
		v, err := b.VIM(t.Context(), alice, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.WaitsFor(t.Context(), alice, v)
		if err != nil || len(got) != len(want) {
			t.Fatalf("WaitsFor() = %q, %v, want %q", got, err, want)
		}
		for i, text := range want {
			for part := range strings.SplitSeq(text, "|") {
				if !strings.Contains(got[i], part) {
					t.Errorf("it waits for %q, want %q", got[i], part)
				}
			}
		}
	}
	waits() // it is not draining
	l, _ := b.mustIssue(alice, v.Name)
	b.kube.Fail(fake.Fault{Method: "DELETE", Path: "/serviceaccounts/", Kind: fake.Refuse, Status: 403, Times: -1})
	if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || gone {
		t.Fatalf("DeleteVIM() = %v, %v, want that it drains", gone, err)
	}
	waits("lease " + l.ID + " of alice, which is revoking, tries: 1: the credential may not delete serviceaccount|(403)|; the next try is at 2")

	// The lease ends, and the rest cannot be removed.
	b.kube.Heal()
	b.kube.Fail(fake.Fault{Method: "DELETE", Path: "/clusterrolebindings/|/rolebindings/|/namespaces/[^/]*$", Kind: fake.Refuse, Status: 403, Times: -1})
	b.clock.Add(time.Hour)
	b.mustReap()
	waits("what the broker keeps on the VIM, which the server | could not remove at 2|: the credential may not ")

	b.kube.Heal()
	b.clock.Add(time.Minute)
	b.mustReap()
	if _, err := b.VIM(t.Context(), alice, v.ID); err == nil {
		t.Error("the VIM is still there")
	}
}
