package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// configured is a server that runs by a configuration file, with one caller,
// alice, who is admin.
type configured struct {
	*served
	env          []string
	addr, data   string
	file, tokens string
	token        string
	t            *testing.T
}

// serveConfig runs a server with these lines more in its configuration, until the
// test ends.
func serveConfig(t *testing.T, more string) *configured {
	t.Helper()
	token, digest := policy.NewToken()
	i := &configured{
		t: t, addr: process.FreeAddress(t), data: filepath.Join(t.TempDir(), "data"), token: token,
		tokens: story.WriteFile(t, "tokens.yaml", "tokens:\n  - {name: alice, project: acme, roles: [admin], sha256: "+digest+"}\n", 0o600),
	}
	i.file = story.WriteFile(t, "config.yaml", i.text(more), 0o600)
	i.env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), console.EnvAddr + "=http://" + i.addr, console.EnvToken + "=" + token}
	i.start()
	return i
}

// text is the whole configuration with these lines more.
func (i *configured) text(more string) string {
	return "listen: " + i.addr + "\ndataDir: " + i.data + "\ntokensFile: " + i.tokens + "\negress: {allowLoopback: true}\n" + more
}

func (i *configured) start() {
	i.t.Helper()
	i.served = serve(i.t, []string{"HOME=/nowhere"}, "--config", i.file)
}

// restart stops the server, and starts it with another configuration.
func (i *configured) restart(t *testing.T, more string) {
	t.Helper()
	i.stop()
	i.configure(t, i.text(more))
	i.start()
}

func (i *configured) configure(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(i.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command of this program in this process.
func (i *configured) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &err, i.env)
	return code, out.String(), err.String()
}

func (i *configured) get(t *testing.T, path string) (int, string) {
	t.Helper()
	answer, err := http.Get("http://" + i.addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}
