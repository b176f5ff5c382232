package broker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// patron is a driver that makes accounts, and says what it is told to.
type patron struct {
	Driver
	check, before, after       Report
	checks, identifies, denies error
	made                       Credential
	asked                      []string
}

func (p *patron) Type() Type { return fit("a", "") }

func (p *patron) Check(context.Context, Access) (Report, error) {
	p.asked = append(p.asked, "check")
	return p.check, p.checks
}

func (p *patron) Identify(context.Context, Access) (Report, error) { return p.before, p.identifies }

func (p *patron) Shows(_ context.Context, _ Access, vim string) (bool, error) {
	return vim == "shown", nil
}

func (p *patron) Appoint(_ context.Context, _ Access, w Account) (Credential, Report, error) {
	p.asked = append(p.asked, "appoint "+w.Name)
	return p.made, p.after, p.denies
}

func (p *patron) Reappoint(context.Context, Access) (Credential, Report, error) {
	return p.made, p.after, p.denies
}

const sent, fresh = "the-credential-that-was-sent", "the-token-of-the-account"

// What a credential is tried for: the account that takes its place, or itself where the VIM lets none be made; and nothing is
// made before the system that answers is admitted.
func TestProvingACredential(t *testing.T) {
	given := Access{Credential: Credential{Token: secret.NewText(sent)}}
	wish := &Account{Name: "account"}
	cluster := Report{Identity: "uid", Discovered: Discovered{Cluster: &Cluster{}}}
	another := errors.New("another system")
	for _, c := range []struct {
		what    string
		plain   bool // the driver makes no accounts
		wish    *Account
		change  func(*patron)
		admit   error
		want    string // token
		none    string // why there is no account
		failed  string
		is      error
		appoint bool
		checked bool
	}{
		{what: "no account is wished", want: sent, checked: true},
		{what: "the driver makes none", plain: true, wish: wish, want: sent, checked: true},
		{what: "not admitted", admit: another, want: sent, failed: "another system", is: another, checked: true},
		{
			what: "no answer", change: func(p *patron) { p.checks = &Error{Kind: ErrUnreachable} }, admit: another, want: sent,
			failed: "VIM unreachable", is: ErrUnreachable, checked: true,
		},
		{
			what: "no identity", change: func(p *patron) { p.check.Identity = "" }, want: sent,
			failed: "the VIM does not say which system it is", is: ErrUnreachable, checked: true,
		},
		{what: "an account", wish: wish, want: fresh, appoint: true},
		{what: "an account, no answer", wish: wish, change: func(p *patron) { p.identifies = &Error{Kind: ErrUnauthorized} }, is: ErrUnauthorized},
		{
			what: "an account, no identity", wish: wish, change: func(p *patron) { p.before.Identity = "" },
			failed: "the VIM does not say which system it is", is: ErrUnreachable,
		},
		{
			what: "an account, and an echo before", wish: wish, change: func(p *patron) { p.before.Version = sent },
			failed: "the VIM answers with a credential", is: ErrUnreachable,
		},
		{what: "an account, not admitted", wish: wish, admit: another, failed: "another system", is: another},
		{
			what: "the account is forbidden", wish: wish, change: func(p *patron) { p.denies = &Error{Kind: ErrForbidden, Detail: "no right"} },
			want: sent, none: "no right", appoint: true, checked: true,
		},
		{
			what: "the account conflicts", wish: wish, change: func(p *patron) { p.denies = &Error{Kind: ErrConflict, Detail: "taken"} },
			want: sent, none: "taken", appoint: true, checked: true,
		},
		{
			what: "the account is invalid", wish: wish, change: func(p *patron) { p.denies = &Error{Kind: ErrInvalid, Detail: "a name"} },
			want: sent, none: "a name", appoint: true, checked: true,
		},
		{
			what: "the account is unsupported", wish: wish, change: func(p *patron) { p.denies = &Error{Kind: ErrUnsupported, Detail: "old"} },
			want: sent, none: "old", appoint: true, checked: true,
		},
		{what: "forbidden on what is no cluster", wish: wish, change: func(p *patron) {
			p.denies, p.check.Discovered.Cluster = &Error{Kind: ErrForbidden, Detail: "no right"}, nil
		}, want: sent, failed: "no right", is: ErrForbidden, appoint: true, checked: true},
		{what: "forbidden, and the credential is not taken", wish: wish, change: func(p *patron) {
			p.denies, p.checks = &Error{Kind: ErrForbidden, Detail: "no right"}, &Error{Kind: ErrUnauthorized}
		}, want: sent, failed: "no right", is: ErrForbidden, appoint: true, checked: true},
		{
			what: "the account fails", wish: wish, change: func(p *patron) { p.denies = &Error{Kind: ErrUnreachable, Detail: "gone"} },
			failed: "gone", is: ErrUnreachable, appoint: true,
		},
		{
			what: "another answers after", wish: wish, change: func(p *patron) { p.after.Identity = "other" }, want: fresh,
			failed: "two systems answer", is: ErrUnreachable, appoint: true,
		},
		{
			what: "an echo of what was sent", wish: wish, change: func(p *patron) { p.after.Version = sent }, want: fresh,
			failed: "the VIM answers with a credential", is: ErrUnreachable, appoint: true,
		},
		{
			what: "an echo of what was made", wish: wish, change: func(p *patron) { p.after.Version = fresh }, want: fresh,
			failed: "the VIM answers with a credential", is: ErrUnreachable, appoint: true,
		},
	} {
		p := &patron{check: cluster, before: Report{Identity: "uid"}, after: cluster, made: Credential{Token: secret.NewText(fresh)}}
		p.check.Discovered.Cluster = &Cluster{}
		if c.change != nil {
			c.change(p)
		}
		var d Driver = p
		if c.plain {
			d = struct{ Driver }{p}
		}
		r := &Registry{core: &core{terms: Terms{CallTimeout: time.Minute}}}
		cred, report, err := r.prove(t.Context(), d, given, c.wish, func(Report) error { return c.admit })
		if c.is == nil && err != nil || c.is != nil && (!errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), c.failed)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.failed)
		}
		if got := cred.Token.Reveal(); got != c.want {
			t.Errorf("%s: the credential is %q, want %q", c.what, got, c.want)
		}
		if _, none := report.Discovered.Account(); none != c.none || err == nil && report.Identity != "uid" {
			t.Errorf("%s: the report is of %q, without an account because of %q, want %q", c.what, report.Identity, none, c.none)
		}
		if slices.Contains(p.asked, "appoint account") != c.appoint || slices.Contains(p.asked, "check") != c.checked {
			t.Errorf("%s: the VIM was asked to %q", c.what, p.asked)
		}
	}
}

