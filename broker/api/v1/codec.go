package v1

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/codec"
)

// MediaType is that of every body but a [Problem].
const MediaType = codec.MediaType

// wire adds the two forms of a [ClientConfig].
var wire = codec.Codec{Write: json.MarshalToFunc(writeConfig), Read: json.UnmarshalFromFunc(readConfig)}

// FieldError says what is wrong with a body, and where.
type FieldError = codec.FieldError

// Encode writes v as JSON with its secrets in plain text: what goes over the wire, or to
// the person who asked for the credential. Its error holds none of them.
func Encode(w io.Writer, v any) error { return wire.Encode(w, v) }

// Decode reads a request body strictly; see [codec.Codec.Strict].
func Decode(data []byte, v any) error { return wire.Strict(data, v) }

// DecodeAnswer reads an answer into v and ignores unknown fields.
func DecodeAnswer(data []byte, v any) error { return wire.Answer(data, v) }

// TakesNull implements [codec.Nullable]: null is a value in extra.
func (*Registration) TakesNull(p jsontext.Pointer) bool { return inExtra(p) }

// TakesNull implements [codec.Nullable]: null removes a label, or a member of extra.
func (*Change) TakesNull(p jsontext.Pointer) bool {
	return p.Parent() == "/labels" || inExtra(p)
}

func inExtra(p jsontext.Pointer) bool { return strings.HasPrefix(string(p), "/extra/") }
