package outlet

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// wantError says what an error must have in it; "" wants none.
func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEachStatusHasItsRemedy, at the ends of each range.
func TestEachStatusHasItsRemedy(t *testing.T) {
	const log, moved, secrets, url = "see its log", "redirects are not followed", "check tokenFile", "check the url"
	for status, want := range map[int]string{
		199: log, 200: "", 204: "", 299: "", 300: moved, 399: moved, 400: log, 401: secrets, 402: log, 403: secrets, 404: url, 405: url,
		413: "1 MiB", 500: log,
	} {
		wantError(t, "an answer", refusal(status), want)
	}
}

func TestKeysOf24To64Bytes(t *testing.T) {
	for n, want := range map[int]string{23: "24 to 64", 24: "", 64: "", 65: "24 to 64"} {
		text := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n))
		key, err := HMACKey(secret.NewText(text))
		wantError(t, "a key", err, want)
		if err == nil && len(key) != n {
			t.Errorf("a key of %d bytes is read as %d", n, len(key))
		}
		_, err = HMACKey(secret.NewText(text + "?"))
		wantError(t, "a key that goes on with no base64", err, "24 to 64")
	}
}

func TestFilesOfSecrets(t *testing.T) {
	full := bytes.Repeat([]byte("x"), maxSecret)
	text, err := readSecret(write(t, "full", full))
	if wantError(t, "the longest", err, ""); text.Reveal() != string(full) {
		t.Errorf("the longest has %d bytes, want %d", len(text.Reveal()), maxSecret)
	}
	for want, path := range map[string]string{
		"longer is not a file of a credential": write(t, "longer", append(full, 'x')), "blank is empty": write(t, "blank", []byte(" \n")),
		"is not a file of a credential": t.TempDir(), "no such file": filepath.Join(t.TempDir(), "none"),
	} {
		_, err := readSecret(path)
		wantError(t, path, err, want)
	}
	w, err := NewWebhook(WebhookOptions{URL: "https://siem.example.org/", HMACKeyFile: write(t, "key", []byte("whsec_"))})
	wantError(t, "a webhook", err, "")
	wantError(t, "a webhook with a bad key", w.Send(t.Context(), nil), "key must hold")
	w.options.HMACKeyFile, w.options.TokenFile = "", filepath.Join(t.TempDir(), "none")
	wantError(t, "a webhook without its token", w.Send(t.Context(), nil), "no such file")
	w.options.URL = "https://siem.example.org/%"
	wantError(t, "a webhook at no URL", w.Send(t.Context(), nil), "cannot be used")
	wantError(t, "a line that is no entry", (&Events{w}).Send(t.Context(), [][]byte{[]byte("{")}), "JSON")
}

// TestEachOptionAloneIsRefused: each of these has one fault.
func TestEachOptionAloneIsRefused(t *testing.T) {
	const at, without, pair = "host:port", "goes without", "go together"
	for _, c := range []struct {
		o    SyslogOptions
		want string
	}{
		{SyslogOptions{Address: "siem:6514"}, ""},
		{SyslogOptions{Address: "siem:0"}, ""},
		{SyslogOptions{Address: "siem:65536"}, at},
		{SyslogOptions{Address: "siem:syslog"}, at},
		{SyslogOptions{Address: ":6514"}, at},
		{SyslogOptions{Address: "a:b:6514"}, at},
		{SyslogOptions{Address: "siem:514", Plain: true}, ""},
		{SyslogOptions{Address: "siem:514", Plain: true, CAFile: "f"}, without},
		{SyslogOptions{Address: "siem:514", Plain: true, ServerName: "f"}, without},
		{SyslogOptions{Address: "siem:514", Plain: true, CertFile: "f"}, without},
		{SyslogOptions{Address: "siem:514", Plain: true, KeyFile: "f"}, without},
		{SyslogOptions{Address: "siem:514", CertFile: "f", KeyFile: "f"}, ""},
		{SyslogOptions{Address: "siem:514", CertFile: "f"}, pair},
		{SyslogOptions{Address: "siem:514", KeyFile: "f"}, pair},
	} {
		wantError(t, c.o.Address, c.o.Validate(), c.want)
	}
	for url, want := range map[string]string{
		"https://siem/": "", "https://siem/#a": "fragment", "https://u@siem/": "user", "https://siem/%": "must be like", "https:/x": "must be like",
		"http://siem/": "https://", "ftp://127.0.0.1/": "https://", "http://127.0.0.1/": "",
	} {
		wantError(t, url, WebhookOptions{URL: url}.Validate(), want)
	}
	wantError(t, "a file", FileOptions{Path: "/a"}.Validate(), "")
	wantError(t, "a file from here on", FileOptions{Path: "a"}.Validate(), "from the root on")
}

