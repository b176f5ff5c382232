package upgrade

import (
	"errors"
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// earlier is the version to come from, the last one with schema 6.
const earlier = "71ef02863798f0125e67450a8c63ed77d88249a6"

func TestMain(m *testing.M) { real.Main(m) }

// versions builds both versions. Without the history the test is skipped, unless real
// systems are demanded.
func versions(t *testing.T) (before, now string) {
	t.Helper()
	before, err := story.BuildCommit(t, earlier)
	switch {
	case errors.Is(err, story.ErrNoHistory) && os.Getenv(real.Demand) != "1":
		t.Skipf("needs the earlier version: %v (fetch the whole history; %s=1 makes this a failure)", err, real.Demand)
	case err != nil:
		t.Fatal(err)
	}
	return before, story.Build(t, t.TempDir())
}
