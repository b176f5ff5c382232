// Package console is the part that all commands share: its streams and environment, its
// arguments, how it reaches the server, how it prints, and its exit code.
package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Console holds the parts that all commands share: their streams, their environment,
// and their way to the server.
type Console struct {
	// Version names this build.
	Version  string
	In       io.Reader
	Out, Err io.Writer
	Env      Environment
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time

	// Addr and TokenFile are the global flags.
	Addr, TokenFile string
	// Output is the -o flag of the commands that have it.
	Output string
	// NoHeaders is the --no-headers flag of the same commands.
	NoHeaders bool
	// Project is the --project flag of the commands that name a VIM.
	Project string

	// vim is the name of a VIM that the person typed.
	vim string
	// widths are those of the columns of a list that is watched; nil otherwise.
	widths []int
}

// Environment is a process environment, as os.Environ spells it.
type Environment []string

// Get returns a variable's value, empty if it is not set. If it is set several times
// the last counts.
func (e Environment) Get(key string) string {
	var value string
	for _, pair := range e {
		if v, ok := strings.CutPrefix(pair, key+"="); ok {
			value = v
		}
	}
	return value
}

// Without returns the environment less some variables.
func (e Environment) Without(keys ...string) Environment {
	var kept Environment
next:
	for _, pair := range e {
		for _, key := range keys {
			if strings.HasPrefix(pair, key+"=") {
				continue next
			}
		}
		kept = append(kept, pair)
	}
	return kept
}

// Heeded are those of some signals that the parent process did not set to be ignored,
// as nohup and a shell's background jobs do. Go alone would heed them all: a request to
// be notified of an ignored signal enables it again. TERM is always heeded.
func Heeded(some ...os.Signal) []os.Signal {
	return slices.DeleteFunc(some, func(s os.Signal) bool { return s != syscall.SIGTERM && signal.Ignored(s) })
}

// KeepWriting makes a write to a pipe without a reader an error, where it would end the
// process: a command that takes a lease must live to give it back.
func KeepWriting() {
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}

// CredentialOut prepares for a credential on standard output: what cannot be written is
// an error. A standard output that is closed, or the null device, is refused. (Go opens
// the null device in place of a closed one.)
func (p *Console) CredentialOut() error {
	KeepWriting()
	file, ok := p.Out.(*os.File)
	if !ok {
		return nil
	}
	out, err := file.Stat()
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	if null, _ := os.Stat(os.DevNull); os.SameFile(out, null) {
		return fmt.Errorf("standard output is closed or %s, and the credential would be lost: write it to a file or a pipe", os.DevNull)
	}
	return nil
}

// Confirm asks a person for a yes, and is an error for any other answer. Programs, which have no terminal, are not asked.
func (p *Console) Confirm(question string) error {
	in, ok := p.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", oneLine(question))
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if word := strings.ToLower(strings.TrimSpace(answer)); word != "y" && word != "yes" {
		return errors.New("nothing is done, as the answer is not yes")
	}
	return nil
}

// SelfCommand is the command that calls this program: its name, if PATH finds it so.
func SelfCommand() string {
	self, err := os.Executable()
	if err != nil {
		return "vimbroker"
	}
	if found, err := exec.LookPath("vimbroker"); err == nil {
		a, _ := os.Stat(found)
		b, _ := os.Stat(self)
		if os.SameFile(a, b) {
			return "vimbroker"
		}
	}
	return self
}
