package replicas

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/issuer"
)

// Every replica goes by what an administrator changes in the table of trust at one of them. A token that is taken once
// is taken by one, and with lease.endWithAccess leases end with the entry that let their holder in.
func TestTheTableOfTrustOfSeveralReplicas(t *testing.T) {
	t.Parallel()
	f, is := newFleetOn(t, shared(t), footing{program: present, settings: "lease: {endWithAccess: true}\n"}), issuer.New(t)
	request := v1.TrustEntryRequest{
		Name: "ci", Issuer: is.URL, Keys: string(is.JWKS()),
		Principals: []v1.TrustRule{{Match: map[string]string{"sub": "job"}, Project: "default", Roles: []string{"member"}}},
	}
	if _, err := f.replicas[0].CreateTrustEntry(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	as := func(r *replica, token string) *client.Client {
		c, err := client.New(client.Options{Addr: r.broker.URL, Token: secret.NewText(token)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := func(what, token string, want int) {
		t.Helper()
		for i, r := range f.replicas {
			eventually(t, fmt.Sprintf("replica %d %s", i, what), func(ctx context.Context) error {
				_, err := as(r, token).WhoAmI(ctx)
				if got := client.Status(err); err != nil && got != want || err == nil && want != http.StatusOK {
					return fmt.Errorf("it answers %d, %w", got, err)
				}
				return nil
			})
		}
	}
	job := is.Token("job", nil)
	all("lets the caller in", job, http.StatusOK)
	lease, err := as(f.replicas[2], job).IssueLease(t.Context(), v1.LeaseRequest{VIM: "edge", Role: "view", Namespaces: []string{"default"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	request.Once = true
	if _, err := f.replicas[1].UpdateTrustEntry(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	all("takes no token without an id", job, http.StatusUnauthorized)
	taken, once := 0, is.Token("job", map[string]any{"jti": "1"})
	for _, r := range f.replicas {
		if _, err := as(r, once).WhoAmI(t.Context()); err == nil {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("%d replicas take a token that is taken once", taken)
	}
	if err := f.replicas[1].DeleteTrustEntry(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	all("lets nobody in any more", is.Token("job", map[string]any{"jti": "2"}), http.StatusUnauthorized)
	eventually(t, "the lease has ended", func(ctx context.Context) error {
		l, err := f.replicas[0].Lease(ctx, lease.ID)
		if err == nil && l.State != "revoked" {
			err = fmt.Errorf("it is %s", l.State)
		}
		return err
	})
}
