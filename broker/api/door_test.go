package api_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/sentinel"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// toy is a door with everything that the doors to come need.
type toy struct {
	url   string
	log   buffer
	seen  http.Header // of the last call
	fails error       // of GET /toy/things
	began chan struct{}
}

var errVersion = errors.New("version not supported")

const blobSize = 64 << 20

func (t *toy) door() api.Door {
	version := api.Parameter{Name: "Version", Values: []string{"2.0.0"}, Required: true, Kind: errVersion}
	return api.Door{
		Paths:    []string{"/toy/"},
		Private:  "/toy/",
		Tolerant: true,
		Kinds:    []api.ErrorKind{{Err: errVersion, Status: http.StatusNotAcceptable, Name: "version"}},
		Next:     map[broker.Next]string{broker.NextListVIMs: "look at the shelf"},
		Refuse: func(_ *http.Request, p api.Problem) api.Answer {
			return api.Answer{
				Header: http.Header{"Content-Type": {"application/toy-error"}},
				Body:   map[string]any{"toy": p.Name, "remedy": p.Remedy, "faults": p.Faults},
			}
		},
		Header: func(h http.Header, _ string) { h.Set("Version", "2.0.0") },
		Routes: []api.Route{
			{
				Method: "GET", Path: "/toy/things", Timeout: time.Minute, Status: http.StatusOK,
				Handle: func(c *api.Call) (api.Answer, error) {
					t.seen = c.Header.Clone()
					return api.Answer{Body: c.Principal.Name, Header: http.Header{"Link": {`</toy/things?page=2>; rel="next"`}}}, t.fails
				},
			},
			{
				Method: "POST", Path: "/toy/things", Timeout: time.Minute, Status: http.StatusCreated,
				Header: []api.Parameter{version, {Name: "Mode", Values: []string{"fast", "safe"}}},
				Body:   api.Body{Limit: 1 << 10, Types: []string{"application/json"}},
				Handle: func(c *api.Call) (api.Answer, error) {
					var in struct{ Name string }
					err := codec.Codec{}.Tolerant(c.Content, &in)
					return api.Answer{Body: in.Name}, err
				},
			},
			{
				Method: "POST", Path: "/toy/token", Timeout: time.Minute, Status: http.StatusOK, Identify: api.Anyone,
				Body: api.Body{Limit: 1 << 10, Types: []string{"application/x-www-form-urlencoded"}},
				Handle: func(c *api.Call) (api.Answer, error) {
					fields, err := c.Fields()
					return api.Answer{Body: fields.Get("grant_type")}, err
				},
			},
			{
				Method: "GET", Path: "/toy/client", Timeout: time.Minute, Status: http.StatusOK, Identify: client,
				Handle: func(c *api.Call) (api.Answer, error) {
					t.seen = c.Header.Clone()
					return api.Answer{Body: c.Principal.Name}, nil
				},
			},
			{
				Method: "PUT", Path: "/toy/blobs/{id}", Timeout: 10 * time.Minute, Status: http.StatusOK,
				Body: api.Body{Limit: blobSize, Stream: true, Types: []string{"application/zip"}},
				Handle: func(c *api.Call) (api.Answer, error) {
					t.began <- struct{}{}
					n, err := io.Copy(io.Discard, c.Body)
					return api.Answer{Body: n}, err
				},
			},
			{
				Method: "GET", Path: "/toy/blobs/{id}", Timeout: 10 * time.Minute, Status: http.StatusOK,
				Handle: func(*api.Call) (api.Answer, error) {
					return api.Answer{Serve: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Type", "application/zip")
						if _, err := io.CopyN(w, zeros{}, blobSize); err != nil || r.PathValue("id") == "torn" {
							panic(http.ErrAbortHandler)
						}
					})}, nil
				},
			},
		},
	}
}

