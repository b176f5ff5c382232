package clusterapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// hub is a management cluster's API server: it answers with what a test gives it, by path,
// and with a watch's events as they come.
type hub struct {
	*fake.Server
	mu      sync.Mutex
	answers map[string]answer
	watches map[string]chan string // a closed one ends the watch
	lists   map[string]int
	selects []string
	says    string // what each watch of clusters says before it ends
}

type answer struct {
	status int
	body   string
}

const (
	clusters = "/apis/cluster.x-k8s.io/v1beta2/namespaces/a/clusters"
	secrets  = "/api/v1/namespaces/a/secrets"
)

func newHub(t *testing.T) *hub {
	h := &hub{answers: map[string]answer{}, watches: map[string]chan string{}, lists: map[string]int{}}
	h.Server = fake.New(t, h.serve)
	h.answer("/apis/cluster.x-k8s.io", 200, `{"versions":[{"version":"v1beta2"},{"version":"v1beta1"}]}`)
	h.answer(clusters, 200, `{"metadata":{"resourceVersion":"10"},"items":[`+clusterJSON("edge", "u1", "9", "True")+`]}`)
	h.answer(secrets, 200, `{"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"namespace":"a","name":"edge-kubeconfig","uid":"s1","resourceVersion":"8","labels":{"cluster.x-k8s.io/cluster-name":"edge"}}}]}`)
	return h
}

