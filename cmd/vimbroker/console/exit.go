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
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// Exit codes. The root command's help tells them to people.
const (
	ExitFailed   = 1
	ExitUsage    = 2
	exitNotFound = 3
	// ExitNotRevoked is exec's when its lease may still work, whatever the command's was.
	ExitNotRevoked = 122
	// The exit codes of exec when the command has none to pass on, as in env, nohup and
	// timeout.
	ExitNotRun        = 125
	ExitNotExecutable = 126
	ExitNoCommand     = 127
)

// usageError is a command line that cannot be meant.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() + "; see: " + e.command + " --help" }

func (e *usageError) Unwrap() error { return e.err }

// Usage says that the command line of c is wrong.
func Usage(c *cobra.Command, err error) error { return &usageError{c.CommandPath(), err} }

// Usagef is usage with a format.
func Usagef(c *cobra.Command, format string, args ...any) error {
	return Usage(c, fmt.Errorf(format, args...))
}

// exitError carries the exit code of an exec; err may be nil, and then nothing is said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitWith ends the program with this code; err may be nil, and then nothing is said.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// ExitCode says on stderr, in one line, what went wrong, and chooses the code.
func (p *Console) ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			p.complain(exit.err)
		}
		return exit.code
	}
	p.complain(err)
	var wrong *usageError
	switch {
	case errors.As(err, &wrong):
		return ExitUsage
	case client.Status(err) == http.StatusNotFound, errors.As(err, new(*missingError)):
		return exitNotFound
	}
	return ExitFailed
}

// complaint is an error for programs: the answer of the server, if it was one, and the line for people.
type complaint struct {
	*v1.Problem
	Message string `json:"message"`
}

// complain writes the one line of an error, or a line for each fault of a file; with -o json one line of JSON.
func (p *Console) complain(err error) {
	// Joined errors stand on lines of their own.
	lines := strings.FieldsFunc(commands.Replace(explain(err)), func(r rune) bool { return r == '\n' || r == '\r' })
	message := oneLine(strings.Join(lines, "; "))
	if p.Output == "json" {
		said := complaint{Message: message}
		if refused := refusals(err); len(refused) == 1 {
			said.Problem = &refused[0].Problem
		}
		var line bytes.Buffer
		if v1.Encode(&line, said) == nil {
			fmt.Fprintln(p.Err, line.String())
			return
		}
	}
	var many *strictyaml.Faults
	if errors.As(err, &many) && len(many.Lines) > 1 {
		for _, line := range many.Lines {
			fmt.Fprintln(p.Err, "vimbroker: "+oneLine(line))
		}
		return
	}
	fmt.Fprintln(p.Err, "vimbroker: "+message)
}

// Warn writes a line that is not the end of the command.
func (p *Console) Warn(format string, args ...any) {
	fmt.Fprintf(p.Err, "vimbroker: "+format+"\n", args...)
}

// Say writes a line on standard error that tells how the command comes along.
func (p *Console) Say(format string, args ...any) {
	fmt.Fprintf(p.Err, format+"\n", args...)
}

// explain adds the next step if the error itself cannot know it.
func explain(err error) string {
	text := Advise(err)
	var problem *client.Problem
	if errors.As(err, &problem) && problem.RequestID != "" {
		text += " [request " + problem.RequestID + "]"
	}
	return text
}

// Advise says an error with the next step, if the error itself cannot know it. It leaves out the id by which the server's log
// knows the request.
func Advise(err error) string {
	text := err.Error()
	var request *url.Error
	if errors.As(err, &request) {
		text = strings.Replace(text, request.Error(), request.Err.Error(), 1) // without the URL
	}
	var problem *client.Problem
	var trust *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.As(err, &problem) && problem.Status == http.StatusUnauthorized:
		if strings.HasPrefix(problem.Title, "the login of client") {
			return text + "; see that " + EnvClientID + " is its id, and that its secret or certificate is the one of now"
		}
		text = strings.Replace(text, problem.Error(), "the server does not know this token", 1)
		return text + "; set " + EnvToken + ", " + EnvTokenFile + " or --token-file to one that it knows"
	case errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &request):
		return text + "; no server runs there: start one with \"vimbroker serve\", or set " + EnvAddr + " or --addr to where it is"
	case errors.As(err, &request) && errors.Is(err, http.ErrSchemeMismatch):
		return text + "; it serves plain http: set " + EnvAddr + " or --addr to its http:// address"
	case errors.Is(err, client.ErrWantsTLS):
		return text + ": set " + EnvAddr + " or --addr to its https:// address"
	case errors.As(err, &request) && errors.As(err, &trust):
		return text + "; " + trusted(trust)
	case errors.As(err, &request) && errors.As(err, &name):
		return text + "; set " + EnvAddr + " or --addr to a name that this machine knows"
	case errors.As(err, &request) && request.Timeout():
		return text + "; set " + EnvAddr + " or --addr to where the server is, and see that the network leads there"
	case errors.Is(err, context.Canceled):
		return "interrupted: " + text
	}
	return text
}

// trusted says how the server's certificate comes to be accepted.
func trusted(err *tls.CertificateVerificationError) string {
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "compare the time of this machine; if it is right, whoever runs the server must give it a new certificate"
	case errors.As(err, &host):
		return "set " + EnvAddr + " or --addr to a name or an address that the certificate is for"
	}
	return "set " + EnvCAFile + " to the PEM bundle that the server's certificate chains to"
}
