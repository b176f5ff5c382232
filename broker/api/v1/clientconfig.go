package v1

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// ClientConfig is a rendered client configuration. On the wire it is a JSON
// string, or, where the format itself is JSON, that object.
type ClientConfig struct {
	// Text is the whole configuration, as a file would hold it.
	Text secret.Text
	// Object says that Text is a JSON object and is sent as one.
	Object bool
}

// errNotConfig is the error of an answer with another kind of clientConfig.
var errNotConfig = errors.New("clientConfig is neither a string nor an object")

// writeConfig writes the plaintext; only [Encode] uses it.
func writeConfig(e *jsontext.Encoder, c ClientConfig) error {
	if c.Object {
		return e.WriteValue(jsontext.Value(c.Text.Reveal()))
	}
	return e.WriteToken(jsontext.String(c.Text.Reveal()))
}

// readConfig reads either form.
func readConfig(d *jsontext.Decoder, c *ClientConfig) error {
	switch d.PeekKind() {
	case '{':
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		*c = ClientConfig{Text: secret.NewText(string(v)), Object: true}
		return nil
	case '"':
		var s string
		if err := json.UnmarshalDecode(d, &s); err != nil {
			return err
		}
		*c = ClientConfig{Text: secret.NewText(s)}
		return nil
	}
	return errNotConfig
}
