package remote_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/remote"
)

// bombs are answers that are small to send and large to have.
var bombs = map[string]string{
	"a list of empty objects": `{"kind":"NamespaceList","items":[` + strings.Repeat("{},", 2_000_000) + `{}]}`,
	"managed fields":          `{"metadata":{"managedFields":[` + strings.Repeat("{},", 90_000) + `{}]}}`,
	"a catalog":               `{"token":{"catalog":[` + strings.Repeat(`{"endpoints":[{}]},`, 12_000) + `{}]}}`,
	"a list over its items":   `{"items":[` + strings.Repeat("{},", 1000) + `{}]}`,
	"deep lists":              strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	"deep objects":            strings.Repeat(`{"a":`, 50_000) + "1" + strings.Repeat("}", 50_000),
	"a million keys":          `{"a":0` + strings.Repeat(`,"b":0`, 1_000_000) + "}",
	"many keys":               `{"a":0` + strings.Repeat(`,"b":0`, 30_000) + "}",
	"a huge number":           `{"a":1` + strings.Repeat("0", 200_000) + "}",
	"a huge text":             `{"a":"` + strings.Repeat("x", 8<<20) + `"}`,
}

// permitted is an answer that has just as many values as are let through.
var permitted = `[` + strings.Repeat(`[`+strings.Repeat("{},", 4900)+`{}],`, 20) + `{}]`

// most is what one refused answer may allocate, its server in the same process included.
const most = 6 << 20

// Each bomb is refused before a decoder sees it.
func TestBombsAreRefused(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			server, _ := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, bomb) })
			client := to(t, loopback(), server).Client()
			wantRefused(t, client, server.URL, "the answer ")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			wantRefused(t, client, server.URL, "the answer ")
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("refusing it allocates %d KiB, want at most %d", n>>10, most>>10)
			}
		})
	}
}

func wantRefused(t *testing.T, client *http.Client, url, words string) {
	t.Helper()
	resp, err := get(t, client, url)
	var f *remote.CallError
	if !errors.As(err, &f) || !strings.Contains(f.Detail, words) {
		t.Errorf("Get = %v, %v, want a Fault that says %q", resp, err, words)
	}
}

// Some servers compress whatever they are asked for.
func TestCompressedAndBinaryAnswersAreRefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, bombs["a list of empty objects"])
	_ = z.Close()
	for name, c := range map[string]struct{ header, value, body, words string }{
		"gzip":     {"Content-Encoding", "gzip", packed.String(), "compressed"},
		"deflate":  {"Content-Encoding", "deflate", "x", "compressed"},
		"protobuf": {"Content-Type", "application/vnd.kubernetes.protobuf", "k8s\x00", "binary"},
		"cbor":     {"Content-Type", "Application/CBOR", "x", "binary"},
		"yaml":     {"Content-Type", "Application/YAML; charset=utf-8", "items: [{},{}]", "YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				if accept, agent := r.Header.Get("Accept-Encoding"), r.UserAgent(); accept != "identity" || agent != "vimbroker" {
					t.Errorf("Accept-Encoding = %q, User-Agent = %q, want identity and vimbroker", accept, agent)
				}
				w.Header().Set(c.header, c.value)
				_, _ = io.WriteString(w, c.body)
			})
			wantRefused(t, to(t, loopback(), server).Client(), server.URL, c.words)
		})
	}
}

// The limit is that of the call, to the byte.
func TestTheCallSaysItsLimit(t *testing.T) {
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		_, _ = w.Write(bytes.Repeat([]byte("x"), n))
	})
	client := to(t, loopback(), server).Client()
	for _, l := range []remote.Limit{remote.Small, remote.Catalog, remote.List, remote.Keys} {
		for more, ok := range map[int]bool{0: true, 1: false} {
			request, err := http.NewRequestWithContext(remote.Expect(t.Context(), l), http.MethodGet, fmt.Sprintf("%s?n=%d", server.URL, l.Bytes+more), http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if ok != (err == nil) {
				t.Errorf("an answer of %d bytes under a limit of %d: %v", l.Bytes+more, l.Bytes, err)
			}
			if err == nil {
				if n, _ := io.Copy(io.Discard, response.Body); n != int64(l.Bytes) {
					t.Errorf("%d bytes arrive, want %d", n, l.Bytes)
				}
				_ = response.Body.Close()
			}
		}
	}
}

// What a status says is not lost because the page with it is long.
func TestALongErrorKeepsItsStatus(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusMultipleChoices} {
		server, _ := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/yaml")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, bombs["a huge text"])
		})
		resp, err := get(t, to(t, loopback(), server).Client(), server.URL)
		if err != nil || resp.StatusCode != status || resp.ContentLength != 0 {
			t.Errorf("Get = %v, %v, want %d without a body", resp, err, status)
		}
	}
}

// raw serves each connection by hand.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					serve(c)
				}
			})
		}
	})
	return "http://" + listener.Addr().String()
}

