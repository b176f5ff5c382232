package script

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/story"
)

var coreLimits = regexp.MustCompile(`(?m)^Max core file size +0 +0 `)

// TestServerTellsNothingOfItsMemory looks at a running server as an operator may: its
// memory cannot become a core file, not even by a limit that is raised later, and
// there are no profiles and variables to fetch, with a token or without.
func TestServerTellsNothingOfItsMemory(t *testing.T) {
	dir := t.TempDir()
	b, err := story.Serve(story.BuildWithFailpoints(t, t.TempDir()), dir, []string{"HOME=" + dir}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", b.PID()))
	if err != nil || !coreLimits.Match(limits) {
		t.Errorf("core files are not forbidden: %v\n%s", err, limits)
	}
	token, err := os.ReadFile(filepath.Join(dir, "data", "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/debug", "/debug/vars", "/debug/pprof", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline"} {
		for _, bearer := range []string{"", strings.TrimSpace(string(token))} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if bearer != "" {
				request.Header.Set("Authorization", "Bearer "+bearer)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusNotFound {
				t.Errorf("GET %s with a token: %t is answered with %d, want 404", path, bearer != "", response.StatusCode)
			}
		}
	}
}
