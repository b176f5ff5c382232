package bundle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// TestDocumentsThatAreRefused are so with the field at fault; what is at a bound is kept, and shown as it was given.
func TestDocumentsThatAreRefused(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "rb", Version: "1"}))
	of := func(change func(*bundle.Profile)) bundle.Document {
		p := bundle.Profile{Definition: "rb", Version: "1", Name: "n", Release: "r", Namespace: "s"}
		change(&p)
		return p
	}
	bad := map[string]string{"a b": ""}
	for name, c := range map[string]struct {
		d     bundle.Document
		field string // empty: it is kept
	}{
		"name of 128":           {bundle.Definition{Name: strings.Repeat("n", 128), Version: "1"}, ""},
		"name of 129":           {bundle.Definition{Name: strings.Repeat("n", 129), Version: "1"}, "rb-name"},
		"name of 1":             {bundle.Definition{Name: "n", Version: "1"}, ""},
		"no name":               {bundle.Definition{Version: "1"}, "rb-name"},
		"no version":            {bundle.Definition{Name: "n"}, "rb-version"},
		"name with slash":       {bundle.Definition{Name: "a/b", Version: "1"}, "rb-name"},
		"chart with slash":      {bundle.Definition{Name: "n", Version: "2", Chart: "a/b"}, "chart-name"},
		"description of 4096":   {bundle.Definition{Name: "d", Version: "1", Description: strings.Repeat("d", 4096)}, ""},
		"description of 4097":   {bundle.Definition{Name: "d", Version: "2", Description: strings.Repeat("d", 4097)}, "description"},
		"lines, tabs, blanks":   {bundle.Definition{Name: "d", Version: "3", Description: "a\n\tb c"}, ""},
		"a control character":   {bundle.Definition{Name: "d", Version: "4", Description: "a\x1fb"}, "description"},
		"no Unicode":            {bundle.Definition{Name: "d", Version: "5", Description: "a\uFFFDb"}, "description"},
		"labels of definitions": {bundle.Definition{Name: "d", Version: "6", Labels: bad}, "labels"},
		"profile":               {of(func(*bundle.Profile) {}), ""},
		"profile's name":        {of(func(p *bundle.Profile) { p.Name = "" }), "profile-name"},
		"namespace of 63":       {of(func(p *bundle.Profile) { p.Name, p.Namespace = "n63", strings.Repeat("s", 63) }), ""},
		"namespace of 64":       {of(func(p *bundle.Profile) { p.Namespace = strings.Repeat("s", 64) }), "namespace"},
		"release of 53":         {of(func(p *bundle.Profile) { p.Name, p.Release = "r53", strings.Repeat("r", 53) }), ""},
		"release of 54":         {of(func(p *bundle.Profile) { p.Release = strings.Repeat("r", 54) }), "release-name"},
		"kubernetes-version":    {of(func(p *bundle.Profile) { p.Kubernetes = "\x00" }), "kubernetes-version"},
		"extra-resource-types":  {of(func(p *bundle.Profile) { p.Extra = make([]bundle.GVK, 200) }), "extra-resource-types"},
		"labels of profiles":    {of(func(p *bundle.Profile) { p.Labels = bad }), "labels"},
		"template":              {bundle.Template{Definition: "rb", Version: "1", Name: "t"}, ""},
		"template's name":       {bundle.Template{Definition: "rb", Version: "1"}, "template-name"},
		"template's text":       {bundle.Template{Definition: "rb", Version: "1", Name: "t", Description: "\x00"}, "description"},
		"template's chart":      {bundle.Template{Definition: "rb", Version: "1", Name: "t", Chart: "-"}, "chart-name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.Create(ctx, alice, c.d)
			if c.field != "" {
				wants(t, err, broker.ErrInvalid, c.field, "")
				wants(t, b.Update(ctx, alice, c.d), broker.ErrInvalid, c.field, "")
				return
			}
			b.ok(err)
			b.ok(b.Update(ctx, alice, c.d))
			switch d := c.d.(type) {
			case bundle.Definition:
				got, err := bundle.Show[bundle.Definition](ctx, b.Bundles, alice, d.Name+"/"+d.Version)
				b.ok(err)
				same(t, "the definition", got, d)
				usual, err := bundle.Show[bundle.Profile](ctx, b.Bundles, alice, d.Name+"/"+d.Version+"/default")
				b.ok(err)
				same(t, "its profile", usual, bundle.Profile{Definition: d.Name, Version: d.Version, Name: "default", Release: "default", Namespace: "default"})
			case bundle.Profile:
				got, err := bundle.Show[bundle.Profile](ctx, b.Bundles, alice, "rb/1/"+d.Name)
				b.ok(err)
				same(t, "the profile", got, d)
			}
		})
	}
}

