package broker_test

import (
	"maps"
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A request brings a VIM's credential only where a policy of the site says so, and so it is with a change of it. What is
// refused leaves neither row nor key.
func TestRequestsBringVIMsByPolicyOnly(t *testing.T) {
	inline := &broker.Inline{Instance: "342e17b8-eb02-4f1e-9859-4705aab0d23d", Connection: "site"}
	brings := func(b *bench, p policy.Principal) (broker.VIM, error) {
		r := b.registration("brought")
		r.Inline = inline
		return b.RegisterVIM(t.Context(), p, r)
	}
	b := newBench(t, benchOptions{})
	for _, p := range []policy.Principal{alice, root} {
		_, err := brings(b, p)
		wantKind(t, p.Name+" brings a VIM", err, broker.ErrDenied)
		wantField(t, p.Name+" brings a VIM", err, "vimConnectionInfo")
	}
	if got := b.wantLog(policy.VIMInline); len(got) == 0 || got[len(got)-1] != audit.Denied {
		t.Errorf("the log holds %v of vim:inline, want the refusal at its end", got)
	}
	if left, _, err := b.store.VIMs(t.Context(), broker.VIMFilter{Page: broker.Page{Size: 10}}); err != nil || len(left) != 0 {
		t.Errorf("a refusal leaves %d VIMs, %v", len(left), err)
	}
	if keys, err := os.ReadDir(b.dir + "/keys"); err != nil || len(keys) != 0 {
		t.Errorf("a refusal leaves %d keys, %v", len(keys), err)
	}
	own := b.mustRegister(alice, "own")
	_, err := b.UpdateVIM(t.Context(), alice, own.ID, broker.Change{Credential: b.registration("x").Credential, Inline: true})
	wantKind(t, "a request that changes a credential", err, broker.ErrDenied)
	if v, err := b.VIM(t.Context(), alice, own.ID); err != nil || v.Current.Number != 1 {
		t.Errorf("after the refusal generation %d, %v", v.Current.Number, err)
	}

	b = newBench(t, benchOptions{policies: site(`@id("inline") permit (principal, action == Action::"vim:inline", resource)
		when { principal.roles.contains("member") && context.inline && context.labelsChanged.contains("vimbroker.io/inline") };`)})
	v, err := brings(b, alice)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{broker.LabelInline: "true", broker.LabelInstance: inline.Instance, broker.LabelConnection: "site"}
	if !maps.Equal(v.Labels, want) {
		t.Errorf("the VIM has labels %v, want %v", v.Labels, want)
	}
	// The labels stay out of its keeper's reach, and only such a VIM is the pass's to delete.
	_, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{broker.LabelInline: nil}})
	wantKind(t, "taking the label away", err, broker.ErrDenied)
	r := b.registration("posing")
	r.Labels = want
	_, err = b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "registering under the labels", err, broker.ErrDenied)
	plain := b.mustRegister(alice, "plain")
	self := policy.Principal{Name: "system:inline", Roles: []string{policy.RoleSystem}}
	_, _, err = b.DeleteVIM(t.Context(), self, plain.ID, broker.Deletion{Drain: true})
	wantKind(t, "deleting a VIM that somebody registered", err, broker.ErrNotFound)
	if _, gone, err := b.DeleteVIM(t.Context(), self, v.ID, broker.Deletion{Drain: true}); err != nil || !gone {
		t.Errorf("DeleteVIM = %t, %v", gone, err)
	}
}
