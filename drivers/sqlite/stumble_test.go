package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// errStumbled is what a step fails with that a test has fail.
var errStumbled = errors.New("the database stumbles")

// stumbling is a database each step of which fails once, for each method of tables and each way to the step. What fails
// is taken back and tried again, so that its caller sees nothing of it. It has the test fail where an error is dropped.
type stumbling struct {
	tables.Database
	t    testing.TB
	seen *sync.Map // the steps that have failed
}

// attempt is one run of what a caller wants from the database.
type attempt struct {
	stumbling
	way     string // so far
	stumble string // the step that fails
}

// begin returns an attempt of the method of tables that is under way.
func (s stumbling) begin() *attempt {
	callers := make([]uintptr, 40)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	method := ""
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/drivers/tables.") {
			method = f.Function // the outermost is the last
		}
		if !more {
			return &attempt{stumbling: s, way: method}
		}
	}
}

// fails reports whether a step is to fail now: the first of an attempt that never has.
func (a *attempt) fails(step string) bool {
	a.way += "\n" + step
	if a.stumble != "" {
		return false
	}
	if _, seen := a.seen.LoadOrStore(a.way, true); seen {
		return false
	}
	a.stumble = a.way
	return true
}

// told takes what came of an attempt, and reports whether it is to be made again.
func (a *attempt) told(err error) (again bool) {
	if a.stumble == "" {
		return false
	}
	if !errors.Is(err, errStumbled) {
		a.t.Errorf("what comes of it is %v, though its last step fails:\n%s", err, a.stumble)
	}
	return true
}

func (s stumbling) read(read func(collect func(tables.Rows) error) error, text string, collect func(tables.Rows) error) error {
	for {
		a := s.begin()
		err := read(func(found tables.Rows) error {
			err := collect(stumblingRows{found, a, text})
			if a.told(err) {
				return errStumbled
			}
			return err
		})
		if a.stumble == "" {
			return err
		}
	}
}

func (s stumbling) Read(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return s.read(func(collect func(tables.Rows) error) error { return s.Database.Read(ctx, collect, text, args...) }, text, collect)
}

func (s stumbling) LookUp(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return s.read(func(collect func(tables.Rows) error) error { return s.Database.LookUp(ctx, collect, text, args...) }, text, collect)
}

func (s stumbling) Change(ctx context.Context, apply func(tables.Transaction) error) error {
	for {
		a := s.begin()
		err := s.Database.Change(ctx, func(t tables.Transaction) error {
			err := apply(stumblingWrite{t, a})
			if a.told(err) {
				return errStumbled
			}
			return err
		})
		if a.stumble == "" {
			return err
		}
	}
}

type stumblingRows struct {
	tables.Rows
	a    *attempt
	text string
}

func (r stumblingRows) Scan(fields ...any) error {
	if r.a.fails("a row of " + r.text) {
		return errStumbled
	}
	return r.Rows.Scan(fields...)
}

func (r stumblingRows) Spare(bad *bool, fields ...any) error {
	if r.a.fails("a row of " + r.text) {
		return errStumbled
	}
	return r.Rows.Spare(bad, fields...)
}

type stumblingWrite struct {
	tables.Transaction
	a *attempt
}

func (w stumblingWrite) Exec(text string, args ...any) (int64, error) {
	if w.a.fails(text) {
		return 0, errStumbled
	}
	return w.Transaction.Exec(text, args...)
}

// Find fails at its beginning, at a row, and when all rows are read.
func (w stumblingWrite) Find(collect func(tables.Rows) error, text string, args ...any) error {
	if w.a.fails(text) {
		return errStumbled
	}
	err := w.Transaction.Find(func(found tables.Rows) error { return collect(stumblingRows{found, w.a, text}) }, text, args...)
	if err == nil && w.a.fails("the end of "+text) {
		return errStumbled
	}
	return err
}

func (w stumblingWrite) Ahead(collect func(tables.Rows) error, text string, args ...any) (need func() error) {
	return func() error { return w.Find(collect, text, args...) }
}

func (w stumblingWrite) HoldLog(wait bool) error {
	if w.a.fails("holding the log") {
		return errStumbled
	}
	return w.Transaction.HoldLog(wait)
}

func (w stumblingWrite) Append(e audit.Entry) error {
	if w.a.fails("appending an entry") {
		return errStumbled
	}
	return w.Transaction.Append(e)
}

// blank is a database that answers each query with one row of zeros, and has each statement meet a row. It answers
// nothing from its n-th call on.
type blank struct {
	tables.Database
	left *int
}

func (b blank) call(do func() error) error {
	if *b.left--; *b.left < 0 {
		return errStumbled
	}
	return do()
}

func (b blank) Read(_ context.Context, collect func(tables.Rows) error, _ string, _ ...any) error {
	return b.call(func() error { return collect(new(zeros)) })
}

