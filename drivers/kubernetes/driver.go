package kubernetes

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/drivers/ways"
)

var (
	_ broker.Driver    = (*Driver)(nil)
	_ broker.Grader    = (*Driver)(nil)
	_ broker.Tidier    = (*Driver)(nil)
	_ broker.Inspector = (*Driver)(nil)
	_ broker.Appointer = (*Driver)(nil)
)

// callTimeout bounds a driver call whose context has no deadline of its own.
const callTimeout = 30 * time.Second

// Type is the name of the type.
const Type broker.VIMType = "kubernetes"

// Options are the options of a [Driver].
type Options struct {
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Log takes what no caller is told; nil discards it. It never holds a credential.
	Log *slog.Logger
	// Escalating are namespaces whose identities count as able to escalate, in
	// addition to those found on the cluster.
	Escalating []string
	// Trial says which fresh leases are tried; empty means TrialSampled.
	Trial Trial
}

// Driver implements [broker.Driver] for Kubernetes. It is safe for concurrent
// use. It keeps connections for a while, and no credential.
type Driver struct {
	log         *slog.Logger
	now         func() time.Time
	connections *ways.Pool[connectionKey, *connection]
	homes       *memory
	facts       *cache.LRUExpireCache // by factKey

	escalatingToo []string
	trial         Trial
}

// New returns a driver that has connected to nothing yet.
func New(o Options) *Driver {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{
		log:         o.Log,
		now:         o.Now,
		connections: ways.New[connectionKey, *connection](maxConnections),
		homes:       newMemory(o.Now),
		facts:       cache.NewLRUExpireCacheWithClock(maxFacts, clock(o.Now)),

		escalatingToo: o.Escalating,
		trial:         o.Trial,
	}
}

// Type implements [broker.Driver].
func (d *Driver) Type() broker.Type {
	return broker.Type{
		Name:        Type,
		Formats:     clientconfig.Formats(clientconfig.KubernetesClient{}),
		Credentials: []broker.CredentialKind{broker.CredentialBearerToken, broker.CredentialClientCertificate, broker.CredentialBasicAuth},
		Document:    broker.DocumentKubeconfig,
		Rules:       true,
		Standing:    true,
	}
}

// Client implements [broker.Driver]. Clients start in the VIM's namespace, or in the
// first of the lease's if that is not one of them.
func (d *Driver) Client(a broker.Access, namespaces []string, _ broker.CredentialKind) clientconfig.Client {
	c := clientconfig.KubernetesClient{Namespace: a.Target.Namespace}
	if len(namespaces) > 0 && !slices.Contains(namespaces, c.Namespace) {
		c.Namespace = namespaces[0]
	}
	return c
}

// Close closes the connections that are idle now. The driver can still be used.
func (d *Driver) Close() { d.connections.Close() }

// over calls do with the connection to the VIM and a context for calls over it, to which the credential is lent.
func (d *Driver) over(ctx context.Context, a broker.Access, do func(context.Context, *connection) error) error {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	defer end()
	return do(ctx, c)
}

// over is [Driver.over] for a call that has a result.
func over[T any](
	ctx context.Context, d *Driver, a broker.Access, do func(context.Context, *connection) (T, error),
) (result T, err error) {
	err = d.over(ctx, a, func(ctx context.Context, c *connection) error {
		result, err = do(ctx, c)
		return err
	})
	return result, err
}

// connect returns the connection to the VIM and a context for calls over it, to
// which the credential is lent. end must be called when the calls are done.
func (d *Driver) connect(ctx context.Context, a broker.Access) (_ context.Context, end func(), _ *connection, _ error) {
	return d.connectOver(ctx, keyOf(a), a.Credential)
}

func (d *Driver) connectOver(
	ctx context.Context, k connectionKey, credential broker.Credential,
) (_ context.Context, end func(), _ *connection, _ error) {
	c, err := d.connections.Get(k, dial)
	if err != nil {
		return nil, nil, nil, err
	}
	cancel := func() {}
	if _, ok := ctx.Deadline(); !ok {
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
	}
	// client-go logs the errors that it also returns, texts of the remote side
	// included.
	ctx = logr.NewContext(ctx, logr.Discard())
	ctx, takeBack := lend(ctx, credential)
	return ctx, func() { cancel(); takeBack() }, c, nil
}
