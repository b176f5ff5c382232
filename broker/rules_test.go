package broker_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func site(text string) map[string][]byte { return map[string][]byte{"site.cedar": []byte(text)} }

// ptr is a value that a change names.
func ptr[T any](v T) *T { return &v }

// Policy decides on the TTL that would be granted: no wish is so long that it passes,
// and none is refused for what it would not get.
func TestRenewAndExplainDecideOnTheTTLThatWouldBeGranted(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	for limit, want := range map[string]bool{"900": false, "43199": false, "43200": true} {
		b := newBench(t, benchOptions{policies: site(`
			@id("short") forbid (principal, action == Action::"lease:renew", resource is Lease)
			when { context.ttlSeconds > ` + limit + ` };`)})
		b.mustRegister(alice, "edge1")
		l, _ := b.mustIssue(alice, "edge1")
		d, err := b.Explain(t.Context(), alice, policy.Request{
			Principal: alice, Action: policy.LeaseRenew, Wish: policy.Wish{TTL: longest},
			Resource: policy.Resource{Kind: policy.KindLease, ID: l.ID, Project: "demo", Owner: "alice", VIMProject: "demo", VIMType: "kubernetes"},
		})
		if err != nil || d.Allowed != want {
			t.Errorf("under a limit of %s s: Explain() of the longest TTL = %+v, %v, want allowed %t", limit, d, err, want)
		}
		if _, _, err = b.RenewLease(t.Context(), alice, l.ID, longest); (err == nil) != want {
			t.Errorf("under a limit of %s s: RenewLease() for the longest TTL = %v, want allowed %t", limit, err, want)
		}
		if !want {
			wantKind(t, "RenewLease()", err, broker.ErrDenied)
		}
	}
}

func TestRenewDecidesOnWhatIsLeftOfTheLongestLife(t *testing.T) {
	b := newBench(t, benchOptions{
		terms: func(terms *broker.Terms) { terms.MaxTTL = time.Hour },
		policies: site(`
			@id("short") forbid (principal, action == Action::"lease:renew", resource is Lease)
			when { context.ttlSeconds > 1800 };`),
	})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	_, _, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
	wantKind(t, "renewing for an hour at once", err, broker.ErrDenied)
	b.clock.Add(35 * time.Minute)
	if _, _, err = b.RenewLease(t.Context(), alice, l.ID, time.Hour); err != nil {
		t.Errorf("renewing for an hour, 25 minutes of which are left = %v", err)
	}
}

// raced is a store that lets another write go first, once.
type raced struct {
	broker.Store
	first func()
	once  sync.Once
}

func (s *raced) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	s.once.Do(s.first)
	return s.Store.UpdateVIM(ctx, id, change, e)
}

func (s *raced) UpdateIdleVIM(ctx context.Context, id string, leased bool, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	s.once.Do(s.first)
	return s.Store.UpdateIdleVIM(ctx, id, leased, change, e)
}

func (s *raced) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	s.once.Do(s.first)
	return s.Store.CreateLease(ctx, l, q, e)
}

// behind is the broker as it is where root's change comes between decision and write.
func (b *bench) behind(vim string, c broker.Change) *broker.Broker {
	o := b.options
	o.Store = &raced{Store: b.store, first: func() {
		if _, err := b.UpdateVIM(b.t.Context(), root, vim, c); err != nil {
			b.t.Fatal(err)
		}
	}}
	return mustNew(b.t, o)
}

// A member who repeats what is so already does not bring it back when an administrator
// has just changed it.
func TestRepeatingSharedDoesNotWinItBack(t *testing.T) {
	b := newBench(t, benchOptions{})
	hub := b.share(alice, "hub")
	late := b.behind(hub.ID, broker.Change{Shared: ptr(false)})
	_, err := late.UpdateVIM(t.Context(), alice, hub.ID, broker.Change{Shared: ptr(true)})
	wantKind(t, "repeating shared", err, broker.ErrDenied)
	wantField(t, "repeating shared", err, "shared")
	if v, err := b.VIM(t.Context(), root, hub.ID); err != nil || v.Shared {
		t.Errorf("the VIM is shared = %t, %v, want what the administrator made it", v.Shared, err)
	}
	if got := b.wantLog(policy.VIMShare); len(got) == 0 || got[len(got)-1] != audit.Denied {
		t.Errorf("the log holds %v of sharing, want the refusal at its end", got)
	}
}

