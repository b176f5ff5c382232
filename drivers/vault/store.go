package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/vault/api"
	"golang.org/x/sync/singleflight"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var _ secret.KeyStore = (*Store)(nil)

// Store keeps keys in one folder of one Vault. It is safe for concurrent use,
// also by several processes. Its errors are the sentinels of package secret, with
// the reason in words; they hold nothing of what Vault answered.
type Store struct {
	client  *api.Client
	way     *remote.Transport
	auth    Auth
	mount   string
	path    string
	timeout time.Duration
	now     func() time.Time
	log     *slog.Logger

	logins  singleflight.Group
	changed chan struct{} // holds one: current was replaced
	mu      sync.Mutex
	current *session // nil: none
	refused refusal
}

// Open makes a Store, and logs in. A failed login is logged and is no error:
// [Store.Check] reports it until a login works. Only faults in the options are
// errors, every one of them at once. Call [Store.Run] to keep the session alive,
// and [Store.Close] at the end.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening Vault key store: %w", err)
	}
	address, err := parseAddress(o.Address)
	if err != nil {
		return nil, fmt.Errorf("opening Vault key store: %w", err)
	}
	to, err := remote.NewTrusted(remote.Options{
		Server: "Vault", CA: remote.Authorities{PEM: o.CACert, File: o.CAFile}, ServerName: o.TLSServerName,
		HTTP1: true, // calls that share one HTTP/2 connection also share its fate
	})
	if err != nil {
		return nil, fmt.Errorf("opening Vault key store: %w", err)
	}
	way := &transport{way: to, peers: map[string]bool{address.Host: true}}
	for _, peer := range o.Peers {
		u, err := parseAddress(peer)
		if err != nil {
			return nil, fmt.Errorf("opening Vault key store: %w", err)
		}
		way.peers[u.Host] = true
	}
	client, err := newClient(address, o.Namespace, way)
	if err != nil {
		return nil, fmt.Errorf("opening Vault key store: %w", err)
	}
	s := &Store{
		client: client, way: to, auth: o.Auth, mount: o.Mount, path: o.Path,
		timeout: o.Timeout, now: o.Now, log: o.Log, changed: make(chan struct{}, 1),
	}
	if _, err := s.session(ctx, nil); err != nil {
		s.log.Warn("Vault key store is not ready; going on without", "error", err)
	}
	return s, nil
}

// newClient makes a client that holds no token, repeats and follows nothing by
// itself, and has nothing from the environment.
func newClient(address *url.URL, namespace string, way http.RoundTripper) (*api.Client, error) {
	client, err := api.NewClient(&api.Config{
		Address: address.String(),
		HttpClient: &http.Client{
			Transport:     way,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		DisableRedirects: true,
		CheckRetry:       func(context.Context, *http.Response, error) (bool, error) { return false, nil },
	})
	if err != nil {
		return nil, errors.New("a VAULT_ variable of the environment cannot be read: unset it")
	}
	client.ClearToken()
	client.SetHeaders(http.Header{api.RequestHeaderName: {"true"}})
	client.SetWrappingLookupFunc(func(string, string) string { return "" })
	if namespace != "" {
		client.SetNamespace(namespace)
	}
	return client, nil
}

// Close revokes the token, unless it came out of a file whole, and releases the
// connections. Calls under way end as they would have; the Store must not be used
// afterwards. A token that cannot be revoked expires by itself.
func (s *Store) Close(ctx context.Context) error {
	defer s.way.CloseIdleConnections()
	c := s.valid()
	if c == nil || s.auth.TokenFile != "" {
		return nil
	}
	s.mu.Lock()
	s.current = nil
	s.mu.Unlock()
	_, f := s.send(ctx, c.token, request{method: http.MethodPut, path: "auth/token/revoke-self", body: []byte("{}")})
	if f != nil && f.status != http.StatusForbidden {
		return fmt.Errorf("revoking the token of the Vault key store: %w", f)
	}
	return nil
}

// Name returns "vault".
func (s *Store) Name() string { return "vault" }

// bounded gives a call of a few requests its own deadline.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*s.timeout)
}

// data and metadata are where a secret, and what is known about it, are.
func (s *Store) data(name string) string     { return s.mount + "/data/" + s.path + "/" + name }
func (s *Store) metadata(name string) string { return s.mount + "/metadata/" + s.path + "/" + name }

// Put stores a new key. In addition to the contract, owner.ID must be a UUID in
// its canonical spelling.
func (s *Store) Put(ctx context.Context, owner secret.Owner, key *secret.Key) (_ secret.Ref, err error) {
	ref, err := newRef(owner)
	if err != nil {
		return "", fmt.Errorf("storing key: %w", err)
	}
	defer secret.Doing(&err, "storing key of %s, generation %d", owner.ID, owner.Generation)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	encoded := key.Encode()
	if encoded == nil {
		return "", errors.New("there is no key")
	}
	defer clear(encoded)
	err = s.create(ctx, string(ref), "key", encoded)
	if err == nil {
		failpoint.At("vault.put.written")
		return ref, nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	// The key may be stored even so: the answer was lost, or something
	// between here and Vault sent the request twice. If it comes to be there
	// later, List shows it.
	stored, errGet := s.get(ctx, ref)
	if errGet != nil {
		return "", err
	}
	defer stored.Clear()
	if !stored.Equal(key) {
		return "", err
	}
	return ref, nil
}

// create writes a secret of one field that must not exist. The value needs no
// escaping in JSON: it is base64url or hexadecimal.
func (s *Store) create(ctx context.Context, name, field string, value []byte) error {
	body := make([]byte, 0, 256)
	body = append(body, `{"options":{"cas":0},"data":{"`+field+`":"`...)
	body = append(body, value...)
	body = append(body, `"}}`...)
	answer, err := s.ask(ctx, request{method: http.MethodPut, path: s.data(name), body: body, once: true})
	if err != nil {
		return err // and the body may still be on its way out, so it is not cleared
	}
	clear(body)
	var a struct {
		Data struct {
			Version int `json:"version"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data.Version != 1 {
		return unavailable("what answers is not a KV version 2 engine of Vault")
	}
	return nil
}

// Get reads a key. A secret that does not hold exactly a key is
// [secret.ErrCorrupt]; what is no reference of this store is [secret.ErrNotFound].
func (s *Store) Get(ctx context.Context, ref secret.Ref) (_ *secret.Key, err error) {
	defer secret.Doing(&err, "reading key %q", ref)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.get(ctx, ref)
}

func (s *Store) get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
	if _, ok := ownerOf(string(ref)); !ok {
		return nil, secret.ErrNotFound
	}
	text, err := s.read(ctx, string(ref), "key")
	if err != nil {
		return nil, err
	}
	defer clear(text)
	key, err := secret.ParseKey(text)
	if err != nil {
		return nil, secret.ErrCorrupt
	}
	return key, nil
}

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	version, err := owner.NewVersion()
	return secret.Ref(owner.ID + "/" + version), err
}

// ownerOf reads whose key a reference stands for. It is false for anything that
// newRef could not have made, so what it lets through can stand in a path.
func ownerOf(ref string) (secret.Owner, bool) {
	id, version, _ := strings.Cut(ref, "/")
	return secret.OwnerOf(id, version)
}
