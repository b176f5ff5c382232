package remote_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/remote"
)

// TestLinesAreBounded: a line that is too long, or has too many values, ends a stream.
func TestLinesAreBounded(t *testing.T) {
	limit := remote.Limit{Bytes: 64, Values: 10, Items: 5}
	for name, bad := range map[string]string{
		"too long":        `{"a":"` + strings.Repeat("x", 100) + `"}`,
		"too many values": `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}`,
		"too many items":  `[1,2,3,4,5,6,7]`,
	} {
		var got []string
		var failed error
		for line, err := range remote.Lines(strings.NewReader(`{"a":1}`+"\n\n"+bad+"\n"+`{"b":2}`+"\n"), limit, "the server") {
			if failed = err; err == nil {
				got = append(got, string(line))
			}
		}
		var f *remote.CallError
		if len(got) != 1 || got[0] != `{"a":1}` || !errors.As(failed, &f) || f.Detail == "" {
			t.Errorf("%s: read %q, then %v; want the first line, and a fault", name, got, failed)
		}
	}
}

// A stream arrives line by line and ends with its body; what is no success is read whole.
func TestStream(t *testing.T) {
	gone := make(chan struct{})
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/watch":
			_, _ = io.WriteString(w, "{\"a\":1}\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(gone)
		case "/compressed":
			w.Header().Set("Content-Encoding", "gzip")
		case "/last":
			w.WriteHeader(299)
			_, _ = io.WriteString(w, "1\n"+bombs["a huge text"])
		case "/first-long":
			w.WriteHeader(http.StatusMultipleChoices)
			_, _ = io.WriteString(w, bombs["a huge text"])
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "why")
		case "/refused-long":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, bombs["a huge text"])
		}
		if accept, agent := r.Header.Get("Accept-Encoding"), r.UserAgent(); accept != "identity" || agent != "vimbroker" {
			t.Errorf("Accept-Encoding = %q, User-Agent = %q, want identity and vimbroker", accept, agent)
		}
	})
	client := to(t, loopback(), server).Client()
	ask := func(path string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(remote.Stream(t.Context()), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return client.Do(request)
	}
	watch, err := ask("/watch")
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range remote.Lines(watch.Body, remote.Small, "the server") {
		if string(line) != `{"a":1}` || err != nil {
			t.Errorf("the first line is %q, %v", line, err)
		}
		break
	}
	_ = watch.Body.Close()
	<-gone
	for path, want := range map[string]string{"/refused": "why", "/refused-long": ""} {
		refused, err := ask(path)
		if err != nil || refused.StatusCode != http.StatusForbidden {
			t.Fatalf("%s = %v, %v, want 403", path, refused, err)
		}
		if text, err := io.ReadAll(refused.Body); string(text) != want || err != nil {
			t.Errorf("%s answers %d bytes, %v, want %q", path, len(text), err, want)
		}
		_ = refused.Body.Close()
	}
	first, err := ask("/first-long")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(first.Body); len(text) != 0 || err != nil {
		t.Errorf("the first status that is no success comes with %d bytes, %v", len(text), err)
	}
	_ = first.Body.Close()
	last, err := ask("/last")
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range remote.Lines(last.Body, remote.Small, "the server") {
		if string(line) != "1" || err != nil {
			t.Errorf("the last status that is a success begins with %q, %v", line, err)
		}
		break
	}
	_ = last.Body.Close()
	var f *remote.CallError
	if response, err := ask("/compressed"); !errors.As(err, &f) || !strings.Contains(f.Detail, "compressed") {
		t.Errorf("a compressed stream = %v, %v, want a Fault", response, err)
	}
}
