package audit

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Point is a state that the log is known to have had, as somebody who kept it calls it.
type Point struct {
	tree.State
	Name string
}

// PointError says that the log is not the one of a point.
type PointError struct {
	Point Point
	// Sound is how many entries from the first on are proven by a point before; 0 if none is.
	Sound int64
}

// Error names the entries among which the log was changed.
func (e *PointError) Error() string {
	return fmt.Sprintf("the audit log was changed between entries %d and %d: they are not those of %s", e.Sound+1, e.Point.Size, e.Point.Name)
}

// Verifier checks lines of the log in their order: that each is as the log writes it, that the chain
// of hashes is whole, and that the log had the states of the points. It belongs to one goroutine.
type Verifier struct {
	builder *tree.Builder
	size    int64
	points  []Point
	sound   int64
	before  *link // the entry before, once there is one
}

// NewVerifier goes on with a log of a size from the frontier of its tree. Points of a smaller size are
// not looked at. A frontier that is not that of a point of this size is a [*PointError].
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

// Size is how many entries were checked, with those before.
func (v *Verifier) Size() int64 { return v.size }

// State is the tree of all entries that were checked, with those before.
func (v *Verifier) State() (tree.State, error) { return v.builder.State() }

// Add checks the lines that follow. A [*ChainError] or a [*PointError] names the place; after an error
// the verifier is of no use.
func (v *Verifier) Add(lines [][]byte) error {
	links := make([]link, len(lines))
	leaves := make([]tree.Hash, len(lines))
	if err := readLines(lines, links, leaves); err != nil {
		return err
	}
	if err := v.chained(links); err != nil {
		return err
	}
	for _, leaf := range leaves {
		if err := v.builder.Append(leaf); err != nil {
			return err
		}
		v.size++
		if err := v.compare(); err != nil {
			return err
		}
	}
	return nil
}

// chained verifies the chain, from the entry before on.
func (v *Verifier) chained(links []link) error {
	if len(links) == 0 {
		return nil
	}
	switch first := links[0].seq; {
	case first > v.size+1:
		return &ChainError{v.size + 1, "it is missing"}
	case first <= v.size:
		return &ChainError{first, "it is out of order"}
	}
	for i := range links {
		if err := follow(v.before, links[i]); err != nil {
			return err
		}
		v.before = &links[i]
	}
	return nil
}

// compare compares the tree with the points of its size.
func (v *Verifier) compare() error {
	for len(v.points) > 0 && v.points[0].Size == v.size {
		now, err := v.builder.State()
		if err != nil {
			return err
		}
		if now != v.points[0].State {
			return &PointError{v.points[0], v.sound}
		}
		v.sound, v.points = v.size, v.points[1:]
	}
	return nil
}

// readLines reads lines side by side; the first that cannot be read is the error.
func readLines(lines [][]byte, links []link, leaves []tree.Hash) error {
	workers := runtime.GOMAXPROCS(0)
	faults := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			var s scanner
			for i := w * len(lines) / workers; i < (w+1)*len(lines)/workers && faults[w] == nil; i++ {
				leaves[i] = tree.Leaf(lines[i])
				var ok bool
				if links[i], ok = s.scan(lines[i]); ok {
					continue
				}
				e, err := ParseLine(lines[i])
				links[i], faults[w] = linkOf(e), err
			}
		})
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}
