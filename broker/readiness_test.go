package broker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// checkedKeys counts how often it is checked, and does what it is told.
type checkedKeys struct {
	secret.KeyStore
	checks atomic.Int64
	check  func(context.Context) error
}

func (k *checkedKeys) Check(ctx context.Context) error {
	k.checks.Add(1)
	return k.check(ctx)
}

// checkedStore is checkedKeys for the store.
type checkedStore struct {
	broker.Store
	checks atomic.Int64
	check  func(context.Context) error
	// refusal is of a write beside the checks.
	refusal error
	said    atomic.Pointer[broker.Replica]
	left    atomic.Pointer[string]
}

func (s *checkedStore) Refusal() error { return s.refusal }

func (s *checkedStore) Check(ctx context.Context, r broker.Replica) error {
	s.checks.Add(1)
	s.said.Store(&r)
	return s.check(ctx)
}

func (s *checkedStore) Replicas(context.Context) ([]broker.Replica, error) {
	now := s.said.Load().StartedAt
	return []broker.Replica{
		{ID: "dead", SeenAt: now.Add(-21 * time.Second)}, {ID: "other", SeenAt: now.Add(-19 * time.Second)}, {ID: "self", SeenAt: now},
	}, nil
}

func (s *checkedStore) RemoveReplica(ctx context.Context, id string) error {
	if ctx.Err() == nil {
		s.left.Store(&id)
	}
	return ctx.Err()
}

// sealed is an error of a key store with a reason for anyone.
type sealed struct{}

func (sealed) Error() string  { return "https://vault.internal: sealed, canary" }
func (sealed) Reason() string { return "Vault is sealed" }

func well(context.Context) error { return nil }

// probed is a bench whose store and key store answer these when they are checked.
func probed(t *testing.T, store, keys func(context.Context) error) (*bench, *checkedStore, *checkedKeys) {
	t.Helper()
	b := newBench(t, benchOptions{})
	s, k := &checkedStore{Store: b.options.Store, check: store}, &checkedKeys{KeyStore: b.keys, check: keys}
	options := b.options
	options.Store, options.Keys, options.Replica = s, []secret.KeyStore{k}, broker.Replica{ID: "self", Version: "v1"}
	b.Broker = mustNew(t, options)
	return b, s, k
}

// A replica says to the others which of its parts and passes fail, and is late when it says nothing; it leaves when it stops.
func TestReplicas(t *testing.T) {
	b, s, k := probed(t, well, func(context.Context) error { return sealed{} })
	fails := errors.New("canary")
	pass := b.Watch(broker.Pass{Name: "reap", Every: time.Minute, Run: func(context.Context) error { return fails }})[0]
	_ = pass.Run(t.Context())
	b.Probe(t.Context())
	b.Probe(t.Context()) // what the first has found is said by the second
	want := "the pass reap fails; issuing: the key store " + k.Name() + " cannot be used: Vault is sealed"
	if r := s.said.Load(); r.ID != "self" || r.Version != "v1" || r.StartedAt.IsZero() || r.Fault != want {
		t.Errorf("the replica says %+v, want the fault %q", *r, want)
	}
	fails = nil
	_ = pass.Run(t.Context())
	b.Probe(t.Context())
	if r := s.said.Load(); strings.Contains(r.Fault, "reap") {
		t.Errorf("a pass that succeeds again fails: %s", r.Fault)
	}
	all, err := b.Replicas(t.Context(), root)
	if err != nil || len(all) != 3 || !all[0].Late || all[1].Late || all[2].Late || all[1].Own || !all[2].Own {
		t.Errorf("the replicas are %+v, %v", all, err)
	}
	if _, err := b.Replicas(t.Context(), alice); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("the replicas for a tenant: %v, want ErrDenied", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	looked := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		b.KeepProbing(ctx, looked)
		close(stopped)
	}()
	<-looked
	stop()
	<-stopped
	if id := s.left.Load(); id == nil || *id != "self" {
		t.Errorf("the replica that leaves is %v", id)
	}
}

