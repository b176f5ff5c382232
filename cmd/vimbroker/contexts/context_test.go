package contexts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// get is an environment of these variables.
func get(pairs map[string]string) func(string) string {
	return func(key string) string { return pairs[key] }
}

// put writes a file, and returns its name.
func put(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "contexts.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// said is the text of an error, or none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// names are those of the contexts, the current one first.
func names(s Merged) string {
	all := []string{s.Current}
	for _, c := range s.Contexts {
		all = append(all, c.Name+"@"+c.Server)
	}
	return strings.Join(all, " ")
}

// kept is the text of a file.
func kept(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A file that is named counts, then the one below XDG_CONFIG_HOME, then the one of the home.
func TestContextsAreKeptWhereTheEnvironmentSays(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{EnvConfig: "/a:/b", "XDG_CONFIG_HOME": "/x", "HOME": "/h"}, []string{"/a", "/b"}},
		{map[string]string{"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, []string{"/x/vimbroker/contexts.yaml"}},
		{map[string]string{"HOME": "/h"}, []string{"/h/.config/vimbroker/contexts.yaml"}},
		{nil, nil},
	} {
		if got := Files(get(test.env)); !cmp.Equal(got, test.want) {
			t.Errorf("%v: %q, want %q", test.env, got, test.want)
		}
	}
}

// Of two contexts with one name the first counts, as the first current one does; a file that is not there is empty, and one in
// another form is an error.
func TestFilesOfContextsAreMerged(t *testing.T) {
	a := put(t, "contexts: [{name: one, server: a1}, {name: two, server: a2}]\n")
	b := put(t, "current: three\ncontexts: [{name: two, server: b2}, {name: three, server: b3}]\n")
	c := put(t, "current: one\n")
	broken, unknown, blank, dir := put(t, "contexts: ["), put(t, "kontexte: []\n"), put(t, " \n"), t.TempDir()
	for name, test := range map[string]struct{ files, context, want, fails string }{
		"one":                  {a, "", " one@a1 two@a2", ""},
		"two":                  {a + ":" + b, "", "three one@a1 two@a2 three@b3", ""},
		"the other way":        {b + ":" + a, "", "three two@b2 three@b3 one@a1", ""},
		"the first current":    {b + ":" + c, "", "three two@b2 three@b3", ""},
		"by a variable":        {a + ":" + b, "one", "one one@a1 two@a2 three@b3", ""},
		"by a wrong one":       {a + ":" + b, "none", "", EnvContext + ` names the context "none", which is in none of ` + a + ", " + b},
		"not there":            {dir + "/none:" + a, "", " one@a1 two@a2", ""},
		"empty":                {blank, "", "", ""},
		"no YAML":              {broken, "", "", "reading contexts: " + broken + " is not in their form: "},
		"another form":         {a + ":" + unknown, "", "", "reading contexts: " + unknown + " is not in their form: "},
		"a directory":          {dir, "", "", "reading contexts: read " + dir + ": is a directory"},
		"no file and no value": {dir + "/none", "", "", ""},
	} {
		s, err := Load(get(map[string]string{EnvConfig: test.files, EnvContext: test.context}))
		if (err == nil) != (test.fails == "") || !strings.HasPrefix(said(err), test.fails) || err == nil && names(s) != test.want {
			t.Errorf("%s: %q, %v; want %q, %q", name, names(s), err, test.want, test.fails)
		}
	}
	s, err := Load(get(map[string]string{EnvConfig: a + ":" + b}))
	if err != nil {
		t.Fatal(err)
	}
	if now, there := s.Now(); !there || now.Server != "b3" {
		t.Errorf("now %+v, %t", now, there)
	}
	s.Current = ""
	if now, there := s.Now(); there {
		t.Errorf("without a current one: %+v", now)
	}
	s.Contexts = append(s.Contexts, Context{}) // of no name
	if now, there := s.Now(); there {
		t.Errorf("without a current one, beside one of no name: %+v", now)
	}
	if one, there := s.Find("one"); !there || one.Server != "a1" {
		t.Errorf("found %+v, %t", one, there)
	}
}

// A context is kept in the file that has it, or else in the first, and the first names the current one.
func TestAContextIsKeptInItsFile(t *testing.T) {
	a, b := put(t, "current: one\ncontexts: [{name: one, server: a1}]\n"), put(t, "contexts: [{name: two, server: b2}, {name: more, server: b3}]\n")
	load := func() Merged {
		t.Helper()
		s, err := Load(get(map[string]string{EnvConfig: a + ":" + b}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := Context{
		Name: "two", Server: "new", CAFile: "/ca", Project: "acme", TokenFile: "/t", From: "gitlab", Audience: "x", Issuer: "https://id", ClientID: "cli", Scopes: []string{"s"},
	}
	if err := load().Put(want); err != nil {
		t.Fatal(err)
	}
	if err := load().Put(Context{Name: "three", Server: "a3"}); err != nil {
		t.Fatal(err)
	}
	s := load()
	if got := names(s); got != "three one@a1 three@a3 more@b3 two@new" {
		t.Errorf("kept %q", got)
	}
	got, _ := s.Find("two")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Context{})); diff != "" {
		t.Errorf("kept otherwise (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(b); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := s.Use("two"); err != nil || load().Current != "two" {
		t.Errorf("%v, current %q", err, load().Current)
	}
	if err := load().Remove("two"); err != nil || names(load()) != " one@a1 three@a3 more@b3" {
		t.Errorf("without two: %v, %q", err, names(load()))
	}
	if err := load().Use("more"); err != nil {
		t.Fatal(err)
	}
	if err := load().Remove("one"); err != nil || names(load()) != "more three@a3 more@b3" {
		t.Errorf("without one: %v, %q", err, names(load()))
	}
	if err := load().Remove("one"); said(err) != `there is no context "one"` {
		t.Errorf("once more: %v", err)
	}
}

// Where no file can be named or written, the change fails and nothing is half done.
func TestAContextThatCannotBeKept(t *testing.T) {
	none, err := Load(get(nil))
	if err != nil {
		t.Fatal(err)
	}
	const nowhere = "contexts cannot be kept: neither VIMBROKER_CONFIG nor HOME is set"
	if err := none.Put(Context{Name: "a"}); said(err) != nowhere {
		t.Error(err)
	}
	if err := none.Use("a"); said(err) != nowhere {
		t.Error(err)
	}
	plain, broken := put(t, "contexts: []\n"), put(t, "contexts: [\n")
	locked := put(t, "contexts: []\n")
	if err := os.Mkdir(filepath.Join(filepath.Dir(locked), ".contexts.yaml.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ file, want string }{
		"below a file":          {plain + "/c", "keeping contexts: mkdir " + plain + ": not a directory"},
		"in another form":       {broken, "reading contexts: " + broken + " is not in their form: "},
		"with too long a name":  {filepath.Dir(locked) + "/" + strings.Repeat("x", 249), "writing " + filepath.Dir(locked) + "/xxx"},
		"that cannot be locked": {locked, "keeping contexts: open " + filepath.Dir(locked) + "/.contexts.yaml.lock: is a directory"},
	} {
		s := Merged{files: []string{test.file}}
		if err := s.Put(Context{Name: "a"}); !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err := s.Use("a"); !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		there := Merged{files: []string{plain}, Contexts: []Context{{Name: "a", file: test.file}}}
		if err := there.Remove("a"); err == nil {
			t.Errorf("%s: a context is removed", name)
		}
		there.files, there.Current, there.Contexts[0].file = []string{test.file}, "a", plain
		if err := there.Remove("a"); !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: the current context is removed: %v, want %q", name, err, test.want)
		}
	}
	two, file := Merged{files: []string{plain + "/c"}}, put(t, "contexts: []\n")
	two.Contexts = []Context{{Name: "a", file: file}}
	if err := two.Put(Context{Name: "a", Server: "s"}); said(err) != "keeping contexts: mkdir "+plain+": not a directory" || !strings.Contains(kept(t, file), "server: s") {
		t.Errorf("a context in the second file: %v, kept %s", err, kept(t, file))
	}
	if kept(t, plain) != "contexts: []\n" {
		t.Errorf("changed: %s", kept(t, plain))
	}
	if err := replace("/none/f", nil); !strings.HasPrefix(said(err), "writing /none/f: open /none/.f-") {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/f/g", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replace(dir+"/f", []byte("x")); !strings.HasPrefix(said(err), "writing "+dir+"/f: rename ") {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// login is what these tests keep.
type login struct {
	Token string `json:"token"`
}

// A login lies beside the context, for its owner, and is written where it changes and only there.
func TestALoginLiesBesideItsContext(t *testing.T) {
	home := put(t, "contexts: []\n")
	s := Merged{files: []string{home}}
	c := Context{Name: "corp"}
	file := filepath.Join(filepath.Dir(home), "logins", "corp.json")
	broken := errors.New("broken")
	for _, step := range []struct {
		token   string
		changed bool
		fails   error
		want    string
	}{
		{"", false, nil, ""},
		{"one", false, broken, ""},
		{"one", true, nil, "one"},
		{"two", false, nil, "one"},
		{"three", true, broken, "three"},
	} {
		err := WithLogin(s, c, func(l *login) (bool, error) {
			l.Token = step.token
			return step.changed, step.fails
		})
		if !errors.Is(err, step.fails) {
			t.Errorf("%+v: %v", step, err)
		}
		text, err := os.ReadFile(file)
		if got := string(text); (step.want == "") != errors.Is(err, os.ErrNotExist) || step.want != "" && got != `{"token":"`+step.want+`"}` {
			t.Errorf("%+v: kept %q, %v", step, got, err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := WithLogin(s, c, func(l *login) (bool, error) {
		if l.Token != "three" {
			t.Errorf("read %+v", l)
		}
		return false, nil
	}); err != nil {
		t.Error(err)
	}
	if err := WithLogin(s, c, func(*func()) (bool, error) { return true, nil }); said(err) != "the login in "+file+" cannot be read; log in again" {
		t.Error(err)
	}
	for range 2 {
		if err := s.Forget(c); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	if err := WithLogin(s, c, func(*func()) (bool, error) { return true, nil }); !strings.HasPrefix(said(err), "keeping a login: json: unsupported type") {
		t.Error(err)
	}
}

// A context with a file of its own has its login beside that, and a name that is no file's has none.
func TestALoginHasAPlaceOrNone(t *testing.T) {
	s := Merged{files: []string{"/first/c.yaml", "/second/c.yaml"}}
	for name, test := range map[string]struct {
		s           Merged
		c           Context
		want, fails string
	}{
		"of no file":       {s, Context{Name: "a"}, "/first/logins/a.json", ""},
		"of the second":    {s, Context{Name: "a", file: "/second/c.yaml"}, "/second/logins/a.json", ""},
		"without files":    {Merged{}, Context{Name: "a"}, "logins/a.json", ""},
		"dots within":      {s, Context{Name: "a.b.c"}, "/first/logins/a.b.c.json", ""},
		"a dot in front":   {s, Context{Name: ".a"}, "", `".a" cannot be the name of a context: a file is named so`},
		"a slash":          {s, Context{Name: "a/b"}, "", `"a/b" cannot be the name of a context: a file is named so`},
		"a back slash":     {s, Context{Name: `a\b`}, "", `"a\\b" cannot be the name of a context: a file is named so`},
		"a zero character": {s, Context{Name: "a\x00"}, "", `"a\x00" cannot be the name of a context: a file is named so`},
		"no name":          {s, Context{}, "", `"" cannot be the name of a context: a file is named so`},
	} {
		got, err := test.s.loginFile(test.c)
		if got != test.want || said(err) != test.fails {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, test.want, test.fails)
		}
		if test.fails == "" {
			continue
		}
		if err := test.s.Forget(test.c); said(err) != test.fails {
			t.Errorf("%s is forgotten: %v", name, err)
		}
		if err := WithLogin(test.s, test.c, func(*login) (bool, error) { return false, nil }); said(err) != test.fails {
			t.Errorf("%s is kept: %v", name, err)
		}
		test.s.Contexts = []Context{test.c}
		if err := test.s.Remove(test.c.Name); said(err) != test.fails {
			t.Errorf("%s is removed: %v", name, err)
		}
	}
}

// A login that cannot be kept, read or forgotten is an error, and nothing is asked for another one.
func TestALoginThatCannotBeKept(t *testing.T) {
	plain := put(t, "contexts: []\n")
	dir := filepath.Dir(plain)
	logins := filepath.Join(dir, "logins")
	for _, name := range []string{"full.json/x", ".locked.json.lock", "taken.json/x"} {
		if err := os.MkdirAll(filepath.Join(logins, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct{ file, context, want, forget string }{
		"below a file":          {plain + "/c.yaml", "a", "keeping a login: mkdir " + plain + ": not a directory", "forgetting a login: remove "},
		"that cannot be locked": {plain, "locked", "keeping a login: open " + logins + "/.locked.json.lock: is a directory", ""},
		"that cannot be read":   {plain, "full", "the login in " + logins + "/full.json cannot be read; log in again", "forgetting a login: remove "},
	} {
		s, c := Merged{files: []string{test.file}}, Context{Name: test.context}
		err := WithLogin(s, c, func(*login) (bool, error) {
			t.Errorf("%s: a login is asked for", name)
			return true, nil
		})
		if !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err := s.Forget(c); (err == nil) != (test.forget == "") || !strings.HasPrefix(said(err), test.forget) {
			t.Errorf("%s is forgotten: %v, want %q", name, err, test.forget)
		}
	}
	s, c := Merged{files: []string{plain}}, Context{Name: "gone"}
	err := WithLogin(s, c, func(*login) (bool, error) { return true, os.RemoveAll(logins) })
	if !strings.HasPrefix(said(err), "writing "+logins+"/gone.json: ") {
		t.Errorf("a directory that is gone: %v", err)
	}
}
