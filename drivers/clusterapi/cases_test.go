package clusterapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	shown "github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// cut answers with a status, and breaks off before the end that it has announced.
func cut(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Each look at a management cluster ends in the error of the request that was not answered, and in nothing else.
func TestLooksThatAreNotAnswered(t *testing.T) {
	d := clusterapi.New()
	t.Cleanup(d.Close)
	type access = onboard.ManagementAccess
	looks := map[string]func(access) (any, error){
		"Ping":    func(a access) (any, error) { return nil, d.Ping(t.Context(), a) },
		"Cluster": func(a access) (any, error) { s, err := d.Cluster(t.Context(), a, "a", "edge"); return s.UID, err },
		"Secret": func(a access) (any, error) {
			s, err := d.Secret(t.Context(), a, "a", "edge-kubeconfig", "value")
			return s.Value.Reveal(), err
		},
		"ControlPlane": func(a access) (any, error) {
			return d.ControlPlane(t.Context(), a, "a", "controlplane.cluster.x-k8s.io", "planes", "cp")
		},
		"Namespaces": func(a access) (any, error) { all, err := d.Namespaces(t.Context(), a); return len(all), err },
	}
	const forbidden = `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}`
	hub := func() *hub {
		h := newHub(t)
		h.answer(clusters+"/edge", 200, clusterJSON("edge", "u1", "1", "True"))
		h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"namespace":"a","name":"edge-kubeconfig"},"data":{"value":"AAAA"}}`)
		h.answer("/apis/controlplane.cluster.x-k8s.io", 200, `{"preferredVersion":{"version":"v1"}}`)
		h.answer("/apis/controlplane.cluster.x-k8s.io/v1/namespaces/a/planes/cp", 200, `{"metadata":{"name":"cp","uid":"c1"}}`)
		h.answer("/api/v1/namespaces", 200, `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`)
		return h
	}
	for look, c := range map[string]struct {
		path string
		want any
	}{
		"Ping": {"/apis/cluster.x-k8s.io", nil}, "Cluster": {clusters + "/edge", "u1"}, "Secret": {secrets + "/edge-kubeconfig", "\x00\x00\x00"},
		"ControlPlane": {"/apis/controlplane.cluster.x-k8s.io/v1/namespaces/a/planes/cp", "c1"}, "Namespaces": {"/api/v1/namespaces", 1},
	} {
		h := hub()
		if got, err := looks[look](h.access()); err != nil || got != c.want {
			t.Errorf("%s = %q, %v, want %q", look, got, err, c.want)
		}
		var none any
		if look == "Namespaces" {
			none = 0
		} else if look != "Ping" {
			none = ""
		}
		for name, fault := range map[string]struct {
			f    fake.Fault
			want error
			says string
		}{
			"refused":    {fake.Fault{Kind: fake.JSON, Status: 403, Body: forbidden}, broker.ErrForbidden, "the lease may not read"},
			"away":       {fake.Fault{Kind: fake.JSON, Status: 503, Body: "{}"}, broker.ErrUnreachable, "cannot answer now (503)"},
			"made":       {fake.Fault{Kind: fake.JSON, Status: 201, Body: "{}"}, broker.ErrUnreachable, "(201)"},
			"broken off": {fake.Fault{Kind: fake.Custom, Answer: cut(200, "{}")}, broker.ErrUnreachable, "before"},
			"a page":     {fake.Fault{Kind: fake.JSON, Status: 200, Body: "<html>"}, broker.ErrUnreachable, "a Kubernetes API server does (200)"},
			"cut short":  {fake.Fault{Kind: fake.Custom, Answer: cut(403, forbidden)}, broker.ErrUnreachable, "before"},
		} {
			h := hub()
			fault.f.Path = c.path + "$"
			h.Fail(fault.f)
			got, err := looks[look](h.access())
			if !errors.Is(err, fault.want) || err == nil || !strings.Contains(err.Error(), fault.says) || got != none {
				t.Errorf("%s where it is %s = %q, %v, want %v that says %q", look, name, got, err, fault.want, fault.says)
			}
		}
		for field, change := range map[string]func(*access){"caCert": func(a *access) { a.CACert = "none" }, "endpoint": func(a *access) { a.Endpoint = "https://[::1" }} {
			a := h.access()
			change(&a)
			if _, err := looks[look](a); !errors.Is(err, broker.ErrInvalid) || !strings.HasPrefix(err.Error(), field+": ") {
				t.Errorf("%s with a bad %s = %v", look, field, err)
			}
		}
	}
	h := hub()
	h.answer("/apis/controlplane.cluster.x-k8s.io", 503, "{}")
	if uid, err := looks["ControlPlane"](h.access()); uid != "" || !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("ControlPlane of a group that is away = %v, %v", uid, err)
	}
	h.answer("/apis/cluster.x-k8s.io", 503, "{}")
	if uid, err := looks["Cluster"](h.access()); uid != "" || !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("Cluster of a group that is away = %v, %v", uid, err)
	}
}

// A cluster is the one that was asked for by all that tells it from others.
func TestAClusterThatIsAnother(t *testing.T) {
	d := clusterapi.New()
	t.Cleanup(d.Close)
	good := clusterJSON("edge", "u1", "1", "True")
	for name, body := range map[string]string{
		"in another namespace": strings.Replace(good, `"namespace":"a"`, `"namespace":"b"`, 1), "of another name": strings.Replace(good, `"name":"edge"`, `"name":"core"`, 1), "without a uid": strings.Replace(good, `"uid":"u1"`, `"uid":""`, 1),
	} {
		h := newHub(t)
		h.answer(clusters+"/edge", 200, body)
		s, err := d.Cluster(t.Context(), h.access(), "a", "edge")
		if e, is := errors.AsType[*broker.Error](err); !is || e.Kind != broker.ErrUnreachable || !strings.HasSuffix(e.Detail, "a Kubernetes API server does") || s.UID != "" {
			t.Errorf("a cluster %s: %+v, %v", name, s, err)
		}
	}
	for n, large := range map[int]bool{onboard.MaxKubeconfig: false, onboard.MaxKubeconfig + 1: true} {
		h := newHub(t)
		h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"namespace":"a","name":"edge-kubeconfig"},"data":{"value":"`+base64.StdEncoding.EncodeToString(make([]byte, n))+`"}}`)
		if s, err := d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value"); err != nil || s.Large != large || len(s.Value.Reveal()) != map[bool]int{false: n}[large] {
			t.Errorf("a kubeconfig of %d bytes: large %t, %v", n, s.Large, err)
		}
	}
}

