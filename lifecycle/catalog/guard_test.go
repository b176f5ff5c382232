package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// under has a catalogue decide by a site's policy too.
func under(t *testing.T, site string) func(*catalog.Options) {
	t.Helper()
	policies, err := policy.Load(map[string][]byte{"site.cedar": []byte(site)})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *catalog.Options) { o.Guard.Policy = policies }
}

// feed begins an upload of a package and returns once it has taken the first byte of its content.
func (s *scene) feed(t *testing.T, ref catalog.PackageRef, content []byte) (rest *io.PipeWriter, ended <-chan error) {
	t.Helper()
	pipe, feed := io.Pipe()
	end := make(chan error, 1)
	go func() {
		_, err := s.Upload(t.Context(), alice, ref, pipe)
		_ = pipe.CloseWithError(io.ErrClosedPipe)
		end <- err
	}()
	if _, err := feed.Write(content[:1]); err != nil {
		t.Fatal(err)
	}
	return feed, end
}

// TestAnUploadThatWasOvertakenUndoesNothing: it fails while the one that took over is under way.
func TestAnUploadThatWasOvertakenUndoesNothing(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	content := packed(t, "vnfd-1")
	overtaken, first := s.feed(t, ref, content)
	s.clock.Add(2 * catalog.Abandoned)
	rest, second := s.feed(t, ref, content)
	_ = overtaken.CloseWithError(io.ErrNoProgress)
	if err := <-first; !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("the upload that was overtaken = %v", err)
	}
	if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != catalog.Uploading {
		t.Errorf("after it the package is %s, %v, want the other upload under way", p.State, err)
	}
	_, _ = rest.Write(content[1:])
	_ = rest.Close()
	if err := <-second; err != nil {
		t.Errorf("the upload that took over = %v", err)
	}
	if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != catalog.Enabled {
		t.Errorf("in the end the package is %s, %v", p.State, err)
	}
}

// TestWhatIsWrittenDuringAnUploadStays: user data is its owner's, whatever the content is.
func TestWhatIsWrittenDuringAnUploadStays(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	content := packed(t, "vnfd-1")
	rest, ended := s.feed(t, ref, content)
	const meanwhile = `{"stage":"meanwhile"}`
	if _, err := s.Modify(t.Context(), alice, ref, catalog.PackageUpdate{UserData: func(string) (string, error) { return meanwhile, nil }}); err != nil {
		t.Fatal(err)
	}
	_, _ = rest.Write(content[1:])
	_ = rest.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != catalog.Enabled || p.UserData != meanwhile {
		t.Errorf("in the end the package is %s with user data %s, %v", p.State, p.UserData, err)
	}
}

// TestAnUploadIsUndoneAfterItsRequest: what a caller who went away has left is undone at once.
func TestAnUploadIsUndoneAfterItsRequest(t *testing.T) {
	s := set(t, nil)
	ref := s.create(t, alice)
	request, leave := context.WithCancel(t.Context())
	var content string
	_, err := s.Upload(request, alice, ref, io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), watched{strings.NewReader("more"), func() {
		p, err := s.store.Package(t.Context(), ref.ID)
		if content = p.Content; err != nil || s.stored(t, content) != 1 {
			t.Errorf("before the caller leaves the content %q is not there, %v", content, err)
		}
		leave()
	}}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Upload = %v, want context.Canceled", err)
	}
	if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != catalog.Created || s.stored(t, content) != 0 {
		t.Errorf("afterwards the package is %s with %d chunks, %v", p.State, s.stored(t, content), err)
	}
}

// meanwhile is a store that something else happens to before a package is written.
type meanwhile struct {
	catalog.Store

	do func()
}

// UpdatePackage implements [catalog.Store].
func (m *meanwhile) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Store.UpdatePackage(ctx, id, change, e)
}

