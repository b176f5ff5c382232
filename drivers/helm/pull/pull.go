// Package pull gets packed charts from registries (OCI distribution) and repositories of Helm, by references that pin
// their target. It connects under the egress rules of the project that asks, without a proxy, over https alone, and
// follows redirects as far as the rules let it. A download is bounded in bytes and time, and must match its digest.
package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const (
	// maxArchive, maxIndex and maxProvenance bound downloads, in bytes.
	maxArchive    = 8 << 20
	maxIndex      = 16 << 20
	maxProvenance = 64 << 10
	// patience bounds how long one chart is pulled.
	patience = time.Minute
	// atOnce are pulled at a time, perProject of them for one project.
	atOnce, perProject = 8, 3
	maxRedirects       = 3
)

// Media types, as Helm and the OCI's image specification have them.
const (
	manifestType   = "application/vnd.oci.image.manifest.v1+json"
	configType     = "application/vnd.cncf.helm.config.v1+json"
	contentType    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	provenanceType = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

// Field is the parameter of a request that holds a reference.
const Field = "additionalParams.helm_chart_path"

// Login is the broker's login at a site's registry or repository.
type Login struct {
	// Host is that of references, with its port where they name one.
	Host string
	// User is the name, and PasswordFile holds the password; it is read for each pull.
	User, PasswordFile string
	// Projects are those whose operations use it; empty means all.
	Projects []string
}

// Options say how registries and repositories are met.
type Options struct {
	// CA are the authorities of their certificates.
	CA     remote.Authorities
	Logins []Login
}

// Puller pulls charts. It is safe for concurrent use.
type Puller struct {
	options  Options
	slots    chan struct{}
	projects *limit.Keys
}

// New returns a Puller.
func New(o Options) *Puller {
	return &Puller{
		options: o, slots: make(chan struct{}, atOnce),
		projects: limit.NewKeys(limit.Bound{InFlight: perProject}, 1024, time.Now),
	}
}

// Chart is a packed chart. Its digest was verified where the reference has one; Provenance is there where it has none,
// and has not been looked at.
type Chart struct{ Archive, Provenance []byte }

// Find finds a version of a chart in a repository's index: where it lies, and its digest where the index says it.
type Find func(ctx context.Context, index []byte, name, version string) (url, digest string, err error)

// Pull gets the chart of a reference, for an operation of a project. Errors are [*broker.Error]: ErrInvalid is a
// fault of the reference or its target, ErrUnreachable and ErrUnavailable may pass.
func (p *Puller) Pull(ctx context.Context, rules *egress.Rules, project string, r Reference, find Find) (Chart, error) {
	leave, err := p.projects.Enter(project)
	if err != nil {
		return Chart{}, &broker.Error{
			Kind: broker.ErrUnavailable, Field: Field,
			Detail: fmt.Sprintf("%d charts are being fetched for the project, and no more are at a time", perProject),
			Remedy: "try again in a moment",
		}
	}
	defer leave()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Chart{}, ctx.Err()
	}
	who := "the repository"
	if r.Registry {
		who = "the registry"
	}
	way, err := remote.New(rules, remote.Options{Server: who, CA: p.options.CA})
	if err != nil {
		return Chart{}, err
	}
	defer way.CloseIdleConnections()
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a := &asking{client: way.Client(), who: who, host: r.Host}
	for _, l := range p.options.Logins {
		if strings.EqualFold(l.Host, r.Host) && (len(l.Projects) == 0 || slices.Contains(l.Projects, project)) {
			a.login = &l
		}
	}
	var c Chart
	if r.Registry {
		a.scope = "repository:" + r.Path + ":pull"
		c, err = a.fromRegistry(bounded, r)
	} else {
		c, err = a.fromRepository(bounded, r, find)
	}
	if err != nil && ctx.Err() != nil {
		return Chart{}, ctx.Err()
	}
	return c, err
}

