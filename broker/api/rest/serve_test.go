package rest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// serving is a server that runs until stop is called or the test ends.
type serving struct {
	addr string
	stop context.CancelFunc
	done chan error
	log  *fake.Buffer
}

func serve(t *testing.T, s api.Server) *serving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	run := &serving{addr: l.Addr().String(), stop: stop, done: make(chan error, 1), log: &fake.Buffer{}}
	s.Log = testlog.To(t, slog.NewTextHandler(run.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	go func() { run.done <- s.Serve(ctx, l) }()
	t.Cleanup(stop)
	return run
}

// held makes every check wait, and tells when one has begun.
func (b *bench) held(after error) (began <-chan struct{}, finish func()) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	b.broker.check = func(ctx context.Context) error {
		started <- struct{}{}
		select {
		case <-release:
			return after
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return started, func() { close(release) }
}

// check asks for one, and sends its status, or 0 when it broke.
func (b *bench) check(addr string) <-chan int {
	status := make(chan int, 1)
	go func() {
		r, _ := http.NewRequest("POST", "http://"+addr+"/v1/vims/core-1/check", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- 0
			return
		}
		_ = answer.Body.Close()
		status <- answer.StatusCode
	}()
	return status
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	b := newBench(t)
	began, finish := b.held(broker.ErrConflict)
	s := serve(t, api.Server{Handler: b.handler})
	status := b.check(s.addr)
	<-began
	s.stop()
	for { // until no new connection is taken
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	finish()
	if got := <-status; got != http.StatusConflict {
		t.Errorf("the request under way got %d, want its own answer 409", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

func TestShutdownCutsOffWhatOutlastsTheGrace(t *testing.T) {
	b := newBench(t)
	began, _ := b.held(nil)
	s := serve(t, api.Server{Handler: b.handler, Grace: time.Millisecond})
	status := b.check(s.addr)
	<-began
	s.stop()
	if err := <-s.done; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("Serve() = %v, want that requests were cut off", err)
	}
	if got := <-status; got == http.StatusOK {
		t.Errorf("the request that was cut off got %d", got)
	}
}

func TestServeOverTLSOnly(t *testing.T) {
	b := newBench(t)
	donor := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer donor.Close()
	s := serve(t, api.Server{Handler: b.handler, TLS: &tls.Config{Certificates: donor.TLS.Certificates}})
	answer, err := donor.Client().Get("https://" + s.addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.TLS.Version < tls.VersionTLS12 {
		t.Errorf("GET /healthz = %d over TLS %x", answer.StatusCode, answer.TLS.Version)
	}
	if answer, err := http.Get("http://" + s.addr + "/healthz"); err == nil {
		if answer.StatusCode == http.StatusOK {
			t.Error("plain HTTP is served beside TLS")
		}
		_ = answer.Body.Close()
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

// What is not even HTTP reaches only the server's own log, and no secret with it.
func TestBrokenHTTPIsNotLogged(t *testing.T) {
	b := newBench(t)
	s := serve(t, api.Server{Handler: b.handler})
	for _, request := range []string{
		"GET /v1/vims HTTP/1.1\r\nHost: x\r\nAuthorization Bearer " + canary + "\r\n\r\n",
		"GET /v1/vims HTTP/1.1\r\nAuthorization: Bearer " + canary + "\r\n\r\n",
		"GET /v1/vims?a;" + canary + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		canary + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + canary + strings.Repeat("x", 64<<10) + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn) // it may be reset before it is read
		_ = conn.Close()
		if strings.Contains(string(answer), canary) {
			t.Errorf("%.40q: the answer repeats it", request)
		}
		if strings.HasPrefix(string(answer), "HTTP/1.1 2") {
			t.Errorf("%.40q was answered %.20q", request, answer)
		}
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("Serve() = %v", err)
	}
	if strings.Contains(s.log.String()+b.log.String(), canary) {
		t.Errorf("the log repeats it: %s", s.log)
	}
}

// half sends a request of which most of the body never comes, and returns the status.
func (b *bench) half(addr, caller string, hangUp bool) int {
	b.t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/vims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", b.tokens[caller])
	if hangUp {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			b.t.Fatal(err)
		}
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestBodyThatDoesNotCome(t *testing.T) {
	b := newBench(t)
	s := serve(t, api.Server{Handler: b.handler, ReadTimeout: 500 * time.Millisecond})
	if got := b.half(s.addr, "alice", true); got != http.StatusBadRequest {
		t.Errorf("a body that ends early = %d, want 400", got)
	}
	if got := b.half(s.addr, "alice", false); got != http.StatusRequestTimeout {
		t.Errorf("a body that is never sent = %d, want 408", got)
	}
	// net/http waits for the rest of a body before it answers, although nobody reads it.
	if got := b.half(s.addr, "nobody", false); got != http.StatusUnauthorized {
		t.Errorf("a body that is never sent, by nobody = %d, want 401", got)
	}
}

// The time to read must not end a request that takes longer to answer.
func TestReadTimeoutIsTheReadersOnly(t *testing.T) {
	b := newBench(t)
	began, finish := b.held(broker.ErrConflict)
	s := serve(t, api.Server{Handler: b.handler, ReadTimeout: 500 * time.Millisecond})
	status := b.check(s.addr)
	<-began
	// A request that begins now and is refused for its slow body says that the time is over.
	if got := b.half(s.addr, "alice", false); got != http.StatusRequestTimeout {
		t.Fatalf("a body that is never sent = %d, want 408", got)
	}
	finish()
	if got := <-status; got != http.StatusConflict {
		t.Errorf("a check that outlasts the time to read = %d, want its own answer 409", got)
	}
}
