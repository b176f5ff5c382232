package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onlyIn fails unless a directory holds these names and nothing else.
func onlyIn(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

func holds(t *testing.T, name, want string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(name), text, err, want)
	}
}

func TestANewFileHasItsNameWhenItIsComplete(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "kubeconfig")
	f, err := CreateFile(name, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(name); err == nil {
		t.Error("the file has its name before it is complete")
	}
	if err := f.Commit([]byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "new")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
	onlyIn(t, dir, "kubeconfig")
}

func TestAFileIsReplacedOnlyWhenThatIsSaid(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil { //nolint:gosec // the mode that a shell gives
		t.Fatal(err)
	}
	if _, err := CreateFile(name, false); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("CreateFile over a file = %v", err)
	}
	f, err := CreateFile(name, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "old")
	onlyIn(t, dir, "kubeconfig")
	if err := WritePrivate(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, name, "new")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the replaced file = %v, %v, want 0600", info.Mode(), err)
	}
}

// What takes the name between CreateFile and Commit stays.
func TestAFileThatCameMeanwhileStays(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "kubeconfig")
	f, err := CreateFile(name, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit([]byte("ours")); err == nil {
		t.Error("Commit took a name that was taken")
	}
	holds(t, name, "another's")
	onlyIn(t, dir, "kubeconfig")
}

func TestALinkIsNeverReplaced(t *testing.T) {
	dir := t.TempDir()
	target, name := filepath.Join(dir, "a-target"), filepath.Join(dir, "b-link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if _, err := CreateFile(name, replace); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("CreateFile(link, %v) = %v", replace, err)
		}
	}
	holds(t, target, "old")
	onlyIn(t, dir, "a-target", "b-link")
}
