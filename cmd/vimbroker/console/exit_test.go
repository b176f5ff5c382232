package console

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// problem is an answer of the server.
func problem(status int, title, detail string, faults ...v1.Fault) *client.Problem {
	return &client.Problem{Problem: v1.Problem{Title: title, Status: status, Detail: detail, RequestID: "r1", Errors: faults}}
}

// faultsOf is what is wrong with a file.
func faultsOf(texts ...string) error {
	d := &strictyaml.Document{Name: "f.yaml"}
	for _, text := range texts {
		d.Fault(nil, "key", "%s", text)
	}
	return d.Err()
}

// An error is one line, or a line for each fault of a file, or one of JSON; its kind chooses the code.
func TestAnErrorIsALineAndACode(t *testing.T) {
	c := &cobra.Command{Use: "tool"}
	missing := problem(http.StatusNotFound, "not found", "no such VIM")
	for name, test := range map[string]struct {
		err    error
		output string
		code   int
		want   string
	}{
		"none":             {nil, "table", 0, ""},
		"a plain one":      {errors.New("it is broken"), "table", ExitFailed, "vimbroker: it is broken\n"},
		"the command line": {Usagef(c, "a %s", "word"), "table", ExitUsage, "vimbroker: a word; see: tool --help\n"},
		"not found":        {missing, "table", 3, "vimbroker: not found: no such VIM [request r1]\n"},
		"not found here":   {fmt.Errorf("so: %w", Missing("no %s", "thing")), "table", 3, "vimbroker: so: no thing\n"},
		"refused":          {problem(http.StatusForbidden, "forbidden", ""), "table", ExitFailed, "vimbroker: forbidden [request r1]\n"},
		"a code alone":     {ExitWith(7, nil), "table", 7, ""},
		"a code":           {ExitWith(7, errors.New("over")), "table", 7, "vimbroker: over\n"},
		"joined":           {errors.Join(errors.New("one"), errors.New("two\r\x1b[2Jthree")), "table", ExitFailed, "vimbroker: one; two;  [2Jthree\n"},
		"a fault":          {faultsOf("is wrong"), "table", ExitFailed, "vimbroker: f.yaml: key: is wrong\n"},
		"a fault within":   {fmt.Errorf("so: %w", faultsOf("is wrong")), "table", ExitFailed, "vimbroker: so: f.yaml: key: is wrong\n"},
		"no id":            {&client.Problem{Problem: v1.Problem{Title: "bad", Status: 400}}, "table", ExitFailed, "vimbroker: bad\n"},
		"faults":           {faultsOf("is wrong", "is\tbad"), "table", ExitFailed, "vimbroker: f.yaml: key: is wrong\nvimbroker: f.yaml: key: is bad\n"},
		"a command for an operation": {
			problem(http.StatusConflict, "conflict", "see GET /v1/vims"), "table", ExitFailed, "vimbroker: conflict: see \"vimbroker vim list\" [request r1]\n",
		},
		"JSON": {errors.New("it is broken"), "json", ExitFailed, `{"message":"it is broken"}` + "\n"},
		"JSON of a refusal": {
			missing, "json", 3,
			`{"type":"","title":"not found","status":404,"detail":"no such VIM","requestId":"r1","message":"not found: no such VIM [request r1]"}` + "\n",
		},
		"JSON of two refusals": {
			errors.Join(missing, missing), "json", 3,
			`{"message":"not found: no such VIM; not found: no such VIM [request r1]"}` + "\n",
		},
		"JSON of faults": {faultsOf("is wrong", "is bad"), "json", ExitFailed, `{"message":"f.yaml: key: is wrong; key: is bad"}` + "\n"},
	} {
		var said bytes.Buffer
		p := &Console{Err: &said, Output: test.output}
		if code := p.ExitCode(test.err); code != test.code || said.String() != test.want {
			t.Errorf("%s: code %d, %q\nwant %d, %q", name, code, said.String(), test.code, test.want)
		}
	}
}

