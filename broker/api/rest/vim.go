package rest

import (
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
)

func (s *server) registerVIM(c *call, in v1.Registration) (answer[v1.VIM], error) {
	r := registration(in)
	var err error
	if r.IdempotencyKey, err = c.idempotencyKey(); err != nil {
		return answer[v1.VIM]{}, err
	}
	v, err := s.Registry.RegisterVIM(c.ctx, c.principal, r)
	if err != nil {
		return answer[v1.VIM]{}, err
	}
	a := s.vim(v)
	a.body.SameAs = s.sameAsMade(c, v)
	a.location = "/v1/vims/" + url.PathEscape(v.ID)
	return a, nil
}

// sameAs names the caller's other VIMs that are the same system.
func (s *server) sameAs(c *call, v broker.VIM) (names []string, err error) {
	others, err := s.Registry.SameSystem(c.ctx, c.principal, v)
	for _, other := range others {
		names = append(names, other.Project+"/"+other.Name)
	}
	return names, err
}

// sameAsMade is sameAs of a VIM that an act was done to: a failure is only logged.
func (s *server) sameAsMade(c *call, v broker.VIM) []string {
	names, err := s.sameAs(c, v)
	if err != nil {
		s.Log.WarnContext(c.ctx, "looking for other registrations of a VIM's system", "request", c.ID, "vim", v.ID, "error", err)
	}
	return names
}

func (s *server) listVIMs(c *call) (answer[v1.List[v1.VIM]], error) {
	q, err := vimsAsked(c)
	if err != nil {
		return answer[v1.List[v1.VIM]]{}, err
	}
	now := s.Now()
	return lists(func(v broker.VIM) v1.VIM { return vim(v, now) })(s.Registry.VIMs(c.ctx, c.principal, q))
}

func (s *server) listKeys(c *call) (answer[v1.List[v1.KeyStatus]], error) {
	q, err := vimsAsked(c)
	if err != nil {
		return answer[v1.List[v1.KeyStatus]]{}, err
	}
	status := func(k broker.KeyStatus) v1.KeyStatus { return v1.KeyStatus(k) }
	return lists(status)(s.Registry.KeyStatuses(c.ctx, c.principal, q, c.flag("try")))
}

func vimsAsked(c *call) (broker.VIMQuery, error) {
	q := broker.VIMQuery{
		Page:     c.page,
		Type:     broker.VIMType(c.query.Get("type")),
		IDPrefix: c.query.Get("idPrefix"),
		Name:     c.query.Get("name"),
		Status:   broker.HealthStatus(c.query.Get("status")),
	}
	if q.Status == broker.HealthStatus(broker.VIMDraining) { // the wire has one word for state and status
		q.State, q.Status = broker.VIMDraining, ""
	}
	var err error
	q.Labels, err = labels(c.query["label"])
	return q, err
}

func (s *server) showVIM(c *call) (answer[v1.VIM], error) {
	v, err := s.Registry.VIM(c.ctx, c.principal, c.path("id"))
	if err != nil {
		return answer[v1.VIM]{}, err
	}
	a, err := s.waiting(c, v)
	if err == nil {
		a.body.SameAs, err = s.sameAs(c, v)
	}
	return a, err
}

// waiting shows v with what it waits for.
func (s *server) waiting(c *call, v broker.VIM) (answer[v1.VIM], error) {
	a := s.vim(v)
	var err error
	a.body.WaitsFor, err = s.Registry.WaitsFor(c.ctx, c.principal, v)
	return a, err
}

func (s *server) updateVIM(c *call, in v1.Change) (answer[v1.VIM], error) {
	change := vimChange(in)
	var err error
	if change.IfRevision, err = c.ifMatch(); err != nil {
		return answer[v1.VIM]{}, err
	}
	v, err := s.Registry.UpdateVIM(c.ctx, c.principal, c.path("id"), change)
	return s.vim(v), err
}

func (s *server) deleteVIM(c *call) (answer[v1.VIM], error) {
	d := broker.Deletion{Drain: c.flag("drain"), Force: c.flag("force")}
	var err error
	if d.IfRevision, err = c.ifMatch(); err != nil {
		return answer[v1.VIM]{}, err
	}
	v, gone, err := s.Registry.DeleteVIM(c.ctx, c.principal, c.path("id"), d)
	if err != nil || gone {
		return answer[v1.VIM]{status: http.StatusNoContent}, err
	}
	return s.waiting(c, v)
}

func (s *server) checkVIM(c *call, _ v1.CheckRequest) (answer[v1.VIM], error) {
	v, err := s.Registry.CheckVIM(c.ctx, c.principal, c.path("id"))
	a := s.vim(v)
	if err == nil {
		a.body.SameAs = s.sameAsMade(c, v)
	}
	return a, err
}

func (s *server) rotateVIM(c *call, in v1.Rotation) (answer[v1.VIM], error) {
	cred := credential(in.Credential)
	revision, err := c.ifMatch()
	if err != nil {
		return answer[v1.VIM]{}, err
	}
	if cred.Empty() {
		v, err := s.Registry.RekeyVIM(c.ctx, c.principal, c.path("id"), in.KeyStore, revision)
		return s.vim(v), err
	}
	if in.KeyStore != "" {
		return answer[v1.VIM]{}, broker.Invalid("keyStore", "must be left out with a credential: it is sealed in the key store for new keys")
	}
	v, err := s.Registry.RotateVIM(c.ctx, c.principal, c.path("id"), cred, revision)
	return s.vim(v), err
}

func (s *server) rotateKeys(c *call, in v1.KeyRotation) (answer[v1.KeyRotation], error) {
	return done[v1.KeyRotation](s.Registry.RekeyRest(c.ctx, c.principal, in.KeyStore, in.SealedBefore))
}

var inventoryShown = api.Shown[broker.Inventory, v1.Inventory](`Ghosts= Unbound=`)

func (s *server) inventory(c *call, in v1.InventoryRequest) (answer[v1.Inventory], error) {
	i, err := s.Leaser.Inventory(c.ctx, c.principal, c.path("id"), in.Settle)
	if err != nil {
		return answer[v1.Inventory]{}, err
	}
	out := inventoryShown(i)
	for _, g := range i.Ghosts {
		out.Ghosts = append(out.Ghosts, lease(g))
	}
	for _, u := range i.Unbound {
		out.Unbound = append(out.Unbound, v1.Unbound{Lease: lease(u.Lease), Namespaces: u.Namespaces})
	}
	return answer[v1.Inventory]{body: out}, nil
}

func (s *server) vim(v broker.VIM) answer[v1.VIM] {
	return answer[v1.VIM]{body: vim(v, s.Now()), revision: v.Revision}
}

func labels(pairs []string) (map[string]string, error) {
	m := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if before, twice := m[name]; !ok || name == "" || twice && before != value {
			return nil, invalid("query", "label", "must be name=value, each name once")
		}
		m[name] = value
	}
	return m, nil
}
