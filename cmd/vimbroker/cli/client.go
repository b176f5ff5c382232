package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
	"github.com/vimbroker/vimbroker/policy"
)

// oauthClients are named by id or by name.
var oauthClients = things[v1.OAuthClient]{
	what: "client", list: "vimbroker client list",
	all:  (*client.Client).AllOAuthClients,
	id:   func(c v1.OAuthClient) string { return c.ID },
	name: func(c v1.OAuthClient) string { return c.Name },
	hint: func(c v1.OAuthClient) string { return console.List(c.Roles) },
}

func (p *program) clientCommand() *cobra.Command {
	return console.Group("client", "Register programs that log in by OAuth 2.0",
		`A client is a program, such as a VNFM, that logs in by OAuth 2.0's client
credentials, with a secret or with a certificate of its own (RFC 8705). It acts
in one project, with the roles that it is given, and policies know it as
client:ID. The server keeps only a digest of its secret.

A VNFM that asks for grants (SOL003) names no VIM. Placements say where its
VNFs go, and with what rights: a YAML list, of which the first that matches
counts.

  - vnfd: "b1bb*"            # pattern of VNFD ids; also instance, parameters
    vim: edge-1              # id or name; left out: the project's default VIM
    role: edit               # or rules, as in a lease request
    namespaces: [web]
    ttl: 15m                 # of each credential
    grade: namespaces        # the widest that a lease may have
    profile: oidc            # or token, user, passThrough`,
		"  vimbroker client create tacker-north\n  vimbroker client rotate tacker-north --overlap 1h",
		p.clientCreateCommand(),
		oauthClients.listed(p, &cobra.Command{
			Use:   "list",
			Short: "List clients", Long: "List the clients that you may see, by project and name.",
			Example: "  vimbroker client list",
		}, p.clientTable),
		show(p, oauthClients.argument(p), &cobra.Command{
			Use:   "show CLIENT",
			Short: "Show one client", Long: "Show one client. Its secret is shown nowhere.",
			Example: "  vimbroker client show tacker-north",
		}, (*client.Client).OAuthClient, printed(p, func(w io.Writer, one v1.OAuthClient) {
			console.Facts(w, "Name", one.Name, "Id", one.ID, "Principal", one.Principal, "Project", one.Project,
				"Roles", console.List(one.Roles), "State", one.State)
			for n, at := range one.Placements {
				console.Facts(w, fmt.Sprintf("Placement %d", n+1), placement(at))
			}
			if one.Certificate == nil {
				console.Facts(w, "Secret made", p.Moment(one.RotatedAt))
			} else {
				console.Facts(w, "Certificate", certificateText(one.Certificate), "Certificate named", p.Moment(one.RotatedAt))
			}
			console.Facts(w, "Secret before ends", p.Moment(one.PreviousUntil),
				"Created", p.Moment(one.CreatedAt)+" by "+one.CreatedBy, "Updated", p.Moment(one.UpdatedAt))
		})),
		p.clientUpdateCommand(),
		p.clientRotateCommand(),
		act(p, oauthClients.argument(p), &cobra.Command{
			Use:   "delete CLIENT",
			Short: "Delete a client, and revoke its leases",
			Long: `Delete a client: it cannot log in any more, and its leases are revoked. Leases
on a VIM that does not answer are revoked once it does; "vimbroker lease list"
shows them.`,
			Example: "  vimbroker client delete tacker-north",
		}, (*client.Client).DeleteOAuthClient),
		p.clientKeyCommand(),
	)
}

