package manifests

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

var _ lifecycle.Driver = (*Driver)(nil)

// Names of what stands on objects and in packages. Brokers that come after this one
// rely upon them: never change them.
const (
	// ownManager owns the fields that a package's manifests set.
	ownManager = "vimbroker"
	// prefix begins the labels and annotations that packages cannot set, but for those
	// that are listed here.
	prefix = "vimbroker.io/"
	// instanceLabel holds the instance's id, on objects and on the pods of workloads.
	instanceLabel = lifecycle.InstanceLabel
	// vduLabel holds the name of the VDU that a pod runs.
	vduLabel = "vimbroker.io/vdu"
	// waveAnnotation puts an object into a wave: a whole number, 0 if it is missing.
	// Each wave is ready before the next begins.
	waveAnnotation = "vimbroker.io/wave"
	// outlivesAnnotation says whether an object stays when its instance is terminated:
	// "true", or "false", which is meant where it is missing but for definitions.
	outlivesAnnotation = "vimbroker.io/outlives"
	// vduAnnotation names the VDU that a workload runs, if that is not the workload's own name.
	vduAnnotation = vnfpkg.VDUAnnotation
	// partAnnotation names the part of the instance that the object is of, by the caller's name for its VIM; the first, if it is
	// missing.
	partAnnotation = "vimbroker.io/part"
	// variablesAnnotation switches the substitution of variables off: "off".
	variablesAnnotation = "vimbroker.io/variables"
)

// sideBySide bounds the calls at a time of one wave.
const sideBySide = 16

// Driver implements [lifecycle.Driver] for Kubernetes.
type Driver struct {
	pause   time.Duration // between two looks at what is waited for, at first
	manager string        // owns the fields of what is applied
}

// New returns a driver of the manifests of packages.
func New() *Driver { return As(ownManager) }

// As returns a driver that applies objects as another field manager, for a driver whose objects do not come from
// manifests: it plans with [Driver.Draft].
func As(manager string) *Driver { return &Driver{pause: 40 * time.Millisecond, manager: manager} }

// Name implements [lifecycle.Driver].
func (*Driver) Name() string { return "manifests" }

// VIMType implements [lifecycle.Driver].
func (*Driver) VIMType() broker.VIMType { return "kubernetes" }

// Survey implements [lifecycle.Driver]: any identity of the cluster may ask which kinds it
// serves. The owner of a definition has to be read, and the version of Pod Security that the namespace names.
func (*Driver) Survey(in lifecycle.PlanInput) lifecycle.StageRules {
	g := lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{{
		APIGroups: []string{definitionGroup}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"},
	}}}
	if len(in.Manifests) > 0 {
		g.Rules = append(g.Rules, NamespaceRule(in.Namespace))
	}
	return g
}

// Observe implements [lifecycle.Driver].
func (d *Driver) Observe(
	ctx context.Context, c lifecycle.Connection, instance string, resources []lifecycle.Resource,
) ([]lifecycle.Observation, error) {
	s, err := d.connect(c)
	if err != nil {
		return nil, err
	}
	out, there := make([]lifecycle.Observation, len(resources)), make([]*found, len(resources))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i, r := range resources {
		group.Go(func() (err error) {
			there[i], out[i].Message, err = s.look(within, r)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	autoscaled, others := map[identity]bool{}, map[string]map[identity]bool{}
	for i, r := range resources {
		if isAutoscaler(r) && there[i] != nil {
			autoscaled[scaleTarget(r.Namespace, there[i].whole)] = true
		}
	}
	for i, r := range resources {
		if there[i] == nil {
			out[i].Resource = r
			continue
		}
		out[i] = s.observation(there[i], instance, r)
		if !out[i].Standing || r.Applied == "" {
			continue
		}
		out[i].ChangedBy = there[i].changedBy(r.Applied, autoscaled[scaledAs(r)])
		if len(out[i].ChangedBy) == 0 || !isReplicated(r) || len(there[i].changedBy(r.Applied, true)) > 0 {
			continue
		}
		// The number alone has changed.
		if others[r.Namespace] == nil {
			if others[r.Namespace], err = s.scaleTargets(ctx, r.Namespace, instance); err != nil {
				return nil, err
			}
		}
		if others[r.Namespace][scaledAs(r)] {
			out[i].ChangedBy = nil
		}
	}
	return out, s.addVNFCs(ctx, instance, out)
}

const missing = "is missing"

// look reads a resource; of one that is not there it says so.
func (s *server) look(ctx context.Context, r lifecycle.Resource) (there *found, message string, err error) {
	there, err = s.get(ctx, r)
	if err == nil {
		if there == nil {
			message = missing
		}
		return there, message, nil
	}
	// If a kind is not served any more its objects are gone; a 404 alone does not say that.
	if known, asked := s.kindsOf(ctx, []lifecycle.Resource{r}); asked == nil && known[groupKind{r.Group, r.Version, r.Kind}].plural == "" {
		return nil, missing + ": the cluster does not serve its kind any more", nil
	}
	return nil, "", err
}

// observation is the state of a resource; o is nil for a missing one.
func (s *server) observation(o *found, instance string, r lifecycle.Resource) lifecycle.Observation {
	switch {
	case o == nil:
		return lifecycle.Observation{Resource: r, Message: missing}
	case !o.is(instance, r):
		return lifecycle.Observation{Resource: r, Message: missing + ": an object of the same name is not the instance's"}
	}
	now := o.state()
	if isClaim(r) {
		r.Storages = []lifecycle.Storage{storage(r.Name, r.Namespace, r.Name, o.Metadata.UID)}
	}
	return lifecycle.Observation{Resource: r, Standing: true, Ready: now.ready, Message: now.message}
}
