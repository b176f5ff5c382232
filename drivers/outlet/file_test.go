package outlet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/test/clock"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

func lines(texts ...string) [][]byte {
	var all [][]byte
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

// open returns an outlet to a file in a directory of its own.
func open(t *testing.T, o outlet.FileOptions) (*outlet.LineFile, string) {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "audit.jsonl")
	}
	f := outlet.NewFile(o)
	t.Cleanup(func() { mustDo(t, f.Close()) })
	return f, o.Path
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

func TestFileIsPrivateAndGrows(t *testing.T) {
	f, path := open(t, outlet.FileOptions{})
	mustDo(t, f.Send(t.Context(), lines(`{"a":1}`, `{"a":2}`)))
	mustDo(t, f.Close())
	mustDo(t, f.Send(t.Context(), lines(`{"a":3}`)))
	holds(t, path, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

// A file that another changed is noticed, once, and written to again after that.
func TestFileNoticesThatItWasChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed":                     os.Remove,
		"renamed":                     func(path string) error { return os.Rename(path, filepath.Join(filepath.Dir(path), "elsewhere")) },
		"cut":                         func(path string) error { return os.Truncate(path, 3) },
		"removed beside an older one": func(path string) error { return errors.Join(os.WriteFile(path+".1", nil, 0o600), os.Remove(path)) },
		"emptied":                     func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error {
			mustDo(t, os.WriteFile(path+"~", []byte("{\"a\":0}\n{\"a\":0}\n"), 0o600))
			return os.Rename(path+"~", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, path := open(t, outlet.FileOptions{})
			mustDo(t, f.Send(t.Context(), lines(`{"a":1}`)))
			mustDo(t, change(path))
			if err := f.Send(t.Context(), lines(`{"a":2}`)); !errors.Is(err, outlet.ErrReplaced) {
				t.Errorf("Send = %v, want ErrReplaced", err)
			}
			mustDo(t, f.Send(t.Context(), lines(`{"a":2}`)))
			text, err := os.ReadFile(path)
			if err != nil || !bytes.HasSuffix(text, []byte("\n{\"a\":2}\n")) && string(text) != "{\"a\":2}\n" {
				t.Errorf("the file holds %q (%v), want the line at its end", text, err)
			}
		})
	}
}

func TestFileRotates(t *testing.T) {
	now := clock.New(noon)
	f, path := open(t, outlet.FileOptions{RotateBytes: 20, Now: now.Now})
	for i := range 5 {
		mustDo(t, f.Send(t.Context(), lines(fmt.Sprintf(`{"a":%d}`, i)))) // 8 bytes
		now.Add(time.Second)
	}
	holds(t, path, "{\"a\":4}\n")
	holds(t, path+".20310506T120002.000000Z", "{\"a\":0}\n{\"a\":1}\n")
	holds(t, path+".20310506T120004.000000Z", "{\"a\":2}\n{\"a\":3}\n")
	mustDo(t, f.Send(t.Context(), lines(`{"a":"`+strings.Repeat("x", 100)+`"}`))) // larger than a file may be
	if all, err := filepath.Glob(path + "*"); err != nil || len(all) != 4 {
		t.Errorf("files %q (%v), want 4", all, err)
	}
}

// Two processes write to one file in turn: neither takes the other's work for an attack.
func TestFileOfTwoProcesses(t *testing.T) {
	now := clock.New(noon)
	one, path := open(t, outlet.FileOptions{RotateBytes: 20, Now: now.Now})
	two, _ := open(t, outlet.FileOptions{Path: path, RotateBytes: 20, Now: now.Now})
	var all []byte
	for i := range 6 {
		line := fmt.Sprintf(`{"a":%d}`, i)
		mustDo(t, []*outlet.LineFile{one, two, two}[i%3].Send(t.Context(), lines(line)))
		all = append(all, line+"\n"...)
		now.Add(time.Second)
	}
	names, err := filepath.Glob(path + ".*")
	mustDo(t, err)
	var got []byte
	for _, name := range append(names, path) {
		text, err := os.ReadFile(name)
		mustDo(t, err)
		got = append(got, text...)
	}
	if !bytes.Equal(got, all) || len(names) != 2 {
		t.Errorf("%d rotated files; together they hold %q, want %q", len(names), got, all)
	}
}