// A code without an error names itself to whoever asks.
func TestACodeNamesItself(t *testing.T) {
	if got := ExitWith(7, nil).Error(); got != "exit code 7" {
		t.Error(got)
	}
	inner := errors.New("over")
	if err := Usage(&cobra.Command{Use: "tool"}, inner); !errors.Is(err, inner) {
		t.Error("an error of the command line hides what is wrong")
	}
	if err := ExitWith(7, inner); err.Error() != "over" || !errors.Is(err, inner) {
		t.Error(err)
	}
}

// timeout is an error of the network that says so.
type timeout struct{ bool }

func (timeout) Error() string { return "no answer" }

func (t timeout) Timeout() bool { return bool(t.bool) }

// What the error cannot know, the next step, is said behind it, and the URL is left out.
func TestAnErrorOfTheNetworkNamesTheNextStep(t *testing.T) {
	asked := func(err error) error { return &url.Error{Op: "Get", URL: "http://broker.example/secret", Err: err} }
	certificate := func(err error) error { return asked(&tls.CertificateVerificationError{Err: err}) }
	const plain, bundle = "set VIMBROKER_ADDR or --addr to ", "set VIMBROKER_CA_FILE to the PEM bundle that the server's certificate chains to"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"an unknown token": {
			problem(http.StatusUnauthorized, "unauthorized", "who?"),
			"the server does not know this token; set VIMBROKER_TOKEN, VIMBROKER_TOKEN_FILE or --token-file to one that it knows",
		},
		"a client that is refused": {
			problem(http.StatusUnauthorized, "the login of client c1 is refused", ""),
			"the login of client c1 is refused; see that VIMBROKER_CLIENT_ID is its id, and that its secret or certificate is the one of now",
		},
		"another refusal": {problem(http.StatusForbidden, "forbidden", ""), "forbidden"},
		"nobody there":    {asked(syscall.ECONNREFUSED), `connection refused; no server runs there: start one with "vimbroker serve", or ` + "set VIMBROKER_ADDR or --addr to where it is"},
		"refused within":  {syscall.ECONNREFUSED, "connection refused"},
		"plain http":      {asked(http.ErrSchemeMismatch), http.ErrSchemeMismatch.Error() + "; it serves plain http: " + plain + "its http:// address"},
		"plain within":    {http.ErrSchemeMismatch, http.ErrSchemeMismatch.Error()},
		"https":           {client.ErrWantsTLS, "the server takes https only: " + plain + "its https:// address"},
		"a certificate": {
			certificate(x509.UnknownAuthorityError{}), "tls: failed to verify certificate: x509: certificate signed by unknown authority; " + bundle,
		},
		"a certificate within": {&tls.CertificateVerificationError{Err: errors.New("none")}, "tls: failed to verify certificate: none"},
		"an expired one": {
			certificate(x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{}, Detail: "since May"}),
			"tls: failed to verify certificate: x509: certificate has expired or is not yet valid: since May; " +
				"compare the time of this machine; if it is right, whoever runs the server must give it a new certificate",
		},
		"one that is wrong otherwise": {
			certificate(x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign, Cert: &x509.Certificate{}}),
			"tls: failed to verify certificate: x509: certificate is not authorized to sign other certificates; " + bundle,
		},
		"one of another name": {
			certificate(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a"}}, Host: "b"}),
			"tls: failed to verify certificate: x509: certificate is valid for a, not b; " + plain + "a name or an address that the certificate is for",
		},
		"a name":        {asked(&net.DNSError{Err: "no such host", Name: "b"}), "lookup b: no such host; " + plain + "a name that this machine knows"},
		"a name within": {&net.DNSError{Err: "no such host", Name: "b"}, "lookup b: no such host"},
		"no answer":     {asked(timeout{true}), "no answer; " + plain + "where the server is, and see that the network leads there"},
		"no such time":  {asked(timeout{false}), "no answer"},
		"time within":   {timeout{true}, "no answer"},
		"interrupted":   {fmt.Errorf("waiting: %w", context.Canceled), "interrupted: waiting: context canceled"},
		"others":        {errors.New("it is broken"), "it is broken"},
	} {
		if got := Advise(test.err); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// Lines that are no end go to standard error: a warning with the program's name, and a step without it.
func TestLinesOnTheWayGoToStandardError(t *testing.T) {
	var out, said bytes.Buffer
	p := &Console{Out: &out, Err: &said}
	p.Warn("%d left", 2)
	p.Say("step %d", 3)
	if out.Len() > 0 || said.String() != "vimbroker: 2 left\nstep 3\n" {
		t.Errorf("printed %q, said %q", &out, &said)
	}
}

// A credential goes to no standard output that would lose it.
func TestACredentialIsNotWrittenIntoNothing(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	closed, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	open, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for name, test := range map[string]struct {
		p    Console
		want string
	}{
		"the null device": {Console{Out: null}, "standard output is closed or /dev/null, and the credential would be lost"},
		"a closed file":   {Console{Out: closed}, "standard output: "},
		"a file":          {Console{Out: open}, ""},
		"no file":         {Console{Out: &bytes.Buffer{}}, ""},
	} {
		if err := test.p.CredentialOut(); (err == nil) != (test.want == "") || !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A refusal names the fields as the person typed them: the flags that fill them, or the argument; fields of a file keep their names.
func TestARefusalIsInTheWordsOfTheCommand(t *testing.T) {
	for _, test := range []struct {
		line   string
		faults []v1.Fault
		want   string
	}{
		{"", []v1.Fault{{Field: "namespace", Message: "is wrong"}}, "--namespace: is wrong"},
		{"", []v1.Fault{{Field: "labels.site", Message: "is wrong"}}, "--label: is wrong"},
		{"", []v1.Fault{{Field: "username", Message: "is wrong"}}, "--username: is wrong"},
		{"", []v1.Fault{{Field: "credential.token", Message: "is wrong"}}, "--bearer-token-file: is wrong"},
		{"", []v1.Fault{{Field: "role", Message: "is wrong"}}, "--with-role: is wrong"},
		{"", []v1.Fault{{Field: "name", Message: "is wrong"}}, "NAME: is wrong"},
		{"", []v1.Fault{{Field: "kind", Message: "belongs to a VIM"}}, "--vim: belongs to a VIM"},
		{"", []v1.Fault{{Field: "kind", Message: "is wrong"}}, "kind: is wrong"},
		{"", []v1.Fault{{Field: "name", Message: "goes to a VIM"}}, "NAME: goes to a VIM"},
		{"", []v1.Fault{{Field: "unknown", Message: "not beside clusterWide"}}, "unknown: not beside --cluster-wide"},
		{"--config-file f", []v1.Fault{{Field: "namespace", Message: "is wrong"}}, "namespace: is wrong"},
		{"--config-file f --namespace a", []v1.Fault{{Field: "namespace", Message: "is wrong"}}, "--namespace: is wrong"},
		{"--namespace a", []v1.Fault{{Field: "namespace", Message: "is wrong"}}, "--namespace: is wrong"},
	} {
		for name, wrap := range map[string]func(error) error{
			"alone":       func(err error) error { return err },
			"wrapped":     func(err error) error { return fmt.Errorf("so: %w", err) },
			"joined":      func(err error) error { return errors.Join(errors.New("one"), err) },
			"with a code": func(err error) error { return ExitWith(5, err) },
		} {
			refused := problem(http.StatusBadRequest, "bad", "", test.faults...)
			err := wrap(refused)
			c := &cobra.Command{Use: "make NAME", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return err }}
			for _, flag := range []string{"namespace", "label", "username", "with-role", "role", "vim", "cluster-wide", "config-file", "bearer-token-file", "credential"} {
				c.Flags().String(flag, "", "")
			}
			root := &cobra.Command{Use: "tool"}
			root.AddCommand(c)
			InWords(root)
			root.SetArgs(append([]string{"make"}, strings.Fields(test.line)...))
			got := root.Execute()
			want := map[string]string{"alone": "bad: ", "wrapped": "so: bad: ", "joined": "one\nbad: ", "with a code": "bad: "}[name] + test.want
			if said(got) != want || !errors.Is(got, error(refused)) || strings.HasPrefix(test.faults[0].Field, "--") {
				t.Errorf("%s, %s: %q\nwant %q", test.line, name, said(got), want)
			}
		}
	}
	broken := errors.New("broken")
	c := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return broken }}
	InWords(c)
	c.SetArgs([]string{})
	if err := c.Execute(); err != broken { //nolint:errorlint // it stays what it is
		t.Errorf("an error that is no refusal: %v", err)
	}
}
