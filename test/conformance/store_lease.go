package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

func leaseRows(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("south", "core"))
	want := fullLease(v)
	mustBeFull(t, want)
	given := want
	given.State, given.Revision = broker.LeaseActive, 77 // the store says what they are
	want.Epoch = s.mustCreateLease(t, given).Epoch
	got, err := s.Lease(s.ctx, want.ID)
	if err != nil {
		t.Fatalf("Lease = %v", err)
	}
	wantSame(t, "Lease as created", got, want)
	got, err = s.LeaseByKey(s.ctx, "alice", want.IdempotencyKey)
	if err != nil {
		t.Fatalf("LeaseByKey = %v", err)
	}
	wantSame(t, "LeaseByKey", got, want)
	if got, err = s.LeaseByLogin(s.ctx, want.Login); err != nil {
		t.Fatalf("LeaseByLogin = %v", err)
	}
	wantSame(t, "LeaseByLogin", got, want)
	plain := s.mustCreateLease(t, plainLease(v))
	wantSame(t, "Lease that little is known of", s.mustLease(t, plain.ID), plain)

	t.Run("missing", func(t *testing.T) {
		_, err := s.Lease(s.ctx, "none")
		wantError(t, "Lease", err, broker.ErrNotFound, "")
		for _, k := range [][2]string{{"bob", want.IdempotencyKey}, {"alice", ""}, {"alice", "other"}} {
			_, err = s.LeaseByKey(s.ctx, k[0], k[1])
			wantError(t, "LeaseByKey", err, broker.ErrNotFound, "")
		}
		for _, login := range []string{"", "none"} {
			_, err = s.LeaseByLogin(s.ctx, login)
			wantError(t, "LeaseByLogin", err, broker.ErrNotFound, "")
		}
		_, err = s.UpdateLease(s.ctx, "none", func(*broker.Lease) error { t.Error("change was called"); return nil }, entry("none"))
		wantError(t, "UpdateLease", err, broker.ErrNotFound, "")
		wantError(t, "DeferLease", s.DeferLease(s.ctx, "none", 1, epoch, "x"), broker.ErrNotFound, "")
	})

	t.Run("VIM not ready", func(t *testing.T) {
		draining := plainVIM("north", "draining")
		draining.State = broker.VIMDraining
		registering := plainVIM("north", "registering")
		registering.State = broker.VIMRegistering
		s.mustCreateVIM(t, draining)
		s.mustCreateVIM(t, registering)
		older := v
		older.Current.Number = 2
		entries := len(s.entries(t))
		for what, of := range map[string]broker.VIM{
			"that is gone": plainVIM("north", "gone"), "that drains": draining,
			"that is registering": registering, "of another generation": older,
		} {
			l := plainLease(of)
			wantError(t, "CreateLease on a VIM "+what, s.createLease(l, broker.Quota{}, what), broker.ErrConflict, "")
			if _, err := s.Lease(s.ctx, l.ID); !errors.Is(err, broker.ErrNotFound) {
				t.Errorf("refused lease is there: %v", err)
			}
		}
		stored := s.mustVIM(t, v.ID)
		for revision, want := range map[int64]error{stored.Revision + 1: broker.ErrConflict, stored.Revision: nil} {
			_, err := s.CreateLease(s.ctx, plainLease(stored), broker.Quota{VIMRevision: revision}, entry("revision"))
			if !errors.Is(err, want) {
				t.Errorf("CreateLease on revision %d of a VIM of revision %d = %v, want %v", revision, stored.Revision, err, want)
			}
		}
		if after := len(s.entries(t)); after != entries+1 {
			t.Errorf("refused leases left %d audit entries", after-entries-1)
		}
	})

	t.Run("key taken", func(t *testing.T) {
		l := plainLease(v)
		l.IdempotencyKey = want.IdempotencyKey
		wantError(t, "CreateLease repeated while the quota is used up",
			s.createLease(l, broker.Quota{PerPrincipal: 1}, "again"), broker.ErrExists, "Idempotency-Key")
		l.Principal = "bob"
		s.mustCreateLease(t, l)
	})

	t.Run("key given free", func(t *testing.T) {
		l := plainLease(v)
		l.IdempotencyKey = "given-free"
		s.mustCreateLease(t, l)
		if _, err := s.UpdateLease(s.ctx, l.ID, func(now *broker.Lease) error {
			now.State, now.IdempotencyKey = broker.LeaseRevoking, ""
			return nil
		}, entry("failed")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.LeaseByKey(s.ctx, l.Principal, "given-free"); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("LeaseByKey of a key that was given free = %v, want ErrNotFound", err)
		}
		l = plainLease(v)
		l.IdempotencyKey = "given-free"
		s.mustCreateLease(t, l)
	})

	t.Run("update", func(t *testing.T) {
		next := want
		next.State, next.Namespaces, next.Revision = broker.LeaseActive, nil, 2
		next.Derived, next.RenewalBegun, next.Sealed, next.IssuedAt = false, false, "", epoch.Add(time.Minute)
		got, err := s.UpdateLease(s.ctx, want.ID, func(now *broker.Lease) error {
			wantSame(t, "lease given to change", *now, want)
			*now = next
			now.IssuedAt = next.IssuedAt.Add(300 * time.Nanosecond).In(time.FixedZone("", -3600))
			now.ID, now.VIM, now.VIMName, now.VIMType, now.VIMProject, now.VIMGeneration = "x", "x", "x", "x", "x", 9
			now.Project, now.Principal, now.CreatedAt, now.Revision = "x", "x", epoch.Add(9), 9
			return nil
		}, entry("update"))
		if err != nil {
			t.Fatalf("UpdateLease = %v", err)
		}
		wantSame(t, "UpdateLease's answer", got, next)
		got, _ = s.Lease(s.ctx, want.ID)
		wantSame(t, "lease after UpdateLease", got, next)

		inPlace := plainLease(v)
		inPlace.Namespaces = []string{"one", "two"}
		s.mustCreateLease(t, inPlace)
		if _, err := s.UpdateLease(s.ctx, inPlace.ID, func(now *broker.Lease) error { now.Namespaces[1] = "other"; return nil }, entry("in place")); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Lease(s.ctx, inPlace.ID); !slices.Equal(got.Namespaces, []string{"one", "other"}) {
			t.Errorf("after an UpdateLease that writes into the list the namespaces are %q", got.Namespaces)
		}

		entries := len(s.entries(t))
		refusal := errors.New("no")
		_, err = s.UpdateLease(s.ctx, want.ID, func(now *broker.Lease) error {
			now.Role = "wrong"
			return refusal
		}, entry("refused"))
		if err != refusal { //nolint:errorlint // the contract: as it is
			t.Errorf("UpdateLease = %v, want the change's own error", err)
		}
		next.Attempts, next.NextAttemptAt, next.LastError = 7, epoch.Add(time.Hour), "forbidden"
		if err := s.DeferLease(s.ctx, want.ID, 7, next.NextAttemptAt, "forbidden"); err != nil {
			t.Errorf("DeferLease = %v", err)
		}
		got, _ = s.Lease(s.ctx, want.ID)
		wantSame(t, "lease after a refused change and DeferLease", got, next)
		if after := len(s.entries(t)); after != entries {
			t.Errorf("refused change and DeferLease left %d audit entries", after-entries)
		}
	})

	t.Run("after rename", func(t *testing.T) {
		if _, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.Name = "renamed"; return nil }, entry("rename")); err != nil {
			t.Fatalf("UpdateVIM = %v", err)
		}
		if got, err := s.Lease(s.ctx, want.ID); err != nil || got.VIMName != "core" {
			t.Errorf("VIMName = %q, %v; want the name at issue", got.VIMName, err)
		}
	})
}

