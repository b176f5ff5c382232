package barbican

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/acls"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"
	"golang.org/x/sync/singleflight"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keystone"
)

var _ secret.KeyStore = (*Store)(nil)

// octets is the media type of keys. Barbican wants it by the letter.
const octets = "application/octet-stream"

// Store keeps keys in one project of one Barbican. It is safe for concurrent use,
// also by several processes. Its errors are the sentinels of package secret, with
// the reason in words; they hold nothing of what a remote side answered.
type Store struct {
	ways     [2]transport               // to Keystone, and to Barbican
	identity *gophercloud.ServiceClient // Keystone
	keys     *gophercloud.ServiceClient // Barbican
	auth     keystone.Auth
	folder   string
	timeout  time.Duration
	now      func() time.Time
	log      *slog.Logger

	logins  singleflight.Group
	mu      sync.Mutex
	current *session // nil: none
	refused refused
	lost    bool      // the last login failed, and the log was told
	failed  time.Time // when it did
	proven  time.Time // when Check last wrote; zero: it has not, or has failed since
}

// Open makes a Store. It makes no request: the store logs in at its first use, and
// [Store.Check] reports obstacles. Only faults in the options are errors, every one
// of them at once. Call [Store.Close] at the end.
func Open(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening Barbican key store: %w", err)
	}
	var ways [2]transport
	for i, server := range []string{issuer, keeper} {
		way, err := remote.NewTrusted(remote.Options{
			Server: server, CA: remote.Authorities{File: o.CAFile},
			HTTP1: true, // calls that share one HTTP/2 connection also share its fate
		})
		if err != nil {
			return nil, fmt.Errorf("opening Barbican key store: %w", err)
		}
		ways[i] = transport{way}
	}
	return &Store{
		ways: ways, identity: newClient(o.AuthURL, ways[0]), keys: newClient(o.Endpoint, ways[1]),
		auth: o.Auth, folder: o.Folder, timeout: o.Timeout, now: o.Now, log: o.Log,
	}, nil
}

// Close revokes the token, and releases the connections. Calls under way end as
// they would have; the Store must not be used afterwards. A token that cannot be
// revoked expires by itself.
func (s *Store) Close(ctx context.Context) error {
	for _, way := range s.ways {
		defer way.CloseIdleConnections()
	}
	s.mu.Lock()
	c := s.current
	s.current = nil
	s.mu.Unlock()
	if c == nil || c.expired(s.now()) {
		return nil
	}
	ctx, cancel := context.WithTimeout(withToken(ctx, c.token), s.timeout)
	defer cancel()
	response, err := s.identity.Delete(ctx, s.identity.ServiceURL("auth", "tokens"), &gophercloud.RequestOpts{
		MoreHeaders: map[string]string{"X-Subject-Token": c.token.Reveal()},
	})
	if err == nil {
		_ = response.Body.Close()
	}
	if f := faultOf(ctx, err, issuer); f != nil && !errors.Is(f, secret.ErrNotFound) && !errors.Is(f, secret.ErrForbidden) {
		return fmt.Errorf("revoking the token of the Barbican key store: %w", f)
	}
	return nil
}

// Name returns "barbican".
func (s *Store) Name() string { return "barbican" }

// bounded gives a call of n requests its own deadline.
func (s *Store) bounded(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(n)*s.timeout)
}

// Put stores a new key. In addition to the contract, owner.ID must be a UUID in its
// canonical spelling.
func (s *Store) Put(ctx context.Context, owner secret.Owner, key *secret.Key) (_ secret.Ref, err error) {
	l, err := s.newLabel(owner)
	if err != nil {
		return "", fmt.Errorf("storing key: %w", err)
	}
	defer secret.Doing(&err, "storing key of %s, generation %d", owner.ID, owner.Generation)
	ctx, cancel := s.bounded(ctx, 4)
	defer cancel()
	encoded := key.Encode()
	if encoded == nil {
		return "", errors.New("there is no key")
	}
	defer clear(encoded)
	id, err := s.create(ctx, l, encoded)
	return secret.Ref(id), err
}