func clusterJSON(name, uid, version, ready string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"a","name":%q,"uid":%q,"resourceVersion":%q,"labels":{"site":"x"},
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"kubeconfig-canary"}},
		"spec":{"controlPlaneRef":{"apiGroup":"controlplane.cluster.x-k8s.io","kind":"KubeadmControlPlane","name":"cp"}},
		"status":{"conditions":[{"type":"ControlPlaneInitialized","status":%q}]}}`, name, uid, version, ready)
}

func (h *hub) answer(path string, status int, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[path] = answer{status, strings.ReplaceAll(body, "\n", " ")}
}

// feed is where the events of a watch come from.
func (h *hub) feed(path string) chan string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watches[path] == nil {
		h.watches[path] = make(chan string, 16)
	}
	return h.watches[path]
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer leased" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Query().Get("watch") == "true" {
		h.watch(w, r)
		return
	}
	h.mu.Lock()
	h.lists[r.URL.Path]++
	if r.URL.Path == secrets {
		h.selects = append(h.selects, r.URL.Query().Get("labelSelector")+" "+r.Header.Get("Accept"))
	}
	a, ok := h.answers[r.URL.Path]
	h.mu.Unlock()
	if !ok {
		a = answer{404, `404 page not found`}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

func (h *hub) watch(w http.ResponseWriter, r *http.Request) {
	events := h.feed(r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if h.says != "" && r.URL.Path == clusters {
		_, _ = io.WriteString(w, h.says+"\n")
		return
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			if e == "" {
				return // the server ends the watch
			}
			_, _ = w.Write([]byte(strings.ReplaceAll(e, "\n", " ") + "\n"))
			w.(http.Flusher).Flush()
		}
	}
}

func (h *hub) access() onboard.ManagementAccess {
	rules := egress.Default()
	rules.AllowLoopback = true
	return onboard.ManagementAccess{VIM: "hub", Endpoint: h.URL, CACert: h.CA, Token: secret.NewText("leased"), Egress: rules}
}

// watched is what a watch has shown, one line each.
type watched struct {
	seen chan string
	done chan error
}

func follow(t *testing.T, h *hub) watched {
	t.Helper()
	return followBy(t, h, clusterapi.New())
}

func followBy(t *testing.T, h *hub, d *clusterapi.Driver) watched {
	t.Helper()
	access := h.access()
	return followAs(t, d, "a", func() onboard.ManagementAccess { return access })
}

func followAs(t *testing.T, d *clusterapi.Driver, namespace string, access func() onboard.ManagementAccess) watched {
	t.Helper()
	t.Cleanup(d.Close)
	w := watched{seen: make(chan string, 64), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		for range w.seen { //nolint:revive // until it is closed
		}
	})
	go func() {
		defer close(w.seen)
		w.done <- d.Watch(ctx, access, namespace, onboard.Sight{
			Clusters: func(all []onboard.Seen) {
				for _, s := range all {
					w.seen <- fmt.Sprintf("listed %s %s ready=%t %s", s.Name, s.UID, s.Ready, s.ControlPlane)
				}
				w.seen <- fmt.Sprintf("clusters %d", len(all))
			},
			Cluster: func(s onboard.Seen) {
				w.seen <- fmt.Sprintf("cluster %s ready=%t paused=%t deleting=%t", s.Name, s.Ready, s.Paused, s.Deleting)
			},
			Gone:    func(_, name string) { w.seen <- "gone " + name },
			Secrets: func(all []onboard.SecretVersion) { w.seen <- fmt.Sprintf("secrets %v", all) },
			Secret:  func(v onboard.SecretVersion) { w.seen <- fmt.Sprintf("secret %v", v) },
		})
	}()
	return w
}

// want waits until each line was shown, in any order.
func (w watched) want(t *testing.T, lines ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, l := range lines {
		missing[l] = true
	}
	patience := time.After(20 * time.Second)
	for len(missing) > 0 {
		select {
		case got, ok := <-w.seen:
			if !ok {
				t.Fatalf("the watch ended: %v; missing %v", <-w.done, missing)
			}
			delete(missing, got)
		case <-patience:
			t.Fatalf("not shown: %v", missing)
		}
	}
}

// TestWatchOfAllNamespaces shows clusters and secrets of each namespace with it, and asks once for all of them.
func TestWatchOfAllNamespaces(t *testing.T) {
	h := newHub(t)
	h.answer("/apis/cluster.x-k8s.io/v1beta2/clusters", 200, `{"metadata":{"resourceVersion":"10"},"items":[`+
		clusterJSON("edge", "u1", "9", "True")+`,{"metadata":{"namespace":"b","name":"edge","uid":"u2","resourceVersion":"9"}}]}`)
	h.answer("/api/v1/secrets", 200, `{"metadata":{"resourceVersion":"10"},"items":[
		{"metadata":{"namespace":"b","name":"edge-kubeconfig","uid":"s2","resourceVersion":"8","labels":{"cluster.x-k8s.io/cluster-name":"edge"}}}]}`)
	h.answer("/api/v1/namespaces", 200, `{"metadata":{"resourceVersion":"10"},"items":[
		{"metadata":{"name":"a","labels":{"tenant":"yes","cluster.x-k8s.io/cluster-name":"x"}}},{"metadata":{"name":"b"}}]}`)
	access := h.access()
	d := clusterapi.New()
	w := followAs(t, d, onboard.AllNamespaces, func() onboard.ManagementAccess { return access })
	w.want(t, "clusters 2", "secrets [{b edge-kubeconfig edge s2/8}]")
	all, err := d.Namespaces(t.Context(), access)
	if err != nil || len(all) != 2 || all["a"]["tenant"] != "yes" || len(all["b"]) != 0 {
		t.Errorf("Namespaces() = %v, %v", all, err)
	}
}

func TestWatch(t *testing.T) {
	h := newHub(t)
	w := follow(t, h)
	w.want(t, "listed edge u1 ready=true KubeadmControlPlane.controlplane.cluster.x-k8s.io cp", "clusters 1", "secrets [{a edge-kubeconfig edge s1/8}]")
	h.feed(clusters) <- `{"type":"ADDED","object":` + clusterJSON("core", "u2", "11", "False") + `}`
	h.feed(clusters) <- `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}`
	h.feed(clusters) <- `{"type":"MODIFIED","object":{"metadata":{"namespace":"a","name":"core","uid":"u2","resourceVersion":"13","deletionTimestamp":"2031-01-01T00:00:00Z","annotations":{"cluster.x-k8s.io/paused":""}},"status":{"initialization":{"controlPlaneInitialized":true}}}}`
	h.feed(secrets) <- `{"type":"MODIFIED","object":{"metadata":{"namespace":"a","name":"edge-kubeconfig","uid":"s1","resourceVersion":"14","labels":{"cluster.x-k8s.io/cluster-name":"edge"}}}}`
	h.feed(secrets) <- `{"type":"DELETED","object":{"metadata":{"namespace":"a","name":"edge-kubeconfig","uid":"s1","resourceVersion":"15","labels":{"cluster.x-k8s.io/cluster-name":"edge"}}}}`
	w.want(t, "cluster core ready=false paused=false deleting=false", "cluster core ready=true paused=true deleting=true",
		"secret {a edge-kubeconfig edge s1/14}", "secret {a edge-kubeconfig edge }")
	h.feed(clusters) <- "" // the watch's time is over: it goes on from there
	h.feed(clusters) <- `{"type":"DELETED","object":` + clusterJSON("core", "u2", "16", "True") + `}`
	w.want(t, "gone core")
	h.mu.Lock()
	defer h.mu.Unlock()
	var last string
	for _, r := range h.Requests() {
		if r.Path == clusters && strings.Contains(r.Query, "watch=true") {
			last = r.Query
		}
	}
	if !strings.Contains(last, "resourceVersion=13") {
		t.Errorf("the watch goes on by %q, want from 13, the last that was seen", last)
	}
	if h.lists[clusters] != 1 {
		t.Errorf("clusters were listed %d times, want once", h.lists[clusters])
	}
	for _, r := range h.Requests() {
		if r.Path == secrets && !strings.Contains(r.Query, "labelSelector=cluster.x-k8s.io%2Fcluster-name") {
			t.Errorf("secrets are asked for by %s", r.Query)
		}
	}
	if got := h.selects[0]; got != "cluster.x-k8s.io/cluster-name application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" {
		t.Errorf("secrets are listed as %q: what they hold is not to be sent", got)
	}
}

// TestHistoryThatIsGone: all are listed again.
func TestHistoryThatIsGone(t *testing.T) {
	h := newHub(t)
	w := follow(t, h)
	w.want(t, "clusters 1")
	h.answer(clusters, 200, `{"metadata":{"resourceVersion":"20"},"items":[]}`)
	h.feed(clusters) <- `{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410}}`
	w.want(t, "clusters 0")
}

// TestAWatchThatStaysSilent: an API server is asked to end a watch after five minutes. One that
// does not, and says nothing, is asked for the next one after six, from where it was.
func TestAWatchThatStaysSilent(t *testing.T) {
	h := newHub(t)
	silent := make(chan chan time.Time, 8)
	w := followBy(t, h, clusterapi.NewAfter(func(d time.Duration) <-chan time.Time {
		alarm := make(chan time.Time, 1)
		if d == 6*time.Minute {
			silent <- alarm
		} else {
			alarm <- time.Time{} // the rest before the next try
		}
		return alarm
	}))
	w.want(t, "clusters 1", "secrets [{a edge-kubeconfig edge s1/8}]")
	var watches []fake.Request
	all := func(n int) {
		t.Helper()
		for patience := time.Now().Add(time.Minute); len(watches) < n; time.Sleep(time.Millisecond) {
			for _, r := range h.Requests() {
				if strings.Contains(r.Query, "watch=true") {
					watches = append(watches, r)
				}
			}
			if time.Now().After(patience) {
				t.Fatalf("%d watches were asked for, want %d", len(watches), n)
			}
		}
	}
	all(2)
	for range 2 {
		select {
		case alarm := <-silent:
			alarm <- time.Time{}
		case <-time.After(time.Minute):
			t.Fatal("a watch is not bounded to six minutes")
		}
	}
	all(4)
	for _, r := range watches {
		if !strings.Contains(r.Query, "timeoutSeconds=300") || !strings.Contains(r.Query, "resourceVersion=10") {
			t.Errorf("a watch was asked for by %s", r.Query)
		}
	}
	select {
	case err := <-w.done:
		t.Errorf("Watch() = %v, want it to go on", err)
	default:
	}
}

// ends waits until the watch has ended, and returns why.
func (w watched) ends(t *testing.T) error {
	t.Helper()
	select {
	case err := <-w.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the watch does not end")
		return nil
	}
}

// atOnce are timers that ring at once, but for those that bound a watch.
func atOnce(d time.Duration) <-chan time.Time {
	alarm := make(chan time.Time, 1)
	if d < time.Minute {
		alarm <- time.Time{}
	}
	return alarm
}

// TestAWatchThatBreaksAgainAndAgain is a failure in the end, and a refusal in a watch is one at once.
func TestAWatchThatBreaksAgainAndAgain(t *testing.T) {
	for name, c := range map[string]struct {
		event   string
		watches int
		want    error
	}{
		"broken":  {"what no API server says", 6, broker.ErrUnreachable},
		"refused": {`{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}}`, 1, broker.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.says = c.event
			if err := followBy(t, h, clusterapi.NewAfter(atOnce)).ends(t); !errors.Is(err, c.want) {
				t.Errorf("Watch() = %v, want %v", err, c.want)
			}
			watches := 0
			for _, r := range h.Requests() {
				if r.Path == clusters && strings.Contains(r.Query, "watch=true") {
					watches++
				}
			}
			if watches != c.watches {
				t.Errorf("it was watched %d times, want %d", watches, c.watches)
			}
		})
	}
}

// TestAWatchGoesOnFromWhatItShowedLast, also where it breaks behind that; what is no version of an object moves it nowhere.
func TestAWatchGoesOnFromWhatItShowedLast(t *testing.T) {
	bookmark := func(version string) string {
		return `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"` + version + `"}}}` + "\n"
	}
	for name, c := range map[string]struct{ says, want string }{
		"broken": {bookmark("77") + "what no API server says", "77"}, "broken later": {bookmark("77") + bookmark("78") + "what no API server says", "78"},
		"without a version":   {bookmark("77") + bookmark("") + "what no API server says", "77"},
		"refused for a while": {bookmark("77") + `{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"InternalError","code":500}}`, "77"},
	} {
		h := newHub(t)
		h.says = c.says
		if err := followBy(t, h, clusterapi.NewAfter(atOnce)).ends(t); !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
		var from []string
		for _, r := range h.Requests() {
			if query, err := url.ParseQuery(r.Query); err == nil && r.Path == clusters && query.Get("watch") == "true" {
				from = append(from, query.Get("resourceVersion"))
			}
		}
		if len(from) != 6 || from[0] == c.want || slices.ContainsFunc(from[1:], func(v string) bool { return v != c.want }) {
			t.Errorf("%s: it is watched from %q, want from %s on after the first", name, from, c.want)
		}
	}
}

// TestEachWatchUsesTheLeaseOfThatMoment: the lease is renewed meanwhile.
func TestEachWatchUsesTheLeaseOfThatMoment(t *testing.T) {
	h := newHub(t)
	var token atomic.Value
	token.Store("leased")
	w := followAs(t, clusterapi.New(), "a", func() onboard.ManagementAccess {
		a := h.access()
		a.Token = secret.NewText(token.Load().(string))
		return a
	})
	w.want(t, "clusters 1")
	token.Store("the next one, which this server does not know")
	h.feed(clusters) <- "" // the watch's time is over
	if err := w.ends(t); !errors.Is(err, broker.ErrUnauthorized) {
		t.Errorf("Watch() = %v, want a refusal of the next credential", err)
	}
}

// TestAListWithoutEnd is given up.
func TestAListWithoutEnd(t *testing.T) {
	h := newHub(t)
	h.Fail(fake.Fault{Method: "GET", Path: "^" + clusters + "$", Times: -1, Kind: fake.Custom, Answer: func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"10","continue":"next"},"items":[]}`)
	}})
	w := follow(t, h)
	if err := w.ends(t); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("Watch() = %v, want %v", err, broker.ErrUnsupported)
	}
	for line := range w.seen {
		if strings.HasPrefix(line, "clusters") {
			t.Errorf("shown: %s", line)
		}
	}
}

