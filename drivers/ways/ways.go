// Package ways keeps the connections to API servers between calls, each by all that the trust in it rests on. None
// holds a credential.
package ways

import (
	"sync"

	"k8s.io/utils/lru"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Way is a connection. Calls that are under way end normally where its idle ones are closed.
type Way interface{ CloseIdleConnections() }

// Pool keeps ways by their keys; what is unused for longest goes first. It is safe for concurrent use.
type Pool[K comparable, W Way] struct {
	mu  sync.Mutex
	lru *lru.Cache
}

// New keeps at most so many.
func New[K comparable, W Way](most int) *Pool[K, W] {
	return &Pool[K, W]{lru: lru.NewWithEvictionFunc(most, func(_ lru.Key, way any) { way.(Way).CloseIdleConnections() })}
}

// Get is the way that is kept, or one that is dialled.
func (p *Pool[K, W]) Get(key K, dial func(K) (W, error)) (W, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if way, ok := p.lru.Get(key); ok {
		return way.(W), nil
	}
	way, err := dial(key)
	if err == nil {
		p.lru.Add(key, way)
	}
	return way, err
}

// Len is how many are kept.
func (p *Pool[K, W]) Len() int { return p.lru.Len() }

// Close closes what is idle.
func (p *Pool[K, W]) Close() { p.lru.Clear() }

// Peer is a server, by all that the trust in a connection to it rests on.
type Peer struct {
	Host, CA, ServerName string
	Insecure             bool
	Egress               *egress.Rules
}

// Dial prepares a connection to a server, with a name for errors; it connects to nothing yet.
func (r Peer) Dial(server string) (*remote.Transport, error) {
	way, err := remote.New(r.Egress, remote.Options{
		Server: server, CA: remote.Authorities{PEM: r.CA}, ServerName: r.ServerName, InsecureSkipVerify: r.Insecure,
	})
	if err != nil {
		return nil, broker.Invalid("caCert", "holds no certificate")
	}
	return way, nil
}
