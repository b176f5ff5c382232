package subscription

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var errAway = errors.New("away")

// box is a store of one subscription in memory, which is read in batches of notifications. A method whose name is in fails does
// nothing but fail.
type box struct {
	Store
	one     Subscription
	batches [][]Notification
	asked   lifecycle.Operation
	given   int64 // notifications that are given up
	// listed are the answers to lists, in turn.
	listed [][]Subscription
	query  Query
	fails  map[string]error
	calls  []string
}

func (b *box) call(name string) error {
	b.calls = append(b.calls, name)
	return b.fails[name]
}

func (b *box) count(name string) (n int) {
	for _, c := range b.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (b *box) Append(context.Context, audit.Entry) error { return b.call("Append") }

func (b *box) Subscription(context.Context, string) (Subscription, error) {
	return b.one, b.call("Subscription")
}

func (b *box) Subscriptions(_ context.Context, q Query) (found []Subscription, _ string, _ error) {
	if b.query = q; len(b.listed) > 0 {
		found, b.listed = b.listed[0], b.listed[1:]
	}
	return found, "", b.call("Subscriptions")
}

func (b *box) Notifications(context.Context, string, int) (found []Notification, _ error) {
	if len(b.batches) > 0 {
		found, b.batches = b.batches[0], b.batches[1:]
	}
	return found, b.call("Notifications")
}

func (b *box) WaitingNotifications(context.Context, []string) (map[string]int, error) {
	return nil, b.call("WaitingNotifications")
}

func (b *box) NotificationSent(context.Context, Notification, time.Time) error {
	return b.call("NotificationSent")
}

func (b *box) NotificationFailed(context.Context, string, string, bool, time.Time) error {
	return b.call("NotificationFailed")
}

func (b *box) GiveUpNotifications(context.Context, string, GiveUp, func(int64) audit.Entry) (int64, error) {
	err := b.call("GiveUpNotifications")
	given := b.given
	b.given = 0
	return given, err
}

func (b *box) DropNotifications(context.Context, string) error { return b.call("DropNotifications") }

func (b *box) Operation(context.Context, string) (lifecycle.Operation, error) {
	return b.asked, b.call("Operation")
}

func (b *box) CreateSubscription(context.Context, Subscription, int, audit.Entry) error {
	return b.call("CreateSubscription")
}

func (b *box) UpdateSubscription(_ context.Context, _ string, change func(*Subscription) error, _ audit.Entry) (Subscription, error) {
	if err := b.call("UpdateSubscription"); err != nil {
		return Subscription{}, err
	}
	return b.one, change(&b.one)
}

func (b *box) RekeySubscription(context.Context, string, func(*Subscription) error) (Subscription, error) {
	return Subscription{}, b.call("RekeySubscription")
}

func (b *box) DeleteSubscription(context.Context, string, audit.Entry) error {
	return b.call("DeleteSubscription")
}

// post is an endpoint that does what it is told to.
type post struct {
	send   func(body string) error
	bodies []string
	forgot int
}

func (*post) Test(context.Context, Subscriber) error { return nil }

func (p *post) Send(_ context.Context, _ Subscriber, body []byte) error {
	p.bodies = append(p.bodies, string(body))
	return p.send(string(body))
}

func (p *post) Forget(string) { p.forgot++ }

// vault is a key store that lists nothing.
type vault struct {
	secret.KeyStore
	fails error
}

func (vault) Name() string { return "vault" }

func (v vault) List(context.Context, string) ([]secret.Held, error) { return nil, v.fails }

// bench is the work for one subscriber, in memory.
type bench struct {
	*Subscriptions
	box   *box
	post  *post
	clock *clock.Clock
	log   *fake.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		box: &box{one: Subscription{ID: uuid.NewString(), Project: "core", CreatedBy: "alice"}, fails: map[string]error{}}, log: &fake.Buffer{},
		post: &post{send: func(string) error { return nil }}, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)),
	}
	b.box.one.State = Active
	b.Subscriptions = New(Options{
		Store: b.box, Keys: keyring.Ring{vault{}}, Endpoint: b.post, Egress: func(string) *egress.Rules { return nil }, Terms: DefaultTerms(), Now: b.clock.Now,
		Guard: &audit.Guard{Policy: policies, Sink: b.box, Now: b.clock.Now, Reads: audit.NewReads()}, Log: testlog.To(t, slog.NewTextHandler(b.log, nil)),
		Render: func(_ Subscription, e lifecycle.Event) ([]byte, error) {
			return []byte(e.Operation + string(e.Asked)), nil
		},
	})
	return b
}

