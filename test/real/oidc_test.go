package real_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// provided is a server that trusts the certified provider twice: as an identity provider, and as a platform of pipelines.
type provided struct {
	t            *testing.T
	bin, home    string
	site         *story.Site
	people, jobs string
	gitlab       string
}

func startProvided(t *testing.T) *provided {
	t.Helper()
	people, jobs, gitlab := real.OIDCProvider(t), real.OIDCProvider(t), real.OIDCProvider(t)
	p := &provided{t: t, bin: story.Build(t, t.TempDir()), home: t.TempDir(), people: people, jobs: jobs, gitlab: gitlab}
	p.site = story.NewSite(t, p.bin, fmt.Sprintf(`
trust:
  - name: corp
    issuer: %s
    type: at+jwt
    login: {clientID: vimbroker-cli}
    principals:
      - {match: {groups: noc, client_id: vimbroker-cli}, name: "{preferred_username}", project: default, roles: [member]}
  - name: github
    issuer: %s
    platform: github
    maxLife: 10m
    principals:
      - match: {repository: acme/edge, environment: prod, ref_protected: "true", job_workflow_ref: "acme/ci/.github/workflows/deploy.yml@*"}
        name: "{repository}"
        project: default
        roles: [member]
  - name: gitlab
    issuer: %s
    platform: gitlab
    maxLife: 10m
    principals:
      - {match: {project_path: acme/edge, ref_protected: "true", ref: main}, name: "{project_path}", project: default, roles: [member]}
`, people, jobs, gitlab))
	return p
}

// run runs a command of a person, whose words go to see as they come.
func (p *provided) run(see func(line string), args ...string) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, p.bin, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "BROWSER=true", "VIMBROKER_CA_FILE=" + os.Getenv("VIMBROKER_CA_FILE")}
	said, err := command.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	var out strings.Builder
	command.Stdout = &out
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
		if see != nil {
			see(lines.Text())
		}
	}
	err = command.Wait()
	return out.String(), err
}

// browser keeps cookies, as one does.
func browser(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 2 * time.Minute}
}

func TestPeopleAndPipelinesOfACertifiedProvider(t *testing.T) {
	p := startProvided(t)
	find := regexp.MustCompile(`https?://[^\s]+`)
	out, err := p.run(func(line string) {
		if at := find.FindString(line); strings.Contains(at, "/auth?") {
			go p.visit(browser(t), at)
		}
	}, "login", "--addr", p.site.Broker.URL)
	if err != nil || !strings.Contains(out, "logged in as Alice (oidc:corp:alice) in project default") {
		t.Fatalf("login = %v\n%s", err, out)
	}
	// Tokens live for 45 s, so that each command refreshes; the provider ends a login whose refresh token comes twice.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if out, err := p.run(nil, "whoami"); err != nil || !strings.Contains(out, "oidc:corp:alice") {
				t.Errorf("whoami beside others = %v\n%s", err, out)
			}
		})
	}
	all.Wait()
	if out, err := p.run(nil, "logout"); err != nil {
		t.Errorf("logout = %v\n%s", err, out)
	}
	out, err = p.run(func(line string) {
		if at := find.FindString(line); strings.Contains(at, "/device?") {
			p.confirm(browser(t), at)
		}
	}, "login", "--device", "--addr", p.site.Broker.URL)
	if err != nil || !strings.Contains(out, "logged in as Alice") {
		t.Errorf("login --device = %v\n%s", err, out)
	}
	for client, who := range map[string]string{
		"pipeline": "oidc:github:pipeline", "fork": "", "gitlab-job": "oidc:gitlab:gitlab-job", "gitlab-fork": "", "gitlab-branch": "",
	} {
		out, err := p.run(nil, "login", "--addr", p.site.Broker.URL, "--from", "file:"+p.tokenOf(client))
		if (who != "") != (err == nil) || who != "" && !strings.Contains(out, "logged in as acme/edge ("+who+")") {
			t.Errorf("the job of %s = %v\n%s", client, err, out)
		}
	}
}

// TestInitWithACertifiedProvider: a server starts on what init writes for an issuer, and its administrator logs in.
func TestInitWithACertifiedProvider(t *testing.T) {
	p := &provided{t: t, bin: story.Build(t, t.TempDir()), home: t.TempDir(), people: real.OIDCProvider(t)}
	dir := t.TempDir()
	config := filepath.Join(dir, "vimbroker.yaml")
	if out, err := p.run(nil, "init", "--dir", dir, "--state-dir", filepath.Join(dir, "state"), "--listen", "127.0.0.1:0", "--host", "127.0.0.1",
		"--issuer", p.people, "--client-id", "vimbroker-cli", "--audience", "vimbroker", "--admin-claim", "groups=noc"); err != nil {
		t.Fatalf("init = %v\n%s", err, out)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append(text, "egress: {allowLoopback: true}\n"...), 0o640); err != nil {
		t.Fatal(err)
	}
	b, err := story.Serve(p.bin, dir, []string{"HOME=" + p.home}, "--config", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	t.Setenv("VIMBROKER_CA_FILE", filepath.Join(dir, "tls/ca.crt"))
	find := regexp.MustCompile(`https?://[^\s]+`)
	out, err := p.run(func(line string) {
		if at := find.FindString(line); strings.Contains(at, "/device?") {
			p.confirm(browser(t), at)
		}
	}, "login", "--device", "--addr", b.URL)
	if err != nil || !strings.Contains(out, "oidc:login:alice") || !strings.Contains(out, "in project platform") {
		t.Fatalf("login = %v\n%s", err, out)
	}
	if out, err := p.run(nil, "whoami"); err != nil || !strings.Contains(out, "admin") {
		t.Errorf("whoami = %v\n%s", err, out)
	}
}

// visit follows what a browser would.
func (p *provided) visit(c *http.Client, at string) {
	answer, err := c.Get(at)
	if err != nil {
		p.t.Errorf("the browser: %v", err)
		return
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		p.t.Errorf("the browser: %d %s", answer.StatusCode, text)
	}
}

// confirm fills in the provider's form for a device code.
func (p *provided) confirm(c *http.Client, at string) {
	answer, err := c.Get(at)
	for range 3 {
		if err != nil {
			p.t.Errorf("the browser: %v", err)
			return
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		form := url.Values{"confirm": {"yes"}}
		for _, field := range regexp.MustCompile(`name="(xsrf|user_code)" value="([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			form.Set(field[1], html.UnescapeString(field[2]))
		}
		if form.Get("xsrf") == "" {
			return
		}
		answer, err = c.PostForm(p.people+"/device", form)
	}
	_ = answer.Body.Close()
}

// tokenOf is the file of a job's token.
func (p *provided) tokenOf(client string) string {
	p.t.Helper()
	at := p.jobs
	if strings.HasPrefix(client, "gitlab") {
		at = p.gitlab
	}
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, at+"/token", strings.NewReader("grant_type=client_credentials&resource=urn:vimbroker"))
	if err != nil {
		p.t.Fatal(err)
	}
	r.SetBasicAuth(client, "secret")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	var said struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || said.Token == "" {
		p.t.Fatalf("a token of %s: %d, %v", client, answer.StatusCode, err)
	}
	name := filepath.Join(p.t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(said.Token), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return name
}
