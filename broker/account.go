package broker

import (
	"context"
	"errors"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
)

// Account is an account of the broker's own on a VIM. It works in the place of a
// credential that cannot be revoked, or that may do more than is needed.
type Account struct {
	// Name tells it from every other: 1 to 40 characters of a DNS label. A repeat of a
	// registration that failed gives the same one.
	Name string
	// Profile is what it may do, as the driver knows it.
	Profile string
	// Before is who the VIM took its credential for: an account of the broker's own is kept, under the name that it has.
	Before string
}

// Appointer is a driver that can put an account of the broker's own in the place of a
// credential. Forget removes the account.
type Appointer interface {
	// Identify asks which system answers, and whether it knows the credential: no more of
	// Report than its Identity.
	Identify(ctx context.Context, a Access) (Report, error)
	// Shows reports whether the system shows the account that was made there for a VIM, by the VIM's id.
	Shows(ctx context.Context, a Access, vim string) (bool, error)
	// Appoint makes the account with a.Credential, and returns a token of it with the report
	// of a check that it made with that. One that an earlier attempt made is taken over, so
	// there are never two. It is ErrForbidden, ErrConflict, ErrInvalid or ErrUnsupported
	// where the VIM does not let it; then nothing is left of what this call made.
	Appoint(ctx context.Context, a Access, w Account) (Credential, Report, error)
	// Reappoint returns another token of the account whose token a.Credential is, by that
	// account's own right, and the report of a check.
	Reappoint(ctx context.Context, a Access) (Credential, Report, error)
}

// Admission is the system that answers to a credential, before anything is made there.
type Admission struct {
	// Identity is as in [Report]: a claim, which every reader of the system can repeat.
	Identity string
	// Shows reports whether the system shows the account of the broker's own that was made for another VIM, by its id:
	// then the two are one system. Nothing is shown of a VIM that has none.
	Shows func(vim string) (bool, error)
}

// admitting has admit decide on which system answers to a credential.
func (b *Registry) admitting(ctx context.Context, d Driver, a Access, admit func(Admission) error) func(Report) error {
	return func(r Report) error {
		if admit == nil {
			return nil
		}
		return admit(Admission{Identity: r.Identity, Shows: func(vim string) (bool, error) {
			appointer, can := d.(Appointer)
			if !can {
				return false, nil
			}
			ctx, cancel := b.call(ctx)
			defer cancel()
			return appointer.Shows(ctx, a, vim)
		}})
	}
}

// prove tries a credential that is not stored yet, and returns the one to store: the
// token of an account of the broker's own, where one is wished and the VIM lets it be made.
// admit decides on the system that answers, before anything is made there.
func (b *Registry) prove(ctx context.Context, d Driver, a Access, wish *Account, admit func(Report) error) (Credential, Report, error) {
	appointer, can := d.(Appointer)
	if wish == nil || !can {
		report, err := b.probe(ctx, d, a)
		if err == nil {
			err = admit(report)
		}
		return a.Credential, report, err
	}
	cred, report, err := b.appoint(ctx, appointer, a, *wish, admit)
	if !refusesAccount(err) {
		return cred, report, err
	}
	// It is as good as what was given, and says so.
	if report, failed := b.probe(ctx, d, a); failed == nil && report.Discovered.Cluster != nil {
		report.Discovered.NoAccount = message(err)
		return a.Credential, report, admit(report)
	}
	return a.Credential, Report{}, err
}

type errNoAccount struct{ error }

func (e errNoAccount) Unwrap() error { return e.error }

func refusesAccount(err error) bool {
	_, refused := errors.AsType[errNoAccount](err)
	return refused
}

func (b *Registry) appoint(ctx context.Context, d Appointer, a Access, wish Account, admit func(Report) error) (Credential, Report, error) {
	call, cancel := b.call(ctx)
	defer cancel()
	before, err := d.Identify(call, a)
	if err == nil && before.Identity == "" {
		err = noIdentity()
	}
	if err == nil {
		err = echoes(a.Credential, before.texts()...)
	}
	if err == nil {
		err = admit(before)
	}
	if err != nil {
		return Credential{}, Report{}, err
	}
	failpoint.At("account.admitted")
	cred, report, err := d.Appoint(call, a, wish)
	switch {
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrConflict), errors.Is(err, ErrInvalid), errors.Is(err, ErrUnsupported):
		return Credential{}, Report{}, errNoAccount{err}
	case err != nil:
		return Credential{}, Report{}, err
	}
	failpoint.At("account.appointed")
	return cred, report, b.checkAnswers(a.Credential, cred, before, report)
}

// checkAnswers is an error where another system has answered than the one before, or an answer
// holds a credential.
func (b *Registry) checkAnswers(sent, cred Credential, before, after Report) error {
	if before.Identity != after.Identity {
		return &Error{Kind: ErrUnreachable, Detail: "two systems answer at the endpoint in turn", Remedy: "see what stands in front of them"}
	}
	return errors.Join(echoes(sent, after.texts()...), echoes(cred, after.texts()...))
}

// renewAccount returns another token of the VIM's own account.
func (b *Registry) renewAccount(ctx context.Context, v VIM, same func(Report) error) (cred Credential, report Report, err error) {
	err = withAble(ctx, b.core, v, "account of the broker's own", func(ctx context.Context, d Appointer, a Access) (err error) {
		if cred, report, err = d.Reappoint(ctx, a); err == nil {
			err = errors.Join(same(report), echoes(cred, report.texts()...))
		}
		return err
	})
	return cred, report, err
}

// account is what the VIM's own account may do; empty where it has none.
func (v *VIM) account() string {
	profile, _ := v.Current.Discovered.Account()
	return profile
}

// keepAccount replaces the token of the VIM's own account once half of its life is over.
func (b *Registry) keepAccount(ctx context.Context, v VIM) error {
	if v.State != VIMRegistered || v.account() == "" || v.Pending != nil || b.now().Before(v.Current.Discovered.RenewAt) {
		return nil
	}
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	act, err := b.enter(ctx, system("check"), policy.VIMRotate, vimResource(v), policy.Wish{})
	if err != nil {
		return err
	}
	_, err = b.writeGeneration(ctx, &edit{
		caller: system("check"), action: policy.VIMRotate, vim: v, driver: d, target: v.Current.Target, keyStore: b.keys.Name(), renews: true,
	}, act)
	if known := (*Error)(nil); errors.As(err, &known) || errors.Is(err, errMoved) { // the next check tries again, and says so if it is refused
		b.log.WarnContext(ctx, "the token of the broker's own account is not renewed", "vim", v.ID,
			"until", v.Current.CredentialExpiresAt, "error", err)
		return nil
	}
	return err
}
