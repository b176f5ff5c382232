package crash_test

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

var (
	everyVIM    client.VIMQuery
	everyLease  client.LeaseQuery
	everyAudit  = client.AuditQuery{PageSize: 1000}
	auditNewest = client.AuditQuery{PageSize: 1}
)

// prove is what must hold whenever a server has come back, wherever the one
// before was killed. At the end everything is deleted, and the server stopped. In the
// field a third process begins with what the second leaves at rest.
func (s *scene) prove() {
	s.t.Helper()
	s.proveSettled()
	s.proveUpstream()
	s.proveUsable()
	s.proveAudit()
	s.proveSigned()
	if field.Wanted() {
		s.stop()
		s.proveAtRest()
		s.restart()
	}
	s.deleteAll()
	s.proveAudit()
	s.stop()
	s.proveAtRest()
	s.proveSilence()
}

// proveSettled waits for what a dead process began to be over.
func (s *scene) proveSettled() {
	s.t.Helper()
	eventually(s.t, "nothing is half done", func() error {
		for _, v := range s.vims() {
			if v.State != "registered" {
				return fmt.Errorf("VIM %s is %s", v.Name, v.State)
			}
		}
		for _, l := range s.leases() {
			if l.State != "active" && l.State != "revoked" {
				return fmt.Errorf("lease %s is %s (%s)", l.ID, l.State, l.Reason)
			}
		}
		return nil
	})
}

// proveUpstream compares the system with the rows, both ways.
func (s *scene) proveUpstream() {
	s.t.Helper()
	active, handles := map[string]bool{}, []string{}
	for _, l := range s.leases() {
		if l.State == "active" {
			active[l.ID] = true
			if l.Purpose != forHeat { // a project's token, which no name stands for
				handles = append(handles, "lease-"+l.ID)
			}
		}
	}
	slices.Sort(handles)
	if diff := cmp.Diff(handles, s.up.objects(s.t)); diff != "" {
		s.t.Errorf("objects upstream are not those of the active leases (-rows +upstream):\n%s", diff)
	}
	for _, v := range s.vims() {
		inv, err := s.Inventory(s.ctx(), v.ID, false)
		if err != nil || len(inv.Orphans)+len(inv.Ghosts) > 0 {
			s.t.Errorf("Inventory(%s) = %d orphans, %d ghosts, %v; want none", v.Name, len(inv.Orphans), len(inv.Ghosts), err)
		}
	}
	for id, tokens := range s.tokens {
		for _, token := range tokens {
			if !active[id] {
				s.wantDead(token)
			} else if !s.up.works(s.t, token) {
				s.t.Errorf("a credential of lease %s, which is active, is refused", id)
			}
		}
	}
	if s.kube == nil || s.kube.fake == nil {
		return
	}
	for _, token := range s.kube.fake.Tokens() {
		if id, ok := strings.CutPrefix(token.ServiceAccount, "lease-"); ok && !active[id] || token.Secret != "" {
			s.t.Errorf("token %s of service account %s/%s lives, and no active lease answers for it", token.ID, token.Namespace, token.ServiceAccount)
		}
	}
}

// proveUsable takes a lease on every VIM, which shows that its credential opens,
// uses it, and gives it back.
func (s *scene) proveUsable() {
	s.t.Helper()
	for _, v := range s.vims() {
		l := s.issue(v.ID)
		token := s.tokens[l.ID][0]
		if !s.up.works(s.t, token) {
			s.t.Errorf("the credential of a new lease on %s is refused", v.Name)
		}
		after, err := s.RevokeLease(s.ctx(), l.ID)
		if err != nil || after.State != "revoked" {
			s.t.Errorf("RevokeLease = %s, %v, want revoked", after.State, err)
		}
		s.wantDead(token)
	}
}

// proveAudit verifies the log from the first entry that was not removed, and that what was seen
// in it before the crash is still there.
func (s *scene) proveAudit() {
	s.t.Helper()
	var entries []audit.Entry
	seen := s.head.Seq == 0
	for e, err := range s.AllAudit(s.ctx(), everyAudit) {
		if err != nil {
			s.t.Fatal(err)
		}
		seen = seen || reflect.DeepEqual(e, s.head)
		entries = append(entries, entryOf(e))
	}
	slices.Reverse(entries)
	if err := audit.Follow(entries); err != nil {
		s.t.Errorf("audit log of %d entries: %v", len(entries), err)
	}
	past, err := s.Retention(s.ctx())
	if err != nil || len(entries) == 0 || entries[0].Seq != past.Horizon+1 {
		s.t.Errorf("entries up to %d were removed, %v, and the audit log does not begin behind them", past.Horizon, err)
	}
	if !seen {
		s.t.Errorf("audit entry %d, which was there before the crash, is gone or another", s.head.Seq)
	}
}

