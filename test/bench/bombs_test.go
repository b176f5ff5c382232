package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// bombVIMs turn hostile all at once, and are all due for a check when the server starts.
	bombVIMs = 300
	// bombLeases are issued and revoked meanwhile on a VIM that is well, by one client.
	bombLeases = 60
	// bombPeak is the memory, in MB, that the server may have had resident: what GOMEMLIMIT says.
	bombPeak = 268
)

// bomb is an answer that is small to send and large to have, or that does not end.
type bomb struct {
	what   string
	header [2]string
	body   []byte
	// pace is how long to wait between the body's bytes; endless sends it again and again.
	pace    time.Duration
	endless bool
	// path is the one that is answered so; empty means every one. stalls keeps the call open
	// after the body.
	path   string
	stalls bool
}

// namespaces is the path of the one list that every check asks for.
const namespaces = "/api/v1/namespaces"

func bombs(b *testing.B) []bomb {
	b.Helper()
	repeated := func(head, text string, n int, tail string) []byte {
		return []byte(head + strings.Repeat(text, n) + tail)
	}
	empty := repeated(`{"kind":"NamespaceList","items":[`, "{},", 2_000_000, "{}]}")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(empty); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	return []bomb{
		{what: "a list of empty items, compressed", header: [2]string{"Content-Encoding", "gzip"}, body: packed.Bytes()},
		{what: "a list of empty items", body: empty},
		{what: "the same in protobuf", header: [2]string{"Content-Type", "application/vnd.kubernetes.protobuf"}, body: repeated("k8s\x00", "\x12\x00", 2_000_000, "")},
		{what: "managed fields", body: repeated(`{"kind":"SelfSubjectReview","metadata":{"managedFields":[`, "{},", 90_000, "{}]}}")},
		{what: "a catalog", body: repeated(`{"token":{"catalog":[`, `{"endpoints":[{}]},`, 12_000, "{}]}}")},
		{what: "deep lists", body: repeated("", "[", 100_000, strings.Repeat("]", 100_000))},
		{what: "a million keys", body: repeated(`{"a":0`, `,"b":0`, 1_000_000, "}")},
		{what: "a number of 200 000 digits", body: repeated(`{"a":1`, "0", 200_000, "}")},
		{what: "a text without an end", body: repeated("", "x", 64<<10, ""), endless: true},
		{what: "all that a list may hold", path: namespaces, body: repeated(`{"kind":"NamespaceList","items":[{}`, `,{"metadata":{"labels":{"a":"b"}}}`, 4990, "]}")},
		{what: "a long list that stops half way", path: namespaces, body: repeated("", " ", 3<<20, "{"), stalls: true},
		{what: "a byte a second", body: repeated("{", " ", 3600, "}"), pace: time.Second},
	}
}

// trap is a VIM that answers as it should until it is armed, and then everything with a bomb.
type trap struct {
	vim   http.Handler
	armed atomic.Pointer[bomb]
	sent  atomic.Int64
}

func (t *trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	with := t.armed.Load()
	if with == nil || with.path != "" && with.path != r.URL.Path {
		t.vim.ServeHTTP(w, r)
		return
	}
	t.sent.Add(1)
	w.Header().Set("Content-Type", "application/json")
	if with.header[0] != "" {
		w.Header().Set(with.header[0], with.header[1])
	}
	if with.pace > 0 {
		for i := range with.body {
			_, _ = w.Write(with.body[i : i+1])
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(with.pace):
			}
		}
	}
	for again := true; again; again = with.endless {
		if _, err := w.Write(with.body); err != nil {
			return
		}
	}
	if with.stalls {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// hostile measures what a server holds, and how long another tenant's leases take, while the VIMs
// that it has just begun to check answer with bombs. It has 256 MiB by GOMEMLIMIT, and may map 1 GiB
// of data at most: one that wants more dies.
func hostile(b *testing.B, p *program) *figure {
	b.Helper()
	s, fake := &stack{dir: b.TempDir()}, fakekube.New(b, fakekube.Options{})
	t := &trap{vim: fake}
	front := httptest.NewUnstartedServer(t)
	front.EnableHTTP2 = true
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	b.Cleanup(front.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	s.cluster, s.token = &real.Cluster{Endpoint: front.URL, CAPEM: string(ca)}, fake.AdminToken
	s.open(b)
	s.crowd(b, bombVIMs)
	s.cluster = &real.Cluster{Endpoint: fake.Endpoint, CAPEM: fake.CA}
	s.mustRegister(b, "well")
	s.close(b)

	home := b.TempDir()
	bounded := filepath.Join(home, "bounded")
	if err := os.WriteFile(bounded, []byte("#!/bin/sh\nulimit -d 1048576\nexec "+p.binary(b)+" \"$@\"\n"), 0o700); err != nil { //nolint:gosec // it is run
		b.Fatal(err)
	}
	during := func() (took sample, peak float64) {
		b.Helper()
		s.open(b)
		s.overdue(b)
		s.close(b)
		t.sent.Store(0)
		server, err := story.Serve(bounded, home, []string{"HOME=" + home, "TMPDIR=" + home, "GOMEMLIMIT=256MiB"},
			"--dev", "--listen", "127.0.0.1:0", "--data-dir", s.dir)
		if err != nil {
			b.Fatal(err)
		}
		defer server.Kill()
		token := devToken(b, s.dir)
		c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(token)})
		if err != nil {
			b.Fatal(err)
		}
		var asking sync.WaitGroup
		stop := make(chan struct{})
		for n := range 16 { // somebody has them checked besides
			asking.Go(func() {
				for i := n; ; i += 16 {
					select {
					case <-stop:
						return
					default:
						_, _ = c.CheckVIM(b.Context(), crowdName(i%bombVIMs)) // that it fails is meant
					}
				}
			})
		}
		defer asking.Wait()
		defer close(stop)
		took, err = turn(1, bombLeases, 0, func(int) error {
			l, err := c.IssueLease(b.Context(), v1.LeaseRequest{VIM: "well", TTL: "1h", Role: "view"}, "")
			if err == nil {
				_, err = c.RevokeLease(b.Context(), l.ID)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		if peak, err = highWater(server.PID()); err != nil {
			b.Fatal(err)
		}
		return took, peak
	}
	during() // what is made once is made now
	took, peak := during()
	base := timed("lease issued and revoked, all well", took)
	rows := []row{base, {What: "memory at its peak, all well", N: 1, Value: peak, Unit: "MB"}}
	for _, with := range bombs(b) {
		t.armed.Store(&with)
		took, peak := during()
		t.armed.Store(nil)
		beside := timed(with.what, took)
		rows = append(rows, beside.over(base), beside.tailOver(base),
			row{What: with.what + ", memory at its peak", N: int(t.sent.Load()), Value: peak, Unit: "MB"}.valueGoal(bombPeak))
	}
	return &figure{Title: fmt.Sprintf("%d VIMs that answer with bombs, at a start and when asked: what a server with 256 MiB holds, and another tenant's leases", bombVIMs), Rows: rows}
}

// highWater is the most memory that a process has had resident, in MB, as Linux tells it.
func highWater(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("process %d does not say what it held", pid)
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	return kib * 1024 / 1e6, err
}
