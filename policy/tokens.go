package policy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrUnauthenticated: the caller showed no token, or an unknown one.
var ErrUnauthenticated = errors.New("not authenticated")

// RefusedLogin is an [ErrUnauthenticated] that says, for the audit log alone, who refused a caller
// and why. The reason is one of few, and holds nothing that the caller sent.
type RefusedLogin struct{ Authenticator, Reason string }

// Error tells a caller nothing more.
func (*RefusedLogin) Error() string { return ErrUnauthenticated.Error() }

// Unwrap gives the sentinel.
func (*RefusedLogin) Unwrap() error { return ErrUnauthenticated }

// tokenPrefix lets people and secret scanners recognise a token of this broker.
const tokenPrefix = "vbt_"

// secretBytes is the number of random bytes of a token. It is why an unsalted SHA-256 is
// the right digest: there is nothing to guess.
const secretBytes = 32

// StaticToken is the stored form of a caller's static token: everything but the token.
type StaticToken struct {
	// Name becomes the principal's name: letters, digits and "._@-", at most 128.
	// It holds no colon, so that no caller can be mistaken for a "system:" pass.
	Name string
	// Project is the one the principal acts in; it is spelled like a name.
	Project string
	// Roles are one or more, from the default policies or the site's own.
	// [RoleSystem] is refused.
	Roles []string
	// SHA256 is the digest that [NewToken] gave, in lower-case hex. The digest of
	// anything but such a token matches nothing: people choose bad tokens.
	SHA256 string
	// PreviousSHA256 is the digest of the holder's previous token, which is still
	// accepted while the holder changes over; empty if there is none.
	PreviousSHA256 string
	// ExpiresAt is when neither is taken any more; zero means never.
	ExpiresAt time.Time
}

// nameForm matches names of principals, projects and roles.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`) })

// ValidName reports whether a text can name a principal, a project or a role: letters, digits
// and "._@-", at most 128.
func ValidName(text string) bool { return nameForm().MatchString(text) }

var _ Directory = (*StaticTokens)(nil)

// StaticTokens authenticates callers against a fixed list of tokens. It keeps
// digests only, is immutable and safe for concurrent use.
type StaticTokens struct {
	// Now is the time by which tokens expire. It must not be changed once used.
	Now     func() time.Time
	holders map[[sha256.Size]byte]holder
}

// holder is whom a token belongs to, and until when.
type holder struct {
	Principal
	expires time.Time
	// previous: the holder has a newer one.
	previous bool
}

// HeldToken holds the facts on a static token that may be shown.
type HeldToken struct {
	// ID is as [TokenID] has it.
	ID            string
	Name, Project string
	Roles         []string
	// Previous: it is the one before, which is taken while the holder changes over.
	Previous bool
	// ExpiresAt is when it is not taken any more; zero means never.
	ExpiresAt time.Time
}

// lapsed reports whether the token is not taken any more.
func (h holder) lapsed(now time.Time) bool { return !h.expires.IsZero() && !now.Before(h.expires) }