// client identifies a client by HTTP Basic, as token endpoints do.
func client(r *http.Request) (policy.Principal, error) {
	if id, secret, ok := r.BasicAuth(); ok && secret == "s3cret" {
		return policy.Principal{Name: id}, nil
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

// callers knows tokens that are names.
type callers struct{}

func (callers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	if token == "alice" || token == "root" {
		return policy.Principal{Name: token}, nil
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

// none counts nothing.
type none struct{}

func (none) Vitals(context.Context) broker.Vitals { return broker.Vitals{} }

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// buffer is a bytes.Buffer for several writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newToy(t *testing.T, readTimeout time.Duration) *toy {
	t.Helper()
	toy := &toy{began: make(chan struct{}, 10)}
	log := testlog.To(t, slog.NewTextHandler(&toy.log, nil))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	toy.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	h := api.New(api.Options{Doors: []api.Door{toy.door()}, Authenticator: callers{}, Vitals: none{}, Log: log})
	go func() {
		ended <- api.Server{Handler: h, Log: log, ReadTimeout: readTimeout, Grace: time.Millisecond}.Serve(ctx, l)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return toy
}

// However little a configuration asks of its callers, TLS before 1.2 is not spoken, and more that it asks is.
func TestTheOldestTLSThatIsServed(t *testing.T) {
	lent := httptest.NewTLSServer(nil)
	defer lent.Close()
	for _, c := range []struct {
		least, spoken uint16
		taken         bool
	}{
		{tls.VersionTLS10, tls.VersionTLS11, false},
		{tls.VersionTLS10, tls.VersionTLS12, true},
		{tls.VersionTLS13, tls.VersionTLS12, false},
		{tls.VersionTLS13, tls.VersionTLS13, true},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		config := &tls.Config{Certificates: lent.TLS.Certificates, MinVersion: c.least} //nolint:gosec // that it is not taken is the point
		go func() { ended <- api.Server{TLS: config, Log: slog.New(slog.DiscardHandler)}.Serve(ctx, l) }()
		caller := &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: c.spoken, InsecureSkipVerify: true} //nolint:gosec // an old caller
		way, err := tls.Dial("tcp", l.Addr().String(), caller)
		if err == nil {
			err = way.Close()
		}
		if (err == nil) != c.taken {
			t.Errorf("a server of TLS %x, and a caller of %x: %v", c.least, c.spoken, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// ask sends a request; headers are pairs of name and value.
func (y *toy) ask(t *testing.T, method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, y.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

const (
	auth = "Authorization"
	kind = "Content-Type"
	json = "application/json"
	form = "application/x-www-form-urlencoded"
)

func TestADoorOfItsOwn(t *testing.T) {
	y := newToy(t, 0)
	for _, c := range []struct {
		what, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"tolerant body", "POST", "/toy/things", `{"Name":"x","later":null}`, []string{auth, "Bearer alice", kind, json, "Version", "2.0.0"}, 201, `"x"`},
		{"unknown parameter", "GET", "/toy/things?zog=1", "", []string{auth, "Bearer alice"}, 200, `"alice"`},
		{"nested too deeply", "POST", "/toy/things", strings.Repeat("[", 20) + strings.Repeat("]", 20), []string{auth, "Bearer alice", kind, json, "Version", "2.0.0"}, 422, "nests too deeply"},
		{"too large", "POST", "/toy/things", `"` + strings.Repeat("x", 1<<10) + `"`, []string{auth, "Bearer alice", kind, json, "Version", "2.0.0"}, 413, `"toy":"too-large"`},
		{"no version", "POST", "/toy/things", "{}", []string{auth, "Bearer alice", kind, json}, 406, `"toy":"version"`},
		{"another version", "POST", "/toy/things", "{}", []string{auth, "Bearer alice", kind, json, "Version", "1.0.0"}, 406, "must be one of 2.0.0"},
		{"header of another value", "POST", "/toy/things", "{}", []string{auth, "Bearer alice", kind, json, "Version", "2.0.0", "Mode", "slow"}, 422, `{"Location":"header","Field":"Mode","Message":"must be one of fast, safe"}`},
		{"form by anyone", "POST", "/toy/token", "grant_type=x&scope=y", []string{kind, form}, 200, `"x"`},
		{"field twice", "POST", "/toy/token", "grant_type=x&grant_type=y", []string{kind, form}, 400, "is given twice"},
		{"form that is none", "POST", "/toy/token", "grant_type=%zz", []string{kind, form}, 400, `"toy":"malformed"`},
		{"client", "GET", "/toy/client", "", []string{auth, "Basic YzE6czNjcmV0"}, 200, `"c1"`},
		{"no client", "GET", "/toy/client", "", []string{auth, "Bearer alice"}, 401, `"toy":"unauthenticated"`},
		{"nobody", "GET", "/toy/things", "", nil, 401, `"toy":"unauthenticated"`},
		{"nobody, nothing", "GET", "/toy/nothing", "", nil, 401, `"toy":"unauthenticated"`},
		{"nothing", "GET", "/toy/nothing", "", []string{auth, "Bearer alice"}, 404, `"toy":"not-found"`},
		{"no such method", "BREW", "/toy/things", "", []string{auth, "Bearer alice"}, 405, `"toy":"method"`},
		{"no door", "GET", "/", "", nil, 404, ""},
		{"two tokens", "GET", "/toy/things", "", []string{auth, "Bearer alice", api.KeystoneHeader, "root"}, 401, "unauthenticated"},
		{"two tokens of one caller", "GET", "/toy/things", "", []string{auth, "Bearer alice", api.KeystoneHeader, "alice"}, 401, "unauthenticated"},
		{"two headers", "GET", "/toy/things", "", []string{auth, "Bearer alice", auth, "Bearer root"}, 401, "unauthenticated"},
		{"two of OpenStack's headers", "GET", "/toy/things", "", []string{api.KeystoneHeader, "alice", api.KeystoneHeader, "root"}, 401, "unauthenticated"},
	} {
		answer, text := y.ask(t, c.method, c.path, strings.NewReader(c.body), c.headers...)
		if answer.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s = %d %s, want %d %s", c.what, answer.StatusCode, text, c.status, c.want)
		}
		if c.status >= 400 && c.want != "" && answer.Header.Get("Content-Type") != "application/toy-error" {
			t.Errorf("%s: Content-Type %q is not the door's", c.what, answer.Header.Get("Content-Type"))
		}
		if strings.HasPrefix(c.path, "/toy/") && answer.Header.Get("Version") != "2.0.0" {
			t.Errorf("%s: the answer lacks the door's header", c.what)
		}
	}
	_, metrics := y.ask(t, "GET", "/metrics", nil)
	for _, op := range y.door().Routes[:4] {
		name := op.Method + " " + op.Path
		if !strings.Contains(metrics, `route="`+name+`"`) {
			t.Errorf("/metrics lacks %s", name)
		}
		if !strings.Contains(y.log.String(), `route="`+name+`"`) {
			t.Errorf("the log lacks %s", name)
		}
	}
}

// What stands where a field's name belongs may be a secret.
func TestANameIsRepeatedOnlyIfItLooksLikeOne(t *testing.T) {
	y := newToy(t, 0)
	for name, told := range map[string]string{
		"azAZ_-": "azAZ_-", strings.Repeat("n", 32): strings.Repeat("n", 32), strings.Repeat("n", 33): "?",
		"a`": "?", "a{": "?", "A@": "?", "A[": "?", "a.": "?", "s3cret": "?",
	} {
		name = url.QueryEscape(name)
		answer, text := y.ask(t, "POST", "/toy/token", strings.NewReader(name+"=x&"+name+"=y"), kind, form)
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, `"Field":"`+told+`"`) {
			t.Errorf("field %s twice = %d %s, want it told as %s", name, answer.StatusCode, text, told)
		}
	}
}

// Nothing behind the authentication needs a token, and nothing may print one.
func TestTokensAreTakenOut(t *testing.T) {
	y := newToy(t, 0)
	for path, header := range map[string][]string{
		"/toy/things":   {auth, "Bearer alice"},
		"/toy/things?x": {api.KeystoneHeader, "alice"},
		"/toy/client":   {auth, "Basic YzE6czNjcmV0"},
	} {
		if answer, text := y.ask(t, "GET", path, nil, header...); answer.StatusCode != http.StatusOK {
			t.Fatalf("GET %s = %d %s", path, answer.StatusCode, text)
		}
		if y.seen.Get(auth) != "" || y.seen.Get(api.KeystoneHeader) != "" {
			t.Errorf("GET %s: the handler still sees the token", path)
		}
	}
}

func TestStreams(t *testing.T) {
	y := newToy(t, 0)
	alice := []string{auth, "Bearer alice", kind, "application/zip"}
	answer, text := y.ask(t, "PUT", "/toy/blobs/1", io.LimitReader(zeros{}, blobSize), alice...)
	if answer.StatusCode != http.StatusOK || text != fmt.Sprint(blobSize) {
		t.Errorf("upload = %d %s", answer.StatusCode, text)
	}
	if answer, text = y.ask(t, "PUT", "/toy/blobs/1", io.LimitReader(zeros{}, blobSize+1), alice...); answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("upload of one byte too many = %d %s", answer.StatusCode, text)
	}
	if answer, text = y.ask(t, "GET", "/toy/blobs/1", nil, alice...); len(text) != blobSize || answer.Header.Get(kind) != "application/zip" {
		t.Errorf("download = %d, %d bytes", answer.StatusCode, len(text))
	}
	// One that says its size is refused before the operation sees it.
	seen := len(y.began)
	conn, err := net.Dial("tcp", strings.TrimPrefix(y.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /toy/blobs/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nContent-Type: application/zip\r\nContent-Length: %d\r\n\r\n", blobSize+1)
	said, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || said.StatusCode != http.StatusRequestEntityTooLarge || len(y.began) != seen {
		t.Errorf("upload that says it is too large = %v, %v; the operation saw %d of them", said, err, len(y.began)-seen)
	}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", y.url+"/toy/blobs/torn", nil)
	r.Header.Set(auth, "Bearer alice")
	torn, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer torn.Body.Close()
	if _, err := io.Copy(io.Discard, torn.Body); err == nil {
		t.Error("a download that failed half way looks whole")
	}
}

// An upload may take longer than other bodies, as long as bytes come.
func TestAStreamOutlastsTheReadTimeout(t *testing.T) {
	y := newToy(t, time.Second)
	body, more := io.Pipe()
	done := make(chan string, 1)
	go func() {
		r, _ := http.NewRequestWithContext(t.Context(), "PUT", y.url+"/toy/blobs/1", body)
		r.Header.Set(auth, "Bearer alice")
		r.Header.Set(kind, "application/zip")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			done <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		done <- string(text)
	}()
	_, _ = io.WriteString(more, "ab")
	select {
	case <-y.began:
	case got := <-done:
		t.Fatalf("the upload ended before it was read: %s", got)
	}
	// A request that begins now and is refused for its slow body says that the time is over.
	conn, err := net.Dial("tcp", strings.TrimPrefix(y.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /toy/token HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 9\r\n\r\na", form)
	slow, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || slow.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("a form that never ends = %v, %v", slow, err)
	}
	_ = slow.Body.Close()
	_, _ = io.WriteString(more, "cd")
	_ = more.Close()
	if got := <-done; got != "4" {
		t.Errorf("the upload answered %q, want its 4 bytes", got)
	}
}

// Every sentinel of the domain has a row of its own in the common table.
func TestEverySentinelHasAnAnswer(t *testing.T) {
	y := newToy(t, 0)
	for name, err := range sentinel.All(t) {
		y.fails = &broker.Error{Kind: err, Detail: "x", Next: broker.NextListVIMs}
		_, text := y.ask(t, "GET", "/toy/things", nil, auth, "Bearer alice")
		if strings.Contains(text, `"toy":"internal"`) {
			t.Errorf("%s has no row", name)
		}
		if !strings.Contains(text, `"remedy":"look at the shelf"`) {
			t.Errorf("%s: the remedy is not in the door's words: %s", name, text)
		}
	}
	y.fails = errors.New("a private cause")
	if answer, text := y.ask(t, "GET", "/toy/things", nil, auth, "Bearer alice"); answer.StatusCode != 500 || strings.Contains(text, "private") {
		t.Errorf("an unknown error = %d %s", answer.StatusCode, text)
	}
}

func (none) Alarms() map[broker.Alarm]int { return nil }
