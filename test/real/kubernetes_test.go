package real_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestMain(m *testing.M) {
	process.SideBySide(5)
	kube.ManagedFieldsManager = "helm" // as Helm's command sets it
	real.Main(m)
}

func whoami(ctx context.Context, c *rest.Config) (string, error) {
	client, err := authenticationclient.NewForConfig(c)
	if err != nil {
		return "", err
	}
	r, err := client.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return r.Status.UserInfo.Username, nil
}

func TestKubernetesAnswers(t *testing.T) {
	c := real.Kubernetes(t)
	if again := real.Kubernetes(t); again != c {
		t.Error("two tests of one process got two clusters")
	}
	if info, err := os.Stat(c.Kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v, want 0600", info.Mode(), err)
	}
	out, err := exec.CommandContext(t.Context(), c.Kubectl, "--kubeconfig", c.Kubeconfig, "get", "ns", "-o", "name").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "namespace/kube-system") {
		t.Errorf("kubectl get ns: %v\n%s", err, out)
	}
	token := &rest.Config{Host: c.Endpoint, BearerToken: c.AdminToken(t), TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.CAPEM)}}
	if got, err := whoami(t.Context(), token); err != nil || got != "system:serviceaccount:kube-system:test-admin" {
		t.Errorf("who the admin token is = %q, %v", got, err)
	}
}

func TestBasicAuthProxyKnowsOneUser(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	b := c.BasicAuthProxy(t)
	config := &rest.Config{Host: b.Endpoint, Username: b.Username, Password: b.Password, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.CAPEM)}}
	if got, err := whoami(t.Context(), config); err != nil || got != b.Username {
		t.Errorf("with the password = %q, %v, want %q", got, err, b.Username)
	}
	config.Password += "x"
	if got, err := whoami(t.Context(), config); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong password = %q, %v, want unauthorized", got, err)
	}
	config.Username, config.Password, config.BearerToken = "", "", c.AdminToken(t)
	if got, err := whoami(t.Context(), config); err != nil || !strings.HasSuffix(got, ":test-admin") {
		t.Errorf("with a token = %q, %v", got, err)
	}
	config.BearerToken = ""
	config.Wrap(impostor)
	if got, err := whoami(t.Context(), config); err == nil {
		t.Errorf("with an X-Remote-User of its own = %q, want refusal", got)
	}
}

func TestClusterPausesAndRestarts(t *testing.T) {
	t.Parallel()
	c := real.OwnKubernetes(t)
	config := c.Config()
	before, err := whoami(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	c.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := whoami(ctx, config); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("paused: %v, want a deadline", err)
	}
	c.Resume(t)
	c.Restart(t)
	if after, err := whoami(t.Context(), config); err != nil || after != before {
		t.Errorf("restarted = %q, %v, want %q", after, err, before)
	}
	c.Stop()
	c.Stop()
	if _, err := whoami(t.Context(), config); err == nil {
		t.Error("stopped, and it answers")
	}
}
