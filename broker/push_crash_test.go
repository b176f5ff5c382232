//go:build unix && failpoints

package broker_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// pushErrand is what a process does until it is killed: it pushes, or keeps what was pushed.
type pushErrand struct {
	Dir, Lease string
	Keep       bool
}

// openPushing opens the broker of a directory; the returned function closes it.
func openPushing(t *testing.T, dir string) (*broker.Broker, func()) {
	t.Helper()
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "data", "vimbroker.db")})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	return mustNew(t, broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Log: testlog.Silent(t)})},
		Policy: policies, Egress: func(string) *egress.Rules { return rules }, Terms: broker.DefaultTerms(), Log: testlog.Silent(t),
		Directories: map[string]policy.Directory{policy.ByClient: directory{vnfm.Name: vnfm}},
		PushTargets: map[string]broker.PushTarget{"argocd": {
			Name: "argocd", Project: "demo", VIM: "edge1", Namespace: "default", Form: broker.FormArgoCD,
			Plugin: clientconfig.Plugin{Command: "/tools/vimbroker", Env: map[string]string{"VIMBROKER_ADDR": "https://broker"}},
		}},
	}), func() { keys.Close(); _ = store.Close() }
}

// A process that dies while it pushes leaves what a repeat, and the next pass, find as theirs; one that dies while it removes
// what names a revoked lease leaves the removal done.
func TestKilledWhilePushing(t *testing.T) {
	var errand pushErrand
	if process.Errand(t, &errand) {
		b, _ := openPushing(t, errand.Dir)
		var err error
		if errand.Keep {
			err = b.KeepPushed(t.Context())
		} else {
			_, _, err = b.PushLease(t.Context(), root, errand.Lease, "argocd", "web")
		}
		t.Fatalf("the process lives on: %v", err)
	}
	kube := fakekube.New(t, fakekube.Options{})
	dir := t.TempDir()
	b, closed := openPushing(t, dir)
	if _, err := b.RegisterVIM(t.Context(), alice, broker.Registration{
		Name: "edge1", Type: "kubernetes", Endpoint: kube.Endpoint, CACert: kube.CA,
		Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(kube.AdminToken)},
	}); err != nil {
		t.Fatal(err)
	}
	l, _, err := b.IssueLease(t.Context(), vnfm, standingRequest())
	if err != nil {
		t.Fatal(err)
	}
	there := func() bool {
		return strings.Contains(strings.Join(kube.Names("secrets", "default"), " "), "default/web")
	}
	closed()

	process.KillAt(t, "push.shelved", pushErrand{Dir: dir, Lease: l.ID})
	b, closed = openPushing(t, dir)
	if !there() {
		t.Fatal("nothing was pushed before the process died")
	}
	if err := b.KeepPushed(t.Context()); err != nil || !there() {
		t.Errorf("the pass after it: %v; the Secret is there: %v", err, there())
	}
	if _, _, err := b.PushLease(t.Context(), root, l.ID, "argocd", "web"); err != nil {
		t.Errorf("a repeat: %v", err)
	}
	if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
		t.Fatal(err)
	}
	closed()

	process.KillAt(t, "push.kept", pushErrand{Dir: dir, Keep: true})
	b, closed = openPushing(t, dir)
	defer closed()
	if err := b.KeepPushed(t.Context()); err != nil || there() {
		t.Errorf("the pass after a removal: %v; the Secret is there: %v", err, there())
	}
}
