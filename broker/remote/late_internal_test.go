package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a transport whose connections lead to serve, in memory.
func piped(t *testing.T, serve func(net.Conn)) *Transport {
	t.Helper()
	way, err := newTransport(Options{Server: "the server"}, func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			serve(far)
			_, _ = io.Copy(io.Discard, far) // until the other side gives up
		}()
		return near, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return way
}

// sends answers the first request of a connection.
func sends(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, text)
		}
	}
}

func send(t *testing.T, ctx context.Context, way *Transport, url string) (*http.Response, error) { //nolint:revive // tests begin with t
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return way.Client().Do(request)
}

const server = "http://server.example"

// A call whose context has no end ends by itself, wherever the server stops.
func TestEveryAnswerHasADeadline(t *testing.T) {
	for name, c := range map[string]struct {
		serve    func(net.Conn)
		url      string
		streamed bool
		want     time.Duration
	}{
		"nothing":                 {sends(""), server, false, answerTimeout},
		"half a header":           {sends("HTTP/1.1 200 OK\r\n"), server, false, answerTimeout},
		"half a body":             {sends("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"), server, false, answerTimeout},
		"no header of a stream":   {sends("HTTP/1.1 200 OK\r\n"), server, true, answerTimeout},
		"half a stream's refusal": {sends("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\n{"), server, true, answerTimeout},
		"no handshake":            {func(net.Conn) {}, "https://server.example", false, tlsHandshakeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				way := piped(t, c.serve)
				ctx := context.Background()
				if c.streamed {
					ctx = Stream(ctx)
				}
				began := time.Now()
				response, err := send(t, ctx, way, c.url)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Get = %v, %v, want %v", response, err, context.DeadlineExceeded)
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("the call ended after %v, want %v", took, c.want)
				}
				if anew := way.way == nil; anew != (c.want == answerTimeout) {
					t.Errorf("the next call opens a connection of its own: %t", anew)
				}
				way.CloseIdleConnections()
			})
		})
	}
}

// A call that waits for its turn ends with its context, and its request's body is closed.
func TestACallThatWaitsForItsTurnEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := piped(t, sends(""))
		for range maxCalls {
			way.calls <- struct{}{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body, other := net.Pipe()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server, body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := way.RoundTrip(request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call = %v, want %v", err, context.DeadlineExceeded)
		}
		if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the body of the request is still open: %v", err)
		}
	})
}

// A connection that nobody uses is closed.
func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan time.Time, 1)
		way := piped(t, func(c net.Conn) {
			sends("HTTP/1.1 204 No Content\r\n\r\n")(c)
			_, _ = io.Copy(io.Discard, c)
			closed <- time.Now()
		})
		if _, err := send(t, t.Context(), way, server); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		select {
		case at := <-closed:
			if at.Sub(began) != idleAfter {
				t.Errorf("the connection was closed after %v, want %v", at.Sub(began), idleAfter)
			}
		case <-time.After(2 * idleAfter):
			t.Error("the connection is still open")
			way.CloseIdleConnections()
		}
	})
}

// watched counts what waits for a context's end.
type watched struct {
	context.Context
	waiting *atomic.Int32
}

func (w watched) AfterFunc(f func()) func() bool {
	w.waiting.Add(1)
	stop := context.AfterFunc(w.Context, f)
	return func() bool {
		stopped := stop()
		if stopped {
			w.waiting.Add(-1)
		}
		return stopped
	}
}

// An answer counts with its values, which decoding makes larger than it is, until its body is closed.
func TestAShareCountsValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "[" + strings.Repeat("0,", 899) + "0]"
		way := piped(t, sends(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)))
		response, err := send(t, t.Context(), way, server)
		if err != nil {
			t.Fatal(err)
		}
		if has, want := maxDecoding-answers.free, chunk+900*perValue; has < want {
			t.Errorf("an answer of 900 values has a share of %d bytes, want %d at least", has, want)
		}
		_ = response.Body.Close()
		answers.allFree(t, maxDecoding)
		way.CloseIdleConnections()
	})
}

// A call that finds no room fails by the broker's fault, and its connection is not left for that.
func TestNoRoomIsNotTheServersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := piped(t, sends("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
		full := answers.share(func() {})
		if err := errors.Join(full.grow(t.Context(), maxDecoding), full.settle()); err != nil {
			t.Fatal(err)
		}
		_, err := send(t, t.Context(), way, server)
		f, ok := errors.AsType[*CallError](err)
		if !ok || !f.Busy || f.System() != nil || way.way == nil {
			t.Errorf("a call without room = %v, want a Fault that says so, and the connection kept", err)
		}
		full.release()
		response, err := send(t, t.Context(), way, server)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		answers.allFree(t, maxDecoding)
		way.CloseIdleConnections()
	})
	if f := Unanswered(errConnects, "the server"); f == nil || f.Busy {
		t.Errorf("a server that ends each connection = %v, which is its own fault", f)
	}
}

// However a call ends, its share of the budget comes back, at the latest with its context.
func TestSharesComeBack(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: "
	for name, c := range map[string]struct {
		sent     string
		answered bool
	}{
		"an answer":           {ok + "2\r\n\r\n{}", true},
		"a long answer":       {ok + "100000\r\n\r\n" + strings.Repeat(" ", 100_000), true},
		"too long":            {ok + "400000\r\n\r\n" + strings.Repeat(" ", 400_000), false},
		"too long an error":   {"HTTP/1.1 500 Oh\r\nContent-Length: 400000\r\n\r\n" + strings.Repeat(" ", 400_000), true},
		"too many values":     {ok + "3001\r\n\r\n[" + strings.Repeat("0,", 1499) + "0]", false},
		"half an answer":      {ok + "100000\r\n\r\n" + strings.Repeat(" ", 50_000), false},
		"a compressed answer": {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, closed := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					ended, end := context.WithCancel(t.Context())
					ctx := watched{ended, new(atomic.Int32)}
					way := piped(t, sends(c.sent))
					response, err := send(t, ctx, way, server)
					if c.answered != (err == nil) {
						t.Errorf("Get = %v, %v, want an answer: %v", response, err, c.answered)
					}
					if err == nil && closed {
						text := make([]byte, 1)
						_ = response.Body.Close()
						_ = response.Body.Close()
						if _, err := response.Body.Read(text); err == nil && text[0] != 0 {
							t.Error("what was read is kept")
						}
						if n := ctx.waiting.Load(); n != 0 {
							t.Errorf("%d wait for the end of the context after the body is closed", n)
						}
					} else {
						end()
					}
					synctest.Wait()
					answers.allFree(t, maxDecoding)
					end()
					way.CloseIdleConnections()
				})
			}
		})
	}
}
