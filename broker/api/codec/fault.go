package codec

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// FieldError is a fault of a JSON text and its place. It holds names of fields and never
// a value.
type FieldError struct {
	// Field is dotted, as "credential.token"; empty for the whole text.
	Field   string
	Message string
	// Syntax: the text is not JSON. False means JSON of the wrong shape.
	Syntax bool
}

// Error returns the message with the field in front.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// asFieldError rewrites the decoder's errors in the broker's own words, because the
// decoder quotes its input.
func asFieldError(err error) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		f := &FieldError{Field: dotted(syntax.JSONPointer), Message: "not valid JSON", Syntax: true}
		if errors.Is(err, jsontext.ErrDuplicateName) {
			f.Message, f.Syntax = "is given twice", false
		}
		return f
	}
	var shape *json.SemanticError
	if !errors.As(err, &shape) {
		return &FieldError{Message: "not valid JSON", Syntax: true}
	}
	f := &FieldError{Field: dotted(shape.JSONPointer)}
	var ours refused
	switch {
	case errors.As(err, &ours):
		f.Message = ours.Error()
	case errors.Is(err, json.ErrUnknownName):
		f.Message = "unknown field"
	case shape.GoType == nil:
		f.Message = "has the wrong form"
	default:
		f.Message = "must be " + wanted(shape.GoType)
	}
	return f
}

// wanted names the JSON that a Go type is read from.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[secret.Text]() {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "of another form"
}

// longestName is the length up to which a field's name is repeated. No name of the
// broker's is longer, and a caller may have put a secret in place of a name.
const longestName = 32

// dotted turns a JSON pointer into the form that people write. A name that no field
// could have becomes a question mark.
func dotted(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		if name == "" || len(name) > longestName || strings.ContainsFunc(name, unusual) {
			name = "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// unusual reports whether a character has no place in a field's name.
func unusual(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_/.", r))
}
