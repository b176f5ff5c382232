package conformance

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/trust"
)

// tokenUses: of each token the latest use that was ever told counts.
func tokenUses(t *testing.T, s storeTest) {
	want := func(what string, uses map[string]time.Time) {
		t.Helper()
		got, err := s.TokenUses(s.ctx)
		if err != nil {
			t.Fatalf("TokenUses() = %v", err)
		}
		wantSame(t, what, got, uses)
	}
	record := func(uses map[string]time.Time) {
		t.Helper()
		if err := s.RecordTokenUses(s.ctx, uses); err != nil {
			t.Fatalf("RecordTokenUses() = %v", err)
		}
	}
	want("the uses of no token", nil)
	later := epoch.Add(time.Minute)
	record(map[string]time.Time{"b": epoch, "a": later})
	want("the first uses", map[string]time.Time{"a": later, "b": epoch})
	record(map[string]time.Time{"a": epoch, "b": later, "c": epoch})
	want("later and earlier uses", map[string]time.Time{"a": later, "b": later, "c": epoch})
	record(nil)
	want("the uses after none", map[string]time.Time{"a": later, "b": later, "c": epoch})
	if len(s.entries(t)) != 0 {
		t.Error("the use of a token is an audit entry")
	}
}

// usedTokens: a token is used once, until it has ended and is forgotten.
func usedTokens(t *testing.T, st storeTest) {
	s := struct {
		trust.Store
		ctx context.Context
	}{st.Store.(trust.Store), st.ctx}
	end := epoch.Add(time.Hour)
	if err := s.UseOnce(s.ctx, "a", end); err != nil {
		t.Fatalf("UseOnce() = %v", err)
	}
	if err := s.UseOnce(s.ctx, "a", end.Add(time.Hour)); !errors.Is(err, broker.ErrExists) {
		t.Errorf("UseOnce() of a used token = %v, want broker.ErrExists", err)
	}
	for _, before := range []time.Time{end, end.Add(time.Second)} {
		if err := s.ForgetUsed(s.ctx, before); err != nil {
			t.Fatalf("ForgetUsed() = %v", err)
		}
		err := s.UseOnce(s.ctx, "a", end)
		if ended := before.After(end); ended != (err == nil) {
			t.Errorf("UseOnce() after those before %v were forgotten = %v", before, err)
		}
	}
}

// trustTable: entries are kept whole, and each change with its audit entry or not at all.
func trustTable(t *testing.T, st storeTest) {
	s, ctx := st.Store.(trust.Store), st.ctx
	change := func(what string, want error, f func([]trust.Listed) ([]trust.Listed, error)) {
		t.Helper()
		if err := s.ChangeTrust(ctx, f, entry("trust")); !errors.Is(err, want) {
			t.Errorf("%s: ChangeTrust() = %v, want %v", what, err, want)
		}
	}
	holds := func(what string, want ...trust.Listed) {
		t.Helper()
		got, err := s.TrustEntries(ctx)
		if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: TrustEntries() = %+v, %v, want %+v", what, got, err, want)
		}
	}
	holds("an empty table")
	a := trust.Listed{
		Authority: trust.Authority{
			Name: "a", Issuer: "https://id.example", Audience: "x", Algorithms: []string{"ES256"}, MaxLife: time.Hour, Once: true,
			Login: &trust.Signin{ClientID: "cli", Scopes: []string{"openid"}}, Certificates: &trust.Certificates{CA: "c", CRL: "d"},
			Principals: []trust.Mapping{{Match: map[string]string{"sub": "é\"*"}, Project: "p", Roles: []string{"member"}}},
		},
		CreatedBy: "alice", UpdatedBy: "bob", CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second),
	}
	b := trust.Listed{Authority: trust.Authority{Name: "B"}, CreatedBy: "alice", UpdatedBy: "alice", CreatedAt: epoch, UpdatedAt: epoch}
	change("two entries", nil, func([]trust.Listed) ([]trust.Listed, error) { return []trust.Listed{a, b}, nil })
	holds("two entries", b, a)
	a.UpdatedBy, a.Principals = "carol", nil
	change("a change and a removal", nil, func(all []trust.Listed) ([]trust.Listed, error) {
		if len(all) != 2 || all[0].Name != "B" {
			t.Errorf("a change is shown %+v", all)
		}
		return []trust.Listed{a}, nil
	})
	holds("a change and a removal", a)
	change("a refusal", errRefused, func([]trust.Listed) ([]trust.Listed, error) { return nil, errRefused })
	holds("a refusal", a)
	if n := len(st.entries(t)); n != 2 {
		t.Errorf("two changes and a refusal are %d audit entries", n)
	}
	change("nothing", nil, func([]trust.Listed) ([]trust.Listed, error) { return nil, nil })
	holds("nothing")
}

var errRefused = errors.New("refused")
