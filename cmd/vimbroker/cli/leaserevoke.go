package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) leaseRevokeCommand() *cobra.Command {
	var f leaseFilter
	var all, operations, yes, wait bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:     "revoke [ID...]",
		Aliases: []string{"rm"},
		Short:   "Revoke leases",
		Long: `Revoke leases before they expire: leases by id, the leases that match --vim,
--mine, --principal or --client, --for, --operation and --instance together, or
with --all every lease that you may revoke, but for those of operations that
run: they are revoked with --operations. On a terminal --all asks first, which
--yes leaves out. It is safe to revoke a lease again.

A VNF instance of another VNFM that is revoked stays cut off until a policy
lets its client resume it. The secret that the VNFM has is then taken again;
with --new-secret it is not.

A credential may work for a short time after it is revoked; "lease show" says
how long at most. --wait returns when the server has tested that it no longer
works.

While the server's database takes no writes, as on a full disk, no lease is
revoked: repeat the command once it does.`,
		Example: `  vimbroker lease revoke 3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11 --wait
  vimbroker lease revoke --mine
  vimbroker lease revoke --vim edge-1 --principal alice
  vimbroker lease revoke --for dave --wait
  vimbroker lease revoke --client tacker-north --instance 5b1f…
  vimbroker lease revoke --all --operations --yes`,
		ValidArgsFunction: p.LeaseIDs,
		RunE: p.Remote(func(c *cobra.Command, ids []string, registry *client.Client) error {
			selected := f != leaseFilter{Selector: v1.Selector{NewSecret: f.NewSecret}}
			if named := len(ids) > 0; named && selected || (named || selected) == all {
				return console.Usagef(c, "name leases by id, or select them with --vim, --mine, --principal, --client, --for, "+
					"--operation or --instance, or take --all: one of these")
			}
			if f.NewSecret && !selected {
				return console.Usagef(c, "--new-secret goes with --vim, --mine, --principal, --client, --operation or --instance")
			}
			if !all && (operations || yes) {
				return console.Usagef(c, "--operations and --yes go with --all")
			}
			var err error
			if all {
				if ids, err = p.everyLease(c.Context(), registry, operations, yes); err != nil {
					return err
				}
			}
			ctx := c.Context()
			for i := range ids {
				if ids[i], err = p.LeaseRef(ctx, registry, ids[i]); err != nil {
					return err
				}
			}
			if err := f.find(ctx, p, registry); err != nil {
				return err
			}
			var leases []v1.Lease
			err = console.Within(c, timeout, func(ctx context.Context) (err error) {
				leases, err = revoke(ctx, registry, ids, f.Selector, selected)
				if wait {
					leases, err = p.awaitDead(ctx, registry, leases, err)
				}
				return err
			}, func(ctx context.Context) string { return unreachable(ctx, registry, f.VIM, ids, leases) })
			if err == nil && len(leases) == 0 {
				p.Warn("no live lease matches: nothing is revoked")
			}
			return errors.Join(err, p.printRevoked(leases))
		}),
	}
	f.add(p, c, "")
	flags := c.Flags()
	flags.BoolVar(&f.NewSecret, "new-secret", false,
		"take no secret of the standing leases any more, also once the instance is resumed: others may know them")
	flags.BoolVar(&all, "all", false, "every lease that you may revoke, those of other people included; asks first on a terminal")
	flags.BoolVar(&operations, "operations", false, "with --all: those of operations that run, too, which then fail")
	flags.BoolVar(&yes, "yes", false, "with --all: do not ask")
	flags.BoolVar(&wait, "wait", false, "return when the credentials were tried and are refused")
	timeout = 5 * time.Minute
	console.DurationFlag(c, &timeout, "timeout", "how long to wait")
	p.OutputFlag(c)
	return c
}

// everyLease is what --all means: the leases that may still work. It asks on a terminal, unless the answer is yes already.
func (p *program) everyLease(ctx context.Context, registry *client.Client, operations, yes bool) (ids []string, err error) {
	holders := map[string]int{}
	leases, _, err := listLeases(ctx, registry, client.LeaseQuery{}, liveStates, math.MaxInt-1, everyLease)
	if err != nil {
		return nil, err
	}
	if ids, err = p.idle(ctx, registry, leases, operations); err != nil {
		return nil, err
	}
	for _, l := range leases {
		if slices.Contains(ids, l.ID) {
			holders[l.Principal]++
		}
	}
	if yes || len(ids) == 0 {
		return ids, nil
	}
	var whose []string
	for _, name := range slices.Sorted(maps.Keys(holders)) {
		whose = append(whose, fmt.Sprintf("%s %d", strictyaml.Printable(name), holders[name]))
	}
	return ids, p.Confirm(fmt.Sprintf("Revoke %s (%s)?", console.Count(len(ids), "lease", "leases"), console.List(whose)))
}

