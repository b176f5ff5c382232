package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/signin"
)

// loginFlags are the flags of login.
type loginFlags struct {
	context, from, audience string
	device                  bool
}

func (p *program) loginCommand() *cobra.Command {
	var f loginFlags
	c := &cobra.Command{
		Use:   "login [NAME]",
		Short: "Log in at the server, and keep the login as a context",
		Long: `Log in at an issuer that the server trusts, by the browser of this machine, or
with --device by a code that is typed into a browser anywhere. Without a display
it is --device. NAME is the entry of the server's table of trust, where several
have logins.

With --from a program takes the token that its platform gives it, each time that
it needs one, and nothing is kept: github (permissions: {id-token: write}),
gitlab (id_tokens: VIMBROKER_ID_TOKEN), kubernetes (a projected token in
/var/run/secrets/vimbroker/token, or VIMBROKER_POD_TOKEN_FILE), file:PATH.

Server, login and project become the current context: see "vimbroker context".
The tokens lie beside it, for their owner alone, and are replaced by one process
at a time. VIMBROKER_ISSUER_CA_FILE names the authorities of the issuer, where
they are not the system's.`,
		Example: `  vimbroker login --addr https://vimbroker.example:8443
  vimbroker login --device
  vimbroker login --from github`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return p.login(c.Context(), f, strings.Join(args, ""))
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.context, "context", "", "name of the context (default: that of the entry, or of the platform)")
	flags.StringVar(&f.from, "from", "", "github, gitlab, kubernetes or file:PATH: take the platform's token")
	flags.StringVar(&f.audience, "audience", "", "audience of the platform's token (default vimbroker)")
	flags.BoolVar(&f.device, "device", false, "log in by a code, in a browser anywhere")
	console.MustChoose(c, "from", "github", "gitlab", "kubernetes", "file:")
	console.MustComplete(c, "context", p.contextNames)
	console.MustComplete(c, "audience", cobra.NoFileCompletions)
	return c
}

