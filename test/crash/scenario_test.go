package crash_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// scenario is one flow in which the server is killed.
type scenario struct {
	name string
	// prepare brings about what the flow begins with.
	prepare func(*scene)
	// starts says that the flow begins with the start of a server: prepare has left none running.
	starts bool
	// act is the flow. Its error only says whether an answer came. It may be
	// missing where the flow is a server's start.
	act func(*scene) error
	// after proves what holds for this flow besides scene.prove; a server has
	// come back, and runs.
	after func(*scene)
	// fakeOnly flows need a cluster that can be told to fail.
	fakeOnly bool
}

// requestKey is the Idempotency-Key of the flows that take one.
const requestKey = "crash-kit"

var (
	registering = scenario{
		name:    "register",
		prepare: func(*scene) {},
		act: func(s *scene) error {
			_, err := s.RegisterVIM(s.ctx(), s.up.registration(s.t, "edge"), requestKey)
			return err
		},
		// Whether the VIM is there or not, the name can be had, by a repeat of the
		// same request; and whatever is there is whole.
		after: func(s *scene) {
			for _, v := range s.vims() {
				if v.Name != "edge" || v.State != "registered" || v.Generation != 1 {
					s.t.Errorf("VIM %s is %s in generation %d", v.Name, v.State, v.Generation)
				}
			}
			v, err := s.RegisterVIM(s.ctx(), s.up.registration(s.t, "edge"), requestKey)
			if err != nil || v.Name != "edge" {
				s.t.Errorf("RegisterVIM again = %q, %v", v.Name, err)
			}
		},
	}

	registeringInVain = scenario{
		name:    "register with a wrong credential",
		prepare: func(*scene) {},
		act: func(s *scene) error {
			r := s.up.registration(s.t, "edge")
			r.Credential.Token = secret.NewText("not-a-token")
			_, err := s.RegisterVIM(s.ctx(), r, "")
			return err
		},
		after: func(s *scene) {
			if found := s.vims(); len(found) > 0 {
				s.t.Errorf("a VIM is there that was never registered: %s", found[0].State)
			}
			s.register("edge")
		},
	}

	rotating = scenario{
		name:    "rotate",
		prepare: func(s *scene) { s.register("edge") },
		act: func(s *scene) error {
			_, err := s.RotateVIM(s.ctx(), "edge", s.rotation(), 0)
			return err
		},
		after: rotatedAgain,
	}

	updatingUnderLease = scenario{
		name:    "update under a lease",
		prepare: func(s *scene) { s.register("edge"); s.issue("edge") },
		act: func(s *scene) error {
			namespace := "kube-system"
			_, err := s.UpdateVIM(s.ctx(), "edge", v1.Change{Namespace: &namespace, Credential: s.rotation().Credential}, 0)
			return err
		},
		after: rotatedAgain,
	}

	updatingInVain = scenario{
		name:    "update with a wrong credential",
		prepare: func(s *scene) { s.register("edge"); s.issue("edge") },
		act: func(s *scene) error {
			_, err := s.RotateVIM(s.ctx(), "edge", v1.Rotation{Credential: v1.Credential{Token: secret.NewText("not-a-token")}}, 0)
			return err
		},
		after: func(s *scene) {
			if v := s.only(); v.Generation != 1 {
				s.t.Errorf("generation = %d after an update that failed, want 1", v.Generation)
			}
			rotatedAgain(s)
		},
	}

	// rekeying seals a VIM with two generations and the credentials of their leases
	// under new keys.
	rekeying = scenario{
		name: "rekey",
		prepare: func(s *scene) {
			s.register("edge")
			l, err := s.IssueLease(s.ctx(), s.up.request("edge"), requestKey)
			if err != nil {
				s.t.Fatal(err)
			}
			s.handedOut(l)
			if _, err := s.RotateVIM(s.ctx(), "edge", s.rotation(), 0); err != nil {
				s.t.Fatal(err)
			}
			s.issue("edge")
		},
		act: func(s *scene) error {
			_, err := s.RotateVIM(s.ctx(), "edge", v1.Rotation{}, 0)
			return err
		},
		after: rekeyedAgain,
	}

	issuing = issuingOne("issue", func(*v1.LeaseRequest) {})

	// issuingRules makes a role beside a binding, in each of two namespaces.
	issuingRules = issuingOne("issue exact rules in two namespaces", ofRules)

	issuingInVain = scenario{
		name:     "issue on a cluster that mints and does not answer",
		fakeOnly: true,
		prepare:  func(s *scene) { s.register("edge") },
		act: func(s *scene) error {
			fault := fake.Fault{Method: http.MethodPost, Path: "/token$", Kind: fake.Drop, Late: true}
			s.kube.fake.Fail(fault)
			_, err := s.IssueLease(s.ctx(), s.up.request("edge"), "")
			return err
		},
		after: func(s *scene) { s.kube.fake.Heal() },
	}

	renewing = scenario{
		name:    "renew",
		prepare: func(s *scene) { s.register("edge"); s.issue("edge") },
		act: func(s *scene) error {
			_, err := s.RenewLease(s.ctx(), s.issued[0], v1.Renewal{TTL: "2h"})
			return err
		},
		after: func(s *scene) {
			l := s.lease(s.issued[0])
			if l.State != "active" {
				s.t.Errorf("the lease is %s after a renewal that nobody saw end, want active", l.State)
			}
			again, err := s.RenewLease(s.ctx(), l.ID, v1.Renewal{TTL: "3h"})
			if err != nil {
				s.t.Fatalf("RenewLease again: %v", err)
			}
			s.handedOut(again)
		},
	}

	// renewingInVain ends a lease whose renewal nobody saw end.
	renewingInVain = scenario{
		name:    "renew, then revoke",
		prepare: renewing.prepare,
		act:     renewing.act,
		after: func(s *scene) {
			if l, err := s.RevokeLease(s.ctx(), s.issued[0]); err != nil || l.State != "revoked" {
				s.t.Errorf("RevokeLease = %s, %v, want it revoked", l.State, err)
			}
			if left := s.up.objects(s.t); len(left) > 0 {
				s.t.Errorf("revoked, and upstream are %q", left)
			}
		},
	}

	revoking = scenario{
		name:    "revoke",
		prepare: func(s *scene) { s.register("edge"); s.issue("edge"); s.issue("edge") },
		act: func(s *scene) error {
			_, err := s.RevokeLease(s.ctx(), s.issued[0])
			return err
		},
		after: func(s *scene) {
			if l := s.lease(s.issued[1]); l.State != "active" {
				s.t.Errorf("the other lease is %s (%s), want active", l.State, l.Reason)
			}
		},
	}

	// revokingAToken revokes a lease that is a project's token.
	revokingAToken = scenario{
		name: "revoke a project's token",
		prepare: func(s *scene) {
			s.register("edge")
			r := s.up.request("edge")
			r.Purpose = forHeat
			s.take(r)
		},
		act:   revoking.act,
		after: func(*scene) {},
	}

	// revokingTheLast ends the last lease of a past generation, whose key goes when
	// the credential has been tried and refused.
	revokingTheLast = scenario{
		name: "revoke and confirm the last lease of a past generation",
		prepare: func(s *scene) {
			s.register("edge")
			s.issue("edge")
			if _, err := s.RotateVIM(s.ctx(), "edge", s.rotation(), 0); err != nil {
				s.t.Fatal(err)
			}
		},
		act: func(s *scene) error {
			if _, err := s.RevokeLease(s.ctx(), s.issued[0]); err != nil {
				return err
			}
			return s.confirmed(s.issued[0])
		},
		after: func(s *scene) {
			if err := s.confirmed(s.issued[0]); err != nil {
				s.t.Error(err)
			}
		},
	}

	draining = scenario{
		name:    "delete with drain",
		prepare: func(s *scene) { s.register("edge"); s.issue("edge"); s.issue("edge") },
		act: func(s *scene) error {
			_, _, err := s.DeleteVIM(s.ctx(), "edge", client.Deletion{Drain: true})
			return err
		},
		// It is complete, or gone and its name free.
		after: func(s *scene) {
			if len(s.vims()) == 0 {
				s.register("edge")
			}
		},
	}

	drainingRules = scenario{
		name: "delete with drain of exact rules in two namespaces",
		prepare: func(s *scene) {
			s.register("edge")
			r := s.up.request("edge")
			ofRules(&r)
			s.take(r)
		},
		act:   draining.act,
		after: draining.after,
	}

	// A server that starts finishes what one before it began, and can be killed at
	// that as well.

	settlingALease = scenario{
		name:   "settle a lease at start",
		starts: true,
		prepare: func(s *scene) {
			s.register("edge")
			s.dieAt("issue.minted", issuing.act)
		},
		after: func(*scene) {},
	}

	settlingAWrite = scenario{
		name:   "settle a write at start",
		starts: true,
		prepare: func(s *scene) {
			s.register("edge")
			s.issue("edge")
			s.dieAt("seal.key-stored", rotating.act)
		},
		after: rotatedAgain,
	}

	settlingARekey = scenario{
		name:   "settle a rekey at start",
		starts: true,
		prepare: func(s *scene) {
			rekeying.prepare(s)
			s.dieAt("rekey.sealed", rekeying.act)
		},
		after: rekeyedAgain,
	}

	settlingARegistration = scenario{
		name:    "settle a registration at start",
		starts:  true,
		prepare: func(s *scene) { s.dieAt("seal.key-stored", registering.act) },
		after:   registering.after,
	}

	settlingAKey = scenario{
		name:   "settle a retired key at start",
		starts: true,
		prepare: func(s *scene) {
			s.register("edge")
			s.dieAt("update.switched", rotating.act)
		},
		after: func(*scene) {},
	}

	// tidying removes what the leases of a grant shared, which has long been without one.
	tidying = scenario{
		name:   "tidy a grant away",
		starts: true,
		prepare: func(s *scene) {
			s.register("edge")
			if l, err := s.RevokeLease(s.ctx(), s.issue("edge").ID); err != nil || l.State != "revoked" {
				s.t.Fatalf("RevokeLease = %s, %v, want revoked", l.State, err)
			}
			if len(s.up.others(s.t)) == 0 {
				s.t.Error("a grant that had a lease just now has nothing upstream: there is nothing to tidy away")
			}
			s.stop()
			s.ageGrants()
		},
		after: func(s *scene) {
			eventually(s.t, "what the grant's leases shared is gone", func() error {
				if left := s.up.others(s.t); len(left) > 0 {
					return fmt.Errorf("upstream there is %q", left)
				}
				return nil
			})
			s.issue("edge") // out of the next epoch
		},
	}

	// signing signs the audit log at the start of a server: the start itself is in it.
	signing = scenario{
		name:    "sign the audit log",
		starts:  true,
		prepare: func(s *scene) { s.signedBefore = s.awaitSigned().Size; s.stop() },
		act:     awaitLonger,
		after:   func(s *scene) { _ = awaitLonger(s) },
	}

	// pruning removes a job and the beginning of the audit log, each in a write of its own.
	pruning = scenario{
		name:    "remove the past",
		starts:  true,
		prepare: (*scene).growOld,
		act: func(s *scene) (err error) {
			eventually(s.t, "old audit entries are removed", func() error {
				var r v1.Retention
				if r, err = s.Retention(s.ctx()); err == nil && r.Horizon != oldEntries {
					return fmt.Errorf("they are up to %d", r.Horizon)
				}
				return nil
			})
			return err
		},
		after: func(s *scene) {
			eventually(s.t, "what is old is removed", func() error {
				r, err := s.Retention(s.ctx())
				if err == nil && (r.Horizon != oldEntries || r.Jobs != 0) {
					err = fmt.Errorf("%d entries and not %d jobs", r.Horizon, r.Jobs)
				}
				return err
			})
		},
	}

	rotatingAuditKey = scenario{
		name:    "rotate the key that signs the audit log",
		prepare: func(*scene) {},
		act: func(s *scene) error {
			_, err := s.RotateAuditKey(s.ctx())
			return err
		},
		after: func(s *scene) {
			if _, err := s.RotateAuditKey(s.ctx()); err != nil {
				s.t.Errorf("RotateAuditKey again = %v", err)
			}
		},
	}

	settlingAnAuditKey = scenario{
		name:    "settle a key for the audit log at start",
		starts:  true,
		prepare: func(s *scene) { s.dieAt("audit.key-stored", rotatingAuditKey.act) },
		after:   rotatingAuditKey.after,
	}

	goingOnDraining = scenario{
		name:   "go on draining after a start",
		starts: true,
		prepare: func(s *scene) {
			s.register("edge")
			s.issue("edge")
			s.issue("edge")
			s.dieAt("delete.draining", draining.act)
		},
		act: func(s *scene) (err error) {
			eventually(s.t, "the VIM is gone", func() error {
				if _, err = s.VIM(s.ctx(), "edge"); err == nil {
					return errors.New("it is still there")
				}
				return nil
			})
			return err
		},
		after: draining.after,
	}
)

