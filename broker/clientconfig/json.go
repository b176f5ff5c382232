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

// wire is the JSON form. It holds plaintext, from filling to encoding and from
// decoding to wrapping.
type wire struct {
	VIM                string     `json:"vim"`
	VIMID              string     `json:"vimId,omitempty"`
	Lease              string     `json:"lease"`
	Endpoint           string     `json:"endpoint"`
	CACert             string     `json:"caCert,omitempty"`
	InsecureSkipVerify bool       `json:"insecureSkipVerify"`
	ServerName         string     `json:"serverName,omitempty"`
	Namespace          string     `json:"namespace,omitempty"`
	Token              string     `json:"token,omitempty"`
	ClientCertificate  string     `json:"clientCertificate,omitempty"`
	ClientKey          string     `json:"clientKey,omitempty"`
	Username           string     `json:"username,omitempty"`
	Password           string     `json:"password,omitempty"`
	Cloud              *cloudWire `json:"cloud,omitempty"`
	// ExpiresAt is in UTC; absent where the credential does not say.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// cloudWire is the JSON form of a [Cloud], with plaintext.
type cloudWire struct {
	Cloud
	Secret string `json:"applicationCredentialSecret,omitempty"`
}

func (c Config) json() (secret.Text, error) {
	var cloud *cloudWire
	if c.onCloud() {
		cloud = &cloudWire{Cloud: c.Cloud, Secret: c.Cloud.ApplicationCredentialSecret.Reveal()}
	}
	return encodeJSON(wire{
		Cloud: cloud,
		VIM:   c.VIM, VIMID: c.VIMID, Lease: c.Lease, Endpoint: c.Endpoint, CACert: c.CACert,
		InsecureSkipVerify: c.InsecureSkipVerify, ServerName: c.ServerName, Namespace: c.Namespace,
		Token: c.Token.Reveal(), ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey.Reveal(),
		Username: c.Username, Password: c.Password.Reveal(), ExpiresAt: c.ExpiresAt.UTC(),
	}, "  ")
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
	c := Config{
		VIM: w.VIM, VIMID: w.VIMID, Lease: w.Lease, Endpoint: w.Endpoint, CACert: w.CACert,
		InsecureSkipVerify: w.InsecureSkipVerify, ServerName: w.ServerName, Namespace: w.Namespace,
		Token: secret.NewText(w.Token), ClientCertificate: w.ClientCertificate, ClientKey: secret.NewText(w.ClientKey),
		Username: w.Username, Password: secret.NewText(w.Password), ExpiresAt: w.ExpiresAt.UTC(),
	}
	if w.Cloud != nil {
		c.Cloud = w.Cloud.Cloud
		c.Cloud.ApplicationCredentialSecret = secret.NewText(w.Cloud.Secret)
		if !c.onCloud() {
			return Config{}, errors.New("decoding client configuration: a cloud without projectId")
		}
	}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("decoding client configuration: %w", err)
	}
	if c.Endpoint == "" {
		return Config{}, errors.New("decoding client configuration: no endpoint")
	}
	return c, nil
}