// login logs in, asks the server who that is, and keeps the context.
func (p *program) login(ctx context.Context, f loginFlags, entry string) error {
	set, err := p.Contexts()
	if err != nil {
		return err
	}
	next := contexts.Context{Server: p.ServerAddr(), CAFile: p.ServerCAFile(), From: f.from, Audience: f.audience}
	var login signin.Kept
	if f.from != "" {
		next.Name = strings.ReplaceAll(strings.Split(f.from, ":")[0], "file", "platform")
		if next.Audience == "" {
			next.Audience = "vimbroker"
		}
		if err := signin.CheckPlatform(f.from); err != nil {
			return err
		}
	} else if login, err = p.logPersonIn(ctx, f, entry, &next); err != nil {
		return err
	}
	if f.context != "" {
		next.Name = f.context
	}
	if old, there := set.Find(next.Name); there {
		next.Project = old.Project
	}
	if err := set.Put(next); err != nil {
		return err
	}
	if set, err = p.Contexts(); err != nil {
		return err
	}
	next, _ = set.Find(next.Name)
	if f.from == "" {
		err := contexts.WithLogin(set, next, func(l *signin.Kept) (bool, error) {
			*l = login
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return p.greet(ctx, set, next)
}

// greet says who the server takes the caller of a context for.
func (p *program) greet(ctx context.Context, set contexts.Merged, c contexts.Context) error {
	registry, err := p.ConnectAs(ctx, set, c)
	if err != nil {
		return err
	}
	me, err := registry.WhoAmI(ctx)
	if err != nil {
		return fmt.Errorf("the context %s is kept, but the server does not let you in: %w", c.Name, err)
	}
	name := me.Name
	if me.Shown != "" && me.Shown != me.Name {
		name = me.Shown + " (" + me.Name + ")"
	}
	fmt.Fprintf(p.Err, "logged in as %s in project %s with %s; the context is %s\n", name, me.Project, console.List(me.Roles), c.Name)
	return nil
}

// logPersonIn has a person log in at an issuer that the server names, and completes the context.
func (p *program) logPersonIn(ctx context.Context, f loginFlags, entry string, next *contexts.Context) (signin.Kept, error) {
	registry, err := client.New(client.Options{Addr: next.Server, CAFile: next.CAFile, UserAgent: "vimbroker/" + p.Version})
	if err != nil {
		return signin.Kept{}, fmt.Errorf("%s or --addr: %w", console.EnvAddr, err)
	}
	all, err := registry.Logins(ctx)
	if err != nil {
		return signin.Kept{}, err
	}
	chosen, err := choose(all, entry)
	if err != nil {
		return signin.Kept{}, err
	}
	next.Name, next.Issuer, next.ClientID = chosen.Name, chosen.Issuer, chosen.ClientID
	next.Scopes, next.Audience = chosen.Scopes, chosen.Audience
	issuer := p.IssuerOf(*next)
	if f.device || !p.hasDisplay() {
		return issuer.Device(ctx, func(address, code string) error {
			fmt.Fprintf(p.Err, "open %s in a browser, and compare or type the code %s\n", address, code)
			return nil
		})
	}
	return issuer.Code(ctx, func(address string) error {
		fmt.Fprintf(p.Err, "log in with the browser; if none opens, open\n%s\n", address)
		p.openBrowser(ctx, address)
		return nil
	})
}

// choose returns the login of an entry, or the only one.
func choose(all []v1.LoginMethod, entry string) (v1.LoginMethod, error) {
	names := make([]string, len(all))
	for i, one := range all {
		if names[i] = one.Name; one.Name == entry {
			return one, nil
		}
	}
	switch {
	case len(all) == 0:
		return v1.LoginMethod{}, errors.New("the server has no login for people: its table of trust has no entry with login; programs use --from")
	case entry != "":
		return v1.LoginMethod{}, fmt.Errorf("the server has no login %q; it has %s", entry, console.List(names))
	case len(all) > 1:
		return v1.LoginMethod{}, fmt.Errorf("the server has several logins; name one of %s", console.List(names))
	}
	return all[0], nil
}

// hasDisplay reports whether a browser can open here.
func (p *program) hasDisplay() bool {
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || p.Env.Get("DISPLAY") != "" || p.Env.Get("WAYLAND_DISPLAY") != "" ||
		p.Env.Get("BROWSER") != ""
}

// openBrowser opens an address, if it can: the person has the address too.
func (p *program) openBrowser(ctx context.Context, address string) {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return
	}
	command := []string{"xdg-open"}
	switch {
	case p.Env.Get("BROWSER") != "":
		command = []string{p.Env.Get("BROWSER")}
	case runtime.GOOS == "darwin":
		command = []string{"open"}
	case runtime.GOOS == "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], address)...)
	browser.Env = os.Environ()
	if browser.Start() == nil {
		go func() { _ = browser.Wait() }()
	}
}

func (p *program) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [CONTEXT]",
		Short: "Forget the login of a context, and end it at the issuer",
		Long: `Remove the tokens of a context (default: the current one), and revoke its
refresh token at the issuer where that can be done. The context stays:
"vimbroker login" logs in again.`,
		Example: "  vimbroker logout",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: p.contextNames,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := p.Contexts()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{set.Current}
			}
			at, there := set.Find(args[0])
			if !there {
				return console.Missing("there is no context %q; see: vimbroker context list", args[0])
			}
			var revoked error
			err = contexts.WithLogin(set, at, func(l *signin.Kept) (bool, error) {
				if at.Issuer != "" {
					revoked = p.IssuerOf(at).Revoke(c.Context(), *l)
				}
				return false, nil
			})
			if err = errors.Join(err, set.Forget(at)); err != nil {
				return err
			}
			if revoked != nil {
				return fmt.Errorf("the tokens are removed here, and the issuer could not be told: %w", revoked)
			}
			fmt.Fprintf(p.Err, "logged out of %s\n", at.Name)
			return nil
		},
	}
}

func (p *program) contextNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	set, err := p.Contexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := make([]string, len(set.Contexts))
	for i, c := range set.Contexts {
		names[i] = c.Name
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}
