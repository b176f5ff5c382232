package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// TestEachAnswerHasItsKind: of each class, of the codes that are apart from it, and of those around them.
func TestEachAnswerHasItsKind(t *testing.T) {
	const unique = "vim_name_once_per_project"
	for _, c := range []struct {
		said   pgconn.PgError
		kind   error // nil: none of the broker's
		detail string
		text   bool // is shown
	}{
		{said: pgconn.PgError{Code: uniqueViolation, ConstraintName: unique}, kind: broker.ErrExists, detail: "the project has a VIM of this name"},
		{said: pgconn.PgError{Code: "23514", ConstraintName: unique}, kind: broker.ErrInvalid, detail: "rule"},
		{said: pgconn.PgError{Code: uniqueViolation, ConstraintName: "other"}, kind: broker.ErrInvalid, detail: "rule other"},
		{said: pgconn.PgError{Code: "22001"}, kind: broker.ErrInvalid, detail: "cannot keep such a text"},
		{said: pgconn.PgError{Code: "54000"}, kind: broker.ErrInvalid, detail: "cannot keep such a text"},
		{said: pgconn.PgError{Code: undefinedTable}, kind: broker.ErrUnsupported, detail: "lacks a table", text: true},
		{said: pgconn.PgError{Code: "42703"}, text: true},
		{said: pgconn.PgError{Code: diskFull}, kind: broker.ErrNoSpace, text: true},
		{said: pgconn.PgError{Code: readOnly}, kind: broker.ErrNoWrites, text: true},
		{said: pgconn.PgError{Code: unsupported, Routine: refusesSetting}, kind: broker.ErrNoWrites, text: true},
		{said: pgconn.PgError{Code: unsupported, Routine: "other"}},
		{said: pgconn.PgError{Code: "42P02", Routine: refusesSetting}, text: true},
		{said: pgconn.PgError{Code: "53200"}, kind: broker.ErrNoWrites, text: true},
		{said: pgconn.PgError{Code: tooManyConnections}, kind: broker.ErrUnavailable, text: true},
		{said: pgconn.PgError{Code: insufficientRight}, kind: broker.ErrUnavailable, text: true},
		{said: pgconn.PgError{Code: serializationFailure}, kind: broker.ErrUnavailable},
		{said: pgconn.PgError{Code: "XX000"}, kind: broker.ErrUnavailable, text: true},
		{said: pgconn.PgError{Code: "P0001"}},
	} {
		c.said.Message = "canary"
		err := translate(fmt.Errorf("asking: %w", &c.said))
		var e *broker.Error
		if known := errors.As(err, &e); known != (c.kind != nil) || known && (!errors.Is(err, c.kind) || !strings.Contains(e.Detail, c.detail)) {
			t.Errorf("%s %s is %v, want %v %q", c.said.Code, c.said.Routine, err, c.kind, c.detail)
		}
		for _, less := range []error{broker.ErrNoWrites, broker.ErrNoSpace} { // each says more than that the store is unavailable
			if more := errors.Is(err, less); more != (c.kind == broker.ErrNoSpace || c.kind == less) { //nolint:errorlint // the very same
				t.Errorf("%s %s is %v: %v, and want %v", c.said.Code, c.said.Routine, less, more, c.kind)
			}
		}
		var a *answer
		if !errors.As(err, &a) || (a.text != "") != c.text {
			t.Errorf("%s holds %+v, want its text: %v", c.said.Code, a, c.text)
		}
		if translate(err) != err { //nolint:errorlint // the very same
			t.Errorf("%v is translated twice", err)
		}
	}
}

