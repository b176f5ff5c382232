package bundle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const callback = "https://nfvo.example.com/told"

// TestSubscriptionsThatAreRefused are so with the field at fault.
func TestSubscriptionsThatAreRefused(t *testing.T) {
	b, i := town(t, func(o *bundle.Options) { o.Egress = func(string) *egress.Rules { return egress.Default() } })
	ctx := t.Context()
	for name, c := range map[string]struct {
		w     bundle.Watch
		field string // empty: it is kept
	}{
		"the least":            {bundle.Watch{Name: "a", Callback: callback}, ""},
		"no name":              {bundle.Watch{Callback: callback}, "name"},
		"no address":           {bundle.Watch{Name: "b"}, "callback-url"},
		"before now":           {bundle.Watch{Name: "c", Callback: callback, Interval: -1}, "min-notify-interval"},
		"the host's own":       {bundle.Watch{Name: "d", Callback: "https://127.0.0.1/told"}, "callback-url"},
		"the host's own, HTTP": {bundle.Watch{Name: "e", Callback: "http://127.0.0.1:8080/told"}, "callback-url"},
		"an outside address":   {bundle.Watch{Name: "f", Callback: "https://203.0.113.7/told"}, ""},
		"metadata of 4096":     {bundle.Watch{Name: "g", Callback: callback, Metadata: map[string]any{"a": strings.Repeat("b", 4096-8)}}, ""},
		"metadata of 4097":     {bundle.Watch{Name: "h", Callback: callback, Metadata: map[string]any{"a": strings.Repeat("b", 4096-7)}}, "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := b.KeepWatch(ctx, alice, i.ID, "", c.w)
			if c.field != "" {
				wants(t, err, broker.ErrInvalid, c.field, "")
				b.gone(bundle.OfWatch, i.ID+"/"+c.w.Name)
				return
			}
			b.ok(err)
			kept, err := b.Watch(ctx, alice, i.ID, c.w.Name)
			b.ok(err)
			want := c.w
			if want.Metadata == nil {
				want.Metadata = map[string]any{}
			}
			want.Updated, want.Notified = b.clock.Now(), b.clock.Now()
			same(t, "the subscription", kept, want)
			same(t, "the answer", got, want)
		})
	}
	all, err := b.Watches(ctx, rita, i.ID)
	if b.ok(err); len(all) != 3 {
		t.Errorf("there are %+v", all)
	}
	_, err = b.KeepWatch(ctx, alice, i.ID, "", bundle.Watch{Name: "a", Callback: callback})
	wants(t, err, broker.ErrExists, "", "")
	for name, do := range map[string]func(policy.Principal, string) error{
		"keep": func(p policy.Principal, name string) error {
			_, err := b.KeepWatch(ctx, p, i.ID, name, bundle.Watch{Callback: callback})
			return err
		},
		"delete": func(p policy.Principal, name string) error { return b.DeleteWatch(ctx, p, i.ID, name) },
		"show":   func(p policy.Principal, name string) error { _, err := b.Watch(ctx, p, i.ID, name); return err },
		"list":   func(p policy.Principal, _ string) error { _, err := b.Watches(ctx, p, i.ID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, do(bob, "a"), broker.ErrNotFound, "", "no such instance")
			if name != "list" {
				wants(t, do(alice, "none"), broker.ErrNotFound, "", "no such subscription")
			}
			if kind := map[string]error{"keep": broker.ErrDenied, "delete": broker.ErrDenied}[name]; kind != nil {
				wants(t, do(rita, "a"), kind, "", "")
			}
		})
	}
	for _, method := range []string{"UpdateBundle", "DeleteBundles"} {
		back := b.store.failing(method, 1)
		if method == "UpdateBundle" {
			_, err = b.KeepWatch(ctx, alice, i.ID, "a", bundle.Watch{Callback: callback})
		} else {
			err = b.DeleteWatch(ctx, alice, i.ID, "a")
		}
		wants(t, err, errDisk, "", "")
		back()
	}
	b.ok(b.DeleteWatch(ctx, alice, i.ID, "a"))
	b.gone(bundle.OfWatch, i.ID+"/a")
	b.ok(b.DeleteInstance(ctx, alice, i.ID))
	b.gone(bundle.OfWatch, i.ID+"/f") // with its instance
}

// tells runs the pass after a time, and wants to hear so much.
func (b *bench) tells(after time.Duration, want ...string) {
	b.t.Helper()
	b.clock.Add(after)
	b.ok(b.Tell(b.t.Context()))
	same(b.t, "what was told", b.ear.takes(), append([]string(nil), want...))
}

