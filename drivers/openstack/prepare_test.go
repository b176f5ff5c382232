package openstack_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
)

// Roles of a grant come back sorted, each once; what is no role is named.
func TestRolesOfAGrantAreWrittenInOneWay(t *testing.T) {
	d := openstack.New(openstack.Options{})
	for role, want := range map[string]string{"": "", "member": "member", "reader, member,reader": "member,reader", " a b ": "a b"} {
		if g, err := d.Prepare(broker.Grant{Role: role, TTL: time.Hour}); err != nil || g.Role != want {
			t.Errorf("%q is granted as %q, %v", role, g.Role, err)
		}
	}
	for _, role := range []string{",", "member,", "a/b", "é"} {
		var e *broker.Error
		if _, err := d.Prepare(broker.Grant{Role: role, TTL: time.Hour}); !errors.As(err, &e) || e.Field != "role" {
			t.Errorf("%q: %v, want a fault of role", role, err)
		}
	}
	var e *broker.Error
	if _, err := d.Prepare(broker.Grant{TTL: time.Hour, Namespaces: []string{"a"}}); !errors.As(err, &e) || e.Field != "namespaces" || e.Remedy == "" {
		t.Errorf("namespaces of a cloud: %v", err)
	}
}
