package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/story"
)

// configured is a server that runs by a configuration file, with one caller,
// alice, who is admin.
type configured struct {
	env          []string
	addr, data   string
	file, tokens string
	token        string
	log          *lineLog
	stop         context.CancelFunc
	ended        chan int
	t            *testing.T
}

// serveConfig runs a server with these lines more in its configuration, until the
// test ends.
func serveConfig(t *testing.T, more string) *configured {
	t.Helper()
	token, digest := policy.NewToken()
	i := &configured{
		t: t, addr: story.FreeAddress(t), data: filepath.Join(t.TempDir(), "data"), token: token,
		tokens: story.WriteFile(t, "tokens.yaml", "tokens:\n  - {name: alice, project: acme, roles: [admin], sha256: "+digest+"}\n", 0o600),
	}
	i.file = story.WriteFile(t, "config.yaml", i.text(more), 0o600)
	i.env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), console.EnvAddr + "=http://" + i.addr, console.EnvToken + "=" + token}
	i.start()
	t.Cleanup(func() { i.end() })
	return i
}

// text is the whole configuration with these lines more.
func (i *configured) text(more string) string {
	return "listen: " + i.addr + "\ndataDir: " + i.data + "\ntokensFile: " + i.tokens + "\negress: {allowLoopback: true}\n" + more
}

func (i *configured) start() {
	i.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(i.t.Context()))
	log, ended := newLineLog(), make(chan int, 1)
	i.log, i.stop, i.ended = log, stop, ended
	go func() {
		ended <- run(ctx, []string{"serve", "--config", i.file}, nil, io.Discard, log, []string{"HOME=/nowhere"})
		log.end()
	}()
	i.log.await(i.t, `"msg":"ready"`)
}

// end stops the server, which must end well. It may be called twice.
func (i *configured) end() {
	i.t.Helper()
	if i.stop == nil {
		return
	}
	i.stop()
	i.stop = nil
	if code := <-i.ended; code != 0 {
		i.t.Errorf("serve ended with %d: %s", code, i.log)
	}
}

// restart stops the server, and starts it with another configuration.
func (i *configured) restart(t *testing.T, more string) {
	t.Helper()
	i.end()
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

// lineLog gathers a server's log, line by line.
type lineLog struct {
	lines chan string
	seen  []string // by await
	done  chan struct{}
}

func newLineLog() *lineLog {
	return &lineLog{lines: make(chan string, 10000), done: make(chan struct{})}
}

func (l *lineLog) Write(line []byte) (int, error) {
	l.lines <- string(line)
	return len(line), nil
}

func (l *lineLog) end() { close(l.done) }

// await returns the next line that holds a text; lines before it are skipped.
func (l *lineLog) await(t *testing.T, text string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line := <-l.lines:
			l.seen = append(l.seen, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-l.done:
			t.Fatalf("the server ended before it said %q: %s", text, l)
		case <-late:
			t.Fatalf("the server does not say %q: %s", text, l)
		}
	}
}

// String is what has been logged so far. Not for use while another goroutine awaits.
func (l *lineLog) String() string {
	for {
		select {
		case line := <-l.lines:
			l.seen = append(l.seen, line)
		default:
			return strings.Join(l.seen, "")
		}
	}
}
