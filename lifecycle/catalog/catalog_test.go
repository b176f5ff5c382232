package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// canary stands in a manifest of every package, and nowhere else.
const canary = "canary-5e1f7c"

var (
	alice  = policy.Principal{Name: "alice", Project: "core", Roles: []string{"member"}}
	reader = policy.Principal{Name: "rita", Project: "core", Roles: []string{"reader"}}
	bob    = policy.Principal{Name: "bob", Project: "ran", Roles: []string{"member"}}
)

// scene is a catalogue on a store, with its time and its log in the test's hands.
type scene struct {
	*catalog.Catalog
	store *sqlite.Store
	clock *clock.Clock
	log   *bytes.Buffer
}

func set(t *testing.T, change func(*catalog.Options)) *scene {
	t.Helper()
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{store: store, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), log: &bytes.Buffer{}}
	o := catalog.Options{
		Store: store, Guard: &audit.Guard{Policy: policies, Sink: store, Now: s.clock.Now}, Terms: catalog.DefaultTerms(), Now: s.clock.Now,
		Log: testlog.To(t, slog.NewTextHandler(s.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	s.Catalog = catalog.New(o)
	t.Cleanup(func() { s.quiet(t) })
	return s
}

// quiet checks that neither the log nor the audit log has a word of a package's content.
func (s *scene) quiet(t *testing.T) {
	t.Helper()
	if strings.Contains(s.log.String(), canary) {
		t.Errorf("the log repeats a manifest:\n%s", s.log)
	}
	entries, err := s.store.Entries(context.Background(), audit.Query{Limit: 1000})
	if err != nil {
		return // the store is closed already
	}
	if text := fmt.Sprintf("%+v", entries); strings.Contains(text, canary) {
		t.Errorf("the audit log repeats a manifest:\n%s", text)
	}
}

// packed is a package with a descriptor and a manifest.
func packed(t testing.TB, vnfd string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := vnfpkg.Pack(&b, vnfpkg.Assembly{
		VNFDID: vnfd, Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "2.0",
		Manifests: []vnfpkg.ManifestFile{
			{Path: "b.yaml", Text: []byte("kind: Deployment\nmetadata: {name: web}\n")},
			{Path: "a.yaml", Text: []byte("kind: Secret\nmetadata: {name: login}\nstringData: {password: " + canary + "}\n")},
		},
		VDUs: []vnfpkg.DraftVDU{{Name: "web", Number: 1, Min: 1, Max: 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *scene) create(t *testing.T, p policy.Principal) catalog.PackageRef {
	t.Helper()
	pkg, err := s.Create(t.Context(), p, `{"stage":"prod"}`)
	if err != nil {
		t.Fatalf("Create = %v", err)
	}
	return catalog.PackageRef{ID: pkg.ID}
}

func (s *scene) onboard(t *testing.T, p policy.Principal, vnfd string) catalog.Package {
	t.Helper()
	pkg, err := s.Upload(t.Context(), p, s.create(t, p), bytes.NewReader(packed(t, vnfd)))
	if err != nil {
		t.Fatalf("Upload = %v", err)
	}
	return pkg
}

// chunks counts what is stored of all contents, by sweeping what nobody needs and looking
// for what is left of one.
func (s *scene) stored(t *testing.T, content string) int {
	t.Helper()
	for n := 0; ; n++ {
		_, err := s.store.Chunk(t.Context(), content, n)
		if errors.Is(err, broker.ErrNotFound) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLifeOfAPackage(t *testing.T) {
	s := set(t, nil)
	ctx := t.Context()
	ref := s.create(t, alice)
	if p, err := s.Package(ctx, alice, ref); err != nil || p.State != catalog.Created {
		t.Fatalf("created: %v, %v", p.State, err)
	}
	if _, err := s.Read(ctx, alice, ref); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("reading what has no content = %v, want ErrConflict", err)
	}
	text := packed(t, "vnfd-1")
	p, err := s.Upload(ctx, alice, ref, iotest.OneByteReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatalf("Upload = %v", err)
	}
	if p.State != catalog.Enabled || p.VNFDID != "vnfd-1" || p.Provider != "Acme" || p.ProductName != "web" || p.Size != int64(len(text)) ||
		len(p.Artifacts) != 2 || p.Artifacts[0].Path != "Files/kubernetes/a.yaml" || p.UserData != `{"stage":"prod"}` || len(p.SHA512) != 128 {
		t.Errorf("onboarded: %+v", p)
	}
	r, err := s.Read(ctx, reader, catalog.PackageRef{VNFD: "vnfd-1"})
	if err != nil {
		t.Fatalf("Read = %v", err)
	}
	if got, err := io.ReadAll(r.Content); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the content has %d bytes, %v, want the %d that were uploaded", len(got), err, len(text))
	}

	opened, err := s.Use(ctx, alice, "vnfd-1")
	if err != nil {
		t.Fatalf("Use = %v", err)
	}
	if v := opened.VNFD.Flavours["simple"].VDUs["web"]; v.Max != 3 {
		t.Errorf("the descriptor says of web: %+v", v)
	}
	paths := opened.Paths()
	if !slices.Contains(paths, "Files/kubernetes/a.yaml") || !slices.IsSorted(paths) {
		t.Errorf("Paths = %v, want all files in their order", paths)
	}
	files, err := opened.Files([]string{"Files/kubernetes/a.yaml", "Files/kubernetes/b.yaml"})
	if err != nil || len(files) != 2 || files[0].Path != "Files/kubernetes/a.yaml" || !strings.Contains(string(files[0].Text), canary) {
		t.Errorf("Files = %v files, %v", len(files), err)
	}
	files, err = opened.Files([]string{"Files/kubernetes/b.yaml"})
	if err != nil || len(files) != 1 {
		t.Errorf("Files of one path = %d files, %v", len(files), err)
	}
	if _, err = opened.Files([]string{"../../etc/passwd"}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("Files of a foreign path = %v, want ErrInvalid", err)
	}

	if err := s.Delete(ctx, alice, ref); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("deleting an enabled package = %v, want ErrConflict", err)
	}
	off, on := false, true
	if p, err = s.Modify(ctx, alice, ref, catalog.PackageUpdate{Enabled: &off}); err != nil || p.State != catalog.Disabled {
		t.Fatalf("disabling = %v, %v", p.State, err)
	}
	if last, err := s.store.Entries(ctx, audit.Query{Action: policy.PackageModify, Limit: 1}); err != nil || len(last) != 1 ||
		last[0].Detail[audit.DetailOld+"operationalState"] != "enabled" || last[0].Detail[audit.DetailNew+"operationalState"] != "disabled" {
		t.Errorf("of that the log has %+v, %v", last, err)
	}
	if _, err := s.Modify(ctx, alice, ref, catalog.PackageUpdate{Enabled: &off}); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("disabling twice = %v, want ErrConflict", err)
	}
	if _, err := s.Use(ctx, alice, "vnfd-1"); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("using a disabled package = %v, want ErrConflict", err)
	}
	if held, err := s.Held(ctx, ref.ID); err != nil || held.VNFD.ID != "vnfd-1" {
		t.Errorf("Held of a disabled package = %v, %v", held.VNFD.ID, err)
	}
	if p, err = s.Modify(ctx, alice, ref, catalog.PackageUpdate{Enabled: &on}); err != nil || p.State != catalog.Enabled {
		t.Errorf("enabling = %v, %v", p.State, err)
	}
	if _, err = s.Modify(ctx, alice, ref, catalog.PackageUpdate{Enabled: &off, UserData: func(string) (string, error) { return `{"stage":"test"}`, nil }}); err != nil {
		t.Errorf("Modify = %v", err)
	}
	if err := s.Delete(ctx, alice, ref); err != nil {
		t.Errorf("Delete = %v", err)
	}
	if n := s.stored(t, p.Content); n != 0 {
		t.Errorf("%d chunks are left of a deleted package", n)
	}
	if _, err := s.Package(ctx, alice, ref); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a deleted package = %v, want ErrNotFound", err)
	}
}

// TestForeignIsNotFound: what another project has is as if it were not there.
func TestForeignIsNotFound(t *testing.T) {
	s := set(t, nil)
	ctx := t.Context()
	p := s.onboard(t, alice, "vnfd-1")
	off := false
	for what, try := range map[string]func(ref catalog.PackageRef) error{
		"show": func(ref catalog.PackageRef) error { _, err := s.Package(ctx, bob, ref); return err },
		"read": func(ref catalog.PackageRef) error { _, err := s.Read(ctx, bob, ref); return err },
		"upload": func(ref catalog.PackageRef) error {
			_, err := s.Upload(ctx, bob, ref, strings.NewReader("x"))
			return err
		},
		"modify": func(ref catalog.PackageRef) error {
			_, err := s.Modify(ctx, bob, ref, catalog.PackageUpdate{Enabled: &off})
			return err
		},
		"delete": func(ref catalog.PackageRef) error { return s.Delete(ctx, bob, ref) },
		"use":    func(catalog.PackageRef) error { _, err := s.Use(ctx, bob, p.VNFDID); return err },
	} {
		foreign, missing := try(catalog.PackageRef{ID: p.ID}), try(catalog.PackageRef{ID: "a91e9a64-9f57-4a1e-9f10-2f8f0a2f1c11"})
		if !errors.Is(foreign, broker.ErrNotFound) || foreign.Error() != missing.Error() {
			t.Errorf("%s of a foreign package = %v, of none = %v, want the same ErrNotFound", what, foreign, missing)
		}
	}
	if err := func() error { _, err := s.Package(ctx, bob, catalog.PackageRef{VNFD: p.VNFDID}); return err }(); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("by its VNFD = %v, want ErrNotFound", err)
	}
	found, _, err := s.Packages(ctx, bob, catalog.Query{})
	if err != nil || len(found) != 0 {
		t.Errorf("bob lists %d packages, %v", len(found), err)
	}
	if _, err := s.Upload(ctx, reader, catalog.PackageRef{ID: p.ID}, strings.NewReader("x")); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a reader's upload = %v, want ErrDenied", err)
	}
	if _, err := s.Use(ctx, reader, p.VNFDID); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a reader's use = %v, want ErrDenied", err)
	}
	if again := s.onboard(t, bob, "vnfd-1"); again.Project != "ran" {
		t.Errorf("the VNFD in another project: %+v", again)
	}
}

