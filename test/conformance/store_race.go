package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// together calls f n times at the same time, and counts the answers by sentinel.
func together(n int, f func(i int) error) map[error]int {
	var start, end sync.WaitGroup
	var mu sync.Mutex
	counts := map[error]int{}
	start.Add(1)
	for i := range n {
		end.Go(func() {
			start.Wait()
			err := f(i)
			for _, kind := range []error{broker.ErrExists, broker.ErrConflict, broker.ErrQuota, broker.ErrNotFound, context.Canceled} {
				if errors.Is(err, kind) {
					err = kind
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			counts[err]++
		})
	}
	start.Done()
	end.Wait()
	return counts
}

func wantCounts(t *testing.T, what string, got, want map[error]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: answers %v, want %v", what, got, want)
	}
}

const crowd = 50

// races checks what holds when many write at once. Each race leaves the audit
// log whole, with one entry for each write that was done.
func races(t *testing.T, s storeTest) {
	done := 0
	race := func(name string, want map[error]int, f func(i int) error) {
		t.Helper()
		wantCounts(t, name, together(crowd, f), want)
		done += want[nil]
	}
	race("one name", map[error]int{nil: 1, broker.ErrExists: crowd - 1}, func(int) error {
		return s.CreateVIM(s.ctx, plainVIM("race", "name"), 0, entry("name"))
	})
	race("one default", map[error]int{nil: 1, broker.ErrExists: crowd - 1}, func(i int) error {
		v := plainVIM("default", fmt.Sprintf("v%d", i))
		v.Default = true
		return s.CreateVIM(s.ctx, v, 0, entry("default"))
	})
	race("one registration key", map[error]int{nil: 1, broker.ErrExists: crowd - 1}, func(i int) error {
		v := plainVIM("key", fmt.Sprintf("v%d", i))
		v.IdempotencyKey = "raced"
		return s.CreateVIM(s.ctx, v, 0, entry("key"))
	})
	race("one registration, repeated", map[error]int{nil: 1, broker.ErrExists: crowd - 1}, func(int) error {
		v := plainVIM("repeated", "v")
		v.IdempotencyKey, v.Default = "repeated", true
		err := s.CreateVIM(s.ctx, v, 0, entry("repeated"))
		if err != nil { // also of those that came while the first was being written
			wantError(t, "CreateVIM repeated at the same time", err, broker.ErrExists, "Idempotency-Key")
		}
		return err
	})

	race("five VIMs of a project", map[error]int{nil: 5, broker.ErrQuota: crowd - 5}, func(i int) error {
		return s.CreateVIM(s.ctx, plainVIM("bounded", fmt.Sprintf("v%d", i)), 5, entry("bounded"))
	})

	v := s.mustCreateVIM(t, plainVIM("quota", "v"))
	done++
	race("a quota of five", map[error]int{nil: 5, broker.ErrQuota: crowd - 5}, func(int) error {
		return s.createLease(plainLease(v), broker.Quota{PerPrincipal: 5}, "quota")
	})
	var elsewhere []broker.VIM
	for i := range 10 {
		elsewhere = append(elsewhere, s.mustCreateVIM(t, plainVIM(fmt.Sprint("elsewhere-", i), "v")))
		done++
	}
	race("a quota of five, over VIMs and projects", map[error]int{nil: 5, broker.ErrQuota: crowd - 5}, func(i int) error {
		l := plainLease(elsewhere[i%10])
		l.Principal, l.Project = "erin", fmt.Sprint("project-", i)
		return s.createLease(l, broker.Quota{PerPrincipal: 5, PerVIM: crowd, PerProject: crowd}, "quota")
	})
	race("a quota of five on a VIM", map[error]int{nil: 5, broker.ErrQuota: crowd - 5}, func(i int) error {
		l := plainLease(v)
		l.Principal, l.Project = fmt.Sprint("principal-", i), fmt.Sprint("project-", i)
		return s.createLease(l, broker.Quota{PerVIM: 10}, "quota")
	})
	race("a quota of five of a project", map[error]int{nil: 5, broker.ErrQuota: crowd - 5}, func(i int) error {
		l := plainLease(elsewhere[i%10])
		l.Principal, l.Project = fmt.Sprint("other-", i), "shared"
		return s.createLease(l, broker.Quota{PerProject: 5}, "quota")
	})
	race("one lease key", map[error]int{nil: 1, broker.ErrExists: crowd - 1}, func(int) error {
		l := plainLease(v)
		l.Principal, l.IdempotencyKey = "bob", "raced"
		return s.createLease(l, broker.Quota{}, "key")
	})
	race("every update counts", map[error]int{nil: crowd}, func(int) error {
		_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
			v.Health.Message += "x"
			return nil
		}, entry("count"))
		return err
	})
	if got := s.mustVIM(t, v.ID); got.Revision != crowd+1 || len(got.Health.Message) != len(v.Health.Message)+crowd {
		t.Errorf("after %d updates revision is %d and the message %q", crowd, got.Revision, got.Health.Message)
	}
	l := plainLease(v)
	l.Principal = "carol"
	s.mustCreateLease(t, l)
	done++
	race("one move", map[error]int{nil: 1, broker.ErrConflict: crowd - 1}, func(int) error {
		_, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error {
			if l.State != broker.LeasePending {
				return broker.ErrConflict
			}
			moveLease(l, broker.LeaseActive)
			return nil
		}, entry("move"))
		return err
	})

	// Half withdraw, some from change functions that panic: the others are not touched.
	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	race("some give up", map[error]int{nil: crowd / 2, context.Canceled: crowd / 2}, func(i int) error {
		if i%2 == 1 {
			return s.Append(ended, entry("ended"))
		}
		if i%10 == 0 {
			func() {
				defer func() { _ = recover() }()
				_, _ = s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.Name = "panic"; panic("in change") }, entry("panic"))
			}()
		}
		return s.Append(s.ctx, entry("kept"))
	})
	if got := s.mustVIM(t, v.ID); got.Name != "v" {
		t.Errorf("a change that panicked was kept: name is %q", got.Name)
	}

	// Registering and deleting against issuing: no lease without its VIM.
	doomed := s.mustCreateVIM(t, plainVIM("doomed", "v"))
	done++
	var issued atomic.Int64
	counts := together(crowd, func(i int) error {
		if i%2 == 0 {
			return s.DeleteVIM(s.ctx, doomed.ID, false, entry("delete"))
		}
		l := plainLease(doomed)
		l.Principal, l.CreatedAt = "dave", epoch.Add(time.Duration(i))
		_, err := s.CreateLease(s.ctx, l, broker.Quota{}, entry("lease"))
		if err == nil {
			issued.Add(1)
		}
		return err
	})
	_, err := s.VIM(s.ctx, doomed.ID)
	if gone := errors.Is(err, broker.ErrNotFound); gone == (issued.Load() > 0) {
		t.Errorf("VIM deleted: %t, leases issued on it: %d, answers %v", gone, issued.Load(), counts)
	}
	done += max(1, int(issued.Load())) // the one deletion that wrote, or the leases

	// Issuing against draining one that must be idle: no lease is issued that is not
	// seen, and none after.
	for range 5 {
		idle := s.mustCreateVIM(t, plainVIM("idle", fmt.Sprint("v", done)))
		var leases, drained atomic.Int64
		counts := together(crowd, func(i int) error {
			if i%10 == 0 {
				_, err := s.UpdateIdleVIM(s.ctx, idle.ID, false, func(v *broker.VIM) error {
					if v.State == broker.VIMDraining {
						return broker.ErrExists
					}
					v.State = broker.VIMDraining
					return nil
				}, entry("drain"))
				if err == nil {
					drained.Add(1)
				}
				return err
			}
			l := plainLease(idle)
			l.Principal = "dora"
			_, err := s.CreateLease(s.ctx, l, broker.Quota{}, entry("lease"))
			if err == nil {
				leases.Add(1)
			}
			return err
		})
		if (drained.Load() == 1) == (leases.Load() > 0) || drained.Load() > 1 {
			t.Errorf("%d times draining, %d leases issued, answers %v", drained.Load(), leases.Load(), counts)
		}
		done += 1 + int(leases.Load()+drained.Load())
	}

	all := s.entries(t)
	VerifyLog(t, s.Store)
	if len(all) != done {
		t.Errorf("%d audit entries for %d writes", len(all), done)
	}
}
