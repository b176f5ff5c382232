package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
)

func (p *program) tokenCommand() *cobra.Command {
	return console.Group("token", "Make callers' tokens, and see which are used",
		`The server knows its callers by tokens, of which its tokens file keeps digests
only.`,
		"  vimbroker token new --name alice --project acme --role member\n  vimbroker token list",
		p.tokenNewCommand(),
		p.tokenListCommand(),
		p.tokenPrintCommand(),
	)
}

func (p *program) tokenListCommand() *cobra.Command {
	return things[v1.Token]{
		all: func(registry *client.Client, ctx context.Context) iter.Seq2[v1.Token, error] {
			return registry.AllTokens(ctx, listPage)
		},
		id: func(t v1.Token) string { return t.ID },
	}.listed(p, &cobra.Command{
		Use:   "list",
		Short: "List the server's tokens, and when each was last used",
		Long: `List the tokens of the server's tokens file: who holds each, until when it is
taken, and when it was last used (to the minute). The tokens themselves are
nowhere to be had. ID is how the digest in the file begins. A holder who
changes over to a new token has two: "previous" is the one that can go from the
file once it is not used any more.

Administrators see every project's, administrators of a project those of their
project.`,
		Example: "  vimbroker token list\n  vimbroker token list -o jsonpath='{.items[*].name}'",
	}, p.tokenTable)
}

func (p *program) tokenTable(w io.Writer, tokens []v1.Token) {
	p.Header(w, []string{"NAME", "PROJECT", "ID", "EXPIRES", "LAST USED"}, "ROLES")
	for _, t := range tokens {
		id := t.ID
		if t.Previous {
			id += " (previous)"
		}
		p.Columns(w, []string{
			p.Cut(t.Name), p.Cut(t.Project), id, cmp.Or(p.When(t.ExpiresAt), "never"), cmp.Or(p.When(t.LastUsedAt), "never"),
		}, console.List(t.Roles))
	}
}

// newToken is the output of "token new" for programs.
type newToken struct {
	Token secret.Text `json:"token"`
	Entry tokenEntry  `json:"entry"`
}

// tokenEntry is a line of the tokens file.
type tokenEntry struct {
	Name    string   `json:"name" yaml:"name"`
	Project string   `json:"project" yaml:"project"`
	Roles   []string `json:"roles" yaml:"roles"`
	SHA256  string   `json:"sha256" yaml:"sha256"`
	// ExpiresAt is RFC 3339; empty means never.
	ExpiresAt string `json:"expiresAt,omitempty" yaml:"expiresAt,omitempty"`
}

func tokenEnd(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func (p *program) tokenNewCommand() *cobra.Command {
	var t policy.StaticToken
	var life time.Duration
	c := &cobra.Command{
		Use:   "new",
		Short: "Make a token and its line for the tokens file",
		Long: `Make a token for a caller. The token goes to standard output and is not stored
anywhere. The line for the server's tokens file goes to standard error; it holds
only a digest. Nothing is sent to the server.`,
		Example: "  vimbroker token new --name alice --project acme --role member > alice.token",
		Args:    console.Names(),
		RunE: func(c *cobra.Command, _ []string) error {
			plain, digest := policy.NewToken()
			t.SHA256 = digest
			if life > 0 {
				t.ExpiresAt = p.Now().Add(life)
			}
			if _, err := policy.NewStaticTokens([]policy.StaticToken{t}); err != nil {
				return console.Usage(c, err)
			}
			return p.printToken(newToken{secret.NewText(plain), tokenEntry{t.Name, t.Project, t.Roles, t.SHA256, tokenEnd(t.ExpiresAt)}})
		},
	}
	flags := c.Flags()
	flags.StringVar(&t.Name, "name", "", "the caller's name")
	flags.StringVar(&t.Project, "project", "", "the project that it acts in")
	console.LifetimeFlag(c, &life, "expires-in", "how long the server takes the token (default: without end)")
	flags.StringArrayVar(&t.Roles, "role", nil, "role: reader, member or project-admin of the project, or admin of all; can be repeated")
	console.MustChoose(c, "role", policy.RoleAdmin, policy.RoleProjectAdmin, policy.RoleMember, policy.RoleReader)
	p.OutputFlag(c)
	return c
}

func (p *program) printToken(t newToken) error {
	if !p.ForPeople() {
		return p.Print(t, nil)
	}
	var line yaml.Node
	if err := line.Encode(t.Entry); err != nil {
		return fmt.Errorf("encoding the line for the tokens file: %w", err)
	}
	line.Style = yaml.FlowStyle
	text, err := yaml.Marshal([]*yaml.Node{&line})
	if err != nil {
		return fmt.Errorf("encoding the line for the tokens file: %w", err)
	}
	if _, err := io.WriteString(p.Out, t.Token.Reveal()+"\n"); err != nil {
		return fmt.Errorf("writing the token: %w", err)
	}
	fmt.Fprintf(p.Err, "add to the server's tokens file, under \"tokens:\"\n%s", text)
	return nil
}

func (p *program) tokenPrintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "print",
		Short: "Print a token of five minutes, for a script",
		Long: `Exchange the token of the current context, or of the environment, for one of the
server's own that ends in five minutes, and print it. The server needs an
oauth.issuer. A registered client gets its tokens at /oauth2/token, and a token
of a Keystone is shown as it is.`,
		Example: `  curl -H "Authorization: Bearer $(vimbroker token print)" \
      https://vimbroker.example:8443/v1/whoami`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			if err := p.CredentialOut(); err != nil {
				return err
			}
			token, err := registry.ShortToken(c.Context())
			if err != nil {
				return err
			}
			_, err = io.WriteString(p.Out, token.Reveal()+"\n")
			return err
		}),
	}
}
