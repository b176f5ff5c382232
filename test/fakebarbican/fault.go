package fakebarbican

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// Canary stands in every answer that a fault makes up. It must turn up in no
// error or log of whoever asked.
const Canary = "canary-in-a-remote-answer"

// Kind says how a request fails.
type Kind string

// How a request can fail.
const (
	// Refuse answers Fault.Status and errors, as Barbican and Keystone do.
	Refuse Kind = "refuse"
	// HTML answers Fault.Status with a page, as a proxy does.
	HTML Kind = "html"
	// JSON answers Fault.Status with Fault.Body.
	JSON Kind = "json"
	// Hang answers nothing until the client gives up or Heal.
	Hang Kind = "hang"
	// Drop breaks the connection without an answer.
	Drop Kind = "drop"
	// Huge answers 200 and JSON that goes on for 64 MiB.
	Huge Kind = "huge"
	// Pass answers as if there were no fault, after Fault.Reached was called.
	Pass Kind = "pass"
	// Redirect answers 307 to Fault.Location, a whole URL or the host of one.
	Redirect Kind = "redirect"
)

// Fault makes requests fail.
type Fault struct {
	// Method and Path select the requests: Path is a regular expression on what is
	// below the host. Empty ones match anything.
	Method, Path string
	Kind         Kind
	Status       int
	Body         string
	Location     string
	// Late lets the request take effect first, and then fails its answer.
	Late bool
	// Reached, if not nil, is called for each request that fails, before it does.
	Reached func()
	// Times is how many requests fail; zero means one, less means all until Heal.
	Times int
}

type armed struct {
	Fault
	path *regexp.Regexp
	left int
}

// Fail arms a fault. Of several that match, the first armed one goes first.
func (s *Server) Fail(f Fault) {
	a := &armed{Fault: f, path: regexp.MustCompile(f.Path), left: f.Times}
	if a.left == 0 {
		a.left = 1
	}
	s.set(func() { s.faults = append(s.faults, a) })
}

// Heal disarms all faults and lets hanging requests go.
func (s *Server) Heal() {
	s.set(func() {
		s.faults = nil
		close(s.released)
		s.released = make(chan struct{})
	})
}

// due returns the fault for a request, or nil. The caller holds s.mu.
func (s *Server) due(method, path string) *armed {
	for _, a := range s.faults {
		if a.left != 0 && (a.Method == "" || a.Method == method) && a.path.MatchString(path) {
			if a.left > 0 {
				a.left--
			}
			return a
		}
	}
	return nil
}

// fail answers a request with a fault.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, a *armed) {
	if a.Reached != nil {
		a.Reached()
	}
	switch a.Kind {
	case Refuse:
		refuse(w, r, a.Status, Canary)
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(a.Status)
		fmt.Fprintf(w, "<html>%s</html>", Canary)
	case JSON:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, a.Body)
	case Redirect:
		location := a.Location
		if !strings.Contains(location, "://") {
			location = "https://" + location + r.URL.RequestURI()
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case Huge:
		_, _ = io.WriteString(w, `{"secrets":[{"name":"`)
		chunk := strings.Repeat(Canary, 1000)
		for range 64 << 20 / len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, `"}]}`)
	case Hang:
		var released chan struct{}
		s.set(func() { released = s.released })
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		select {
		case <-released:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	}
}
