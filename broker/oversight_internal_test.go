package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// outlet is where entries are sent to; it takes none, and does not close.
type outlet struct{}

func (outlet) Send(context.Context, [][]byte) error { return errStep }

func (outlet) Close() error { return errStep }

// watched gives the stage an anchor and a sink of the audit log.
func (s *stage) watched() {
	s.Oversight.notary = notary.New(s.tape, s.core.keys, []notary.Anchor{{Name: "anchor", Outlet: outlet{}}}, s.core.now)
	s.Oversight.courier = delivery.New(s.tape, []delivery.Destination{{Name: "sink", Outlet: outlet{}}}, s.core.now, slog.New(slog.DiscardHandler))
}

// An alarm is raised where entries have waited for too long for a checkpoint, or for an anchor: each alone, not before, and not
// where they wait no more after the log was signed.
func TestWhenTheLogIsNotSigned(t *testing.T) {
	late := signedLate * DefaultTerms().CheckpointEvery
	watch := func(unsigned, unanchored time.Duration, change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.watched()
			s.tape.signed = 1
			if unsigned >= 0 {
				s.tape.oldest = s.clock.Now().Add(-unsigned)
			}
			if unanchored >= 0 {
				s.tape.anchored = s.clock.Now().Add(-unanchored)
			}
			if change != nil {
				change(s)
			}
			err := s.watchSigned(ctx)
			return fmt.Sprint(s.logs("is not signed"), s.logs("does not get its checkpoints"), " tried ", s.count("SigningKeys") > 0, " ", err)
		}
	}
	fails := func(step string) func(*stage) { return func(s *stage) { s.fails[step] = errStep } }
	outcomes(t, []result{
		{"nothing waits", nil, watch(-1, -1, nil), "false false tried false <nil>"},
		{"neither waits for too long", nil, watch(late, late, nil), "false false tried false <nil>"},
		{"for a checkpoint", nil, watch(late+1, late, nil), "true false tried true <nil>"},
		{"for an anchor", nil, watch(late, late+1, nil), "false true tried true <nil>"},
		{"for both", nil, watch(late+1, late+1, nil), "true true tried true <nil>"},
		{"until they are signed", nil, watch(late+1, late+1, func(s *stage) {
			s.during["SigningKeys"] = func() { s.tape.oldest, s.tape.anchored = time.Time{}, time.Time{} }
		}), "false false tried true <nil>"},
		{"the last checkpoint is unread", nil, watch(0, 0, fails("LastCheckpoint 1")), "false false tried false the step fails"},
		{"what anchors have is unread", nil, watch(0, 0, fails("Anchorings 1")), "false false tried false the step fails"},
		{"nothing is signed, and what anchors have is unread", nil, watch(late+1, 0, fails("Anchorings 1")), "false false tried false the step fails"},
		{"the entries are unread", nil, watch(0, 0, fails("EntriesAfter 2")), "false false tried false the step fails"},
		{"they are unread after", nil, watch(late+1, late+1, fails("EntriesAfter 3")), "false false tried true the step fails"},
		{"sinks are unread", nil, func(ctx context.Context, s *stage) string {
			s.watched()
			s.fails["Cursors"] = errStep
			_, counted := s.counted(ctx)
			_, _, prunable := s.prunableUpTo(ctx)
			return fmt.Sprint(s.WatchAudit(ctx), ", ", counted, ", ", prunable)
		}, "the step fails, the step fails, the step fails"},
		{"anchors are unread", nil, func(ctx context.Context, s *stage) string {
			s.watched()
			s.fails["Anchorings"] = errStep
			_, counted := s.counted(ctx)
			_, _, prunable := s.prunableUpTo(ctx)
			return fmt.Sprint(counted, ", ", prunable)
		}, "the step fails, the step fails"},
		{"an anchor that does not close", nil, func(_ context.Context, s *stage) string {
			s.watched()
			return fmt.Sprint(s.Close())
		}, "the step fails"},
	})
}

