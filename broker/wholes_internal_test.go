package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// same compares what came out with what was wanted, whole.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %+v, want %+v", what, got, want)
	}
}

// What is made of a lease and of a VIM has each of their fields that it is made of.
func TestWhatIsMadeOfALeaseIsWhole(t *testing.T) {
	s := newStage(t)
	now := s.clock.Now()
	rules := []Rule{{APIGroups: []string{"", "apps"}, Resources: []string{"a", "b"}, Verbs: []string{"get"}}, {APIGroups: []string{"x"}, Resources: []string{"c"}, Verbs: []string{"list"}}}
	l := Lease{
		ID: "l", VIM: "v", VIMName: "edge", VIMType: "a", VIMProject: "q", VIMGeneration: 1, Project: "p", Principal: "alice", For: "dave", Planned: true,
		Role: "view", Namespaces: []string{"n"}, Rules: rules, ClusterWide: true, Purpose: "why", Grade: GradeNamespaces, Epoch: 3, Derived: true,
		IssuedAt: now, Handle: "h", UID: "u", CredentialKind: CredentialUser,
	}
	same(t, "the grant", l.grant(time.Minute), Grant{
		Lease: "l", Handle: "h", TTL: time.Minute, Role: "view", Namespaces: []string{"n"}, Purpose: "why", User: true, Rules: rules, ClusterWide: true,
		Epoch: 3, Planned: true,
	})
	same(t, "the wish", l.wish(time.Minute), policy.Wish{
		TTL: time.Minute, Role: "view", Namespaces: []string{"n"}, Purpose: "why", For: "dave", Issued: now, Grade: "namespaces", ClusterWide: true, Standing: true,
		Rules: policy.LeaseRules{Verbs: []string{"get", "list"}, Resources: []string{"a", "b", "a.apps", "b.apps", "c.x"}},
	})
	for what, c := range map[string]struct {
		begun bool
		at    time.Time
		want  bool
	}{"never": {false, time.Time{}, false}, "begun": {true, time.Time{}, true}, "ended, of old": {false, now, true}, "both": {true, now, true}} {
		l.RenewalBegun, l.RenewedAt = c.begun, c.at
		same(t, "what a lease has that was renewed "+what, l.issued(), Issued{Handle: "h", UID: "u", Grant: l.grant(0), Renewed: c.want})
	}
	same(t, "the lease for policy", l.Resource(), policy.Resource{
		Kind: policy.KindLease, ID: "l", Project: "p", Owner: "alice", VIMProject: "q", VIMType: "a", VIMName: "edge", VIM: "v",
	})
	old := Generation{Number: 1, Target: Target{Endpoint: "https://OLD:1", CACert: "ca", ServerName: "name", InsecureSkipVerify: true}}
	v := VIM{
		ID: "v", Project: "q", Name: "edge", Type: "a", Shared: true, SharedWith: []string{"p"}, Labels: map[string]string{"a": "1"},
		Current: Generation{Number: 2, Target: Target{Endpoint: "https://new"}}, Past: []Generation{{Number: 7}, old},
	}
	same(t, "the VIM for policy", v.Resource(), policy.Resource{
		Kind: policy.KindVIM, ID: "v", Project: "q", VIMType: "a", VIMName: "edge", Shared: true, SharedWith: []string{"p"}, Labels: v.Labels, EndpointHost: "new",
	})
	for generation, host := range map[int64]string{1: "old", 2: "new", 7: "", 8: ""} {
		l.VIMGeneration = generation
		want := l.Resource()
		want.EndpointHost = host
		same(t, fmt.Sprint("the lease of generation ", generation), v.leased(l), want)
	}
	leased := Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}
	l.ExpiresAt = now
	config := s.config(v, old, l, leased)
	if config.Token.Reveal() != fresh {
		t.Errorf("the credential of the configuration is %v", config.Credential)
	}
	config.Credential = Credential{}
	same(t, "the configuration", config, clientconfig.Config{
		VIM: "edge", VIMID: "v", Lease: "l", Endpoint: "https://OLD:1", CACert: "ca", InsecureSkipVerify: true, ServerName: "name",
		ExpiresAt: now, Client: clientconfig.KubernetesClient{},
	})
}

