package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// said is an error as a caller hears of it: its kind, and then all that is told.
func said(err error) string {
	var r *Refusal
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &r):
		return err.Error()
	}
	text := r.Kind.Error() + ": " + r.Detail
	for _, f := range r.Faults {
		text += f.Sentence() + ";"
	}
	return text
}

// The page of problems has each kind once, those of doors with a help of their own behind those of all.
func TestEachProblemIsExplainedOnce(t *testing.T) {
	doors := []Door{
		{Kinds: []ErrorKind{{Name: "not-found", Help: "canary two"}, {Name: "odd", Help: "canary one"}, {Name: "helpless"}}},
		{Kinds: []ErrorKind{{Name: "odd", Help: "canary three"}}},
	}
	a, err := helpDoor(doors).Routes[0].Handle(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.Serve.ServeHTTP(w, nil)
	for text, want := range map[string]int{`id="not-found"`: 1, `id="odd"`: 1, "canary one": 1, "canary t": 0, "helpless": 0} {
		if n := strings.Count(w.Body.String(), text); n != want {
			t.Errorf("the page has %s %d times, want %d", text, n, want)
		}
	}
}

// A body is read whole, or it is refused: for its length, its type, or because it is missing.
func TestBodiesAsOperationsWantThem(t *testing.T) {
	const json, zip = "application/json", "application/zip"
	fixed, optional := Body{Limit: 4, Types: []string{json, zip}}, Body{Limit: 4, Types: []string{json}, Optional: true}
	const mistyped, missingOne = "unsupported media type: the body must be application/json", "malformed request: the body is missing"
	for name, c := range map[string]struct {
		want   Body
		kind   string
		length int64 // -1: unknown; -2: there is no reader
		sent   string
		says   string
	}{
		"as it is wanted":               {fixed, json, 4, "1234", ""},
		"of the other type":             {fixed, zip, 1, "1", ""},
		"of no type":                    {fixed, "", 1, "1", mistyped + " or application/zip"},
		"of no type, in parts":          {fixed, "", -1, "1", mistyped + " or application/zip"},
		"in parts":                      {fixed, json, -1, "1", ""},
		"too large":                     {fixed, json, 5, "12345", "request body too large: at most 4 bytes are read"},
		"too large, in parts":           {fixed, json, -1, "12345", "request body too large: at most 4 bytes are read"},
		"none":                          {fixed, json, 0, "", missingOne + ": application/json or application/zip is required;"},
		"none, in parts":                {fixed, json, -1, "", missingOne + ": application/json or application/zip is required;"},
		"none of any type":              {Body{Limit: 4}, "", 0, "", missingOne + ";"},
		"any type":                      {Body{Limit: 4}, "text/plain", 2, "12", ""},
		"one that may be missing":       {optional, json, 2, "12", ""},
		"it is missing":                 {optional, "", 0, "", ""},
		"it is missing, in parts":       {optional, "", -1, "", ""},
		"one of another type":           {optional, zip, 1, "1", mistyped},
		"one of another type, in parts": {optional, zip, -1, "1", mistyped},
		"too large, and of no type":     {fixed, "", -1, "12345", mistyped + " or application/zip"},
		"none of no type":               {fixed, "", 0, "", missingOne + ": application/json or application/zip is required;"},
		"of one byte":                   {Body{Limit: 1, Types: []string{json}}, zip, 1, "1", mistyped},
		"of one byte, missing":          {Body{Limit: 1}, "", -1, "", missingOne + ";"},
		"large, and of another type":    {optional, zip, 5, "12345", mistyped},
		"longer than it says":           {optional, zip, 1, "12345", mistyped},
		"no reader":                     {Body{}, "", -2, "", ""},
		"no reader where one is wanted": {Body{Limit: 4}, "", -2, "", missingOne + ";"},
		"none is wanted":                {Body{}, "", 0, "", ""},
		"none is wanted, in parts":      {Body{}, "", -1, "", ""},
		"none is wanted, of any type":   {Body{Types: []string{json}}, "", -1, "", ""},
		"one that is not wanted":        {Body{}, json, 1, "1", "malformed request: the body must be empty;"},
		"a stream":                      {Body{Limit: 4, Stream: true}, zip, 4, "1234", ""},
		"a stream that is too large":    {Body{Limit: 4, Stream: true}, zip, 5, "12345", "request body too large: at most 4 bytes are read"},
	} {
		r := httptest.NewRequest("POST", "/", io.NopCloser(strings.NewReader(c.sent)))
		r.Header.Set("Content-Type", c.kind)
		r.ContentLength = c.length
		if c.length == -2 {
			r.Body, r.ContentLength = nil, 1
		}
		call := &Call{Request: r}
		err := readBody(httptest.NewRecorder(), call, c.want)
		if err == nil && c.want.Stream {
			call.Content, err = io.ReadAll(call.Body)
		}
		if got := said(err); got != c.says || c.says == "" && string(call.Content) != c.sent {
			t.Errorf("%s: %q, with %q read, want %q", name, got, call.Content, c.says)
		}
	}
}

// Over HTTP/2 a body is announced by a reader, and a length that is no number counts as 0.
func TestAnnouncedLengths(t *testing.T) {
	for length, c := range map[string]struct {
		sent string
		want Body
		says string
	}{
		"0":      {"12", Body{Limit: 4}, "malformed request: the body is missing;"},
		"many":   {"12", Body{Limit: 4}, ""},
		"plenty": {"", Body{Limit: 4, Types: []string{"application/json"}, Optional: true}, ""},
	} {
		r := httptest.NewRequest("POST", "/", io.NopCloser(strings.NewReader(c.sent)))
		r.ContentLength = 0
		r.Header.Set("Content-Length", length)
		call := &Call{Request: r}
		if got := said(readBody(httptest.NewRecorder(), call, c.want)); got != c.says || got == "" && string(call.Content) != c.sent {
			t.Errorf("a length of %s: %q, with %q read, want %q", length, got, call.Content, c.says)
		}
	}
}

// failing is a body whose second read fails, and a connection that counts how often its deadline is moved.
type failing struct {
	*httptest.ResponseRecorder
	err   error
	reads int
	moved int
}

func (f *failing) Read(p []byte) (int, error) {
	if f.reads++; f.reads > 1 {
		return 0, f.err
	}
	return copy(p, "1"), nil
}

func (f *failing) Close() error { return nil }

func (f *failing) SetReadDeadline(time.Time) error {
	f.moved++
	return nil
}

// Whatever ends a body is told in our words, and its deadline is moved for as long as bytes come.
func TestHowABodyEnds(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		limit int64
		says  string
	}{
		"whole":                        {io.EOF, 4, "EOF"},
		"too large":                    {&http.MaxBytesError{Limit: 4}, 4, "request body too large: at most 4 bytes are read"},
		"too large where none is":      {&http.MaxBytesError{}, 0, "malformed request: the body must be empty;"},
		"slow":                         {os.ErrDeadlineExceeded, 4, "request body came too slowly: "},
		"slow where none is":           {os.ErrDeadlineExceeded, 0, "request body came too slowly: "},
		"cut off":                      {io.ErrUnexpectedEOF, 4, "malformed request: the body ended early;"},
		"cut off where none is wanted": {io.ErrUnexpectedEOF, 0, "malformed request: the body ended early;"},
	} {
		f := &failing{ResponseRecorder: httptest.NewRecorder(), err: c.err}
		b := &boundedBody{ReadCloser: f, limit: c.limit, control: http.NewResponseController(f)}
		first, err := b.Read(make([]byte, 4))
		_, ends := b.Read(make([]byte, 4))
		_, again := b.Read(make([]byte, 4))
		if first != 1 || err != nil || said(ends) != c.says || said(again) != c.says || f.moved != 2 {
			t.Errorf("%s: %d, %v, then %q and %q, with the deadline moved %d times", name, first, err, said(ends), said(again), f.moved)
		}
	}
	for given, want := range map[string]bool{
		"application/json": true, "application/json; charset=UTF-8": true, "Application/JSON;x=y": true, "application/json; charset=latin1": false,
		"application/json; charset": false, "application/xml": false, "": false, "application/json; charset=utf-8; charset=latin1": false,
	} {
		if got := hasType(given, []string{"text/plain", "application/json"}); got != want {
			t.Errorf("the type %q is taken: %t", given, got)
		}
	}
}