// TestFailedUploadsLeaveNothing: whatever ends an upload, the package waits for the next.
func TestFailedUploadsLeaveNothing(t *testing.T) {
	large := make([]byte, 3<<20)
	for what, c := range map[string]struct {
		content io.Reader
		change  func(*catalog.Options)
		want    error
		text    string
	}{
		"no archive":     {content: strings.NewReader("kind: Secret\npassword: " + canary), want: broker.ErrInvalid, text: "is not a ZIP archive"},
		"no bytes":       {content: strings.NewReader(""), want: broker.ErrInvalid, text: "is not a ZIP archive"},
		"cut off":        {content: io.MultiReader(bytes.NewReader(large), iotest.ErrReader(io.ErrNoProgress)), want: io.ErrNoProgress},
		"half a package": {content: bytes.NewReader(packed(t, "vnfd-1")[:300]), want: broker.ErrInvalid, text: "it was cut off"},
		"too large": {
			content: bytes.NewReader(large), want: broker.ErrInvalid, text: "more than 2097152 bytes",
			change: func(o *catalog.Options) { o.Terms.MaxSize = 2 << 20 },
		},
		"over the quota": {
			content: bytes.NewReader(large), want: broker.ErrQuota,
			change: func(o *catalog.Options) { o.Terms.BytesPerProject = 2 << 20 },
		},
		"a policy that knows the provider": {
			content: bytes.NewReader(packed(t, "vnfd-1")), want: broker.ErrDenied,
			change: func(o *catalog.Options) {
				policies, err := policy.Load(map[string][]byte{"site.cedar": []byte(
					`@id("no-acme") forbid (principal, action == Action::"package:upload", resource is Package) when { resource.provider == "Acme" };`)})
				if err != nil {
					t.Fatal(err)
				}
				o.Guard.Policy = policies
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := set(t, c.change)
			ref := s.create(t, alice)
			names := []string{}
			_, err := s.Upload(t.Context(), alice, ref, watched{c.content, func() {
				if p, err := s.store.Package(t.Context(), ref.ID); err == nil && !slices.Contains(names, p.Content) {
					names = append(names, p.Content)
				}
			}})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), canary) {
				t.Fatalf("Upload = %v, want %v: %s", err, c.want, c.text)
			}
			p, err := s.Package(t.Context(), alice, ref)
			if err != nil || p.State != catalog.Created || p.Content != "" || p.VNFDID != "" || p.UserData != `{"stage":"prod"}` {
				t.Errorf("afterwards the package is %+v, %v", p, err)
			}
			if len(names) != 1 || s.stored(t, names[0]) != 0 {
				t.Errorf("of the contents %v chunks are left", names)
			}
			last, err := s.store.Entries(t.Context(), audit.Query{Resource: ref.ID, Outcomes: []audit.Outcome{audit.Failed, audit.Done}, Limit: 1})
			if err != nil || len(last) != 1 || last[0].Outcome != audit.Failed {
				t.Errorf("the audit log ends with %+v, %v, want that it failed", last, err)
			}
		})
	}
}

