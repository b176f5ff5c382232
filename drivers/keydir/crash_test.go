//go:build unix && failpoints

package keydir_test

import (
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/process"
)

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks
// what the next one finds.
func TestKilledOnTheWay(t *testing.T) {
	var dir string
	if process.Errand(t, &dir) {
		s := mustOpen(t, dir)
		if _, err := s.Delete(t.Context(), mustPut(t, s, newOwner())); err != nil {
			t.Fatal(err)
		}
		t.Fatal("the process lives on")
	}
	for point, want := range map[string]int{
		"keydir.put.temp":        0,
		"keydir.put.linked":      1, // List shows it, so whoever compares finds it
		"keydir.delete.unlinked": 0,
	} {
		t.Run(point, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			process.KillAt(t, point, dir)
			s := mustOpen(t, dir)
			held, err := s.List(t.Context(), "")
			if err != nil || len(held) != want {
				t.Fatalf("List = %v, %v, want %d keys", held, err, want)
			}
			if got := files(t, dir); len(got) != want {
				t.Errorf("files = %v, want %d", got, want)
			}
			for _, h := range held {
				wantUsable(t, s, h)
			}
		})
	}
}

func wantUsable(t *testing.T, s secret.KeyStore, h secret.Held) {
	t.Helper()
	if _, err := s.Get(t.Context(), h.Ref); err != nil {
		t.Errorf("Get = %v, want a whole key", err)
	}
	if _, err := s.Delete(t.Context(), h.Ref); err != nil {
		t.Errorf("Delete = %v, want nil", err)
	}
}
