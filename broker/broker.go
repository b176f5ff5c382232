package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Options wires a [Broker]. Every field without a stated default is required.
type Options struct {
	Store Store
	// Keys are the key stores. The first takes new keys; the others are read, and
	// emptied by RekeyVIM.
	Keys []secret.KeyStore
	// Drivers are one for each type of VIM that is served.
	Drivers []Driver
	Policy  policy.Decider
	// Egress gives the addresses that may be dialled for a project's VIMs. The
	// same project must get the same pointer until its rules change.
	Egress func(project string) *egress.Rules
	Terms  Terms
	Log    *slog.Logger
	// ReservedLabels are prefixes of label keys that only those may set, change or remove
	// whom policy permits vim:label-reserved, besides the broker's own (vimbroker.io/).
	ReservedLabels []string
	// Directories know callers without their tokens, by authenticator. For other callers the roles
	// that they last showed count.
	Directories map[string]policy.Directory
	// Trusts reports whether what lets a caller in is still there, for callers without a directory; nil: it is.
	Trusts func(name string) bool
	// Holders lists callers' static tokens; nil: there are none.
	Holders TokenHolders
	// PushTargets are where kubeconfigs may be pushed to, by their names.
	PushTargets map[string]PushTarget
	// Anchors keep checkpoints of the audit log; [Broker.Close] closes them.
	Anchors []notary.Anchor
	// Courier brings the audit log to its sinks; nil: there are none.
	Courier *delivery.Courier
	// Replica has the id and the version of this server.
	Replica Replica
	// Now defaults to time.Now.
	Now func() time.Time
}

// ownLabels is the prefix of labels that mean something to the broker: always reserved.
const ownLabels = "vimbroker.io/"

// Terms are the numbers an operator may set. All of them are given: start from
// [DefaultTerms]. [New] refuses one that is zero or less, except in Quota and VIMs, where
// zero means no bound.
type Terms struct {
	// DefaultTTL is granted to a lease that asks for none; MaxTTL caps what is
	// granted, and bounds a lease's life over all its renewals.
	DefaultTTL, MaxTTL time.Duration
	// StandingTTL is the most that a token under a standing lease lives. Such a lease ends when
	// it was not used for StandingIdle, and after StandingMax at the latest.
	StandingTTL, StandingIdle, StandingMax time.Duration
	Quota                                  Quota
	// VIMs bounds VIMs, as Quota does leases.
	VIMs VIMQuota
	// CheckEvery is how often each VIM is checked.
	CheckEvery time.Duration
	// CheckpointEvery is how often the audit log is signed, if it has grown.
	CheckpointEvery time.Duration
	// ReapEvery, SettleEvery and InventoryEvery are how often those passes run.
	ReapEvery, SettleEvery, InventoryEvery time.Duration
	// CallTimeout bounds one call of a driver, which may be a few requests to the VIM.
	CallTimeout time.Duration
	// AbandonedAfter is when unfinished work is assumed to be a crashed process's. It is
	// far longer than any request can take.
	AbandonedAfter time.Duration
	// GiveUpAfter is how many failed revocations make a lease irrevocable. On a VIM
	// that is down, where not every lease is tried, five minutes count as one.
	GiveUpAfter int
	// TidyAfter is how long a grant is without a live lease before what drivers keep for
	// it on the VIM is removed.
	TidyAfter time.Duration
	// EndWithAccess: a lease ends once its holder would not be issued it any more.
	// Otherwise it is not renewed, and ends only if it is a user or the stored credential.
	EndWithAccess bool
	// Keep says how long the past is kept.
	Keep Keep
	// RemoveLeft: what the holder of a lease has left behind is removed when the lease
	// is revoked, where the driver can tell it from what others need. Otherwise it is
	// reported.
	RemoveLeft bool
}

// DefaultTerms are the terms of an operator who sets none.
func DefaultTerms() Terms {
	return Terms{
		Keep:            Keep{Audit: 5 * 365 * 24 * time.Hour, Leases: 365 * 24 * time.Hour, Jobs: 7 * 24 * time.Hour},
		DefaultTTL:      time.Hour,
		MaxTTL:          12 * time.Hour,
		StandingTTL:     15 * time.Minute,
		StandingIdle:    7 * 24 * time.Hour,
		StandingMax:     180 * 24 * time.Hour,
		Quota:           Quota{PerPrincipal: 1000, PerClient: 10000, PerVIM: 10000, PerProject: 10000},
		VIMs:            VIMQuota{PerProject: 5000, Bytes: 256 << 10},
		CheckEvery:      5 * time.Minute,
		CheckpointEvery: time.Minute,
		ReapEvery:       5 * time.Second,
		SettleEvery:     time.Minute,
		InventoryEvery:  10 * time.Minute,
		CallTimeout:     15 * time.Second,
		AbandonedAfter:  5 * time.Minute,
		GiveUpAfter:     30,
		TidyAfter:       10 * time.Minute,
	}
}

