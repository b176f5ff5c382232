package rest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Over HTTP/2, which clients speak wherever there is TLS, a request without a body has a reader all the same.
func TestBodiesMayBeLeftOutOverHTTP2(t *testing.T) {
	b := newBench(t)
	server := httptest.NewUnstartedServer(b.handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for path, want := range map[string]int{
		"/v1/vims/nowhere/check":     http.StatusNotFound,   // may have one
		"/v1/vims/nowhere/inventory": http.StatusNotFound,   //
		"/v1/leases":                 http.StatusBadRequest, // must have one
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.ProtoMajor != 2 || answer.StatusCode != want {
			t.Errorf("POST %s without a body over %s = %s, want %d", path, answer.Proto, answer.Status, want)
		}
	}
}
