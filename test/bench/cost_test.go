package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// costLeases are issued, revoked and confirmed dead by costClients at once.
	costLeases  = 400
	costClients = 4
	// costGoal is the processor time of a whole lease, in ms; the broker's and the
	// database's each. costWAL is what it may write to the database's log, in KB.
	costGoal = 5
	costWAL  = 8
)

// cost measures what a whole lease costs: issued, revoked, and tried until the VIM refuses
// it. The domain is called without HTTP. The VIM is a real cluster, whose own cost is not
// counted.
func cost(b *testing.B) *figure {
	b.Helper()
	f := &figure{Title: "What a whole lease costs: issue, revoke, confirm"}
	f.Rows = append(f.Rows, costOn(b, newStack(b), "SQLite", nil)...)

	// Full page images depend on how often there are checkpoints, not on leases.
	dsn := real.OwnPostgres(b, "full_page_writes=off").DSN(b)
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	s := &stack{dir: b.TempDir(), cluster: real.Kubernetes(b), database: secret.NewText(dsn)}
	if s.token, err = s.cluster.NewAdminToken(b.Context(), real.MaxTokenTTL); err != nil {
		b.Fatal(err)
	}
	s.open(b)
	f.Rows = append(f.Rows, costOn(b, s, "PostgreSQL", conn)...)
	return f
}

// costOn measures on one store; conn leads to its PostgreSQL, if it is one.
func costOn(b *testing.B, s *stack, store string, conn *pgx.Conn) []row {
	b.Helper()
	s.mustRegister(b, "cluster")
	s.wholeLeases(b, costClients) // what is made once is made now
	if log, ok := s.store.(audit.Log); ok {
		if err := log.Grow(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	var postmaster int
	var wal float64
	if conn != nil {
		postmaster = parent(b, int(conn.PgConn().PID()))
		wal = written(b, conn)
	}
	mine, theirs := spent(b, os.Getpid()), family(b, postmaster)
	s.wholeLeases(b, costLeases)
	each := func(what string, value float64, unit string) row {
		return row{What: what + ", " + store, N: costLeases, Value: value / costLeases, Unit: unit}
	}
	rows := []row{each("processor time of the broker", spent(b, os.Getpid())-mine, "ms").valueGoal(costGoal)}
	if conn == nil {
		return rows
	}
	rows = append(rows,
		each("processor time of the database", family(b, postmaster)-theirs, "ms").valueGoal(costGoal),
		each("log of the database", (written(b, conn)-wal)/1024, "KB").valueGoal(costWAL))

	// Servers move what waits to the audit log in the background, many at a time.
	wal, mine, theirs = written(b, conn), spent(b, os.Getpid()), family(b, postmaster)
	if err := s.store.(audit.Log).Grow(b.Context()); err != nil {
		b.Fatal(err)
	}
	return append(rows,
		each("its entries moved to the log, broker", spent(b, os.Getpid())-mine, "ms"),
		each("its entries moved to the log, database", family(b, postmaster)-theirs, "ms"),
		each("its entries moved to the log, log of the database", (written(b, conn)-wal)/1024, "KB"))
}

// wholeLeases issues so many leases, revokes them, and confirms that they are dead.
func (s *stack) wholeLeases(b *testing.B, n int) {
	b.Helper()
	ctx := b.Context()
	if _, err := turn(costClients, n/costClients, 0, func(int) error {
		l, _, err := s.IssueLease(ctx, admin, broker.LeaseRequest{VIM: "cluster", TTL: time.Hour, Role: "view"})
		if err == nil {
			_, err = s.RevokeLease(ctx, admin, l.ID)
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	for tries := 0; ; tries++ {
		s.ahead.Add(int64(3 * time.Second))
		if err := s.Reap(ctx); err != nil {
			b.Fatal(err)
		}
		due, err := s.store.DueVIMs(ctx, s.now().Add(time.Hour))
		switch {
		case err != nil || tries > 20:
			b.Fatalf("leases are not confirmed dead after %d passes: %v", tries, err)
		case len(due) == 0:
			return
		}
	}
}

// spent is the processor time of a process so far, in ms.
func spent(b *testing.B, pid int) float64 {
	b.Helper()
	t, err := processorTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// family is the processor time of a process and its children, in ms; zero for none.
func family(b *testing.B, pid int) float64 {
	b.Helper()
	if pid == 0 {
		return 0
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		b.Fatal(err)
	}
	sum := spent(b, pid)
	for field := range strings.FieldsSeq(string(children)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		sum += spent(b, child)
	}
	return sum
}

// parent is the process that started another.
func parent(b *testing.B, pid int) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	up, err := strconv.Atoi(fields[1])
	if err != nil {
		b.Fatal(err)
	}
	return up
}

// written is how many bytes the database has written to its log.
func written(b *testing.B, conn *pgx.Conn) (bytes float64) {
	b.Helper()
	if err := conn.QueryRow(b.Context(), `SELECT (pg_current_wal_lsn() - '0/0')::float8`).Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
