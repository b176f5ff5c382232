package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
)

// Watch is a subscription to the status of an instance.
type Watch struct {
	Name string `json:"name"`
	// Interval is the least number of seconds between two notifications.
	Interval int64     `json:"min-notify-interval"`
	Updated  time.Time `json:"last-update-time"`
	Callback string    `json:"callback-url"`
	// Notified is when the last attempt to notify was, Status how it went: 200 or 500, 0 before the first.
	Notified time.Time      `json:"last-notify-time"`
	Status   int            `json:"last-notify-status"`
	Metadata map[string]any `json:"metadata"`
}

// Shown is the state of an object of an instance.
type Shown struct {
	Name   string          `json:"name"`
	GVK    GVK             `json:"GVK"`
	Status json.RawMessage `json:"status"`
}

// Objects are what was seen of an instance.
func Objects(seen []lifecycle.Showing) []Shown {
	all := []Shown{}
	for _, o := range seen {
		if len(o.Object) == 0 {
			o.Object = json.RawMessage(`{}`)
		}
		all = append(all, Shown{o.Name, GVK{o.Group, o.Version, o.Kind}, o.Object})
	}
	return all
}

// watch is the document of a subscription. Seen are digests of the objects that the subscriber knows of, by what they are.
type watch struct {
	Watch

	Failures int
	Asker    policy.Delegation
	Seen     map[string][]byte
}

const (
	// tellEvery is the interval of the pass that tells subscribers, and the least one of theirs; a subscriber that fails is
	// tried every tellSlowly at last. tellAtOnce are told at the same time, each within tellTime.
	tellEvery, tellSlowly = 15 * time.Second, 15 * time.Minute
	tellAtOnce, tellTime  = 16, 10 * time.Second
)

