package manifests

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var _ asset.Driver = Volumes{}

// Volumes implements [asset.Driver] for claims. A volume is to its claim what an instance is to its objects.
type Volumes struct{}

// ownClaims begins the names of the claims of volumes.
const ownClaims = "vimbroker-"

// Lease implements [asset.Driver]: rights to the one claim.
func (Volumes) Lease(l asset.Asset) (r broker.LeaseRequest, err error) {
	v := l.Volume
	size, wrong := resource.ParseQuantity(v.Size)
	switch {
	case len(validation.IsDNS1123Label(v.Namespace)) > 0:
		return r, broker.Invalid("spec.namespace", "is needed, and must be the name of a namespace: the VIM has none of its own")
	case len(validation.IsDNS1123Subdomain(l.Claim())) > 0:
		return r, broker.Invalid("existing.claimName", "must be the name of a claim")
	case l.Existing == "" && (wrong != nil || size.Sign() <= 0):
		return r, broker.Invalid("spec.size", "must be a size, as 10Gi")
	case v.Class != "" && len(validation.IsDNS1123Subdomain(v.Class)) > 0:
		return r, broker.Invalid("spec.storageClass", "must be the name of a storage class")
	case slices.ContainsFunc(v.Modes, func(mode string) bool {
		return !slices.Contains([]string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}, mode)
	}):
		return r, broker.Invalid("spec.accessModes", "must be ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod")
	}
	may := rules{}
	if l.Existing == "" {
		may.allow("", claimPlural, l.Claim(), "get", "create", "patch", "delete")
	} else {
		may.allow("", claimPlural, l.Claim(), "get")
	}
	return broker.LeaseRequest{Purpose: "volume", Namespaces: []string{v.Namespace}, Rules: may.done()}, nil
}

func claimOf(l asset.Asset) lifecycle.Resource {
	return lifecycle.Resource{Version: "v1", Kind: claimKind, Plural: claimPlural, Namespace: l.Volume.Namespace, Name: l.Claim()}
}

// Make implements [asset.Driver]. It does not wait for the claim to be bound, as many are with their first pod.
func (Volumes) Make(ctx context.Context, c asset.Connection, l asset.Asset) (m asset.Made, err error) {
	d := New()
	s, err := d.connect(lifecycle.Connection{Config: c.Config, Egress: c.Egress})
	if err != nil {
		return m, err
	}
	if m = l.Made; l.Existing != "" {
		there, err := s.get(ctx, claimOf(l))
		if err == nil && (there == nil || there.Metadata.Deleted != "") {
			err = broker.Invalid("existing.claimName", "is no claim of namespace %s, or one that is being removed", l.Volume.Namespace)
		}
		return m, err
	}
	modes := l.Volume.Modes
	if len(modes) == 0 {
		modes = []string{"ReadWriteOnce"}
	}
	spec := map[string]any{"accessModes": modes, "resources": map[string]any{"requests": map[string]string{"storage": l.Volume.Size}}}
	if l.Volume.Class != "" {
		spec["storageClassName"] = l.Volume.Class
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": claimKind, "spec": spec,
		"metadata": map[string]any{"name": l.Claim(), "namespace": l.Volume.Namespace, "labels": map[string]string{instanceLabel: l.ID}},
	})
	if err == nil {
		r := &run{server: s, pause: d.pause, instance: l.ID}
		_, err = r.apply(ctx, lifecycle.Object{Resource: claimOf(l), Manifest: secret.NewText(string(text))})
	}
	return m, err
}

// Remove implements [asset.Driver].
func (Volumes) Remove(ctx context.Context, c asset.Connection, l asset.Asset) error {
	if l.Existing != "" {
		return nil
	}
	w := lifecycle.Wave{Deed: lifecycle.Delete, Objects: []lifecycle.Object{{Resource: claimOf(l)}}}
	return New().Run(ctx, lifecycle.Connection{Config: c.Config, Egress: c.Egress}, l.ID, w, func(lifecycle.Observation) {})
}

// mount has pods of the instance's namespace mount its volumes in the place of the claims that they name; a claim of the
// package with such a name is not made. No pod names the claim of a volume by itself: it would be used and nobody would know.
func (s *server) mount(ctx context.Context, in lifecycle.PlanInput, all []*object, packaged bool) ([]*object, error) {
	if !packaged && len(in.Volumes) > 0 {
		return nil, broker.Invalid("additionalParams.volumes", "are of manifests: a chart makes its claims by itself, and takes no volume")
	}
	at := func(namespace, name string) int {
		return slices.IndexFunc(in.Volumes, func(v lifecycle.Volume) bool { return namespace == in.Namespace && v.Storage == name })
	}
	all = slices.DeleteFunc(all, func(o *object) bool { return isClaim(o.Resource) && at(o.Namespace, o.Name) >= 0 })
	mounted := map[string]bool{}
	for _, o := range all {
		var strange bool
		podSpecs(o.content, nil, func(_, spec map[string]any) {
			for _, v := range mappings(spec["volumes"]) {
				claim := mapAt(v, "persistentVolumeClaim")
				name := text(claim, "claimName")
				if n := at(o.Namespace, name); n >= 0 {
					claim["claimName"], mounted[name] = in.Volumes[n].Claim, true
				} else if strings.HasPrefix(name, ownClaims) {
					strange = true
				}
			}
		})
		if packaged {
			if err := s.spared(ctx, in, o, mounted); err != nil {
				return nil, err
			}
		}
		if strange {
			return nil, o.fault(nil, "%s names the claim of a volume; the request names volumes (additionalParams.volumes)", o.titleIn())
		}
	}
	for _, v := range in.Volumes {
		if !mounted[v.Storage] {
			return nil, broker.Invalid("additionalParams.volumes", "names %s, and no pod of the package mounts a claim of that name", v.Storage)
		}
	}
	return all, nil
}