// issuingOne issues one lease, which change asks for.
func issuingOne(name string, change func(*v1.LeaseRequest)) scenario {
	request := func(s *scene) v1.LeaseRequest {
		r := s.up.request("edge")
		change(&r)
		return r
	}
	return scenario{
		name:    name,
		prepare: func(s *scene) { s.register("edge") },
		act: func(s *scene) error {
			_, err := s.IssueLease(s.ctx(), request(s), requestKey)
			return err
		},
		// Whoever did not get the answer asks again under the same key: for the
		// lease, if it is active, and otherwise for another.
		after: func(s *scene) {
			before := s.leases()
			again, err := s.IssueLease(s.ctx(), request(s), requestKey)
			switch {
			case len(before) == 1 && before[0].State == "revoked":
				if err != nil || again.ID == before[0].ID {
					s.t.Fatalf("IssueLease again = %s, %v, want another lease: nobody was handed the first", again.ID, err)
				}
				s.issued = append(s.issued, again.ID) // out of what the first one left half made
				s.handedOut(again)
			case err != nil:
				s.t.Errorf("IssueLease again: %v", err)
			case len(before) == 1 && before[0].ID != again.ID:
				s.t.Errorf("IssueLease again made lease %s beside %s", again.ID, before[0].ID)
			default:
				s.handedOut(again)
			}
		},
	}
}

