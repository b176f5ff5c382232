package crash_test

import (
	"strings"
	"testing"
)

// TestSecondServer starts a server on a data directory that another one uses: it
// ends with one line that says so, and the first one does not notice.
func TestSecondServer(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeCluster(t))
	s.register("edge")
	second := launch(t, s.dir, "")
	state, err := second.Ended(patience)
	if err != nil {
		t.Fatal(err)
	}
	if state.ExitCode() <= 0 {
		t.Errorf("the second server ended with %v, want a failure", state)
	}
	said := strings.TrimSpace(second.Log.String())
	if strings.Count(said, "\n") != 0 || !strings.Contains(said, s.dir) || !strings.Contains(said, "in use by process") {
		t.Errorf("the second server said, want one line that names the directory and the process:\n%s", said)
	}
	s.issue("edge")
	s.prove()
}
