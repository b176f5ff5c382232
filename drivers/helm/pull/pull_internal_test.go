package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// site is a registry and a repository in one, whose answers are those of a table.
type site struct {
	*fake.Server
	answers map[string]http.HandlerFunc // by path
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{answers: map[string]http.HandlerFunc{}}
	s.Server = fake.New(t, func(w http.ResponseWriter, r *http.Request) {
		if answer := s.answers[r.URL.Path]; answer != nil {
			answer(w, r)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	return s
}

func (s *site) host() string { return strings.TrimPrefix(s.URL, "https://") }

// pull pulls what a reference names, for project acme.
func (s *site) pull(t *testing.T, reference string, logins ...Login) (Chart, error) {
	t.Helper()
	r, err := Parse(strings.ReplaceAll(reference, "HOST", s.host()))
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	p := New(Options{CA: remote.Authorities{PEM: s.CA}, Logins: logins})
	return p.Pull(t.Context(), rules, "acme", r, func(_ context.Context, index []byte, _, _ string) (string, string, error) {
		return string(index), "", nil // an index of one address
	})
}

func gives(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write([]byte(text))
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cut gives a text, and breaks off before the end that it has announced.
func cut(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
		_, _ = w.Write([]byte(text))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// challenge asks for authentication, once that was given for no more.
func challenge(says string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", says)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		then(w, r)
	}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func layer(kind, digest string, size int) string {
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, kind, digest, size)
}

func manifestOf(mediaType string, layers ...string) string {
	return fmt.Sprintf(`{"mediaType":%q,"config":{"mediaType":%q},"layers":[%s]}`, mediaType, configType, strings.Join(layers, ","))
}

// known is the broker's login at the site.
func (s *site) known(t *testing.T, projects ...string) Login {
	t.Helper()
	name := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(name, []byte("canary-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Login{Host: strings.ToUpper(s.host()), User: "u", PasswordFile: name, Projects: projects}
}

const (
	atRegistry = "oci://HOST/web:1.0.0"
	inIndex    = "https://HOST/r/web:1.0.0"
	asPacked   = "https://HOST/r/web-1.0.0.tgz"
)

// What a place answers is a chart, or a fault that says which of its answers it is; nothing of it is repeated.
func TestAnswersOfPlaces(t *testing.T) {
	content := layer(contentType, "sha256:"+sum("chart"), 5)
	proof := layer(provenanceType, "sha256:"+sum("proof"), 5)
	type answers = map[string]http.HandlerFunc
	registry := func(manifest string, more answers) answers {
		all := answers{"/v2/web/manifests/1.0.0": gives(manifest), "/v2/web/blobs/sha256:" + sum("chart"): gives("chart"), "/v2/web/blobs/sha256:" + sum("proof"): gives("proof")}
		for path, answer := range more {
			all[path] = answer
		}
		return all
	}
	packed := func(proof http.HandlerFunc) answers {
		return answers{"/r/web-1.0.0.tgz": gives("chart"), "/r/web-1.0.0.tgz.prov": proof}
	}
	index := func(leads string) answers { return answers{"/r/index.yaml": gives(leads)} }
	chunked := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write([]byte(text))
		}
	}
	full := strings.Repeat("x", maxProvenance)
	for name, c := range map[string]struct {
		answers   answers
		reference string
		kind      error
		says      string
		asked     int
	}{
		"a chart":                     {registry(manifestOf(manifestType, content, proof), nil), atRegistry, nil, "proof", 3},
		"a version with a build":      {answers{"/v2/web/manifests/1.0.0_a": gives(manifestOf(manifestType, content, proof)), "/v2/web/blobs/sha256:" + sum("chart"): gives("chart"), "/v2/web/blobs/sha256:" + sum("proof"): gives("proof")}, atRegistry + "+a", nil, "proof", 3},
		"a manifest without its type": {registry(manifestOf("", content, proof), nil), atRegistry, nil, "proof", 3},
		"one of another type":         {registry(manifestOf("application/x", content, proof), nil), atRegistry, broker.ErrInvalid, "has no Helm chart there", 1},
		"a layer of others":           {registry(manifestOf(manifestType, layer("application/x", "x", 1), content, proof), nil), atRegistry, nil, "proof", 3},
		"another digest":              {registry(manifestOf(manifestType, layer(contentType, sum("chart"), 5), proof), nil), atRegistry, broker.ErrInvalid, "cannot be told apart", 1},
		"a size as large as may be":   {registry(manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), maxArchive), proof), nil), atRegistry, nil, "proof", 3},
		"a size too large":            {registry(manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), maxArchive+1), proof), nil), atRegistry, broker.ErrInvalid, "more than 8192 KiB", 1},
		"a provenance too large":      {registry(manifestOf(manifestType, content, layer(provenanceType, "sha256:"+sum("proof"), maxProvenance+1)), nil), atRegistry, broker.ErrInvalid, "more than 64 KiB", 2},
		"a full provenance":           {packed(gives(full)), asPacked, nil, full, 2},
		"one in pieces":               {packed(chunked(full)), asPacked, nil, full, 2},
		"one over":                    {packed(gives(full + "x")), asPacked, broker.ErrInvalid, "more than 64 KiB", 2},
		"one over in pieces":          {packed(chunked(full + "x")), asPacked, broker.ErrInvalid, "more than 64 KiB", 2},
		"one that breaks off":         {packed(cut("pro")), asPacked, broker.ErrUnreachable, "the repository", 2},
		"no chart":                    {index("web.tgz"), inIndex, broker.ErrInvalid, "has nothing there (404)", 2},
		"an index to a user":          {index("https://u:canary@HOST/web.tgz"), inIndex, broker.ErrInvalid, "keeps the chart at a place that is not https", 1},
		"an index without TLS":        {index("http://127.0.0.1/web.tgz"), inIndex, broker.ErrInvalid, "keeps the chart at a place that is not https", 1},
		"layers twice":                {registry(strings.Replace(manifestOf(manifestType, content, proof), `"layers"`, `"Layers":7,"layers"`, 1), nil), atRegistry, broker.ErrInvalid, "has no Helm chart there", 1},
		"an index to nowhere":         {index("%zz"), inIndex, broker.ErrInvalid, "keeps the chart at a place that is not https", 1},
		"a fault of the server":       {packed(status(500)), asPacked, broker.ErrUnreachable, "answers 500", 2},
		"a fault of the broker":       {packed(status(499)), asPacked, broker.ErrInvalid, "answers 499, and not the chart", 2},
		"gone":                        {packed(status(410)), asPacked, broker.ErrInvalid, "has nothing there (410)", 2},
		"not let in":                  {packed(status(403)), asPacked, broker.ErrInvalid, "without a user and a password (403)", 2},
		"a redirect to nowhere":       {packed(status(302)), asPacked, broker.ErrInvalid, "leads nowhere", 2},
		"a redirect to a user": {packed(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://u:canary@127.0.0.1/")
			w.WriteHeader(302)
		}), asPacked, broker.ErrInvalid, "not https", 2},
		"a token for a repository": {packed(challenge(`Bearer realm="https://HOST/token"`, gives("proof"))), asPacked, broker.ErrInvalid, "(401)", 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.answers = c.answers
			if leads := c.answers["/r/index.yaml"]; leads != nil && name == "an index to a user" {
				s.answers["/r/index.yaml"] = gives("https://u:canary@" + s.host() + "/web.tgz")
			}
			got, err := s.pull(t, c.reference)
			if c.kind == nil {
				if err != nil || string(got.Archive) != "chart" || string(got.Provenance) != c.says {
					t.Errorf("%d and %d bytes, %v", len(got.Archive), len(got.Provenance), err)
				}
			} else if e, is := errors.AsType[*broker.Error](err); !is || e.Kind != c.kind || e.Field != Field || !strings.Contains(e.Detail, c.says) || strings.Contains(e.Detail, "canary") {
				t.Errorf("%v, want %v that says %q", err, c.kind, c.says)
			}
			asked := s.Requests()
			if len(asked) != c.asked {
				t.Errorf("%d requests, want %d", len(asked), c.asked)
			}
			for i, r := range asked {
				if manifest := strings.Contains(r.Path, "/manifests/"); (r.Header.Get("Accept") == manifestType) != manifest {
					t.Errorf("request %d of %s accepts %q", i, r.Path, r.Header.Get("Accept"))
				}
			}
		})
	}
}

