package kubernetes

import (
	"context"
	"net/http"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
)

// The clients of the four API groups that the driver uses. client-go's generated
// clients do the same, but to link them registers every group of Kubernetes at the
// start of each process, and the command line is in the same binary.
type (
	coreAPI           struct{ client rest.Interface }
	rbacAPI           struct{ client rest.Interface }
	authenticationAPI struct{ client rest.Interface }
	authorizationAPI  struct{ client rest.Interface }
)

// codecs encode and decode the types of the four groups.
type codecs struct {
	bodies     runtime.NegotiatedSerializer
	parameters runtime.ParameterCodec
}

// known is made when the first VIM is connected to.
var known = sync.OnceValue(func() codecs {
	types := runtime.NewScheme()
	metav1.AddToGroupVersion(types, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, rbacv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme,
	} {
		if err := add(types); err != nil {
			panic(err) // the libraries disagree about their own types
		}
	}
	return codecs{
		bodies:     rest.CodecFactoryForGeneratedClient(types, serializer.NewCodecFactory(types)).WithoutConversion(),
		parameters: runtime.NewParameterCodec(types),
	}
})

// groupClient returns a client of one API group of a server.
func groupClient(to rest.Config, version schema.GroupVersion, client *http.Client) (rest.Interface, error) {
	to.GroupVersion = &version
	to.APIPath = "/apis"
	if version.Group == "" {
		to.APIPath = "/api"
	}
	to.NegotiatedSerializer = known().bodies
	to.UserAgent = rest.DefaultKubernetesUserAgent()
	return rest.RESTClientForConfigAndClient(&to, client)
}

func (g coreAPI) Namespaces() *gentype.Client[*corev1.Namespace] {
	return gentype.NewClient("namespaces", g.client, known().parameters, "",
		func() *corev1.Namespace { return new(corev1.Namespace) })
}

func (g coreAPI) Secrets(namespace string) *gentype.Client[*corev1.Secret] {
	return gentype.NewClient("secrets", g.client, known().parameters, namespace,
		func() *corev1.Secret { return new(corev1.Secret) })
}

func (g coreAPI) ServiceAccounts(namespace string) *gentype.Client[*corev1.ServiceAccount] {
	return gentype.NewClient("serviceaccounts", g.client, known().parameters, namespace,
		func() *corev1.ServiceAccount { return new(corev1.ServiceAccount) })
}

func (g coreAPI) ConfigMaps(namespace string) *gentype.Client[*corev1.ConfigMap] {
	return gentype.NewClient("configmaps", g.client, known().parameters, namespace,
		func() *corev1.ConfigMap { return new(corev1.ConfigMap) })
}

// CreateToken asks for a token of a service account.
func (g coreAPI) CreateToken(
	ctx context.Context, namespace, account string, wish *authenticationv1.TokenRequest,
) (*authenticationv1.TokenRequest, error) {
	granted := new(authenticationv1.TokenRequest)
	err := g.client.Post().
		Namespace(namespace).Resource("serviceaccounts").Name(account).SubResource("token").
		VersionedParams(&metav1.CreateOptions{}, known().parameters).
		Body(wish).
		Do(ctx).
		Into(granted)
	return granted, err
}

func (g rbacAPI) ClusterRoles() *gentype.Client[*rbacv1.ClusterRole] {
	return gentype.NewClient("clusterroles", g.client, known().parameters, "",
		func() *rbacv1.ClusterRole { return new(rbacv1.ClusterRole) })
}

func (g rbacAPI) Roles(namespace string) *gentype.Client[*rbacv1.Role] {
	return gentype.NewClient("roles", g.client, known().parameters, namespace,
		func() *rbacv1.Role { return new(rbacv1.Role) })
}

func (g rbacAPI) ClusterRoleBindings() *gentype.Client[*rbacv1.ClusterRoleBinding] {
	return gentype.NewClient("clusterrolebindings", g.client, known().parameters, "",
		func() *rbacv1.ClusterRoleBinding { return new(rbacv1.ClusterRoleBinding) })
}

func (g rbacAPI) RoleBindings(namespace string) *gentype.Client[*rbacv1.RoleBinding] {
	return gentype.NewClient("rolebindings", g.client, known().parameters, namespace,
		func() *rbacv1.RoleBinding { return new(rbacv1.RoleBinding) })
}

func (g authenticationAPI) SelfSubjectReviews() *gentype.Client[*authenticationv1.SelfSubjectReview] {
	return gentype.NewClient("selfsubjectreviews", g.client, known().parameters, "",
		func() *authenticationv1.SelfSubjectReview { return new(authenticationv1.SelfSubjectReview) })
}

func (g authorizationAPI) SelfSubjectAccessReviews() *gentype.Client[*authorizationv1.SelfSubjectAccessReview] {
	return gentype.NewClient("selfsubjectaccessreviews", g.client, known().parameters, "",
		func() *authorizationv1.SelfSubjectAccessReview { return new(authorizationv1.SelfSubjectAccessReview) })
}