// proveSigned compares the last checkpoint of the log with the keys that sign it, and the
// log as it is with the checkpoint.
func (s *scene) proveSigned() {
	s.t.Helper()
	c := s.awaitSigned()
	shown, err := s.AuditKeys(s.ctx())
	if err != nil {
		s.t.Fatal(err)
	}
	var keys []notary.SigningKey
	signing := 0
	for _, k := range shown.Items {
		keys = append(keys, notary.SigningKey{ID: k.ID, State: notary.SigningKeyState(k.State), Origin: k.Origin, Verifier: k.Verifier, Since: k.Since, Until: k.Until})
		if k.State == string(notary.Signing) {
			signing++
		}
	}
	state, err := notary.Open(keys, c.Note)
	if err != nil || state.Size != c.Size || signing != 1 {
		s.t.Errorf("the checkpoint of %d entries opens as %d, %v; %d keys sign", c.Size, state.Size, err, signing)
		return
	}
	now, err := s.AuditGrowth(s.ctx(), c.Size)
	if err != nil {
		s.t.Fatal(err)
	}
	var proof []tree.Hash
	for _, h := range now.Proof {
		proof = append(proof, tree.Hash(h))
	}
	if err := tree.CheckConsistency(tree.Head{Size: now.Size, Root: tree.Hash(now.Root)}, state, proof); err != nil {
		s.t.Errorf("the log of %d entries does not begin with the %d that were signed: %v", now.Size, c.Size, err)
	}
}

// awaitSigned waits for a checkpoint of the audit log: a server signs when it starts.
func (s *scene) awaitSigned() (c v1.AuditCheckpoint) {
	s.t.Helper()
	eventually(s.t, "the audit log is signed", func() (err error) {
		c, err = s.AuditCheckpoint(s.ctx())
		return err
	})
	return c
}

func entryOf(e v1.AuditEntry) audit.Entry {
	return audit.Entry{
		Seq: e.Seq, Time: e.Time, Request: e.Request, Principal: e.Principal, Project: e.Project,
		Action: policy.Action(e.Action), Kind: policy.Kind(e.Kind), Resource: e.Resource,
		Outcome: audit.Outcome(e.Outcome), Detail: e.Detail,
	}
}

// atRest are the files that a stopped server leaves.
var atRest = regexp.MustCompile(`^(lock|dev-token|vimbroker\.db|keys/[0-9a-f]{2}/[0-9a-f-]{36}\.[0-9]+\.[0-9a-f]{32})$`)

// proveAtRest looks at what a stopped server has left on the disk: no file that
// is not known, no key without a row, no row without a key, nothing half done.
func (s *scene) proveAtRest() {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(s.dir, path); err == nil && !d.IsDir() && !atRest.MatchString(filepath.ToSlash(name)) {
			s.t.Errorf("file %s is left in the data directory", name)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	store, err := quickstore.Open(s.ctx(), sqlite.Options{Path: filepath.Join(s.dir, "vimbroker.db")})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	keys, err := keydir.Open(filepath.Join(s.dir, "keys"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer keys.Close()

	held, err := keys.List(s.ctx(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	used, err := store.KeysInUse(s.ctx(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	files, rows := map[secret.Ref]bool{}, map[secret.Ref]bool{}
	for _, h := range held {
		files[h.Ref] = true
	}
	for _, u := range used {
		rows[u.Ref] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(files))); diff != "" {
		s.t.Errorf("keys are not those that rows name (-rows +files):\n%s", diff)
	}
	if retired, err := store.RetiredKeys(s.ctx(), 10); err != nil || len(retired) > 0 {
		s.t.Errorf("RetiredKeys = %d, %v, want none", len(retired), err)
	}
	ever := time.Now().AddDate(1, 0, 0)
	if half, _, err := store.VIMs(s.ctx(), broker.VIMFilter{PendingBefore: ever, Page: broker.Page{Size: 10}}); err != nil || len(half) > 0 {
		s.t.Errorf("%d VIMs are half written, %v", len(half), err)
	}
	if half, _, err := store.Leases(s.ctx(), broker.LeaseFilter{States: []broker.LeaseState{broker.LeasePending}, Page: broker.Page{Size: 10}}); err != nil || len(half) > 0 {
		s.t.Errorf("%d leases are half issued, %v", len(half), err)
	}
}

// deleteAll drains every VIM, after which nothing of the broker's is left upstream.
func (s *scene) deleteAll() {
	s.t.Helper()
	for _, v := range s.vims() {
		if _, _, err := s.DeleteVIM(s.ctx(), v.ID, client.Deletion{Drain: true}); err != nil {
			s.t.Errorf("DeleteVIM(%s): %v", v.Name, err)
		}
		eventually(s.t, "a VIM has been drained", func() error {
			if _, err := s.VIM(s.ctx(), v.ID); client.Status(err) != http.StatusNotFound {
				return fmt.Errorf("VIM %s is still there: %w", v.Name, err)
			}
			return nil
		})
	}
	left := s.up.objects(s.t)
	if !s.leaves {
		left = append(left, s.up.others(s.t)...)
	}
	if len(left) > 0 {
		s.t.Errorf("all VIMs are deleted, and upstream there is still %q", left)
	}
	for _, tokens := range s.tokens {
		for _, token := range tokens {
			s.wantDead(token)
		}
	}
}

// proveSilence looks for the leases' secrets in the logs of all servers.
func (s *scene) proveSilence() {
	s.t.Helper()
	for _, server := range s.servers {
		log := server.Log.String()
		for id, tokens := range s.tokens {
			for _, token := range tokens {
				if strings.Contains(log, token) {
					s.t.Errorf("the credential of lease %s stands in a server's log", id)
				}
			}
		}
	}
}