// A token is what the registry's place for it gives, whole and in one word.
func TestTokensOfRegistries(t *testing.T) {
	manifest := manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), 5), layer(provenanceType, "sha256:"+sum("proof"), 5))
	token := func(text string) string { return fmt.Sprintf(`{"token":%q}`, text) }
	long := strings.Repeat("t", maxToken)
	for name, c := range map[string]struct {
		realm  string
		answer http.HandlerFunc
		header string
		kind   error
		says   string
	}{
		"a token":                  {"https://HOST/token", gives(token("!~")), "Bearer !~", nil, ""},
		"by its other name":        {"https://HOST/token", gives(`{"access_token":"t"}`), "Bearer t", nil, ""},
		"as long as may be":        {"https://HOST/token", gives(token(long)), "Bearer " + long, nil, ""},
		"too long":                 {"https://HOST/token", gives(token(long + "t")), "", broker.ErrInvalid, "is asked for a token in vain (200)"},
		"with a blank":             {"https://HOST/token", gives(token("a b")), "", broker.ErrInvalid, "in vain (200)"},
		"with a sign":              {"https://HOST/token", gives(`{"token":"a\u007f"}`), "", broker.ErrInvalid, "in vain (200)"},
		"none":                     {"https://HOST/token", gives(`{}`), "", broker.ErrInvalid, "in vain (200)"},
		"with something else":      {"https://HOST/token", gives(`{"token":"t","access_token":7}`), "", broker.ErrInvalid, "in vain (200)"},
		"broken off":               {"https://HOST/token", cut(token("t")), "", broker.ErrUnreachable, "broke before the answer was complete"},
		"with another status":      {"https://HOST/token", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); _, _ = w.Write([]byte(token("t"))) }, "", broker.ErrInvalid, "in vain (201)"},
		"refused":                  {"https://HOST/token", status(499), "", broker.ErrInvalid, "in vain (499)"},
		"too often":                {"https://HOST/token", status(429), "", broker.ErrUnreachable, "the token endpoint of the registry answers 429"},
		"a fault":                  {"https://HOST/token", status(500), "", broker.ErrUnreachable, "the token endpoint of the registry answers 500"},
		"from nowhere":             {"https:///token", nil, "", broker.ErrInvalid, "names no place that gives tokens over https"},
		"from what is no place":    {"https://%zz/token", nil, "", broker.ErrInvalid, "names no place that gives tokens over https"},
		"from a user":              {"https://u@HOST/token", gives(token("t")), "", broker.ErrInvalid, "names no place that gives tokens over https"},
		"from a place without TLS": {"http://HOST/token", gives(token("t")), "", broker.ErrInvalid, "names no place that gives tokens over https"},
		"from a place not allowed": {"https://127.0.0.1:1/token", nil, "", broker.ErrInvalid, "egress rules refuse"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			var header string
			s.answers["/v2/web/manifests/1.0.0"] = challenge(`Bearer realm="`+strings.ReplaceAll(c.realm, "HOST", s.host())+`",service="here"`, func(w http.ResponseWriter, r *http.Request) {
				header = r.Header.Get("Authorization")
				gives(manifest)(w, r)
			})
			s.answers["/v2/web/blobs/sha256:"+sum("chart")], s.answers["/v2/web/blobs/sha256:"+sum("proof")] = gives("chart"), gives("proof")
			var asked string
			s.answers["/token"] = func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query().Encode()
				c.answer(w, r)
			}
			got, err := s.pull(t, atRegistry)
			if e, is := errors.AsType[*broker.Error](err); is != (c.kind != nil) || is && (e.Kind != c.kind || e.Field != Field || !strings.Contains(e.Detail, c.says)) || err == nil && string(got.Archive) != "chart" || header != c.header {
				t.Errorf("%q, %v with header %.20q, want %v that says %q", got.Archive, err, header, c.kind, c.says)
			}
			if reached := c.answer != nil && !strings.Contains(c.says, "names no place"); (asked == "scope=repository%3Aweb%3Apull&service=here") != reached {
				t.Errorf("it is asked for %q", asked)
			}
		})
	}
}

