// Package callback posts notifications to those who have subscribed to them, and authenticates the broker to them: by
// user and password, by OAuth 2.0's client credentials (RFC 6749 section 4.4), by a client certificate.
package callback

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// Options say how subscribers are met.
type Options struct {
	// CAFile holds the authorities (PEM) of subscribers' certificates, read again when it changes; empty means the
	// system's.
	CAFile string
	// CertFile and KeyFile hold the broker's client certificate, read for each connection; empty shows none.
	CertFile, KeyFile string
	// Now defaults to time.Now.
	Now func() time.Time
}

const (
	testTime = 10 * time.Second
	// keptFor is how long connections, credentials and tokens are kept, kept how many subscribers' they are.
	keptFor = 5 * time.Minute
	kept    = 1024
	// early is how long before its end a token is replaced.
	early = 10 * time.Second
)

var (
	// answer bounds the bytes read of an answer, which are not used; token bounds those of a token
	// endpoint.
	answer = remote.Limit{Bytes: 64 << 10, Values: 1000, Items: 1000}
	token  = remote.Limit{Bytes: 64 << 10, Values: 100, Items: 100}
)

// Callback is an [subscription.Endpoint].
type Callback struct {
	options Options

	mu      sync.Mutex
	clients map[string]*client // by subscription
}

var _ subscription.Endpoint = (*Callback)(nil)

// New returns a Callback; the first call connects.
func New(o Options) *Callback {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Callback{options: o, clients: map[string]*client{}}
}

// Close closes connections.
func (c *Callback) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, one := range c.clients {
		one.close()
		delete(c.clients, id)
	}
}

// Forget drops what is kept of a subscription.
func (c *Callback) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.clients[id]; one != nil {
		one.close()
		delete(c.clients, id)
	}
}

// client is the state kept for one subscriber.
type client struct {
	way, tokens *remote.Transport
	credentials subscription.Credentials
	made        time.Time
	now         func() time.Time

	mu    sync.Mutex
	token *oauth2.Token
}

func (c *client) close() {
	c.way.CloseIdleConnections()
	c.tokens.CloseIdleConnections()
}

// client returns what is kept of a target, or makes it.
func (c *Callback) client(ctx context.Context, to subscription.Subscriber) (*client, error) {
	now := c.options.Now()
	c.mu.Lock()
	one := c.clients[to.Subscription]
	c.mu.Unlock()
	if one != nil && now.Sub(one.made).Abs() < keptFor {
		return one, nil
	}
	credentials, err := to.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	made := &client{credentials: credentials, made: now, now: c.options.Now}
	o := remote.Options{Server: "the subscriber", CA: remote.Authorities{File: c.options.CAFile}}
	if credentials.Certificate {
		if c.options.CertFile == "" {
			return nil, fmt.Errorf("%w: it has no client certificate any more (sol003.notifications.certFile)", subscription.ErrOurs)
		}
		o.ClientCertificate = c.certificate
	}
	if made.way, err = remote.New(to.Egress, o); err != nil {
		return nil, err
	}
	o.Server = "the token endpoint"
	if made.tokens, err = remote.New(to.Egress, o); err != nil {
		return nil, err
	}
	if to.Subscription != "" {
		c.keep(to.Subscription, made)
	}
	return made, nil
}

func (c *Callback) keep(id string, made *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.clients[id]; old != nil {
		old.close()
	}
	for other, one := range c.clients {
		if len(c.clients) < kept && made.made.Sub(one.made) < keptFor {
			continue
		}
		one.close()
		delete(c.clients, other)
	}
	c.clients[id] = made
}

var errCertificate = fmt.Errorf("%w: its client certificate cannot be read", subscription.ErrOurs)

func (c *Callback) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.options.CertFile, c.options.KeyFile)
	if err != nil {
		return nil, &remote.CallError{Detail: errCertificate.Error(), Cause: subscription.ErrOurs}
	}
	return &pair, nil
}

