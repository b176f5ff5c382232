package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// run is one wave being done.
type run struct {
	*server

	pause    time.Duration
	instance string
	wave     lifecycle.Wave

	mu       sync.Mutex // guards progress, whose calls come one at a time
	progress func(lifecycle.Observation)

	scaledMu sync.Mutex
	// scaled are the targets of autoscalers, by namespace; guarded by scaledMu.
	scaled map[string]map[identity]bool
}

// Run implements [lifecycle.Driver].
func (d *Driver) Run(
	ctx context.Context, c lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation),
) error {
	s, err := d.connect(c)
	if err != nil {
		return err
	}
	r := &run{server: s, pause: d.pause, instance: instance, wave: w, progress: progress}
	switch w.Deed {
	case lifecycle.Apply:
		return r.applyAll(ctx)
	case lifecycle.Scale:
		return r.scaleAll(ctx)
	case lifecycle.Replace:
		return r.replaceAll(ctx)
	case lifecycle.Delete:
		return r.deleteAll(ctx)
	}
	return fmt.Errorf("deed %q: %w", w.Deed, broker.ErrUnsupported)
}

func (r *run) tell(o lifecycle.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress(o)
}

// each calls a function for objects in parallel. The first error ends it.
func each[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for _, one := range all {
		group.Go(func() error { return do(within, one) })
	}
	return group.Wait()
}

// applyAll makes the objects in the order of their kinds, and then waits for all.
func (r *run) applyAll(ctx context.Context) error {
	var all []*waiting
	for rest := r.wave.Objects; len(rest) > 0; {
		n := 1
		for n < len(rest) && rank(rest[n].Resource) == rank(rest[0].Resource) {
			n++
		}
		made := make([]*waiting, n)
		for i := range made {
			made[i] = &waiting{Object: rest[i]}
			made[i].done = r.isReady(&made[i].Resource)
		}
		err := each(ctx, made, func(ctx context.Context, w *waiting) error {
			o, err := r.apply(ctx, w.Object)
			if err != nil {
				return err
			}
			w.Applied, w.UID = o.mark(), o.Metadata.UID
			r.see(w, o)
			return nil
		})
		if err != nil {
			return err
		}
		all, rest = append(all, made...), rest[n:]
	}
	return r.await(ctx, all)
}

// noVersion is a resourceVersion that no object has: etcd counts from 1, and the first
// object that it keeps is one more.
const noVersion = "1"

// apply makes one object, or changes it to what the manifest says.
func (r *run) apply(ctx context.Context, o lifecycle.Object) (*found, error) {
	content, err := parse(o)
	if err != nil {
		return nil, err
	}
	for stands := o.Applied != ""; ; stands = true {
		var there *found
		if stands {
			if there, err = r.get(ctx, o.Resource); err != nil {
				return nil, r.cut(ctx, o.Resource, err)
			}
		}
		switch {
		case there != nil && !r.ours(there, o.Resource):
			return nil, foreign(o.Resource)
		case there != nil && there.Metadata.Deleted != "":
			// It was told to go before. It is made again when it is gone.
			err = errors.New(there.remains())
		default:
			var made *found
			if err = r.handOver(ctx, o.Resource, content, there); err == nil {
				made, err = r.patch(ctx, o.Resource, content, there)
			}
			if err == nil {
				return made, nil
			}
			if !isConflict(err) {
				return nil, r.cut(ctx, o.Resource, fault(err, "apply "+title(o.Resource)))
			}
			// An object exists there, or has changed: find its owner.
			err = errors.New("is changed by others again and again")
		}
		if lifecycle.Sleep(ctx, r.pause) != nil {
			return nil, notReady(o.Resource, err.Error(), ctx.Err())
		}
	}
}

func parse(o lifecycle.Object) (content map[string]any, err error) {
	decoder := json.NewDecoder(strings.NewReader(o.Manifest.Reveal()))
	decoder.UseNumber()
	if err = decoder.Decode(&content); err == nil && mapAt(content, "metadata") != nil {
		return content, nil
	}
	return nil, &broker.Error{Kind: broker.ErrInvalid, Detail: "the manifest of " + title(o.Resource) + " is none"}
}

// patch applies content to the very object that is there, or makes one where none is.
func (r *run) patch(ctx context.Context, to lifecycle.Resource, content map[string]any, there *found) (*found, error) {
	meta := mapAt(content, "metadata")
	delete(meta, "uid")
	delete(meta, "resourceVersion")
	if there != nil {
		meta["uid"] = there.Metadata.UID
	} else {
		meta["resourceVersion"] = noVersion
	}
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	defer clear(body)
	made := found{manager: r.manager}
	err = r.call(ctx, request{
		method: http.MethodPatch, path: pathOf(to), content: "application/apply-patch+yaml", body: body,
		// force: fields of our own object that somebody else took are taken back.
		query: url.Values{"fieldManager": {r.manager}, "force": {"true"}, "fieldValidation": {"Strict"}},
	}, &made)
	if err == nil && (made.Metadata.Name != to.Name || made.Metadata.Labels[instanceLabel] != r.instance) {
		err = errNotKubernetes
	}
	return &made, err
}

