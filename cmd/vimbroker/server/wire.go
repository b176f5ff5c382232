package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/grants"
	"github.com/vimbroker/vimbroker/broker/api/login"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	"github.com/vimbroker/vimbroker/broker/api/tacker"
	"github.com/vimbroker/vimbroker/broker/api/web"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/issuer"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/drivers/neutron"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/vnfm"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/metrics"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnfpkgm"
	vnfweb "github.com/vimbroker/vimbroker/lifecycle/api/web"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// settlePatience is the time for which readiness waits for the work that a previous
// process left unfinished: VIMs that do not answer must not keep the others waiting.
const settlePatience = 2 * time.Second

// recordPatience is the time for which a start or a reload waits for its audit entry.
const recordPatience = 5 * time.Second

// server is everything that serve runs, put together.
type server struct {
	config  config
	live    *live
	log     *slog.Logger
	store   store
	keys    []keyStore
	drivers []broker.Driver
	callers *openstack.Callers // nil: none come with a Keystone token
	trust   *trust.Table
	watched watched
	courier *delivery.Courier
	broker  *broker.Broker
	ready   *gate
	capi    *clusterapi.Driver
	hubs    *hub.Hubs
	onboard *onboard.Onboarding
	// managements says that the management clusters of the configuration are other ones.
	managements chan struct{}
	catalog     *catalog.Catalog
	clients     *oauth.Clients
	tokens      *oauth.Tokens
	grants      *grant.Grants
	links       *asset.Assets
	sessions    *session.Sessions
	// lifecycle works operations also where its door is closed: they may have begun before.
	lifecycle *lifecycle.Lifecycle
	// bundles are ONAP's door's, and go on where it is closed.
	bundles *bundle.Bundles
	// subscribers are told also where that door is closed.
	subscribers *subscription.Subscriptions
	callback    *callback.Callback
	handler     http.Handler
	after       func(time.Duration) <-chan time.Time // [time.After], but in tests
}

// gate is oversight of a broker that is not ready before it has settled, and once it is to end.
type gate struct {
	*broker.Oversight
	settled, ending atomic.Bool
}

// Ready implements [rest.Overseer].
func (g *gate) Ready() ([]broker.PartStatus, error) {
	if g.ending.Load() {
		return nil, &broker.Error{Kind: broker.ErrUnavailable, Detail: "ending: send new requests to another server"}
	}
	if !g.settled.Load() {
		return nil, &broker.Error{Kind: broker.ErrUnavailable, Detail: "starting: finishing what an earlier process left unfinished"}
	}
	return g.Oversight.Ready()
}

