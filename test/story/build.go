package story

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

// Build puts the binary, built with flags of "go build", into dir, and returns its path.
func Build(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	bin := filepath.Join(dir, "vimbroker")
	if err := BuildAt(bin, flags...); err != nil {
		t.Fatal(err)
	}
	return bin
}

// BuildWithFailpoints is Build with the tag that all tests are built with, so that nothing is
// compiled twice. Stories on real systems run the binary as it is released.
func BuildWithFailpoints(t testing.TB, dir string) string {
	t.Helper()
	return Build(t, dir, "-tags", "failpoints")
}

// BuildRenderer puts the program that renders charts beside a binary, and returns its path.
func BuildRenderer(t testing.TB, bin string) string {
	t.Helper()
	to := filepath.Join(filepath.Dir(bin), "vimbroker-helm")
	if err := place("vimbroker-helm", to, nil); err != nil {
		t.Fatal(err)
	}
	return to
}

// BuildAt is Build for a path.
func BuildAt(bin string, flags ...string) error { return place("vimbroker", bin, flags) }

// place puts a command, built with flags of "go build", to its path.
func place(command, to string, flags []string) error {
	built, err := builds.of(command, flags)
	if err != nil {
		return fmt.Errorf("building %s: %w", command, err)
	}
	if os.Link(built, to) == nil {
		return nil
	}
	return install(built, to) // it is on another file system, or is there already
}

// builds are the commands that this process has built, by name and flags, each once.
var builds built

type built struct {
	mu sync.Mutex
	at map[string]string
}

// of builds a command in bin/test of the repository, where the tests of all packages
// find it: it is linked anew only where its source has changed. It is built without
// what debuggers read, which halves the time of linking.
func (b *built) of(command string, flags []string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kind := sha256.Sum256([]byte(strings.Join(flags, "\n")))
	name := command + "-" + hex.EncodeToString(kind[:4])
	if at, ok := b.at[name]; ok {
		return at, nil
	}
	root, err := process.Repository()
	if err != nil {
		return "", err
	}
	if err := readSource(root); err != nil {
		return "", err
	}
	at := filepath.Join(root, "bin", "test", name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", err
	}
	// Other packages' tests build at the same time.
	lock, err := os.OpenFile(at+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	args := append([]string{"build", "-ldflags=-s", "-o", at}, flags...)
	out, err := exec.Command("go", append(args, "github.com/vimbroker/vimbroker/cmd/"+command)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if b.at == nil {
		b.at = map[string]string{}
	}
	b.at[name] = at
	return at, nil
}

// readSource reads the directories of the source: "go test" keeps a result for as long as what
// the test has read is as it was, and of what a test builds it knows nothing.
func readSource(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (path == filepath.Join(root, "bin") || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		return err
	})
}
