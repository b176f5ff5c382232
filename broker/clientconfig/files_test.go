package clientconfig_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// open makes a Dir under a root of its own.
func open(t *testing.T) *clientconfig.Dir {
	t.Helper()
	d, err := clientconfig.OpenDir(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// tokenIn reads the token that a kubeconfig names, as client-go does.
func tokenIn(kubeconfig string) (string, error) {
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	token, err := os.ReadFile(rest.BearerTokenFile)
	return string(token), err
}

// listing is every path below root.
func listing(t *testing.T, root string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if path != root {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestFilesAreForOurEyesWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		root := filepath.Join(t.TempDir(), "root")
		c := certificateConfig(t)
		old := syscall.Umask(umask)
		d, err := clientconfig.OpenDir(root)
		var f *clientconfig.Files
		if err == nil {
			f, err = d.Write(c)
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %04o: %v", umask, err)
		}
		paths := append(listing(t, root), root)
		if len(paths) != 6 { // root, directory, kubeconfig, CA, certificate, key
			t.Errorf("umask %04o: paths %q, want 6", umask, paths)
		}
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			want := fs.FileMode(0o600)
			if info.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("umask %04o: %s has mode %04o, want %04o", umask, path, info.Mode().Perm(), want)
			}
		}
		if err := errors.Join(f.Close(), f.Close(), d.Close(), d.Close(), f.Close()); err != nil {
			t.Errorf("umask %04o: Close() = %v, want nil every time", umask, err)
		}
		if left := listing(t, root); len(left) != 0 {
			t.Errorf("umask %04o: left %q", umask, left)
		}
	}
}

func TestFilesAreReadByClients(t *testing.T) {
	for name, c := range map[string]clientconfig.Config{
		"token": tokenConfig(t), "certificate": certificateConfig(t), "password": passwordConfig(t),
	} {
		d := open(t)
		f, err := d.Write(c)
		if err != nil {
			t.Fatalf("%s: Write() = %v", name, err)
		}
		rest, err := clientcmd.BuildConfigFromFlags("", f.Main())
		if err != nil {
			t.Fatalf("%s: client-go does not take it: %v", name, err)
		}
		for what, file := range map[string]struct{ path, want string }{
			"CA": {rest.CAFile, c.CACert}, "token": {rest.BearerTokenFile, c.Token.Reveal()},
			"certificate": {rest.CertFile, c.ClientCertificate}, "key": {rest.KeyFile, c.ClientKey.Reveal()},
		} {
			if file.want == "" {
				if file.path != "" {
					t.Errorf("%s: there is a %s", name, what)
				}
				continue
			}
			if got, err := os.ReadFile(file.path); err != nil || string(got) != file.want {
				t.Errorf("%s: the %s is another (%v)", name, what, err)
			}
		}
		if rest.Host != c.Endpoint || rest.ServerName != c.ServerName || rest.Username != c.Username || rest.Password != c.Password.Reveal() {
			t.Errorf("%s: client-go goes to %s (%s) as %s", name, rest.Host, rest.ServerName, rest.Username)
		}
		kubeconfig, err := os.ReadFile(f.Main())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(kubeconfig), canary) {
			t.Errorf("%s: the token stands in the kubeconfig, where no renewal reaches it", name)
		}
		env := f.Env()
		if !slices.Contains(env, "KUBECONFIG="+f.Main()) || strings.Contains(strings.Join(env, " "), canary) {
			t.Errorf("%s: Env() = %q, want the kubeconfig and no secret", name, env)
		}
	}
}

