package crash_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api/client"
)

// onPage is a browser of the scene, with cookies of its own.
type onPage struct {
	s    *scene
	http http.Client
}

func (s *scene) onPage() *onPage {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &onPage{s, http.Client{Jar: jar, Timeout: patience}}
}

// send sends a form, or asks for a page where that is nil, and returns the page that it comes to.
func (p *onPage) send(path string, form url.Values) (page string, err error) {
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(p.s.ctx(), method, p.s.URL+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := p.http.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func (p *onPage) logIn() error {
	token, err := os.ReadFile(filepath.Join(p.s.dir, "dev-token"))
	if err != nil {
		p.s.t.Fatal(err)
	}
	_, err = p.send("/ui/login", url.Values{"token": {strings.TrimSpace(string(token))}})
	return err
}

// sessions are the ids of those that the page lists; none if it lets nobody in.
func (p *onPage) sessions() []string {
	p.s.t.Helper()
	page, err := p.send("/ui/sessions", nil)
	if err != nil {
		p.s.t.Fatal(err)
	}
	var ids []string
	for _, m := range regexp.MustCompile(`/ui/sessions/([0-9a-f-]+)/end`).FindAllStringSubmatch(page, -1) {
		ids = append(ids, m[1])
	}
	slices.Sort(ids)
	return ids
}

// visits are the browsers of a scene: of who is there before, and of who comes meanwhile.
type visits struct {
	first, second *onPage
	entered, left bool
}

// beingOnThePage: whenever the server dies, the sessions that live are those whose beginning the log has and whose end
// it has not, and who was logged out stays so.
var beingOnThePage = scenario{
	name: "log in and out at the page",
	prepare: func(s *scene) {
		s.visits = visits{first: s.onPage(), second: s.onPage()}
		if err := s.visits.first.logIn(); err != nil {
			s.t.Fatal(err)
		}
	},
	act: func(s *scene) error {
		if err := s.visits.second.logIn(); err != nil {
			return err
		}
		s.visits.entered = true
		page, err := s.visits.first.send("/ui/sessions", nil)
		if err != nil {
			return err
		}
		token := regexp.MustCompile(`name="form-token" value="([0-9a-f]+)"`).FindStringSubmatch(page)
		if token == nil {
			s.t.Fatalf("the page has no form: %s", page)
		}
		_, err = s.visits.first.send("/ui/logout", url.Values{"form-token": token[1:]})
		s.visits.left = err == nil
		return err
	},
	after: func(s *scene) {
		if s.visits.entered && len(s.visits.second.sessions()) == 0 {
			s.t.Error("whoever was let in is not known any more")
		}
		if s.visits.left && len(s.visits.first.sessions()) != 0 {
			s.t.Error("whoever was logged out is in again")
		}
		third := s.onPage()
		if err := third.logIn(); err != nil {
			s.t.Fatal(err)
		}
		over := map[string]bool{}
		var told []string
		for e, err := range s.AllAudit(s.ctx(), client.AuditQuery{PageSize: 1000}) { // newest first
			if err != nil {
				s.t.Fatal(err)
			}
			switch {
			case e.Action == "server:session-end":
				over[e.Resource] = true
			case e.Action == "server:session-begin" && !over[e.Resource]:
				told = append(told, e.Resource)
			}
		}
		slices.Sort(told)
		if listed := third.sessions(); len(listed) < 2 || !slices.Equal(listed, told) {
			s.t.Errorf("the page lists the sessions %v, and by the log %v live", listed, told)
		}
	},
}
