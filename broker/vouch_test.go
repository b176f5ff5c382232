package broker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// TestTheOwnerSaysWhichKindsAllMayHave: an administrator of the VIM's project, in a new generation, and in the log.
func TestTheOwnerSaysWhichKindsAllMayHave(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.share(alice, "hub")
	kinds := []string{"slices.ran.example.com", "network-attachment-definitions.k8s.cni.cncf.io=macvlan,bridge,bridge"}
	_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{SharedKinds: &kinds})
	wantKind(t, "a member's list", err, broker.ErrDenied)
	wantField(t, "a member's list", err, "sharedKinds")
	for _, wrong := range [][]string{
		{"Pods"}, {"a.example.com="}, {"a.example.com=x y"}, {"a b"}, {""}, {"a.example.com", "a.example.com=x"}, make([]string, 101),
	} {
		_, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedKinds: &wrong})
		wantKind(t, strings.Join(wrong, ";"), err, broker.ErrInvalid)
		wantField(t, strings.Join(wrong, ";"), err, "sharedKinds")
	}
	after, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedKinds: &kinds})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"network-attachment-definitions.k8s.cni.cncf.io=bridge,macvlan", "slices.ran.example.com"}
	if got := after.Current.Target.Vouched.Kinds(); !slices.Equal(got, want) || after.Current.Number != v.Current.Number+1 {
		t.Errorf("generation %d has %q, want %q in the next", after.Current.Number, got, want)
	}
	// Other changes keep it, also those that bring a credential; an empty list ends it.
	namespace, none := "cnf", []string{}
	if after, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Namespace: &namespace}); err != nil || len(after.Current.Target.Vouched.Kinds()) != 2 {
		t.Errorf("after another change: %q, %v", after.Current.Target.Vouched, err)
	}
	if after, err = b.RotateVIM(t.Context(), alice, v.ID, b.registration("hub").Credential, 0); err != nil || len(after.Current.Target.Vouched.Kinds()) != 2 {
		t.Errorf("after another credential: %q, %v", after.Current.Target.Vouched, err)
	}
	if after, err = b.UpdateVIM(t.Context(), root, v.ID, broker.Change{SharedKinds: &none}); err != nil || len(after.Current.Target.Vouched.Kinds()) != 0 {
		t.Errorf("after an empty list: %q, %v", after.Current.Target.Vouched, err)
	}
}

func TestSharedKindsAreNarrowedByTheirTypes(t *testing.T) {
	v := broker.Vouched{SharedKinds: "a.example.com b.example.com=x,y"}
	for _, c := range []struct {
		kind  string
		types []string
		want  bool
	}{
		{"a.example.com", nil, true},
		{"a.example.com", []string{"z"}, true},
		{"b.example.com", []string{"y", "x"}, true},
		{"b.example.com", []string{"x", "z"}, false},
		{"b.example.com", nil, false},
		{"c.example.com", nil, false},
	} {
		if got := v.Shares(c.kind, c.types); got != c.want {
			t.Errorf("%s %v: %t, want %t", c.kind, c.types, got, c.want)
		}
	}
}
