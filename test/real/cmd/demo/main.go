// Command demo closes the loop, on real systems on loopback: Cluster API is installed on a cluster as
// a CNF, a cluster that it makes of a package becomes a VIM by itself, and a CNF runs on that. It
// prints each command that a person would type. Ctrl-C ends it; nothing is left of it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	vimbroker := flags.String("vimbroker", "bin/vimbroker", "the binary")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *vimbroker, err = filepath.Abs(*vimbroker); err != nil {
		return err
	}
	root, err := process.Repository()
	if err != nil {
		return err
	}
	dir, remove, err := process.Dir("vimbroker-demo-")
	if err != nil {
		return err
	}
	defer remove()
	d := &demo{out: out, began: time.Now(), dir: dir, root: root, vimbroker: *vimbroker}
	defer d.stop()
	for _, act := range []func(context.Context) error{
		d.begin, d.management, d.cluster, d.cnf, d.scale, d.update, d.terminate, d.trail, d.end,
	} {
		if err := act(ctx); err != nil {
			if ctx.Err() != nil {
				d.say("interrupted: everything ends now")
				return nil
			}
			return d.explain(err)
		}
	}
	d.say("done")
	return nil
}
