package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

// pageGoal is how much longer the first page of each list may take at the sizes that are the goal than at a hundredth.
const pageGoal = 1.5

// page measures the first page of each list of the page for browsers, and the overview.
func page(b *testing.B, p *program) *figure {
	b.Helper()
	db := real.OwnPostgres(b, "shared_buffers=512MB", "maintenance_work_mem=128MB", "max_wal_size=8GB", "checkpoint_timeout=30min")
	kube, cluster := fakekube.New(b, fakekube.Options{}), real.Kubernetes(b)
	few := newPast(b, p, db.DSN(b), kube, cluster, 100, 1000, 1, 10_000)
	many := newPast(b, p, db.DSN(b), kube, cluster, 10_000, 100_000, 1, 1_000_000)
	f := &figure{Title: "The page with 10 000 VIMs, 100 000 live leases and 1 000 000 entries, and with a hundredth"}
	there, here := few.person(b), many.person(b)
	for path, rows := range map[string]int{"": 10, "vims": 50, "leases": 50, "audit": 50, "audit?action=lease:issue": 50, "clusters": 0} {
		out, err := turns(10, 1, 10,
			contender{path, func(int) error { return shownBy(there, few.addr+"/ui/"+path, rows) }},
			contender{path, func(int) error { return shownBy(here, many.addr+"/ui/"+path, rows) }},
		)
		if err != nil {
			b.Fatal(err)
		}
		base := timed("/ui/"+path+", a hundredth", out[0].sample)
		f.Rows = append(f.Rows, base, timed("/ui/"+path, out[1].sample).over(base).ratioGoal(pageGoal))
	}
	return f
}

// person is a browser that was let in.
func (a *auditing) person(b *testing.B) *http.Client {
	b.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	form := url.Values{"token": {a.token}}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, a.addr+"/ui/login", strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := c.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	_ = answer.Body.Close()
	return c
}

// shownBy opens a page, whole, that has so many rows at least.
func shownBy(c *http.Client, at string, rows int) error {
	answer, err := c.Get(at)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "</html>") || strings.Count(string(text), `<th scope="row"`) < rows) {
		err = fmt.Errorf("%s answers %d, or has fewer than %d rows: %.300s", at, answer.StatusCode, rows, text)
	}
	return err
}
