package sol013

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api"
)

// thing is a representation with attributes of each form.
type thing struct {
	ID    string         `json:"id"`
	State string         `json:"state"`
	Size  int            `json:"size"`
	On    bool           `json:"on"`
	Inner map[string]any `json:"inner,omitempty"`
	Parts []part         `json:"parts,omitempty"`
}

type part struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
}

var things = []thing{
	{ID: "a", State: "READY", Size: 9, On: true, Inner: map[string]any{"name": "it's, (x)", "deep": map[string]any{"n": 1}}, Parts: []part{{"p", "1"}, {"q", "2"}}},
	{ID: "b", State: "GONE", Size: 10, Inner: map[string]any{"name": "plain"}},
}

var shape = Selectable{Mandatory: []string{"id"}, ExcludedByDefault: []string{"inner", "parts"}}

// list asks for the things, and returns the answer as JSON.
func list(t *testing.T, query url.Values) (string, error) {
	t.Helper()
	c := &api.Call{Request: httptest.NewRequest("GET", "/x/v1/things", nil), Query: query}
	a, err := List(c, shape, things, "")
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

func TestFilters(t *testing.T) {
	for filter, want := range map[string]string{
		"":                                       "ab",
		"(eq,id,a)":                              "a",
		"(neq,id,a)":                             "b",
		"(in,id,a,b,c)":                          "ab",
		"(nin,id,a,c)":                           "b",
		"(gt,size,9)":                            "b", // as numbers
		"(gte,size,9)":                           "ab",
		"(lt,size,10)":                           "a",
		"(lte,size,8)":                           "",
		"(cont,state,EAD,x)":                     "a",
		"(ncont,state,EAD)":                      "b",
		"(eq,on,true)":                           "a",
		"(eq,inner/name,'it''s, (x)')":           "a",
		"(eq,inner/deep/n,1)":                    "a",
		"(eq,parts/path,q)":                      "a",
		"(eq,inner/@key,deep)":                   "a",
		"(eq,id,)":                               "",
		"(neq,inner/name,)":                      "ab",
		"(eq,inner/@key,none)":                   "",
		"(eq,inner/@key/x,deep)":                 "",
		"(eq,id/x,a)":                            "",
		"(eq,parts,p)":                           "",
		"(eq,nothing,x)":                         "",
		"(neq,nothing,x)":                        "",
		"(eq,inner,x)":                           "",
		"(eq,state,READY);(eq,size,9)":           "a",
		"(eq,state,READY);(eq,size,10)":          "",
		"(eq,state,'READY');(neq,inner/name,'')": "a",
		"(eq,id,'" + strings.Repeat("a", maxFilter-len("(eq,id,'')")) + "')": "", // as long as one may be
	} {
		q := url.Values{"fields": {"id"}}
		if filter != "" {
			q.Set("filter", filter)
		}
		text, err := list(t, q)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		var found []struct{ ID string }
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			got += f.ID
		}
		if got != want {
			t.Errorf("%s selects %q, want %q", filter, got, want)
		}
	}
}

func TestFiltersThatAreNone(t *testing.T) {
	for _, filter := range []string{
		"(eq,id,'" + strings.Repeat("a", maxFilter-len("(eq,id,'')")+1) + "')",
		"x", "(eq,id)", "(eq,id,a", "eq,id,a)", "(eq,id,a);", "(eq,id,a)(eq,id,b)", "(is,id,a)", "(eq,id,a,b)", "(eq,id,'a)", "()", "(eq,id,a);;(eq,id,b)", "(eq,id,a;b)", "(eq,id,'a'", "(eq,'id'x,a)",
		"(eq,id,'a'", "(eq,id,'a''", "('eq'",
	} {
		if text, err := list(t, url.Values{"filter": {filter}}); !errors.Is(err, api.ErrMalformed) {
			t.Errorf("%s = %s, %v, want a refusal", filter, text, err)
		}
	}
}

