package secret

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Text is a secret string: a token, a password, a private key. Its zero value
// is the empty text. It prints as "[secret]" in every format, and it can be
// copied but, holding a closure, neither compared with == nor used as a map key;
// reflect.DeepEqual of two texts is false, go-cmp uses Equal.
//
// Text decodes from a plain JSON or YAML string, so a request body decodes
// straight into it. It never encodes: code that must send a secret calls Reveal.
// The redaction, which encoding by mistake produces, is refused when decoded.
//
// A Text is safe for concurrent use, except while it is decoded into. Its memory
// cannot be cleared: it is a Go string.
type Text struct {
	redacted
	reveal func() string
}

// NewText wraps a plaintext.
func NewText(plain string) Text {
	if plain == "" {
		return Text{}
	}
	return Text{reveal: func() string { return plain }}
}

// Reveal returns the plaintext. It is the one way out: call it in the
// expression that sends or seals the secret, and keep no copy.
func (t Text) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// Empty reports whether there is nothing to reveal.
func (t Text) Empty() bool { return t.Reveal() == "" }

// IsZero is Empty under the name that the JSON tag omitzero and the YAML tag
// omitempty ask for.
func (t Text) IsZero() bool { return t.Empty() }

// Equal reports whether both texts hold the same secret, in a time that depends
// on their lengths only.
func (t Text) Equal(other Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(other.Reveal())) == 1
}

// Errors of decoding. They say what is wrong and never hold any of the input.
var (
	errNotString  = errors.New("secret must be a string (in quotes)")
	errNotUTF8    = errors.New("secret must be valid UTF-8")
	errIsRedacted = errors.New(`secret is the placeholder "` + redaction + `", not a value`)
)

// UnmarshalText takes the bytes as the plaintext. They must be UTF-8, and must
// not be the redaction of another Text.
func (t *Text) UnmarshalText(plain []byte) error {
	if !utf8.Valid(plain) {
		return errNotUTF8
	}
	if string(plain) == redaction {
		return errIsRedacted
	}
	*t = NewText(string(plain))
	return nil
}

// UnmarshalJSON accepts a JSON string only: no number, no null. A string that
// encoding/json could decode only by replacing characters is refused, because
// it would be another secret than the one that was meant.
func (t *Text) UnmarshalJSON(data []byte) error {
	var plain *string
	if err := json.Unmarshal(data, &plain); err != nil || plain == nil {
		return errNotString // not err: it quotes the input
	}
	if strings.ContainsRune(*plain, utf8.RuneError) {
		return errNotUTF8
	}
	return t.UnmarshalText([]byte(*plain))
}

// UnmarshalYAML accepts a YAML string only. A secret of digits has to stand in
// quotes, for YAML reads it as a number and 0123 is not 123.
func (t *Text) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" {
		return errNotString
	}
	return t.UnmarshalText([]byte(node.Value))
}

// redaction is all that a secret ever prints, whether or not it is empty.
const redaction = "[secret]"

// redacted is embedded by the types of this package that hold a secret. It
// answers every way of printing that Go and the broker's encoders know with
// [redaction]. Code that calls no method at all (fmt on an unexported field, a
// reflection-based dumper) finds a closure, and can print its address only.
type redacted struct{}

// Format prints the redaction for every verb and flag.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redaction) }

// String returns the redaction.
func (redacted) String() string { return redaction }

// GoString returns the redaction.
func (redacted) GoString() string { return redaction }

// LogValue returns the redaction.
func (redacted) LogValue() slog.Value { return slog.StringValue(redaction) }

// MarshalText returns the redaction; XML and map keys in JSON use it.
func (redacted) MarshalText() ([]byte, error) { return []byte(redaction), nil }

// MarshalJSON returns the redaction as a JSON string.
func (redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + redaction + `"`), nil }

// MarshalYAML returns the redaction.
func (redacted) MarshalYAML() (any, error) { return redaction, nil }
