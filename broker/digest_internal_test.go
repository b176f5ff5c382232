package broker

import (
	"reflect"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// Requests, and leases, that differ in one field and in nothing else have digests of their own.
func TestOneFieldMakesAnotherDigest(t *testing.T) {
	rules := []Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	others := []Rule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}
	type asked struct {
		vim string
		LeaseRequest
		Grant
	}
	full := asked{
		"v1",
		LeaseRequest{TTL: time.Hour, Format: clientconfig.Kubeconfig, Purpose: "scale", Operation: "op-1", Instance: "i-1", Standing: true, Credential: LeaseUser},
		Grant{Role: "view", Namespaces: []string{"a"}, Rules: rules},
	}
	bare := asked{vim: "v1", LeaseRequest: LeaseRequest{TTL: time.Hour}, Grant: Grant{Role: "view"}}
	for what, base := range map[string]asked{"full": full, "bare": bare} {
		seen := map[string]string{leaseDigest(base.vim, base.LeaseRequest, base.Grant): "none"}
		for field, change := range map[string]func(*asked){
			"vim":         func(r *asked) { r.vim = "v2" },
			"TTL":         func(r *asked) { r.LeaseRequest.TTL++ },
			"Role":        func(r *asked) { r.Grant.Role = "edit" },
			"Namespaces":  func(r *asked) { r.Grant.Namespaces = []string{"b"} },
			"Rules":       func(r *asked) { r.Grant.Rules = others },
			"ClusterWide": func(r *asked) { r.Grant.ClusterWide = true },
			"Format":      func(r *asked) { r.Format = clientconfig.JSON },
			"Purpose":     func(r *asked) { r.LeaseRequest.Purpose = "repair" },
			"Operation":   func(r *asked) { r.Operation = "op-2" },
			"Instance":    func(r *asked) { r.Instance = "i-2" },
			"For":         func(r *asked) { r.For = "dave" },
			"Standing":    func(r *asked) { r.Standing = !r.Standing },
			"Credential":  func(r *asked) { r.Credential = LeasePassThrough },
		} {
			other := base
			change(&other)
			sum := leaseDigest(other.vim, other.LeaseRequest, other.Grant)
			if was, there := seen[sum]; there {
				t.Errorf("%s: a request with another %s is one with another %s", what, field, was)
			}
			seen[sum] = field
		}
	}

	lease := Lease{Role: "view", Namespaces: []string{"a"}, Rules: rules}
	for field, other := range map[string]Lease{
		"Role":        {Role: "edit", Namespaces: lease.Namespaces, Rules: rules},
		"Namespaces":  {Role: lease.Role, Namespaces: []string{"b"}, Rules: rules},
		"Rules":       {Role: lease.Role, Namespaces: lease.Namespaces, Rules: others},
		"ClusterWide": {Role: lease.Role, Namespaces: lease.Namespaces, Rules: rules, ClusterWide: true},
	} {
		if reflect.DeepEqual(lease, other) || grantDigest(lease) == grantDigest(other) {
			t.Errorf("a lease with another %s shares the grant", field)
		}
	}
}