// notes are notifications of so many events.
func notes(n int) (all []Notification) {
	for i := range n {
		all = append(all, Notification{Seq: int64(i + 1), Event: lifecycle.Event{Operation: fmt.Sprint("o", i+1)}})
	}
	return all
}

// Work ends with the error of the store that kept it from going on, and says how far it came.
func TestWorkForASubscriberEndsWithWhatKeepsIt(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*bench)
		want  error
		calls string // of the store, one after the other
		sent  string
	}{
		"nothing waits": {func(*bench) {}, nil, "Subscription Notifications", ""},
		"two wait":      {func(b *bench) { b.box.batches = [][]Notification{notes(2)} }, nil, "Subscription Notifications NotificationSent NotificationSent Notifications", "o1 o2"},
		"it is gone":    {func(b *bench) { b.box.fails["Subscription"] = broker.ErrNotFound }, nil, "Subscription DropNotifications", ""},
		"it is gone, and its notifications stay": {func(b *bench) {
			b.box.fails["Subscription"], b.box.fails["DropNotifications"] = broker.ErrNotFound, errAway
		}, errAway, "Subscription DropNotifications", ""},
		"it is not to be had":         {func(b *bench) { b.box.fails["Subscription"] = errAway }, errAway, "Subscription", ""},
		"what waits is not to be had": {func(b *bench) { b.box.batches, b.box.fails["Notifications"] = [][]Notification{notes(1)}, errAway }, errAway, "Subscription Notifications", ""},
		"it is not needed":            {func(b *bench) { b.box.one.State = Making }, nil, "Subscription", ""},
		"it goes meanwhile": {func(b *bench) {
			b.box.batches, b.box.fails["NotificationSent"] = [][]Notification{notes(2)}, broker.ErrNotFound
		}, nil, "Subscription Notifications NotificationSent DropNotifications", "o1"},
		"it goes meanwhile, and its notifications stay": {func(b *bench) {
			b.box.batches, b.box.fails["NotificationSent"], b.box.fails["DropNotifications"] = [][]Notification{notes(2)}, broker.ErrNotFound, errAway
		}, errAway, "Subscription Notifications NotificationSent DropNotifications", "o1"},
		"more than are kept": {func(b *bench) {
			b.box.batches, b.box.given = [][]Notification{notes(batch), notes(1)}, 3
		}, nil, "Subscription Notifications GiveUpNotifications Notifications NotificationSent Notifications", "o1"},
		"as many as are kept": {func(b *bench) {
			b.box.batches = [][]Notification{notes(batch)}
		}, nil, "Subscription Notifications GiveUpNotifications" + strings.Repeat(" NotificationSent", batch) + " Notifications", "o1 o2 o3 o4 o5 o6 o7 o8 o9 o10 o11 o12 o13 o14 o15 o16 o17 o18 o19 o20"},
		"more that cannot be given up": {func(b *bench) {
			b.box.batches, b.box.fails["GiveUpNotifications"] = [][]Notification{notes(batch)}, errAway
		}, errAway, "Subscription Notifications GiveUpNotifications", ""},
		"one that cannot be read": {func(b *bench) {
			b.box.batches = [][]Notification{{{Seq: 1, Unreadable: errAway}}, notes(1)}
		}, nil, "Subscription Notifications GiveUpNotifications Notifications NotificationSent Notifications", "o1"},
		"one that cannot be read nor given up": {func(b *bench) {
			b.box.batches, b.box.fails["GiveUpNotifications"] = [][]Notification{{{Seq: 1, Unreadable: errAway}}}, errAway
		}, errAway, "Subscription Notifications GiveUpNotifications", ""},
		"a failure": {func(b *bench) {
			b.box.batches, b.post.send = [][]Notification{notes(2)}, func(string) error { return errAway }
		}, errAway, "Subscription Notifications NotificationFailed GiveUpNotifications", "o1"},
		"a failure that is not recorded": {func(b *bench) {
			b.box.batches, b.post.send, b.box.fails["NotificationFailed"] = [][]Notification{notes(2)}, func(string) error { return ErrRefused }, errAway
		}, errAway, "Subscription Notifications NotificationFailed", "o1"},
		"a failure after which nothing is given up": {func(b *bench) {
			b.box.batches, b.post.send, b.box.fails["GiveUpNotifications"] = [][]Notification{notes(2)}, func(string) error { return ErrRefused }, errAway
		}, errAway, "Subscription Notifications NotificationFailed GiveUpNotifications", "o1"},
		"one whose request is not to be had": {func(b *bench) {
			b.box.batches, b.box.fails["Operation"] = [][]Notification{{{Seq: 1, Event: lifecycle.Event{Operation: "o", Type: lifecycle.ModifyInfo, State: lifecycle.Completed}}}}, errAway
		}, errAway, "Subscription Notifications Operation", ""},
		"one with its request": {func(b *bench) {
			b.box.asked.Params = []byte("!")
			b.box.batches = [][]Notification{{
				{Seq: 1, Event: lifecycle.Event{Operation: "o", Type: lifecycle.ModifyInfo, State: lifecycle.Completed}},
				{Seq: 2, Event: lifecycle.Event{Operation: "o", Type: lifecycle.ModifyInfo, State: lifecycle.Completed, Asked: []byte("?")}},
			}}
		}, nil, "Subscription Notifications Operation NotificationSent NotificationSent Notifications", "o! o?"},
	} {
		b := newBench(t)
		c.given(b)
		err := b.Work(t.Context(), b.box.one.ID)
		if !errors.Is(err, c.want) || strings.Join(b.box.calls, " ") != c.calls || strings.Join(b.post.bodies, " ") != c.sent {
			t.Errorf("%s: %v, called %q, sent %q", name, err, b.box.calls, b.post.bodies)
		}
		if forgets := map[bool]int{true: 1}[strings.Contains(name, "goes") || strings.Contains(name, "gone")]; b.post.forgot != forgets {
			t.Errorf("%s: it is forgotten %d times", name, b.post.forgot)
		}
	}
}