// deleteAll removes objects, custom resources before those that may be needed to end
// them, and waits until all are gone.
func (r *run) deleteAll(ctx context.Context) error {
	var custom, others []*waiting
	for _, o := range r.wave.Objects {
		w := &waiting{Object: o, done: r.isGone(o.Resource)}
		if isCustom(o.Resource) {
			custom = append(custom, w)
		} else {
			others = append(others, w)
		}
	}
	for _, all := range [][]*waiting{custom, others} {
		for rest := all; len(rest) > 0; { // one kind after the other: the order is that of the plan
			n := 1
			for n < len(rest) && rest[n].Group == rest[0].Group && rest[n].Kind == rest[0].Kind {
				n++
			}
			err := each(ctx, rest[:n], func(within context.Context, w *waiting) error {
				if err := r.remove(within, w); err != nil {
					return r.cut(ctx, w.Resource, err)
				}
				return nil
			})
			if err != nil {
				return err
			}
			rest = rest[n:]
		}
		if err := r.await(ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the very object that exists, if it is the instance's, and with it the objects
// that it owns.
func (r *run) remove(ctx context.Context, w *waiting) error {
	o, err := r.get(ctx, w.Resource)
	if err != nil {
		return err
	}
	if r.ours(o, w.Resource) && o.Metadata.Deleted == "" {
		uid := o.Metadata.UID
		err = r.deleteByUID(ctx, w.Resource, uid, o.propagation(w.Resource))
		if isConflict(err) { // it went, and perhaps another came
			now, lost := r.get(ctx, w.Resource)
			if lost != nil {
				return lost
			} else if now == nil || now.Metadata.UID != uid {
				o, err = nil, nil
			}
		}
		switch {
		case isGone(err, w.Resource):
			o = nil
		case err != nil:
			return fault(err, "delete "+title(w.Resource))
		case o != nil:
			o.Metadata.Deleted = "now"
		}
	}
	r.see(w, o)
	return nil
}

// propagation says when what an object owns is deleted: before it, so that nothing is left when it
// is gone. A custom resource with a finalizer has a controller that ends what it owns in an order
// of its own: a Cluster of Cluster API its machines before its infrastructure. Kinds that own nothing go at once: the
// cluster's collector, which takes 20 objects a second for everybody, is not waited for.
func (o *found) propagation(r lifecycle.Resource) string {
	if len(o.Metadata.Finalizers) > 0 && isCustom(r) || orderedGroups[r.Group] && slices.Contains(childless, r.Kind) {
		return "Background"
	}
	return "Foreground"
}

// childless are the kinds of Kubernetes whose objects own nothing.
var childless = []string{
	"PriorityClass", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount", "Secret", "ConfigMap",
	"StorageClass", "PersistentVolumeClaim", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "HorizontalPodAutoscaler",
	"IngressClass", "Ingress", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

func (s *server) deleteByUID(ctx context.Context, r lifecycle.Resource, uid, propagation string) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation, "preconditions": map[string]string{"uid": uid},
	})
	if err != nil {
		return err
	}
	var answer struct {
		Kind string `json:"kind"`
	}
	err = s.call(ctx, request{method: http.MethodDelete, path: pathOf(r), content: "application/json", body: body}, &answer)
	if err == nil && answer.Kind == "" {
		err = errNotKubernetes // a page of some gateway has deleted nothing
	}
	return err
}

// isGone reports whether nothing of the instance's is there any more.
func (r *run) isGone(of lifecycle.Resource) func(*found) (bool, error) {
	return func(o *found) (bool, error) { return !r.ours(o, of), nil }
}

// isReady reports whether an object is as its manifest wants it.
func (r *run) isReady(of *lifecycle.Resource) func(*found) (bool, error) {
	return func(o *found) (bool, error) {
		if !r.ours(o, *of) {
			return false, nil
		}
		s := o.state()
		if s.failed {
			return false, errFailed
		}
		return s.ready, nil
	}
}

// ours reports whether an existing object is the instance's.
func (r *run) ours(o *found, of lifecycle.Resource) bool { return o.is(r.instance, of) }

// errFailed says that waiting does not help.
var errFailed = errors.New("will not become ready by itself")
