package broker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Vitals are what an operator watches of a broker: the counts of the store, which all
// replicas share, and those of this process since it started.
type Vitals struct {
	// Counted says what the store contains; nil if it could not be asked.
	Counted *Counted
	// KeyStores says of each key store, by name, whether it could be used when it was last
	// looked at, seconds ago. One that was not looked at yet is missing.
	KeyStores map[string]bool
	// Parts says of each part of the broker whether it can be used, as [Broker.Ready] does; empty
	// before all were looked at.
	Parts map[Part]bool
	Types []VIMType

	// Discrepancies are the sums over all VIMs, as their last inventory found them.
	Discrepancies Discrepancy
	Alarms        map[Alarm]int
	// Results count how acts ended, whoever asked for them.
	Results map[audit.Result]int
	// Passes has an entry for each pass of [Broker.Watch].
	Passes map[string]PassRecord
	// ExpiryLag is how long after its end an expired lease was revoked.
	ExpiryLag Lag
	// DeathLag is how long after its revocation a credential was seen to be refused.
	DeathLag Lag
}

// Counted is what the store contains, and how busy it is.
type Counted struct {
	Census
	Load
	// AuditBehind is how long the oldest audit entry has waited for its place in the log.
	AuditBehind time.Duration
	// AuditUnsigned is how long the oldest entry has waited that no signed checkpoint covers.
	AuditUnsigned time.Duration
	// AuditUnanchored is how long the oldest entry has waited that no checkpoint covers which every anchor
	// has; zero without anchors.
	AuditUnanchored time.Duration
	// Sinks are those of the audit log.
	Sinks []delivery.Status
	// Expiring counts the VIMs whose credential has an end that is nearer than the key.
	Expiring map[time.Duration]int
}

// Load is how busy the store is.
type Load struct {
	// JobsDue counts jobs that wait for a worker or are under way.
	JobsDue int
	// JobsFailing counts jobs whose last attempt failed.
	JobsFailing int
	// JobsLate is how long the job has waited that should have begun first.
	JobsLate time.Duration
	// LeasesLate is for how long the lease is over that is over for longest and not revoked.
	LeasesLate time.Duration
	// LeasesFailing counts leases that are being revoked, and the last try failed.
	LeasesFailing int
	// LeasesEnding counts leases for months that end within [EndsSoon], and whose place no other takes: those that do not
	// stand with a VNF instance.
	LeasesEnding int
	// Connections to the database: in use, and at most. Both are 0 where there is no pool.
	ConnectionsInUse, ConnectionsMax int
}

// PassRecord is how a pass fared in this process.
type PassRecord struct {
	// Every is how often it is to run.
	Every time.Duration
	// LastSuccess is when it was first watched, until it has succeeded; FailedAt is when it
	// failed last, and zero once it has succeeded.
	LastSuccess, FailedAt time.Time
	Failures              int
}

// expiryHorizons are the times that [Counted.Expiring] counts by; 0 is what has expired.
var expiryHorizons = []time.Duration{0, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

// EndsSoon is how long before its end a credential of a VIM ends soon, and a lease for months is counted as ending; only
// longer ones are.
const EndsSoon = 30 * 24 * time.Hour

// LagBounds are the upper bounds that a [Lag] counts by.
var LagBounds = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour,
}

// Lag counts durations. Buckets[i] counts those of at most LagBounds[i].
type Lag struct {
	Count   int
	Sum     time.Duration
	Buckets []int
}

// Add counts one more; a duration below zero counts as zero.
func (l *Lag) Add(d time.Duration) {
	if l.Buckets == nil {
		l.Buckets = make([]int, len(LagBounds))
	}
	d = max(d, 0)
	l.Count, l.Sum = l.Count+1, l.Sum+d
	for i, bound := range LagBounds {
		if d <= bound {
			l.Buckets[i]++
		}
	}
}

type counters struct {
	tally audit.Tally

	mu     sync.Mutex
	alarms map[Alarm]int
	passes map[string]PassRecord
	expiry Lag
	death  Lag
}

// Watch returns the passes, which note how they fare for [Broker.Vitals].
func (b *Oversight) Watch(passes ...Pass) []Pass {
	watched := make([]Pass, len(passes))
	for i, p := range passes {
		watched[i] = b.counters.watched(p, b.now)
	}
	return watched
}

func (c *counters) watched(p Pass, now func() time.Time) Pass {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passes[p.Name] = PassRecord{Every: p.Every, LastSuccess: now()}
	run := p.Run
	p.Run = func(ctx context.Context) error {
		err := run(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.passes[p.Name]
		if err != nil {
			was.Failures, was.FailedAt = was.Failures+1, now()
		} else {
			was.LastSuccess, was.FailedAt = now(), time.Time{}
		}
		c.passes[p.Name] = was
		return err
	}
	return p
}

// failing says which passes failed when they last ran here, which was lately.
func (c *counters) failing(now time.Time) (faults []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.passes)) {
		if p := c.passes[name]; now.Sub(p.FailedAt) < 2*p.Every {
			faults = append(faults, "the pass "+name+" fails")
		}
	}
	return faults
}

