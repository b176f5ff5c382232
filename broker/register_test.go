package broker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

func TestRegisterSealsTheCredentialAndRecordsIt(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	if v.State != broker.VIMRegistered || v.Health.Status != broker.HealthReachable || !v.Health.CanMint || v.Current.Number != 1 {
		t.Errorf("RegisterVIM() = %+v, want registered, reachable, able to mint, generation 1", v)
	}
	if v.Current.Identity != b.kube.Identity() {
		t.Errorf("Identity = %q, want %q", v.Current.Identity, b.kube.Identity())
	}
	b.wantKeys(1)
	b.wantNowhere("the registered token", b.kube.AdminToken)
	if got := b.wantLog(policy.VIMRegister); !slices.Equal(got, []audit.Outcome{audit.Intent, audit.Done}) {
		t.Errorf("recorded %v, want intent and done", got)
	}
}

// The canary stands in every field of a credential, one kind after the other.
func TestCanaryInEveryFieldOfACredentialIsFoundNowhere(t *testing.T) {
	b := newBench(t, benchOptions{})
	kinds := map[string]broker.Credential{
		"token":       {Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminToken)},
		"certificate": {Kind: broker.CredentialClientCertificate, ClientCertificate: b.kube.AdminCert, ClientKey: secret.NewText(b.kube.AdminKey)},
		"basic":       {Kind: broker.CredentialBasicAuth, Username: b.kube.Username, Password: secret.NewText(b.kube.Password)},
	}
	for name, cred := range kinds {
		r := b.registration(name)
		r.Credential = cred
		if _, err := b.RegisterVIM(t.Context(), alice, r); err != nil {
			t.Fatalf("RegisterVIM(%s) = %v", name, err)
		}
		if _, token := b.mustIssue(alice, name); token.Empty() {
			t.Errorf("IssueLease on %s gave no token", name)
		} else {
			b.wantNowhere("a leased token", token.Reveal())
		}
	}
	b.wantNowhere("the token", b.kube.AdminToken)
	b.wantNowhere("the password", b.kube.Password)
	for i, line := range strings.Split(strings.TrimSpace(b.kube.AdminKey), "\n") {
		if i > 0 && !strings.HasPrefix(line, "-----") {
			b.wantNowhere("the client key", line)
		}
	}
}

func TestAFailedRegistrationLeavesNothing(t *testing.T) {
	cases := map[string]struct {
		spoil func(*bench, *broker.Registration)
		want  error
	}{
		"wrong token": {func(_ *bench, r *broker.Registration) { r.Credential.Token = secret.NewText("wrong") }, broker.ErrUnauthorized},
		"wrong CA":    {func(b *bench, _ *broker.Registration) { _ = b.kube.WrongCertificate(true) }, broker.ErrUnreachable},
		"server errs": {func(b *bench, _ *broker.Registration) {
			b.kube.Fail(fake.Fault{Kind: fake.Refuse, Status: 500, Times: -1})
		}, broker.ErrUnreachable},
		"dropped": {func(b *bench, _ *broker.Registration) {
			b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
		}, broker.ErrUnreachable},
		"key store gone": {func(b *bench, _ *broker.Registration) {
			if err := os.RemoveAll(filepath.Join(b.dir, "keys")); err != nil {
				b.t.Fatal(err)
			}
		}, broker.ErrUnavailable},
		"row cannot be finished": {func(b *bench, _ *broker.Registration) { b.store.fail("UpdateVIM", 1) }, broker.ErrUnavailable},
		"no name":                {func(_ *bench, r *broker.Registration) { r.Name = "" }, broker.ErrInvalid},
		"unknown type":           {func(_ *bench, r *broker.Registration) { r.Type = "vmware" }, broker.ErrInvalid},
		"openstack":              {func(_ *bench, r *broker.Registration) { r.Type = "openstack" }, broker.ErrUnsupported},
		"bad label":              {func(_ *bench, r *broker.Registration) { r.Labels = map[string]string{"a b": "c"} }, broker.ErrInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			r := b.registration("edge1")
			c.spoil(b, &r)
			_, err := b.RegisterVIM(t.Context(), alice, r)
			wantKind(t, "RegisterVIM()", err, c.want)
			if err != nil && strings.Contains(err.Error(), fake.Canary) {
				t.Errorf("the error holds a remote answer: %v", err)
			}
			rows, _, err := b.store.VIMs(t.Context(), broker.VIMFilter{Page: broker.Page{Size: 10}})
			if err != nil || len(rows) != 0 {
				t.Errorf("rows left: %v, %v", rows, err)
			}
			if name != "key store gone" {
				b.wantKeys(0)
			}
			if got := b.wantLog(policy.VIMRegister); len(got) == 0 || got[len(got)-1] != audit.Failed {
				t.Errorf("recorded %v, want failed at the end", got)
			}
		})
	}
}

