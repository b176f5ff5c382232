// Command vimbroker keeps the credentials of clouds and clusters (VIMs) sealed
// and hands out short-lived ones derived from them. "vimbroker serve" is the
// server; every other command is a client of its REST API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), heeded(os.Interrupt, syscall.SIGTERM)...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
