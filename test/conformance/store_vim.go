package conformance

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

func vimRows(t *testing.T, s storeTest) {
	v := fullVIM("north", "core")
	mustBeFull(t, v, "Past", "Damaged")
	mustBeFull(t, v.Current)
	mustBeFull(t, v.Current.Target)
	mustBeFull(t, v.Health)
	given := v
	given.Revision = 77 // the store says what it is
	s.mustCreateVIM(t, given)
	wantSame(t, "VIM as created", s.mustVIM(t, v.ID), v)
	byKey, err := s.VIMByKey(s.ctx, "alice", v.IdempotencyKey)
	if err != nil {
		t.Fatalf("VIMByKey = %v", err)
	}
	wantSame(t, "VIMByKey", byKey, v)

	t.Run("missing", func(t *testing.T) {
		_, err := s.VIM(s.ctx, "none")
		wantError(t, "VIM", err, broker.ErrNotFound, "")
		for _, k := range [][2]string{{"bob", v.IdempotencyKey}, {"alice", ""}, {"alice", "other"}} {
			_, err = s.VIMByKey(s.ctx, k[0], k[1])
			wantError(t, "VIMByKey", err, broker.ErrNotFound, "")
		}
		_, err = s.UpdateVIM(s.ctx, "none", func(*broker.VIM) error { t.Error("change was called"); return nil }, entry("none"))
		wantError(t, "UpdateVIM", err, broker.ErrNotFound, "")
		wantError(t, "SetHealth", s.SetHealth(s.ctx, "none", 1, v.Health), broker.ErrNotFound, "")
		before := len(s.entries(t))
		if err := s.DeleteVIM(s.ctx, "none", false, entry("none")); err != nil {
			t.Errorf("DeleteVIM of one that is gone = %v, want success", err)
		}
		if after := len(s.entries(t)); after != before {
			t.Errorf("DeleteVIM of one that is gone wrote %d entries", after-before)
		}
	})

	t.Run("taken", func(t *testing.T) {
		before := len(s.entries(t))
		for field, alter := range map[string]func(*broker.VIM){
			"name":            func(n *broker.VIM) { n.Name = v.Name },
			"default":         func(n *broker.VIM) { n.Default = true },
			"Idempotency-Key": func(n *broker.VIM) { n.IdempotencyKey = v.IdempotencyKey },
		} {
			n := plainVIM("north", "new")
			alter(&n)
			wantError(t, "CreateVIM with the same "+field, s.CreateVIM(s.ctx, n, 0, entry(field)), broker.ErrExists, field)
			if _, err := s.VIM(s.ctx, n.ID); !errors.Is(err, broker.ErrNotFound) {
				t.Errorf("refused VIM is there: %v", err)
			}
		}
		again := v
		again.ID = "another"
		wantError(t, "CreateVIM repeated", s.CreateVIM(s.ctx, again, 0, entry("again")), broker.ErrExists, "Idempotency-Key")
		if after := len(s.entries(t)); after != before {
			t.Errorf("refused writes left %d audit entries", after-before)
		}
		other := fullVIM("south", "core") // another project: name and default are free
		other.CreatedBy, other.IdempotencyKey = "bob", v.IdempotencyKey
		s.mustCreateVIM(t, other)
		n := s.mustCreateVIM(t, plainVIM("north", "second"))
		for field, alter := range map[string]func(*broker.VIM) error{
			"name":    func(n *broker.VIM) error { n.Name = v.Name; return nil },
			"default": func(n *broker.VIM) error { n.Default = true; return nil },
		} {
			_, err := s.UpdateVIM(s.ctx, n.ID, alter, entry(field))
			wantError(t, "UpdateVIM to the same "+field, err, broker.ErrExists, field)
		}
		wantSame(t, "VIM after refused updates", s.mustVIM(t, n.ID), n)
	})

	t.Run("update", func(t *testing.T) {
		want := v
		want.Name, want.Labels, want.Shared, want.Default = "renamed", map[string]string{"tier": "1"}, false, false
		want.Description, want.Extra = "moved", `{"other":true}`
		want.UpdatedAt, want.Pending, want.Revision = epoch.Add(time.Hour), nil, 2
		want.Health = broker.Health{Status: broker.HealthUnchecked}
		got, err := s.UpdateVIM(s.ctx, v.ID, func(now *broker.VIM) error {
			wantSame(t, "VIM given to change", *now, v)
			*now = want
			now.UpdatedAt = want.UpdatedAt.Add(300 * time.Nanosecond).In(time.FixedZone("", 3600))
			now.ID, now.Project, now.CreatedBy, now.CreatedAt, now.Revision = "x", "x", "x", epoch.Add(9), 9
			now.Past = []broker.Generation{fullGeneration("x", 9)}
			return nil
		}, entry("update"))
		if err != nil {
			t.Fatalf("UpdateVIM = %v", err)
		}
		wantSame(t, "UpdateVIM's answer", got, want)
		wantSame(t, "VIM after UpdateVIM", s.mustVIM(t, v.ID), want)
		if last := s.entries(t); last[len(last)-1].Resource != "update" {
			t.Errorf("last audit entry is about %q, want the update", last[len(last)-1].Resource)
		}
	})

	t.Run("lists of a VIM", func(t *testing.T) {
		for what, lists := range map[string]struct {
			labels map[string]string
			shared []string
		}{
			"others of the same number": {map[string]string{"tier": "2"}, []string{"guest"}},
			"others again":              {map[string]string{"tear": "2"}, []string{"west"}},
			"more":                      {map[string]string{"tier": "2", "site": "a", "empty": ""}, []string{"east", "north-2", "west"}},
			"fewer":                     {map[string]string{"site": "b"}, []string{"east"}},
		} {
			for step, to := range []struct {
				labels map[string]string
				shared []string
			}{{map[string]string{"tier": "1"}, []string{"east"}}, lists, {lists.labels, nil}, {nil, lists.shared}} {
				if _, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.Labels, v.SharedWith = to.labels, to.shared; return nil }, entry("lists")); err != nil {
					t.Fatalf("UpdateVIM to %s, step %d = %v", what, step, err)
				}
				if got := s.mustVIM(t, v.ID); !maps.Equal(got.Labels, to.labels) || !slices.Equal(got.SharedWith, to.shared) {
					t.Errorf("after the change to %s, step %d, the VIM has %v, and is shared with %q", what, step, got.Labels, got.SharedWith)
				}
			}
		}
		if _, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
			v.Labels, v.SharedWith = map[string]string{"tier": "1"}, []string{"east", "west"}
			return nil
		}, entry("lists")); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("change errs", func(t *testing.T) {
		before, entries := s.mustVIM(t, v.ID), len(s.entries(t))
		refusal := errors.New("no")
		got, err := s.UpdateVIM(s.ctx, v.ID, func(now *broker.VIM) error {
			now.Name, now.Current.Number = "wrong", 9
			now.Labels["tier"] = "2"
			return refusal
		}, entry("refused"))
		if err != refusal { //nolint:errorlint // the contract: as it is
			t.Errorf("UpdateVIM = %v, want the change's own error", err)
		}
		wantSame(t, "answer of a refused UpdateVIM", got, broker.VIM{})
		wantSame(t, "VIM after a refused UpdateVIM", s.mustVIM(t, v.ID), before)
		if after := len(s.entries(t)); after != entries {
			t.Errorf("refused UpdateVIM left %d audit entries", after-entries)
		}
	})

	t.Run("copies", func(t *testing.T) {
		want := s.mustVIM(t, v.ID)
		got := s.mustVIM(t, v.ID)
		got.Labels["tier"] = "changed outside"
		labels := map[string]string{"a": "1"}
		n := plainVIM("copies", "n")
		n.Labels = labels
		s.mustCreateVIM(t, n)
		labels["a"] = "changed outside"
		wantSame(t, "VIM", s.mustVIM(t, v.ID), want)
		if got := s.mustVIM(t, n.ID).Labels["a"]; got != "1" {
			t.Errorf("label = %q, want the one given to CreateVIM", got)
		}
	})

	t.Run("health", func(t *testing.T) {
		before, entries := s.mustVIM(t, v.ID), len(s.entries(t))
		before.Health = fullVIM("", "").Health
		if err := s.SetHealth(s.ctx, v.ID, 1, before.Health); err != nil {
			t.Fatalf("SetHealth = %v", err)
		}
		wantSame(t, "VIM after SetHealth", s.mustVIM(t, v.ID), before)
		wantError(t, "SetHealth of a generation that is not current",
			s.SetHealth(s.ctx, v.ID, 2, broker.Health{Status: broker.HealthUnreachable}), broker.ErrNotFound, "")
		wantSame(t, "VIM after SetHealth of another generation", s.mustVIM(t, v.ID), before)
		if after := len(s.entries(t)); after != entries {
			t.Errorf("SetHealth left %d audit entries", after-entries)
		}
	})
}

