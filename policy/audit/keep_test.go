package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// A torn log is an alarm each time that it tears, and not each time that it is seen.
func TestKeepLogsATornLogOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	steps := []error{tree.ErrTorn, tree.ErrTorn, tree.ErrTorn, nil, tree.ErrTorn, errors.New("away"), tree.ErrTorn}
	audit.Keep(ctx, time.Millisecond, testlog.To(t, slog.NewTextHandler(&out, nil)), func(context.Context) error {
		if len(steps) == 0 {
			stop()
			return errors.New("cut off") // what a step says after the end is nobody's news
		}
		err := steps[0]
		steps = steps[1:]
		return err
	})
	audit.Keep(ctx, time.Hour, testlog.Silent(t), func(context.Context) error {
		t.Error("a step is taken after the end")
		return nil
	})
	if got := strings.Count(out.String(), "level=ERROR"); got != 2 {
		t.Errorf("%d errors, want 2:\n%s", got, out.String())
	}
	if got := strings.Count(out.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings, want 1:\n%s", got, out.String())
	}
}
