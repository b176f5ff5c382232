package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
)

// leaseIssueHelp says which lease each flag takes.
const leaseIssueHelp = `Take a lease on a VIM: a credential of its own, limited to a role, to namespaces
and in time. --out writes its client configuration to a file that only you can
read. Without --out the configuration goes to standard output; a line about the
lease goes to standard error. With -o json or -o yaml the whole lease goes to
standard output; with --out as well, the lease and the name of the file.

If the configuration cannot be written, the lease is revoked, and the exit
code is 1. No lease is taken where standard output is closed or the null
device.

--standing takes a lease that stands for months, for a program that is
registered as a client. Its secret is printed, once: the password at the token
endpoint, whose user name is the lease's id, and --ttl is that of each token.

--credential user asks for a user of the lease's own on a cloud, with a
password, for clients that know nothing else. It stands until it is revoked, or
--ttl is over; renewing it replaces the password.

--credential passThrough asks for the VIM's stored credential itself, for the
same clients where the VIM lets no users be made. It needs the right
lease:pass-through, which nobody has unless a policy of the site gives it, and
nothing ends it but its replacement on the VIM.

--exec-plugin takes no lease. It writes a kubeconfig without a credential;
kubectl then runs "vimbroker credential" whenever it needs one. With --standing
it takes a lease that stands, and the kubeconfig names that: it holds neither a
token nor the lease's secret, and its plugin logs in as you do. With --instance
the lease has successors, and the kubeconfig works until it is revoked.`

// leaseCredentials are the special kinds of a lease's credential.
var leaseCredentials = []string{"user", "passThrough"}

// leaseIssuing are the flags of lease issue.
type leaseIssuing struct {
	lessee.Flags
	out                                          outFlags
	vim, format, operation, instance, credential string
	plugin, standing                             bool
}

func (p *program) leaseIssueCommand() *cobra.Command {
	var f leaseIssuing
	var formats []string
	for _, known := range clientconfig.Known() {
		formats = append(formats, string(known))
	}
	c := &cobra.Command{
		Use:   "issue [VIM]",
		Short: "Take a lease and print its client configuration",
		Long:  leaseIssueHelp,
		Example: `  vimbroker lease issue --vim edge-1 --role edit --namespace web --ttl 30m \
      --out web.kubeconfig
  vimbroker lease issue --vim edge-1 --out kubeconfig --replace
  vimbroker lease issue --vim edge-1 --role view --ttl 2h --for dave \
      --out dave.kubeconfig
  eval "$(vimbroker lease issue --vim edge-1 --format env)"
  vimbroker lease issue --vim nfv1 --credential user --role member \
      --out clouds.yaml
  vimbroker lease issue --vim edge-1 --exec-plugin --out kubeconfig
  vimbroker lease issue --vim edge-1 --role edit -n web --standing \
      --instance argocd --exec-plugin --out kubeconfig`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: console.OnlyFirst(p.VimNames),
		RunE: p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
			if len(args) > 0 && f.vim != "" {
				return console.Usagef(c, "name the VIM once: as the argument, or by --vim")
			}
			if len(args) > 0 {
				f.vim = args[0]
			}
			return p.issueLease(c, registry, f)
		}),
	}
	flags := c.Flags()
	flags.StringVar(&f.vim, "vim", "", "name or id of the VIM (default: the project's default VIM)")
	flags.StringVar(&f.format, "format", "", "form of the client configuration: "+strings.Join(formats, ", ")+
		" (default: kubeconfig, or clouds.yaml for OpenStack)")
	flags.StringVar(&f.operation, "operation", "", "LCM operation occurrence that the lease serves")
	flags.StringVar(&f.instance, "instance", "", "VNF instance of another VNFM that the lease serves")
	flags.BoolVar(&f.standing, "standing", false, "take a lease that stands, and print its secret")
	f.out.add(c)
	flags.StringVar(&f.credential, "credential",
		"", "what the credential is to be: "+strings.Join(leaseCredentials, ", ")+" (default: what the VIM's leases usually are)")
	flags.BoolVar(&f.plugin, "exec-plugin", false, "write a kubeconfig in exec plugin form; takes no lease")
	f.Add(p.Console, c)
	c.MarkFlagsMutuallyExclusive("standing", "credential")
	c.MarkFlagsMutuallyExclusive("exec-plugin", "credential")
	c.MarkFlagsMutuallyExclusive("standing", "format")
	c.MarkFlagsMutuallyExclusive("exec-plugin", "format")
	console.MustComplete(c, "vim", p.VimNames)
	console.MustChoose(c, "credential", leaseCredentials...)
	console.MustChoose(c, "format", formats...)
	p.OutputFlag(c)
	return c
}

