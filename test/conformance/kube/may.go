package kube

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
)

// may tries what a lease's holder would: to list config maps, or to make one.
func (c *cluster) may(t *testing.T, target broker.Target, minted broker.Credential, write bool, namespace string) bool {
	t.Helper()
	holder, err := coreclient.NewForConfig(&rest.Config{
		Host: target.Endpoint, BearerToken: minted.Token.Reveal(), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(target.CACert)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if write {
		var made *corev1.ConfigMap
		made, err = holder.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"},
		}, metav1.CreateOptions{})
		if err == nil {
			err = c.core.ConfigMaps(namespace).Delete(t.Context(), made.Name, metav1.DeleteOptions{})
		}
	} else {
		_, err = holder.ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	}
	if err != nil && !apierrors.IsForbidden(err) {
		t.Fatalf("trying a lease in %s: %v", namespace, err)
	}
	return err == nil
}

// sweeping is the test's context, or, while it cleans up, one that is not over.
func sweeping(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }
