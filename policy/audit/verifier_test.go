package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// logLines is a log of n entries, as lines, with its state at each size.
func logLines(t testing.TB, n int) (lines [][]byte, states []tree.Head) {
	t.Helper()
	b, err := tree.NewBuilder(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	states = []tree.Head{tree.Empty()}
	for i := range n {
		line, err := audit.Line(audit.Entry{
			Seq: int64(i + 1), Time: time.Unix(int64(i), 0), Request: fmt.Sprint(i), Principal: "alice", Project: "north", Action: "lease:issue",
			Kind: "Lease", Resource: "c0a8f7de-3b1d-4c55-8a4b-90b1c3d2e5f6", Outcome: audit.Done, Detail: map[string]string{"vim": "v", "source": "10.0.0.1", "policy": "p"},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Append(tree.Leaf(line))
		lines, states = append(lines, line), append(states, b.State())
	}
	return lines, states
}

// Of several points of one size each is compared, whichever is wrong, at the size that it begins with and later.
func TestEachPointOfOneSizeIsCompared(t *testing.T) {
	lines, states := logLines(t, 9)
	// Points before the place from which the check goes on say nothing, and those behind it are compared.
	begun, err := audit.NewVerifier(1, []tree.Hash{tree.Leaf(lines[0])}, []audit.Point{{Head: states[0], Name: "before"}, {Head: tree.Head{Size: 5}, Name: "behind"}})
	if err != nil {
		t.Fatal(err)
	}
	if differs, found := errors.AsType[*audit.PointError](begun.Add(lines[1:])); !found || differs.Point.Name != "behind" {
		t.Errorf("a wrong point behind one that was passed: %v", differs)
	}
	for _, size := range []int{0, 5, 9} {
		for wrong := range 4 { // 3 is none
			points := []audit.Point{{Head: states[size], Name: "0"}, {Head: states[size], Name: "1"}, {Head: states[size], Name: "2"}}
			if wrong < len(points) {
				points[wrong].Root = states[7].Root
			}
			v, err := audit.NewVerifier(0, nil, points)
			if err == nil {
				err = v.Add(lines)
			}
			differs, found := errors.AsType[*audit.PointError](err)
			if found != (wrong < len(points)) || found && differs.Point.Name != fmt.Sprint(wrong) {
				t.Errorf("of three points of size %d the point %d is wrong: %v", size, wrong, err)
			}
		}
	}
}

func TestAVerifierNamesThePlace(t *testing.T) {
	lines, states := logLines(t, 100)
	for _, pages := range [][]int{{100}, {1, 1, 98}, {37, 0, 63}} {
		v, err := audit.NewVerifier(0, nil, []audit.Point{{Head: states[60], Name: "b"}, {Head: states[20], Name: "a"}, {Head: states[0], Name: "0"}})
		if err != nil {
			t.Fatal(err)
		}
		rest := lines
		for _, n := range pages {
			if err := v.Add(rest[:n]); err != nil {
				t.Errorf("Add of %d whole lines = %v", n, err)
			}
			rest = rest[n:]
		}
		if state := v.State(); state != states[100] || v.Size() != 100 {
			t.Errorf("in pages of %v: State = %v, want %v", pages, state, states[100])
		}
	}
	v, err := audit.NewVerifier(0, nil, []audit.Point{{Head: states[20], Name: "a"}, {Head: tree.Head{Size: 60, Root: states[7].Root}, Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	var differs *audit.PointError
	if err := v.Add(lines); !errors.As(err, &differs) || differs.Sound != 20 || differs.Point.Name != "b" {
		t.Errorf("Add of another log than the point's = %v, want a PointError between 20 and 60", err)
	}
	if v, err = audit.NewVerifier(0, nil, []audit.Point{{Head: states[60], Name: "b"}, {Head: tree.Head{Size: 20, Root: states[7].Root}, Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	if err := v.Add(lines); !errors.As(err, &differs) || differs.Sound != 0 || differs.Point.Name != "a" {
		t.Errorf("Add of another log than the point's that was given last = %v, want a PointError before 20", err)
	}
	for what, c := range map[string]struct {
		lines [][]byte
		seq   int64
	}{
		"an entry left out":   {append(append([][]byte{}, lines[:40]...), lines[41:]...), 41},
		"the first left out":  {lines[1:], 1},
		"one entry twice":     {append(append([][]byte{}, lines[:41]...), lines[40:]...), 41},
		"two entries swapped": {append(append(append([][]byte{}, lines[:40]...), lines[41], lines[40]), lines[42:]...), 41},
	} {
		for _, first := range []int{0, 40, 41} {
			v, err := audit.NewVerifier(0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err = v.Add(c.lines[:first]); err == nil {
				err = v.Add(c.lines[first:])
			}
			var broken *audit.OrderError
			if !errors.As(err, &broken) || broken.Seq != c.seq {
				t.Errorf("%s, in pages of %d: %v, want it at %d", what, first, err, c.seq)
			}
		}
	}
	if _, err := audit.NewVerifier(0, nil, []audit.Point{{Head: tree.Head{Root: states[1].Root}, Name: "empty"}}); !errors.As(err, &differs) {
		t.Errorf("NewVerifier of a size whose point differs = %v, want a PointError", err)
	}
	if _, err := audit.NewVerifier(1, []tree.Hash{tree.Leaf(lines[0])}, []audit.Point{{Head: tree.Head{Root: states[1].Root}, Name: "before"}, {Head: states[1], Name: "here"}}); err != nil {
		t.Errorf("NewVerifier of a size behind a point = %v, want that the point is ignored", err)
	}
	v, _ = audit.NewVerifier(0, nil, nil)
	if err := v.Add([][]byte{append([]byte(" "), lines[0]...)}); err == nil {
		t.Error("a line was taken that the log writes in another way")
	}
}

func BenchmarkVerifier(b *testing.B) {
	lines, _ := logLines(b, 10000)
	for b.Loop() {
		v, err := audit.NewVerifier(0, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := v.Add(lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*10000/b.Elapsed().Seconds(), "entries/s")
}

// TestALineThatIsWrittenOtherwiseIsNoticed: each says the same, or nearly, in other bytes, whose leaf is another.
func TestALineThatIsWrittenOtherwiseIsNoticed(t *testing.T) {
	lines, states := logLines(t, 7)
	whole := string(lines[6])
	for _, c := range [][2]string{
		{`"seq":7`, `"seq":07`},
		{`"seq":7`, `"seq":+7`},
		{`"seq":7`, `"seq":-7`},
		{`.000000Z`, `.0000000Z`},
		{`.000000Z`, `,000000Z`},
		{`1970-01-01`, `1970-02-30`},
		{`"policy":"p",`, `"policy":"p","policy":"p",`},
		{`"policy":"p",`, ``},
		{`"detail":{`, `"detail":{},"x":{`},
		{`"alice"`, `"\u0061lice"`},
		{`"alice"`, `"alice" `},
		{`"alice"`, `"alicf"`},
		{`"done"`, `1`},
		{`}`, `,}`},
		{whole, whole + " "},
		{whole, " " + whole},
		{whole, whole[:len(whole)-1]},
	} {
		changed := strings.Replace(whole, c[0], c[1], 1)
		if changed == whole {
			t.Fatalf("%q is not in %s", c[0], whole)
		}
		v, err := audit.NewVerifier(0, nil, []audit.Point{{Head: states[7], Name: "kept"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Add(append(slices.Clone(lines[:6]), []byte(changed))); err == nil {
			t.Errorf("%s passes for %s", changed, whole)
		}
	}
}
