package kubernetes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

const (
	// claimName is the config map that says whose a namespace of a pool is. To
	// make one succeeds once, which makes the claim atomic.
	claimName = "vimbroker-claim"
)

// poolRoom is a namespace of the pool. home is the home that claimed it, or empty, and
// deed the record that this home wrote.
type poolRoom struct{ namespace, home, deed string }

// unknownHome stands for a claim that is not the broker's: the room is not free.
const unknownHome = "?"

// pool reads which namespaces an administrator made for the VIM, and who claimed
// them. Its names are counted from 1 without a gap.
func (c *connection) pool(ctx context.Context, vim string) ([]poolRoom, error) {
	var rooms []poolRoom
	for n := 1; n <= rbac.MaxPool; n++ {
		name := rbac.PoolName(vim, n)
		there, err := c.namespace(ctx, name)
		if notFound(err, "namespaces", name) {
			break
		}
		if err != nil {
			return nil, fault(err, "get", "namespace "+name)
		}
		room := poolRoom{namespace: name}
		claim, err := c.core.ConfigMaps(name).Get(ctx, claimName, metav1.GetOptions{})
		switch {
		case err == nil:
			if room.home, room.deed = claim.Labels[grantLabel], claim.Data[deedKey]; room.home == "" {
				room.home = unknownHome
			}
		case there.Metadata.Deleted != nil:
			continue
		case !notFound(err, "configmaps", claimName):
			return nil, fault(err, "get", "configmaps in namespace "+name)
		}
		rooms = append(rooms, room)
	}
	return rooms, nil
}

// claim returns the home's namespace of the pool, and claims a free one if there is none.
func (c *connection) claim(ctx context.Context, h home) (string, error) {
	rooms, err := c.pool(ctx, h.vim)
	if err != nil {
		return "", err
	}
	if len(rooms) == 0 {
		return "", &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the credential may not create namespaces (403), and the cluster has no namespace " +
				rbac.PoolName(h.vim, 1),
			Remedy: "grant it the rights of managed mode, or have an administrator make the pool of prepared mode",
		}
	}
	for _, room := range rooms {
		if room.home == h.id {
			return room.namespace, nil
		}
	}
	for _, room := range rooms {
		if room.home != "" {
			continue
		}
		if ok, err := c.claimRoom(ctx, h, room.namespace); ok || err != nil {
			return room.namespace, err
		}
	}
	return "", &broker.Error{
		Kind: broker.ErrConflict, Detail: fmt.Sprintf("none of the %d namespaces of this VIM's pool is free and empty", len(rooms)),
		Remedy: "enlarge the pool, or end all leases of some role and scope",
	}
}

// claimRoom claims one namespace of the pool, and reports whether it is the home's now. It
// skips one with pods or accounts in it: they would have the lease's rights.
func (c *connection) claimRoom(ctx context.Context, h home, namespace string) (bool, error) {
	empty, err := c.emptyRoom(ctx, namespace)
	if err != nil {
		return false, err
	}
	if !empty {
		// Another replica may have claimed it for the home since, and issued there.
		return c.claimed(ctx, h, namespace)
	}
	_, err = c.core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: claimName, Namespace: namespace, Labels: h.labels()},
		Data:       map[string]string{deedKey: h.deed()},
	}, metav1.CreateOptions{})
	if alreadyExists(err) {
		return c.claimed(ctx, h, namespace)
	}
	return err == nil, fault(err, "create", "configmaps in namespace "+namespace)
}

// claimed reports whether a namespace of the pool is the home's.
func (c *connection) claimed(ctx context.Context, h home, namespace string) (bool, error) {
	there, err := c.core.ConfigMaps(namespace).Find(ctx, claimName)
	return err == nil && there != nil && h.owns(there), err
}

// emptyRoom reports whether a namespace of the pool holds no identity that can act. It
// deletes the default account: tokens made for that would act for the next home's group.
func (c *connection) emptyRoom(ctx context.Context, namespace string) (bool, error) {
	accounts, err := c.accounts(ctx, namespace, "")
	if err != nil {
		return false, err
	}
	for _, a := range accounts {
		if a.Name != "default" {
			return false, nil
		}
	}
	// One pod says enough, and many may be more than one answer holds.
	var pods struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
		Items []struct{} `json:"items"`
	}
	err = read(remote.Expect(ctx, remote.List), c.core.client.Get().Namespace(namespace).Resource("pods").Param("limit", "1"), &pods)
	switch {
	case err != nil:
		return false, fault(err, "list", "pods in namespace "+namespace)
	case pods.Kind != "PodList":
		return false, notKubernetes(0)
	case len(pods.Items) > 0 || pods.Metadata.Continue != "":
		return false, nil
	}
	return true, c.removeAccounts(ctx, accounts)
}

// release gives a namespace back to the pool. Accounts went before it.
func (c *connection) release(ctx context.Context, h home, namespace string) error {
	there, err := c.core.ConfigMaps(namespace).Find(ctx, claimName)
	switch {
	case err != nil || there == nil:
		return err
	case !h.owns(there):
		return foreign("configmap", namespace+"/"+claimName)
	}
	return remove(ctx, c.core.client, "configmaps", there)
}

// rooms are the namespaces in which the home's accounts may stand: its own, and those
// that it claimed of the pool.
func (c *connection) rooms(ctx context.Context, h home) ([]string, error) {
	var found []string
	_, err := c.namespace(ctx, h.id)
	switch {
	case err == nil:
		found = append(found, h.id)
	case !notFound(err, "namespaces", h.id):
		return nil, fault(err, "get", "namespace "+h.id)
	}
	pool, err := c.pool(ctx, h.vim)
	for _, room := range pool {
		if room.home == h.id {
			found = append(found, room.namespace)
		}
	}
	return found, err
}