// errKind is a parameter's own.
var errKind = errors.New("kind of its own")

// Parameters and headers are checked alike: a fault that has no kind of its own is told with the others.
func TestParametersAndHeaders(t *testing.T) {
	known := []Parameter{
		{Name: "A", Values: []string{"1", "2"}}, {Name: "B", Required: true}, {Name: "C", Values: []string{"x"}, Kind: errKind}, {Name: "D", Many: true},
	}
	for query, c := range map[string]struct{ query, header string }{
		"B=1":             {"", ""},
		"B=1&A=2&D=1&D=2": {"", ""},
		"":                {"malformed request: B: is required;", "malformed request: B: is required;"},
		"B=1&A=3":         {"invalid request: A: must be one of 1, 2;", "invalid request: A: must be one of 1, 2;"},
		"B=1&B=2&A=3":     {"invalid request: A: must be one of 1, 2;B: is given twice;", "invalid request: A: must be one of 1, 2;B: is given twice;"},
		"B=1&C=y":         {"kind of its own: C: must be one of x;", "kind of its own: C: must be one of x;"},
		"A=3&B=1&C=y":     {"kind of its own: C: must be one of x;", "kind of its own: C: must be one of x;"},
		"B=1&E=1":         {"invalid request: the query has an unknown parameter; this operation takes A, B, C, D;", ""},
	} {
		r := httptest.NewRequest("GET", "/?"+query, nil)
		values, _ := url.ParseQuery(query)
		r.Header = http.Header(values)
		got, err := readQuery(r, known, false)
		if text := strings.Replace(said(err), broker.ErrInvalid.Error(), "invalid request", 1); text != c.query || c.query == "" && !cmp.Equal(got, values) {
			t.Errorf("the query %s: %q, want %q, and %v", query, text, c.query, got)
		}
		if text := strings.Replace(said(checkHeaders(r, known)), broker.ErrInvalid.Error(), "invalid request", 1); text != c.header {
			t.Errorf("the headers %s: %q, want %q", query, text, c.header)
		}
	}
	for raw, c := range map[string]struct {
		tolerant bool
		want     string
	}{
		"a=1;b=2": {true, "1;b=2"}, "a=%zz": {false, "!"}, "a=%z": {true, "!"}, "a=1": {true, "1"},
	} {
		got, err := readQuery(&http.Request{URL: &url.URL{RawQuery: raw}}, nil, c.tolerant)
		if text := said(err); c.want == "!" && text != "malformed request: the query is not well formed;" || c.want != "!" && (err != nil || got.Get("a") != c.want) {
			t.Errorf("the query %s: %v, %q", raw, got, text)
		}
	}
	if _, err := readQuery(httptest.NewRequest("GET", "/?a=1", nil), nil, false); !strings.HasSuffix(said(err), "; this operation takes none;") {
		t.Errorf("a parameter where there is none: %s", said(err))
	}
}

