// Command vimbroker keeps the credentials of clouds and clusters (VIMs) sealed
// and hands out short-lived ones derived from them. "vimbroker serve" is the
// server; every other command is a client of its REST API.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

func main() {
	if err := secret.Harden(); err != nil {
		fmt.Fprintln(os.Stderr, "vimbroker: hardening the process:", err)
		os.Exit(console.ExitFailed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), console.Heeded(os.Interrupt, syscall.SIGTERM)...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}

// run is the whole program after main: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	c := &console.Console{Version: buildVersion(), In: stdin, Out: stdout, Err: stderr, Env: env, Now: time.Now, After: time.After}
	program := root.Command(c)
	program.SetArgs(args)
	program.SetIn(stdin)
	program.SetOut(stdout)
	program.SetErr(stderr)
	return c.ExitCode(program.ExecuteContext(ctx))
}

// version is set by the linker (-X main.version=...).
var version string

// buildVersion is the version that the linker set, or that the toolchain recorded
// for this build.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
