package audit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
)

func TestPollsWriteNoRows(t *testing.T) {
	for name, c := range map[string]struct{ oneIn, want int }{
		"all":            {1, 3},
		"one in two":     {2, 2},
		"none":           {0, 0},
		"one in a lot":   {100, 1},
		"less than none": {-1, 0},
	} {
		now := clock.New(noon)
		g, s := guard(allowing)
		g.Now, g.Reads = now.Now, audit.NewReads(c.oneIn)
		read := func(id string) {
			t.Helper()
			res := edge
			res.ID = id
			act, err := g.Enter(t.Context(), alice, policy.VIMShow, res, policy.Wish{})
			if err != nil {
				t.Fatal(err)
			}
			if err := act.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			read("a")
			read("b")
			now.Add(time.Second)
		}
		now.Add(audit.PollWithin)
		read("a")
		if len(s.entries) != c.want {
			t.Errorf("%s: 101 reads of two VIMs wrote %d rows, want %d", name, len(s.entries), c.want)
		}
	}
}

func TestAReadThatWasNotRecordedIsNoPollNextTime(t *testing.T) {
	g, s := guard(allowing)
	g.Reads = audit.NewReads(1)
	s.fail = errors.New("disk full")
	act, err := g.Enter(t.Context(), alice, policy.VIMShow, edge, policy.Wish{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := act.Read(t.Context()); !errors.Is(err, s.fail) {
			t.Errorf("Read() = %v, want the sink's error", err)
		}
	}
}