// A credential that is kept, because the VIM lets no account be made, is admitted as what the VIM then says it is.
func TestWhatIsKeptIsAdmittedAnew(t *testing.T) {
	p := &patron{check: Report{Identity: "uid"}, before: Report{Identity: "uid"}, denies: &Error{Kind: ErrForbidden}}
	p.check.Discovered.Cluster = &Cluster{}
	r := &Registry{core: &core{terms: Terms{CallTimeout: time.Minute}}}
	asked, another := 0, errors.New("another system")
	_, _, err := r.prove(t.Context(), p, Access{}, &Account{Name: "account"}, func(Report) error {
		if asked++; asked > 1 {
			return another
		}
		return nil
	})
	if !errors.Is(err, another) || asked != 2 {
		t.Errorf("it ends with %v after %d questions", err, asked)
	}
}

// Who admits a system learns which it is, and whether it shows the account of another VIM.
func TestAdmittingASystem(t *testing.T) {
	r := &Registry{core: &core{terms: Terms{CallTimeout: time.Minute}}}
	refusal := errors.New("refused")
	for what, d := range map[string]Driver{"it makes accounts": &patron{}, "it makes none": judge{}} {
		var known Admission
		err := r.admitting(t.Context(), d, Access{}, func(a Admission) error { known = a; return refusal })(Report{Identity: "uid"})
		if !errors.Is(err, refusal) || known.Identity != "uid" {
			t.Errorf("%s: %v of %q", what, err, known.Identity)
		}
		_, makes := d.(Appointer)
		for vim, shown := range map[string]bool{"shown": makes, "other": false} {
			if got, err := known.Shows(vim); got != shown || err != nil {
				t.Errorf("%s: the account of %s is shown: %v, %v", what, vim, got, err)
			}
		}
	}
	if err := r.admitting(t.Context(), judge{}, Access{}, nil)(Report{}); err != nil {
		t.Errorf("where nobody admits: %v", err)
	}
}

// rows are VIMs in memory.
type rows struct {
	VIMStore
	all   map[string]VIM
	found []VIM
	fails error
}

func (r *rows) VIM(_ context.Context, id string) (VIM, error) {
	if v, there := r.all[id]; there || r.fails != nil {
		return v, r.fails
	}
	return VIM{}, vimNotFound()
}

func (r *rows) VIMs(context.Context, VIMFilter) ([]VIM, string, error) { return r.found, "", r.fails }

const vimID = "6f0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b11"

// sealedVIM is a VIM on a driver, with its credential sealed.
func sealedVIM(t *testing.T, d Driver) (*Registry, VIM) {
	t.Helper()
	keys := &keysInMemory{steps: &steps{}, held: map[secret.Ref]held{}}
	r := &Registry{core: &core{
		terms: Terms{CallTimeout: time.Minute}, drivers: map[VIMType]Driver{"a": d}, vims: &rows{}, egress: func(string) *egress.Rules { return nil },
		keys: keyring.Ring{keys}, now: time.Now,
	}}
	v := VIM{ID: vimID, Type: "a", State: VIMRegistered, Current: Generation{Number: 1, Identity: "uid"}}
	key, err := r.sealGeneration(t.Context(), r.keys, v, &v.Current, SealedCurrent, Credential{Token: secret.NewText(sent)})
	if err != nil {
		t.Fatal(err)
	}
	key.Clear()
	return r, v
}

