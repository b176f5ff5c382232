package real_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/test/real"
)

// otherVNFM is a VNFM that knows nothing of this broker but SOL003 and OAuth 2.0. It has one VNF
// in mind: a Deployment.
type otherVNFM struct {
	*bench
	t          *testing.T
	id, secret string
	namespace  string
}

// connection is what a grant lends.
type connection struct {
	Face struct {
		Endpoint string `json:"endpoint"`
		CA       string `json:"ssl_ca_cert"`
	} `json:"interfaceInfo"`
	Access struct {
		URL      string `json:"oidc_token_url"`
		Username string `json:"username"`
		Password string `json:"password"`
		ClientID string `json:"client_id"`
	} `json:"accessInfo"`
}

// post sends a request, and returns the answer's status and text.
func (v *otherVNFM) post(at, kind, body string, headers ...string) (int, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, at, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	for n := 1; n < len(headers); n += 2 {
		r.Header.Set(headers[n-1], headers[n])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// fetch fetches a token at a token endpoint; none where it is refused.
func (v *otherVNFM) fetch(at string, form url.Values) (string, string) {
	v.t.Helper()
	status, text := v.post(at, "application/x-www-form-urlencoded", form.Encode())
	if status != http.StatusOK {
		return "", text
	}
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		v.t.Fatal(err)
	}
	return got.Token, ""
}

// ask posts to the door of grants, with a fresh token of the client.
func (v *otherVNFM) ask(path, body string) (int, string) {
	v.t.Helper()
	token, refusal := v.fetch(v.broker.URL+"/oauth2/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {v.id}, "client_secret": {v.secret},
	})
	if token == "" {
		v.t.Fatalf("the client gets no token: %s", refusal)
	}
	return v.post(v.broker.URL+path, "application/json", body, "Authorization", "Bearer "+token, "Version", "1.4.0")
}

// request asks for a grant for an operation on an instance.
func (v *otherVNFM) request(operation, instance string) (int, string) {
	v.t.Helper()
	links := `"_links":{"vnfLcmOpOcc":{"href":"http://192.0.2.1/vnflcm/v2/vnf_lcm_op_occs/` + operation + `"},"vnfInstance":{"href":"http://192.0.2.1/i"}}`
	kind := strings.ToUpper(strings.SplitN(operation, "-", 2)[0])
	return v.ask("/grant/v1/grants", `{"vnfInstanceId":"`+instance+`","vnfLcmOpOccId":"`+operation+`","vnfdId":"b1bb","operation":"`+kind+`","isAutomaticInvocation":false,`+links+`}`)
}

