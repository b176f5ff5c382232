// Package hub shows the VIMs of a project on a hub: a VIM whose cluster keeps a list of clusters, as ClusterProfile objects
// of the group multicluster.x-k8s.io (KEP-4322, KEP-5339). An object says where a cluster is, how its server is known and
// whether it is well, and holds no secret: whoever reads it asks for a lease, by the exec plugin.
//
// A VIM is a hub while it has the label [LabelHub], which administrators set.
package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// The labels of a VIM that is a hub.
const (
	LabelHub       = "vimbroker.io/hub"           // "true"; "false" has the objects removed
	LabelNamespace = "vimbroker.io/hub-namespace" // where the objects lie; absent means default
	LabelRole      = "vimbroker.io/hub-role"      // of the leases that readers take; absent leaves it to them
)

const (
	// lookEvery is how often VIMs are compared with what was shown, and showEvery how often a hub is compared with that.
	lookEvery = 30 * time.Second
	showEvery = 30 * time.Minute
	leaseTTL  = 10 * time.Minute
	// purpose is that of the leases; a policy asks for it.
	purpose = "profiles"
	// maxProfiles bounds the VIMs that a hub shows.
	maxProfiles = 10_000
)

// ClusterProfile is what an object says of a VIM.
type ClusterProfile struct {
	// Name is the object's: that of the VIM where it can be one, else the VIM's id.
	Name string
	// VIM is an id; Project and VIMName are as people name it.
	VIM, Project, VIMName string
	// Server, CA, ServerName and Insecure are as in [broker.Target].
	Server, CA, ServerName string
	Insecure               bool
	// Role is that of the leases that readers take; empty leaves it to them.
	Role string
	// System is the UID of kube-system, Version the cluster's own version.
	System, Version string
	// Healthy is True, False or Unknown, and Reason one word for it.
	Healthy, Reason string
}

// Publisher writes ClusterProfile objects. Its errors are [*broker.Error].
type Publisher interface {
	// Publish makes the objects of a hub, by the id of its VIM, in one namespace the given ones. An object of another
	// manager stays as it is; one in the way is an error, after all others were written.
	Publish(ctx context.Context, a onboard.ManagementAccess, namespace, hub string, profiles []ClusterProfile) error
}

// Broker is the registry and the leases.
type Broker interface {
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	RevokeLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error)
}

// Hubs shows VIMs on hubs. Safe for concurrent use.
type Hubs struct {
	Broker    Broker
	Publisher Publisher
	// Egress gives the addresses that may be dialled for a project's VIMs.
	Egress func(project string) *egress.Rules
	Log    *slog.Logger
	Now    func() time.Time

	mu    sync.Mutex
	shown map[string]shown // by the id of the hub
}

// shown is what was last written on a hub.
type shown struct {
	digest [sha256.Size]byte
	at     time.Time
}

// Passes are the periodic work, for a job queue to run.
func (h *Hubs) Passes() []broker.Pass {
	return []broker.Pass{{Name: "show-profiles", Every: lookEvery, Run: h.Show}}
}

// Show writes what has changed, and each hub whole now and then. A hub that fails keeps no other from being written.
func (h *Hubs) Show(ctx context.Context) error {
	var hubs []broker.VIM
	for _, is := range []string{"true", "false"} {
		found, err := h.vims(ctx, broker.VIMQuery{Labels: map[string]string{LabelHub: is}})
		if err != nil {
			return err
		}
		hubs = append(hubs, found...)
	}
	if len(hubs) == 0 {
		return nil
	}
	all, err := h.vims(ctx, broker.VIMQuery{Type: "kubernetes"})
	if err != nil {
		return err
	}
	var failed []error
	for _, hub := range hubs {
		if err := h.show(ctx, hub, all); err != nil {
			h.Log.WarnContext(ctx, "the VIMs of a project are not shown on a hub", "vim", hub.ID, "project", hub.Project, "error", err)
			failed = append(failed, fmt.Errorf("hub %s: %w", hub.Name, err))
		}
	}
	return errors.Join(failed...)
}