// Test implements [subscription.Endpoint].
func (c *Callback) Test(ctx context.Context, to subscription.Subscriber) error {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	one, err := c.client(ctx, to)
	if err != nil {
		return err
	}
	if to.Subscription == "" {
		defer one.close()
	}
	status, err := one.call(ctx, http.MethodGet, to.Callback, nil)
	if err != nil {
		return err
	}
	if status != http.StatusNoContent {
		return fmt.Errorf("it answers %d to GET, and 204 is what says that it takes notifications%s", status, moved(status))
	}
	return nil
}

// Send implements [subscription.Endpoint].
func (c *Callback) Send(ctx context.Context, to subscription.Subscriber, body []byte) error {
	one, err := c.client(ctx, to)
	if err != nil {
		return err
	}
	status, err := one.call(ctx, http.MethodPost, to.Callback, body)
	switch {
	case err != nil:
		return err
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnsupportedMediaType ||
		status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: it answers %d", subscription.ErrRefused, status)
	}
	return fmt.Errorf("the subscriber answers %d%s", status, moved(status))
}

func moved(status int) string {
	if status >= 300 && status <= 399 {
		return "; redirects are not followed"
	}
	return ""
}

// call sends a request to the subscriber, and repeats it with another token if the subscriber refuses the
// kept one.
func (c *client) call(ctx context.Context, method, uri string, body []byte) (int, error) {
	for again := false; ; again = true {
		request, err := http.NewRequestWithContext(remote.Expect(ctx, answer), method, uri, bytes.NewReader(body))
		if err != nil {
			return 0, errors.New("the callback URI cannot be used")
		}
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Version", version)
		}
		old, err := c.authenticate(ctx, request, again)
		if err != nil {
			return 0, err
		}
		response, err := c.way.Client().Do(request)
		if err != nil {
			return 0, explain(err, "the subscriber")
		}
		if err := response.Body.Close(); err != nil {
			return 0, explain(err, "the subscriber")
		}
		if response.StatusCode != http.StatusUnauthorized || !old {
			return response.StatusCode, nil
		}
	}
}

// version is that of the notification interface (SOL013 clause 9.3.2).
const version = "2.0.0"

// authenticate adds the broker's credential at the subscriber to a request; old says that the token is a kept
// one; anew replaces a kept token first.
func (c *client) authenticate(ctx context.Context, r *http.Request, anew bool) (old bool, err error) {
	has := c.credentials
	switch {
	case has.ClientID != "":
		token, old, err := c.bearer(ctx, anew)
		if err != nil {
			return false, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		return old, nil
	case has.User != "":
		r.SetBasicAuth(has.User, has.Password.Reveal())
	}
	return false, nil
}

// bearer returns an access token, the one that is kept where it lasts.
func (c *client) bearer(ctx context.Context, anew bool) (text string, old bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.token; t != nil && !anew && (t.Expiry.IsZero() || c.now().Add(early).Before(t.Expiry)) {
		return t.AccessToken, true, nil
	}
	asking := clientcredentials.Config{
		ClientID: c.credentials.ClientID, ClientSecret: c.credentials.ClientPassword.Reveal(), TokenURL: c.credentials.TokenEndpoint,
		AuthStyle: oauth2.AuthStyleInHeader,
	}
	ctx = context.WithValue(remote.Expect(ctx, token), oauth2.HTTPClient, c.tokens.Client())
	got, err := asking.Token(ctx)
	if err != nil {
		// The library's words hold what was answered.
		if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok && said.Response != nil {
			return "", false, fmt.Errorf("the token endpoint answers %d%s", said.Response.StatusCode, moved(said.Response.StatusCode))
		}
		if f := remote.Unanswered(err, "the token endpoint"); f != nil {
			return "", false, explain(err, "the token endpoint")
		}
		return "", false, errors.New("the token endpoint answers without an access token")
	}
	c.token = got
	return got.AccessToken, false, nil
}

// explain turns an error of the network into our own words, but for what is the broker's fault.
func explain(err error, server string) error {
	if errors.Is(err, subscription.ErrOurs) {
		return errCertificate
	}
	return remote.Explain(err, server)
}
