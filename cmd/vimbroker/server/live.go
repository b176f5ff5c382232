package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

var (
	_ policy.Directory  = (*live)(nil)
	_ policy.Decider    = (*live)(nil)
	_ api.Authenticator = (*live)(nil)
)

// live is the part of the configuration that a running server exchanges: callers'
// tokens, policies, egress rules and the certificate. Each question is answered
// by one configuration, the newest that had no fault. Safe for concurrent use.
type live struct {
	started config // what everything else runs by
	// keystone authenticates callers by their Keystone tokens; nil: there are none.
	keystone api.Authenticator
	// reloaded is called after each reload; nil does nothing.
	reloaded func(context.Context)
	now      atomic.Pointer[config]
	loaded   atomic.Int64 // when now was read, in milliseconds since 1970
	failed   atomic.Bool  // a later reading had faults
}

func newLive(c config) *live {
	l := &live{started: c}
	l.now.Store(&c)
	l.loaded.Store(time.Now().UnixMilli())
	return l
}

// Decide implements [policy.Decider].
func (l *live) Decide(r policy.Request) policy.Decision { return l.now.Load().policies.Decide(r) }

// configured says which configuration is in use.
func (l *live) configured() api.Configured {
	return api.Configured{Policies: l.now.Load().policies.Hash(), Loaded: time.UnixMilli(l.loaded.Load()), Failed: l.failed.Load()}
}

// Check says whether a question has words that no policy could mean.
func (l *live) Check(r policy.Request) error { return l.now.Load().policies.Check(r) }

// Authenticate implements [api.Authenticator]: a token of ours is looked up, any
// other is Keystone's, if callers may bring such.
func (l *live) Authenticate(ctx context.Context, bearer string) (policy.Principal, error) {
	tokens := l.now.Load().tokens
	if l.keystone != nil && !policy.OwnToken(bearer) {
		p, err := l.keystone.Authenticate(ctx, bearer)
		if tokens != nil && tokens.Has(p.Formerly) {
			p.Formerly = "" // what is stored under that name is the static token's
		}
		return p, err
	}
	if tokens != nil {
		return tokens.Authenticate(ctx, bearer)
	}
	return policy.Principal{}, policy.ErrUnauthenticated
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
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return l.now.Load().certificate.present(log), nil
		},
	}
}

// restartKeys are the keys of the file that a running server does not exchange.
// Together with those that it does ([reloadKeys]) they are all there are.
var restartKeys = map[string]func(config) any{
	"listen":    func(c config) any { return c.Listen },
	"dataDir":   func(c config) any { return c.DataDir },
	"database":  func(c config) any { return c.Database.named() },
	"keyStores": func(c config) any { return c.KeyStores },
	"lease": func(c config) any {
		return [...]any{c.Terms.DefaultTTL, c.Terms.MaxTTL, c.Terms.EndWithAccess, c.Terms.RemoveLeft, strings.Join(c.StackTrustees, " "), c.Trial, strings.Join(c.Escalating, " ")}
	},
	"quota":          func(c config) any { return c.Terms.Quota },
	"callers":        func(c config) any { return c.Callers },
	"tackerAPI":      func(c config) any { return c.TackerAPI },
	"reservedLabels": func(c config) any { return c.ReservedLabels },
	"trustedProxies": func(c config) any { return c.TrustedProxies },
	"audit":          func(c config) any { return c.ReadsOneIn },
	"checkInterval":  func(c config) any { return c.Terms.CheckEvery },
	"log":            func(c config) any { return [...]any{c.LogLevel, c.LogFormat} },
	"shutdownGrace":  func(c config) any { return c.ShutdownGrace },
	// Other files are taken at once; whether there is TLS at all is not.
	"tls": func(c config) any { return c.certificate != nil },
}

// reloadKeys are the keys that are exchanged whole.
var reloadKeys = []string{"tokensFile", "policyDir", "egress", "tls"}

// replace exchanges what can be exchanged for that of next, and returns the keys
// that need a restart to take effect.
func (l *live) replace(next config) (restart []string) {
	for _, key := range slices.Sorted(maps.Keys(restartKeys)) {
		value := restartKeys[key]
		if !reflect.DeepEqual(value(next), value(l.started)) {
			restart = append(restart, key)
		}
	}
	now := l.now.Load()
	next.egress.keep(now.egress)
	if next.certificate == nil {
		next.certificate = now.certificate
	}
	l.now.Store(&next)
	l.loaded.Store(time.Now().UnixMilli())
	return restart
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
			continue
		}
		restart := l.replace(next)
		record(ctx, audit.ServerReload, audit.Done, audit.DetailPolicies, next.policies.Hash())
		if len(restart) > 0 {
			log.Warn("some keys of the configuration changed and need a restart", "keys", restart)
		}
		log.Info("the configuration is reloaded", "policies", next.policies.Hash())
		if l.reloaded != nil {
			l.reloaded(ctx)
		}
	}
}
