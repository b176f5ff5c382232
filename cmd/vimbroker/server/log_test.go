package server

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// An operator reads in the log why the store or a key store cannot be used, whoever writes the line.
func TestTheLogSaysCauses(t *testing.T) {
	err := fmt.Errorf("listing VIMs: %w", &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store cannot be used now", Cause: errors.New("no connection could be had")})
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		newLog(&out, config{LogFormat: format}).Error("pass failed", "pass", "reap", "error", err)
		if want := "listing VIMs: the store cannot be used now: no connection could be had"; !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s, want %q", format, out.String(), want)
		}
	}
}
