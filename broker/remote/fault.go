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
	"strings"
	"syscall"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// CallError is a call that ended without an HTTP answer, or with one that is refused.
// Its text is in our own words: the remote side's text is at most in Cause.
type CallError struct {
	// Detail says what is wrong, Remedy what to do about it, where there is something.
	Detail, Remedy string
	// CertificateRefused says that the server refuses our client certificate, or
	// wants one: the server is there, and it is the credential that is wrong.
	CertificateRefused bool
	// Busy says that it is the broker that has no room for an answer now: the server is not at fault.
	Busy bool
	// Cause is for the log, and for errors.Is. It was made on the broker's side of the
	// connection. Nil if there is nothing to add.
	Cause error
}

func (f *CallError) Error() string { return f.Detail }

func (f *CallError) Unwrap() error { return f.Cause }

// System returns what of the cause holds nothing of the remote side: the deadline that
// passed or the system's error number; nil if it is neither.
func (f *CallError) System() error {
	if errors.Is(f.Cause, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if errno, ok := errors.AsType[syscall.Errno](f.Cause); ok {
		return errno
	}
	return nil
}

// Explain says in one line, of our own words, why a call ended without an answer: what [Unanswered] says, and the
// remedy.
func Explain(err error, server string) error {
	f := Unanswered(err, server)
	switch {
	case f == nil:
		return errors.New("the connection to " + server + " failed")
	case f.Remedy != "":
		return errors.New(f.Detail + "; " + f.Remedy)
	}
	return errors.New(f.Detail)
}

// Unanswered explains a call that ended without an answer that can be used. server
// says what was called, as "the API server". It returns nil for an error that is not
// the network's.
func Unanswered(err error, server string) *CallError {
	var (
		known     *CallError
		limit     limitError
		refused   *egress.RefusedError
		name      *net.DNSError
		op        *net.OpError
		timeout   net.Error
		transport *url.Error
	)
	because := func(cause error, detail, remedy string) *CallError {
		return &CallError{Detail: detail, Remedy: remedy, Cause: cause}
	}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &limit):
		return because(nil, string(limit), "check the endpoint: "+server+" does not answer so")
	case errors.Is(err, errBusy):
		return &CallError{Detail: errBusy.Error(), Remedy: "try again", Busy: true, Cause: errBusy}
	case errors.Is(err, errConnects):
		return because(err, err.Error(), "try again")
	case errors.Is(err, errAuthorities):
		return because(nil, errAuthorities.Error(), "give a file or text of PEM certificates")
	case errors.As(err, &refused):
		return because(err, fmt.Sprintf("the broker's egress rules refuse to connect to %s (%s)", refused.Addr, refused.Rule), refused.Remedy)
	}
	if f := untrusted(err, server); f != nil {
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return because(context.Canceled, "the call was cancelled before "+server+" answered", "")
	case errors.As(err, &name):
		return because(err, "the host name of "+server+" cannot be resolved", "check the endpoint, and the name servers that the broker uses")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return because(context.DeadlineExceeded, server+" does not answer in time",
			"check the endpoint, and that the broker's network leads there")
	case errors.Is(err, syscall.ECONNREFUSED):
		return because(err, server+" refuses connections", "check the endpoint's port, and that "+server+" runs")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return because(err, "no route leads to "+server, "check the endpoint, and that the broker's network leads there")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op),
		errors.As(err, &transport):
		return broken(server)
	}
	return nil
}

func broken(server string) *CallError {
	return &CallError{
		Detail: "the connection to " + server + " broke before the answer was complete",
		Remedy: "try again; if it breaks each time, see whether " + server + " serves https there",
	}
}

// untrusted explains a TLS handshake that failed; nil if that is not what happened.
func untrusted(err error, server string) *CallError {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		noTLS     tls.RecordHeaderError
		op        *net.OpError
	)
	f := &CallError{Cause: err}
	switch {
	case errors.As(err, &authority):
		f.Detail, f.Remedy = server+"'s certificate is not signed by the given CA",
			"give the CA certificate of the server; without one the system's CAs are asked"
	case errors.As(err, &host):
		f.Detail, f.Remedy = server+"'s certificate is for another name than the endpoint's", "use a name or address that the certificate has"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		f.Detail, f.Remedy = server+"'s certificate has expired or is not valid yet", "renew it on the server, and compare the clocks"
	case errors.As(err, &verify), errors.As(err, &invalid):
		f.Detail, f.Remedy = server+"'s certificate does not verify", "see that the CA certificate and the server's certificate are sound"
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		f.Detail, f.Remedy, f.Cause = server+" does not speak TLS at this address", "use the port of "+server+" that serves https", nil
	case errors.As(err, &op) && op.Op == "remote error" && refusesCertificate(op.Err):
		f.CertificateRefused = true
		f.Detail, f.Remedy = server+" refuses the client certificate in the TLS handshake, or wants one",
			"replace the credential with one that it knows"
	default:
		return nil
	}
	return f
}

// refusesCertificate recognises the TLS alerts that are about our client certificate
// (RFC 8446, section 6.2) by the texts of crypto/tls, which does not export them.
func refusesCertificate(alert error) bool {
	return strings.Contains(alert.Error(), "certificate") || strings.Contains(alert.Error(), "access denied")
}
