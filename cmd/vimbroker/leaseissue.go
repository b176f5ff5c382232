package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// cleanupPatience bounds taking a lease back when a command ends.
const cleanupPatience = 30 * time.Second

// formats are the forms of a client configuration.
var formats = []string{"kubeconfig", "env", "json", "exec-credential", "clouds.yaml", "vim-connection-info"}

// leaseFlags are the wishes that every command that takes a lease shares.
type leaseFlags struct {
	ttl        time.Duration
	role       string
	namespaces []string
	purpose    string
}

// lifetime is the value of a flag that names a wished lifetime: zero is none given.
type lifetime time.Duration

func (l *lifetime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("must be a duration above zero, like 90s, 30m or 8h")
	}
	*l = lifetime(d)
	return nil
}

func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Type names the value in a command's help.
func (*lifetime) Type() string { return "duration" }

func (f *leaseFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.Var((*lifetime)(&f.ttl), "ttl", "wished lifetime, like 30m (default: the server's)")
	flags.StringVar(&f.role, "role", "", "view, edit, admin, cluster-admin or a named ClusterRole (default: view); on OpenStack the user's roles, with commas (default: all but admin)")
	flags.StringArrayVarP(&f.namespaces, "namespace", "n", nil, "namespace to limit the lease to; can be repeated")
	flags.StringVar(&f.purpose, "purpose", "", "what it is for; kept with the lease and in the audit log (OpenStack: heat makes stacks, read is held to GET and HEAD)")
	mustComplete(c, "role", cobra.FixedCompletions([]string{"view", "edit", "admin", "cluster-admin"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *leaseFlags) request(vim string, format clientconfig.Format) v1.LeaseRequest {
	r := v1.LeaseRequest{VIM: vim, Role: f.role, Namespaces: f.namespaces, Purpose: f.purpose, Format: string(format)}
	if f.ttl != 0 {
		r.TTL = f.ttl.String()
	}
	return r
}

func (p *program) leaseIssueCommand() *cobra.Command {
	var f leaseFlags
	var vim, format, operation, out string
	var plugin bool
	c := &cobra.Command{
		Use:   "issue",
		Short: "Take a lease and print its client configuration",
		Long: `Take a lease on a VIM: a credential of its own, limited to a role, to namespaces
and in time. Its client configuration goes to standard output, alone, so that
"> kubeconfig" works; what there is to know about the lease goes to standard
error. With -o json or -o yaml the whole lease goes to standard output.

If the configuration cannot be written, the lease is revoked.

--exec-plugin takes no lease: it prints a kubeconfig that holds no credential and
has kubectl ask "vimbroker credential" for one whenever it needs one.`,
		Example: `  vimbroker lease issue --vim edge-1 --role edit --namespace web --ttl 30m --out web.kubeconfig
  vimbroker lease issue --vim edge-1 > kubeconfig
  eval "$(vimbroker lease issue --vim edge-1 --format env)"
  vimbroker lease issue --vim edge-1 --exec-plugin > kubeconfig`,
		Args: names(),
		RunE: p.remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			if plugin {
				return p.printPlugin(c, broker, vim, f)
			}
			r := f.request(vim, clientconfig.Format(format))
			r.Operation = operation
			l, err := issueLease(c.Context(), broker, r, "")
			if err != nil {
				return err
			}
			if err := p.handOver(l, out); err != nil {
				return p.takeBack(c.Context(), broker, l.ID, err)
			}
			if p.output == "table" {
				p.warn("lease %s on %s: %s%s; expires %s%s%s", l.ID, l.VIMName, roleOf(l.Lease), within(l.Namespaces), p.moment(l.ExpiresAt), p.shorter(l.Lease, f.ttl), passedThrough(l.Lease))
			}
			return nil
		}),
	}
	flags := c.Flags()
	flags.StringVar(&vim, "vim", "", "name or id of the VIM (default: the project's default VIM)")
	flags.StringVar(&format, "format", "", "form of the client configuration: "+strings.Join(formats, ", ")+" (default: kubeconfig, or clouds.yaml for OpenStack)")
	flags.StringVar(&operation, "operation", "", "LCM operation occurrence that the lease serves")
	flags.StringVar(&out, "out", "", "write the configuration to this new file, readable by you alone, instead of standard output")
	flags.BoolVar(&plugin, "exec-plugin", false, "print a kubeconfig in exec plugin form; takes no lease")
	f.add(c)
	mustComplete(c, "vim", p.vimNames)
	mustComplete(c, "format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	p.outputFlag(c)
	return c
}

// issueLease takes a lease under an idempotency key, of its own for an empty
// one, and asks once more if the answer to the first request got lost.
func issueLease(ctx context.Context, broker *client.Client, r v1.LeaseRequest, key string) (v1.IssuedLease, error) {
	if key == "" {
		key = uuid.NewString()
	}
	l, err := broker.IssueLease(ctx, r, key)
	if err != nil && client.Status(err) == 0 && ctx.Err() == nil && !errors.Is(err, syscall.ECONNREFUSED) {
		return broker.IssueLease(ctx, r, key)
	}
	return l, err
}

// handOver gives the client configuration to the person: to a new file, or to stdout.
func (p *program) handOver(l v1.IssuedLease, file string) error {
	text := l.ClientConfig.Text
	if text.Empty() {
		return errors.New("the server's answer holds no client configuration")
	}
	var content bytes.Buffer
	if file == "" && p.output != "table" {
		return p.print(l, nil)
	}
	content.WriteString(strings.TrimSuffix(text.Reveal(), "\n") + "\n")
	if file != "" {
		return writePrivate(file, content.Bytes())
	}
	if _, err := p.out.Write(content.Bytes()); err != nil {
		return fmt.Errorf("writing the client configuration: %w", err)
	}
	return nil
}

// writePrivate makes a file that only its owner can read. It never writes into a
// file or through a link that is there already; on failure none is left.
func writePrivate(name string, content []byte) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already and is not overwritten; remove it or name another file", name)
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	_, err = f.Write(content)
	return err
}

// takeBack revokes a lease that cannot be used, because of err, and returns err.
func (p *program) takeBack(ctx context.Context, broker *client.Client, id string, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupPatience)
	defer cancel()
	l, revokeErr := broker.RevokeLease(ctx, id)
	if revokeErr != nil {
		return fmt.Errorf("%w; and revoking the lease failed: %w; do it with: vimbroker lease revoke %s", err, revokeErr, id)
	}
	return fmt.Errorf("%w; the lease is %s", err, l.State)
}

