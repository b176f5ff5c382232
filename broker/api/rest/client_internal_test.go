package rest

import (
	"reflect"
	"testing"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/trust"
)

// A client logs in by one name of a certificate, of any kind, which is shown as it was given.
func TestACertificateHasOneName(t *testing.T) {
	for _, c := range []struct {
		in    *v1.OAuthClientCertificate
		kind  oauth.NameKind
		field string
	}{
		{nil, "", ""},
		{&v1.OAuthClientCertificate{}, "", "certificate"},
		{&v1.OAuthClientCertificate{SubjectDN: "CN=a"}, oauth.SubjectDN, ""},
		{&v1.OAuthClientCertificate{SANDNS: "a.example"}, oauth.SANDNS, ""},
		{&v1.OAuthClientCertificate{SANURI: "spiffe://a/b"}, oauth.SANURI, ""},
		{&v1.OAuthClientCertificate{SANIP: "192.0.2.1"}, oauth.SANIP, ""},
		{&v1.OAuthClientCertificate{SANEmail: "a@b"}, oauth.SANEmail, ""},
		{&v1.OAuthClientCertificate{JWKS: "{}"}, oauth.JWKS, ""},
		{&v1.OAuthClientCertificate{SANDNS: "a.example", SANIP: "192.0.2.1"}, "", "certificate"},
	} {
		got, err := certificateIn(c.in)
		if !refusesMember(err, c.field) {
			t.Errorf("%+v: %v, want field %q", c.in, err, c.field)
			continue
		}
		if c.field == "" && (got.Kind != c.kind || !reflect.DeepEqual(certificateOut(got), c.in)) {
			t.Errorf("%+v is read as %+v, and shown as %+v", c.in, got, certificateOut(got))
		}
	}
}

// Each placement has its own time, or none; a time that is none is named by its place.
func TestPlacementsAreReadInTheirOrder(t *testing.T) {
	all, err := placementsIn([]v1.Placement{{VIM: "a", TTL: "90s"}, {VIM: "b"}})
	if err != nil || len(all) != 2 || all[0].VIM != "a" || all[0].TTL != 90*time.Second || all[1].VIM != "b" || all[1].TTL != 0 {
		t.Errorf("placements are read as %+v, %v", all, err)
	}
	if _, err := placementsIn([]v1.Placement{{VIM: "a"}, {VIM: "b", TTL: "soon"}}); !refusesMember(err, "placements[1].ttl") {
		t.Errorf("a time that is none: %v", err)
	}
}

// A grant that is followed says when it is asked about again, while it stands; one that is not, never does.
func TestWhenAGrantIsAskedAboutAgain(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		followed bool
		state    grant.State
		says     bool
	}{{true, grant.Granted, true}, {false, grant.Granted, false}, {true, grant.Ended, false}, {true, grant.Refused, false}} {
		shown := vnfGrant(grant.Record{Grant: grant.Grant{Followed: c.followed, State: c.state, LookAt: at}})
		if says := shown.AskedAgainAt.Equal(at); says != c.says || !says && !shown.AskedAgainAt.IsZero() {
			t.Errorf("followed %v, %s: asked about again at %v", c.followed, c.state, shown.AskedAgainAt)
		}
		if shown.Profile != string(oauth.OIDC) {
			t.Errorf("a grant without a profile shows %q", shown.Profile)
		}
	}
	if shown := vnfGrant(grant.Record{Grant: grant.Grant{Placement: oauth.Placement{Profile: "other"}}}); shown.Profile != "other" {
		t.Errorf("the profile is shown as %q", shown.Profile)
	}
}

// Times of an entry are those that were asked for; Keystone's has none.
func TestTimesOfAnEntryOfTrust(t *testing.T) {
	a, err := trustIn(v1.TrustEntryRequest{Name: "a", MaxLife: "1h0m0s", Hold: "2h0m0s"})
	if err != nil || a.MaxLife != time.Hour || a.Hold != 2*time.Hour {
		t.Errorf("read as %v, %v, %v", a.MaxLife, a.Hold, err)
	}
	for field, in := range map[string]v1.TrustEntryRequest{"maxLife": {MaxLife: "long", Hold: "1h"}, "hold": {MaxLife: "1h", Hold: "long"}} {
		if _, err := trustIn(in); !refusesMember(err, field) {
			t.Errorf("%+v: %v, want field %s", in, err, field)
		}
	}
	if shown := trustOut(trust.Listed{Authority: a}); shown.MaxLife != "1h0m0s" || shown.Hold != "2h0m0s" {
		t.Errorf("shown as %q, %q", shown.MaxLife, shown.Hold)
	}
	a.Keystone = "https://keystone.example"
	if shown := trustOut(trust.Listed{Authority: a}); shown.MaxLife != "" || shown.Hold != "" {
		t.Errorf("Keystone's entry is shown with %q, %q", shown.MaxLife, shown.Hold)
	}
}
