package conformance

import (
	"context"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

func normalizeKeeps(t *testing.T, s *subject) {
	if s.a.Target.Endpoint == "" || s.a.Target.CACert == "" {
		t.Errorf("target = %+v, want an endpoint and the CA that was given", s.a.Target)
	}
	if s.a.Target.InsecureSkipVerify || s.a.Credential.Kind == "" {
		t.Errorf("insecure = %v, credential kind = %q", s.a.Target.InsecureSkipVerify, s.a.Credential.Kind)
	}
	again := broker.Registration{
		Endpoint: s.a.Target.Endpoint, CACert: s.a.Target.CACert, Namespace: s.a.Target.Namespace, Scope: s.a.Target.Scope, Credential: s.a.Credential,
	}
	target, credential, err := s.d.Normalize(again)
	if err != nil {
		t.Fatalf("Normalize of what it returned: %v", err)
	}
	if diff := cmp.Diff(s.a.Target, target); diff != "" {
		t.Errorf("normalized twice, target differs (-once +twice):\n%s", diff)
	}
	same := cmp.Comparer(func(a, b secret.Text) bool { return a.Equal(b) })
	if !cmp.Equal(s.a.Credential, credential, same) {
		t.Errorf("normalized twice, credential differs")
	}
}

// normalizeRefuses also shows that a secret in the wrong place is not repeated.
func normalizeRefuses(t *testing.T, s *subject) {
	const canary = "canary-7f3a-in-a-registration"
	s.leaks.add("canary", canary)
	for name, c := range map[string]struct {
		spoil func(*broker.Registration)
		field string
	}{
		"no endpoint":      {func(r *broker.Registration) { r.Endpoint = "" }, "endpoint"},
		"a path only":      {func(r *broker.Registration) { r.Endpoint = "/" + canary }, "endpoint"},
		"plain http":       {func(r *broker.Registration) { r.Endpoint = "http://127.0.0.1:1/" }, "endpoint"},
		"user information": {func(r *broker.Registration) { r.Endpoint = "https://good:" + canary + "@127.0.0.1:1" }, "endpoint"},
		"a query":          {func(r *broker.Registration) { r.Endpoint = "https://127.0.0.1:1/?token=" + canary }, "endpoint"},
		"a fragment":       {func(r *broker.Registration) { r.Endpoint = "https://127.0.0.1:1/#" + canary }, "endpoint"},
		"no credential":    {func(r *broker.Registration) { r.Credential = broker.Credential{} }, "credential"},
		"CA is no PEM":     {func(r *broker.Registration) { r.CACert = canary }, "caCert"},
		"CA and insecure":  {func(r *broker.Registration) { r.InsecureSkipVerify = true }, "insecureSkipVerify"},
		"two credentials": {func(r *broker.Registration) {
			r.Credential.Token, r.Credential.Password = secret.NewText(canary), secret.NewText(canary)
			r.Credential.Username = "u"
		}, "credential"},
		"token of lines":    {func(r *broker.Registration) { r.Credential = token(canary + "\nX-Header: a") }, "credential"},
		"a key, no cert":    {func(r *broker.Registration) { r.Credential = broker.Credential{ClientKey: secret.NewText(canary)} }, "credential"},
		"namespace is none": {func(r *broker.Registration) { r.Namespace = "No/Namespace" }, "namespace"},
	} {
		if name == "plain http" && s.PlainHTTP {
			continue
		}
		r := s.Registration
		c.spoil(&r)
		_, _, err := s.d.Normalize(r)
		wantField(t, name, err, c.field)
	}
	r := broker.Registration{Kubeconfig: secret.NewText("clusters: [{name: x, cluster: {server: " + canary)}
	if _, _, err := s.d.Normalize(r); err == nil {
		t.Error("a kubeconfig that is no YAML was taken")
	}
}

func token(text string) broker.Credential {
	return broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(text)}
}