// Whether more wait than are kept is looked at in its interval, also where each notification takes so long.
func TestWhatWaitsIsLookedAtInItsInterval(t *testing.T) {
	b := newBench(t)
	b.box.batches = [][]Notification{notes(batch), notes(batch), notes(1)}
	b.post.send = func(string) error {
		if len(b.post.bodies) < 3 {
			b.clock.Add(trimEvery)
		}
		return nil
	}
	if err := b.Work(t.Context(), "s"); err != nil || b.box.count("GiveUpNotifications") != 2 || len(b.post.bodies) != 3 || b.box.count("Notifications") != 4 {
		t.Errorf("%v, looked %d times, sent %q", err, b.box.count("GiveUpNotifications"), b.post.bodies)
	}
}

// One that has its turn leaves its place to others after that, where all places are taken; one that took long is tardy.
func TestATurnEndsWhereAllPlacesAreTaken(t *testing.T) {
	b := newBench(t)
	o := order{Subscriptions: b.Subscriptions, one: b.box.one, began: b.clock.Now()}
	b.working.Store(atOnce)
	b.clock.Add(turn)
	if err := o.place(); err != nil {
		t.Errorf("in its turn: %v", err)
	}
	b.clock.Add(time.Millisecond)
	if err := o.place(); !errors.Is(err, job.ErrAgain) {
		t.Errorf("after its turn: %v", err)
	}
	b.working.Store(atOnce - 1)
	if err := o.place(); err != nil {
		t.Errorf("where a place is free: %v", err)
	}
	was := slowAfter
	defer func() { slowAfter = was }()
	for after, tardy := range map[time.Duration]int{-1: 1, time.Hour: 0} {
		slowAfter = after
		b.box.batches = [][]Notification{notes(1)}
		if err := b.Work(t.Context(), b.box.one.ID); err != nil || len(b.slow) != tardy {
			t.Errorf("one that is slow after %v: %v, noted %v", after, err, b.slow)
		}
	}
}