// scoped is a driver that grades a lease as it takes effect.
type scoped struct {
	*actor
	as Graded
}

func (d scoped) Grade(_ context.Context, by Access, g Grant) (Graded, error) {
	return d.as, d.step("Grade", by, g)
}

// A request with everything, and a credential with everything: what is asked, stored, recorded and handed out.
func TestALeaseWithEverything(t *testing.T) {
	rules := []Rule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"x"}, Verbs: []string{"get"}}}
	full := func(s *stage) {
		s.actor.is.Rules, s.actor.is.Users, s.actor.is.Standing = true, true, true
		s.core.directories = map[string]policy.Directory{person.Authenticator(): here{}}
		s.actor.minted.Unlisted, s.actor.minted.MaxRevocationLag, s.actor.minted.UID = true, time.Minute, "uid of it"
		s.actor.minted.CredentialID, s.actor.minted.Stood, s.actor.minted.Unseen = "its id", "stood", "why not"
		s.v.Current.Target = Target{Endpoint: "https://vim", ServerName: "name", CACert: "ca"}
	}
	as := func(g Graded) func(*stage) {
		return func(s *stage) { full(s); s.core.drivers["a"] = scoped{s.actor, g} }
	}
	issue := func(r LeaseRequest) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			r.VIM, r.Purpose, r.Instance, r.For = vimID, "why", "i", "dave"
			l, c, err := s.IssueLease(audit.WithDoor(ctx, audit.DoorREST), person, r)
			return fmt.Sprintf("%s %v %v %v %s %v %s %s %s", l.Role, l.Namespaces, l.Rules, l.ClusterWide, l.Grade, l.GradeReasons, c.Endpoint, c.ServerName, kindOf(err))
		}
	}
	ns, wide := Grant{Role: "edit", Namespaces: []string{"m", "n"}}, Grant{Rules: rules, ClusterWide: true}
	outcomes(t, []result{
		{
			"of namespaces that the driver chooses", as(Graded{Grant: ns, Grade: GradeNamespaces, Reasons: []string{"one", "two", "three", "four"}}),
			issue(LeaseRequest{Role: "view", Operation: "op"}), "edit [m n] [] false namespaces [one two three four] https://vim name nil",
		},
		{
			"of the whole cluster", as(Graded{Grant: wide, Grade: GradeUnbounded}), issue(LeaseRequest{Rules: rules, ClusterWide: true}),
			fmt.Sprint(" [] ", rules, " true unbounded [] https://vim name nil"),
		},
		{
			"of a grade that is no grade", as(Graded{Grant: ns, Grade: "odd"}), issue(LeaseRequest{Role: "view"}),
			` [] [] false  []   the driver graded a lease as "odd"`,
		},
		{
			"without a grade", as(Graded{Grant: ns}), issue(LeaseRequest{Role: "view"}),
			` [] [] false  []   the driver graded a lease as ""`,
		},
		{"a user", as(Graded{Grant: ns, Grade: GradeBounded}), issue(LeaseRequest{Role: "view", Credential: LeaseUser}), "edit [m n] [] false bounded [] https://vim name nil"},
		{"that stands", as(Graded{Grant: ns, Grade: GradeBounded}), issue(LeaseRequest{Role: "view", Standing: true}), "edit [m n] [] false bounded [] https://vim name nil"},
		{"passed through", full, issue(LeaseRequest{Credential: LeasePassThrough}), " [] [] false unbounded [the holder has the VIM's own credential, which works until it is replaced on the VIM] https://vim name nil"},
		{"passed through, where nothing is graded", func(s *stage) { full(s); s.plain() }, issue(LeaseRequest{Credential: LeasePassThrough}), " [] [] false  [] https://vim name nil"},
		{"wider than it may be", as(Graded{Grant: ns, Grade: GradeNamespaces}), issue(LeaseRequest{Widest: GradeBounded}), " [] [] false  []   denied"},
		{"as wide as it may be", as(Graded{Grant: ns, Grade: GradeNamespaces}), issue(LeaseRequest{Widest: GradeNamespaces}), "edit [m n] [] false namespaces [] https://vim name nil"},
		{"of no grade, where that is bounded", func(s *stage) { full(s); s.plain() }, issue(LeaseRequest{Widest: GradeNamespaces}), " [] [] false  []   denied"},
	})
	for _, operation := range []string{"", "op"} {
		s := newStage(t)
		s.fails["Issue"] = &Error{Kind: ErrForbidden, Cause: ErrBeyondGrant}
		_, _, err := s.IssueLease(t.Context(), person, LeaseRequest{VIM: vimID, Operation: operation})
		if n := s.counters.alarms[AlarmBeyondGrant]; !errors.Is(err, ErrForbidden) || n != 1 {
			t.Errorf("more than was granted, for the operation %q: %d alarms, %v", operation, n, err)
		}
	}
	for what, c := range map[string]struct {
		known          bool
		most, standing time.Duration
		want           time.Duration
	}{
		"known": {true, time.Hour, 9 * time.Hour, 9 * time.Hour}, "unknown": {false, time.Hour, 9 * time.Hour, time.Hour},
		"known, and less": {true, 9 * time.Hour, time.Hour, time.Hour}, "unknown, and less": {false, 9 * time.Hour, time.Hour, time.Hour},
	} {
		b := &core{terms: Terms{MaxTTL: c.most, StandingMax: c.standing}, directories: map[string]policy.Directory{"another": here{}}}
		if c.known {
			b.directories[person.Authenticator()] = here{}
		}
		same(t, "the most for one who is "+what, b.standingMax(person), c.want)
	}
	one := func(change func(*Rule)) Rule {
		r := Rule{APIGroups: []string{""}, Resources: []string{"a"}, ResourceNames: []string{"x"}, Verbs: []string{"get"}}
		change(&r)
		return r
	}
	plain := one(func(*Rule) {})
	for field, other := range map[string]Rule{
		"groups": one(func(r *Rule) { r.APIGroups = []string{"g"} }), "resources": one(func(r *Rule) { r.Resources = []string{"b"} }),
		"names": one(func(r *Rule) { r.ResourceNames = []string{"y"} }), "no names": one(func(r *Rule) { r.ResourceNames = nil }),
		"verbs": one(func(r *Rule) { r.Verbs = []string{"list"} }),
	} {
		if n := len(canonical([]Rule{plain, other, plain})); n != 2 || grantDigest(Lease{Rules: []Rule{plain}}) == grantDigest(Lease{Rules: []Rule{other}}) {
			t.Errorf("rules that differ in their %s are %d", field, n)
		}
	}
	for what, r := range map[string]LeaseRequest{
		"alone": {}, "with a role": {Role: "view"}, "with rules": {Rules: []Rule{plain}},
	} {
		r.ClusterWide = true
		check(t, []said{{"the whole cluster " + what, checkRules(judge{is: Type{Rules: true}}, &r), ""}})
		r.Namespaces = []string{"n"}
		check(t, []said{{"the whole cluster and namespaces " + what, checkRules(judge{is: Type{Rules: true}}, &r), "clusterWide: and namespaces exclude"}})
		r.ClusterWide = false
		check(t, []said{{"namespaces " + what, checkRules(judge{is: Type{Rules: true}}, &r), ""}})
	}
}