// oldEntries is how many entries begin a log that is old.
const oldEntries = 3

// growOld puts in the place of what there is an audit log that begins six years ago, and is signed;
// and a job that was done long ago. No server is left running.
func (s *scene) growOld() {
	s.t.Helper()
	s.stop()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.dir, "vimbroker.db")
	store, err := quickstore.Open(s.ctx(), sqlite.Options{Path: file})
	if err != nil {
		s.t.Fatal(err)
	}
	for range oldEntries {
		e := audit.Entry{Time: time.Now().AddDate(-6, 0, 0), Principal: "alice", Action: policy.VIMRegister, Kind: policy.KindVIM, Outcome: audit.Denied}
		if err := store.Append(s.ctx(), e); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.server = launch(s.t, s.dir, "audit.checkpoint-stored")
	s.servers = append(s.servers, s.server)
	s.wantKilled()
	db, err := quickstore.Raw(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(s.ctx(), `INSERT INTO jobs (kind, subject, wanted, done, fence, failures, due_at) VALUES ('none', 'none', 1, 1, 0, 0, 1)`); err != nil {
		s.t.Fatal(err)
	}
}

// awaitLonger waits for a checkpoint of more than was signed before.
func awaitLonger(s *scene) (err error) {
	s.t.Helper()
	eventually(s.t, "more of the audit log is signed", func() error {
		var c v1.AuditCheckpoint
		if c, err = s.AuditCheckpoint(s.ctx()); err == nil && c.Size <= s.signedBefore {
			return fmt.Errorf("%d entries are signed", c.Size)
		}
		return nil
	})
	return err
}

// ofRules asks for exact rules in two namespaces, in place of a role.
func ofRules(r *v1.LeaseRequest) {
	r.Role, r.Namespaces = "", []string{"default", "kube-public"}
	r.Rules = []v1.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}}}
}