func (b blank) LookUp(ctx context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	return b.Read(ctx, collect, text, args...)
}

func (b blank) Change(_ context.Context, apply func(tables.Transaction) error) error {
	return b.call(func() error { return apply(blankWrite{}) })
}

// zeros is one row.
type zeros struct{ read bool }

func (z *zeros) Next() bool {
	is := !z.read
	z.read = true
	return is
}

func (*zeros) Scan(...any) error         { return nil }
func (*zeros) Spare(*bool, ...any) error { return nil }

// blankWrite is a transaction of such a database. What else it is asked for has no effect.
type blankWrite struct{ txn }

func (blankWrite) Queue(string, ...any)               {}
func (blankWrite) Exec(string, ...any) (int64, error) { return 1, nil }
func (blankWrite) Find(collect func(tables.Rows) error, _ string, _ ...any) error {
	return collect(new(zeros))
}
func (blankWrite) AmendLease(_, _ broker.Lease, _ rows.Columns[broker.Lease]) {}
func (blankWrite) Append(audit.Entry) error                                   { return nil }
func (blankWrite) WakeJobs()                                                  {}
func (blankWrite) Now() time.Time                                             { return time.Unix(1, 0) }

func (w blankWrite) Ahead(collect func(tables.Rows) error, _ string, _ ...any) (need func() error) {
	return func() error { return w.Find(collect, "") }
}

// wordless are methods whose one caller says what could not be done.
var wordless = []string{
	"CredentialsExpiring", "DeferCluster", "DueKinds", "FinishJob", "ForgetCluster", "ForgetVNFGrants", "GrowTree", "KeepJob",
	"NoteManagement", "NoteVNFGrant", "RetryJob", "ScheduleJob", "TakeJobs",
}

// unreadable are methods that read a document, which the empty text is not.
var unreadable = []string{
	"Asset", "Assets", "CreateInstance", "DeleteAsset", "DeletePackage", "DeleteSubscription", "DueVNFGrants", "GiveTurns",
	"HoldingVNFGrant", "Instance", "Instances", "InstancesToObserve", "Operation", "Operations", "Package", "PackageOfVNFD",
	"Packages", "RekeySubscription", "SaveProgress", "Subscription", "Subscriptions", "UnsettledAssets", "UpdateAsset",
	"UpdateOperation", "UpdatePackage", "UpdateSubscription", "UpdateVNFGrant", "VNFGrant", "VNFGrantOf", "VNFGrantRecord",
	"VNFGrantRecords",
}

// TestEveryMethodSaysWhatItCouldNotDo calls each method of tables on a database that answers nothing, from the first of
// its calls on, or from a later one, or that answers with zeros.
func TestEveryMethodSaysWhatItCouldNotDo(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	left := 0
	all := tables.Of(blank{database{s}, &left})
	value := reflect.ValueOf(&all)
	tried := 0
	var torn []string
	for i := range value.NumMethod() {
		name, method := value.Type().Method(i).Name, value.Method(i)
		if method.Type().NumIn() == 0 || method.Type().In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		for n := range 4 {
			left = n
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for k := 1; k < method.Type().NumIn(); k++ {
				args = append(args, something(method.Type().In(k)))
			}
			if method.Type().IsVariadic() {
				args = args[:len(args)-1]
			}
			results := method.Call(args)
			err, _ := results[len(results)-1].Interface().(error)
			if left >= 0 {
				if errors.Is(err, broker.ErrUnavailable) {
					torn = append(torn, name)
				}
				break
			}
			if tried++; !errors.Is(err, errStumbled) || (err == errStumbled) != slices.Contains(wordless, name) { //nolint:errorlint // the bare error is meant
				t.Errorf("%s = %v, want what it could not do, and why", name, err)
			}
		}
	}
	if tried < 160 {
		t.Errorf("%d calls fail, want those of all methods", tried)
	}
	if diff := cmp.Diff(unreadable, torn); diff != "" {
		t.Errorf("methods that refuse a document which cannot be read (-want +got):\n%s", diff)
	}
}

// something is an argument of a type: of a slice one, an entry that may be stored, a function that has one thing to say.
func something(of reflect.Type) reflect.Value {
	switch {
	case of == reflect.TypeFor[audit.Entry]():
		e := entryOf("something")
		e.Detail = map[string]string{}
		return reflect.ValueOf(e)
	case of.Kind() == reflect.Slice:
		return reflect.MakeSlice(of, 1, 1)
	case of.Kind() == reflect.Func:
		return reflect.MakeFunc(of, func([]reflect.Value) (results []reflect.Value) {
			for i := range of.NumOut() {
				if of.Out(i).Kind() == reflect.Slice {
					results = append(results, reflect.MakeSlice(of.Out(i), 1, 1))
				} else {
					results = append(results, reflect.Zero(of.Out(i)))
				}
			}
			return results
		})
	}
	return reflect.Zero(of)
}