// newServer has no doors, and these limits.
func newServer(l Limits) *server {
	return &server{Options: Options{Authenticator: bearers{}}, limits: newLimits(l, prometheus.NewRegistry(), time.Now)}
}

type bearers struct{}

func (bearers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	return policy.Principal{Name: fmt.Sprintf("the owner of %d bytes", len(token))}, nil
}

// A caller shows one token, or an id and a secret where that may be; whoever shows both is nobody.
func TestAnIDAndASecretOrAToken(t *testing.T) {
	s := newServer(Limits{})
	errRefused := errors.New("refused")
	by := s.orBasic(func(_ context.Context, id, secret string) (policy.Principal, error) {
		if secret != "s3cret" {
			return policy.Principal{}, errRefused
		}
		return policy.Principal{Name: id}, nil
	})
	basic := func(secret string) []string {
		return []string{"Basic " + map[string]string{"s3cret": "YTpzM2NyZXQ=", "no": "YTpubw=="}[secret]}
	}
	longest := strings.Repeat("x", longestToken)
	for name, c := range map[string]struct {
		header http.Header
		want   string
		err    error
	}{
		"both right":             {http.Header{"Authorization": basic("s3cret")}, "a", nil},
		"another secret":         {http.Header{"Authorization": basic("no")}, "", errRefused},
		"twice":                  {http.Header{"Authorization": append(basic("s3cret"), basic("s3cret")...)}, "", errMalformedToken},
		"and a token":            {http.Header{"Authorization": basic("s3cret"), KeystoneHeader: {"t"}}, "", errMalformedToken},
		"a token":                {http.Header{"Authorization": {"Bearer tok"}}, "the owner of 3 bytes", nil},
		"the longest token":      {http.Header{"Authorization": {"Bearer " + longest}}, fmt.Sprint("the owner of ", longestToken, " bytes"), nil},
		"a longer token":         {http.Header{"Authorization": {"Bearer " + longest + "x"}}, "", errMalformedToken},
		"OpenStack's way":        {http.Header{KeystoneHeader: {"four"}}, "the owner of 4 bytes", nil},
		"OpenStack's way, twice": {http.Header{KeystoneHeader: {"four", "four"}}, "", errMalformedToken},
		"a list":                 {http.Header{KeystoneHeader: {"a,b"}}, "", errMalformedToken},
		"nothing":                {http.Header{}, "", policy.ErrUnauthenticated},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header = c.header
		if p, err := by(r); p.Name != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v, want %q, %v", name, p.Name, err, c.want, c.err)
		}
	}
	// Each leaves its place once it is known: so many come one after another, and no more than so many at once.
	good := httptest.NewRequest("GET", "/", nil)
	good.SetBasicAuth("a", "s3cret")
	for range maxLogins {
		if _, err := by(good); err != nil {
			t.Fatal("one after another:", err)
		}
	}
	for range maxLogins {
		if _, err := s.limits.login(good); err != nil {
			t.Fatal("all at once:", err)
		}
	}
	if p, err := by(good); p.Name != "" || said(err) != errShed.Error()+": too many callers are being authenticated, as many as the server takes at a time; nothing was done" {
		t.Errorf("one more = %q, %v", p.Name, said(err))
	}
}

