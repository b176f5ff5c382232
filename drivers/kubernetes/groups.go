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

// typed is the client of one resource; of a namespace, if one is named. client-go's own (gentype) does the same, and brings
// its fakes and fifty packages into the program.
type typed[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}] struct {
	client              rest.Interface
	namespace, resource string
}

// ask sends a request about an object of that name, and reads the answer, which is that object.
func (t typed[T, P]) ask(ctx context.Context, name string, r *rest.Request, options runtime.Object) (P, error) {
	answer := P(new(T))
	err := r.NamespaceIfScoped(t.namespace, t.namespace != "").Resource(t.resource).VersionedParams(options, known().parameters).
		Do(ctx).Into(answer)
	if err == nil && answer.GetName() != name {
		err = notKubernetes(0)
	}
	return answer, err
}

func (t typed[T, P]) Get(ctx context.Context, name string, options metav1.GetOptions) (P, error) {
	return t.ask(ctx, name, t.client.Get().Name(name), &options)
}

// Find is Get, translated; nil if the server says that there is none of that name.
func (t typed[T, P]) Find(ctx context.Context, name string) (P, error) {
	there, err := t.Get(ctx, name, metav1.GetOptions{})
	if notFound(err, t.resource, name) {
		return nil, nil
	}
	return there, fault(err, "get", in(t.resource, t.namespace))
}

// Make creates an object, or gets the one of that name that is there. What names it in the error of the latter; that of the
// former is client-go's own.
func (t typed[T, P]) Make(ctx context.Context, object P, what string) (there P, made bool, err error) {
	there, err = t.Create(ctx, object, metav1.CreateOptions{})
	if !alreadyExists(err) {
		return there, err == nil, err
	}
	there, err = t.Get(ctx, object.GetName(), metav1.GetOptions{})
	return there, false, fault(err, "get", what)
}

func (t typed[T, P]) Create(ctx context.Context, object P, options metav1.CreateOptions) (P, error) {
	return t.ask(ctx, object.GetName(), t.client.Post().Body(object), &options)
}

func (t typed[T, P]) Update(ctx context.Context, object P, options metav1.UpdateOptions) (P, error) {
	return t.ask(ctx, object.GetName(), t.client.Put().Name(object.GetName()).Body(object), &options)
}

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
	return rest.RESTClientForConfigAndClient(&to, client)
}

func (g coreAPI) Namespaces() typed[corev1.Namespace, *corev1.Namespace] {
	return typed[corev1.Namespace, *corev1.Namespace]{g.client, "", "namespaces"}
}

func (g coreAPI) Secrets(namespace string) typed[corev1.Secret, *corev1.Secret] {
	return typed[corev1.Secret, *corev1.Secret]{g.client, namespace, "secrets"}
}

func (g coreAPI) ServiceAccounts(namespace string) typed[corev1.ServiceAccount, *corev1.ServiceAccount] {
	return typed[corev1.ServiceAccount, *corev1.ServiceAccount]{g.client, namespace, "serviceaccounts"}
}

func (g coreAPI) ConfigMaps(namespace string) typed[corev1.ConfigMap, *corev1.ConfigMap] {
	return typed[corev1.ConfigMap, *corev1.ConfigMap]{g.client, namespace, "configmaps"}
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

func (g rbacAPI) ClusterRoles() typed[rbacv1.ClusterRole, *rbacv1.ClusterRole] {
	return typed[rbacv1.ClusterRole, *rbacv1.ClusterRole]{g.client, "", "clusterroles"}
}

func (g rbacAPI) Roles(namespace string) typed[rbacv1.Role, *rbacv1.Role] {
	return typed[rbacv1.Role, *rbacv1.Role]{g.client, namespace, "roles"}
}

func (g rbacAPI) ClusterRoleBindings() typed[rbacv1.ClusterRoleBinding, *rbacv1.ClusterRoleBinding] {
	return typed[rbacv1.ClusterRoleBinding, *rbacv1.ClusterRoleBinding]{g.client, "", "clusterrolebindings"}
}

func (g rbacAPI) RoleBindings(namespace string) typed[rbacv1.RoleBinding, *rbacv1.RoleBinding] {
	return typed[rbacv1.RoleBinding, *rbacv1.RoleBinding]{g.client, namespace, "rolebindings"}
}
