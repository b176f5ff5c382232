package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// The leases of an operation that the server is at work on are left out of all of them, unless they are named; those of one that
// has ended, or of another VNFM, are not.
func TestAllLeavesOutOperationsThatRun(t *testing.T) {
	for flags, want := range map[string]string{"": "idle ended foreign", "--operations": "idle runs ended foreign"} {
		var revoked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			id, revokes := strings.TrimPrefix(r.URL.Path, "/v1/leases/"), r.Method == http.MethodDelete
			switch {
			case revokes:
				revoked = append(revoked, id)
				fmt.Fprintf(w, `{"id": %q, "state": "revoked"}`, id)
			case r.URL.Path == "/v1/leases" && r.URL.Query().Get("state") == "active":
				fmt.Fprint(w, `{"items": [{"id": "idle", "principal": "a"}, {"id": "runs", "principal": "a", "operation": "op-runs"},
					{"id": "ended", "principal": "a", "operation": "op-ended"}, {"id": "foreign", "principal": "b", "operation": "op-foreign"}]}`)
			case r.URL.Path == "/v1/leases":
				fmt.Fprint(w, `{"items": []}`)
			case strings.HasSuffix(r.URL.Path, "/op-runs"):
				fmt.Fprint(w, `{"operationState": "PROCESSING"}`)
			case strings.HasSuffix(r.URL.Path, "/op-ended"):
				fmt.Fprint(w, `{"operationState": "FAILED_TEMP"}`)
			default:
				http.NotFound(w, r)
			}
		}))
		defer server.Close()
		var out, said bytes.Buffer
		c := &console.Console{
			In: strings.NewReader(""), Out: &out, Err: &said, Now: time.Now, After: time.After,
			Env: console.Environment{console.EnvAddr + "=" + server.URL, console.EnvToken + "=t"},
		}
		root := &cobra.Command{Use: "vimbroker", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(Commands(c)...)
		root.SetArgs(append([]string{"lease", "revoke", "--all"}, strings.Fields(flags)...))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("lease revoke --all %s: %v", flags, err)
		}
		if !slices.Equal(revoked, strings.Fields(want)) {
			t.Errorf("--all %s revokes %q, want %s", flags, revoked, want)
		}
		if told := strings.Contains(said.String(), "not revoked, as their operations run: 1 of the leases; "); told != (flags == "") {
			t.Errorf("--all %s says %q", flags, &said)
		}
	}
}
