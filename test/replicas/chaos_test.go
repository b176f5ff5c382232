package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/real"
)

// enough is how many answers callers get between two disturbances.
const enough = 100

// TestKilled kills one replica after the other in the middle of the load.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for range real.Rounds(t) {
		for _, r := range f.replicas {
			l.more(enough)
			r.broker.Kill()
			l.more(enough)
			r.start()
		}
	}
	l.end()
	l.prove()
}

// TestStopped stops a replica in its tracks for a minute. What it was doing is
// settled by others; then it continues where it was.
func TestStopped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for n := range real.Rounds(t) {
		l.more(enough)
		r := f.replicas[(n+1)%len(f.replicas)]
		r.signal(syscall.SIGSTOP)
		over := time.After(time.Minute)
		l.more(enough)
		f.settle()
		<-over
		r.signal(syscall.SIGCONT)
		l.more(enough)
	}
	l.end()
	l.prove()
}

// TestCutOff takes the database away from one replica, in three ways.
func TestCutOff(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for range real.Rounds(t) {
		for _, cut := range []func(){f.cut.Refuse, f.cut.Drop, f.cut.BlackHole} {
			l.more(enough)
			cut()
			l.more(enough)
			eventually(t, "a replica without the database is not ready", func(ctx context.Context) error {
				if f.replicas[0].Ready(ctx) == nil {
					return errors.New("it says that it is")
				}
				return nil
			})
			f.cut.Pass(t)
			f.replicas[0].ready()
		}
	}
	l.more(enough)
	l.end()
	l.prove()
}

// TestDatabaseRestarted restarts the database, once in order and once as by a
// power failure. Servers stay up.
func TestDatabaseRestarted(t *testing.T) {
	t.Parallel()
	demand(t)
	db := real.OwnPostgres(t)
	f := newFleet(t, db)
	l := f.begin()
	for range real.Rounds(t) {
		l.more(enough)
		db.Restart(t)
		l.more(enough)
		db.Crash()
		db.Start(t)
	}
	l.more(enough)
	l.end()
	l.prove()
}

// TestFailover kills the database under load, and promotes its synchronous standby. Servers
// know both addresses: they stay up and go on, and nothing that was answered is lost.
func TestFailover(t *testing.T) {
	t.Parallel()
	demand(t)
	db := real.OwnPostgres(t)
	standby := db.Standby(t)
	f := newFleetOn(t, db, footing{program: present, standby: standby})
	l := f.begin()
	l.more(enough)
	db.Kill(t)
	killed := time.Now()
	standby.Promote(t)
	l.more(enough)
	t.Logf("%d callers have %d answers %v after the kill", workers, enough, time.Since(killed))
	for i, r := range f.replicas {
		r.ready()
		select {
		case <-r.broker.Done:
			t.Errorf("replica %d has ended", i)
		default:
		}
	}
	l.end()
	l.prove()
}