// An entry of a secret that is a number, of one digit, is none that Kubernetes keeps.
func TestAnEntryThatIsANumber(t *testing.T) {
	h, d := newHub(t), clusterapi.New()
	t.Cleanup(d.Close)
	h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"namespace":"a","name":"edge-kubeconfig"},"data":{"value":7}}`)
	if s, err := d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value"); !errors.Is(err, broker.ErrUnreachable) || s.Name != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A list is taken with as many objects as can be watched, and with none more.
func TestTheLongestList(t *testing.T) {
	for more, want := range map[string]error{"": nil, ",{}": broker.ErrUnsupported} {
		h, d := newHub(t), clusterapi.New()
		t.Cleanup(d.Close)
		h.Fail(fake.Fault{Path: "^/api/v1/namespaces$", Times: 5, Kind: fake.Custom, Answer: func(w http.ResponseWriter, r *http.Request) {
			page, next := len(r.URL.Query().Get("continue")), "x"
			items := strings.Repeat("{},", 3999) + "{}"
			if page == 4 {
				next, items = "", items+more
			}
			_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1","continue":%q},"items":[%s]}`, strings.Repeat("x", page*len(next))+next, items)
		}})
		if all, err := d.Namespaces(t.Context(), h.access()); !errors.Is(err, want) || err == nil != (want == nil) {
			t.Errorf("20000 namespaces and %q: %d, %v, want %v", more, len(all), err, want)
		}
	}
}