// asking holds the requests of one pull to one host.
type asking struct {
	client *http.Client
	who    string
	host   string
	// scope is the scope that a registry's tokens are requested for; empty at a repository, which
	// gives no tokens.
	scope string
	login *Login
	// header authenticates the broker to host; it goes nowhere else.
	header secret.Text
}

func (a *asking) fromRegistry(ctx context.Context, r Reference) (c Chart, err error) {
	at := "https://" + r.Host + "/v2/" + r.Path
	reference := digestAlgorithm + r.Digest
	if r.Digest == "" {
		reference = strings.ReplaceAll(r.Version, "+", "_") // as Helm has tags
	}
	text, err := a.get(ctx, at+"/manifests/"+reference, manifestType, maxManifest)
	if err != nil {
		return c, err
	}
	if r.Digest != "" {
		if err := a.demand(text, r.Digest); err != nil {
			return c, err
		}
	}
	m, err := parseManifest(text)
	if err != nil {
		return c, a.invalid(err.Error(), "name one that was pushed by helm push")
	}
	if c.Archive, err = a.blob(ctx, at, m.content, maxArchive); err == nil && r.Digest == "" {
		if m.provenance.Digest == "" {
			return c, a.invalid("has no provenance of the chart", "push it with its .prov file beside it, or name it by its digest: @sha256:…")
		}
		c.Provenance, err = a.blob(ctx, at, m.provenance, maxProvenance)
	}
	return c, err
}

// maxManifest bounds a manifest, in bytes. Helm's have one KiB or two.
const maxManifest = 256 << 10

type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

type manifest struct{ content, provenance descriptor }

