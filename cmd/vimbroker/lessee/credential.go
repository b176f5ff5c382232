package lessee

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

const (
	// envExecInfo is what a client tells an exec plugin.
	envExecInfo = "KUBERNETES_EXEC_INFO"
	execVersion = "client.authentication.k8s.io/v1"
	// pluginTTL is the default lifetime of a lease for kubectl.
	pluginTTL = time.Hour
	// stale is how little life makes a shared lease not worth handing out again.
	stale = time.Minute
	// mostShared is how many leases, one after the other, are shared in half a lease's life.
	mostShared = 8
)

// execInfo is the part of an ExecCredential that a client tells its plugin
// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/).
type execInfo struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Cluster *struct {
			Server   string `json:"server"`
			Insecure bool   `json:"insecure-skip-tls-verify"`
		} `json:"cluster"`
	} `json:"spec"`
}

func (p *program) credentialCommand() *cobra.Command {
	var f Flags
	var vim string
	c := &cobra.Command{
		Use:   "credential",
		Short: "Be kubectl's exec credential plugin",
		Long: `Print an ExecCredential (` + execVersion + `) with a lease's token:
what a kubeconfig made by "vimbroker lease issue --exec-plugin" has kubectl run.
It never asks anything, so any interactiveMode will do.

The client must tell which cluster it asks for (provideClusterInfo: true), and
that must be the VIM's: a credential is never given for another server. Calls
that wish the same, by one user of one machine, share one lease for half its
life. A lease that cannot be written out is revoked; calls that share it take
the next one.`,
		Example: "  vimbroker credential --vim edge-1 --role view",
		Args:    console.Names(),
		RunE: func(c *cobra.Command, _ []string) error {
			if vim == "" {
				return console.Usagef(c, "--vim is missing")
			}
			if err := p.CredentialOut(); err != nil {
				return err
			}
			broker, err := p.Connect()
			if err != nil {
				return err
			}
			return p.credential(c.Context(), broker, f.Request(vim, clientconfig.JSON), f.Ttl)
		},
	}
	c.Flags().StringVar(&vim, "vim", "", "name or id of the VIM")
	f.Add(c)
	ttl := c.Flags().Lookup("ttl")
	ttl.Usage, ttl.DefValue = "wished lifetime, like 30m", pluginTTL.String()
	f.Ttl = pluginTTL
	console.MustComplete(c, "vim", p.VimNames)
	return c
}

// credential prints an exec credential and nothing else.
func (p *program) credential(ctx context.Context, broker *client.Client, r v1.LeaseRequest, ttl time.Duration) error {
	// Asked first, so that no lease is issued for a cluster that it does not fit.
	v, err := broker.VIM(ctx, r.VIM)
	if err != nil {
		return err
	}
	if err := p.sameCluster(v); err != nil {
		return err
	}
	r.VIM = v.ID
	l, err := p.sharedLease(ctx, broker, r, ttl)
	if err != nil {
		return err
	}
	if err := p.printCredential(v, l); err != nil {
		return TakeBack(ctx, broker, l.ID, err)
	}
	return nil
}

func (p *program) printCredential(v v1.VIM, l v1.IssuedLease) error {
	config, err := configOf(l)
	if err != nil {
		return err
	}
	if config.Endpoint != v.Endpoint {
		return fmt.Errorf("%s has moved just now; try again", v.Name)
	}
	text, err := config.Render(clientconfig.ExecCredential)
	if err != nil {
		return fmt.Errorf("making an exec credential for %s: %w", v.Name, err)
	}
	if _, err := fmt.Fprintln(p.Out, strings.TrimSpace(text.Reveal())); err != nil {
		return fmt.Errorf("writing the exec credential: %w", err)
	}
	return nil
}

// sameCluster refuses unless the client asks for this VIM's own server. Run by
// hand, with nothing told, there is no other cluster to mistake it for.
func (p *program) sameCluster(v v1.VIM) error {
	told := p.Env.Get(envExecInfo)
	if told == "" {
		return nil
	}
	var info execInfo
	if json.Unmarshal([]byte(told), &info) != nil {
		return errors.New(envExecInfo + " is not the JSON that a client of Kubernetes gives its plugin")
	}
	switch cluster := info.Spec.Cluster; {
	case info.APIVersion != execVersion || info.Kind != "ExecCredential":
		return errors.New("the kubeconfig's exec.apiVersion must be " + execVersion)
	case cluster == nil:
		return errors.New("the client does not tell which cluster it asks for: set provideClusterInfo: true in the kubeconfig's exec")
	case !sameServer(cluster.Server, v.Endpoint):
		return fmt.Errorf("the kubeconfig is for another cluster than %s: its server must be %s", v.Name, v.Endpoint)
	case cluster.Insecure && !v.InsecureSkipVerify:
		return fmt.Errorf("the kubeconfig would not verify the server of %s: remove insecure-skip-tls-verify from it", v.Name)
	}
	return nil
}

// sameServer compares two server URLs as clients connect to them.
func sameServer(a, b string) bool {
	left, right := serverOf(a), serverOf(b)
	return left != "" && left == right
}

// serverOf is a server URL in one spelling, or empty if it is none.
func serverOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return strings.ToLower(u.Hostname()) + ":" + port + strings.TrimRight(u.EscapedPath(), "/")
}

// sharedLease takes the lease that calls with the same wish share: the first
// that has neither ended nor is about to.
func (p *program) sharedLease(ctx context.Context, broker *client.Client, r v1.LeaseRequest, ttl time.Duration) (v1.IssuedLease, error) {
	key := p.shareKey(r, ttl)
	for n := 1; ; n++ {
		// Where the shared lease was revoked, calls share the next one, so that they
		// do not take one each. Few are revoked in half a lease's life.
		next := fmt.Sprintf("%s-%d", key, n)
		if n > mostShared {
			next = uuid.NewString()
		}
		l, err := Issue(ctx, broker, r, next)
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
	h := sha256.New()
	for _, part := range []string{
		r.VIM, r.Role, RulesText(r.Rules), strings.Join(r.Namespaces, ","), strconv.FormatBool(r.ClusterWide), r.TTL, r.Purpose,
		host, strconv.Itoa(os.Getuid()),
		strconv.FormatInt(p.Now().UnixNano()/int64(span), 10),
	} {
		fmt.Fprintf(h, "%d:%s;", len(part), part)
	}
	return "exec-plugin-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Plugin is this program as a kubeconfig names it. Where the server is goes
// along; the token does not, only the name of its file.
func Plugin(p *console.Console, v v1.VIM, f Flags) clientconfig.Plugin {
	args := []string{"credential", "--vim", v.ID}
	if f.role != "" {
		args = append(args, "--role", f.role)
	}
	for _, r := range f.rules {
		args = append(args, "--rule", RulesText([]v1.Rule{r}))
	}
	if f.clusterWide {
		args = append(args, "--cluster-wide")
	}
	for _, n := range f.Namespaces {
		args = append(args, "--namespace", n)
	}
	if f.Ttl != 0 {
		args = append(args, "--ttl", f.Ttl.String())
	}
	if f.purpose != "" {
		args = append(args, "--purpose", f.purpose)
	}
	env := map[string]string{console.EnvAddr: p.ServerAddr()}
	for key, file := range map[string]string{console.EnvTokenFile: p.ServerTokenFile(), console.EnvCAFile: p.Env.Get(console.EnvCAFile)} {
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
