package cli

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

// jwtTest asks the server how a token fares.
type jwtTest struct{ file, vim, action string }

// run tries the token at the table of trust, and then, as who it would make, the policies. The token is printed nowhere.
func (t jwtTest) run(p *program, c *cobra.Command, registry *client.Client) error {
	text, err := files.ReadFile(t.file, p.In)
	if err != nil {
		return err
	}
	trial, err := registry.TryToken(c.Context(), secret.NewText(strings.TrimSpace(string(text))))
	if err != nil {
		return err
	}
	if err := p.Print(trial, func(w io.Writer) { trialFacts(p, w, trial) }); err != nil {
		return err
	}
	if trial.Principal == nil {
		return console.ExitWith(console.ExitFailed, nil)
	}
	if t.action == "" && t.vim == "" {
		return nil
	}
	q := v1.Question{Action: t.action, Principal: trial.Principal}
	if q.Action == "" {
		q.Action = string(policy.LeaseIssue)
	}
	if t.vim, err = p.VIMRef(c.Context(), registry, t.vim); err != nil {
		return err
	}
	if q.Resource, err = resource(c.Context(), registry, t.vim, ""); err != nil {
		return err
	}
	return answered(p.decided)(registry.Explain(c.Context(), q))
}

func trialFacts(p *program, w io.Writer, t v1.TrustTrial) {
	entry := t.Entry
	if entry == "" {
		entry = "none has its issuer"
	}
	console.Facts(w, "Entry", entry, "Refused", t.Reason)
	for _, why := range t.Rules {
		rule, wrong, _ := strings.Cut(why, ": ")
		console.Facts(w, "Not "+rule, wrong)
	}
	if who := t.Principal; who != nil {
		console.Facts(w, "Rule", t.Rule, "Principal", who.Name, "Shown as", t.Shown, "Project", who.Project,
			"Roles", console.List(who.Roles))
		for _, claim := range slices.Sorted(maps.Keys(who.Claims)) {
			console.Facts(w, "Claim "+claim, console.List(who.Claims[claim]))
		}
		console.Facts(w, "Until", p.When(t.ExpiresAt))
	}
	if t.Once {
		console.Facts(w, "Taken", "once; this does not count")
	}
}