// TestSubscribersAreTold of what was made, changed and removed, when it is time to, until they take it.
func TestSubscribersAreTold(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	b.yard.shows = map[string]string{"front": `{"n":1}`}
	w, err := b.KeepWatch(ctx, alice, i.ID, "", bundle.Watch{Name: "w", Callback: callback, Interval: 20, Metadata: map[string]any{"m": "x"}})
	b.ok(err)
	told := func(to, created, deleted, modified string) string {
		return to + ` {"instance-id":"` + i.ID + `","metadata":{"m":"x"},"resource-changes":{"created":[` + created + `],"deleted":[` + deleted +
			`],"modified":[` + modified + `]},"subscription-name":"w"}`
	}
	object := func(name, text string) string {
		return `{"name":"` + name + `","GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"status":` + text + `}`
	}
	shows := func(text string) {
		b.yard.mu.Lock()
		defer b.yard.mu.Unlock()
		b.yard.shows = map[string]string{"front": text}
	}
	state := func(status int, notified time.Time) {
		t.Helper()
		got, err := b.Watch(ctx, alice, i.ID, "w")
		if b.ok(err); got.Status != status || !got.Notified.Equal(notified) {
			t.Errorf("the last was %d at %v, want %d at %v", got.Status, got.Notified, status, notified)
		}
	}
	b.tells(20 * time.Second) // nothing has changed
	state(0, w.Notified)
	shows(`{"n":2}`)
	b.tells(0, told(callback, "", "", object("front", `{"n":2}`)))
	state(200, b.clock.Now())
	b.tells(time.Minute)
	shows(`{"n":3}`)
	b.ear.deaf = errDisk
	for n, pause := range []time.Duration{0, 20 * time.Second, 30 * time.Second, 45 * time.Second} {
		b.tells(pause-min(pause, time.Second), []string{told(callback, "", "", object("front", `{"n":3}`))}[min(n, 1):]...)
		if n > 0 {
			b.tells(time.Second, told(callback, "", "", object("front", `{"n":3}`)))
		}
		state(500, b.clock.Now())
	}
	b.ear.deaf = nil
	if n := strings.Count(b.log.String(), `kind=subscription name=`+i.ID+`/w error="the disk is full"`); n != 4 {
		t.Errorf("%d failures are logged: %s", n, b.log)
	}
	b.tells(2*time.Minute, told(callback, "", "", object("front", `{"n":3}`)))
	state(200, b.clock.Now())
	_, err = b.UpgradeInstance(ctx, alice, i.ID, to(second))
	b.ok(err)
	b.tells(19*time.Second + 900*time.Millisecond)
	b.tells(time.Second, told(callback, object("back", `{}`), "", ""))
	_, err = b.UpgradeInstance(ctx, alice, i.ID, asked)
	b.ok(err)
	elsewhere := "https://other.example.com/told"
	moved, err := b.KeepWatch(ctx, alice, i.ID, "w", bundle.Watch{Callback: elsewhere, Metadata: map[string]any{"m": "x"}})
	if b.ok(err); moved.Name != "w" || moved.Status != 200 || moved.Updated.Equal(moved.Notified) {
		t.Errorf("it became %+v", moved)
	}
	b.tells(14 * time.Second)
	b.tells(time.Second, told(elsewhere, "", object("back", `{}`), ""))
}

// TestSubscribersThatCannotBeTold keep no other from it.
func TestSubscribersThatCannotBeTold(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	other, err := b.CreateInstance(ctx, alice, to(second))
	b.ok(err)
	for _, id := range []string{i.ID, other.ID} {
		_, err := b.KeepWatch(ctx, alice, id, "", bundle.Watch{Name: "w", Callback: callback})
		b.ok(err)
	}
	b.yard.shows = map[string]string{"front": `{"n":2}`}
	document := b.row(bundle.OfWatch, i.ID+"/w").Document
	vnf := b.row(bundle.OfInstance, i.ID).Document
	for name, spoil := range map[string]func() func(){
		"unreadable": func() func() {
			b.spoil(bundle.OfWatch, i.ID+"/w", func(string) string { return "{" })
			return func() { b.spoil(bundle.OfWatch, i.ID+"/w", func(string) string { return document }) }
		},
		"instance unreadable": func() func() {
			b.spoil(bundle.OfInstance, i.ID, func(string) string { return "{" })
			return func() { b.spoil(bundle.OfInstance, i.ID, func(string) string { return vnf }) }
		},
		"nobody's": func() func() {
			b.spoil(bundle.OfWatch, i.ID+"/w", func(d string) string { return strings.Replace(d, `"name":"alice"`, `"name":"system:x"`, 1) })
			return func() { b.spoil(bundle.OfWatch, i.ID+"/w", func(string) string { return document }) }
		},
		"not inspected": func() func() {
			b.spoil(bundle.OfWatch, i.ID+"/w", func(d string) string { return strings.Replace(d, `"roles":["member"]`, `"roles":[]`, 1) })
			return func() { b.spoil(bundle.OfWatch, i.ID+"/w", func(string) string { return document }) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := len(b.log.String())
			back := spoil()
			b.clock.Add(time.Minute)
			if err := b.Tell(ctx); err != nil && !strings.HasPrefix(name, "instance") {
				t.Errorf("Tell() = %v", err)
			}
			back()
			if heard := strings.Join(b.ear.takes(), "\n"); strings.Contains(heard, i.ID) {
				t.Errorf("told %s", heard)
			}
			if strings.Count(b.log.String()[at:], "work for ONAP is left") < 1 && name != "not inspected" {
				t.Errorf("the log is %s", b.log.String()[at:])
			}
		})
	}
	b.clock.Add(time.Minute)
	b.ok(b.Tell(ctx))
	if heard := b.ear.takes(); len(heard) != 1 || !strings.Contains(heard[0], i.ID) {
		t.Errorf("at last %v was told", heard)
	}
	back := b.store.failing("Bundles", 1)
	wants(t, b.Tell(ctx), errDisk, "", "")
	back()
	at := len(b.log.String())
	back = b.store.failing("Instance", 1)
	b.clock.Add(time.Minute)
	b.ok(b.Tell(ctx))
	if back(); strings.Count(b.log.String()[at:], "the disk is full") != 2 {
		t.Errorf("of two that are not inspected the log has %s", b.log.String()[at:])
	}
	b.yard.shows = map[string]string{"front": `{"n":3}`}
	back = b.store.failing("UpdateBundle", 1)
	at = len(b.log.String())
	b.clock.Add(time.Minute)
	b.ok(b.Tell(ctx))
	if back(); !strings.Contains(b.log.String()[at:], "the disk is full") {
		t.Error(b.log.String()[at:])
	}
}

