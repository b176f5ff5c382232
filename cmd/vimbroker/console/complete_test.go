package console

import (
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/fake"
)

// Words come from the server; where anything goes wrong there are none, and nothing is said.
func TestCompletionsAreWhatTheServerKnows(t *testing.T) {
	b := newBench(t)
	b.vims = []v1.VIM{
		{ID: idA, Name: "edge", Type: "kubernetes", Status: "reachable", Discovered: &v1.Discovered{Regions: []string{"a", "b"}}},
		{ID: idB, Name: "core", Type: "openstack", Status: "unchecked"},
	}
	b.leases = []v1.Lease{
		{ID: idA, VIMName: "edge", Role: "view", State: "active", ExpiresAt: noon.Add(time.Hour)},
		{ID: idB, VIMName: "core", Role: "edit", State: "active", ExpiresAt: noon.Add(2 * time.Hour)},
		{ID: idC, VIMName: "core", Role: "edit", State: "revoked"},
	}
	with := func(vim string) *cobra.Command {
		c := &cobra.Command{}
		c.Flags().String("vim", vim, "")
		c.SetContext(t.Context())
		return c
	}
	plain := &cobra.Command{}
	plain.SetContext(t.Context())
	type answer struct {
		words []string
		more  cobra.ShellCompDirective
	}
	ask := func(f completion, c *cobra.Command, args ...string) (a answer) {
		a.words, a.more = f(c, args, "")
		return a
	}
	tests := map[string]struct {
		got  answer
		want []string
	}{
		"VIMs":                          {ask(b.VimNames, plain), []string{"edge\tkubernetes, reachable", "core\topenstack, unchecked"}},
		"leases that are alive":         {ask(b.LeaseIDs, plain), []string{idA + "\tedge, view, expires in 60m", idB + "\tcore, edit, expires in 2h"}},
		"leases less those given":       {ask(b.LeaseIDs, plain, idA), []string{idB + "\tcore, edit, expires in 2h"}},
		"namespaces of the argument":    {ask(b.VIMNamespaces, plain, "edge"), []string{"a", "b"}},
		"namespaces of --vim":           {ask(b.VIMNamespaces, with("edge"), "core"), []string{"a", "b"}},
		"namespaces without --vim":      {ask(b.VIMNamespaces, with(""), "edge"), []string{"a", "b"}},
		"of a VIM that nobody checked":  {ask(b.VIMNamespaces, plain, "core"), nil},
		"of a VIM that is not there":    {ask(b.VIMNamespaces, plain, "none"), nil},
		"of a short id of nobody":       {ask(b.VIMNamespaces, plain, "beef0"), nil},
		"of no VIM":                     {ask(b.VIMNamespaces, plain), nil},
		"the first argument":            {ask(OnlyFirst(b.VimNames), plain), []string{"edge\tkubernetes, reachable", "core\topenstack, unchecked"}},
		"behind the first argument":     {ask(OnlyFirst(b.VimNames), plain, "edge"), nil},
		"where no server can be called": {ask((&Console{}).VimNames, plain), nil},
	}
	b.vims = append(b.vims, v1.VIM{ID: idC, Name: "beef0", Discovered: &v1.Discovered{Regions: []string{"c"}}})
	b.server.Fail(fake.Fault{Method: "GET", Path: "/v1/vims/beef0$", Kind: fake.Refuse, Status: 403})
	tests["of a VIM that is hidden"] = struct {
		got  answer
		want []string
	}{ask(b.VIMNamespaces, plain, "beef0"), nil}
	b.server.Fail(fake.Fault{Method: "GET", Path: "/v1/vims$", Kind: fake.Drop})
	tests["where the server hangs up"] = struct {
		got  answer
		want []string
	}{ask(b.VimNames, plain), nil}
	for name, test := range tests {
		if !slices.Equal(test.got.words, test.want) || test.got.more != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("%s: %q, %v; want %q and no files", name, test.got.words, test.got.more, test.want)
		}
	}
	for _, r := range b.server.Requests() {
		if r.Path == "/v1/vims/" {
			t.Error("the server is asked for a VIM without a name")
		}
	}
	if b.out.Len()+b.err.Len() > 0 {
		t.Errorf("said: %s%s", &b.out, &b.err)
	}
}

// A completion for a flag, or a demand for one, that is not there is a fault of the program.
func TestAFlagThatIsNotThereIsAFaultOfTheProgram(t *testing.T) {
	for name, f := range map[string]func(*cobra.Command){
		"completed": func(c *cobra.Command) { MustChoose(c, "none", "a") },
		"demanded":  func(c *cobra.Command) { MustHave(c, "there", "none") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			c := &cobra.Command{}
			c.Flags().String("there", "", "")
			f(c)
		}()
	}
	c := &cobra.Command{}
	c.Flags().String("there", "", "")
	MustHave(c, "there")
	MustChoose(c, "there", "a", "b")
	if err := c.ValidateRequiredFlags(); said(err) != `required flag(s) "there" not set` {
		t.Error(err)
	}
	complete, _ := c.GetFlagCompletionFunc("there")
	if words, more := complete(c, nil, ""); !slices.Equal(words, []string{"a", "b"}) || more != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("completed by %q, %v", words, more)
	}
	for want, f := range map[cobra.ShellCompDirective]completion{cobra.ShellCompDirectiveDefault: Files, cobra.ShellCompDirectiveFilterDirs: Directories} {
		if words, more := f(nil, nil, ""); len(words) > 0 || more != want {
			t.Errorf("completed by %q, %v; want %v", words, more, want)
		}
	}
}
