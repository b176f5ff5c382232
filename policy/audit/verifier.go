package audit

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Point is a state that the log is known to have had, as somebody who kept it calls it.
type Point struct {
	tree.Head
	Name string
}

// PointError says that the log is not the one of a point.
type PointError struct {
	Point Point
	// Sound is the number of entries from the first on that an earlier point proves; 0 if none is.
	Sound int64
}

// Error names the entries among which the log was changed.
func (e *PointError) Error() string {
	return fmt.Sprintf("the audit log was changed between entries %d and %d: they are not those of %s", e.Sound+1, e.Point.Size, e.Point.Name)
}

// OrderError is the place at which a run of entries has a gap, or another order than the log.
type OrderError struct {
	// Seq is the entry that is missing or out of place.
	Seq int64
	// Fault says which.
	Fault string
}

// Error names the entry and the fault.
func (e *OrderError) Error() string {
	return fmt.Sprintf("the audit log is broken at entry %d: %s", e.Seq, e.Fault)
}

// Missing is the fault of an entry that is not there.
func Missing(seq int64) error { return &OrderError{seq, "it is missing"} }

// follow returns nil if an entry is the one that is wanted; otherwise an [*OrderError].
func follow(want, seq int64) error {
	switch {
	case seq < 1:
		return &OrderError{seq, "entries are numbered from 1"}
	case seq > want:
		return Missing(want)
	case seq < want:
		return &OrderError{seq, "it is out of order"}
	}
	return nil
}

// Follow checks that entries follow one another, oldest first, from any one on: an [*OrderError] names the
// first that is missing or out of order. That an entry was altered is for the tree to tell.
func Follow(entries []Entry) error {
	for i, e := range entries {
		if err := follow(max(entries[0].Seq, 1)+int64(i), e.Seq); err != nil {
			return err
		}
	}
	return nil
}

// Verifier checks lines of the log in their order: that none is missing, and that the log had the states
// of the points. It belongs to one goroutine.
type Verifier struct {
	builder *tree.Builder
	size    int64
	points  []Point
	sound   int64
}

// NewVerifier continues a log of a size from the frontier of its tree. It ignores points of a smaller
// size. A frontier that is not that of a point of this size is a [*PointError].
func NewVerifier(size int64, frontier []tree.Hash, points []Point) (*Verifier, error) {
	b, err := tree.NewBuilder(size, frontier)
	if err != nil {
		return nil, err
	}
	points = slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Size < size })
	slices.SortStableFunc(points, func(a, b Point) int { return int(a.Size - b.Size) })
	v := &Verifier{builder: b, size: size, points: points}
	return v, v.compare()
}

// Size is the number of entries checked, with the earlier ones.
func (v *Verifier) Size() int64 { return v.size }

// State is the tree of all entries that were checked, with those before.
func (v *Verifier) State() tree.Head { return v.builder.State() }

// Add checks the lines that follow. An [*OrderError] or a [*PointError] names the place; after an error
// State is that of the lines before it, and the verifier takes no more.
func (v *Verifier) Add(lines [][]byte) error {
	leaves := leavesOf(lines)
	for i, line := range lines {
		seq, err := seqOf(line)
		if err == nil {
			err = follow(v.size+1, seq)
		}
		if err != nil {
			return err
		}
		v.builder.Append(leaves[i])
		v.size++
		if err := v.compare(); err != nil {
			return err
		}
	}
	return nil
}

// seqOf reads the number of a line. The rest of it is not decoded: a line that the log writes in another way
// has another leaf.
func seqOf(line []byte) (int64, error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	digits, _, _ := bytes.Cut(rest, []byte(","))
	seq, _ := strconv.ParseInt(string(digits), 10, 64)
	if !ok || strconv.FormatInt(seq, 10) != string(digits) {
		return 0, errors.New("a line is no audit entry as the log writes it")
	}
	return seq, nil
}

// compare compares the tree with the points of its size.
func (v *Verifier) compare() error {
	for len(v.points) > 0 && v.points[0].Size == v.size {
		if v.builder.State() != v.points[0].Head {
			return &PointError{v.points[0], v.sound}
		}
		v.sound, v.points = v.size, v.points[1:]
	}
	return nil
}

func leavesOf(lines [][]byte) []tree.Hash {
	workers, leaves := runtime.GOMAXPROCS(0), make([]tree.Hash, len(lines))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w * len(lines) / workers; i < (w+1)*len(lines)/workers; i++ {
				leaves[i] = tree.Leaf(lines[i])
			}
		})
	}
	all.Wait()
	return leaves
}
