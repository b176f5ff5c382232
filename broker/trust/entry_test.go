package trust_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/trust"
)

// Each edit makes one flaw of a sound entry, in the field that it edits; edits at a bound make none.
func TestEachFlawOfAnEntryNamesItsField(t *testing.T) {
	keys := string(newBench(t).issuer.JWKS())
	rule := func(edit func(*trust.Mapping)) func(*trust.Authority) {
		return func(e *trust.Authority) { edit(&e.Principals[0]) }
	}
	match := func(claims ...string) func(*trust.Authority) {
		return rule(func(r *trust.Mapping) {
			r.Match = map[string]string{}
			for i := 0; i < len(claims); i += 2 {
				r.Match[claims[i]] = claims[i+1]
			}
		})
	}
	on := func(platform string, edit func(*trust.Authority)) func(*trust.Authority) {
		return func(e *trust.Authority) { e.Platform = platform; edit(e) }
	}
	none := func(*trust.Authority) {}
	for what, c := range map[string]struct {
		edit func(*trust.Authority)
		want string
	}{
		"nothing":                 {none, ""},
		"no name":                 {func(e *trust.Authority) { e.Name = "" }, "name"},
		"issuer and cluster":      {func(e *trust.Authority) { e.VIM = "core/hub" }, "issuer"},
		"neither":                 {func(e *trust.Authority) { e.Issuer = "" }, "issuer"},
		"a cluster alone":         {func(e *trust.Authority) { e.Issuer, e.VIM = "", "core/hub" }, ""},
		"plain http":              {func(e *trust.Authority) { e.Issuer = "http://id.example" }, "issuer"},
		"http here":               {func(e *trust.Authority) { e.Issuer = "http://127.0.0.1:9" }, ""},
		"another scheme":          {func(e *trust.Authority) { e.Issuer = "ftp://127.0.0.1" }, "issuer"},
		"no host":                 {func(e *trust.Authority) { e.Issuer = "https:///a" }, "issuer"},
		"a query":                 {func(e *trust.Authority) { e.Issuer += "?a=b" }, "issuer"},
		"an empty query":          {func(e *trust.Authority) { e.Issuer += "?" }, "issuer"},
		"a fragment":              {func(e *trust.Authority) { e.Issuer += "#a" }, "issuer"},
		"a user":                  {func(e *trust.Authority) { e.Issuer = "https://a@id.example" }, "issuer"},
		"no URL":                  {func(e *trust.Authority) { e.Issuer = "https://id.example/%zz" }, "issuer"},
		"keys":                    {func(e *trust.Authority) { e.Keys = keys }, ""},
		"keys of a cluster":       {func(e *trust.Authority) { e.Issuer, e.VIM, e.Keys = "", "core/hub", keys }, "keysFile"},
		"no keys":                 {func(e *trust.Authority) { e.Keys = "{}" }, "keysFile"},
		"a CA":                    {func(e *trust.Authority) { e.CA = newAuthority(t, "ours").pem() }, ""},
		"no CA":                   {func(e *trust.Authority) { e.CA = "x" }, "caFile"},
		"no authorities":          {func(e *trust.Authority) { e.Issuer, e.Certificates = "", &trust.Certificates{CA: "x"} }, "certificates.caFile"},
		"login":                   {func(e *trust.Authority) { e.Login = &trust.Signin{ClientID: "c"} }, ""},
		"login as nobody":         {func(e *trust.Authority) { e.Login = &trust.Signin{} }, "login"},
		"login at a cluster":      {func(e *trust.Authority) { e.Issuer, e.VIM, e.Login = "", "core/hub", &trust.Signin{ClientID: "c"} }, "login"},
		"an algorithm of secrets": {func(e *trust.Authority) { e.Algorithms = []string{"RS256", "HS256"} }, "algorithms"},
		"no algorithm":            {func(e *trust.Authority) { e.Algorithms = []string{"none"} }, "algorithms"},
		"59 seconds":              {func(e *trust.Authority) { e.MaxLife = time.Minute - time.Second }, "maxLife"},
		"a minute":                {func(e *trust.Authority) { e.MaxLife = time.Minute }, ""},
		"a hold in the past":      {func(e *trust.Authority) { e.Hold = -1 }, "hold"},
		"another platform":        {on("gitea", none), "platform"},
		"no rule":                 {func(e *trust.Authority) { e.Principals = nil }, "principals"},

		"anybody":                      {match("sub", "*"), "principals[0].match"},
		"anybody twice":                {match("sub", "*", "aud", "***"), "principals[0].match"},
		"no claim at all":              {match(), "principals[0].match"},
		"one in particular":            {match("sub", "*", "groups", "noc"), ""},
		"a claim without a name":       {match("", "a", "sub", "alice"), "principals[0].match"},
		"a claim without a pattern":    {match("ref", "", "sub", "alice"), "principals[0].match"},
		"GitHub, no ref":               {on(trust.GitHub, match("repository", "acme/edge")), "principals[0].match"},
		"GitHub, any ref":              {on(trust.GitHub, match("repository", "acme/edge", "ref", "*")), "principals[0].match"},
		"GitHub, any of acme":          {on(trust.GitHub, match("repository", "acme/*", "ref", "refs/heads/main")), "principals[0].match"},
		"GitHub, some ref":             {on(trust.GitHub, match("repository", "acme/edge", "ref", "refs/heads/*")), ""},
		"GitHub, by id":                {on(trust.GitHub, match("repository_id", "7", "job_workflow_ref", "acme/*")), ""},
		"GitHub, environment":          {on(trust.GitHub, match("repository_id", "7", "environment", "prod")), ""},
		"GitHub, protected":            {on(trust.GitHub, match("repository_id", "7", "ref_protected", "true")), ""},
		"GitLab, any of acme":          {on(trust.GitLab, match("project_path", "acme/*")), "principals[0].match"},
		"GitLab, a branch of anybody":  {on(trust.GitLab, match("ref", "main")), "principals[0].match"},
		"GitLab":                       {on(trust.GitLab, match("project_path", "acme/edge")), ""},
		"GitLab, by id":                {on(trust.GitLab, match("project_id", "7")), ""},
		"GitHub by its address":        {func(e *trust.Authority) { e.Issuer = "https://token.actions.githubusercontent.com" }, "principals[0].match"},
		"GitLab by its address":        {func(e *trust.Authority) { e.Issuer = "https://gitlab.com" }, "principals[0].match"},
		"a GitLab of one's own":        {func(e *trust.Authority) { e.Issuer = "https://gitlab.acme.example" }, "principals[0].match"},
		"who is only called so":        {func(e *trust.Authority) { e.Issuer = "https://mygitlab.com" }, ""},
		"a name that is no template":   {rule(func(r *trust.Mapping) { r.Name = "{a" }), "principals[0].name"},
		"a name of no claim":           {rule(func(r *trust.Mapping) { r.Name = "{}" }), "principals[0].name"},
		"a name of eight":              {rule(func(r *trust.Mapping) { r.Name = strings.Repeat("{a}", 8) }), ""},
		"a name of nine":               {rule(func(r *trust.Mapping) { r.Name = strings.Repeat("{a}", 9) }), "principals[0].name"},
		"no project":                   {rule(func(r *trust.Mapping) { r.Project = "" }), "principals[0].project"},
		"a project that is no name":    {rule(func(r *trust.Mapping) { r.Project = "a b" }), "principals[0].project"},
		"a project in half a brace":    {rule(func(r *trust.Mapping) { r.Project = "a}" }), "principals[0].project"},
		"a project of a claim":         {rule(func(r *trust.Mapping) { r.Project = "{tenant}" }), "principals[0].projects"},
		"a project of a claim, listed": {rule(func(r *trust.Mapping) { r.Project, r.Projects = "{tenant}", []string{"acme"} }), ""},
		"a list that nothing chooses":  {rule(func(r *trust.Mapping) { r.Projects = []string{"acme"} }), "principals[0].projects"},
		"a listed one that is no name": {rule(func(r *trust.Mapping) { r.Project, r.Projects = "{tenant}", []string{"acme", "a b"} }), "principals[0].projects"},
		"no role":                      {rule(func(r *trust.Mapping) { r.Roles = nil }), "principals[0].roles"},
		"a role that is no name":       {rule(func(r *trust.Mapping) { r.Roles = []string{"a b"} }), "principals[0].roles"},
		"the broker's own role":        {rule(func(r *trust.Mapping) { r.Roles = []string{"member", "system"} }), "principals[0].roles"},
	} {
		e := trust.Authority{Name: "corp", Issuer: "https://id.example", Principals: []trust.Mapping{
			{Match: map[string]string{"sub": "alice"}, Project: "core", Roles: []string{"member"}},
		}}
		c.edit(&e)
		if c.want == "" {
			e.MaxLife = max(e.MaxLife, 0)
			for _, f := range e.Flaws() {
				t.Errorf("%s: without its defaults it has a flaw of %s: %s", what, f.Field, f.Text)
			}
		}
		var fields []string
		for _, f := range e.WithDefaults().Flaws() {
			if f.Text == "" {
				t.Errorf("%s: a flaw of %s without a text", what, f.Field)
			}
			fields = append(fields, f.Field)
		}
		if fields = slices.Compact(fields); strings.Join(fields, " ") != c.want {
			t.Errorf("%s: flaws in %q, want %q", what, fields, c.want)
		}
	}
}
