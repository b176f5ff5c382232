package secret

import (
	"fmt"
	"io"
	"log/slog"
)

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
