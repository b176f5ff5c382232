package depot

import (
	"encoding/json"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Client reads what the broker gives the clients of a depot.
type Client struct{}

// Forms implements [clientconfig.Client].
func (Client) Forms() []clientconfig.Form {
	return []clientconfig.Form{
		{Format: "depot.ini", Render: ini},
		{Format: "json", Object: true, Render: object},
	}
}

// Accepts implements [clientconfig.Client].
func (Client) Accepts(c secret.Credential) bool { return !c.Token.Empty() || c.Username != "" }

func ini(c clientconfig.Config) (secret.Text, error) {
	return secret.NewText(fmt.Sprintf("[depot]\nurl = %s\ntoken = %s\n", c.Endpoint, c.Token.Reveal())), nil
}

func object(c clientconfig.Config) (secret.Text, error) {
	text, err := json.Marshal(map[string]string{"depot": c.Endpoint, "token": c.Token.Reveal()})
	if err != nil {
		return secret.Text{}, fmt.Errorf("encoding the configuration of a depot's client: %w", err)
	}
	return secret.NewText(string(text) + "\n"), nil
}
