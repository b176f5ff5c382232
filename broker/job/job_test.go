package job_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/job"
)

func TestValid(t *testing.T) {
	for _, c := range []struct {
		kind, subject string
		want          bool
	}{
		{"reap-leases2", "x", true},
		{strings.Repeat("k", 64), strings.Repeat("s", 255), true},
		{strings.Repeat("k", 65), "x", false},
		{"reap", strings.Repeat("s", 256), false},
		{"reap", "", false},
		{"r", "x", false},
		{"Reap", "x", false},
		{"2reap", "x", false},
		{"reap-", "x", false},
		{"reap\nx", "x", false},
	} {
		if got := (job.Job{Kind: c.kind, Subject: c.subject}).Valid(); got != c.want {
			t.Errorf("%.20q about %.20q is valid: %v", c.kind, c.subject, got)
		}
	}
}