// What cannot be used costs what needs it: only without the database, or before anything is known,
// is the broker not ready.
func TestReadyForWhatGoes(t *testing.T) {
	full := func(context.Context) error {
		return &broker.Error{Kind: broker.ErrUnavailable, Detail: "full", Cause: broker.ErrNoSpace}
	}
	gone := func(context.Context) error {
		return &broker.Error{Kind: broker.ErrUnavailable, Cause: errors.New("canary")}
	}
	shut := func(context.Context) error { return sealed{} }
	for name, test := range map[string]struct {
		store, keys func(context.Context) error
		ready       bool
		down        map[broker.Part]string
	}{
		"all is well": {well, well, true, nil},
		"sealed":      {well, shut, true, map[broker.Part]string{broker.PartIssuing: "the key store keydir cannot be used: Vault is sealed"}},
		"full":        {full, well, true, map[broker.Part]string{broker.PartRecording: "the disk of the database is full"}},
		"gone":        {gone, well, false, map[broker.Part]string{broker.PartDatabase: "cannot be used"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, _ := probed(t, test.store, test.keys)
			if parts, err := b.Ready(); !errors.Is(err, broker.ErrUnavailable) || parts != nil || len(b.Vitals(t.Context()).Parts) > 0 {
				t.Errorf("Ready before anything was looked at = %v, %v", parts, err)
			}
			b.Probe(t.Context())
			parts, err := b.Ready()
			if (err == nil) != test.ready || err != nil && (!errors.Is(err, broker.ErrUnavailable) || strings.Contains(err.Error(), "canary")) {
				t.Errorf("Ready = %v, want ready: %t", err, test.ready)
			}
			up := b.Vitals(t.Context()).Parts
			var names []broker.Part
			for _, p := range parts {
				names = append(names, p.Part)
				if p.Fault != test.down[p.Part] || up[p.Part] != (p.Fault == "") {
					t.Errorf("%s: %q, up %t, want %q", p.Part, p.Fault, up[p.Part], test.down[p.Part])
				}
			}
			if !slices.Equal(names, []broker.Part{broker.PartDatabase, broker.PartRecording, broker.PartIssuing}) {
				t.Errorf("the parts are %v", names)
			}
		})
	}
}

// A write that the store refuses shows at once, and costs no look.
func TestARefusedWriteShowsAtOnce(t *testing.T) {
	b, store, _ := probed(t, well, well)
	b.Probe(t.Context())
	for fault, refusal := range map[string]error{
		"the disk of the database is full": &broker.Error{Kind: broker.ErrUnavailable, Cause: errors.Join(broker.ErrNoSpace, broker.ErrNoWrites)},
		"the database takes no writes":     &broker.Error{Kind: broker.ErrUnavailable, Cause: broker.ErrNoWrites},
		"":                                 nil,
	} {
		store.refusal = refusal
		parts, err := b.Ready()
		if err != nil || parts[0].Fault != "" || parts[1].Part != broker.PartRecording || parts[1].Fault != fault {
			t.Errorf("Ready after %v = %v, %v", refusal, parts, err)
		}
		if up := b.Vitals(t.Context()).Parts[broker.PartRecording]; up != (fault == "") {
			t.Errorf("after %v the part is up: %t", refusal, up)
		}
	}
	if store.checks.Load() != 1 {
		t.Errorf("%d looks at the store, want one", store.checks.Load())
	}
}

// Anybody may ask whether the server is ready, and for its metrics: that costs no look.
func TestAskingCostsNoLook(t *testing.T) {
	b, store, keys := probed(t, well, well)
	b.Probe(t.Context())
	for range 100 {
		if _, err := b.Ready(); err != nil {
			t.Fatal(err)
		}
		if !b.Vitals(t.Context()).KeyStores["keydir"] {
			t.Fatal("the key store is down")
		}
	}
	if store.checks.Load() != 1 || keys.checks.Load() != 1 {
		t.Errorf("%d looks at the store and %d at the key store, want one each", store.checks.Load(), keys.checks.Load())
	}
}

// A key store that hangs keeps no look at the database waiting.
func TestLooksAreApart(t *testing.T) {
	asked := make(chan struct{})
	b, store, _ := probed(t, well, func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	})
	looks := make(chan struct{}, 1)
	store.check = func(context.Context) error {
		looks <- struct{}{}
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	looked, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		b.KeepProbing(ctx, looked)
	}()
	<-asked
	<-looks
	select {
	case <-looked:
		t.Error("all was looked at while the key store hangs")
	default:
	}
	if _, err := b.Ready(); err == nil {
		t.Error("ready before the key store was looked at")
	}
	stop()
	<-looked
	<-ended
}
