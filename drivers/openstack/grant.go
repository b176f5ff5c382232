package openstack

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	// minTTL keeps a lease from ending before its holder has logged in.
	minTTL = time.Minute
	// maxTTL bounds what Keystone is asked for.
	maxTTL = 10 * 365 * 24 * time.Hour
	// admin is the role that no lease gets unless it is asked for by name.
	admin = "admin"
	// Heat is the purpose of a lease that makes Heat stacks.
	Heat = "heat"
	// Network is the purpose of a lease that is held to Neutron, where the cloud knows access rules and mints for it.
	Network = "network"
	// Read is the purpose of a lease that changes nothing: see [session.rules].
	Read = "read"
)

var roleName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9 ._:-]{0,253}[A-Za-z0-9_])?$`)
})

// Prepare implements [broker.Driver]. The role is one or several roles of the
// registered user on the project, separated by commas; they come back sorted, each
// once. None means all that it has but admin, which must be asked for by name.
// Whether it has them is found out by Issue. OpenStack knows no namespaces.
func (d *Driver) Prepare(g broker.Grant) (broker.Grant, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Grant{}, err
	}
	if len(g.Namespaces) > 0 {
		return broker.Grant{}, &broker.Error{
			Kind: broker.ErrInvalid, Field: "namespaces", Detail: "are Kubernetes'; an OpenStack lease is for the registered project",
			Remedy: "leave them out",
		}
	}
	names := rolesOf(g.Role)
	for _, name := range names {
		if !roleName().MatchString(name) {
			return broker.Grant{}, broker.Invalid("role", "is not a list of role names, separated by commas")
		}
	}
	g.Role = strings.Join(names, ",")
	return g, nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < minTTL {
		return broker.Invalid("ttl", "is below %v, in which no client can do much", minTTL)
	}
	if ttl > maxTTL {
		return broker.Invalid("ttl", "is longer than ten years")
	}
	return nil
}

// rolesOf splits the roles of a grant, sorted, each once; none if it names none.
func rolesOf(text string) []string {
	if text == "" {
		return nil
	}
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// subset returns those of the session's roles that a grant names, and those that
// these imply: not every Keystone adds them to an application credential's token,
// and services ask for them by name.
func (s *session) subset(text string) ([]tokens.Role, error) {
	var out []tokens.Role
	names := rolesOf(text)
	if len(names) == 0 {
		for _, r := range s.roles {
			if r.Name != admin {
				out = append(out, r)
			}
		}
		if len(out) == 0 {
			return nil, &broker.Error{
				Kind: broker.ErrInvalid, Field: "role", Detail: "is needed: the registered user has no role but admin on the project",
				Remedy: "ask for admin by name, or give the user another role",
			}
		}
		return out, nil
	}
	granted := map[string]bool{}
	for _, name := range names {
		if !slices.ContainsFunc(s.roles, func(r tokens.Role) bool { return r.Name == name }) {
			return nil, broker.Invalid("role", "names a role that the registered user does not have on the project")
		}
		granted[name] = true
		if i := slices.Index(chain, name); i >= 0 {
			for _, implied := range chain[i:] {
				granted[implied] = true
			}
		}
	}
	for _, r := range s.roles {
		if granted[r.Name] {
			out = append(out, r)
		}
	}
	return out, nil
}

// chain lists the roles of a default Keystone; each implies those after it.
var chain = []string{admin, "manager", "member", "reader"}

// requireAllRoles refuses a grant that names less than the session has: a project token
// cannot be cut down.
func (s *session) requireAllRoles(text string) error {
	asked, err := s.subset(text)
	if err != nil {
		return err
	}
	covered := map[string]bool{}
	for _, r := range asked {
		covered[r.Name] = true
	}
	for _, r := range s.roles {
		if !covered[r.Name] {
			return &broker.Error{
				Kind: broker.ErrInvalid, Field: "role",
				Detail: "cannot be granted alone: this lease would be a project token, which has every role of the registered user, " + r.Name + " too",
				Remedy: "ask for all of them by name, or register a user that has fewer",
			}
		}
	}
	return nil
}
