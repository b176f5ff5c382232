package broker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/came"
)

// situation is what an act finds.
type situation struct {
	what  string
	given func(*stage) // before all is stored
	then  func(*stage) // after
}

func leases() []situation {
	lease := func(what string, change func(*stage, *Lease)) situation {
		return situation{what, func(s *stage) { change(s, &s.l) }, nil}
	}
	return []situation{
		lease("a lease", func(*stage, *Lease) {}),
		lease("one that is pending", func(_ *stage, l *Lease) { l.State, l.IssuedAt = LeasePending, time.Time{} }),
		lease("one that is being revoked", func(_ *stage, l *Lease) { l.State, l.Reason = LeaseRevoking, ReasonRequested }),
		lease("one that is tried later", func(s *stage, l *Lease) {
			l.State, l.Attempts, l.NextAttemptAt = LeaseRevoking, 1, s.clock.Now().Add(9*time.Hour)
		}),
		lease("one that was revoked", func(s *stage, l *Lease) {
			l.State, l.Reason, l.RevokedAt, l.NextAttemptAt = LeaseRevoked, ReasonExpired, s.clock.Now(), s.clock.Now()
		}),
		lease("one that is dead", func(s *stage, l *Lease) {
			l.State, l.RevokedAt, l.ConfirmedDeadAt, l.Sealed = LeaseRevoked, s.clock.Now(), s.clock.Now(), ""
		}),
		lease("one that was given up", func(_ *stage, l *Lease) { l.State, l.Reason, l.LastError = LeaseIrrevocable, ReasonExpired, "why" }),
		lease("one that has ended", func(s *stage, l *Lease) { l.ExpiresAt = s.clock.Now() }),
		lease("one that ends now", func(s *stage, l *Lease) { l.MaxExpiresAt = l.ExpiresAt }),
		lease("one that was passed through", func(_ *stage, l *Lease) { l.Derived = false }),
		lease("one that is planned", func(_ *stage, l *Lease) { l.Planned, l.Operation = true, "op" }),
		lease("one of an operation", func(_ *stage, l *Lease) { l.Operation = "op" }),
		lease("one of an instance", func(_ *stage, l *Lease) { l.Instance, l.For = "i", "dave" }),
		lease("one of a user", func(s *stage, l *Lease) { s.actor.is.Users, l.CredentialKind = true, CredentialUser }),
		lease("one that stands", func(s *stage, _ *Lease) { standing(s) }),
		lease("one that was renewed", func(s *stage, l *Lease) {
			l.RenewalBegun, l.RenewedAt, l.CredentialEndsAt = true, s.clock.Now(), s.clock.Now().Add(2*time.Hour)
		}),
		lease("one that works on", func(_ *stage, l *Lease) { l.MaxRevocationLag = time.Minute }),
		lease("one that failed often", func(s *stage, l *Lease) {
			l.State, l.Attempts = LeaseRevoking, s.core.terms.GiveUpAfter-1
		}),
		lease("one whose holder made things", func(_ *stage, l *Lease) { l.Stood = "stood" }),
		lease("one with an epoch", func(_ *stage, l *Lease) { l.GrantDigest, l.Epoch = "d", 3 }),
		lease("one with rules", func(s *stage, l *Lease) {
			s.actor.is.Rules, l.Rules = true, []Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
		}),
		lease("another's", func(_ *stage, l *Lease) { l.Project, l.Principal = "q", "bob" }),
		lease("one on another's VIM", func(s *stage, l *Lease) { s.v.Project, l.VIMProject = "q", "q" }),
		lease("one of a type that is not served", func(_ *stage, l *Lease) { l.VIMType = "b" }),
		lease("one that was revoked, and is listed", func(s *stage, l *Lease) {
			l.State, l.RevokedAt, l.UID = LeaseRevoked, s.clock.Now(), "uid"
			s.actor.listed = []Upstream{{Handle: l.Handle, Lease: l.ID}}
		}),
		lease("one that is being revoked on a VIM that did not answer", func(s *stage, l *Lease) {
			l.State, s.v.Health.Status, s.v.Health.Message = LeaseRevoking, HealthUnreachable, "it does not answer"
		}),
		lease("one whose holder had no roles", func(_ *stage, l *Lease) { l.HolderRoles = nil }),
		{"one that is being revoked on a VIM that did not answer, unstored", func(s *stage) {
			s.l.State, s.v.Health.Status = LeaseRevoking, HealthUnreachable
		}, func(s *stage) { s.fails["UpdateLease"] = errStep }},
		{"one that was passed through, without the right to", func(s *stage) { s.l.Derived = false }, func(s *stage) {
			s.denies[policy.LeasePassThrough] = true
		}},
		lease("one of a generation that is gone", func(s *stage, _ *Lease) { s.v.Current.Number = 2 }),
	}
}

