package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	raceDSN = "VIMBROKER_TEST_RACE_DSN"
	// racers is how many processes race, and each how many times at once.
	racers, tryouts = 3, 20
)

// raced is what a process does in each race, and the answers that all together must
// get. The VIM "v" is there, with the pending lease "l" on it.
var raced = []struct {
	name string
	want map[string]int
	do   func(ctx context.Context, s *Store, i int) error
}{
	{"quota", map[string]int{"done": 7, "quota": racers*tryouts - 7}, func(ctx context.Context, s *Store, _ int) error {
		l := broker.Lease{ID: uuid.NewString(), VIM: "v", VIMGeneration: 1, Project: "north", Principal: "bob", CreatedAt: time.Unix(1, 0)}
		_, err := s.CreateLease(ctx, l, broker.Quota{PerPrincipal: 7}, entryOf("quota"))
		return err
	}},
	{"lease key", map[string]int{"done": 1, "exists": racers*tryouts - 1}, func(ctx context.Context, s *Store, _ int) error {
		l := broker.Lease{ID: uuid.NewString(), VIM: "v", VIMGeneration: 1, Project: "north", Principal: "carol", IdempotencyKey: "k", CreatedAt: time.Unix(1, 0)}
		_, err := s.CreateLease(ctx, l, broker.Quota{PerPrincipal: 1}, entryOf("key"))
		return err
	}},
	{"default", map[string]int{"done": 1, "exists": racers*tryouts - 1}, func(ctx context.Context, s *Store, _ int) error {
		return s.CreateVIM(ctx, newVIM(true), 0, entryOf("default"))
	}},
	{"transition", map[string]int{"done": 1, "conflict": racers*tryouts - 1}, func(ctx context.Context, s *Store, _ int) error {
		_, err := s.UpdateLease(ctx, "l", func(l *broker.Lease) error {
			if l.State != broker.LeasePending {
				return broker.ErrConflict
			}
			l.State, l.IssuedAt, l.ExpiresAt = broker.LeaseActive, time.Unix(1, 0), time.Unix(2, 0)
			return nil
		}, entryOf("transition"))
		return err
	}},
	{"count", map[string]int{"done": racers * tryouts}, func(ctx context.Context, s *Store, _ int) error {
		_, err := s.UpdateVIM(ctx, "v", func(v *broker.VIM) error { v.Health.Message += "x"; return nil }, entryOf("count"))
		return err
	}},
}

func newVIM(isDefault bool) broker.VIM {
	id := uuid.NewString()
	return broker.VIM{
		ID: id, Project: "default", Name: id, Type: "kubernetes", State: broker.VIMRegistering, Default: isDefault,
		Health: broker.Health{Status: broker.HealthUnchecked},
	}
}

// TestProcessesRace lets processes with pools of their own break the same rule at
// the same time.
func TestProcessesRace(t *testing.T) {
	dsn := real.Postgres(t).DSN(t)
	s := mustOpen(t, dsn)
	v := newVIM(false)
	v.ID, v.State, v.Current = "v", broker.VIMRegistered, broker.Generation{Number: 1, Key: "key", KeyStore: "keydir", SealedAs: broker.SealedCurrent}
	if err := s.CreateVIM(t.Context(), v, 0, entryOf("v")); err != nil {
		t.Fatal(err)
	}
	l := broker.Lease{ID: "l", VIM: "v", VIMGeneration: 1, Project: "north", Principal: "alice", CreatedAt: time.Unix(1, 0)}
	if _, err := s.CreateLease(t.Context(), l, broker.Quota{}, entryOf("l")); err != nil {
		t.Fatal(err)
	}
	type process struct {
		in  io.WriteCloser
		out *bufio.Scanner
	}
	var all []process
	for range racers {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildRaces$")
		child.Env = append(os.Environ(), raceDSN+"="+dsn)
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close() // it ends
			_ = child.Wait()
		})
		p := process{in, bufio.NewScanner(out)}
		if !p.out.Scan() || p.out.Text() != "ready" {
			t.Fatalf("a process says %q", p.out.Text())
		}
		all = append(all, p)
	}
	done := 2
	for _, race := range raced {
		for _, p := range all {
			fmt.Fprintln(p.in, race.name)
		}
		got := map[string]int{}
		for _, p := range all {
			for p.out.Scan() && p.out.Text() != "end" {
				got[p.out.Text()]++
			}
		}
		if !maps.Equal(got, race.want) {
			t.Errorf("%s: answers %v, want %v", race.name, got, race.want)
		}
		done += race.want["done"]
	}
	if now, err := s.VIM(t.Context(), "v"); err != nil || now.Revision != 1+racers*tryouts || len(now.Health.Message) != racers*tryouts {
		t.Errorf("after %d updates revision is %d and the message %q, %v", racers*tryouts, now.Revision, now.Health.Message, err)
	}
	entries, err := s.Entries(t.Context(), audit.Query{Limit: 10_000})
	if err != nil || len(entries) != done {
		t.Errorf("%d entries, %v; want one for each of %d writes", len(entries), err, done)
	}
	conformance.VerifyLog(t, s)
}

// TestChildRaces is one of the processes of [TestProcessesRace].
func TestChildRaces(t *testing.T) {
	dsn := os.Getenv(raceDSN)
	if dsn == "" {
		t.Skip("runs only as a child of another test")
	}
	// On a busy machine the last of the queue waits long.
	sessionLimits["lock_timeout"], sessionLimits["statement_timeout"] = time.Minute, time.Minute
	s, err := Open(context.Background(), Options{DSN: secret.NewText(dsn), MaxConns: tryouts})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// Making the connections may take longer than a call waits for one.
	for _, conn := range fillPool(t, s) {
		conn.Release()
	}
	fmt.Println("ready")
	names := make(chan string)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			names <- lines.Text()
		}
		os.Exit(0) // the parent has ended, perhaps in the middle of a race
	}()
	for name := range names {
		for _, race := range raced {
			if race.name != name {
				continue
			}
			var runners sync.WaitGroup
			answers := make(chan string, tryouts)
			for i := range tryouts {
				runners.Go(func() { answers <- answerOf(race.do(context.Background(), s, i)) })
			}
			runners.Wait()
			close(answers)
			for text := range answers {
				fmt.Println(strings.ReplaceAll(text, "\n", " "))
			}
		}
		fmt.Println("end")
	}
}

// fillPool makes every connection that the pool may have.
func fillPool(t *testing.T, s *Store) []*pgxpool.Conn {
	t.Helper()
	var all []*pgxpool.Conn
	for range s.pool.Config().MaxConns {
		conn, err := s.pool.Acquire(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
	}
	return all
}

func answerOf(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, broker.ErrQuota):
		return "quota"
	case errors.Is(err, broker.ErrExists):
		return "exists"
	case errors.Is(err, broker.ErrConflict):
		return "conflict"
	}
	var e *broker.Error
	if errors.As(err, &e) && e.Cause != nil {
		return err.Error() + ": " + e.Cause.Error()
	}
	return err.Error()
}