func TestSettleRemovesARegistrationThatNeverEnded(t *testing.T) {
	b := newBench(t, benchOptions{})
	// The answer fails, and so does the undoing: what a killed process leaves.
	b.store.fail("UpdateVIM", 1)
	keys := filepath.Join(b.dir, "keys")
	b.kube.After("GET", "namespaces/kube-system", func() {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.RegisterVIM(ctx, alice, b.registration("edge1"))
	if err == nil {
		t.Fatal("RegisterVIM() with a cancelled context succeeded")
	}
	if _, err := os.Stat(keys); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(0)
	if err := b.Settle(t.Context(), b.clock.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	b.store.fail("UpdateVIM", 0)
	b.mustRegister(alice, "edge1") // the name is free
}

func TestRegisterTwiceUnderOneIdempotencyKey(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("edge1")
	r.IdempotencyKey = "k1"
	first, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil || again.ID != first.ID {
		t.Errorf("the repeat = %s, %v, want %s", again.ID, err, first.ID)
	}
	r.Name = "edge2"
	_, err = b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "another request under the key", err, broker.ErrConflict)
	r.IdempotencyKey = ""
	r.Name = "edge1"
	_, err = b.RegisterVIM(t.Context(), alice, r)
	wantKind(t, "the same name again", err, broker.ErrExists)
	b.wantKeys(1)
}

// A key is for retries: one works once the cause of the failure is gone, and then its repeats
// answer the same VIM, which the audit log says.
func TestARetryUnderItsKeyWorksOnceTheCauseIsGone(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("edge1")
	r.IdempotencyKey = "k1"
	for name, fail := range map[string]func(){
		"the VIM does not answer": func() { b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1}) },
		"the last write fails":    func() { b.store.fail("UpdateVIM", 1) },
	} {
		fail()
		if _, err := b.RegisterVIM(t.Context(), alice, r); err == nil {
			t.Fatalf("registered, though %s", name)
		}
		b.kube.Heal()
		b.store.fail("UpdateVIM", 0)
		b.wantKeys(0)
	}
	first, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil {
		t.Fatalf("RegisterVIM under the key of what failed = %v", err)
	}
	if again, err := b.RegisterVIM(t.Context(), alice, r); err != nil || again.ID != first.ID {
		t.Errorf("the repeat = %s, %v, want %s", again.ID, err, first.ID)
	}
	entries, err := b.Entries(t.Context(), root, audit.Query{Action: policy.VIMRegister, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for _, e := range entries {
		if e.Detail[audit.DetailReason] == "repeat of the same request" && strings.Contains(fmt.Sprint(e.Detail, e.Resource), first.ID) {
			repeats++
		}
	}
	if repeats != 1 {
		t.Errorf("the audit log shows %d repeats, want one: %+v", repeats, entries)
	}
	b.wantKeys(1)
}

// Two requests at once under one key register one VIM: the other is told that, or to come again,
// and its retry answers with that VIM.
func TestOneKeyTwiceAtOnceRegistersOneVIM(t *testing.T) {
	b := newBench(t, benchOptions{})
	r := b.registration("edge1")
	r.IdempotencyKey = "k1"
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		made = map[string]bool{}
	)
	for range 8 {
		wg.Go(func() {
			v, err := b.RegisterVIM(t.Context(), alice, r)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made[v.ID] = true
			} else if !errors.Is(err, broker.ErrConflict) {
				t.Errorf("one of many under one key = %v", err)
			}
		})
	}
	wg.Wait()
	again, err := b.RegisterVIM(t.Context(), alice, r)
	if err != nil || len(made) != 1 || !made[again.ID] {
		t.Errorf("made %v, and the retry answers %s, %v; want one VIM", made, again.ID, err)
	}
	b.wantKeys(1)
}