// checked refuses a subscription that cannot be served.
func (b *Bundles) checked(project string, w *Watch) error {
	host, err := subscription.Address("callback-url", w.Callback, false)
	if ip, name := netip.ParseAddr(host); err == nil && name == nil {
		u, _ := url.Parse(w.Callback) // it was parsed before
		port, _ := strconv.ParseUint(cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443"), 10, 16)
		if b.Egress(project).Check(netip.AddrPortFrom(ip, uint16(port))) != nil {
			err = broker.Invalid("callback-url", "leads to an address that the broker may not reach")
		}
	}
	if w.Metadata == nil {
		w.Metadata = map[string]any{}
	}
	if err == nil && w.Interval < 0 {
		err = broker.Invalid("min-notify-interval", "must not be negative")
	}
	return cmp.Or(validName("name", w.Name), err, validText("metadata", written(w.Metadata)))
}

// KeepWatch has changes of an instance's objects told from now on; for the subscription of a name, it changes where, how
// often and with what they are told.
func (b *Bundles) KeepWatch(ctx context.Context, p policy.Principal, id, name string, w Watch) (Watch, error) {
	was, err := part[watch](ctx, b, p, policy.VNFModify, OfWatch, id, name)
	if w.Name = cmp.Or(name, w.Name); err == nil {
		err = b.refuse(ctx, was.act, b.checked(p.Project, &w))
	}
	if err != nil {
		return w, err
	}
	one := watch{Watch: w, Asker: policy.Delegate(p, b.Now())}
	one.Updated, one.Notified, one.Status = b.Now(), b.Now(), 0
	if name != "" {
		one.Seen, one.Notified, one.Status = was.is.Seen, was.is.Notified, was.is.Status
		_, err = b.Store.UpdateBundle(ctx, was.ID, func(now *Row) error {
			now.Document = written(one)
			return nil
		}, new(was.act.Done()))
		return one.Watch, b.refuse(ctx, was.act, err)
	}
	seen, err := b.Life.Inspect(ctx, p, was.of.at().Instance)
	if err == nil {
		one.changes(Objects(seen))
		row := b.newRow(p, OfWatch, id+"/"+w.Name, one)
		row.Busy = true
		err = b.Store.CreateBundles(ctx, []Row{row}, perProject, was.act.Done())
	}
	return one.Watch, b.refuse(ctx, was.act, err)
}

// DeleteWatch ends a subscription.
func (b *Bundles) DeleteWatch(ctx context.Context, p policy.Principal, id, name string) error {
	w, err := part[Watch](ctx, b, p, policy.VNFModify, OfWatch, id, name)
	if err != nil {
		return err
	}
	return b.remove(ctx, w.act, w.Row)
}

// Watch returns one.
func (b *Bundles) Watch(ctx context.Context, p policy.Principal, id, name string) (Watch, error) {
	w, err := part[Watch](ctx, b, p, policy.VNFShow, OfWatch, id, name)
	return w.is, err
}

// Watches returns all of an instance.
func (b *Bundles) Watches(ctx context.Context, p policy.Principal, id string) ([]Watch, error) {
	return parts(ctx, b, p, OfWatch, id, func(w Watch) Watch { return w })
}

// Tell is the pass that tells subscribers what has changed.
func (b *Bundles) Tell(ctx context.Context) error {
	var group errgroup.Group
	group.SetLimit(tellAtOnce)
	err := b.each(ctx, Filter{Busy: true}, func(r Row) error {
		if r.Kind == OfWatch {
			group.Go(func() error {
				if err := b.tell(ctx, r); !errors.Is(err, broker.ErrNotFound) { // it goes with its instance
					b.leftover(ctx, r, err) // one that cannot be told keeps no other from it
				}
				return nil
			})
		}
		return nil
	})
	return errors.Join(err, group.Wait())
}

// changes are those of objects since the last time; they count as known from here on.
func (w *watch) changes(objects []Shown) map[string][]Shown {
	delta := map[string][]Shown{"created": {}, "deleted": {}, "modified": {}}
	before := w.Seen
	w.Seen = map[string][]byte{}
	for _, o := range objects {
		key, sum := written([]any{o.GVK, o.Name}), sha256.Sum256(o.Status)
		w.Seen[key] = sum[:8]
		if was, known := before[key]; !known {
			delta["created"] = append(delta["created"], o)
		} else if string(was) != string(sum[:8]) {
			delta["modified"] = append(delta["modified"], o)
		}
	}
	for key := range before {
		if _, is := w.Seen[key]; !is {
			gone := Shown{Status: json.RawMessage(`{}`)}
			_ = json.Unmarshal([]byte(key), &[]any{&gone.GVK, &gone.Name}) // it was written so
			delta["deleted"] = append(delta["deleted"], gone)
		}
	}
	return delta
}

// tell tells a subscriber of changes, if it is time to. What it does not take it is told again, with what follows.
func (b *Bundles) tell(ctx context.Context, r Row) error {
	w, err := documentOf[watch](r)
	pause := max(time.Duration(w.Interval)*time.Second, tellEvery, min(time.Duration(w.Failures)*tellEvery, tellSlowly))
	if err != nil || b.Now().Before(w.Notified.Add(pause)) {
		return err
	}
	of, i, err := read[instance](b.Store.Bundle(ctx, r.Project, OfInstance, path.Dir(r.Name)))
	if err != nil {
		return err
	}
	p, gone := b.Delegates.Resume(ctx, Actor, w.Asker)
	if gone != nil {
		return gone
	}
	seen, err := b.Life.Inspect(ctx, p, i.at().Instance)
	if err != nil {
		return err
	}
	next := w
	delta := next.changes(Objects(seen))
	if len(delta["created"])+len(delta["deleted"])+len(delta["modified"]) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	err = b.Endpoint.Send(bounded, subscription.Subscriber{
		Callback: w.Callback, Egress: b.Egress(r.Project),
		Credentials: func(context.Context) (c subscription.Credentials, err error) { return c, nil },
	}, []byte(written(map[string]any{
		"instance-id": of.Name, "subscription-name": w.Name, "metadata": w.Metadata, "resource-changes": delta,
	})))
	if next.Failures, next.Status = 0, http.StatusOK; err != nil {
		b.leftover(ctx, r, err)
		next = w
		next.Failures, next.Status = w.Failures+1, http.StatusInternalServerError
	}
	next.Notified = b.Now()
	_, err = b.Store.UpdateBundle(ctx, r.ID, func(now *Row) error {
		if now.Document == r.Document { // otherwise it was changed meanwhile, and is told again
			now.Document = written(next)
		}
		return nil
	}, nil)
	return err
}