// issueLease takes a lease, and hands over its client configuration.
func (p *program) issueLease(c *cobra.Command, registry *client.Client, f leaseIssuing) error {
	var err error
	if f.vim, err = p.VIMRef(c.Context(), registry, f.vim); err != nil {
		return err
	}
	r := f.Request(f.vim, clientconfig.Format(f.format))
	r.Operation, r.Instance, r.Standing, r.Credential = f.operation, f.instance, f.standing, f.credential
	if f.plugin {
		return p.writePlugin(c, registry, f, r)
	}
	if f.standing {
		if f.out.name != "" {
			return console.Usagef(c, "--standing with --out needs --exec-plugin")
		}
		return p.issueStanding(c.Context(), registry, r)
	}
	file, err := f.out.create(c, p.Console)
	if err != nil {
		return err
	}
	defer file.Discard() //nolint:errcheck // what is not complete is empty
	l, err := lessee.Issue(c.Context(), registry, r, "")
	if err != nil {
		return err
	}
	if err := p.handOver(l, file); err != nil {
		return lessee.TakeBack(c.Context(), registry, l.ID, err)
	}
	if p.ForPeople() {
		p.Warn("lease %s on %s: %s%s; expires %s%s%s", l.ID, l.VIMName, roleOf(l.Lease), within(l.Namespaces)+graded(l.Lease),
			p.Moment(l.ExpiresAt), p.shorter(l.Lease, f.Ttl), passedThrough(l.Lease)+forWhom(l.Lease))
	}
	return nil
}

// issueStanding takes a lease that stands, and prints its secret.
func (p *program) issueStanding(ctx context.Context, registry *client.Client, r v1.LeaseRequest) error {
	if err := p.CredentialOut(); err != nil {
		return err
	}
	l, err := lessee.Issue(ctx, registry, r, "")
	if err != nil {
		return err
	}
	if !p.ForPeople() {
		err = p.Print(l, nil)
	} else {
		p.warnReadable()
		_, err = io.WriteString(p.Out, l.LeaseSecret.Reveal()+"\n")
	}
	if err != nil {
		return lessee.TakeBack(ctx, registry, l.ID, fmt.Errorf("writing the secret: %w", err))
	}
	if p.ForPeople() {
		p.Warn("lease %s on %s stands: %s%s; this is its secret; tokens of %s at most; it ends %s if it is not used, and %s at the latest",
			l.ID, l.VIMName, roleOf(l.Lease), within(l.Namespaces)+graded(l.Lease), l.TokenTTL, p.Moment(l.ExpiresAt), p.Moment(l.MaxExpiresAt))
	}
	return nil
}

// outFlags choose the destination of a client configuration.
type outFlags struct {
	name    string
	replace bool
}

func (f *outFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.name, "out", "", "write the configuration to this file, readable by you alone, instead of standard output")
	c.Flags().BoolVar(&f.replace, "replace", false, "with --out: replace the file if it exists; if the command fails, the old file stays")
}

// create begins the file, before the server is asked for anything; nil stands for
// standard output.
func (f *outFlags) create(c *cobra.Command, p *console.Console) (*files.NewFile, error) {
	if f.name == "" {
		if f.replace {
			return nil, console.Usagef(c, "--replace needs --out")
		}
		return nil, p.CredentialOut()
	}
	console.KeepWriting()
	return files.CreateFile(f.name, f.replace)
}

// writtenLease is a lease whose client configuration is in a file.
type writtenLease struct {
	v1.Lease
	// File is the name that was given with --out.
	File string `json:"file"`
}

// handOver gives the client configuration to the person: in a file, or on stdout.
// With a file, -o json and -o yaml print the lease without it.
func (p *program) handOver(l v1.IssuedLease, file *files.NewFile) error {
	text := l.ClientConfig.Text
	if text.Empty() {
		return errors.New("the server's answer holds no client configuration")
	}
	content := []byte(strings.TrimSuffix(text.Reveal(), "\n") + "\n")
	switch {
	case file != nil:
		if err := file.Commit(content); err != nil || p.ForPeople() {
			return err
		}
		return p.Print(writtenLease{l.Lease, file.Name()}, nil)
	case !p.ForPeople():
		return p.Print(l, nil)
	}
	p.warnReadable()
	if _, err := p.Out.Write(content); err != nil {
		return fmt.Errorf("writing the client configuration: %w", err)
	}
	return nil
}

