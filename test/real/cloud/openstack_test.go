package cloud_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
)

// tokensLife is how long the tokens of the cloud that is disturbed live.
const tokensLife = 25 * time.Minute

// disturbed is a cloud whose services tests stop, and start again before they end. Revocations show at once there.
func disturbed(t *testing.T) *real.Cloud {
	t.Helper()
	return real.OpenStackWith(t, real.OpenStackOptions{TokenTTL: tokensLife, AskAlways: true})
}

// The cloud is there, and a tenant can log in and sees the catalog.
func TestOpenStack(t *testing.T) {
	o := real.OpenStack(t)
	who := o.Project(t)
	var token struct {
		Token struct {
			Catalog []struct {
				Type      string
				Endpoints []struct{ Interface, URL string }
			}
		}
	}
	if _, err := o.LogIn(t.Context(), who, &token); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, service := range token.Token.Catalog {
		for _, e := range service.Endpoints {
			if e.Interface == "public" {
				got[service.Type] = e.URL
			}
		}
	}
	for kind, want := range map[string]string{
		"identity": o.AuthURL, "key-manager": o.KeyManager, "orchestration": o.Orchestration + "/v1/" + who.ProjectID,
	} {
		if got[kind] != want {
			t.Errorf("the catalog has %q for %s, want %q", got[kind], kind, want)
		}
	}
	if _, err := o.LogIn(t.Context(), real.Tenant{UserID: who.UserID, Password: "wrong", ProjectID: who.ProjectID}, nil); err == nil {
		t.Error("a wrong password logs in")
	}
}

// Both kinds of cloud can be had: with the fixes of 2026 the token of an application
// credential makes no Heat stack, without them it does.
func TestOpenStackTrusts(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		o := cloud(t, insecure)
		who := o.Project(t)
		id, secret := o.ApplicationCredential(t, who, "for-heat", false)
		token, err := o.LogInWith(t.Context(), id, secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if made := o.Stack(t, token, who.ProjectID); made != insecure {
			t.Errorf("an application credential makes a stack: %t, want %t", made, insecure)
		}
	}
}
