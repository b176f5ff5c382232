package kubernetes_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Lists that are small to send, and have no end or a large one, are no lists.
func TestHostileListsEnd(t *testing.T) {
	items := func(n int) string { return strings.Repeat("{},", n-1) + "{}" }
	answer := func(media, format string, a ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, fmt.Sprintf(format, a...))
		}
	}
	const json, head = "application/json", `{"kind":"ServiceAccountList","apiVersion":"v1",`
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
		most   int32 // requests
	}{
		"empty pages without an end":        {answer(json, head+`"metadata":{"continue":"x"},"items":[]}`), broker.ErrUnsupported, 1025},
		"pages without an end":              {answer(json, head+`"metadata":{"continue":"x"},"items":[%s]}`, items(5000)), broker.ErrUnsupported, 27},
		"long pages without an end":         {answer(json, head+`"metadata":{"continue":"x"},"items":[{"metadata":{"name":"%s"}}]}`, strings.Repeat("x", 4<<20-200)), broker.ErrUnsupported, 17},
		"what nobody reads, without an end": {answer(json, head+`"metadata":{"continue":"x"},"items":[{"metadata":{"labels":{"x":"%s"}}}]}`, strings.Repeat("x", 4<<20-200)), broker.ErrUnsupported, 33},
		"a list over its items":             {answer(json, head+`"items":[%s]}`, items(5001)), broker.ErrUnreachable, 1},
		"a list in YAML":                    {answer("application/yaml", "kind: ServiceAccountList\napiVersion: v1\nitems: [%s]", items(100_000)), broker.ErrUnreachable, 1},
		"a list of something else":          {answer(json, `{"kind":"SecretList","apiVersion":"v1","items":[]}`), broker.ErrUnreachable, 1},
		"one object":                        {answer(json, `{"kind":"ServiceAccount","apiVersion":"v1"}`), broker.ErrUnreachable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := cluster(t) // TLS is shown elsewhere
			b := &bench{t: t, s: l.s, d: l.driver, a: l.access}
			var asked atomic.Int32
			b.fail(fake.Fault{
				Kind: fake.Custom, Method: http.MethodGet, Path: "/serviceaccounts$", Times: -1, Answer: c.answer, Reached: func() { asked.Add(1) },
			})
			found, err := b.d.Inventory(t.Context(), b.a)
			if !errors.Is(err, c.want) || found != nil {
				t.Errorf("Inventory lists %d, %v, want none and %v", len(found), err, c.want)
			}
			if n := asked.Load(); n > c.most {
				t.Errorf("it took %d requests, want at most %d", n, c.most)
			}
			b.clean("Inventory", err)
		})
	}
}

// Rules and subjects take far more memory than bytes on the wire.
func TestHostileRolesEnd(t *testing.T) {
	many := func(value string, n int) string { return strings.Repeat(value+",", n-1) + value }
	for name, c := range map[string]struct {
		plural, kind, item string
		most               int32 // requests
	}{
		"rules in cluster roles":              {"clusterroles", "ClusterRoleList", `{"rules":[` + many("{}", 4900) + `]}`, 4},
		"rules in roles":                      {"roles", "RoleList", `{"rules":[` + many("{}", 4900) + `]}`, 4},
		"verbs":                               {"clusterroles", "ClusterRoleList", `{"rules":[{"verbs":[` + many(`""`, 4900) + `]}]}`, 35},
		"resource names":                      {"clusterroles", "ClusterRoleList", `{"rules":[{"resourceNames":[` + many(`""`, 4900) + `]}]}`, 35},
		"subjects of cluster role bindings":   {"clusterrolebindings", "ClusterRoleBindingList", `{"subjects":[` + many("{}", 4900) + `]}`, 9},
		"subjects of bindings of a namespace": {"rolebindings", "RoleBindingList", `{"subjects":[` + many("{}", 4900) + `]}`, 9},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			var asked atomic.Int32
			l.fail(fake.Fault{
				Kind: fake.Custom, Method: http.MethodGet, Path: "/" + c.plural + "$", Reached: func() { asked.Add(1) },
				Answer: func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"kind":"`+c.kind+`","metadata":{"continue":"x"},"items":[`+many(c.item, 18)+`]}`)
				},
			})
			_, err := l.driver.Grade(t.Context(), l.access, l.grant("edit", "default"))
			want(t, "Grade", err, broker.ErrUnsupported)
			if n := asked.Load(); n > c.most {
				t.Errorf("it took %d requests, want at most %d", n, c.most)
			}
		})
	}
}
