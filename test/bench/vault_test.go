package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// vaultGoal is what opening a credential may cost, a bare read being one.
	vaultGoal = 1.2
	// credentialSize is that of a credential with a token and a client
	// certificate, in bytes.
	credentialSize = 4 << 10
)

// vaultOpen measures how much more opening a stored credential costs, whose key
// is in Vault, than reading that secret with Vault's own client. Both are
// called by so many clients at once, each in so many turns of so many calls.
func vaultOpen(b *testing.B, clients, rounds, each int) *figure {
	b.Helper()
	v := real.Vault(b)
	ctx := b.Context()
	keys, err := vault.Open(ctx, vault.Options{
		Address: v.Address, CAFile: v.CAFile,
		Auth: vault.Auth{AppRole: &vault.AppRole{RoleID: v.RoleID, SecretIDFile: v.SecretIDFile}},
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
	underneath := newBareVault(b, v)
	rows := opening(b, keys, "bare read of Vault's KV", func(ref secret.Ref) error {
		_, err := underneath.Get(ctx, "vimbroker/"+string(ref))
		return err
	}, clients, rounds, each)
	rows[1], rows[2] = rows[1].ratioGoal(vaultGoal), rows[2].ratioGoal(vaultGoal)
	return &figure{Title: fmt.Sprintf("Opening a credential whose key is in Vault, clients at once: %d", clients), Rows: rows}
}

// opening lets a key store that opens a credential take turns with a bare read of
// what it reads. The rows are the bare read, the key store over it, and its tail.
func opening(b *testing.B, keys secret.KeyStore, bareRead string, read func(secret.Ref) error, clients, rounds, each int) []row {
	b.Helper()
	ctx, owner := b.Context(), secret.Owner{ID: uuid.NewString(), Generation: 1}
	key, err := secret.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	defer key.Clear()
	ref, err := keys.Put(ctx, owner, key)
	if err != nil {
		b.Fatal(err)
	}
	sealed, err := secret.Seal(key, owner, "credential", secret.NewText(strings.Repeat("x", credentialSize)))
	if err != nil {
		b.Fatal(err)
	}
	const openIt = "key store's Get and Open"
	out, err := turns(rounds, clients, each,
		contender{bareRead, func(int) error { return read(ref) }},
		contender{openIt, func(int) error {
			key, err := keys.Get(ctx, ref)
			if err != nil {
				return err
			}
			defer key.Clear()
			_, err = secret.Open(key, owner, "credential", sealed)
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	base, opened := timed(bareRead, out[0].sample), timed(openIt, out[1].sample)
	base.PerSecond, opened.PerSecond = out[0].perSecond(), out[1].perSecond()
	opened = opened.over(base)
	tail := opened.tailOver(base)
	b.ReportMetric(opened.Ratio, "x-p50")
	b.ReportMetric(tail.Ratio, "x-p99")
	return []row{base, opened, tail}
}

// newBareVault is Vault's own client as it comes, with a token of the same policy.
func newBareVault(b *testing.B, v *real.VaultServer) *api.KVv2 {
	b.Helper()
	config := api.DefaultConfig()
	if config.Error != nil {
		b.Fatal(config.Error)
	}
	config.Address = v.Address
	if err := config.ConfigureTLS(&api.TLSConfig{CACert: v.CAFile}); err != nil {
		b.Fatal(err)
	}
	c, err := api.NewClient(config)
	if err != nil {
		b.Fatal(err)
	}
	id, err := os.ReadFile(v.SecretIDFile)
	if err != nil {
		b.Fatal(err)
	}
	login, err := c.Logical().WriteWithContext(b.Context(), "auth/approle/login", map[string]any{
		"role_id": v.RoleID, "secret_id": strings.TrimSpace(string(id)),
	})
	if err != nil {
		b.Fatal(err)
	}
	c.SetToken(login.Auth.ClientToken)
	return c.KVv2("secret")
}