// idle are the leases but for those of operations that run, unless these are wanted too.
func (p *program) idle(ctx context.Context, registry *client.Client, leases []v1.Lease, operations bool) (ids []string, err error) {
	running, busy := map[string]bool{}, 0
	for _, l := range leases {
		runs, known := running[l.Operation]
		if !known && l.Operation != "" && !operations {
			if runs, err = operationRuns(ctx, registry, l.Operation); err != nil {
				return nil, err
			}
			running[l.Operation] = runs
		}
		if runs {
			busy++
			continue
		}
		ids = append(ids, l.ID)
	}
	if busy > 0 {
		p.Warn("not revoked, as their operations run: %d of the leases; take them too with --operations", busy)
	}
	return ids, nil
}

// operationRuns reports whether the server itself is at work on an operation; those of other VNFMs it does not know.
func operationRuns(ctx context.Context, registry *client.Client, id string) (bool, error) {
	o, err := registry.VNFOperation(ctx, id)
	switch {
	case client.Status(err) == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking whether operation %s runs: %w; --operations does not ask, and revokes its leases too", id, err)
	}
	return slices.Contains([]string{"STARTING", "PROCESSING", "ROLLING_BACK"}, o.State), nil
}

// revoke revokes the named leases. It continues after a lease that fails, and
// returns the leases it reached with the first failure.
func revoke(ctx context.Context, registry *client.Client, ids []string, s v1.Selector, selected bool) ([]v1.Lease, error) {
	leases := []v1.Lease{}
	if selected {
		found, err := registry.RevokeLeases(ctx, s)
		return append(leases, found.Items...), err
	}
	var failed error
	for _, id := range ids {
		l, err := registry.RevokeLease(ctx, id)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("revoking %s: %w", strictyaml.Printable(id), err))
			continue
		}
		leases = append(leases, l)
	}
	return leases, failed
}

// unreachable says which of the VIMs do not answer, so that leases on them cannot end yet.
func unreachable(ctx context.Context, registry *client.Client, vim string, ids []string, leases []v1.Lease) string {
	vims := map[string]bool{}
	for _, id := range ids {
		if l, err := registry.Lease(ctx, id); err == nil {
			leases = append(leases, l)
		}
	}
	if vim != "" {
		vims[vim] = true
	}
	for _, l := range leases {
		vims[l.VIM] = vims[l.VIM] || l.ConfirmedDeadAt.IsZero()
	}
	var said []string
	for id := range vims {
		if v, err := registry.VIM(ctx, id); err == nil && vims[id] && v.Status != "reachable" && v.Status != "draining" {
			said = append(said, fmt.Sprintf("%s is %s (%s)", v.Name, v.Status, v.Message))
		}
	}
	slices.Sort(said)
	if len(said) == 0 {
		return "the leases are still being revoked; see: vimbroker lease list --state revoking"
	}
	return strings.Join(said, "; ") + `; leases there stay "revoking", and end when it answers, or by themselves when they expire`
}

// awaitDead polls until each lease is confirmed dead, and returns their final
// state. err is an earlier failure, and stays part of the answer.
func (p *program) awaitDead(ctx context.Context, registry *client.Client, leases []v1.Lease, err error) ([]v1.Lease, error) {
	for i, l := range leases {
		waitErr := p.Await(ctx, "the credential of lease "+console.ShortID(l.ID)+" on "+l.VIMName+" is refused", func() (bool, string, error) {
			now, err := registry.Lease(ctx, l.ID)
			if err != nil {
				return false, "", err
			}
			leases[i] = now
			if now.State == "irrevocable" {
				return false, "", fmt.Errorf("given up: %s; it works until %s", now.LastError, now.ExpiresAt.Format(time.RFC3339))
			}
			// One that was never issued has no credential that could be tried.
			return !now.ConfirmedDeadAt.IsZero() || now.State == "revoked" && now.IssuedAt.IsZero(), now.State, nil
		})
		if waitErr != nil {
			err = errors.Join(err, fmt.Errorf("waiting until lease %s is dead: %w", l.ID, waitErr))
		}
	}
	return leases, err
}

func (p *program) printRevoked(leases []v1.Lease) error {
	return p.Print(v1.List[v1.Lease]{Items: leases}, func(w io.Writer) {
		p.Header(w, []string{"ID", "VIM", "STATE", "WHO", "REVOKED", "CONFIRMED DEAD"})
		for _, l := range leases {
			console.Row(w, p.id(l.ID), l.VIMName, l.State, p.CutTo(whoOf(l), 14), p.When(l.RevokedAt), p.When(l.ConfirmedDeadAt))
		}
	})
}
