package onboard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// TestClustersAreLookedAtSideBySide: those that hang delay no other for long, also where they
// are more than are looked at at once, and none is looked at by two at a time.
func TestClustersAreLookedAtSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hang, others = 10 * atOnce, 200
		q, began := newQueue(time.Now), time.Now()
		for i := range hang + others {
			q.add(key{"a", fmt.Sprint(i)}, 0)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		looked, at := map[key]int{}, map[key]bool{}
		done, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			q.run(ctx, atOnce, time.After, func(k key) time.Duration {
				mu.Lock()
				if at[k] {
					t.Errorf("%v is looked at twice at a time", k)
				}
				at[k] = true
				looked[k]++
				finished := len(looked) == hang+others
				mu.Unlock()
				if finished {
					close(done)
				}
				if n, _ := strconv.Atoi(k.name); n < hang {
					<-ctx.Done()
				}
				mu.Lock()
				at[k] = false
				mu.Unlock()
				return 0
			})
		}()
		select {
		case <-done:
			if took, most := time.Since(began), hang/atOnce*patience; took > most {
				t.Errorf("others were looked at after %v, want %v at most", took, most)
			}
		case <-time.After(time.Hour):
			t.Error("clusters that hang keep others from being looked at")
		}
		cancel()
		<-stopped
	})
}

// TestLooksThatHangAreBounded: a server spends no more on those that hang than so many.
func TestLooksThatHangAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = atOnce + maxHanging
		q := newQueue(time.Now)
		for i := range 2 * most {
			q.add(key{"a", fmt.Sprint(i)}, 0)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var at atomic.Int64
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			q.run(ctx, atOnce, time.After, func(key) time.Duration {
				at.Add(1)
				<-ctx.Done()
				return 0
			})
		}()
		time.Sleep(time.Hour) // of the bubble's time
		synctest.Wait()
		if got := at.Load(); got != most {
			t.Errorf("%d looks hang at the same time, want %d", got, most)
		}
		cancel()
		<-stopped
	})
}

// TestAKeyThatIsAddedMeanwhileComesAgain: what changed during a look is not lost.
func TestAKeyThatIsAddedMeanwhileComesAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	q := newQueue(func() time.Time { return now })
	k := key{"a", "edge"}
	q.add(k, time.Minute)
	if _, wait, ok := q.take(); ok || wait != time.Minute {
		t.Errorf("a key that is not due is handed out: %v, wait %v", ok, wait)
	}
	q.add(k, 0)         // an earlier time counts
	q.add(k, time.Hour) // and a later one does not
	if got, _, ok := q.take(); !ok || got != k {
		t.Fatal("a key that is due is not handed out")
	}
	q.add(k, 0)
	if _, _, ok := q.take(); ok {
		t.Error("a key is handed out twice at a time")
	}
	q.done(k)
	if _, _, ok := q.take(); !ok {
		t.Error("a key that was added meanwhile does not come again")
	}
}

// TestNoMoreAreLookedAtAtOnce: so many and no more, however many are due.
func TestNoMoreAreLookedAtAtOnce(t *testing.T) {
	q := newQueue(time.Now)
	const most, due = 4, 40
	for i := range due {
		q.add(key{"a", string(rune('a' + i))}, 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, release, stopped := make(chan struct{}, due), make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	at, peak := 0, 0
	go func() {
		defer close(stopped)
		q.run(ctx, most, time.After, func(key) time.Duration {
			mu.Lock()
			at++
			peak = max(peak, at)
			mu.Unlock()
			begun <- struct{}{}
			<-release
			mu.Lock()
			at--
			mu.Unlock()
			return 0
		})
	}()
	for n := range due {
		<-begun
		if n >= most-1 { // as many as may be are at it
			release <- struct{}{}
		}
	}
	for range most - 1 {
		release <- struct{}{}
	}
	cancel()
	<-stopped
	if peak != most {
		t.Errorf("%d were looked at at once, want %d", peak, most)
	}
}

// TestThirtyTwoAreLookedAtAtOnce: a server that follows a management cluster looks at 32 of its
// clusters at a time, as docs/design/onboarding.md says: no fewer while so many are due, and no more.
func TestThirtyTwoAreLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 32
		h := &hanging{}
		for i := range 3 * most {
			name := fmt.Sprintf("c%02d", i)
			h.rows = append(h.rows, Cluster{ID: name, Management: "hub", Namespace: "a", Name: name, UID: name, State: StateWaiting})
		}
		o := New(Options{
			Store: h, Broker: quiet{}, Source: shown{rows: h.rows}, Log: testlog.Silent(t),
			Egress: func(string) *egress.Rules { return nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Worker().Work(ctx, "hub") }()
		synctest.Wait() // until nothing goes on by itself any more
		if got := h.at.Load(); got != most {
			t.Errorf("%d clusters are looked at at once, want %d", got, most)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
}

// TestALookEndsInTime: after 45 seconds, whatever it waits for, and it is taken up again.
func TestALookEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{rows: []Cluster{{ID: "c", Management: "hub", Namespace: "a", Name: "c", UID: "c", State: StateWaiting}}}
		o := New(Options{
			Store: h, Broker: quiet{}, Source: shown{rows: h.rows}, Log: testlog.Silent(t),
			Egress: func(string) *egress.Rules { return nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Worker().Work(ctx, "hub") }()
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{44 * time.Second, 1}, {2 * time.Second, 0}, {20 * time.Second, 1}} {
			time.Sleep(step.after)
			synctest.Wait()
			if got := h.at.Load(); got != step.want {
				t.Errorf("%v later it is looked at by %d, want %d", step.after, got, step.want)
			}
		}
		cancel()
		<-ended
	})
}

// TestTheLeaseOnAManagementClusterIsRenewed: every twenty minutes of its hour, and another is
// taken where that fails; what is watched is always asked for with the newest credential.
func TestTheLeaseOnAManagementClusterIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lender{most: 100}
		access := make(chan func() ManagementAccess, 1)
		o := New(Options{
			Store: &hanging{}, Broker: l, Source: asking{access: access}, Log: testlog.Silent(t),
			Egress: func(string) *egress.Rules { return nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Worker().Work(ctx, "hub") }()
		now := <-access
		for i, want := range []string{"issued 1", "renewed 1", "renewed 2", "issued 2", "renewed 1"} {
			time.Sleep(10 * time.Minute)
			if got := now().Token.Reveal(); got != want {
				t.Errorf("after %d minutes it asks with the lease %q, want %q", 20*i+10, got, want)
			}
			l.gone.Store(i == 2)
			time.Sleep(10 * time.Minute)
		}
		cancel()
		<-ended
		if l.ttl != time.Hour {
			t.Errorf("the lease is renewed for %v, want an hour", l.ttl)
		}
	})
}

// TestAWatchThatLastedBeginsItsBackoffAnew, and one that fails at once does not.
func TestAWatchThatLastedBeginsItsBackoffAnew(t *testing.T) {
	for _, issues := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			l := &lender{most: issues}
			l.gone.Store(true)
			o := New(Options{
				Store: &hanging{}, Broker: l, Source: asking{access: make(chan func() ManagementAccess, 1)}, Log: testlog.Silent(t),
				Egress: func(string) *egress.Rules { return nil },
			})
			err := o.Worker().Work(t.Context(), "hub")
			if lasted := issues > 0; !errors.Is(err, broker.ErrUnreachable) || job.HasProgressed(err) != lasted {
				t.Errorf("after %d leases the watch ends with %v, which says that it came further: %t", issues, err, !lasted)
			}
		})
	}
}