// granted is the connection of a grant that is given.
func (v *otherVNFM) granted(operation, instance string) connection {
	v.t.Helper()
	status, text := v.request(operation, instance)
	var got struct {
		VIMs map[string]connection `json:"vimConnectionInfo"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusCreated || len(got.VIMs) != 1 {
		v.t.Fatalf("%s = %d %s", operation, status, text)
	}
	for _, one := range got.VIMs {
		return one
	}
	return connection{}
}

// token fetches one for the cluster.
func (v *otherVNFM) token(c connection) (string, string) {
	v.t.Helper()
	return v.fetch(c.Access.URL, url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {c.Access.ClientID}, "client_secret": {""},
		"username": {c.Access.Username}, "password": {c.Access.Password},
	})
}

// cluster works on the cluster with a token.
func (v *otherVNFM) cluster(c connection, token string) *kubernetes.Clientset {
	v.t.Helper()
	k, err := kubernetes.NewForConfig(&rest.Config{
		Host: c.Face.Endpoint, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.Face.CA)},
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return k
}

// operate has an operation granted, and does it with a token of its own, which it returns.
func (v *otherVNFM) operate(operation, instance string, do func(context.Context, *kubernetes.Clientset) error) (connection, string) {
	v.t.Helper()
	c := v.granted(operation, instance)
	token, refusal := v.token(c)
	if token == "" {
		v.t.Fatalf("%s gets no token: %s", operation, refusal)
	}
	if err := do(v.t.Context(), v.cluster(c, token)); err != nil {
		v.t.Fatalf("%s on the cluster: %v", operation, err)
	}
	return c, token
}

// wantDead waits until the cluster refuses a token.
func (v *otherVNFM) wantDead(what string, c connection, token string) {
	v.t.Helper()
	if !real.Poll(v.t, patience, func() bool {
		_, err := v.cluster(c, token).AppsV1().Deployments(v.namespace).List(v.t.Context(), metav1.ListOptions{})
		return apierrors.IsUnauthorized(err)
	}) {
		v.t.Errorf("%s: the cluster takes the token on", what)
	}
	if fresh, _ := v.token(c); fresh != "" {
		v.t.Errorf("%s: another token is minted", what)
	}
}

// TestAVNFMOfOthersOnARealCluster: each operation with a token of its own, until the lease ends with
// TERMINATE, or somebody revokes it between two operations.
func TestAVNFMOfOthersOnARealCluster(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	b := sitDown(t, c)
	v := &otherVNFM{bench: b, t: t, namespace: "vnfm-of-others"}
	b.onCluster(t, "create namespace "+v.namespace)
	b.onCluster(t, "label namespace "+v.namespace+" pod-security.kubernetes.io/enforce=baseline")
	t.Cleanup(func() { b.onCluster(t, "delete namespace --wait=false "+v.namespace) })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge")
	if err := os.WriteFile(filepath.Join(b.Dir, "placements.yaml"), []byte("- {vim: edge, role: edit, namespaces: ["+v.namespace+"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var made struct{ ID, ClientSecret string }
	b.decode(t, "vimbroker client create others --placements placements.yaml -o json", &made)
	v.id, v.secret = made.ID, made.ClientSecret

	replicas := int32(1)
	labels := map[string]string{"app": "web"}
	instantiate := func(name string) func(context.Context, *kubernetes.Clientset) error {
		return func(ctx context.Context, k *kubernetes.Clientset) error {
			_, err := k.AppsV1().Deployments(v.namespace).Create(ctx, &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: appsv1.DeploymentSpec{
					Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: labels},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1"}}},
					},
				},
			}, metav1.CreateOptions{})
			return err
		}
	}
	first, one := v.operate("instantiate-1", "instance-1", instantiate("web-1"))
	_, two := v.operate("scale-1", "instance-1", func(ctx context.Context, k *kubernetes.Clientset) error {
		_, err := k.AppsV1().Deployments(v.namespace).UpdateScale(ctx, "web-1", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: v.namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 3},
		}, metav1.UpdateOptions{})
		return err
	})
	if got := b.onCluster(t, "get deployment web-1 -n "+v.namespace+" -o jsonpath={.spec.replicas}"); got != "3" {
		t.Errorf("after SCALE there are %s replicas", got)
	}
	_, three := v.operate("terminate-1", "instance-1", func(ctx context.Context, k *kubernetes.Clientset) error {
		return k.AppsV1().Deployments(v.namespace).Delete(ctx, "web-1", metav1.DeleteOptions{})
	})
	if one == two || two == three || one == three {
		t.Error("two operations have the same token")
	}
	// The VNFM says itself that it is done.
	if status, text := v.ask("/grant/v1/notifications", `{"vnfLcmOpOccId":"terminate-1","operationState":"COMPLETED"}`); status != http.StatusNoContent {
		t.Errorf("a notification = %d %s", status, text)
	}
	v.wantDead("after TERMINATE", first, three)

	second, token := v.operate("instantiate-2", "instance-2", instantiate("web-2"))
	if second.Access.Username == first.Access.Username {
		t.Error("two instances share a lease")
	}
	b.Must(t, "vimbroker lease revoke --instance instance-2")
	v.wantDead("after the revocation", second, token)
	if status, text := v.request("scale-2", "instance-2"); status != http.StatusForbidden || !strings.Contains(text, "was revoked") {
		t.Errorf("SCALE after the lease was revoked = %d %s", status, text)
	}
	if got := b.onCluster(t, "get deployment web-2 -n "+v.namespace+" -o name"); got != "deployment.apps/web-2" {
		t.Errorf("of the instance there is %q", got)
	}
	for _, secret := range []string{first.Access.Password, second.Access.Password, v.secret} {
		if strings.Contains(b.broker.Log.String(), secret) || strings.Contains(b.Must(t, "vimbroker audit list -o json"), secret) {
			t.Error("a secret stands in a log")
		}
	}
}