// watched calls see at each read.
type watched struct {
	io.Reader
	see func()
}

func (w watched) Read(p []byte) (int, error) {
	w.see()
	return w.Reader.Read(p)
}

// TestRepeatedUpload: after one that failed the same content is taken.
func TestRepeatedUpload(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	content := packed(t, "vnfd-1")
	if _, err := s.Upload(t.Context(), alice, ref, io.MultiReader(bytes.NewReader(content[:100]), iotest.ErrReader(io.ErrUnexpectedEOF))); err == nil {
		t.Fatal("an upload that was cut off succeeded")
	}
	if p, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(content)); err != nil || p.State != catalog.Enabled {
		t.Fatalf("the repeated upload = %v, %v", p.State, err)
	}
	if _, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(content)); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "the package has its content already") {
		t.Errorf("another content for the package = %v, want ErrConflict", err)
	}
	other := s.create(t, alice)
	var taken *broker.Error
	if _, err := s.Upload(t.Context(), alice, other, bytes.NewReader(content)); !errors.As(err, &taken) || !errors.Is(err, broker.ErrExists) || taken.Field != "vnfdId" {
		t.Errorf("the same VNFD again = %v, want ErrExists about vnfdId", err)
	}
	if p, err := s.Package(t.Context(), alice, other); err != nil || p.State != catalog.Created {
		t.Errorf("afterwards the package is %v, %v", p.State, err)
	}
}

