package fakekube_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func config(s *fakekube.Server, token string) *rest.Config {
	return &rest.Config{
		Host: s.Endpoint, BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.CA)},
	}
}

func core(t *testing.T, c *rest.Config) *coreclient.CoreV1Client {
	t.Helper()
	client, err := coreclient.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func whoami(t *testing.T, c *rest.Config) (string, error) {
	t.Helper()
	client, err := authenticationclient.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return r.Status.UserInfo.Username, nil
}

// lease makes a Secret and a token bound to it.
func lease(t *testing.T, s *fakekube.Server, name string, seconds int64) (*corev1.Secret, *authenticationv1.TokenRequest) {
	t.Helper()
	admin := core(t, config(s, s.AdminToken))
	secret, err := admin.Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := admin.ServiceAccounts("default").CreateToken(t.Context(), "default", tokenRequest(seconds, secret), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret, tr
}

func tokenRequest(seconds int64, secret *corev1.Secret) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: secret.Name, UID: secret.UID},
	}}
}

func TestEveryCredentialIsKnown(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	cert := config(s, "")
	cert.CertData, cert.KeyData = []byte(s.AdminCert), []byte(s.AdminKey)
	basic := config(s, "")
	basic.Username, basic.Password = s.Username, s.Password
	for want, c := range map[string]*rest.Config{
		"system:serviceaccount:kube-system:fakekube-admin": config(s, s.AdminToken),
		"fakekube-cert":  cert,
		"fakekube-basic": basic,
	} {
		for _, media := range []string{"", "application/json", "application/vnd.kubernetes.protobuf"} {
			c := rest.CopyConfig(c)
			c.ContentType = media
			if got, err := whoami(t, c); err != nil || got != want {
				t.Errorf("who am I in %q = %q, %v, want %q", media, got, err, want)
			}
		}
	}
	basic.Password = "wrong"
	for name, c := range map[string]*rest.Config{"token": config(s, s.AdminToken+"x"), "password": basic} {
		if _, err := whoami(t, c); !apierrors.IsUnauthorized(err) {
			t.Errorf("wrong %s: %v, want unauthorized", name, err)
		}
	}
	if _, err := whoami(t, config(s, "")); !apierrors.IsForbidden(err) {
		t.Errorf("no credential: %v, want forbidden", err)
	}
}

