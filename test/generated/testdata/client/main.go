// Command client does with the generated client what every caller does: it registers a
// VIM, leases it, and meets a refusal of each kind. It reads the server's address and
// token, and the cluster's, from its environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	c, err := NewClientWithResponses(os.Getenv("ADDR"), WithRequestEditorFn(bearer(os.Getenv("TOKEN"))))
	if err != nil {
		return err
	}
	who, err := c.WhoAmIWithResponse(ctx)
	if err != nil {
		return err
	}
	if who.JSON200 == nil || who.JSON200.Name != "admin" {
		return fmt.Errorf("whoAmI: %s", who.Body)
	}
	registration := Registration{
		Name: "edge-1", Endpoint: new(os.Getenv("ENDPOINT")), CaCert: new(os.Getenv("CA")),
		Type: new(RegistrationTypeKubernetes), Credential: &Credential{Token: new(os.Getenv("CLUSTER_TOKEN"))},
		Labels: &map[string]string{"site": "north"},
	}
	made, err := c.RegisterVIMWithResponse(ctx, &RegisterVIMParams{IdempotencyKey: new("one")}, registration)
	if err != nil {
		return err
	}
	if made.JSON201 == nil || made.JSON201.Status != VIMStatusReachable || !made.JSON201.CanMint {
		return fmt.Errorf("registerVIM: %s", made.Body)
	}
	again, err := c.RegisterVIMWithResponse(ctx, nil, registration)
	if err != nil {
		return err
	}
	if p := again.ApplicationproblemJSON409; p == nil || p.Type != "urn:vimbroker:problem:exists" {
		return fmt.Errorf("registerVIM of a name that is taken: %s", again.Body)
	}
	changed, err := c.UpdateVIMWithResponse(ctx, "edge-1", &UpdateVIMParams{IfMatch: new(`"1000"`)}, Change{Shared: new(true)})
	if err != nil {
		return err
	}
	if changed.ApplicationproblemJSON412 == nil {
		return fmt.Errorf("updateVIM of another revision: %s", changed.Body)
	}
	lease, err := c.IssueLeaseWithResponse(ctx, nil, LeaseRequest{Vim: new("edge-1"), Role: new("view"), Ttl: new("10m")})
	if err != nil {
		return err
	}
	if lease.JSON201 == nil || lease.JSON201.ClientConfig == nil {
		return fmt.Errorf("issueLease: %d", lease.StatusCode())
	}
	kubeconfig, err := lease.JSON201.ClientConfig.AsIssuedLeaseClientConfig0()
	if err != nil || !strings.Contains(kubeconfig, "kind: Config") {
		return errors.New("issueLease: the client configuration is no kubeconfig")
	}
	wrong, err := c.IssueLeaseWithResponse(ctx, nil, LeaseRequest{Vim: new("edge-1"), Ttl: new("soon")})
	if err != nil {
		return err
	}
	if p := wrong.ApplicationproblemJSON422; p == nil || p.Errors == nil || len(*p.Errors) != 1 || *(*p.Errors)[0].Field != "ttl" {
		return fmt.Errorf("issueLease for a time that is none: %s", wrong.Body)
	}
	leases, err := c.ListLeasesWithResponse(ctx, &ListLeasesParams{State: new(ListLeasesParamsStateActive), PageSize: new(10)})
	if err != nil {
		return err
	}
	if leases.JSON200 == nil || len(leases.JSON200.Items) != 1 || leases.JSON200.Items[0].Id != lease.JSON201.Id {
		return fmt.Errorf("listLeases: %s", leases.Body)
	}
	missing, err := c.ShowLeaseWithResponse(ctx, "6f2b0f0c-8a43-4f0e-9a0e-2d5c6b8f1a77")
	if err != nil {
		return err
	}
	if missing.ApplicationproblemJSON404 == nil {
		return fmt.Errorf("showLease of none: %s", missing.Body)
	}
	stranger, err := c.ListVIMsWithResponse(ctx, nil, bearer("nobody's"))
	if err != nil {
		return err
	}
	if stranger.ApplicationproblemJSON401 == nil {
		return fmt.Errorf("listVIMs with a wrong token: %s", stranger.Body)
	}
	gone, err := c.DeleteVIMWithResponse(ctx, "edge-1", &DeleteVIMParams{Drain: new(true)})
	if err != nil {
		return err
	}
	if gone.StatusCode() != http.StatusNoContent && gone.JSON202 == nil {
		return fmt.Errorf("deleteVIM: %s", gone.Body)
	}
	return nil
}

// bearer sends a token with a request.
func bearer(token string) RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}
