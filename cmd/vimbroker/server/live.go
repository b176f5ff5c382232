package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

var (
	_ policy.Directory  = (*live)(nil)
	_ policy.Decider    = (*live)(nil)
	_ api.Authenticator = (*live)(nil)

	_ broker.TokenHolders = (*live)(nil)
)

// live is the part of the configuration that a running server exchanges: callers'
// tokens, policies, egress rules, management clusters, the certificate and the authorities of issuer and clients. Each question is answered
// by one configuration, the newest that had no fault. Safe for concurrent use.
type live struct {
	started config // what everything else runs by
	// keystone authenticates callers by their Keystone tokens; nil: there are none.
	keystone api.Authenticator
	// clients authenticates clients by the tokens that the server gave them; nil: it gives none.
	clients api.Authenticator
	// trust authenticates callers by the table of trust.
	trust *trust.Gatekeeper
	// used is called with the id of each accepted token, unless it is nil.
	used func(id string)
	// cameIn is called with each caller of the table of trust; nil does nothing.
	cameIn func(context.Context, policy.Principal)
	// tryLogin tries the current connection string of the database; nil: there is none.
	tryLogin func(context.Context) error
	// reloaded is called after each reload; nil does nothing.
	reloaded func(context.Context)
	now      atomic.Pointer[config]
	failed   atomic.Bool // a later reading had faults
}

func newLive(c config) *live {
	l := &live{started: c, trust: trust.New(trust.Options{})}
	l.now.Store(&c)
	return l
}

// Decide implements [policy.Decider].
func (l *live) Decide(r policy.Request) policy.Decision { return l.now.Load().policies.Decide(r) }

// configured says which configuration is in use.
func (l *live) configured() api.Configured {
	c := l.now.Load()
	shown := api.Configured{Policies: c.policies.Hash(), Failed: l.failed.Load()}
	if c.certificate != nil {
		shown.CertificateEnds = c.certificate.ends()
	}
	return shown
}

// Check says whether a question has words that no policy could mean.
func (l *live) Check(r policy.Request) error { return l.now.Load().policies.Check(r) }

// Why names the conditions by which a question is denied.
func (l *live) Why(r policy.Request) []string { return l.now.Load().policies.Why(r) }

// Text is the text of a policy.
func (l *live) Text(id string) string { return l.now.Load().policies.Text(id) }

// Usual is the kind of thing that a question about an action is about where it names none.
func (l *live) Usual(a policy.Action) policy.Kind { return l.now.Load().policies.Usual(a) }

// CheckAction says whether an action is known.
func (l *live) CheckAction(a policy.Action, others ...policy.Action) error {
	return l.now.Load().policies.CheckAction(a, others...)
}

// Authenticate implements [api.Authenticator]. A token that names an issuer is the server's own, or the table's of
// trust; a static token is looked up; any other is Keystone's, if callers may bring such.
func (l *live) Authenticate(ctx context.Context, bearer string) (policy.Principal, error) {
	switch issuer := trust.IssuerOf(bearer); {
	case issuer != "" && issuer == l.started.Issuer && l.clients != nil:
		return l.clients.Authenticate(ctx, bearer)
	case issuer != "":
		p, err := l.trust.Authenticate(ctx, bearer)
		if err == nil && l.cameIn != nil {
			l.cameIn(ctx, p)
		}
		return p, err
	case l.keystone != nil && !policy.OwnToken(bearer):
		return l.keystone.Authenticate(ctx, bearer)
	}
	tokens := l.now.Load().tokens
	if tokens == nil {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	p, err := tokens.Authenticate(ctx, bearer)
	if err == nil && l.used != nil {
		l.used(policy.TokenID(bearer))
	}
	return p, err
}

// exchangers are the callers whose tokens are exchanged: those of the table of trust and of static tokens. The
// server's own would have no end, and Keystone is asked where guesses are bounded.
type exchangers struct{ *live }

// Authenticate implements [api.Authenticator].
func (e exchangers) Authenticate(ctx context.Context, bearer string) (policy.Principal, error) {
	issuer := trust.IssuerOf(bearer)
	if issuer == e.started.Issuer && issuer != "" || issuer == "" && !policy.OwnToken(bearer) {
		return policy.Principal{}, &policy.RefusedLogin{Authenticator: policy.ByIssuer, Reason: "no token that is exchanged"}
	}
	return e.live.Authenticate(ctx, bearer)
}

// Held implements [broker.TokenHolders].
func (l *live) Held() []policy.HeldToken {
	return l.now.Load().held()
}

// held lists the static tokens, if there are any.
func (c config) held() []policy.HeldToken {
	if c.tokens == nil {
		return nil
	}
	return c.tokens.Held()
}

// Lookup implements [policy.Directory] for the holders of static tokens.
func (l *live) Lookup(ctx context.Context, name, project string) (policy.Principal, error) {
	if tokens := l.now.Load().tokens; tokens != nil {
		return tokens.Lookup(ctx, name, project)
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

// egress returns a project's rules.
func (l *live) egress(project string) *egress.Rules { return l.now.Load().egress.of(project) }

// tls is nil for a server of plain HTTP.
func (l *live) tls(log *slog.Logger) *tls.Config {
	if l.started.certificate == nil {
		return nil
	}
	plain := &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return l.now.Load().certificate.present(log), nil
		},
	}
	config := plain.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		asking := plain.Clone()
		if asking.ClientCAs = l.callerCAs(); asking.ClientCAs != nil {
			// The signer is checked when a client logs in: see [oauth.Clients.Authenticate]. A resumed session
			// would show the certificate of its beginning: none, if none was asked for then.
			asking.ClientAuth, asking.SessionTicketsDisabled = tls.RequestClientCert, true
		}
		return asking, nil
	}
	return config
}