// TestOpenSnapshot holds a snapshot of the database open under load, as a backup does.
// Rows that are replaced at the same time cannot be removed, and callers hardly notice.
// "make soak" holds it for ten minutes.
func TestOpenSnapshot(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	conn, err := pgx.Connect(t.Context(), f.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	l.more(enough)
	for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM leases"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	end := time.After(min(real.SoakTime(t), 10*time.Minute))
	var slowest time.Duration
	for first, over := time.Duration(0), false; !over; {
		began := time.Now()
		l.more(enough)
		took := time.Since(began)
		if first == 0 {
			first = took
		}
		if slowest = max(slowest, took); took > 4*first+15*time.Second {
			t.Fatalf("%d answers take %v, and took %v when the snapshot was new", enough, took, first)
		}
		select {
		case <-end:
			over = true
		default:
		}
	}
	t.Logf("the slowest %d answers took %v", enough, slowest)
	l.end()
	l.prove()
}

// TestRollingUpgrade replaces the replicas one by one with the next version, whose
// schema is a newer one. Leases of before go on, no caller is refused everywhere, and
// a replica of the previous version may crash and start again during that.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	l.more(enough)
	upgraded := *f.replicas[1]
	upgraded.program = next
	if out, code := upgraded.run("serve", "--listen", "127.0.0.1:0"); code != 1 || !strings.Contains(out, `run "vimbroker db migrate"`) {
		t.Errorf("the next version on the schema of before ends with %d, want 1 and the command to run:\n%s", code, out)
	}
	if out, code := upgraded.run("db", "status"); code != 1 || !strings.Contains(out, `run "vimbroker db migrate"`) {
		t.Errorf("db status of the next version ends with %d, want 1 and the command to run:\n%s", code, out)
	}
	if out, code := upgraded.run("db", "migrate"); code != 0 {
		t.Fatalf("db migrate of the next version: %s", out)
	}
	if out, code := f.replicas[1].run("db", "status"); code != 1 || !strings.Contains(out, "a newer version migrated the database; this one works on it") {
		t.Errorf("db status of the version before ends with %d, want 1 and that it works:\n%s", code, out)
	}
	l.more(enough)
	f.replicas[2].broker.Kill()
	f.replicas[2].start()
	for _, r := range f.replicas {
		l.more(enough)
		if err := r.broker.Stop(); err != nil {
			t.Error(err)
		}
		l.more(enough)
		r.program = next
		r.start()
	}
	l.more(enough)
	l.end()
	l.prove()
}

// TestClocksApart has a replica whose clock is ten minutes ahead and one that is ten
// behind serve beside one that is right: more than the shortest life of a lease, and
// more than a dead process's work is left alone for.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for i, ahead := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		r := f.replicas[i]
		if err := r.broker.Stop(); err != nil {
			t.Error(err)
		}
		r.begin = startApart(t, ahead)
		r.start()
		if text, err := os.ReadFile(r.broker.File); err != nil || !strings.Contains(string(text), "this machine's clock is not the database's") {
			t.Errorf("the log of a replica whose clock is %v ahead does not say so: %v", ahead, err)
		}
		l.more(enough)
	}
	// A lease of the shortest life, from each.
	var short []string
	for i, r := range f.replicas {
		asked, key := time.Now(), fmt.Sprintf("short-%d", i)
		var issued v1.IssuedLease
		answered(t, "a replica issues", func(ctx context.Context) (err error) {
			issued, err = r.IssueLease(ctx, v1.LeaseRequest{VIM: "edge", Role: "view", TTL: "30m", Purpose: key}, key)
			return err
		})
		if at := issued.IssuedAt; at.Before(asked.Add(-time.Minute)) || at.After(time.Now().Add(time.Minute)) {
			t.Errorf("a lease that replica %d issued at %v is dated %v", i, asked, at)
		}
		short = append(short, issued.ID)
		l.ids[key] = issued.ID
	}
	l.more(enough)
	l.end()
	// Each of the two runs the passes alone, and ends what is due, and only that.
	for i, r := range f.replicas[:2] {
		var others []*replica
		for _, other := range f.replicas {
			if other != r {
				others = append(others, other)
				if err := other.broker.Stop(); err != nil {
					t.Error(err)
				}
			}
		}
		f.makeDue(short[i])
		eventually(t, "a lease that is due has ended", func(ctx context.Context) error {
			got, err := r.Lease(ctx, short[i])
			if err == nil && got.State != "revoked" {
				err = fmt.Errorf("it is %s", got.State)
			}
			return err
		})
		for _, id := range short[i+1:] {
			var got v1.Lease
			answered(t, "a replica shows a lease", func(ctx context.Context) (err error) {
				got, err = r.Lease(ctx, id)
				return err
			})
			if got.State != "active" {
				t.Errorf("a lease that has minutes to live is %s", got.State)
			}
		}
		for _, other := range others {
			other.start()
		}
	}
	l.prove()
}