// Of what a registry offers, that is taken which can be done: without a password a token.
func TestChallengesThatCanBeMet(t *testing.T) {
	s := newSite(t)
	s.answers["/v2/web/manifests/1.0.0"] = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			gives(manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), 5), layer(provenanceType, "sha256:"+sum("proof"), 5)))(w, r)
			return
		}
		w.Header()["Www-Authenticate"] = []string{`Basic realm="here"`, `Bearer realm="https://` + s.host() + `/token"`}
		w.WriteHeader(http.StatusUnauthorized)
	}
	s.answers["/v2/web/blobs/sha256:"+sum("chart")], s.answers["/v2/web/blobs/sha256:"+sum("proof")] = gives("chart"), gives("proof")
	s.answers["/token"] = gives(`{"token":"t"}`)
	if got, err := s.pull(t, atRegistry); err != nil || string(got.Archive) != "chart" {
		t.Errorf("%q, %v", got.Archive, err)
	}
}

// The broker's password goes to its host, for the projects that it is for, and once.
func TestLoginsOfPlaces(t *testing.T) {
	s, other := newSite(t), newSite(t)
	s.CA += other.CA
	s.answers["/r/web-1.0.0.tgz"] = challenge(`Basic realm="here"`, gives("chart"))
	reference := asPacked + "@sha256:" + sum("chart")
	for name, c := range map[string]struct {
		login Login
		says  string
	}{
		"for all": {s.known(t), ""}, "for the project": {s.known(t, "umbrella", "acme"), ""}, "for another project": {s.known(t, "umbrella"), "without a user and a password (401)"},
		"at another host": {other.known(t, "acme"), "without a user and a password (401)"}, "without its file": {Login{Host: s.host(), PasswordFile: "/nonexistent"}, "cannot read its password for the repository"},
	} {
		got, err := s.pull(t, reference, c.login)
		if err == nil != (c.says == "") || err == nil && string(got.Archive) != "chart" || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("a login %s: %q, %v", name, got.Archive, err)
		}
	}
	// One that is refused is not sent again.
	s.answers["/r/web-1.0.0.tgz"] = status(401)
	s.Requests()
	if _, err := s.pull(t, reference, s.known(t)); err == nil || !strings.Contains(err.Error(), "or has none (401)") {
		t.Errorf("a login that is refused: %v", err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("a login that is refused is sent %d times", n)
	}
	// Nor is another host's challenge answered.
	other.answers["/x"] = challenge(`Basic realm="there"`, gives("chart"))
	s.answers["/v2/web/manifests/1.0.0"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.URL+"/x")
		w.WriteHeader(307)
	}
	if _, err := s.pull(t, atRegistry, s.known(t)); err == nil || !strings.Contains(err.Error(), "(401)") {
		t.Errorf("another host's challenge: %v", err)
	}
	if n := len(other.Requests()); n != 1 {
		t.Errorf("another host is asked %d times", n)
	}
	// What breaks after a challenge is told.
	s.answers["/v2/web/manifests/1.0.0"] = challenge(`Basic realm="here"`, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := s.pull(t, atRegistry, s.known(t)); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("a registry that breaks once it knows: %v", err)
	}
}

