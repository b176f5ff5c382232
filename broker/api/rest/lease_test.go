package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func TestLeaseFromIssueToRevocation(t *testing.T) {
	b := newBench(t)
	alice, ctx := b.as("alice"), t.Context()
	v := b.mustRegister("core-1")

	l, err := alice.IssueLease(ctx, v1.LeaseRequest{VIM: "core-1", TTL: "30m", Role: "edit", Namespaces: []string{"default"}, Format: "json", Purpose: "a test", Operation: "op-1"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if l.VIM != v.ID || l.VIMName != "core-1" || l.VIMGeneration != 1 || l.Principal != "alice" || l.Project != "demo" || l.State != "active" ||
		l.Role != "edit" || len(l.Namespaces) != 1 || !l.Revocable || !l.Derived || l.Operation != "op-1" || l.Purpose != "a test" || !l.RevokedAt.IsZero() {
		t.Errorf("IssueLease() = %+v", l.Lease)
	}
	if left := time.Until(l.ExpiresAt); left < 25*time.Minute || left > 31*time.Minute {
		t.Errorf("it expires in %s, want 30m", left)
	}
	if lag, err := time.ParseDuration(l.MaxRevocationLag); err != nil || lag <= 0 {
		t.Errorf("maxRevocationLag = %q", l.MaxRevocationLag)
	}
	config, err := clientconfig.Decode(l.ClientConfig.Text)
	if err != nil || !l.ClientConfig.Object || config.Endpoint != b.kube.Endpoint || config.Token.Empty() || config.Lease != l.ID {
		t.Errorf("clientConfig = %+v, %v", config, err)
	}

	renewed, err := alice.RenewLease(ctx, l.ID, v1.Renewal{TTL: "1h"})
	if err != nil || !renewed.ExpiresAt.After(l.ExpiresAt) || renewed.ClientConfig.Text.Empty() || renewed.ClientConfig.Text.Equal(l.ClientConfig.Text) {
		t.Errorf("RenewLease() = %+v, %v", renewed.Lease, err)
	}
	if shown, err := alice.Lease(ctx, l.ID); err != nil || shown.State != "active" {
		t.Errorf("Lease() = %+v, %v", shown, err)
	}
	for want, q := range map[int]client.LeaseQuery{
		1: {VIM: "core-1", Principal: "alice", Operation: "op-1", State: "active"},
		0: {State: "revoked"},
	} {
		if page, err := alice.Leases(ctx, q); err != nil || len(page.Items) != want {
			t.Errorf("Leases(%+v) = %d items, %v; want %d", q, len(page.Items), err, want)
		}
	}
	for range 2 { // revoking again is harmless
		if revoked, err := alice.RevokeLease(ctx, l.ID); err != nil || revoked.State != "revoked" || revoked.RevokedAt.IsZero() {
			t.Errorf("RevokeLease() = %+v, %v", revoked, err)
		}
	}
	_, err = alice.RenewLease(ctx, l.ID, v1.Renewal{})
	wantProblem(t, "RenewLease() of one that has ended", err, http.StatusConflict)
}

func TestClientConfigHasTheFormAsked(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	for format, want := range map[string]struct {
		object bool
		holds  string
	}{
		"":                {false, "current-context"},
		"kubeconfig":      {false, "apiVersion: v1"},
		"env":             {false, "export "},
		"json":            {true, `"endpoint"`},
		"exec-credential": {true, `"ExecCredential"`},
	} {
		l := b.mustIssue("core-1", format)
		if l.ClientConfig.Object != want.object || !strings.Contains(l.ClientConfig.Text.Reveal(), want.holds) {
			t.Errorf("format %q: object %v, or lacks %q", format, l.ClientConfig.Object, want.holds)
		}
	}
	_, err := b.as("alice").IssueLease(t.Context(), v1.LeaseRequest{VIM: "core-1", Format: "clouds.yaml"}, "")
	wantProblem(t, "clouds.yaml of a cluster", err, http.StatusUnprocessableEntity)
	_, err = b.as("alice").IssueLease(t.Context(), v1.LeaseRequest{VIM: "core-1", Format: "xml"}, "")
	wantProblem(t, "an unknown format", err, http.StatusUnprocessableEntity)
}

func TestClientConfigIsInTheIssuingAnswerOnly(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	l := b.mustIssue("core-1", "kubeconfig")
	for _, path := range []string{"/v1/leases", "/v1/leases/" + l.ID} {
		if _, body := b.raw("alice", "GET", path, ""); strings.Contains(body, "clientConfig") {
			t.Errorf("GET %s holds a clientConfig", path)
		}
	}
	if _, body := b.raw("alice", "DELETE", "/v1/leases/"+l.ID, ""); strings.Contains(body, "clientConfig") || strings.Contains(body, "0001-01-01") {
		t.Errorf("DELETE answers %s", body)
	}
}

func TestRevokeBySelector(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	b.mustIssue("core-1", "")
	b.mustIssue("core-1", "")
	if there := b.leases(); len(there) != 2 {
		t.Errorf("upstream: %q, want two", there)
	}
	_, err := b.as("alice").RevokeLeases(t.Context(), v1.Selector{})
	wantProblem(t, "RevokeLeases of nothing in particular", err, http.StatusUnprocessableEntity)
	l, err := b.as("alice").RevokeLeases(t.Context(), v1.Selector{VIM: "core-1", Principal: "alice"})
	if err != nil || len(l.Items) != 2 || l.Items[0].State != "revoked" {
		t.Errorf("RevokeLeases() = %+v, %v", l.Items, err)
	}
	if left := b.leases(); len(left) != 0 {
		t.Errorf("left upstream: %q", left)
	}
}

// full revokes nothing, because its store takes no writes.
type full struct{ counted }

func (full) RevokeLease(context.Context, policy.Principal, string) (broker.Lease, error) {
	return broker.Lease{}, rows.Full(errors.New("no space left on device"))
}

func (full) RevokeLeases(context.Context, policy.Principal, broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, rows.Full(errors.New("no space left on device"))
}

// A revocation that cannot be recorded is a 503 with a remedy.
func TestRevocationThatCannotBeRecorded(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	l := b.mustIssue("core-1", "")
	b.rewire(full{b.broker}, b.authenticator())
	for _, call := range [][3]string{{"DELETE", "/v1/leases/" + l.ID, ""}, {"POST", "/v1/leases:revoke", `{"vim":"core-1"}`}} {
		answer, body := b.raw("alice", call[0], call[1], call[2])
		if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, `"remedy":"have the broker's operator make space there`) {
			t.Errorf("%s %s = %d %s", call[0], call[1], answer.StatusCode, body)
		}
	}
	if there := b.leases(); len(there) != 1 {
		t.Errorf("upstream: %q, want one", there)
	}
}

func TestLeaseRequestFaults(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	for ttl, status := range map[string]int{
		"1h": http.StatusCreated, "one hour": http.StatusUnprocessableEntity, "-1h": http.StatusUnprocessableEntity,
		"5m": http.StatusUnprocessableEntity, "3600": http.StatusUnprocessableEntity,
	} {
		answer, body := b.raw("alice", "POST", "/v1/leases", `{"vim":"core-1","ttl":"`+ttl+`"}`)
		if answer.StatusCode != status {
			t.Errorf("ttl %q = %d, want %d: %s", ttl, answer.StatusCode, status, body)
		}
		if status != http.StatusCreated && !strings.Contains(body, `"field":"ttl"`) {
			t.Errorf("ttl %q: the fault does not name the field: %s", ttl, body)
		}
	}
}

// An exec credential cannot say a password, which is all that a passed-through
// basic credential has.
func TestLeaseThatCannotBeRenderedIsTakenBack(t *testing.T) {
	b := newBench(t, "site.cedar", `@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM);`)
	b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
	r := b.registration("core-1")
	r.Credential = v1.Credential{Username: b.kube.Username, Password: secret.NewText(b.kube.Password)}
	if _, err := b.as("alice").RegisterVIM(t.Context(), r, ""); err != nil {
		t.Fatal(err)
	}
	_, err := b.as("alice").IssueLease(t.Context(), v1.LeaseRequest{VIM: "core-1", Format: "exec-credential"}, "")
	wantProblem(t, "an exec credential with a password", err, http.StatusUnprocessableEntity)
	l, err := b.as("alice").Leases(t.Context(), client.LeaseQuery{})
	if err != nil || len(l.Items) != 1 || l.Items[0].State == "active" || l.Items[0].Derived {
		t.Errorf("Leases() = %+v, %v; want one that is not active", l.Items, err)
	}
}

func TestAuditAndExplain(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	var seen int
	for e, err := range b.as("root").AllAudit(t.Context(), client.AuditQuery{PageSize: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 0 || e.Request == "" || e.Time.IsZero() {
			t.Errorf("entry %+v", e)
		}
		seen++
	}
	if seen < 3 {
		t.Errorf("AllAudit() walked %d entries", seen)
	}
	page, err := b.as("root").Audit(t.Context(), client.AuditQuery{Action: "vim:register", Principal: "alice", Project: "demo", Since: time.Now().Add(-time.Hour)})
	if err != nil || len(page.Items) != 2 || page.Items[0].Outcome != "done" || page.Items[1].Outcome != "intent" {
		t.Errorf("Audit(vim:register) = %+v, %v", page.Items, err)
	}
	for want, q := range map[bool]v1.Question{
		true:  {Action: "vim:register"},
		false: {Action: "audit:read", Resource: v1.Resource{Kind: "Project", ID: "other", Project: "other"}},
	} {
		if d, err := b.as("alice").Explain(t.Context(), q); err != nil || d.Allowed != want {
			t.Errorf("Explain(%s) = %+v, %v; want %v", q.Action, d, err, want)
		}
	}
	_, err = b.as("alice").Explain(t.Context(), v1.Question{Action: "vim:register", Principal: &v1.Principal{Name: "bob", Project: "demo"}})
	wantProblem(t, "Explain() about another", err, http.StatusForbidden)
}

// noted is a log whose last checkpoint is of two entries.
type noted struct{ counted }

func (noted) Checkpoint(context.Context, policy.Principal) (notary.Checkpoint, error) {
	return notary.Checkpoint{Head: tree.Head{Size: 2}, Key: "k1", Note: "the note\n"}, nil
}

// Tools of transparency logs read the note itself; a program reads what it says.
func TestACheckpointIsTheNoteForThoseWhoTakeText(t *testing.T) {
	b := newBench(t)
	b.rewire(noted{b.broker}, b.authenticator())
	for accept, want := range map[string]string{"text/plain": "the note\n", "application/json": `{"size":2,`, "": `{"size":2,`} {
		answer, body := b.raw("root", "GET", "/v1/audit/checkpoint", "", "Accept", accept)
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(body, want) || strings.HasPrefix(want, "{") != strings.Contains(body, `"key":"k1"`) {
			t.Errorf("checkpoint for %q = %d %s, want %s", accept, answer.StatusCode, body, want)
		}
	}
}
