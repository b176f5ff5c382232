package secret_test

import (
	"errors"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
)

func TestAnErrorSaysWhatWasDone(t *testing.T) {
	read := func(fault error) (err error) {
		defer secret.Doing(&err, "reading key %q", "a%sb")
		return fault
	}
	if err := read(nil); err != nil {
		t.Errorf("without a fault: %v", err)
	}
	if err := read(secret.ErrCorrupt); !errors.Is(err, secret.ErrCorrupt) || err.Error() != `reading key "a%sb": stored key is corrupt` {
		t.Errorf("with a fault: %v", err)
	}
}
