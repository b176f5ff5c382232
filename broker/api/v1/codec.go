package v1

import (
	"cmp"
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

// ProblemType is the media type of [Problem].
const ProblemType = "application/problem+json"

// Problem is every error answer: problem details (RFC 9457) with a remedy and the
// request's id. It is written in the server's own words and repeats no value of
// the request.
type Problem struct {
	Type      string  `json:"type" doc:"URI of the kind of problem" example:"urn:vimbroker:problem:not-found"`
	Title     string  `json:"title" doc:"The kind of problem in words" example:"not found"`
	Status    int     `json:"status" doc:"HTTP status"`
	Detail    string  `json:"detail,omitempty" doc:"What is wrong this time"`
	Remedy    string  `json:"remedy,omitempty" doc:"What to do about it"`
	Instance  string  `json:"instance,omitempty" doc:"URI of this occurrence, made of requestId"`
	RequestID string  `json:"requestId" doc:"Id of the request; the server's log has it too"`
	Errors    []Fault `json:"errors,omitempty" doc:"Fields at fault"`
}

// Fault is one thing wrong with a request.
type Fault struct {
	Field    string `json:"field,omitempty" doc:"Field of the body, dotted, or name of the parameter" example:"credential.token"`
	Location string `json:"location" doc:"Part of the request" enum:"body,query,path,header"`
	Message  string `json:"message" doc:"What is wrong with it"`
}

func (p Problem) String() string {
	parts := []string{p.Title}
	if p.Detail != "" {
		parts = append(parts, p.Detail)
	}
	for _, f := range p.Errors {
		parts = append(parts, cmp.Or(f.Field, f.Location)+": "+f.Message)
	}
	text := parts[0]
	if len(parts) > 1 {
		text += ": " + strings.Join(parts[1:], "; ")
	}
	if p.Remedy != "" {
		text += " (" + p.Remedy + ")"
	}
	return text
}
