package fakekeystone

import (
	"io"
	"net/http"
	"regexp"
	"slices"
)

// Canary stands in every answer that is no success. It must turn up in no error,
// log or answer of whoever asked.
const Canary = "canary-in-a-remote-answer"

// FaultKind says how a request fails.
type FaultKind string

// How a request can fail.
const (
	// Refuse answers Fault.Status as Keystone does.
	Refuse FaultKind = "refuse"
	// HTML answers Fault.Status with a page, as a proxy does.
	HTML FaultKind = "html"
	// Drop breaks the connection without an answer.
	Drop FaultKind = "drop"
	// Huge answers 200 and JSON that goes on for 64 MiB.
	Huge FaultKind = "huge"
	// Redirect answers 307 to Fault.Location.
	Redirect FaultKind = "redirect"
	// JSON answers Fault.Status with Fault.Body.
	JSON FaultKind = "json"
)

// Fault makes requests fail.
type Fault struct {
	// Method and Path select the requests: Path is a regular expression on the
	// URL's path. Empty ones match anything.
	Method, Path string
	Kind         FaultKind
	Status       int
	Body         string
	Location     string
	// Late lets the request take effect first, and then fails its answer.
	Late bool
	// Times is how many requests fail; zero means one, less means all until Heal.
	Times int
}

type armed struct {
	Fault
	path *regexp.Regexp
}

// Fail arms a fault. The first that matches a request is used.
func (s *Server) Fail(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &armed{f, regexp.MustCompile(f.Path)})
}

// Heal disarms every fault.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// due takes the fault that is armed for a request, or nil.
func (s *Server) due(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Method != "" && f.Method != r.Method || !f.path.MatchString(r.URL.Path) {
			continue
		}
		if f.Times--; f.Times == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return &f.Fault
	}
	return nil
}

// spoil answers a request as a fault says.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request, f *Fault) {
	switch f.Kind {
	case Refuse:
		refuse(w, f.Status)
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, "<html><body>"+Canary+"</body></html>")
	case JSON:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
	case Redirect:
		http.Redirect(w, r, f.Location, http.StatusTemporaryRedirect)
	case Huge:
		w.Header().Set("Content-Type", "application/json")
		const line = `{"a":"` + Canary + Canary + Canary + Canary + `"},`
		_, err := io.WriteString(w, `{"token":{"catalog":[`)
		for sent := 0; err == nil && sent < 64<<20; sent += len(line) {
			_, err = io.WriteString(w, line)
		}
	default: // Drop
		panic(http.ErrAbortHandler)
	}
}
