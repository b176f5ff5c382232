package postgres_test

import (
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// TestServerLogHoldsNoSecret lets the database log every statement with every
// parameter, also of those that fail, while a broker does all that handles a secret.
func TestServerLogHoldsNoSecret(t *testing.T) {
	server := real.OwnPostgres(t, "log_statement=all", "log_parameter_max_length=-1", "log_parameter_max_length_on_error=-1",
		"log_min_error_statement=debug5", "log_error_verbosity=verbose", "log_connections=on")
	store := mustOpen(t, server.DSN(t))
	keysDir := filepath.Join(t.TempDir(), "keys")
	keys, err := keydir.Open(keysDir)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	log := &lines{}
	b, err := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: testlog.To(t, slog.NewTextHandler(log, nil)),
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{})},
		Egress:  func(string) *egress.Rules { return rules },
	})
	if err != nil {
		t.Fatal(err)
	}
	kube := fakekube.New(t, fakekube.Options{})
	ctx, alice := t.Context(), policy.Principal{Name: "alice", Project: "demo", Roles: []string{policy.RoleMember}}
	secrets := map[string]string{"administrator's token": kube.AdminToken, "administrator's password": kube.Password, "database's password": real.PostgresRolePassword}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	registration := broker.Registration{
		Name: "core", Type: "kubernetes", Endpoint: kube.Endpoint, CACert: kube.CA, IdempotencyKey: "register",
		Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(kube.AdminToken)},
	}
	v, err := b.RegisterVIM(ctx, alice, registration)
	must(err)
	_, err = b.RegisterVIM(ctx, alice, registration) // repeated
	must(err)
	registration.IdempotencyKey = "" // and refused by the database
	if _, err := b.RegisterVIM(ctx, alice, registration); err == nil {
		t.Error("a name was taken twice")
	}
	noteKeys := func(when string) {
		t.Helper()
		must(filepath.WalkDir(keysDir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if len(text) >= 16 { // what is shorter is no key
				secrets["key "+when+" in "+d.Name()] = string(text)
			}
			return err
		}))
	}
	noteKeys("at first")
	first, issued, err := b.IssueLease(ctx, alice, broker.LeaseRequest{VIM: v.ID, TTL: time.Hour, IdempotencyKey: "issue"})
	must(err)
	secrets["lease's token"] = issued.Token.Reveal()
	_, repeated, err := b.IssueLease(ctx, alice, broker.LeaseRequest{VIM: v.ID, TTL: time.Hour, IdempotencyKey: "issue"})
	must(err)
	secrets["token of the repeated issue"] = repeated.Token.Reveal()
	_, renewed, err := b.RenewLease(ctx, alice, first.ID, time.Hour)
	must(err)
	secrets["renewed token"] = renewed.Token.Reveal()
	_, err = b.RekeyVIM(ctx, policy.Principal{Name: "root", Project: "demo", Roles: []string{policy.RoleAdmin}}, v.ID, "", 0)
	must(err)
	noteKeys("after sealing anew")
	_, err = b.RotateVIM(ctx, alice, v.ID, broker.Credential{Kind: broker.CredentialBasicAuth, Username: kube.Username, Password: secret.NewText(kube.Password)}, 0)
	must(err)
	noteKeys("after rotation")
	_, err = b.RevokeLease(ctx, alice, first.ID)
	must(err)
	must(b.Reap(ctx))
	_, _, err = b.DeleteVIM(ctx, alice, v.ID, broker.Deletion{Drain: true})
	must(err)
	for _, dsn := range []string{server.DSN(t) + "&x=1", strings.Replace(server.DSN(t), "/broker", "/none", 1)} {
		if s, err := postgres.Open(ctx, postgres.Options{DSN: secret.NewText(dsn)}); err == nil {
			_ = s.Close()
			t.Errorf("Open succeeded, and should not")
		}
	}

	text := server.Log(t)
	for _, want := range []string{"INSERT INTO leases", "parameters: $1 = ", "gAAAA"} { // a Fernet token begins like that
		if !strings.Contains(text, want) {
			t.Fatalf("the server's log lacks %q: it does not say what the test looks through", want)
		}
	}
	if len(secrets) < 8 {
		t.Fatalf("only %d secrets are looked for", len(secrets))
	}
	for what, value := range secrets {
		if len(value) < 16 {
			t.Errorf("%s is too short to be found by chance or not", what)
			continue
		}
		for form, canary := range map[string]string{
			"as it is": value, "in base64": base64.StdEncoding.EncodeToString([]byte(value)), "in hex": hex.EncodeToString([]byte(value)),
			"in part": value[len(value)/2:],
		} {
			if strings.Contains(text, canary) {
				t.Errorf("the server's log holds the %s %s", what, form)
			}
			if strings.Contains(log.String(), canary) {
				t.Errorf("the broker's log holds the %s %s", what, form)
			}
		}
	}
}

// lines is a log in memory; only one broker writes to it, in this goroutine.
type lines struct{ strings.Builder }