// Whatever is written is decided on what is stored at that moment.
func TestWritesAreDecidedOnWhatIsStoredThen(t *testing.T) {
	locked := site(`
		@id("locked") forbid (principal, action in [Action::"vim:update", Action::"vim:rotate", Action::"vim:delete"], resource is VIM)
		when { resource.hasTag("locked") && principal.name != "root" };`)
	for name, write := range map[string]func(*broker.Broker, *bench, string) error{
		"update": func(late *broker.Broker, b *bench, id string) error {
			_, err := late.UpdateVIM(b.t.Context(), alice, id, broker.Change{Description: ptr("mine")})
			return err
		},
		"update of the credential": func(late *broker.Broker, b *bench, id string) error {
			_, err := late.UpdateVIM(b.t.Context(), alice, id, broker.Change{Credential: b.registration("").Credential})
			return err
		},
		"rotate": func(late *broker.Broker, b *bench, id string) error {
			_, err := late.RotateVIM(b.t.Context(), alice, id, b.registration("").Credential, 0)
			return err
		},
		"rekey": func(late *broker.Broker, b *bench, id string) error {
			_, err := late.RekeyVIM(b.t.Context(), alice, id, "", 0)
			return err
		},
		"delete": func(late *broker.Broker, b *bench, id string) error {
			_, _, err := late.DeleteVIM(b.t.Context(), alice, id, broker.Deletion{})
			return err
		},
		"drain": func(late *broker.Broker, b *bench, id string) error {
			_, _, err := late.DeleteVIM(b.t.Context(), alice, id, broker.Deletion{Drain: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{policies: locked})
			v := b.mustRegister(alice, "edge1")
			late := b.behind(v.ID, broker.Change{Labels: map[string]*string{"locked": ptr("")}})
			wantKind(t, name, write(late, b, v.ID), broker.ErrDenied)
			after, err := b.store.VIM(t.Context(), v.ID)
			if err != nil || after.State != broker.VIMRegistered || after.Description != "" || after.Current.Number != 1 || after.Current.Key != v.Current.Key {
				t.Errorf("the VIM is %+v, %v, want it as it was", after, err)
			}
		})
		t.Run(name+" beside a harmless write", func(t *testing.T) {
			b := newBench(t, benchOptions{policies: locked})
			v := b.mustRegister(alice, "edge1")
			late := b.behind(v.ID, broker.Change{Labels: map[string]*string{"stage": ptr("prod")}})
			if err := write(late, b, v.ID); err != nil {
				t.Errorf("%s = %v", name, err)
			}
		})
	}
}

func TestALeaseIsDecidedOnTheVIMAsItIsThen(t *testing.T) {
	b := newBench(t, benchOptions{})
	hub := b.share(alice, "hub")
	late := b.behind(hub.ID, broker.Change{Shared: ptr(false)})
	_, _, err := late.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: hub.ID})
	wantKind(t, "a lease on a VIM that is not shared any more", err, broker.ErrNotFound)
	if b.upstream() != 0 {
		t.Errorf("the VIM holds %d leases, want none", b.upstream())
	}
	late = b.behind(hub.ID, broker.Change{Description: ptr("other")})
	if _, _, err := late.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: hub.ID}); err != nil {
		t.Errorf("a lease beside a harmless write = %v", err)
	}
}

// A lease is renewed only while its holder could be issued it.
func TestALeaseIsNotRenewedOnceItsHolderHasNoAccess(t *testing.T) {
	b := newBench(t, benchOptions{})
	hub := b.share(alice, "hub")
	l, _ := b.mustIssue(mallet, hub.ID)
	if _, _, err := b.RenewLease(t.Context(), mallet, l.ID, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UpdateVIM(t.Context(), root, hub.ID, broker.Change{Shared: ptr(false)}); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.RenewLease(t.Context(), mallet, l.ID, 0)
	wantKind(t, "renewing after the VIM is not shared any more", err, broker.ErrDenied)
	reader := mallet
	reader.Roles = []string{policy.RoleReader}
	_, _, err = b.RenewLease(t.Context(), reader, l.ID, 0)
	wantKind(t, "renewing without the role", err, broker.ErrDenied)
}

// A label whose value changes is a label that changes.
func TestPoliciesSeeALabelsOtherValue(t *testing.T) {
	b := newBench(t, benchOptions{policies: site(`@id("no") forbid (principal, action == Action::"vim:update", resource) when { context.labelsChanged.contains("stage") };`)})
	r := b.registration("edge1")
	r.Labels = map[string]string{"stage": "test", "site": "a"}
	v, err := b.RegisterVIM(t.Context(), root, r)
	if err != nil {
		t.Fatal(err)
	}
	for what, label := range map[string]*string{"another value": ptr("prod"), "no value any more": nil} {
		_, err = b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Labels: map[string]*string{"stage": label}})
		wantKind(t, what, err, broker.ErrDenied)
	}
	if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Labels: map[string]*string{"stage": ptr("test"), "site": ptr("b")}}); err != nil {
		t.Errorf("another label = %v", err)
	}
}

