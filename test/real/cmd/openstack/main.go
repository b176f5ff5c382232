// Command openstack starts a throw-away OpenStack (Keystone, Barbican, Heat; with
// -servers also Nova with a fake hypervisor, Neutron, Glance and Placement) on
// loopback, says how to reach it as a user of it and as its administrator, and stops it on Ctrl-C.
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
	// Not the administrator: a lease for Heat would be a token with his roles, and role admin is given to nobody unasked.
	who, err := o.NewTenant(ctx, "default", "Default", "nfv")
	if err != nil {
		return fmt.Errorf("making a project: %w", err)
	}
	fmt.Fprintf(stderr, "ready after %s at %s; logs in %s; Ctrl-C stops it and removes everything\n",
		time.Since(began).Round(100*time.Millisecond), o.AuthURL, o.Dir)
	for _, e := range [][2]string{
		{"AUTH_URL", o.AuthURL},
		{"IDENTITY_API_VERSION", "3"},
		{"REGION_NAME", o.Region},
		{"USERNAME", who.Username},
		{"PASSWORD", who.Password},
		{"USER_DOMAIN_ID", who.DomainID},
		{"PROJECT_NAME", who.Project},
		{"PROJECT_DOMAIN_ID", who.DomainID},
	} {
		fmt.Fprintf(stdout, "export OS_%s='%s'\n", e[0], e[1])
	}
	fmt.Fprintf(stdout, "# as its administrator: OS_USERNAME=%s OS_PASSWORD=%s OS_PROJECT_NAME=%s openstack ...\n", o.Admin.Username, o.Admin.Password, o.Admin.Project)
	<-ctx.Done()
	return nil
}