// TestTwoUploadsAtOnce: one package is filled by one upload; the other is refused at once.
func TestTwoUploadsAtOnce(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	content := packed(t, "vnfd-1")
	pipe, feed := io.Pipe()
	var first error
	var wait sync.WaitGroup
	wait.Go(func() { _, first = s.Upload(t.Context(), alice, ref, pipe) })
	if _, err := feed.Write(content[:1]); err != nil { // taken by the first upload, which has begun
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(content)); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("the second upload = %v, want ErrConflict", err)
	}

	// The first falls silent; the next upload takes over, and what the first sends is nothing.
	s.clock.Add(catalog.Abandoned + time.Second)
	if p, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(content)); err != nil || p.State != catalog.Enabled {
		t.Errorf("the upload that takes over = %v, %v", p.State, err)
	}
	_, _ = feed.Write(content[1:])
	_ = feed.Close()
	wait.Wait()
	if !errors.Is(first, broker.ErrConflict) {
		t.Errorf("the upload that was overtaken = %v, want ErrConflict", first)
	}
	if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != catalog.Enabled || s.stored(t, p.Content) != 1 {
		t.Errorf("in the end the package is %v, %v", p.State, err)
	}
}

// TestSettle: an upload whose process ended is undone, and one that is alive is not.
func TestSettle(t *testing.T) {
	s := set(t, nil)
	ctx := t.Context()
	dead, alive := s.create(t, alice), s.create(t, alice)
	for _, u := range []struct {
		ref     catalog.PackageRef
		touched time.Time
	}{{dead, s.clock.Now().Add(-catalog.Abandoned)}, {alive, s.clock.Now()}} {
		_, err := s.store.UpdatePackage(ctx, u.ref.ID, func(p *catalog.Package) error {
			p.State, p.Content, p.TouchedAt = catalog.Uploading, "content-"+u.ref.ID, u.touched
			return nil
		}, audit.Entry{Time: s.clock.Now(), Outcome: audit.Intent})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.store.AddChunk(ctx, u.ref.ID, "content-"+u.ref.ID, 0, []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	passes := s.Passes()
	if len(passes) != 1 {
		t.Fatalf("there are %d passes", len(passes))
	}
	if err := passes[0].Run(ctx); err != nil {
		t.Fatalf("the pass = %v", err)
	}
	for ref, want := range map[catalog.PackageRef]struct {
		state  catalog.State
		chunks int
	}{dead: {catalog.Created, 0}, alive: {catalog.Uploading, 1}} {
		p, err := s.Package(ctx, alice, ref)
		if n := s.stored(t, "content-"+ref.ID); err != nil || p.State != want.state || n != want.chunks {
			t.Errorf("the package is %s with %d chunks, %v, want %s with %d", p.State, n, err, want.state, want.chunks)
		}
	}
}

// TestLostAuditLog: without its record nothing happens.
func TestLostAuditLog(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), alice, ""); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Create = %v, want ErrUnavailable", err)
	}
	if _, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(packed(t, "v"))); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Upload = %v, want ErrUnavailable", err)
	}
}