// parseManifest reads a registry's manifest of a chart.
func parseManifest(text []byte) (m manifest, err error) {
	var is struct {
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	// The type stands in what the digest is of: the header that a registry sends is no part of that.
	if json.Unmarshal(text, &is) != nil || is.MediaType != "" && is.MediaType != manifestType || is.Config.MediaType != configType {
		return m, errors.New("has no Helm chart there")
	}
	for _, l := range is.Layers {
		of := &m.content
		switch l.MediaType {
		case contentType:
		case provenanceType:
			of = &m.provenance
		default:
			continue
		}
		digest, known := strings.CutPrefix(l.Digest, digestAlgorithm)
		if of.Digest != "" || !known || !form()["digest"].MatchString(digest) {
			return m, errors.New("has a chart there whose parts cannot be told apart")
		}
		*of = l
		of.Digest = digest
	}
	if m.content.Digest == "" {
		return m, errors.New("has a chart there without its content")
	}
	return m, nil
}

// blob gets a blob that a manifest names.
func (a *asking) blob(ctx context.Context, at string, d descriptor, most int) ([]byte, error) {
	if d.Size > int64(most) {
		return nil, a.tooLarge(most)
	}
	text, err := a.get(ctx, at+"/blobs/"+digestAlgorithm+d.Digest, "", most)
	if err == nil {
		err = a.demand(text, d.Digest)
	}
	return text, err
}

func (a *asking) fromRepository(ctx context.Context, r Reference, find Find) (c Chart, err error) {
	basic, err := a.basic() // at once: some repositories challenge no request
	if err != nil {
		return c, err
	}
	a.header = secret.NewText(basic)
	place := r.url("")
	if !r.Packed {
		index, err := a.get(ctx, r.url("index.yaml"), "", maxIndex)
		if err != nil {
			return c, err
		}
		named, digest, err := find(ctx, index, r.Name, r.Version)
		if err != nil {
			return c, err
		}
		if digest = strings.TrimPrefix(digest, digestAlgorithm); digest != "" && r.Digest != "" && digest != r.Digest {
			return c, a.invalid("has another digest for this version in its index", "see which is right before you change the reference")
		}
		base, _ := url.Parse(r.url("index.yaml")) // the forms of a reference let nothing else through
		leads, err := base.Parse(named)
		if err != nil || leads.Scheme != "https" || leads.User != nil {
			return c, a.invalid("keeps the chart at a place that is not https", "name the place itself: oci:// for a registry")
		}
		place = leads.String()
	}
	if c.Archive, err = a.get(ctx, place, "", maxArchive); err != nil {
		return c, err
	}
	if r.Digest != "" {
		return c, a.demand(c.Archive, r.Digest)
	}
	signed, _ := url.Parse(place)
	signed.Path += ".prov"
	c.Provenance, err = a.get(ctx, signed.String(), "", maxProvenance)
	return c, err
}

// demand fails unless a text is the one of a digest.
func (a *asking) demand(text []byte, digest string) error {
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != digest {
		return a.invalid("answers with something else than the digest says", "")
	}
	return nil
}

// get gets the content of a place. If the host asks for authentication, get answers the challenge
// once.
func (a *asking) get(ctx context.Context, at, accept string, most int) ([]byte, error) {
	answer, err := a.follow(ctx, at, accept)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusUnauthorized && a.header.Reveal() == "" && strings.EqualFold(answer.Request.URL.Host, a.host) {
		challenge := answer.Header.Values("Www-Authenticate")
		_ = answer.Body.Close()
		if err := a.authenticate(ctx, challenge); err != nil {
			return nil, err
		}
		if answer, err = a.follow(ctx, at, accept); err != nil {
			return nil, err
		}
	}
	defer answer.Body.Close()
	switch status := answer.StatusCode; {
	case status == http.StatusOK:
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		detail := "does not let the broker have the chart, or has none"
		if a.login == nil {
			detail += "; it was asked without a user and a password"
		}
		return nil, a.invalid(fmt.Sprintf("%s (%d)", detail, status),
			"compare the reference; a registry that needs a login stands in the server's configuration (charts.logins)")
	case status == http.StatusNotFound, status == http.StatusGone:
		return nil, a.invalid(fmt.Sprintf("has nothing there (%d)", status), "compare the reference")
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return nil, &broker.Error{
			Kind: broker.ErrUnreachable, Field: Field, Detail: fmt.Sprintf("%s answers %d", a.who, status), Remedy: "try again later",
		}
	default:
		return nil, a.invalid(fmt.Sprintf("answers %d, and not the chart", status), "compare the reference")
	}
	if answer.ContentLength > int64(most) {
		return nil, a.tooLarge(most)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if err != nil {
		return nil, a.fault(err)
	}
	if len(text) > most {
		return nil, a.tooLarge(most)
	}
	return text, nil
}

// follow sends the request, and follows redirects: under the same rules, over https, and without credentials to another
// host. The caller closes the answer's body.
func (a *asking) follow(ctx context.Context, at, accept string) (*http.Response, error) {
	for hops := 0; ; hops++ {
		request, err := http.NewRequestWithContext(remote.Stream(ctx), http.MethodGet, at, http.NoBody)
		if err != nil || request.URL.Scheme != "https" || request.URL.User != nil {
			return nil, a.invalid("leads to a place that is not https", "")
		}
		if accept != "" {
			request.Header.Set("Accept", accept)
		}
		if header := a.header.Reveal(); header != "" && strings.EqualFold(request.URL.Host, a.host) {
			request.Header.Set("Authorization", header)
		}
		answer, err := a.client.Do(request)
		if err != nil {
			return nil, a.fault(err)
		}
		switch answer.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return answer, nil
		}
		to, err := answer.Location()
		_ = answer.Body.Close()
		if err != nil || hops == maxRedirects {
			return nil, a.invalid("leads nowhere: a redirect without a place, or too many", "compare the reference")
		}
		at = to.String()
	}
}

var challenged = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z]{1,16})="([^"\\]*)"`) })

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