func TestUpdateOnePartAtATime(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	other := secret.NewText(b.kube.AdminTokenFor(0))
	name, ns, endpoint, ca, yes := "edge one", "kube-public", "https://127.0.0.1:1", b.kube.CA, true
	label := "x"

	v, err := b.UpdateVIM(t.Context(), alice, "edge1", broker.Change{Name: &name, Labels: map[string]*string{"tier": &label}})
	if err != nil || v.Name != name || v.Labels["tier"] != "x" || v.Current.Number != 1 {
		t.Errorf("changing the name = %+v, %v", v, err)
	}
	v, err = b.UpdateVIM(t.Context(), alice, name, broker.Change{Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: other}})
	if err != nil || v.Current.Number != 2 || v.Current.Target.CACert != b.kube.CA {
		t.Errorf("changing the token = %+v, %v", v, err)
	}
	b.wantKeys(1)
	v, err = b.UpdateVIM(t.Context(), alice, name, broker.Change{Namespace: &ns})
	if err != nil || v.Current.Number != 3 || v.Current.Target.Namespace != ns {
		t.Errorf("changing the namespace = %+v, %v", v, err)
	}
	b.mustIssue(alice, name)

	_, err = b.UpdateVIM(t.Context(), alice, name, broker.Change{Endpoint: &endpoint})
	wantKind(t, "changing only the endpoint", err, broker.ErrInvalid)
	wantField(t, "changing only the endpoint", err, "credential")
	_, err = b.UpdateVIM(t.Context(), alice, name, broker.Change{InsecureSkipVerify: &yes})
	wantField(t, "switching verification off", err, "credential")
	if got := b.kube.Requests(); len(got) == 0 {
		t.Fatal("the fake saw nothing at all")
	}
	_, err = b.UpdateVIM(t.Context(), alice, name, broker.Change{CACert: &ca, Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: other}})
	if err != nil {
		t.Errorf("changing the CA with the credential = %v", err)
	}
	b.wantNowhere("the new token", other.Reveal())
}

func TestAFailedUpdateLeavesTheVIMWorking(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	bad := broker.Change{Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("wrong")}}
	good := broker.Change{Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}}

	_, err := b.UpdateVIM(t.Context(), alice, "edge1", bad)
	wantKind(t, "a wrong credential", err, broker.ErrUnauthorized)
	b.mustIssue(alice, "edge1")
	b.wantKeys(1)

	b.store.fail("UpdateVIM", 2) // the switch itself
	_, err = b.UpdateVIM(t.Context(), alice, "edge1", good)
	wantKind(t, "the switch fails", err, broker.ErrUnavailable)
	b.mustIssue(alice, "edge1")
	b.wantKeys(1)

	fake2 := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	good.Endpoint, good.CACert = &fake2.Endpoint, &fake2.CA
	good.Credential.Token = secret.NewText(fake2.AdminToken)
	_, err = b.UpdateVIM(t.Context(), alice, "edge1", good)
	wantKind(t, "another cluster", err, broker.ErrConflict)
	b.mustIssue(alice, "edge1")
	b.wantKeys(1)
}

func TestUpdateHonoursTheRevision(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	name := "edge2"
	_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Name: &name, IfRevision: v.Revision + 1})
	wantKind(t, "another revision", err, broker.ErrPrecondition)
	if _, err = b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{Name: &name, IfRevision: v.Revision}); err != nil {
		t.Errorf("the present revision = %v", err)
	}
}

