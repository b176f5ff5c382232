//go:build unix && failpoints

package broker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// TestKilledWhileAnchoring kills a process with SIGKILL between handing a checkpoint over and
// noting that: the next one hands it over again, and goes on.
func TestKilledWhileAnchoring(t *testing.T) {
	var dir string
	if process.Errand(t, &dir) {
		anchorOnce(t, dir)
		t.Fatal("the process lives on")
	}
	dir = t.TempDir()
	process.KillAt(t, "audit.anchored", dir)
	for _, want := range []int{2, 3} { // each time with one entry more
		anchorOnce(t, dir)
		text, err := os.ReadFile(filepath.Join(dir, "anchors.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(text), "\n"); got != want {
			t.Errorf("the anchor has %d lines, want %d", got, want)
		}
	}
}

// anchorOnce writes an entry to the log in a directory, signs it, and anchors to a file there.
func anchorOnce(t *testing.T, dir string) {
	t.Helper()
	s, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "data", "vimbroker.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	guard := &audit.Guard{Policy: policies, Sink: s, Now: time.Now}
	to := outlet.NewFile(outlet.FileOptions{Path: filepath.Join(dir, "anchors.jsonl")})
	n := notary.New(s, []secret.KeyStore{keys}, []notary.Anchor{{Name: "file", Outlet: to}}, time.Now)
	defer n.Close()
	if err := s.Append(t.Context(), audit.Entry{Time: time.Now(), Principal: "alice", Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	err = n.Sign(t.Context(), func(ctx context.Context) (*audit.Act, error) {
		p := policy.Principal{Name: "system:notary", Roles: []string{policy.RoleSystem}}
		return guard.Enter(ctx, p, policy.AuditKey, policy.Resource{Kind: policy.KindProject, ID: "*", Project: "*"}, policy.Wish{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Anchor(t.Context()); err != nil {
		t.Fatal(err)
	}
}