// A login is of one host with its port: at another port of the host it is not sent, neither for a reference nor after a redirect.
func TestALoginIsOfOnePort(t *testing.T) {
	s, other := newSite(t), newSite(t)
	s.CA += other.CA
	var seen []string
	note := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.Host+" "+r.Header.Get("Authorization"))
			then(w, r)
		}
	}
	reference := asPacked + "@sha256:" + sum("chart")
	s.answers["/r/web-1.0.0.tgz"] = note(challenge(`Basic realm="here"`, gives("chart")))
	alone := s.known(t)
	alone.Host, _, _ = strings.Cut(s.host(), ":")
	for name, host := range map[string]string{"without a port": alone.Host, "with another": alone.Host + ":443", "a longer one": s.host() + "0", "a shorter one": s.host()[:len(s.host())-1]} {
		login := alone
		login.Host = host
		if got, err := s.pull(t, reference, login); err == nil || !strings.Contains(err.Error(), "without a user and a password (401)") {
			t.Errorf("a login %s: %q, %v", name, got.Archive, err)
		}
	}
	s.answers["/r/web-1.0.0.tgz"] = note(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.URL+"/x")
		w.WriteHeader(307)
	})
	other.answers["/x"] = note(gives("chart"))
	seen = nil
	if got, err := s.pull(t, reference, s.known(t)); err != nil || string(got.Archive) != "chart" {
		t.Errorf("%q, %v", got.Archive, err)
	}
	if len(seen) != 2 || !strings.HasPrefix(seen[0], s.host()+" Basic ") || seen[1] != other.host()+" " {
		t.Errorf("after a redirect to another port %q were sent", seen)
	}
}

