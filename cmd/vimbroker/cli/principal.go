package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
)

func (p *program) principalCommand() *cobra.Command {
	return console.Group("principal", "See and end what a person or a program has",
		`A principal is a caller, as "whoami" names it: a person or a program. These
commands are for the day on which one leaves.`,
		`  vimbroker principal show alice
  vimbroker principal end alice`,
		show(p, free, &cobra.Command{
			Use:   "show NAME",
			Short: "List what a principal has",
			Long: `List what a principal has, as far as you may see it: tokens, leases that may
still work (its own, and those that others took for it), subscriptions, clients,
VIMs and VNF instances that it made. The name is what "lease list" shows; of a
caller of Keystone it is keystone:USER@DOMAIN.`,
			Example: "  vimbroker principal show alice",
		}, possessionsOf, printed(p, p.possessionFacts)),
		p.principalEndCommand(),
	)
}

// possessions are what a principal has or made, as far as the caller sees it.
type possessions struct {
	Principal string `json:"principal"`
	// NotSeen names what the caller may not list.
	NotSeen []string   `json:"notSeen,omitempty"`
	Tokens  []v1.Token `json:"tokens"`
	// Leases may still work: those that the principal holds, and those that others hold for it.
	Leases        []v1.Lease            `json:"leases"`
	Subscriptions []sol003.Subscription `json:"subscriptions"`
	Clients       []v1.OAuthClient      `json:"clients"`
	VIMs          []v1.VIM              `json:"vims"`
	Instances     []sol003.VNFInstance  `json:"instances"`
}

// empty reports whether there is nothing at all.
func (has possessions) empty() bool {
	return len(has.Tokens)+len(has.Leases)+len(has.Subscriptions)+len(has.Clients)+len(has.VIMs)+len(has.Instances) == 0
}

// search looks for what a principal has; it notes the names that it meets, and the first error that is none of what the
// caller may not list.
type search struct {
	possessions
	met map[string]bool
	err error
}

// find adds to a list the items of a walk that are the principal's. A server that does not serve such things has none.
func find[T any](s *search, to *[]T, what string, walk iter.Seq2[T, error], owners func(T) []string) {
	if *to == nil {
		*to = []T{}
	}
	if s.err != nil {
		return
	}
	for one, err := range walk {
		switch status := client.Status(err); {
		case status == http.StatusForbidden:
			s.NotSeen = append(s.NotSeen, what)
			return
		case err != nil:
			if status != http.StatusNotFound {
				s.err = err
			}
			return
		}
		for _, owner := range owners(one) {
			s.met[owner] = true
		}
		if slices.Contains(owners(one), s.Principal) {
			*to = append(*to, one)
		}
	}
}

// possessionsOf gathers what a principal has. A name that nobody has is an error.
func possessionsOf(registry *client.Client, ctx context.Context, name string) (possessions, error) {
	s := &search{possessions: possessions{Principal: name}, met: map[string]bool{}}
	find(s, &s.Tokens, "tokens", registry.AllTokens(ctx, listPage), func(t v1.Token) []string { return []string{t.Name} })
	for _, state := range liveStates {
		leases := registry.AllLeases(ctx, client.LeaseQuery{State: state, PageSize: listPage})
		find(s, &s.Leases, "leases", leases, func(l v1.Lease) []string { return []string{l.Principal, l.For} })
	}
	find(s, &s.Subscriptions, "subscriptions", registry.AllSubscriptions(ctx), func(o sol003.Subscription) []string {
		if o.Own == nil {
			return nil
		}
		return []string{o.Own.CreatedBy}
	})
	find(s, &s.Clients, "clients", registry.AllOAuthClients(ctx), func(c v1.OAuthClient) []string { return []string{c.CreatedBy} })
	vims := registry.AllVIMs(ctx, client.VIMQuery{PageSize: listPage})
	find(s, &s.VIMs, "VIMs", vims, func(v v1.VIM) []string { return []string{v.CreatedBy} })
	find(s, &s.Instances, "VNF instances", registry.AllVNFs(ctx), func(i sol003.VNFInstance) []string {
		if i.Own == nil {
			return nil
		}
		return []string{i.Own.CreatedBy}
	})
	if s.err == nil && s.empty() {
		s.err = console.Missing("you see nothing that %q has or made%s", strictyaml.Printable(name),
			policy.Suggest(name, slices.Sorted(maps.Keys(s.met))))
	}
	return s.possessions, s.err
}