func vimLists(t *testing.T, s storeTest) {
	add := func(project, name string, alter func(*broker.VIM)) {
		v := plainVIM(project, name)
		v.ID = "id-" + project + "-" + name
		v.Health.Next = epoch.Add(time.Hour)
		if alter != nil {
			alter(&v)
		}
		s.mustCreateVIM(t, v)
	}
	add("north", "a", func(v *broker.VIM) { v.Labels = map[string]string{"site": "1", "tier": "x"}; v.Default = true })
	add("north", "b", func(v *broker.VIM) {
		v.Labels = map[string]string{"site": "1"}
		v.Type = "openstack"
		v.Current.Identity = "twin"
		v.Current.CredentialExpiresAt = epoch
	})
	add("north", "c", func(v *broker.VIM) { v.State, v.Current = broker.VIMRegistering, broker.Generation{} })
	add("south", "a", func(v *broker.VIM) {
		v.Shared = true
		v.Labels = map[string]string{"site": "1", "tier": "y"}
		v.Current.CredentialExpiresAt = epoch.Add(time.Minute)
	})
	add("south", "b", func(v *broker.VIM) { v.Health.Next = epoch; v.Current.Identity = "twin" })
	add("south", "c", func(v *broker.VIM) {
		v.Health.Status = broker.HealthUnauthorized
		v.Default = true
		v.Health.Next = time.Time{}
	})
	add("south", "d", func(v *broker.VIM) { v.Pending = &broker.Pending{Generation: 2, Since: epoch.Add(time.Minute)} })
	// Shared by name: one that is shared with every project, too, is listed once.
	add("west", "a", func(v *broker.VIM) {
		v.SharedWith = []string{"guest", "other"}
		v.Labels = map[string]string{"tier": "y"}
	})
	add("west", "b", func(v *broker.VIM) { v.SharedWith = []string{"guest"}; v.Health.Status = broker.HealthUnauthorized })
	add("west", "c", func(v *broker.VIM) { v.SharedWith = []string{"other"} })
	add("west", "d", func(v *broker.VIM) { v.SharedWith = []string{"guest"}; v.Shared = true })

	for name, c := range map[string]struct {
		f    broker.VIMFilter
		want []string
	}{
		"all, by project and name": {broker.VIMFilter{}, []string{"id-north-a", "id-north-b", "id-north-c", "id-south-a", "id-south-b", "id-south-c", "id-south-d", "id-west-a", "id-west-b", "id-west-c", "id-west-d"}},
		"own and shared":           {broker.VIMFilter{Project: "north"}, []string{"id-north-a", "id-north-b", "id-north-c", "id-south-a", "id-west-d"}},
		"own shared once":          {broker.VIMFilter{Project: "south"}, []string{"id-south-a", "id-south-b", "id-south-c", "id-south-d", "id-west-d"}},
		"unknown project":          {broker.VIMFilter{Project: "east"}, []string{"id-south-a", "id-west-d"}},
		"shared by name":           {broker.VIMFilter{Project: "guest"}, []string{"id-south-a", "id-west-a", "id-west-b", "id-west-d"}},
		"shared by name, a label":  {broker.VIMFilter{Project: "guest", Labels: map[string]string{"tier": "y"}}, []string{"id-south-a", "id-west-a"}},
		"shared by name, a status": {broker.VIMFilter{Project: "guest", Status: broker.HealthUnauthorized}, []string{"id-west-b"}},
		"shared by name, a name":   {broker.VIMFilter{Project: "guest", Name: "a"}, []string{"id-south-a", "id-west-a"}},
		"shared by name, an id":    {broker.VIMFilter{Project: "guest", ID: "id-west-b"}, []string{"id-west-b"}},
		"id":                       {broker.VIMFilter{ID: "id-south-b"}, []string{"id-south-b"}},
		"id prefix":                {broker.VIMFilter{IDPrefix: "id-north"}, []string{"id-north-a", "id-north-b", "id-north-c"}},
		"id prefix of a project":   {broker.VIMFilter{Project: "north", IDPrefix: "id-south"}, []string{"id-south-a"}},
		"ends soon":                {broker.VIMFilter{EndsBefore: epoch.Add(time.Minute)}, []string{"id-north-b"}},
		"ends soon, of a project":  {broker.VIMFilter{EndsBefore: epoch.Add(time.Hour), Project: "north"}, []string{"id-north-b", "id-south-a"}},
		"identity":                 {broker.VIMFilter{Identity: "twin"}, []string{"id-north-b", "id-south-b"}},
		"identity of a project":    {broker.VIMFilter{Project: "north", Identity: "twin"}, []string{"id-north-b"}},
		"foreign id":               {broker.VIMFilter{Project: "north", ID: "id-south-b"}, nil},
		"name":                     {broker.VIMFilter{Name: "a"}, []string{"id-north-a", "id-south-a", "id-west-a"}},
		"name seen by a project":   {broker.VIMFilter{Project: "east", Name: "a"}, []string{"id-south-a"}},
		"foreign name":             {broker.VIMFilter{Project: "north", Name: "b2"}, nil},
		"type":                     {broker.VIMFilter{Type: "openstack"}, []string{"id-north-b"}},
		"type in a project":        {broker.VIMFilter{Project: "north", Type: "openstack"}, []string{"id-north-b"}},
		"state in a project":       {broker.VIMFilter{Project: "north", State: broker.VIMRegistering}, []string{"id-north-c"}},
		"status in a project":      {broker.VIMFilter{Project: "south", Status: broker.HealthUnauthorized}, []string{"id-south-c"}},
		"state":                    {broker.VIMFilter{State: broker.VIMRegistering}, []string{"id-north-c"}},
		"status":                   {broker.VIMFilter{Status: broker.HealthUnauthorized}, []string{"id-south-c", "id-west-b"}},
		"default":                  {broker.VIMFilter{Default: true}, []string{"id-north-a", "id-south-c"}},
		"default of a project":     {broker.VIMFilter{Default: true, Project: "south"}, []string{"id-south-c"}},
		"label":                    {broker.VIMFilter{Labels: map[string]string{"site": "1"}}, []string{"id-north-a", "id-north-b", "id-south-a"}},
		"all labels":               {broker.VIMFilter{Labels: map[string]string{"site": "1", "tier": "x"}}, []string{"id-north-a"}},
		"label of a project":       {broker.VIMFilter{Project: "north", Labels: map[string]string{"tier": "y"}}, []string{"id-south-a"}},
		"label with another value": {broker.VIMFilter{Labels: map[string]string{"tier": "z"}}, nil},
		"check due":                {broker.VIMFilter{CheckDue: epoch}, []string{"id-south-b", "id-south-c"}},
		"pending for long":         {broker.VIMFilter{PendingBefore: epoch.Add(2 * time.Minute)}, []string{"id-north-c", "id-south-d"}},
		"registering for long":     {broker.VIMFilter{PendingBefore: epoch.Add(time.Second)}, []string{"id-north-c"}},
		"none pending so long":     {broker.VIMFilter{PendingBefore: epoch}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			// Page by page as well: the parts must be what the whole is.
			for _, size := range []int{0, 1, 2} {
				var got []string
				c.f.Page = broker.Page{Size: size}
				for {
					page, next, err := s.VIMs(s.ctx, c.f)
					if err != nil {
						t.Fatalf("VIMs = %v", err)
					}
					for _, v := range page {
						wantSame(t, "VIM in the list", v, s.mustVIM(t, v.ID))
						got = append(got, v.ID)
					}
					if c.f.Token = next; next == "" {
						break
					}
				}
				wantSame(t, "ids with page size "+strconv.Itoa(size), got, c.want)
			}
		})
	}

	t.Run("shares follow a new name, and end", func(t *testing.T) {
		seen := func() (names []string) {
			found, _, err := s.VIMs(s.ctx, broker.VIMFilter{Project: "guest", Name: "renamed"})
			if err != nil {
				t.Fatalf("VIMs = %v", err)
			}
			for _, v := range found {
				names = append(names, v.ID)
			}
			return names
		}
		change := func(do func(*broker.VIM)) {
			if _, err := s.UpdateVIM(s.ctx, "id-west-a", func(v *broker.VIM) error { do(v); return nil }, entry("share")); err != nil {
				t.Fatalf("UpdateVIM = %v", err)
			}
		}
		change(func(v *broker.VIM) { v.Name = "renamed" })
		wantSame(t, "VIMs of the new name", seen(), []string{"id-west-a"})
		wantSame(t, "shares under the new name", s.mustVIM(t, "id-west-a").SharedWith, []string{"guest", "other"})
		change(func(v *broker.VIM) { v.SharedWith = []string{"other"} })
		wantSame(t, "VIMs after the share ended", seen(), []string(nil))
		change(func(v *broker.VIM) { v.Name, v.SharedWith = "a", []string{"guest"} })
		wantSame(t, "shares with another name at once", s.mustVIM(t, "id-west-a").SharedWith, []string{"guest"})
		if err := s.DeleteVIM(s.ctx, "id-west-a", false, entry("gone")); err != nil {
			t.Fatalf("DeleteVIM = %v", err)
		}
		s.mustCreateVIM(t, plainVIM("west", "renamed"))
		wantSame(t, "VIMs of a name that was shared before", seen(), []string(nil))
	})

	census, err := s.Census(s.ctx)
	if err != nil {
		t.Fatalf("Census = %v", err)
	}
	wantSame(t, "VIMs by state", census.VIMs, map[broker.VIMState]int{broker.VIMRegistered: 10, broker.VIMRegistering: 1})
	wantSame(t, "VIMs by health", census.Health, map[broker.TypeHealth]int{
		{Type: "kubernetes", Status: broker.HealthReachable}: 8, {Type: "openstack", Status: broker.HealthReachable}: 1,
		{Type: "kubernetes", Status: broker.HealthUnauthorized}: 2,
	})
}

