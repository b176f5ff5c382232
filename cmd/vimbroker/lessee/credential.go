package lessee

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
)

const (
	// pluginTTL is the default lifetime of a lease for kubectl.
	pluginTTL = time.Hour
	// stale is the remaining life below which a shared lease is not handed out again.
	stale = time.Minute
	// mostShared is the number of leases that are shared, one after the other, in half a
	// lease's life.
	mostShared = 8
	// keptPatience is the time that the server may take to answer if there is a cached
	// lease.
	keptPatience = 5 * time.Second
)

func (p *program) credentialCommand() *cobra.Command {
	var f Flags
	var vim, proxy, standing string
	var untold, profile bool
	c := &cobra.Command{
		Use:   "credential",
		Short: "Be kubectl's exec credential plugin",
		Long: `Print an ExecCredential (` + execVersion + `) with a lease's token:
what a kubeconfig made by "vimbroker lease issue --exec-plugin" has kubectl run.
It never asks anything, so any interactiveMode will do.

The client must tell which cluster it asks for (provideClusterInfo: true), and
that must be the VIM's: its server, the CA and the name that the server is
verified by, and no proxy but the one that --proxy names. A credential is never
given for another. Run by hand, where no client tells a cluster, it prints none;
with --untold a client of Kubernetes need not tell which cluster it asks for.

Calls that wish the same, by one user of one machine, share one lease for half
its life. It is cached in a file that only the user can read, under
$XDG_RUNTIME_DIR or else the directory for temporary files, and the server is
only asked whether the lease is still alive. With --lease the token is one of a
lease that stands, for its holder: no lease is taken, and none is revoked.

With --profile the VIM, and the role where no flag names one, are those that
the ClusterProfile of a hub says (multicluster.x-k8s.io), which the client read.

Where the server does not answer within ` + console.Brief(keptPatience) + `, the cached lease is given as long as
it lives. A lease that cannot be written out is revoked; calls that share it
take the next one.`,
		Example: "  vimbroker credential --vim edge-1 --role view",
		Args:    console.Names(),
		RunE: func(c *cobra.Command, _ []string) error {
			if (vim == "") == (standing == "") != profile || profile && vim != "" || untold && standing == "" {
				return console.Usagef(c, "give one of --vim, --lease and --profile; --untold goes with --lease alone")
			}
			if err := p.CredentialOut(); err != nil {
				return err
			}
			registry, err := p.Connect()
			if err != nil {
				return err
			}
			told, err := p.told(proxy)
			if untold && errors.Is(err, errUntold) {
				told, err = nil, nil
			}
			if profile && err == nil {
				vim, err = told.profiled(&f)
			}
			if err == nil && vim != "" {
				vim, err = p.VIMRef(c.Context(), registry, vim)
			}
			if err != nil {
				return err
			}
			return p.credential(c.Context(), registry, told, wish{f.Request(vim, clientconfig.JSON), f.Ttl, standing})
		},
	}
	c.Flags().StringVar(&vim, "vim", "", "name or id of the VIM")
	c.Flags().StringVar(&standing, "lease", "", "id of a lease that stands, and that you hold")
	c.Flags().BoolVar(&profile, "profile", false, "VIM and role are those of the ClusterProfile that the client has the cluster from")
	c.Flags().BoolVar(&untold, "untold", false,
		"with --lease: the client cannot tell its cluster, as Argo CD cannot, and has these arguments beside the address")
	c.Flags().StringVar(&proxy, "proxy", "", "URL of the proxy that the kubeconfig may name (proxy-url)")
	f.Add(p.Console, c)
	ttl := c.Flags().Lookup("ttl")
	ttl.Usage, ttl.DefValue = "wished lifetime, like 30m", pluginTTL.String()
	f.Ttl = pluginTTL
	console.MustComplete(c, "vim", p.VimNames)
	return c
}

// wish is which lease the credential is to be of: one that is taken, or a standing one, by its id.
type wish struct {
	request  v1.LeaseRequest
	ttl      time.Duration
	standing string
}

