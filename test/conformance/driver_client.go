package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// clientReads: every format that the type says it has holds a lease's credential, and
// is a JSON object if and only if it says so.
func clientReads(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.life(), s.Namespaces[0])
	m := s.issue(t, g)
	a := s.a
	a.Credential = broker.Credential{Kind: a.Credential.Kind}
	client := s.d.Client(a, g.Namespaces, m.Credential.Kind)
	formats := s.d.Type().Formats
	if has := clientconfig.Formats(client); !slices.Equal(has, formats) {
		t.Errorf("a client of the VIM reads %v, and the type says %v", has, formats)
	}
	config := clientconfig.Config{
		VIM: "conformance", VIMID: a.VIM, Lease: g.Lease, Endpoint: a.Target.Endpoint, CACert: a.Target.CACert,
		ServerName: a.Target.ServerName, Credential: m.Credential, Client: client, ExpiresAt: m.ExpiresAt,
	}
	// Each kind of credential has one part that is secret.
	secrets := []string{m.Credential.Token.Reveal(), m.Credential.Password.Reveal(), m.Credential.ApplicationCredentialSecret.Reveal()}
	secrets = slices.DeleteFunc(secrets, func(text string) bool { return text == "" })
	for _, format := range formats {
		text, err := config.Render(format)
		if err != nil {
			t.Errorf("as %s: %v", format, err)
			continue
		}
		var object map[string]any
		if is := json.Unmarshal([]byte(text.Reveal()), &object) == nil; is != config.Object(format) {
			t.Errorf("as %s: it is a JSON object: %t, and the form says %t", format, is, config.Object(format))
		}
		if !slices.ContainsFunc(secrets, func(one string) bool { return strings.Contains(text.Reveal(), one) }) {
			t.Errorf("as %s: it does not hold the lease's credential", format)
		}
	}
	if _, err := config.Render("no-such-format"); err == nil {
		t.Error("a format that the type does not have is rendered")
	}
}
