package real_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// shown is a server in the try-out mode, with a VIM and leases, and a browser that was let in by the link.
type shown struct {
	*real.Browser
	t   *testing.T
	url string
	run func(args ...string) string
}

func showPage(t *testing.T) *shown {
	t.Helper()
	browser := real.NewBrowser(t)
	bin, dir := story.Build(t, t.TempDir()), t.TempDir()
	b, err := story.Serve(bin, dir, os.Environ(), "--dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	s := &shown{Browser: browser, t: t, url: b.URL}
	s.run = func(args ...string) string {
		t.Helper()
		env := append(os.Environ(), "VIMBROKER_ADDR="+b.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(dir, "data", "dev-token"))
		return story.Shell{Dir: dir, Env: env}.Must(t, bin+" "+strings.Join(args, " "))
	}
	cluster := story.WriteFile(t, "kubeconfig", fakekube.New(t, fakekube.Options{}).Kubeconfig(), 0o600)
	s.run("vim", "register", "--kubeconfig", cluster, "edge-1", "--label", "site=north", "--description", `'<script>document.title="evil"</script>'`)
	s.run("lease", "issue", "--vim", "edge-1", "--role", "view", "--cluster-wide", "--out", filepath.Join(dir, "a"))
	s.run("lease", "issue", "--vim", "edge-1", "--role", "edit", "--namespace", "default", "--purpose", `'upgrade of billing'`, "--for", "dave",
		"--out", filepath.Join(dir, "b"))
	s.Open(regexp.MustCompile(`http://\S+/ui/link/\S+`).FindString(b.Log.String()))
	return s
}

// A person looks at every page and does what can be done, by keyboard, with names that a screen reader has.
func TestThePageInABrowser(t *testing.T) {
	s := showPage(t)
	s.See("heading", "Overview nothing needs you")
	for _, name := range []string{"VIMs", "Leases", "VNFs", "Operations", "Packages", "Clusters", "Audit", "Policies", "Clients"} {
		s.Follow("link", name)
		s.check(name)
	}
	s.Follow("link", "VIMs")
	s.Follow("link", "edge-1")
	s.check("a VIM")
	if text := s.Text(); !strings.Contains(text, `<script>document.title="evil"</script>`) {
		t.Errorf("what others wrote is not shown as they wrote it: %s", text)
	}
	s.Follow("link", "Check")
	s.check("the question of a check")
	s.Follow("button", "Check")
	s.See("link", "Suspend")
	s.Follow("link", "Suspend")
	s.Type("Why, for whoever asks for a lease", "maintenance until noon")
	s.Follow("button", "Suspend")
	if text := s.Text(); !strings.Contains(text, "maintenance until noon") {
		t.Errorf("the VIM does not say why it is suspended: %s", text)
	}
	s.Follow("link", "Resume")
	s.Follow("button", "Resume")
	s.Follow("link", "Inventory")
	s.check("an inventory")

	s.Follow("link", "Leases")
	id := regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindString(s.Text())
	s.Follow("link", id)
	s.check("a lease")
	if text := s.Text(); !strings.Contains(text, "What it can become") || !strings.Contains(text, "dave, by admin") {
		t.Errorf("the lease does not say what it can become: %s", text)
	}
	s.Follow("link", "Revoke")
	s.check("the question of a revocation")
	s.Follow("button", "Revoke")
	s.See("heading", id+" on edge-1 revoked")
	if listed := s.run("audit", "list", "--action", "lease:revoke", "-o", "json"); !strings.Contains(listed, `"door": "page"`) {
		t.Errorf("the log does not have the door: %s", listed)
	}
	s.Follow("link", "Audit")
	s.Type("What", "lease:revoke")
	s.Follow("button", "Search")
	s.check("what is found in the log")
	s.Open(s.url + "/ui/audit/1")
	s.check("an entry")
	if !strings.Contains(s.Text(), "the tree holds this very line") {
		t.Error("the entry has no proof")
	}
	s.Open(s.url + "/ui/sessions")
	s.check("sessions")
	s.Follow("button", "Log out")
	s.check("the login")
	s.See("heading", "Log in")
}

// check looks at a page at two widths, in two schemes, and has axe-core look at it.
func (s *shown) check(what string) {
	s.t.Helper()
	for n, scheme := range []string{"light", "dark", "light", "dark"} {
		width := []int64{1280, 360, 360, 1280}[n]
		if dir := os.Getenv("VIMBROKER_PICTURES"); dir != "" {
			name := fmt.Sprintf("%s-%d-%s.png", strings.ReplaceAll(strings.ToLower(what), " ", "-"), width, scheme)
			if err := os.WriteFile(filepath.Join(dir, name), s.Picture(width, scheme), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
		if n > 1 {
			continue // each width and each scheme was looked at
		}
		s.Look(width, scheme)
		for _, v := range s.Violations() {
			s.t.Errorf("%s, %d px wide, %s: %s", what, width, scheme, v)
		}
		var wide bool
		if s.Eval(`document.documentElement.scrollWidth > window.innerWidth`, &wide); wide {
			s.t.Errorf("%s is wider than %d px", what, width)
		}
	}
	var title string
	if s.Eval(`document.title`, &title); title == "evil" {
		s.t.Errorf("%s has run a script of others", what)
	}
	s.Look(1280, "light")
}

// Without script everything can be read and done.
func TestThePageWithoutScript(t *testing.T) {
	s := showPage(t)
	s.Run(emulation.SetScriptExecutionDisabled(true))
	s.Open(s.url + "/ui/vims")
	s.Follow("link", "edge-1")
	s.Follow("link", "Suspend")
	s.Follow("button", "Suspend")
	s.See("heading", "edge-1 suspended")
	s.Follow("button", "Log out")
	s.See("heading", "Log in")
}

// A page is light and soon there. Who comes by a colleague's link on another site is known here.
func TestThePageIsLight(t *testing.T) {
	s := showPage(t)
	for _, path := range []string{"/ui/", "/ui/leases", "/ui/audit"} {
		s.Open(s.url + path)
		var bytes, paint float64
		s.Eval(`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((n, e) => n + e.decodedBodySize + 300, 0)`, &bytes)
		s.Eval(`new Promise(done => { const look = () => { const p = performance.getEntriesByName("first-contentful-paint")[0];
			p ? done(p.startTime) : setTimeout(look, 10) }; look() })`, &paint)
		t.Logf("%s: %.0f bytes, first paint after %.0f ms", path, bytes, paint)
		if bytes > 60_000 || bytes < 1000 {
			t.Errorf("%s weighs %.0f bytes, want at most 60 KB", path, bytes)
		}
		if paint > 2000 { // 100 ms is the goal; a machine of tests has much to do
			t.Errorf("%s is painted after %.0f ms", path, paint)
		}
	}
	s.Open(`data:text/html,<a href="` + s.url + `/ui/vims">colleague</a>`)
	s.Follow("link", "colleague")
	s.Run(chromedp.WaitVisible("table", chromedp.ByQuery)) // after the page that asks itself
	s.See("link", "edge-1")
}
