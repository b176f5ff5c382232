package kubernetes

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

func fieldOf(err error) string {
	if e, is := errors.AsType[*broker.Error](err); is {
		return e.Field
	}
	return ""
}

// A credential is of one kind, whole, and within its bounds; the error names what is not.
func TestCredentialsThatAreTaken(t *testing.T) {
	f := credentialFields{whole: "whole", token: "token", certificate: "certificate", key: "key", username: "username", password: "password"}
	text := func(n int) secret.Text { return secret.NewText(strings.Repeat("x", n)) }
	for name, c := range map[string]struct {
		in    broker.Credential
		kind  broker.CredentialKind
		field string
	}{
		"a token":                 {broker.Credential{Token: text(maxToken)}, broker.CredentialBearerToken, ""},
		"a token by its kind":     {broker.Credential{Token: text(1), Kind: broker.CredentialBearerToken}, broker.CredentialBearerToken, ""},
		"a token of another kind": {broker.Credential{Token: text(1), Kind: broker.CredentialBasicAuth}, "", "whole"},
		"a token too long":        {broker.Credential{Token: text(maxToken + 1)}, "", "token"},
		"a token with a blank":    {broker.Credential{Token: secret.NewText("a b")}, "", "token"},
		"a token to the last":     {broker.Credential{Token: secret.NewText("!~")}, broker.CredentialBearerToken, ""},
		"a token beyond":          {broker.Credential{Token: secret.NewText("\x7f")}, "", "token"},
		"nothing":                 {broker.Credential{}, "", "whole"},
		"a token and a user":      {broker.Credential{Token: text(1), Username: "u"}, "", "whole"},
		"a token and a password":  {broker.Credential{Token: text(1), Password: text(1)}, "", "whole"},
		"a token and a key":       {broker.Credential{Token: text(1), ClientKey: text(1)}, "", "whole"},
		"a key and a user":        {broker.Credential{ClientKey: text(1), Username: "u"}, "", "whole"},
		"all":                     {broker.Credential{Token: text(1), ClientCertificate: "c", Username: "u"}, "", "whole"},
		"a certificate alone":     {broker.Credential{ClientCertificate: "c"}, "", "key"},
		"a key alone":             {broker.Credential{ClientKey: text(1)}, "", "certificate"},
		"a certificate, none":     {broker.Credential{ClientCertificate: "c", ClientKey: text(1)}, "", "certificate"},
		"a user":                  {broker.Credential{Username: strings.Repeat("u", maxUsername), Password: text(maxPassword)}, broker.CredentialBasicAuth, ""},
		"a user too long":         {broker.Credential{Username: strings.Repeat("u", maxUsername+1), Password: text(1)}, "", "username"},
		"a user with a colon":     {broker.Credential{Username: "a:b", Password: text(1)}, "", "username"},
		"a user with a sign":      {broker.Credential{Username: "a\x7f", Password: text(1)}, "", "username"},
		"a user with a tab":       {broker.Credential{Username: "a\t", Password: text(1)}, "", "username"},
		"a user with a blank":     {broker.Credential{Username: "a b", Password: text(1)}, broker.CredentialBasicAuth, ""},
		"a user alone":            {broker.Credential{Username: "u"}, "", "password"},
		"a password alone":        {broker.Credential{Password: text(1)}, "", "username"},
		"a password too long":     {broker.Credential{Username: "u", Password: text(maxPassword + 1)}, "", "password"},
		"a password with a sign":  {broker.Credential{Username: "u", Password: secret.NewText("\x7f")}, "", "password"},
	} {
		got, err := credential(c.in, f)
		if got.Kind != c.kind || fieldOf(err) != c.field || err == nil != (c.field == "") || err == nil && (got.Token.Reveal() != c.in.Token.Reveal() || got.Username != c.in.Username || got.Password.Reveal() != c.in.Password.Reveal()) {
			t.Errorf("%s: %s, %v, want %s, %q", name, got.Kind, err, c.kind, c.field)
		}
	}
	for _, c := range []broker.Credential{{Kind: "k"}, {Token: text(1)}, {ClientCertificate: "c"}, {ClientKey: text(1)}, {Username: "u"}, {Password: text(1)}} {
		if isZero(c) {
			t.Errorf("%+v is none", c)
		}
		r := broker.Registration{Kubeconfig: secret.NewText("x"), Credential: c}
		if _, _, err := normalize(r); fieldOf(err) != "credential" {
			t.Errorf("%+v beside a kubeconfig: %v", c, err)
		}
	}
	if !isZero(broker.Credential{}) {
		t.Error("no credential is one")
	}
}