func leaseLists(t *testing.T, s storeTest) {
	north := s.mustCreateVIM(t, plainVIM("north", "n"))
	south := s.mustCreateVIM(t, plainVIM("south", "s"))
	nth := 0
	add := func(v broker.VIM, alter func(*broker.Lease), way ...broker.LeaseState) {
		l := plainLease(v)
		l.ID = fmt.Sprintf("lease-%d", nth)
		l.CreatedAt = epoch.Add(time.Duration(nth/2) * time.Second) // two each share a time
		nth++
		if alter != nil {
			alter(&l)
		}
		s.mustCreateLease(t, l)
		s.mustMove(t, l.ID, way...)
	}
	until := func(state broker.LeaseState, next time.Time) {
		id := fmt.Sprintf("lease-%d", nth-1)
		_, err := s.UpdateLease(s.ctx, id, func(l *broker.Lease) error {
			if l.State != state {
				return fmt.Errorf("lease is %s", l.State)
			}
			l.NextAttemptAt = next
			return nil
		}, entry("next"))
		if err != nil {
			t.Fatal(err)
		}
	}
	add(north, nil)                                                                                                  // 0
	add(north, func(l *broker.Lease) { l.Principal = "bob" }, broker.LeaseActive)                                    // 1: due in an hour
	add(south, func(l *broker.Lease) { l.Operation, l.Instance, l.For = "op", "vnf", "dave" }, broker.LeaseRevoking) // 2: due at once
	add(south, func(l *broker.Lease) { l.Project = "south" }, broker.LeaseRevoking)                                  // 3: due in two hours
	until(broker.LeaseRevoking, epoch.Add(2*time.Hour))                                                              //
	add(south, nil, broker.LeaseRevoking, broker.LeaseRevoked)                                                       // 4: never due
	add(south, func(l *broker.Lease) { l.Sealed = "s" }, broker.LeaseRevoking, "revoked")                            // 5: due in a minute
	until(broker.LeaseRevoked, epoch.Add(time.Minute))
	add(north, func(l *broker.Lease) { l.Operation, l.Instance, l.For = "op", "vnf", "dave" }, broker.LeaseRevoking, broker.LeaseIrrevocable) // 6: never due

	live, err := s.LiveOn(s.ctx, []string{north.ID, south.ID, "nobody's"}, 2)
	if err != nil || live[north.ID] != 2 || live[south.ID] != 2 || live["nobody's"] != 0 {
		t.Errorf("LiveOn(at most 2) = %v, %v, want 2 on each", live, err) // north has three
	}
	at := func(d time.Duration) broker.LeaseFilter { return broker.LeaseFilter{DueBefore: epoch.Add(d)} }
	for name, c := range map[string]struct {
		f    broker.LeaseFilter
		want []int
	}{
		"all, newest first":     {broker.LeaseFilter{}, []int{6, 5, 4, 3, 2, 1, 0}},
		"project, or its VIMs'": {broker.LeaseFilter{Project: "south"}, []int{5, 4, 3, 2}},
		"project with VIMs":     {broker.LeaseFilter{Project: "north"}, []int{6, 5, 4, 2, 1, 0}},
		"VIM":                   {broker.LeaseFilter{VIM: north.ID}, []int{6, 1, 0}},
		"live of a VIM":         {broker.LeaseFilter{VIM: south.ID, States: []broker.LeaseState{"active", "revoking"}}, []int{3, 2}},
		"ended of a VIM":        {broker.LeaseFilter{VIM: south.ID, States: []broker.LeaseState{"revoked"}}, []int{5, 4}},
		"live of a project":     {broker.LeaseFilter{Project: "south", States: []broker.LeaseState{"revoking"}}, []int{3, 2}},
		"project on a VIM":      {broker.LeaseFilter{Project: "north", VIM: south.ID}, []int{5, 4, 2}},
		"project, of one":       {broker.LeaseFilter{Project: "south", Principal: "alice"}, []int{5, 4, 3, 2}},
		"project, operation":    {broker.LeaseFilter{Project: "south", Operation: "op"}, []int{2}},
		"principal":             {broker.LeaseFilter{Principal: "bob"}, []int{1}},
		"live of a principal":   {broker.LeaseFilter{Principal: "alice", States: []broker.LeaseState{"pending"}}, []int{0}},
		"live of its own":       {broker.LeaseFilter{Project: "north", States: []broker.LeaseState{"active", "irrevocable"}}, []int{6, 1}},
		"id":                    {broker.LeaseFilter{IDPrefix: "lease-6"}, []int{6}},
		"id prefix":             {broker.LeaseFilter{IDPrefix: "lease-", States: []broker.LeaseState{"revoking"}}, []int{3, 2}},
		"id of a project":       {broker.LeaseFilter{Project: "south", IDPrefix: "lease-1"}, nil},
		"operation":             {broker.LeaseFilter{Operation: "op"}, []int{6, 2}},
		"for a person":          {broker.LeaseFilter{For: "dave"}, []int{6, 2}},
		"instance":              {broker.LeaseFilter{Instance: "vnf"}, []int{6, 2}},
		"instance of a project": {broker.LeaseFilter{Project: "south", Instance: "vnf"}, []int{2}},
		"live of an instance":   {broker.LeaseFilter{Instance: "vnf", States: []broker.LeaseState{"revoking"}}, []int{2}},
		"operation on a VIM":    {broker.LeaseFilter{Operation: "op", VIM: south.ID}, []int{2}},
		"state":                 {broker.LeaseFilter{States: []broker.LeaseState{"revoking"}}, []int{3, 2}},
		"states":                {broker.LeaseFilter{States: []broker.LeaseState{"revoked", "pending", "revoked"}}, []int{5, 4, 0}},
		"created before":        {broker.LeaseFilter{CreatedBefore: epoch.Add(time.Second)}, []int{1, 0}},
		"abandoned":             {broker.LeaseFilter{CreatedBefore: epoch.Add(time.Hour), States: []broker.LeaseState{"pending"}}, []int{0}},
		"due now":               {at(0), []int{2}},
		"due in a minute":       {at(time.Minute), []int{5, 2}},
		"due in an hour":        {at(time.Hour), []int{5, 2, 1}},
		"due in a day":          {at(24 * time.Hour), []int{5, 3, 2, 1}},
		"due on a VIM":          {broker.LeaseFilter{VIM: south.ID, DueBefore: epoch.Add(time.Hour)}, []int{5, 2}},
		"due on a VIM, of all":  {broker.LeaseFilter{VIM: south.ID, DueBefore: epoch.Add(time.Hour), States: []broker.LeaseState{"revoked"}}, []int{5}},
		"due of a project":      {broker.LeaseFilter{Project: "south", DueBefore: epoch.Add(time.Hour)}, []int{5, 2}},
		"revoked of a project":  {broker.LeaseFilter{Project: "south", States: []broker.LeaseState{"revoked"}}, []int{5, 4}},
		"live, of one":          {broker.LeaseFilter{Project: "south", Principal: "alice", States: []broker.LeaseState{"revoking"}}, []int{3, 2}},
		"live, on a VIM":        {broker.LeaseFilter{Project: "north", VIM: south.ID, States: []broker.LeaseState{"revoking"}}, []int{2}},
		"of one on a VIM":       {broker.LeaseFilter{Principal: "alice", VIM: north.ID}, []int{6, 0}},
		"all live of a VIM":     {broker.LeaseFilter{VIM: south.ID, States: []broker.LeaseState{"pending", "active", "revoking", "irrevocable"}}, []int{3, 2}},
		"all live":              {broker.LeaseFilter{States: []broker.LeaseState{"pending", "active", "revoking", "irrevocable"}}, []int{6, 3, 2, 1, 0}},
		"nothing":               {broker.LeaseFilter{Project: "east"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, n := range c.want {
				want = append(want, fmt.Sprintf("lease-%d", n))
			}
			for _, size := range []int{0, 1, 2} {
				var got []string
				c.f.Page = broker.Page{Size: size}
				for {
					page, next, err := s.Leases(s.ctx, c.f)
					if err != nil {
						t.Fatalf("Leases = %v", err)
					}
					for _, l := range page {
						got = append(got, l.ID)
					}
					if c.f.Token = next; next == "" {
						break
					}
				}
				wantSame(t, "ids with page size "+strconv.Itoa(size), got, want)
			}
		})
	}

	southDue := broker.DueVIM{VIM: south.ID, Project: "south"}
	for after, want := range map[time.Duration][]broker.DueVIM{
		0: {southDue}, time.Hour: {{VIM: north.ID, Project: "north", Since: epoch.Add(time.Hour)}, southDue},
	} {
		got, err := s.DueVIMs(s.ctx, epoch.Add(after))
		if err != nil {
			t.Fatalf("DueVIMs = %v", err)
		}
		slices.SortFunc(got, func(a, b broker.DueVIM) int { return strings.Compare(a.Project, b.Project) })
		wantSame(t, fmt.Sprintf("VIMs that leases are due on after %v", after), got, want)
	}

	census, err := s.Census(s.ctx)
	if err != nil {
		t.Fatalf("Census = %v", err)
	}
	wantSame(t, "leases by state", census.Leases, map[broker.LeaseState]int{
		"pending": 1, "active": 1, "revoking": 2, "revoked": 2, "irrevocable": 1,
	})

	if _, err := s.UpdateLease(s.ctx, "lease-2", func(l *broker.Lease) error { l.Attempts = 2; return nil }, entry("tried")); err != nil {
		t.Fatal(err)
	}
	add(south, func(l *broker.Lease) { l.ExpiresAt = epoch.Add(15 * time.Minute) }, broker.LeaseRevoking)
	until(broker.LeaseRevoking, epoch.Add(2*time.Hour))
	late := func(after, want time.Duration) {
		t.Helper()
		if l, err := s.Load(s.ctx, epoch.Add(after)); err != nil || l.LeasesLate != want || l.LeasesFailing != 1 {
			t.Errorf("Load after %v = %+v, %v; want a lease that is late by %v, and one whose revocation fails", after, l, err, want)
		}
	}
	late(10*time.Minute, 0)
	late(30*time.Minute, 15*time.Minute)
	s.mustMove(t, "lease-7", broker.LeaseRevoked)
	late(30*time.Minute, 0)
	late(70*time.Minute, 10*time.Minute) // one that nobody has begun to revoke

	const end = 180 * 24 * time.Hour
	for _, change := range []func(l *broker.Lease){
		func(*broker.Lease) {}, // a user
		func(l *broker.Lease) { l.TokenTTL, l.Login = time.Minute, l.ID },
		func(l *broker.Lease) { l.TokenTTL, l.Login, l.Instance = time.Minute, l.ID, "i" }, // which has a successor
		func(l *broker.Lease) { l.MaxExpiresAt = epoch.Add(broker.EndsSoon) },
	} {
		add(south, func(l *broker.Lease) { l.MaxExpiresAt = epoch.Add(end); change(l) }, broker.LeaseActive)
	}
	for after, want := range map[time.Duration]int{0: 0, end - broker.EndsSoon - time.Hour: 0, end - broker.EndsSoon: 2, end - time.Hour: 2, end: 0} {
		if l, err := s.Load(s.ctx, epoch.Add(after)); err != nil || l.LeasesEnding != want {
			t.Errorf("after %v %d leases are about to end, %v; want %d", after, l.LeasesEnding, err, want)
		}
	}
}

