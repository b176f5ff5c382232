package kubernetes

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Bounds on what goes into the Authorization header, in bytes.
const (
	maxToken    = 32 << 10
	maxUsername = 256
	maxPassword = 4 << 10
)

// credentialFields says how the parts of a credential are called where it came
// from, for errors.
type credentialFields struct {
	whole, token, certificate, key, username, password string
}

// credential rebuilds a credential of exactly one kind.
func credential(in broker.Credential, f credentialFields) (broker.Credential, error) {
	var (
		none        broker.Credential
		token       = !in.Token.Empty()
		certificate = in.ClientCertificate != "" || !in.ClientKey.Empty()
		basic       = in.Username != "" || !in.Password.Empty()
		out         broker.Credential
		err         error
	)
	switch {
	case token && !certificate && !basic:
		out, err = bearer(in, f)
	case certificate && !token && !basic:
		out, err = clientCertificate(in, f)
	case basic && !token && !certificate:
		out, err = basicAuth(in, f)
	case token || certificate || basic:
		return none, broker.Invalid(f.whole, "holds more than one kind of credential: give a token, or a client certificate with its key, "+
			"or a user name with its password")
	default:
		return none, broker.Invalid(f.whole, "holds no credential that can be used: give a token or a client certificate with its key")
	}
	if err != nil {
		return none, err
	}
	if in.Kind != "" && in.Kind != out.Kind {
		return none, broker.Invalid(f.whole, "says another kind than it holds")
	}
	return out, nil
}

func bearer(in broker.Credential, f credentialFields) (broker.Credential, error) {
	token := in.Token.Reveal()
	if len(token) > maxToken {
		return broker.Credential{}, broker.Invalid(f.token, "is longer than %d bytes", maxToken)
	}
	if !isToken(token) {
		return broker.Credential{}, broker.Invalid(f.token, "holds white space or characters that no token has")
	}
	return broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token)}, nil
}

// isToken reports whether s can stand in an Authorization header unchanged.
func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func clientCertificate(in broker.Credential, f credentialFields) (broker.Credential, error) {
	switch {
	case in.ClientCertificate == "":
		return broker.Credential{}, broker.Invalid(f.certificate, "is required with a client key")
	case in.ClientKey.Empty():
		return broker.Credential{}, broker.Invalid(f.key, "is required with a client certificate")
	}
	cert, key, keyAtFault, err := rebuild.KeyPair(in.ClientCertificate, in.ClientKey.Reveal())
	switch {
	case keyAtFault:
		return broker.Credential{}, broker.Invalid(f.key, "%s", err)
	case err != nil:
		return broker.Credential{}, broker.Invalid(f.certificate, "%s", err)
	}
	return broker.Credential{Kind: broker.CredentialClientCertificate, ClientCertificate: cert, ClientKey: secret.NewText(key)}, nil
}

func basicAuth(in broker.Credential, f credentialFields) (broker.Credential, error) {
	password := in.Password.Reveal()
	switch {
	case in.Username == "":
		return broker.Credential{}, broker.Invalid(f.username, "is required with a password")
	case password == "":
		return broker.Credential{}, broker.Invalid(f.password, "is required with a user name")
	case len(in.Username) > maxUsername || strings.ContainsRune(in.Username, ':') || hasControl(in.Username):
		return broker.Credential{}, broker.Invalid(f.username, "holds a colon or control characters, or more than %d bytes", maxUsername)
	case len(password) > maxPassword || hasControl(password):
		return broker.Credential{}, broker.Invalid(f.password, "holds control characters, or more than %d bytes", maxPassword)
	}
	return broker.Credential{Kind: broker.CredentialBasicAuth, Username: in.Username, Password: secret.NewText(password)}, nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func isZero(c broker.Credential) bool {
	return c.Kind == "" && c.Token.Empty() && c.ClientCertificate == "" && c.ClientKey.Empty() && c.Username == "" && c.Password.Empty()
}

// credentialExpiry returns the credential's own time of expiry; zero if it
// states none. Nothing is verified: the value is for people.
func credentialExpiry(c broker.Credential) time.Time {
	switch c.Kind {
	case broker.CredentialClientCertificate:
		return rebuild.CertificateExpiry(c.ClientCertificate)
	case broker.CredentialBearerToken:
		return tokenExpiry(c.Token.Reveal())
	}
	return time.Time{}
}

// tokenExpiry reads the exp claim of a JWT (RFC 7519, section 4.1.4).
func tokenExpiry(token string) time.Time {
	const year9999 = 253402300799 // what RFC 3339 can write
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var c struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(claims, &c) != nil || c.Exp <= 0 || c.Exp > year9999 {
		return time.Time{}
	}
	return time.Unix(int64(c.Exp), 0).UTC()
}
