package kubernetes

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

var _ broker.Shelf = (*Driver)(nil)

// targetLabel and loginLabel tell the Secrets of a target, and which lease each is for.
const (
	targetLabel = "vimbroker.io/target"
	loginLabel  = "vimbroker.io/login"
)

func isShelved(o metav1.Object, s broker.Shelved) bool {
	l := o.GetLabels()
	return l[managedByLabel] == managedBy && l[targetLabel] == s.Target && l[loginLabel] == s.Login
}

// onShelf calls do on the system that the VIM was registered as.
func (d *Driver) onShelf(ctx context.Context, a broker.Access, do func(context.Context, *connection) error) error {
	return d.over(ctx, a, func(ctx context.Context, c *connection) error {
		if err := c.same(ctx, a.Identity); err != nil {
			return err
		}
		return do(ctx, c)
	})
}

// Shelve implements [broker.Shelf].
func (d *Driver) Shelve(ctx context.Context, a broker.Access, s broker.Shelved) error {
	return d.onShelf(ctx, a, func(ctx context.Context, c *connection) error {
		secrets, where := c.core.Secrets(s.Namespace), "secrets in namespace "+s.Namespace
		labels := map[string]string{managedByLabel: managedBy, targetLabel: s.Target, loginLabel: s.Login}
		maps.Copy(labels, s.Labels)
		data := map[string][]byte{}
		for key, text := range s.Data {
			data[key] = []byte(text)
		}
		now, made, err := secrets.Make(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Labels: labels}, Data: data}, where)
		switch {
		case made || err != nil:
			return fault(err, "create", where)
		case !isShelved(now, s):
			return foreign("secret "+s.Namespace+"/", s.Name)
		}
		maps.Copy(now.Labels, labels)
		now.Data = data
		_, err = secrets.Update(ctx, now, metav1.UpdateOptions{})
		return fault(err, "update", where)
	})
}

// Shelved implements [broker.Shelf].
func (d *Driver) Shelved(ctx context.Context, a broker.Access, target, namespace string) (all []broker.Shelved, err error) {
	err = d.onShelf(ctx, a, func(ctx context.Context, c *connection) error {
		where, names := "secrets in namespace "+namespace, []string(nil)
		err := list(ctx, c.core.client, "Secret", namespace, managedByLabel+"="+managedBy+","+targetLabel+"="+target,
			func(i *item) { names = append(names, i.Metadata.Name) })
		if err != nil {
			return err
		}
		for _, name := range names {
			now, err := c.core.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return fault(err, "get", where)
			}
			s := broker.Shelved{Target: target, Namespace: namespace, Name: name, Login: now.Labels[loginLabel], Data: map[string]string{}}
			for key, value := range now.Data {
				s.Data[key] = string(value)
			}
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// Unshelve implements [broker.Shelf].
func (d *Driver) Unshelve(ctx context.Context, a broker.Access, s broker.Shelved) error {
	return d.onShelf(ctx, a, func(ctx context.Context, c *connection) error {
		now, err := c.core.Secrets(s.Namespace).Find(ctx, s.Name)
		if err != nil || now == nil || !isShelved(now, s) {
			return err
		}
		return remove(ctx, c.core.client, "secrets", now)
	})
}