// wire opens the stores and puts the server together; it starts nothing. Close it.
func wire(ctx context.Context, c config, version string, log *slog.Logger) (*server, error) {
	store, err := openStore(ctx, c, log)
	if err != nil {
		return nil, err
	}
	s := &server{config: c, log: log, store: store, after: time.After, managements: make(chan struct{}, 1)}
	s.keys, err = openKeyStores(ctx, c, log)
	for _, open := range []func() error{func() error { return s.openCallers(ctx) }, func() error { return s.newBroker(version) }} {
		if err == nil {
			err = open()
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.newClients()
	s.newLifecycle()
	s.handler = s.newHandler(version)
	return s, nil
}

// openCallers makes what knows callers and decides on their requests.
func (s *server) openCallers(ctx context.Context) (err error) {
	if s.config.Dev {
		if s.config.tokens, err = devTokens(s.config.DataDir); err != nil {
			return err
		}
	}
	s.trust = &trust.Table{Mutual: s.config.mutual(), Gatekeeper: trust.New(trust.Options{
		Source: s.issuers(), Reviewer: s,
		Store: s.store, Log: s.log, Now: s.store.Now, Changed: s.endWithoutAccess,
	})}
	s.live = newLive(s.config)
	s.live.trust = s.trust.Gatekeeper
	s.trust.Replace(s.config.entries())
	if err := s.trust.Load(ctx); err != nil {
		return err
	}
	if k := s.config.keystone(); k != nil {
		s.callers, err = k.open(s.log, s.loggedIn)
		s.live.keystone = s.callers
	}
	return err
}

// newBroker makes the broker, with the drivers and the sinks that it uses.
func (s *server) newBroker(version string) error {
	c := s.config
	s.drivers = []broker.Driver{
		kubernetes.New(kubernetes.Options{Log: s.log, Trial: c.Trial, Escalating: c.Escalating}),
		openstack.New(openstack.Options{Log: s.log, Now: s.store.Now, StackTrustees: c.StackTrustees}),
	}
	sinks, err := c.Audit.open()
	if err != nil {
		return err
	}
	anchors, err := c.Audit.openAnchors()
	if err != nil {
		return err
	}
	s.courier = delivery.New(s.store, sinks, s.store.Now, s.log)
	host, _ := os.Hostname() // without one it is known by its process alone
	self := broker.Replica{ID: host, Version: version}
	if c.Database.Postgres != nil { // a host may have several on it
		self.ID = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	b, err := broker.New(broker.Options{
		Store: s.store, Keys: s.keyStores(), Drivers: s.drivers, Courier: s.courier, Anchors: anchors,
		Policy: s.live, Egress: s.live.egress, Holders: s.live, Directories: s.directories(), Trusts: s.trust.Trusts,
		Terms: c.Terms, ReservedLabels: c.ReservedLabels, PushTargets: c.pushTargets(),
		Log: s.log, Now: s.store.Now, Replica: self,
	})
	if err != nil {
		return err
	}
	s.broker, s.ready = b, &gate{Oversight: b.Oversight}
	s.trust.Guard = b.Guard()
	b.WatchTrust(s.trust.Fault)
	s.live.reloaded, s.live.used, s.live.cameIn = s.reloaded, s.tokenUsed, s.cameIn
	if database, ok := s.store.(interface{ TryLogin(context.Context) error }); ok {
		s.live.tryLogin = database.TryLogin
	}
	return nil
}

// newClients makes what serves OAuth clients, grants and management clusters.
func (s *server) newClients() {
	c, b := s.config, s.broker
	s.clients = oauth.New(oauth.Options{
		Store: s.store, Leases: b.Leaser, Guard: b.Guard(), Authorities: s.live.clientCAs, PerProject: oauth.DefaultPerProject,
		Log: s.log, Now: s.store.Now,
	})
	s.tokens = oauth.NewTokens(oauth.TokensOptions{
		Store: s.store, Clients: s.clients, Keys: s.keyStores(), Ledger: b, Guard: b.Guard(), Issuer: c.Issuer,
		Directories: map[string]policy.Directory{policy.ByStaticToken: s.live}, Trusted: s.trust.Current, Once: s.store,
		Log: s.log, Now: s.store.Now,
	})
	b.AddSealer(s.tokens)
	if c.Issuer != "" {
		s.live.clients = s.tokens
	}
	var issuerCA func() string
	if https(c.Issuer) {
		issuerCA = func() string { return s.live.issuerCA(s.log) }
	}
	s.links = asset.New(asset.Options{
		Store: s.store, Leaser: b, Guard: b.Guard(), Egress: s.live.egress, Log: s.log, Now: s.store.Now,
		Learning: c.VNF.Learning, PerProject: c.VNF.Links, Drivers: map[asset.On]asset.Driver{
			{Kind: policy.KindLink, VIM: "openstack"}: neutron.Driver{}, {Kind: policy.KindLink, VIM: "kubernetes"}: manifests.Links{},
			{Kind: policy.KindVolume, VIM: "kubernetes"}: manifests.Volumes{},
		},
	})
	s.grants = grant.New(grant.Options{
		Store: s.store, Leases: b.Leaser, Clients: s.clients, VNFM: vnfm.Driver{CAFile: c.SOL003.VNFMCAFile}, Guard: b.Guard(),
		Egress: s.live.egress, Later: c.SOL003.GrantLater, Standing: c.Issuer != "", IssuerCA: issuerCA, PerClient: grant.DefaultPerClient,
		Lend: s.links.Lend, Log: s.log, Now: s.store.Now,
	})
	s.sessions = session.New(session.Options{
		Store: s.store, Callers: s.live, Directories: s.directories(), Current: s.trust.Current, Guard: b.Guard(), Log: s.log, Now: s.store.Now,
	}, session.Issuers{Entries: s.trust.Logins, Provider: s.issuers(), Once: s.store})
	s.capi = clusterapi.New()
	s.onboard = onboard.New(onboard.Options{
		Store: s.store, Broker: b, Source: s.capi, Guard: b.Guard(), Egress: s.live.egress, Log: s.log, Now: s.store.Now,
	})
	s.hubs = &hub.Hubs{Broker: b, Publisher: s.capi, Egress: s.live.egress, Log: s.log, Now: s.store.Now}
}

// newLifecycle makes what keeps VNF packages and instances, and tells subscribers of them.
func (s *server) newLifecycle() {
	c, b := s.config, s.broker
	terms := c.Packages
	terms.Roots = c.signers
	ofManifests := manifests.New()
	s.catalog = catalog.New(catalog.Options{
		Store: s.store, Guard: b.Guard(), Terms: terms, Log: s.log, Now: s.store.Now,
		Egress: s.live.egress, Authorities: remote.Authorities{File: c.Charts.CAFile},
		Warn: func(o catalog.Opened) ([]string, error) { return warnings(ofManifests, o) },
	})
	s.lifecycle = lifecycle.New(lifecycle.Options{
		Store: s.store, Leaser: b, Registrar: b.Registry, Packages: packages{s.catalog}, Links: s.links, Keys: s.keyStores(), Guard: b.Guard(),
		Drivers:   []lifecycle.Driver{ofManifests, helm.New(c.Charts.options()), heat.New()},
		Delegates: s.delegates(),
		Egress:    s.live.egress, Terms: c.VNF, Log: s.log, Now: s.store.Now,
	})
	b.AddKeeper(s.lifecycle)
	notify := c.SOL003.Notifications
	s.callback = callback.New(callback.Options{CAFile: notify.CAFile, CertFile: notify.CertFile, KeyFile: notify.KeyFile})
	s.bundles = bundle.New(bundle.Options{
		Store: s.store, Keys: s.keyStores(), Ledger: b, Packages: s.catalog, Life: s.lifecycle, VIMs: b.Registry, Leaser: b.Leaser,
		Endpoint: s.callback, Egress: s.live.egress,
		Guard: b.Guard(), Delegates: s.delegates(), Limits: terms.Limits, Lease: !c.ONAP.NoLease, Wait: c.ONAP.Wait, Log: s.log, Now: s.store.Now,
	})
	b.AddSealer(s.bundles)
	s.subscribers = subscription.New(subscription.Options{
		Store: s.store, Keys: s.keyStores(), Ledger: b, Endpoint: s.callback, Render: vnflcm.Notification, Guard: b.Guard(),
		Egress: s.live.egress, Terms: c.subscriptionTerms(), Log: s.log, Now: s.store.Now,
	})
	b.AddSealer(s.subscribers)
}

// newHandler makes the handler of all requests.
func (s *server) newHandler(version string) http.Handler {
	api.Complete()
	return api.New(api.Options{
		Doors: s.doors(version), Authenticator: s.live, Remote: s.asksOthers, Certified: s.trust.Certified, Limits: s.config.Limits,
		Vitals: s.broker.Oversight, Version: version,
		Collectors: []prometheus.Collector{
			api.ClusterMetrics(s.onboard, s.log), metrics.Instances(s.lifecycle, s.log), metrics.Operations(s.lifecycle),
			metrics.Subscriptions(s.subscribers), metrics.Packages(s.catalog, s.log),
		},
		Logins: s.broker.Oversight, Configured: s.live.configured, Proxies: s.config.proxies, Log: s.log,
	})
}

// doors are the APIs that the configuration opens.
func (s *server) doors(version string) []api.Door {
	c := s.config
	doors := []api.Door{rest.Door(rest.Options{
		Registry: s.broker.Registry, Leaser: s.broker.Leaser, AuditLog: s.broker.Oversight, Overseer: s.ready,
		Clusters: s.onboard, Clients: s.clients, TokenKeys: s.tokens, Grants: s.grants, Trust: s.trust, Links: s.links, Log: s.log,
		Version: version,
	})}
	if c.Issuer != "" {
		doors = append(doors, login.Door(login.Options{
			Tokens: s.tokens, Clients: s.clients, Callers: exchangers{s.live}, Leases: s.broker.Leaser, Now: s.store.Now,
		}))
	}
	if c.TackerAPI.Enabled {
		o := tacker.Options{Registry: s.broker.Registry, Compat: c.TackerAPI.Compat}
		if k := c.keystone(); k != nil {
			o.Keystone = k.AuthURL
		}
		doors = append(doors, tacker.Door(o))
	}
	if c.ONAP.Enabled {
		doors = append(doors, s.onap()...)
	}
	if c.SOL003.Enabled {
		doors = append(doors, vnfpkgm.Door(s.catalog), vnflcm.Door(s.lifecycle, s.lifecycle, s.subscribers), grants.Door(s.grants, c.Issuer))
	}
	if c.UI.Enabled {
		doors = append(doors, s.page(version))
	}
	return doors
}

// page is the door for people's browsers.
func (s *server) page(version string) api.Door {
	return web.Door(web.Options{
		Registry: s.broker.Registry, Leaser: s.broker.Leaser, AuditLog: s.broker.Oversight, Overseer: s.ready, Clusters: s.onboard,
		Clients: s.clients, Grants: s.grants, Sessions: s.sessions, Rooms: vnfweb.Rooms(s.lifecycle, s.catalog, s.broker.Leaser), Log: s.log,
		Version: version, Now: s.store.Now,
	})
}

// IssuerKeys implements [issuer.Clusters].
func (s *server) IssuerKeys(ctx context.Context, vim string) (string, []byte, error) {
	return s.broker.IssuerKeys(ctx, vim)
}

// Review implements [trust.Reviewer].
func (s *server) Review(ctx context.Context, vim, token, audience string) (bool, error) {
	return s.broker.ReviewToken(ctx, vim, token, audience)
}

// keyStores are those that keys are kept in.
func (s *server) keyStores() []secret.KeyStore {
	stores := make([]secret.KeyStore, len(s.keys))
	for i, k := range s.keys {
		stores[i] = k.KeyStore
	}
	return stores
}

// issuers asks issuers of callers' tokens.
func (s *server) issuers() issuer.Driver {
	return issuer.Driver{Egress: func() *egress.Rules { return s.live.egress("") }, Clusters: s}
}

// directories know callers without their tokens, by authenticator.
func (s *server) directories() map[string]policy.Directory {
	return map[string]policy.Directory{policy.ByStaticToken: s.live, policy.ByClient: clientDirectory{s}}
}

// delegates resume what callers asked for. Nobody can be asked about those of the table of trust: their entries say how
// long what was confirmed holds.
func (s *server) delegates() *policy.Delegates {
	all := s.directories()
	for _, by := range []string{policy.ByIssuer, policy.ByCluster, policy.ByCertificate} {
		all[by] = s.trust
	}
	return &policy.Delegates{Directories: all, HoldOf: s.trust.Hold, Now: s.store.Now}
}

// clientDirectory knows the server's clients, which are put together after the broker.
type clientDirectory struct{ *server }

// Lookup implements [policy.Directory].
func (d clientDirectory) Lookup(ctx context.Context, name, project string) (policy.Principal, error) {
	return d.clients.Lookup(ctx, name, project)
}

// loggedIn ends the leases that a caller has no access to any more.
func (s *server) loggedIn(ctx context.Context, p policy.Principal) {
	if err := s.broker.LoggedIn(ctx, p); err != nil {
		s.log.WarnContext(ctx, "leases whose holder has lost access are left for the next login or renewal", "principal", p.Name, "error", err)
	}
}

// asksOthers reports whether Keystone or a cluster has to be asked about a caller's token.
func (s *server) asksOthers(token string) bool {
	if trust.IssuerOf(token) != "" {
		return s.trust.Remote(token)
	}
	return s.callers != nil && !policy.OwnToken(token) && s.callers.Remote(token)
}

// reloaded does what follows from another configuration.
func (s *server) reloaded(ctx context.Context) {
	select {
	case s.managements <- struct{}{}:
	default: // it will be received
	}
	s.endWithoutAccess(ctx)
}

// endWithoutAccess ends the leases that callers have no access to any more.
func (s *server) endWithoutAccess(ctx context.Context) {
	if err := s.broker.EndWithoutAccess(ctx); err != nil {
		s.log.WarnContext(ctx, "leases whose holders have lost access are left for the next pass", "error", err)
	}
}

// record writes an event of the server into the audit log. A failure to do so stops
// nothing: every later act is recorded, or is not done.
func (s *server) record(ctx context.Context, action policy.Action, outcome audit.Outcome, detail ...string) {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	if err := s.broker.RecordServer(ctx, action, outcome, detail...); err != nil {
		s.log.ErrorContext(ctx, "the audit log does not say what happened to the server", "action", action, "error", err)
	}
}

// recordStart writes the start of the server into the audit log, as record does.
func (s *server) recordStart(ctx context.Context, detail ...string) {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	if err := s.broker.RecordStart(ctx, detail...); err != nil {
		s.log.ErrorContext(ctx, "the audit log does not say that the server starts", "error", err)
	}
}

// Close closes the stores, and the drivers that keep something open.
func (s *server) Close() error {
	for _, d := range s.drivers {
		if open, ok := d.(interface{ Close() }); ok {
			open.Close()
		}
	}
	if s.callers != nil {
		s.callers.Close()
	}
	if s.capi != nil {
		s.capi.Close()
	}
	if s.callback != nil {
		s.callback.Close()
	}
	var closed error
	if s.courier != nil {
		closed = s.courier.Close()
	}
	if s.broker != nil {
		closed = errors.Join(closed, s.broker.Close())
	}
	return errors.Join(closed, closeKeyStores(s.keys), s.store.Close())
}

// readyAgain is the interval at which a server that is not ready checks again.
const readyAgain = time.Second

// awaitReady calls ready once the server can serve. Until then the log says, once for each
// reason, why it cannot. It begins when all parts were looked at.
func (s *server) awaitReady(ctx context.Context, looked <-chan struct{}, ready func()) {
	select {
	case <-ctx.Done():
		return
	case <-looked:
	}
	var said string
	for {
		_, err := s.ready.Ready()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			ready()
			return
		}
		if why := err.Error(); why != said {
			s.log.Warn("serving, and not ready yet", "error", err)
			said = why
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(readyAgain):
		}
	}
}

// delayed returns a context that outlives stop by the delay in which balancers learn that
// this server is not ready any more. Until then everything continues.
func (s *server) delayed(stop context.Context) (ctx context.Context, cancel func()) {
	ctx, cancel = context.WithCancel(context.WithoutCancel(stop))
	context.AfterFunc(stop, func() {
		defer cancel()
		s.ready.ending.Store(true)
		if s.config.ShutdownDelay == 0 {
			return
		}
		s.log.Info("not ready any more, and serving on until balancers know", "for", s.config.ShutdownDelay)
		select {
		case <-s.after(s.config.ShutdownDelay):
		case <-ctx.Done(): // it has ended by itself
		}
	})
	return ctx, cancel
}

// serveHTTP says which certificate the sender of a request has shown, and sends callers elsewhere
// once the server is to end: each answer is then the last one of its connection.
func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if s.ready.ending.Load() {
		w.Header().Set("Connection", "close")
	}
	chain, stranger, ok := s.config.proxies.Certificates(r)
	ctx := oauth.WithPeer(r.Context(), chain)
	if !ok {
		ctx = trust.WithFault(ctx, stranger)
	}
	r = r.WithContext(ctx)
	s.handler.ServeHTTP(w, r)
}

// passes are the periodic work of every part, watched.
func (s *server) passes() []broker.Pass {
	return s.broker.Watch(slices.Concat(
		s.broker.Passes(), s.catalog.Passes(), s.clients.Passes(), s.tokens.Passes(), s.grants.Passes(), s.lifecycle.Passes(), s.links.Passes(),
		s.subscribers.Passes(), s.bundles.Passes(), s.trust.Passes(), s.hubs.Passes(), s.sessions.Passes(),
	)...)
}

// settle finishes the work that an earlier process left unfinished, if the store is this process's alone: no other
// process can be at work that is older than this one. Otherwise others may be at it, and the settle pass waits until
// they surely are not. It returns when that is done, or after settlePatience; the channel is closed when it is done.
func (s *server) settle(ctx context.Context, began time.Time) <-chan struct{} {
	done := make(chan struct{})
	if s.config.Database.Postgres != nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		err := errors.Join(
			s.broker.Settle(ctx, began), s.catalog.Settle(ctx, began), s.clients.Settle(ctx), s.tokens.Settle(ctx, began),
			s.subscribers.Settle(ctx, began), s.lifecycle.SettleSecretParameters(ctx, began), s.links.Settle(ctx, began),
			s.bundles.Settle(ctx, began),
		)
		if err != nil {
			s.log.Error("settling what an earlier process left; the settle pass goes on with it", "error", err)
			return
		}
		s.log.Info("settled what an earlier process left")
	}()
	patience := time.NewTimer(settlePatience)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		s.log.Warn("some VIMs do not answer; settling what an earlier process left goes on in the background")
	case <-ctx.Done():
	}
	return done
}

