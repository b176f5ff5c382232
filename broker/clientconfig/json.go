package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// wire is the JSON form of clusters and clouds. It holds plaintext, from filling to
// encoding and from decoding to wrapping.
type wire struct {
	VIM                string `json:"vim"`
	VIMID              string `json:"vimId,omitempty"`
	Lease              string `json:"lease"`
	Endpoint           string `json:"endpoint"`
	CACert             string `json:"caCert,omitempty"`
	InsecureSkipVerify bool   `json:"insecureSkipVerify"`
	ServerName         string `json:"serverName,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	secret.PlainCredential
	Cloud *cloudWire `json:"cloud,omitempty"`
	// ExpiresAt is in UTC; absent where the credential does not say.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// cloudWire holds the members that only a cloud's JSON has. Its application
// credential stands here, not beside the other kinds.
type cloudWire struct {
	OpenStackClient
	AppCredID     string `json:"applicationCredentialId,omitempty"`
	AppCredSecret string `json:"applicationCredentialSecret,omitempty"`
}

// newWire holds the members that the JSON of every client has.
func newWire(c Config) wire {
	w := wire{
		VIM: c.VIM, VIMID: c.VIMID, Lease: c.Lease, Endpoint: c.Endpoint, CACert: c.CACert,
		InsecureSkipVerify: c.InsecureSkipVerify, ServerName: c.ServerName,
		PlainCredential: c.Credential.Reveal(), ExpiresAt: c.ExpiresAt.UTC(),
	}
	w.Kind, w.UserID = "", "" // told by the fields; no client needs it
	return w
}

func (k KubernetesClient) json(c Config) (secret.Text, error) {
	w := newWire(c)
	w.Namespace = k.Namespace
	return encodeJSON(w, "  ")
}

func (l OpenStackClient) json(c Config) (secret.Text, error) {
	w := newWire(c)
	w.Cloud = &cloudWire{OpenStackClient: l, AppCredID: w.AppCredID, AppCredSecret: w.AppCredSecret}
	w.AppCredID, w.AppCredSecret = "", ""
	return encodeJSON(w, "  ")
}

func encodeJSON(v any, indent string) (secret.Text, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return secret.Text{}, fmt.Errorf("encoding client configuration: %w", err)
	}
	return secret.NewText(out.String()), nil
}

// Decode reads what [Config.Render] gave as [JSON]. It is strict: an unknown
// field, something behind the object, or not exactly one kind of credential is an
// error. No error holds any of the input.
func Decode(text secret.Text) (Config, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text.Reveal())))
	dec.DisallowUnknownFields()
	var w wire
	if err := dec.Decode(&w); err != nil {
		// The decoder's own words quote what they stumble over.
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return Config{}, fmt.Errorf("decoding client configuration: field %q is of another type", wrong.Field)
		}
		return Config{}, fmt.Errorf("decoding client configuration: not the JSON form of one (at byte %d)", dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("decoding client configuration: something stands behind it")
	}
	if w.Kind != "" || w.UserID != "" || w.AppCredID != "" || w.AppCredSecret != "" {
		return Config{}, errors.New("decoding client configuration: a part of the credential stands where none belongs")
	}
	c := Config{
		VIM: w.VIM, VIMID: w.VIMID, Lease: w.Lease, Endpoint: w.Endpoint, CACert: w.CACert,
		InsecureSkipVerify: w.InsecureSkipVerify, ServerName: w.ServerName,
		Client: KubernetesClient{Namespace: w.Namespace}, ExpiresAt: w.ExpiresAt.UTC(),
	}
	if w.Cloud != nil {
		if w.Cloud.ProjectID == "" || w.Namespace != "" {
			return Config{}, errors.New("decoding client configuration: a cloud without projectId, or with a namespace")
		}
		c.Client = w.Cloud.OpenStackClient
		w.AppCredID, w.AppCredSecret = w.Cloud.AppCredID, w.Cloud.AppCredSecret
	}
	c.Credential = w.PlainCredential.Wrap()
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("decoding client configuration: %w", err)
	}
	if c.Endpoint == "" {
		return Config{}, errors.New("decoding client configuration: no endpoint")
	}
	return c, nil
}
