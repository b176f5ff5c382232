package replicas

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Each replica says on the page how all are: one that is killed is silent, one that stops leaves, and one that comes is
// there.
func TestReplicasOnThePage(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	person := &http.Client{Jar: jar}
	send := func(method, path, body string) (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, f.replicas[0].broker.URL+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err := person.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), err
	}
	if _, err := send("POST", "/ui/login", url.Values{"token": {f.token}}.Encode()); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name := func(r *replica) string { return fmt.Sprintf("%s/%d", host, r.broker.PID()) }
	says := func(what string, silent []string, well ...string) {
		t.Helper()
		eventually(t, what, func(context.Context) error {
			text, err := send("GET", "/ui/", "")
			if err != nil {
				return err
			}
			_, list, _ := strings.Cut(text, `id="is-replicas"`)
			if n := strings.Count(list, `<tr role="row"><th scope="row"`); n != len(well)+len(silent) {
				return fmt.Errorf("%d replicas are shown, want %d", n, len(well)+len(silent))
			}
			for _, id := range append(well, silent...) {
				if !strings.Contains(list, id) {
					return fmt.Errorf("%s is not shown", id)
				}
			}
			if strings.Count(list, "silent</bdi>") != len(silent) {
				return fmt.Errorf("other replicas than %v are silent: %s", silent, list)
			}
			for _, id := range silent {
				if !strings.Contains(text, "replica "+id+"</bdi>") {
					return fmt.Errorf("%s needs nobody: %s", id, text)
				}
			}
			return nil
		})
	}
	one, two, three := name(f.replicas[0]), name(f.replicas[1]), name(f.replicas[2])
	says("all three are well", nil, one, two, three)
	f.replicas[2].signal(syscall.SIGKILL)
	f.replicas[2].broker.Kill()
	says("the one that was killed is silent", []string{three}, one, two)
	f.replicas[1].signal(syscall.SIGTERM)
	says("the one that stops has left", []string{three}, one)
	f.replicas[1].broker.Kill()
	f.replicas[2].start()
	says("the next one is well", []string{three}, one, name(f.replicas[2]))
}