// run serves until the context ends, and for the shutdown delay after that; ready is called
// once, when /readyz first says so.
func (s *server) run(ctx context.Context, l net.Listener, ready func()) error {
	began := s.store.Now()
	ctx, cancel := s.delayed(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		served := api.Server{Handler: http.HandlerFunc(s.serveHTTP), Grace: s.config.ShutdownGrace, Log: s.log, TLS: s.live.tls(s.log)}
		return served.Serve(ctx, l)
	})
	group.Go(func() error {
		if err := s.store.Run(ctx, s.passes(), s.log, s.onboard.Worker(), s.lifecycle.Worker(), s.subscribers.Worker()); err != nil {
			return fmt.Errorf("running the periodic passes: %w", err)
		}
		return nil
	})
	looked := make(chan struct{})
	for _, keep := range []func(context.Context){
		s.broker.KeepLogins, s.enableManagements, s.trust.Run, func(ctx context.Context) { s.broker.KeepProbing(ctx, looked) },
	} {
		group.Go(func() error {
			keep(ctx)
			return nil
		})
	}
	for _, k := range s.keys {
		if k.run != nil {
			group.Go(func() error {
				if err := k.run(ctx); err != nil {
					return fmt.Errorf("keeping the key store %s usable: %w", k.Name(), err)
				}
				return nil
			})
		}
	}
	group.Go(func() error {
		settled := s.settle(ctx, began)
		if ctx.Err() == nil {
			s.ready.settled.Store(true)
			s.awaitReady(ctx, looked, ready)
		}
		<-settled
		return nil
	})
	return group.Wait()
}

// rendersCharts is the program that renders Helm charts: it stands beside this one.
func rendersCharts() string {
	own, err := os.Executable()
	if err != nil {
		own = os.Args[0]
	}
	return filepath.Join(filepath.Dir(own), "vimbroker-helm")
}