// NewStaticTokens checks the list and returns all its faults together.
func NewStaticTokens(tokens []StaticToken) (*StaticTokens, error) {
	s := &StaticTokens{Now: time.Now, holders: make(map[[sha256.Size]byte]holder, len(tokens))}
	names := make(map[string]bool, len(tokens))
	var faults []error
	for i, t := range tokens {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("token %d (%q): "+format, append([]any{i + 1, t.Name}, args...)...))
		}
		switch {
		case !nameForm().MatchString(t.Name):
			fault("the name must be 1 to 128 letters, digits and \"._@-\"")
		case names[t.Name]:
			fault("the name is taken by another token")
		}
		names[t.Name] = true
		if !nameForm().MatchString(t.Project) {
			fault("the project must be 1 to 128 letters, digits and \"._@-\"")
		}
		if len(t.Roles) == 0 {
			fault("it needs at least one role")
		}
		for _, role := range t.Roles {
			switch {
			case role == RoleSystem:
				fault("the role %q is the broker's own", role)
			case !nameForm().MatchString(role):
				fault("the role %q must be letters, digits and \"._@-\"", role)
			}
		}
		digests := []string{t.SHA256}
		if t.PreviousSHA256 != "" {
			digests = append(digests, t.PreviousSHA256)
		}
		for i, text := range digests {
			digest, err := parseDigest(text)
			if err != nil {
				fault("%w", err)
				continue
			}
			if _, taken := s.holders[digest]; taken {
				fault("the digest is another token's")
			}
			s.holders[digest] = holder{Principal{Name: t.Name, Project: t.Project, Roles: slices.Clone(t.Roles)}, t.ExpiresAt, i > 0}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// OwnToken reports whether a token has the form of those that [NewToken] makes.
// No token of another system starts so.
func OwnToken(bearer string) bool {
	return strings.HasPrefix(bearer, tokenPrefix) &&
		len(bearer) == len(tokenPrefix)+base64.RawURLEncoding.EncodedLen(secretBytes)
}

// parseDigest does not echo its input: it may be a token by mistake.
func parseDigest(s string) (digest [sha256.Size]byte, err error) {
	if len(s) == hex.EncodedLen(len(digest)) && s == strings.ToLower(s) {
		if _, err = hex.Decode(digest[:], []byte(s)); err == nil {
			return digest, nil
		}
	}
	return digest, errors.New("the SHA-256 must be 64 lower-case hex digits")
}

// Authenticate returns the principal that holds the bearer token, or
// [ErrUnauthenticated], which tells nothing more. Only digests are compared, so
// the time it takes says nothing about any token.
func (s *StaticTokens) Authenticate(_ context.Context, bearer string) (Principal, error) {
	// One of another form cannot be on the list, unless the digest of a guessable
	// one was put there.
	if !OwnToken(bearer) {
		return Principal{}, ErrUnauthenticated
	}
	h, ok := s.holders[sha256.Sum256([]byte(bearer))]
	if !ok || h.lapsed(s.Now()) {
		return Principal{}, ErrUnauthenticated
	}
	h.Roles = slices.Clone(h.Roles)
	return h.Principal, nil
}

// Lookup implements [Directory].
func (s *StaticTokens) Lookup(_ context.Context, name, project string) (Principal, error) {
	for _, h := range s.holders {
		if h.Name == name && h.Project == project && !h.lapsed(s.Now()) {
			h.Roles = slices.Clone(h.Roles)
			return h.Principal, nil
		}
	}
	return Principal{}, ErrUnauthenticated
}

// Held lists the tokens, those that have expired among them: by project and name, and of
// a holder's two the previous one last.
func (s *StaticTokens) Held() []HeldToken {
	all := make([]HeldToken, 0, len(s.holders))
	for digest, h := range s.holders {
		all = append(all, HeldToken{
			ID: tokenID(digest), Name: h.Name, Project: h.Project, Roles: slices.Clone(h.Roles),
			Previous: h.previous, ExpiresAt: h.expires,
		})
	}
	slices.SortFunc(all, func(a, b HeldToken) int {
		if order := cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Name, b.Name)); order != 0 {
			return order
		}
		if a.Previous {
			return 1
		}
		return -1
	})
	return all
}

// TokenID tells a token from others without being of use to anyone: the beginning of its
// digest, as the tokens file has it.
func TokenID(plain string) string { return tokenID(sha256.Sum256([]byte(plain))) }

func tokenID(digest [sha256.Size]byte) string { return hex.EncodeToString(digest[:6]) }

// NewToken makes a token of 256 random bits and the digest to store for it. The
// plain token is for its holder alone: show it once, keep it nowhere.
func NewToken() (plain, digest string) { return NewSecret(tokenPrefix) }

// NewSecret makes a secret of 256 random bits, and its digest. It begins with a prefix by which people and secret
// scanners recognise it. It has nothing that a URL or a form would escape.
func NewSecret(prefix string) (plain, digest string) {
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails (see crypto/rand)
	plain = prefix + base64.RawURLEncoding.EncodeToString(random)
	return plain, Digest(plain)
}

// Digest is the SHA-256 of a secret, as [StaticToken] holds it.
func Digest(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}
