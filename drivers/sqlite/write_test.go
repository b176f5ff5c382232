package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func entryOf(resource string) audit.Entry {
	return audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:update", Resource: resource, Outcome: audit.Done}
}

func allEntries(t *testing.T, s *Store) []audit.Entry {
	t.Helper()
	all, err := s.Entries(t.Context(), audit.Query{Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	if err := audit.Follow(all); err != nil {
		t.Error(err)
	}
	return all
}

// TestWaitingWritersShareACommit lines writers up behind one that holds the
// turn, and sees them all in one transaction, each with its own outcome.
func TestWaitingWritersShareACommit(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	held, letGo := make(chan struct{}), make(chan struct{})
	refusal := errors.New("no")
	var mu sync.Mutex
	batches := map[*batch]int{}
	note := func(t txn) {
		mu.Lock()
		defer mu.Unlock()
		batches[t.s.open]++
	}
	var writers sync.WaitGroup
	writers.Go(func() {
		if err := s.write(t.Context(), func(x txn) error {
			note(x)
			close(held)
			<-letGo
			x.WakeJobs()
			return x.append(entryOf("first"))
		}); err != nil {
			t.Errorf("first write = %v", err)
		}
	})
	<-held
	for i := range 20 {
		writers.Go(func() {
			err := s.write(t.Context(), func(x txn) error {
				note(x)
				if err := x.append(entryOf(strconv.Itoa(i))); err != nil {
					return err
				}
				if i%2 == 1 {
					return refusal
				}
				return nil
			})
			if want := map[int]error{0: nil, 1: refusal}[i%2]; !errors.Is(err, want) {
				t.Errorf("write %d = %v, want %v", i, err, want)
			}
		})
	}
	for s.waiting.Load() < 20 { // they are on their way to the lock: nothing signals that they stand there
		select {
		case <-t.Context().Done():
			t.Fatal("writers do not come")
		default:
		}
	}
	close(letGo)
	writers.Wait()
	if len(batches) != 1 {
		t.Errorf("21 writers used %d transactions, want 1", len(batches))
	}
	if got := len(allEntries(t, s)); got != 11 {
		t.Errorf("%d entries, want those of 11 writers that were not refused", got)
	}
	select { // what one of them has enqueued is looked for once
	case <-s.wake:
	default:
		t.Error("nobody looks for the job that one of the writers has enqueued")
	}
	if len(s.wake) != 0 || s.enqueued {
		t.Error("a job is looked for twice")
	}
}

// TestWhatIsTakenBackLeavesTheLog refuses writes, and lets one panic, after they
// have added their entries: alone in the transaction, and behind another's write.
func TestWhatIsTakenBackLeavesTheLog(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	refusal := errors.New("no")
	refused := func() error {
		return s.write(t.Context(), func(x txn) error {
			if err := x.append(entryOf("refused")); err != nil {
				return err
			}
			return refusal
		})
	}
	panics := func() {
		defer func() { _ = recover() }()
		_ = s.write(t.Context(), func(x txn) error {
			if err := x.append(entryOf("panics")); err != nil {
				return err
			}
			panic("no")
		})
	}
	for range 2 {
		if err := refused(); !errors.Is(err, refusal) {
			t.Errorf("write = %v, want what apply returned", err)
		}
		panics()
		if err := s.Append(t.Context(), entryOf("kept")); err != nil {
			t.Fatal(err)
		}
	}
	var behind sync.WaitGroup
	err := s.write(t.Context(), func(x txn) error {
		behind.Go(func() {
			if err := refused(); !errors.Is(err, refusal) {
				t.Errorf("write behind another = %v, want what apply returned", err)
			}
		})
		behind.Go(panics)
		for s.waiting.Load() < 2 { // nothing signals that they stand at the lock
		}
		return x.append(entryOf("before"))
	})
	if err != nil {
		t.Errorf("write before a refused one = %v", err)
	}
	behind.Wait()
	if err := s.Append(t.Context(), entryOf("last")); err != nil {
		t.Fatal(err)
	}
	if got := len(allEntries(t, s)); got != 4 {
		t.Errorf("%d entries, want the 4 of writes that were kept", got)
	}
}

// TestDiskFull lets SQLite find no more pages: it takes the whole transaction
// back by itself, and everyone in it must hear of it.
func TestDiskFull(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	if err := s.Append(t.Context(), entryOf("before")); err != nil {
		t.Fatal(err)
	}
	limit := func(text string) {
		t.Helper()
		if _, err := s.writer.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := s.writer.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+2))
	large := entryOf(strings.Repeat("x", 100_000))
	held, letGo := make(chan struct{}), make(chan struct{})
	var writers sync.WaitGroup
	fails := func(what string, apply func(txn) error) {
		writers.Go(func() {
			if err := s.write(t.Context(), apply); !errors.Is(err, broker.ErrUnavailable) {
				t.Errorf("%s on a full disk = %v, want ErrUnavailable", what, err)
			}
		})
	}
	fails("small write beside it", func(x txn) error {
		close(held)
		<-letGo
		return x.append(entryOf("small"))
	})
	<-held
	fails("large write", func(x txn) error { return x.append(large) })
	for s.waiting.Load() < 1 {
	}
	close(letGo)
	writers.Wait()
	if got := len(allEntries(t, s)); got != 1 {
		t.Errorf("%d entries, want only the one before", got)
	}
	limit(`PRAGMA max_page_count = 1000000`)
	if err := s.Append(t.Context(), large); err != nil {
		t.Errorf("Append once there is room = %v", err)
	}
	if got := len(allEntries(t, s)); got != 2 {
		t.Errorf("%d entries, want 2", got)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.VIM(ctx, "v"); !errors.Is(err, context.Canceled) {
		t.Errorf("VIM = %v, want the context's error", err)
	}
}

const childVariable = "VIMBROKER_TEST_STORE"

// TestAcknowledgedWritesSurviveKill kills a process in the middle of many
// writes: what it was told is stored, is there.
func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildWrites$")
	child.Env = append(os.Environ(), childVariable+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "stored "); ok {
			acknowledged[name] = true
		}
		if len(acknowledged) == 200 {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait()
	if len(acknowledged) < 200 {
		t.Fatalf("the child stored %d entries, want at least 200", len(acknowledged))
	}
	s := mustOpen(t, path) // the lock of the dead process is gone
	for _, e := range allEntries(t, s) {
		delete(acknowledged, e.Resource)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged entries are lost", len(acknowledged))
	}
}

// TestChildWrites is the process that [TestAcknowledgedWritesSurviveKill] kills.
func TestChildWrites(t *testing.T) {
	path := os.Getenv(childVariable)
	if path == "" {
		t.Skip("runs only as a child of another test")
	}
	s, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%d-%d", w, i)
				if err := s.Append(context.Background(), entryOf(name)); err != nil {
					t.Error(err)
					return
				}
				fmt.Println("stored", name)
			}
		})
	}
	writers.Wait()
}