// clientCAs signed the certificates that clients log in with; nil: none does.
func (l *live) clientCAs() *x509.CertPool {
	if l.started.certificate == nil && !l.started.proxies.ClientCert {
		return nil
	}
	_, clients := l.trust.Authorities()
	return clients
}

// callerCAs signed the certificates of all callers who have one; nil: nobody has.
func (l *live) callerCAs() *x509.CertPool {
	callers, _ := l.trust.Authorities()
	return callers
}

// issuerCA are the authorities (PEM) of the certificate by which clients know the server; empty: none is known.
func (l *live) issuerCA(log *slog.Logger) string {
	c := l.now.Load()
	if c.issuerPEM != "" || c.certificate == nil {
		return c.issuerPEM
	}
	issuer, err := url.Parse(l.started.Issuer)
	if err != nil {
		return ""
	}
	return c.certificate.authority(issuer.Hostname(), log)
}

// restartKeys are the keys of the file that a running server does not exchange.
// Together with those that it does ([reloadKeys]) they are all there are.
var restartKeys = map[string]func(config) any{
	"listen":    func(c config) any { return c.Listen },
	"dataDir":   func(c config) any { return c.DataDir },
	"database":  func(c config) any { return c.Database.named() },
	"keyStores": func(c config) any { return c.KeyStores },
	"lease": func(c config) any {
		return [...]any{
			c.Terms.DefaultTTL, c.Terms.MaxTTL, c.Terms.StandingTTL, c.Terms.StandingIdle, c.Terms.StandingMax, c.Terms.EndWithAccess,
			c.Terms.RemoveLeft, strings.Join(c.StackTrustees, " "), c.Trial, strings.Join(c.Escalating, " "),
		}
	},
	"limits": func(c config) any { return c.Limits },
	"oauth":  func(c config) any { return c.Issuer },
	"quota": func(c config) any {
		return [...]any{c.Terms.Quota, c.Terms.VIMs, c.Packages, c.VNF.Instances, c.VNF.Links}
	},
	"sol003": func(c config) any { return c.SOL003 },
	"vnf": func(c config) any {
		c.VNF.Instances, c.VNF.Links = 0, 0 // are of quota
		return c.VNF
	},
	"charts":         func(c config) any { return c.Charts },
	"trust.keystone": func(c config) any { return c.keystone() },
	"tackerAPI":      func(c config) any { return c.TackerAPI },
	"onapAPI":        func(c config) any { return c.ONAP },
	"pushTargets":    func(c config) any { return c.PushTargets },
	"reservedLabels": func(c config) any { return c.ReservedLabels },
	"trustedProxies": func(c config) any { return c.TrustedProxies },
	"ui":             func(c config) any { return c.UI },

	"audit":         func(c config) any { return [...]any{c.Audit.named(), c.Terms.CheckpointEvery} },
	"retention":     func(c config) any { return c.Terms.Keep },
	"checkInterval": func(c config) any { return c.Terms.CheckEvery },
	"log":           func(c config) any { return [...]any{c.LogLevel, c.LogFormat} },
	"shutdownDelay": func(c config) any { return c.ShutdownDelay },
	"shutdownGrace": func(c config) any { return c.ShutdownGrace },
	// Other files take effect at once; a switch to or from TLS does not.
	"tls": func(c config) any { return c.certificate != nil },
}