func TestReplace(t *testing.T) {
	d := open(t)
	c := tokenConfig(t)
	f, err := d.Write(c)
	if err != nil {
		t.Fatalf("Write() = %v", err)
	}
	paths := listing(t, d.Path())
	c.Token = secret.NewText("renewed")
	if err := f.Replace(c); err != nil {
		t.Fatalf("Replace() = %v", err)
	}
	if token, err := tokenIn(f.Main()); err != nil || token != "renewed" {
		t.Errorf("the token is %q (%v), want the renewed one", token, err)
	}
	if got := listing(t, d.Path()); !slices.Equal(got, paths) {
		t.Errorf("paths are %q, want as before: %q", got, paths)
	}
	elsewhere := c
	elsewhere.Endpoint = "https://evil.example"
	otherCA := c
	otherCA.CACert, _ = pair(t)
	otherName, unverified := c, c
	otherName.ServerName = "evil.example"
	unverified.CACert, unverified.InsecureSkipVerify = "", true
	sameCA := c
	sameCA.InsecureSkipVerify = true
	for name, other := range map[string]clientconfig.Config{
		"another server": elsewhere, "another CA": otherCA, "another server name": otherName,
		"a server that is not verified": unverified, "a server that is not verified, with the CA": sameCA, "a certificate": certificateConfig(t), "nothing": {},
	} {
		if err := f.Replace(other); err == nil {
			t.Errorf("Replace(%s) = nil, want an error", name)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatalf("Close() = %v", err)
	}
	if err := f.Replace(c); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Replace() after Close = %v, want ErrClosed", err)
	}
	if left := listing(t, d.Path()); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// Helm and kubectl start where the lease does.
func TestEnvNamesTheNamespaceToEveryClient(t *testing.T) {
	c := tokenConfig(t)
	c.Client = clientconfig.KubernetesClient{Namespace: "edge"}
	f, err := open(t).Write(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"KUBECONFIG=" + f.Main(), "KUBE_CONFIG_PATH=" + f.Main(), "KUBE_NAMESPACE=edge", "HELM_NAMESPACE=edge"} {
		if !slices.Contains(f.Env(), want) {
			t.Errorf("Env() = %q, want %s in it", f.Env(), want)
		}
	}
}

// TestReplaceIsAtomic: whoever reads while the token is replaced reads a whole one.
func TestReplaceIsAtomic(t *testing.T) {
	d := open(t)
	c := tokenConfig(t)
	first, second := strings.Repeat("a", 4096), strings.Repeat("b", 4096)
	c.Token = secret.NewText(first)
	f, err := d.Write(c)
	if err != nil {
		t.Fatalf("Write() = %v", err)
	}
	rest, err := clientcmd.BuildConfigFromFlags("", f.Main())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if token, err := os.ReadFile(rest.BearerTokenFile); err != nil || string(token) != first && string(token) != second {
				t.Errorf("read %d bytes that are neither token (%v)", len(token), err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i := range 200 {
		c.Token = secret.NewText([]string{second, first}[i%2])
		if err := f.Replace(c); err != nil {
			t.Fatalf("Replace() = %v", err)
		}
	}
	close(done)
	reader.Wait()
}

func TestConcurrentUseLeavesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	d, err := clientconfig.OpenDir(root)
	if err != nil {
		t.Fatalf("OpenDir() = %v", err)
	}
	c := tokenConfig(t)
	var users sync.WaitGroup
	for i := range 16 {
		users.Go(func() {
			f, err := d.Write(c)
			if err != nil {
				if !errors.Is(err, fs.ErrClosed) {
					t.Errorf("Write() = %v", err)
				}
				return
			}
			if err := f.Replace(c); err != nil && !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Replace() = %v", err)
			}
			if i == 8 {
				if err := d.Close(); err != nil {
					t.Errorf("Dir.Close() = %v", err)
				}
			}
			if err := f.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		})
	}
	users.Wait()
	if err := d.Close(); err != nil {
		t.Errorf("Dir.Close() = %v", err)
	}
	if left := listing(t, root); len(left) != 0 {
		t.Errorf("left %q", left)
	}
	if _, err := d.Write(c); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write() after Close = %v, want ErrClosed", err)
	}
}

// TestNoDescriptorLeaks: a peer leaked one with every failed registration.
func TestNoDescriptorLeaks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	open := filepath.Join(t.TempDir(), "open-to-all")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	c := tokenConfig(t)
	noCredential := c
	noCredential.Token = secret.Text{}
	round := func() {
		d, err := clientconfig.OpenDir(root)
		if err != nil {
			t.Fatalf("OpenDir() = %v", err)
		}
		f, err := d.Write(c)
		if err != nil {
			t.Fatalf("Write() = %v", err)
		}
		_, errWrite := d.Write(noCredential)
		_, errOpen := clientconfig.OpenDir(open)
		_, errSweep := clientconfig.Sweep(open)
		if errWrite == nil || errOpen == nil || errSweep == nil {
			t.Fatalf("errors are %v, %v, %v, want three", errWrite, errOpen, errSweep)
		}
		dead := filepath.Join(root, "0123456789ab-1-1-x")
		if err := os.Mkdir(dead, 0o700); err != nil {
			t.Fatal(err)
		}
		if n, err := clientconfig.Sweep(root); n != 1 || err != nil {
			t.Fatalf("Sweep() = %d, %v, want 1", n, err)
		}
		if err := errors.Join(f.Replace(c), f.Close(), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	descriptors := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	round()
	before := descriptors()
	for range 10 {
		round()
	}
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors are open, want %d as before", after, before)
	}
}
