package catalog_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// near allows what is on this machine, to project core alone.
func near(o *catalog.Options) {
	o.Egress = func(project string) *egress.Rules {
		rules := egress.Default()
		rules.AllowLoopback = project == "core"
		return rules
	}
}

// TestPackagesAreFetched from where they lie, with the password that is given; whatever comes in their place is said, and the
// package stays without content.
func TestPackagesAreFetched(t *testing.T) {
	text := packed(t, "vnfd-1")
	var asked *http.Request
	closed := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked = r; r.URL.Path {
		case "/package":
			_, _ = w.Write(text)
		case "/half":
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(text[:100])
		case "/elsewhere":
			http.Redirect(w, r, "/package", http.StatusFound)
		case "/201", "/203", "/206":
			status, _ := strconv.Atoi(r.URL.Path[1:])
			w.WriteHeader(status)
			_, _ = w.Write(text)
		default:
			http.NotFound(w, r)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	kept := 0
	for name, c := range map[string]struct {
		path   string
		user   string
		change func(*catalog.Options)
		kind   error
		says   string
	}{
		"a package":             {"/package", "", near, nil, ""},
		"with a password":       {"/package", "user", near, nil, ""},
		"with a user alone":     {"/package", "alone", near, nil, ""},
		"of another status":     {"/201", "", near, broker.ErrInvalid, "is answered 201 by its server"},
		"of another's status":   {"/203", "", near, broker.ErrInvalid, "is answered 203 by its server"},
		"a part of one":         {"/206", "", near, broker.ErrInvalid, "is answered 206 by its server"},
		"half of one":           {"/half", "", near, broker.ErrUnreachable, "the connection to the package's server broke before the answer was complete"},
		"none":                  {"/none", "", near, broker.ErrInvalid, "is answered 404 by its server"},
		"one that is elsewhere": {"/elsewhere", "", near, broker.ErrInvalid, "is answered 302 by its server"},
		"an address not allowed": {"/package", "", func(o *catalog.Options) {
			o.Egress = func(string) *egress.Rules { return egress.Default() }
		}, broker.ErrUnreachable, "egress"},
		"no authorities": {"/package", "", func(o *catalog.Options) {
			near(o)
			o.Authorities = remote.Authorities{PEM: "none"}
		}, nil, "the certificate authorities cannot be used"},
	} {
		s := set(t, c.change)
		ref := s.create(t, alice)
		asked = nil
		pass := map[bool]string{false: "canary-pass"}[c.user == "alone"]
		p, err := s.UploadFrom(t.Context(), alice, ref, catalog.Origin{URI: server.URL + c.path, Username: c.user, Password: secret.NewText(pass)})
		known, is := errors.AsType[*broker.Error](err)
		switch {
		case c.says == "":
			if err != nil || p.State != catalog.Enabled || p.Size != int64(len(text)) {
				t.Errorf("%s: %s, %v", name, p.State, err)
			}
			kept++
			user, password, given := asked.BasicAuth()
			if given != (c.user != "") || given && (user != c.user || password != pass) || asked.Header.Get("Accept") != "application/zip, application/octet-stream" {
				t.Errorf("%s: asked with %v", name, asked.Header)
			}
			continue
		case err == nil || !strings.Contains(err.Error(), c.says) || c.kind != nil && (!errors.Is(err, c.kind) || !is || known.Field != "addressInformation"):
			t.Errorf("%s: %v, want %v that says %q", name, err, c.kind, c.says)
		}
		if now, err := s.Package(t.Context(), alice, ref); err != nil || now.State != catalog.Created || strings.Contains(s.log.String(), "canary-pass") {
			t.Errorf("%s: afterwards the package is %s, %v", name, now.State, err)
		}
	}
	for range kept + 6 { // the connection of each that was answered
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Error("a connection to a package's server stays")
		}
	}
	server.Close()
	s := set(t, near)
	ref := s.create(t, alice)
	if _, err := s.UploadFrom(t.Context(), alice, ref, catalog.Origin{URI: server.URL + "/package"}); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("without its server: %v", err)
	}
	if _, err := s.UploadFrom(t.Context(), alice, ref, catalog.Origin{URI: "/package"}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("of no server: %v", err)
	}
	asked = nil
	if _, err := s.UploadFrom(t.Context(), reader, ref, catalog.Origin{URI: server.URL + "/package"}); !errors.Is(err, broker.ErrDenied) || asked != nil {
		t.Errorf("for a reader: %v, asked %v", err, asked)
	}
}