// reloadKeys are the keys that are exchanged whole. They are the values that a reload compares.
var reloadKeys = map[string]func(config) any{
	"tokensFile": func(c config) any { return c.held() },
	"policyDir":  func(c config) any { return c.policies.Hash() },
	"egress":     func(c config) any { return [...]any{c.Egress, c.Projects} },
	"tls":        func(c config) any { return c.TLS },
	trustKey:     func(c config) any { return c.trusted() },

	"managementClusters": func(c config) any { return c.Managements },

	"tokensAlarm": func(c config) any { return c.TokensAlarm },
	issuerKey:     func(c config) any { return c.issuerPEM },
	loginKey:      func(c config) any { text := c.Database.dsn(); return text.Reveal() },
}

// loginKey names a file that is read again before each connection.
const loginKey = "database.postgres.dsnFile"

// trustKey names the table of trust, issuerKey a file whose certificates are exchanged.
const (
	trustKey  = "trust"
	issuerKey = "oauth.caFile"
)

// differing are the keys whose values differ, sorted.
func differing(keys map[string]func(config) any, a, b config) (differ []string) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if value := keys[key]; !reflect.DeepEqual(value(a), value(b)) {
			differ = append(differ, key)
		}
	}
	return differ
}

// replace exchanges what can be exchanged for that of next. It returns the keys that
// changed and have taken effect, and those that need a restart for that.
func (l *live) replace(next config) (taken, restart []string) {
	now := l.now.Load()
	taken, restart = differing(reloadKeys, *now, next), differing(restartKeys, l.started, next)
	if l.started.Database.elsewhere(next.Database) {
		restart = append(restart, loginKey)
	}
	if l.started.certificate == nil && !l.started.proxies.ClientCert && next.certified() {
		restart = append(restart, trustKey) // who connects without TLS shows no certificate
	}
	taken = slices.DeleteFunc(taken, func(key string) bool { return slices.Contains(restart, key) })
	next.egress.keep(now.egress)
	if next.certificate == nil {
		next.certificate = now.certificate
	}
	l.now.Store(&next)
	l.trust.Replace(next.entries())
	return taken, restart
}

// logIn tries a login that changed. A login that does not work is not taken, and the
// previous connections stay.
func (l *live) logIn(ctx context.Context, taken []string, log *slog.Logger) []string {
	if l.tryLogin == nil || !slices.Contains(taken, loginKey) {
		return taken
	}
	if err := l.tryLogin(ctx); err != nil {
		log.Error("the database does not take the new connection string; only connections of before work", "error", err)
		return slices.DeleteFunc(taken, func(key string) bool { return key == loginKey })
	}
	return taken
}

// recordFunc records what happened to the server.
type recordFunc func(ctx context.Context, action policy.Action, outcome audit.Outcome, detail ...string)

// reloadOn reads the configuration again at each signal, until the context ends.
func (l *live) reloadOn(ctx context.Context, signals <-chan os.Signal, read func() (config, error), log *slog.Logger, record recordFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		next, err := read()
		l.failed.Store(err != nil)
		if err != nil {
			hash := l.now.Load().policies.Hash()
			record(ctx, audit.ServerReload, audit.Failed, audit.DetailError, "the configuration has faults", audit.DetailPolicies, hash)
			log.Error("the configuration is not reloaded, the one before stays in use", "policies", hash, "error", err)
			outcome{Fault: err.Error(), Policies: hash}.tell(l.started.DataDir, log)
			continue
		}
		changed, restart := l.replace(next)
		taken := l.logIn(ctx, slices.Clone(changed), log)
		record(ctx, audit.ServerReload, audit.Done, audit.DetailPolicies, next.policies.Hash(),
			audit.DetailTaken, strings.Join(taken, ","), audit.DetailRestart, strings.Join(restart, ","))
		if len(restart) > 0 {
			log.Warn("some keys of the configuration changed and need a restart", "keys", restart)
		}
		log.Info("the configuration is reloaded", "changed", taken, "policies", next.policies.Hash())
		if l.reloaded != nil {
			l.reloaded(ctx)
		}
		refused := slices.DeleteFunc(changed, func(key string) bool { return slices.Contains(taken, key) })
		outcome{Policies: next.policies.Hash(), Taken: taken, Restart: restart, Refused: refused}.tell(l.started.DataDir, log)
	}
}