// What is another system's, or says a thing twice, is refused by its field.
func TestRegistrationsThatAreRefused(t *testing.T) {
	const endpoint = "https://api.example"
	for name, c := range map[string]struct {
		r     broker.Registration
		field string
	}{
		"another type":               {broker.Registration{Type: "openstack"}, "type"},
		"a clouds.yaml":              {broker.Registration{CloudsYAML: secret.NewText("x")}, "cloudsYaml"},
		"a cloud":                    {broker.Registration{Cloud: "c"}, "cloudsYaml"},
		"a region":                   {broker.Registration{Scope: broker.Scope{Region: "r"}}, "region"},
		"a project":                  {broker.Registration{Scope: broker.Scope{ProjectName: "p"}}, "project"},
		"a context of no kubeconfig": {broker.Registration{Context: "c", Endpoint: endpoint}, "context"},
		"authorities that are none":  {broker.Registration{Endpoint: endpoint, CACert: "x"}, "caCert"},
		"a server's name, none":      {broker.Registration{Endpoint: endpoint, ServerName: "a b"}, "serverName"},
		"a namespace that is none":   {broker.Registration{Endpoint: endpoint, Credential: broker.Credential{Token: secret.NewText("t")}, Namespace: "A"}, "namespace"},
		"an endpoint beside":         {broker.Registration{Kubeconfig: secret.NewText("x"), Endpoint: endpoint}, "endpoint"},
		"authorities beside":         {broker.Registration{Kubeconfig: secret.NewText("x"), CACert: "x"}, "caCert"},
		"a server's name beside":     {broker.Registration{Kubeconfig: secret.NewText("x"), ServerName: "x"}, "serverName"},
		"a kubeconfig with authorities, unverified": {
			broker.Registration{InsecureSkipVerify: true, Kubeconfig: secret.NewText("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n" +
				"users: [{name: u, user: {token: t}}]\nclusters: [{name: k, cluster: {server: 'https://api.example', certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte(authority(t))) + "}}]\n")},
			"insecureSkipVerify",
		},
		"a kubeconfig too long": {broker.Registration{Kubeconfig: secret.NewText(strings.Repeat(" ", maxKubeconfig+1))}, "kubeconfig"},
	} {
		if _, _, err := normalize(c.r); fieldOf(err) != c.field || !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%s: %v, want one of %s", name, err, c.field)
		}
	}
	kubeconfig := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nusers: [{name: u, user: {token: t}}]\n" +
		"clusters: [{name: k, cluster: {server: 'https://api.example', insecure-skip-tls-verify: true}}]\n"
	padded := kubeconfig + strings.Repeat("#", maxKubeconfig-len(kubeconfig))
	if target, _, err := normalize(broker.Registration{Kubeconfig: secret.NewText(padded), InsecureSkipVerify: true}); err != nil || !target.InsecureSkipVerify || target.Namespace != "default" {
		t.Errorf("a kubeconfig as long as may be: %+v, %v", target, err)
	}
	if _, _, err := normalize(broker.Registration{Kubeconfig: secret.NewText(kubeconfig)}); err == nil || !strings.Contains(err.Error(), "cannot turn off the verification") {
		t.Errorf("one that turns verification off alone: %v", err)
	}
}

// jwt is a token with a payload.
func jwt(payload string) string {
	return "a." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c"
}