// TestCertificatesOfSyslog reads the files of a connection.
func TestCertificatesOfSyslog(t *testing.T) {
	ca, err := pki.NewCA("syslog")
	wantError(t, "an authority", err, "")
	own, err := ca.Server("siem")
	wantError(t, "a certificate", err, "")
	good := SyslogOptions{
		Address: "siem:6514", CAFile: write(t, "ca", ca.PEM), CertFile: write(t, "cert", own.Cert), KeyFile: write(t, "key", own.Key),
	}
	config, err := NewSyslog(good).tls()
	if wantError(t, "all of them", err, ""); err == nil && (config.ServerName != "siem" || config.RootCAs == nil || len(config.Certificates) != 1) {
		t.Errorf("all of them make %+v", config)
	}
	named := good
	named.ServerName = "other"
	if config, err := NewSyslog(named).tls(); err != nil || config.ServerName != "other" {
		t.Errorf("with the name of the certificate: %+v, %v", config, err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for want, change := range map[string]func(*SyslogOptions){
		"holds no certificate":      func(o *SyslogOptions) { o.CAFile = o.KeyFile },
		"none: no such file":        func(o *SyslogOptions) { o.CAFile = none },
		"open " + none:              func(o *SyslogOptions) { o.KeyFile = none },
		"address siem: missing":     func(o *SyslogOptions) { o.Address = "siem" },
		"failed to find any PEM da": func(o *SyslogOptions) { o.CertFile = write(t, "empty", nil) },
	} {
		o := good
		change(&o)
		_, err := NewSyslog(o).tls()
		wantError(t, want, err, want)
	}
}

// TestAFileRotatesWhenALineNoLongerFits, by one byte.
func TestAFileRotatesWhenALineNoLongerFits(t *testing.T) {
	at := time.Unix(1, 0)
	for more, rotated := range map[int]int{7: 0, 8: 1} { // beside a line of two bytes, and the ends of lines
		path := filepath.Join(t.TempDir(), "audit")
		f := NewFile(FileOptions{Path: path, RotateBytes: 11, Now: func() time.Time { return at }})
		send := func(n int) error { return f.Send(t.Context(), [][]byte{bytes.Repeat([]byte("x"), n)}) }
		wantError(t, "the first line", send(2), "")
		wantError(t, "the second line", send(more), "")
		others, _ := filepath.Glob(path + ".*")
		if len(others) != rotated {
			t.Errorf("%d bytes more leave %d files beside it, want %d", more, len(others), rotated)
		}
		if rotated > 0 { // at the same time
			wantError(t, "a file in the way", send(9), "is there already")
			if err := os.Remove(others[0]); err != nil {
				t.Fatal(err)
			}
			wantError(t, "with the way free", send(9), "")
		}
		wantError(t, "the end", f.Close(), "")
	}
}

// TestAFileIsNotRotatedEmpty: a line that is longer than a file may be stands in the first one.
func TestAFileIsNotRotatedEmpty(t *testing.T) {
	f := NewFile(FileOptions{Path: filepath.Join(t.TempDir(), "audit"), RotateBytes: 1})
	wantError(t, "the first line", f.Send(t.Context(), [][]byte{[]byte("long")}), "")
	if others, err := filepath.Glob(f.options.Path + ".*"); err != nil || len(others) != 0 {
		t.Errorf("beside it are %v, %v", others, err)
	}
	wantError(t, "the end", f.Close(), "")
}

// TestClosingEndsWhatIsOpen, and the next is begun anew.
func TestClosingEndsWhatIsOpen(t *testing.T) {
	ours, theirs := net.Pipe()
	s := NewSyslog(SyslogOptions{})
	s.conn = &syslogConn{Conn: ours, plain: ours}
	wantError(t, "closing it", s.Close(), "")
	if n, err := theirs.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || s.conn != nil {
		t.Errorf("the other end reads %d bytes, %v", n, err)
	}
}

// TestAFileThatIsLostIsNamed: an error of the system ends the write before it begins.
func TestAFileThatIsLostIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	lost := func() *LineFile {
		f := NewFile(FileOptions{Path: path, RotateBytes: 1})
		wantError(t, "a line", f.Send(t.Context(), [][]byte{[]byte("{}")}), "")
		if err := f.file.Close(); err != nil { // behind its back
			t.Fatal(err)
		}
		return f
	}
	for what, step := range map[string]func(*LineFile) error{
		"Send":    func(f *LineFile) error { return f.Send(t.Context(), [][]byte{[]byte("{}")}) },
		"Close":   (*LineFile).Close,
		"compare": (*LineFile).compare,
		"rotate":  func(f *LineFile) error { return f.rotate(1) },
		"end":     func(f *LineFile) error { _, err := f.end(); return err },
		"torn": func(f *LineFile) error {
			torn, err := f.torn(3)
			return errors.Join(err, map[bool]error{true: errors.New("torn")}[torn])
		},
	} {
		err := step(lost())
		if !errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), "torn") {
			t.Errorf("%s of a file that is closed = %v, want that", what, err)
		}
	}
	wantError(t, "locking it", lost().lock(), "bad file descriptor")
	wantError(t, "a directory that is gone", syncDir(filepath.Join(t.TempDir(), "none")), "no such file")
}

