package audit_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// logOf is a log of n entries.
func logOf(t *testing.T, n int) []audit.Entry {
	t.Helper()
	var entries []audit.Entry
	for i := range n {
		entries = append(entries, audit.Kept(audit.Entry{
			Seq: int64(i + 1), Time: noon.Add(time.Duration(i) * time.Second), Request: "r1",
			Principal: "alice", Project: "core", Action: policy.LeaseIssue, Kind: policy.KindVIM,
			Resource: fmt.Sprintf("vim-%d", i), Outcome: audit.Intent,
			Detail: map[string]string{"role": "edit", "ttl": "1h0m0s"},
		}))
	}
	return entries
}

func TestFollowNamesTheEntryAtFault(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func([]audit.Entry) []audit.Entry
		want  int64 // -1: the log is whole
	}{
		"whole":              {func(e []audit.Entry) []audit.Entry { return e }, -1},
		"empty":              {func([]audit.Entry) []audit.Entry { return nil }, -1},
		"a page":             {func(e []audit.Entry) []audit.Entry { return e[2:5] }, -1},
		"one removed":        {func(e []audit.Entry) []audit.Entry { return slices.Delete(e, 3, 4) }, 4},
		"two swapped":        {func(e []audit.Entry) []audit.Entry { e[2], e[3] = e[3], e[2]; return e }, 3},
		"one twice":          {func(e []audit.Entry) []audit.Entry { return slices.Insert(e, 3, e[2]) }, 3},
		"numbered from zero": {func(e []audit.Entry) []audit.Entry { e[0].Seq = 0; return e }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			err := audit.Follow(test.spoil(logOf(t, 6)))
			var broken *audit.OrderError
			switch {
			case test.want == -1:
				if err != nil {
					t.Errorf("Follow() = %v, want nil", err)
				}
			case !errors.As(err, &broken):
				t.Errorf("Follow() = %v, want an OrderError", err)
			case test.want == 0 && err.Error() != "the audit log is broken at entry 0: entries are numbered from 1":
				t.Errorf("Follow() of an entry without a number = %v", err)
			case broken.Seq != test.want:
				t.Errorf("Follow() = %v, want entry %d named", err, test.want)
			}
		})
	}
}

// TestATreeNoticesWhatFollowsAndIsAltered changes a log whose numbers stay in order, with a point that knows it.
func TestATreeNoticesWhatFollowsAndIsAltered(t *testing.T) {
	whole := logOf(t, 6)
	point := audit.Point{Head: stateOf(t, whole), Name: "kept"}
	for name, spoil := range map[string]func([]audit.Entry) []audit.Entry{
		"outcome altered": func(e []audit.Entry) []audit.Entry { e[4].Outcome = audit.Denied; return e },
		"replaced":        func(e []audit.Entry) []audit.Entry { e[1].Principal = "mallory"; return e },
		"removed and renumbered": func(e []audit.Entry) []audit.Entry {
			e = append(slices.Delete(e, 2, 3), e[0])
			for i := range e {
				e[i].Seq = int64(i + 1)
			}
			return e
		},
		"inserted and renumbered": func(e []audit.Entry) []audit.Entry {
			e = slices.Insert(e, 2, e[1])
			for i := range e {
				e[i].Seq = int64(i + 1)
			}
			return e
		},
		"swapped and renumbered": func(e []audit.Entry) []audit.Entry {
			e[2], e[3] = e[3], e[2]
			e[2].Seq, e[3].Seq = 3, 4
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := audit.NewVerifier(0, nil, []audit.Point{point})
			if err != nil {
				t.Fatal(err)
			}
			var differs *audit.PointError
			if err := v.Add(linesOf(t, spoil(slices.Clone(whole)))); !errors.As(err, &differs) {
				t.Errorf("Add() = %v, want a PointError", err)
			}
		})
	}
}