// Entries are pruned up to what the last checkpoint covers, and every anchor and every sink has: the one that has least says which.
func TestWhatMayBePruned(t *testing.T) {
	upTo := func(anchors, sinks []int64) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.tape.signed = 7
			var anchored []notary.Anchor
			for n, size := range anchors {
				name := fmt.Sprint("a", n+1)
				anchored = append(anchored, notary.Anchor{Name: name, Outlet: outlet{}})
				s.tape.anchorings = append(s.tape.anchorings, notary.Anchoring{Anchor: name, Size: size})
			}
			var delivered []delivery.Destination
			for n, seq := range sinks {
				name := fmt.Sprint("s", n+1)
				delivered = append(delivered, delivery.Destination{Name: name, Outlet: outlet{}})
				s.tape.cursors = append(s.tape.cursors, delivery.Cursor{Sink: name, Seq: seq})
			}
			s.Oversight.notary = notary.New(s.tape, s.core.keys, anchored, s.core.now)
			s.Oversight.courier = delivery.New(s.tape, delivered, s.core.now, testlog.Silent(t))
			at, held, err := s.prunableUpTo(ctx)
			n, pruned := s.pruneEntries(ctx, s.clock.Now())
			return fmt.Sprint(at, " ", held, " ", s.count("PruneEntries"), n, err, pruned)
		}
	}
	outcomes(t, []result{
		{"signed alone", nil, upTo(nil, nil), "7 the last signed checkpoint 1 0 <nil> <nil>"},
		{"an anchor has all", nil, upTo([]int64{7}, nil), "7 the last signed checkpoint 1 0 <nil> <nil>"},
		{"a sink has all", nil, upTo(nil, []int64{7}), "7 the last signed checkpoint 1 0 <nil> <nil>"},
		{"a sink has more", nil, upTo(nil, []int64{9}), "7 the last signed checkpoint 1 0 <nil> <nil>"},
		{"a sink has less", nil, upTo(nil, []int64{6}), "6 the audit sink s1 1 0 <nil> <nil>"},
		{"of two sinks the first has less", nil, upTo(nil, []int64{4, 6}), "4 the audit sink s1 1 0 <nil> <nil>"},
		{"of two sinks the second has less", nil, upTo(nil, []int64{6, 4}), "4 the audit sink s2 1 0 <nil> <nil>"},
		{"of two anchors the first has less", nil, upTo([]int64{4, 6}, nil), "4 the audit anchor a1 1 0 <nil> <nil>"},
		{"of two anchors the second has less", nil, upTo([]int64{6, 4}, nil), "4 the audit anchor a2 1 0 <nil> <nil>"},
		{"an anchor has less than a sink", nil, upTo([]int64{4}, []int64{6}), "4 the audit anchor a1 1 0 <nil> <nil>"},
		{"a sink has less than an anchor", nil, upTo([]int64{6}, []int64{4}), "4 the audit sink s1 1 0 <nil> <nil>"},
		{"a sink has less, an anchor has all", nil, upTo([]int64{7}, []int64{4}), "4 the audit sink s1 1 0 <nil> <nil>"},
		{"a sink has nothing", nil, upTo([]int64{7}, []int64{7, 0}), "0 the audit sink s2 0 0 <nil> <nil>"},
		{"an anchor has nothing", nil, upTo([]int64{0}, []int64{7}), "0 the audit anchor a1 0 0 <nil> <nil>"},
	})
}

// A checkpoint is shown to who may read the log, and that there is none yet is said.
func TestWhoSeesTheCheckpoint(t *testing.T) {
	show := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			change(s)
			c, err := s.Checkpoint(ctx, person)
			remedy := ""
			if e, known := errors.AsType[*Error](err); known {
				remedy, _, _ = strings.Cut(e.Remedy, ";")
			}
			return fmt.Sprint(c.Size, ", ", kindOf(err), ", ", remedy)
		}
	}
	outcomes(t, []result{
		{"one", nil, show(func(s *stage) { s.tape.signed = 7 }), "7, nil, "},
		{"none", nil, show(func(*stage) {}), "0, not found, try again in a minute"},
		{"unread", nil, show(func(s *stage) { s.fails["LastCheckpoint"] = errStep }), "0, the step fails, "},
		{"without the right to", nil, show(func(s *stage) { s.tape.signed, s.denies[policy.AuditRead] = 7, true }), "0, denied, "},
		{"anchors, without the right to", nil, func(ctx context.Context, s *stage) string {
			s.denies[policy.AuditRead] = true
			_, anchors := s.AuditAnchors(ctx, person)
			_, sinks := s.AuditSinks(ctx, person)
			_, replicas := s.Replicas(ctx, person)
			_, keys := s.AuditKeys(ctx, person)
			return kindOf(anchors) + ", " + kindOf(sinks) + ", " + kindOf(replicas) + ", " + kindOf(keys)
		}, "denied, denied, denied, denied"},
	})
}

