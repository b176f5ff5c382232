package broker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// A broker on its embedded defaults registers a cluster, lends a credential of it, and
// takes it back.
func Example() {
	if err := lend(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// edge is registered
	// the lease of edge is active: alice may view for 1h0m0s
	// the lease of edge is revoked
}

func lend(ctx context.Context) error {
	cluster, err := fakekube.Start(fakekube.Options{})
	if err != nil {
		return err
	}
	defer cluster.Close()
	dir, err := os.MkdirTemp("", "vimbroker-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "vimbroker.db"), Log: log})
	if err != nil {
		return err
	}
	defer store.Close()
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		return err
	}
	defer keys.Close()
	policies, err := policy.Load(nil) // nil: only those that are built in
	if err != nil {
		return err
	}
	rules := egress.Default()
	rules.AllowLoopback = true // where the fake cluster is
	b, err := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: log,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Log: log})},
		Egress:  func(project string) *egress.Rules { return rules },
	})
	if err != nil {
		return err
	}

	alice := policy.Principal{Name: "alice", Project: "acme", Roles: []string{policy.RoleAdmin}}
	vim, err := b.RegisterVIM(ctx, alice, broker.Registration{
		Name: "edge", Type: kubernetes.Type, Endpoint: cluster.Endpoint, CACert: cluster.CA,
		Credential: broker.Credential{Token: secret.NewText(cluster.AdminToken)},
	})
	if err != nil {
		return err
	}
	fmt.Println(vim.Name, "is", vim.State)
	lease, config, err := b.IssueLease(ctx, alice, broker.LeaseRequest{VIM: "edge", Role: "view", TTL: time.Hour})
	if err != nil {
		return err
	}
	// config holds the credential: config.Render makes a kubeconfig of it.
	fmt.Printf("the lease of %s is %s: %s may %s for %v\n", config.VIM, lease.State, lease.Principal, lease.Role,
		lease.ExpiresAt.Sub(lease.IssuedAt).Round(time.Minute))
	lease, err = b.RevokeLease(ctx, alice, lease.ID)
	if err != nil {
		return err
	}
	fmt.Printf("the lease of %s is %s\n", config.VIM, lease.State)
	return nil
}
