package replicas

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestVIMsThatRequestsBringToSeveralReplicas: of two requests at once, at two replicas, one is served, and the credential
// is the one of the request that was. What a request brings is nowhere in the database and the logs.
func TestVIMsThatRequestsBringToSeveralReplicas(t *testing.T) {
	t.Parallel()
	cluster := real.Kubernetes(t)
	policies := t.TempDir()
	if err := os.WriteFile(filepath.Join(policies, "site.cedar"), []byte(`@id("inline") permit (principal, action == Action::"vim:inline", resource)
		when { principal.roles.contains("admin") && context.inline };`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFleetOn(t, shared(t), footing{program: present, settings: "sol003: {enabled: true}\npolicyDir: " + policies + "\n"})
	c := &cnfs{fleet: f, cluster: cluster, namespace: fmt.Sprintf("brought-%d", os.Getpid())}
	cluster.Run(t, "", "create", "namespace", c.namespace)
	c.prepare()
	i, err := f.replicas[0].CreateVNF(t.Context(), sol003.CreateVNFRequest{VNFDID: "cnf-1"})
	if err != nil {
		t.Fatal(err)
	}
	tokens := []string{cluster.AdminToken(t), cluster.AdminToken(t)}
	site := func(token string) sol003.VIMConnectionInfo {
		return sol003.VIMConnectionInfo{
			VIMType: "ETSINFV.KUBERNETES.V_1", InterfaceInfo: &sol003.InterfaceInfo{Endpoint: cluster.Endpoint, CACert: cluster.CAPEM},
			AccessInfo: &sol003.AccessInfo{BearerToken: secret.NewText(token)},
		}
	}
	// atOnce has a replica asked with each of the tokens, and returns how many were served; the others were conflicts.
	atOnce := func(ask func(r *replica, token string) error) (served int64) {
		t.Helper()
		var all sync.WaitGroup
		results := make([]error, len(tokens))
		for n, token := range tokens {
			all.Go(func() { results[n] = ask(f.replicas[n+1], token) })
		}
		all.Wait()
		for _, err := range results {
			switch {
			case err == nil:
				served++
			case client.Status(err) != http.StatusConflict:
				t.Errorf("a request that is not served is refused with %v", err)
			}
		}
		if served == 0 {
			t.Error("neither request is served")
		}
		return served
	}
	brought := func(ctx context.Context) (found []v1.VIM, err error) {
		for v, err := range f.replicas[0].AllVIMs(ctx, client.VIMQuery{}) {
			if err != nil {
				return nil, err
			}
			if v.Labels["vimbroker.io/inline"] == "true" {
				found = append(found, v)
			}
		}
		return found, nil
	}
	const key = "site"
	if n := atOnce(func(r *replica, token string) error {
		_, err := r.BeginVNF(t.Context(), i.ID, "instantiate", sol003.InstantiateRequest{
			FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{key: site(token)}, Params: sol003.AdditionalParams{Namespace: c.namespace},
		})
		return err
	}); n != 1 {
		t.Fatalf("%d instantiations of one instance begin", n)
	}
	ended := func(operation string) {
		t.Helper()
		if err := c.until(t.Context(), operation, func(ctx context.Context, r *replica) error { return completed(ctx, r, i.ID, operation) }); err != nil {
			t.Fatal(err)
		}
	}
	ended("INSTANTIATE")
	eventually(t, "one VIM of requests is there", func(ctx context.Context) error {
		got, err := brought(ctx)
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("%d are", len(got))
		}
		return err
	})
	replaced := atOnce(func(r *replica, token string) error {
		_, err := r.ModifyVNF(t.Context(), i.ID, sol003.ModifyRequest{VIMs: map[string]*sol003.VIMConnectionInfo{key: {AccessInfo: &sol003.AccessInfo{BearerToken: secret.NewText(token)}}}})
		return err
	})
	if got, err := brought(t.Context()); err != nil || len(got) != 1 || got[0].Generation != 1+replaced {
		t.Errorf("after %d changes of the credential the VIMs are %+v, %v", replaced, got, err)
	}
	if _, err := f.any().BeginVNF(t.Context(), i.ID, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"}); err != nil {
		t.Fatal(err)
	}
	ended("TERMINATE")
	eventually(t, "the VIM is gone", func(ctx context.Context) error {
		if got, err := brought(ctx); err != nil || len(got) > 0 {
			return fmt.Errorf("%d are there, %w", len(got), err)
		}
		return nil
	})
	for where, text := range f.everything() {
		for _, token := range tokens {
			if strings.Contains(text, token) {
				t.Errorf("a token that a request brought is in %s", where)
			}
		}
	}
}

// everything is the text of every table, and of every log.
func (f *fleet) everything() map[string]string {
	f.t.Helper()
	ctx, all := f.t.Context(), map[string]string{}
	conn, err := pgx.Connect(ctx, f.dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	if err != nil {
		f.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		f.t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		var text string
		if err := conn.QueryRow(ctx, `SELECT coalesce(string_agg(t::text, ' '), '') FROM `+table+` AS t`).Scan(&text); err != nil {
			f.t.Fatal(err)
		}
		all["table "+table] = text
	}
	for n, r := range f.replicas {
		text, err := os.ReadFile(r.broker.File)
		if err != nil {
			f.t.Fatal(err)
		}
		all[fmt.Sprintf("the log of replica %d", n)] = string(text)
	}
	return all
}
