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
	now := clock.New(noon)
	g, s := guard(allowing)
	g.Now, g.Reads = now.Now, audit.NewReads()
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
	if len(s.entries) != 3 {
		t.Errorf("101 reads of two VIMs wrote %d rows, want 3", len(s.entries))
	}
}

func TestAReadThatWasNotRecordedIsNoPollNextTime(t *testing.T) {
	g, s := guard(allowing)
	g.Reads = audit.NewReads()
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