var nobody = policy.Principal{Name: "nobody", Project: "core"}

// TestWhoSeesAndMakesPackages: a member those of the project, an administrator all, and nobody none.
func TestWhoSeesAndMakesPackages(t *testing.T) {
	store := &failing{}
	s := set(t, func(o *catalog.Options) { store.Store, o.Store = o.Store, store })
	ctx := t.Context()
	mine, theirs := s.create(t, alice), s.create(t, bob)
	admin := policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}
	for who, want := range map[*policy.Principal][]string{&alice: {mine.ID}, &bob: {theirs.ID}, &admin: {mine.ID, theirs.ID}} {
		found, _, err := s.Packages(ctx, *who, catalog.Query{})
		var got []string
		for _, p := range found {
			got = append(got, p.ID)
		}
		slices.Sort(got) // both are as old
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s sees %q, %v, want %q", who.Name, got, err, want)
		}
	}
	if _, _, err := s.Packages(ctx, nobody, catalog.Query{}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a list for nobody = %v", err)
	}
	if _, err := s.Create(ctx, reader, ""); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a package of a reader = %v", err)
	}
	if _, _, err := s.Packages(ctx, alice, catalog.Query{Page: broker.Page{Size: -1}}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a page of less than nothing = %v", err)
	}
	store.fails = map[string]error{"Packages": io.ErrNoProgress}
	if _, _, err := s.Packages(ctx, alice, catalog.Query{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a list without the store = %v", err)
	}
	on := true
	_, err := s.Modify(ctx, alice, mine, catalog.PackageUpdate{Enabled: &on})
	if known, is := errors.AsType[*broker.Error](err); !is || known.Kind != broker.ErrConflict || known.Field != "operationalState" || known.Detail != "the package is not onboarded" { //nolint:errorlint // the kind itself
		t.Errorf("enabling what has no content = %v", err)
	}
}

// failing is a store of which some methods fail; once alone, where it says so. do is called before a package is written, on the
// way to each read of a chunk rot.
type failing struct {
	catalog.Store
	fails map[string]error
	do    func()
	rot   func(chunk []byte)
}

func (f *failing) Packages(ctx context.Context, of catalog.Filter) ([]catalog.Package, string, error) {
	if err := f.fails["Packages"]; err != nil {
		return nil, "", err
	}
	return f.Store.Packages(ctx, of)
}

func (f *failing) SweepChunks(ctx context.Context, limit int) (bool, error) {
	if err := f.fails["SweepChunks"]; err != nil {
		delete(f.fails, "SweepChunks")
		return true, err
	}
	return f.Store.SweepChunks(ctx, limit)
}

func (f *failing) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	if do := f.do; do != nil {
		f.do = nil
		do()
	}
	if err := f.fails["UpdatePackage"]; err != nil {
		return catalog.Package{}, err
	}
	return f.Store.UpdatePackage(ctx, id, change, e)
}

func (f *failing) Chunk(ctx context.Context, content string, n int) ([]byte, error) {
	b, err := f.Store.Chunk(ctx, content, n)
	if f.rot != nil {
		f.rot(b)
	}
	return b, err
}

// TestSettlingFails: what another is at is left to it, and everything else is said, of the pass too.
func TestSettlingFails(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*failing, *scene, catalog.PackageRef)
		want  error
	}{
		"nothing": {func(*failing, *scene, catalog.PackageRef) {}, nil},
		"one that was deleted": {func(f *failing, s *scene, ref catalog.PackageRef) {
			f.do = func() {
				if err := s.store.DeletePackage(t.Context(), ref.ID, audit.Entry{Time: s.clock.Now(), Outcome: audit.Done}); err != nil {
					t.Error(err)
				}
			}
		}, nil},
		"one that another took over": {func(f *failing, s *scene, ref catalog.PackageRef) {
			f.do = func() { s.takeOver(t, ref) }
		}, nil},
		"a list that fails": {func(f *failing, _ *scene, _ catalog.PackageRef) {
			f.fails = map[string]error{"Packages": io.ErrNoProgress}
		}, io.ErrNoProgress},
		"a write that fails": {func(f *failing, _ *scene, _ catalog.PackageRef) {
			f.fails = map[string]error{"UpdatePackage": io.ErrNoProgress}
		}, io.ErrNoProgress},
		"a sweep that fails": {func(f *failing, _ *scene, _ catalog.PackageRef) {
			f.fails = map[string]error{"SweepChunks": io.ErrNoProgress}
		}, io.ErrNoProgress},
	} {
		store := &failing{}
		s := set(t, func(o *catalog.Options) {
			store.Store, o.Store = o.Store, store
		})
		ref := s.create(t, alice)
		if _, err := s.store.UpdatePackage(t.Context(), ref.ID, func(p *catalog.Package) error {
			p.State, p.Content, p.TouchedAt = catalog.Uploading, "silent", s.clock.Now().Add(-catalog.Abandoned)
			return nil
		}, audit.Entry{Time: s.clock.Now(), Outcome: audit.Intent}); err != nil {
			t.Fatal(err)
		}
		c.given(store, s, ref)
		if err := s.Passes()[0].Run(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if p, err := s.store.Package(t.Context(), ref.ID); strings.Contains(name, "took over") && (err != nil || p.Content != "other") {
			t.Errorf("%s: the content is %q, %v", name, p.Content, err)
		}
	}
}

