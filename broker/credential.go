package broker

import (
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Credential and its kinds stand in package secret: clients' configurations need them, too.
type (
	Credential     = secret.Credential
	CredentialKind = secret.CredentialKind
)

const (
	CredentialBearerToken       CredentialKind = "bearerToken"
	CredentialClientCertificate CredentialKind = "clientCertificate"
	CredentialBasicAuth         CredentialKind = "basicAuth"
	// CredentialPassword is a Keystone user with password.
	CredentialPassword CredentialKind = "password"
	// CredentialApplicationCredential is Keystone's, by id and secret.
	CredentialApplicationCredential CredentialKind = "applicationCredential"
	// CredentialProjectToken is a Keystone token scoped to a project: only leased, never stored.
	CredentialProjectToken CredentialKind = "projectToken"
	// CredentialUser is a user that was made for a lease, with its password: only leased, never stored.
	CredentialUser CredentialKind = "user"
)

// credentialPart is one field that a kind of credential consists of.
type credentialPart struct {
	field string // as in a request's credential
	given func(Credential) bool
}

var (
	tokenParts       = []credentialPart{{"token", func(c Credential) bool { return !c.Token.Empty() }}}
	certificateParts = []credentialPart{
		{"clientCertificate", func(c Credential) bool { return c.ClientCertificate != "" }},
		{"clientKey", func(c Credential) bool { return !c.ClientKey.Empty() }},
	}
	passwordParts = []credentialPart{
		{"username", func(c Credential) bool { return c.Username != "" || c.UserID != "" }},
		{"password", func(c Credential) bool { return !c.Password.Empty() }},
	}
	appCredParts = []credentialPart{
		{"applicationCredentialId", func(c Credential) bool { return c.ApplicationCredentialID != "" }},
		{"applicationCredentialSecret", func(c Credential) bool { return !c.ApplicationCredentialSecret.Empty() }},
	}

	// credentialParts are the fields of each kind that a VIM can be registered with.
	credentialParts = map[CredentialKind][]credentialPart{
		CredentialBearerToken:           tokenParts,
		CredentialClientCertificate:     certificateParts,
		CredentialBasicAuth:             passwordParts,
		CredentialPassword:              passwordParts,
		CredentialApplicationCredential: appCredParts,
	}
)

// words name the fields of a kind, which tell it from others; empty for one that
// no VIM can be registered with.
func words(k CredentialKind) string {
	var fields []string
	for _, part := range credentialParts[k] {
		fields = append(fields, part.field)
	}
	return strings.Join(fields, " with ")
}

// chooseKind fills in the kind of a credential, by the fields that are given. It
// refuses a credential that is not exactly one of the kinds that the type takes,
// with all its fields. An empty one has no kind: whether it is needed is for the
// driver to say.
func (t Type) chooseKind(c *Credential) error {
	if c.Empty() {
		return nil
	}
	given := map[string][]credentialPart{}
	for kind, parts := range credentialParts {
		if slices.ContainsFunc(parts, func(p credentialPart) bool { return p.given(*c) }) {
			given[words(kind)] = parts
		}
	}
	var taken []string
	var kind CredentialKind
	for _, k := range t.Credentials {
		taken = append(taken, words(k))
		if given[words(k)] != nil {
			kind = k
		}
	}
	if len(given) > 1 || kind == "" {
		return Invalid("credential", "must be one of %s", strings.Join(taken, ", "))
	}
	parts := credentialParts[kind]
	for i, part := range parts {
		if !part.given(*c) {
			return Invalid("credential."+part.field, "is required with %s", parts[len(parts)-1-i].field)
		}
	}
	if c.Kind != "" && c.Kind != kind {
		return Invalid("credential", "names another kind than that of the secrets in it")
	}
	c.Kind = kind
	return nil
}