// Endless answers end at their bound, and dripping ones at the call's deadline.
func TestEndlessAndDrippingAnswers(t *testing.T) {
	endless := func(head, line string) func(net.Conn) {
		return func(c net.Conn) {
			_, err := io.WriteString(c, head)
			for chunk := []byte(strings.Repeat(line, 1+(16<<10)/len(line))); err == nil; _, err = c.Write(chunk) {
			}
		}
	}
	stuck := func(head string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			_, _ = io.Copy(io.Discard, c) // until the other side gives up
		}
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		serve func(net.Conn)
		late  bool
	}{
		"headers":       {endless(ok, "X-Header: x\r\n"), false},
		"one header":    {endless(ok+"X-Header: ", "x"), false},
		"hints":         {endless("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), false},
		"chunks":        {endless(ok+"Transfer-Encoding: chunked\r\n\r\n", "4\r\n    \r\n"), false},
		"a body":        {endless(ok+"\r\n", "[{},"), false},
		"no header":     {stuck(ok), true},
		"half a body":   {stuck(ok + "Content-Length: 1000\r\n\r\n{"), true},
		"half of chunk": {stuck(ok + "Transfer-Encoding: chunked\r\n\r\n1000\r\n{"), true},
	} {
		t.Run(name, func(t *testing.T) {
			url := raw(t, c.serve)
			way, err := remote.New(loopback(), remote.Options{Server: "the server"})
			if err != nil {
				t.Fatal(err)
			}
			wait := time.Minute
			if c.late {
				wait = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := way.Client().Do(request)
			var f *remote.CallError
			if !errors.As(err, &f) || errors.Is(err, context.DeadlineExceeded) != c.late {
				t.Errorf("Get = %v, %v, want a Fault; by the deadline: %v", response, err, c.late)
			}
			way.CloseIdleConnections()
		})
	}
}

// Who sends a lot and then nothing more holds up nobody.
func TestStalledAnswersHoldUpNobody(t *testing.T) {
	const stalled = 40
	arrived := make(chan struct{}, stalled)
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 100<<10))
		if r.URL.Path == "/stalls" {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 3<<20))
			w.(http.Flusher).Flush()
			arrived <- struct{}{}
			<-r.Context().Done()
		}
	})
	ask := func(ctx context.Context, path string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			return err
		}
		response, err := to(t, loopback(), server).Client().Do(request) // each has a VIM of its own
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	ctx, stop := context.WithCancel(remote.Expect(t.Context(), remote.List))
	var calls sync.WaitGroup
	for range stalled {
		calls.Go(func() { _ = ask(ctx, "/stalls") })
	}
	for range stalled {
		<-arrived
	}
	for range 20 {
		if err := ask(t.Context(), "/"); err != nil {
			t.Errorf("beside answers that stall: %v", err)
		}
	}
	stop()
	calls.Wait()
}

// A server that ends each HTTP/2 connection with its first request has one call
// connect a few times, not for ever.
func TestConnectionsOfOneCallAreBounded(t *testing.T) {
	var made atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { made.Add(1); goAway(c) },
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := to(t, loopback(), server).Client().Do(request)
	var f *remote.CallError
	if !errors.As(err, &f) || !strings.Contains(f.Detail, "ends each connection") {
		t.Errorf("Get = %v, %v, want a Fault that says that the server ends each connection", response, err)
	}
	if n := made.Load(); n > 3 {
		t.Errorf("one call made %d connections, want at most 3", n)
	}
}

// goAway reads what HTTP/2 begins with, and ends the connection before any request.
func goAway(c net.Conn) {
	defer c.Close()
	_, _ = c.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})                         // SETTINGS
	_, _ = c.Write([]byte{0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // GOAWAY: no stream was looked at
	_, _ = io.Copy(io.Discard, c)
}

// The process lives through all bombs at once with little memory.
func TestBombsTogetherFitInLittleMemory(t *testing.T) {
	const child, ceiling = "VIMBROKER_TEST_BOMBS", 256 << 10 // in KiB: the heap, and the pages of the program that count beside it
	if os.Getenv(child) == "" {
		server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			bomb := r.URL.Query().Get("bomb")
			_, _ = io.WriteString(w, cmp.Or(bombs[bomb], permitted))
		})
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBombsTogetherFitInLittleMemory$", "-test.v")
		cmd.Env = append(os.Environ(), child+"="+server.URL, "GOMEMLIMIT=224MiB", "VIMBROKER_TEST_CA="+certificateOf(server))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("the process dies, or takes too much: %v\n%s", err, out)
		}
		return
	}
	limit := syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		t.Fatal(err)
	}
	way, err := remote.New(loopback(), remote.Options{Server: "the server", CA: remote.Authorities{PEM: os.Getenv("VIMBROKER_TEST_CA")}})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	var read atomic.Int32
	for range 20 {
		for _, name := range append(slices.Collect(maps.Keys(bombs)), "permitted", "permitted") {
			calls.Go(func() {
				request, err := http.NewRequestWithContext(remote.Expect(t.Context(), remote.List), http.MethodGet, os.Getenv(child)+"?bomb="+strings.ReplaceAll(name, " ", "+"), http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				response, err := way.Client().Do(request)
				if err != nil {
					return
				}
				defer response.Body.Close()
				var into any
				if json.NewDecoder(response.Body).Decode(&into) == nil && name == "permitted" {
					read.Add(1)
				}
			})
		}
	}
	calls.Wait()
	if read.Load() == 0 {
		t.Error("what is permitted is not read")
	}
	if peak := highWater(t); peak > ceiling {
		t.Errorf("the process took %d MiB at its peak, want at most %d", peak>>10, ceiling>>10)
	}
}

// highWater is the most memory that this process has had resident, in KiB.
func highWater(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system does not say how much memory a process took")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
