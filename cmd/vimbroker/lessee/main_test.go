package lessee

import (
	"os"
	"testing"

	"github.com/vimbroker/vimbroker/test/story"
)

func TestMain(m *testing.M) {
	story.HeedSignals()
	os.Exit(m.Run())
}