// A key of checkpoints that cannot be replaced stays, and what sealed one that was ended is destroyed.
func TestKeysOfCheckpointsAreReplaced(t *testing.T) {
	signs := func(s *stage) {
		s.tape.signing = []notary.SigningKey{
			{ID: "old", State: notary.Retired, Until: 7, Sealed: keyring.Sealed{KeyStore: "memory", Text: "t"}},
			{ID: "now", State: notary.Signing, Sealed: keyring.Sealed{KeyStore: "vault", Text: "t"}},
		}
	}
	outcomes(t, []result{
		{"one is revoked that signs no more", signs, func(ctx context.Context, s *stage) string {
			now, err := s.RevokeAuditKey(ctx, person, "old", 3)
			return fmt.Sprint(now.ID, " ", err, " ", s.count("ChangeSigningKeys"), s.count("RetiredKeys"))
		}, "now <nil> 1 1"},
		{"a rotation fails", signs, func(ctx context.Context, s *stage) string {
			s.fails["ChangeSigningKeys"] = errStep
			_, err := s.RotateAuditKey(ctx, person)
			return fmt.Sprint(kindOf(err), " ", s.count("RetiredKeys"))
		}, "the step fails 0"},
		{"sealing it anew fails", signs, func(ctx context.Context, s *stage) string {
			s.fails["ChangeSigningKeys"] = errStep
			return kindOf(s.Oversight.Reseal(ctx, Due{To: s.core.keys}))
		}, "the step fails"},
		{"it is not due", func(s *stage) { signs(s); s.tape.signing[1].KeyStore = "memory" }, func(ctx context.Context, s *stage) string {
			sealed, err := s.core.keys.Seal(ctx, secret.Owner{ID: "now", Generation: 1}, "f", secret.NewText("t"))
			s.tape.signing[1].Sealed = sealed
			return fmt.Sprint(kindOf(s.Oversight.Reseal(ctx, Due{To: s.core.keys})), " ", err, s.count("ChangeSigningKeys"))
		}, "nil <nil> 0"},
		{"what seals a key of checkpoints has its row", func(s *stage) { s.tape.signing = []notary.SigningKey{{ID: leaseID, State: notary.Signing}} }, func(ctx context.Context, s *stage) string {
			if _, err := s.core.keys.Seal(ctx, secret.Owner{ID: leaseID, Generation: 1}, "f", secret.NewText("t")); err != nil {
				return err.Error()
			}
			explained := s.SealAnew(ctx)
			said := s.logs("that no row explains")
			s.tape.signing = nil
			return fmt.Sprint(explained, said, s.SealAnew(ctx), s.logs("that no row explains"))
		}, "<nil> false <nil> true"},
		{"what ends is not told", func(s *stage) {
			g := s.v.Current
			s.v.Past, s.v.Current.Number, s.l.VIMGeneration = []Generation{g}, 2, 2
		}, func(ctx context.Context, s *stage) string {
			s.fails["UpdateVIM"] = errStep
			_ = s.SealAnew(ctx)
			told := s.logs("could not be sealed anew")
			s.log.Reset()
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_ = s.SealAnew(ctx)
			return fmt.Sprint(told, s.count("UpdateVIM"), s.logs("could not be sealed anew"))
		}, "true 2 false"},
	})
}

// An entry is proven that is in the log as it was written.
func TestWhichEntryIsProven(t *testing.T) {
	prove := func(found ...audit.Entry) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.tape.tree, s.tape.found = tree.Head{Size: 9}, found
			_, _, _, err := s.ProveEntry(ctx, person, 5)
			return kindOf(err) + ", " + fmt.Sprint(err)
		}
	}
	const torn = "conflict, the audit log in the store is not the one that was written"
	outcomes(t, []result{
		{"none is there", nil, prove(), torn},
		{"another is there", nil, prove(audit.Entry{Seq: 4}), torn},
		{"it is damaged", nil, prove(audit.Entry{Seq: 5, Damaged: true}), torn},
		{"its place is missing", nil, prove(audit.Entry{Seq: 5}), torn},
		{"what grew is missing", nil, func(ctx context.Context, s *stage) string {
			s.tape.tree = tree.Head{Size: 9}
			said := ""
			for _, later := range []int64{-1, 5, 9} {
				_, _, err := s.ProveGrowth(ctx, person, 3, later)
				said += kindOf(err) + ", "
			}
			_, _, err := s.AuditTree(ctx, person, 5)
			return said + kindOf(err)
		}, "conflict, conflict, conflict, conflict"},
		{"what is kept for ever", nil, func(ctx context.Context, s *stage) string {
			s.tape.signed = 7
			said := ""
			for _, keep := range []Keep{{}, {Leases: time.Hour}, {Jobs: time.Hour}, {Audit: time.Hour}} {
				s.core.terms.Keep = keep
				past, err := s.Retention(ctx, person)
				said += fmt.Sprint(s.prune(ctx), err, past.UpTo, " ")
			}
			return said
		}, "<nil> <nil> 7 <nil> <nil> 7 <nil> <nil> 7 <nil> <nil> 7 "},
		{"the log that never was", nil, func(ctx context.Context, s *stage) string {
			s.tape.tree = tree.Head{Size: 9}
			_, _, earlier := s.ProveGrowth(ctx, person, -1, -1)
			_, _, larger := s.ProveGrowth(ctx, person, 10, -1)
			_, _, later := s.ProveGrowth(ctx, person, 1, 0)
			_, _, latest := s.ProveGrowth(ctx, person, 0, 10)
			_, _, size := s.AuditTree(ctx, person, -1)
			return kindOf(earlier) + ", " + kindOf(larger) + ", " + kindOf(later) + ", " + kindOf(latest) + ", " + kindOf(size)
		}, "invalid size, invalid size, invalid later, invalid size, invalid size"},
		{"an entry that never was", nil, func(ctx context.Context, s *stage) string {
			s.tape.tree = tree.Head{Size: 9}
			said := ""
			for _, seq := range []int64{-1, 0, 10} {
				_, _, _, err := s.ProveEntry(ctx, person, seq)
				said += fmt.Sprint(err, ", ")
			}
			return said
		}, strings.Repeat("entry: must be between 1 and 9, the size of the log, ", 3)},
	})
}