// warnReadable says so if others can read the file that standard output is.
func (p *program) warnReadable() {
	out, isFile := p.Out.(*os.File)
	if !isFile {
		return
	}
	if info, err := out.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		p.Warn("WARNING: others can read the file that standard output goes to (mode %04o), and the credential in it; run chmod 600 on "+
			"it, and use --out FILE next time", info.Mode().Perm())
	}
}

// writePlugin writes a kubeconfig without a credential to the file of --out, or prints it. A lease that stands is taken first,
// and revoked if the kubeconfig cannot be written.
func (p *program) writePlugin(c *cobra.Command, registry *client.Client, f leaseIssuing, r v1.LeaseRequest) error {
	if f.vim == "" {
		return console.Usagef(c, "--exec-plugin needs --vim")
	}
	v, err := registry.VIM(c.Context(), f.vim)
	if err != nil {
		return err
	}
	file, err := f.out.create(c, p.Console)
	if err != nil {
		return err
	}
	defer file.Discard() //nolint:errcheck // what is not complete is empty
	if !f.standing {
		return p.handOverPlugin(v, f, lessee.Plugin(p.Console, v, f.Flags), file)
	}
	r.VIM, r.Format = v.ID, string(clientconfig.JSON)
	l, err := lessee.Issue(c.Context(), registry, r, "")
	if err != nil {
		return err
	}
	if err := p.handOverPlugin(v, f, lessee.StandingPlugin(p.Console, l.ID), file); err != nil {
		return lessee.TakeBack(c.Context(), registry, l.ID, err)
	}
	p.Warn("lease %s on %s stands: %s%s; it ends %s if it is not used", l.ID, l.VIMName, roleOf(l.Lease), within(l.Namespaces)+graded(l.Lease),
		p.Moment(l.ExpiresAt))
	return nil
}

// pluginKubeconfig is a kubeconfig for a VIM that names a plugin; name is that of its entries.
func pluginKubeconfig(v v1.VIM, name string, f lessee.Flags, plugin clientconfig.Plugin) string {
	cluster := clientconfig.KubernetesClient{Namespace: v.Namespace}
	if len(f.Namespaces) > 0 {
		cluster.Namespace = f.Namespaces[0]
	}
	return cluster.PluginKubeconfig(clientconfig.Config{
		VIM: name, Endpoint: v.Endpoint, CACert: v.CACert, InsecureSkipVerify: v.InsecureSkipVerify, ServerName: v.ServerName,
	}, plugin)
}

// handOverPlugin gives a kubeconfig with a plugin to the person: in a file, or on stdout.
func (p *program) handOverPlugin(v v1.VIM, f leaseIssuing, plugin clientconfig.Plugin, file *files.NewFile) error {
	text := pluginKubeconfig(v, v.Name, f.Flags, plugin)
	if file != nil {
		return file.Commit([]byte(text))
	}
	if _, err := io.WriteString(p.Out, text); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// shorter says so if a lease was granted for less than was requested.
func (p *program) shorter(l v1.Lease, wished time.Duration) string {
	if wished == 0 || l.ExpiresAt.IsZero() || l.ExpiresAt.Sub(p.Now()) > wished-time.Minute {
		return ""
	}
	return ", sooner than the " + console.Brief(wished) + " wished: no more is granted"
}

// roleOf names the rights of a lease, if fewer than all were requested.
func roleOf(l v1.Lease) string {
	if len(l.Rules) > 0 {
		return lessee.RulesText(l.Rules)
	}
	if l.Role == "" {
		return "every role of the VIM's credential"
	}
	return "role " + l.Role
}

// graded names the identities that the holder of a lease can become beyond its role or
// rules.
func graded(l v1.Lease) string {
	if l.Grade == "" || l.Grade == "bounded" {
		return ""
	}
	return "; grade " + l.Grade
}

// within tells the namespaces of a lease.
func within(namespaces []string) string {
	if len(namespaces) == 0 {
		return ""
	}
	return " in " + console.List(namespaces)
}

// forWhom names the person that a lease is for.
func forWhom(l v1.Lease) string {
	if l.For == "" {
		return ""
	}
	return "; for " + l.For + ": revoke it with vimbroker lease revoke --for " + l.For
}

// passedThrough warns of a lease that is the stored credential itself.
func passedThrough(l v1.Lease) string {
	if l.Derived {
		return ""
	}
	return "; this is the VIM's own credential, which revoking does not end"
}