// TestALostConnectionIsUnavailable: whatever says that there is none.
func TestALostConnectionIsUnavailable(t *testing.T) {
	for _, c := range []struct {
		err  error
		lost bool
	}{
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{os.ErrDeadlineExceeded, true},
		{pgx.ErrTxClosed, true},
		{&pgconn.ConnectError{Config: &pgconn.Config{}}, true},
		{errors.New("conn closed"), true},
		{errors.New("closed pool"), true},
		{errors.New("conn closes"), false},
		{pgx.ErrNoRows, false},
	} {
		var l *lost
		if err := translate(c.err); errors.As(err, &l) != c.lost || errors.Is(err, broker.ErrUnavailable) != c.lost || !errors.Is(err, c.err) {
			t.Errorf("%v is %v, want it lost: %v", c.err, err, c.lost)
		}
	}
	if err := translate(nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

// TestWhatIsTriedAgain: a race that was lost, and a connection that was ended or leads to a standby; nothing that would fail again,
// and nothing of which it is not known whether there is a database.
func TestWhatIsTriedAgain(t *testing.T) {
	s := &Store{}
	s.closed.Store(true) // so that no pool is asked to give up its connections
	for code, want := range map[string]bool{
		serializationFailure: true, deadlockDetected: true, adminShutdown: true, idleInTransaction: true, readOnly: true,
		uniqueViolation: false, "22001": false, "57014": false, "57P03": false, "25001": false, lockNotAvailable: false, tooManyConnections: false,
		diskFull: false, insufficientRight: false, undefinedTable: false, "XX000": false,
	} {
		if err := translate(&pgconn.PgError{Code: code}); s.again(err) != want {
			t.Errorf("%s is tried again: %t", code, !want)
		}
	}
	for want, all := range map[bool][]error{
		true: {&pgconn.PgError{Code: unsupported, Routine: refusesSetting}, io.EOF, io.ErrUnexpectedEOF, errors.New("conn closed")},
		false: {
			nil, &pgconn.PgError{Code: unsupported, Routine: "other"}, &pgconn.ConnectError{Config: &pgconn.Config{}}, pgx.ErrNoRows, context.Canceled,
			broker.Invalid("name", "is none"),
		},
	} {
		for _, err := range all {
			if s.again(translate(err)) != want {
				t.Errorf("%v is tried again: %t", err, !want)
			}
		}
	}
}

// TestWhatACallComesTo: the end of its caller's context counts more than that the store is closed, and both more than its own bound.
func TestWhatACallComesTo(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	failure := errors.New("failure")
	for _, c := range []struct {
		caller, closed, bound bool // has ended
		err, want             error
	}{
		{false, false, false, nil, nil},
		{true, true, true, nil, nil},
		{false, false, false, failure, failure},
		{true, false, true, failure, context.Canceled},
		{true, true, true, failure, context.Canceled},
		{false, true, false, failure, rows.Closed()},
		{false, true, true, failure, rows.Closed()},
		{false, false, true, failure, rows.Unavailable(failure)},
	} {
		s, of := &Store{}, map[bool]context.Context{false: t.Context(), true: over}
		s.closed.Store(c.closed)
		if got := s.outcome(of[c.caller], of[c.bound], c.err); fmt.Sprint(got) != fmt.Sprint(c.want) || errors.Is(got, failure) != errors.Is(c.want, failure) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestWhichSchemasServe: this version's, and a newer one's that took nothing away which this version needs.
func TestWhichSchemasServe(t *testing.T) {
	for _, c := range []struct {
		s                     Schema
		current, newer, serve bool
	}{
		{Schema{Have: 3, Known: 3, Floor: 1}, true, false, true},
		{Schema{Have: 3, Known: 3, Floor: 3}, true, false, true},
		{Schema{Have: 4, Known: 3, Floor: 3}, false, true, true},
		{Schema{Have: 5, Known: 3, Floor: 4}, false, true, false},
		{Schema{Have: 2, Known: 3, Floor: 1}, false, false, false},
		{Schema{Have: 0, Known: 3}, false, false, false},
	} {
		if c.s.Current() != c.current || c.s.Newer() != c.newer || c.s.Serves() != c.serve {
			t.Errorf("%+v: current %t, newer %t, serves %t", c.s, c.s.Current(), c.s.Newer(), c.s.Serves())
		}
		s := &Store{log: testlog.Silent(t)}
		if err := s.accept(c.s); (err == nil) != c.serve || err != nil && !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%+v is accepted: %v", c.s, err)
		}
	}
}

// TestCredentialsStandApartAsBytes where the very text can be made of them again; any other stays in its row.
func TestCredentialsStandApartAsBytes(t *testing.T) {
	for text, apart := range map[string]bool{
		"": false, "gAAAAABk": true, "gAAA-_Bk": true, "YQ==": true, "YR==": false, "YQ": false, "sealed anew": false, "gAAA\nAABk": false, "gAAA+/Bk": false,
	} {
		x := txn{queued: &pgx.Batch{}}
		if got := x.Stow("lease", text); got != map[bool]string{true: "apart", false: text}[apart] || x.queued.Len() != map[bool]int{true: 2}[apart] {
			t.Errorf("of %q %q stands in the row, and %d statements write it", text, got, x.queued.Len())
		}
	}
}

// TestEachRefusalOfAnOpeningHasItsRemedy: also of a database that takes no writes.
func TestEachRefusalOfAnOpeningHasItsRemedy(t *testing.T) {
	for code, want := range refusals {
		said := opening(translate(&pgconn.PgError{Code: code, Message: "canary"}))
		if e, is := errors.AsType[*broker.Error](said); !is || e.Detail != want.detail || e.Remedy != want.remedy || e.Kind != broker.ErrUnavailable { //nolint:errorlint // the kind itself
			t.Errorf("%s: %v, want %q", code, said, want.detail)
		}
	}
}

// TestWhatOpeningSays of an answer that has no words of its own, and of silence.
func TestWhatOpeningSays(t *testing.T) {
	for want, err := range map[string]error{
		"see the database's log":            translate(&pgconn.PgError{Code: "58000", Message: "out of luck"}),
		"the database does not answer in t": translate(fmt.Errorf("asking: %w", errors.Join(os.ErrDeadlineExceeded, context.DeadlineExceeded))),
		"cannot be read":                    broker.Invalid("dsn", "cannot be read"),
	} {
		said := opening(err)
		var e *broker.Error
		if !errors.As(said, &e) || !strings.Contains(e.Detail+e.Remedy, want) {
			t.Errorf("opening says %v (%+v), want %q", said, e, want)
		}
	}
	canary := translate(errors.New("conn closed"))
	if said := opening(canary); said != canary { //nolint:errorlint // the very same
		t.Errorf("opening says %v of what it does not know", said)
	}
}

// TestOpeningSaysThatNothingAnswers: a machine that takes connections, and says nothing on them.
func TestOpeningSaysThatNothingAnswers(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, limit := range []string{"", "&connect_timeout=1"} { // the pool's is the shorter, and the connection's
		_, err := Open(t.Context(), Options{DSN: secret.NewText("postgres://u@" + silent.Addr().String() + "/db?sslmode=disable" + limit)})
		var e *broker.Error
		if !errors.As(err, &e) || e.Detail != "the database does not answer in time" || !strings.Contains(e.Remedy, "host and port") {
			t.Errorf("with %q opening says %v (%+v)", limit, err, e)
		}
	}
}

func TestThisMachineIsLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"/var/run": true, "@abstract": true, "localhost": true, "127.0.0.1": true, "[::1]": true, "::1": true,
		"10.0.0.1": false, "localhost.example": false, "db": false, "": false,
	} {
		if got := local(host); got != want {
			t.Errorf("local(%q) = %v", host, got)
		}
	}
}

func TestWaitingForAConnectionIsBounded(t *testing.T) {
	for text, want := range map[string]time.Duration{"": connectLimit, "&connect_timeout=4": 4 * time.Second, "&connect_timeout=5": connectLimit, "&connect_timeout=6": connectLimit} {
		o := Options{DSN: secret.NewText("postgres://u@db.example/db?sslmode=verify-full" + text)}
		o.complete()
		c, err := o.pool()
		if err != nil || c.ConnConfig.ConnectTimeout != want {
			t.Errorf("%q: %v, %v; want %v", text, c.ConnConfig.ConnectTimeout, err, want)
		}
		if p := c.ConnConfig.RuntimeParams; p["application_name"] != "vimbroker" || p["timezone"] != "UTC" || p["lock_timeout"] != "10000" {
			t.Errorf("the session is %v", p)
		}
	}
	o := Options{DSN: secret.NewText("postgres://u@db.example/db?sslmode=verify-full&application_name=other")}
	o.complete()
	if c, err := o.pool(); err != nil || c.ConnConfig.RuntimeParams["application_name"] != "other" {
		t.Errorf("with a name of its own: %v", err)
	}
}

func TestDatabasesAreToldApart(t *testing.T) {
	of := func(dsn string) Options { return Options{DSN: secret.NewText(dsn)} }
	one := of("postgres://u:p@db.example/a?sslmode=disable")
	for _, c := range []struct {
		a, b Options
		want bool
	}{
		{one, of("postgres://other@db.example:5432/a?sslmode=require"), true},
		{one, of("postgres://u:p@db.example/b?sslmode=disable"), false},
		{one, of("postgres://u:p@db.example:5433/a?sslmode=disable"), false},
		{one, of("words"), false},
		{of("words"), one, false},
		{of("words"), of("words"), false},
	} {
		if got := SameDatabase(c.a, c.b); got != c.want {
			t.Errorf("SameDatabase(%s, %s) = %v", c.a.DSN.Reveal(), c.b.DSN.Reveal(), got)
		}
	}
}

func TestMarksAreNumbered(t *testing.T) {
	for text, want := range map[string]string{
		`a`: `a`, `? ?`: `$1 $2`, `?0 ?9 ?/ ?:`: `$0 $9 $1/ $2:`, `?3, ?`: `$3, $1`,
	} {
		if got := numbered(text); got != want {
			t.Errorf("numbered(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestMomentsAreReadAnew(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.FixedZone("east", 3600))
	for _, c := range []struct {
		stored pgtype.Timestamptz
		want   time.Time
	}{
		{pgtype.Timestamptz{Time: at, Valid: true}, at.UTC()},
		{pgtype.Timestamptz{Time: at}, time.Time{}},
		{pgtype.Timestamptz{Time: at, Valid: true, InfinityModifier: pgtype.NegativeInfinity}, time.Time{}},
	} {
		got := time.Unix(1, 0)
		if err := (&moment{&got}).ScanTimestamptz(c.stored); err != nil || got != c.want { // the zone too
			t.Errorf("%+v is read as %v, %v; want %v", c.stored, got, err, c.want)
		}
	}
}

// TestValuesOfASourceAreKeptInOurTypes: numbers become times and truths, JSON becomes lists.
func TestValuesOfASourceAreKeptInOurTypes(t *testing.T) {
	for _, c := range []struct {
		of   string
		v    any
		want string
	}{
		{"timestamp with time zone", int64(0), fmt.Sprint(stamp(time.Time{}))},
		{"timestamp with time zone", int64(5), fmt.Sprint(stamp(time.UnixMicro(5)))},
		{"timestamp with time zone", "text", "text"},
		{"boolean", int64(0), "false"},
		{"boolean", int64(1), "true"},
		{"boolean", "text", "text"},
		{"bigint", int64(1), "1"},
		{"ARRAY", `["a","b"]`, "[a b]"},
		{"ARRAY", `[]`, "[]"},
	} {
		got, err := column{Type: c.of}.value(c.v)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%v of type %s is %v, %v; want %s", c.v, c.of, got, err, c.want)
		}
	}
	if _, err := (column{Type: "ARRAY"}).value(`["a"`); err == nil {
		t.Error("a list that is torn is taken")
	}
}

// TestTheRangesOfAListOfLeases: each filter alone, and those that meet.
func TestTheRangesOfAListOfLeases(t *testing.T) {
	at, live := time.Unix(1, 0), []broker.LeaseState{broker.LeaseActive}
	const due, dueOn, few = `lease_turns WHERE due_at`, `lease_turns WHERE vim`, `project = ? OR vim_project`
	for _, c := range []struct {
		f     broker.LeaseFilter
		live  bool
		parts int
		has   []string // of the texts below; the others do not stand there
	}{
		{broker.LeaseFilter{}, false, 1, nil},
		{broker.LeaseFilter{VIM: "v"}, false, 1, []string{`vim = ?`}},
		{broker.LeaseFilter{DueBefore: at}, false, 1, []string{due}},
		{broker.LeaseFilter{DueBefore: at, VIM: "v"}, false, 1, []string{dueOn, `vim = ?`}},
		{broker.LeaseFilter{States: live}, true, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: append(live, broker.LeaseRevoked)}, false, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: live, IDPrefix: "l"}, false, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: live, Operation: "o"}, false, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: live, Instance: "i"}, false, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: live, For: "w"}, false, 1, []string{`coalesce(state`}},
		{broker.LeaseFilter{States: live, DueBefore: at}, false, 1, []string{`coalesce(state`, due}},
		{broker.LeaseFilter{Project: "p"}, false, 2, nil},
		{broker.LeaseFilter{Project: "p", States: live}, true, 2, []string{`coalesce(state`}},
		{broker.LeaseFilter{Project: "p", DueBefore: at}, false, 1, []string{due, few}},
		{broker.LeaseFilter{Project: "p", IDPrefix: "l"}, false, 1, []string{few}},
		{broker.LeaseFilter{Project: "p", Operation: "l"}, false, 1, []string{few}},
		{broker.LeaseFilter{Project: "p", Instance: "l"}, false, 1, []string{few}},
		{broker.LeaseFilter{Project: "p", For: "l"}, false, 1, []string{few}},
	} {
		parts, _, isLive, err := leaseRanges(c.f, nil)
		if err != nil || len(parts) != c.parts || isLive != c.live {
			t.Errorf("%+v: %d ranges, live %v, %v; want %d, %v", c.f, len(parts), isLive, err, c.parts, c.live)
			continue
		}
		for _, part := range parts {
			text, _ := part.SelectFrom("")
			for _, condition := range []string{due, dueOn, few, `vim = ?`, `coalesce(state`} {
				if strings.Contains(text, condition) != slices.Contains(c.has, condition) {
					t.Errorf("%+v is looked for by %s, want %q", c.f, text, c.has)
				}
			}
		}
		text, args, size, err := database{}.LeaseQuery(c.f, nil)
		wantArgs := strings.Count(text, "?")
		if err != nil || len(args) != wantArgs || args[len(args)-1] != size+1 || strings.Contains(text, "live_leases") != c.live || strings.Contains(text, "OFFSET 0") == c.f.DueBefore.IsZero() {
			t.Errorf("%+v is asked for as %s with %d arguments, %v", c.f, text, len(args), err)
		}
		text, args, err = database{}.LeaseWindowEnd(c.f, c.f)
		if err != nil || len(args) != strings.Count(text, "?") || strings.Contains(text, "live_leases") != c.live || args[len(args)-1] != rows.LeaseWindow(c.f.Page)/c.parts-1 {
			t.Errorf("the window of %+v ends by %s with %v, %v", c.f, text, args, err)
		}
	}
	strange := broker.LeaseFilter{Page: broker.Page{Token: "strange"}}
	_, _, _, err := database{}.LeaseQuery(strange, nil)
	if _, _, other := (database{}).LeaseWindowEnd(strange, strange); !errors.Is(err, broker.ErrInvalid) || !errors.Is(other, broker.ErrInvalid) {
		t.Errorf("a page of a strange token = %v, its window %v; want ErrInvalid", err, other)
	}
}

