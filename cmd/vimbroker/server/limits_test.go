package server

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

// tryOut is a server of the try-out mode that is not run, and the token of its caller.
func tryOut(t *testing.T, change func(*config)) (*server, string) {
	t.Helper()
	c := devConfig(nil)
	c.DataDir = t.TempDir()
	change(&c)
	d := &strictyaml.Document{}
	c.validate(d)
	c.load(d)
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	s, err := wire(t.Context(), c, "v0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	token, err := os.ReadFile(filepath.Join(c.DataDir, devTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	return s, strings.TrimSpace(string(token))
}

// Every door says in its own form that a caller asks too much.
func TestEveryDoorHasLimits(t *testing.T) {
	for path, form := range map[string]string{
		"/v1/vims":                   `"type":"urn:vimbroker:problem:limited"`,
		"/v1.0/vims":                 `"type":"limited"`,
		"/vnfpkgm/v2/vnf_packages":   `"type":"urn:vimbroker:problem:limited"`,
		"/vnflcm/v2/vnf_instances":   `"type":"urn:vimbroker:problem:limited"`,
		"/vnflcm/v2/vnf_lcm_op_occs": `"status":429`,
	} {
		s, token := tryOut(t, func(c *config) { c.Limits.Principal = limit.Bound{PerSecond: 1} })
		for _, want := range []int{200, 429} {
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Version", "2.0.0")
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			said := strings.ReplaceAll(w.Body.String(), " ", "")
			if w.Code != want {
				t.Errorf("GET %s = %d %s, want %d", path, w.Code, w.Body, want)
			}
			if want == 429 && (w.Header().Get("Retry-After") == "" || !strings.Contains(said, form) || !strings.Contains(said, "limits.principal")) {
				t.Errorf("GET %s = %s, want %s, the limit and Retry-After (%v)", path, w.Body, form, w.Header())
			}
		}
	}
}

func TestConfigReadsLimits(t *testing.T) {
	read := func(limits string) (config, error) {
		return loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\nlimits: "+limits+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
	}
	c, err := read("{address: {perSecond: 0}, principal: {perSecond: 7, inFlight: 0}, inFlight: 300}")
	if err != nil {
		t.Fatal(err)
	}
	want := defaults(nil).Limits
	want.Principal, want.InFlight = limit.Bound{PerSecond: 7, Burst: 14}, 300
	want.Address.PerSecond, want.Address.Burst = 0, 0
	if c.Limits != want {
		t.Errorf("%+v, want %+v", c.Limits, want)
	}
	_, err = read("{project: {inFlight: 8, zog: 1}, inFlight: 7}")
	for _, fault := range []string{
		"limits.project.inFlight: must not be more than limits.inFlight (7)", "limits.inFlight: must be at least 8", "zog",
	} {
		if !strings.Contains(fmt.Sprint(err), fault) {
			t.Errorf("%v\nwant %s", err, fault)
		}
	}
}
