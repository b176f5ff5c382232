package fakekube

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Canary stands in every answer that a fault makes up. It must turn up in no
// error, log or answer of whoever asked.
const Canary = "canary-in-a-remote-answer"

// FaultKind says how a request fails.
type FaultKind string

// How a request can fail.
const (
	// Refuse answers Fault.Status with a Status object, as an API server does.
	Refuse FaultKind = "refuse"
	// Hang answers nothing until the client gives up or the server closes.
	Hang FaultKind = "hang"
	// Drop breaks the connection without an answer.
	Drop FaultKind = "drop"
	// HugeBody answers 200 and JSON that goes on for 64 MiB.
	HugeBody FaultKind = "hugeBody"
	// Redirect answers 307 to Fault.Location.
	Redirect FaultKind = "redirect"
	// HTML answers Fault.Status (default 404) with a page, as a proxy does.
	HTML FaultKind = "html"
)

// Fault makes requests fail.
type Fault struct {
	// Method and Path select the requests: Path is a regular expression on the
	// URL's path. Empty ones match anything.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`

	Kind FaultKind `json:"kind"`
	// Status is the HTTP status of Refuse and HTML.
	Status int `json:"status,omitempty"`
	// RetryAfter is sent as that header, if not zero.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Location is where Redirect points; empty is /redirected of this server.
	Location string `json:"location,omitempty"`
	// Late lets the request take effect first, and then fails its answer.
	Late bool `json:"late,omitempty"`
	// Times is how many requests fail; zero means one, less means all until Heal.
	Times int `json:"times,omitempty"`
}

type armed struct {
	Fault
	path *regexp.Regexp
}

type hook struct {
	method string
	path   *regexp.Regexp
	run    func()
}

// Fail arms a fault. Faults are tried in the order they were armed; the first
// that matches a request is used.
func (s *Server) Fail(f Fault) error {
	re, err := regexp.Compile(f.Path)
	if err != nil {
		return fmt.Errorf("reading fault path: %w", err)
	}
	if f.Kind == Refuse && (f.Status < 400 || f.Status > 599) {
		return fmt.Errorf("fault refuses with status %d: not an error", f.Status)
	}
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &armed{f, re})
	return nil
}

// FailNext makes the next times requests of method and path (a regular
// expression) be refused with status.
func (s *Server) FailNext(method, path string, status, times int) {
	if err := s.Fail(Fault{Method: method, Path: path, Kind: Refuse, Status: status, Times: times}); err != nil {
		panic(err) // a mistake in the test
	}
}

// Heal disarms every fault and hook.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.hooks = nil, nil
}

// After runs f once, after the next request of method and path (a regular
// expression) has taken effect and before it is answered.
func (s *Server) After(method, path string, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, &hook{method, regexp.MustCompile(path), f})
}

// fault takes the fault that is armed for a request, if any.
func (s *Server) fault(r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.Method != "" && f.Method != r.Method || !f.path.MatchString(r.URL.Path) {
			continue
		}
		if f.Times > 0 {
			f.Times--
			if f.Times == 0 {
				s.faults = slices.Delete(s.faults, i, i+1)
			}
		}
		return f.Fault, true
	}
	return Fault{}, false
}

// runHooks runs the hooks for a request, outside the lock.
func (s *Server) runHooks(r *http.Request) {
	s.mu.Lock()
	var due []*hook
	s.hooks = slices.DeleteFunc(s.hooks, func(h *hook) bool {
		match := (h.method == "" || h.method == r.Method) && h.path.MatchString(r.URL.Path)
		if match {
			due = append(due, h)
		}
		return match
	})
	s.mu.Unlock()
	for _, h := range due {
		h.run()
	}
}

// spoil answers a request as a fault says.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request, f Fault) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	switch f.Kind {
	case Hang:
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		panic(http.ErrAbortHandler)
	case HugeBody:
		w.Header().Set("Content-Type", "application/json")
		const line = `{"a":"` + Canary + Canary + Canary + Canary + `"},`
		_, err := io.WriteString(w, `{"kind":"List","apiVersion":"v1","items":[`)
		for sent := 0; err == nil && sent < 64<<20; sent += len(line) {
			_, err = io.WriteString(w, line)
		}
	case Redirect:
		to := f.Location
		if to == "" {
			to = s.Endpoint + "/redirected"
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(cmp.Or(f.Status, http.StatusNotFound))
		_, _ = io.WriteString(w, "<html><body><h1>"+Canary+"</h1></body></html>")
	case Refuse:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		status := metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(f.Status), Reason: reasonOf(f.Status), Message: Canary,
		}
		_ = json.NewEncoder(w).Encode(status)
	default: // Drop
		panic(http.ErrAbortHandler)
	}
}

func reasonOf(status int) metav1.StatusReason {
	switch status {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	}
	return metav1.StatusReasonInternalError
}
