package testlog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/testlog"
)

// said is a test that notes its failures.
type said struct {
	testing.TB
	failed []string
	ends   []func()
}

func (s *said) Helper()                           {}
func (s *said) Cleanup(end func())                { s.ends = append(s.ends, end) }
func (s *said) Errorf(format string, args ...any) { s.failed = append(s.failed, format) }

func TestALineOfNoErrorFailsItsTest(t *testing.T) {
	var lines bytes.Buffer
	s := &said{TB: t}
	log := testlog.To(s, slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn})).With("request", "1")
	log.WarnContext(context.Background(), "left for the next pass", "error", errors.New("no answer"))
	log.Info("begun", "vim", "edge")
	if len(s.failed) != 0 {
		t.Errorf("failed with %q", s.failed)
	}
	if !strings.Contains(lines.String(), `error="no answer"`) || strings.Contains(lines.String(), "begun") {
		t.Errorf("the handler got %q", &lines)
	}
	log.DebugContext(context.Background(), "left for the next pass", "error", error(nil))
	if len(s.failed) != 1 {
		t.Errorf("a line of no error fails its test %d times", len(s.failed))
	}
	for _, end := range s.ends {
		end()
	}
	log.Warn("left for the next pass", "error", error(nil))
	if len(s.failed) != 1 {
		t.Error("a test that has ended fails")
	}
}