// possessionFacts print what a principal has, and of what nobody ends by itself the command.
func (p *program) possessionFacts(w io.Writer, has possessions) {
	console.Facts(w, "Principal", has.Principal)
	if len(has.NotSeen) > 0 {
		console.Facts(w, "Not seen", console.List(has.NotSeen)+": you may not list them; ask an administrator")
	}
	for _, t := range has.Tokens {
		console.Facts(w, "Token", t.ID+" of project "+t.Project+": take its line out of the tokens file, and reload the server")
	}
	for _, l := range has.Leases {
		console.Facts(w, "Lease", fmt.Sprintf("%s on %s: %s in %s, %s; expires %s",
			console.ShortID(l.ID), l.VIMName, mayOf(l), whereOf(l), whoOf(l), expiry(l, p.When)))
	}
	for _, s := range has.Subscriptions {
		console.Facts(w, "Subscription", console.ShortID(s.ID)+" tells "+s.CallbackURI)
	}
	for _, c := range has.Clients {
		console.Facts(w, "Client", c.Name+": whoever registered it saw its secret; vimbroker client rotate "+c.Name)
	}
	for _, v := range has.VIMs {
		console.Facts(w, "VIM", v.Name+": whoever registered it may know its credential; replace that there, then vimbroker vim rotate "+v.ID)
	}
	for _, i := range has.Instances {
		console.Facts(w, "VNF instance", i.Name+", "+i.State+": it stays with its project")
	}
}

func (p *program) principalEndCommand() *cobra.Command {
	var operations, tokens, yes, wait bool
	timeout := 5 * time.Minute
	c := free.command(p, &cobra.Command{
		Use:   "end NAME",
		Short: "End the access that a principal has",
		Long: `End the access that a principal has, once its tokens are gone: revoke its
leases, and those that others took for it, and end its subscriptions. What it
made belongs to its project and stays: clients, VIMs and VNF instances are
listed, with what is left to do about the secrets that it may know.

While the server takes a token of the principal nothing is done, as it could
take new leases; --despite-tokens goes on. Callers of Keystone are disabled
there first. Leases of operations that run are left out unless --operations is
given. On a terminal it asks first, which --yes leaves out.`,
		Example: "  vimbroker principal end alice --wait",
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		has, err := possessionsOf(registry, c.Context(), name)
		if err != nil {
			return err
		}
		if len(has.Tokens) > 0 && !tokens {
			return fmt.Errorf("the server still takes tokens of %s (%d: %s ...): take the lines out of the tokens file, reload the server (SIGHUP) "+
				"and repeat this, or go on with --despite-tokens", strictyaml.Printable(name), len(has.Tokens), has.Tokens[0].ID)
		}
		ids, err := p.idle(c.Context(), registry, has.Leases, operations)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("Revoke %s and end %s of %s?", console.Count(len(ids), "lease", "leases"),
			console.Count(len(has.Subscriptions), "subscription", "subscriptions"), name)
		if !yes && len(ids)+len(has.Subscriptions) > 0 {
			if err := p.Confirm(question); err != nil {
				return err
			}
		}
		return p.endPrincipal(c, registry, has, ids, wait, timeout)
	})
	flags := c.Flags()
	flags.BoolVar(&tokens, "despite-tokens", false, "go on although the server takes tokens of the principal")
	flags.BoolVar(&operations, "operations", false, "revoke leases of operations that run, too, which then fail")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	flags.BoolVar(&wait, "wait", false, "return when the credentials were tried and are refused")
	console.DurationFlag(c, &timeout, "timeout", "how long to wait")
	p.OutputFlag(c)
	return c
}

// endPrincipal ends leases and subscriptions, and says what is left.
func (p *program) endPrincipal(
	c *cobra.Command, registry *client.Client, has possessions, ids []string, wait bool, timeout time.Duration,
) error {
	var leases []v1.Lease
	err := console.Within(c, timeout, func(ctx context.Context) (err error) {
		leases, err = revoke(ctx, registry, ids, v1.Selector{}, false)
		for _, s := range has.Subscriptions {
			if gone := registry.Unsubscribe(ctx, s.ID); gone != nil && client.Status(gone) != http.StatusNotFound && err == nil {
				err = fmt.Errorf("ending the subscription %s: %w", s.ID, gone)
			}
		}
		if wait {
			leases, err = p.awaitDead(ctx, registry, leases, err)
		}
		return err
	}, func(ctx context.Context) string { return unreachable(ctx, registry, "", ids, leases) })
	if err == nil && p.ForPeople() {
		p.Warn("revoked %s of %s, and ended %s", console.Count(len(leases), "lease", "leases"), has.Principal,
			console.Count(len(has.Subscriptions), "subscription", "subscriptions"))
		left := has
		left.Tokens, left.Leases, left.Subscriptions = nil, nil, nil
		return printed(p, p.possessionFacts)(left)
	}
	if printErr := p.printRevoked(leases); err == nil {
		err = printErr
	}
	return err
}