// A token's own end and claims are read as far as they can be.
func TestTokensThatAreRead(t *testing.T) {
	for token, want := range map[string]int64{
		jwt(`{"exp":1}`): 1, jwt(`{"exp":0}`): 0, jwt(`{"exp":-1}`): 0, jwt(`{"exp":253402300799}`): 253402300799, jwt(`{"exp":253402300800}`): 0, jwt(`{`): 0, "a.*.c": 0, "a.b": 0, jwt(`{"exp":1}`) + ".d": 0,
	} {
		got := tokenExpiry(token)
		if want == 0 && !got.IsZero() || want != 0 && got.Unix() != want {
			t.Errorf("%s ends at %v, want %d", token, got, want)
		}
	}
	granted := func(token string, at time.Time) *authenticationv1.TokenRequest {
		r := &authenticationv1.TokenRequest{}
		r.Status.Token, r.Status.ExpirationTimestamp = token, metav1.NewTime(at)
		return r
	}
	at := time.Unix(1, 0)
	for name, c := range map[string]struct {
		r  *authenticationv1.TokenRequest
		ok bool
	}{
		"a token": {granted(strings.Repeat("t", maxToken), at), true}, "one too long": {granted(strings.Repeat("t", maxToken+1), at), false}, "none": {granted("", at), false}, "an odd one": {granted("a b", at), false},
		"one without end": {granted("t", time.Time{}), false},
	} {
		if m, err := minted(c.r); err == nil != c.ok || c.ok && (m.Credential.Token.Reveal() != c.r.Status.Token || !m.ExpiresAt.Equal(at) || m.MaxRevocationLag != maxRevocationLag) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	for text, want := range map[string]string{"a b~\x7f!": "ab~!", strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 65): strings.Repeat("x", 64)} {
		if got := printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for ttl, want := range map[time.Duration]string{minTTL: "", minTTL - 1: "ttl", maxTTL: "", maxTTL + 1: "ttl"} {
		if err := checkTTL(ttl); fieldOf(err) != want || err == nil != (want == "") {
			t.Errorf("a life of %v: %v", ttl, err)
		}
	}
	for ttl, want := range map[time.Duration]int64{time.Hour: 3600, legacyTTL: int64(legacyTTL/time.Second) - 1, legacyTTL + time.Second: int64(legacyTTL/time.Second) + 1} {
		if got := *seconds(ttl); got != want {
			t.Errorf("a life of %v is asked for as %d, want %d", ttl, got, want)
		}
	}
}

// Rules are whole and bounded; the error names the list.
func TestRulesThatARoleHolds(t *testing.T) {
	words := func(n int) []string { return slices.Repeat([]string{"pods"}, n) }
	rule := func(groups, resources, verbs, names []string) broker.Rule {
		return broker.Rule{APIGroups: groups, Resources: resources, Verbs: verbs, ResourceNames: names}
	}
	good := rule([]string{""}, []string{"pods"}, []string{"get"}, nil)
	one := func(change func(*broker.Rule)) []broker.Rule {
		r := good
		change(&r)
		return []broker.Rule{r}
	}
	for name, c := range map[string]struct {
		rules []broker.Rule
		field string
	}{
		"as many as may be":     {slices.Repeat([]broker.Rule{good}, maxRules), ""},
		"one more":              {slices.Repeat([]broker.Rule{good}, maxRules+1), "rules"},
		"no groups":             {one(func(r *broker.Rule) { r.APIGroups = nil }), "rules.0.apiGroups"},
		"no resources":          {one(func(r *broker.Rule) { r.Resources = nil }), "rules.0.resources"},
		"no verbs":              {one(func(r *broker.Rule) { r.Verbs = nil }), "rules.0.verbs"},
		"a full list":           {one(func(r *broker.Rule) { r.Resources = words(maxRuleItems) }), ""},
		"a list too long":       {one(func(r *broker.Rule) { r.Resources = words(maxRuleItems + 1) }), "rules.0.resources"},
		"names too many":        {one(func(r *broker.Rule) { r.ResourceNames = words(maxRuleItems + 1) }), "rules.0.resourceNames"},
		"a long word":           {one(func(r *broker.Rule) { r.ResourceNames = []string{strings.Repeat("x", maxRuleText)} }), ""},
		"a word too long":       {one(func(r *broker.Rule) { r.ResourceNames = []string{strings.Repeat("x", maxRuleText+1)} }), "rules.0.resourceNames"},
		"a word to the last":    {one(func(r *broker.Rule) { r.ResourceNames = []string{"!~"} }), ""},
		"a word beyond":         {one(func(r *broker.Rule) { r.ResourceNames = []string{"\x7f"} }), "rules.0.resourceNames"},
		"a blank":               {one(func(r *broker.Rule) { r.ResourceNames = []string{"a b"} }), "rules.0.resourceNames"},
		"an empty name":         {one(func(r *broker.Rule) { r.ResourceNames = []string{""} }), ""},
		"an empty resource":     {one(func(r *broker.Rule) { r.Resources = []string{"pods", ""} }), "rules.0.resources"},
		"an empty verb":         {one(func(r *broker.Rule) { r.APIGroups, r.Verbs = []string{"x.example.com"}, []string{""} }), "rules.0.verbs"},
		"an unheard verb":       {append([]broker.Rule{good}, one(func(r *broker.Rule) { r.Verbs = []string{"got"} })...), "rules.1.verbs"},
		"a verb with a colon":   {one(func(r *broker.Rule) { r.Verbs = []string{"impersonate:x"} }), ""},
		"a verb of others":      {one(func(r *broker.Rule) { r.APIGroups, r.Verbs = []string{"", "x.example.com"}, []string{"got"} }), ""},
		"two groups of its own": {one(func(r *broker.Rule) { r.APIGroups, r.Verbs = []string{"", "apps"}, []string{"got"} }), "rules.0.verbs"},
	} {
		if err := checkRules(c.rules); fieldOf(err) != c.field || err == nil != (c.field == "") {
			t.Errorf("%s: %v, want one of %q", name, err, c.field)
		}
	}
	policy := func(r broker.Rule) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs}
	}
	path := policy(good)
	path.NonResourceURLs = []string{"/x"}
	for name, c := range map[string]struct {
		has  []rbacv1.PolicyRule
		same bool
	}{
		"the same": {[]rbacv1.PolicyRule{policy(good)}, true}, "a path beside": {[]rbacv1.PolicyRule{policy(good), {NonResourceURLs: []string{"/x"}, Verbs: []string{"get"}}}, false}, "a path before": {[]rbacv1.PolicyRule{{NonResourceURLs: []string{"*"}, Verbs: []string{"*"}}, policy(good)}, false},
		"more": {[]rbacv1.PolicyRule{policy(good), policy(rule([]string{""}, []string{"secrets"}, []string{"get"}, nil))}, false}, "none": {nil, false}, "with a path": {[]rbacv1.PolicyRule{path}, false},
	} {
		if sameRules(c.has, []broker.Rule{good}) != c.same {
			t.Errorf("%s are the same rules: %t", name, !c.same)
		}
		h := homeOf("v", broker.Grant{Rules: []broker.Rule{good}, Epoch: 1})
		i := &item{Rules: c.has}
		i.Metadata.Labels = h.labels()
		if h.holds(i) != c.same {
			t.Errorf("a role with %s is the home's: %t", name, !c.same)
		}
		now := metav1.Now()
		if i.Metadata.Deleted = &now; h.holds(i) {
			t.Errorf("a role with %s that goes is the home's", name)
		}
	}
}

