package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// Part is what requests need of the broker, in one word.
type Part string

// The parts, in the order in which they are shown.
const (
	// PartDatabase: without it nothing is answered.
	PartDatabase Part = "database"
	// PartRecording: while the database takes no writes, nothing can be recorded, so nothing is done.
	PartRecording Part = "recording"
	// PartIssuing: while a key store cannot be used, no credential in it opens. VIMs and leases
	// are shown, and revocations are taken, and finished later.
	PartIssuing Part = "issuing"
	// PartTrust: while an issuer does not give its keys, callers with its tokens come in by known keys for a
	// day, and then not.
	PartTrust Part = "trust"
)

// PartStatus is how a part was when it was last looked at.
type PartStatus struct {
	Part Part
	// Fault says why the part cannot be used, in words for anyone; empty: it can.
	Fault string
}

const (
	// lookAtStoreEvery and lookAtKeysEvery are how often the store and the key stores are asked
	// whether they can be used. Some write for that.
	lookAtStoreEvery, lookAtKeysEvery = 5 * time.Second, 15 * time.Second
	// lookAgain is how soon after a fault.
	lookAgain = 2 * time.Second
	lookTime  = 5 * time.Second
)

// ErrNoWrites is the cause of an ErrUnavailable: the database can be read and refuses writes, because
// its disk is full, another resource is used up, or it is a standby.
var ErrNoWrites = errors.New("the database takes no writes")

// ErrNoSpace comes with [ErrNoWrites] where the disk of the database is full.
var ErrNoSpace = errors.New("the disk of the database is full")

// Replica is a server on the database, as it said last itself.
type Replica struct {
	// ID is its host, and its process where a host may have several.
	ID, Version string
	// Fault is what it finds wrong with its parts; empty: nothing.
	Fault             string
	StartedAt, SeenAt time.Time
	// Late: it has said nothing for longer than one that is well. Own: it is this one.
	Late, Own bool
}

// ReplicaKept is how long a replica is known that says nothing any more.
const ReplicaKept = time.Hour

// probe looks at one thing that the broker depends on. Safe for concurrent use.
type probe struct {
	name  string
	ask   func(context.Context) error
	every time.Duration
	// clock is time.Now, whose readings know how long a process has been running whatever is done
	// to its clock.
	clock func() time.Time

	mu    sync.Mutex
	at    time.Time // of the end of the last look; zero: there was none
	found error
}

func (p *probe) look(ctx context.Context, log *slog.Logger) error {
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	err := p.ask(asking)
	if err != nil && ctx.Err() != nil {
		return err // the process ends
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch was := p.found; {
	case err != nil && (was == nil || err.Error() != was.Error()):
		log.WarnContext(ctx, "a part cannot be used", "part", p.name, "error", err)
	case err == nil && was != nil:
		log.InfoContext(ctx, "a part can be used again", "part", p.name)
	}
	p.at, p.found = p.clock(), err
	return err
}

var errNotLooked = errors.New("is not known to work yet")

// known is what the last look found. One that is long ago counts for nothing: what was asked has
// not answered since, or the process was stopped.
func (p *probe) known() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := p.clock().Sub(p.at)
	switch {
	case p.at.IsZero():
		return errNotLooked
	case age > 3*p.every+lookTime:
		return fmt.Errorf("has not answered for %v", age.Round(time.Second))
	}
	return p.found
}

// keep looks until ctx ends. It calls first after the first look.
func (p *probe) keep(ctx context.Context, log *slog.Logger, first func()) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		wait := p.every
		if p.look(ctx, log) != nil {
			wait = lookAgain
		}
		first()
		next.Reset(wait)
	}
}

func (b *Oversight) probes() []*probe { return append([]*probe{b.storeProbe}, b.keyProbes...) }