// Another token of the VIM's own account is taken only from the system that was registered, and with no credential in its report.
func TestAnotherTokenOfTheAccount(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*patron)
		same   error
		failed error
	}{
		{"a token", func(*patron) {}, nil, nil},
		{"none", func(p *patron) { p.denies = &Error{Kind: ErrForbidden} }, nil, ErrForbidden},
		{"of another system", func(*patron) {}, &Error{Kind: ErrConflict}, ErrConflict},
		{"an echo", func(p *patron) { p.after.Version = fresh }, nil, ErrUnreachable},
	} {
		p := &patron{after: Report{Identity: "uid"}, made: Credential{Token: secret.NewText(fresh)}}
		c.change(p)
		r, v := sealedVIM(t, p)
		cred, report, err := r.renewAccount(t.Context(), v, func(got Report) error {
			if got.Identity != "uid" {
				t.Errorf("%s: asked about %q", c.what, got.Identity)
			}
			return c.same
		})
		if !errors.Is(err, c.failed) || cred.Token.Reveal() != fresh || report.Identity != "uid" {
			t.Errorf("%s: %q of %q, %v", c.what, cred.Token.Reveal(), report.Identity, err)
		}
	}
	r, v := sealedVIM(t, judge{})
	if _, _, err := r.renewAccount(t.Context(), v, nil); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "have no account of the broker's own") {
		t.Errorf("of a driver that makes none: %v", err)
	}
}

// knower is a driver whose VIM has accounts with tokens of their own.
type knower struct {
	Driver
	fails error
	taken bool
}

func (k knower) AccountKeys(context.Context, Access) (string, []byte, error) {
	return "https://issuer", []byte("set"), k.fails
}

func (k knower) ReviewToken(_ context.Context, _ Access, token, audience string) (bool, error) {
	return k.taken && token == "token" && audience == "audience", k.fails
}

// The accounts of a VIM are those of one that is registered, by its id or its project and name.
func TestAccountsOfAVIM(t *testing.T) {
	r, v := sealedVIM(t, knower{taken: true})
	v.Project, v.Name = "p", "n"
	shared, damaged, draining := v, v, v
	shared.Project, damaged.Damaged, draining.State = "other", true, VIMDraining
	broken := &Error{Kind: ErrUnavailable}
	for _, c := range []struct {
		what, ref string
		rows      rows
		want      error
	}{
		{"by id", vimID, rows{all: map[string]VIM{vimID: v}}, nil},
		{"by name", "p/n", rows{found: []VIM{shared, damaged, v}}, nil},
		{"one that drains", vimID, rows{all: map[string]VIM{vimID: draining}}, ErrNotFound},
		{"none of the id", vimID, rows{}, ErrNotFound},
		{"none of the project", "p/n", rows{found: []VIM{shared}}, ErrNotFound},
		{"a damaged one", "p/n", rows{found: []VIM{damaged}}, ErrNotFound},
		{"by id, unread", vimID, rows{all: map[string]VIM{vimID: v}, fails: broken}, ErrUnavailable},
		{"by name, unread", "p/n", rows{found: []VIM{v}, fails: broken}, ErrUnavailable},
	} {
		r.vims = &c.rows
		issuer, set, err := r.IssuerKeys(t.Context(), c.ref)
		if !errors.Is(err, c.want) || err == nil && issuer+string(set) != "https://issuerset" {
			t.Errorf("%s: %q, %q, %v, want %v", c.what, issuer, set, err, c.want)
		}
		taken, err := r.ReviewToken(t.Context(), c.ref, "token", "audience")
		if !errors.Is(err, c.want) || taken != (c.want == nil) {
			t.Errorf("%s: a token is taken: %v, %v, want %v", c.what, taken, err, c.want)
		}
	}
	r.vims = &rows{all: map[string]VIM{vimID: v}}
	for kind, want := range map[error]bool{ErrForbidden: true, ErrUnreachable: false} {
		r.drivers["a"] = knower{fails: &Error{Kind: kind}}
		if taken, err := r.ReviewToken(t.Context(), vimID, "token", "audience"); taken != want || (err == nil) != want {
			t.Errorf("a VIM that answers %v: taken is %v, %v", kind, taken, err)
		}
		if _, _, err := r.IssuerKeys(t.Context(), vimID); !errors.Is(err, kind) {
			t.Errorf("keys of a VIM that answers %v: %v", kind, err)
		}
	}
	r.drivers["a"] = knower{}
	if taken, err := r.ReviewToken(t.Context(), vimID, "token", "audience"); taken || err != nil {
		t.Errorf("a token that the VIM refuses is taken: %v, %v", taken, err)
	}
	r.drivers["a"] = judge{}
	if _, _, err := r.IssuerKeys(t.Context(), vimID); !errors.Is(err, ErrUnsupported) {
		t.Errorf("keys of a VIM without accounts: %v", err)
	}
}