// A home is read back from its deed where that is the one of its id.
func TestDeedsOfHomes(t *testing.T) {
	h := homeOf("v", broker.Grant{Role: "view", Namespaces: []string{"n"}, Epoch: 1})
	for name, c := range map[string]struct {
		text, id string
		ok       bool
	}{"its own": {h.deed(), h.id, true}, "another's": {h.deed(), "x", false}, "none": {"x", "", false}, "nothing": {"", "", false}} {
		if got, ok := homeFrom(c.text, c.id); ok != c.ok || ok && got.id != h.id {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
	for s, want := range map[rbacv1.Subject]string{
		{Kind: "ServiceAccount", Name: "a", Namespace: "n"}: "n", {Kind: "User", Name: "system:serviceaccount:n:a"}: "n", {Kind: "User", Name: "a"}: "", {Kind: "Group", Name: "system:serviceaccount:n:a"}: "",
		{Kind: "Group", Name: "system:serviceaccounts:n"}: "n", {Kind: "User", Name: "system:serviceaccounts:n"}: "", {Kind: "Group", Name: "system:serviceaccounts"}: "*", {Kind: "Group", Name: "system:authenticated"}: "*",
		{Kind: "User", Name: "system:authenticated"}: "", {Kind: "User", Name: "system:serviceaccounts"}: "", {Kind: "Group", Name: "x"}: "",
	} {
		if got := namespaceOf(s); got != want {
			t.Errorf("accounts of %+v are in %q, want %q", s, got, want)
		}
	}
	for cluster, want := range map[*broker.Cluster]bool{nil: false, {Mode: broker.ModePrepared}: true, {}: false} {
		a := broker.Access{}
		if a.Discovered.Cluster = cluster; isPrepared(a) != want {
			t.Errorf("%+v is prepared: %t", cluster, !want)
		}
	}
	s := broker.Shelved{Target: "t", Login: "l"}
	for name, c := range map[string]struct {
		labels map[string]string
		want   bool
	}{
		"its own": {map[string]string{managedByLabel: managedBy, targetLabel: "t", loginLabel: "l"}, true}, "not ours": {map[string]string{targetLabel: "t", loginLabel: "l"}, false},
		"another target's": {map[string]string{managedByLabel: managedBy, targetLabel: "u", loginLabel: "l"}, false}, "another login's": {map[string]string{managedByLabel: managedBy, targetLabel: "t", loginLabel: "m"}, false},
	} {
		if isShelved(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}}, s) != c.want {
			t.Errorf("a Secret of %s is the shelf's: %t", name, !c.want)
		}
	}
}