// FuzzFilter: any text is a filter, or is refused.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		"(eq,id,a)", "(in,inner/deep/n,1,2);(cont,state,'it''s')", "(neq,parts/@key,)", "(gt,size,1e999)", "(eq,/,x)", "(eq,@key/@key,x)", "('eq','id','a')",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := list(t, url.Values{"filter": {text}}); err != nil && !errors.Is(err, api.ErrMalformed) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestSelectors(t *testing.T) {
	first := func(q url.Values) string {
		q.Set("filter", "(eq,id,a)")
		text, err := list(t, q)
		if err != nil {
			return err.Error()
		}
		return text
	}
	const full = `"inner":{"deep":{"n":1},"name":"it's, (x)"}`
	for _, c := range []struct {
		query url.Values
		want  string
	}{
		{url.Values{}, `[{"id":"a","on":true,"size":9,"state":"READY"}]`},
		{url.Values{"exclude_default": {""}}, `[{"id":"a","on":true,"size":9,"state":"READY"}]`},
		{url.Values{"all_fields": {""}}, `[{"id":"a",` + full + `,"on":true,"parts":[{"hash":"1","path":"p"},{"hash":"2","path":"q"}],"size":9,"state":"READY"}]`},
		{url.Values{"fields": {"state,parts/path"}}, `[{"id":"a","parts":[{"path":"p"},{"path":"q"}],"state":"READY"}]`},
		{url.Values{"fields": {"parts/path,parts/hash"}}, `[{"id":"a","parts":[{"hash":"1","path":"p"},{"hash":"2","path":"q"}]}]`},
		{url.Values{"fields": {"inner/name", "inner/deep/n"}}, `[{"id":"a","inner":{"deep":{"n":1},"name":"it's, (x)"}}]`},
		{url.Values{"fields": {"inner/deep/n", "nothing", "inner/nothing"}}, `[{"id":"a","inner":{"deep":{"n":1}}}]`},
		{url.Values{"fields": {"parts"}, "exclude_default": {""}}, `[{"id":"a","on":true,"parts":[{"hash":"1","path":"p"},{"hash":"2","path":"q"}],"size":9,"state":"READY"}]`},
		{url.Values{"exclude_fields": {"id,inner,parts/hash,on,state"}}, `[{"id":"a","parts":[{"path":"p"},{"path":"q"}],"size":9}]`},
		{url.Values{"exclude_fields": {"inner/name,inner/deep/x,nothing/x,parts,on,state,size"}}, `[{"id":"a","inner":{"deep":{"n":1}}}]`},
		{url.Values{"all_fields": {""}, "exclude_default": {""}}, api.ErrMalformed.Error()},
		{url.Values{"fields": {"id"}, "exclude_fields": {"on"}}, api.ErrMalformed.Error()},
		{url.Values{"fields": {"id"}, "all_fields": {""}}, api.ErrMalformed.Error()},
		{url.Values{"exclude_fields": {"on"}, "all_fields": {""}}, api.ErrMalformed.Error()},
		{url.Values{"exclude_fields": {"on"}, "exclude_default": {""}}, api.ErrMalformed.Error()},
	} {
		if got := first(c.query); got != c.want {
			t.Errorf("%v = %s, want %s", c.query, got, c.want)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range [][3]string{
		{``, `{"a":"b"}`, `{"a":"b"}`},
		{`{"a":"b"}`, `{"a":null,"c":1}`, `{"c":1}`},
		{`{"a":{"b":"c","d":"e"}}`, `{"a":{"b":null,"f":[1]}}`, `{"a":{"d":"e","f":[1]}}`},
		{`{"a":"b"}`, `{"a":{"n":null,"m":1}}`, `{"a":{"m":1}}`},
	} {
		if got, err := Merge(c[0], []byte(c[1])); err != nil || got != c[2] {
			t.Errorf("Merge(%s, %s) = %s, %v, want %s", c[0], c[1], got, err, c[2])
		}
	}
	for _, c := range [][3]string{{"{", "{}", "unexpected end of JSON"}, {"[]", "{}", "cannot unmarshal"}, {"{}", "[]", "must be a JSON object"}, {"", "{", "must be a JSON object"}} {
		if got, err := Merge(c[0], []byte(c[1])); err == nil || !strings.Contains(err.Error(), c[2]) || got != "" {
			t.Errorf("Merge(%s, %s) = %s, %v, want %s", c[0], c[1], got, err, c[2])
		}
	}
}

// Of what was found each is shown in its form; what fails is told as it is.
func TestListsInTheirForm(t *testing.T) {
	c := &api.Call{Request: httptest.NewRequest("GET", "/x/v1/things", nil), Query: url.Values{}}
	lists := Lists(c, shape, func(_ *api.Call, n int) thing { return thing{ID: strings.Repeat("i", n)} })
	a, err := lists([]int{1, 2}, "", nil)
	if got, _ := json.Marshal(a.Body); err != nil || string(got) != `[{"id":"i","on":false,"size":0,"state":""},{"id":"ii","on":false,"size":0,"state":""}]` {
		t.Errorf("two are listed as %s, %v", got, err)
	}
	errAway := errors.New("away")
	if a, err := lists([]int{1}, "", errAway); !errors.Is(err, errAway) || a.Body != nil {
		t.Errorf("a failure is told as %v, with %v", err, a.Body)
	}
	// One field beside the default ones, and one that is left out.
	for query, want := range map[string]string{
		"fields=parts/hash&exclude_default": `[{"id":"a","on":true,"parts":[{"hash":"1"},{"hash":"2"}],"size":9,"state":"READY"}]`,
		"exclude_fields=on":                 `[{"id":"a","inner":{"deep":{"n":1},"name":"it's, (x)"},"parts":[{"hash":"1","path":"p"},{"hash":"2","path":"q"}],"size":9,"state":"READY"}]`,
		"fields=size":                       `[{"id":"a","size":9}]`,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q.Set("filter", "(eq,id,a)")
		if got, err := list(t, q); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}

// What cannot be written as a JSON object is no item of a list, and its URL is as the caller has come.
func TestItemsThatAreNoObjects(t *testing.T) {
	c := &api.Call{Request: httptest.NewRequest("GET", "/x/v1/things", nil), Query: url.Values{}}
	if a, err := List(c, shape, []any{func() {}}, ""); err == nil || a.Body != nil {
		t.Errorf("a function = %v, %v", a.Body, err)
	}
	if a, err := List(c, shape, []string{"a"}, ""); err == nil || a.Body != nil {
		t.Errorf("a text = %v, %v", a.Body, err)
	}
	for want, over := range map[string]*tls.ConnectionState{"http://example.com/p": nil, "https://example.com/p": {}} {
		c.TLS = over
		if got := URL(c, "/p"); got != want {
			t.Errorf("URL() = %s, want %s", got, want)
		}
	}
}
