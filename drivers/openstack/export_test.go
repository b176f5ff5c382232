package openstack

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// CacheSizeAfter remembers n callers, and returns how many are remembered then.
func CacheSizeAfter(n int) int {
	c := newCallerCache(maxCallers)
	now := time.Now()
	for i := range n {
		c.put(sha256.Sum256(fmt.Append(nil, i)), caller{policy.Principal{}, now.Add(callerTTL)}, now)
	}
	return len(c.entries)
}

// Logout forgets the driver's sessions, so that its next call logs in, and waits for
// the probes that are being deleted.
func (d *Driver) Logout() {
	d.Wait()
	d.sessions.mu.Lock()
	defer d.sessions.mu.Unlock()
	for key := range d.sessions.kept {
		d.sessions.remove(key)
	}
}

// Sessions counts the sessions that the driver keeps.
func (d *Driver) Sessions() int {
	d.sessions.mu.Lock()
	defer d.sessions.mu.Unlock()
	return len(d.sessions.kept)
}
