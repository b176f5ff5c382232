package outlet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
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
		"http://siem/": "https://",
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
