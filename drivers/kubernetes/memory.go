package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// trustedFor is the time for which the remembered namespace of a home counts. After that it
	// is looked up again.
	trustedFor = 10 * time.Minute
	// maxTrusted bounds how many are remembered.
	maxTrusted = 4096
)

// memory knows in which namespace each home of grants was seen. The bindings of a home are
// never remembered: see [connection.unbound].
type memory struct {
	now    func() time.Time
	mu     sync.Mutex
	seen   map[memoryKey]remembered
	making singleflight.Group
}

// memoryKey holds the generation too: another generation may be another cluster.
type memoryKey struct {
	vim        string
	generation int64
	name       string
}

type remembered struct {
	namespace string
	at        time.Time
	// leases counts those that were issued there since.
	leases int
}

// recall returns the namespace that is remembered under the key.
func (m *memory) recall(k memoryKey) (namespace string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.seen[k]
	return r.namespace, ok && m.now().Sub(r.at) < trustedFor
}

func (m *memory) keep(k memoryKey, namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil || len(m.seen) >= maxTrusted {
		m.seen = map[memoryKey]remembered{}
	}
	r := m.seen[k]
	r.namespace, r.at = namespace, m.now()
	m.seen[k] = r
}

// count adds a lease to those under the key, and returns how many there were before.
func (m *memory) count(k memoryKey) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[memoryKey]remembered{}
	}
	r := m.seen[k]
	r.leases++
	m.seen[k] = r
	return r.leases - 1
}

// recount counts leases under the key from zero again.
func (m *memory) recount(k memoryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.seen[k]; ok {
		r.leases = 0
		m.seen[k] = r
	}
}

func (m *memory) drop(k memoryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, k)
}

// dropVIM forgets all that is known of a VIM.
func (m *memory) dropVIM(vim string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.seen {
		if k.vim == vim {
			delete(m.seen, k)
		}
	}
}

// ensure returns the namespace under the key, and makes it and its objects if it is not
// remembered. Concurrent callers for one key share one attempt, which continues even if
// the caller it began for gives up.
func (m *memory) ensure(ctx context.Context, k memoryKey, build func(context.Context) (string, error)) (string, error) {
	if namespace, ok := m.recall(k); ok {
		return namespace, nil
	}
	credential := lentTo(ctx)
	made := m.making.DoChan(fmt.Sprintf("%s/%d/%s", k.vim, k.generation, k.name), func() (any, error) {
		if namespace, ok := m.recall(k); ok {
			return namespace, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		ctx, takeBack := lend(ctx, credential)
		defer takeBack()
		namespace, err := build(ctx)
		if err == nil {
			m.keep(k, namespace)
		}
		return namespace, err
	})
	select {
	case r := <-made:
		namespace, _ := r.Val.(string)
		return namespace, r.Err
	case <-ctx.Done():
		return "", unanswered(ctx.Err())
	}
}