// resumptions checks which leases are taken up again when a VIM is back.
func resumptions(t *testing.T, s storeTest) {
	now := epoch.Add(time.Minute)
	for name, back := range map[string]struct {
		was broker.HealthStatus
		do  func(broker.VIM) error
		is  bool
	}{
		"reachable again": {broker.HealthUnreachable, func(v broker.VIM) error {
			return s.SetHealth(s.ctx, v.ID, 1, broker.Health{Status: broker.HealthReachable, CheckedAt: now})
		}, true},
		"authorized again": {broker.HealthUnauthorized, func(v broker.VIM) error {
			return s.SetHealth(s.ctx, v.ID, 1, broker.Health{Status: broker.HealthReachable, CheckedAt: now})
		}, true},
		"a new generation": {broker.HealthReachable, func(v broker.VIM) error {
			_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
				v.Current, v.UpdatedAt = fullGeneration(v.ID, 2), now
				return nil
			}, entry("switch"))
			return err
		}, true},
		"still reachable": {broker.HealthReachable, func(v broker.VIM) error {
			return s.SetHealth(s.ctx, v.ID, 1, broker.Health{Status: broker.HealthReachable, CheckedAt: now})
		}, false},
		"still down": {broker.HealthUnauthorized, func(v broker.VIM) error {
			return s.SetHealth(s.ctx, v.ID, 1, broker.Health{Status: broker.HealthUnreachable, CheckedAt: now})
		}, false},
		"another generation's health": {broker.HealthUnreachable, func(v broker.VIM) error {
			wantError(t, "SetHealth", s.SetHealth(s.ctx, v.ID, 2, broker.Health{Status: broker.HealthReachable, CheckedAt: now}), broker.ErrNotFound, "")
			return nil
		}, false},
		"another change": {broker.HealthUnreachable, func(v broker.VIM) error {
			_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.UpdatedAt = now; return nil }, entry("change"))
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := plainVIM("north", name)
			v.Health.Status = back.was
			s.mustCreateVIM(t, v)
			other := s.mustCreateVIM(t, plainVIM("south", name))
			waiting := func(v broker.VIM, attempts int, next time.Time, way ...broker.LeaseState) string {
				l := plainLease(v)
				l.Sealed, l.SealedKey = sealedText, v.Current.Key
				s.mustCreateLease(t, l)
				s.mustMove(t, l.ID, way...)
				if err := s.DeferLease(s.ctx, l.ID, attempts, next, "unreachable"); err != nil {
					t.Fatal(err)
				}
				return l.ID
			}
			late, early := now.Add(time.Hour), now.Add(-time.Second)
			tried := map[string]time.Time{
				waiting(v, 7, late, broker.LeaseRevoking):                      now,
				waiting(v, 1, early, broker.LeaseRevoking):                     early,
				waiting(v, 2, late, broker.LeaseRevoking, broker.LeaseRevoked): now,
			}
			untouched := map[string]broker.Lease{}
			for _, id := range []string{
				waiting(v, 0, late, broker.LeaseRevoking), // is being issued until then
				waiting(v, 3, late, broker.LeaseRevoking, broker.LeaseIrrevocable),
				waiting(v, 4, late, broker.LeaseActive),
				waiting(other, 5, late, broker.LeaseRevoking),
			} {
				untouched[id] = s.mustLease(t, id)
			}
			for id := range tried {
				if !back.is {
					untouched[id] = s.mustLease(t, id)
				}
			}
			revisions := map[string]int64{}
			for id := range tried {
				revisions[id] = s.mustLease(t, id).Revision
			}
			if err := back.do(v); err != nil {
				t.Fatal(err)
			}
			for id, want := range untouched {
				wantSame(t, "a lease that is left alone", s.mustLease(t, id), want)
			}
			for id, next := range tried {
				l := s.mustLease(t, id)
				if back.is && (l.Attempts != 0 || !l.NextAttemptAt.Equal(next) || l.LastError != "unreachable") {
					t.Errorf("a lease that is %s: %d attempts, due at %v, %q; want none, %v, and the error kept",
						l.State, l.Attempts, l.NextAttemptAt, l.LastError, next)
				}
				if l.Revision != revisions[id] {
					t.Errorf("a lease that was taken up again has revision %d, want %d", l.Revision, revisions[id])
				}
			}
		})
	}
}