// TestHowListsAreAskedFor: the query of each list, by each thing alone that selects, of one project and of all.
func TestHowListsAreAskedFor(t *testing.T) {
	var said strings.Builder
	unsaid := regexp.MustCompile(`"[A-Za-z0-9]+":(false|null|""|0|{}|"0001-01-01T00:00:00Z"),?`)
	columns := regexp.MustCompile(`SELECT (coalesce\([^()]*\),? |[a-z_.]+, ){8,}`)
	note := func(what string, f any, text string, args []any, err error) {
		of, _ := json.Marshal(f) // it holds texts and times
		text = columns.ReplaceAllString(strings.Join(strings.Fields(text), " "), "SELECT columns ")
		fmt.Fprintf(&said, "%s of %s:\n  %s\n  %+v, %v\n", what, unsaid.ReplaceAll(of, nil), text, args, err)
	}
	for _, project := range []string{"", "north"} {
		for _, f := range alone[broker.VIMFilter]() {
			f.Project = project
			text, args, _, err := database{}.VIMQuery(f)
			note("VIMs", f, text, args, err)
		}
		for _, f := range alone[broker.LeaseFilter]() {
			f.Project = project
			text, args, _, err := database{}.LeaseQuery(f, &rows.Position{List: "leases", At: 7, Names: []string{"l"}})
			note("leases", f, text, args, err)
			text, args, err = database{}.LeaseWindowEnd(f, f)
			note("their window", f, text, args, err)
		}
	}
	golden.Compare(t, "testdata/lists.txt", said.String())
}

// alone are filters that have one field each.
func alone[F any]() (all []F) {
	for i := range reflect.TypeFor[F]().NumField() {
		var f F
		field := reflect.ValueOf(&f).Elem().Field(i)
		switch to := field.Addr().Interface().(type) {
		case *time.Time:
			*to = time.Unix(1_700_000_000, 0).UTC()
		case *broker.Page:
			continue
		case *map[string]string:
			*to = map[string]string{"tier": "edge"}
		default:
			switch field.Kind() {
			case reflect.String:
				field.SetString("x")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Slice:
				field.Set(reflect.MakeSlice(field.Type(), 1, 1))
				field.Index(0).SetString("x")
			}
		}
		all = append(all, f)
	}
	return append(all, *new(F))
}
