package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
)

// sessionGoal bounds a lease and its revocation by the bare login and call: the login is saved.
const sessionGoal = 0.7

// onOpenStack measures how much more issuing and revoking a lease costs than what
// they rest on at Keystone, called with gophercloud alone. This Keystone hashes
// passwords with the least effort there is; one in production takes some 300 ms more
// for each login, on both sides.
func onOpenStack(b *testing.B, clients, rounds, each int) *figure {
	b.Helper()
	s, o := newStack(b), real.OpenStack(b)
	who := o.Project(b)
	v, err := s.RegisterVIM(b.Context(), admin, broker.Registration{
		Name: "cloud", Type: "openstack", Endpoint: o.AuthURL,
		Scope:      broker.Scope{ProjectID: who.ProjectID, UserDomainID: who.DomainID},
		Credential: broker.Credential{Username: who.Username, Password: secret.NewText(who.Password)},
	})
	if err != nil {
		b.Fatal(err)
	}
	underneath, ctx := &bareKeystone{url: o.AuthURL + "/", who: who}, b.Context()
	var ids, leases pile
	const (
		create, issueIt  = "bare login and application credential", "lease, domain call"
		remove, revokeIt = "bare login and deletion", "revocation, domain call"
	)
	out, err := turns(rounds, clients, each,
		contender{create, func(int) error {
			id, err := underneath.create(ctx)
			ids.put(id)
			return err
		}},
		contender{issueIt, func(int) error {
			l, _, err := s.IssueLease(ctx, admin, broker.LeaseRequest{VIM: v.Name, TTL: time.Hour, Role: "member"})
			leases.put(l.ID)
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	ended, err := turns(rounds, clients, each,
		contender{remove, func(int) error { return underneath.remove(ctx, ids.take()) }},
		contender{revokeIt, func(int) error {
			l, err := s.RevokeLease(ctx, admin, leases.take())
			if err == nil && l.State != broker.LeaseRevoked {
				err = fmt.Errorf("lease is %s", l.State)
			}
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	var rows []row
	for _, pair := range [][2]outcome{{out[0], out[1]}, {ended[0], ended[1]}} {
		names := [2]string{create, issueIt}
		if len(rows) > 0 {
			names = [2]string{remove, revokeIt}
		}
		base, ours := timed(names[0], pair[0].sample), timed(names[1], pair[1].sample)
		base.PerSecond, ours.PerSecond = pair[0].perSecond(), pair[1].perSecond()
		ours = ours.over(base).ratioGoal(sessionGoal)
		rows = append(rows, base, ours)
	}
	b.ReportMetric(rows[1].Ratio, "x-issue")
	b.ReportMetric(rows[3].Ratio, "x-revoke")
	return &figure{Title: fmt.Sprintf("A lease on OpenStack, clients at once: %d", clients), Rows: rows}
}

// pile hands out what was put in, to several clients.
type pile struct {
	mu    sync.Mutex
	items []string
}

func (p *pile) put(item string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items = append(p.items, item)
}

func (p *pile) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.items) - 1
	item := p.items[last]
	p.items = p.items[:last]
	return item
}

// bareKeystone makes and deletes application credentials with gophercloud alone,
// as someone does who needs no broker and runs a program for it.
type bareKeystone struct {
	url string
	who real.Tenant
}

func (k *bareKeystone) logIn(ctx context.Context) (*gophercloud.ServiceClient, error) {
	c := &gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: &http.Transport{}}}, Endpoint: k.url, Type: "identity"}
	token, err := tokens.Create(ctx, c, &tokens.AuthOptions{
		UserID: k.who.UserID, Password: k.who.Password, Scope: tokens.Scope{ProjectID: k.who.ProjectID},
	}).ExtractTokenID()
	c.SetToken(token)
	return c, err
}

func (k *bareKeystone) create(ctx context.Context) (string, error) {
	c, err := k.logIn(ctx)
	if err != nil {
		return "", err
	}
	end := time.Now().Add(time.Hour).UTC()
	made, err := applicationcredentials.Create(ctx, c, k.who.UserID, applicationcredentials.CreateOpts{
		Name: uuid.NewString(), ExpiresAt: &end, Roles: []applicationcredentials.Role{{Name: "member"}},
	}).Extract()
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

func (k *bareKeystone) remove(ctx context.Context, id string) error {
	c, err := k.logIn(ctx)
	if err != nil {
		return err
	}
	return applicationcredentials.Delete(ctx, c, k.who.UserID, id).ExtractErr()
}
