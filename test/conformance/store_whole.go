package conformance

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// WholeLease writes a store's part of the life of a lease: intent, issued, to be revoked, revoked, confirmed dead, each
// with its audit entry as the broker makes it. Benchmarks count what it costs.
func WholeLease(ctx context.Context, s broker.Store, vim string) error {
	now, id := time.Now(), uuid.NewString()
	entry := func(action policy.Action, kind policy.Kind, resource string, outcome audit.Outcome) audit.Entry {
		return audit.Entry{
			Time: now, Request: uuid.NewString(), Principal: "admin", Project: "north", Action: action, Kind: kind, Resource: resource, Outcome: outcome,
			Detail: map[string]string{"lease": id, "vim": vim, "vimName": "cluster", "vimProject": "north", "policy": "default.admins-do-all"},
		}
	}
	_, err := s.CreateLease(ctx, broker.Lease{
		ID: id, VIM: vim, VIMName: "cluster", VIMType: "kubernetes", VIMGeneration: 1, Project: "north", Principal: "admin", CreatedAt: now,
		Handle: "vimbroker-" + id, GrantDigest: strings.Repeat("d", 64), Grade: broker.GradeBounded, Role: "view", IdempotencyKey: id,
	}, broker.Quota{PerPrincipal: 1 << 30, PerVIM: 1 << 30, PerProject: 1 << 30}, entry(policy.LeaseIssue, policy.KindVIM, vim, audit.Intent))
	change := func(e audit.Entry, apply func(*broker.Lease)) {
		if err == nil {
			_, err = s.UpdateLease(ctx, id, func(l *broker.Lease) error { apply(l); return nil }, e)
		}
	}
	change(entry(policy.LeaseIssue, policy.KindVIM, vim, audit.Done), func(l *broker.Lease) {
		l.State, l.IssuedAt, l.ExpiresAt, l.CredentialEndsAt = broker.LeaseActive, now, now.Add(time.Hour), now.Add(time.Hour)
		l.Sealed, l.SealedKey, l.UID, l.CredentialID = strings.Repeat("gAAAAABn", 170), "ref", uuid.NewString(), "JTI="+uuid.NewString()
		l.Derived, l.Revocable, l.MaxRevocationLag = true, true, 10*time.Second
	})
	change(entry(policy.LeaseRevoke, policy.KindLease, id, audit.Intent), func(l *broker.Lease) {
		l.State, l.Reason, l.NextAttemptAt = broker.LeaseRevoking, broker.ReasonRequested, now.Add(time.Minute)
	})
	change(entry(policy.LeaseRevoke, policy.KindLease, id, audit.Done), func(l *broker.Lease) {
		l.State, l.RevokedAt, l.NextAttemptAt = broker.LeaseRevoked, now, now.Add(time.Second)
	})
	change(entry(policy.LeaseRevoke, policy.KindLease, id, audit.Done), func(l *broker.Lease) { l.ConfirmedDeadAt, l.Sealed = now, "" })
	return err
}
