package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Packages checks the contract of [catalog.Store]. open returns an empty store, and sees
// to its end.
func Packages(t *testing.T, open func(t *testing.T) catalog.Store) {
	check := func(name string, f func(*testing.T, catalog.Store)) {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
	check("Rows", packageRows)
	check("List", packageLists)
	check("Moves", packageMoves)
	check("Chunks", packageChunks)
	check("Quota", packageQuotas)
	check("Race", packageRaces)
	check("Count", packageCounts)
}

// fullPackage has every field set, so that one that a store forgets shows.
func fullPackage(project string, created time.Time) catalog.Package {
	id := uuid.NewString()
	return catalog.Package{
		ID: id, Project: project, State: catalog.Created, UserData: `{"stage":"prod","n":{"deep":[1]}}`,
		VNFDID: "vnfd-" + id, Provider: "Acme \"é\"", ProductName: "web", SoftwareVersion: "1.0", VNFDVersion: "2.0",
		VNFMInfo: []string{"vimbroker"}, Entry: "Definitions/top.yaml", Manifest: "top.mf",
		Artifacts: []vnfpkg.Artifact{{Path: "Files/kubernetes/a.yaml", ContentType: "text/yaml", Algorithm: "SHA-256", Hash: "ab"}},
		Size:      3 << 30, SHA256: "cd", SHA512: "ef",
		CreatedBy: "alice", CreatedAt: created, UpdatedAt: created.Add(time.Second), OnboardedAt: created.Add(2 * time.Second),
		TouchedAt: created.Add(3 * time.Second), Revision: 1,
	}
}

// emptyPackage is one that waits for its content.
func emptyPackage(project string) catalog.Package {
	return catalog.Package{ID: uuid.NewString(), Project: project, State: catalog.Created, CreatedBy: "alice", CreatedAt: epoch}
}

func createPackage(t *testing.T, s catalog.Store, p catalog.Package) {
	t.Helper()
	if err := s.CreatePackage(t.Context(), p, 0, entry("create-"+p.ID)); err != nil {
		t.Fatalf("CreatePackage(%s) = %v", p.ID, err)
	}
}

// movePackage sets a package's state and content.
func movePackage(t *testing.T, s catalog.Store, id string, state catalog.State, content string) (catalog.Package, error) {
	t.Helper()
	return s.UpdatePackage(t.Context(), id, func(p *catalog.Package) error {
		p.State, p.Content = state, content
		if state.Onboarded() && p.VNFDID == "" {
			p.VNFDID = "vnfd-" + id
		}
		return nil
	}, entry("move-"+id))
}

func packageRows(t *testing.T, s catalog.Store) {
	ctx := t.Context()
	want := fullPackage("north", epoch)
	createPackage(t, s, want)
	got, err := s.Package(ctx, want.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Package = %v, differs:\n%s", err, diff)
	}
	if got, err = s.PackageOfVNFD(ctx, "north", want.VNFDID); err != nil || got.ID != want.ID {
		t.Errorf("PackageOfVNFD = %s, %v, want %s", got.ID, err, want.ID)
	}
	for what, read := range map[string]func() (catalog.Package, error){
		"another project's": func() (catalog.Package, error) { return s.PackageOfVNFD(ctx, "south", want.VNFDID) },
		"no VNFD":           func() (catalog.Package, error) { return s.PackageOfVNFD(ctx, "north", "") },
		"no id":             func() (catalog.Package, error) { return s.Package(ctx, uuid.NewString()) },
		"an update of none": func() (catalog.Package, error) { return movePackage(t, s, uuid.NewString(), catalog.Uploading, "x") },
	} {
		if p, err := read(); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s: found %s, %v, want ErrNotFound", what, p.ID, err)
		}
	}

	// What an update may change, and what it may not.
	changed := fullPackage("north", epoch.Add(time.Hour))
	changed.State, changed.Content, changed.VNFMInfo = catalog.Uploading, "bytes", []string{"a", "b"}
	stored, err := s.UpdatePackage(ctx, want.ID, func(p *catalog.Package) error {
		*p = changed
		p.Project, p.CreatedBy, p.Revision, p.InUse = "south", "eve", 99, true
		return nil
	}, entry("update"))
	if err != nil {
		t.Fatalf("UpdatePackage = %v", err)
	}
	changed.ID, changed.Project, changed.CreatedBy, changed.CreatedAt, changed.Revision = want.ID, "north", "alice", epoch, 2
	if diff := cmp.Diff(changed, stored); diff != "" {
		t.Errorf("UpdatePackage answers:\n%s", diff)
	}
	if got, err = s.Package(ctx, want.ID); err != nil || !cmp.Equal(got, changed) {
		t.Errorf("Package after the update = %v, differs:\n%s", err, cmp.Diff(changed, got))
	}
	refusal := errors.New("no")
	if _, err := s.UpdatePackage(ctx, want.ID, func(p *catalog.Package) error { p.UserData = "{}"; return refusal }, entry("refused")); err != refusal { //nolint:errorlint // as it is
		t.Errorf("UpdatePackage = %v, want the change's own error", err)
	}
	if got, err = s.Package(ctx, want.ID); err != nil || !cmp.Equal(got, changed) {
		t.Errorf("a refused update changed something: %v\n%s", err, cmp.Diff(changed, got))
	}

	// A VNFD once in a project.
	other := emptyPackage("north")
	createPackage(t, s, other)
	_, err = s.UpdatePackage(ctx, other.ID, func(p *catalog.Package) error { p.VNFDID = changed.VNFDID; return nil }, entry("taken"))
	var taken *broker.Error
	if !errors.As(err, &taken) || !errors.Is(err, broker.ErrExists) || taken.Field != "vnfdId" {
		t.Errorf("a second package with a VNFD = %v, want ErrExists about vnfdId", err)
	}
	foreign := emptyPackage("south")
	createPackage(t, s, foreign)
	if _, err = s.UpdatePackage(ctx, foreign.ID, func(p *catalog.Package) error { p.VNFDID = changed.VNFDID; return nil }, entry("elsewhere")); err != nil {
		t.Errorf("the same VNFD in another project = %v", err)
	}

	before := entriesOf(t, s)
	for range 2 { // the second finds nothing, and writes nothing
		if err := s.DeletePackage(ctx, want.ID, entry("delete")); err != nil {
			t.Errorf("DeletePackage = %v", err)
		}
	}
	if n := entriesOf(t, s) - before; n != 1 {
		t.Errorf("deleting twice wrote %d entries, want 1", n)
	}
	if _, err := s.Package(ctx, want.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a deleted package: %v, want ErrNotFound", err)
	}
}

