package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Why a call had no answer is told in our own words, with a remedy; what was not said on our side is left out.
func TestWhyACallHadNoAnswer(t *testing.T) {
	plain := errors.New("said by the server")
	remote := func(op, text string) error { return &net.OpError{Op: op, Err: errors.New(text)} }
	for _, c := range []struct {
		what, detail, remedy string
		err                  error
		cause, refused       bool
		system               error
	}{
		{"what was told before", "before", "", fmt.Errorf("x: %w", &CallError{Detail: "before"}), false, false, nil},
		{"a limit", "the answer is longer than 1 KiB", "check the endpoint", tooLong(1024), false, false, nil},
		{"authorities", errAuthorities.Error(), "give a file", errAuthorities, false, false, nil},
		{"connections", errConnects.Error(), "try again", errConnects, true, false, nil},
		{"another authority", "S's certificate is not signed by the given CA", "give the CA", x509.UnknownAuthorityError{}, true, false, nil},
		{"another name", "S's certificate is for another name", "use a name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, true, false, nil},
		{"an expired certificate", "S's certificate has expired", "renew it", x509.CertificateInvalidError{Reason: x509.Expired}, true, false, nil},
		{"a certificate that may not sign", "S's certificate does not verify", "see that", x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, true, false, nil},
		{"a certificate that does not verify", "S's certificate does not verify", "see that", &tls.CertificateVerificationError{Err: plain}, true, false, nil},
		{"no TLS", "S does not speak TLS", "use the port", tls.RecordHeaderError{}, false, false, nil},
		{"another scheme", "S does not speak TLS", "use the port", http.ErrSchemeMismatch, false, false, nil},
		{"a refused certificate", "S refuses the client certificate", "replace the credential", remote("remote error", "tls: bad certificate"), true, true, nil},
		{"a denied certificate", "S refuses the client certificate", "replace the credential", remote("remote error", "tls: access denied"), true, true, nil},
		{"another alert", "the connection to S broke", "try again", remote("remote error", "tls: internal error"), false, false, nil},
		{"a certificate that was not refused", "the connection to S broke", "try again", remote("read", "tls: bad certificate"), false, false, nil},
		{"a call that was cancelled", "the call was cancelled before S answered", "", context.Canceled, true, false, nil},
		{"no such host", "the host name of S cannot be resolved", "check the endpoint", &net.DNSError{Err: "none"}, true, false, nil},
		{"a deadline", "S does not answer in time", "check the endpoint", context.DeadlineExceeded, true, false, context.DeadlineExceeded},
		{"a refused connection", "S refuses connections", "check the endpoint's port", syscall.ECONNREFUSED, true, false, syscall.ECONNREFUSED},
		{"no route to a host", "no route leads to S", "check the endpoint", syscall.EHOSTUNREACH, true, false, syscall.EHOSTUNREACH},
		{"no route to a network", "no route leads to S", "check the endpoint", fmt.Errorf("x: %w", syscall.ENETUNREACH), true, false, syscall.ENETUNREACH},
		{"a reset", "the connection to S broke", "try again", syscall.ECONNRESET, false, false, nil},
		{"an end", "the connection to S broke", "try again", io.EOF, false, false, nil},
		{"an early end", "the connection to S broke", "try again", io.ErrUnexpectedEOF, false, false, nil},
		{"a transport", "the connection to S broke", "try again", &url.Error{Err: plain}, false, false, nil},
	} {
		f := Unanswered(c.err, "S")
		if f == nil {
			t.Errorf("%s: nothing is told", c.what)
			continue
		}
		if !strings.HasPrefix(f.Detail, c.detail) || !strings.HasPrefix(f.Remedy, c.remedy) || (c.remedy == "") != (f.Remedy == "") {
			t.Errorf("%s: %q, %q", c.what, f.Detail, f.Remedy)
		}
		if (f.Cause != nil) != c.cause || f.CertificateRefused != c.refused || f.Busy || !errors.Is(f.System(), c.system) || c.system == nil && f.System() != nil {
			t.Errorf("%s: %+v, of the system %v", c.what, f, f.System())
		}
		want := f.Detail
		if f.Remedy != "" {
			want += "; " + f.Remedy
		}
		if got := Explain(c.err, "S"); got.Error() != want || errors.Is(got, plain) {
			t.Errorf("%s is explained as %q", c.what, got)
		}
	}
	if f := Unanswered(errBusy, "S"); f == nil || !f.Busy || !errors.Is(f, errBusy) {
		t.Errorf("no room: %+v", f)
	}
	if f := Unanswered(plain, "S"); f != nil || Explain(plain, "S").Error() != "the connection to S failed" {
		t.Errorf("what is none of these: %+v, %v", f, Explain(plain, "S"))
	}
}

// A number counts up to its bound, and what is packed in an answer is counted as an answer is.
func TestBoundsOfWhatIsCounted(t *testing.T) {
	limit := Limit{Bytes: 1 << 10, Values: 10, Items: 3}
	for text, want := range map[string]string{
		`{"a":` + strings.Repeat("1", maxNumber) + `}`: "", `{"a":` + strings.Repeat("1", maxNumber+1) + `}`: "the answer holds a number of more than 64 digits",
		`{"a":"` + strings.Repeat("1", maxNumber+1) + `"}`: "", `[1,2,3]`: "", `[1,2,3,4]`: "the answer holds a list of more than 3 items",
		`{"a":1,"b":2,"c":3,"d":4}`: "", `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`: "the answer holds more than 10 values", "no JSON": "", "": "",
	} {
		if err := limit.Check([]byte(text)); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	deep := Limit{Bytes: 1 << 20, Values: 1 << 10, Items: 3}
	for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		if err := deep.Check([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))); (err == nil) != want {
			t.Errorf("%d deep: %v", depth, err)
		}
	}
	for encoding, bad := range map[string]bool{"": false, "identity": false, "Identity": false, "gzip": true} {
		if err := plain(http.Header{"Content-Encoding": {encoding}}); (err != nil) != bad {
			t.Errorf("encoded as %q: %v", encoding, err)
		}
	}
}