// A subscription moves as its table says, and one that is needed is not abandoned.
func TestMovesOfSubscriptions(t *testing.T) {
	all := []State{Making, Abandoned, Active, Rekeying}
	for _, from := range all {
		for _, to := range all {
			var was, next Subscription
			was.State, next.State, next.Since = from, to, time.Unix(1, 0)
			got, err := was.Moved(next)
			if legal := from == to || from.CanMove(to) && !(from.Needed() && to == Abandoned); legal != (err == nil) || legal != (got.Since == next.Since) || !legal && !errors.Is(err, broker.ErrConflict) {
				t.Errorf("from %s to %s: %v", from, to, err)
			}
		}
	}
	var active, abandoned Subscription
	active.State, abandoned.State = Active, Abandoned
	if _, err := active.Moved(abandoned); err == nil || !strings.Contains(err.Error(), "a subscription that is active cannot become abandoned") {
		t.Errorf("what is needed is abandoned: %v", err)
	}
}

var member = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}

// Lists are for those who may see: a member the project's, an administrator all; what is not made is none.
func TestSubscriptionsAreListedForThoseWhoMay(t *testing.T) {
	making, other := Subscription{ID: "making", Project: "core"}, Subscription{ID: "other", Project: "ran"}
	making.State, other.State = Making, Active
	for name, c := range map[string]struct {
		who     policy.Principal
		fails   string
		project string
		want    string
		err     error
	}{
		"a member":              {member, "", "core", "mine", nil},
		"an administrator":      {policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}, "", "", "mine other", nil},
		"nobody":                {policy.Principal{Name: "nobody", Project: "core"}, "", "", "", broker.ErrDenied},
		"without the store":     {member, "Subscriptions", "core", "", errAway},
		"without what they are": {member, "WaitingNotifications", "core", "mine", errAway},
	} {
		b := newBench(t)
		mine := b.box.one
		mine.ID, mine.Text = "mine", "sealed"
		b.box.listed, b.box.fails[c.fails] = [][]Subscription{{mine, making, other}}, errAway
		got, _, err := b.Subscriptions.Subscriptions(t.Context(), c.who, broker.Page{})
		var ids []string
		for _, one := range got {
			if ids = append(ids, one.ID); one.Text != "" {
				t.Errorf("%s: %s is shown with %q", name, one.ID, one.Text)
			}
		}
		if !errors.Is(err, c.err) || strings.Join(ids, " ") != c.want || b.box.query.Project != c.project {
			t.Errorf("%s: %q of project %q, %v", name, ids, b.box.query.Project, err)
		}
	}
}

// A subscription that another request made at the same moment is the one; it is none while that one is being made.
func TestTheQuickerOfTwoSubscriptionsIsTheOne(t *testing.T) {
	there, making := Subscription{ID: "there"}, Subscription{ID: "making"}
	there.State, making.State = Active, Making
	for name, c := range map[string]struct {
		listed [][]Subscription
		want   string
		err    error
	}{
		"made":          {[][]Subscription{nil, {there}}, "there", nil},
		"being made":    {[][]Subscription{nil, {making}}, "", broker.ErrConflict},
		"gone already":  {[][]Subscription{nil, nil}, "", broker.ErrExists},
		"there already": {[][]Subscription{{there}}, "there", nil},
		"not to be had": {[][]Subscription{{there}}, "", errAway},
	} {
		b := newBench(t)
		if c.err == errAway { //nolint:errorlint // the row's
			b.box.fails["Subscriptions"] = errAway
		}
		b.box.listed, b.box.fails["CreateSubscription"] = c.listed, broker.ErrExists
		one, made, err := b.Create(t.Context(), member, NewSubscription{Callback: "https://nfvo.example"})
		if made || !errors.Is(err, c.err) || one.ID != c.want {
			t.Errorf("%s: %s, made %t, %v", name, one.ID, made, err)
		}
	}
}

