package broker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// What is owed is bounded, and the refusal says so; what is owed already is not refused.
func TestDebtsAreBounded(t *testing.T) {
	d := newDebts()
	for i := range maxOwed {
		if _, err := d.take(Lease{ID: fmt.Sprint(i)}, &audit.Act{}, time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.take(Lease{ID: "more"}, &audit.Act{}, time.Unix(0, 0))
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "has to record first") {
		t.Errorf("one more = %v", err)
	}
	if _, err := d.take(Lease{ID: "7"}, &audit.Act{}, time.Unix(0, 0)); err != nil {
		t.Errorf("a repeat = %v", err)
	}
	d.drop("7")
	if _, err := d.take(Lease{ID: "more"}, &audit.Act{}, time.Unix(0, 0)); err != nil {
		t.Errorf("with space again = %v", err)
	}
	if all := d.all(); len(all) != maxOwed || all[0].id != "0" && all[0].id != "more" {
		t.Errorf("%d debts, the first of lease %s", len(all), all[0].id)
	}
}

// The many leases of a VIM that is silent keep no other VIM waiting, and no other lease of their own.
func TestEachVIMIsAskedAgainInTurn(t *testing.T) {
	d, now := newDebts(), time.Unix(1000, 0)
	for n, l := range []Lease{{ID: "a1", VIM: "a"}, {ID: "a2", VIM: "a"}, {ID: "a3", VIM: "a"}, {ID: "b1", VIM: "b"}} {
		if _, err := d.take(l, &audit.Act{}, now.Add(time.Duration(n)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	for n := range 6 {
		first := d.longest()[0]
		asked = append(asked, first.id)
		d.asked(first, now.Add(time.Duration(n+1)*time.Minute))
	}
	if want := []string{"a1", "b1", "a2", "b1", "a3", "b1"}; !slices.Equal(asked, want) {
		t.Errorf("asked again first are %q, want %q", asked, want)
	}
}