// A broker has all that it is given: each key store, anchor, label and sink, and not the first alone.
func TestABrokerHasAllThatItIsGiven(t *testing.T) {
	steps := &steps{fails: map[string]error{}, during: map[string]func(){}}
	now := clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	store := &tape{steps: steps, vims: map[string]VIM{}, leases: map[string]Lease{}, oldest: now.Now().Add(-time.Hour), cursors: []delivery.Cursor{{Sink: "a"}, {Sink: "b"}}}
	keys := &keysInMemory{steps: steps, held: map[secret.Ref]held{}}
	log := testlog.To(t, slog.DiscardHandler)
	o := Options{
		Store: store, Keys: []secret.KeyStore{keys, elsewhere{keys}}, Drivers: []Driver{&actor{steps: steps, is: fit("a", "")}}, Now: now.Now, Terms: DefaultTerms(),
		Policy: deciding(func(policy.Request) policy.Decision { return policy.Decision{Allowed: true} }),
		Egress: func(string) *egress.Rules { return nil }, Log: log, ReservedLabels: []string{"site/", "x/"},
		Anchors: []notary.Anchor{{Name: "one", Outlet: outlet{}}, {Name: "two", Outlet: outlet{}}},
		Trusts:  func(name string) bool { return name == "t" }, Directories: map[string]policy.Directory{"d": here{}},
		Courier: delivery.New(store, []delivery.Destination{
			{Name: "a", Mode: delivery.BestEffort, Outlet: outlet{}, Within: 2 * time.Hour}, {Name: "b", Mode: delivery.Required, Outlet: outlet{}, Within: time.Minute},
		}, now.Now, log),
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var probes, anchors []string
	for _, p := range b.keyProbes {
		probes = append(probes, p.name)
	}
	all, err := b.AuditAnchors(t.Context(), person)
	for _, a := range all {
		anchors = append(anchors, a.Anchor)
	}
	_, _, held := b.IssueLease(t.Context(), person, LeaseRequest{VIM: vimID})
	_, found := b.Lease(t.Context(), person, leaseID)
	same(t, "the reserved labels", b.Registry.reserved, []string{ownLabels, "site/", "x/"})
	same(t, "the key stores", probes, []string{"memory", "vault"})
	same(t, "the anchors", anchors, []string{"one", "two"})
	if err != nil || !b.core.trusts("t") || b.core.trusts("u") || b.core.directories["d"] == nil {
		t.Errorf("%v; who is trusted, and what directories there are: %v", err, b.core.directories)
	}
	if !errors.Is(held, ErrNotFound) || !errors.Is(found, ErrNotFound) {
		t.Errorf("what is not there: %v, %v", held, found)
	}
	store.vims[vimID] = VIM{ID: vimID, Project: "p", Type: "a", State: VIMRegistered, Health: Health{CanMint: true}}
	if _, _, err := b.IssueLease(t.Context(), person, LeaseRequest{VIM: vimID}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), `"b", which is required`) {
		t.Errorf("while a required sink is late: %v", err)
	}
	none := func(o Options) Options { o.Anchors, o.Courier = nil, nil; return o }
	for what, c := range map[string]struct {
		keys []secret.KeyStore
		want string
	}{
		"two of one name": {[]secret.KeyStore{keys, keys}, `two key stores are named "memory"`}, "with another between": {[]secret.KeyStore{keys, elsewhere{keys}, keys}, `two key stores are named "memory"`},
		"the last two": {[]secret.KeyStore{elsewhere{keys}, keys, keys}, `two key stores are named "memory"`}, "one that is nil": {[]secret.KeyStore{keys, nil}, "key store 2 is nil"},
		"none": {nil, "option Keys is missing"}, "one": {[]secret.KeyStore{elsewhere{keys}}, ""},
	} {
		o := none(o)
		o.Keys = c.keys
		if _, err := New(o); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("key stores, %s: %v, want %q", what, err, c.want)
		}
	}
}