func TestTokenDiesWithItsSecret(t *testing.T) {
	for _, lag := range []time.Duration{0, 10 * time.Second} {
		now := clock.New(time.Now().Truncate(time.Second))
		s := fakekube.New(t, fakekube.Options{Now: now.Now, CacheLag: lag})
		secret, tr := lease(t, s, "one", 600)
		who := config(s, tr.Status.Token)
		if _, err := whoami(t, who); err != nil {
			t.Fatal(err)
		}
		if err := core(t, config(s, s.AdminToken)).Secrets("default").Delete(t.Context(), secret.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := whoami(t, who); (err == nil) != (lag > 0) {
			t.Errorf("lag %v: right after deletion: %v", lag, err)
		}
		now.Add(lag)
		if _, err := whoami(t, who); !apierrors.IsUnauthorized(err) {
			t.Errorf("lag %v: past the lag: %v, want unauthorized", lag, err)
		}
	}
}

func TestTokenOutlivesAHeldSecretByAMinute(t *testing.T) {
	now := clock.New(time.Now().Truncate(time.Second))
	s := fakekube.New(t, fakekube.Options{Now: now.Now})
	secret, tr := lease(t, s, "one", 600)
	s.Update("secrets", "default", "one", func(o metav1.Object) { o.SetFinalizers([]string{"example.com/hold"}) })
	admin := core(t, config(s, s.AdminToken))
	if err := admin.Secrets("default").Delete(t.Context(), secret.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held, err := admin.Secrets("default").Get(t.Context(), secret.Name, metav1.GetOptions{})
	if err != nil || held.DeletionTimestamp == nil {
		t.Fatalf("held Secret = %v, %v, want one being deleted", held, err)
	}
	now.Add(time.Minute)
	if _, err := whoami(t, config(s, tr.Status.Token)); err != nil {
		t.Errorf("after a minute: %v", err)
	}
	now.Add(time.Second)
	if _, err := whoami(t, config(s, tr.Status.Token)); !apierrors.IsUnauthorized(err) {
		t.Errorf("after more: %v, want unauthorized", err)
	}
	held.Finalizers = nil
	if _, err := admin.Secrets("default").Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.Names("secrets", "default"); len(got) > 0 {
		t.Errorf("left after its finalizer went: %v", got)
	}
}

func TestTokenRequestIsChecked(t *testing.T) {
	now := clock.New(time.Now().Truncate(time.Second))
	s := fakekube.New(t, fakekube.Options{Now: now.Now, MaxTokenTTL: time.Hour})
	secret, tr := lease(t, s, "one", 7200)
	if got, want := tr.Status.ExpirationTimestamp.Time, now.Now().Add(time.Hour); !got.Equal(want) {
		t.Errorf("expiry = %v, want the server's maximum %v", got, want)
	}
	accounts := core(t, config(s, s.AdminToken)).ServiceAccounts("default")
	create := func(req *authenticationv1.TokenRequest, account string) error {
		_, err := accounts.CreateToken(t.Context(), account, req, metav1.CreateOptions{})
		return err
	}
	if err := create(tokenRequest(599, secret), "default"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "10 minutes") {
		t.Errorf("599 s: %v, want invalid", err)
	}
	other := secret.DeepCopy()
	other.UID = types.UID("another")
	if err := create(tokenRequest(600, other), "default"); !apierrors.IsConflict(err) {
		t.Errorf("another uid: %v, want conflict", err)
	}
	other.Name = "missing"
	if err := create(tokenRequest(600, other), "default"); !apierrors.IsNotFound(err) {
		t.Errorf("missing Secret: %v, want not found", err)
	}
	if err := create(tokenRequest(600, secret), "missing"); !apierrors.IsNotFound(err) {
		t.Errorf("missing account: %v, want not found", err)
	}
	now.Add(time.Hour + time.Minute)
	if _, err := whoami(t, config(s, tr.Status.Token)); err != nil {
		t.Errorf("within the leeway: %v", err)
	}
	now.Add(2 * time.Second)
	if _, err := whoami(t, config(s, tr.Status.Token)); !apierrors.IsUnauthorized(err) {
		t.Errorf("expired: %v, want unauthorized", err)
	}
}

func TestListPagesAndSelects(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	secrets := core(t, config(s, s.AdminToken)).Secrets("default")
	var want []string
	for _, name := range []string{"e", "a", "c", "b", "d"} {
		labels := map[string]string{"ours": "yes"}
		if name == "c" {
			labels = nil
		} else {
			want = append(want, name)
		}
		if _, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	var got []string
	opts := metav1.ListOptions{LabelSelector: "ours=yes", Limit: 3}
	for pages := 1; ; pages++ {
		list, err := secrets.List(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			got = append(got, o.Name)
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			if pages != 2 {
				t.Errorf("%d pages, want 2", pages)
			}
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestObjectsAreGuarded(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	c := core(t, config(s, s.AdminToken))
	made, err := c.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) || err.Error() != `configmaps "x" already exists` {
		t.Errorf("created twice: %v", err)
	}
	_, err = c.ConfigMaps("nowhere").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != `namespaces "nowhere" not found` {
		t.Errorf("in a missing namespace: %v", err)
	}
	wrong := types.UID("wrong")
	err = c.ConfigMaps("default").Delete(t.Context(), "x", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	if !apierrors.IsConflict(err) {
		t.Errorf("deleted under another uid: %v, want conflict", err)
	}
	stale := made.DeepCopy()
	made.Data = map[string]string{"k": "v"}
	if _, err := c.ConfigMaps("default").Update(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ConfigMaps("default").Update(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("stale update: %v, want conflict", err)
	}
	patched, err := c.ConfigMaps("default").Patch(t.Context(), "x", types.MergePatchType, []byte(`{"data":{"k":null,"l":"w"}}`), metav1.PatchOptions{})
	if err != nil || len(patched.Data) != 1 || patched.Data["l"] != "w" {
		t.Errorf("patched = %v, %v", patched, err)
	}
	if err := c.ConfigMaps("default").Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	err = c.ConfigMaps("default").Delete(t.Context(), "x", metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != `configmaps "x" not found` {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestRightsComeFromBindings(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	_, tr := lease(t, s, "one", 600)
	who := config(s, tr.Status.Token)
	list := func(namespace string) error {
		_, err := core(t, who).ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := list("default"); !apierrors.IsForbidden(err) {
		t.Fatalf("without a binding: %v, want forbidden", err)
	}
	rbac, err := rbacclient.NewForConfig(config(s, s.AdminToken))
	if err != nil {
		t.Fatal(err)
	}
	_, err = rbac.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := list("default"); err != nil {
		t.Errorf("bound in the namespace: %v", err)
	}
	for _, namespace := range []string{"kube-system", ""} {
		if err := list(namespace); !apierrors.IsForbidden(err) {
			t.Errorf("in namespace %q: %v, want forbidden", namespace, err)
		}
	}
	_, err = core(t, who).ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("view creates: %v, want forbidden", err)
	}

	ask, err := authorizationclient.NewForConfig(config(s, s.AdminToken))
	if err != nil {
		t.Fatal(err)
	}
	can := func() bool {
		r, err := ask.SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "create", Resource: "serviceaccounts", Subresource: "token", Namespace: "default",
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Status.Allowed
	}
	if !can() {
		t.Error("admin cannot mint")
	}
	s.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	if can() {
		t.Error("admin can mint though denied")
	}
}

func TestFaults(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	get := func(ctx context.Context) (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/version", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	for _, f := range []struct {
		fake.Fault
		want int
	}{
		{fake.Fault{Kind: fake.Refuse, Status: 503}, 503},
		{fake.Fault{Kind: fake.HTML}, 404},
		{fake.Fault{Kind: fake.Redirect}, 307},
		{fake.Fault{Kind: fake.Huge}, 200},
		{fake.Fault{Kind: fake.Drop}, 0},
		{fake.Fault{Kind: fake.Drop, Late: true}, 0},
	} {
		f.Method, f.Path = http.MethodGet, "^/version$"
		s.Fail(f.Fault)
		if got, err := get(t.Context()); got != f.want || (err != nil) != (f.want == 0) {
			t.Errorf("%s: %d, %v, want %d", f.Kind, got, err, f.want)
		}
		if got, err := get(t.Context()); got != http.StatusOK {
			t.Errorf("after %s: %d, %v, want 200", f.Kind, got, err)
		}
	}
	s.Fail(fake.Fault{Kind: fake.Hang})
	hang := func(name string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // long enough that the request arrives
		defer cancel()
		if got, err := get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %d, %v, want a deadline", name, got, err)
		}
	}
	hang("hang")
	s.BlackHole(true)
	hang("black hole")
	s.BlackHole(false)
	if got, err := get(t.Context()); got != http.StatusOK {
		t.Errorf("after the black hole: %d, %v", got, err)
	}
	if err := s.WrongCertificate(true); err != nil {
		t.Fatal(err)
	}
	if _, err := whoami(t, config(s, s.AdminToken)); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("wrong certificate: %v", err)
	}
	if err := s.WrongCertificate(false); err != nil {
		t.Fatal(err)
	}
	if _, err := whoami(t, config(s, s.AdminToken)); err != nil {
		t.Errorf("its own certificate again: %v", err)
	}
	if was, is := s.Identity(), s.ChangeIdentity(); was == is || s.Identity() != is {
		t.Errorf("identity was %s, changed to %s, is %s", was, is, s.Identity())
	}
}

func TestLateFaultTookEffect(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{})
	secrets := core(t, config(s, s.AdminToken)).Secrets("default")
	s.Fail(fake.Fault{Method: http.MethodPost, Path: "/secrets$", Kind: fake.Drop, Late: true})
	ran := 0
	s.After(http.MethodPost, "/secrets$", func() { ran++ })
	if _, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); err == nil {
		t.Error("the dropped answer arrived")
	}
	if got := s.Names("secrets", "default"); !slices.Equal(got, []string{"default/x"}) || ran != 1 {
		t.Errorf("after the late fault: %v, hook ran %d times", got, ran)
	}
}
