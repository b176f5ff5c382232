package real_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/test/real"
)

// BenchmarkVaultGet sets reading a key side by side with a bare read of the same
// secret by Vault's own client, in turns: the ratios of the medians and of the 99th
// percentiles.
func BenchmarkVaultGet(b *testing.B) {
	v := real.Vault(b)
	s := openVault(b, byAppRole(v))
	ref, _ := putVaultKey(b, s)
	bare := bareVault(b, v)
	path := "vimbroker/" + string(ref)
	contenders := [2]func(context.Context) error{
		func(ctx context.Context) error { _, err := bare.Get(ctx, path); return err },
		func(ctx context.Context) error {
			key, err := s.Get(ctx, ref)
			if err == nil {
				key.Clear()
			}
			return err
		},
	}
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			const each = 50
			var took [2][]time.Duration
			warm := true
			for b.Loop() {
				for i, call := range contenders {
					turn, err := timeCalls(b.Context(), clients, each, call)
					if err != nil {
						b.Fatal(err)
					}
					if !warm {
						took[i] = append(took[i], turn...)
					}
				}
				warm = false
			}
			if warm || len(took[0]) == 0 {
				return // the first turn connects
			}
			for _, sample := range took {
				slices.Sort(sample)
			}
			at := func(i, percent int) float64 { return float64(took[i][(len(took[i])-1)*percent/100]) }
			b.ReportMetric(at(0, 50)/1e3, "bare-p50-µs")
			b.ReportMetric(at(1, 50)/1e3, "get-p50-µs")
			b.ReportMetric(at(1, 50)/at(0, 50), "p50-ratio")
			b.ReportMetric(at(0, 99)/1e3, "bare-p99-µs")
			b.ReportMetric(at(1, 99)/1e3, "get-p99-µs")
			b.ReportMetric(at(1, 99)/at(0, 99), "p99-ratio")
		})
	}
}

// bareVault is Vault's own client as it comes, with a token of the same policy.
func bareVault(b *testing.B, v *real.VaultServer) *api.KVv2 {
	b.Helper()
	config := api.DefaultConfig()
	config.Address = v.Address
	if err := config.ConfigureTLS(&api.TLSConfig{CACert: v.CAFile}); err != nil {
		b.Fatal(err)
	}
	client, err := api.NewClient(config)
	if err != nil {
		b.Fatal(err)
	}
	id, err := os.ReadFile(v.SecretIDFile)
	if err != nil {
		b.Fatal(err)
	}
	login, err := client.Logical().Write("auth/approle/login", map[string]any{"role_id": v.RoleID, "secret_id": string(id)})
	if err != nil {
		b.Fatal(err)
	}
	client.SetToken(login.Auth.ClientToken)
	return client.KVv2("secret")
}

func timeCalls(ctx context.Context, clients, each int, call func(context.Context) error) ([]time.Duration, error) {
	took := make([]time.Duration, clients*each)
	var group errgroup.Group
	for c := range clients {
		group.Go(func() error {
			for n := range each {
				began := time.Now()
				if err := call(ctx); err != nil {
					return err
				}
				took[c*each+n] = time.Since(began)
			}
			return nil
		})
	}
	return took, group.Wait()
}
