package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A write needs a right of its own for what it changes besides: also where as much stands there as before, and where it is
// taken away.
func TestWhichRightsAWriteNeeds(t *testing.T) {
	share := func(projects ...string) func(*VIM) { return func(v *VIM) { v.SharedWith = projects } }
	all := func(is bool, projects ...string) func(*VIM) {
		return func(v *VIM) { v.Shared, v.SharedWith = is, projects }
	}
	vouch := func(kinds, pods string) func(*VIM) {
		return func(v *VIM) { v.Current.Target.Vouched = Vouched{SharedKinds: kinds, PodsHeldBy: pods} }
	}
	label := func(pairs ...string) func(*VIM) {
		return func(v *VIM) {
			v.Labels = map[string]string{}
			for i := 1; i < len(pairs); i += 2 {
				v.Labels[pairs[i-1]] = pairs[i]
			}
		}
	}
	rest := func(v *VIM) {
		v.Name, v.Description, v.Extra, v.Suspended, v.Default = "n", "d", "{}", "s", true
		v.Current.Target.Endpoint, v.Current.Target.ServerName = "https://e", "s"
	}
	r := &Registry{reserved: []string{ownLabels, "site/"}}
	for _, c := range []struct {
		what          string
		before, after func(*VIM)
		want          string
	}{
		{"one project", share(), share("a"), "vim:share sharedWith"},
		{"one project less", share("a", "b"), share("a"), "vim:share sharedWith"},
		{"none any more", share("a"), share(), "vim:share sharedWith"},
		{"another project", share("a"), share("b"), "vim:share sharedWith"},
		{"another of two", share("a", "b"), share("a", "c"), "vim:share sharedWith"},
		{"the same projects", share("a", "b"), share("a", "b"), ""},
		{"shared with all", all(false), all(true), "vim:share shared"},
		{"with all no more", all(true), all(false), "vim:share shared"},
		{"with all, in place of some", all(false, "a"), all(true), "vim:share shared"},
		{"with some, in place of all", all(true), all(false, "a"), "vim:share shared"},
		{"with others, and with all as ever", all(true, "a"), all(true, "b"), "vim:share sharedWith"},
		{"kinds", vouch("", ""), vouch("a.b", ""), "vim:vouch sharedKinds"},
		{"other kinds", vouch("a.b", ""), vouch("c.d", ""), "vim:vouch sharedKinds"},
		{"no kinds any more", vouch("a.b", ""), vouch("", ""), "vim:vouch sharedKinds"},
		{"other kinds beside pods", vouch("a.b", "kyverno"), vouch("c.d", "kyverno"), "vim:vouch sharedKinds"},
		{"pods", vouch("", ""), vouch("", "kyverno"), "vim:vouch podsHeldBy"},
		{"pods held by another", vouch("", "kyverno"), vouch("", "gatekeeper"), "vim:vouch podsHeldBy"},
		{"pods held no more", vouch("", "kyverno"), vouch("", ""), "vim:vouch podsHeldBy"},
		{"pods and kinds", vouch("a.b", "kyverno"), vouch("", ""), "vim:vouch podsHeldBy"},
		{"what is vouched for as before", vouch("a.b", "kyverno"), vouch("a.b", "kyverno"), ""},
		{"a label of ours", label(), label("vimbroker.io/a", "1"), "vim:label-reserved labels"},
		{"another label of ours", label("vimbroker.io/a", "1"), label("vimbroker.io/b", "1"), "vim:label-reserved labels"},
		{"another value of ours", label("vimbroker.io/a", "1"), label("vimbroker.io/a", "2"), "vim:label-reserved labels"},
		{"no label of ours any more", label("vimbroker.io/a", "1"), label(), "vim:label-reserved labels"},
		{"a label of the site", label("vimbroker.io/a", "1"), label("vimbroker.io/a", "1", "site/a", "1"), "vim:label-reserved labels"},
		{"labels of both", label("vimbroker.io/a", "1"), label("site/a", "1"), "vim:label-reserved labels, vim:label-reserved labels"},
		{"another label of others", label("site/a", "1", "b", "1"), label("site/a", "1", "c", "2"), ""},
		{"a share, pods and a label", label(), func(v *VIM) {
			share("a")(v)
			vouch("", "kyverno")(v)
			label("site/a", "1")(v)
		}, "vim:share sharedWith, vim:vouch podsHeldBy, vim:label-reserved labels"},
		{"all the rest", func(*VIM) {}, rest, ""},
	} {
		var before, after VIM
		c.before(&before)
		c.after(&after)
		var needs []string
		for _, n := range r.extraRights(draft(before, after, "")) {
			needs = append(needs, fmt.Sprint(n.action, " ", n.field))
		}
		if got := strings.Join(needs, ", "); got != c.want {
			t.Errorf("%s: needs %q, want %q", c.what, got, c.want)
		}
	}
	inline := draft(VIM{}, VIM{Labels: map[string]string{"vimbroker.io/a": "1"}}, "")
	inline.Inline = true
	if needs := r.extraRights(inline); len(needs) != 1 || needs[0].action != policy.VIMInline {
		t.Errorf("a VIM that comes with a request needs %+v", needs)
	}
}

