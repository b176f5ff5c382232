package lessee

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// cleanupPatience bounds taking a lease back when a command ends.
const cleanupPatience = 30 * time.Second

// Flags are the wishes that every command that takes a lease shares.
type Flags struct {
	Ttl         time.Duration
	role        string
	Namespaces  []string
	purpose     string
	forWhom     string
	rules       ruleList
	clusterWide bool
}

// Add adds the flags to a command.
func (f *Flags) Add(p *console.Console, c *cobra.Command) {
	flags := c.Flags()
	console.LifetimeFlag(c, &f.Ttl, "ttl", "wished lifetime, like 30m (default: the server's)")
	flags.StringVar(&f.role, "role", "", "view, edit, admin, cluster-admin or a named ClusterRole (default: view); on OpenStack the "+
		"user's roles, with commas (default: all but admin)")
	flags.StringArrayVarP(&f.Namespaces, "namespace", "n", nil,
		"namespace to limit the lease to; can be repeated (default on Kubernetes: all for role view, else the VIM's own)")
	flags.Var(&f.rules, "rule", ruleForm+" that the lease may do, in place of --role, like get:pods:log/web; can be repeated")
	flags.BoolVar(&f.clusterWide, "cluster-wide", false, "the role or rules in every namespace, and for what has none")
	flags.StringVar(&f.purpose, "purpose", "",
		"what it is for; kept with the lease and in the audit log (OpenStack: heat makes stacks, read is held to GET and HEAD)")
	flags.StringVar(&f.forWhom, "for", "", "person that the lease is for, if that is not you: it can be listed and revoked by this name")
	console.MustChoose(c, "role", "view", "edit", "admin", "cluster-admin")
	console.MustComplete(c, "namespace", p.VIMNamespaces)
}

// Request is the request that the flags ask for.
func (f *Flags) Request(vim string, format clientconfig.Format) v1.LeaseRequest {
	r := v1.LeaseRequest{
		VIM: vim, Role: f.role, Namespaces: f.Namespaces, Purpose: f.purpose, Format: string(format), Rules: f.rules, ClusterWide: f.clusterWide,
		For: f.forWhom,
	}
	if f.Ttl != 0 {
		r.TTL = f.Ttl.String()
	}
	return r
}

// Issue takes a lease under an idempotency key (a new one for an empty key), and
// repeats the request once if the answer got lost.
func Issue(ctx context.Context, registry *client.Client, r v1.LeaseRequest, key string) (v1.IssuedLease, error) {
	if key == "" {
		key = uuid.NewString()
	}
	l, err := registry.IssueLease(ctx, r, key)
	if err != nil && client.Status(err) == 0 && ctx.Err() == nil && !errors.Is(err, syscall.ECONNREFUSED) {
		return registry.IssueLease(ctx, r, key)
	}
	return l, err
}

// TakeBack revokes a lease that cannot be used, because of err, and returns err.
func TakeBack(ctx context.Context, registry *client.Client, id string, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupPatience)
	defer cancel()
	l, revokeErr := registry.RevokeLease(ctx, id)
	if revokeErr != nil {
		return fmt.Errorf("%w; and revoking the lease failed: %w; do it with: vimbroker lease revoke %s", err, revokeErr, id)
	}
	return fmt.Errorf("%w; the lease is %s", err, l.State)
}

// configOf is the client configuration of a lease that was asked for as JSON.
func configOf(l v1.IssuedLease) (clientconfig.Config, error) {
	if !l.ClientConfig.Object {
		return clientconfig.Config{}, errors.New("the server's answer holds no client configuration in JSON")
	}
	return clientconfig.Decode(l.ClientConfig.Text)
}
