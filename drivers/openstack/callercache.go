package openstack

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// callerCache remembers the principals of tokens by their digests: the tokens
// themselves are not kept.
type callerCache struct {
	most int // entries

	mu      sync.Mutex
	entries map[[sha256.Size]byte]caller
}

func newCallerCache(most int) callerCache {
	return callerCache{most: most, entries: map[[sha256.Size]byte]caller{}}
}

// caller is a principal that is believed until a time.
type caller struct {
	principal policy.Principal
	until     time.Time
}

func (c *callerCache) get(digest [sha256.Size]byte, now time.Time) (policy.Principal, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[digest]
	if !ok || !now.Before(found.until) {
		return policy.Principal{}, false
	}
	p := found.principal
	p.Roles = slices.Clone(p.Roles)
	return p, true
}

// put remembers a caller. If there is no room it forgets the expired ones, or
// else any one.
func (c *callerCache) put(digest [sha256.Size]byte, found caller, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.entries[digest]; !there && len(c.entries) >= c.most {
		for d, e := range c.entries {
			if !now.Before(e.until) {
				delete(c.entries, d)
			}
		}
		for d := range c.entries {
			if len(c.entries) < c.most {
				break
			}
			delete(c.entries, d)
		}
	}
	c.entries[digest] = found
}