// entriesOf counts what the audit log holds.
func entriesOf(t *testing.T, s catalog.Store) int {
	t.Helper()
	all, err := s.Entries(t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func packageLists(t *testing.T, s catalog.Store) {
	ctx := t.Context()
	var north []string
	for i := range 5 {
		p := emptyPackage("north")
		p.CreatedAt = epoch.Add(time.Duration(i/2) * time.Second) // some of the same age
		createPackage(t, s, p)
		north = append(north, p.ID)
		if i == 3 {
			for _, state := range []catalog.State{catalog.Uploading, catalog.Processing, catalog.Enabled} {
				if _, err := movePackage(t, s, p.ID, state, "c-"+p.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	createPackage(t, s, emptyPackage("south"))
	silent := emptyPackage("south")
	silent.CreatedAt = epoch.Add(time.Hour)
	createPackage(t, s, silent)
	if _, err := s.UpdatePackage(ctx, silent.ID, func(p *catalog.Package) error {
		p.State, p.Content, p.TouchedAt = catalog.Uploading, "silent", epoch
		return nil
	}, entry("silent")); err != nil {
		t.Fatal(err)
	}

	list := func(f catalog.Filter) (ids []string) {
		t.Helper()
		for pages := 0; ; pages++ {
			found, next, err := s.Packages(ctx, f)
			if err != nil || len(found) > f.Size {
				t.Fatalf("Packages(%+v) = %d packages, %v", f, len(found), err)
			}
			for _, p := range found {
				ids = append(ids, p.ID)
			}
			if next == "" || pages > 20 {
				return ids
			}
			f.Token = next
		}
	}
	for size := 1; size <= 8; size++ {
		page := broker.Page{Size: size}
		all := list(catalog.Filter{Project: "north", Page: page})
		if len(all) != len(north) {
			t.Fatalf("pages of %d list %d of %d packages", size, len(all), len(north))
		}
		seen := map[string]bool{}
		for _, id := range all {
			seen[id] = true
		}
		if len(seen) != len(north) || all[4] != north[4] {
			t.Errorf("pages of %d list %v, want each of %v once and the youngest last", size, all, north)
		}
		if n := len(list(catalog.Filter{Page: page})); n != 7 {
			t.Errorf("all projects have %d packages, want 7", n)
		}
	}
	page := broker.Page{Size: 10}
	for _, c := range []struct {
		f    catalog.Filter
		want string
	}{
		{catalog.Filter{Onboarded: true}, north[3]},
		{catalog.Filter{Onboarded: true, Project: "north"}, north[3]},
		{catalog.Filter{VNFD: "vnfd-" + north[3], Project: "north"}, north[3]},
		{catalog.Filter{SilentSince: epoch}, silent.ID},
	} {
		c.f.Page = page
		if got := list(c.f); len(got) != 1 || got[0] != c.want {
			t.Errorf("Packages(%+v) = %v, want %s", c.f, got, c.want)
		}
	}
	if got := list(catalog.Filter{VNFD: "vnfd-" + north[3], Page: page}); len(got) != 1 {
		t.Errorf("by VNFD there are %v", got)
	}
	if got := list(catalog.Filter{SilentSince: epoch.Add(-time.Second), Page: page}); len(got) != 0 {
		t.Errorf("before it fell silent there are %v", got)
	}
	if _, _, err := s.Packages(ctx, catalog.Filter{Page: broker.Page{Size: 1, Token: "forged"}}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a forged page token = %v, want ErrInvalid", err)
	}
}

// packageMoves tries every move: the store refuses what the table does not list.
func packageMoves(t *testing.T, s catalog.Store) {
	states := []catalog.State{catalog.Created, catalog.Uploading, catalog.Processing, catalog.Enabled, catalog.Disabled}
	for _, from := range states {
		for _, to := range states {
			p := emptyPackage("north")
			createPackage(t, s, p)
			for _, step := range states[1:] { // in the order of the table
				if from == catalog.Created {
					break
				}
				if _, err := movePackage(t, s, p.ID, step, "c-"+p.ID); err != nil {
					t.Fatalf("%s = %v", step, err)
				}
				if step == from {
					break
				}
			}
			content := "c-" + p.ID
			if to == catalog.Created {
				content = ""
			}
			_, err := movePackage(t, s, p.ID, to, content)
			if may := from == to || from.CanMove(to); may && err != nil || !may && !errors.Is(err, broker.ErrConflict) {
				t.Errorf("%s -> %s = %v, want %v", from, to, err, may)
			}
		}
	}
	enabled := emptyPackage("south")
	createPackage(t, s, enabled)
	for _, step := range states[1:4] {
		if _, err := movePackage(t, s, enabled.ID, step, "c"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeletePackage(t.Context(), enabled.ID, entry("enabled")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("deleting an enabled package = %v, want ErrConflict", err)
	}
}

// packageCounts counts the packages of all projects.
func packageCounts(t *testing.T, s catalog.Store) {
	if c, err := s.CountPackages(t.Context()); err != nil || len(c) != 0 {
		t.Errorf("CountPackages of none = %+v, %v", c, err)
	}
	for _, project := range []string{"north", "south", "south"} {
		p := emptyPackage(project)
		createPackage(t, s, p)
		if project != "south" {
			continue
		}
		if _, err := movePackage(t, s, p.ID, catalog.Uploading, "c-"+p.ID); err != nil {
			t.Fatal(err)
		}
	}
	c, err := s.CountPackages(t.Context())
	if diff := cmp.Diff(map[catalog.State]int{catalog.Created: 1, catalog.Uploading: 2}, c); err != nil || diff != "" {
		t.Errorf("CountPackages = %v (-want +got):\n%s", err, diff)
	}
}

func packageChunks(t *testing.T, s catalog.Store) {
	ctx := t.Context()
	p := emptyPackage("north")
	createPackage(t, s, p)
	if err := s.AddChunk(ctx, p.ID, "one", 0, []byte("x"), 0); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("bytes that no upload sends = %v, want ErrConflict", err)
	}
	if _, err := movePackage(t, s, p.ID, catalog.Uploading, "one"); err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte{0, 1, 2, 255}, 256<<10)
	for n, b := range [][]byte{large, []byte("\x00end")} {
		if err := s.AddChunk(ctx, p.ID, "one", n, b, 0); err != nil {
			t.Fatalf("AddChunk %d = %v", n, err)
		}
		if got, err := s.Chunk(ctx, "one", n); err != nil || !bytes.Equal(got, b) {
			t.Errorf("Chunk %d = %d bytes, %v, want %d", n, len(got), err, len(b))
		}
	}
	if _, err := s.Chunk(ctx, "one", 2); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a chunk that is not there = %v, want ErrNotFound", err)
	}
	if err := s.AddChunk(ctx, uuid.NewString(), "one", 2, []byte("x"), 0); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a chunk of a package that is not there = %v", err)
	}
	if err := s.AddChunk(ctx, p.ID, "other", 2, []byte("x"), 0); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("bytes of another upload = %v, want ErrConflict", err)
	}
	at := epoch.Add(time.Hour)
	if err := s.TouchPackage(ctx, p.ID, "one", at); err != nil {
		t.Errorf("TouchPackage = %v", err)
	}
	if got, err := s.Package(ctx, p.ID); err != nil || !got.TouchedAt.Equal(at) || got.Revision != 2 {
		t.Errorf("touched: %v at revision %d, %v", got.TouchedAt, got.Revision, err)
	}
	if err := s.TouchPackage(ctx, p.ID, "other", at); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("touching by another upload = %v, want ErrConflict", err)
	}
	for _, state := range []catalog.State{catalog.Processing, catalog.Uploading} { // alive as long as it is under way
		at = at.Add(time.Hour)
		if _, err := movePackage(t, s, p.ID, state, "one"); err != nil {
			t.Fatal(err)
		}
		if err := s.TouchPackage(ctx, p.ID, "one", at); err != nil {
			t.Errorf("TouchPackage while it is %s = %v", state, err)
		}
		if got, err := s.Package(ctx, p.ID); err != nil || !got.TouchedAt.Equal(at) {
			t.Errorf("touched while it is %s: %v, %v", state, got.TouchedAt, err)
		}
	}
	sweep := func() {
		t.Helper()
		for range 10 {
			more, err := s.SweepChunks(ctx, 1)
			if err != nil {
				t.Fatalf("SweepChunks = %v", err)
			}
			if !more {
				return
			}
		}
		t.Error("sweeping does not end")
	}
	left := func(content string, want int) {
		t.Helper()
		for n := range 2 {
			if _, err := s.Chunk(ctx, content, n); (err == nil) != (n < want) {
				t.Errorf("chunk %d of %s = %v, want that %d are there", n, content, err, want)
			}
		}
	}
	sweep()
	left("one", 2)
	if _, err := movePackage(t, s, p.ID, catalog.Created, ""); err != nil {
		t.Fatal(err)
	}
	sweep()
	left("one", 0)
	if err := s.TouchPackage(ctx, p.ID, "", at); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("touching what waits for no bytes = %v, want ErrConflict", err)
	}
	if _, err := movePackage(t, s, p.ID, catalog.Uploading, "two"); err != nil {
		t.Fatal(err)
	}
	if err := s.AddChunk(ctx, p.ID, "two", 0, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.DeletePackage(ctx, p.ID, entry("delete")); err != nil {
		t.Errorf("deleting while bytes come = %v", err)
	}
	left("two", 1)
	sweep()
	left("two", 0)
}

func packageQuotas(t *testing.T, s catalog.Store) {
	ctx := t.Context()
	for i := range 3 {
		err := s.CreatePackage(ctx, emptyPackage("north"), 2, entry(fmt.Sprint("quota", i)))
		if i < 2 && err != nil || i == 2 && !errors.Is(err, broker.ErrQuota) {
			t.Errorf("package %d of 2 = %v", i+1, err)
		}
	}
	if err := s.CreatePackage(ctx, emptyPackage("south"), 2, entry("south")); err != nil {
		t.Errorf("another project's = %v", err)
	}
	uploading := func(content string) string {
		p := emptyPackage("east")
		createPackage(t, s, p)
		if _, err := movePackage(t, s, p.ID, catalog.Uploading, content); err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	a, b := uploading("a"), uploading("b")
	for n, c := range []struct {
		id, content string
		size        int
		fits        bool
	}{{a, "a", 6, true}, {b, "b", 5, false}, {b, "b", 4, true}, {a, "a", 1, false}} {
		err := s.AddChunk(ctx, c.id, c.content, n, make([]byte, c.size), 10)
		if c.fits && err != nil || !c.fits && !errors.Is(err, broker.ErrQuota) {
			t.Errorf("%d bytes of %s, of 10 in all = %v, want that they fit: %v", c.size, c.content, err, c.fits)
		}
	}
	if _, err := movePackage(t, s, a, catalog.Created, ""); err != nil { // its bytes count no more
		t.Fatal(err)
	}
	if err := s.AddChunk(ctx, b, "b", 9, make([]byte, 6), 10); err != nil {
		t.Errorf("after an upload was undone = %v", err)
	}
}

// packageRaces begins many uploads at once: one gets the package. Quotas hold, too.
func packageRaces(t *testing.T, s catalog.Store) {
	ctx := t.Context()
	p := emptyPackage("north")
	createPackage(t, s, p)
	const writers = 8
	var wait sync.WaitGroup
	results := make([]error, writers)
	busy := errors.New("busy")
	for i := range writers {
		wait.Go(func() {
			_, results[i] = s.UpdatePackage(ctx, p.ID, func(now *catalog.Package) error {
				if now.State != catalog.Created {
					return busy
				}
				now.State, now.Content = catalog.Uploading, fmt.Sprint("c", i)
				return nil
			}, entry(fmt.Sprint("race", i)))
		})
	}
	wait.Wait()
	began := 0
	for _, err := range results {
		switch {
		case err == nil:
			began++
		case !errors.Is(err, busy):
			t.Errorf("an upload that was late = %v", err)
		}
	}
	if began != 1 {
		t.Errorf("%d uploads began, want 1", began)
	}
	made := make([]error, writers)
	for i := range writers {
		wait.Go(func() { made[i] = s.CreatePackage(ctx, emptyPackage("south"), 3, entry(fmt.Sprint("made", i))) })
	}
	wait.Wait()
	n := 0
	for _, err := range made {
		if err == nil {
			n++
		} else if !errors.Is(err, broker.ErrQuota) {
			t.Errorf("CreatePackage = %v", err)
		}
	}
	if n != 3 {
		t.Errorf("%d packages were made of 3 that there may be", n)
	}
}
