package bundle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
)

// study has an instance, and a template t with values of its own.
func study(t *testing.T, change ...func(*bundle.Options)) (*bench, string) {
	t.Helper()
	b, i := town(t, change...)
	b.ok(b.Create(t.Context(), alice, bundle.Template{Definition: "rb", Version: "1", Name: "t"}))
	b.ok(b.Upload(t.Context(), alice, bundle.OfTemplate, "rb/1/t", chart("conf", "conf")))
	return b, i.ID
}

func values(x any) map[string]any { return map[string]any{"a": map[string]any{"b": x, "c": 1}} }

// keep makes a version of configuration Con_1.
func (b *bench) keep(id, name string, c bundle.Configuration) bundle.ConfigResult {
	b.t.Helper()
	if c.Name = "Con_1"; name != "" {
		c.Name = ""
	}
	r, err := b.KeepConfig(b.t.Context(), alice, id, name, c)
	b.ok(err)
	return r
}

// shape is what a configuration is: its versions with tags, and those that are deleted.
func (b *bench) shape(id string) (all []string) {
	b.t.Helper()
	versions, err := b.Versions(b.t.Context(), alice, id, "Con_1")
	b.ok(err)
	for _, v := range versions {
		all = append(all, fmt.Sprint(v.Version, v.Tag, v.Gone, v.Values))
	}
	return all
}

// applied is what was last laid over a template's chart.
func (b *bench) applied() string {
	in := b.yard.planned()
	return in.Release + " " + string(in.Parameters)
}

// TestLifeOfAConfiguration makes versions of one, tags them, goes back, and removes it.
func TestLifeOfAConfiguration(t *testing.T) {
	b, id := study(t)
	ctx := t.Context()
	want := func(n int) bundle.ConfigResult {
		return bundle.ConfigResult{Instance: id, Definition: "rb", RBVersion: "1", Profile: "p", Name: "Con_1", Template: "t", Version: n}
	}
	over := func(v string) string {
		return `rel-con-1 {"overlay":{"values":"{\"a\":{\"b\":\"` + v + `\",\"c\":1}}","sets":[{"name":"k8s-rb-instance-id","value":"` + id + `"}]}}`
	}
	same(t, "the result", b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")}), want(1))
	same(t, "what was applied", b.applied(), over("x"))
	if in := b.yard.planned(); in.Labels["k8splugin.io/rb-instance-id"] != id {
		t.Errorf("its labels are %v", in.Labels)
	}
	tag, err := b.Tag(ctx, alice, id, "Con_1", bundle.Chosen{Give: "one"})
	b.ok(err)
	same(t, "the tag", tag, bundle.Tagged{Version: 1, Tag: "one"})
	same(t, "the result", b.keep(id, "Con_1", bundle.Configuration{Values: values("y")}), want(2))
	same(t, "what was applied", b.applied(), over("y"))
	hidden := "map[a:<hidden>]"
	same(t, "the versions", b.shape(id), []string{"1onefalse " + hidden, "2false " + hidden})
	for name, c := range map[string]struct {
		version, tag string
		want         int
		kind         error
	}{
		"the newest": {"", "", 2, nil}, "a number": {"1", "", 1, nil}, "a tag": {"", "one", 1, nil},
		"no such": {"3", "", 0, broker.ErrNotFound}, "no such tag": {"", "two", 0, broker.ErrNotFound},
	} {
		got, err := b.Configuration(ctx, alice, id, "Con_1", c.version, c.tag)
		if wants(t, err, c.kind, "", ""); got.Version != c.want {
			t.Errorf("%s is version %d, want %d", name, got.Version, c.want)
		}
	}
	all, err := b.Configs(ctx, alice, id)
	if b.ok(err); len(all) != 1 || all[0].Version != 2 {
		t.Errorf("the configurations are %+v", all)
	}
	gone, err := b.ClearConfig(ctx, alice, id, "Con_1")
	b.ok(err)
	same(t, "the result", gone, want(3))
	same(t, "the versions", b.shape(id), []string{"1onefalse " + hidden, "2false " + hidden, "3true map[]"})
	same(t, "what stands", b.vnfs(), []string{"edge INSTANTIATED"})
	_, err = b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Version: "3"})
	wants(t, err, broker.ErrInvalid, "config-version", "in which the configuration was deleted")
	_, err = b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Version: "4"})
	wants(t, err, broker.ErrNotFound, "", "no such version")
	back, err := b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Tag: "one"})
	b.ok(err)
	same(t, "the result", back, want(1))
	same(t, "what was applied", b.applied(), over("x"))
	same(t, "the versions", b.shape(id), []string{"1onefalse " + hidden})
	b.keep(id, "Con_1", bundle.Configuration{Values: values("z")})
	_, err = b.Tag(ctx, alice, id, "Con_1", bundle.Chosen{Give: "one"})
	b.ok(err)
	tags, err := b.Tags(ctx, alice, id, "Con_1")
	b.ok(err)
	same(t, "the tags", tags, []bundle.Tagged{{Version: 2, Tag: "one"}})
	for version, said := range map[string]string{"": "no such config", "1": "no such config"} {
		_, err = b.Configuration(ctx, alice, id, "none", version, "")
		wants(t, err, broker.ErrNotFound, "", said)
	}
	_, err = b.UpgradeInstance(ctx, alice, id, to(far))
	wants(t, err, broker.ErrConflict, "", "the instance has configurations")
	wants(t, b.Delete(ctx, alice, bundle.OfTemplate, "rb/1/t"), broker.ErrConflict, "", "instances use it: "+id+"/Con_1")
	b.ok(b.DeleteConfig(ctx, alice, id, "Con_1"))
	b.gone(bundle.OfConfig, id+"/Con_1")
	same(t, "what stands", b.vnfs(), []string{"edge INSTANTIATED"})
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	b.ok(b.DeleteInstance(ctx, alice, id))
	b.gone(bundle.OfConfig, id+"/Con_1")
	b.nothing()
}

