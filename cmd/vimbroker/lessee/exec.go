package lessee

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

const (
	// issuePatience bounds taking the lease.
	issuePatience = time.Minute
	// interruptPatience bounds the wait of an interrupted exec for the answer that
	// tells which lease to revoke.
	interruptPatience = 5 * time.Second
)

func (p *program) execCommand() *cobra.Command {
	var f Flags
	var vim string
	c := &cobra.Command{
		Use:   "exec VIM [flags] -- COMMAND [ARG...]",
		Short: "Run a command with a lease that is revoked when it ends",
		Long: `Take a lease on a VIM, run a command that uses it, and revoke the lease when
the command ends for any reason. The command's environment has KUBECONFIG and
the KUBE_ and HELM_ variables; on OpenStack it has OS_CLIENT_CONFIG_FILE and
OS_CLOUD, and no other OS_ variable. VIMBROKER_VIM and VIMBROKER_LEASE name the
VIM and the lease, for a prompt. The command does not have the token of
vimbroker, and makes no core files, which could hold the lease's.

The files that these variables name are private, and are removed at the end.
If exec is killed, the next exec removes them. While the command runs, exec
renews the lease and replaces the token file.

exec passes the signals INT, TERM, HUP, QUIT, USR1, USR2 and WINCH to the
command, and exits with the command's exit code (128+n if signal n ended it).
If it cannot run the command, it exits with 127 (no such command), 126 (not
executable), or 125 (any other reason). If the lease could not be revoked, or
is still being revoked, it exits with 122, whatever the command's code was,
and says both.`,
		Example: `  vimbroker exec edge-1 -- kubectl get pods
  vimbroker exec edge-1 --role edit --namespace web --ttl 30m \
      -- helm upgrade web ./chart
  vimbroker exec cloud-1 -- openstack server list`,
		Args: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			if vim != "" {
				dash, args = dash+1, append([]string{vim}, args...)
			}
			switch {
			case len(args) == 0 || dash == 0 && vim == "":
				return console.Usagef(c, "VIM is missing")
			case len(args) < 2:
				return console.Usagef(c, "the command behind -- is missing")
			case dash != 1:
				return console.Usagef(c, "give one VIM, then --, then the command")
			}
			return nil
		},
		ValidArgsFunction: console.OnlyFirst(p.VimNames),
		RunE: func(c *cobra.Command, args []string) error {
			if vim != "" {
				args = append([]string{vim}, args...)
			}
			code, err := p.exec(c.Context(), f, args[0], args[1:])
			if code == 0 && err == nil {
				return nil
			}
			return console.ExitWith(code, err)
		},
	}
	c.Flags().StringVar(&vim, "vim", "", "the VIM, in place of the argument")
	console.MustComplete(c, "vim", p.VimNames)
	f.Add(p.Console, c)
	p.ProjectFlag(c)
	return c
}

// exec runs the command with a lease. The error is about this program's own
// part; the command speaks for itself.
func (p *program) exec(ctx context.Context, f Flags, vim string, command []string) (code int, err error) {
	registry, err := p.Connect()
	if err != nil {
		return console.ExitNotRun, err
	}
	path, err := lookPath(command[0], p.Env)
	if err != nil {
		return startCode(err), err
	}
	if vim, err = p.VIMRef(ctx, registry, vim); err != nil {
		return console.ExitNotRun, err
	}
	console.KeepWriting() // messages too
	signals := catchSignals()
	defer signals.release()

	if _, err := clientconfig.Sweep(""); err != nil {
		p.Warn("removing files of an earlier exec that was killed: %v", err)
	}
	dir, err := clientconfig.OpenDir("")
	if err != nil {
		return console.ExitNotRun, fmt.Errorf("making a directory for the lease's files: %w", err)
	}
	defer func() { p.closed(dir.Close()) }()

	lease, err := p.execLease(ctx, signals, registry, f.Request(vim, clientconfig.JSON))
	if err = p.Meant(ctx, registry, err); err != nil {
		if s := signals.first(); s != 0 {
			return 128 + int(s), err
		}
		return console.ExitNotRun, err
	}
	defer func() {
		// After any outcome, a panic included.
		if alive := giveBack(ctx, registry, lease.ID); alive != nil {
			if code != 0 && err == nil {
				err = fmt.Errorf("the command ended with %d", code)
			}
			code, err = console.ExitNotRevoked, errors.Join(err, alive)
		}
	}()
	if s := signals.first(); s != 0 {
		return 128 + int(s), errors.New("interrupted before the command was started")
	}
	config, err := configOf(lease)
	if err != nil {
		return console.ExitNotRun, err
	}
	files, err := dir.Write(config)
	if err != nil {
		return console.ExitNotRun, fmt.Errorf("writing the lease's files: %w", err)
	}
	defer func() { p.closed(files.Close()) }()

	env := append(files.Env(), "VIMBROKER_VIM="+lease.VIMName, "VIMBROKER_LEASE="+lease.ID)
	child := p.child(path, command, env)
	if err := child.Start(); err != nil {
		return startCode(err), err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		p.keepAlive(renewing, registry, lease.Lease, f.Ttl, files)
	}()
	code, err = signals.relay(child)
	stop()
	<-renewed // so that no file is written behind Close
	return code, err
}

