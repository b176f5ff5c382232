// Package trust keeps the table of those who may say who a caller is: issuers of tokens (OpenID
// Connect, CI platforms), registered clusters and authorities of certificates. It checks what callers
// show and makes principals of it.
//
//	token --> entry (by iss) --> key (by kid) --> signature, times, audience --> rule --> principal
//
// No check waits for an issuer: its keys are fetched in the background ([Gatekeeper.Run]).
package trust

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Authority is one row of the table: an issuer of tokens (Issuer), the service accounts of a registered
// cluster (VIM), the authorities of certificates (Certificates), or a Keystone, which checks its tokens itself.
type Authority struct {
	// Name qualifies the names of its principals. It is unique in the table.
	Name string
	// Issuer is compared with iss, byte by byte. An https URL; http only on loopback.
	Issuer string
	// VIM is the registered cluster, as PROJECT/NAME or by its id.
	VIM string
	// Audience is the one that tokens must be for.
	Audience string
	// Algorithms are those that may sign; none means [defaultAlgorithms].
	Algorithms []string
	// Keys is a JWK set in JSON; empty: keys are found by discovery.
	Keys string
	// CA are the authorities (PEM) of the issuer's server; empty means the system's.
	CA string
	// Type is the header typ that tokens must have; empty takes JWT, at+jwt, or none.
	Type string
	// MaxLife bounds how long a token or a certificate is good for in all; zero means [DefaultMaxLife].
	MaxLife time.Duration
	// Once: a token is taken once, by its jti.
	Once bool
	// Platform is that of a pipeline, [GitHub] or [GitLab]; empty where the issuer does not say so.
	Platform string
	// Login is how people log in there; nil: they do not.
	Login *Signin
	// Hold is for how long work goes on for a caller who has left; zero means [policy.DefaultHold].
	Hold time.Duration
	// Principals make principals of claims: the first rule that matches counts.
	Principals []Mapping

	// Certificates are those of callers, or of registered clients where there are no Principals.
	Certificates *Certificates
	// Keystone is its address. Only the configuration has one: its login is in a file.
	Keystone string

	// roots and revoked are Certificates as [Authority.WithDefaults] reads them; lists go by the raw subject of who
	// issued them.
	roots   *x509.CertPool
	revoked map[string][]*x509.RevocationList
	badCRL  string
}

// Certificates are texts in PEM: authorities, and lists of revoked certificates that they issued.
type Certificates struct{ CA, CRL string }

// Signin is how a person gets a token of an issuer.
type Signin struct {
	ClientID string   `json:"clientID"`
	Scopes   []string `json:"scopes,omitempty"`
}

// Mapping makes a principal of claims that match.
type Mapping struct {
	// Match holds a pattern for each claim, all of which match: * stands for any text.
	Match map[string]string `json:"match"`
	// Name is shown, and never compared: "{preferred_username}". Empty shows the subject.
	Name string `json:"name,omitempty"`
	// Project is the one that the principal acts in. One with a claim needs Projects.
	Project string `json:"project"`
	// Projects are those that a claim may choose among.
	Projects []string `json:"projects,omitempty"`
	Roles    []string `json:"roles"`
}

const (
	// DefaultMaxLife bounds the life of tokens of an entry that does not say it.
	DefaultMaxLife = 24 * time.Hour
	// DefaultAudience is that of an entry which does not say it.
	DefaultAudience = "vimbroker"

	// GitHub and GitLab are platforms whose tokens any of their users can have.
	GitHub = "github"
	GitLab = "gitlab"

	gitHubIssuer = "https://token.actions.githubusercontent.com"
)

// defaultAlgorithms are all that [strong] knows but the long ones.
var defaultAlgorithms = []string{"RS256", "PS256", "ES256", "EdDSA"}

// strong are the algorithms that an entry may have: signatures whose keys cannot be taken for secrets.
var strong = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Flaw is what is wrong with an entry.
type Flaw struct{ Field, Text string }

type flaws []Flaw

func (f *flaws) need(ok bool, field, format string, args ...any) {
	if !ok {
		*f = append(*f, Flaw{field, fmt.Sprintf(format, args...)})
	}
}

// Certified reports whether the entry is about certificates.
func (e Authority) Certified() bool { return e.Certificates != nil }

// fetched reports whether the keys of the entry are to be asked for.
func (e Authority) fetched() bool { return e.VIM != "" || e.Issuer != "" && e.Keys == "" }

// authenticator qualifies the names of the entry's principals.
func (e Authority) authenticator() string {
	switch {
	case e.Certified():
		return policy.ByCertificate
	case e.VIM != "":
		return policy.ByCluster
	}
	return policy.ByIssuer
}

// WithDefaults fills in what absence means, and reads the certificates.
func (e Authority) WithDefaults() Authority {
	e.Audience, e.MaxLife, e.Hold = cmp.Or(e.Audience, DefaultAudience), cmp.Or(e.MaxLife, DefaultMaxLife), cmp.Or(e.Hold, policy.DefaultHold)
	if len(e.Algorithms) == 0 {
		e.Algorithms = defaultAlgorithms
	}
	if e.Platform == "" {
		switch host := hostOf(e.Issuer); {
		case e.Issuer == gitHubIssuer:
			e.Platform = GitHub
		case host == "gitlab.com", strings.HasPrefix(host, "gitlab."):
			e.Platform = GitLab
		}
	}
	if e.Certified() {
		e.roots = pool(e.Certificates.CA)
		e.revoked, e.badCRL = readRevoked(e.Certificates.CRL, e.Certificates.CA)
	}
	return e
}

