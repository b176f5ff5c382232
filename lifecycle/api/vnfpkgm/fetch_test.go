package vnfpkgm_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPackageIsFetched: once policy has decided, with the password that the request gives, which is kept nowhere; where
// it lies elsewhere the egress rules decide, and redirects are not followed. What fails leaves nothing.
func TestAPackageIsFetched(t *testing.T) {
	const password = canary + "-of-the-origin"
	text := packed(t, "vnfd-1")
	asked := 0
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		user, given, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/cut":
			w.Header().Set("Content-Length", "999999")
			_, _ = w.Write([]byte(text[:100]))
		case r.URL.Path == "/away":
			http.Redirect(w, r, "/web.csar", http.StatusFound)
		case r.URL.Path != "/open.csar" && (user != "nfvo" || given != password):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(origin.Close)
	c := serve(t)
	from := func(path, user string) string {
		body, err := json.Marshal(map[string]string{"addressInformation": path, "userName": user, "password": password})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	self := "/v2/vnf_packages/" + c.create("{}")
	fetch := self + "/package_content/upload_from_uri"
	for _, no := range []struct {
		status          int
		says, who, body string
	}{
		{422, "must be a URI", "alice", `{}`},
		{422, "must be a URI", "alice", from("file:///etc/passwd", "")},
		{422, "must begin with https://", "alice", from("http://packages.example.com/web.csar", "")},
		{422, "must begin with https://", "alice", from("ftp://127.0.0.1/web.csar", "")},
		{422, "holds a user", "alice", from("https://a:b@packages.example.com/web.csar", "")},
		{502, "egress rules refuse", "alice", from("https://169.254.169.254/latest", "")},
		{404, "no such VNF package", "bob", from(origin.URL+"/web.csar", "nfvo")},
	} {
		c.want(no.status, no.says, "POST", fetch, no.body, "Authorization", "Bearer "+no.who)
	}
	if asked != 0 {
		t.Errorf("the origin was asked %d times for what is refused", asked)
	}
	for path, says := range map[string]string{"/web.csar": "is answered 401", "/away": "is answered 302", "/cut": "before the answer was complete"} {
		if answer, said := c.ask("POST", fetch, from(origin.URL+path, "other")); answer.StatusCode < 400 || !strings.Contains(said, says) {
			t.Errorf("from %s = %d %s, want %q", path, answer.StatusCode, said, says)
		}
		c.want(200, `"CREATED"`, "GET", self, "")
	}
	c.want(202, "", "POST", fetch, from(origin.URL+"/web.csar", "nfvo"))
	c.want(200, `"onboardingState":"ONBOARDED"`, "GET", self, "")
	if answer, whole := c.ask("GET", self+"/package_content", ""); answer.StatusCode != 200 || whole != text {
		t.Errorf("the content is %d, %d bytes", answer.StatusCode, len(whole))
	}
	c.want(409, "has its content already", "POST", fetch, from(origin.URL+"/web.csar", "nfvo"))
	files, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if stored, err := os.ReadFile(name); err != nil || strings.Contains(string(stored), password) {
			t.Errorf("%s holds the password of the origin, or cannot be read: %v", name, err)
		}
	}
}