// TestConfigurationsThatAreRefused leave the configuration as it was, and none where there was none.
func TestConfigurationsThatAreRefused(t *testing.T) {
	b, id := study(t)
	ctx := t.Context()
	b.ok(b.Create(ctx, alice, bundle.Template{Definition: "rb", Version: "1", Name: "bare"}))
	bad := refusal(broker.ErrInvalid)
	for name, c := range map[string]struct {
		c     bundle.Configuration
		fails string
		nth   int
		yard  error
		kind  error
		field string
		says  string
	}{
		"no name":         {bundle.Configuration{Template: "t"}, "", 0, nil, broker.ErrInvalid, "config-name", ""},
		"the text":        {bundle.Configuration{Name: "c", Template: "t", Description: "\x00"}, "", 0, nil, broker.ErrInvalid, "description", ""},
		"a long name":     {bundle.Configuration{Name: strings.Repeat("c", 50), Template: "t"}, "", 0, nil, broker.ErrInvalid, "release-name", ""},
		"no template":     {bundle.Configuration{Name: "c"}, "", 0, nil, broker.ErrNotFound, "", "no such configuration template"},
		"no content":      {bundle.Configuration{Name: "c", Template: "bare"}, "", 0, nil, broker.ErrInvalid, "template-name", "has no content"},
		"not kept":        {bundle.Configuration{Name: "c", Template: "t"}, "CreateBundles", 1, nil, errDisk, "", ""},
		"not sealed":      {bundle.Configuration{Name: "c", Template: "t"}, "UpdateBundle", 1, nil, errDisk, "", ""},
		"not read":        {bundle.Configuration{Name: "c", Template: "t"}, "Operations", 1, nil, errDisk, "", ""},
		"not begun":       {bundle.Configuration{Name: "c", Template: "t"}, "BeginOperation", 1, nil, errDisk, "", ""},
		"refused":         {bundle.Configuration{Name: "c", Template: "t"}, "", 0, bad, broker.ErrInvalid, "", "the yard says no"},
		"of another rb":   {bundle.Configuration{Name: "c", Template: "x/t"}, "", 0, nil, broker.ErrNotFound, "", ""},
		"no instance":     {bundle.Configuration{Name: "c", Template: "t"}, "Bundle", 1, nil, errDisk, "", ""},
		"no such profile": {bundle.Configuration{Name: "c", Template: "t"}, "Bundle", -3, nil, errDisk, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			back := func() {}
			if c.fails != "" {
				back = b.store.failing(c.fails, c.nth)
			}
			b.yard.fails(lifecycle.Instantiate, c.yard, nil)
			_, err := b.KeepConfig(ctx, alice, id, "", c.c)
			back()
			wants(t, err, c.kind, c.field, c.says)
			if all, err := b.Configs(ctx, alice, id); err != nil || len(all) != 0 || len(b.vnfs()) != 1 {
				t.Errorf("there are %+v, %v, and %v", all, err, b.vnfs())
			}
		})
	}
	b.yard.fails("", nil, nil)
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	_, err := b.KeepConfig(ctx, alice, id, "", bundle.Configuration{Name: "Con_1", Template: "t"})
	wants(t, err, broker.ErrExists, "", "")
	_, err = b.KeepConfig(ctx, alice, id, "other", bundle.Configuration{})
	wants(t, err, broker.ErrNotFound, "", "no such configuration")
	was := b.shape(id)
	b.yard.fails(lifecycle.ChangePackage, nil, bad)
	_, err = b.KeepConfig(ctx, alice, id, "Con_1", bundle.Configuration{Values: values("y")})
	wants(t, err, broker.ErrInvalid, "", "the yard says no")
	same(t, "the versions", b.shape(id), was)
	_, err = b.Tag(ctx, alice, id, "Con_1", bundle.Chosen{Give: "-"})
	wants(t, err, broker.ErrInvalid, "tag-name", "")
	back := b.store.failing("UpdateBundle", 1)
	_, err = b.Tag(ctx, alice, id, "Con_1", bundle.Chosen{Give: "one"})
	wants(t, err, errDisk, "", "")
	_, err = b.ClearConfig(ctx, alice, id, "Con_1")
	wants(t, err, errDisk, "", "")
	back()
	same(t, "the versions", b.shape(id), was)
	for name, do := range map[string]func(p policy.Principal, name string) error{
		"keep": func(p policy.Principal, name string) error {
			_, err := b.KeepConfig(ctx, p, id, name, bundle.Configuration{})
			return err
		},
		"roll back": func(p policy.Principal, name string) error {
			_, err := b.Rollback(ctx, p, id, name, bundle.Chosen{Version: "1"})
			return err
		},
		"tag": func(p policy.Principal, name string) error {
			_, err := b.Tag(ctx, p, id, name, bundle.Chosen{Give: "x"})
			return err
		},
		"clear": func(p policy.Principal, name string) error {
			_, err := b.ClearConfig(ctx, p, id, name)
			return err
		},
		"delete": func(p policy.Principal, name string) error { return b.DeleteConfig(ctx, p, id, name) },
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, do(rita, "Con_1"), broker.ErrDenied, "", "")
			wants(t, do(bob, "Con_1"), broker.ErrNotFound, "", "no such instance")
			wants(t, do(alice, "none"), broker.ErrNotFound, "", "no such configuration")
		})
	}
	for name, look := range map[string]func(p policy.Principal) error{
		"versions": func(p policy.Principal) error { _, err := b.Versions(ctx, p, id, "Con_1"); return err },
		"tags":     func(p policy.Principal) error { _, err := b.Tags(ctx, p, id, "Con_1"); return err },
		"all":      func(p policy.Principal) error { _, err := b.Configs(ctx, p, id); return err },
		"one":      func(p policy.Principal) error { _, err := b.Configuration(ctx, p, id, "Con_1", "", ""); return err },
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, look(rita), nil, "", "")
			wants(t, look(bob), broker.ErrNotFound, "", "")
		})
	}
}