// execLease takes the lease. A signal does not cut the request short: the answer
// tells which lease to revoke.
func (p *program) execLease(ctx context.Context, signals *signals, registry *client.Client, r v1.LeaseRequest) (v1.IssuedLease, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), issuePatience)
	defer cancel()
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		select {
		case <-signals.arrived:
		case <-answered:
			return
		}
		select {
		case <-time.After(interruptPatience):
			cancel()
		case <-answered:
		}
	}()
	key := uuid.NewString()
	l, err := Issue(ctx, registry, r, key)
	if err != nil && client.Status(err) == 0 {
		return l, fmt.Errorf("%w; if a lease was issued all the same, it is in: vimbroker lease list", err)
	}
	return l, err
}

// keepAlive renews the lease when two thirds of its life are over, until the
// context ends or the lease cannot be longer.
func (p *program) keepAlive(ctx context.Context, registry *client.Client, l v1.Lease, ttl time.Duration, files *clientconfig.Files) {
	if l.ExpiresAt.IsZero() || !l.Derived {
		return // the VIM's own credential cannot be renewed
	}
	var r v1.Renewal
	if ttl != 0 {
		r.TTL = ttl.String()
	}
	for wait := renewAfter(l.ExpiresAt.Sub(p.Now())); ; {
		select {
		case <-p.After(wait):
		case <-ctx.Done():
			return
		}
		left := l.ExpiresAt.Sub(p.Now())
		if left <= 0 {
			p.Warn("lease %s has expired under the running command", l.ID)
			return
		}
		again, err := p.renew(ctx, registry, l.ID, r, files)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.Warn("renewing lease %s, which expires %s: %v", l.ID, p.When(l.ExpiresAt), err)
			if final(err) {
				return
			}
			wait = max(left/4, time.Second)
			continue
		case !again.ExpiresAt.After(l.ExpiresAt.Add(time.Second)):
			p.Warn("lease %s cannot be renewed any further and expires %s", l.ID, p.Moment(again.ExpiresAt))
			return
		}
		l = again.Lease
		wait = renewAfter(l.ExpiresAt.Sub(p.Now()))
	}
}

// final reports whether the server's answer will be the same next time.
func final(err error) bool {
	status := client.Status(err)
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests
}

// renewAfter is when to renew what lives so long.
func renewAfter(life time.Duration) time.Duration { return max(life*2/3, time.Second) }

// renew mints a new credential and writes it to the place that the command reads.
func (p *program) renew(
	ctx context.Context, registry *client.Client, id string, r v1.Renewal, files *clientconfig.Files,
) (v1.IssuedLease, error) {
	l, err := registry.RenewLease(ctx, id, r)
	if err != nil {
		return l, err
	}
	config, err := configOf(l)
	if err != nil {
		return l, err
	}
	return l, files.Replace(config)
}

// giveBack revokes the lease at the end, although the context may be over. It is an
// error if the lease may still work.
func giveBack(ctx context.Context, registry *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupPatience)
	defer cancel()
	l, err := registry.RevokeLease(ctx, id)
	switch {
	case err == nil && l.State == "revoked":
		return nil
	case err == nil && l.State == "irrevocable":
		err = errors.New("the VIM does not take it back")
	case err == nil:
		return fmt.Errorf("lease %s is %s: the VIM cannot be asked now, and the server goes on trying; see: vimbroker lease show %s", id,
			l.State, id)
	}
	return fmt.Errorf("revoking lease %s: %w; it may work until it expires: repeat with: vimbroker lease revoke %s", id, err, id)
}

// closed complains about files that could not be removed.
func (p *program) closed(err error) {
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.Warn("removing the lease's files: %v", err)
	}
}

// startCode is exec's exit code for a command that could not be started.
func startCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) {
		return console.ExitNoCommand
	}
	return console.ExitNotExecutable
}