// takeOver has another upload be under way.
func (s *scene) takeOver(t *testing.T, ref catalog.PackageRef) {
	t.Helper()
	if _, err := s.store.UpdatePackage(t.Context(), ref.ID, func(p *catalog.Package) error {
		p.Content = "other"
		return nil
	}, audit.Entry{Time: s.clock.Now(), Outcome: audit.Intent}); err != nil {
		t.Error(err)
	}
}

// TestAnUploadThatIsOvertakenAtItsEnd is none, and leaves the other's alone.
func TestAnUploadThatIsOvertakenAtItsEnd(t *testing.T) {
	store := &failing{}
	s := set(t, func(o *catalog.Options) { store.Store, o.Store = o.Store, store })
	ref := s.create(t, alice)
	_, err := s.Upload(t.Context(), alice, ref, watched{bytes.NewReader(packed(t, "vnfd-1")), func() { store.do = func() { s.takeOver(t, ref) } }})
	if !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "another upload has taken over") {
		t.Errorf("Upload = %v", err)
	}
	if p, err := s.store.Package(t.Context(), ref.ID); err != nil || p.Content != "other" || p.State != catalog.Uploading {
		t.Errorf("afterwards it is %+v, %v", p, err)
	}
}

// rewritten is an archive in which a file has another text.
func rewritten(t *testing.T, text []byte, name, now string) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		w, err := out.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		old, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == name {
			old = []byte(now)
		}
		if _, err := w.Write(old); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFaultsOfAContentAreItsSenders: of the descriptor, and of what the manifest says of a file.
func TestFaultsOfAContentAreItsSenders(t *testing.T) {
	for name, content := range map[string][]byte{
		"a descriptor of no flavour": []byte("tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template: []\n"),
		"a file that was changed":    rewritten(t, packed(t, "vnfd-1"), "Files/kubernetes/a.yaml", "kind: Other\n"),
	} {
		s := set(t, nil)
		_, err := s.Upload(t.Context(), alice, s.create(t, alice), bytes.NewReader(content))
		known, is := errors.AsType[*broker.Error](err)
		if !is || known.Kind != broker.ErrInvalid || known.Remedy != "mend the package and upload it again" { //nolint:errorlint // the kind itself
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAStoredContentThatIsSpoilt is said to be so, of a file and of the descriptor.
func TestAStoredContentThatIsSpoilt(t *testing.T) {
	store := &failing{}
	s := set(t, func(o *catalog.Options) { store.Store, o.Store = o.Store, store })
	p := s.onboard(t, alice, "vnfd-1")
	text := packed(t, "vnfd-1")
	in, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	rotten := func(name string) func([]byte) {
		for _, f := range in.File {
			if f.Name == name {
				at, err := f.DataOffset()
				if err != nil {
					t.Fatal(err)
				}
				return func(b []byte) { b[at+int64(f.CompressedSize64)/2] ^= 0xff }
			}
		}
		t.Fatalf("there is no %s", name)
		return nil
	}
	store.rot = rotten("Files/kubernetes/b.yaml")
	opened, err := s.Held(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Files([]string{"Files/kubernetes/b.yaml"}); !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), "the stored VNF package cannot be read") {
		t.Errorf("a file that is spoilt = %v", err)
	}
	if files, err := opened.Files([]string{"Files/kubernetes/a.yaml"}); err != nil || len(files) != 1 {
		t.Errorf("another of it = %v", err)
	}
	store.rot = rotten(p.Entry)
	if _, err := s.Held(t.Context(), p.ID); !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), "the stored VNF package cannot be read") {
		t.Errorf("a descriptor that is spoilt = %v", err)
	}
}
