package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/web"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// What was found of an instance is shown once it was looked at, and counted where something differs.
func TestDriftAsItIsShown(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		drift lifecycle.Drift
		want  web.Cell
	}{
		"never looked at": {lifecycle.Drift{Unseen: "away", Count: 1}, web.Cell{}},
		"not seen":        {lifecycle.Drift{TriedAt: at, Unseen: "away", Count: 1}, web.Cell{Text: "not seen", Mark: web.Warn}},
		"none":            {lifecycle.Drift{TriedAt: at}, web.Cell{Text: "none", Mark: web.Good}},
		"one":             {lifecycle.Drift{TriedAt: at, Count: 1}, web.Cell{Text: "1 resource", Mark: web.Bad}},
		"two":             {lifecycle.Drift{TriedAt: at, Count: 2}, web.Cell{Text: "2 resources", Mark: web.Bad}},
	} {
		if diff := cmp.Diff(c.want, drift(c.drift)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
