package manifests_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// A list that may be a moment old is the API server's cache's, and is read in pages where the cache answers with too much.
func TestCachedLists(t *testing.T) {
	pod := func(name string) string { return `{"metadata":{"name":"` + name + `","namespace":"cnf","uid":"u"}}` }
	for name, c := range map[string]struct {
		cached bool
		cache  string
		want   []string
		asked  []string
	}{
		"of the cache": {true, `{"kind":"PodList","items":[` + pod("old") + `]}`, []string{"old"}, []string{"0"}},
		"too large":    {true, `{"kind":"PodList","items":[` + pod("old") + `],"pad":"` + strings.Repeat("x", 7<<20) + `"}`, []string{"a", "b"}, []string{"0", "", ""}},
		"as it stands": {false, "", []string{"a", "b"}, []string{"", ""}},
	} {
		s := fakeobjects.New(t)
		var asked []string
		s.Fail(fake.Fault{Method: "GET", Path: "/pods$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			asked = append(asked, q.Get("resourceVersion"))
			if q.Get("labelSelector") != "app=a" {
				t.Errorf("%s: selector %q", name, q.Get("labelSelector"))
			}
			w.Header().Set("Content-Type", "application/json")
			text := `{"kind":"PodList","metadata":{"continue":"more"},"items":[` + pod("a") + `]}`
			switch {
			case q.Get("resourceVersion") == "0":
				text = c.cache
			case q.Get("continue") == "more":
				text = `{"kind":"PodList","items":[` + pod("b") + `]}`
			}
			_, _ = w.Write([]byte(text))
		}})
		of := lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: "cnf"}
		all, err := manifests.New().List(t.Context(), s.Connection(everything), of, "app=a", c.cached)
		var seen []string
		for _, o := range all {
			seen = append(seen, o.Name)
		}
		if err != nil || !slices.Equal(seen, c.want) || !slices.Equal(asked, c.asked) {
			t.Errorf("%s: %v, %v, asked for versions %q, want %v and %q", name, seen, err, asked, c.want, c.asked)
		}
	}
}

// A connection serves later calls as far as all that its trust rests on is the same.
func TestConnectionsAreUsedAgain(t *testing.T) {
	s := fakeobjects.New(t)
	var by string
	s.Fail(fake.Fault{Method: "GET", Path: "/pods$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, r *http.Request) {
		by = r.RemoteAddr
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PodList","items":[]}`))
	}})
	list := func(c lifecycle.Connection) string {
		t.Helper()
		of := lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: "cnf"}
		if _, err := manifests.New().List(t.Context(), c, of, "", false); err != nil {
			t.Fatal(err)
		}
		return by
	}
	c := s.Connection(everything)
	first := list(c)
	again := s.Connection(everything)
	again.Egress = c.Egress
	if list(c) != first || list(again) != first {
		t.Error("each call connects anew")
	}
	for what, change := range map[string]func(*lifecycle.Connection){
		"rules":       func(c *lifecycle.Connection) { same := *c.Egress; c.Egress = &same },
		"authorities": func(c *lifecycle.Connection) { c.Config.CACert += "\n" },
		"server name": func(c *lifecycle.Connection) { c.Config.ServerName = "localhost" },
		"insecurity":  func(c *lifecycle.Connection) { c.Config.InsecureSkipVerify = true },
	} {
		other := c
		change(&other)
		if list(other) == first {
			t.Errorf("a connection is shared in spite of other %s", what)
		}
	}
}
