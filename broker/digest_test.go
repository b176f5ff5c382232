package broker_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// wantCaseForEveryField fails where a struct has a field that no case is named
// after, so that a new field cannot be left out of a digest in silence.
func wantCaseForEveryField[C any](t *testing.T, request reflect.Type, cases map[string]C) {
	t.Helper()
	fields := map[string]bool{}
	for _, f := range reflect.VisibleFields(request) {
		fields[f.Name] = true
		if _, ok := cases[f.Name]; !ok {
			t.Errorf("%s.%s has no case in this test: say whether it tells two requests apart", request, f.Name)
		}
	}
	for name := range cases {
		if !fields[name] {
			t.Errorf("the case %s names no field of %s", name, request)
		}
	}
}

// Every field of a lease request but the key itself makes it another request.
func TestAnotherLeaseRequestUnderTheSameKeyIsAConflict(t *testing.T) {
	cases := map[string]func(*broker.LeaseRequest){
		"VIM":        func(r *broker.LeaseRequest) { r.VIM = "edge2" },
		"TTL":        func(r *broker.LeaseRequest) { r.TTL = 2 * time.Hour },
		"Role":       func(r *broker.LeaseRequest) { r.Role = "edit" },
		"Namespaces": func(r *broker.LeaseRequest) { r.Namespaces = []string{"kube-system"} },
		"Rules": func(r *broker.LeaseRequest) {
			r.Role, r.Rules = "", []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
		},
		"ClusterWide": func(r *broker.LeaseRequest) { r.ClusterWide, r.Namespaces = true, nil },
		"Format":      func(r *broker.LeaseRequest) { r.Format = clientconfig.JSON },
		"Purpose":     func(r *broker.LeaseRequest) { r.Purpose = "repair" },
		"Operation":   func(r *broker.LeaseRequest) { r.Operation = "op-2" },
		"Instance":    func(r *broker.LeaseRequest) { r.Instance = "vnf-2" },
		"For":         func(r *broker.LeaseRequest) { r.For = "dave" },
		"Standing":    func(r *broker.LeaseRequest) { r.Standing = true },
		"Credential": func(r *broker.LeaseRequest) {
			r.Credential, r.Role, r.Namespaces = broker.LeasePassThrough, "", nil
		},
		"Planned":        func(r *broker.LeaseRequest) { r.Planned = true },
		"Widest":         nil, // a bound of what is issued, and not what is asked for
		"Verified":       nil, // a condition on the VIM, which a repeat meets too
		"InPlaceOf":      nil, // says which lease it is a repeat for
		"Resumed":        nil,
		"shown":          nil,
		"IdempotencyKey": nil,
	}
	wantCaseForEveryField(t, reflect.TypeFor[broker.LeaseRequest](), cases)
	b, _ := newGradingBench(t)
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{alice.Name: alice}}
	b.options.Policy = anyStanding{b.options.Policy}
	b.Broker = mustNew(t, b.options)
	b.mustRegister(alice, "edge2")
	first := broker.LeaseRequest{
		VIM: "edge1", TTL: time.Hour, Role: "view", Namespaces: []string{"default"},
		Format: clientconfig.Kubeconfig, Purpose: "scale", Operation: "op-1", IdempotencyKey: "k1",
	}
	l, _, err := b.IssueLease(t.Context(), alice, first)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := b.IssueLease(t.Context(), alice, first); err != nil || again.ID != l.ID {
		t.Errorf("the same request again = %s, %v, want lease %s", again.ID, err, l.ID)
	}
	for field, change := range cases {
		other := first
		if change == nil {
			other.IdempotencyKey = "k2"
			if another, _, err := b.IssueLease(t.Context(), alice, other); err != nil || another.ID == l.ID {
				t.Errorf("the same request under another key = %s, %v, want a lease of its own", another.ID, err)
			}
			continue
		}
		change(&other)
		_, _, err := b.IssueLease(t.Context(), alice, other)
		wantKind(t, "a request with another "+field, err, broker.ErrConflict)
		wantField(t, "a request with another "+field, err, "Idempotency-Key")
	}
}

