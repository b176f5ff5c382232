package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// OfBroker are the rules of an interface whose errors are [*broker.Error]: a driver of VIMs, and one of life cycles.
func OfBroker() Suite {
	return Suite{
		Kinds: []error{
			broker.ErrUnreachable, broker.ErrUnavailable, broker.ErrUnauthorized, broker.ErrForbidden, broker.ErrConflict, broker.ErrNotFound,
			broker.ErrInvalid, broker.ErrUnsupported, broker.ErrExists,
		},
		Want: map[string]error{
			"503": broker.ErrUnreachable, "401": broker.ErrUnauthorized, "403": broker.ErrForbidden, "404": broker.ErrUnreachable,
			"409": broker.ErrConflict, "page": broker.ErrUnreachable, "drop": broker.ErrUnreachable, "lost": broker.ErrUnreachable,
			"down": broker.ErrUnreachable,
			"cut":  broker.ErrUnreachable, "hollow": broker.ErrUnreachable,
		},
		Form: func(err error) string {
			var e *broker.Error
			switch {
			case !errors.As(err, &e):
				return "is no *broker.Error"
			case e.Detail == "":
				return "says nothing"
			case e.Remedy == "" && e.Next == broker.NextNothing:
				return "has no remedy"
			}
			return ""
		},
	}
}

// OfKeyStore are the rules of [secret.KeyStore]. Its errors name one of these systems.
func OfKeyStore(systems ...string) Suite {
	return Suite{
		Kinds: []error{secret.ErrUnavailable, secret.ErrForbidden, secret.ErrNotFound, secret.ErrCorrupt},
		Want: map[string]error{
			"503": secret.ErrUnavailable, "401": secret.ErrForbidden, "403": secret.ErrForbidden, "404": secret.ErrUnavailable,
			"409": secret.ErrUnavailable, "page": secret.ErrUnavailable, "drop": secret.ErrUnavailable, "lost": secret.ErrUnavailable,
			"down": secret.ErrUnavailable,
			"cut":  secret.ErrUnavailable, "hollow": secret.ErrUnavailable,
		},
		Form: func(err error) string {
			if !slices.ContainsFunc(systems, func(name string) bool { return strings.Contains(err.Error(), name) }) {
				return "does not name the system"
			}
			return ""
		},
	}
}

// Minted is what a call of a driver has minted, for a golden file.
func Minted(m broker.Minted) string {
	c := m.Credential
	return fmt.Sprintf("%s user %s %s, credential %s, %t %t %t, id %s, uid %s, until %v, lag %v, unlisted %t, saw %t, unseen %q", c.Kind,
		c.Username, c.UserID, cmp.Or(c.ApplicationCredentialID, "-"), !c.ApplicationCredentialSecret.Empty(), !c.Password.Empty(), !c.Token.Empty(),
		m.CredentialID, m.UID, m.ExpiresAt, m.MaxRevocationLag, m.Unlisted, m.Stood != "", m.Unseen)
}
