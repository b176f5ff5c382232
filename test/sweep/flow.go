// Package sweep hits each request of a flow, which is a call of a driver or a few, with each of some faults, and holds
// what comes of it against rules:
//
//   - The call fails in the kind and form that its interface documents, or the fault does not count: what it answers and
//     what stands upstream is as without it.
//   - The call that failed succeeds without the fault, and what stands upstream is as if there had been none.
//   - Where the call makes something, whoever takes it back after the fault leaves nothing.
//   - No secret turns up in an error, in what is below it, or in the log.
//
// Where a fault comes to something else, an [Exception] says so and why. A request that a flow comes to make later meets
// the rules by itself.
//
// A golden file of each flow shows its requests, what the call answers, what stands upstream, and what comes of each fault.
package sweep

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// Flow is one call of a driver, or a few.
type Flow struct {
	// Name is that of the golden file too.
	Name string
	// New makes what the flow runs on, and brings it to where the flow begins.
	New func(t testing.TB) *Bench
	// Beside matches, in a golden file, the requests that are made side by side: those next to one another stand there sorted.
	Beside string
	// Alike matches requests of which one meets the faults for all.
	Alike string
	// Only matches requests that meet faults, where all others do in another flow; empty is all, "none" is none.
	Only string
	// Fields matches requests of whose answers each field is altered, and Statuses those that [Statuses] come to. What comes of
	// either stands in the golden file, and is no rule's: no secret turns up, and an error is of a kind.
	Fields, Statuses string
}

// Bench is what one run of a flow runs on.
type Bench struct {
	// Servers are the fakes that are asked, by the words that begin their requests in a golden file.
	Servers map[string]*fake.Server
	// Run is the flow. It returns what the caller learns, for fmt; the texts of secrets do not show.
	Run func(ctx context.Context) (answer any, err error)
	// Undo takes back what Run makes, or may have made; nil where that is nothing.
	Undo func(ctx context.Context) error
	// Standing lists what stands upstream, each thing in one line.
	Standing func() []string
	// Names are words for texts that differ from run to run.
	Names map[string]string
	// Secrets are texts that turn up in no error and no log, once Run is over.
	Secrets func() []string
	// Log is what was logged; nil where nothing is.
	Log func() string
	// Later lets time pass before the call is made again, where it has to; nil where it has not.
	Later func()
}

// Suite is what flows of one driver have in common.
type Suite struct {
	// Kinds are the sentinels of the interface, each of which a golden file names by its text.
	Kinds []error
	// Want is the kind of the error by the name of the fault.
	Want map[string]error
	// Form says what is missing in an error, or nothing.
	Form func(err error) string
	// Exceptions are looked through in their order; the first that matches counts. One that names flows, and is never met in
	// a run of one of them, fails it.
	Exceptions []Exception
	// Words are named in a golden file, besides UUIDs, hexadecimal ids and ports.
	Words map[string]*regexp.Regexp
	// Headers are those of requests that a golden file shows.
	Headers []string
	// Body makes JSON of a request's body; nil takes it as it is.
	Body func(r *http.Request, body []byte) []byte
	// Kindless: errors of answers that are altered may be of no kind.
	Kindless bool
	// Skip are the names of faults that are left out, as another is the same here.
	Skip []string
}

// Exception is a fault that comes to something else than the rules say.
type Exception struct {
	// Flow, Request and Fault select, as regular expressions on the flow's name, the request in the golden file and the name
	// of the fault.
	Flow, Request, Fault string
	// Nth selects one of several equal requests, from 1; 0 is any.
	Nth int
	// Want is the kind of the error; nil: the call succeeds. Usual: it fails as the rule says.
	Want  error
	Usual bool
	// Differs: the call succeeds, and answers something else, which says what is missing.
	Differs bool
	// Left: afterwards something else may stand upstream, which the golden file shows. Again is the kind of the error of the call again.
	Left  bool
	Again error
	// Untried: such a fault is left out.
	Untried bool
	// Bare: the error has no remedy, as nobody can do anything.
	Bare bool
	Why  string
}

// alike are faults that a driver takes alike at all of its requests, as they are no answers: the first flow of a run meets them.
var alike = []string{"page", "drop", "cut"}

// Unkind is the kind of an error that is of none of a suite's.
var Unkind = errors.New("of no kind")

// Fault is one way in which a request fails.
type Fault struct {
	Name string
	// Writes leaves out requests that only read: the fault says, or takes away, what became of an effect.
	Writes bool
	// Says needs an answer with a body.
	Says bool
	// On hits each request from there on.
	On    bool
	Fault fake.Fault
}

// Faults are those that each request meets. A refusal is in the system's own form; a page is not.
var Faults = []Fault{
	{Name: "503", Fault: fake.Fault{Kind: fake.Refuse, Status: http.StatusServiceUnavailable}},
	{Name: "401", Fault: fake.Fault{Kind: fake.Refuse, Status: http.StatusUnauthorized}},
	{Name: "403", Fault: fake.Fault{Kind: fake.Refuse, Status: http.StatusForbidden}},
	{Name: "404", Fault: fake.Fault{Kind: fake.Refuse, Status: http.StatusNotFound}},
	{Name: "409", Writes: true, Fault: fake.Fault{Kind: fake.Refuse, Status: http.StatusConflict}},
	{Name: "page", Fault: fake.Fault{Kind: fake.HTML, Status: http.StatusNotFound}},
	{Name: "drop", Fault: fake.Fault{Kind: fake.Drop}},
	{Name: "lost", Writes: true, Fault: fake.Fault{Kind: fake.Drop, Late: true}},
	{Name: "down", On: true, Fault: fake.Fault{Kind: fake.Drop}},
	{Name: "cut", Says: true, Fault: fake.Fault{Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte { return body[:len(body)/2] }}},
	{Name: "hollow", Says: true, Fault: fake.Fault{Kind: fake.Edit, Edit: func(h http.Header, _ []byte) []byte {
		h.Set("Content-Type", "application/json")
		return []byte("{}")
	}}},
}

// most is how long one run may take.
const most = 20 * time.Second
