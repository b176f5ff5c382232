package real_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/pods"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestPodsAreJudgedAsTheClusterJudges: an API server whose namespace enforces level baseline refuses exactly the pods of
// which a plan says that they do not meet it. TestFieldPodsAreJudgedAsTheClusterJudges tries many more.
func TestPodsAreJudgedAsTheClusterJudges(t *testing.T) { judgeAsTheCluster(t, 150) }

func TestFieldPodsAreJudgedAsTheClusterJudges(t *testing.T) {
	field.Only(t)
	judgeAsTheCluster(t, 5000)
}

func judgeAsTheCluster(t *testing.T, many int) {
	s := newStand(t)
	config := s.cluster.Config()
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	label := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}`)
	if _, err := client.CoreV1().Namespaces().Patch(t.Context(), s.in.Namespace, "application/merge-patch+json", label, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if !real.Poll(t, time.Minute, func() bool {
		_, err := client.CoreV1().ServiceAccounts(s.in.Namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	}) {
		t.Fatal("the namespace has no account")
	}
	all := map[string]map[string]any{}
	for n, c := range pods.Cases() {
		name := fmt.Sprintf("case-%d", n)
		all[name] = pods.Set(c.Pod, "metadata.name", name)
	}
	r := rand.New(rand.NewPCG(26, uint64(many)))
	for n := range many {
		name := fmt.Sprintf("random-%d", n)
		all[name] = pods.Random(r, name)
	}
	ours := baselineOf(t, s, all)
	var (
		mu      sync.Mutex
		counted = map[bool]int{}
		invalid int
	)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for name, pod := range all {
		group.Go(func() error {
			text, err := json.Marshal(pod)
			if err != nil {
				return err
			}
			var typed corev1.Pod
			if err := json.Unmarshal(text, &typed); err != nil {
				return err
			}
			_, err = client.CoreV1().Pods(s.in.Namespace).Create(ctx, &typed, metav1.CreateOptions{DryRun: []string{"All"}})
			mu.Lock()
			defer mu.Unlock()
			switch refused := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity"); {
			case apierrors.IsInvalid(err):
				invalid++
			case err != nil && !refused:
				return fmt.Errorf("%s: %w", name, err)
			case refused == ours[name]:
				t.Errorf("%s: meets baseline: %t, by the cluster %v", text, ours[name], err)
			default:
				counted[refused]++
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pods taken, %d refused, %d that are none", counted[false], counted[true], invalid)
	if counted[true] < many/5 || counted[false] < many/5 || invalid > many/5 {
		t.Error("too few pods of one kind")
	}
}

// baselineOf says of pods, by their names, whether a plan on the cluster finds that they meet level baseline.
func baselineOf(t *testing.T, s *stand, all map[string]map[string]any) map[string]bool {
	t.Helper()
	in := s.in
	in.Operation = lifecycle.Instantiate
	meets := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[name])
		if err != nil {
			t.Fatal(err)
		}
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: name + ".json", Text: secret.NewText(string(text))})
		meets[name] = true
	}
	d := manifests.New()
	plan, err := d.Plan(t.Context(), s.as(d.Survey(in)), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range plan.Facts.Reaches {
		if found.Why == "pod-security: baseline" {
			meets[found.Name] = false
		}
		if found.What == lifecycle.ReachUnknown {
			t.Errorf("%+v", found)
		}
	}
	return meets
}