// What a reference pins is held to, also where it has a version beside its digest, by tag or by digest.
func TestADigestCountsBesideAVersion(t *testing.T) {
	manifest := manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), 5))
	for name, c := range map[string]struct{ reference, given string }{
		"a registry, as pinned":              {"oci://HOST/web@sha256:" + sum(manifest), manifest},
		"a registry, as pinned with version": {"oci://HOST/web:1.0.0@sha256:" + sum(manifest), manifest},
		"a registry, another":                {"oci://HOST/web@sha256:" + sum(manifest), manifest + " "},
		"a registry, another with version":   {"oci://HOST/web:1.0.0@sha256:" + sum(manifest), manifest + " "},
	} {
		s := newSite(t)
		s.answers["/v2/web/manifests/sha256:"+sum(manifest)], s.answers["/v2/web/manifests/1.0.0"] = gives(c.given), gives(c.given)
		s.answers["/v2/web/blobs/sha256:"+sum("chart")] = gives("chart")
		got, err := s.pull(t, c.reference)
		if good := c.given == manifest; good != (err == nil) || good && string(got.Archive) != "chart" || !good && !strings.Contains(err.Error(), "something else than the digest says") {
			t.Errorf("%s: %q, %v", name, got.Archive, err)
		}
	}
}

// A part is bounded by what it may be, and not by what a manifest says that it is.
func TestAPartIsBoundedWhateverItsSize(t *testing.T) {
	long, fits := strings.Repeat("p", maxProvenance+1), strings.Repeat("p", maxProvenance)
	for proof, says := range map[string]string{fits: "", long: "answers with more than 64 KiB"} {
		for _, size := range []int{0, 1, maxProvenance} {
			s := newSite(t)
			s.answers["/v2/web/manifests/1.0.0"] = gives(manifestOf(manifestType, layer(contentType, "sha256:"+sum("chart"), 5), layer(provenanceType, "sha256:"+sum(proof), size)))
			s.answers["/v2/web/blobs/sha256:"+sum("chart")], s.answers["/v2/web/blobs/sha256:"+sum(proof)] = gives("chart"), gives(proof)
			got, err := s.pull(t, atRegistry)
			if (says == "") != (err == nil) || err == nil && len(got.Provenance) != maxProvenance || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%d bytes that are said to be %d: %d, %v", len(proof), size, len(got.Provenance), err)
			}
		}
	}
}

// The provenance lies beside the chart: what stands behind the chart's path in an index stays behind it.
func TestAProvenanceLiesBesideItsChart(t *testing.T) {
	s := newSite(t)
	s.answers["/r/index.yaml"] = gives("charts/web.tgz?key=k&at=1")
	s.answers["/r/charts/web.tgz"], s.answers["/r/charts/web.tgz.prov"] = gives("chart"), gives("proof")
	if got, err := s.pull(t, inIndex); err != nil || string(got.Archive) != "chart" || string(got.Provenance) != "proof" {
		t.Errorf("%q, %q, %v", got.Archive, got.Provenance, err)
	}
	var asked []string
	for _, r := range s.Requests() {
		asked = append(asked, r.Path+"?"+r.Query)
	}
	if want := "/r/index.yaml? /r/charts/web.tgz?key=k&at=1 /r/charts/web.tgz.prov?key=k&at=1"; strings.Join(asked, " ") != want {
		t.Errorf("asked is for %q, want %q", asked, want)
	}
}