// Every field of a registration but the key itself and what is secret makes it
// another registration.
func TestAnotherRegistrationUnderTheSameKeyIsAConflict(t *testing.T) {
	const inTarget, ownKey, notHere = "what it leads to is in the target", "the key itself", "another type of VIM"
	otherCA, err := pki.NewCA("another CA")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, benchOptions{})
	cases := map[string]any{
		"Name":       func(r *broker.Registration) { r.Name = "edge2" },
		"Endpoint":   func(r *broker.Registration) { r.Endpoint = "https://127.0.0.1:1" },
		"CACert":     func(r *broker.Registration) { r.CACert += string(otherCA.PEM) },
		"ServerName": func(r *broker.Registration) { r.ServerName = "localhost" },
		"Namespace":  func(r *broker.Registration) { r.Namespace = "kube-system" },
		"InsecureSkipVerify": func(r *broker.Registration) {
			r.InsecureSkipVerify, r.CACert = true, ""
		},
		"Labels":      func(r *broker.Registration) { r.Labels = map[string]string{"site": "south"} },
		"Description": func(r *broker.Registration) { r.Description = "another" },
		"Extra":       func(r *broker.Registration) { r.Extra = `{"rack":2}` },
		"Shared":      func(r *broker.Registration) { r.Shared = true },
		"SharedWith":  func(r *broker.Registration) { r.SharedWith = []string{"other"} },
		"Default":     func(r *broker.Registration) { r.Default = true },
		"Project":     func(r *broker.Registration) { r.Project = "other" },
		"Credential": func(r *broker.Registration) { // its kind; what else is not secret of it is below
			r.Credential = broker.Credential{ClientCertificate: b.kube.AdminCert, ClientKey: secret.NewText(b.kube.AdminKey)}
		},
		"Type": notHere, "Scope": notHere, "CloudsYAML": notHere, "Cloud": notHere,
		"Kubeconfig": inTarget, "Context": inTarget,
		"IdempotencyKey": ownKey, "Admit": "what the caller decides later on", "Account": "what is made of the credential",
		"Inline": "what its labels say", "ID": "the name of what is made",
	}
	wantCaseForEveryField(t, reflect.TypeFor[broker.Registration](), cases)
	first := b.registration("edge1")
	first.Labels, first.Description, first.Extra = map[string]string{"site": "north"}, "first", `{"rack":1}`
	first.IdempotencyKey = "k1"
	v, err := b.RegisterVIM(t.Context(), root, first)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.RegisterVIM(t.Context(), root, first); err != nil || again.ID != v.ID {
		t.Errorf("the same registration again = %s, %v, want VIM %s", again.ID, err, v.ID)
	}
	for field, c := range cases {
		change, ok := c.(func(*broker.Registration))
		if !ok {
			continue
		}
		other := first
		change(&other)
		_, err := b.RegisterVIM(t.Context(), root, other)
		wantKind(t, "a registration with another "+field, err, broker.ErrConflict)
		wantField(t, "a registration with another "+field, err, "Idempotency-Key")
	}
	b.wantKeys(1)

	first = b.registration("edge3")
	first.IdempotencyKey = "k3"
	first.Credential = broker.Credential{Username: b.kube.Username, Password: secret.NewText(b.kube.Password)}
	if _, err := b.RegisterVIM(t.Context(), root, first); err != nil {
		t.Fatal(err)
	}
	first.Credential.Username = "another"
	_, err = b.RegisterVIM(t.Context(), root, first)
	wantKind(t, "a registration with another user name", err, broker.ErrConflict)
	wantField(t, "a registration with another user name", err, "Idempotency-Key")
}

// A key belongs to a principal in a project: the same name in another project
// is told nothing of the first request.
func TestAKeyIsNotSharedBetweenProjects(t *testing.T) {
	b := newBench(t, benchOptions{})
	elsewhere := policy.Principal{Name: alice.Name, Project: "other", Roles: alice.Roles}
	shared := b.registration("hub")
	shared.Shared = true
	hub, err := b.RegisterVIM(t.Context(), root, shared)
	if err != nil {
		t.Fatal(err)
	}
	r := broker.LeaseRequest{VIM: hub.ID, TTL: time.Hour, IdempotencyKey: "k1"}
	if _, _, err := b.IssueLease(t.Context(), alice, r); err != nil {
		t.Fatal(err)
	}
	_, config, err := b.IssueLease(t.Context(), elsewhere, r)
	wantKind(t, "the lease request of the same name in another project", err, broker.ErrConflict)
	if !config.Token.Empty() {
		t.Error("another project got the credential of the first request")
	}

	registration := b.registration("edge1")
	registration.IdempotencyKey = "k1"
	if _, err := b.RegisterVIM(t.Context(), alice, registration); err != nil {
		t.Fatal(err)
	}
	v, err := b.RegisterVIM(t.Context(), elsewhere, registration)
	wantKind(t, "the registration of the same name in another project", err, broker.ErrConflict)
	if v.ID != "" {
		t.Error("another project got the VIM of the first request")
	}
}

// A lease that is shared is the same for half of its time, one that was revoked is followed by another, and so is an old one.
func TestASharedLease(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	take := func() string {
		t.Helper()
		l, config, err := b.IssueShared(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", TTL: 20 * time.Minute, IdempotencyKey: "k"})
		if err != nil || config.Token.Empty() {
			t.Fatal(err)
		}
		return l.ID
	}
	first := take()
	if again := take(); again != first {
		t.Error("the second look takes another lease")
	}
	if _, err := b.RevokeLease(t.Context(), alice, first); err != nil {
		t.Fatal(err)
	}
	second := take()
	if second == first || take() != second {
		t.Error("a lease that was revoked is not followed by one")
	}
	b.clock.Add(11 * time.Minute)
	if take() == second {
		t.Error("a lease is shared for more than half of its time")
	}
}