// authenticate does what a host asks for: a name and a password of its own, or a token that it gives for them, or to
// anybody.
func (a *asking) authenticate(ctx context.Context, challenges []string) error {
	basic, err := a.basic()
	if err != nil {
		return err
	}
	for _, c := range challenges {
		scheme, says, _ := strings.Cut(c, " ")
		switch {
		case strings.EqualFold(scheme, "Basic") && basic != "":
			a.header = secret.NewText(basic)
			return nil
		case strings.EqualFold(scheme, "Bearer") && a.scope != "":
			said := map[string]string{}
			for _, m := range challenged().FindAllStringSubmatch(says, 8) {
				said[m[1]] = m[2]
			}
			token, err := a.token(ctx, said["realm"], said["service"], basic)
			if err == nil {
				a.header = secret.NewText("Bearer " + token)
			}
			return err
		}
	}
	return nil // the answer to the same question says what is wrong
}

// basic is the header with the broker's name and password; empty if it has none.
func (a *asking) basic() (string, error) {
	if a.login == nil {
		return "", nil
	}
	password, err := os.ReadFile(a.login.PasswordFile)
	if err != nil {
		return "", &broker.Error{
			Kind: broker.ErrUnavailable, Field: Field, Detail: "the broker cannot read its password for " + a.who,
			Remedy: "see the server's configuration (charts.logins)", Cause: err,
		}
	}
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(a.login.User, strings.TrimSpace(string(password)))
	return r.Header.Get("Authorization"), nil
}

// token asks the place that a registry names for a token. A redirect is not followed: it would take the password along.
func (a *asking) token(ctx context.Context, realm, service, basic string) (string, error) {
	place, err := url.Parse(realm)
	if err != nil || place.Scheme != "https" || place.Host == "" || place.User != nil {
		return "", a.invalid("names no place that gives tokens over https", "")
	}
	asked := place.Query()
	asked.Set("scope", a.scope)
	if service != "" {
		asked.Set("service", service)
	}
	place.RawQuery = asked.Encode()
	request, err := http.NewRequestWithContext(remote.Expect(ctx, remote.Small), http.MethodGet, place.String(), http.NoBody)
	if err != nil {
		return "", a.invalid("names no place that gives tokens over https", "")
	}
	if basic != "" {
		request.Header.Set("Authorization", basic)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return "", a.fault(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError {
		return "", &broker.Error{
			Kind: broker.ErrUnreachable, Field: Field, Detail: fmt.Sprintf("the token endpoint of %s answers %d", a.who, answer.StatusCode),
			Remedy: "try again later",
		}
	}
	var given struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, &given)
	}
	if given.Token == "" {
		given.Token = given.AccessToken
	}
	if err != nil || given.Token == "" || len(given.Token) > maxToken ||
		strings.ContainsFunc(given.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", a.invalid(fmt.Sprintf("is asked for a token in vain (%d)", answer.StatusCode),
			"compare the reference, and the login in the server's configuration (charts.logins)")
	}
	return given.Token, nil
}

func (a *asking) invalid(says, remedy string) error {
	return &broker.Error{Kind: broker.ErrInvalid, Field: Field, Detail: a.who + " " + says, Remedy: remedy}
}

func (a *asking) tooLarge(most int) error {
	return a.invalid(fmt.Sprintf("answers with more than %d KiB", most>>10), "")
}

// fault is why there is no answer.
func (a *asking) fault(err error) error {
	f := remote.Unanswered(err, a.who)
	if f == nil {
		f = &remote.CallError{Detail: "the connection to " + a.who + " failed", Remedy: "try again"}
	}
	kind := broker.ErrUnreachable
	switch {
	case f.Busy:
		kind = broker.ErrUnavailable
	case errors.Is(err, egress.ErrRefused):
		kind = broker.ErrInvalid
	}
	return &broker.Error{Kind: kind, Field: Field, Detail: f.Detail, Remedy: f.Remedy, Cause: f.Cause}
}
