package crash_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestExecKilled kills "vimbroker exec" where it holds files: the lease stays in
// the list and can be taken back, and the next exec removes the files.
func TestExecKilled(t *testing.T) {
	for _, point := range execDeaths {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, fakeCluster(t))
			s.register("edge")
			run := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(run, 0o700); err != nil {
				t.Fatal(err)
			}
			command := func(point string) *exec.Cmd {
				c := s.command("exec", "edge", "--", "true")
				c.Env = append(c.Env, "XDG_RUNTIME_DIR="+run, "VIMBROKER_FAILPOINT="+point)
				return c
			}

			out, err := command(point).CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("exec ended with %v, want SIGKILL\n%s", err, out)
			}
			// CA, token and kubeconfig.
			if left := filesUnder(t, run); len(left) != 3 {
				t.Errorf("the killed exec left %q, want three files", left)
			}
			held := s.leases()
			if len(held) != 1 || held[0].State != "active" {
				t.Fatalf("leases = %+v, want the one active", held)
			}

			if out, err := command("").CombinedOutput(); err != nil {
				t.Fatalf("the next exec: %v\n%s", err, out)
			}
			if left := filesUnder(t, run); len(left) != 0 {
				t.Errorf("the next exec left %q", left)
			}
			if l := s.lease(held[0].ID); l.State != "active" || l.ExpiresAt.IsZero() {
				t.Errorf("the lease of the killed exec is %s and expires %v, want active until then", l.State, l.ExpiresAt)
			}
			if l, err := s.RevokeLease(t.Context(), held[0].ID); err != nil || l.State != "revoked" {
				t.Errorf("RevokeLease = %s, %v, want revoked", l.State, err)
			}
			s.prove()
		})
	}
}

// filesUnder lists the files below a directory, other than directories.
func filesUnder(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}
