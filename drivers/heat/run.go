package heat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	// longestPause bounds the time between two looks.
	longestPause = time.Second
	// lastWord bounds what is asked and said after the context has ended.
	lastWord = 10 * time.Second
	// maxNamed bounds how many resources an error names.
	maxNamed = 5
)

// run is one wave being done.
type run struct {
	*server

	pause    time.Duration
	instance string
	wave     lifecycle.Wave
	wish     wish
	progress func(lifecycle.Observation)
	// told is the newest status of each resource that progress knows.
	told map[string]status
}

// Run implements [lifecycle.Driver].
func (d *Driver) Run(
	ctx context.Context, c lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation),
) error {
	r := &run{pause: d.pause, instance: instance, wave: w, progress: progress, told: map[string]status{}}
	for _, o := range w.Objects {
		if o.Plural == stacks && w.Deed != lifecycle.Delete {
			if err := json.Unmarshal([]byte(o.Manifest.Reveal()), &r.wish); err != nil {
				return &broker.Error{Kind: broker.ErrInvalid, Detail: "the manifest of stack " + o.Name + " is none"}
			}
		}
	}
	s, err := connect(ctx, c)
	if err != nil {
		return err
	}
	defer s.Close()
	r.server = s
	switch w.Deed {
	case lifecycle.Apply:
		return r.apply(ctx, r.update)
	case lifecycle.Replace:
		return r.apply(ctx, r.heal)
	case lifecycle.Delete:
		return r.remove(ctx)
	}
	return fmt.Errorf("deed %q: %w", w.Deed, broker.ErrUnsupported)
}

// apply makes the stack, or calls further with the existing one.
func (r *run) apply(ctx context.Context, further func(context.Context, *stack) error) error {
	k, err := r.ready(ctx)
	if err != nil {
		return err
	}
	if k == nil {
		var body struct {
			Stack stack `json:"stack"`
		}
		err := r.wish.explained(r.Call(ctx, http.MethodPost, "stacks", r.wish.body(r.instance), &body, "make stack "+stackName(r.instance)))
		if is(err, http.StatusConflict) { // somebody was faster
			if k, err = r.ready(ctx); err == nil && k == nil {
				err = foreignStack(r.instance)
			}
		} else if err == nil {
			failpoint.At("heat.created")
			k = &stack{ID: body.Stack.ID, Name: stackName(r.instance), Status: "CREATE_IN_PROGRESS"}
			if !IsID(k.ID) {
				return foreign("make stack "+k.Name, orchestrator, 0)
			}
			return r.await(ctx, k, "")
		}
		if err != nil {
			return r.cut(ctx, err)
		}
	}
	return further(ctx, k)
}

// update updates the stack to the wish. Heat replaces its resources that were marked unhealthy.
func (r *run) update(ctx context.Context, k *stack) error {
	last, err := r.last(ctx, k)
	if err != nil {
		return r.cut(ctx, err)
	}
	if err := r.wish.explained(r.Call(ctx, http.MethodPut, k.path(), r.wish.body(r.instance), nil, "update stack "+k.Name)); err != nil {
		return r.cut(ctx, err)
	}
	failpoint.At("heat.updated")
	return r.await(ctx, k, last)
}

// ready finds the instance's stack, and waits until Heat does nothing with it; nil if there is none. A stack that
// is not the instance's is a conflict.
func (r *run) ready(ctx context.Context) (*stack, error) {
	k, err := r.find(ctx, r.instance)
	for pause := r.pause; err == nil && k != nil; pause = min(pause*3/2, longestPause) {
		switch {
		case !k.of(r.instance):
			return nil, foreignStack(r.instance)
		case k.Status == "DELETE_FAILED":
			return nil, r.failure(ctx, k)
		case !k.Status.busy():
			return k, nil
		}
		if lifecycle.Sleep(ctx, pause) != nil {
			return nil, r.unready(ctx, k)
		}
		k, err = r.find(ctx, r.instance)
	}
	return k, r.cut(ctx, err)
}

// heal replaces the requested VNFCs and the resources that were marked unhealthy, and then the resources that Heat
// finds broken. A check clears earlier marks, so replacing comes first: a worker that takes over from one that
// died finds the remaining work in Heat.
func (r *run) heal(ctx context.Context, k *stack) error {
	all, err := r.parts(ctx, k)
	if err != nil {
		return r.cut(ctx, err)
	}
	replaced := false
	for _, p := range all {
		asked := slices.ContainsFunc(r.wave.VNFCs, func(v lifecycle.VNFC) bool { return v.UID == p.Physical })
		marked := p.Status == "CHECK_FAILED" && p.nested == ""
		if asked && !marked {
			if p.in == "" {
				return foreign("list the resources of stack "+k.Name, orchestrator, 0)
			}
			if err := r.condemn(ctx, p); err != nil {
				return r.cut(ctx, err)
			}
		}
		replaced = replaced || asked || marked
	}
	if replaced {
		failpoint.At("heat.condemned")
		if err := r.update(ctx, k); err != nil {
			return err
		}
	}
	last, err := r.last(ctx, k)
	if err != nil {
		return r.cut(ctx, err)
	}
	if err := r.act(ctx, k, "check"); err != nil {
		return r.cut(ctx, err)
	}
	failpoint.At("heat.checked")
	switch err := r.await(ctx, k, last); {
	case err == nil && replaced:
		return nil
	case err != nil && !errors.Is(err, errChecked):
		return err
	}
	return r.update(ctx, k)
}