// An entry says of each field of a VIM what it was and what it is: of one that is new, of one that is another, and of one that
// is taken away.
func TestWhatAnEntrySaysOfAVIM(t *testing.T) {
	for field, set := range map[string]func(v *VIM, to string){
		"name":                func(v *VIM, to string) { v.Name = to },
		"type":                func(v *VIM, to string) { v.Type = VIMType(to) },
		"project":             func(v *VIM, to string) { v.Project = to },
		"sharedWith":          func(v *VIM, to string) { v.SharedWith = strings.Fields(to) },
		"suspended":           func(v *VIM, to string) { v.Suspended = to },
		"endpoint":            func(v *VIM, to string) { v.Current.Target.Endpoint = to },
		"serverName":          func(v *VIM, to string) { v.Current.Target.ServerName = to },
		"namespace":           func(v *VIM, to string) { v.Current.Target.Namespace = to },
		"credential.kind":     func(v *VIM, to string) { v.Current.CredentialKind = CredentialKind(to) },
		"credential.username": func(v *VIM, to string) { v.Current.Username = to },
		"identity":            func(v *VIM, to string) { v.Current.Identity = to },
		"keyStore":            func(v *VIM, to string) { v.Current.KeyStore = to },
		"sharedKinds":         func(v *VIM, to string) { v.Current.Target.Vouched.SharedKinds = to },
		"podsHeldBy":          func(v *VIM, to string) { v.Current.Target.Vouched.PodsHeldBy = to },
	} {
		for _, c := range []struct{ was, is string }{{"", "b"}, {"a", "b"}, {"a", ""}, {"a", "a"}} {
			var before, after VIM
			set(&before, c.was)
			set(&after, c.is)
			want := map[string]string{"why": "stays"}
			if c.was != c.is && c.was != "" {
				want[audit.DetailOld+field] = c.was
			}
			if c.was != c.is && c.is != "" {
				want[audit.DetailNew+field] = c.is
			}
			wantSaid(t, fmt.Sprintf("%s from %q to %q", field, c.was, c.is), before, after, want)
		}
	}
	said := func(pairs ...string) map[string]string {
		all := map[string]string{"why": "stays"}
		for i := 1; i < len(pairs); i += 2 {
			all[pairs[i-1]] = pairs[i]
		}
		return all
	}
	with := func(change func(*VIM)) (v VIM) { change(&v); return v }
	ca := func(text string) VIM { return with(func(v *VIM) { v.Current.Target.CACert = text }) }
	for _, c := range []struct {
		what          string
		before, after VIM
		want          map[string]string
	}{
		{"shared", VIM{}, VIM{Shared: true}, said("old.shared", "false", "new.shared", "true")},
		{"shared no more", VIM{Shared: true}, VIM{}, said("old.shared", "true", "new.shared", "false")},
		{"the default", VIM{}, VIM{Default: true}, said("old.default", "false", "new.default", "true")},
		{
			"not verified",
			VIM{},
			with(func(v *VIM) { v.Current.Target.InsecureSkipVerify = true }),
			said("old.insecureSkipVerify", "false", "new.insecureSkipVerify", "true"),
		},
		{"a generation", with(func(v *VIM) { v.Current.Number = 1 }), with(func(v *VIM) { v.Current.Number = 2 }), said("old.generation", "1", "new.generation", "2")},
		{"the first generation", VIM{}, with(func(v *VIM) { v.Current.Number = 1 }), said("new.generation", "1")},
		{"another CA", ca("a"), ca("b"), said("old.caCert", digestOf("a"), "new.caCert", digestOf("b"))},
		{"no CA any more", ca("a"), ca(""), said("old.caCert", digestOf("a"))},
		{
			"a scope",
			VIM{},
			with(func(v *VIM) { v.Current.Target.Scope = Scope{Region: "r", ProjectID: "p"} }),
			said("new.scope", `{"region":"r","projectId":"p"}`),
		},
		{"a label", VIM{}, VIM{Labels: map[string]string{"a": "1"}}, said("new.labels.a", `"1"`)},
		{"an empty label", VIM{}, VIM{Labels: map[string]string{"a": ""}}, said("new.labels.a", `""`)},
		{"another label", VIM{Labels: map[string]string{"a": "1"}}, VIM{Labels: map[string]string{"a": "2"}}, said("old.labels.a", `"1"`, "new.labels.a", `"2"`)},
		{
			"no label any more",
			VIM{Labels: map[string]string{"a": "1", "b": "1"}},
			VIM{Labels: map[string]string{"b": "1"}},
			said("old.labels.a", `"1"`),
		},
		{"a description", VIM{}, VIM{Description: "d"}, said("new.description", notShown)},
		{"no description any more", VIM{Description: "d"}, VIM{}, said("new.description", notShown)},
		{"extra", VIM{Extra: "{}"}, VIM{Extra: `{"a":1}`}, said("new.extra", notShown)},
		{"no extra any more", VIM{Extra: "{}"}, VIM{}, said("new.extra", notShown)},
		{"a label with a line break", VIM{}, VIM{Labels: map[string]string{"a": "1\n2\x1b"}}, said("new.labels.a", `"1\n2\x1b"`)},
		{"a long name", VIM{}, VIM{Name: letters(9000)}, said("new.name", audit.Cut(letters(9000)))},
	} {
		wantSaid(t, c.what, c.before, c.after, c.want)
	}
}

