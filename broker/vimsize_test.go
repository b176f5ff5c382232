package broker_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// A project has as many VIMs as it may, and what is refused is neither made nor asked.
func TestVIMsOfAProjectAreBounded(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.VIMs.PerProject = 2 }})
	b.mustRegister(alice, "one")
	two := b.mustRegister(alice, "two")
	b.kube.Requests()
	_, err := b.RegisterVIM(t.Context(), alice, b.registration("three"))
	wantKind(t, "over the quota", err, broker.ErrQuota)
	wantField(t, "over the quota", err, "project")
	if asked := b.kube.Requests(); len(asked) > 0 {
		t.Errorf("the VIM was asked %v", asked)
	}
	var refused int
	for r, n := range b.Vitals(t.Context()).Results {
		if r.Class == broker.ErrQuota.Error() {
			refused += n
		}
	}
	if refused != 1 {
		t.Errorf("%d refusals are counted, want one", refused)
	}
	if _, gone, err := b.DeleteVIM(t.Context(), alice, two.ID, broker.Deletion{}); err != nil || !gone {
		t.Fatalf("DeleteVIM = %t, %v", gone, err)
	}
	b.mustRegister(alice, "three")
}

// What a VIM stores is bounded, also by changes; one that is beyond a bound that was lowered can
// become smaller.
func TestWhatAVIMStoresIsBounded(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.VIMs.Bytes = 8 << 10 }})
	large, text := b.registration("large"), strings.Repeat("x", 4<<10)
	large.Description, large.Extra = text, `{"a":"`+text+`"}`
	_, err := b.RegisterVIM(t.Context(), alice, large)
	wantKind(t, "too large", err, broker.ErrQuota)
	wantField(t, "too large", err, "extra")

	v := b.mustRegister(alice, "edge")
	if _, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Description: &text}); err != nil {
		t.Fatal(err)
	}
	before := len(b.log.String())
	_, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Extra: large.Extra})
	wantKind(t, "a change that makes it too large", err, broker.ErrQuota)
	cred := b.registration("edge").Credential
	_, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Extra: large.Extra, Credential: cred})
	wantKind(t, "a credential that comes with too much", err, broker.ErrQuota)
	if now, err := b.VIM(t.Context(), alice, v.ID); err != nil || now.Extra != "" || now.Pending != nil || now.Current.Number != 1 {
		t.Errorf("after refusals the VIM is %+v, %v", now, err)
	}
	if strings.Contains(b.log.String()[before:], text) {
		t.Error("the log repeats what was refused")
	}

	options := b.options
	options.Terms.VIMs.Bytes = 3 << 10
	b.Broker = mustNew(t, options)
	label, shorter := "east", text[:3<<10]
	_, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{"site": &label}})
	wantKind(t, "more, beyond a lowered bound", err, broker.ErrQuota)
	if _, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Description: &shorter}); err != nil {
		t.Errorf("less, beyond a lowered bound: %v", err)
	}
}