// TestScriptsAreNotRun: a package that brings code is kept, and no instance is made from it.
func TestScriptsAreNotRun(t *testing.T) {
	s := set(t, nil)
	p, err := s.Upload(t.Context(), alice, s.create(t, alice), bytes.NewReader(scripted(t)))
	if err != nil {
		t.Fatalf("Upload = %v", err)
	}
	_, err = s.Use(t.Context(), alice, p.VNFDID)
	if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "instantiate_start of the interface Vnflcm") {
		t.Errorf("Use = %v, want ErrUnsupported with the operation", err)
	}
}

// TestWarnings: what seems wrong in a package is kept with it, and a check that cannot be made fails the upload.
func TestWarnings(t *testing.T) {
	var fails error
	s := set(t, func(o *catalog.Options) {
		o.Warn = func(of catalog.Opened) ([]string, error) {
			return []string{of.VNFDID + " seems odd"}, fails
		}
	})
	ref := s.create(t, alice)
	if _, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(packed(t, "web-1"))); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Package(t.Context(), alice, ref); err != nil || !slices.Equal(got.Warnings, []string{"web-1 seems odd"}) {
		t.Errorf("Package() has %q, %v", got.Warnings, err)
	}
	fails = errors.New("the disk is gone")
	if _, err := s.Upload(t.Context(), alice, s.create(t, alice), bytes.NewReader(packed(t, "web-2"))); !errors.Is(err, fails) {
		t.Errorf("Upload() = %v, want %v", err, fails)
	}
}