// What the watch over the log finds: each sink that is late, and what guards the log, whatever else is out.
func TestTheWatchTellsEachFault(t *testing.T) {
	s := newStage(t)
	now := s.clock.Now()
	s.Oversight.courier = delivery.New(s.tape, []delivery.Destination{
		{Name: "a", Outlet: outlet{}, Within: time.Second}, {Name: "b", Outlet: outlet{}, Within: time.Hour}, {Name: "c", Outlet: outlet{}, Within: time.Second},
	}, s.core.now, slog.New(slog.DiscardHandler))
	s.tape.cursors, s.tape.oldest = []delivery.Cursor{{Sink: "a"}, {Sink: "b"}, {Sink: "c"}}, now.Add(-time.Minute)
	s.log.Reset()
	err := s.WatchAudit(t.Context())
	if n := strings.Count(s.log.String(), "an audit sink is late"); err != nil || n != 2 || !s.logs("sink=a") || !s.logs("sink=c") || s.count("Unguarded") != 1 {
		t.Errorf("%d sinks are told as late, guards are looked at %d times, %v: %s", n, s.count("Unguarded"), err, s.log)
	}
	for age, want := range map[time.Duration]time.Duration{-time.Hour: 0, 0: 0, time.Minute: time.Minute} {
		s.tape.oldest = now.Add(-age)
		if got, err := s.AuditUnsigned(t.Context()); got != want || err != nil {
			t.Errorf("an entry of %s waits for %s, %v", age, got, err)
		}
	}
	s = newStage(t)
	s.watched()
	s.tape.signed, s.fails["SigningKeys"] = 1, errStep
	if err := s.SignAudit(t.Context()); !errors.Is(err, errStep) || s.count("Anchorings") == 0 {
		t.Errorf("a log that cannot be signed: %v; what was signed is brought to anchors: %v", err, s.count("Anchorings") > 0)
	}
	for _, detail := range [][]string{{"a", "", "b", "2"}, {"a", "", "b", "2", "c", ""}, {"b", "2", "a", "", "d"}} {
		s := newStage(t)
		if err := s.RecordServer(t.Context(), audit.ServerStart, audit.Done, detail...); err != nil {
			t.Error(err)
		}
		same(t, fmt.Sprintf("of %q the entry", detail), s.tape.entries[0].Detail, map[string]string{"b": "2"})
	}
	s = newStage(t)
	long := letters(9000)
	if err := s.RecordServer(t.Context(), audit.ServerStart, audit.Done, "a", long); err != nil || s.tape.entries[0].Detail["a"] != audit.Cut(long) || len(audit.Cut(long)) >= len(long) {
		t.Errorf("a long value is recorded in %d bytes, %v", len(s.tape.entries[0].Detail["a"]), err)
	}
}