func quotas(t *testing.T, s storeTest) {
	leaseQuotas(t, s)
	vimQuotas(t, s)
}

// vimQuotas: of a project's VIMs those count that are there, whatever their state. A repeat of
// the registration of one is told so, and not that there are too many.
func vimQuotas(t *testing.T, s storeTest) {
	first := plainVIM("bounded", "first")
	first.IdempotencyKey, first.State = "key of first", broker.VIMRegistering
	if err := s.CreateVIM(s.ctx, first, 1, entry("first")); err != nil {
		t.Fatal(err)
	}
	entries := len(s.entries(t))
	err := s.CreateVIM(s.ctx, plainVIM("bounded", "second"), 1, entry("second"))
	wantError(t, "CreateVIM beyond the quota", err, broker.ErrQuota, "project")
	if n := len(s.entries(t)); n != entries {
		t.Errorf("a refused VIM left %d audit entries", n-entries)
	}
	repeat := plainVIM("bounded", "first")
	repeat.IdempotencyKey, repeat.CreatedBy = first.IdempotencyKey, first.CreatedBy
	wantError(t, "CreateVIM repeated at the quota", s.CreateVIM(s.ctx, repeat, 1, entry("again")), broker.ErrExists, "Idempotency-Key")
	if err := s.CreateVIM(s.ctx, plainVIM("other", "second"), 1, entry("other")); err != nil {
		t.Errorf("CreateVIM in another project = %v", err)
	}
	if err := s.DeleteVIM(s.ctx, first.ID, false, entry("gone")); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateVIM(s.ctx, plainVIM("bounded", "second"), 1, entry("second")); err != nil {
		t.Errorf("CreateVIM once the other is deleted = %v", err)
	}
}

