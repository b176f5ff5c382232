package clientconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

func TestOpenDirRefusesRootsThatOthersCanReach(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(t *testing.T, root string) error
		want  string
	}{
		"a symbolic link": {func(t *testing.T, root string) error { return os.Symlink(t.TempDir(), root) }, "symbolic link"},
		"a dangling link": {func(t *testing.T, root string) error { return os.Symlink(root+"-nowhere", root) }, "no such file"},
		"open to others":  {func(_ *testing.T, root string) error { return os.Mkdir(root, 0o755) }, "open to others"},
		"open to a group to read": {func(_ *testing.T, root string) error {
			return errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, 0o740))
		}, "open to others"},
		"open to a group to enter": {func(_ *testing.T, root string) error {
			return errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, 0o710))
		}, "open to others"},
		"open to others to enter": {func(_ *testing.T, root string) error {
			return errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, 0o701))
		}, "open to others"},
		"a file": {func(_ *testing.T, root string) error { return os.WriteFile(root, nil, 0o600) }, "not a directory"},
		"another user's": {func(t *testing.T, root string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can make another user's directory")
			}
			if err := os.Mkdir(root, 0o700); err != nil {
				return err
			}
			return os.Chown(root, 12345, 12345)
		}, "another user"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			if err := test.plant(t, root); err != nil {
				t.Fatal(err)
			}
			if _, err := clientconfig.OpenDir(root); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("OpenDir() = %v, want %q in it", err, test.want)
			}
			if name == "a dangling link" {
				return // to Sweep there is nothing
			}
			if _, err := clientconfig.Sweep(root); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Sweep() = %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestDefaultRoot(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fallback := filepath.Join(tmp, fmt.Sprintf("vimbroker-%d", os.Geteuid()))
	mine, file := t.TempDir(), filepath.Join(tmp, "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ runtime, want string }{
		"no runtime directory": {"", fallback},
		"a relative one":       {".", fallback},
		"one that is not":      {filepath.Join(tmp, "none"), fallback},
		"a file":               {file, fallback},
		"ours":                 {mine, filepath.Join(mine, "vimbroker")},
	} {
		t.Setenv("XDG_RUNTIME_DIR", test.runtime)
		if got := clientconfig.DefaultRoot(); got != test.want {
			t.Errorf("%s: DefaultRoot() = %q, want %q", name, got, test.want)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", mine)
	d, err := clientconfig.OpenDir("")
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	if got := filepath.Dir(d.Path()); got != filepath.Join(mine, "vimbroker") {
		t.Errorf("OpenDir(\"\") is under %q", got)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(mine, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if got := clientconfig.DefaultRoot(); got != fallback {
			t.Errorf("another user's: DefaultRoot() = %q, want %q", got, fallback)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestSweepTakesWhatTheKilledLeft(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if n, err := clientconfig.Sweep(root); n != 0 || err != nil {
		t.Errorf("Sweep() of no root = %d, %v, want 0", n, err)
	}
	own, err := clientconfig.OpenDir(root)
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	defer own.Close()
	living, killed := startHolder(t, root), startHolder(t, root)
	killed.kill(t) // and not collected: its pid is still taken
	if n, err := clientconfig.Sweep(root); n != 1 || err != nil {
		t.Errorf("Sweep() = %d, %v, want 1", n, err)
	}
	if exists(killed.path) {
		t.Errorf("the directory of a killed process is still there")
	}
	if !exists(living.path) || len(listing(t, living.path)) != 3 {
		t.Errorf("the directory of a living process was touched")
	}
	if !exists(own.Path()) {
		t.Errorf("our own directory was swept")
	}
	if err := living.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := living.cmd.Wait(); err != nil || exists(living.path) {
		t.Errorf("the child ended with %v and its directory", err)
	}
}

func TestSweepIsNotFooled(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	own, err := clientconfig.OpenDir(root)
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	defer own.Close()
	outside := t.TempDir()
	treasure := filepath.Join(outside, "treasure")
	if err := os.WriteFile(treasure, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`^(\w+)-(\d+)-(\d+)-(\w+)$`).FindStringSubmatch(filepath.Base(own.Path()))
	if parts == nil {
		t.Fatalf("the directory is named %q", own.Path())
	}
	boot, pid, start := parts[1], parts[2], parts[3]
	const otherBoot = "0123456789ab"

	swept := []string{
		fmt.Sprintf("%s-%s-%s9-x", boot, pid, start),      // our pid, but a process that started later
		fmt.Sprintf("%s-%s-%s-x", otherBoot, pid, start),  // our pid before the last boot
		fmt.Sprintf("%s-999999999-1-x", boot),             // a pid that cannot be
		fmt.Sprintf("%s-999999999-1-withthings", boot),    // the same, with things in it
		fmt.Sprintf("%s-999999999-1-withthelink", boot),   // the same, with a way out in it
		fmt.Sprintf("%s-999999999-1-nobodyentered", boot), // killed before it was opened to itself
	}
	kept := []string{
		fmt.Sprintf("%s-%s-%s-x", boot, pid, start), // ours, made and not yet locked
		fmt.Sprintf("%s-1-1", otherBoot),            // no name of ours
		"notes", "-1-1-x", otherBoot + "--1-1-x", otherBoot + "-1-99999999999999999999-x",
	}
	for _, name := range append(swept, kept...) {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, swept[3], "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, swept[4], "link")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, otherBoot+"-1-1-link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(root, otherBoot+"-1-1-inner")
	if err := os.Symlink("notes", inner); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, otherBoot+"-1-1-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A living process in another pid namespace: its name says dead, its lock says not.
	locked, err := clientconfig.OpenDir(root)
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	defer locked.Close()
	elsewhere := filepath.Join(root, fmt.Sprintf("%s-999999999-1-locked", boot))
	if err := os.Rename(locked.Path(), elsewhere); err != nil {
		t.Fatal(err)
	}

	if n, err := clientconfig.Sweep(root); n != len(swept) || err != nil {
		t.Errorf("Sweep() = %d, %v, want %d", n, err, len(swept))
	}
	for _, name := range swept {
		if exists(filepath.Join(root, name)) {
			t.Errorf("%s is still there", name)
		}
	}
	for _, path := range []string{own.Path(), treasure, link, inner, file, elsewhere} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, name := range kept {
		if !exists(filepath.Join(root, name)) {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestSweepsShareTheWork(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	const dead = 50
	for i := range dead {
		dir := filepath.Join(root, fmt.Sprintf("0123456789ab-%d-1-x", i+1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "token"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var sweeps sync.WaitGroup
	total := 0
	for range 4 {
		sweeps.Go(func() {
			n, err := clientconfig.Sweep(root)
			if err != nil {
				t.Errorf("Sweep() = %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	sweeps.Wait()
	if left := listing(t, root); total != dead || len(left) != 0 {
		t.Errorf("four sweeps removed %d and left %q, want %d and nothing", total, left, dead)
	}
}
