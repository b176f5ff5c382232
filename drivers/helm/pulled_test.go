package helm_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"helm.sh/helm/v4/pkg/provenance"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// place is a registry and a repository of charts in one.
type place struct {
	*fake.Server
	// files are what is at a path.
	files map[string][]byte
	// password is what user "u" is asked for; empty: nobody is. bearer: for a token, and not for each request.
	password string
	bearer   bool
}

const tokenOfPlace = "canary-token-of-the-registry"

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{files: map[string][]byte{}}
	p.Server = fake.New(t, p.serve)
	return p
}

func (p *place) host() string { return strings.TrimPrefix(p.URL, "https://") }

func (p *place) serve(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	known := user == "u" && password == p.password
	if r.URL.Path == "/token" {
		if p.password != "" && !known || r.URL.Query().Get("service") != "here" || r.URL.Query().Get("scope") != "repository:charts/web:pull" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fake.Say(w, http.StatusOK, map[string]string{"token": tokenOfPlace})
		return
	}
	if p.bearer && r.Header.Get("Authorization") != "Bearer "+tokenOfPlace {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+p.URL+`/token",service="here",scope="registry:catalog:*"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !p.bearer && p.password != "" && !known {
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text, has := p.files[r.URL.Path]
	if !has {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write(text)
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// push puts a chart into the registry, as helm push does, and returns the manifest's digest.
func (p *place) push(tag string, layers map[string][]byte) string {
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	m := struct {
		Schema    int          `json:"schemaVersion"`
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}{2, "application/vnd.oci.image.manifest.v1+json", descriptor{"application/vnd.cncf.helm.config.v1+json", "sha256:" + digestOf(nil), 0}, nil}
	for kind, text := range layers {
		m.Layers = append(m.Layers, descriptor{kind, "sha256:" + digestOf(text), len(text)})
		p.files["/v2/charts/web/blobs/sha256:"+digestOf(text)] = text
	}
	text, _ := json.Marshal(m)
	p.files["/v2/charts/web/manifests/"+tag], p.files["/v2/charts/web/manifests/sha256:"+digestOf(text)] = text, text
	return digestOf(text)
}

const (
	contentLayer    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	provenanceLayer = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

// archive is a chart that has one object.
func archive(t *testing.T) []byte {
	t.Helper()
	return []byte(packed(t, nil, map[string]string{"templates/a.yaml": configMap + "{from: elsewhere}"})[0].Text.Reveal())
}

func loopback() *egress.Rules {
	r := egress.Default()
	r.AllowLoopback = true
	return r
}

// planFrom plans an instance of a chart that a reference names.
func planFrom(t *testing.T, p *place, o helm.Options, reference string) (lifecycle.Plan, error) {
	t.Helper()
	in := inputOf(nil)
	in.Named, in.Project, in.Egress = []string{reference}, "acme", loopback()
	o.Program, o.Pull.CA = []string{os.Args[0], renders}, remote.Authorities{PEM: p.CA}
	d := helm.New(o)
	if _, err := d.Basis(lifecycle.Source{Named: in.Named}); err != nil {
		return lifecycle.Plan{}, err
	}
	s := fakeobjects.New(t)
	return d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
}

// signer makes a key, and a file of the public half as gpg exports it.
func signer(t *testing.T, armored bool) (*provenance.Signatory, string) {
	t.Helper()
	e, err := openpgp.NewEntity("charts", "", "charts@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var w io.WriteCloser = struct {
		io.Writer
		io.Closer
	}{&out, io.NopCloser(nil)}
	if armored {
		if w, err = armor.Encode(&out, openpgp.PublicKeyType, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.Serialize(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "keyring")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &provenance.Signatory{Entity: e}, name
}

func sign(t *testing.T, by *provenance.Signatory, chart []byte, file string) []byte {
	t.Helper()
	text, err := by.ClearSign(chart, file, []byte("name: web\nversion: 1.0.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// login has the broker known at a place.
func login(t *testing.T, p *place, password string) pull.Login {
	t.Helper()
	name := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(name, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return pull.Login{Host: p.host(), User: "u", PasswordFile: name}
}

// TestChartsFromElsewhere: a chart is had from a registry and from a repository, by its digest or by who has signed it.
func TestChartsFromElsewhere(t *testing.T) {
	web := archive(t)
	by, keyring := signer(t, false)
	_, armored := signer(t, true)
	signed := sign(t, by, web, "web-1.0.0.tgz")
	both := filepath.Join(t.TempDir(), "both")
	first, _ := os.ReadFile(armored)
	var out bytes.Buffer
	w, _ := armor.Encode(&out, openpgp.PublicKeyType, nil)
	if err := errors.Join(by.Entity.Serialize(w), w.Close(), os.WriteFile(both, append(append(first, '\n'), out.Bytes()...), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set       func(p *place, o *helm.Options)
		reference string
		asked     int
	}{
		"registry":            {reference: "oci://HOST/charts/web@sha256:MANIFEST", asked: 2},
		"registry, version":   {reference: "oci://HOST/charts/web:1.0.0@sha256:MANIFEST", asked: 2},
		"registry, signed":    {set: func(_ *place, o *helm.Options) { o.KeyringFile = keyring }, reference: "oci://HOST/charts/web:1.0.0", asked: 3},
		"registry, anonymous": {set: func(p *place, _ *helm.Options) { p.bearer = true }, reference: "oci://HOST/charts/web@sha256:MANIFEST", asked: 4},
		"registry, token": {set: func(p *place, o *helm.Options) {
			p.bearer, p.password, o.Pull.Logins = true, "canary", []pull.Login{login(t, p, "canary")}
		}, reference: "oci://HOST/charts/web@sha256:MANIFEST", asked: 4},
		"registry, password": {set: func(p *place, o *helm.Options) {
			p.password, o.Pull.Logins = "canary", []pull.Login{login(t, p, "canary")}
		}, reference: "oci://HOST/charts/web@sha256:MANIFEST", asked: 3},
		"registry, elsewhere": {set: func(p *place, _ *helm.Options) {
			p.files["/cdn"] = web
			p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Redirect, Location: p.URL + "/cdn"})
		}, reference: "oci://HOST/charts/web@sha256:MANIFEST", asked: 3},
		"repository":         {reference: "https://HOST/stable/web:1.0.0@sha256:CHART", asked: 2},
		"repository, signed": {set: func(_ *place, o *helm.Options) { o.KeyringFile = both }, reference: "https://HOST/stable/web:1.0.0", asked: 3},
		"repository, password": {set: func(p *place, o *helm.Options) {
			p.password, o.Pull.Logins = "canary", []pull.Login{login(t, p, "canary")}
		}, reference: "https://HOST/stable/web:1.0.0@sha256:CHART", asked: 2},
		"packed":         {reference: "https://HOST/stable/files/web-1.0.0.tgz@sha256:CHART", asked: 1},
		"packed, signed": {set: func(_ *place, o *helm.Options) { o.KeyringFile = keyring }, reference: "https://HOST/stable/files/web-1.0.0.tgz", asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			manifest := p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: signed})
			p.files["/stable/index.yaml"] = []byte("apiVersion: v1\nentries:\n  other: [{version: 1.0.0, urls: [x]}]\n  web:\n  - {version: 2.0.0, urls: [none]}\n" +
				"  - {version: 1.0.0, urls: [files/web-1.0.0.tgz], digest: " + digestOf(web) + "}\n")
			p.files["/stable/files/web-1.0.0.tgz"], p.files["/stable/files/web-1.0.0.tgz.prov"] = web, signed
			var o helm.Options
			if c.set != nil {
				c.set(p, &o)
			}
			reference := strings.NewReplacer("HOST", p.host(), "MANIFEST", manifest, "CHART", digestOf(web)).Replace(c.reference)
			got, err := planFrom(t, p, o, reference)
			if err != nil {
				t.Fatal(err)
			}
			if text := applied(got, "a"); !strings.Contains(text, `"from":"elsewhere"`) {
				t.Errorf("the object is %s", text)
			}
			if asked := p.Requests(); len(asked) != c.asked {
				t.Errorf("it was asked %d times, want %d: %+v", len(asked), c.asked, asked)
			}
		})
	}
}

// TestHostilePlaces: what a registry or a repository tries ends in an error that says which, repeats nothing of what it
// answered and holds no password, and reaches nothing that the rules refuse.
func TestHostilePlaces(t *testing.T) {
	web := archive(t)
	by, keyring := signer(t, false)
	other, _ := signer(t, false)
	signed := func(_ *place, o *helm.Options) { o.KeyringFile = keyring }
	answer := func(path string, do http.HandlerFunc) func(*place, *helm.Options) {
		return func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: path, Kind: fake.Custom, Answer: do, Times: -1})
		}
	}
	put := func(path string, text string) func(*place, *helm.Options) {
		return func(p *place, _ *helm.Options) { p.files[path] = []byte(text) }
	}
	// The canary is the broker's own; a place that is asked on behalf of it elsewhere never sees it.
	elsewhere := newPlace(t)
	const (
		byDigest  = "oci://HOST/charts/web@sha256:MANIFEST"
		byVersion = "oci://HOST/charts/web:1.0.0"
		inIndex   = "https://HOST/stable/web:1.0.0@sha256:CHART"
		asPacked  = "https://HOST/stable/files/web-1.0.0.tgz@sha256:CHART"
	)
	forever := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	bomb := []byte(packed(t, func(w *tar.Writer) {
		_ = w.WriteHeader(&tar.Header{Name: "c/templates/big.yaml", Mode: 0o600, Size: 64 << 20})
		_, _ = w.Write(make([]byte, 64<<20))
	}, nil)[0].Text.Reveal())
	manifest := func(layers ...string) string {
		return `{"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json"},"layers":[` + strings.Join(layers, ",") + `]}`
	}
	for name, c := range map[string]struct {
		set       func(p *place, o *helm.Options)
		reference string
		kind      error
		says      string
	}{
		"endless blob":     {answer("/blobs/", forever), byDigest, broker.ErrInvalid, "more than 8192 KiB"},
		"endless manifest": {answer("/manifests/", forever), byDigest, broker.ErrInvalid, "more than 256 KiB"},
		"endless index":    {answer("index.yaml", forever), inIndex, broker.ErrInvalid, "more than 16384 KiB"},
		"endless token": {func(p *place, _ *helm.Options) {
			p.bearer = true
			p.Fail(fake.Fault{Path: "/token", Kind: fake.Custom, Answer: forever, Times: -1})
		}, byDigest, broker.ErrUnreachable, "longer than 320 KiB"},
		"other blob": {func(p *place, _ *helm.Options) {
			p.files["/v2/charts/web/blobs/sha256:"+digestOf(web)] = []byte(fake.Canary)
		}, byDigest, broker.ErrInvalid, "something else than the digest"},
		"other manifest": {func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: "/manifests/", Kind: fake.JSON, Status: 200, Body: manifest()})
		}, byDigest, broker.ErrInvalid, "something else than the digest"},
		"other chart":  {put("/stable/files/web-1.0.0.tgz", fake.Canary), asPacked, broker.ErrInvalid, "something else than the digest"},
		"other digest": {put("/stable/index.yaml", "entries: {web: [{version: 1.0.0, urls: [files/web-1.0.0.tgz], digest: "+digestOf(nil)+"}]}"), inIndex, broker.ErrInvalid, "another digest"},
		"an image": {func(p *place, _ *helm.Options) {
			p.files["/v2/charts/web/manifests/1.0.0"] = []byte(`{"config":{"mediaType":"application/vnd.oci.image.config.v1+json"}}`)
		}, byVersion, broker.ErrInvalid, "no Helm chart there"},
		"no content": {put("/v2/charts/web/manifests/1.0.0", manifest()), byVersion, broker.ErrInvalid, "without its content"},
		"two contents": {put("/v2/charts/web/manifests/1.0.0", manifest(
			`{"mediaType":"`+contentLayer+`","digest":"sha256:`+digestOf(web)+`"}`, `{"mediaType":"`+contentLayer+`","digest":"sha256:`+digestOf(web)+`"}`,
		)), byVersion, broker.ErrInvalid, "cannot be told apart"},
		"digest as a path": {put("/v2/charts/web/manifests/1.0.0", manifest(`{"mediaType":"`+contentLayer+`","digest":"sha256:../../secret"}`)), byVersion, broker.ErrInvalid, "cannot be told apart"},
		"not signed":       {func(p *place, _ *helm.Options) { p.push("1.0.0", map[string][]byte{contentLayer: web}) }, byVersion, broker.ErrInvalid, "no provenance"},
		"signed by another": {func(p *place, _ *helm.Options) {
			p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: sign(t, other, web, "web-1.0.0.tgz")})
		}, byVersion, broker.ErrInvalid, "provenance is not that of web 1.0.0"},
		"signed for another version": {func(p *place, _ *helm.Options) {
			p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: sign(t, by, web, "web-0.9.0.tgz")})
		}, byVersion, broker.ErrInvalid, "provenance is not that of web 1.0.0"},
		"signed for another chart": {func(p *place, _ *helm.Options) {
			p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: sign(t, by, []byte("x"), "web-1.0.0.tgz")})
		}, byVersion, broker.ErrInvalid, "provenance is not that of web 1.0.0"},
		"empty provenance": {func(p *place, _ *helm.Options) {
			p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: nil})
		}, byVersion, broker.ErrInvalid, "provenance"},
		"other name": {func(p *place, o *helm.Options) {
			p.files["/stable/files/mesh-1.0.0.tgz"] = web
		}, "https://HOST/stable/files/mesh-1.0.0.tgz@sha256:CHART", broker.ErrInvalid, "it is web 1.0.0"},
		"other version": {nil, "oci://HOST/charts/web:2.0.0@sha256:MANIFEST", broker.ErrInvalid, "it is web 1.0.0"},
		"bomb":          {func(p *place, _ *helm.Options) { p.files["/web-1.0.0.tgz"] = bomb }, "https://HOST/web-1.0.0.tgz@sha256:" + digestOf(bomb), broker.ErrInvalid, "more than 32 MiB unpacked"},
		"compressed on the way": {answer("tgz", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}), asPacked, broker.ErrUnreachable, "compressed"},
		"bomb of an index": {put("/stable/index.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"+
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nentries: {web: *g}\n"), inIndex, broker.ErrInvalid, "the chart:"},
		"deep index":          {put("/stable/index.yaml", "entries: {web: "+strings.Repeat("[", 1<<20)), inIndex, broker.ErrInvalid, "the chart:"},
		"not in the index":    {put("/stable/index.yaml", "entries: {web: [{version: 1.0.1, urls: [x]}]}"), inIndex, broker.ErrInvalid, "has no web 1.0.0"},
		"no index":            {put("/stable/index.yaml", fake.Canary), inIndex, broker.ErrInvalid, "no index"},
		"index to a registry": {put("/stable/index.yaml", "entries: {web: [{version: 1.0.0, urls: ['oci://registry.invalid/web']}]}"), inIndex, broker.ErrInvalid, "not https"},
		"index to a file":     {put("/stable/index.yaml", "entries: {web: [{version: 1.0.0, urls: ['file:///etc/passwd']}]}"), inIndex, broker.ErrInvalid, "not https"},
		"index to metadata":   {put("/stable/index.yaml", "entries: {web: [{version: 1.0.0, urls: ['https://169.254.169.254/latest']}]}"), inIndex, broker.ErrInvalid, "egress rules refuse"},
		"to metadata": {func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Redirect, Location: "https://169.254.169.254/latest/meta-data"})
		}, byDigest, broker.ErrInvalid, "egress rules refuse"},
		"to plain http": {func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Redirect, Location: "http://" + p.host() + "/x"})
		}, byDigest, broker.ErrInvalid, "not https"},
		"round and round": {func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Redirect, Location: p.URL + "/blobs/again", Times: -1})
		}, byDigest, broker.ErrInvalid, "too many"},
		"token from metadata": {answer("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="https://169.254.169.254/token"`)
			w.WriteHeader(http.StatusUnauthorized)
		}), byDigest, broker.ErrInvalid, "egress rules refuse"},
		"token over http": {answer("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://127.0.0.1/token"`)
			w.WriteHeader(http.StatusUnauthorized)
		}), byDigest, broker.ErrInvalid, "over https"},
		"token of two lines": {func(p *place, _ *helm.Options) {
			p.bearer = true
			p.Fail(fake.Fault{Path: "/token", Kind: fake.JSON, Status: 200, Body: `{"token":"a\r\nX-Canary: b"}`, Times: -1})
		}, byDigest, broker.ErrInvalid, "token in vain"},
		"token to another": {func(p *place, _ *helm.Options) {
			p.bearer = true
			p.Fail(fake.Fault{Path: "/token", Kind: fake.Redirect, Location: elsewhere.URL + "/token", Times: -1})
		}, byDigest, broker.ErrInvalid, "token in vain (307)"},
		"nobody is let in": {func(p *place, _ *helm.Options) { p.password = "x" }, byDigest, broker.ErrInvalid, "without a user"},
		"wrong password": {func(p *place, o *helm.Options) {
			p.password, o.Pull.Logins = "x", []pull.Login{login(t, p, "canary-password")}
		}, byDigest, broker.ErrInvalid, "does not let the broker"},
		"of another project": {func(p *place, o *helm.Options) {
			l := login(t, p, "canary-password")
			l.Projects = []string{"umbrella"}
			p.password, o.Pull.Logins = "canary-password", []pull.Login{l}
		}, byDigest, broker.ErrInvalid, "without a user"},
		"no password file": {func(p *place, o *helm.Options) {
			p.password, o.Pull.Logins = "x", []pull.Login{{Host: p.host(), User: "u", PasswordFile: "/nonexistent"}}
		}, byDigest, broker.ErrUnavailable, "cannot read its password"},
		"no keyring":    {func(_ *place, o *helm.Options) { o.KeyringFile = "/nonexistent" }, byVersion, broker.ErrUnavailable, "cannot read its keyring"},
		"not there":     {nil, "oci://HOST/charts/mesh@sha256:MANIFEST", broker.ErrInvalid, "nothing there (404)"},
		"down":          {func(p *place, _ *helm.Options) { p.Fail(fake.Fault{Kind: fake.HTML, Status: 503, Times: -1}) }, byDigest, broker.ErrUnreachable, "answers 503"},
		"too often":     {func(p *place, _ *helm.Options) { p.Fail(fake.Fault{Kind: fake.HTML, Status: 429, Times: -1}) }, inIndex, broker.ErrUnreachable, "answers 429"},
		"broken":        {func(p *place, _ *helm.Options) { p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Drop, Times: -1}) }, byDigest, broker.ErrUnreachable, "broke"},
		"not to be had": {func(p *place, _ *helm.Options) { p.Close() }, byDigest, broker.ErrUnreachable, "refuses connections"},
		"of another CA": {func(p *place, _ *helm.Options) { p.CA = elsewhere.CA }, byDigest, broker.ErrUnreachable, "certificate"},
		"a page": {func(p *place, _ *helm.Options) {
			p.Fail(fake.Fault{Path: "/manifests/", Kind: fake.HTML, Status: 200, Times: -1})
		}, byVersion, broker.ErrInvalid, "no Helm chart there"},
		"no such answer": {func(p *place, _ *helm.Options) { p.Fail(fake.Fault{Kind: fake.HTML, Status: 418, Times: -1}) }, asPacked, broker.ErrInvalid, "answers 418"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			at := p.push("1.0.0", map[string][]byte{contentLayer: web, provenanceLayer: sign(t, by, web, "web-1.0.0.tgz")})
			p.files["/stable/index.yaml"] = []byte("entries: {web: [{version: 1.0.0, urls: [files/web-1.0.0.tgz]}]}")
			p.files["/stable/files/web-1.0.0.tgz"] = web
			var o helm.Options
			signed(p, &o)
			reference := strings.NewReplacer("HOST", p.host(), "MANIFEST", at, "CHART", digestOf(web)).Replace(c.reference)
			if c.set != nil {
				c.set(p, &o)
			}
			_, err := planFrom(t, p, o, reference)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("Plan = %v, want %v that says %q", err, c.kind, c.says)
			}
			text := fmt.Sprintf("%v %+v", err, err)
			for _, canary := range []string{fake.Canary, "canary-password", tokenOfPlace} {
				if strings.Contains(text, canary) {
					t.Errorf("the error holds %s: %s", canary, text)
				}
			}
		})
	}
	if asked := elsewhere.Requests(); len(asked) > 0 {
		t.Errorf("another place was asked: %+v", asked)
	}
}

// TestAPasswordStaysWithItsHost: neither a redirect nor an index takes it elsewhere.
func TestAPasswordStaysWithItsHost(t *testing.T) {
	web := archive(t)
	p, other := newPlace(t), newPlace(t)
	other.files["/web-1.0.0.tgz"] = web
	p.CA += other.CA
	at := p.push("1.0.0", map[string][]byte{contentLayer: web})
	p.password = "canary"
	o := helm.Options{Pull: pull.Options{Logins: []pull.Login{login(t, p, "canary")}}}
	p.files["/stable/index.yaml"] = []byte("entries: {web: [{version: 1.0.0, urls: ['" + other.URL + "/web-1.0.0.tgz']}]}")
	p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Redirect, Location: other.URL + "/web-1.0.0.tgz", Times: -1})
	for _, reference := range []string{"oci://" + p.host() + "/charts/web@sha256:" + at, "https://" + p.host() + "/stable/web:1.0.0@sha256:" + digestOf(web)} {
		if _, err := planFrom(t, p, o, reference); err != nil {
			t.Errorf("%s: %v", reference, err)
		}
	}
	asked := other.Requests()
	if len(asked) != 2 {
		t.Errorf("the other host was asked %d times, want 2", len(asked))
	}
	for _, r := range asked {
		for name, values := range r.Header {
			if name == "Authorization" || strings.Contains(strings.Join(values, " "), base64.StdEncoding.EncodeToString([]byte("u:canary"))) {
				t.Errorf("the other host got %s", name)
			}
		}
	}
}

// TestSlowPlaces: one that drips is left when the operation's time is up, and holds up no other project.
func TestSlowPlaces(t *testing.T) {
	web := archive(t)
	p := newPlace(t)
	at := p.push("1.0.0", map[string][]byte{contentLayer: web})
	reached := make(chan struct{}, 16)
	p.Fail(fake.Fault{Path: "/blobs/", Kind: fake.Hang, Times: 3, Reached: func() { reached <- struct{}{} }})
	d := helm.New(helm.Options{Program: []string{os.Args[0], renders}, Pull: pull.Options{CA: remote.Authorities{PEM: p.CA}}})
	s := fakeobjects.New(t)
	in := inputOf(nil)
	in.Named, in.Project, in.Egress = []string{"oci://" + p.host() + "/charts/web@sha256:" + at}, "acme", loopback()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := d.Plan(ctx, s.Connection(d.Survey(in)), in)
			ended <- err
		}()
		<-reached
	}
	if _, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("a fourth at a time = %v, want %v", err, broker.ErrUnavailable)
	}
	in.Project = "umbrella"
	if _, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in); err != nil {
		t.Errorf("another project: %v", err)
	}
	cancel()
	for range 3 {
		if err := <-ended; err == nil {
			t.Error("a chart that never came was planned")
		}
	}
}

// TestFetchedOnce: whoever goes on, heals, rolls back or terminates asks the place nothing.
func TestFetchedOnce(t *testing.T) {
	web := archive(t)
	p := newPlace(t)
	at := p.push("1.0.0", map[string][]byte{contentLayer: web})
	d := helm.New(helm.Options{Program: []string{os.Args[0], renders}, Pull: pull.Options{CA: remote.Authorities{PEM: p.CA}}})
	s := fakeobjects.New(t)
	in := inputOf(nil)
	in.Named, in.Project, in.Egress = []string{"oci://" + p.host() + "/charts/web@sha256:" + at}, "acme", loopback()
	step := func(waves int) {
		t.Helper()
		got, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range got.Stages {
			for _, w := range stage.Waves {
				if waves--; waves < 0 {
					break
				}
				if err := d.Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, r := range got.Resources {
			if !slices.ContainsFunc(in.Standing, func(s lifecycle.Resource) bool { return reflect.DeepEqual(s, r) }) {
				in.Standing = append(in.Standing, r)
			}
		}
	}
	const whole = 100
	step(1)
	p.Close()
	step(whole)
	first := in.Mark
	in.Operation, in.Mark = lifecycle.Heal, first+"h"
	step(whole)
	in.Operation, in.Mark, in.Undone = lifecycle.ScaleVNF, first+"s-back", first+"s"
	step(whole)
	in.Operation, in.Mark, in.Undone = lifecycle.Terminate, first+"t", ""
	step(whole)
	for _, path := range s.Paths() {
		if strings.Contains(path, "/cnf/") {
			t.Errorf("left is %s", path)
		}
	}
}

// TestReferences: what names a chart outside of a package pins it, and holds no password.
func TestReferences(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	for _, good := range []string{
		"oci://r.example/web" + digest, "oci://r.example:5000/a/b_c/web:1.0.0" + digest, "oci://127.0.0.1:5000/web" + digest, "oci://[::1]:5000/web" + digest,
		"https://r.example/web:1.0.0-rc.1+build" + digest, "https://r.example/a/web:v1.0.0" + digest, "https://r.example/a/web-1.0.0.tgz" + digest,
	} {
		if _, err := driver().Basis(lifecycle.Source{Named: []string{good}}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	_, keyring := signer(t, false)
	signing := helm.New(helm.Options{KeyringFile: keyring})
	for _, bad := range []string{
		"oci://r.example/web", "oci://r.example/web:latest", "oci://r.example/web:latest" + digest, "oci://r.example/web:1", "oci://r.example/Web" + digest, "oci://r.example/" + digest,
		"oci://r.example/../web" + digest, "oci://r.example/web@sha256:canary", "oci://r.example/web@sha512:" + strings.Repeat("0", 64),
		"oci://u:canary@r.example/web" + digest, "https://u:canary@r.example/web:1.0.0" + digest, "http://r.example/web:1.0.0" + digest, "file:///web:1.0.0" + digest,
		"https://r.example/web" + digest, "https://r.example/web:1.x" + digest, "https://r.example/a/../web:1.0.0" + digest, "https://r.example/web:1.0.0?token=canary" + digest,
		"https://r.example/we b:1.0.0" + digest, "https:///web:1.0.0" + digest, "https://r.example:port/web:1.0.0" + digest, "https://r.example/a%2fweb:1.0.0" + digest,
		"oci://" + strings.Repeat("a", 1100) + "/web" + digest, "://", "oci://",
	} {
		_, err := signing.Basis(lifecycle.Source{Named: []string{bad}})
		var known *broker.Error
		if !errors.As(err, &known) || known.Kind != broker.ErrInvalid || known.Field != "additionalParams.helm_chart_path" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.100s: %v", bad, err)
		}
	}
	for reference, is := range map[string]func(error) bool{
		"oci://r.example/web:1.0.0": func(err error) bool { return errors.Is(err, broker.ErrInvalid) }, "https://r.example/web-1.0.0.tgz": func(err error) bool { return errors.Is(err, broker.ErrInvalid) },
	} {
		if _, err := driver().Basis(lifecycle.Source{Named: []string{reference}}); !is(err) {
			t.Errorf("%s without a keyring: %v", reference, err)
		}
		if _, err := signing.Basis(lifecycle.Source{Named: []string{reference}}); err != nil {
			t.Errorf("%s with a keyring: %v", reference, err)
		}
	}
}