// create makes a secret, closes it, and fills it, in this order: it is never open
// with something in it. A secret whose Put fails is deleted; what cannot be deleted
// either, and what Barbican made without being heard, is shown by List.
func (s *Store) create(ctx context.Context, l label, payload []byte) (id string, err error) {
	err = s.ask(ctx, false, func(ctx context.Context, client *gophercloud.ServiceClient, _ string) error {
		made, err := secrets.Create(ctx, client, secrets.CreateOpts{
			Name: l.name, Mode: l.mode, Algorithm: "fernet", SecretType: secrets.OpaqueSecret,
		}).Extract()
		if err != nil {
			return err
		}
		var ok bool
		if id, ok = idOf(made.SecretRef); !ok {
			return errNotBarbican
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	failpoint.At("barbican.put.made")
	if err = s.shut(ctx, id); err == nil {
		failpoint.At("barbican.put.closed")
		err = s.fill(ctx, id, payload)
	}
	if err != nil {
		// Also when it is the caller who gave up.
		ctx, cancel := s.bounded(context.WithoutCancel(ctx), 1)
		defer cancel()
		return "", errors.Join(err, s.remove(ctx, id))
	}
	failpoint.At("barbican.put.filled")
	return id, nil
}

// shut lets only the store's own user read a secret. Administrators of the project
// can read it in any case.
func (s *Store) shut(ctx context.Context, id string) error {
	return s.ask(ctx, true, func(ctx context.Context, client *gophercloud.ServiceClient, user string) error {
		open, users := false, []string{user}
		return acls.SetSecretACL(ctx, client, id, acls.SetOpts{{Type: "read", ProjectAccess: &open, Users: &users}}).Err
	})
}

// fill gives a secret its payload. Barbican takes one payload only: if the answer
// was lost, what is there is compared.
func (s *Store) fill(ctx context.Context, id string, payload []byte) error {
	err := s.ask(ctx, false, func(ctx context.Context, client *gophercloud.ServiceClient, _ string) error {
		return secrets.Update(ctx, client, id, secrets.UpdateOpts{ContentType: octets, Payload: string(payload)}).Err
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	stored, errRead := s.read(ctx, id)
	defer clear(stored)
	if errRead == nil && bytes.Equal(stored, payload) {
		return nil
	}
	return err
}

// Get reads a key: what is known of the secret first, and then its payload. A
// secret that does not hold exactly a key is [secret.ErrCorrupt]; what is no
// reference of this store is [secret.ErrNotFound].
func (s *Store) Get(ctx context.Context, ref secret.Ref) (_ *secret.Key, err error) {
	defer secret.Doing(&err, "reading key %q", ref)
	ctx, cancel := s.bounded(ctx, 3)
	defer cancel()
	id := string(ref)
	if !secret.IsID(id) {
		return nil, secret.ErrNotFound
	}
	err = s.ask(ctx, true, func(ctx context.Context, client *gophercloud.ServiceClient, _ string) error {
		found, err := secrets.Get(ctx, client, id).Extract()
		switch {
		case err != nil:
			return err
		case found.Status == "":
			return errNotBarbican
		case found.ContentTypes["default"] != octets:
			// A secret of another type, or without a payload: its Put did not finish.
			return errNoKey
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	payload, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	defer clear(payload)
	key, err := secret.ParseKey(payload)
	if err != nil {
		return nil, secret.ErrCorrupt
	}
	return key, nil
}

// maxPayload is more than a key has, in bytes.
const maxPayload = 64

// read returns the payload of a secret; the caller clears it.
func (s *Store) read(ctx context.Context, id string) (payload []byte, err error) {
	err = s.ask(ctx, true, func(ctx context.Context, client *gophercloud.ServiceClient, _ string) error {
		result := secrets.GetPayload(ctx, client, id, secrets.GetPayloadOpts{PayloadContentType: octets})
		if result.Err != nil {
			return result.Err
		}
		defer result.Body.Close()
		if kind, _, err := mime.ParseMediaType(result.Header.Get("Content-Type")); err != nil || kind != octets {
			return errNotBarbican
		}
		buffer := make([]byte, maxPayload+1)
		n, err := io.ReadFull(result.Body, buffer)
		if payload = buffer[:n]; n > maxPayload {
			return errNoKey
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	})
	return payload, err
}

var errForeignRef = errors.New("not a reference of this key store")

// label is how Barbican's own fields say whose key a secret is.
type label struct{ name, mode string }

func (s *Store) newLabel(owner secret.Owner) (label, error) {
	version, err := owner.NewVersion()
	return label{s.folder + "/" + owner.ID, version}, err
}

// ownerOf reads whose key a secret is. It is false for anything that newLabel
// could not have made in this folder.
func (s *Store) ownerOf(found secrets.Secret) (secret.Owner, bool) {
	id, ours := strings.CutPrefix(found.Name, s.folder+"/")
	owner, ok := secret.OwnerOf(id, found.Mode)
	return owner, ours && ok
}

// idOf takes the UUID off a secret's URL, and nothing else.
func idOf(url string) (string, bool) {
	id := url[strings.LastIndexByte(url, '/')+1:]
	return id, secret.IsID(id)
}
