package broker

import (
	"errors"
	"fmt"
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
