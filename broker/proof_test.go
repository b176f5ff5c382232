package broker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// TestProofsOfTheAuditLog are checked with the library that others use.
func TestProofsOfTheAuditLog(t *testing.T) {
	b := newBench(t, benchOptions{})
	const entries = 300 // more than one tile
	for range entries {
		if err := b.store.Append(t.Context(), audit.Entry{Time: b.clock.Now(), Principal: "alice", Action: policy.VIMShow, Kind: policy.KindVIM, Outcome: audit.Done}); err != nil {
			t.Fatal(err)
		}
	}
	earlier, _, err := b.AuditTree(t.Context(), root, 0)
	if err != nil || earlier.Size <= entries {
		t.Fatalf("AuditTree() = %+v, %v", earlier, err)
	}
	b.mustRegister(alice, "edge1")
	now, proof, err := b.ProveGrowth(t.Context(), root, earlier.Size, -1)
	if err != nil || now.Size <= earlier.Size {
		t.Fatalf("ProveGrowth() = %+v, %v, want a log that has grown", now, err)
	}
	if err := tlog.CheckTree(proof, now.Size, now.Root, earlier.Size, earlier.Root); err != nil {
		t.Errorf("tlog refuses the proof that the log only grew: %v", err)
	}
	// The same between two sizes of before.
	if was, proof, err := b.ProveGrowth(t.Context(), root, 270, earlier.Size); err != nil || was != earlier {
		t.Errorf("ProveGrowth(270, %d) = %+v, %v, want %+v", earlier.Size, was, err, earlier)
	} else if first, _, err := b.ProveGrowth(t.Context(), root, 0, 270); err != nil || tlog.CheckTree(proof, was.Size, was.Root, 270, first.Root) != nil {
		t.Errorf("tlog refuses the proof that the log of %d entries begins with that of 270: %v", was.Size, err)
	}
	_, _, err = b.ProveGrowth(t.Context(), root, 270, 269)
	wantKind(t, "the proof that the log shrank", err, broker.ErrInvalid)
	_, _, err = b.ProveGrowth(t.Context(), root, 1, 100000)
	wantKind(t, "the proof to a size that the log never had", err, broker.ErrInvalid)
	earlier.Root[0]++
	if tlog.CheckTree(proof, now.Size, now.Root, earlier.Size, earlier.Root) == nil {
		t.Error("the proof holds for another log")
	}
	for _, seq := range []int64{1, 256, 257, now.Size} {
		state, e, proof, err := b.ProveEntry(t.Context(), root, seq)
		if err != nil || e.Seq != seq {
			t.Fatalf("ProveEntry(%d) = entry %d, %v", seq, e.Seq, err)
		}
		line, err := audit.Line(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckRecord(proof, state.Size, state.Root, seq-1, tlog.RecordHash(line)); err != nil {
			t.Errorf("tlog refuses the proof of entry %d: %v", seq, err)
		}
		if tlog.CheckRecord(proof, state.Size, state.Root, seq-1, tlog.RecordHash(slices.Concat(line, []byte("x")))) == nil {
			t.Errorf("the proof of entry %d holds for another entry", seq)
		}
	}
	for _, seq := range []int64{-1, 0, 100000} {
		_, _, _, err := b.ProveEntry(t.Context(), root, seq)
		wantKind(t, "the proof of an entry that there is not", err, broker.ErrInvalid)
		wantField(t, "the proof of an entry that there is not", err, "entry")
	}
	_, _, err = b.ProveGrowth(t.Context(), root, 100000, -1)
	wantKind(t, "the proof from a size that the log never had", err, broker.ErrInvalid)
	if _, proof, err := b.ProveGrowth(t.Context(), root, 0, -1); err != nil || len(proof) != 0 {
		t.Errorf("ProveGrowth(0) = %v, %v, want no hash", proof, err)
	}
	if _, proof, err := b.ProveGrowth(t.Context(), root, now.Size, now.Size); err != nil || len(proof) != 0 {
		t.Errorf("ProveGrowth(%d, %[1]d) = %v, %v, want no hash", now.Size, proof, err)
	}
	if was, proof, err := b.ProveGrowth(t.Context(), root, 0, 0); err != nil || was != tree.Empty() || len(proof) != 0 {
		t.Errorf("ProveGrowth(0, 0) = %+v, %v, %v, want the empty log", was, proof, err)
	}
	if whole, frontier, err := b.AuditTree(t.Context(), root, now.Size); err != nil || whole != now || len(frontier) == 0 {
		t.Errorf("AuditTree(%d) = %+v, %v, %v", now.Size, whole, frontier, err)
	}
	_, _, err = b.ProveGrowth(t.Context(), alice, 1, -1)
	wantKind(t, "a member's wish for a proof", err, broker.ErrDenied)
	_, _, _, err = b.ProveEntry(t.Context(), alice, 1)
	wantKind(t, "a member's wish for the proof of an entry", err, broker.ErrDenied)
}

// TestAnAuditLogThatIsBehindRaisesAnAlarm, and one within the window does not.
func TestAnAuditLogThatIsBehindRaisesAnAlarm(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	for _, c := range []struct {
		age   time.Duration
		alarm bool
	}{{audit.SequencedWithin, false}, {time.Second, true}} {
		b.clock.Add(c.age)
		if err := b.WatchAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.log.String(), "audit entries wait for their place"); got != c.alarm {
			t.Errorf("%v later there is an alarm: %t, want %t", c.age, got, c.alarm)
		}
	}
}