// TestWhoMayDoWhatWithDefinitions: a reader only looks, and another project's are missing.
func TestWhoMayDoWhatWithDefinitions(t *testing.T) {
	b := newBench(t)
	b.define("front")
	ctx := t.Context()
	d, p := bundle.Definition{Name: "rb", Version: "1"}, bundle.Profile{Definition: "rb", Version: "1", Name: "q", Release: "r", Namespace: "s"}
	for name, do := range map[string]func(policy.Principal) error{
		"create a profile": func(who policy.Principal) error { return b.Create(ctx, who, p) },
		"update":           func(who policy.Principal) error { return b.Update(ctx, who, d) },
		"upload": func(who policy.Principal) error {
			return b.Upload(ctx, who, bundle.OfDefinition, "rb/1", chart("web"))
		},
		"delete":           func(who policy.Principal) error { return b.Delete(ctx, who, bundle.OfDefinition, "rb/1") },
		"delete a profile": func(who policy.Principal) error { return b.Delete(ctx, who, bundle.OfProfile, "rb/1/p") },
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, do(rita), broker.ErrDenied, "", "")
			wants(t, do(bob), broker.ErrNotFound, "", "no such ")
			back := b.store.failing("Bundle", 1)
			wants(t, do(alice), errDisk, "", "")
			back()
		})
	}
	wants(t, b.Create(ctx, rita, bundle.Definition{Name: "n", Version: "1"}), broker.ErrDenied, "", "")
	wants(t, b.Create(ctx, alice, d), broker.ErrExists, "", "")
	if got := b.entries(policy.PackageCreate); !slices.Contains(got, "failed") || !slices.Contains(got, "denied") {
		t.Errorf("creations were recorded as %v", got)
	}
	if _, err := bundle.Show[bundle.Definition](ctx, b.Bundles, rita, "rb/1"); err != nil {
		t.Errorf("a reader sees none: %v", err)
	}
	_, err := bundle.Show[bundle.Definition](ctx, b.Bundles, bob, "rb/1")
	wants(t, err, broker.ErrNotFound, "", "no such definition")
	for _, none := range []policy.Principal{bob, {Name: "nobody", Project: "core"}} {
		_, err = bundle.List[bundle.Profile](ctx, b.Bundles, none, "rb/1")
		wants(t, err, broker.ErrNotFound, "", "no such definition")
	}
	_, err = bundle.List[bundle.Definition](ctx, b.Bundles, policy.Principal{Name: "nobody", Project: "core"}, "rb")
	wants(t, err, broker.ErrDenied, "", "")
	back := b.store.failing("Append", 1)
	_, err = bundle.Show[bundle.Definition](ctx, b.Bundles, policy.Principal{Name: "ben", Project: "ran", Roles: bob.Roles}, "rb/1")
	wants(t, err, broker.ErrUnavailable, "", "")
	_, err = bundle.Show[bundle.Definition](ctx, b.Bundles, alice, "rb/1")
	wants(t, err, broker.ErrUnavailable, "", "")
	back()
}