func checkEveryCredential(t *testing.T, s *subject) {
	all := map[string]broker.Registration{"the first": s.Registration}
	for name, r := range s.Others {
		all[name] = r
	}
	identity := ""
	for name, r := range all {
		a := s.access(t, r)
		// Twice, and by two drivers: the identity is the VIM's, and stays.
		for _, d := range []broker.Driver{s.d, s.d, s.restarted(t)} {
			report, err := d.Check(t.Context(), a)
			if err != nil {
				t.Errorf("Check with %s: %v", name, err)
				continue
			}
			if identity == "" {
				identity = report.Identity
			}
			if report.Identity == "" || report.Identity != identity {
				t.Errorf("Check with %s: identity %q, want %q", name, report.Identity, identity)
			}
			if !report.CanMint || report.MintMessage != "" {
				t.Errorf("Check with %s: can mint = %v, %q", name, report.CanMint, report.MintMessage)
			}
			if n := len([]rune(report.Version)); n == 0 || n > 64 || !printable(report.Version) {
				t.Errorf("Check with %s: version %q, want 1 to 64 printable characters", name, report.Version)
			}
			if at := report.CredentialExpiresAt; !at.IsZero() && (at.Location() != time.UTC || at.Before(s.Now())) {
				t.Errorf("Check with %s: credential expires at %v, want a time to come, in UTC", name, at)
			}
		}
	}
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func checkTouchesNothing(t *testing.T, s *subject) {
	before := s.Everything(t)
	if _, err := s.d.Check(t.Context(), s.a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.Everything(t), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("Check changed the VIM (-before +after):\n%s", diff)
	}
}

func checkWrongCredential(t *testing.T, s *subject) {
	for name, r := range s.Refused {
		report, err := s.d.Check(t.Context(), s.access(t, r))
		wantKind(t, "Check with "+name, err, broker.ErrUnauthorized)
		if report.CanMint {
			t.Errorf("Check with %s: says that it can mint", name)
		}
	}
	// A connection that a good credential opened must not vouch for a bad one.
	if _, err := s.d.Check(t.Context(), s.a); err != nil {
		t.Fatal(err)
	}
	for name, r := range s.Refused {
		target, credential, err := s.d.Normalize(r)
		if err != nil || target.Endpoint != s.a.Target.Endpoint {
			continue
		}
		bad := s.a
		bad.Credential = credential
		_, err = s.d.Check(t.Context(), bad)
		wantKind(t, "Check with "+name+" after a good credential", err, broker.ErrUnauthorized)
	}
}

func checkWrongCA(t *testing.T, s *subject) {
	// Were a connection kept under the VIM's id alone, it would be used here.
	if _, err := s.d.Check(t.Context(), s.a); err != nil {
		t.Fatal(err)
	}
	other, err := pki.NewCA("a CA that did not sign it")
	if err != nil {
		t.Fatal(err)
	}
	bad := s.a
	bad.Target.CACert = string(other.PEM)
	_, err = s.d.Check(t.Context(), bad)
	wantKind(t, "Check under another CA", err, broker.ErrUnreachable)
	bad.Target.CACert = ""
	_, err = s.d.Check(t.Context(), bad)
	wantKind(t, "Check under the system's CAs", err, broker.ErrUnreachable)
	bad.Target.InsecureSkipVerify = true
	if _, err := s.d.Check(t.Context(), bad); err != nil {
		t.Errorf("Check without verification, as was asked for: %v", err)
	}
}

func checkCannotMint(t *testing.T, s *subject) {
	if s.Powerless.Credential.Empty() {
		t.Skip("whoever this kind of VIM knows can mint")
	}
	a := s.access(t, s.Powerless)
	report, err := s.d.Check(t.Context(), a)
	if err != nil {
		t.Fatalf("Check of a VIM that cannot mint: %v", err)
	}
	if report.CanMint || report.MintMessage == "" || report.Identity == "" {
		t.Errorf("report = %+v, want one that cannot mint, says why, and knows the VIM", report)
	}
	before := s.Everything(t)
	_, err = s.d.Issue(t.Context(), a, s.grant(t, s.Reader, s.MinTTL))
	wantKind(t, "Issue without the right", err, broker.ErrForbidden)
	wantSet(t, "objects after a forbidden Issue", s.Everything(t), before)
}

func prepareRefuses(t *testing.T, s *subject) {
	good := broker.Grant{Lease: "l", Handle: "h", TTL: s.MinTTL, Role: s.Reader}
	for name, c := range map[string]struct {
		change func(*broker.Grant)
		field  string
	}{
		"TTL just below the minimum": {func(g *broker.Grant) { g.TTL = s.MinTTL - time.Second }, "ttl"},
		"no TTL":                     {func(g *broker.Grant) { g.TTL = 0 }, "ttl"},
		"negative TTL":               {func(g *broker.Grant) { g.TTL = -time.Hour }, "ttl"},
		"role with a slash":          {func(g *broker.Grant) { g.Role = "a/b" }, "role"},
		"role with a line":           {func(g *broker.Grant) { g.Role = "a\nb" }, "role"},
		"namespace with a slash":     {func(g *broker.Grant) { g.Namespaces = []string{"a/../b"} }, "namespaces"},
		"empty namespace":            {func(g *broker.Grant) { g.Namespaces = []string{""} }, "namespaces"},
	} {
		g := good
		c.change(&g)
		_, err := s.d.Prepare(g)
		wantField(t, name, err, c.field)
	}
	// Issue does not rely on having been prepared for what upstream would refuse.
	g := s.grant(t, s.Reader, s.MinTTL)
	g.TTL = s.MinTTL - time.Second
	_, err := s.d.Issue(context.WithoutCancel(t.Context()), s.a, g)
	wantField(t, "Issue below the minimum", err, "ttl")
}

func prepareIsStable(t *testing.T, s *subject) {
	g := s.grant(t, "", s.MinTTL, s.Namespaces[1], s.Namespaces[0], s.Namespaces[1])
	if g.Role == "" && !s.AnyRole {
		t.Error("no default role was filled in")
	}
	if s.Namespaces[0] != "" {
		wantSet(t, "prepared namespaces", g.Namespaces, s.Namespaces[:])
	}
	again, err := s.d.Prepare(g)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g, again); diff != "" {
		t.Errorf("prepared twice (-once +twice):\n%s", diff)
	}
}