// Whoever has failed to log in too often is told so each time, and takes nobody's place.
func TestARefusedLoginTakesNoPlace(t *testing.T) {
	s := newServer(Limits{FailedLogins: limit.Bound{PerSecond: 1, Burst: 1}}).limits
	r := httptest.NewRequest("GET", "/", nil)
	if err := s.failedLogin(r, policy.ErrUnauthenticated); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("the first failure is told as %v", err)
	}
	for range maxLogins + 1 {
		if _, err := s.login(r); !errors.Is(err, ErrLimited) {
			t.Fatalf("one more is told as %v", err)
		}
	}
}

// Some lanes have no limit of a caller's, and whoever gives up waiting is told that there were too many.
func TestLanesWithoutALimit(t *testing.T) {
	one := limit.Bound{PerSecond: 1, Burst: 1}
	s := newServer(Limits{Principal: one, Project: one}).limits
	for lane, want := range map[Lane]bool{Watching: true, Free: true, Ordinary: false, Ending: false} {
		who := policy.Principal{Name: fmt.Sprint("in lane ", lane), Project: fmt.Sprint("p", lane)}
		for range 2 {
			leave, err := s.caller(who, Route{Lane: lane, Timeout: time.Second})
			if err == nil {
				leave()
				continue
			}
			if want || !errors.Is(err, ErrLimited) {
				t.Errorf("lane %d: %v", lane, err)
			}
			want = true // the second one was refused
		}
		if !want {
			t.Errorf("lane %d has no limit", lane)
		}
	}
	errOther := errors.New("other")
	for _, c := range []struct{ in, want error }{
		{nil, nil},
		{errOther, errOther},
		{context.Canceled, errShed},
		{fmt.Errorf("waiting: %w", context.DeadlineExceeded), errShed},
		{&limit.Exceeded{Bound: 3}, ErrLimited},
	} {
		if got := s.limited(byAddress, "this address has", c.in); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%v is told as %v, want %v", c.in, got, c.want)
		}
	}
}

// What is asked for once is told to all who ask within a second, but for an error, which one alone is told.
func TestOneIsToldTheError(t *testing.T) {
	now, n, errDown := time.Now(), 0, errors.New("down")
	ask := shared(func() (int, error) { n++; return n, errDown }, func() time.Time { return now })
	for i, c := range []struct {
		after time.Duration
		want  int
		err   error
	}{{0, 1, errDown}, {sharedFor - 1, 1, nil}, {1, 2, errDown}} {
		now = now.Add(c.after)
		if got, err := ask(); got != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("the answer %d = %d, %v, want %d, %v", i, got, err, c.want, c.err)
		}
	}
}

