package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/real"
)

// barbicanOpen measures how much more opening a stored credential costs, whose key
// is in Barbican, than reading that secret in its two steps, what it is and what it
// holds, with gophercloud.
func barbicanOpen(b *testing.B, clients, rounds, each int) *figure {
	b.Helper()
	o, ctx := real.OpenStack(b), b.Context()
	who := o.Project(b)
	password := filepath.Join(b.TempDir(), "password")
	if err := os.WriteFile(password, []byte(who.Password), 0o600); err != nil {
		b.Fatal(err)
	}
	keys, err := barbican.Open(barbican.Options{
		AuthURL: o.AuthURL, Endpoint: o.KeyManager,
		Auth: keystone.Auth{Password: &keystone.Password{UserID: who.UserID, ProjectID: who.ProjectID, PasswordFile: password}},
		Log:  slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := keys.Close(context.WithoutCancel(ctx)); err != nil {
			b.Error(err)
		}
	})
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: o.AuthURL, UserID: who.UserID, Password: who.Password, Scope: &gophercloud.AuthScope{ProjectID: who.ProjectID},
	})
	if err != nil {
		b.Fatal(err)
	}
	underneath, err := openstack.NewKeyManagerV1(provider, gophercloud.EndpointOpts{Region: o.Region})
	if err != nil {
		b.Fatal(err)
	}
	rows := opening(b, keys, "bare read of Barbican, two steps", func(ref secret.Ref) error {
		if _, err := secrets.Get(ctx, underneath, string(ref)).Extract(); err != nil {
			return err
		}
		_, err := secrets.GetPayload(ctx, underneath, string(ref), secrets.GetPayloadOpts{PayloadContentType: "application/octet-stream"}).Extract()
		return err
	}, clients, rounds, each)
	return &figure{Title: fmt.Sprintf("Opening a credential whose key is in Barbican, clients at once: %d", clients), Rows: rows}
}
