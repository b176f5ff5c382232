package onap

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/golden"
)

// Each operation has its door, its status, the time in which it is answered and the length of what it takes.
func TestOperations(t *testing.T) {
	var said []string
	for _, d := range Doors(Options{Bundles: &bundle.Bundles{Options: bundle.Options{Wait: 7 * time.Second}}}) {
		for _, r := range d.Routes {
			one := fmt.Sprintf("%s: %d %s %s, %d bytes in %s", d.Paths[0], r.Status, r.Method, r.Path, r.Body.Limit, r.Timeout)
			if r.Quiet {
				one += ", quiet"
			}
			if !r.Body.Optional {
				one += ", with a body"
			}
			said = append(said, one)
		}
	}
	slices.Sort(said)
	golden.Compare(t, "testdata/operations.txt", strings.Join(said, "\n")+"\n")
}

// A refusal is one line: what is wrong, of its faults the first, what to do, and the request. Who is not known is asked for a login.
func TestARefusalIsALine(t *testing.T) {
	known := api.ErrorKind{Err: policy.ErrUnauthenticated, Status: 401, Name: "unknown to this table", Title: "who are you"}
	for want, p := range map[string]api.Problem{
		"409: title; request r":                                 {ErrorKind: api.ErrorKind{Status: 409, Title: "title"}},
		"409: detail; do this; request r":                       {ErrorKind: api.ErrorKind{Status: 409, Title: "title"}, Detail: "detail", Remedy: "do this"},
		"400: name: is taken; request r":                        {ErrorKind: api.ErrorKind{Status: 400}, Detail: "detail", Faults: []api.Fault{{Field: "name", Message: "is taken"}, {Field: "b", Message: "c"}}},
		"400: the body is empty; request r":                     {ErrorKind: api.ErrorKind{Status: 400}, Detail: "detail", Faults: []api.Fault{{Location: "body", Message: "is empty"}}},
		"500: refused; request r":                               {ErrorKind: api.ErrorKind{Status: 500}},
		"401 Basic realm=\"vimbroker\": who are you; request r": {ErrorKind: known},
	} {
		p.RequestID = "r"
		answer, w := refuse(nil, p), httptest.NewRecorder()
		answer.Serve.ServeHTTP(w, nil)
		status := strings.TrimSpace(fmt.Sprint(w.Code, " ", answer.Header.Get("WWW-Authenticate")))
		if got := status + ": " + w.Body.String(); got != want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