// TestAListThatIsTooLong is given up before all of it is kept.
func TestAListThatIsTooLong(t *testing.T) {
	h := newHub(t)
	text := `{"metadata":{"resourceVersion":"10","continue":"next"},"items":[` + strings.Repeat("{},", 4999) + `{}]}`
	var asked atomic.Int32
	h.Fail(fake.Fault{Method: "GET", Path: "^" + clusters + "$", Times: -1, Kind: fake.Custom, Answer: func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, text)
	}})
	if err := follow(t, h).ends(t); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("Watch() = %v, want %v", err, broker.ErrUnsupported)
	}
	if n := asked.Load(); n > 5 {
		t.Errorf("%d pages of 5000 were read, want at most 5", n)
	}
}

// TestControlPlane: its UID, where it is what was asked for.
func TestControlPlane(t *testing.T) {
	const group = "controlplane.cluster.x-k8s.io"
	const path = "/apis/" + group + "/v1beta2/namespaces/a/kubeadmcontrolplanes/cp"
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"it is there":         {200, `{"metadata":{"name":"cp","uid":"p1"}}`, nil},
		"another object":      {200, `{"metadata":{"name":"other","uid":"p2"}}`, broker.ErrUnreachable},
		"not there":           {404, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{"name":"cp","kind":"kubeadmcontrolplanes"}}`, broker.ErrNotFound},
		"not served":          {404, `404 page not found`, broker.ErrUnsupported},
		"forbidden":           {403, `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}`, broker.ErrForbidden},
		"a gateway's refusal": {403, `<html>no</html>`, broker.ErrUnreachable},
		"too many requests":   {429, `{"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429}`, broker.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.answer("/apis/"+group, 200, `{"preferredVersion":{"version":"v1beta2"}}`)
			h.answer(path, c.status, c.body)
			d := clusterapi.New()
			defer d.Close()
			uid, err := d.ControlPlane(t.Context(), h.access(), "a", group, "kubeadmcontrolplanes", "cp")
			if !errors.Is(err, c.want) || (err == nil) != (uid == "p1") {
				t.Errorf("ControlPlane() = %q, %v, want %v", uid, err, c.want)
			}
			if c.status == 429 && !strings.Contains(err.Error(), "limits requests") {
				t.Errorf("ControlPlane() = %v, which does not say why", err)
			}
		})
	}
}

