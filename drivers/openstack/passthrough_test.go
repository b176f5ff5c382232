package openstack_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// What is passed through is the registered user's name and password, as a VNFM reads it, and is
// tried as such.
func TestAStoredPasswordIsRenderedAndTried(t *testing.T) {
	l := newLab(t)
	l.register()
	stored := l.access.Credential
	text, err := clientconfig.Config{
		VIM: "core", VIMID: l.access.VIM, Lease: "1", Endpoint: l.Endpoint, Credential: stored, Client: l.driver.Client(l.access, nil, stored.Kind),
	}.Render(clientconfig.VIMConnection)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"username": "operator"`, `"password": "` + l.user.Password + `"`, `"project": "demo"`, `"projectDomain": "Default"`, `"userDomain": "Default"`,
	} {
		if !strings.Contains(text.Reveal(), want) {
			t.Errorf("a VNFM reads no %s", want)
		}
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, stored); dead || err != nil {
		t.Errorf("Dead() of a password that works = %v, %v", dead, err)
	}
	l.SetPassword(l.user.ID, "another")
	if dead, err := l.driver.Dead(t.Context(), l.access, stored); !dead || err != nil {
		t.Errorf("Dead() of a password that was changed = %v, %v, want true", dead, err)
	}
	if _, err := l.driver.Dead(t.Context(), l.access, broker.Credential{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("Dead() of nothing = %v", err)
	}
}