// failing is a body that ends with an error that is none of the network's.
type failing struct{ io.Reader }

func (f failing) Read(into []byte) (int, error) {
	n, err := f.Reader.Read(into)
	if errors.Is(err, io.EOF) {
		err = errors.New("said by the server")
	}
	return n, err
}

// A stream ends as its body does, and who reads it may leave at any line.
func TestAStreamEndsAsItsBody(t *testing.T) {
	limit := Limit{Bytes: 64, Values: 10, Items: 5}
	read := func(body io.Reader, most int) (lines int, said string) {
		for _, err := range Lines(body, limit, "S") {
			if err != nil {
				said += err.Error()
				continue
			}
			if lines++; lines == most {
				break
			}
		}
		return lines, said
	}
	text := "{\"a\":1}\n{\"b\":1}\n"
	for _, c := range []struct {
		what  string
		body  io.Reader
		most  int
		lines int
		want  string
	}{
		{"to its end", strings.NewReader(text), 9, 2, ""},
		{"to the first line", failing{strings.NewReader(text)}, 1, 1, ""},
		{"to what is no end", failing{strings.NewReader(text)}, 9, 2, "the connection to S broke before the answer was complete"},
		{"to a line that is too long", strings.NewReader(text + strings.Repeat("x", 65)), 9, 2, tooLong(64).Error()},
	} {
		if lines, said := read(c.body, c.most); lines != c.lines || said != c.want {
			t.Errorf("%s: %d lines, then %q", c.what, lines, said)
		}
	}
	ended, closed := false, errors.New("closed")
	body := &flowing{struct {
		io.Reader
		io.Closer
	}{nil, closer{closed}}, func() { ended = true }}
	if err := body.Close(); !errors.Is(err, closed) || !ended {
		t.Errorf("a stream is closed with %v", err)
	}
}

type closer struct{ error }

func (c closer) Close() error { return c.error }

// A file of authorities is the same while it is one file of that size and time.
func TestWhenAFileIsTheSame(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	file := func(name, text string, at time.Time) os.FileInfo {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	one := file("one", "text", at)
	other := file("other", "text", at)
	again := file("one", "text", at)
	later := file("one", "text", at.Add(time.Second))
	longer := file("one", "texts", at)
	for what, c := range map[string]struct {
		a, b os.FileInfo
		same bool
	}{
		"itself": {one, again, true}, "another file": {one, other, false}, "a later one": {one, later, false}, "a longer one": {one, longer, false},
		"none and none": {nil, nil, true}, "one and none": {one, nil, false}, "none and one": {nil, one, false},
	} {
		if sameFile(c.a, c.b) != c.same {
			t.Errorf("%s is the same: %v", what, !c.same)
		}
	}
}

// A call connects a bounded number of times; what belongs to no call is not counted.
func TestConnectionsOfACallAreCounted(t *testing.T) {
	away := errors.New("away")
	way := &Transport{dial: func(context.Context, string, string) (net.Conn, error) { return nil, away }}
	ctx := context.WithValue(t.Context(), connectsKey{}, new(atomic.Int32))
	for n := range maxConnects + 1 {
		want := away
		if n == maxConnects {
			want = errConnects
		}
		if _, err := way.connect(ctx, "tcp", "x"); !errors.Is(err, want) {
			t.Errorf("connection %d of a call: %v, want %v", n+1, err, want)
		}
		if _, err := way.connect(t.Context(), "tcp", "x"); !errors.Is(err, away) {
			t.Errorf("connection %d of no call: %v", n+1, err)
		}
	}
}

// The largest answer gives way to a smaller one alone.
func TestWhichAnswerGivesWay(t *testing.T) {
	b := newBudget(100)
	if b.makeRoom(0) {
		t.Error("where nothing is read, something gives way")
	}
	_, ended := reader(t, b, 50)
	if b.makeRoom(50) || ended() {
		t.Error("an answer gives way to one of its size")
	}
	if !b.makeRoom(49) || !ended() || b.coming != 50 {
		t.Errorf("an answer does not give way to a smaller one; %d are to come", b.coming)
	}
}
