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

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Unanswered translates a call that ended without an HTTP answer, or with one that
// could not be read, into [broker.ErrUnreachable] (a client certificate that was
// refused into [broker.ErrUnauthorized]) in our words. server says what was
// called, as "the API server". It returns nil for an error that is not the network's.
func Unanswered(err error, server string) error {
	var (
		refused   *egress.RefusedError
		name      *net.DNSError
		op        *net.OpError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		noTLS     tls.RecordHeaderError
		timeout   net.Error
		transport *url.Error
		large     TooLargeError
	)
	switch {
	case errors.As(err, &refused):
		return because(err, fmt.Sprintf("the broker's egress rules refuse to connect to %s (%s)", refused.Addr, refused.Rule), refused.Remedy)
	case errors.As(err, &authority):
		return because(err, "the server's certificate is not signed by the given CA", "give the CA certificate of this VIM; without one the system's CAs are asked")
	case errors.As(err, &host):
		return because(err, "the server's certificate is for another name than the endpoint's", "use a name or address that the certificate has")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return because(err, "the server's certificate has expired or is not valid yet", "renew it on the server, and compare the clocks")
	case errors.As(err, &verify), errors.As(err, &invalid):
		return because(err, "the server's certificate does not verify", "see that the CA certificate and the server's certificate are sound")
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return because(nil, "the endpoint does not speak TLS", "use the port of "+server+" that serves https")
	case errors.As(err, &op) && op.Op == "remote error" && refusesCertificate(op.Err):
		return &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: "the server refuses the client certificate in the TLS handshake, or wants one",
			Remedy: "replace the VIM's credential with one that it knows", Cause: err,
		}
	case errors.Is(err, context.Canceled):
		return because(context.Canceled, "the call was cancelled before the VIM answered", "")
	case errors.As(err, &name):
		return because(err, "the endpoint's host name cannot be resolved", "check the endpoint, and the name servers that the broker uses")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return because(context.DeadlineExceeded, "the endpoint does not answer in time", "check the endpoint, and that the broker's network leads there")
	case errors.Is(err, syscall.ECONNREFUSED):
		return because(err, "the endpoint refuses connections", "check the endpoint's port, and that "+server+" runs")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return because(err, "no route leads to the endpoint", "check the endpoint, and that the broker's network leads there")
	case errors.As(err, &large):
		return because(nil, fmt.Sprintf("the answer is longer than %d MiB", int(large)>>20), "check the endpoint")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op), errors.As(err, &transport):
		return because(nil, "the connection broke before the answer was complete", "try again; if it breaks each time, see whether "+server+" serves https there")
	}
	return nil
}

// refusesCertificate tells the TLS alerts that are about our client certificate
// (RFC 8446, section 6.2) by the texts of crypto/tls, which does not export them.
func refusesCertificate(alert error) bool {
	return strings.Contains(alert.Error(), "certificate") || strings.Contains(alert.Error(), "access denied")
}

// because is an [broker.ErrUnreachable] with a cause for the log: one made on our
// side of the connection.
func because(cause error, detail, remedy string) error {
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: remedy, Cause: cause}
}
