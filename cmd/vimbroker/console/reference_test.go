package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A person names a VIM by its name, its id, how its id begins, and with its project.
func TestAVIMIsNamedInManyWays(t *testing.T) {
	const name36 = "abcdabcd-abcd-abcd-abcd-abcdabcd0000"
	none := func(ref, project string) string {
		return fmt.Sprintf("you see no VIM %q in project %q; see: vimbroker vim list --all-projects", ref, project)
	}
	for _, test := range []struct{ ref, project, want, fails string }{
		{"", "", "", ""},
		{"", "acme", "", ""},
		{"edge", "", "edge", ""},
		{idA, "", idA, ""},
		{idA, "acme", idA, ""},
		{"core", "acme", idB, ""},
		{"edge", "other", idC, ""},
		{"other/edge", "", idC, ""},
		{"other/edge", "acme", idC, ""},
		{"acme/abcd0002", "", idB, ""},
		{"other/abcd0002", "", "", none("abcd0002", "other")},
		{"acme/none", "", "", none("none", "acme")},
		{"beef0003", "", idC, ""},
		{"BEEF", "", "BEEF", ""},
		{"beef", "", idC, ""},
		{"bee", "", "bee", ""},
		{"abcd", "", "", "the id of more than one VIM begins with abcd; give more of it"},
		{"dead", "", "dead", ""},
		{"cafe", "", "cafe", ""}, // which is a name
		{name36[:35], "", name36[:35], ""},
		{"abcg", "", "abcg", ""},
	} {
		b := newBench(t)
		b.vims = []v1.VIM{
			{ID: idA, Name: "edge", Project: "acme"},
			{ID: idB, Name: "core", Project: "acme"},
			{ID: idC, Name: "edge", Project: "other"},
			{ID: "cafe0001-0000-4000-8000-000000000001", Name: "x", Project: "acme"},
			{ID: "0afe0001-0000-4000-8000-000000000001", Name: "cafe", Project: "acme"},
		}
		registry, err := b.Connect()
		if err != nil {
			t.Fatal(err)
		}
		b.Project = test.project
		got, err := b.VIMRef(t.Context(), registry, test.ref)
		if got != test.want || said(err) != test.fails {
			t.Errorf("%q of project %q is %q, %v; want %q, %q", test.ref, test.project, got, err, test.want, test.fails)
		}
	}
}

// Whatever the server refuses on the way to an id is the answer.
func TestAReferenceFailsWithTheServer(t *testing.T) {
	b := newBench(t)
	b.vims = []v1.VIM{{ID: idC, Name: "edge", Project: "acme"}}
	b.leases = []v1.Lease{{ID: idC}}
	registry, err := b.Connect()
	if err != nil {
		t.Fatal(err)
	}
	refs := map[string]func(ref string) (string, error){
		"VIM":   func(ref string) (string, error) { return b.VIMRef(t.Context(), registry, ref) },
		"lease": func(ref string) (string, error) { return b.LeaseRef(t.Context(), registry, ref) },
	}
	for _, test := range []struct{ what, ref, path, want string }{
		{"VIM", "beef", "/v1/vims/beef$", "beef"}, {"VIM", "beef", "/v1/vims$", ""}, {"VIM", "acme/edge", "/v1/vims$", ""}, {"lease", "beef", "/v1/leases$", ""},
	} {
		b.server.Fail(fake.Fault{Method: "GET", Path: test.path, Kind: fake.HTML, Status: http.StatusForbidden})
		got, err := refs[test.what](test.ref)
		if got != test.want || err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s %s without %s: %q, %v", test.what, test.ref, test.path, got, err)
		}
		b.server.Heal()
	}
	for ref, want := range map[string]string{"beef": idC, "dead": "dead", "name": "name", idC: idC} {
		if got, err := refs["lease"](ref); got != want || err != nil {
			t.Errorf("lease %s: %q, %v; want %q", ref, got, err, want)
		}
	}
	b.leases = append(b.leases, v1.Lease{ID: "beef0004-0000-4000-8000-000000000004"})
	if got, err := refs["lease"]("beef"); got != "" || said(err) != "the id of more than one lease begins with beef; give more of it" {
		t.Errorf("two leases: %q, %v", got, err)
	}
}

// The beginning of an id is four to thirty-five characters of those that an id has.
func TestTheBeginningOfAnID(t *testing.T) {
	for text, want := range map[string]bool{
		"abc": false, "abcd": true, "ABCD": true, "0-9a": true, idA[:35]: true, idA: false, idA + "0": false, "abcg": false, "": false,
	} {
		if isPrefix(text) != want {
			t.Errorf("isPrefix(%q) = %t", text, !want)
		}
	}
	for id, want := range map[string]string{idA: "abcd0001", "edge": "edge", "": ""} {
		if got := ShortID(id); got != want {
			t.Errorf("ShortID(%q) = %q", id, got)
		}
	}
}

// An answer that there is no such VIM names the one that is meant, in another project too.
func TestAVIMThatIsNotThereGetsTheOneThatIsMeant(t *testing.T) {
	missing := problem(http.StatusNotFound, "not found", "no such VIM")
	lost := problem(http.StatusNotFound, "not found", "no such lease")
	denied := problem(http.StatusForbidden, "forbidden", "no such VIM")
	for _, test := range []struct {
		typed string
		err   error
		fails bool
		want  string
	}{
		{"egde", missing, false, "not found: no such VIM; did you mean edge?"},
		{"far", missing, false, "not found: no such VIM; did you mean other/far?"},
		{"nothing", missing, false, "not found: no such VIM"},
		{"egde", missing, true, "not found: no such VIM"},
		{"egde", lost, false, "not found: no such lease"},
		{"egde", denied, false, "forbidden: no such VIM"},
		{"", missing, false, "not found: no such VIM"},
		{"egde", nil, false, ""},
	} {
		b := newBench(t)
		b.vims = []v1.VIM{{ID: idA, Name: "edge", Project: "acme"}, {ID: idC, Name: "far", Project: "other"}, {ID: idB, Name: "x", Project: "acme"}}
		registry, err := b.Connect()
		if err != nil {
			t.Fatal(err)
		}
		if test.typed != "" {
			if _, err := b.VIMRef(t.Context(), registry, test.typed); err != nil {
				t.Fatal(err)
			}
		}
		if test.fails {
			b.server.Fail(fake.Fault{Method: "GET", Path: "/v1/vims$", Kind: fake.Drop})
		}
		if got := b.Meant(t.Context(), registry, test.err); said(got) != test.want {
			t.Errorf("%q, %v: %v, want %q", test.typed, test.err, got, test.want)
		}
	}
}