// ageGrants has all grants be without a live lease for long. No server runs.
func (s *scene) ageGrants() {
	s.t.Helper()
	db, err := quickstore.Raw(filepath.Join(s.dir, "vimbroker.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	done, err := db.ExecContext(s.ctx(), `UPDATE grants SET idle_since = 1`)
	if err != nil {
		s.t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		s.t.Fatalf("%d grants are kept, %v, want some", n, err)
	}
}

// flows are what a server is killed in at each of its commits.
var flows = []scenario{
	registering, issuing, renewing, revoking,
	registeringInVain, rotating, updatingUnderLease, updatingInVain, rekeying, issuingInVain, minting, draining,
	settlingALease, settlingAWrite, settlingARekey, settlingARegistration, settlingAKey, tidying, takingATokenOnce, beingOnThePage,
}

// often is the number of flows, of the first, that are played in each run of the tests.
const often = 4

// dieAt kills the present server at a failpoint, and starts no other.
func (s *scene) dieAt(point string, act func(*scene) error) {
	s.t.Helper()
	s.arm(point)
	if err := act(s); !cutOff(err) {
		s.t.Fatalf("at %s: the flow ended with %v, want to be cut off", point, err)
	}
	s.wantKilled()
}

// confirmed waits until a revoked lease's credential has been tried and refused.
// It fails if the server does not answer.
func (s *scene) confirmed(id string) (err error) {
	s.t.Helper()
	eventually(s.t, "the lease is confirmed dead", func() error {
		var l v1.Lease
		if l, err = s.Lease(s.ctx(), id); err == nil && l.ConfirmedDeadAt.IsZero() {
			return fmt.Errorf("it is %s", l.State)
		}
		return nil
	})
	return err
}

// only is the one VIM that there is.
func (s *scene) only() v1.VIM {
	s.t.Helper()
	found := s.vims()
	if len(found) != 1 {
		s.t.Fatalf("%d VIMs, want 1", len(found))
	}
	return found[0]
}

// rotatedAgain proves that the VIM can be written again after a write that was cut off.
func rotatedAgain(s *scene) {
	s.t.Helper()
	before := s.only()
	if before.Generation < 1 || before.Generation > 2 {
		s.t.Errorf("generation = %d, want 1 or 2", before.Generation)
	}
	after, err := s.RotateVIM(s.ctx(), "edge", s.rotation(), 0)
	if err != nil || after.Generation != before.Generation+1 {
		s.t.Errorf("RotateVIM after the crash = generation %d, %v, want %d", after.Generation, err, before.Generation+1)
	}
}

// rekeyedAgain proves that what is sealed opens, the credential of the lease of the past
// generation included, and that the VIM can be sealed anew after a try that was cut off.
func rekeyedAgain(s *scene) {
	s.t.Helper()
	wantReplay := func() {
		s.t.Helper()
		l, err := s.IssueLease(s.ctx(), s.up.request("edge"), requestKey)
		if err != nil || l.VIMGeneration != 1 || !slices.Contains(s.tokens[l.ID], s.secretOf(l)) {
			s.t.Errorf("IssueLease again = lease %s of generation %d, %v, want that of the first call with its token", l.ID, l.VIMGeneration, err)
		}
	}
	wantReplay()
	if v, err := s.RotateVIM(s.ctx(), "edge", v1.Rotation{}, 0); err != nil || v.Generation != 2 {
		s.t.Errorf("RotateVIM after the crash = generation %d, %v, want 2", v.Generation, err)
	}
	wantReplay()
}
