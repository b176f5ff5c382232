package broker

import (
	"encoding/json"
	"strings"
)

const (
	// minEcho is how long a secret must be, in bytes, to be looked for: what is shorter a
	// text may contain by chance, a password "demo" for example.
	minEcho = 16
	// maxEcho is how much of a secret is looked for: texts are kept only in part.
	maxEcho = 48
)

// echoes is an error where a VIM's answer holds a secret of a credential that it was
// sent: what is kept of answers is shown to people who may not have that.
func echoes(c Credential, texts ...string) error {
	p := c.Reveal()
	for _, s := range []string{p.Token, p.Password, p.ClientKey, p.AppCredSecret} {
		if len(s) < minEcho {
			continue
		}
		for _, text := range texts {
			if strings.Contains(text, s[:min(len(s), maxEcho)]) {
				return &Error{
					Kind: ErrUnreachable, Detail: "the VIM answers with a credential that it was sent",
					Remedy: "look for what stands in front of it; take the credential for stolen",
				}
			}
		}
	}
	return nil
}

// texts are what of a report is kept.
func (r Report) texts() []string {
	discovered, _ := json.Marshal(r.Discovered) // always can
	return []string{r.Identity, r.Version, r.MintMessage, string(discovered)}
}