// What is kept of logins and tokens is written each minute, and at the end.
func TestLoginsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); s.KeepLogins(ctx) }()
		for minute := range 2 {
			s.TokenUsed("t")
			time.Sleep(tokenUsesEvery - 1)
			synctest.Wait()
			if n := s.count("RecordTokenUses"); n != minute {
				t.Errorf("before minute %d is over, it is written %d times", minute+1, n)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if n := s.count("RecordTokenUses"); n != minute+1 {
				t.Errorf("after minute %d it is written %d times", minute+1, n)
			}
		}
		s.TokenUsed("t")
		cancel()
		<-over
		if n := s.count("RecordTokenUses"); n != 3 {
			t.Errorf("at the end it is written %d times", n)
		}
	})
	outcomes(t, []result{
		{"logins", nil, func(ctx context.Context, s *stage) string {
			s.RecordLogin(ctx, person)
			s.RecordRefusedLogin(ctx, errStep)
			said := ""
			for _, e := range s.tape.entries {
				said += fmt.Sprint(e.Action, " ", e.Outcome, ", ")
			}
			return said
		}, fmt.Sprint(audit.Login, " ", audit.Done, ", ", audit.Login, " ", audit.Denied, ", ")},
		{"a start that is not recorded", nil, func(ctx context.Context, s *stage) string {
			s.fails["Append"] = errStep
			return fmt.Sprint(s.RecordStart(ctx))
		}, "recording server:start: the step fails"},
	})
}

// A server is late that has not been seen for longer than three looks and what a look may take.
func TestWhichReplicaIsLate(t *testing.T) {
	outcomes(t, []result{{"three", nil, func(ctx context.Context, s *stage) string {
		seen := s.clock.Now().Add(-3*lookAtStoreEvery - lookTime)
		s.Oversight.self.ID = "a"
		s.tape.replicas = []Replica{{ID: "a", SeenAt: seen}, {ID: "b", SeenAt: seen.Add(-1)}, {ID: "c", SeenAt: s.clock.Now()}}
		all, err := s.Replicas(ctx, person)
		said := ""
		for _, r := range all {
			said += fmt.Sprint(r.ID, r.Own, r.Late, " ")
		}
		return fmt.Sprint(said, err)
	}, "atrue false bfalse true cfalse false <nil>"}})
}

// The passes of a broker, and that each tells what fails.
func TestThePassesOfABroker(t *testing.T) {
	for what, c := range map[string]struct {
		targets bool
		fails   string
	}{
		"without targets": {}, "with targets": {targets: true},
		"and leases that are unread": {fails: "Leases"}, "and cursors that are unread": {fails: "Cursors"},
	} {
		s := newStage(t)
		if c.targets {
			standing(s)
		}
		s.put()
		s.watched()
		if c.fails != "" {
			s.fails[c.fails] = errStep
		}
		found := map[string]error{}
		for _, p := range s.Passes() {
			found[p.Name] = nil
			if p.Every <= 0 {
				t.Errorf("%s: %s comes every %v", what, p.Name, p.Every)
			}
			if p.Name == "settle" && c.fails == "Leases" || p.Name == "deliver-sink" && c.fails == "Cursors" {
				found[p.Name] = p.Run(t.Context())
			}
		}
		_, keeps := found["keep-pushed"]
		if _, delivers := found["deliver-sink"]; keeps != c.targets || !delivers {
			t.Errorf("%s: the passes are %v", what, found)
		}
		if err := errors.Join(found["settle"], found["deliver-sink"]); (c.fails != "") != errors.Is(err, errStep) {
			t.Errorf("%s: they end with %v", what, err)
		}
	}
}
