package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// loudVIMs are deleted by one tenant and do not answer, with a lease each that is due.
	loudVIMs = 500
	// quietLeases are revoked by another tenant, one after the other.
	quietLeases = 12
	// tenantsGoal bounds how much later they are confirmed dead for it.
	tenantsGoal = 1.5
)

// tenants measures how long a tenant's revocation takes, until its VIM was seen to refuse the
// credential: alone, and beside another tenant's many VIMs that hang and drain. Passes run at
// their interval, by the real clock. The VIMs are fakes.
func tenants(b *testing.B) *figure {
	b.Helper()
	s := &stack{dir: b.TempDir()}
	well, silent := fakekube.New(b, fakekube.Options{Now: s.now}), fakekube.New(b, fakekube.Options{Now: s.now})
	s.cluster, s.token = &real.Cluster{Endpoint: silent.Endpoint, CAPEM: silent.CA}, silent.AdminToken
	s.open(b)
	if _, err := turn(8, (loudVIMs+7)/8, 0, func(i int) error {
		v, err := s.register(b.Context(), fmt.Sprint("loud-", i), silent.Endpoint)
		if err == nil {
			_, _, err = s.IssueLease(b.Context(), admin, broker.LeaseRequest{VIM: v.ID, TTL: time.Hour, Role: "view"})
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	s.cluster, s.token = &real.Cluster{Endpoint: well.Endpoint, CAPEM: well.CA}, well.AdminToken
	quiet := policy.Principal{Name: "quiet", Project: "quiet", Roles: []string{policy.RoleAdmin}}
	v, err := s.RegisterVIM(b.Context(), quiet, s.registration("quiet", well.Endpoint))
	if err != nil {
		b.Fatal(err)
	}

	alone := timed("revoked to confirmed dead, alone", s.quietly(b, quiet, v.ID))
	silent.BlackHole(true)
	s.deleteAll(b)
	s.ahead.Add(int64(time.Hour + time.Minute))
	beside := timed(fmt.Sprintf("the same, beside %d VIMs of another tenant that hang and drain", loudVIMs), s.quietly(b, quiet, v.ID))
	silent.BlackHole(false)
	return &figure{
		Title: "What one tenant's VIMs do to the revocations of another",
		Rows:  []row{alone, beside.over(alone), beside.tailOver(alone).ratioGoal(tenantsGoal)},
	}
}

// quietly revokes leases, and says how long each took to be confirmed dead, while the reaper runs.
func (s *stack) quietly(b *testing.B, quiet policy.Principal, vim string) (took sample) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(broker.DefaultTerms().ReapEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			_ = s.Reap(ctx) // that VIMs hang is what is measured
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	defer func() {
		stop()
		<-ended
	}()
	for range quietLeases {
		l, _, err := s.IssueLease(ctx, quiet, broker.LeaseRequest{VIM: vim, TTL: time.Hour, Role: "view"})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if _, err := s.RevokeLease(ctx, quiet, l.ID); err != nil {
			b.Fatal(err)
		}
		for {
			if l, err = s.store.Lease(ctx, l.ID); err != nil {
				b.Fatal(err)
			}
			if !l.ConfirmedDeadAt.IsZero() {
				break
			}
			if time.Since(began) > 10*time.Minute {
				b.Fatal("a lease is not confirmed dead after ten minutes")
			}
			time.Sleep(10 * time.Millisecond)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// deleteAll has all VIMs of the administrator's project drain, as if their requests to delete
// them had not waited for the VIMs.
func (s *stack) deleteAll(b *testing.B) {
	b.Helper()
	vims, _, err := s.store.VIMs(b.Context(), broker.VIMFilter{Project: admin.Project, Page: broker.Page{Size: broker.MaxPage}})
	if err != nil || len(vims) < loudVIMs {
		b.Fatalf("%d VIMs, %v", len(vims), err)
	}
	for _, v := range vims {
		if v.Project != admin.Project {
			continue
		}
		if _, err := s.store.UpdateVIM(b.Context(), v.ID, func(now *broker.VIM) error {
			now.State, now.Health.Next = broker.VIMDraining, now.Health.CheckedAt
			return nil
		}, audit.Entry{Time: s.now(), Principal: admin.Name, Project: admin.Project, Action: policy.VIMDelete, Outcome: audit.Intent}); err != nil {
			b.Fatal(err)
		}
	}
}