// remove deletes the stack if it is the instance's, and waits until it is gone.
func (r *run) remove(ctx context.Context) error {
	k, err := r.find(ctx, r.instance)
	if err != nil {
		return r.cut(ctx, err)
	}
	asked := false
	for pause := r.pause; k != nil && k.of(r.instance); pause = min(pause*3/2, longestPause) {
		if !asked && k.Status != "DELETE_IN_PROGRESS" {
			if err := r.Call(ctx, http.MethodDelete, k.path(), nil, nil, "delete stack "+k.Name); err != nil && !is(err, http.StatusNotFound) {
				return r.cut(ctx, err)
			}
			failpoint.At("heat.deleted")
		} else if k.Status == "DELETE_FAILED" {
			return r.failure(ctx, k)
		}
		asked = true
		if lifecycle.Sleep(ctx, pause) != nil {
			return r.unready(ctx, k)
		}
		tags := k.Tags
		if k, err = r.get(ctx, k); err != nil {
			return r.cut(ctx, err)
		}
		if k != nil {
			k.Tags = tags
			r.tellDeleted(ctx, k)
		}
	}
	for _, o := range r.wave.Objects {
		r.progress(lifecycle.Observation{Resource: o.Resource})
	}
	return nil
}

// tellDeleted tells of resources that are gone already. That it cannot be told now hinders nothing.
func (r *run) tellDeleted(ctx context.Context, k *stack) {
	all, err := r.parts(ctx, k)
	if err != nil {
		return
	}
	for _, p := range all {
		if p.Parent == "" {
			r.tell(p.Name, p.Status, p.Reason)
		}
	}
}

// event is something that happened to a resource, or to the stack itself.
type event struct {
	ID       string `json:"id"`
	Resource string `json:"resource_name"`
	Status   status `json:"resource_status"`
	Reason   string `json:"resource_status_reason"`
	Physical string `json:"physical_resource_id"`
}

// events are those of a stack after one of them; of all, if that is empty.
func (r *run) events(ctx context.Context, k *stack, query string) ([]event, error) {
	var body struct {
		Events []event `json:"events"`
	}
	err := r.Call(ctx, http.MethodGet, k.path()+"/events?"+query, nil, &body, "follow stack "+k.Name)
	if is(err, http.StatusNotFound) {
		return nil, &broker.Error{
			Kind: lifecycle.ErrNotReady, Detail: "stack " + k.Name + " was deleted while it was waited for",
			Remedy: "see who deleted it; a retry makes it again",
		}
	}
	if err == nil && body.Events == nil {
		err = foreign("follow stack "+k.Name, orchestrator, 0)
	}
	return body.Events, err
}

// last is the id of the newest event of a stack, or empty.
func (r *run) last(ctx context.Context, k *stack) (string, error) {
	found, err := r.events(ctx, k, "sort_dir=desc&limit=1")
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

var errChecked = errors.New("a check has found something broken")

// await follows the events of a stack after one of them, until the stack's own says that Heat is done with it.
func (r *run) await(ctx context.Context, k *stack, after string) error {
	for pause := r.pause; ; pause = min(pause*5/4, longestPause) {
		if lifecycle.Sleep(ctx, pause) != nil {
			return r.unready(ctx, k)
		}
		query := "sort_dir=asc&limit=200"
		if IsID(after) {
			query += "&marker=" + after
		}
		found, err := r.events(ctx, k, query)
		if err != nil {
			return r.cut(ctx, err)
		}
		for _, e := range found {
			after = e.ID
			if e.Physical != k.ID || e.Resource != k.Name {
				r.tell(e.Resource, e.Status, e.Reason)
				continue
			}
			switch {
			case e.Status == "CHECK_FAILED":
				return errChecked
			case e.Status.failed():
				return r.failure(ctx, k)
			case e.Status == "CHECK_COMPLETE":
				return nil
			case e.Status.complete():
				return r.done(ctx, k)
			}
		}
	}
}

// tell reports a resource of the template whose status has changed. It keeps nothing on resources that the wave does not
// know: the server may name any number of them.
func (r *run) tell(name string, now status, reason string) {
	at := slices.IndexFunc(r.wave.Objects, func(o lifecycle.Object) bool { return o.Plural == pieces && o.Name == name })
	now = status(now.text())
	if at < 0 || r.told[name] == now || now.action() == "CHECK" {
		return
	}
	r.told[name] = now
	seen := lifecycle.Observation{Resource: r.wave.Objects[at].Resource, Standing: true, Ready: now.complete(), Message: ""}
	switch {
	case now == "DELETE_COMPLETE":
		seen.Standing, seen.Ready = false, false
	case now.failed():
		seen.Message = now.text() + ": " + r.wish.reason(reason)
	case !seen.Ready:
		seen.Message = "is " + now.text()
	}
	r.progress(seen)
}

// done tells how everything stands in the end.
func (r *run) done(ctx context.Context, k *stack) error {
	now, err := r.get(ctx, k)
	if err != nil {
		return r.cut(ctx, err)
	}
	if now == nil || now.Status.action() == "DELETE" {
		return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "stack " + k.Name + " was deleted meanwhile"}
	}
	all, err := r.parts(ctx, now)
	if err != nil {
		return r.cut(ctx, err)
	}
	// That addresses cannot be told hinders nothing.
	points, _ := r.connected(ctx, now, all)
	for _, o := range r.wave.Objects {
		seen := observed(now, all, o.Resource, r.wish.VDUs)
		for i, v := range seen.VNFCs {
			seen.VNFCs[i].CPs = points[v.UID]
		}
		if o.Plural == stacks {
			seen.Applied, seen.ChangedBy = now.mark(), nil
		}
		r.progress(seen)
	}
	return nil
}

