package rows_test

import (
	"errors"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

func TestRefusal(t *testing.T) {
	var r rows.WriteRefusal
	full, standby := rows.Full(nil), rows.NoWrites(nil)
	last := func(when string, want error) {
		t.Helper()
		if got := r.Last(); got != want { //nolint:errorlint // the very same
			t.Errorf("%s: Last = %v, want %v", when, got, want)
		}
	}
	last("at first", nil)
	for _, err := range []error{nil, rows.Unavailable(nil), rows.NotFound("it"), errors.New("x")} {
		if r.Note(err) != err { //nolint:errorlint // the very same
			t.Errorf("Note(%v) is another", err)
		}
		last("after another error", nil)
	}
	_ = r.Note(full)
	last("without space", full)
	if err := r.Settle(func() error { return r.Note(standby) }); !errors.Is(err, broker.ErrNoWrites) {
		t.Errorf("Settle = %v", err)
	}
	last("after a look that failed", standby)
	_ = r.Settle(func() error { _ = r.Note(full); return nil })
	last("after a look, beside which another write was refused", full)
	_ = r.Settle(func() error { return nil })
	last("after a look that found it well", nil)
}
