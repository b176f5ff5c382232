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
		"empty pages without an end": {answer(json, head+`"metadata":{"continue":"x"},"items":[]}`), broker.ErrUnsupported, 1001},
		"pages without an end":       {answer(json, head+`"metadata":{"continue":"x"},"items":[%s]}`, items(5000)), broker.ErrUnsupported, 11},
		"long pages without an end":  {answer(json, head+`"metadata":{"continue":"x"},"items":[{"metadata":{"name":"%s"}}]}`, strings.Repeat("x", 4<<20-200)), broker.ErrUnsupported, 9},
		"a list over its items":      {answer(json, head+`"items":[%s]}`, items(5001)), broker.ErrUnreachable, 1},
		"a list in YAML":             {answer("application/yaml", "kind: ServiceAccountList\napiVersion: v1\nitems: [%s]", items(100_000)), broker.ErrUnreachable, 1},
		"a list of something else":   {answer(json, `{"kind":"SecretList","apiVersion":"v1","items":[]}`), broker.ErrUnreachable, 1},
		"one object":                 {answer(json, `{"kind":"ServiceAccount","apiVersion":"v1"}`), broker.ErrUnreachable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
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
