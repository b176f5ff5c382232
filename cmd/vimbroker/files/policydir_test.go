package files_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// Whatever stands in the directory and is not read as a policy is named, and nothing
// there makes the reader wait.
func TestPoliciesReadsStrictly(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		file string
		want string // in the error; empty: there is none
	}{
		"a policy":           {file: "site.cedar"},
		"a link to a policy": {file: "site.cedar", put: func(t *testing.T, path string) { link(t, path) }},
		"an orchestrator's":  {file: "..data"},
		"writable by others": {file: "site.cedar", put: func(t *testing.T, path string) { chmod(t, path, 0o666) }, want: "changed by others"},
		"of the group":       {file: "site.cedar", put: func(t *testing.T, path string) { chmod(t, path, 0o620) }, want: "changed by others"},
		"in capitals":        {file: "site.CEDAR", want: "does not end in .cedar"},
		"a backup":           {file: "site.cedar.bak", want: "does not end in .cedar"},
		"a FIFO": {file: "site.cedar", want: "not a regular file", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, syscall.Mkfifo(path, 0o600))
		}},
		"a directory": {file: "site.cedar", want: "not a regular file", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		}},
		"a device": {file: "site.cedar", want: "not a regular file", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Symlink("/dev/zero", path))
		}},
		"a link to itself": {file: "site.cedar", want: "too many levels of symbolic links", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Symlink(path, path))
		}},
		"a link to nothing": {file: "site.cedar", want: "no such file", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Symlink(path+"x", path))
		}},
		"a huge file": {file: "site.cedar", want: "larger than", put: func(t *testing.T, path string) {
			must(t, os.Truncate(path, 1<<40))
		}},
		"too many": {file: "site.cedar", want: "more than 1000 names", put: func(t *testing.T, path string) {
			for i := range 1000 {
				must(t, os.WriteFile(filepath.Join(filepath.Dir(path), fmt.Sprint(".", i)), nil, 0o600))
			}
		}},
		"a FIFO in place of the directory": {want: "is not a directory", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, syscall.Mkfifo(path, 0o600))
		}},
		"a socket": {file: "site.cedar", want: "site.cedar", put: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			l, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { l.Close() })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file == "" { // the directory itself is something else
				dir = filepath.Join(dir, "policies")
			}
			path := filepath.Join(dir, c.file)
			must(t, os.WriteFile(path, []byte("// none"), 0o600))
			if c.put != nil {
				c.put(t, path)
			}
			texts, err := files.Policies(dir)
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("Policies() = %v, want an error with %q", err, c.want)
			case c.want == "" && err != nil:
				t.Errorf("Policies() = %v", err)
			case c.want == "" && c.file == "site.cedar" && len(texts) != 1:
				t.Errorf("Policies() holds %d files, want 1", len(texts))
			}
		})
	}
}

// Each file that is wrong is named at once, whatever is wrong with those before it.
func TestEachPolicyThatIsWrongIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a.cedar": 0o666, "b.txt": 0o600, "c.cedar": 0o600, "d.cedar": 0o666, "e.bak": 0o600} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("// none"), 0o600))
		must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	texts, err := files.Policies(dir)
	for name, wrong := range map[string]bool{"a.cedar": true, "b.txt": true, "c.cedar": false, "d.cedar": true, "e.bak": true} {
		if err == nil || texts != nil || strings.Contains(err.Error(), name) != wrong {
			t.Errorf("of %s: %d are read, and %v", name, len(texts), err)
		}
	}
}

func link(t *testing.T, path string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	must(t, os.Rename(path, to))
	must(t, os.Symlink(to, path))
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must(t, os.Chmod(path, mode))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
