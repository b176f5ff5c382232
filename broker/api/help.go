package api

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"time"
)

// helpPath is the page of all kinds of problems; #NAME is the place of each.
const helpPath = "/errors"

// TypePrefix begins the type of every problem; its name follows.
const TypePrefix = "urn:vimbroker:problem:"

// Link is the value of the header Link of an answer with the problem: it leads to what the kind means.
func (k ErrorKind) Link() string { return "<" + helpPath + "#" + k.Name + `>; rel="help"` }

// helps say what the common kinds mean and what to do, by their names.
var helps = map[string]string{
	"not-found":              "Nothing of that name or id is there, or it is another project's. Compare it with what a list shows.",
	"invalid":                "A field has a value that it cannot have. errors names the field, and says what it must be.",
	"exists":                 "Something of that name is there already. Take another name, or use what is there.",
	"conflict":               "The request does not fit the thing's state, which detail names. Wait for another, or end what is in the way.",
	"changed":                "The thing has changed since it was read (If-Match). Read it again, and repeat the change with the new ETag.",
	"denied":                 "Policy does not permit this. detail names the policy; an administrator sees more with POST /v1/policy:explain.",
	"quota":                  "The caller or the project has as many as it may have. End some, or ask the broker's operator for more.",
	"unsupported":            "This broker, or a VIM of this type, does not do what is asked. detail says what it does instead.",
	"vim-refuses-credential": "The VIM does not take the credential. Give another one with POST /v1/vims/{id}/rotate.",
	"vim-forbids":            "The VIM forbids what the broker does. Give the credential the rights that deploy/kubernetes-rbac.yaml has.",
	"vim-unreachable":        "The VIM does not answer, its certificate does not verify, or egress rules forbid its address. Check all three.",
	"unavailable":            "The database, a key store or another part of the broker is away. Try again later; GET /readyz names the part.",
	"unopenable":             "The stored credential does not open: its key is gone. Give it again with POST /v1/vims/{id}/rotate.",
	"unauthenticated":        "The request has no token, or one that has ended or that the broker does not know. Log in again.",
	"method":                 "The path is served, with other methods than this one. The header Allow lists them.",
	"malformed":              "The request is not well formed, or lacks something that it must have. errors says where.",
	"too-large":              "The body is larger than the operation takes. Send a smaller one.",
	"too-slow":               "The body did not arrive in time. Send it without pauses.",
	"media-type":             "The body has none of the media types that the operation takes. Name its type in the header Content-Type.",
	"limited":                "The caller, or its address, asks more often than it may. Wait as long as the header Retry-After says.",
	"overloaded":             "The server has too much to answer. Wait as long as Retry-After says; what ends access is always taken.",
	"timeout":                "The answer took too long, and what was begun may go on. Look before you repeat, or send an Idempotency-Key.",
	"canceled":               "The caller left, or the server stops, before there was an answer. Look before you repeat.",
	"internal":               "The server has a fault. Its log has the cause, under the requestId of the answer.",
}

// helpPage is shown by a browser to whoever follows the header.
var helpPage = template.Must(template.New("errors").Parse(helpForm))

//go:embed help.html
var helpForm string

// helpDoor serves the page, which is the same for all.
func helpDoor(doors []Door) Door {
	all := Kinds()
	for _, d := range doors {
		for _, k := range d.Kinds {
			if k.Help != "" && !slices.ContainsFunc(all, func(known ErrorKind) bool { return known.Name == k.Name }) {
				all = append(all, k)
			}
		}
	}
	var page bytes.Buffer
	if err := helpPage.Execute(&page, map[string]any{"Kinds": all, "Prefix": TypePrefix}); err != nil {
		panic(err) // every test of this package fails here
	}
	return Door{
		Paths: []string{helpPath + "{$}"},
		Routes: []Route{{
			Method: "GET", Path: helpPath, Identify: Anyone, Timeout: time.Minute, Status: http.StatusOK, Quiet: true,
			Handle: func(*Call) (Answer, error) {
				return Answer{Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html; charset=utf-8")
					w.Header().Set("Content-Security-Policy", "default-src 'none'")
					_, _ = w.Write(page.Bytes()) // the caller may be gone
				})}, nil
			},
		}},
		Refuse: func(_ *http.Request, p Problem) Answer { return Answer{Status: p.Status} },
	}
}