// A file that another process has rotated is found among all that were, the first as the last.
func TestFileIsFoundAmongThoseThatWereRotated(t *testing.T) {
	for _, suffix := range []string{".20300101T000000.000000Z", ".20310101T000000.000000Z", ".20320101T000000.000000Z"} {
		f, path := open(t, outlet.FileOptions{})
		for _, other := range []string{".20300601T000000.000000Z", ".20310601T000000.000000Z"} {
			mustDo(t, os.WriteFile(path+other, []byte("{}\n"), 0o600))
		}
		mustDo(t, f.Send(t.Context(), lines(`{"a":1}`)))
		mustDo(t, os.Rename(path, path+suffix))
		mustDo(t, f.Send(t.Context(), lines(`{"a":2}`)))
		holds(t, path+suffix, "{\"a\":1}\n")
		holds(t, path, "{\"a\":2}\n")
		mustDo(t, os.Remove(path))
		if err := f.Send(t.Context(), lines(`{"a":3}`)); !errors.Is(err, outlet.ErrReplaced) {
			t.Errorf("a file that is gone: %v", err)
		}
	}
}

func TestFileThatAnotherProcessWritesIsLeftAlone(t *testing.T) {
	f, path := open(t, outlet.FileOptions{})
	mustDo(t, f.Send(t.Context(), lines(`{"a":1}`)))
	other, err := os.Open(path)
	mustDo(t, err)
	defer other.Close()
	mustDo(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))
	if err := f.Send(t.Context(), lines(`{"a":2}`)); err == nil {
		t.Error("Send beside another process's write = nil")
	}
	mustDo(t, unix.Flock(int(other.Fd()), unix.LOCK_UN))
	mustDo(t, f.Send(t.Context(), lines(`{"a":2}`)))
	holds(t, path, "{\"a\":1}\n{\"a\":2}\n")
}

// What a dead process left of a line is ended, and no line is glued to it.
func TestFileEndsATornLine(t *testing.T) {
	f, path := open(t, outlet.FileOptions{})
	mustDo(t, os.WriteFile(path, []byte("{\"a\":1}\n{\"a\""), 0o600))
	mustDo(t, f.Send(t.Context(), lines(`{"a":2}`)))
	holds(t, path, "{\"a\":1}\n{\"a\"\n{\"a\":2}\n")
}

func TestFileRefusesWhatIsNone(t *testing.T) {
	dir := t.TempDir()
	pipe, loose, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "loose"), filepath.Join(dir, "link")
	mustDo(t, unix.Mkfifo(pipe, 0o600)) // nobody reads it: opening it hangs
	mustDo(t, os.WriteFile(loose, nil, 0o600))
	mustDo(t, os.Chmod(loose, 0o666))
	mustDo(t, os.WriteFile(filepath.Join(dir, "target"), nil, 0o600))
	mustDo(t, os.Symlink(filepath.Join(dir, "target"), link))
	for want, path := range map[string]string{
		"pipe is not a regular file": pipe, "is a directory": dir, "symbolic links": link, "loose can be changed by others": loose,
		"no such file": filepath.Join(dir, "no", "file"),
	} {
		f, _ := open(t, outlet.FileOptions{Path: path})
		if err := f.Send(t.Context(), lines(`{}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Send = %v, want %q", path, err, want)
		}
	}
	holds(t, filepath.Join(dir, "target"), "")
}

// Where it cannot be seen whether a file was changed, that is an error, and no change.
func TestFileThatCannotBeLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		change func(path string) error
		want   error
	}{
		"its directory is a file": {"d/audit", func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+"~"), os.WriteFile(dir, nil, 0o600))
		}, unix.ENOTDIR},
		"its name is half a pattern": {"d/audit[", os.Remove, filepath.ErrBadPattern},
	} {
		path := filepath.Join(t.TempDir(), c.path)
		mustDo(t, os.Mkdir(filepath.Dir(path), 0o700))
		f, _ := open(t, outlet.FileOptions{Path: path})
		mustDo(t, f.Send(t.Context(), lines(`{"a":1}`)))
		mustDo(t, c.change(path))
		if err := f.Send(t.Context(), lines(`{"a":2}`)); !errors.Is(err, c.want) || errors.Is(err, outlet.ErrReplaced) {
			t.Errorf("%s: Send = %v, want %v", name, err, c.want)
		}
	}
}

func TestFileOptionsAreChecked(t *testing.T) {
	if err := (outlet.FileOptions{Path: "audit.jsonl"}).Validate(); err == nil || !strings.Contains(err.Error(), "path must") {
		t.Errorf("Validate = %v, want both faults", err)
	}
	if err := (outlet.FileOptions{Path: "/var/log/audit.jsonl"}).Validate(); err != nil {
		t.Error(err)
	}
}