func leaseQuotas(t *testing.T, s storeTest) {
	one := s.mustCreateVIM(t, plainVIM("north", "one"))
	two := s.mustCreateVIM(t, plainVIM("north", "two"))
	first := s.mustCreateLease(t, plainLease(one)) // alice, north, one
	entries := len(s.entries(t))
	for name, c := range map[string]struct {
		q     broker.Quota
		alter func(*broker.Lease)
	}{
		"perPrincipal": {broker.Quota{PerPrincipal: 1}, func(l *broker.Lease) { l.Principal = "bob" }},
		"perVIM":       {broker.Quota{PerVIM: 1}, func(l *broker.Lease) { l.VIM = two.ID }},
		"perProject":   {broker.Quota{PerProject: 1}, func(l *broker.Lease) { l.Project = "south" }},
	} {
		_, err := s.CreateLease(s.ctx, plainLease(one), c.q, entry(name))
		wantError(t, "CreateLease beyond "+name, err, broker.ErrQuota, "")
		var e *broker.Error
		if !errors.As(err, &e) || !strings.Contains(e.Detail, name) {
			t.Errorf("CreateLease beyond %s = %v, want the quota named", name, err)
		}
		if n := len(s.entries(t)); n != entries {
			t.Errorf("refused lease left %d audit entries", n-entries)
		}
		within := plainLease(one)
		c.alter(&within)
		if _, err := s.CreateLease(s.ctx, within, c.q, entry(name)); err != nil {
			t.Errorf("CreateLease within %s = %v", name, err)
		}
		s.mustMove(t, within.ID, broker.LeaseRevoking, broker.LeaseRevoked)
		entries = len(s.entries(t))
	}
	// A registered client has a quota of its own, whatever that of others is.
	q, vnfm := broker.Quota{PerPrincipal: 1, PerClient: 2}, []broker.Lease{plainLease(one), plainLease(one), plainLease(one)}
	for i := range vnfm {
		vnfm[i].Principal = "client:8c1f1b0e"
		_, err := s.CreateLease(s.ctx, vnfm[i], q, entry("client"))
		if i < q.PerClient && err != nil {
			t.Fatalf("CreateLease %d of a client = %v", i, err)
		}
		if e := (*broker.Error)(nil); i == q.PerClient && (!errors.As(err, &e) || !errors.Is(err, broker.ErrQuota) || !strings.Contains(e.Detail, "quota perClient is used up: 2")) {
			t.Errorf("CreateLease beyond perClient = %v, want the quota named", err)
		}
	}
	for _, l := range vnfm[:q.PerClient] {
		s.mustMove(t, l.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	}
	s.mustMove(t, first.ID, broker.LeaseRevoking, broker.LeaseIrrevocable)
	wantError(t, "CreateLease beside an irrevocable one",
		s.createLease(plainLease(one), broker.Quota{PerVIM: 1}, "x"), broker.ErrQuota, "")
	s.mustMove(t, first.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	if _, err := s.CreateLease(s.ctx, plainLease(one), broker.Quota{PerVIM: 1, PerPrincipal: 1, PerProject: 1}, entry("y")); err != nil {
		t.Errorf("CreateLease after the other was revoked = %v", err)
	}
}

// moves walks all pairs of states, of leases and of VIMs.
func moves(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "core"))
	ways := map[broker.LeaseState][]broker.LeaseState{
		broker.LeasePending: nil, broker.LeaseActive: {"active"}, broker.LeaseRevoking: {"revoking"},
		broker.LeaseRevoked: {"revoking", "revoked"}, broker.LeaseIrrevocable: {"revoking", "irrevocable"},
	}
	for from, way := range ways {
		for to := range ways {
			l := s.mustCreateLease(t, plainLease(v))
			s.mustMove(t, l.ID, way...)
			entries := len(s.entries(t))
			got, err := s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error { moveLease(l, to); return nil }, entry("move"))
			if from == to || from.CanMove(to) {
				if err != nil || got.State != to {
					t.Errorf("lease from %s to %s = %s, %v; want it moved", from, to, got.State, err)
				}
				continue
			}
			wantError(t, fmt.Sprintf("lease from %s to %s", from, to), err, broker.ErrConflict, "")
			if now, err := s.Lease(s.ctx, l.ID); err != nil || now.State != from || len(s.entries(t)) != entries {
				t.Errorf("refused move from %s to %s left %s (%v) or an audit entry", from, to, now.State, err)
			}
		}
	}
	states := []broker.VIMState{broker.VIMRegistering, broker.VIMRegistered, broker.VIMDraining}
	for _, from := range states {
		for _, to := range states {
			v := plainVIM("north", fmt.Sprintf("%s-%s", from, to))
			v.State = from
			s.mustCreateVIM(t, v)
			_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.State = to; return nil }, entry("move"))
			if from == to || from.CanMove(to) {
				if err != nil {
					t.Errorf("VIM from %s to %s = %v", from, to, err)
				}
				continue
			}
			wantError(t, fmt.Sprintf("VIM from %s to %s", from, to), err, broker.ErrConflict, "")
			if now := s.mustVIM(t, v.ID); now.State != from {
				t.Errorf("refused move from %s to %s left %s", from, to, now.State)
			}
		}
	}
}

