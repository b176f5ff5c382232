package broker_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// TestEndOperation takes back the leases of one operation, whoever holds them, and no others.
func TestEndOperation(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	issue := func(operation string) broker.Lease {
		t.Helper()
		l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view", Operation: operation})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine, others, none := issue("op-1"), issue("op-2"), issue("")
	if ended, _, err := b.Ended(t.Context(), mine.ID); ended || err != nil {
		t.Errorf("Ended() of a lease that is active = %t, %v", ended, err)
	}
	if err := b.EndOperation(t.Context(), "op-1"); err != nil {
		t.Fatal(err)
	}
	if ended, why, err := b.Ended(t.Context(), mine.ID); !ended || why != broker.ReasonRequested || err != nil {
		t.Errorf("Ended() = %t, %s, %v; want that it was asked for", ended, why, err)
	}
	for _, l := range []broker.Lease{others, none} {
		if ended, _, err := b.Ended(t.Context(), l.ID); ended || err != nil {
			t.Errorf("the lease of %q has ended (%t, %v)", l.Operation, ended, err)
		}
	}
	wantKind(t, "EndOperation of none", b.EndOperation(t.Context(), ""), broker.ErrInvalid)
}

// TestEndingLeasesAsksNoVIM: a VIM that does not answer keeps nobody who ends leases, and no token is minted
// under them from then on. The reaper does the rest.
func TestEndingLeasesAsksNoVIM(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	ended, plain := b.mustStand()
	r := standingRequest()
	r.Instance, r.Operation, r.IdempotencyKey = "vnf-2", "op-2", "k2"
	goesOn, config, err := b.IssueLease(t.Context(), vnfm, r)
	if err != nil {
		t.Fatal(err)
	}
	grants := policy.Principal{Name: "system:grants", Project: vnfm.Project, Roles: []string{policy.RoleSystem}}
	b.kube.Fail(fake.Fault{Kind: fake.Hang})
	b.kube.Requests()
	if err := b.EndLeases(t.Context(), grants, broker.LeaseSelector{Principal: vnfm.Name, Instance: "vnf-1"}); err != nil {
		t.Fatal(err)
	}
	if asked := b.kube.Requests(); len(asked) != 0 {
		t.Errorf("the VIM was asked: %v", asked)
	}
	if over, why, err := b.Ended(t.Context(), ended.ID); !over || why != broker.ReasonOperationEnded || err != nil {
		t.Errorf("Ended() = %t, %s, %v", over, why, err)
	}
	_, _, _, err = b.MintUnder(t.Context(), ended.ID, plain.Reveal(), "")
	wantKind(t, "MintUnder() of a lease that is ending", err, broker.ErrConflict)
	b.kube.Heal()
	b.mustReap()
	if row := b.row(ended.ID); row.State != broker.LeaseRevoked || b.upstream() != 1 {
		t.Errorf("once the VIM answers the lease is %s, and %d accounts stand", row.State, b.upstream())
	}
	b.mustMint(goesOn, config.Credential.LeaseSecret)
	wantKind(t, "EndLeases of none", b.EndLeases(t.Context(), grants, broker.LeaseSelector{}), broker.ErrInvalid)
	reader := policy.Principal{Name: "rita", Project: vnfm.Project, Roles: []string{policy.RoleReader}}
	wantKind(t, "EndLeases of what one may not revoke", b.EndLeases(t.Context(), reader, broker.LeaseSelector{Instance: "vnf-2"}), broker.ErrDenied)
	if over, _, err := b.Ended(t.Context(), goesOn.ID); over || err != nil {
		t.Errorf("somebody without the right has ended a lease: %v", err)
	}
}

// TestWeighingForesees what the VIM would refuse every time.
func TestWeighingForesees(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	wish := broker.LeaseRequest{VIM: "core", Purpose: openstack.Heat}
	if _, err := b.WeighLease(t.Context(), root, wish); err != nil {
		t.Errorf("WeighLease() of what is issued = %v", err)
	}
	boss := b.cloud.User("boss", b.project, "admin", "member")
	if _, err := b.RotateVIM(t.Context(), root, "core", broker.Credential{Username: boss.Name, Password: secret.NewText(boss.Password)}, 0); err != nil {
		t.Fatal(err)
	}
	_, err := b.WeighLease(t.Context(), root, wish)
	wantKind(t, "WeighLease() on a VIM of an administrator", err, broker.ErrInvalid)
	_, _, err = b.IssueLease(t.Context(), root, wish)
	wantKind(t, "IssueLease() there", err, broker.ErrInvalid)
}

// TestWeighingIsAQuestion: it says what a lease would be, makes none, and a refusal is recorded as that of a question.
func TestWeighingIsAQuestion(t *testing.T) {
	b := newBench(t, benchOptions{policies: site(`
		@id("no-edit") forbid (principal, action == Action::"lease:issue", resource is VIM) when { context.role == "edit" };`)})
	b.mustRegister(alice, "edge1")
	got, err := b.WeighLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view"})
	if err != nil || got.Grade == "" {
		t.Errorf("WeighLease() = %+v, %v; want a grade", got, err)
	}
	ask := broker.LeaseRequest{VIM: "edge1", Role: "edit"}
	_, err = b.WeighLease(t.Context(), alice, ask)
	wantKind(t, "WeighLease()", err, broker.ErrDenied)
	_, _, err = b.IssueLease(t.Context(), alice, ask)
	wantKind(t, "IssueLease()", err, broker.ErrDenied)
	questions, tried := 0, 0
	for _, e := range b.entries(root, audit.Query{Limit: 100}) {
		if e.Action != policy.LeaseIssue || e.Outcome != audit.Denied {
			continue
		}
		if e.Detail[audit.DetailQuestion] != "" {
			questions++
		} else {
			tried++
		}
	}
	if questions != 1 || tried != 1 {
		t.Errorf("%d refusals are recorded as questions and %d as tried, want one of each", questions, tried)
	}
	if n := b.upstream(); n != 0 {
		t.Errorf("%d leases are upstream", n)
	}
}
