package onboard

import (
	"context"
	"errors"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

type fault struct {
	reason  ClusterReason
	message string
	// version is that of the secret.
	version string
	// rival is the id of the cluster whose system it leads to.
	rival string
}

func (f *fault) Error() string { return f.message }

// secret reads the credential of a cluster. It counts only if the secret has the cluster's
// name and label, and is owned by the Cluster object or by the control plane that it names,
// both by UID: everybody who may write secrets in the namespace can forge the rest. It is
// a [*fault] if it is not so, and broker.ErrNotFound if there is none.
func (w *watcher) secret(ctx context.Context, s Seen) (ClusterSecret, error) {
	access, name := w.present(), w.m.secretName(s.Name)
	got, err := w.Source.Secret(ctx, access, s.Namespace, name, w.m.SecretKey)
	if err != nil {
		return ClusterSecret{}, err
	}
	bad := func(why ClusterReason, format string, args ...any) (ClusterSecret, error) {
		return ClusterSecret{}, &fault{reason: why, message: fmt.Sprintf(format, args...), version: got.Version}
	}
	if got.Cluster != s.Name {
		return bad(ReasonSecretMislabelled, "the secret %s is not labelled as this cluster's", name)
	}
	owned, err := w.owned(ctx, access, s, got.Owners)
	switch {
	case err != nil:
		return ClusterSecret{}, err
	case !owned:
		return bad(ReasonSecretForeign, "the secret %s belongs neither to the Cluster nor to the control plane that it names", name)
	case got.Large:
		return bad(ReasonSecretInvalid, "the secret %s is larger than a kubeconfig can be", name)
	case got.Value.Empty():
		return bad(ReasonSecretInvalid, "the secret %s has no entry %s", name, w.m.SecretKey)
	}
	return got, nil
}

// owned reports whether one of the owners is the cluster, or its control plane.
func (w *watcher) owned(ctx context.Context, a ManagementAccess, s Seen, owners []OwnerReference) (bool, error) {
	for _, o := range owners {
		if o.Group == capiGroup && o.Kind == "Cluster" && o.Name == s.Name && o.UID == s.UID {
			return true, nil
		}
	}
	for _, o := range owners {
		plane := ObjectReference{o.Group, o.Kind, o.Name}
		plural, known := w.m.controlPlane(plane)
		if plane != s.ControlPlane || !known {
			continue
		}
		if err := w.readable(plural + "." + o.Group); err != nil {
			return false, err
		}
		uid, err := w.Source.ControlPlane(ctx, a, s.Namespace, o.Group, plural, o.Name)
		if errors.Is(err, broker.ErrNotFound) {
			continue
		}
		if err != nil || uid == o.UID {
			return err == nil, err
		}
	}
	return false, nil
}

const capiGroup = "cluster.x-k8s.io"