// A reason names five objects; what has every right says so, whatever else it has.
func TestReasonsOfGrades(t *testing.T) {
	e := escalation{resource: "secrets"}
	for n, want := range map[int]string{0: "", 5: " by secrets n0, n1, n2, n3, n4", 6: " by secrets n0, n1, n2, n3, n4, and others"} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("n", i))
		}
		if got := e.named(broker.Rule{ResourceNames: names}); got != want {
			t.Errorf("%d objects are named %q, want %q", n, got, want)
		}
	}
	every := broker.Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	for name, change := range map[string]func(*broker.Rule){
		"everything": func(*broker.Rule) {}, "some verbs": func(r *broker.Rule) { r.Verbs = []string{"get"} }, "some resources": func(r *broker.Rule) { r.Resources = []string{"pods"} },
		"some groups": func(r *broker.Rule) { r.APIGroups = []string{"apps"} }, "some names": func(r *broker.Rule) { r.ResourceNames = []string{"a"} },
	} {
		r := every
		change(&r)
		_, reasons := assess([]broker.Rule{r}, scope{clusterWide: true})
		if got := slices.ContainsFunc(reasons, func(s string) bool { return strings.HasPrefix(s, "the holder can do everything") }); got != (name == "everything") {
			t.Errorf("%s: %q", name, reasons)
		}
	}
}

// authority is a PEM bundle of one.
func authority(t *testing.T) string {
	t.Helper()
	ca, err := pki.NewCA("an authority")
	if err != nil {
		t.Fatal(err)
	}
	return string(ca.PEM)
}

// An account has the name of the one before it, and a short one.
func TestNamesOfAccounts(t *testing.T) {
	for name, c := range map[string]struct{ of, before, want, field string }{
		"as long as may be": {strings.Repeat("a", maxAccount), "", strings.Repeat("a", maxAccount), ""},
		"too long":          {strings.Repeat("a", maxAccount+1), "", "", "account"},
		"no label":          {"A", "", "", "account"},
		"that of before":    {"a", "system:serviceaccount:vimbroker-account-b:vimbroker", "b", ""},
		"of another before": {"a", "system:serviceaccount:default:vimbroker", "a", ""},
	} {
		w, err := newOwnAccount("0123abcd-0000-4000-8000-000000000000", broker.Account{Name: c.of, Before: c.before, Profile: "engine"})
		if fieldOf(err) != c.field || err == nil && (w.name != c.want || len(w.roles) != 2 || len(w.bindings) != 2) {
			t.Errorf("%s: %s, %d roles, %d bindings, %v", name, w.name, len(w.roles), len(w.bindings), err)
		}
	}
}

// A count that has room for no more begins anew, and never before.
func TestCountsOfLeasesAreBounded(t *testing.T) {
	m := newMemory(time.Now)
	k := func(n int) memoryKey { return memoryKey{name: fmt.Sprint(n)} }
	for n := range maxTrusted {
		if got := m.count(k(n)); got != 0 {
			t.Fatalf("the first of %d has %d before it", n, got)
		}
	}
	if len(m.leases) != maxTrusted {
		t.Errorf("%d counts are kept, want %d", len(m.leases), maxTrusted)
	}
	if got := m.count(k(maxTrusted)); got != 0 || len(m.leases) != 1 {
		t.Errorf("one more has %d before it, and %d counts are kept, want that one", got, len(m.leases))
	}
}