// A registry refuses two collectors with one metric: so each describes all that it shows.
func TestEveryMetricIsDescribed(t *testing.T) {
	for name, c := range map[string]struct {
		of   prometheus.Collector
		want int
	}{
		"vitals": {vitals{}, len(metrics)}, "clusters": {clusters{}, len(clusterMetrics)}, "configuration": {configuration{}, 3},
	} {
		ch := make(chan *prometheus.Desc, 100)
		c.of.Describe(ch)
		close(ch)
		seen := map[*prometheus.Desc]bool{}
		for d := range ch {
			seen[d] = true
		}
		if len(seen) != c.want {
			t.Errorf("%s: %d metrics are described, want %d", name, len(seen), c.want)
		}
	}
}

// A path leads to the door that says most of it: one that ends with a slash leads on, others and those with {$} are that path alone.
func TestWhichDoorAPathLeadsTo(t *testing.T) {
	s := newServer(Limits{})
	for _, paths := range [][]string{{"/a"}, {"/b/", "/b/c/"}, {"/b/x/"}, {"/d{$}", "/e/{$}"}} {
		s.doors = append(s.doors, s.open(Door{Name: audit.Door(paths[0]), Paths: paths}))
	}
	for path, want := range map[string]string{
		"/a": "/a", "/a/": "", "/ab": "", "/b": "", "/b/": "/b/", "/b/x": "/b/", "/b/x/y": "/b/x/", "/b/c/x/": "/b/", "/c/d/": "",
		"/d": "/d{$}", "/d{$}": "", "/d/": "", "/e": "", "/e/": "/d{$}", "/e/f": "", "": "", "/": "",
	} {
		got := ""
		if d := s.doorOf(path); d != nil {
			got = string(d.Name)
		}
		if got != want {
			t.Errorf("%q leads to %q, want %q", path, got, want)
		}
	}
}

