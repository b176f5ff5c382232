package login

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/api"
)

// A fault is described in one line of the characters that OAuth allows, and with its request where the server is at fault.
func TestAFaultIsDescribed(t *testing.T) {
	fault := []api.Fault{{Location: "body", Field: "scope", Message: "is odd"}}
	for want, p := range map[string]api.Problem{
		"a; b; scope: is odd":      {ErrorKind: api.ErrorKind{Status: 400, Title: "t"}, Detail: "a", Remedy: "b", Faults: fault, RequestID: "r"},
		"t":                        {ErrorKind: api.ErrorKind{Status: 499, Title: "t"}, RequestID: "r"},
		"t; request r":             {ErrorKind: api.ErrorKind{Status: 500, Title: "t"}, RequestID: "r"},
		"b; request r":             {ErrorKind: api.ErrorKind{Status: 503, Title: "t"}, Remedy: "b", RequestID: "r"},
		"' ~ ' ' ' ''; request r2": {ErrorKind: api.ErrorKind{Status: 502}, Detail: "\x1f ~ \x7f \" \\ \n\u00e4", RequestID: "r2"},
	} {
		if got := described(p); got != want {
			t.Errorf("described as %q, want %q", got, want)
		}
	}
}
