package manifests

import (
	"context"
	"slices"
	"strconv"
	"strings"

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
		Name string `json:"name"`
		UID  string `json:"uid"`
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