func (p *program) clientCreateCommand() *cobra.Command {
	var r v1.OAuthClientRequest
	var placements string
	var shown certificateFlags
	c := free.command(p, &cobra.Command{
		Use:   "create NAME",
		Short: "Register a client, and show its secret once",
		Long: `Register a client. Its secret alone goes to standard output, and is shown this
once; its id, with which it logs in, goes to standard error. With -o json both
go to standard output.

With --tls-subject or --tls-san it has no secret: it logs in with a certificate
of that name, which an authority signed that the server's table of trust has
for clients (certificates, without principals). The subject is written as this
prints it, in letters of that case and that order:
openssl x509 -noout -subject -nameopt RFC2253,-esc_msb -in FILE

With --jwks it has no secret either: it signs assertions (private_key_jwt, RFC
7523) for /oauth2/token, each of which is taken once and for five minutes.

Role vnfm lets it lease the VIMs of its project and those that are shared with
it, look after its own leases, and read VNF packages. Policies say more: which
VIMs, roles, namespaces and lifetimes.`,
		Example: `  vimbroker client create tacker-north > tacker.secret
  vimbroker client create tacker-north --in-project acme --role vnfm -o json
  vimbroker client create tacker-south --tls-subject CN=tacker-south,O=Acme`,
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		var err error
		if r.Name = name; placements != "" {
			if r.Placements, err = p.readPlacements(placements); err != nil {
				return err
			}
		}
		if r.Certificate, err = shown.read(c); err != nil {
			return err
		}
		return answered(p.printClientSecret)(registry.CreateOAuthClient(c.Context(), r))
	})
	flags := c.Flags()
	flags.StringVar(&r.Project, "in-project", "", "project that it acts in (default: yours)")
	flags.StringArrayVar(&r.Roles, "role", []string{policy.RoleVNFM}, "role of the client; can be repeated")
	flags.StringVar(&placements, "placements", "", "YAML file that says where its VNFs go; - reads standard input")
	shown.flags(c)
	console.MustChoose(c, "role", policy.RoleVNFM, policy.RoleMember, policy.RoleReader, policy.RoleProjectAdmin)
	p.OutputFlag(c)
	return c
}

// certificateFlags say which certificate a client logs in with.
type certificateFlags struct{ subject, san, jwks string }

func (f *certificateFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.subject, "tls-subject", "", "it logs in with a certificate of this subject, like CN=tacker,O=Acme")
	c.Flags().StringVar(&f.san, "tls-san", "", "it logs in with a certificate that has this name: DNS:, URI:, IP: or email:, and the name")
	c.Flags().StringVar(&f.jwks, "jwks", "", "it logs in by assertions that it signs: file of its public keys, a JWK set")
	c.MarkFlagsMutuallyExclusive("tls-subject", "tls-san", "jwks")
}

// read is nil if neither flag is given.
func (f *certificateFlags) read(c *cobra.Command) (*v1.OAuthClientCertificate, error) {
	if f.jwks != "" {
		text, err := files.ReadNamed(f.jwks)
		return &v1.OAuthClientCertificate{JWKS: string(text)}, err
	}
	switch kind, name, _ := strings.Cut(f.san, ":"); {
	case f.subject != "":
		return &v1.OAuthClientCertificate{SubjectDN: f.subject}, nil
	case f.san == "":
		return nil, nil //nolint:nilnil // none is asked for
	case strings.EqualFold(kind, "DNS"):
		return &v1.OAuthClientCertificate{SANDNS: name}, nil
	case strings.EqualFold(kind, "URI"):
		return &v1.OAuthClientCertificate{SANURI: name}, nil
	case strings.EqualFold(kind, "IP"):
		return &v1.OAuthClientCertificate{SANIP: name}, nil
	case strings.EqualFold(kind, "email"):
		return &v1.OAuthClientCertificate{SANEmail: name}, nil
	}
	return nil, console.Usagef(c, "--tls-san must begin with DNS:, URI:, IP: or email:")
}

// certificateText describes a certificate for people.
func certificateText(c *v1.OAuthClientCertificate) string {
	switch {
	case c == nil:
		return ""
	case c.SubjectDN != "":
		return "subject " + c.SubjectDN
	case c.SANDNS != "":
		return "DNS:" + c.SANDNS
	case c.SANURI != "":
		return "URI:" + c.SANURI
	case c.SANIP != "":
		return "IP:" + c.SANIP
	case c.JWKS != "":
		return "public keys (JWK set) of its assertions"
	}
	return "email:" + c.SANEmail
}

// printClientSecret prints a secret that is shown once.
func (p *program) printClientSecret(made v1.OAuthClientSecret) error {
	if !p.ForPeople() {
		return p.Print(made, nil)
	}
	if made.Certificate != nil {
		fmt.Fprintf(p.Err, "client %s (%s) in project %s logs in with a certificate: %s\n", made.ID, made.Name, made.Project,
			certificateText(made.Certificate))
	} else {
		if _, err := io.WriteString(p.Out, made.ClientSecret.Reveal()+"\n"); err != nil {
			return fmt.Errorf("writing the secret: %w", err)
		}
		fmt.Fprintf(p.Err, "client %s (%s) in project %s: this is its secret, which is not shown again\n", made.ID, made.Name, made.Project)
	}
	if !made.PreviousUntil.IsZero() {
		fmt.Fprintf(p.Err, "the secret before is taken until %s\n", made.PreviousUntil.UTC().Format(time.RFC3339))
	}
	return nil
}