// A use of a token is kept with the latest time that is known of it, also where a write of it fails.
func TestTheLatestUseOfATokenIsKept(t *testing.T) {
	s := newStage(t)
	first := s.clock.Now()
	s.TokenUsed("t")
	s.TokenUsed("u")
	s.fails["RecordTokenUses 1"] = errStep
	s.during["RecordTokenUses 1"] = func() { s.clock.Add(time.Hour); s.TokenUsed("t") }
	if err := s.RecordTokenUses(t.Context()); !errors.Is(err, errStep) {
		t.Errorf("a write that fails: %v", err)
	}
	same(t, "what is noted after it", s.Oversight.tokenUses.take(), map[string]time.Time{"t": first.Add(time.Hour), "u": first})
	stored := map[string]time.Time{"a": first, "b": first.Add(time.Hour)}
	later(stored, map[string]time.Time{"a": first.Add(time.Minute), "b": first.Add(time.Minute), "c": first})
	same(t, "of two times the later", stored, map[string]time.Time{"a": first.Add(time.Minute), "b": first.Add(time.Hour), "c": first})
}

// Looks at what is not there are counted for an hour; when the server ends, the count is written, however young it is.
func TestCountsAreWrittenWhenTheServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		for range 3 {
			if _, err := s.Lease(t.Context(), person, vimID); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); s.KeepLogins(ctx) }()
		time.Sleep(tokenUsesEvery + 1)
		synctest.Wait()
		young := len(s.tape.entries)
		cancel()
		<-over
		if n := len(s.tape.entries); young != 1 || n != 2 || s.tape.entries[1].Detail[audit.DetailRepeats] == "" {
			t.Errorf("%d entries before the end, %d after, the last of which is %+v", young, n, s.tape.entries[n-1])
		}
	})
}

// What an inventory leaves is in the numbers of an operator: settled or not.
func TestWhatAnInventoryLeaves(t *testing.T) {
	s := newStage(t)
	s.actor.others = []string{"unknown", "unknown 2"}
	s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: leaseID, Unbound: []string{"n"}}, {Handle: "orphan", Lease: "o"}}
	ghost := s.l
	ghost.ID, ghost.Handle = vimID, "ghost"
	s.tape.leases[ghost.ID] = ghost
	if _, err := s.Inventory(t.Context(), person, vimID, false); err != nil {
		t.Fatal(err)
	}
	same(t, "what was found", s.Leaser.discrepancies.sum(), Discrepancy{Orphans: 1, Ghosts: 1, Unbound: 1, Foreign: 2})
	if _, err := s.Inventory(t.Context(), person, vimID, true); err != nil {
		t.Fatal(err)
	}
	same(t, "what is left", s.Leaser.discrepancies.sum(), Discrepancy{Unbound: 1, Foreign: 2})
	if l := s.tape.leases[vimID]; l.State != LeaseRevoked || l.Reason != ReasonGoneUpstream || s.row().State != LeaseActive {
		t.Errorf("the ghost is %s for %s, the other %s", l.State, l.Reason, s.row().State)
	}
}

