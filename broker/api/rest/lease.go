package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// undoTime bounds the revocation of a lease whose answer failed.
const undoTime = 30 * time.Second

var (
	leaseAsked    = api.Asked[v1.LeaseRequest, broker.LeaseRequest](`TTL=`)
	selectorAsked = api.Asked[v1.Selector, broker.LeaseSelector]("")
	leaseShown    = api.Shown[broker.Lease, v1.Lease](`Credential= Standing= LastUsedAt=`)
)

func (s *server) issueLease(c *call, in v1.LeaseRequest) (answer[v1.IssuedLease], error) {
	ttl, err := duration("ttl", in.TTL)
	if err != nil {
		return answer[v1.IssuedLease]{}, err
	}
	r := leaseAsked(in)
	r.TTL = ttl
	if r.IdempotencyKey, err = c.idempotencyKey(); err != nil {
		return answer[v1.IssuedLease]{}, err
	}
	l, config, err := s.Leaser.IssueLease(c.ctx, c.principal, r)
	if err != nil {
		return answer[v1.IssuedLease]{}, err
	}
	a, err := issued(l, config)
	if err != nil {
		s.undo(c, l)
		return answer[v1.IssuedLease]{}, err
	}
	a.location = "/v1/leases/" + url.PathEscape(l.ID)
	return a, nil
}

// undo revokes a lease whose client configuration could not be rendered: such a lease
// is of no use.
func (s *server) undo(c *call, l broker.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), undoTime)
	defer cancel()
	if _, err := s.Leaser.RevokeLease(ctx, c.principal, l.ID); err != nil {
		s.Log.ErrorContext(ctx, "revoking a lease that could not be rendered", "request", c.ID, "lease", l.ID, "error", err)
	}
}

func leasesAsked(c *call) broker.LeaseQuery {
	return broker.LeaseQuery{
		IDPrefix:  c.query.Get("idPrefix"),
		VIM:       c.query.Get("vim"),
		Principal: c.query.Get("principal"),
		Operation: c.query.Get("operation"),
		Instance:  c.query.Get("instance"),
		For:       c.query.Get("for"),
		State:     broker.LeaseState(c.query.Get("state")),
		Page:      c.page,
	}
}

func (s *server) renewLease(c *call, in v1.Renewal) (answer[v1.IssuedLease], error) {
	ttl, err := duration("ttl", in.TTL)
	if err != nil {
		return answer[v1.IssuedLease]{}, err
	}
	l, config, err := s.Leaser.RenewLease(c.ctx, c.principal, c.path("id"), ttl)
	if err != nil {
		return answer[v1.IssuedLease]{}, err
	}
	return issued(l, config)
}

func (s *server) pushLease(c *call, in v1.LeasePush) (answer[v1.PushedLease], error) {
	l, at, err := s.Leaser.PushLease(c.ctx, c.principal, c.path("id"), in.Target, in.Name)
	return answer[v1.PushedLease]{body: v1.PushedLease{Lease: l.ID, Target: at.Target, Namespace: at.Namespace, Name: at.Name}}, err
}

func (s *server) revokeLease(c *call) (answer[v1.Lease], error) {
	l, err := s.Leaser.RevokeLease(c.ctx, c.principal, c.path("id"))
	a := answer[v1.Lease]{body: lease(l)}
	if l.State != broker.LeaseRevoked {
		a.status = http.StatusAccepted
	}
	return a, err
}

func (s *server) revokeLeases(c *call, in v1.Selector) (answer[v1.List[v1.Lease]], error) {
	return listsAll(lease)(s.Leaser.RevokeLeases(c.ctx, c.principal, selectorAsked(in)))
}

// issued is the only answer with a credential.
func issued(l broker.Lease, config clientconfig.Config) (answer[v1.IssuedLease], error) {
	if !config.Credential.LeaseSecret.Empty() {
		return answer[v1.IssuedLease]{body: v1.IssuedLease{Lease: lease(l), LeaseSecret: config.Credential.LeaseSecret}}, nil
	}
	text, err := config.Render(l.Format)
	if err != nil {
		if errors.Is(err, clientconfig.ErrFormat) {
			return answer[v1.IssuedLease]{}, &broker.Error{
				Kind: broker.ErrUnsupported, Field: "format", Detail: "cannot express the credential of this lease, which is taken back",
				Remedy: "ask for another format", Cause: err,
			}
		}
		return answer[v1.IssuedLease]{}, fmt.Errorf("rendering lease %s: %w", l.ID, err)
	}
	return answer[v1.IssuedLease]{body: v1.IssuedLease{
		Lease:        lease(l),
		ClientConfig: v1.ClientConfig{Text: text, Object: config.Object(l.Format)},
	}}, nil
}

// lease is what may be shown of a lease.
func lease(l broker.Lease) v1.Lease {
	shown := leaseShown(l)
	shown.Credential, shown.Standing = string(l.Asked()), l.Standing()
	if shown.Standing {
		shown.LastUsedAt = l.RenewedAt.UTC()
	}
	return shown
}