// pool holds the certificates of a text in PEM; nil if it has none.
func pool(text string) *x509.CertPool {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM([]byte(text)) {
		return nil
	}
	return p
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Flaws are all that is wrong with an entry that has its defaults.
func (e Authority) Flaws() []Flaw {
	var faults flaws
	need := faults.need
	need(policy.ValidName(e.Name), "name", "must be 1 to 128 letters, digits and \"._@-\"")
	kinds := 0
	for _, is := range []bool{e.Issuer != "", e.VIM != "", e.Certified()} {
		if is {
			kinds++
		}
	}
	if e.Keystone != "" {
		return faults // whose other fields are its own
	}
	need(kinds == 1, "issuer", "must be exactly one of issuer, vim, certificates and keystone")
	need(e.Issuer == "" || issuerForm(e.Issuer), "issuer", "must be an https URL without query and fragment; http only on loopback")
	need(e.Keys == "" || e.Issuer != "", "keysFile", "needs an issuer")
	if e.Keys != "" {
		_, err := parseKeys([]byte(e.Keys))
		need(err == nil, "keysFile", "must hold a JWK set with public keys that sign")
	}
	need(e.CA == "" || pool(e.CA) != nil, "caFile", "must hold certificates in PEM")
	need(!e.Certified() || e.roots != nil, "certificates.caFile", "must hold certificates in PEM")
	need(e.badCRL == "", "certificates.crlFile", "%s", e.badCRL)
	need(e.Login == nil || e.Issuer != "" && e.Login.ClientID != "", "login", "needs an issuer and a clientID")
	for _, a := range e.Algorithms {
		need(slices.Contains(strong, a), "algorithms", "must be of %s: others have no key that only the issuer has", strings.Join(strong, ", "))
	}
	need(e.MaxLife >= time.Minute || e.MaxLife == 0, "maxLife", "must be at least 1m")
	need(e.Hold >= 0, "hold", "must not be less than zero")
	need(slices.Contains([]string{"", GitHub, GitLab}, e.Platform), "platform", "must be github or gitlab")
	need(len(e.Principals) > 0 || e.Certified(), "principals", "must list a rule: without one the entry lets nobody in")
	for i, r := range e.Principals {
		for _, f := range r.faults(e) {
			need(false, fmt.Sprintf("principals[%d].%s", i, f.Field), "%s", f.Text)
		}
	}
	return faults
}

// issuerForm reports whether a text can be an issuer (OpenID Connect Discovery 1.0 section 3).
func issuerForm(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && egress.OwnHost(u.Hostname())
}

// faults are all that is wrong with a rule of an entry.
func (r Mapping) faults(e Authority) []Flaw {
	var faults flaws
	need := faults.need
	particular := false
	for _, claim := range slices.Sorted(maps.Keys(r.Match)) {
		pattern := r.Match[claim]
		need(claim != "" && pattern != "", "match", "must have a claim and a pattern that is not empty")
		particular = particular || strings.Trim(pattern, "*") != ""
	}
	need(particular, "match", "names nobody in particular: a claim must have a pattern that is more than *")
	need(!particular || r.pinned(e.Platform), "match", "names nobody in particular: %s", particulars[e.Platform])
	claims, ok := templateClaims(r.Name)
	need(ok, "name", "must hold claims in braces, as {preferred_username}")
	need(len(claims) < 9, "name", "must hold at most 8 claims")
	claims, ok = templateClaims(r.Project)
	switch {
	case !ok:
		need(false, "project", "must hold claims in braces, as {tenant}")
	case len(claims) == 0:
		need(policy.ValidName(r.Project), "project", "must be 1 to 128 letters, digits and \"._@-\"")
		need(len(r.Projects) == 0, "projects", "is for a project that a claim chooses")
	default:
		need(len(r.Projects) > 0, "projects", "must list those that the claim may choose among")
	}
	for _, p := range r.Projects {
		need(policy.ValidName(p), "projects", "must be of 1 to 128 letters, digits and \"._@-\"")
	}
	need(len(r.Roles) > 0, "roles", "must list a role")
	for _, role := range r.Roles {
		need(role != policy.RoleSystem && policy.ValidName(role), "roles", "must be of letters, digits and \"._@-\", and not \"system\"")
	}
	return faults
}

// particulars say what a rule of a platform must pin, since anybody can have a token there.
var particulars = map[string]string{
	GitHub: "on GitHub, repository or repository_id must be there without *, and environment, ref, ref_protected or job_workflow_ref",
	GitLab: "on GitLab, project_path or project_id must be there without *",
}

// pinned reports whether a rule names the project of a platform that has tokens for everybody.
func (r Mapping) pinned(platform string) bool {
	exact := func(claims ...string) bool {
		return slices.ContainsFunc(claims, func(c string) bool { return r.Match[c] != "" && !strings.Contains(r.Match[c], "*") })
	}
	some := func(claims ...string) bool {
		return slices.ContainsFunc(claims, func(c string) bool { return strings.Trim(r.Match[c], "*") != "" })
	}
	switch platform {
	case GitHub:
		return exact("repository", "repository_id") && some("environment", "ref", "ref_protected", "job_workflow_ref")
	case GitLab:
		return exact("project_path", "project_id")
	}
	return true
}

func (e Authority) signers() []jose.SignatureAlgorithm {
	all := make([]jose.SignatureAlgorithm, len(e.Algorithms))
	for i, a := range e.Algorithms {
		all[i] = jose.SignatureAlgorithm(a)
	}
	return all
}
