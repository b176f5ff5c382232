package manifests

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// The kinds of claims, and of those that make claims by themselves.
const (
	claimKind   = "PersistentVolumeClaim"
	claimPlural = "persistentvolumeclaims"
	statefulSet = "StatefulSet"
)

func isClaim(r lifecycle.Resource) bool { return r.Group == "" && r.Kind == claimKind }

func storage(desc, namespace, name, uid string) lifecycle.Storage {
	return lifecycle.Storage{Desc: desc, Kind: claimKind, Namespace: namespace, Name: name, UID: uid}
}

// madeClaim is a claim that a StatefulSet has made of a template.
type madeClaim struct {
	Metadata struct {
		Name   string            `json:"name"`
		UID    string            `json:"uid"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`

	template string
}

// claimed takes in which claims an object makes.
func (w *waiting) claimed(o *found) {
	if o == nil || w.Group != apps || w.Kind != statefulSet {
		return
	}
	spec := mapAt(o.whole, "spec")
	w.makes, w.outlives = nil, outlasts(spec)
	for _, t := range mappings(spec["volumeClaimTemplates"]) {
		w.makes = append(w.makes, word(text(mapAt(t, "metadata"), "name")))
	}
}

// outlasts reports whether the claims of a StatefulSet stay when it goes.
func outlasts(spec map[string]any) bool {
	return text(mapAt(spec, "persistentVolumeClaimRetentionPolicy"), "whenDeleted") != "Delete"
}

// claims are those that an object has made, one for each of its pods and templates; those of pods that it has no more,
// too.
func (s *server) claims(ctx context.Context, w *waiting) (all []madeClaim, err error) {
	if len(w.makes) == 0 {
		return nil, nil
	}
	of := lifecycle.Resource{Version: "v1", Kind: claimKind, Plural: claimPlural, Namespace: w.Namespace}
	err = pages(ctx, s, of, nil, func(c madeClaim) {
		for _, t := range w.makes {
			number, is := strings.CutPrefix(c.Metadata.Name, t+"-"+w.Name+"-")
			if _, no := strconv.ParseUint(number, 10, 31); is && no == nil {
				c.template = t
				all = append(all, c)
			}
		}
	})
	if err != nil {
		return nil, fault(err, "list claims in namespace "+w.Namespace)
	}
	slices.SortFunc(all, func(a, b madeClaim) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return all, nil
}

// spared refuses a StatefulSet that would take claims of others, now or with more pods. The instance's have its label, which
// their templates get here, or are volumes that the request names; those are mounted. It looks under a lease of its own.
func (s *server) spared(ctx context.Context, in lifecycle.PlanInput, o *object, mounted map[string]bool) error {
	w, spec := &waiting{Object: lifecycle.Object{Resource: o.Resource}}, mapAt(o.content, "spec")
	for _, made := range o.Storages { // of one that is scaled
		w.makes = append(w.makes, made.Desc)
	}
	for _, t := range mappings(spec["volumeClaimTemplates"]) {
		if meta := mapAt(t, "metadata"); meta != nil && o.Group == apps && o.Kind == statefulSet {
			setText(meta, "labels", instanceLabel, in.Instance)
			w.makes = append(w.makes, text(meta, "name"))
		}
	}
	if len(w.makes) == 0 {
		return nil
	}
	list := []broker.Rule{{APIGroups: []string{""}, Resources: []string{claimPlural}, Verbs: []string{"list"}}}
	err := s.further(ctx, lifecycle.StageRules{Namespaces: []string{o.Namespace}, Rules: list}, func(c lifecycle.Connection) error {
		within, err := (&Driver{manager: s.manager}).connect(c)
		if err != nil {
			return err
		}
		all, err := within.claims(ctx, w)
		for _, c := range all {
			named := slices.ContainsFunc(in.Volumes, func(v lifecycle.Volume) bool { return v.Claim == c.Metadata.Name })
			if named && o.Namespace == in.Namespace && spec["persistentVolumeClaimRetentionPolicy"] == nil {
				mounted[c.Metadata.Name] = true
			} else if c.Metadata.Labels[instanceLabel] != in.Instance {
				return broker.Invalid("additionalParams.volumes", "do not name claim %s, which %s would take: make it a volume (volume create NAME "+
					"--claim %[1]s) and name that (--volume %[1]s=NAME) without persistentVolumeClaimRetentionPolicy, or delete it",
					c.Metadata.Name, title(o.Resource))
			}
		}
		return err
	})
	if _, unmade := errors.AsType[*broker.MissingNamespace](err); unmade {
		return nil
	}
	return err
}

// unclaimed names a claim of an object that gets no volume, and says why; empty if there is none.
func (r *run) unclaimed(ctx context.Context, w *waiting) string {
	all, err := r.claims(ctx, w)
	if err != nil {
		return ""
	}
	for _, c := range all {
		if c.Status.Phase != "Pending" {
			continue
		}
		o := &found{}
		if o.event, o.says, err = r.newestEvent(ctx, w.Resource, c.Metadata.UID, ""); err != nil {
			return ""
		}
		if now := o.claim(); !now.ready {
			return ": its claim " + c.Metadata.Name + " " + now.message
		}
	}
	return ""
}
