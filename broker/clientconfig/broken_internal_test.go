package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

func token() Config {
	return Config{
		VIM: "edge", Endpoint: "https://192.0.2.7:6443", CACert: "ca", Credential: secret.Credential{Token: secret.NewText("t")},
		Client: KubernetesClient{Namespace: "n"},
	}
}

func certificate() Config {
	c := token()
	c.Credential = secret.Credential{ClientCertificate: "c", ClientKey: secret.NewText("k")}
	return c
}

func cloud() Config {
	c := token()
	c.Client = OpenStackClient{ProjectID: "p"}
	return c
}

// names are the entries of a directory.
func names(t *testing.T, path string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// starve leaves this process so many file descriptors, does something, and gives them back.
func starve(t *testing.T, free int, do func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	low := was
	low.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var held []int
	for {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		held = append(held, fd)
	}
	give := func() {
		for _, fd := range held {
			_ = syscall.Close(fd)
		}
		held = nil
	}
	defer give()
	for range free {
		_ = syscall.Close(held[len(held)-1])
		held = held[:len(held)-1]
	}
	do()
	give()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
}

func descriptors(t *testing.T) int { return len(names(t, "/proc/self/fd")) }

// TestWithoutDescriptors: whichever file cannot be opened, that is said, and nothing is left, neither files nor descriptors.
func TestWithoutDescriptors(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	opened, swept := 0, 0
	for free := range 16 {
		var d *Dir
		var err error
		before := descriptors(t)
		starve(t, free, func() { d, err = OpenDir(root) })
		switch {
		case err == nil:
			opened++
			if _, err := d.Write(token()); err != nil {
				t.Errorf("with %d descriptors a directory is opened that is none: %v", free, err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		case !errors.Is(err, syscall.EMFILE) || d != nil || opened > 0:
			t.Errorf("with %d descriptors OpenDir() = %v, %v", free, d, err)
		}
		if left, after := names(t, root), descriptors(t); len(left) > 0 || after > before {
			t.Errorf("with %d descriptors %q are left, and %d descriptors in place of %d", free, left, after, before)
		}
		dead := filepath.Join(root, "0123456789ab-1-1-x")
		if err := os.MkdirAll(filepath.Join(dead, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
		removed := 0
		starve(t, free, func() { removed, err = Sweep(root) })
		switch _, gone := os.Lstat(dead); {
		case err == nil:
			swept++
			if removed != 1 || !errors.Is(gone, fs.ErrNotExist) {
				t.Errorf("with %d descriptors Sweep() = %d, and the directory is there: %v", free, removed, gone == nil)
			}
		case !errors.Is(err, syscall.EMFILE) || removed != 0 || gone != nil || swept > 0:
			t.Errorf("with %d descriptors Sweep() = %d, %v, and the directory is gone: %v", free, removed, err, gone)
		}
		if err := os.RemoveAll(dead); err != nil {
			t.Fatal(err)
		}
	}
	if opened == 0 || swept == 0 {
		t.Error("16 descriptors are not enough")
	}
}

// TestARootThatCannotBe is an error of its own, and so is one in which no directory can be made.
func TestARootThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]string{"below a file": filepath.Join(file, "x"), "where nothing can be made": "/proc/self/fd"} {
		if d, err := OpenDir(root); err == nil || d != nil {
			t.Errorf("%s: OpenDir() = %v, %v", name, d, err)
		}
	}
	parent, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkRoot(parent, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that is not there any more: %v", err)
	}
	for name, c := range map[string]string{"a file": "file", "the root itself": "."} {
		if gone, err := removeDead(parent, c); gone || err == nil {
			t.Errorf("%s is removed: %t, %v", name, gone, err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"none": false, "link": false, "real": true} {
		if gone, err := removeDead(parent, name); gone != want || err != nil {
			t.Errorf("%s is removed: %t, %v", name, gone, err)
		}
	}
	if os.Geteuid() == 0 {
		foreign := filepath.Join(dir, "foreign")
		if err := errors.Join(os.Mkdir(foreign, 0o700), os.Chown(foreign, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if gone, err := removeDead(parent, "foreign"); gone || err != nil {
			t.Errorf("another user's is removed: %t, %v", gone, err)
		}
	}
	parent.Close()
	if err := checkRoot(parent, dir); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a root that is closed: %v", err)
	}
	if d, err := newDir(parent, "x"); !errors.Is(err, fs.ErrClosed) || d != nil {
		t.Errorf("a directory in it: %v", err)
	}
	t.Chdir(dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if d, err := OpenDir("x"); err == nil || d != nil {
		t.Errorf("a root below nothing: %v", err)
	}
}

// TestFilesThatCannotBeRemoved are named, and removed once they can be.
func TestFilesThatCannotBeRemoved(t *testing.T) {
	d, err := OpenDir(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Write(token())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(f.renewable), os.Remove(f.ca), os.MkdirAll(filepath.Join(f.renewable, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(token()); err == nil || len(names(t, d.path)) != 2 {
		t.Errorf("Replace() of what cannot be = %v, and there are %q", err, names(t, d.path))
	}
	if err := f.Close(); err == nil || !slices.Equal(names(t, d.path), []string{filepath.Base(f.renewable)}) {
		t.Errorf("Close() = %v, and there are %q", err, names(t, d.path))
	}
	if err := os.Remove(filepath.Join(f.renewable, "x")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || len(names(t, d.path)) > 0 {
		t.Errorf("Close() again = %v, and there are %q", err, names(t, d.path))
	}
	for name, c := range map[string]struct{ first, then Config }{
		"a certificate by a token": {certificate(), token()}, "a token by a certificate": {token(), certificate()}, "a cluster by a cloud": {token(), cloud()},
	} {
		f, err := d.Write(c.first)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Replace(c.then); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "only a token can be") {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if f, err = d.Write(token()); err != nil {
		t.Fatal(err)
	}
	root, files := d.root, d.files
	closed, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	d.root, d.files = closed, closed
	if _, err := d.Write(token()); !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "ca-") {
		t.Errorf("Write() into what is gone = %v", err)
	}
	if err := d.Close(); !errors.Is(err, fs.ErrClosed) || d.closed {
		t.Errorf("Close() of what is gone = %v", err)
	}
	d.root, d.files = root, files
	if err := d.Close(); err != nil || !d.closed {
		t.Errorf("Close() again = %v", err)
	}
	if err := f.Replace(token()); err == nil || err.Error() != "replacing the token in files: file already closed" {
		t.Errorf("Replace() in a directory that is closed = %v", err)
	}
}

// TestAFileThatIsNotWritten leaves no layout.
func TestAFileThatIsNotWritten(t *testing.T) {
	full := errors.New("full")
	for name, c := range map[string]Config{"a token": token(), "a certificate": certificate(), "a cloud": cloud()} {
		written := 0
		for at := 1; ; at++ {
			written = 0
			l, err := c.Client.(onDisk).layOut(c, func(kind string, _ secret.Text) (string, error) {
				if written++; written == at {
					return "", full
				}
				return kind, nil
			})
			if written < at {
				break
			}
			if !errors.Is(err, full) || l.main != "" || l.env != nil {
				t.Errorf("%s, file %d: %+v, %v", name, at, l, err)
			}
		}
		if written < 2 {
			t.Errorf("%s has %d files", name, written)
		}
	}
}

// TestWhatTheCacheCannotKeep is said, and leaves nothing; what others could have written is not read.
func TestWhatTheCacheCannotKeep(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	c, err := OpenCache(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, now := filepath.Join(root, cacheDir), time.Now()
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	late := token()
	late.ExpiresAt = far
	for name, put := range map[string]struct {
		key  string
		kept Cached
	}{
		"no credential":            {"a", Cached{Config: Config{Client: KubernetesClient{}}}},
		"a time that JSON has not": {"a", Cached{Config: token(), IssuedAt: far}},
		"such an expiry":           {"a", Cached{Config: late}},
		"a key of two words":       {"a/b", Cached{Config: token(), IssuedAt: now}},
	} {
		if err := c.Put(put.key, put.kept, now.Add(-time.Hour)); err == nil || len(names(t, dir)) > 0 {
			t.Errorf("%s: Put() = %v, and there are %q", name, err, names(t, dir))
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "d", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove("d"); err == nil || !strings.HasPrefix(err.Error(), "removing a cached lease: ") {
		t.Errorf("Remove() of what cannot be = %v", err)
	}
	if os.Geteuid() == 0 {
		kept := token()
		kept.ExpiresAt = now.Add(time.Hour)
		if err := errors.Join(c.Put("a", Cached{kept, now}, now), os.Chown(filepath.Join(dir, "a"), 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get("a"); err == nil || err.Error() != "reading a cached lease: its file is not this user's alone" {
			t.Errorf("Get() of another user's = %v", err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	kept := len(names(t, dir))
	full(t, func() { err = c.Put("full", Cached{token(), now}, now) })
	if !errors.Is(err, syscall.EFBIG) || len(names(t, dir)) != kept {
		t.Errorf("Put() on a full disk = %v, and there are %q", err, names(t, dir))
	}
	c.Close()
	if err := c.Put("b", Cached{Config: token(), IssuedAt: now}, now); !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "open") {
		t.Errorf("Put() once it is closed = %v", err)
	}
	if ours(foreign{}) {
		t.Error("a file of no user is ours")
	}
}

// foreign is a file of which no user is known.
type foreign struct{ fstest.MapFile }

func (foreign) Name() string       { return "x" }
func (foreign) Size() int64        { return 0 }
func (foreign) Mode() fs.FileMode  { return 0o600 }
func (foreign) ModTime() time.Time { return time.Time{} }
func (foreign) IsDir() bool        { return false }
func (foreign) Sys() any           { return nil }

// full does something while no file can be written to.
func full(t *testing.T, do func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &none); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
}

// TestAReplacementThatIsNotWritten leaves the files as they are, also in mind.
func TestAReplacementThatIsNotWritten(t *testing.T) {
	d, err := OpenDir(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := d.Write(token())
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(f.names)
	full(t, func() { err = f.Replace(token()) })
	if !errors.Is(err, syscall.EFBIG) || !slices.Equal(f.names, before) || len(names(t, d.path)) != len(before) {
		t.Errorf("Replace() on a full disk = %v, and there are %q", err, names(t, d.path))
	}
}

// TestJSONHoldsNoMoreThanClientsNeed, and its text as it is.
func TestJSONHoldsNoMoreThanClientsNeed(t *testing.T) {
	c := cloud()
	c.VIM = "a&b"
	c.Credential = secret.Credential{Kind: "password", Username: "u", UserID: "id-of-u", Password: secret.NewText("p")}
	c.Client = OpenStackClient{ProjectID: "p", UserDomain: "d"}
	text, err := c.Render(JSON)
	if err != nil || strings.Contains(text.Reveal(), "id-of-u") || strings.Contains(text.Reveal(), "kind") || !strings.Contains(text.Reveal(), `"a&b"`) {
		t.Errorf("Render() = %s, %v", text.Reveal(), err)
	}
	if _, err := Decode(text); err != nil {
		t.Errorf("Decode() = %v", err)
	}
}

// TestTheStatOfAProcess has its state and its start where proc(5) says, whatever the name of its command.
func TestTheStatOfAProcess(t *testing.T) {
	stat := func(state, start string, fields int) []byte {
		all := slices.Concat([]string{state}, slices.Repeat([]string{"0"}, fields-2), []string{start})
		return []byte("7 (a) Z b) " + strings.Join(all, " "))
	}
	for name, c := range map[string]struct {
		text  []byte
		start uint64
		ended bool
		fails bool
	}{
		"running":      {stat("R", "42", 20), 42, false, false},
		"a zombie":     {stat("Z", "42", 20), 42, true, false},
		"dead":         {stat("X", "42", 20), 42, true, false},
		"too short":    {stat("R", "42", 19), 0, false, true},
		"empty":        {nil, 0, false, true},
		"not a number": {stat("R", "x", 20), 0, false, true},
	} {
		if start, ended, err := startOf(1 << 30); start != 0 || ended || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of no process: %d, %t, %v", start, ended, err)
		}
		start, ended, err := parseStat(c.text)
		if start != c.start || ended != c.ended || (err != nil) != c.fails {
			t.Errorf("%s: %d, %t, %v", name, start, ended, err)
		}
	}
}

// TestTheFormsThatAreKnown, and which of them are objects.
func TestTheFormsThatAreKnown(t *testing.T) {
	if got := Known(); !slices.Equal(got, []Format{Kubeconfig, Environment, ExecCredential, JSON, VIMConnection, CloudsYAML}) {
		t.Errorf("Known() = %q", got)
	}
	for f, object := range map[Format]bool{Kubeconfig: false, JSON: true, ExecCredential: true, "none": false} {
		if token().Object(f) != object {
			t.Errorf("%s is an object: %t", f, !object)
		}
	}
	for length, same := range map[int]bool{63: true, 64: false} {
		name := strings.Repeat("x", length)
		if got := (Config{VIM: name}).name(); (got == name) != same || len(got) > 63 {
			t.Errorf("a name of %d letters becomes %s", length, got)
		}
	}
	l := OpenStackClient{UserDomain: "d"}
	if l.Accepts(certificate().Credential) || !l.Accepts(secret.Credential{Password: secret.NewText("p")}) || (OpenStackClient{}).Accepts(secret.Credential{Password: secret.NewText("p")}) {
		t.Error("a cloud takes a certificate, or no password, or one of a user without a domain")
	}
}

// TestAClusterOfArgoCD names the plugin, and the namespaces if there are any.
func TestAClusterOfArgoCD(t *testing.T) {
	p := Plugin{Command: "vimbroker", Args: []string{"credential"}, Env: map[string]string{"A": "b"}, InstallHint: "hint"}
	for _, namespaces := range [][]string{nil, {"a"}, {"a", "b"}} {
		got := KubernetesClient{}.ArgoCDCluster(token(), p, namespaces)
		var config argoConfig
		if err := json.Unmarshal([]byte(got["config"]), &config); err != nil {
			t.Fatal(err)
		}
		if listed, has := got["namespaces"]; has != (len(namespaces) > 0) || listed != strings.Join(namespaces, ",") {
			t.Errorf("the namespaces %v are %q", namespaces, listed)
		}
		e := config.Exec
		if got["name"] != "edge" || got["server"] != token().Endpoint || !bytes.Equal(config.TLS.CA, []byte("ca")) || e.Command != "vimbroker" ||
			!slices.Equal(e.Args, []string{"credential", "--untold"}) || e.Env["A"] != "b" || e.InstallHint != "hint" || e.APIVersion != execAPIVersion {
			t.Errorf("the cluster is %v", got)
		}
	}
}

// TestWhoseDirectoryItIs is read from a name of the form that a process makes, and from no other.
func TestWhoseDirectoryItIs(t *testing.T) {
	const most = "18446744073709551615"
	for name, want := range map[string]process{
		"0123456789ab-1-0-x": {"0123456789ab", 1, 0}, "0123456789ab-9999999999-" + most + "-0z": {"0123456789ab", 9999999999, 1<<64 - 1},
		"0123456789ab-1-18446744073709551616-x": {}, "0123456789ab-0-1-x": {}, "0123456789ab-01-1-x": {}, "0123456789a-1-1-x": {},
		"0123456789ab-1-1-": {}, "0123456789ab-1-1-X": {}, "0123456789ab-1-1-x/y": {}, "x0123456789ab-1-1-x": {}, "0123456789AB-1-1-x": {}, "": {},
	} {
		if got, is := parseProcess(name); got != want || is != (want != process{}) {
			t.Errorf("%q: %+v, %t, want %+v", name, got, is, want)
		}
	}
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	if got, is := parseProcess(me.directoryName()); got != me || !is || me.dead(me.boot) || !me.dead("another boot") {
		t.Errorf("this process has directories of %+v, which is dead: %t", got, me.dead(me.boot))
	}
	earlier := me
	earlier.start--
	if !earlier.dead(me.boot) || !(process{me.boot, 1 << 30, 1}).dead(me.boot) {
		t.Error("a process with the pid of this one, or with one of nobody, lives")
	}
}