// TestChecks are the runs of a chart's tests.
func TestChecks(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	b.rest()
	none, err := b.Checks(ctx, alice, i.ID, "")
	b.ok(err)
	same(t, "the checks of none", len(none), 0)
	first, err := b.CreateCheck(ctx, alice, i.ID)
	b.ok(err)
	if first.ID == "" || first.Status != "Running" {
		t.Errorf("it began as %+v", first)
	}
	see := func(of string, want ...string) {
		t.Helper()
		all, err := b.Checks(ctx, rita, i.ID, of)
		b.ok(err)
		var got []string
		for _, c := range all {
			at := c.ID + " " + c.Status
			for _, r := range c.Suite.Results {
				at += " " + r.Name + "=" + r.Status
			}
			if c.Instance != i.ID || c.Suite.StartedAt.IsZero() || c.Suite.CompletedAt.IsZero() != (c.Status == "Running") {
				t.Errorf("it is %+v of %+v", c, c.Suite)
			}
			got = append(got, at)
		}
		same(t, "the checks", got, want)
	}
	see("", first.ID+" Running")
	b.worked()
	see("", first.ID+" Succeeded front=Succeeded")
	b.yard.fails(lifecycle.Heal, nil, refusal(broker.ErrInvalid))
	second, err := b.CreateCheck(ctx, alice, i.ID)
	b.ok(err)
	b.worked()
	see("", second.ID+" Failed front=Failed", first.ID+" Succeeded front=Succeeded")
	see(first.ID, first.ID+" Succeeded front=Succeeded")
	_, err = b.Checks(ctx, alice, i.ID, "none")
	wants(t, err, broker.ErrNotFound, "", "no such healthcheck")
	wants(t, b.DeleteCheck(ctx, alice, i.ID, "none"), broker.ErrNotFound, "", "no such healthcheck")
	wants(t, b.DeleteCheck(ctx, rita, i.ID, second.ID), broker.ErrDenied, "", "")
	back := b.store.failing("Operations", 1)
	_, err = b.Checks(ctx, alice, i.ID, "x")
	wants(t, err, errDisk, "", "")
	_, err = b.CreateCheck(ctx, alice, i.ID)
	wants(t, err, errDisk, "", "")
	back()
	b.ok(b.DeleteCheck(ctx, alice, i.ID, second.ID))
	if o, err := b.store.Operation(ctx, second.ID); err != nil || o.State != lifecycle.Failed {
		t.Errorf("it is %s, %v", o.State, err)
	}
	third, err := b.CreateCheck(ctx, alice, i.ID)
	b.ok(err)
	b.worked()
	fourth, err := b.CreateCheck(ctx, alice, i.ID) // which gives the third up
	b.ok(err)
	see(third.ID, third.ID+" Failed front=Failed")
	b.yard.fails("", nil, nil)
	b.worked()
	see(fourth.ID, fourth.ID+" Succeeded front=Succeeded")
	b.ok(b.DeleteCheck(ctx, alice, i.ID, fourth.ID))
	_, err = b.CreateCheck(ctx, rita, i.ID)
	wants(t, err, broker.ErrDenied, "", "")
	_, err = b.CreateCheck(ctx, bob, i.ID)
	wants(t, err, broker.ErrNotFound, "", "no such instance")
	_, err = b.Checks(ctx, bob, i.ID, "")
	wants(t, err, broker.ErrNotFound, "", "no such instance")
}
