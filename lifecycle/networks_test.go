package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// However many networks a descriptor asks for, there are at most twenty sentences, and the last counts the rest.
func TestNotDoneIsBounded(t *testing.T) {
	s := lifecycle.Shape{Unmade: strings.Fields(strings.Repeat("VduCp ", 25)), Managed: strings.Fields(strings.Repeat("m ", 5))}
	if all := s.NotDone(); len(all) != 20 || all[19] != "and 11 more" {
		t.Errorf("NotDone has %d lines: %q", len(all), all)
	}
	s.Unmade = s.Unmade[:15]
	if all := s.NotDone(); len(all) != 20 || !strings.Contains(all[19], "m is not used") {
		t.Errorf("NotDone has %d lines: %q", len(all), all)
	}
}