// TestEndsOfAWatch: nothing but what is listed says what there is.
func TestEndsOfAWatch(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		status int
		body   string
		want   error
	}{
		"the API is not served":         {"/apis/cluster.x-k8s.io", 404, `404 page not found`, broker.ErrUnsupported},
		"no version that is understood": {"/apis/cluster.x-k8s.io", 200, `{"versions":[{"version":"v1alpha3"}]}`, broker.ErrUnsupported},
		"clusters are not served":       {clusters, 404, `404 page not found`, broker.ErrUnsupported},
		"the lease was taken away":      {clusters, 403, `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}`, broker.ErrForbidden},
		"secrets are forbidden":         {secrets, 403, `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}`, broker.ErrForbidden},
		"the lease has ended":           {clusters, 401, `{}`, broker.ErrUnauthorized},
		"the server is not well":        {clusters, 503, `{}`, broker.ErrUnreachable},
		"a gateway answers":             {clusters, 200, `<html>hello</html>`, broker.ErrUnreachable},
		"a list without a version":      {clusters, 200, `{"items":[]}`, broker.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.answer(c.path, c.status, c.body)
			w := follow(t, h)
			if err := <-w.done; !errors.Is(err, c.want) {
				t.Errorf("Watch() = %v, want %v", err, c.want)
			}
			d := clusterapi.New()
			defer d.Close()
			if err := d.Ping(t.Context(), h.access()); c.path == "/apis/cluster.x-k8s.io" != errors.Is(err, broker.ErrUnsupported) {
				t.Errorf("Ping() = %v", err)
			}
			for line := range w.seen {
				if strings.HasPrefix(line, "clusters 0") {
					t.Error("no clusters are shown, where they could not be listed")
				}
			}
		})
	}
}