// TestModifyDecidesOnWhatIsStored: what has changed since it was decided on is decided again, whatever is to change.
func TestModifyDecidesOnWhatIsStored(t *testing.T) {
	off := false
	mine := func(string) (string, error) { return `{"mine":"yes"}`, nil }
	for what, change := range map[string]catalog.PackageUpdate{"user data": {UserData: mine}, "state": {Enabled: &off}, "both": {UserData: mine, Enabled: &off}} {
		for stage, want := range map[string]error{"held": broker.ErrConflict, "free": nil} {
			at := time.Time{}
			store := &meanwhile{}
			site := under(t, `@id("held") forbid (principal, action == Action::"package:modify", resource is Package)
				when { resource.hasTag("stage") && resource.getTag("stage") == "held" };`)
			s := set(t, func(o *catalog.Options) {
				site(o)
				store.Store = o.Store
				o.Store = store
			})
			ref := catalog.PackageRef{ID: s.onboard(t, alice, "vnfd-1").ID}
			store.do = func() {
				s.clock.Add(time.Hour)
				at = s.clock.Now()
				stored := `{"stage":"` + stage + `"}`
				if _, err := s.Modify(t.Context(), alice, ref, catalog.PackageUpdate{UserData: func(string) (string, error) { return stored, nil }}); err != nil {
					t.Error(err)
				}
				if s.clock.Add(time.Hour); want == nil {
					at = s.clock.Now()
				}
			}
			if _, err := s.Modify(t.Context(), alice, ref, change); !errors.Is(err, want) {
				t.Errorf("Modify of the %s of what is %s meanwhile = %v, want %v", what, stage, err, want)
			}
			p, err := s.Package(t.Context(), alice, ref)
			if err != nil || !p.UpdatedAt.Equal(at) || (p.UserData == `{"mine":"yes"}`) != (want == nil && change.UserData != nil) ||
				(p.State == catalog.Disabled) != (want == nil && change.Enabled != nil) {
				t.Errorf("what is %s meanwhile is %s with user data %s at %v, %v, after a change of its %s", stage, p.State, p.UserData, p.UpdatedAt, err, what)
			}
		}
	}
}

// TestListsShowWhatMayBeShown: a policy that hides one package of a project hides it in lists too.
func TestListsShowWhatMayBeShown(t *testing.T) {
	s := set(t, under(t, `@id("hidden") forbid (principal, action == Action::"package:show", resource is Package)
		when { resource.provider == "Acme" };`))
	s.onboard(t, alice, "vnfd-1")
	seen := s.create(t, alice)
	found, _, err := s.Packages(t.Context(), alice, catalog.Query{})
	if err != nil || len(found) != 1 || found[0].ID != seen.ID {
		t.Errorf("Packages = %+v, %v, want %s alone", found, err, seen.ID)
	}
	s = set(t, nil)
	s.create(t, alice)
	one, other := s.onboard(t, alice, "vnfd-1"), s.onboard(t, alice, "vnfd-2")
	for of, q := range map[*catalog.Package]catalog.Query{nil: {Onboarded: true}, &one: {VNFD: "vnfd-1", Onboarded: true}, &other: {VNFD: "vnfd-2"}} {
		found, _, err := s.Packages(t.Context(), alice, q)
		if of == nil && len(found) != 2 || of != nil && (len(found) != 1 || found[0].ID != of.ID) || err != nil {
			t.Errorf("Packages by %+v = %d, %v", q, len(found), err)
		}
	}
}

