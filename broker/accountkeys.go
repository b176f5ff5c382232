package broker

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// AccountKnower is a [Driver] whose VIMs have accounts of their own, with tokens that others can check.
type AccountKnower interface {
	// AccountKeys returns the issuer of the tokens of the VIM's accounts, as the VIM names it, and the keys
	// that it publishes for them: a JWK set.
	AccountKeys(ctx context.Context, a Access) (issuer string, set []byte, err error)
	// ReviewToken asks the VIM whether it takes a token of an account for an audience; [ErrForbidden] where
	// the stored credential may not ask.
	ReviewToken(ctx context.Context, a Access, token, audience string) (taken bool, err error)
}

// IssuerKeys returns the issuer and the keys of the accounts of a VIM, named by id or as PROJECT/NAME.
// The VIM must be the system that was registered: another one at the endpoint is [ErrConflict].
func (b *Registry) IssuerKeys(ctx context.Context, vim string) (issuer string, set []byte, err error) {
	err = b.asAccountKnower(ctx, vim, func(ctx context.Context, d AccountKnower, a Access) error {
		issuer, set, err = d.AccountKeys(ctx, a)
		return err
	})
	return issuer, set, err
}

// ReviewToken asks a VIM, named as for IssuerKeys, whether it takes a token of an account. Where the stored
// credential may not ask, it is true.
func (b *Registry) ReviewToken(ctx context.Context, vim, token, audience string) (taken bool, err error) {
	err = b.asAccountKnower(ctx, vim, func(ctx context.Context, d AccountKnower, a Access) error {
		taken, err = d.ReviewToken(ctx, a, token, audience)
		return err
	})
	if errors.Is(err, ErrForbidden) {
		return true, nil
	}
	return taken, err
}

// asAccountKnower has do ask a VIM with its stored credential.
func (b *Registry) asAccountKnower(ctx context.Context, ref string, do func(context.Context, AccountKnower, Access) error) error {
	v, err := b.trustedVIM(ctx, ref)
	if err != nil {
		return err
	}
	return withAble(ctx, b.core, v, "accounts whose tokens can be checked", do)
}

// trustedVIM finds a registered VIM by its id, or by project and name.
func (b *Registry) trustedVIM(ctx context.Context, ref string) (VIM, error) {
	if uuid.Validate(ref) == nil {
		v, err := b.vims.VIM(ctx, ref)
		if err == nil && v.State != VIMRegistered {
			err = vimNotFound()
		}
		return v, err
	}
	project, name, _ := strings.Cut(ref, "/")
	found, _, err := b.vims.VIMs(ctx, VIMFilter{Project: project, Name: name, State: VIMRegistered, Page: Page{Size: 10}})
	if err != nil {
		return VIM{}, err
	}
	for _, v := range found {
		if v.Project == project && !v.Damaged {
			return v, nil
		}
	}
	return VIM{}, vimNotFound()
}
