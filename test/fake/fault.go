package fake

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Canary stands in every answer that a fault makes up. It must turn up in no
// error or log of the client.
const Canary = "canary-in-a-remote-answer"

// Kind says how a request fails.
type Kind string

// How a request can fail.
const (
	// Pass answers as if there were no fault, and calls Fault.Reached. It goes
	// together with any other fault on the same request.
	Pass Kind = "pass"
	// Refuse answers Fault.Status in the system's own form.
	Refuse Kind = "refuse"
	// HTML answers Fault.Status (404 if zero) with a page, as a proxy does.
	HTML Kind = "html"
	// JSON answers Fault.Status with Fault.Body.
	JSON Kind = "json"
	// Custom lets Fault.Answer answer.
	Custom Kind = "custom"
	// Edit lets the request take effect and changes the answer by Fault.Edit.
	Edit Kind = "edit"
	// Hang answers nothing until the client gives up or Heal.
	Hang Kind = "hang"
	// Drop breaks the connection without an answer.
	Drop Kind = "drop"
	// Huge answers 200 and JSON that goes on for 64 MiB.
	Huge Kind = "huge"
	// Redirect answers 307 to Fault.Location.
	Redirect Kind = "redirect"
)

// Fault makes requests fail.
type Fault struct {
	// Method and Path select the requests: Path is a regular expression on the
	// URL's path. Empty ones match anything.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// Times is how many requests fail; zero means one, less means all until Heal.
	Times int `json:"times,omitempty"`

	Kind   Kind   `json:"kind"`
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	// Location is a URL, the host of one, or a path here; empty means /redirected.
	Location string `json:"location,omitempty"`
	// RetryAfter is sent as that header, if not zero.
	RetryAfter time.Duration    `json:"retryAfter,omitempty"`
	Answer     http.HandlerFunc `json:"-"`
	// Edit changes the answer's header in place and returns the new body.
	Edit func(header http.Header, body []byte) []byte `json:"-"`
	// Late lets the request take effect first, and then fails its answer.
	Late bool `json:"late,omitempty"`
	// Reached, if not nil, is called for each request that fails, before it does.
	// It may block: the request waits.
	Reached func() `json:"-"`
}

// Check reports a fault that could never do what it says.
func (f Fault) Check() error {
	if _, err := regexp.Compile(f.Path); err != nil {
		return fmt.Errorf("reading a fault's path: %w", err)
	}
	switch f.Kind {
	case Refuse:
		if f.Status < 400 || f.Status > 599 {
			return fmt.Errorf("a fault refuses with status %d: not an error", f.Status)
		}
	case JSON:
		if f.Status == 0 {
			return fmt.Errorf("a fault of kind %q has no status", f.Kind)
		}
	case Custom, Edit:
		if f.Kind == Custom && f.Answer == nil || f.Kind == Edit && f.Edit == nil {
			return fmt.Errorf("a fault of kind %q has no function", f.Kind)
		}
	case Pass, HTML, Hang, Drop, Huge, Redirect:
	default:
		return fmt.Errorf("there is no fault of kind %q", f.Kind)
	}
	return nil
}

// Script decides which requests fail, and how. The zero value fails none. Its
// methods are safe for concurrent use.
type Script struct {
	// Refuse answers a status in the system's own form; nil answers plain text.
	Refuse func(w http.ResponseWriter, r *http.Request, status int)
	// Opening is how the JSON of a Huge answer begins; empty means a list.
	Opening string

	mu     sync.Mutex
	faults []*armed
	watch  func(*http.Request, []byte) *Fault
}

type armed struct {
	Fault
	path   *regexp.Regexp
	healed chan struct{} // closed by Heal
}

// Fail arms a fault. Faults are tried in the order they were armed; the first
// that matches a request is used. A fault that Check reports is a mistake in the
// test: Fail panics.
func (s *Script) Fail(f Fault) {
	if err := f.Check(); err != nil {
		panic(err)
	}
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &armed{f, regexp.MustCompile(f.Path), make(chan struct{})})
}