func linesOf(t testing.TB, entries []audit.Entry) [][]byte {
	t.Helper()
	lines := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if lines[i], err = audit.Line(e); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func stateOf(t testing.TB, entries []audit.Entry) tree.Head {
	t.Helper()
	v, err := audit.NewVerifier(0, nil, nil)
	if err == nil {
		err = v.Add(linesOf(t, entries))
	}
	if err != nil {
		t.Fatal(err)
	}
	return v.State()
}

func leafOf(t *testing.T, e audit.Entry) tree.Hash {
	t.Helper()
	leaf, err := audit.Leaf(e)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// TestALeafCoversEveryField alters the fields of an entry one by one, so that a
// field added to Entry and forgotten in its line fails here.
func TestALeafCoversEveryField(t *testing.T) {
	whole := logOf(t, 2)[1]
	fields := reflect.TypeFor[audit.Entry]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		t.Run(name, func(t *testing.T) {
			e := whole
			switch f := reflect.ValueOf(&e).Elem().Field(i); f.Interface().(type) {
			case int64:
				f.SetInt(f.Int() + 1)
			case time.Time:
				f.Set(reflect.ValueOf(e.Time.Add(time.Microsecond)))
			case bool:
				t.Skip("what reading an entry finds: no writer sets it")
			case map[string]string:
				f.Set(reflect.ValueOf(map[string]string{"role": "view", "ttl": "1h0m0s"}))
			default:
				f.SetString(f.String() + "x")
			}
			if leafOf(t, e) == leafOf(t, whole) {
				t.Errorf("the leaf is the same after %s was altered", name)
			}
		})
	}
}

func TestEncodingIsUnambiguous(t *testing.T) {
	seen := map[tree.Hash]audit.Entry{}
	for _, e := range []audit.Entry{
		{Seq: 1, Principal: "ab", Project: "c"},
		{Seq: 1, Principal: "a", Project: "bc"},
		{Seq: 1, Principal: "abc"},
		{Seq: 1, Project: "abc"},
		{Seq: 1, Detail: map[string]string{"a": "b", "c": "d"}},
		{Seq: 1, Detail: map[string]string{"a": "bc", "d": ""}},
		{Seq: 1, Detail: map[string]string{"abcd": ""}},
		{Seq: 1, Resource: "x", Outcome: ""},
		{Seq: 1, Resource: "", Outcome: "x"},
	} {
		leaf := leafOf(t, e)
		if other, taken := seen[leaf]; taken {
			t.Errorf("two entries have one leaf:\n%+v\n%+v", other, e)
		}
		seen[leaf] = e
	}
}

func TestKeptIsTheFormThatStoresKeep(t *testing.T) {
	east := time.FixedZone("east", 9*3600)
	e := audit.Entry{Seq: 1, Time: noon.In(east), Principal: "a\xff", Detail: map[string]string{"k": "\xfe"}}
	got := audit.Kept(e)
	want := audit.Entry{
		Seq: 1, Time: noon.Truncate(time.Microsecond), Principal: "a\uFFFD",
		Detail: map[string]string{"k": "\uFFFD"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Kept() (-want +got):\n%s", diff)
	}
	const wrong, right = "a\xff", "a\uFFFD"
	got = audit.Kept(audit.Entry{
		Request: wrong, Door: wrong, Principal: wrong, Project: wrong, Action: wrong, Kind: wrong, Resource: wrong, Outcome: wrong, Detail: map[string]string{wrong: wrong},
	})
	if diff := cmp.Diff(audit.Entry{
		Request: right, Door: right, Principal: right, Project: right, Action: right, Kind: right, Resource: right, Outcome: right, Detail: map[string]string{right: right},
	}, got); diff != "" {
		t.Errorf("Kept() of texts that are none (-want +got):\n%s", diff)
	}
	got = audit.Kept(e)
	if e.Detail["k"] != "\xfe" {
		t.Errorf("Kept changed the Detail of its argument")
	}
	back := got
	back.Time = got.Time.In(east)
	if leafOf(t, back) != leafOf(t, e) {
		t.Errorf("the leaf is another after the entry was read back in another zone")
	}
	if leafOf(t, audit.Entry{Detail: map[string]string{}}) != leafOf(t, audit.Entry{}) {
		t.Errorf("an empty Detail and none have different leaves")
	}
}

// TestALeafIsStable holds the encoding: entries on disk have it in their tree.
func TestALeafIsStable(t *testing.T) {
	const want = "os12Vz4JcLXPb2qd8RaS+WcLfUtGmdDeIDKdebYdnmo="
	if got := leafOf(t, logOf(t, 2)[1]).String(); got != want {
		t.Errorf("Leaf = %s, want %s", got, want)
	}
}

// A line is read as it was written, and one that the log would write in another way is refused.
func TestALineIsReadAsItIsWritten(t *testing.T) {
	want := logOf(t, 1)[0]
	line := string(linesOf(t, []audit.Entry{want})[0])
	got, err := audit.ParseLine([]byte(line))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ParseLine() = %v (-want +got):\n%s", err, diff)
	}
	for text, says := range map[string]string{
		line + " ":                                  "audit entry 1 is not written as the log writes it",
		strings.Replace(line, ":1,", ": 1,", 1):     "audit entry 1 is not written as the log writes it",
		strings.Replace(line, "{", `{"more":1,`, 1): "audit entry 1 is not written as the log writes it",
		strings.Replace(line, "2026", "twenty", 1):  "audit entry 1 has no time",
		line[1:]: "an audit entry is not JSON: ",
	} {
		if _, err := audit.ParseLine([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("ParseLine(%s) = %v, want %q", text, err, says)
		}
	}
}

func TestATreeGrowsByTheNextEntry(t *testing.T) {
	for name, entries := range map[string][]audit.Entry{
		"a gap at the start": logOf(t, 3)[1:],
		"a gap inside":       slices.Delete(logOf(t, 4), 1, 2),
	} {
		if _, _, err := audit.Grown(t.Context(), nil, tree.Head{}, entries); !errors.Is(err, tree.ErrTorn) {
			t.Errorf("%s: Grown() = %v, want ErrTorn", name, err)
		}
	}
	if grown, _, err := audit.Grown(t.Context(), nil, tree.Head{}, logOf(t, 3)); err != nil || grown.Size != 3 {
		t.Errorf("Grown() = %d entries, %v, want 3", grown.Size, err)
	}
}