func TestRekeyDestroysTheOldKey(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	old := v.Current
	v, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0)
	if err != nil || v.Current.Number != 1 || v.Pending != nil || v.Current.Key == old.Key || v.Current.Sealed == old.Sealed {
		t.Fatalf("RekeyVIM() = %+v, %v", v, err)
	}
	if _, err := b.keys.Get(t.Context(), old.Key); err == nil {
		t.Error("the old key is still there")
	}
	b.wantKeys(1)
	b.mustIssue(alice, "edge1")

	// An old row put back, behind the store's back, does not open.
	db, err := quickstore.Raw(filepath.Join(b.dir, "data", "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"UPDATE vim_generations SET sealed = '" + old.Sealed + "'",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "an old row put back", err, broker.ErrUnopenable)
	v, err = b.CheckVIM(t.Context(), alice, "edge1")
	if err != nil || v.Health.Status != broker.HealthUnopenable {
		t.Errorf("CheckVIM() = %s, %v, want unopenable", v.Health.Status, err)
	}
}

func TestCheckFindsWhatChanged(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	status := func() broker.HealthStatus {
		t.Helper()
		b.clock.Add(10 * time.Minute)
		if err := b.CheckDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, err := b.VIM(t.Context(), alice, "edge1")
		if err != nil {
			t.Fatal(err)
		}
		return v.Health.Status
	}
	b.kube.FailNext("", "", 401, -1)
	if got := status(); got != broker.HealthUnauthorized {
		t.Errorf("status = %s, want unauthorized", got)
	}
	b.kube.Heal()
	_ = b.kube.WrongCertificate(true)
	if got := status(); got != broker.HealthUnreachable {
		t.Errorf("status = %s, want unreachable", got)
	}
	_ = b.kube.WrongCertificate(false)
	if got := status(); got != broker.HealthReachable {
		t.Errorf("status = %s, want reachable", got)
	}
	b.kube.ChangeIdentity()
	if got := status(); got != broker.HealthIdentityChanged {
		t.Errorf("status = %s, want identityChanged", got)
	}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "a lease on another cluster", err, broker.ErrConflict)
}

// What is too long is refused where a VIM is registered and where it is changed, and nothing of it is kept.
func TestNotesAreBoundedWhereTheyAreGiven(t *testing.T) {
	b := newBench(t, benchOptions{})
	long := strings.Repeat("x", 4<<10+1)
	r := b.registration("edge1")
	for field, give := range map[string]func(*broker.Registration){
		"description": func(r *broker.Registration) { r.Description = long },
		"extra":       func(r *broker.Registration) { r.Extra = "[]" },
	} {
		one := r
		give(&one)
		_, err := b.RegisterVIM(t.Context(), alice, one)
		wantField(t, "registering", err, field)
	}
	b.wantKeys(0)
	v := b.mustRegister(alice, "edge1")
	_, err := b.UpdateVIM(t.Context(), alice, "edge1", broker.Change{Description: &long})
	wantField(t, "changing the description", err, "description")
	_, err = b.UpdateVIM(t.Context(), alice, "edge1", broker.Change{Context: "other"})
	wantField(t, "a context of no kubeconfig", err, "context")
	_, err = b.UpdateVIM(t.Context(), alice, "edge1", broker.Change{Cloud: "other"})
	wantField(t, "a cloud of no clouds.yaml", err, "cloud")
	if now, err := b.VIM(t.Context(), alice, v.ID); err != nil || now.Revision != v.Revision {
		t.Errorf("after refusals the VIM is of revision %d, %v, want %d", now.Revision, err, v.Revision)
	}
}

// A label that ties a VIM to what made it is refused also beside a credential that is taken.
func TestATyingLabelIsRefusedBesideACredential(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	_, err := b.UpdateVIM(t.Context(), alice, v.ID, broker.Change{
		Labels:     map[string]*string{broker.LabelInline: new("yes")},
		Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))},
	})
	wantKind(t, "UpdateVIM()", err, broker.ErrDenied)
	wantField(t, "a tying label", err, "labels."+broker.LabelInline)
	if now, err := b.store.VIM(t.Context(), v.ID); err != nil || now.Revision != v.Revision || len(now.Labels) != 0 {
		t.Errorf("after a refusal the VIM is %+v, %v", now, err)
	}
}
