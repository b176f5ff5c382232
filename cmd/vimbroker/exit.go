package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
)

// Exit codes. The root command's help tells them to people.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	// What exec answers with when there is no code of the command's to pass on,
	// as env, nohup and timeout do.
	exitNotRun        = 125
	exitNotExecutable = 126
	exitNoCommand     = 127
)

// usageError is a command line that cannot be meant.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() + "; see: " + e.command + " --help" }
func (e *usageError) Unwrap() error { return e.err }

// usage says that the command line of c is wrong.
func usage(c *cobra.Command, err error) error { return &usageError{c.CommandPath(), err} }

// usagef is usage with a format.
func usagef(c *cobra.Command, format string, args ...any) error {
	return usage(c, fmt.Errorf(format, args...))
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

// exitCode says on stderr, in one line, what went wrong, and chooses the code.
func (p *program) exitCode(err error) int {
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
		return exitUsage
	case client.Status(err) == http.StatusNotFound:
		return exitNotFound
	}
	return exitFailed
}

// complain writes the one line of an error.
func (p *program) complain(err error) {
	// Joined errors stand on lines of their own.
	lines := strings.FieldsFunc(explain(err), func(r rune) bool { return r == '\n' || r == '\r' })
	fmt.Fprintln(p.err, "vimbroker: "+oneLine(strings.Join(lines, "; ")))
}

// warn writes a line that is not the end of the command.
func (p *program) warn(format string, args ...any) {
	fmt.Fprintf(p.err, "vimbroker: "+format+"\n", args...)
}

// explain adds what to do next where the error itself cannot know.
func explain(err error) string {
	text := err.Error()
	var request *url.Error
	if errors.As(err, &request) {
		text = strings.Replace(text, request.Error(), request.Err.Error(), 1) // without the URL
	}
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Status == http.StatusUnauthorized:
		text = strings.Replace(text, problem.Error(), "the server does not know this token", 1)
		return text + "; set " + envToken + ", " + envTokenFile + " or --token-file to one that it knows"
	case errors.Is(err, syscall.ECONNREFUSED):
		return text + "; no server runs there: start one with \"vimbroker serve\", or set " + envAddr + " or --addr to where it is"
	case errors.Is(err, http.ErrSchemeMismatch):
		return text + "; it serves plain http: set " + envAddr + " or --addr to its http:// address"
	case isCertificate(err):
		return text + "; set " + envCAFile + " to the PEM bundle that the server's certificate chains to"
	case errors.Is(err, context.Canceled):
		return "interrupted: " + text
	}
	return text
}

// isCertificate reports whether a server's certificate was not accepted.
func isCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	return errors.As(err, &verification)
}

// startCode is exec's exit code for a command that could not be started.
func startCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) {
		return exitNoCommand
	}
	return exitNotExecutable
}