func systems() []situation {
	vim := func(what string, change func(*stage, *VIM)) situation {
		return situation{what, func(s *stage) { change(s, &s.v) }, nil}
	}
	fails := func(step string, err error) situation {
		return situation{fmt.Sprint(step, " fails: ", kindOf(err)), nil, func(s *stage) { s.fails[step] = err }}
	}
	denied := func(a policy.Action) situation {
		return situation{fmt.Sprint("without ", a), nil, func(s *stage) { s.denies[a] = true }}
	}
	all := []situation{
		vim("on a VIM that is being deleted", func(_ *stage, v *VIM) { v.State = VIMDraining }),
		vim("on a VIM that is being registered", func(_ *stage, v *VIM) { v.State, v.Pending = VIMRegistering, &Pending{Generation: 1} }),
		vim("on a VIM that is being written", func(_ *stage, v *VIM) { v.Pending = &Pending{Generation: 2} }),
		vim("on a VIM that is suspended", func(_ *stage, v *VIM) { v.Suspended = "why" }),
		vim("on a VIM that did not answer", func(_ *stage, v *VIM) { v.Health.Status, v.Health.CanMint = HealthUnreachable, false }),
		vim("on a VIM that is another", func(_ *stage, v *VIM) { v.Health.Status = HealthIdentityChanged }),
		vim("on a VIM that was refused", func(_ *stage, v *VIM) { v.Health.Status, v.Health.Next = HealthUnauthorized, time.Time{} }),
		vim("on a VIM that mints nothing", func(s *stage, v *VIM) { v.Health.CanMint, s.actor.report.CanMint = false, false }),
		vim("on a VIM of a type that is not served", func(s *stage, v *VIM) { v.Type, s.l.VIMType = "b", "b" }),
		vim("on a VIM with an account", func(s *stage, v *VIM) {
			v.Current.Discovered = Discovered{Cluster: &Cluster{Profile: "engine", RenewAt: s.clock.Now()}}
			s.actor.report.Discovered = v.Current.Discovered
		}),
		vim("on a VIM that is shared", func(_ *stage, v *VIM) { v.Shared, v.Default = true, true }),
		{"on a VIM that is gone", nil, func(s *stage) { s.tape.vims = map[string]VIM{} }},
		{"on another system", nil, func(s *stage) { s.actor.report.Identity = "other" }},
		{"and it works on", nil, func(s *stage) { s.actor.dead = false }},
		{"and it is dead", nil, func(s *stage) { s.actor.dead = true }},
		{"and its key is lost", nil, func(s *stage) { s.stored.held = map[secret.Ref]held{} }},
		{"and the key store fails", nil, func(s *stage) { s.stored.fails = errStep }},
		{"and something is left", nil, func(s *stage) { s.actor.left = []string{"a token"} }},
		{"and it is not listed", nil, func(s *stage) { s.actor.listed = []Upstream{{Handle: "orphan", Lease: "o"}} }},
		{"and it is listed", nil, func(s *stage) {
			s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: s.l.ID, Unbound: []string{"*"}}}
		}},
		fails("Append", errStep), fails("UpdateLease", errStep), fails("UpdateLease 2", errStep), fails("UpdateVIM", errStep), fails("UpdateVIM 2", errStep),
		fails("VIM", errStep), fails("VIM 2", errStep), fails("Leases", errStep), fails("Lease", errStep), fails("Lease 2", errStep),
		denied(policy.LeaseShow), denied(policy.LeaseRevoke), denied(policy.LeaseIssue), denied(policy.LeaseRenew), denied(policy.VIMShow),
		denied(policy.VIMUpdate), denied(policy.VIMDelete),
	}
	for _, kind := range []error{ErrUnreachable, ErrUnavailable, ErrUnauthorized, ErrForbidden, ErrNotFound, ErrConflict, ErrInvalid, ErrUnsupported} {
		all = append(all, situation{fmt.Sprint("and the VIM answers: ", kind), nil, func(s *stage) {
			for _, step := range []string{"Check", "Issue", "Renew", "Revoke", "Dead", "Inventory", "Forget", "Grade", "Left", "Tidy", "Reappoint"} {
				s.fails[step] = &Error{Kind: kind, Detail: "it says so"}
			}
		}})
	}
	return all
}

