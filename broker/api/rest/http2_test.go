package rest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Over HTTP/2, which clients speak wherever there is TLS, a request without a body has a reader all the same.
func TestBodiesMayBeLeftOutOverHTTP2(t *testing.T) {
	b := newBench(t)
	server := httptest.NewUnstartedServer(b.handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	ask := func(path, kind string, body io.Reader, want int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.ProtoMajor != 2 || answer.StatusCode != want {
			t.Errorf("POST %s over %s = %s, want %d", path, answer.Proto, answer.Status, want)
		}
	}
	// unsized is a body whose length no header says.
	unsized := func(text string) io.Reader { return struct{ io.Reader }{strings.NewReader(text)} }
	for path, want := range map[string]int{
		"/v1/vims/nowhere/check":     http.StatusNotFound,   // may have one
		"/v1/vims/nowhere/inventory": http.StatusNotFound,   //
		"/v1/leases":                 http.StatusBadRequest, // must have one
	} {
		ask(path, "", http.NoBody, want)
	}
	ask("/v1/vims/nowhere/check", "", unsized(""), http.StatusNotFound)
	ask("/v1/vims/nowhere/check", "text/plain", unsized("{}"), http.StatusUnsupportedMediaType)
	ask("/v1/vims/nowhere/check", "text/plain", strings.NewReader("{}"), http.StatusUnsupportedMediaType)
	ask("/v1/leases", "text/plain", unsized("{}"), http.StatusUnsupportedMediaType)
	ask("/v1/vims/nowhere/inventory", "application/json", unsized("{"), http.StatusBadRequest)

	// With a length that is no number net/http says 0, and there is a body all the same.
	for _, length := range []string{"two", ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/vims/nowhere/check", unsized("{}"))
		r.Proto, r.ProtoMajor, r.ProtoMinor, r.ContentLength = "HTTP/2.0", 2, 0, 0
		r.Header.Set("Content-Length", length)
		r.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
		answer := httptest.NewRecorder()
		b.handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusUnsupportedMediaType {
			t.Errorf("POST with the length %q = %d, want %d", length, answer.Code, http.StatusUnsupportedMediaType)
		}
	}
}
