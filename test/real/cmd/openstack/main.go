// Command openstack starts a throw-away OpenStack (Keystone, Barbican, Heat; with
// -servers also Nova with a fake hypervisor, Neutron, Glance and Placement) on
// loopback, says how to reach it as its administrator, and stops it on Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	servers := flag.Bool("servers", false, "also start Nova with a fake hypervisor, Neutron, Glance and Placement")
	flag.Parse()
	if err := run(ctx, *servers, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "openstack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, servers bool, stdout, stderr io.Writer) error {
	dir, remove, err := process.Dir("vimbroker-cloud-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer remove()
	fmt.Fprintln(stderr, "starting OpenStack on loopback ...")
	began := time.Now()
	o, err := real.StartOpenStack(ctx, dir, real.OpenStackOptions{WithServers: servers})
	if err != nil {
		return err
	}
	defer o.Stop()
	fmt.Fprintf(stderr, "ready after %s at %s; logs in %s; Ctrl-C stops it and removes everything\n",
		time.Since(began).Round(100*time.Millisecond), o.AuthURL, o.Dir)
	for _, e := range [][2]string{
		{"AUTH_URL", o.AuthURL},
		{"IDENTITY_API_VERSION", "3"},
		{"REGION_NAME", o.Region},
		{"USERNAME", o.Admin.Username},
		{"PASSWORD", o.Admin.Password},
		{"USER_DOMAIN_ID", o.Admin.DomainID},
		{"PROJECT_NAME", o.Admin.Project},
		{"PROJECT_DOMAIN_ID", o.Admin.DomainID},
	} {
		fmt.Fprintf(stdout, "export OS_%s='%s'\n", e[0], e[1])
	}
	<-ctx.Done()
	return nil
}