// What changes between the two looks at the rows is neither orphan nor ghost, whichever way it changes; an object that several
// generations show is one; and users are looked for in the generation that they are of.
func TestWhatIsUnderWayIsLeftAlone(t *testing.T) {
	for what, c := range map[string]struct {
		before, after LeaseState
		there         bool
		want          string
	}{
		"active":                {LeaseActive, LeaseActive, true, "0 0 1"},
		"active, and gone":      {LeaseActive, LeaseActive, false, "0 1 1"},
		"since issued":          {LeasePending, LeaseActive, false, "0 0 1"},
		"since issued, seen":    {LeasePending, LeaseActive, true, "0 0 1"},
		"since ended":           {LeaseActive, LeaseRevoked, true, "0 0 0"},
		"since ended, and gone": {LeaseActive, LeaseRevoked, false, "0 0 0"},
		"since begun":           {LeaseRevoked, LeasePending, true, "0 0 0"},
		"since begun and made":  {LeaseRevoked, LeaseActive, false, "0 0 1"},
		"being revoked":         {LeaseRevoking, LeaseRevoking, true, "0 0 0"},
		"being revoked, gone":   {LeaseRevoking, LeaseRevoking, false, "0 0 0"},
		"given up":              {LeaseIrrevocable, LeaseIrrevocable, true, "0 0 0"},
		"ended":                 {LeaseRevoked, LeaseRevoked, true, "1 0 0"},
	} {
		s := newStage(t)
		s.l.State = c.before
		s.put()
		if c.there {
			s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: leaseID}, {Handle: s.l.Handle, Lease: leaseID}}
		}
		s.during["Inventory"] = func() { l := s.row(); l.State = c.after; s.tape.leases[leaseID] = l }
		in := s.newSession(vimID)
		inv, err := s.compare(t.Context(), in)
		in.close()
		if got := fmt.Sprint(len(inv.Orphans), len(inv.Ghosts), inv.Rows); got != c.want || err != nil || inv.Upstream != map[bool]int{true: 1}[c.there] {
			t.Errorf("%s: %s of %d, %v, want %s", what, got, inv.Upstream, err, c.want)
		}
	}
	for user, want := range map[int64]string{1: "1:true 2:false", 2: "1:false 2:true"} {
		s := newStage(t)
		v := s.v
		past, now := v.Current, v.Current
		now.Number, v.Current.Number = 2, 2
		if err := errors.Join(s.seal(t.Context(), v, &past, SealedPast), s.seal(t.Context(), v, &now, SealedCurrent)); err != nil {
			t.Fatal(err)
		}
		v.Past, v.Current = []Generation{past}, now
		s.tape.vims[vimID] = v
		live := map[string]Lease{}
		for number := range int64(2) {
			l := s.l
			if l.VIMGeneration = number + 1; l.VIMGeneration == user {
				l.CredentialKind = CredentialUser
			}
			live[fmt.Sprint(number)] = l
		}
		var seen []string
		s.during["Inventory"] = func() {
			seen = append(seen, fmt.Sprint(s.actor.access.Generation, ":", s.actor.access.Users))
		}
		in := s.newSession(vimID)
		_, _, err := s.listUpstream(t.Context(), in, v, live, map[string]int64{})
		in.close()
		slices.Sort(seen)
		if got := strings.Join(seen, " "); got != want || err != nil {
			t.Errorf("users of generation %d: %s, %v, want %s", user, got, err, want)
		}
	}
	for what, c := range map[string]struct {
		change func(*Lease)
		user   bool
		want   Issued
	}{
		"of nobody":           {nil, false, Issued{Handle: "lease-" + leaseID}},
		"a user of nobody":    {nil, true, Issued{Handle: "lease-" + leaseID, Grant: Grant{User: true}}},
		"of a lease":          {func(*Lease) {}, true, Issued{Handle: "lease-" + leaseID, Grant: Grant{Lease: leaseID, Handle: "lease-" + leaseID}}},
		"of one elsewhere":    {func(l *Lease) { l.VIM = leaseID }, true, Issued{Handle: "lease-" + leaseID, Grant: Grant{User: true}}},
		"of another's handle": {func(l *Lease) { l.Handle = "other" }, true, Issued{Handle: "lease-" + leaseID, Grant: Grant{User: true}}},
	} {
		s := newStage(t)
		l := s.row()
		l.UID = "stored"
		delete(s.tape.leases, leaseID)
		if c.change != nil {
			c.change(&l)
			s.tape.leases[leaseID] = l
		}
		revoked := &revoker{actor: s.actor}
		s.core.drivers["a"] = revoked
		in := s.newSession(vimID)
		u := Upstream{Handle: s.l.Handle, Lease: leaseID, User: c.user}
		err := s.settleInventory(t.Context(), in, Inventory{VIM: vimID, Orphans: []Upstream{u}, by: map[string]int64{u.Handle: 1}}, must(s, policy.VIMSettle))
		in.close()
		same(t, "what is removed of an orphan "+what, revoked.of, c.want)
		if err != nil {
			t.Errorf("an orphan %s: %v", what, err)
		}
	}
}