// Who gives up while a home is made is told so, and the home is made all the same.
func TestWhoGivesUpWhileAHomeIsMade(t *testing.T) {
	m, k := newMemory(time.Now), memoryKey{name: "h"}
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	lent, takeBack := lend(ctx, broker.Credential{Kind: "k"})
	if _, err := m.ensure(lent, k, func(ctx context.Context) (string, error) {
		cancel()
		takeBack()
		<-goOn
		if lentTo(ctx).Kind != "k" {
			return "", errors.New("the credential was taken back")
		}
		return "n", ctx.Err()
	}); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("who gives up is told %v", err)
	}
	close(goOn)
	if got, err := m.ensure(t.Context(), k, func(context.Context) (string, error) { return "another", nil }); got != "n" || err != nil {
		t.Errorf("the home is in %q, %v", got, err)
	}
}

// A search for namespaces that escalate ends with its context.
func TestASearchEndsWithItsContext(t *testing.T) {
	bound := func(namespace string) *binding {
		return &binding{meta: metav1.ObjectMeta{Namespace: namespace}, role: rbacv1.RoleRef{Kind: "ClusterRole", Name: "edit"}, subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "from", Name: "a"}}}
	}
	roles := map[roleKey][]broker.Rule{{name: "edit"}: {{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}}
	within := func(n string) scope { return scope{namespaces: []string{n}} }
	for _, ends := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		settled := func(n string) string {
			if ends {
				cancel()
			}
			return "it is " + n
		}
		found, err := escalating(ctx, roles, nil, []*binding{bound("to")}, settled, within)
		if errors.Is(err, context.Canceled) != ends || (found["from"] == "") != ends {
			t.Errorf("a search that ends, %t: %q, %v", ends, found, err)
		}
		cancel()
	}
}

// A certificate that does not fit its key is presented to nobody, and neither is one that was taken back.
func TestCertificatesThatAreNotPresented(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	d := New(Options{})
	defer d.Close()
	rules := egress.Default()
	rules.AllowLoopback = true
	target, credential, err := d.Normalize(broker.Registration{Endpoint: s.Endpoint, CACert: s.CA, Credential: broker.Credential{ClientCertificate: s.AdminCert, ClientKey: secret.NewText(s.AdminKey)}})
	if err != nil {
		t.Fatal(err)
	}
	a := broker.Access{VIM: "v", Generation: 1, Target: target, Credential: credential, Egress: rules}
	another := credential
	another.ClientKey = secret.NewText("none")
	for name, c := range map[string]struct {
		credential broker.Credential
		ok         bool
	}{
		"its own": {credential, true}, "with another key": {another, false}, "none": {broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("t")}, false},
	} {
		a.Generation++
		ctx, end, conn, err := d.connectOver(t.Context(), keyOf(a), c.credential)
		if err != nil {
			t.Fatal(err)
		}
		identity, err := conn.identity(ctx)
		if (identity == s.Identity()) != c.ok || err == nil != c.ok || !c.ok && !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("a certificate that is %s: %q, %v", name, identity, err)
		}
		end()
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests came, want the one of the certificate that fits", n)
	}
}