// TestOnlyARealNotFoundIsOne: everything else leaves it open whether a cluster is gone.
func TestOnlyARealNotFoundIsOne(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"its own word":         {404, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{"name":"edge","group":"cluster.x-k8s.io","kind":"clusters"}}`, broker.ErrNotFound},
		"the CRD is missing":   {404, `404 page not found`, broker.ErrUnsupported},
		"no word on an object": {404, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{}}`, broker.ErrUnsupported},
		"a gateway's 404":      {404, `<html>not here</html>`, broker.ErrUnsupported},
		"forbidden":            {403, `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403}`, broker.ErrForbidden},
		"another object":       {200, clusterJSON("other", "u1", "1", "True"), broker.ErrUnreachable},
		"an empty object":      {200, `{}`, broker.ErrUnreachable},
		"it is there":          {200, clusterJSON("edge", "u1", "1", "True"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.answer(clusters+"/edge", c.status, c.body)
			d := clusterapi.New()
			defer d.Close()
			s, err := d.Cluster(t.Context(), h.access(), "a", "edge")
			if !errors.Is(err, c.want) || err == nil && (c.want != nil || s.UID != "u1") {
				t.Errorf("Cluster() = %v, %v, want %v", s.UID, err, c.want)
			}
		})
	}
}

func TestSecret(t *testing.T) {
	h := newHub(t)
	d := clusterapi.New()
	defer d.Close()
	put := func(value string) {
		h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"namespace":"a","name":"edge-kubeconfig","uid":"s1","resourceVersion":"8","labels":{"cluster.x-k8s.io/cluster-name":"edge"},
			"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","name":"edge","uid":"u1"}]},
			"data":{"value":"`+base64.StdEncoding.EncodeToString([]byte(value))+`","other":"AAAA"}}`)
	}
	put("a kubeconfig")
	s, err := d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value")
	if err != nil || s.Value.Reveal() != "a kubeconfig" || s.Version != "s1/8" || s.Cluster != "edge" || len(s.Owners) != 1 ||
		s.Owners[0] != (onboard.OwnerReference{Group: "cluster.x-k8s.io", Kind: "Cluster", Name: "edge", UID: "u1"}) {
		t.Errorf("Secret() = %+v, %v", s, err)
	}
	if s, err = d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "absent"); err != nil || !s.Value.Empty() || s.Large {
		t.Errorf("Secret() of an entry that is absent = %+v, %v", s, err)
	}
	put(strings.Repeat("x", 300<<10))
	if s, err = d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value"); err != nil || !s.Value.Empty() || !s.Large {
		t.Errorf("Secret() of a large entry = large %t, %v", s.Large, err)
	}
	h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"name":"core-kubeconfig"},"data":{"value":"AAAA"}}`)
	if s, err = d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value"); !errors.Is(err, broker.ErrUnreachable) || !s.Value.Empty() {
		t.Errorf("Secret() of another one = %v", err)
	}
	h.answer(secrets+"/edge-kubeconfig", 200, `{"metadata":{"namespace":"a","name":"edge-kubeconfig"},"data":{"value":"canary"}}`)
	if _, err = d.Secret(t.Context(), h.access(), "a", "edge-kubeconfig", "value"); !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), "canary") {
		t.Errorf("Secret() of what is not base64 = %v", err)
	}
}

