package secret

import (
	"encoding/json"
	"errors"
)

// CredentialKind names which fields of a [Credential] are set.
type CredentialKind string

// Credential is an opened credential of a VIM or of a lease. It lives between
// opening and the call that uses it.
type Credential struct {
	Kind  CredentialKind
	Token Text
	// ClientCertificate is PEM and public; ClientKey is PEM.
	ClientCertificate string
	ClientKey         Text
	// Username is also a Keystone user's name; UserID is its id, where it is known.
	Username string
	UserID   string
	Password Text
	// ApplicationCredentialID is public; its secret is not.
	ApplicationCredentialID     string
	ApplicationCredentialSecret Text
	// LeaseSecret is no credential of the VIM: the holder of a standing lease shows it to have
	// tokens minted, and it is sealed beside the newest of them.
	LeaseSecret Text
}

// Empty reports whether no field that holds a credential is set.
func (c Credential) Empty() bool {
	p := c.Reveal()
	p.Kind, p.UserID, p.LeaseSecret = "", "", ""
	return p == PlainCredential{}
}

// PlainCredential is a credential as JSON, in plaintext: inside its envelope, and
// in the client configuration of a lease. It lives from filling to encoding and
// from decoding to wrapping.
type PlainCredential struct {
	Kind              CredentialKind `json:"kind,omitempty"`
	Token             string         `json:"token,omitempty"`
	ClientCertificate string         `json:"clientCertificate,omitempty"`
	ClientKey         string         `json:"clientKey,omitempty"`
	Username          string         `json:"username,omitempty"`
	UserID            string         `json:"userId,omitempty"`
	Password          string         `json:"password,omitempty"`
	AppCredID         string         `json:"applicationCredentialId,omitempty"`
	AppCredSecret     string         `json:"applicationCredentialSecret,omitempty"`
	LeaseSecret       string         `json:"leaseSecret,omitempty"`
}

// Reveal returns the credential in plaintext, for the expression that encodes it.
func (c Credential) Reveal() PlainCredential {
	return PlainCredential{
		Kind: c.Kind, Token: c.Token.Reveal(), ClientCertificate: c.ClientCertificate,
		ClientKey: c.ClientKey.Reveal(), Username: c.Username, UserID: c.UserID, Password: c.Password.Reveal(),
		AppCredID: c.ApplicationCredentialID, AppCredSecret: c.ApplicationCredentialSecret.Reveal(),
		LeaseSecret: c.LeaseSecret.Reveal(),
	}
}

// Wrap hides the secrets of the credential.
func (p PlainCredential) Wrap() Credential {
	return Credential{
		Kind: p.Kind, Token: NewText(p.Token), ClientCertificate: p.ClientCertificate,
		ClientKey: NewText(p.ClientKey), Username: p.Username, UserID: p.UserID, Password: NewText(p.Password),
		ApplicationCredentialID: p.AppCredID, ApplicationCredentialSecret: NewText(p.AppCredSecret),
		LeaseSecret: NewText(p.LeaseSecret),
	}
}

// Pack returns the credential as a text that can be sealed.
func (c Credential) Pack() (Text, error) {
	out, err := json.Marshal(c.Reveal()) //nolint:gosec // what Pack is for
	if err != nil {
		return Text{}, errors.New("packing a credential")
	}
	return NewText(string(out)), nil
}

// Unpack returns the credential that Pack made the text of.
func Unpack(t Text) (Credential, error) {
	var p PlainCredential
	if err := json.Unmarshal([]byte(t.Reveal()), &p); err != nil {
		return Credential{}, errors.New("the sealed text is no credential")
	}
	return p.Wrap(), nil
}