// TestAnAttemptThatHangsKeepsTheTurn: its caller is told after half a minute and a second, and who comes after it is not
// let in; once it has ended, the next is.
func TestAnAttemptThatHangsKeepsTheTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	synctest.Test(t, func(t *testing.T) {
		took := func(call func() error) (time.Duration, error) {
			began := time.Now()
			err := call()
			return time.Since(began), err
		}
		let, at := make(chan struct{}), newTurn()
		lasted, err := took(func() error {
			return at.take(t.Context(), "it", func(context.Context) error { <-let; return nil })
		})
		if wantError(t, "one that hangs", err, "writing to it takes too long"); !errors.Is(err, context.DeadlineExceeded) || lasted != sendTimeout+time.Second {
			t.Errorf("one that hangs: %v after %v", err, lasted)
		}
		f, s := NewFile(FileOptions{Path: path}), NewSyslog(SyslogOptions{})
		f.turn, s.turn = at, at
		for what, call := range map[string]func() error{
			"path: Send": func() error { return f.Send(t.Context(), nil) }, "path: Close": f.Close,
			"the syslog receiver: Send": func() error { return s.Send(t.Context(), nil) }, "the syslog receiver: Close": s.Close,
		} {
			lasted, err := took(call)
			to := strings.Replace(what[:strings.Index(what, ":")], "path", path, 1)
			if wantError(t, what, err, "an earlier attempt to write to "+to+" hangs"); lasted != sendTimeout {
				t.Errorf("%s is told after %v", what, lasted)
			}
		}
		close(let)
		synctest.Wait()
		said := errors.New("said")
		if err := at.take(t.Context(), "it", func(context.Context) error { return said }); !errors.Is(err, said) {
			t.Errorf("the next = %v", err)
		}
		late := func(ctx context.Context) error { <-ctx.Done(); return said }
		if err := at.take(t.Context(), "it", late); !errors.Is(err, said) {
			t.Errorf("one that notices by itself that its time is over = %v", err)
		}
		over, stop := context.WithTimeout(t.Context(), 0)
		defer stop()
		for range 20 { // whichever of two is ready
			err := at.take(over, "it", func(context.Context) error { t.Error("it is tried"); return nil })
			if wantError(t, "one without time", err, "no time is left to write to it"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("one without time = %v", err)
			}
		}
	})
}

// TestLinesBeforeAFailedAttemptAreNotForgotten: what arrived last before an attempt that failed goes before it over the next
// connection, each once; so it is after several attempts.
func TestLinesBeforeAFailedAttemptAreNotForgotten(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	s := NewSyslog(SyslogOptions{Address: l.Addr().String(), Plain: true, Rules: rules})
	for tried := 1; tried <= 2; tried++ {
		s.last = []byte("1 a")
		for range tried {
			ours, theirs := net.Pipe()
			if err := errors.Join(ours.Close(), theirs.Close()); err != nil {
				t.Fatal(err)
			}
			s.conn = &syslogConn{Conn: ours, plain: ours}
			if err := s.send(t.Context(), []byte("1 b")); err == nil {
				t.Fatal("a closed connection took something")
			}
		}
		came := make(chan string, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				came <- err.Error()
				return
			}
			text := make([]byte, 9)
			_, _ = io.ReadFull(conn, text)
			came <- string(text)
			_, _ = io.Copy(io.Discard, conn) // until it is let go of
			_ = conn.Close()
		}()
		for _, next := range []string{"1 b", "1 c"} {
			if err := s.send(t.Context(), []byte(next)); err != nil {
				t.Fatal(err)
			}
		}
		if got := <-came; got != "1 a1 b1 c" {
			t.Errorf("after %d attempts that failed %q came", tried, got)
		}
		s.letGo()
	}
	// Over each next connection the Send before comes again, and not what came again with it.
	s.last = nil
	for _, c := range []struct{ send, want string }{{"1 a", "1 a"}, {"1 b", "1 a1 b"}, {"1 c", "1 b1 c"}, {"1 d", "1 c1 d"}} {
		came := make(chan string, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				came <- err.Error()
				return
			}
			text, _ := io.ReadAll(conn)
			came <- string(text)
		}()
		if err := s.send(t.Context(), []byte(c.send)); err != nil {
			t.Fatal(err)
		}
		s.letGo()
		if got := <-came; got != c.want {
			t.Errorf("with %q %q came, want %q", c.send, got, c.want)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAConnectionThatHasEndedTookNothing, whatever was written to it; nor has one that cannot be written to.
func TestAConnectionThatHasEndedTookNothing(t *testing.T) {
	ours, theirs := net.Pipe()
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(theirs)
		read <- string(text)
	}()
	c := &syslogConn{Conn: ours, plain: ours}
	wantError(t, "one that is open", c.deliver(t.Context(), []byte("a")), "")
	c.ended.Store(true)
	if err := c.deliver(t.Context(), []byte("b")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("one that has ended: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for what, ctx := range map[string]context.Context{"with a deadline": bounded, "without one": t.Context()} {
		if err := c.deliver(ctx, []byte("c")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("one that is closed, %s: %v", what, err)
		}
	}
	if got := <-read; got != "ab" {
		t.Errorf("what came is %q", got)
	}
}