// revoker keeps what it was told to revoke.
type revoker struct {
	*actor
	of Issued
}

func (r *revoker) Revoke(_ context.Context, _ Access, i Issued) error { r.of = i; return nil }

// How a drain goes on: what it waits for, when it is tried again, and what it may not do by itself.
func TestHowADrainGoesOn(t *testing.T) {
	b := &Registry{core: &core{now: clock.New(time.Unix(0, 0)).Now, terms: DefaultTerms()}}
	for last, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Second: 5 * time.Second, 5 * time.Second: 10 * time.Second, time.Minute: 2 * time.Minute,
		maxBackoff / 2: maxBackoff, maxBackoff: maxBackoff, 9 * maxBackoff: maxBackoff, -time.Hour: 5 * time.Second,
	} {
		was := Health{Message: "m", CheckedAt: time.Unix(0, 0).Add(-last), Next: time.Unix(0, 0)}
		if got := b.nextDrain(was).Sub(b.now()); got != want {
			t.Errorf("after a wait of %s the next is %s, want %s", last, got, want)
		}
		was.Message = ""
		if got := b.nextDrain(was).Sub(b.now()); got != b.terms.ReapEvery {
			t.Errorf("the first wait is %s", got)
		}
	}
	rested := func(ctx context.Context, s *stage) string {
		s.clock.Add(time.Minute)
		first := s.Registry.restDrain(ctx, s.v, &Error{Kind: ErrUnreachable, Detail: "one"})
		wait := first.Health.Next.Sub(s.clock.Now())
		s.clock.Add(wait)
		second := s.Registry.restDrain(ctx, first, &Error{Kind: ErrUnreachable, Detail: "two"})
		return fmt.Sprint(wait, " ", second.Health.Next.Sub(s.clock.Now()), " ", second.Health.CheckedAt.Equal(s.clock.Now()), " ", second.Health.Message)
	}
	drained := func(fails error, do func(context.Context, *stage, *audit.Act) (bool, error)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["Forget"] = fails
			gone, err := do(ctx, s, must(s, policy.VIMDelete))
			return fmt.Sprint(gone, " ", kindOf(err), ", rows ", len(s.tape.vims), ", forced ", slices.ContainsFunc(s.said, func(line string) bool {
				return strings.HasPrefix(line, "DeleteVIM \"<vim>\" true") || strings.HasPrefix(line, "DeleteVIM \""+vimID+"\" true")
			}))
		}
	}
	forced := func(force bool) func(context.Context, *stage, *audit.Act) (bool, error) {
		return func(ctx context.Context, s *stage, act *audit.Act) (bool, error) {
			return s.drain(ctx, s.v, force, act)
		}
	}
	pass := func(ctx context.Context, s *stage, _ *audit.Act) (bool, error) {
		s.Registry.drainFurther(ctx, s.v)
		return len(s.tape.vims) == 0, nil
	}
	retired := func(ctx context.Context, s *stage, act *audit.Act) (bool, error) {
		return s.retireGone(ctx, s.v, true, act)
	}
	ended := func(s *stage) { s.l.State, s.v.State = LeaseRevoked, VIMDraining }
	all := []result{
		{"twice it does not answer", ended, rested, "5s 10s true two"},
		{"the pass", ended, drained(nil, pass), "true nil, rows 0, forced false"},
		{"the pass, and it does not answer", ended, drained(&Error{Kind: ErrUnreachable}, pass), "false nil, rows 1, forced false"},
		{"its system is gone, and by force", ended, drained(nil, retired), "true nil, rows 0, forced false"},
	}
	for _, kind := range []error{ErrUnreachable, ErrUnauthorized, ErrForbidden, ErrUnsupported, ErrUnavailable, ErrConflict} {
		all = append(all, result{"by force: " + kind.Error(), ended, drained(&Error{Kind: kind}, forced(true)), "true nil, rows 0, forced true"})
		all = append(all, result{"plain: " + kind.Error(), ended, drained(&Error{Kind: kind}, forced(false)), "false " + kind.Error() + ", rows 1, forced false"})
	}
	outcomes(t, all)
	for state, want := range map[LeaseState]int{LeasePending: 2, LeaseActive: 2, LeaseRevoking: 2, LeaseIrrevocable: 2, LeaseRevoked: 1} {
		s := newStage(t)
		s.l.State, s.v.State, s.v.Health = state, VIMDraining, Health{Status: HealthUnreachable, Message: "no answer"}
		s.put()
		out, err := s.WaitsFor(t.Context(), person, s.v)
		if err != nil || len(out) != want || !strings.HasPrefix(out[len(out)-1], "the VIM, which was unreachable") {
			t.Errorf("beside a lease that is %s it waits for %q, %v", state, out, err)
		}
	}
}

