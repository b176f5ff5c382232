package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestAWriteWithoutSpaceIsRemembered: a write that finds no space says so until the store has been looked at again.
func TestAWriteWithoutSpaceIsRemembered(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	pages := func(most string) {
		if _, err := s.writer.ExecContext(t.Context(), "PRAGMA max_page_count = "+most); err != nil {
			t.Fatal(err)
		}
	}
	pages("1") // as many as there are
	err := s.Append(t.Context(), audit.Entry{Principal: strings.Repeat("a", 1<<20), Action: "vim:register", Outcome: audit.Done})
	if !errors.Is(err, broker.ErrNoSpace) || !errors.Is(s.Refusal(), broker.ErrNoSpace) {
		t.Errorf("Append without space = %v, Refusal = %v", err, s.Refusal())
	}
	pages("1000000")
	if err := s.Check(t.Context(), broker.Replica{}); err != nil || s.Refusal() != nil {
		t.Errorf("Check with space = %v, Refusal = %v", err, s.Refusal())
	}
}

// TestADriverThatIsNotThereIsNamed: the database is not opened.
func TestADriverThatIsNotThereIsNamed(t *testing.T) {
	usual := ThroughDriver
	defer func() { ThroughDriver = usual }()
	ThroughDriver = "none"
	if s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")}); s != nil || err == nil || !strings.Contains(err.Error(), `unknown driver "none"`) {
		t.Errorf("Open = %v, %v", s, err)
	}
}
