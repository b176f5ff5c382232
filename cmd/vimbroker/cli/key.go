package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) keyCommand() *cobra.Command {
	group := console.Group("key", "See, rotate and migrate the keys that seal credentials",
		`Each VIM's credential is sealed with a key of its own, which is kept in a key
store.`,
		`  vimbroker key status
  vimbroker key rotate --older-than 720h
  vimbroker key migrate --to vault`,
		p.keyStatusCommand(),
		p.keyRotateCommand(),
		p.keyMigrateCommand(),
	)
	p.ProjectFlag(group)
	console.VIMEither(p.VimNames, group.Commands()...)
	return group
}

func (p *program) keyStatusCommand() *cobra.Command {
	var try bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Say how each VIM's credential is sealed",
		Long: `List the key store and the age of each VIM's key. With --try, also test that
each credential opens, and fail (exit code 1) if one does not. After you
restore a backup, --try shows the VIMs whose keys have changed since the
backup; give their credentials again.`,
		Example: "  vimbroker key status\n  vimbroker key status --try -o json",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			keys := v1.List[v1.KeyStatus]{Items: []v1.KeyStatus{}}
			var closed []string
			for k, err := range registry.AllKeys(c.Context(), client.VIMQuery{PageSize: listPage}, try) {
				if err != nil {
					return err
				}
				keys.Items = append(keys.Items, k)
				if k.Opens != nil && !*k.Opens {
					closed = append(closed, k.VIMName)
				}
			}
			if err := p.Print(keys, func(w io.Writer) { p.keyTable(w, keys.Items) }); err != nil {
				return err
			}
			if len(closed) > 0 {
				return fmt.Errorf("%s: %s; give each again, like: vimbroker vim rotate NAME --bearer-token-file FILE",
					console.Count(len(closed), "credential does not open", "credentials do not open"), strings.Join(closed, ", "))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&try, "try", false, "open each credential, and say whether that works")
	p.OutputFlag(c)
	return c
}

func (p *program) keyTable(w io.Writer, keys []v1.KeyStatus) {
	p.Header(w, []string{"VIM", "PROJECT", "STORE", "SEALED", "GENERATION", "PAST", "OPENS"})
	for _, k := range keys {
		opens := ""
		switch {
		case k.Pending:
			opens = "being written"
		case k.Opens != nil && *k.Opens:
			opens = "yes"
		case k.Opens != nil:
			opens = "NO: " + k.Message
		case k.Message != "":
			opens = "unknown: " + k.Message
		}
		console.Row(w, k.VIMName, k.Project, k.KeyStore, p.When(k.SealedAt), fmt.Sprint(k.Generation), fmt.Sprint(k.Past), opens)
	}
}

func (p *program) keyRotateCommand() *cobra.Command {
	var (
		all       bool
		olderThan time.Duration
	)
	c := &cobra.Command{
		Use:   "rotate [VIM]",
		Short: "Seal credentials under new keys, and destroy the old ones",
		Long: `Seal credentials with a new key: that of one VIM, those of all VIMs, or those
whose key is older than a given age. The server tests the new key before it
destroys the old one. Leases are not affected. With --all and --older-than,
secrets of subscriptions go as well, and keys that sign tokens and checkpoints
are replaced. If the command is interrupted, repeat it.`,
		Example: "  vimbroker key rotate edge-1\n  vimbroker key rotate --older-than 720h\n  vimbroker key rotate --all",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case all || olderThan > 0:
				return console.Names()(c, args)
			case len(args) == 0:
				return console.Usagef(c, "name a VIM, or say --all or --older-than")
			}
			return console.Names("VIM (a name or id)")(c, args)
		},
		ValidArgsFunction: console.OnlyFirst(p.VimNames),
		RunE: p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
			if len(args) == 1 {
				vim, err := p.VIMRef(c.Context(), registry, args[0])
				if err != nil {
					return err
				}
				v, err := registry.RotateVIM(c.Context(), vim, v1.Rotation{}, 0)
				if err == nil {
					p.Warn("the credential of %s is sealed under a new key, and the old key is destroyed", v.Name)
				}
				return err
			}
			before := p.Now().Add(-olderThan)
			err := p.rekeyAll(c.Context(), registry, "", func(k v1.KeyStatus) bool { return all || k.SealedAt.Before(before) })
			return errors.Join(err, registry.RotateKeys(c.Context(), v1.KeyRotation{SealedBefore: before}))
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "every VIM that the caller may see")
	console.DurationFlag(c, &olderThan, "older-than", "VIMs whose key is older than this, like 30d")
	c.MarkFlagsMutuallyExclusive("all", "older-than")
	return c
}

func (p *program) keyMigrateCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "migrate --to STORE",
		Short: "Move everything that is sealed to keys in another key store",
		Long: `Move everything that uses another key store to new keys in the named one, and
destroy the old keys: credentials of VIMs, with the secret parameters of VNF
instances on them, and secrets of subscriptions. Keys that sign tokens and
checkpoints are replaced by new ones there; later ones are made in the first key
store. Both key stores must be in the server's configuration. If the command is
interrupted, or something failed, repeat it.`,
		Example: "  vimbroker key migrate --to vault",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			if to == "" {
				return console.Usagef(c, "--to is required: the name of a key store, like vault or keydir")
			}
			err := p.rekeyAll(c.Context(), registry, to, func(k v1.KeyStatus) bool { return k.KeyStore != to || k.Past > 0 || k.Elsewhere > 0 })
			return errors.Join(err, registry.RotateKeys(c.Context(), v1.KeyRotation{KeyStore: to}))
		}),
	}
	c.Flags().StringVar(&to, "to", "", "the key store to move to, like vault")
	return c
}

// rekeyAll reseals the VIMs that due selects, one after the other, and reports
// its progress on standard error. One that fails does not stop the others.
func (p *program) rekeyAll(ctx context.Context, registry *client.Client, keyStore string, due func(v1.KeyStatus) bool) error {
	var todo []v1.KeyStatus
	for k, err := range registry.AllKeys(ctx, client.VIMQuery{PageSize: listPage}, false) {
		if err != nil {
			return err
		}
		if due(k) {
			todo = append(todo, k)
		}
	}
	var failed []error
	for i, k := range todo {
		if _, err := registry.RotateVIM(ctx, k.VIM, v1.Rotation{KeyStore: keyStore}, 0); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = append(failed, fmt.Errorf("%s: %w", k.VIMName, err))
			fmt.Fprintf(p.Err, "%d/%d  %s  FAILED\n", i+1, len(todo), k.VIMName)
			continue
		}
		fmt.Fprintf(p.Err, "%d/%d  %s\n", i+1, len(todo), k.VIMName)
	}
	if len(failed) > 0 {
		return fmt.Errorf("VIMs not sealed anew: %d of %d; repeat the command: %w", len(failed), len(todo), errors.Join(failed...))
	}
	return nil
}