// Probe looks once at the store and the key stores, which [Broker.Ready] and [Broker.Vitals] then
// speak of.
func (b *Oversight) Probe(ctx context.Context) {
	var looks sync.WaitGroup
	for _, p := range b.probes() {
		looks.Go(func() { _ = p.look(ctx, b.log) })
	}
	looks.Wait()
}

// KeepProbing looks at the store and the key stores now and then, until ctx ends: apart from each
// other, so that one that hangs keeps the look at no other waiting. It closes looked once it has looked at all.
func (b *Oversight) KeepProbing(ctx context.Context, looked chan<- struct{}) {
	var running, first sync.WaitGroup
	for _, p := range b.probes() {
		first.Add(1)
		running.Go(func() {
			once := sync.OnceFunc(first.Done)
			defer once()
			p.keep(ctx, b.log, once)
		})
	}
	first.Wait()
	close(looked)
	running.Wait()
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	if err := b.status.RemoveReplica(leaving, b.self.ID); err != nil {
		b.log.WarnContext(ctx, "this server is shown as one that is gone, for an hour", "error", err)
	}
}

// checkStore looks at the store: it writes there how this server is.
func (b *Oversight) checkStore(ctx context.Context) error {
	self, faults := b.self, b.counters.failing(b.now())
	parts, _ := b.Ready()
	for _, p := range parts {
		if p.Fault != "" {
			faults = append(faults, string(p.Part)+": "+p.Fault)
		}
	}
	self.Fault = strings.Join(faults, "; ")
	return b.status.Check(ctx, self)
}

// Replicas lists the servers on the database, to who may read the whole audit log. One that stops leaves the list; one
// that is killed is late, and forgotten after an hour.
func (b *Oversight) Replicas(ctx context.Context, p policy.Principal) ([]Replica, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return nil, err
	}
	all, err := b.status.Replicas(ctx)
	for n := range all {
		all[n].Own, all[n].Late = all[n].ID == b.self.ID, b.now().Sub(all[n].SeenAt) > 3*lookAtStoreEvery+lookTime
	}
	return all, err
}

// WatchTrust adds the part of [PartTrust]: fault says what is wrong with it, and asks nobody. Call it before anything
// else is called.
func (b *Oversight) WatchTrust(fault func() string) { b.trust = fault }

// Ready says how the parts of the broker were when they were last looked at, seconds ago, or used since. It asks
// nobody, so that anyone may ask for it. It is [ErrUnavailable] if the broker can answer nothing:
// the database cannot be asked, or (then without parts) not every part was looked at yet. Any other fault stops
// only the requests that need the part, which are refused with the reason; another replica could do no more.
func (b *Oversight) Ready() ([]PartStatus, error) {
	for _, p := range b.probes() {
		if errors.Is(p.known(), errNotLooked) {
			return nil, &Error{Kind: ErrUnavailable, Detail: "starting: not every part was looked at yet"}
		}
	}
	parts := []PartStatus{{Part: PartDatabase}, {Part: PartRecording}, {Part: PartIssuing, Fault: b.keysFault()}}
	if b.trust != nil {
		parts = append(parts, PartStatus{Part: PartTrust, Fault: b.trust()})
	}
	store := b.storeProbe.known()
	if store == nil { // a write may have met since what the look did not
		store = b.status.Refusal()
	}
	switch {
	case errors.Is(store, ErrNoSpace):
		parts[1].Fault = ErrNoSpace.Error()
	case errors.Is(store, ErrNoWrites):
		parts[1].Fault = ErrNoWrites.Error()
	case store != nil:
		parts[0].Fault = "cannot be used"
		return parts, &Error{Kind: ErrUnavailable, Detail: "the database cannot be used", Cause: store}
	}
	return parts, nil
}

// keysFault is why not every key store can be used, with the reason where its error has one that
// anyone may read: a method Reason() string.
func (b *Oversight) keysFault() string {
	for _, p := range b.keyProbes {
		if err := p.known(); err != nil {
			return "the key store " + p.name + " cannot be used" + reasonOf(err)
		}
	}
	return ""
}