// A packed chart's name and version are as its file says them.
func TestNamesOfPackedCharts(t *testing.T) {
	for file, want := range map[string]string{
		"web-1.0.0.tgz": "web 1.0.0", "web-v1.0.0.tgz": "web v1.0.0", "web-db-1.0.0.tgz": "web-db 1.0.0", "web-2-1.0.0-rc.1.tgz": "web-2 1.0.0-rc.1",
		"web-1.0.0+build.tgz": "web 1.0.0+build", "a-1.2.3-4.5.6.tgz": "a-1.2.3 4.5.6",
	} {
		if r, err := Parse("https://r.example/x/" + file); err != nil || !r.Packed || r.Name+" "+r.Version != want || r.url("") != "https://r.example/x/"+file {
			t.Errorf("%s: %+v, %v, want %s", file, r, err, want)
		}
	}
	for reference, want := range map[string]string{"oci://r.example/a/web:v1.0.0": "web v1.0.0", "https://r.example/x/web:v1.0.0": "web v1.0.0"} {
		if r, err := Parse(reference); err != nil || r.Name+" "+r.Version != want {
			t.Errorf("%s: %+v, %v, want %s", reference, r, err, want)
		}
	}
}

// A chart of two contents, or of two provenances, cannot be told apart.
func TestPartsThatStandTwice(t *testing.T) {
	content, proof := layer(contentType, "sha256:"+sum("chart"), 5), layer(provenanceType, "sha256:"+sum("proof"), 5)
	for _, layers := range [][]string{
		{content, content, proof},
		{content, proof, proof},
		{content, proof, layer(provenanceType, "sha256:"+sum("other"), 5)},
		{content, layer(contentType, "sha256:"+sum("other"), 5)},
	} {
		if m, err := parseManifest([]byte(manifestOf(manifestType, layers...))); err == nil || !strings.Contains(err.Error(), "cannot be told apart") {
			t.Errorf("%q: %+v, %v", layers, m, err)
		}
	}
}

// Who waits for a turn gives up with his operation, and authorities that are none are said.
func TestPullsThatDoNotBegin(t *testing.T) {
	p := New(Options{})
	for range atOnce {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Pull(ctx, egress.Default(), "acme", Reference{Host: "r.example"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up waiting: %v", err)
	}
	p = New(Options{CA: remote.Authorities{PEM: "none"}})
	if _, err := p.Pull(t.Context(), egress.Default(), "acme", Reference{Host: "r.example"}, nil); err == nil || errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("authorities that are none: %v", err)
	}
	a := &asking{who: "the registry"}
	if err := a.fault(errors.New("canary")); !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "the connection to the registry failed") || strings.Contains(err.Error(), "canary") {
		t.Errorf("a fault that nobody knows: %v", err)
	}
}

// A reference has at most so many bytes, and each of its parts a form.
func TestPartsOfReferences(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	long := func(n int) string {
		return "https://r.example/" + strings.Repeat("a", n-len("https://r.example/")-len("/web:1.0.0")-len(digest)) + "/web:1.0.0" + digest
	}
	for reference, says := range map[string]string{
		long(1024): "", long(1025): "no more than 1024 bytes", "https://r.example/a b/web:1.0.0" + digest: "must name a chart and its version", "https://r.example/a/we b:1.0.0" + digest: "must name a chart and its version",
		"https://r.example/a/../web:1.0.0" + digest: "must name a chart and its version", "https://r.example/a/web" + digest: "must name a chart and its version", "https://r.example/web:1.0.0": "", "https://r.example/web-1.0.0.tgz": "",
		strings.Replace("https://r.example/web:1.0.0"+digest, "sha256:", "", 1): "a digest of 64 hexadecimal digits", "https://r.example/web:1.0.0" + digest[:len(digest)-1]: "a digest of 64 hexadecimal digits",
	} {
		if r, err := Parse(reference); err == nil != (says == "") || err != nil && !strings.Contains(err.Error(), says) || err == nil && (r.Host != "r.example" || r.Name != "web" || r.Version != "1.0.0") {
			t.Errorf("%.60s of %d bytes: %+v, %v, want %q", reference, len(reference), r, err, says)
		}
	}
	for s, want := range map[string]bool{"oci://r.example/web": true, "https://r.example/web:1.0.0": true, "https://r.example/a.yaml": false, "https://r.example/a.yml": false, "https://r.example/a.json": false, "web.tgz": false} {
		if Is(s) != want {
			t.Errorf("%s names a chart: %t", s, !want)
		}
	}
}
