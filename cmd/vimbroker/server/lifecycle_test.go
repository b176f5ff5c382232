package server

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// TestEngineRenewsItsLease: policies and broker let the engine renew, for a member, the lease that it took for one.
func TestEngineRenewsItsLease(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(*config) {})
	w.must(http.StatusCreated, "POST", "/v1/vims", map[string]any{"name": "edge", "kubeconfig": kube.Kubeconfig()})
	member := policy.Principal{Name: "alice", Project: "default", Roles: []string{policy.RoleMember}, Actor: lifecycle.Actor}
	l, config, err := w.broker.IssueLease(t.Context(), member, broker.LeaseRequest{
		VIM: "edge", TTL: 20 * time.Minute, Namespaces: []string{"default"}, Operation: uuid.NewString(), Purpose: "life-cycle operation",
		Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"web"}, Verbs: []string{"get", "create", "patch"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	renewed, after, err := w.broker.RenewLease(t.Context(), member, l.ID, 40*time.Minute)
	if err != nil || !renewed.ExpiresAt.After(l.ExpiresAt) || after.Lease != l.ID {
		t.Errorf("RenewLease = until %v after %v, %v", renewed.ExpiresAt, l.ExpiresAt, err)
	}
	if after.Credential.Token.Reveal() == config.Credential.Token.Reveal() {
		t.Error("the renewed lease has the credential of before")
	}
}