// sees reports whether a project sees a VIM: who reads a hub learns of no other.
func sees(project string, v broker.VIM) bool {
	return v.Project == project || v.Shared || slices.Contains(v.SharedWith, project)
}

func (h *Hubs) show(ctx context.Context, hub broker.VIM, vims []broker.VIM) error {
	var all []ClusterProfile
	for _, v := range vims {
		if hub.Labels[LabelHub] == "true" && sees(hub.Project, v) {
			all = append(all, profile(hub, v))
		}
	}
	if len(all) > maxProfiles {
		return &broker.Error{Kind: broker.ErrQuota, Detail: fmt.Sprintf("a hub shows at most %d VIMs", maxProfiles)}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	namespace := cmp.Or(hub.Labels[LabelNamespace], "default")
	now := shown{sha256.Sum256(append(text, namespace...)), h.Now()}
	h.mu.Lock()
	was := h.shown[hub.ID]
	h.mu.Unlock()
	if was.digest == now.digest && now.at.Sub(was.at) < showEvery {
		return nil
	}
	if err := h.publish(ctx, hub, namespace, all); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shown == nil {
		h.shown = map[string]shown{}
	}
	h.shown[hub.ID] = now
	return nil
}

// publish writes on a hub, by a lease that can do that alone and ends with it.
func (h *Hubs) publish(ctx context.Context, hub broker.VIM, namespace string, all []ClusterProfile) (err error) {
	mine := broker.LeaseSelector{VIM: hub.ID, Operation: "profiles:" + hub.ID}
	end := func() error {
		_, err := h.Broker.RevokeLeases(context.WithoutCancel(ctx), broker.System("profiles", hub.Project), mine)
		return err
	}
	if err := end(); err != nil { // of a process that died
		return err
	}
	_, c, err := h.Broker.IssueLease(ctx, broker.System("profiles", hub.Project), broker.LeaseRequest{
		VIM: hub.ID, TTL: leaseTTL, Namespaces: []string{namespace}, Format: clientconfig.JSON, Purpose: purpose, Operation: mine.Operation,
		Rules: []broker.Rule{{
			APIGroups: []string{"multicluster.x-k8s.io"}, Resources: []string{"clusterprofiles", "clusterprofiles/status"},
			Verbs: []string{"get", "list", "create", "patch", "delete"},
		}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return h.Publisher.Publish(ctx, onboard.Access(hub.ID, c, h.Egress(hub.Project)), namespace, hub.ID, all)
}

func (h *Hubs) vims(ctx context.Context, q broker.VIMQuery) ([]broker.VIM, error) {
	q.State = broker.VIMRegistered
	return broker.AllVIMs(ctx, broker.System("profiles", ""), q, h.Broker.VIMs)
}

func profile(hub, v broker.VIM) ClusterProfile {
	t := v.Current.Target
	p := ClusterProfile{
		Name: v.ID, VIM: v.ID, Project: v.Project, VIMName: v.Name, Server: t.Endpoint, CA: t.CACert, ServerName: t.ServerName,
		Insecure: t.InsecureSkipVerify, Role: hub.Labels[LabelRole], System: v.Current.Identity, Version: v.Health.Version,
	}
	if v.Project == hub.Project && onboard.IsName(v.Name) {
		p.Name = v.Name // unique within the project
	}
	p.Healthy, p.Reason = "Unknown", "NotChecked"
	switch v.Health.Status {
	case broker.HealthReachable:
		p.Healthy, p.Reason = "True", "Reachable"
	case broker.HealthUnreachable:
		p.Healthy, p.Reason = "False", "Unreachable"
	case broker.HealthIdentityChanged:
		p.Healthy, p.Reason = "False", "IdentityChanged"
	case broker.HealthUnauthorized:
		p.Reason = "Unauthorized"
	}
	return p
}