// What an item takes in memory counts each text that is kept, and nothing else is kept.
func TestWhatAnItemTakes(t *testing.T) {
	base := new(item).trim()
	text := strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		set  func(*item)
		more int
	}{
		"a name":             {func(i *item) { i.Metadata.Name = text }, 100},
		"a namespace":        {func(i *item) { i.Metadata.Namespace = text }, 100},
		"a uid":              {func(i *item) { i.Metadata.UID = types.UID(text) }, 100},
		"a label of ours":    {func(i *item) { i.Metadata.Labels = map[string]string{vimLabel: text} }, 384 + 24 + 100},
		"a deed":             {func(i *item) { i.Metadata.Annotations = map[string]string{deedAnnotation: text} }, 384 + 24 + 100},
		"two labels of ours": {func(i *item) { i.Metadata.Labels = map[string]string{vimLabel: text, grantLabel: text} }, 384 + 2*(24+100)},
		"another label":      {func(i *item) { i.Metadata.Labels = map[string]string{"x": text} }, 0},
		"a role":             {func(i *item) { i.RoleRef = rbacv1.RoleRef{APIGroup: text, Kind: text, Name: text} }, 300},
		"a subject": {func(i *item) {
			i.Subjects = []rbacv1.Subject{{Kind: text, APIGroup: text, Name: text, Namespace: text}}
		}, 4 * (24 + 100)},
		"a rule":               {func(i *item) { i.Rules = make([]rbacv1.PolicyRule, 1) }, 192},
		"the groups of a rule": {func(i *item) { i.Rules = []rbacv1.PolicyRule{{APIGroups: []string{text}}} }, 192 + 24 + 100},
		"its resources":        {func(i *item) { i.Rules = []rbacv1.PolicyRule{{Resources: []string{text}}} }, 192 + 24 + 100},
		"its names":            {func(i *item) { i.Rules = []rbacv1.PolicyRule{{ResourceNames: []string{text}}} }, 192 + 24 + 100},
		"its verbs":            {func(i *item) { i.Rules = []rbacv1.PolicyRule{{Verbs: []string{text}}} }, 192 + 24 + 100},
	} {
		i := new(item)
		c.set(i)
		if got := i.trim() - base; got != c.more {
			t.Errorf("%s takes %d, want %d", name, got, c.more)
		}
		if name == "another label" && i.Metadata.Labels != nil {
			t.Errorf("kept are %v", i.Metadata.Labels)
		}
	}
}

