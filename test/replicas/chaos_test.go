package replicas

import (
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
)

// enough is how many answers callers get between two disturbances.
const enough = 100

// TestKilled kills one replica after the other in the middle of the load.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for _, r := range f.replicas {
		l.more(enough)
		r.broker.Kill()
		l.more(enough)
		r.start()
	}
	l.end()
	l.prove()
}

// TestStopped stops a replica in its tracks for a minute. What it was doing is
// settled meanwhile; then it goes on in the middle.
func TestStopped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	l.more(enough)
	r := f.replicas[1]
	r.signal(syscall.SIGSTOP)
	over := time.After(time.Minute)
	l.more(enough)
	f.settle()
	<-over
	r.signal(syscall.SIGCONT)
	l.more(enough)
	l.end()
	l.prove()
}

// TestCutOff takes the database away from one replica, in three ways.
func TestCutOff(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for _, cut := range []func(){f.cut.Refuse, f.cut.Drop, f.cut.BlackHole} {
		l.more(enough)
		cut()
		l.more(enough)
		if err := f.replicas[0].Ready(t.Context()); err == nil {
			t.Error("a replica without the database says that it is ready")
		}
		f.cut.Pass(t)
		f.replicas[0].ready()
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
	l.more(enough)
	db.Restart(t)
	l.more(enough)
	db.Crash()
	db.Start(t)
	l.more(enough)
	l.end()
	l.prove()
}

// TestRollingRestart replaces the replicas one by one, as an upgrade does. Leases
// of before go on, and no caller is refused everywhere.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	for _, r := range f.replicas {
		l.more(enough)
		if err := r.broker.Stop(); err != nil {
			t.Error(err)
		}
		l.more(enough)
		r.start()
	}
	l.end()
	l.prove()
}

// TestClocksApart lets two more replicas, whose clocks are a minute and a half
// ahead and behind, serve and run the passes beside the others.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	l := f.begin()
	l.more(enough)
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	for _, apart := range []time.Duration{90 * time.Second, -90 * time.Second} {
		m := f.join(func() time.Time { return time.Now().Add(apart) })
		issued, _, err := m.IssueLease(t.Context(), admin, broker.LeaseRequest{VIM: "edge", Role: "view", TTL: time.Hour})
		if err != nil {
			t.Fatalf("IssueLease with a clock %v apart: %v", apart, err)
		}
		for _, pass := range m.Passes() {
			if err := pass.Run(t.Context()); err != nil {
				t.Errorf("pass %s with a clock %v apart: %v", pass.Name, apart, err)
			}
		}
		if now, err := f.any().Lease(t.Context(), issued.ID); err != nil || now.State != "active" {
			t.Errorf("a lease of a replica whose clock is %v apart is %s, %v", apart, now.State, err)
		}
		after, err := f.any().RevokeLease(t.Context(), issued.ID)
		if err != nil || after.State != "revoked" {
			t.Errorf("revoking a lease of a replica whose clock is %v apart: %s, %v", apart, after.State, err)
		}
		l.more(enough)
	}
	l.end()
	l.prove()
}