// What ends with an operation, and what of it has ended.
func TestWhatEndsWithAnOperation(t *testing.T) {
	s := newStage(t)
	delete(s.tape.leases, leaseID)
	for i, state := range []LeaseState{LeaseActive, LeaseActive, LeaseActive, LeasePending, LeaseIrrevocable, LeaseRevoked} {
		l := s.l
		l.ID, l.Handle, l.State = fmt.Sprint(i), fmt.Sprint("h", i), state
		s.tape.leases[l.ID] = l
	}
	if err := s.EndOperation(t.Context(), "op", "1", "2"); err != nil {
		t.Error(err)
	}
	for id, want := range map[string]LeaseState{"0": LeaseRevoked, "1": LeaseActive, "2": LeaseActive, "3": LeaseRevoked, "4": LeaseIrrevocable, "5": LeaseRevoked} {
		if got := s.tape.leases[id].State; got != want {
			t.Errorf("lease %s is %s, want %s", id, got, want)
		}
	}
	for _, state := range LeaseStates() {
		s := newStage(t)
		s.l.State, s.l.Reason = state, ReasonExpired
		s.put()
		if is, why, err := s.Ended(t.Context(), leaseID); is != (state != LeaseActive) || why != ReasonExpired || err != nil {
			t.Errorf("a lease that is %s has ended: %v, %s, %v", state, is, why, err)
		}
	}
	s = newStage(t)
	s.fails["Append"] = errStep
	if err := s.core.enterExtra(t.Context(), person, policy.VIMShare, vimResource(s.v), policy.Wish{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a further right that cannot be recorded: %v", err)
	}
	for _, reasons := range [][]string{nil, {"one"}, {"one", "two"}} {
		err := Refusal(&policy.Refused{Reasons: reasons}, person, policy.VIMShow, nil)
		if text := strings.Join(reasons, "; "); !errors.Is(err, ErrDenied) || !strings.HasSuffix(err.Error(), cmp.Or(text, string(policy.VIMShow))) {
			t.Errorf("of %q it is said: %v", reasons, err)
		}
	}
}