// Broker is the registry, the leaser and the oversight on one store. Their methods are safe for
// concurrent use, by any number of processes on one store.
type Broker struct {
	*core
	*Registry
	*Leaser
	*Oversight
}

// New returns a Broker; it starts nothing. Options that are missing or cannot be
// served are an error that names all of them.
func New(o Options) (*Broker, error) {
	now := Clock(o.Now)
	if o.Courier == nil {
		o.Courier = delivery.New(o.Store, nil, now, o.Log)
	}
	c := &core{
		vims:         o.Store,
		leases:       o.Store,
		entries:      o.Store,
		ledger:       o.Store,
		keys:         o.Keys,
		drivers:      map[VIMType]Driver{},
		refusedMints: audit.NewFolds(),
		guard: &audit.Guard{
			Policy: o.Policy, Sink: o.Store, Now: now, Reads: audit.NewReads(), Missed: audit.NewFolds(), Held: o.Courier.Late, Log: o.Log,
		},
		policy:        o.Policy,
		egress:        o.Egress,
		terms:         o.Terms,
		pushTargets:   o.PushTargets,
		directories:   o.Directories,
		trusts:        o.Trusts,
		log:           o.Log,
		now:           now,
		discrepancies: discrepancies{byVIM: map[string]Discrepancy{}},
		counters:      counters{alarms: map[Alarm]int{}, passes: map[string]PassRecord{}},
	}
	c.guard.Tally = &c.counters.tally
	if err := errors.Join(o.check(), c.addDrivers(o.Drivers)); err != nil {
		return nil, fmt.Errorf("making a broker: %w", err)
	}
	for _, keys := range o.Keys {
		c.keyProbes = append(c.keyProbes, &probe{name: keys.Name(), ask: keys.Check, every: lookAtKeysEvery, clock: time.Now})
	}
	leaser := &Leaser{core: c, epochs: o.Store}
	registry := &Registry{core: c, leaser: leaser, signatures: o.Store, reserved: append([]string{ownLabels}, o.ReservedLabels...)}
	leaser.registry = registry
	oversight := &Oversight{
		core: c, signatures: o.Store, past: o.Store, status: o.Store, uses: o.Store,
		notary: notary.New(o.Store, o.Keys, o.Anchors, now), courier: o.Courier, logins: audit.NewLogins(o.Store, now, o.Log),
		holders: o.Holders, tokenUses: tokenUses{noted: map[string]time.Time{}},
		storeProbe: &probe{name: "database", every: lookAtStoreEvery, clock: time.Now},
		self:       o.Replica,
	}
	oversight.self.StartedAt, oversight.storeProbe.ask = now(), oversight.checkStore
	registry.sealers = []Sealer{oversight}
	return &Broker{core: c, Registry: registry, Leaser: leaser, Oversight: oversight}, nil
}

func (o Options) check() error {
	var faults []error
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"Store", o.Store == nil},
		{"Keys", len(o.Keys) == 0},
		{"Policy", o.Policy == nil},
		{"Egress", o.Egress == nil},
		{"Log", o.Log == nil},
	} {
		if part.missing {
			faults = append(faults, fmt.Errorf("option %s is missing", part.name))
		}
	}
	names := map[string]bool{}
	for i, keys := range o.Keys {
		switch {
		case keys == nil:
			faults = append(faults, fmt.Errorf("key store %d is nil", i+1))
		case names[keys.Name()]:
			faults = append(faults, fmt.Errorf("two key stores are named %q", keys.Name()))
		default:
			names[keys.Name()] = true
		}
	}
	return errors.Join(append(faults, o.Terms.check())...)
}

// check returns which terms no broker can keep.
func (t Terms) check() error {
	var faults []error
	for _, term := range []struct {
		name  string
		wrong bool
	}{
		{"DefaultTTL", t.DefaultTTL <= 0},
		{"MaxTTL", t.MaxTTL <= 0},
		{"StandingTTL", t.StandingTTL <= 0},
		{"StandingIdle", t.StandingIdle <= 0},
		{"StandingMax", t.StandingMax <= 0},
		{"CheckEvery", t.CheckEvery <= 0},
		{"CheckpointEvery", t.CheckpointEvery <= 0},
		{"ReapEvery", t.ReapEvery <= 0},
		{"SettleEvery", t.SettleEvery <= 0},
		{"InventoryEvery", t.InventoryEvery <= 0},
		{"CallTimeout", t.CallTimeout <= 0},
		{"AbandonedAfter", t.AbandonedAfter <= 0},
		{"GiveUpAfter", t.GiveUpAfter <= 0},
		{"TidyAfter", t.TidyAfter <= 0},
	} {
		if term.wrong {
			faults = append(faults, fmt.Errorf("term %s must be more than zero", term.name))
		}
	}
	return errors.Join(faults...)
}
