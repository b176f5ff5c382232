package story

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrNoHistory says that the repository's history does not reach back to a commit:
// it is a shallow clone, or no clone at all.
var ErrNoHistory = errors.New("the repository's history does not have the commit")

// BuildCommit builds the binary of a commit from the history of the repository that the
// working directory belongs to, and returns its path. The next run finds it again.
func BuildCommit(t testing.TB, commit string) (string, error) {
	t.Helper()
	if out, err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s: %w: %s", ErrNoHistory, commit, err, out)
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	root := string(bytes.TrimSpace(top))
	bin := filepath.Join(root, "bin", "test", "vimbroker-"+commit)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	archive := exec.Command("git", "archive", commit)
	archive.Dir = root
	source, err := archive.Output()
	if err != nil {
		return "", fmt.Errorf("reading commit %s: %w", commit, err)
	}
	dir := t.TempDir()
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin = bytes.NewReader(source)
	if out, err := unpack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpacking commit %s: %w: %s", commit, err, out)
	}
	build := exec.Command("go", "build", "-o", "vimbroker", "./cmd/vimbroker")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building commit %s: %w: %s", commit, err, out)
	}
	return bin, install(filepath.Join(dir, "vimbroker"), bin)
}

// install copies a program to its place in one step, so that no other process finds half of it.
func install(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading a program: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("making directory for a program: %w", err)
	}
	next := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.WriteFile(next, program, 0o755); err != nil { //nolint:gosec // a program
		return fmt.Errorf("writing a program: %w", err)
	}
	return os.Rename(next, to)
}
