package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/test/fake"
)

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ids   = regexp.MustCompile(`[0-9a-f]{24,64}`)
	ports = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
)

// plain names what differs from run to run in a text.
func (s *Suite) plain(b *Bench, text string) string {
	longest := func(a, b string) int { return len(b) - len(a) }
	for _, name := range slices.SortedFunc(maps.Keys(b.Names), longest) {
		if name != "" {
			text = strings.ReplaceAll(text, name, "<"+b.Names[name]+">")
		}
	}
	for _, word := range slices.Sorted(maps.Keys(s.Words)) {
		text = s.Words[word].ReplaceAllString(text, "<"+word+">")
	}
	text = uuids.ReplaceAllString(text, "<uuid>")
	text = ids.ReplaceAllString(text, "<id>")
	return ports.ReplaceAllString(text, "<host>")
}

// request is how a golden file shows a request.
func (s *Suite) request(b *Bench, server string, r *http.Request, body []byte) string {
	text := strings.TrimSpace(server + " " + r.Method + " " + r.URL.Path)
	if query, err := url.QueryUnescape(r.URL.Query().Encode()); err == nil && query != "" {
		text += "?" + query
	}
	for _, name := range s.Headers {
		if v := r.Header.Get(name); v != "" {
			text += " " + name + ": " + v
		}
	}
	if s.Body != nil {
		body = s.Body(r, body)
	}
	var document any
	if len(body) == 0 {
		return s.plain(b, text)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&document) != nil || d.More() {
		return s.plain(b, text+" "+fmt.Sprintf("%q", body))
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(document) // it was decoded
	return s.plain(b, text+" "+strings.TrimSpace(out.String()))
}

// recorder notes the requests of one run, and has a fault for one of them.
type recorder struct {
	mu    sync.Mutex
	asked []string
	hit   bool
	mute  bool // the answer that the fault was to change had no body
	// secrets came with the requests.
	secrets []string
}

// credentials are the headers that hold one.
var credentials = []string{"Authorization", "X-Auth-Token", "X-Subject-Token", "X-Vault-Token"}

// watch begins a record. The nth request with that text meets the fault, if there is one.
func (s *Suite) watch(b *Bench, request string, nth int, f *Fault) *recorder {
	c := &recorder{}
	for name, server := range b.Servers {
		server.Watch(func(r *http.Request, body []byte) *fake.Fault {
			text := s.request(b, name, r, body)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.asked = append(c.asked, text)
			for _, name := range credentials {
				if v := r.Header.Get(name); v != "" {
					c.secrets = append(c.secrets, strings.TrimPrefix(v, "Bearer "))
				}
			}
			switch {
			case f == nil, c.hit && !f.On:
				return nil
			case c.hit:
				return f.on(r)
			case text != request:
				return nil
			}
			if nth--; nth > 0 {
				return nil
			}
			c.hit = true
			fault := *f.on(r)
			if edit := fault.Edit; edit != nil {
				fault.Edit = func(h http.Header, body []byte) []byte {
					if len(body) == 0 {
						c.mu.Lock()
						defer c.mu.Unlock()
						c.mute = true
						return body
					}
					return edit(h, body)
				}
			}
			return &fault
		})
	}
	return c
}

// on is the fault for a request. What is broken off in the midst of its answer nobody asks again by himself, as net/http does of
// what it only reads over a connection that it has used before.
func (f *Fault) on(r *http.Request) *fake.Fault {
	if f.Fault.Kind == fake.Drop && r.Method == http.MethodGet {
		return &fake.Fault{Kind: fake.Custom, Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, `{"`+fake.Canary)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}}
	}
	fault := f.Fault
	return &fault
}

// end ends it, and returns the requests: those that may come side by side sorted.
func (c *recorder) end(b *Bench, beside string) []string {
	for _, server := range b.Servers {
		server.Watch(nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := slices.Clone(c.asked)
	if beside == "" {
		return asked
	}
	for from := 0; from < len(asked); from++ {
		to := from
		for to < len(asked) && matches(beside, asked[to]) {
			to++
		}
		slices.Sort(asked[from:to])
		from = max(from, to-1)
	}
	return asked
}
