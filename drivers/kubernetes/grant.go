package kubernetes

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	// minTTL is the shortest life that TokenRequest grants.
	minTTL = 600 * time.Second
	// maxTTL is the longest that the field expirationSeconds of a TokenRequest takes.
	maxTTL = (1 << 32) * time.Second
	// legacyTTL is the one wish that API servers may stretch to a year, for pods
	// of old (--service-account-extend-token-expiration).
	legacyTTL = 3607 * time.Second
	// defaultRole is what a lease gets that asks for none.
	defaultRole = "view"
	// maxNamespaces bounds how many namespaces a lease is limited to.
	maxNamespaces = 32
)

var roleName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9:._-]{0,251}[A-Za-z0-9])?$`) })

// Prepare implements [broker.Driver]. The role is the name of a ClusterRole, view
// if none is given: letters, digits, colon, dot, dash and underscore, at most 253.
// Whether the cluster has it is found out by Issue. The namespaces come back
// sorted, each once; none means the whole cluster.
func (d *Driver) Prepare(g broker.Grant) (broker.Grant, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Grant{}, err
	}
	if g.Role == "" {
		g.Role = defaultRole
	}
	if !roleName().MatchString(g.Role) {
		return broker.Grant{}, broker.Invalid("role", "is not the name of a ClusterRole")
	}
	g.Namespaces = slices.Clone(g.Namespaces)
	slices.Sort(g.Namespaces)
	g.Namespaces = slices.Compact(g.Namespaces)
	if len(g.Namespaces) > maxNamespaces {
		return broker.Grant{}, broker.Invalid("namespaces", "are more than %d", maxNamespaces)
	}
	for _, n := range g.Namespaces {
		if !isLabel(n) {
			return broker.Grant{}, broker.Invalid("namespaces", "hold one that is not a DNS label of at most 63 characters")
		}
		if n == ours {
			return broker.Grant{}, &broker.Error{
				Kind: broker.ErrInvalid, Field: "namespaces",
				Detail: "hold " + ours + ", where the broker's own service accounts live: whoever may edit there can act as any of them",
				Remedy: "leave it out",
			}
		}
	}
	return g, nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < minTTL {
		return &broker.Error{
			Kind: broker.ErrInvalid, Field: "ttl", Detail: "is below 600 s, the shortest life of a token that Kubernetes grants",
			Remedy: "ask for 10m or more, and revoke the lease when it is not needed any more",
		}
	}
	if ttl > maxTTL {
		return broker.Invalid("ttl", "is longer than Kubernetes can be asked for")
	}
	return nil
}

// seconds is what a TokenRequest asks for.
func seconds(ttl time.Duration) *int64 {
	s := int64(ttl / time.Second)
	if s == int64(legacyTTL/time.Second) {
		s--
	}
	return &s
}
