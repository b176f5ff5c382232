package sqlite

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// full are a project's 22 000 VIMs and 22 000 leases: half its own, half shared by
// others or lent by it to others.
var full = []string{
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 22000)
		INSERT INTO vims (` + rows.VIMColumns.Names() + `)
		SELECT 'vim-' || i, iif(i % 2, 'other', 'full'), 'name-' || i, 'kubernetes', 'registered', i % 2, 0, 'alice',
			1, 1, 1, 0, 0, 0, 'reachable', 1, '', 'v1', 1, '', '', 1, '', '', '', '', '' FROM n`,
	`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 22000)
		INSERT INTO leases (` + rows.LeaseColumns.Names() + `, live)
		SELECT 'lease-' || i, 'vim-' || (i % 20), 'name', 'kubernetes', iif(i % 2, 'full', 'other'), 1, iif(i % 2, 'other', 'full'),
			'principal-' || (i % 20), i, '', iif(i / 2 % 20, 'revoked', 'active'), '', 'edit', '[]',
			'kubeconfig', '', i, i + 1, i + 1, 0, 0, 'bearerToken', 0, 1,
			1, 0, i + 1, 0, 'handle', '', '', 0, i + 1, '', 3, '', '',
			'null', 0, '', 'null', 'grant-' || (i % 5), 1, '', '', i + 1, '', 'null', 'null', '', '', 0, 0, '', '', '', i / 2 % 20 = 0 FROM n`,
	// And 5 000 VIMs of a third project that are shared with it by name.
	`WITH RECURSIVE n(i) AS (SELECT 22001 UNION ALL SELECT i + 1 FROM n WHERE i < 27000)
		INSERT INTO vims (` + rows.VIMColumns.Names() + `)
		SELECT 'vim-' || i, 'third', 'name-' || i, 'kubernetes', 'registered', 0, 0, 'alice',
			1, 1, 1, 0, 0, 0, 'reachable', 1, '', 'v1', 1, '', '', 1, '', '', '', '', '' FROM n`,
	`INSERT INTO vim_shares (shared_with, vim_project, vim_name) SELECT 'full', project, name FROM vims WHERE project = 'third'`,
}

// pages counts the pages of the database that a query looks at.
func (s *Store) pages(t *testing.T, text string, args ...any) int {
	t.Helper()
	conn, err := s.reader.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pages, _, err := measure(t, conn, text, args...)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// measure runs a statement, and counts the pages of the database that it looks at, and the rows that it answers or changes.
func measure(t *testing.T, conn *sql.Conn, text string, args ...any) (pages, rows int, err error) {
	t.Helper()
	looked := func() (n int) {
		err := conn.Raw(func(c any) error {
			for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
				pages, _, err := c.(sqlite.DBStatus).Status(op, true)
				if err != nil {
					return err
				}
				n += pages
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	stmt, err := conn.PrepareContext(t.Context(), text)
	if err != nil {
		return 0, 0, err
	}
	defer stmt.Close()
	looked()
	found, err := stmt.QueryContext(t.Context(), args...)
	answered, err := collect(found, err, func(*sql.Rows) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		return 0, 0, err
	}
	pages = looked()
	rows = len(answered)
	if changes := regexp.MustCompile(`^\s*(?:INSERT|UPDATE|DELETE)`); changes.MatchString(text) {
		err = conn.QueryRowContext(t.Context(), `SELECT changes()`).Scan(&rows)
	}
	return pages, rows, err
}

// TestAPageCostsAPage holds that a page of a long list costs what is on the page: at
// most three ranges of an index, however many rows the list has.
func TestAPageCostsAPage(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range full {
		if _, err := s.writer.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const size = 50
	// For each row of the page a few pages of indexes and tables.
	const most = 6 * (size + 1)
	live := []broker.LeaseState{broker.LeaseActive}
	for _, f := range []broker.LeaseFilter{
		{},
		{Project: "full"},
		{Project: "full", States: live},
		{Principal: "principal-7"},
		{VIM: "vim-7"},
		{CreatedBefore: time.UnixMicro(11_000)},
	} {
		for _, f.Token = range []string{"", rows.Token(rows.Position{List: "leases", At: 11_000, Names: []string{"lease-5"}})} {
			f.Size = size
			text, args, _, err := listLeases(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := s.pages(t, text, args...); n > most {
				t.Errorf("Leases(%+v) looks at %d pages, want at most %d", f, n, most)
			}
		}
	}
	for _, f := range []broker.VIMFilter{
		{}, {Project: "full"}, {State: broker.VIMRegistered}, {Status: broker.HealthReachable}, {State: broker.VIMRegistered, Project: "full"},
	} {
		for _, f.Token = range []string{
			"", rows.Token(rows.Position{List: "VIMs", Names: []string{"full", "name-5000"}}), rows.Token(rows.Position{List: "VIMs", Names: []string{"third", "name-23000"}}),
		} {
			f.Size = size
			text, args, _, err := listVIMs(f)
			if err != nil {
				t.Fatal(err)
			}
			if n := s.pages(t, text, args...); n > most {
				t.Errorf("VIMs(%+v) looks at %d pages, want at most %d", f, n, most)
			}
		}
	}
	if n := s.pages(t, `SELECT count(*) FROM leases WHERE purpose = 'x'`); n < 2*most {
		t.Errorf("the test sees %d pages of a scan of all leases", n)
	}
}

// TestAPageLooksAtAWindow holds that a page of leases of which few are wanted looks at no more than a window of them, and
// that all pages together hold each lease that is wanted, once.
func TestAPageLooksAtAWindow(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	for _, text := range append(full, `UPDATE leases SET state = 'irrevocable', live = 1 WHERE id IN ('lease-2', 'lease-3', 'lease-5', 'lease-21000', 'lease-21001')`) {
		if _, err := s.writer.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	irrevocable := []broker.LeaseState{broker.LeaseIrrevocable}
	for _, c := range []struct {
		f       broker.LeaseFilter
		matches string
		windows int // at least so many pages
	}{
		{broker.LeaseFilter{States: irrevocable}, `state = 'irrevocable'`, 1},
		{broker.LeaseFilter{States: []broker.LeaseState{broker.LeaseIrrevocable, broker.LeaseRevoked}, Principal: "principal-2"}, `state IN ('irrevocable', 'revoked') AND principal = 'principal-2'`, 3},
		{broker.LeaseFilter{Project: "full", States: irrevocable}, `state = 'irrevocable'`, 2},
		{broker.LeaseFilter{Principal: "principal-2", States: irrevocable}, `state = 'irrevocable' AND principal = 'principal-2'`, 1},
		{broker.LeaseFilter{VIM: "vim-2", States: []broker.LeaseState{broker.LeaseRevoked}}, `state = 'revoked' AND vim = 'vim-2'`, 3},
		{broker.LeaseFilter{Principal: "principal-2", Project: "nobody"}, `FALSE`, 1},
		{broker.LeaseFilter{VIM: "vim-3", Project: "full"}, `vim = 'vim-3'`, 3},
		{broker.LeaseFilter{Principal: "principal-2", VIM: "vim-3"}, `FALSE`, 3},
		{broker.LeaseFilter{Principal: "principal-3", Project: "full"}, `principal = 'principal-3'`, 3},
	} {
		seen, pages := map[string]bool{}, 0
		c.f.Size = 50
		for last := (broker.Lease{}); ; {
			_, wider := rows.WindowOfLeases(c.f)
			if wider != nil && !byState(c.f) {
				text, args, err := endOfWindow(c.f, *wider)
				if err != nil {
					t.Fatal(err)
				}
				if n := s.pages(t, text, args...); n > 60 {
					t.Errorf("the end of a window of Leases(%+v) looks at %d pages", c.f, n)
				}
			}
			found, next, err := s.Leases(t.Context(), c.f)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range found {
				if seen[l.ID] || !last.CreatedAt.IsZero() && last.CreatedAt.Before(l.CreatedAt) {
					t.Errorf("Leases(%+v): %s comes twice, or too late", c.f, l.ID)
				}
				seen[l.ID], last = true, l
			}
			if pages++; next == "" {
				break
			}
			c.f.Token = next
		}
		want := numbers(t, s, `SELECT '', count(*) FROM leases WHERE `+c.matches)[""]
		if len(seen) != want || pages < c.windows {
			t.Errorf("Leases(%+v): %d leases in %d pages, want %d in %d at least", c.f, len(seen), pages, want, c.windows)
		}
	}
	// The newest of the project's, and no more of them than a window, though none is the principal's.
	f := broker.LeaseFilter{Principal: "nobody", Project: "full", Page: broker.Page{Size: 50}}
	_, next, err := s.Leases(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Token = next; next == "" {
		t.Fatal("a page that looked at a window has no next one")
	}
	end, err := readPosition(f.Page)
	if err != nil {
		t.Fatal(err)
	}
	text, args, _, err := listLeases(broker.LeaseFilter{Principal: f.Principal, Project: f.Project, Page: broker.Page{Size: 50}}, end)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.pages(t, text, args...); n > 3*500 {
		t.Errorf("a window of 500 leases looks at %d pages", n)
	}
}

func readPosition(p broker.Page) (*rows.Position, error) {
	_, position, err := rows.LeaseOrder.Read(p)
	return position, err
}