// credential prints an exec credential and nothing else.
func (p *program) credential(ctx context.Context, registry *client.Client, told *cluster, w wish) error {
	cache, key := p.cache(w)
	if cache != nil {
		defer cache.Close()
	}
	kept := p.kept(cache, key, told)
	asking := ctx
	if kept != nil {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, keptPatience)
		defer cancel()
	}
	if kept != nil && p.Now().Before(kept.IssuedAt.Add(kept.ExpiresAt.Sub(kept.IssuedAt)/2)) {
		l, err := registry.Lease(asking, kept.Lease)
		switch {
		case err == nil && l.State == "active", away(err) && ctx.Err() == nil:
			return p.printCredential(kept.Config)
		case err != nil && client.Status(err) != http.StatusNotFound:
			return err
		}
		kept, asking = nil, ctx // it has ended
		_ = cache.Remove(key)
	}
	l, err := p.take(asking, registry, told, w)
	switch {
	case kept != nil && away(err) && ctx.Err() == nil:
		return p.printCredential(kept.Config)
	case err != nil:
		return err
	}
	err = p.give(told, l, cache, key)
	if err != nil && w.standing == "" {
		return TakeBack(ctx, registry, l.ID, err)
	}
	return err
}

// away reports whether an error says that the server does not answer, or cannot serve the
// request now. A refusal stays a refusal.
func away(err error) bool {
	status := client.Status(err)
	return errors.As(err, new(*url.Error)) || errors.Is(err, context.DeadlineExceeded) ||
		status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// cache opens the cache of leases, and names the place of the requested one. It is nil if
// there can be none: then each call asks the server.
func (p *program) cache(w wish) (*clientconfig.Cache, string) {
	caller, err := p.Caller()
	if err != nil {
		return nil, ""
	}
	cache, err := clientconfig.OpenCache("")
	if err != nil {
		return nil, ""
	}
	return cache, wishKey(w.request, caller, w.standing)
}

// kept is the cached lease, if there is one that lives, for the cluster that is asked for.
func (p *program) kept(cache *clientconfig.Cache, key string, told *cluster) *clientconfig.Cached {
	if cache == nil {
		return nil
	}
	kept, err := cache.Get(key)
	if err != nil || kept.ExpiresAt.Sub(p.Now()) <= stale || told.same(serverOfConfig(kept.Config)) != nil {
		return nil
	}
	return &kept
}

// take takes the lease that calls share.
func (p *program) take(
	ctx context.Context, registry *client.Client, told *cluster, w wish,
) (v1.IssuedLease, error) {
	r := w.request
	if w.standing != "" {
		l, err := registry.Lease(ctx, w.standing)
		if err != nil {
			return v1.IssuedLease{}, err
		}
		r.VIM = l.VIM
	}
	// Asked first, so that no lease is issued for a cluster that it does not fit.
	v, err := registry.VIM(ctx, r.VIM)
	if err == nil {
		err = told.same(serverOfVIM(v))
	}
	if err != nil {
		return v1.IssuedLease{}, err
	}
	if w.standing != "" {
		return registry.RenewLease(ctx, w.standing, v1.Renewal{})
	}
	r.VIM = v.ID
	return p.sharedLease(ctx, registry, r, w.ttl)
}

// give prints a lease, and keeps it.
func (p *program) give(told *cluster, l v1.IssuedLease, cache *clientconfig.Cache, key string) error {
	config, err := configOf(l)
	if err == nil && told.same(serverOfConfig(config)) != nil {
		err = fmt.Errorf("the VIM %s has just moved to another address; try again", l.VIMName)
	}
	if err == nil {
		err = p.printCredential(config)
	}
	if err != nil {
		return err
	}
	issued := l.IssuedAt
	if l.Standing {
		issued = l.LastUsedAt // of the token
	}
	if cache != nil {
		_ = cache.Put(key, clientconfig.Cached{Config: config, IssuedAt: issued}, p.Now()) // without it the server is asked again
	}
	return nil
}

func (p *program) printCredential(config clientconfig.Config) error {
	text, err := config.Render(clientconfig.ExecCredential)
	if err != nil {
		return fmt.Errorf("making an exec credential for %s: %w", config.VIM, err)
	}
	if _, err := fmt.Fprintln(p.Out, strings.TrimSpace(text.Reveal())); err != nil {
		return fmt.Errorf("writing the exec credential: %w", err)
	}
	return nil
}

// sharedLease takes the lease that calls with the same wish share: the first
// that has neither ended nor is about to.
func (p *program) sharedLease(ctx context.Context, registry *client.Client, r v1.LeaseRequest, ttl time.Duration) (v1.IssuedLease, error) {
	key := p.shareKey(r, ttl)
	for n := 1; ; n++ {
		// If the shared lease was revoked, calls share the next one, so that they do not
		// take one each. Few leases are revoked in half a lease's life.
		next := fmt.Sprintf("%s-%d", key, n)
		if n > mostShared {
			next = uuid.NewString()
		}
		l, err := Issue(ctx, registry, r, next)
		switch {
		case client.Status(err) == http.StatusConflict && n <= mostShared:
		case err != nil || l.ExpiresAt.Sub(p.Now()) > stale || n > mostShared:
			return l, err
		}
	}
}

// shareKey is the same for the same wish, of the same user of the same machine, for
// half the lease's life.
func (p *program) shareKey(r v1.LeaseRequest, ttl time.Duration) string {
	host, _ := os.Hostname() // without one, users of several machines may share
	span := max(ttl/2, time.Minute)
	return "exec-plugin-" + wishKey(r, host, strconv.Itoa(os.Getuid()), strconv.FormatInt(p.Now().UnixNano()/int64(span), 10))
}

// wishKey is the same for the same wish and whatever else counts.
func wishKey(r v1.LeaseRequest, more ...string) string {
	h := sha256.New()
	for _, part := range append([]string{
		r.VIM, r.Role, RulesText(r.Rules), strings.Join(r.Namespaces, ","), strconv.FormatBool(r.ClusterWide), r.TTL, r.Purpose, r.For,
	}, more...) {
		fmt.Fprintf(h, "%d:%s;", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Plugin is this program in the form that a kubeconfig names it, for leases that it takes.
func Plugin(p *console.Console, v v1.VIM, f Flags) clientconfig.Plugin {
	return pluginOf(p, append([]string{"credential", "--vim", v.ID}, f.args()...))
}

// StandingPlugin is this program in the form that a kubeconfig names it, for tokens of a lease that stands.
func StandingPlugin(p *console.Console, lease string) clientconfig.Plugin {
	return pluginOf(p, []string{"credential", "--lease", lease})
}

func (f Flags) args() (args []string) {
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--role", f.role)
	for _, r := range f.rules {
		add("--rule", RulesText([]v1.Rule{r}))
	}
	if f.clusterWide {
		args = append(args, "--cluster-wide")
	}
	for _, n := range f.Namespaces {
		add("--namespace", n)
	}
	if f.Ttl != 0 {
		add("--ttl", f.Ttl.String())
	}
	add("--purpose", f.purpose)
	add("--for", f.forWhom)
	return args
}

// pluginOf has the server's address go along, and the names of the files that the caller logs in with.
func pluginOf(p *console.Console, args []string) clientconfig.Plugin {
	env, named := map[string]string{console.EnvAddr: p.ServerAddr()}, map[string]string{console.EnvCAFile: p.ServerCAFile()}
	if id := p.ClientID(); id != "" {
		env[console.EnvClientID] = id
		for _, key := range []string{console.EnvClientSecretFile, console.EnvClientCertFile, console.EnvClientKeyFile} {
			named[key] = p.Env.Get(key)
		}
	} else if context := p.ContextName(); context != "" {
		env[contexts.EnvContext], env[contexts.EnvConfig] = context, strings.Join(contexts.Files(p.Env.Get), string(filepath.ListSeparator))
	} else {
		named[console.EnvTokenFile] = p.ServerTokenFile()
	}
	for key, file := range named {
		if file == "" {
			continue
		}
		if absolute, err := filepath.Abs(file); err == nil {
			env[key] = absolute
		}
	}
	return clientconfig.Plugin{
		Command: console.SelfCommand(), Args: args, Env: env,
		InstallHint: "This kubeconfig gets its credential from vimbroker, which is not installed or not in PATH.",
	}
}