// TestOneChangeOfAConfigurationAtATime: while work goes on there is no other, and there are at most 100 versions.
func TestOneChangeOfAConfigurationAtATime(t *testing.T) {
	b, id := study(t, brief)
	ctx := t.Context()
	b.rest()
	_, err := b.KeepConfig(ctx, alice, id, "", bundle.Configuration{Name: "Con_1", Template: "t", Values: values("x")})
	wants(t, err, context.DeadlineExceeded, "", "the work on instance "+id+"/Con_1 goes on")
	_, err = b.KeepConfig(ctx, alice, id, "Con_1", bundle.Configuration{})
	wants(t, err, broker.ErrConflict, "", "work on the configuration is under way")
	_, err = b.ClearConfig(ctx, alice, id, "Con_1")
	wants(t, err, broker.ErrConflict, "", "wait until that has ended")
	wants(t, b.Delete(ctx, alice, bundle.OfTemplate, "rb/1/t"), broker.ErrConflict, "", "instances use it")
	b.worked()
	b.settles(time.Time{})
	if got := b.shape(id); len(got) != 1 {
		t.Errorf("the versions are %v", got)
	}
	fill := func(n int) {
		var all []string
		for v := range n {
			all = append(all, fmt.Sprintf(`{"config-name":"Con_1","template-name":"t","config-version":%d}`, v+1))
		}
		b.spoil(bundle.OfConfig, id+"/Con_1", func(d string) string {
			at := strings.Index(d, `"versions":[`)
			end := at + strings.Index(d[at:], `],"asker"`)
			return d[:at] + `"versions":[` + strings.Join(all, ",") + d[end:]
		})
	}
	fill(100)
	_, err = b.KeepConfig(ctx, alice, id, "Con_1", bundle.Configuration{})
	wants(t, err, broker.ErrConflict, "", "too many versions")
	fill(99)
	_, err = b.KeepConfig(ctx, alice, id, "Con_1", bundle.Configuration{})
	wants(t, err, context.DeadlineExceeded, "", "")
	b.worked()
	b.settles(time.Time{})
	if got := b.shape(id); len(got) != 100 {
		t.Errorf("there are %d versions", len(got))
	}
	b.ok(b.DeleteInstance(ctx, alice, id))
	for range 4 {
		b.worked()
		b.settles(b.clock.Now())
	}
	b.nothing()
}
