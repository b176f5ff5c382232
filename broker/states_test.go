package broker

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestStateMachinesAreClosed(t *testing.T) {
	closed(t, leaseMoves)
	closed(t, vimMoves)
	for s := range leaseMoves {
		if s.Live() == (s == LeaseRevoked) {
			t.Errorf("%s.Live() = %v", s, s.Live())
		}
	}
}

// closed walks all pairs: CanMove says what the table says, every state has a
// line, and every state but the first can be reached from it.
func closed[S interface {
	~string
	CanMove(S) bool
}](t *testing.T, moves map[S][]S) {
	t.Helper()
	for from := range moves {
		for to := range moves {
			if got, want := from.CanMove(to), slices.Contains(moves[from], to); got != want {
				t.Errorf("%s.CanMove(%s) = %v, want %v", from, to, got, want)
			}
		}
		for _, to := range moves[from] {
			if _, ok := moves[to]; !ok {
				t.Errorf("%s may become %s, which has no line", from, to)
			}
		}
		if from.CanMove(from) {
			t.Errorf("%s may become itself: staying is no move", from)
		}
	}
}

// TestGoldenStates keeps the pictures in docs/states.md those of the tables.
func TestGoldenStates(t *testing.T) {
	const file = "../docs/states.md"
	var b strings.Builder
	b.WriteString("# State machines\n\nMade from the tables in `broker/lease.go` and `broker/vim.go` by `make generate`.\n")
	picture(&b, "A lease", leaseMoves)
	picture(&b, "A VIM", vimMoves)
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what the tables say: run make generate", file)
	}
}

func picture[S ~string](b *strings.Builder, title string, moves map[S][]S) {
	fmt.Fprintf(b, "\n## %s\n\n```mermaid\nstateDiagram-v2\n", title)
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		for _, to := range moves[from] {
			fmt.Fprintf(b, "    %s --> %s\n", from, to)
		}
	}
	b.WriteString("```\n")
}