// watches answers a list of x with nothing, and each watch of it as is said.
func watches(answer http.HandlerFunc) fake.Fault {
	return fake.Fault{Path: "^/x$", Times: -1, Kind: fake.Custom, Answer: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"10"},"items":[]}`)
			return
		}
		answer(w, r)
	}}
}

// A watch that ends well is begun again at once, however often others break between; one that breaks six times in a row
// is a failure. One that is given up says so.
func TestBreaksInARow(t *testing.T) {
	const change = `{"type":"ADDED","object":{"metadata":{"namespace":"a","name":"edge","uid":"u","resourceVersion":"11"}}}` + "\n"
	for name, c := range map[string]struct {
		breaks func(watch int) bool
		asked  int
		says   string
	}{
		"each second breaks":        {func(watch int) bool { return watch%2 == 0 }, 20, "refuses the lease (401)"},
		"each breaks":               {func(int) bool { return true }, 6, "before"},
		"five break, then one ends": {func(watch int) bool { return watch != 6 }, 12, "before"},
	} {
		asked := 0
		h := newHub(t)
		h.Fail(watches(func(w http.ResponseWriter, r *http.Request) {
			asked++
			switch {
			case asked == 20:
				w.WriteHeader(http.StatusUnauthorized)
			case c.breaks(asked):
				cut(200, change)(w, r)
			}
		}))
		d := clusterapi.NewAfter(atOnce)
		t.Cleanup(d.Close)
		var seen []string
		err := clusterapi.Follow(t.Context(), d, h.access, "x", func(name string) { seen = append(seen, name) })
		if err == nil || !strings.Contains(err.Error(), c.says) || asked != c.asked {
			t.Errorf("%s: %v after %d watches, want %q after %d; seen %v", name, err, asked, c.says, c.asked, seen)
		}
	}
	for name, given := range map[string]func(context.CancelFunc) (func(time.Duration) <-chan time.Time, http.HandlerFunc){
		"while it waits": func(up context.CancelFunc) (func(time.Duration) <-chan time.Time, http.HandlerFunc) {
			return func(pause time.Duration) <-chan time.Time {
				if pause < time.Minute {
					up()
				}
				return nil
			}, cut(200, change)
		},
		"while it watches": func(up context.CancelFunc) (func(time.Duration) <-chan time.Time, http.HandlerFunc) {
			return atOnce, func(w http.ResponseWriter, r *http.Request) {
				w.(http.Flusher).Flush()
				up()
				<-r.Context().Done()
			}
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		after, answer := given(cancel)
		h := newHub(t)
		h.Fail(watches(answer))
		d := clusterapi.NewAfter(after)
		t.Cleanup(d.Close)
		if err := clusterapi.Follow(ctx, d, h.access, "x", func(string) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("given up %s: %v", name, err)
		}
	}
}

// A watch that shows what is no object breaks, and one that is given up ends, also while it waits to be begun again.
func TestWatchesThatBreak(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, says := range map[string]string{
		"no object": `{"type":"ADDED","object":[]}`, "no event": `[]`, "a name too long": `{"type":"ADDED","object":` + strings.ReplaceAll(clusterJSON(long, "u", "1", "True"), "\n", " ") + `}`,
	} {
		h := newHub(t)
		h.says = says
		if err := followBy(t, h, clusterapi.NewAfter(atOnce)).ends(t); !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "as a Kubernetes API server does") {
			t.Errorf("a watch that shows %s: %v", name, err)
		}
	}
	h := newHub(t)
	h.answer(clusters, 200, `{"metadata":{"resourceVersion":"1"},"items":[`+clusterJSON(long, "u", "1", "True")+`]}`)
	if err := followBy(t, h, clusterapi.New()).ends(t); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("a list with a name too long: %v", err)
	}
	// The history of a list goes while it is read.
	h = newHub(t)
	h.Fail(fake.Fault{Path: clusters + "$", Kind: fake.JSON, Status: 410, Body: "{}"})
	if err := followBy(t, h, clusterapi.New()).ends(t); !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "the list of clusters in namespace a changed while it was read") {
		t.Errorf("a list that changes: %v", err)
	}
	h = newHub(t)
	h.says = "what no API server says"
	ctx, cancel := context.WithCancel(t.Context())
	d := clusterapi.NewAfter(func(pause time.Duration) <-chan time.Time {
		if pause < time.Minute {
			cancel() // while it waits, which nothing ends
		}
		return nil
	})
	t.Cleanup(d.Close)
	ignore := onboard.Sight{Clusters: func([]onboard.Seen) {}, Cluster: func(onboard.Seen) {}, Gone: func(_, _ string) {}, Secrets: func([]onboard.SecretVersion) {}, Secret: func(onboard.SecretVersion) {}}
	if err := d.Watch(ctx, h.access, "a", ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("a watch that is given up: %v", err)
	}
}

// A profile is written where any of its parts is not as it should be, and what cannot be written is said.
func TestProfilesThatDiffer(t *testing.T) {
	edge := shown.ClusterProfile{Name: "edge", VIM: "v1", Project: "p", VIMName: "edge", Server: "https://edge:6443", Healthy: "True", Reason: "Reachable"}
	start := func() (*fleet, *fake.Server, func(...shown.ClusterProfile) error) {
		f := &fleet{objects: map[string]map[string]any{}}
		server := fake.New(t, f.ServeHTTP)
		rules := egress.Default()
		rules.AllowLoopback = true
		d := clusterapi.New()
		t.Cleanup(d.Close)
		return f, server, func(wanted ...shown.ClusterProfile) error {
			return d.Publish(t.Context(), onboard.ManagementAccess{VIM: "h1", Endpoint: server.URL, CACert: server.CA, Token: secret.NewText("t"), Egress: rules}, "fleet", "h1", wanted)
		}
	}
	for name, c := range map[string]struct {
		change func(o map[string]any)
		writes int
	}{
		"nothing":      {func(map[string]any) {}, 0},
		"another spec": {func(o map[string]any) { o["spec"].(map[string]any)["displayName"] = "x" }, 1},
		"more labels":  {func(o map[string]any) { o["metadata"].(map[string]any)["labels"].(map[string]any)["x"] = "y" }, 1},
		"no status":    {func(o map[string]any) { delete(o, "status") }, 1},
	} {
		f, _, publish := start()
		if err := publish(edge); err != nil {
			t.Fatal(err)
		}
		want := f.String()
		c.change(f.objects["edge"])
		f.writes = 0
		if err := publish(edge); err != nil || f.writes != c.writes || f.String() != want {
			t.Errorf("one that has %s: %d writes, %v\n%s\nwant\n%s", name, f.writes, err, f, want)
		}
	}
	// Whatever is another of the VIM is written, and then nothing any more.
	for name, c := range map[string]struct {
		change func(*shown.ClusterProfile)
		writes int
	}{
		"version": {func(p *shown.ClusterProfile) { p.Version = "v1.37.0" }, 1}, "system": {func(p *shown.ClusterProfile) { p.System = "uid" }, 1},
		"server": {func(p *shown.ClusterProfile) { p.Server = "https://other:6443" }, 1}, "authorities": {func(p *shown.ClusterProfile) { p.CA = "PEM" }, 1},
		"name of the server": {func(p *shown.ClusterProfile) { p.ServerName = "other" }, 1}, "check": {func(p *shown.ClusterProfile) { p.Insecure = true }, 1},
		"role": {func(p *shown.ClusterProfile) { p.Role = "edit" }, 1}, "VIM": {func(p *shown.ClusterProfile) { p.VIM = "v2" }, 1},
		"reason": {func(p *shown.ClusterProfile) { p.Reason = "Other" }, 1}, "health": {func(p *shown.ClusterProfile) { p.Healthy, p.Reason = "False", "Away" }, 1},
		"name": {func(p *shown.ClusterProfile) { p.VIMName = "renamed" }, 1}, "project": {func(p *shown.ClusterProfile) { p.Project = "other" }, 2},
	} {
		f, _, publish := start()
		if err := publish(edge); err != nil {
			t.Fatal(err)
		}
		before, other := f.String(), edge
		c.change(&other)
		f.writes = 0
		if err := publish(other); err != nil || f.writes != c.writes || f.String() == before {
			t.Errorf("with another %s: %d writes, %v\n%s", name, f.writes, err, f)
		}
		if err := publish(other); err != nil || f.writes != c.writes {
			t.Errorf("with the same %s: %d writes, %v", name, f.writes, err)
		}
	}
	const path = "/clusterprofiles"
	for name, c := range map[string]struct {
		f    fake.Fault
		want error
		left int
	}{
		"the list":                {fake.Fault{Method: "GET", Path: path + "$", Kind: fake.JSON, Status: 503, Body: "{}"}, broker.ErrUnreachable, 1},
		"the object":              {fake.Fault{Method: "PATCH", Path: path + "/edge$", Kind: fake.JSON, Status: 503, Body: "{}"}, broker.ErrUnreachable, 1},
		"the status":              {fake.Fault{Method: "PATCH", Path: path + "/edge/status$", Kind: fake.JSON, Status: 503, Body: "{}"}, broker.ErrUnreachable, 2},
		"the status, taken":       {fake.Fault{Method: "PATCH", Path: path + "/edge/status$", Kind: fake.JSON, Status: 202, Body: "{}"}, broker.ErrUnreachable, 2},
		"the removal":             {fake.Fault{Method: "DELETE", Path: path + "/old$", Kind: fake.JSON, Status: 503, Body: "{}"}, broker.ErrUnreachable, 2},
		"the removal of one gone": {fake.Fault{Method: "DELETE", Path: path + "/old$", Kind: fake.JSON, Status: 404, Body: `{"kind":"Status","status":"Failure","reason":"NotFound","details":{"name":"old","kind":"clusterprofiles"}}`}, nil, 2},
	} {
		f, server, publish := start()
		f.objects["old"] = map[string]any{"metadata": map[string]any{"name": "old", "namespace": "fleet", "labels": map[string]any{"vimbroker.io/shown-by": "h1"}}}
		server.Fail(c.f)
		if err := publish(edge); !errors.Is(err, c.want) || err == nil != (c.want == nil) || len(f.objects) != c.left {
			t.Errorf("without %s: %v, %d objects, want %v and %d", name, err, len(f.objects), c.want, c.left)
		}
	}
}

// String shows the objects.
func (f *fleet) String() string {
	text, _ := json.Marshal(f.objects)
	return string(text)
}