// printPlugin prints a kubeconfig without a credential.
func (p *program) printPlugin(c *cobra.Command, broker *client.Client, vim string, f leaseFlags) error {
	if vim == "" {
		return usagef(c, "--exec-plugin needs --vim")
	}
	v, err := broker.VIM(c.Context(), vim)
	if err != nil {
		return err
	}
	config := clientconfig.Config{
		VIM: v.Name, Endpoint: v.Endpoint, CACert: v.CACert,
		InsecureSkipVerify: v.InsecureSkipVerify, ServerName: v.ServerName, Namespace: v.Namespace,
	}
	if len(f.namespaces) > 0 {
		config.Namespace = f.namespaces[0]
	}
	text, err := clientconfig.PluginKubeconfig(config, p.plugin(v, f))
	if err != nil {
		return fmt.Errorf("making a kubeconfig for %s: %w", v.Name, err)
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// shorter says so where a lease was granted for less than was wished.
func (p *program) shorter(l v1.Lease, wished time.Duration) string {
	if wished == 0 || l.ExpiresAt.IsZero() || l.ExpiresAt.Sub(p.now()) > wished-time.Minute {
		return ""
	}
	return ", sooner than the " + wished.String() + " wished: no more is granted"
}

// roleOf says what a lease may do, as far as it was asked for less than all.
func roleOf(l v1.Lease) string {
	if l.Role == "" {
		return "every role of the VIM's credential"
	}
	return "role " + l.Role
}

// within tells the namespaces of a lease.
func within(namespaces []string) string {
	if len(namespaces) == 0 {
		return ""
	}
	return " in " + list(namespaces)
}

// passedThrough warns of a lease that is the stored credential itself.
func passedThrough(l v1.Lease) string {
	if l.Derived {
		return ""
	}
	return "; this is the VIM's own credential, which revoking does not end"
}

// configOf is the client configuration of a lease that was asked for as JSON.
func configOf(l v1.IssuedLease) (clientconfig.Config, error) {
	if !l.ClientConfig.Object {
		return clientconfig.Config{}, errors.New("the server's answer holds no client configuration in JSON")
	}
	return clientconfig.Decode(l.ClientConfig.Text)
}
