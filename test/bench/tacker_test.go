package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// What a Tacker 2024.1 takes on such a machine, with so many VIMs, and what its two
// processes hold, in MB.
const (
	tackerVIMs   = 110
	tackerList   = 187 * time.Millisecond
	tackerShow   = 3600 * time.Microsecond
	tackerCreate = 120 * time.Millisecond
	tackerDelete = 68 * time.Millisecond
	tackerHolds  = 430
	// createGoal is how much of the time that 71ef028 took to create an OpenStack VIM this version may take.
	createGoal = 1.0 / 3
)

// door is a caller of Tacker's VIM API.
type door struct {
	url, token string
	client     http.Client
}

// newDoor starts a version of the server in its try-out mode.
func newDoor(b *testing.B, bin string) (*door, *story.Broker) {
	b.Helper()
	home := b.TempDir()
	server, err := serveIn(bin, home, filepath.Join(home, "data"))
	if err != nil {
		b.Fatal(err)
	}
	d := &door{url: server.URL, token: devToken(b, filepath.Join(home, "data"))}
	b.Cleanup(func() {
		d.client.CloseIdleConnections()
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	return d, server
}

// call answers what stands under "vim" or "vims".
func (d *door) call(method, path string, body any) (json.RawMessage, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(method, d.url+"/v1.0/vims"+path, strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Auth-Token", d.token)
	answer, err := d.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	var out struct{ VIM, VIMs json.RawMessage }
	if len(text) > 0 {
		err = json.Unmarshal(text, &out)
	}
	return append(out.VIM, out.VIMs...), err
}

// create registers a VIM, and returns its id.
func (d *door) create(name string, more map[string]any) (string, error) {
	vim := map[string]any{"name": name}
	for k, v := range more {
		vim[k] = v
	}
	made, err := d.call(http.MethodPost, ".json", map[string]any{"vim": vim})
	if err != nil {
		return "", err
	}
	var v struct{ ID string }
	return v.ID, json.Unmarshal(made, &v)
}

// tackerAPI measures Tacker's VIM API before a real cluster and a real Keystone, with
// as many VIMs as Tacker was measured with.
func tackerAPI(b *testing.B, p *program) *figure {
	b.Helper()
	cluster, o := real.Kubernetes(b), real.OpenStack(b)
	who := o.Project(b)
	d, server := newDoor(b, p.binary(b))
	kinds := map[string]map[string]any{
		"kubernetes": {
			"type": "kubernetes", "auth_url": cluster.Endpoint, "vim_project": map[string]string{"name": "default"},
			"auth_cred": map[string]string{"bearer_token": cluster.AdminToken(b), "ssl_ca_cert": cluster.CAPEM},
		},
		"openstack": {
			"type": "openstack", "auth_url": o.AuthURL, "vim_project": map[string]string{"name": who.Project, "project_domain_name": who.Domain},
			"auth_cred": map[string]string{"username": who.Username, "password": who.Password, "user_domain_name": who.Domain},
		},
	}
	var ids []string
	for n := range tackerVIMs {
		id, err := d.create(fmt.Sprintf("there-%d", n), kinds["kubernetes"])
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	f := &figure{Title: fmt.Sprintf("Tacker's VIM API with %d VIMs; the goals are what Tacker takes", tackerVIMs)}
	ask := func(what string, atMost time.Duration, rounds, each int, call func(n int) error) {
		b.Helper()
		out, err := turns(rounds, 1, each, contender{what, call})
		if err != nil {
			b.Fatal(err)
		}
		f.Rows = append(f.Rows, timed(what, out[0].sample).medianGoal(atMost))
	}
	ask(fmt.Sprintf("list of %d", tackerVIMs), tackerList, 20, 5, func(int) error {
		text, err := d.call(http.MethodGet, ".json", nil)
		var found []json.RawMessage
		if err == nil {
			err = json.Unmarshal(text, &found)
		}
		if err == nil && len(found) != tackerVIMs {
			err = fmt.Errorf("a list of %d", len(found))
		}
		return err
	})
	ask("show", tackerShow, 20, 10, func(n int) error {
		_, err := d.call(http.MethodGet, "/"+ids[n%tackerVIMs]+".json", nil)
		return err
	})
	for _, kind := range []string{"kubernetes", "openstack"} {
		var made []string
		ask("create, "+kind, tackerCreate, 10, 3, func(n int) error {
			id, err := d.create(fmt.Sprintf("%s-%d-%d", kind, len(made), n), kinds[kind])
			made = append(made, id)
			return err
		})
		ask("delete, "+kind, tackerDelete, 10, 3, func(int) error {
			id := made[0]
			made = made[1:]
			_, err := d.call(http.MethodDelete, "/"+id+".json", nil)
			return err
		})
	}
	if runtime.GOOS == "linux" {
		memory, err := resident(server.PID())
		if err != nil {
			b.Fatal(err)
		}
		f.Rows = append(f.Rows, row{What: "resident memory then", N: 1, Value: memory, Unit: "MB"}.valueGoal(tackerHolds))
	}
	before, err := story.BuildCommit(b, beforeTree)
	if err != nil {
		b.Fatal(err)
	}
	old, _ := newDoor(b, before)
	creates := func(d *door) func(int) error {
		return func(n int) error {
			_, err := d.create(fmt.Sprintf("turn-%d", n), kinds["openstack"])
			return err
		}
	}
	const mine, theirs = "create, openstack, in turns with 71ef028", "create, openstack, 71ef028"
	out, err := turns(10, 1, 3, contender{theirs, creates(old)}, contender{mine, creates(d)})
	if err != nil {
		b.Fatal(err)
	}
	base := timed(theirs, out[0].sample)
	f.Rows = append(f.Rows, base, timed(mine, out[1].sample).over(base).ratioGoal(createGoal))
	return f
}