// credentialsExpiring counts the current generation of each VIM, and no other.
func credentialsExpiring(t *testing.T, s storeTest) {
	want := func(when string, before time.Time, n int) {
		t.Helper()
		if got, err := s.CredentialsExpiring(s.ctx, before, time.Time{}, before); err != nil || !slices.Equal(got, []int{n, 0, n}) {
			t.Errorf("%s CredentialsExpiring = %d, %v; want %d, twice", when, got, err, n)
		}
	}
	ends := func(id string, number int64, at time.Time) {
		t.Helper()
		_, err := s.UpdateVIM(s.ctx, id, func(v *broker.VIM) error {
			v.Current = fullGeneration(id, number)
			v.Current.CredentialExpiresAt = at
			return nil
		}, entry("renew"))
		if err != nil {
			t.Fatalf("UpdateVIM = %v", err)
		}
	}
	a, b, endless := s.mustCreateVIM(t, plainVIM("north", "a")), s.mustCreateVIM(t, plainVIM("north", "b")), s.mustCreateVIM(t, plainVIM("north", "c"))
	ends(a.ID, 2, epoch.Add(time.Hour))
	ends(b.ID, 2, epoch.Add(2*time.Hour))
	ends(endless.ID, 2, time.Time{})
	want("before any ends", epoch, 0)
	want("at the end of one", epoch.Add(time.Hour), 0)
	want("after one has ended", epoch.Add(time.Hour+1), 0) // times are kept in microseconds
	want("after one has ended", epoch.Add(time.Hour+time.Microsecond), 1)
	want("after both have", epoch.Add(3*time.Hour), 2)
	s.mustCreateLease(t, plainLease(s.mustVIM(t, a.ID))) // keeps the generation
	ends(a.ID, 3, epoch.Add(100*time.Hour))
	want("after one was replaced", epoch.Add(3*time.Hour), 1)
	_, err := s.UpdateVIM(s.ctx, b.ID, func(v *broker.VIM) error {
		v.Current = fullGeneration(b.ID, 3)
		v.Current.CredentialExpiresAt = epoch.Add(2 * time.Hour)
		v.Current.Discovered = broker.Discovered{Cluster: &broker.Cluster{Mode: broker.ModeManaged, Profile: "engine", RenewAt: epoch.Add(time.Hour)}}
		return nil
	}, entry("account"))
	if err != nil {
		t.Fatalf("UpdateVIM = %v", err)
	}
	want("where the broker renews the other", epoch.Add(3*time.Hour), 0)
}

