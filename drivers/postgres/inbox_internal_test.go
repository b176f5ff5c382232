package postgres

import (
	"testing"
	"time"
)

// What was read is read again for as long as a transaction that began before it may
// still commit, and once an hour.
func TestTheInboxIsReadFromWhereEntriesCanBe(t *testing.T) {
	var i inbox
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	want := func(d time.Duration, id int64) {
		t.Helper()
		if got := i.from(at(d)); got != id {
			t.Errorf("after %v entries are read from %d, want %d", d, got, id)
		}
	}
	want(0, 0)
	i.passed(at(0), 10)
	i.passed(at(time.Second), 11) // too soon after the mark before to be worth one
	i.passed(at(time.Minute), 20)
	want(2*time.Minute, 0)
	want(lateCommit, 10)
	want(lateCommit+time.Minute-1, 10)
	want(lateCommit+time.Minute, 20)
	i.passed(at(lateCommit+2*time.Minute), 30)
	want(lateCommit+3*time.Minute, 20)
	want(wholeInbox, 0)
	want(wholeInbox+time.Second, 30)
	if got := i.read(at(3 * wholeInbox)); got != 30 { // who only looks changes nothing
		t.Errorf("who looks later reads from %d", got)
	}
	want(2*wholeInbox, 0)
	want(2*wholeInbox+time.Second, 30)
}
