package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
)

const (
	// trustedFor is the time for which the remembered namespace of a home counts. After that it
	// is looked up again.
	trustedFor = 10 * time.Minute
	// maxTrusted bounds how many are remembered.
	maxTrusted = 4096
)

// clock tells the time to what forgets by it.
type clock func() time.Time

func (c clock) Now() time.Time { return c() }

// memory knows in which namespace each home of grants was seen. The bindings of a home are
// never remembered: see [connection.unbound].
type memory struct {
	seen   *cache.LRUExpireCache // namespaces, by memoryKey
	making singleflight.Group

	mu sync.Mutex
	// leases counts those that were issued under a key.
	leases map[memoryKey]int
}

func newMemory(now clock) *memory {
	return &memory{seen: cache.NewLRUExpireCacheWithClock(maxTrusted, now), leases: map[memoryKey]int{}}
}

// memoryKey holds the generation too: another generation may be another cluster.
type memoryKey struct {
	vim        string
	generation int64
	name       string
}

// recall returns the namespace that is remembered under the key.
func (m *memory) recall(k memoryKey) (namespace string, ok bool) {
	found, ok := m.seen.Get(k)
	namespace, _ = found.(string)
	return namespace, ok
}

// count adds a lease to those under the key, and returns how many there were before.
func (m *memory) count(k memoryKey) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.leases) >= maxTrusted {
		clear(m.leases)
	}
	m.leases[k]++
	return m.leases[k] - 1
}

// recount counts leases under the key from zero again.
func (m *memory) recount(k memoryKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, k)
}

func (m *memory) drop(k memoryKey) {
	m.seen.Remove(k)
	m.recount(k)
}

// dropVIM forgets all that is known of a VIM.
func (m *memory) dropVIM(vim string) {
	m.seen.RemoveAll(func(k any) bool { return k.(memoryKey).vim == vim })
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.leases, func(k memoryKey, _ int) bool { return k.vim == vim })
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
			m.seen.Add(k, namespace, trustedFor-1) // whose last moment the cache counts
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