func (c *counters) ended(l Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Reason == ReasonExpired {
		c.expiry.Add(l.RevokedAt.Sub(l.ExpiresAt))
	}
}

func (c *counters) died(l Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.death.Add(l.ConfirmedDeadAt.Sub(l.RevokedAt))
}

// Discrepancies sums what the last inventory of each VIM found.
func (b *Oversight) Discrepancies() Discrepancy { return b.discrepancies.sum() }

// Vitals returns what an operator watches. It asks the store, and no key store and no VIM.
func (b *Oversight) Vitals(ctx context.Context) Vitals {
	v := Vitals{Discrepancies: b.Discrepancies(), KeyStores: map[string]bool{}, Parts: map[Part]bool{}, Results: b.counters.tally.Results()}
	for _, t := range b.types {
		v.Types = append(v.Types, t.Name)
	}
	parts, _ := b.Ready() // the parts say why
	for _, p := range parts {
		v.Parts[p.Part] = p.Fault == ""
	}
	for _, p := range b.keyProbes {
		if err := p.known(); !errors.Is(err, errNotLooked) {
			v.KeyStores[p.name] = err == nil
		}
	}
	counted, err := b.counted(ctx)
	if err != nil {
		b.log.WarnContext(ctx, "the store could not be asked what it contains", "error", err)
	} else {
		v.Counted = &counted
	}
	c := &b.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	v.Alarms, v.Passes, v.ExpiryLag, v.DeathLag = maps.Clone(c.alarms), maps.Clone(c.passes), c.expiry, c.death
	v.ExpiryLag.Buckets, v.DeathLag.Buckets = slices.Clone(c.expiry.Buckets), slices.Clone(c.death.Buckets)
	return v
}

func (b *Oversight) counted(ctx context.Context) (c Counted, err error) {
	now := b.now()
	if c.Census, err = b.leases.Census(ctx); err != nil {
		return c, err
	}
	if c.Load, err = b.status.Load(ctx, now); err != nil {
		return c, err
	}
	if c.AuditBehind, err = b.entries.Behind(ctx); err != nil {
		return c, err
	}
	if c.AuditUnsigned, err = b.AuditUnsigned(ctx); err != nil {
		return c, err
	}
	if c.AuditUnanchored, err = b.auditUnanchored(ctx); err != nil {
		return c, err
	}
	if c.Sinks, err = b.courier.Statuses(ctx); err != nil {
		return c, err
	}
	ends := make([]time.Time, len(expiryHorizons))
	for i, horizon := range expiryHorizons {
		ends[i] = now.Add(horizon)
	}
	expiring, err := b.vims.CredentialsExpiring(ctx, ends...)
	if err != nil {
		return c, err
	}
	c.Expiring = make(map[time.Duration]int, len(expiryHorizons))
	for i, horizon := range expiryHorizons {
		c.Expiring[horizon] = expiring[i]
	}
	return c, nil
}

// Alarm is a kind of event about a lease that a person has to look at.
type Alarm string

const (
	// AlarmGivenUp: the lease could not be revoked, and the broker tries no more.
	AlarmGivenUp Alarm = "givenUp"
	// AlarmStillWorks: the credential works after it was revoked and its lag is over.
	AlarmStillWorks Alarm = "stillWorks"
	// AlarmConflict: somebody changed or replaced what the lease has on the VIM.
	AlarmConflict Alarm = "conflict"
	// AlarmBeyondGrant: a fresh lease could do more than it was granted, and was not
	// handed out.
	AlarmBeyondGrant Alarm = "beyondGrant"
	// AlarmLeftBehind: the lease was revoked, and its holder may have left credentials on
	// the VIM.
	AlarmLeftBehind Alarm = "leftBehind"
)

// raise logs and counts an alarm. The caller writes the audit entry.
func (b *Leaser) raise(ctx context.Context, a Alarm, l Lease, why string) {
	b.log.ErrorContext(ctx, "a lease needs a person", "alarm", string(a), "lease", l.ID, "vim", l.VIM, "vimName", l.VIMName, "why", why)
	b.counters.mu.Lock()
	defer b.counters.mu.Unlock()
	b.counters.alarms[a]++
}

// alarm is raise with an audit entry of its own.
func (b *Leaser) alarm(ctx context.Context, a Alarm, l Lease, why string, act *audit.Act) {
	b.raise(ctx, a, l, why)
	if err := b.entries.Append(ctx, act.Failed(string(a))); err != nil {
		b.log.ErrorContext(ctx, "recording an alarm", "lease", l.ID, "error", err)
	}
}
