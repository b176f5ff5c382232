package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// Whoever has a credential written to a file that others can read is told so; a pipe, and what is no file, is nobody's to read.
func TestACredentialInAFileForOthersIsTold(t *testing.T) {
	for mode, want := range map[os.FileMode]string{0o600: "", 0o700: "", 0o610: "(mode 0610)", 0o601: "(mode 0601)", 0o644: "(mode 0644)"} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := out.Chmod(mode); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		(&program{&console.Console{Out: out, Err: &said}}).warnReadable()
		if (said.Len() > 0) != (want != "") || !strings.Contains(said.String(), want) {
			t.Errorf("%o: said %q, want %q", mode, &said, want)
		}
	}
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := pipe.Chmod(0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	(&program{&console.Console{Out: pipe, Err: &said}}).warnReadable()
	pipe.Close()
	(&program{&console.Console{Out: pipe, Err: &said}}).warnReadable()
	if said.Len() > 0 {
		t.Errorf("of a pipe, and of a file that is closed: %s", &said)
	}
}

// So it is where the secret of a lease that stands is written.
func TestASecretInAFileForOthersIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": "l", "vimName": "edge", "state": "active", "standing": true, "leaseSecret": "vbl_1"}`))
	}))
	defer server.Close()
	registry, err := client.New(client.Options{Addr: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var said bytes.Buffer
	p := &program{&console.Console{Out: out, Err: &said, Output: "table", Now: func() time.Time { return noon }}}
	if err := p.issueStanding(t.Context(), registry, v1.LeaseRequest{VIM: "edge", Standing: true}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "vbl_1\n" || !strings.Contains(said.String(), "others can read the file") {
		t.Errorf("written %q, %v; said %s", text, err, &said)
	}
}

// Any of three variables says that a browser can open, on a system that has a display without saying so too.
func TestADisplayIsSaid(t *testing.T) {
	for text, want := range map[string]bool{"": false, "DISPLAY=:0": true, "WAYLAND_DISPLAY=wayland-0": true, "BROWSER=lynx": true, "TERM=xterm": false} {
		if got := (&program{&console.Console{Env: console.Environment{text}}}).hasDisplay(); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
