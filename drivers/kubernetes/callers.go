package kubernetes

import (
	"context"
	"encoding/json"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/vimbroker/vimbroker/broker"
)

var _ broker.AccountKnower = (*Driver)(nil)

// AccountKeys implements [broker.AccountKnower]: it reads the document of the service-account issuer and its
// keys from the API server itself, wherever the issuer's URL leads.
func (d *Driver) AccountKeys(ctx context.Context, a broker.Access) (issuer string, set []byte, err error) {
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return "", nil, err
	}
	defer end()
	if err := c.same(ctx, a.Identity); err != nil {
		return "", nil, err
	}
	var document struct {
		Issuer string `json:"issuer"`
	}
	if err := read(ctx, c.core.client.Get().AbsPath("/.well-known/openid-configuration"), &document); err != nil {
		return "", nil, fault(err, "get", "/.well-known/openid-configuration")
	}
	var keys json.RawMessage
	if err := read(ctx, c.core.client.Get().AbsPath("/openid/v1/jwks"), &keys); err != nil {
		return "", nil, fault(err, "get", "/openid/v1/jwks")
	}
	return document.Issuer, keys, nil
}

// ReviewToken implements [broker.AccountKnower] by a TokenReview.
func (d *Driver) ReviewToken(ctx context.Context, a broker.Access, token, audience string) (bool, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) (bool, error) {
		asked := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{audience}}}
		asked.APIVersion, asked.Kind = "authentication.k8s.io/v1", "TokenReview"
		var said struct {
			Status struct {
				Authenticated bool     `json:"authenticated"`
				Audiences     []string `json:"audiences"`
			} `json:"status"`
		}
		if err := read(ctx, c.authentication.client.Post().Resource("tokenreviews").Body(asked), &said); err != nil {
			return false, fault(err, "create", "tokenreviews")
		}
		return said.Status.Authenticated && len(said.Status.Audiences) == 1 && said.Status.Audiences[0] == audience, nil
	})
}
