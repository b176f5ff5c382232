package bundle_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
)

// TestContentOfProfiles says which archives are overlays; what is one is laid over the chart of an instance.
func TestContentOfProfiles(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.define("front")
	ctx := t.Context()
	overlay := func(manifest string, files ...string) []byte {
		return archive(append([]string{"manifest.yaml", "version: v1\ntype:\n" + manifest}, files...)...)
	}
	one := "  configresource: [{filepath: a, chartpath: web/a}]"
	// The overlay of one file a of n bytes is 40 bytes and its text in base64.
	for name, c := range map[string]struct {
		content []byte
		says    string // empty: it is one
	}{
		"values":                {overlay("  values: ./v.yaml", "v.yaml", "a: b"), ""},
		"a file":                {overlay(one, "a", "text"), ""},
		"nothing of either":     {overlay(""), ""},
		"no archive":            {[]byte("a"), ""},
		"no manifest":           {archive("a", "b"), "holds no manifest.yaml"},
		"another version":       {archive("manifest.yaml", "version: v2"), "not of version v1"},
		"no YAML":               {archive("manifest.yaml", "version: v1\ntype: [\n"), "not of version v1"},
		"type is no mapping":    {archive("manifest.yaml", "version: v1\ntype: [a]\n"), "not of version v1"},
		"values that miss":      {overlay("  values: v.yaml"), "names values that it does not hold"},
		"values of no mapping":  {overlay("  values: v.yaml", "v.yaml", "- a"), "not a mapping"},
		"a file that misses":    {overlay(one), "names a filepath that it does not hold"},
		"out of the chart":      {overlay("  configresource: [{filepath: a, chartpath: ../a}]", "a", ""), "leads out of the chart"},
		"the chart's own file":  {overlay("  configresource: [{filepath: a, chartpath: web/Chart.yaml}]", "a", ""), "replaces Chart.yaml"},
		"a file twice":          {overlay("  configresource: [{filepath: a, chartpath: web/a}, {filepath: a, chartpath: web/./a}]", "a", ""), "one file twice"},
		"two files":             {overlay("  configresource: [{filepath: a, chartpath: web/a}, {filepath: a, chartpath: web/b}]", "a", ""), ""},
		"61440 bytes in all":    {overlay("  values: v.yaml", "v.yaml", "a: "+strings.Repeat("b", 61440-16)), ""},
		"61441 bytes in all":    {overlay("  values: v.yaml", "v.yaml", "a: "+strings.Repeat("b", 61440-15)), "more than 61440 bytes"},
		"beside other contents": {overlay(one, "a", "text", "b", "text"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := b.row(bundle.OfProfile, "rb/1/p").Ref
			err := b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", c.content)
			kept := b.row(bundle.OfProfile, "rb/1/p").Ref != before
			if refused := c.says != "" || name == "no archive"; refused {
				wants(t, err, broker.ErrInvalid, "content", c.says)
				if kept {
					t.Error("it was kept")
				}
			} else if err != nil || !kept {
				t.Errorf("kept %v, error %v", kept, err)
			}
		})
	}
	b.ok(b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", overlay("  values: v.yaml\n"+one, "v.yaml", "x: y", "a", "text")))
	i := b.made(asked)
	want := `{"overlay":{"values":"x: y","sets":[{"name":"k8s-rb-instance-id","value":"` + i.ID + `"}],"files":[{"path":"a","text":"dGV4dA=="}]}}`
	if got := string(b.yard.planned().Parameters); got != want {
		t.Errorf("the overlay is %s, want %s", got, want)
	}
	b.ok(b.DeleteInstance(ctx, alice, i.ID))
	b.ok(b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", overlay("  configresource: [{filepath: a, chartpath: db/a}]", "a", "text")))
	_, err := b.CreateInstance(ctx, alice, asked)
	wants(t, err, broker.ErrInvalid, "profile-name", "does not begin with web, ")
}

// TestWhatIsSealedOfAProfile that does not open says what to do; one that another request changes says so.
func TestWhatIsSealedOfAProfile(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.define("front")
	ctx := t.Context()
	content := archive("manifest.yaml", "version: v1\ntype: {values: v.yaml}\n", "v.yaml", "a: b")
	upload := func() error { return b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", content) }
	b.store.before, b.store.nth = func() { wants(t, upload(), broker.ErrConflict, "", "another request is changing it") }, 2
	b.ok(upload())
	_, err := b.store.UpdateBundle(ctx, b.row(bundle.OfProfile, "rb/1/p").ID, func(r *bundle.Row) error {
		r.Text = "AAAA" + r.Text[4:]
		return nil
	}, nil)
	b.ok(err)
	_, err = b.CreateInstance(ctx, alice, asked)
	wants(t, err, broker.ErrUnopenable, "", "what is sealed of it does not open")
	if o, _, err := b.store.Operations(ctx, lifecycle.OperationFilter{Page: broker.Page{Size: 1}}); err != nil || len(o) != 0 {
		t.Errorf("begun: %+v, %v", o, err)
	}
	back := b.store.failing("UpdateBundle", 1)
	wants(t, upload(), errDisk, "", "")
	back()
}