// here is a directory that knows everybody.
type here struct{}

func (here) Lookup(_ context.Context, name, project string) (policy.Principal, error) {
	return policy.Principal{Name: name, Project: project, Roles: []string{policy.RoleMember}}, nil
}

func known(s *stage) {
	s.actor.is.Standing, s.core.drivers["a"] = true, s.actor
	s.core.directories = map[string]policy.Directory{person.Authenticator(): here{}, policy.ByClient: here{}}
}

// brief is what is said of an act, without what each step is given but where that is a policy's, a driver's or a row's.
func brief(said []string) (lines []string) {
	var names []string
	whole := []string{"Revoke", "Renew", "Issue", "Dead", "DeferLease", "SetHealth", "CreateLease", "CreateVIM", "Append", "put", "destroy", "answer", "ask"}
	for _, line := range said {
		name, _, _ := strings.Cut(line, " ")
		if name != "" && !slices.Contains(whole, name) {
			names = append(names, name)
			continue
		}
		if len(names) > 0 {
			lines, names = append(lines, strings.Join(names, ", ")), nil
		}
		lines = append(lines, line)
	}
	if len(names) > 0 {
		lines = append(lines, strings.Join(names, ", "))
	}
	return lines
}

// Each act in each situation: its answer, the steps that it takes, what changes of the rows, and what is recorded and logged.
func TestEachActInEachSituation(t *testing.T) {
	acts := map[string]struct {
		in []situation
		do func(context.Context, *stage) error
	}{
		"Revoke": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			_, err := s.RevokeLease(ctx, person, leaseID)
			return err
		}},
		"Renew": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			_, _, err := s.RenewLease(ctx, person, leaseID, time.Minute)
			return err
		}},
		"Show": {leases(), func(ctx context.Context, s *stage) error {
			l, err := s.Lease(ctx, person, leaseID)
			s.note(came.Call("answer", l.ID))
			return err
		}},
		"Issue": {systems(), func(ctx context.Context, s *stage) error {
			_, _, err := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID, TTL: time.Minute, Purpose: "why", Operation: "op"})
			return err
		}},
		"Issue one that stands": {systems(), func(ctx context.Context, s *stage) error {
			known(s)
			l, _, err := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID, TTL: time.Minute, Standing: true, Instance: "i"})
			s.note(came.Call("answer", l.ExpiresAt, l.MaxExpiresAt))
			return err
		}},
		"Reap": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			s.tape.due = []DueVIM{{VIM: vimID, Project: "p"}}
			s.clock.Add(2 * time.Hour)
			return s.Reap(ctx)
		}},
		"Settle": {append(leases(), systems()...), func(ctx context.Context, s *stage) error { return s.Settle(ctx, s.clock.Now().Add(time.Hour)) }},
		"End": {leases(), func(ctx context.Context, s *stage) error {
			return s.EndLeases(ctx, person, LeaseSelector{Principal: "alice"})
		}},
		"End an operation": {leases(), func(ctx context.Context, s *stage) error {
			return s.EndOperation(ctx, "op")
		}},
		"Check": {systems(), func(ctx context.Context, s *stage) error {
			v, err := s.CheckVIM(ctx, person, vimID)
			s.note(came.Call("answer", v.Health.Status, v.Health.Message))
			return err
		}},
		"Check what is due": {systems(), func(ctx context.Context, s *stage) error { return s.CheckDue(ctx) }},
		"Delete": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			v, gone, err := s.DeleteVIM(ctx, person, vimID, Deletion{Drain: true})
			s.note(came.Call("answer", v.State, gone))
			return err
		}},
		"Delete by force": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			v, gone, err := s.DeleteVIM(ctx, person, vimID, Deletion{Drain: true, Force: true})
			s.note(came.Call("answer", v.State, gone))
			return err
		}},
		"Delete what is gone": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			v, gone, err := s.DeleteVIM(ctx, person, vimID, Deletion{Drain: true, Gone: true})
			s.note(came.Call("answer", v.State, gone))
			return err
		}},
		"Rename": {systems(), func(ctx context.Context, s *stage) error {
			_, err := s.UpdateVIM(ctx, person, vimID, Change{Name: new("n"), Labels: map[string]*string{"a": new("b")}})
			return err
		}},
		"Replace the credential": {systems(), func(ctx context.Context, s *stage) error {
			_, err := s.UpdateVIM(ctx, person, vimID, Change{Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}})
			return err
		}},
		"Rekey": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			_, err := s.RekeyVIM(ctx, person, vimID, "", 0)
			return err
		}},
		"Compare": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			in, err := s.Inventory(ctx, person, vimID, true)
			s.note(came.Call("answer", in))
			return err
		}},
		"End without access": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			s.core.terms.EndWithAccess = true
			return s.EndWithoutAccess(ctx)
		}},
		"Grade anew": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			s.core.terms.EndWithAccess = true
			return s.GradeAnew(ctx)
		}},
		"Use": {append(leases(), systems()...), func(ctx context.Context, s *stage) error {
			l := s.row()
			l.TokenTTL, l.Login, l.Instance, l.SecretSHA256 = time.Minute, leaseID, "i", policy.Digest("vbl_secret")
			s.tape.leases[leaseID] = l
			known(s)
			_, c, at, err := s.MintUnder(ctx, leaseID, "vbl_secret", "")
			s.note(came.Call("answer", c, at))
			return err
		}},
		"Weigh": {systems(), func(ctx context.Context, s *stage) error {
			l, err := s.WeighLease(ctx, person, LeaseRequest{VIM: vimID, TTL: time.Minute})
			s.note(came.Call("answer", l))
			return err
		}},
		"Register": {systems(), func(ctx context.Context, s *stage) error {
			_, err := s.RegisterVIM(ctx, person, Registration{
				Name: "other", Type: "a", Endpoint: "https://vim", Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText(sent)},
			})
			return err
		}},
	}
	for what, act := range acts {
		t.Run(what, func(t *testing.T) {
			var outcomes []string
			whats := map[string][]string{}
			for _, c := range act.in {
				s := newStage(t)
				if c.given != nil {
					c.given(s)
				}
				s.put()
				if c.then != nil {
					c.then(s)
				}
				err := act.do(audit.WithRequest(t.Context(), "r"), s)
				lines := slices.Concat([]string{fmt.Sprint(err)}, brief(s.said), came.Logged(s.log.String()))
				outcome := came.Of(t, ids).Plain(strings.Join(lines, "\n"))
				if whats[outcome] == nil {
					outcomes = append(outcomes, outcome)
				}
				whats[outcome] = append(whats[outcome], c.what)
			}
			for _, outcome := range outcomes {
				came.Of(t, ids).Add(strings.Join(whats[outcome], "; "), "", strings.Split(outcome, "\n"))
			}
		})
	}
}
