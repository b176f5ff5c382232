package openstack

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// CacheSizeAfter remembers n callers, and returns how many are remembered then.
func CacheSizeAfter(n int) int {
	c := callerCache{entries: map[[sha256.Size]byte]caller{}}
	now := time.Now()
	for i := range n {
		c.put(sha256.Sum256(fmt.Append(nil, i)), caller{policy.Principal{}, now.Add(callerTTL)}, now)
	}
	return len(c.entries)
}