// leaseSuccession: of the leases of one login the last has the secrets and the key, and none takes the place of one that
// is in use, or has changed.
func leaseSuccession(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("south", "lasting"))
	standing := func(login string) broker.Lease {
		l := plainLease(v)
		l.Login, l.SecretSHA256, l.IdempotencyKey = login, "digest of "+l.ID, "key of "+login
		return l
	}
	first := standing("")
	first.Login = first.ID
	first.IdempotencyKey = "key of " + first.ID
	first = s.mustCreateLease(t, first)
	follow := func(what string, revision int64, want error) broker.Lease {
		t.Helper()
		entries := len(s.entries(t))
		next, err := s.CreateLease(s.ctx, standing(first.Login), broker.Quota{OldRevision: revision}, entry(what))
		if want != nil {
			wantError(t, "CreateLease in the place of "+what, err, want, "login")
			if after := len(s.entries(t)); after != entries {
				t.Errorf("%s: a refused lease left an audit entry", what)
			}
		} else if err != nil {
			t.Fatalf("CreateLease in the place of %s = %v", what, err)
		}
		return next
	}
	follow("one that is pending", first.Revision, broker.ErrExists)
	move := func(id string, to broker.LeaseState) broker.Lease {
		t.Helper()
		l, err := s.UpdateLease(s.ctx, id, func(now *broker.Lease) error {
			now.State, now.IssuedAt, now.ExpiresAt = to, epoch, epoch.Add(time.Hour)
			return nil
		}, entry(string(to)))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	follow("one that is active", move(first.ID, broker.LeaseActive).Revision, broker.ErrExists)
	ended := move(first.ID, broker.LeaseRevoking)
	follow("one that has changed", ended.Revision-1, broker.ErrExists)
	second := follow("one that is being revoked", ended.Revision, nil)
	if old := s.mustLease(t, first.ID); old.SecretSHA256 != "" || old.IdempotencyKey != "" || old.Login != first.ID {
		t.Errorf("the one before still has %q and the key %q", old.SecretSHA256, old.IdempotencyKey)
	}
	if now, err := s.LeaseByLogin(s.ctx, first.Login); err != nil || now.ID != second.ID {
		t.Errorf("LeaseByLogin = %s, %v; want the second", now.ID, err)
	}
	if now, err := s.LeaseByKey(s.ctx, second.Principal, second.IdempotencyKey); err != nil || now.ID != second.ID {
		t.Errorf("LeaseByKey = %s, %v; want the second", now.ID, err)
	}
	ended = move(second.ID, broker.LeaseRevoking)
	if _, err := s.UpdateLease(s.ctx, second.ID, func(now *broker.Lease) error { now.SecretSHA256 = ""; return nil }, entry("ended")); err != nil {
		t.Fatal(err)
	}
	follow("one without secrets", ended.Revision+1, broker.ErrExists)
}