func (p *program) clientTable(w io.Writer, all []v1.OAuthClient) {
	p.Header(w, []string{"NAME", "PROJECT", "STATE", "ROTATED"}, "ROLES", "ID")
	for _, one := range all {
		p.Columns(w, []string{p.Cut(one.Name), p.Cut(one.Project), one.State, p.When(one.RotatedAt)}, console.List(one.Roles), one.ID)
	}
}

func (p *program) clientUpdateCommand() *cobra.Command {
	var placements string
	c := oauthClients.command(p, &cobra.Command{
		Use:   "update CLIENT",
		Short: "Say where a client's VNFs go",
		Long: `Replace the placements of a client with those of a YAML file; "vimbroker client
--help" has their form. The server refuses one under which the client would be
issued no lease. Leases that the client has stay as they are.`,
		Example: "  vimbroker client update tacker-north --placements placements.yaml",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		all, err := p.readPlacements(placements)
		if err != nil {
			return err
		}
		return answered(printed(p, func(w io.Writer, stored v1.OAuthClient) {
			p.clientTable(w, []v1.OAuthClient{stored})
		}))(registry.SetPlacements(c.Context(), id, all))
	})
	c.Flags().StringVar(&placements, "placements", "", "YAML file that says where its VNFs go; - reads standard input (required)")
	console.MustHave(c, "placements")
	p.OutputFlag(c)
	return c
}

func (p *program) readPlacements(name string) ([]v1.Placement, error) {
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		return nil, err
	}
	return files.Placements(name, text)
}

// placement describes one for people.
func placement(at v1.Placement) string {
	var words []string
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+" "+value)
		}
	}
	add("vnfd", at.VNFD)
	add("instance", at.Instance)
	for _, name := range slices.Sorted(maps.Keys(at.Parameters)) {
		add("parameter "+name, at.Parameters[name])
	}
	if len(words) == 0 {
		words = []string{"everything"}
	}
	words = []string{strings.Join(words, ", ") + ": on " + cmp.Or(at.VIM, "the default VIM")}
	add("role", at.Role)
	add("rules", lessee.RulesText(at.Rules))
	add("namespaces", strings.Join(at.Namespaces, ","))
	if at.ClusterWide {
		words = append(words, "cluster-wide")
	}
	add("ttl", at.TTL)
	add("at most", at.Grade)
	add("profile", at.Profile)
	add("zone", at.Zone)
	return strings.Join(words, ", ")
}

func (p *program) clientRotateCommand() *cobra.Command {
	var r v1.OAuthClientRotation
	var overlap time.Duration
	var shown certificateFlags
	c := oauthClients.command(p, &cobra.Command{
		Use:   "rotate CLIENT",
		Short: "Give a client another secret, and show it once",
		Long: `Give a client another secret. It goes to standard output and is shown this
once. The secret that the client used last is taken for --overlap longer, so
that it can change over; any other ends at once. So if no secret arrived, repeat
the command.

If somebody else may have the secret, end it at once: by --overlap 0s, or by
--revoke-leases, which revokes every lease of the client besides. With neither
it is taken for a day longer.

With --tls-subject or --tls-san no secret is made: the client logs in with a
certificate of that name from now on. The name of a certificate before ends at
once. A renewed certificate of the same name needs no rotation.`,
		Example: `  vimbroker client rotate tacker-north --overlap 1h > tacker.secret
  vimbroker client rotate tacker-north --overlap 0s > tacker.secret
  vimbroker client rotate tacker-north --revoke-leases > tacker.secret
  vimbroker client rotate tacker-north --tls-subject CN=tacker-north,O=Acme`,
	}, func(c *cobra.Command, id string, registry *client.Client) (err error) {
		if c.Flags().Changed("overlap") {
			r.Overlap = overlap.String()
		}
		if r.Certificate, err = shown.read(c); err != nil {
			return err
		}
		return answered(p.printClientSecret)(registry.RotateOAuthClient(c.Context(), id, r))
	})
	flags := c.Flags()
	console.DurationFlag(c, &overlap, "overlap", "how long the secret before is taken on, at most 30d (default 24h)")
	shown.flags(c)
	flags.BoolVar(&r.RevokeLeases, "revoke-leases", false, "revoke every lease of the client, and end the secret before at once")
	p.OutputFlag(c)
	return c
}
