package manifests_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// A refusal says what forbids an object: a quota by its name, a level of Pod Security, the rights of the lease.
func TestWhatForbidsAnObject(t *testing.T) {
	for name, c := range map[string]struct {
		message, want string
		kind          error
	}{
		"quota": {
			`pods \"a\" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2`,
			"exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2", broker.ErrQuota,
		},
		"quota that wants limits": {
			`pods \"a\" is forbidden: failed quota: compute: must specify limits.cpu for: web`,
			"failed quota: compute: must specify limits.cpu for: web", broker.ErrQuota,
		},
		"Pod Security": {
			`pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": hostPath volumes (volume \"x\")`,
			`Pod Security restricted:latest of the namespace does not allow it: hostPath volumes (volume "x")`, broker.ErrInvalid,
		},
		"rights":        {`configmaps \"a\" is forbidden: User \"x\" cannot patch resource \"configmaps\"`, "the lease does not allow it", broker.ErrForbidden},
		"anything else": {`configmaps \"a\" is forbidden: canary`, "the cluster forbids it", broker.ErrForbidden},
	} {
		s := fakeobjects.New(t)
		s.Fail(fake.Fault{
			Method: "PATCH", Kind: fake.JSON, Status: 403,
			Body: `{"kind":"Status","code":403,"reason":"Forbidden","message":"` + c.message + `"}`,
		})
		_, err := do(t, s, input(configMap("a")))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %v with %q", name, err, c.kind, c.want)
		}
	}
}

// Whoever waits is told why within moments, as often as it changes: by a condition of the workload, by its pods, or by an
// event where its controller tells it nowhere else. Values that a validation quotes are left out.
func TestReasonsWhileItWaits(t *testing.T) {
	const deployment = "/apis/apps/v1/namespaces/cnf/deployments/web"
	denied := map[string]any{
		"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
		"message": "pods \"web-1\" is forbidden: exceeded quota: compute, requested: pods=1\nused: pods=2",
	}
	statefulSet := strings.ReplaceAll(strings.ReplaceAll(webDeployment, "Deployment", "StatefulSet"), "name: web}", "name: db}")
	for name, c := range map[string]struct {
		manifest, vdu string
		prepare       func(*fakeobjects.Server)
		want          string
	}{
		"a condition": {webDeployment, "web", func(s *fakeobjects.Server) {
			s.Change(deployment, "controller", func(o map[string]any) { o["status"] = map[string]any{"conditions": []any{denied}} })
		}, `ReplicaFailure is True (FailedCreate: pods "web-1" is forbidden: exceeded quota: compute, requested: pods=1 used: pods=2)`},
		"an event": {statefulSet, "db", func(s *fakeobjects.Server) {
			s.Put("/api/v1/namespaces/cnf/events/one", map[string]any{
				"kind": "Event", "metadata": map[string]any{"name": "one", "namespace": "cnf"}, "reason": "FailedCreate", "lastTimestamp": "2031-01-01T00:00:00Z",
				"message": `create Pod db-0 in StatefulSet db failed: metadata.labels: Invalid value: "canary": must be shorter`,
			})
		}, `FailedCreate (create Pod db-0 in StatefulSet db failed: metadata.labels: Invalid value: must be shorter)`},
		"a claim": {
			strings.Replace(statefulSet, "spec:\n", "spec:\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]\n", 1), "",
			func(s *fakeobjects.Server) {
				s.Put("/api/v1/namespaces/cnf/persistentvolumeclaims/data-db-0", map[string]any{
					"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data-db-0", "namespace": "cnf"}, "status": map[string]any{"phase": "Pending"},
				})
				s.Put("/api/v1/namespaces/cnf/events/one", map[string]any{
					"kind": "Event", "metadata": map[string]any{"name": "one", "namespace": "cnf"}, "reason": "ProvisioningFailed", "lastTimestamp": "2031-01-01T00:00:00Z",
					"message": `storageclass.storage.k8s.io "x" not found`,
				})
			},
			`its claim data-db-0 is not ready: ProvisioningFailed (storageclass.storage.k8s.io "x" not found)`,
		},
	} {
		s := fakeobjects.New(t)
		s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true})
		s.Unready(true)
		in := input(c.manifest)
		if c.vdu != "" {
			in.Replicas = map[string]int32{c.vdu: 1}
		}
		stage := mustPlan(t, s, in).Stages[0]
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		told, prepared := false, false
		err := manifests.New().Run(ctx, s.Connection(stage.Grant), instance, stage.Waves[0], func(o lifecycle.Observation) {
			if !prepared {
				prepared = true
				go c.prepare(s)
			}
			if told = strings.Contains(o.Message, c.want); told {
				stop()
			}
		})
		stop()
		if !told || !errors.Is(err, lifecycle.ErrNotReady) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: told in time: %t, and at the end %v, want %q", name, told, err, c.want)
		}
	}
}

// Variables are hidden by their own names, by an annotation, and where a Secret holds them.
func TestSecretVariables(t *testing.T) {
	const secretText = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: \"x${LOGIN:=no}\"}\n"
	const marked = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, annotations: {vimbroker.io/secret-variables: \"PHRASE, OTHER\"}}\ndata: {a: \"${SITE}\"}\n"
	given := []string{"API_KEY", "DB_PASSWORD", "KEYBOARD", "LOGIN", "MONKEY", "PASSENGERS", "PHRASE", "SITE", "authToken"}
	source := lifecycle.Source{Paths: []string{"Files/kubernetes/a.yaml"}, Given: given, Read: func([]string) ([]lifecycle.Manifest, error) {
		return []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(secretText + "---\n" + marked)}}, nil
	}}
	b, err := manifests.New().Basis(source)
	if want := []string{"API_KEY", "DB_PASSWORD", "LOGIN", "PHRASE", "authToken"}; err != nil || !slices.Equal(b.Secret, want) {
		t.Errorf("hidden are %v, %v, want %v", b.Secret, err, want)
	}
	source.Read = func([]string) ([]lifecycle.Manifest, error) {
		return []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText("a: [")}}, nil
	}
	if b, err = manifests.New().Basis(source); err != nil || !slices.Equal(b.Secret, given) {
		t.Errorf("of manifests that cannot be read are hidden %v, %v, want all", b.Secret, err)
	}
}