// One is shown with what waits for it, or not at all.
func TestASubscriptionIsShownWithWhatWaits(t *testing.T) {
	b := newBench(t)
	b.box.fails["WaitingNotifications"] = errAway
	if _, err := b.Subscription(t.Context(), member, b.box.one.ID); !errors.Is(err, errAway) {
		t.Errorf("where that is not known: %v", err)
	}
}

// What was never made goes, with its key and its row; what the store or the key store says of it is said.
func TestWhatWasNeverMadeGoes(t *testing.T) {
	for name, c := range map[string]struct {
		fails string
		err   error
		keys  error
		want  error
		calls string
	}{
		"all of it":                  {"", nil, nil, nil, "UpdateSubscription DeleteSubscription"},
		"one that is gone":           {"UpdateSubscription", broker.ErrNotFound, nil, nil, "UpdateSubscription DeleteSubscription"},
		"one that is needed by now":  {"UpdateSubscription", broker.ErrConflict, nil, nil, "UpdateSubscription"},
		"one that is being resealed": {"resealed", nil, nil, nil, ""},
		"one that has become needed": {"needed", nil, nil, nil, "UpdateSubscription"},
		"one that cannot be written": {"UpdateSubscription", errAway, nil, errAway, "UpdateSubscription"},
		"one whose key stays":        {"", nil, errAway, broker.ErrUnavailable, "UpdateSubscription"},
		"one whose row stays":        {"DeleteSubscription", errAway, nil, errAway, "UpdateSubscription DeleteSubscription"},
	} {
		b := newBench(t)
		b.Keys = keyring.Ring{vault{fails: c.keys}}
		b.box.one.State, b.box.one.KeyStore, b.box.one.CreatedAt = Making, "vault", b.clock.Now().Add(-time.Hour)
		b.box.fails[c.fails], b.box.listed = c.err, [][]Subscription{{b.box.one}}
		switch c.fails {
		case "needed":
			b.box.one.State = Active
		case "resealed":
			b.box.listed[0][0].State, b.box.listed[0][0].Since = Rekeying, b.clock.Now()
		}
		err := b.Passes()[0].Run(t.Context())
		got := strings.Join(slices.DeleteFunc(b.box.calls, func(s string) bool { return s == "Subscriptions" }), " ")
		if (err == nil) != (c.want == nil) || c.want == errAway && !errors.Is(err, errAway) || got != c.calls { //nolint:errorlint // the row's
			t.Errorf("%s: %v, called %q, want %v and %q", name, err, got, c.want, c.calls)
		}
	}
}

// Those that are needed and due are resealed, each for itself, until the process ends; one that was deleted needs nothing.
func TestResealingIsOfWhatIsNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		fails error
		over  bool
		want  error
		calls int
	}{
		"needed": {Active, errAway, false, errAway, 2}, "deleted": {Active, broker.ErrNotFound, false, nil, 2}, "not needed": {Making, errAway, false, nil, 0},
		"at the end of the process": {Making, nil, true, context.Canceled, 0},
	} {
		b := newBench(t)
		b.box.one.State, b.box.one.Text, b.box.one.KeyStore = c.state, "sealed", "other"
		b.box.listed, b.box.fails["RekeySubscription"] = [][]Subscription{{b.box.one, b.box.one}}, c.fails
		ctx, cancel := context.WithCancel(t.Context())
		if c.over {
			cancel()
		}
		err := b.Reseal(ctx, broker.Due{To: b.Keys})
		cancel()
		if (err == nil) != (c.want == nil) || c.over && !errors.Is(err, c.want) || b.box.count("RekeySubscription") != c.calls {
			t.Errorf("%s: %v, called %q", name, err, b.box.calls)
		}
	}
}