// A door whose operation has no time or no status does not open.
func TestADoorThatIsNotComplete(t *testing.T) {
	for name, c := range map[string]struct {
		op   Route
		want string
	}{
		"complete":           {Route{Method: "GET", Path: "/x", Timeout: 1, Status: 200}, ""},
		"without its time":   {Route{Method: "GET", Path: "/x", Status: 200}, "operation GET /x lacks its timeout or its status"},
		"with less than one": {Route{Method: "GET", Path: "/x", Timeout: -1, Status: 200}, "operation GET /x lacks its timeout or its status"},
		"without its status": {Route{Method: "GET", Path: "/x", Timeout: 1}, "operation GET /x lacks its timeout or its status"},
	} {
		got := panicOf(func() { newServer(Limits{}).open(Door{Paths: []string{"/"}, Routes: []Route{c.op}}) })
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// panicOf is what a call panics with; empty if it does not.
func panicOf(do func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	do()
	return ""
}

// A login whose answer cannot be written is an error as any other operation's is.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	unwritable := func(*Call) (Answer, error) { return Answer{Body: func() {}}, nil }
	op := func(path string, login bool) Route {
		return Route{Method: "GET", Path: path, Timeout: time.Minute, Status: http.StatusOK, Login: login, Identify: Anyone, Handle: unwritable}
	}
	h := New(Options{Vitals: nil, Log: testlog.Silent(t), Doors: []Door{{
		Paths: []string{"/"}, Routes: []Route{op("/login", true), op("/other", false)},
		Refuse: func(_ *http.Request, p Problem) Answer { return Answer{Body: p.Name} },
	}}})
	for _, path := range []string{"/login", "/other"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusInternalServerError || w.Body.String() != `"internal"` {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
}

type (
	count int
	share float64
	holds struct {
		N     count
		Part  share
		Took  time.Duration
		Name  string
		List  []int
		Many  []string
		Maybe *struct{ Words []string }
	}
)

// optional is a part of an answer that the caller sets.
type optional struct{ Nothing string }

// Values of one kind are made of each other, and of no others, which is said before anything is shown.
func TestWhatAMirrorMakesOfAValue(t *testing.T) {
	type shown struct {
		N     int
		Part  float64
		Took  int64
		Same  time.Duration
		Words []string
	}
	from := holds{N: 7, Part: 0.5, Took: 9, Maybe: &struct{ Words []string }{[]string{"a"}}}
	got := Shown[holds, shown](`Same=Took Words=Maybe.Words`)(from)
	if want := (shown{7, 0.5, 9, 9, []string{"a"}}); !cmp.Equal(got, want) {
		t.Errorf("shown is %+v, want %+v", got, want)
	}
	if got := Shown[holds, struct{ Words []string }](`Words=Maybe.Words`)(holds{}); got.Words != nil {
		t.Errorf("of nothing is shown %+v", got)
	}
	if got := Shown[holds, struct {
		*optional
		Name string
	}](`optional=`)(holds{Name: "n"}); got.Name != "n" || got.optional != nil {
		t.Errorf("without what is the caller's it is shown as %+v", got)
	}
	before := len(mirrors)
	for want, make := range map[string]func(){
		"time.Time is made of no string":                    func() { Shown[holds, struct{ Name time.Time }]("")(holds{}) },
		"string is made of no []int":                        func() { Shown[holds, struct{ List string }]("")(holds{}) },
		"[]string is made of no string":                     func() { Shown[holds, struct{ Name []string }]("")(holds{}) },
		"string is made of no []string":                     func() { Shown[holds, struct{ Many string }]("")(holds{}) },
		"[1]int is made of no []int":                        func() { Shown[holds, struct{ List [1]int }]("")(holds{}) },
		"int is made of no string":                          func() { Shown[holds, struct{ Name int }]("")(holds{}) },
		"*string is made of no string":                      func() { Shown[holds, struct{ Name *string }]("")(holds{}) },
		"api.holds has no field Nothing":                    func() { Shown[holds, struct{ Nothing string }]("")(holds{}) },
		"struct { Name string } has no fields map[Name2:N]": func() { Shown[holds, struct{ Name string }]("Name2=N")(holds{}) },
	} {
		if got := panicOf(make); got != want {
			t.Errorf("it is said that %q, want %q", got, want)
		}
	}
	mirrors = slices.Delete(mirrors, before, len(mirrors))
}

// Whoever is refused for a limit keeps nothing of the others: no place among all requests, none of its caller or project, and
// none among the logins.
func TestARefusalForALimitHoldsNothing(t *testing.T) {
	one := limit.Bound{PerSecond: 1000, Burst: 1000, InFlight: 1}
	l := newLimits(Limits{
		Principal: one, Project: one, FailedLogins: limit.Bound{PerSecond: 1, Burst: 1, InFlight: 1}, InFlight: 4,
	}, prometheus.NewRegistry(), func() time.Time { return time.Unix(1000, 0) })
	who := func(name, project string) policy.Principal { return policy.Principal{Name: name, Project: project} }
	leave, err := l.caller(who("alice", "p"), Route{})
	if err != nil {
		t.Fatal(err)
	}
	for what, p := range map[string]policy.Principal{"a caller": who("alice", "q"), "a project": who("bob", "p")} {
		if _, err := l.caller(p, Route{}); !errors.Is(err, ErrLimited) {
			t.Errorf("the second request of %s: %v", what, err)
		}
	}
	leave()
	if only, err := l.server.Enter(1); err != nil {
		t.Errorf("requests that were refused count as under way: %v", err)
	} else {
		only()
	}
	for _, p := range []policy.Principal{who("bob", "q"), who("alice", "p")} {
		if leave, err := l.caller(p, Route{}); err != nil {
			t.Errorf("%s of %s is held by a request that was refused: %v", p.Name, p.Project, err)
		} else {
			leave()
		}
	}

	ctx, gone := context.WithCancel(t.Context())
	gone()
	r := httptest.NewRequest("GET", "/", nil)
	if leave, err = l.login(r); err != nil {
		t.Fatal(err)
	}
	if _, err := l.login(r.WithContext(ctx)); !errors.Is(err, errShed) {
		t.Errorf("a login whose caller is gone: %v", err)
	}
	leave()
	if err := l.failedLogin(r, errKind); !errors.Is(err, errKind) {
		t.Errorf("the first login that fails: %v", err)
	}
	if _, err := l.login(r); !errors.Is(err, ErrLimited) {
		t.Errorf("a login after too many that failed: %v", err)
	}
	if _, err := l.logins.Enter(1); err != nil {
		t.Errorf("logins that were refused count as under way: %v", err)
	}
}