// wantSaid compares what an entry says of a change with what it is to say. An earlier attempt has left something else in it.
func wantSaid(t *testing.T, what string, before, after VIM, want map[string]string) {
	t.Helper()
	e := audit.Entry{Detail: map[string]string{"why": "stays", "old.endpoint": "https://earlier", "new.endpoint": "https://later", newCredential: "given"}}
	want = maps.Clone(want)
	want[newCredential] = "given"
	addChanges(e, before, after)
	if !maps.Equal(e.Detail, want) {
		t.Errorf("%s: it says %q, want %q", what, e.Detail, want)
	}
}

// What policy weighs of a write is the VIM as it would be, beside what it was.
func TestWhatPolicyWeighsOfAWrite(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://A.example:6443/x": "a.example false", "http://[FD00::1]:80": "fd00::1 true", "": " false", "https://%zz": " false",
	} {
		before, after := VIM{}, VIM{Name: "n", Type: "t", Shared: true, Default: true, SharedWith: []string{"b"}, Labels: map[string]string{"l": "2"}}
		before.SharedWith, before.Labels = []string{"a"}, map[string]string{"l": "1"}
		before.Current.Target.Endpoint, after.Current.Target.Endpoint = "http://before", endpoint
		after.Current.Target.InsecureSkipVerify, after.Current.Target.ServerName = true, "s"
		d := draft(before, after, "vault")
		if got := fmt.Sprint(d.EndpointHost, " ", d.PlainHTTP); got != want {
			t.Errorf("of %q it is said: %s, want %s", endpoint, got, want)
		}
		if !d.Shared || d.SharedBefore || !d.Default || !d.InsecureSkipVerify || d.ServerName != "s" || d.Name != "n" || d.Type != "t" || d.KeyStore != "vault" ||
			!slices.Equal(d.SharedWith, after.SharedWith) || !slices.Equal(d.SharedWithBefore, before.SharedWith) ||
			!maps.Equal(d.Labels, after.Labels) || !maps.Equal(d.LabelsBefore, before.Labels) {
			t.Errorf("the draft is %+v", d)
		}
	}
}
