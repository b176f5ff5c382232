package console

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/fake"
)

// bench is a console with a server that answers from lists.
type bench struct {
	*Console
	server   *fake.Server
	out, err bytes.Buffer
	vims     []v1.VIM
	leases   []v1.Lease
}

// newBench has a console whose environment names the server, and no home.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{}
	b.server = fake.NewPlain(t, b.serve)
	b.Console = &Console{
		Out: &b.out, Err: &b.err, In: strings.NewReader(""), Output: "table", Now: func() time.Time { return noon },
		Env: Environment{EnvAddr + "=" + b.server.URL, EnvToken + "=t"},
	}
	return b
}

func (b *bench) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch name, one := strings.CutPrefix(r.URL.Path, "/v1/vims/"); {
	case r.URL.Path == "/v1/vims":
		fake.Say(w, http.StatusOK, v1.List[v1.VIM]{Items: slices.DeleteFunc(slices.Clone(b.vims), func(v v1.VIM) bool {
			return !strings.HasPrefix(v.ID, q.Get("idPrefix")) || q.Has("name") && v.Name != q.Get("name")
		})})
	case r.URL.Path == "/v1/leases":
		fake.Say(w, http.StatusOK, v1.List[v1.Lease]{Items: slices.DeleteFunc(slices.Clone(b.leases), func(l v1.Lease) bool {
			return !strings.HasPrefix(l.ID, q.Get("idPrefix")) || q.Has("state") && l.State != q.Get("state")
		})})
	case one:
		at := slices.IndexFunc(b.vims, func(v v1.VIM) bool { return v.ID == name || v.Name == name })
		if at < 0 {
			w.Header().Set("Content-Type", v1.ProblemType)
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"title":"not found","status":404,"detail":"no such VIM","requestId":"r1"}`))
			return
		}
		fake.Say(w, http.StatusOK, b.vims[at])
	default:
		http.NotFound(w, r)
	}
}

// file writes a file, and returns its name.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// said is the text of an error, or none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const (
	idA = "abcd0001-0000-4000-8000-000000000001"
	idB = "abcd0002-0000-4000-8000-000000000002"
	idC = "beef0003-0000-4000-8000-000000000003"
)