func generations(t *testing.T, s storeTest) {
	replace := func(t *testing.T, id string, number int64) broker.VIM {
		t.Helper()
		v, err := s.UpdateVIM(s.ctx, id, func(v *broker.VIM) error {
			v.Current = fullGeneration(id, number)
			return nil
		}, entry("replace"))
		if err != nil {
			t.Fatalf("UpdateVIM to generation %d = %v", number, err)
		}
		return v
	}
	numbers := func(v broker.VIM) []int64 {
		var all []int64
		for _, g := range append(slices.Clone(v.Past), v.Current) {
			wantSame(t, "generation", g, fullGeneration(v.ID, g.Number))
			all = append(all, g.Number)
		}
		return all
	}
	key := func(id string, number int64) broker.RetiredKey {
		g := fullGeneration(id, number)
		k := broker.RetiredKey{KeyStore: g.KeyStore, Ref: g.Key}
		k.Owner.ID, k.Owner.Generation = id, number
		return k
	}
	retired := func(t *testing.T) []broker.RetiredKey {
		t.Helper()
		keys, err := s.RetiredKeys(s.ctx, 100)
		if err != nil {
			t.Fatalf("RetiredKeys = %v", err)
		}
		return keys
	}
	inUse := func(t *testing.T, vim string) map[broker.RetiredKey]bool {
		t.Helper()
		keys, err := s.KeysInUse(s.ctx, vim)
		if err != nil {
			t.Fatalf("KeysInUse = %v", err)
		}
		set := map[broker.RetiredKey]bool{}
		for _, k := range keys {
			set[k] = true
		}
		return set
	}

	// Generation 1 is needed by two leases, 2 by none, 3 by a revoked one that is
	// still sealed, 4 is current.
	first := plainVIM("north", "a")
	first.State, first.Current = broker.VIMRegistering, broker.Generation{}
	v := s.mustCreateVIM(t, first)
	wantSame(t, "VIM without a generation", s.mustVIM(t, v.ID).Current, broker.Generation{})
	wantSame(t, "keys in use", inUse(t, v.ID), map[broker.RetiredKey]bool{})
	_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
		v.State, v.Current = broker.VIMRegistered, fullGeneration(v.ID, 1)
		return nil
	}, entry("registered"))
	if err != nil {
		t.Fatalf("UpdateVIM from no generation = %v", err)
	}
	wantSame(t, "retired keys after the first generation", retired(t), []broker.RetiredKey(nil))

	a := s.mustCreateLease(t, plainLease(s.mustVIM(t, v.ID)))
	b := s.mustCreateLease(t, plainLease(s.mustVIM(t, v.ID)))
	s.mustMove(t, b.ID, broker.LeaseRevoking, broker.LeaseIrrevocable)
	wantSame(t, "generations with live leases on 1", numbers(replace(t, v.ID, 2)), []int64{1, 2})
	wantSame(t, "generations with none on 2", numbers(replace(t, v.ID, 3)), []int64{1, 3})
	wantSame(t, "retired keys", retired(t), []broker.RetiredKey{key(v.ID, 2)})
	wantSame(t, "keys in use", inUse(t, v.ID), map[broker.RetiredKey]bool{key(v.ID, 1): true, key(v.ID, 2): true, key(v.ID, 3): true})

	c := plainLease(s.mustVIM(t, v.ID))
	c.Sealed = "sealed"
	s.mustCreateLease(t, c)
	s.mustMove(t, c.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	wantSame(t, "generations with a sealed lease on 3", numbers(replace(t, v.ID, 4)), []int64{1, 3, 4})
	listed, _, err := s.VIMs(s.ctx, broker.VIMFilter{})
	if err != nil || len(listed) != 1 {
		t.Fatalf("VIMs = %d, %v; want 1", len(listed), err)
	}
	wantSame(t, "generations in the list", numbers(listed[0]), []int64{1, 3, 4})
	replace(t, v.ID, 4) // the same again is no change

	unseal := func(l *broker.Lease) error { l.Sealed = ""; return nil }
	if _, err := s.UpdateLease(s.ctx, c.ID, unseal, entry("confirmed dead")); err != nil {
		t.Fatalf("UpdateLease(unseal) = %v", err)
	}
	wantSame(t, "generations once 3 is not needed", numbers(s.mustVIM(t, v.ID)), []int64{1, 4})
	s.mustMove(t, a.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	wantSame(t, "generations while an irrevocable lease needs 1", numbers(s.mustVIM(t, v.ID)), []int64{1, 4})
	s.mustMove(t, b.ID, broker.LeaseRevoking, broker.LeaseRevoked)
	wantSame(t, "generations at the end", numbers(s.mustVIM(t, v.ID)), []int64{4})
	wantSame(t, "retired keys, oldest first", retired(t), []broker.RetiredKey{key(v.ID, 2), key(v.ID, 3), key(v.ID, 1)})
	if keys, err := s.RetiredKeys(s.ctx, 1); err != nil || len(keys) != 1 || keys[0] != key(v.ID, 2) {
		t.Errorf("RetiredKeys(1) = %v, %v; want the oldest", keys, err)
	}

	for _, k := range []broker.RetiredKey{key(v.ID, 2), key(v.ID, 2), key(v.ID, 4)} { // twice, and one that is not retired
		if err := s.ForgetKey(s.ctx, k); err != nil {
			t.Errorf("ForgetKey = %v", err)
		}
	}
	wantSame(t, "retired keys after ForgetKey", retired(t), []broker.RetiredKey{key(v.ID, 3), key(v.ID, 1)})
	wantSame(t, "keys in use after ForgetKey", inUse(t, v.ID), map[broker.RetiredKey]bool{key(v.ID, 1): true, key(v.ID, 3): true, key(v.ID, 4): true})

	for what, number := range map[string]int64{"an older number": 2, "no generation": 0} {
		_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.Current.Number = number; return nil }, entry(what))
		wantError(t, "UpdateVIM to "+what, err, broker.ErrConflict, "")
	}
	_, err = s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error { v.Current.Sealed = "other"; return nil }, entry("rewrite"))
	wantError(t, "UpdateVIM that rewrites a generation", err, broker.ErrConflict, "")
	wantSame(t, "generations after refusals", numbers(s.mustVIM(t, v.ID)), []int64{4})

	t.Run("delete", func(t *testing.T) {
		other := s.mustCreateVIM(t, plainVIM("north", "other"))
		live := s.mustCreateLease(t, plainLease(s.mustVIM(t, v.ID)))
		stuck := plainLease(s.mustVIM(t, v.ID))
		stuck.Sealed = "sealed"
		s.mustCreateLease(t, stuck)
		s.mustMove(t, stuck.ID, broker.LeaseRevoking, broker.LeaseIrrevocable)
		replace(t, v.ID, 5)
		_, err := s.UpdateIdleVIM(s.ctx, v.ID, false, func(v *broker.VIM) error { v.Name = "b"; return nil }, entry("idle"))
		wantError(t, "UpdateIdleVIM with a live lease", err, broker.ErrConflict, "")
		if v, err := s.UpdateIdleVIM(s.ctx, v.ID, true, func(*broker.VIM) error { return nil }, entry("idle")); err != nil || v.State != broker.VIMRegistered {
			t.Errorf("UpdateIdleVIM that lets a lease be live = %v", err)
		}
		_, err = s.UpdateIdleVIM(s.ctx, v.ID, false, func(*broker.VIM) error { return broker.ErrPrecondition }, entry("idle"))
		wantError(t, "UpdateIdleVIM whose change errs", err, broker.ErrPrecondition, "")
		if idle, err := s.UpdateIdleVIM(s.ctx, other.ID, false, func(v *broker.VIM) error { v.Name = "idle"; return nil }, entry("idle")); err != nil || idle.Name != "idle" {
			t.Errorf("UpdateIdleVIM without leases = %q, %v", idle.Name, err)
		}
		for _, force := range []bool{false, true} {
			wantError(t, "DeleteVIM with a live lease", s.DeleteVIM(s.ctx, v.ID, force, entry("delete")), broker.ErrConflict, "")
		}
		s.mustMove(t, live.ID, broker.LeaseRevoking, broker.LeaseRevoked)
		wantError(t, "DeleteVIM with an irrevocable lease", s.DeleteVIM(s.ctx, v.ID, false, entry("delete")), broker.ErrConflict, "")
		entries := len(s.entries(t))
		for range 2 {
			if err := s.DeleteVIM(s.ctx, v.ID, true, entry("delete")); err != nil {
				t.Fatalf("DeleteVIM with force = %v", err)
			}
		}
		if err := s.DeleteVIM(s.ctx, v.ID, false, entry("delete")); err != nil {
			t.Errorf("DeleteVIM of one that is gone = %v, want success whatever its leases are", err)
		}
		if n := len(s.entries(t)) - entries; n != 1 {
			t.Errorf("deleting left %d audit entries, want 1", n)
		}
		_, err = s.VIM(s.ctx, v.ID)
		wantError(t, "VIM after DeleteVIM", err, broker.ErrNotFound, "")
		l, err := s.Lease(s.ctx, stuck.ID)
		if err != nil || l.State != broker.LeaseIrrevocable || l.Sealed != "" || l.VIM != v.ID || l.VIMProject != "north" {
			t.Errorf("lease of a deleted VIM = %+v, %v; want it as it was, without the sealed credential", l, err)
		}
		s.mustMove(t, stuck.ID, broker.LeaseRevoking, broker.LeaseRevoked) // its rows live on
		var got []int64
		for _, k := range retired(t) {
			got = append(got, k.Owner.Generation)
		}
		wantSame(t, "generations on the ledger", got, []int64{3, 1, 4, 5})
		all := inUse(t, "")
		want := inUse(t, v.ID)
		maps.Copy(want, map[broker.RetiredKey]bool{key(other.ID, 1): true})
		wantSame(t, "KeysInUse of all", all, want)
		s.mustCreateVIM(t, plainVIM("north", "a")) // the name is free again
	})
}