// TestPackagesInUseStay: as long as there is an instance of them.
func TestPackagesInUseStay(t *testing.T) {
	s := set(t, nil)
	p, off := s.onboard(t, alice, "vnfd-1"), false
	ref := catalog.PackageRef{ID: p.ID}
	i := lifecycle.Instance{ID: "instance", Project: "core", State: lifecycle.NotInstantiated, CreatedAt: s.clock.Now(), Shape: lifecycle.Shape{Package: p.ID}}
	if err := s.store.CreateInstance(t.Context(), i, 0, audit.Entry{Time: s.clock.Now(), Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Modify(t.Context(), alice, ref, catalog.PackageUpdate{Enabled: &off}); err != nil || !p.InUse {
		t.Fatalf("Modify = %+v, %v, want a package in use", p, err)
	}
	if err := s.Delete(t.Context(), alice, ref); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "VNF instances were made from the package") {
		t.Errorf("Delete of a package in use = %v, want ErrConflict", err)
	}
	if n := s.stored(t, p.Content); n != 1 {
		t.Errorf("of its content there are %d chunks, want 1", n)
	}
}

// TestUserDataIsBounded: at 16 KiB.
func TestUserDataIsBounded(t *testing.T) {
	s := set(t, nil)
	data := func(size int) string { return `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)) + `"}` }
	most, more := data(16<<10), data(16<<10+1)
	p, err := s.Create(t.Context(), alice, most)
	if err != nil {
		t.Fatalf("Create with as much user data as there may be = %v", err)
	}
	var fault *broker.Error
	if _, err := s.Create(t.Context(), alice, more); !errors.As(err, &fault) || !errors.Is(err, broker.ErrInvalid) || fault.Field != "userDefinedData" {
		t.Errorf("Create with more = %v", err)
	}
	_, err = s.Modify(t.Context(), alice, catalog.PackageRef{ID: p.ID}, catalog.PackageUpdate{UserData: func(string) (string, error) { return more, nil }})
	if !errors.As(err, &fault) || !errors.Is(err, broker.ErrInvalid) || fault.Field != "userDefinedData" {
		t.Errorf("Modify with more = %v", err)
	}
	if p, err := s.Package(t.Context(), alice, catalog.PackageRef{ID: p.ID}); err != nil || p.UserData != most {
		t.Errorf("afterwards it has %d bytes of user data, %v", len(p.UserData), err)
	}
}

// TestManifestsAreBounded: those of one request together, at 64 MiB.
func TestManifestsAreBounded(t *testing.T) {
	s := set(t, nil)
	var b bytes.Buffer
	err := vnfpkg.Pack(&b, vnfpkg.Assembly{
		VNFDID: "large", Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "2.0",
		Manifests: []vnfpkg.ManifestFile{{Path: "large.yaml", Text: append([]byte("kind: Service\n#"), make([]byte, 8<<20-15)...)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), alice, s.create(t, alice), &b); err != nil {
		t.Fatal(err)
	}
	opened, err := s.Use(t.Context(), alice, "large")
	if err != nil {
		t.Fatal(err)
	}
	paths := slices.Repeat([]string{"Files/kubernetes/large.yaml"}, 9)
	if files, err := opened.Files(paths[:8]); err != nil || len(files) != 8 {
		t.Errorf("Files of eight times 8 MiB = %d files, %v", len(files), err)
	}
	if _, err := opened.Files(paths); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "more than 67108864 bytes") {
		t.Errorf("Files of nine times 8 MiB = %v, want ErrInvalid", err)
	}
}

// TestMovesOfPackages: these, and no others.
func TestMovesOfPackages(t *testing.T) {
	all := []catalog.State{catalog.Created, catalog.Uploading, catalog.Processing, catalog.Enabled, catalog.Disabled}
	moves := map[[2]catalog.State]bool{
		{catalog.Created, catalog.Uploading}:    true,
		{catalog.Uploading, catalog.Processing}: true,
		{catalog.Uploading, catalog.Created}:    true, // it failed
		{catalog.Processing, catalog.Enabled}:   true,
		{catalog.Processing, catalog.Created}:   true, // its content is none
		{catalog.Processing, catalog.Uploading}: true, // it was silent, and the next took over
		{catalog.Enabled, catalog.Disabled}:     true,
		{catalog.Disabled, catalog.Enabled}:     true,
	}
	for _, from := range all {
		for _, to := range all {
			if got, want := from.CanMove(to), moves[[2]catalog.State{from, to}]; got != want {
				t.Errorf("a package that is %s can become %s: %t, want %t", from, to, got, want)
			}
		}
	}
}

// TestUploadOfWholeChunks: as many bytes as there may be, of which no chunk is empty.
func TestUploadOfWholeChunks(t *testing.T) {
	const most = 1 << 20
	text := "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\nmetadata: {template_name: shop}\n#"
	for size, want := range map[int]error{most: nil, most + 1: broker.ErrInvalid} {
		s := set(t, func(o *catalog.Options) { o.Terms.MaxSize = most })
		ref := s.create(t, alice)
		p, err := s.Upload(t.Context(), alice, ref, strings.NewReader(text+strings.Repeat("x", size-len(text))))
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
		if want == nil && (p.Size != most || s.stored(t, p.Content) != 1) {
			t.Errorf("%d bytes are %d in %d chunks", size, p.Size, s.stored(t, p.Content))
		}
	}
}

// TestModifyRecordsWhatChanges: of user data, that they do.
func TestModifyRecordsWhatChanges(t *testing.T) {
	s := set(t, nil)
	p, off := s.onboard(t, alice, "vnfd-1"), false
	write := func(text string) func(string) (string, error) {
		return func(string) (string, error) { return text, nil }
	}
	for _, c := range []struct {
		name string
		to   catalog.PackageUpdate
		want map[string]string
	}{
		{"other data", catalog.PackageUpdate{UserData: write(`{"a":"b"}`)}, map[string]string{"new.userDefinedData": "changed"}},
		{"the same data", catalog.PackageUpdate{UserData: write(`{"a":"b"}`)}, map[string]string{}},
		{"both", catalog.PackageUpdate{UserData: write("{}"), Enabled: &off}, map[string]string{
			"new.userDefinedData": "changed", "old.operationalState": "enabled", "new.operationalState": "disabled",
		}},
	} {
		if _, err := s.Modify(t.Context(), alice, catalog.PackageRef{ID: p.ID}, c.to); err != nil {
			t.Fatal(err)
		}
		entries, err := s.store.Entries(t.Context(), audit.Query{Limit: 1})
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		said := map[string]string{}
		for name, value := range entries[0].Detail {
			if strings.HasPrefix(name, "new.") || strings.HasPrefix(name, "old.") {
				said[name] = value
			}
		}
		if !maps.Equal(said, c.want) {
			t.Errorf("%s: the entry says %v, want %v", c.name, entries[0].Detail, c.want)
		}
	}
}

// answerless is a store whose answer to a write is lost, after so many.
type answerless struct {
	catalog.Store

	before int
}

// UpdatePackage implements [catalog.Store].
func (a *answerless) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	p, err := a.Store.UpdatePackage(ctx, id, change, e)
	if a.before--; a.before == -1 {
		return catalog.Package{}, io.ErrNoProgress
	}
	return p, err
}

// TestAnUploadThatEndedIsNotUndone: not even where nobody was told that it had.
func TestAnUploadThatEndedIsNotUndone(t *testing.T) {
	for before, want := range map[int]catalog.State{1: catalog.Created, 2: catalog.Enabled} {
		s := set(t, func(o *catalog.Options) { o.Store = &answerless{o.Store, before} })
		ref := s.create(t, alice)
		if _, err := s.Upload(t.Context(), alice, ref, bytes.NewReader(packed(t, "vnfd-1"))); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("the answer to write %d is lost: %v", before, err)
		}
		if p, err := s.Package(t.Context(), alice, ref); err != nil || p.State != want || want == catalog.Enabled && s.stored(t, p.Content) != 1 {
			t.Errorf("the answer to write %d is lost: the package is %s, %v, want %s", before, p.State, err, want)
		}
	}
}