// Heal disarms all faults and lets hanging requests go.
func (s *Script) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		close(f.healed)
	}
	s.faults = nil
}

// Watch shows each request to come, with its body, to a function, whose fault hits that request and no other; nil ends it.
func (s *Script) Watch(f func(r *http.Request, body []byte) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

// watched is the fault that the function of Watch has for a request.
func (s *Script) watched(r *http.Request) *armed {
	s.mu.Lock()
	watch := s.watch
	s.mu.Unlock()
	if watch == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if f := watch(r, body); f != nil && err == nil {
		if err := f.Check(); err != nil {
			panic(err)
		}
		return &armed{Fault: *f, healed: make(chan struct{})}
	}
	return nil
}

// due takes the faults for a request: all that pass, and the first that fails.
func (s *Script) due(r *http.Request) (passes []*armed, fault *armed) {
	fault = s.watched(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || f.Kind != Pass && fault != nil || !f.selects(r) {
			continue
		}
		f.Times = max(f.Times-1, -1)
		if f.Kind == Pass {
			passes = append(passes, f)
		} else {
			fault = f
		}
	}
	return passes, fault
}

func (f *armed) selects(r *http.Request) bool {
	return (f.Method == "" || f.Method == r.Method) && f.path.MatchString(r.URL.Path)
}

// Serve answers a request by do, or fails it if a fault says so.
func (s *Script) Serve(w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
	passes, fault := s.due(r)
	reach(passes, false)
	switch {
	case fault != nil && !fault.Late && fault.Kind != Edit:
		s.fail(w, r, fault)
		return
	case fault == nil && len(passes) == 0:
		do(w, r)
		return
	}
	made := httptest.NewRecorder()
	do(made, r)
	reach(passes, true)
	switch {
	case fault == nil:
		send(w, made, made.Body.Bytes())
	case fault.Kind == Edit:
		reach([]*armed{fault}, fault.Late)
		made.Header().Del("Content-Length")
		send(w, made, fault.Edit(made.Header(), made.Body.Bytes()))
	default:
		s.fail(w, r, fault)
	}
}

// reach calls Reached of the faults that wait for the effect, or of those that do not.
func reach(faults []*armed, late bool) {
	for _, f := range faults {
		if f.Late == late && f.Reached != nil {
			f.Reached()
		}
	}
}

func send(w http.ResponseWriter, made *httptest.ResponseRecorder, body []byte) {
	for name, values := range made.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(made.Code)
	_, _ = w.Write(body)
}

// fail answers a request with a fault.
func (s *Script) fail(w http.ResponseWriter, r *http.Request, f *armed) {
	if f.Reached != nil {
		f.Reached()
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	switch f.Kind {
	case Refuse:
		if s.Refuse == nil {
			http.Error(w, Canary, f.Status)
			return
		}
		s.Refuse(w, r, f.Status)
	case HTML:
		write(w, cmp.Or(f.Status, http.StatusNotFound), "text/html", "<html><body>"+Canary+"</body></html>")
	case JSON:
		write(w, f.Status, "application/json", f.Body)
	case Custom:
		f.Answer(w, r)
	case Redirect:
		location := cmp.Or(f.Location, "/redirected")
		if !strings.Contains(location, "://") && !strings.HasPrefix(location, "/") {
			location = "https://" + location + r.URL.RequestURI()
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case Huge:
		write(w, http.StatusOK, "application/json", cmp.Or(s.Opening, "["))
		line := `{"a":"` + strings.Repeat(Canary, 100) + `"},`
		for sent := 0; sent < 64<<20; sent += len(line) {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	case Hang:
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		select {
		case <-f.healed:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	default: // Drop
		panic(http.ErrAbortHandler)
	}
}

func write(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
