package broker

import (
	"slices"
	"testing"
)

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