// lender issues leases whose credential says how often they were issued and renewed.
type lender struct {
	quiet
	issued, renewed int
	gone            atomic.Bool // the lease is not renewed any more
	ttl             time.Duration
	most            int // leases are issued
}

func lent(text string) clientconfig.Config {
	return clientconfig.Config{Credential: secret.Credential{Token: secret.NewText(text)}}
}

func (l *lender) IssueLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	if l.issued == l.most {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrUnreachable}
	}
	l.issued, l.renewed = l.issued+1, 0
	return broker.Lease{ID: strconv.Itoa(l.issued)}, lent(fmt.Sprint("issued ", l.issued)), nil
}

func (l *lender) RenewLease(_ context.Context, _ policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error) {
	if l.gone.Load() || id != strconv.Itoa(l.issued) {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrConflict}
	}
	l.renewed, l.ttl = l.renewed+1, ttl
	return broker.Lease{ID: id}, lent(fmt.Sprint("renewed ", l.renewed)), nil
}

// asking is a source that tells with which credential it would ask.
type asking struct {
	Source
	access chan func() ManagementAccess
}

func (asking) Ping(context.Context, ManagementAccess) error { return nil }

func (a asking) Watch(ctx context.Context, access func() ManagementAccess, _ string, _ Sight) error {
	a.access <- access
	<-ctx.Done()
	return ctx.Err()
}

// hanging is a store that does not answer to whoever looks at a cluster.
type hanging struct {
	Store
	rows []Cluster
	at   atomic.Int64
}

func (h *hanging) Cluster(ctx context.Context, _ string) (Cluster, error) {
	h.at.Add(1)
	defer h.at.Add(-1)
	<-ctx.Done()
	return Cluster{}, ctx.Err()
}

func (h *hanging) Clusters(context.Context, ClusterFilter) ([]Cluster, string, error) {
	return h.rows, "", nil
}

func (*hanging) Management(context.Context, string) (Management, error) {
	return Management{VIM: "hub", Settings: Settings{Namespaces: []string{"a"}}}, nil
}

func (*hanging) NoteManagement(context.Context, Management) error { return nil }

// quiet is a broker whose VIMs are the management cluster alone.
type quiet struct{ Broker }

func (quiet) VIM(context.Context, policy.Principal, string) (broker.VIM, error) {
	return broker.VIM{ID: "hub"}, nil
}

func (quiet) VIMs(context.Context, policy.Principal, broker.VIMQuery) ([]broker.VIM, string, error) {
	return nil, "", nil
}

func (quiet) IssueLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{}, clientconfig.Config{}, nil
}

func (quiet) RevokeLeases(context.Context, policy.Principal, broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, nil
}

// shown is a source that shows the clusters of rows, and then nothing more.
type shown struct {
	Source
	rows []Cluster
}

func (shown) Ping(context.Context, ManagementAccess) error { return nil }

func (s shown) Watch(ctx context.Context, _ func() ManagementAccess, namespace string, sight Sight) error {
	var all []Seen
	for _, c := range s.rows {
		all = append(all, Seen{Namespace: namespace, Name: c.Name, UID: c.UID, Ready: true})
	}
	sight.Clusters(all)
	<-ctx.Done()
	return ctx.Err()
}

func (quiet) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{}, nil
}