// Policies see what a VIM would be: endpoint, verification, labels, sharing, key store.
func TestPoliciesForbidWhatAVIMWouldBe(t *testing.T) {
	forbid := func(condition string) map[string][]byte {
		return site(`@id("no") forbid (principal, action in [Action::"vim:register", Action::"vim:update", Action::"vim:rotate", Action::"vim:share"], resource)
			when { ` + condition + ` };`)
	}
	insecure := func(r *broker.Registration) { r.InsecureSkipVerify, r.CACert = true, "" }
	labels := func(l map[string]string) func(*broker.Registration) {
		return func(r *broker.Registration) { r.Labels = l }
	}
	for name, c := range map[string]struct {
		condition string
		edit      func(*broker.Registration)
		change    broker.Change
	}{
		"no verification":      {`context.insecureSkipVerify`, insecure, broker.Change{InsecureSkipVerify: ptr(true)}},
		"a host":               {`context.endpointHost == "10.1.2.3"`, func(r *broker.Registration) { r.Endpoint = "https://10.1.2.3:6443" }, broker.Change{Endpoint: ptr("https://10.1.2.3:6443")}},
		"a label":              {`context.labels.contains("stage=prod")`, labels(map[string]string{"stage": "prod"}), broker.Change{Labels: map[string]*string{"stage": ptr("prod")}}},
		"a label's key":        {`context.labelsChanged.contains("stage")`, labels(map[string]string{"stage": "x"}), broker.Change{Labels: map[string]*string{"stage": ptr("x")}}},
		"sharing":              {`context.shared && !context.sharedBefore`, func(r *broker.Registration) { r.Shared = true }, broker.Change{Shared: ptr(true)}},
		"the project's choice": {`context.isDefault`, func(r *broker.Registration) { r.Default = true }, broker.Change{Default: ptr(true)}},
		"a name":               {`context.name == "gold" && context.type == "kubernetes"`, func(r *broker.Registration) { r.Name = "gold" }, broker.Change{Name: ptr("gold")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{policies: forbid(c.condition)})
			r := b.registration("edge1")
			c.edit(&r)
			_, err := b.RegisterVIM(t.Context(), root, r)
			wantKind(t, "RegisterVIM()", err, broker.ErrDenied)
			v := b.mustRegister(root, "plain")
			if c.change.Endpoint != nil || c.change.InsecureSkipVerify != nil {
				c.change.Credential = b.registration("").Credential
			}
			_, err = b.UpdateVIM(t.Context(), root, v.ID, c.change)
			wantKind(t, "UpdateVIM()", err, broker.ErrDenied)
			if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Description: ptr("x")}); err != nil {
				t.Errorf("another change = %v", err)
			}
		})
	}
}

func TestPoliciesForbidRemovingALabelAndAKeyStore(t *testing.T) {
	b := newBench(t, benchOptions{policies: site(`
		@id("keep") forbid (principal, action == Action::"vim:update", resource)
		when { context.labelsBefore.contains("stage=prod") && !context.labels.contains("stage=prod") };
		@id("store") forbid (principal, action == Action::"vim:rotate", resource)
		when { context.keyStore == "keydir" };`)})
	r := b.registration("edge1")
	r.Labels = map[string]string{"stage": "prod"}
	v, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{"stage": nil}})
	wantKind(t, "removing the label", err, broker.ErrDenied)
	_, err = b.RekeyVIM(t.Context(), alice, v.ID, "", 0)
	wantKind(t, "sealing anew in a key store that policy forbids", err, broker.ErrDenied)
}

func TestReservedLabelsNeedARightOfTheirOwn(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("edge1")
	r.Labels = map[string]string{"vimbroker.io/tier": "gold"}
	_, err := b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "a member registering with a reserved label", err, broker.ErrDenied)
	wantField(t, "a member registering with a reserved label", err, "labels")
	r.Project = alice.Project
	v, err := b.RegisterVIM(t.Context(), root, r)
	if err != nil {
		t.Fatal(err)
	}
	for name, labels := range map[string]map[string]*string{
		"setting":  {"vimbroker.io/more": ptr("x")},
		"changing": {"vimbroker.io/tier": ptr("lead")},
		"removing": {"vimbroker.io/tier": nil},
	} {
		_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: labels})
		wantKind(t, name, err, broker.ErrDenied)
	}
	if _, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{"vimbroker.io/tier": ptr("gold"), "mine": ptr("x")}}); err != nil {
		t.Errorf("repeating a reserved label beside another = %v", err)
	}
	b.options.ReservedLabels = []string{"acme.example/"}
	other := mustNew(t, b.options)
	_, err = other.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{"vimbroker.io/tier": nil}})
	wantKind(t, "removing the broker's own label where a site reserves others", err, broker.ErrDenied)
	_, err = other.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Labels: map[string]*string{"acme.example/a": ptr("x")}})
	wantKind(t, "a label that this site reserves", err, broker.ErrDenied)
}