// TestListsOfDefinitions have what is below a name, in pages of the store's.
func TestListsOfDefinitions(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	for _, v := range []string{"1", "2"} {
		b.ok(b.Create(ctx, alice, bundle.Definition{Name: "rb", Version: v}))
	}
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "rbx", Version: "1"}))
	all, err := bundle.List[bundle.Definition](ctx, b.Bundles, alice, "rb")
	b.ok(err)
	same(t, "the list", all, []bundle.Definition{{Name: "rb", Version: "1"}, {Name: "rb", Version: "2"}})
	var rows []bundle.Row
	for n := range 600 {
		r := bundle.Row{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Project: "core", Kind: bundle.OfTemplate, Name: fmt.Sprintf("rb/1/%04d", 999-n)}
		r.Claim, r.Document, r.State = r.ID, fmt.Sprintf(`{"template-name":"%04d"}`, 999-n), "active"
		rows = append(rows, r)
	}
	b.ok(b.store.Store.CreateBundles(ctx, rows, 0, act()))
	many, err := bundle.List[bundle.Template](ctx, b.Bundles, alice, "rb/1")
	b.ok(err)
	seen := map[string]bool{}
	for _, m := range many {
		seen[m.Name] = true
	}
	if len(many) != 600 || len(seen) != 600 || !slices.IsSortedFunc(many, func(a, b bundle.Template) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d are listed, %d of them once", len(many), len(seen))
	}
	b.spoil(bundle.OfTemplate, "rb/1/0500", func(string) string { return `[]` })
	many, err = bundle.List[bundle.Template](ctx, b.Bundles, alice, "rb/1")
	wants(t, err, broker.ErrUnavailable, "", "a stored configuration template cannot be read")
	if len(many) != 599 {
		t.Errorf("beside one that cannot be read %d are listed", len(many))
	}
	back := b.store.failing("Bundles", 2)
	many, err = bundle.List[bundle.Template](ctx, b.Bundles, alice, "rb/1")
	wants(t, err, errDisk, "", "")
	if back(); len(many) != 499 {
		t.Errorf("%d are listed of the page that was read", len(many))
	}
}

// TestContentOfDefinitions says which archives are charts.
func TestContentOfDefinitions(t *testing.T) {
	b := newBench(t, func(o *bundle.Options) { o.Limits = vnfpkg.ArchiveLimits{Entries: 4} })
	ctx := t.Context()
	for name, c := range map[string]struct {
		chart   string // the definition's
		content []byte
		says    string // empty: it is one
	}{
		"a chart":               {"", chart("web", "a"), ""},
		"of its name":           {"web", chart("web", "a"), ""},
		"of another":            {"www", chart("web", "a"), "another name than the definition's chart-name"},
		"nothing":               {"", archive("web/values.yaml", "a: b"), "holds 0 charts"},
		"a file of a like name": {"", archive("web/MyChart.yaml", "a: b"), "holds 0 charts"},
		"at the top":            {"", archive("Chart.yaml", "a: b"), "holds 0 charts"},
		"deeper":                {"", archive("a/web/Chart.yaml", "a: b"), "holds 0 charts"},
		"with one inside":       {"", archive("web/Chart.yaml", "a: b", "web/charts/db/Chart.yaml", "a: b"), ""},
		"two":                   {"", archive("web/Chart.yaml", "a: b", "db/Chart.yaml", "a: b"), "holds 2 charts"},
		"beside other files":    {"", archive("web/Chart.yaml", "a: b", "README", "a"), ""},
		"of no name":            {"", archive("w b/Chart.yaml", "a: b"), "must be 1 to 128 letters"},
		"no archive":            {"", []byte("a: b"), ""},
		"more than the limit":   {"", chart("web", "a", "b", "c", "d"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := bundle.Definition{Name: strings.ReplaceAll(name, " ", "-"), Version: "1", Chart: c.chart}
			at := d.Name + "/1"
			b.ok(b.Create(ctx, alice, d))
			err := b.Upload(ctx, alice, bundle.OfDefinition, at, c.content)
			if c.says != "" || name == "no archive" || name == "more than the limit" {
				wants(t, err, broker.ErrInvalid, "content", c.says)
				if strings.Contains(b.row(bundle.OfDefinition, at).Document, "has-content") {
					t.Error("the definition has a content")
				}
				return
			}
			b.ok(err)
			if got := b.row(bundle.OfDefinition, at).Document; !strings.Contains(got, `"chart-name":"web"`) || !strings.Contains(got, `"has-content":true`) {
				t.Errorf("the definition is %s", got)
			}
		})
	}
	found, _, err := b.Packages.Packages(ctx, alice, catalog.Query{})
	b.ok(err)
	for _, p := range found {
		if p.Provider != "ONAP" || p.SoftwareVersion != "1" || p.VNFDVersion != "1" || p.ProductName == "" || strings.Contains(p.ProductName, "/") {
			t.Errorf("the package is %+v", p)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d packages were made, want 4", len(found))
	}
}