// failure is the error of a stack that Heat has given up: it names the resources that failed, and why.
func (r *run) failure(ctx context.Context, k *stack) error {
	said := "stack " + k.Name + " failed"
	if now, err := r.get(ctx, k); err == nil && now != nil {
		said = "stack " + k.Name + " is " + now.Status.text()
	}
	all, err := r.parts(ctx, k)
	if err != nil {
		return r.cut(ctx, err)
	}
	var names []string
	for _, p := range all {
		// A nested stack fails with its resources.
		if p.Status.failed() && (p.nested == "" || !slices.ContainsFunc(below(all, p)[1:], func(c part) bool { return c.Status.failed() })) {
			names = append(names, fmt.Sprintf("resource %s (%s) is %s: %s", pathOf(all, p), printable(p.Type), p.Status.text(),
				r.wish.reason(p.Reason)))
		}
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "and others")
	}
	if len(names) > 0 {
		said += ": " + strings.Join(names, "; ")
	}
	return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: said, Remedy: "correct what Heat names, and retry or roll back"}
}

// pathOf names a part with those that it is in: "group/0/VDU1".
func pathOf(all []part, p part) string {
	for _, c := range all {
		if c.nested != "" && c.nested == p.in && c.in != p.in {
			return pathOf(all, c) + "/" + printable(p.Name)
		}
	}
	return printable(p.Name)
}

func foreignStack(instance string) error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "stack " + stackName(instance) + " exists on the cloud and is not the instance's",
		Remedy: "see whose it is, and delete it",
	}
}

// cut returns the error unchanged, or the error of the stack that was waited for when the context
// ended.
func (r *run) cut(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, broker.ErrUnreachable) {
		return err
	}
	return r.unready(ctx, &stack{Name: stackName(r.instance)})
}

// unready is the error of a stack that Heat was still working on when the context ended. If the operation was
// canceled, Heat is told to stop.
func (r *run) unready(ctx context.Context, k *stack) error {
	after, end := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer end()
	detail := "not ready in time: stack " + k.Name
	if errors.Is(ctx.Err(), context.Canceled) {
		detail = "the operation was stopped while it waited: stack " + k.Name
	}
	if errors.Is(context.Cause(ctx), lifecycle.ErrCanceled) {
		r.stop(after)
	}
	if k.ID != "" {
		if all, err := r.parts(after, k); err == nil {
			var open []string
			for _, p := range all {
				if p.Status.busy() && p.nested == "" && len(open) < maxNamed {
					open = append(open, pathOf(all, p)+" is "+p.Status.text())
				}
			}
			if len(open) > 0 {
				detail += ": " + strings.Join(open, ", ")
			}
		}
	}
	return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: detail, Cause: ctx.Err()}
}

// stop has Heat end its work on the stack, as far as Heat can be told in a moment.
func (r *run) stop(ctx context.Context) {
	k, err := r.find(ctx, r.instance)
	if err != nil || k == nil || !k.of(r.instance) || !k.Status.busy() || k.Status.action() == "DELETE" {
		return
	}
	if r.act(ctx, k, "cancel_without_rollback") != nil {
		return
	}
	failpoint.At("heat.stopped")
	for err == nil && k != nil && k.Status.busy() && lifecycle.Sleep(ctx, r.pause) == nil {
		k, err = r.find(ctx, r.instance)
	}
}
