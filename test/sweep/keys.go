package sweep

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// DeleteKeys deletes what a key store holds of an owner.
func DeleteKeys(ctx context.Context, keys secret.KeyStore, owner string) error {
	held, err := keys.List(ctx, owner)
	for _, h := range held {
		if _, err := keys.Delete(ctx, h.Ref); err != nil {
			return err
		}
	}
	return err
}