// A lease is tried with each right that its rules do not give it, in the places where it would count.
func TestWhatALeaseIsTriedWith(t *testing.T) {
	rule := func(names ...string) []broker.Rule {
		return []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}, ResourceNames: names}}
	}
	for name, c := range map[string]struct {
		rules  []broker.Rule
		g      broker.Grant
		in     string
		wanted bool
	}{
		"granted there":             {rule(), broker.Grant{Namespaces: []string{"a"}}, "a", false},
		"granted elsewhere":         {rule(), broker.Grant{Namespaces: []string{"a"}}, "", true},
		"granted everywhere":        {rule(), broker.Grant{ClusterWide: true}, "", false},
		"granted on some":           {rule("p"), broker.Grant{Namespaces: []string{"a"}}, "a", true},
		"granted in another group":  {[]broker.Rule{{APIGroups: []string{"x"}, Resources: []string{"pods"}, Verbs: []string{"create"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", true},
		"granted on another kind":   {[]broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", true},
		"granted by another verb":   {[]broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", true},
		"granted by every verb":     {[]broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"*"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", false},
		"granted in every group":    {[]broker.Rule{{APIGroups: []string{"*"}, Resources: []string{"pods"}, Verbs: []string{"create"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", false},
		"granted on every kind":     {[]broker.Rule{{APIGroups: []string{""}, Resources: []string{"*"}, Verbs: []string{"create"}}}, broker.Grant{Namespaces: []string{"a"}}, "a", false},
		"granted by a second rule":  {append(rule("p"), rule()...), broker.Grant{Namespaces: []string{"a"}}, "a", false},
		"granted in the second":     {nil, broker.Grant{Namespaces: []string{"a", "b"}}, "b", true},
		"granted in the third":      {nil, broker.Grant{Namespaces: []string{"a", "b", "c"}}, "c", false},
		"granted in the cluster's":  {rule(), broker.Grant{Namespaces: []string{"kube-system"}}, "kube-system", false},
		"not granted in any of its": {nil, broker.Grant{ClusterWide: true}, "kube-system", true},
	} {
		got := forbiddenTo(c.rules, c.g)
		if is := slices.Contains(got, right{verb: "create", resource: "pods", namespace: c.in}); is != c.wanted {
			t.Errorf("making pods, %s: tried in %q %t", name, c.in, is)
		}
		for _, r := range got {
			if r.resource == "clusterrolebindings" && r.namespace != "" || r.resource == "nodes" && r.subresource == "proxy" && r.verb != "get" || r.resource == "configmaps" && r.namespace != "kube-system" {
				t.Errorf("%s: it is tried with %+v", name, r)
			}
		}
	}
}

// The credential is added to what is sent, and not to the request of the caller.
func TestARequestIsNotChanged(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{Plain: true})
	d := New(Options{})
	defer d.Close()
	rules := egress.Default()
	rules.AllowLoopback = true
	ctx, end, c, err := d.connect(t.Context(), broker.Access{VIM: "v", Target: broker.Target{Endpoint: s.Endpoint}, Egress: rules, Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(s.AdminToken)}})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/version", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if sent := s.Requests(); len(request.Header) > 0 || len(sent) != 1 || sent[0].Credential != "bearer" {
		t.Errorf("the caller's request has %v, and %+v was sent", request.Header, sent)
	}
	// What holds a lease is dialled anew, and what cannot be is no lease that can do nothing.
	odd := broker.Access{VIM: "v", Target: broker.Target{Endpoint: s.Endpoint, CACert: "none"}}
	if excess, err := d.excess(ctx, c, odd, home{grant: broker.Grant{Rules: []broker.Rule{{}}}}, broker.Minted{}); !errors.Is(err, broker.ErrInvalid) || excess != nil {
		t.Errorf("a lease where nothing can be dialled can do %q, %v", excess, err)
	}
	// A search that its context ends says so as a list does.
	if _, err := givenUp(ctx, s, c); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("a search that is given up: %v", err)
	}
}

// givenUp has a search given up while it goes on.
func givenUp(ctx context.Context, s *fakekube.Server, c *connection) (map[string]string, error) {
	s.Fail(fake.Fault{Path: "/rolebindings$", Kind: fake.JSON, Status: 200, Body: `{"kind":"RoleBindingList","items":[{"metadata":{"namespace":"to","name":"b"},"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"ServiceAccount","namespace":"from","name":"a"}]}]}`})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return c.escalatingNamespaces(ctx, func(string) string { cancel(); return "it is" }, func(n string) scope { return scope{namespaces: []string{n}} })
}

// What is remembered of a VIM goes with it, in every generation, and nothing of another.
func TestAVIMIsForgottenWhole(t *testing.T) {
	m := newMemory(time.Now)
	gone, gone2, stays := memoryKey{"a", 1, "h"}, memoryKey{"a", 2, "h"}, memoryKey{"b", 1, "h"}
	for _, k := range []memoryKey{gone, gone2, stays} {
		m.seen.Add(k, "ns", time.Hour)
		m.count(k)
	}
	m.dropVIM("a")
	for _, k := range []memoryKey{gone, gone2} {
		if _, ok := m.recall(k); ok || m.count(k) != 0 {
			t.Errorf("%v is still known", k)
		}
	}
	if _, ok := m.recall(stays); !ok || m.count(stays) != 1 {
		t.Errorf("%v is forgotten", stays)
	}
}

// A resource is known in its own group, or where any is meant, and not by its name in another.
func TestResourcesAreKnownInTheirGroup(t *testing.T) {
	for _, e := range escalations {
		if own, anywhere, elsewhere := isKnown(e.group, e.resource), isKnown("*", e.resource), isKnown("other.example", e.resource); !own || !anywhere || elsewhere {
			t.Errorf("%s of %q: known %t, in any group %t, in another's %t", e.resource, e.group, own, anywhere, elsewhere)
		}
	}
	for group, resources := range harmless {
		for _, resource := range resources {
			if !isKnown(group, resource) || !isKnown("*", resource) || isKnown("other.example", resource) {
				t.Errorf("%s of %q is not known there, or elsewhere too", resource, group)
			}
		}
	}
	for want, r := range map[string]broker.Rule{
		"[pods.apps]":                           {APIGroups: []string{"apps"}, Resources: []string{"pods"}, Verbs: []string{"create"}},
		"[]":                                    {APIGroups: []string{"apps"}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
		"[secrets/x]":                           {APIGroups: []string{""}, Resources: []string{"secrets/x", "secrets", "*"}, Verbs: []string{"get"}},
		"[widgets.batch foo.batch widgets foo]": {APIGroups: []string{"batch", "other.example", ""}, Resources: []string{"widgets", "foo"}, Verbs: []string{"delete"}},
	} {
		if got := fmt.Sprint(unknownTo(r)); got != want {
			t.Errorf("%+v: unknown are %s, want %s", r, got, want)
		}
	}
}