// TestEgressRulesHold: a management cluster is dialled only where the rules let it be.
func TestEgressRulesHold(t *testing.T) {
	h := newHub(t)
	a := h.access()
	a.Egress = egress.Default()
	d := clusterapi.New()
	defer d.Close()
	if _, err := d.Cluster(t.Context(), a, "a", "edge"); !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "egress") {
		t.Errorf("Cluster() = %v, want the egress rules' refusal", err)
	}
}

// TestAClusterOfV1beta1 says in other fields what one of v1beta2 says.
func TestAClusterOfV1beta1(t *testing.T) {
	h := newHub(t)
	h.answer("/apis/cluster.x-k8s.io", 200, `{"versions":[{"version":"v1beta1"}]}`)
	h.answer("/apis/cluster.x-k8s.io/v1beta1/namespaces/a/clusters/edge", 200, `{"metadata":{"namespace":"a","name":"edge","uid":"u1"},
		"spec":{"paused":true,"controlPlaneRef":{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta1","kind":"KubeadmControlPlane","name":"cp"}},
		"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"ControlPlaneInitialized","status":"True"}]}}`)
	d := clusterapi.New()
	defer d.Close()
	s, err := d.Cluster(t.Context(), h.access(), "a", "edge")
	want := onboard.ObjectReference{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane", Name: "cp"}
	if err != nil || !s.Ready || !s.Paused || s.Deleting || s.ControlPlane != want {
		t.Errorf("Cluster() = %+v, %v", s, err)
	}
	h.answer("/apis/cluster.x-k8s.io/v1beta1/namespaces/a/clusters/edge", 200, `{"metadata":{"namespace":"a","name":"edge","uid":"u1"},
		"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"ControlPlaneInitialized","status":"False"}]}}`)
	if s, err = d.Cluster(t.Context(), h.access(), "a", "edge"); err != nil || s.Ready || s.Paused || s.ControlPlane != (onboard.ObjectReference{}) {
		t.Errorf("Cluster() of one that is not up = %+v, %v", s, err)
	}
}

// TestOtherNamespacesAreNotShown, whatever a list of one namespace holds.
func TestOtherNamespacesAreNotShown(t *testing.T) {
	h := newHub(t)
	foreign := func(name string) string {
		return strings.Replace(clusterJSON(name, "u9", "9", "True"), `"namespace":"a"`, `"namespace":"b"`, 1)
	}
	h.answer(clusters, 200, `{"metadata":{"resourceVersion":"10"},"items":[`+foreign("foreign")+`,`+clusterJSON("edge", "u1", "9", "True")+`]}`)
	w := follow(t, h)
	w.want(t, "clusters 1")
	h.feed(clusters) <- `{"type":"ADDED","object":` + foreign("foreign") + `}`
	h.feed(clusters) <- `{"type":"ADDED","object":` + clusterJSON("core", "u2", "11", "False") + `}`
	for line := range w.seen {
		if strings.Contains(line, "foreign") {
			t.Errorf("shown: %s", line)
		}
		if strings.HasPrefix(line, "cluster core") {
			return
		}
	}
	t.Errorf("the watch ended: %v", <-w.done)
}

// TestLongListsArePaged: what stands on the second page is there as well.
func TestLongListsArePaged(t *testing.T) {
	h := newHub(t)
	h.Fail(fake.Fault{Method: "GET", Path: "^" + clusters + "$", Times: 2, Kind: fake.Custom, Answer: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"10","continue":"next"},"items":[`+clusterJSON("edge", "u1", "9", "True")+`]}`)
			return
		}
		_, _ = io.WriteString(w, `{"metadata":{"resourceVersion":"10"},"items":[`+clusterJSON("core", "u2", "9", "True")+`]}`)
	}})
	follow(t, h).want(t, "clusters 2")
}
