package broker

import (
	"testing"

	"github.com/vimbroker/vimbroker/test/came"
)

// note adds lines to what is said of a case.
func (s *steps) note(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, lines...)
}

var ids = map[string]string{vimID: "vim", leaseID: "lease"}

// came adds a case to the record of its test. Whatever came of it, no key is left in memory.
func (s *stage) came(t *testing.T, what, answer string) {
	t.Helper()
	if n := s.stored.left(); n > 0 {
		t.Errorf("%s: %d keys are not cleared", what, n)
	}
	came.Of(t, ids).Add(what, answer, append(s.said, came.Logged(s.log.String())...))
}
