package openstack

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
)

// TestHowAHolderGoesBeyondALease: by each kind of lease, credential and role, and by each opening of several.
func TestHowAHolderGoesBeyondALease(t *testing.T) {
	none, two := map[string]string{}, map[string]string{openTrusts: "", openImpersonation: "", "totp": "asleep"}
	of := func(leases broker.CredentialKind, trusts bool, openings map[string]string) broker.Cloud {
		return broker.Cloud{Leases: leases, Trusts: trusts, Openings: openings}
	}
	const password, own = broker.CredentialPassword, broker.CredentialApplicationCredential
	const token = broker.CredentialProjectToken
	for _, c := range []struct {
		found      broker.Cloud
		registered broker.CredentialKind
		g          broker.Grant
		want       string
	}{
		{of(own, true, none), password, broker.Grant{}, ""},
		{of(own, true, none), password, broker.Grant{Role: "member,reader"}, ""},
		{of(own, true, none), password, broker.Grant{Role: "admin"}, "admin"},
		{of(own, true, none), password, broker.Grant{Role: "admin,member"}, "admin"},
		{of(own, true, none), password, broker.Grant{Role: "member, admin"}, "admin"},
		{of(own, true, none), password, broker.Grant{Role: "administrator"}, ""},
		{of(own, true, two), password, broker.Grant{}, "trust totp user"},
		{of(own, true, two), own, broker.Grant{Role: "member,admin"}, "trust totp user admin"},
		{of(own, false, none), password, broker.Grant{Purpose: Heat}, "password"},
		{of(own, false, none), password, broker.Grant{Purpose: Network}, ""},
		{of(own, false, none), own, broker.Grant{Purpose: Heat}, ""},
		{of(own, true, none), password, broker.Grant{Purpose: Heat}, ""},
		{of(token, true, none), password, broker.Grant{}, "password"},
		{of(token, true, two), password, broker.Grant{Role: "admin,member"}, "password admin"},
		{of(token, true, two), own, broker.Grant{}, "trust totp user"},
		{of(own, true, nil), password, broker.Grant{}, "unknown"},
		{of("", false, nil), password, broker.Grant{Purpose: Heat, Role: "admin"}, "unknown admin"},
		{of(own, true, two), password, broker.Grant{User: true}, "user"},
		{of(own, true, none), password, broker.Grant{User: true, Role: "reader,admin"}, "admin"},
		{of(token, true, nil), password, broker.Grant{User: true, Role: "admin"}, "admin"},
		{of(token, false, nil), password, broker.Grant{User: true, Purpose: Heat}, ""},
	} {
		var got []string
		for _, reason := range beyond(c.found, c.registered, c.g) {
			for says, short := range map[string]string{
				"can make a trust without end": "trust", "whether the holder of an application credential can make a TOTP": "totp", "can log in as any other user": "user",
				tokenOfPassword: "password", administers: "admin", notKnownYet: "unknown",
			} {
				if strings.Contains(reason, says) {
					got = append(got, short)
				}
			}
		}
		grade := map[bool]broker.Grade{true: broker.GradeBounded, false: broker.GradeUnbounded}[c.want == ""]
		if strings.Join(got, " ") != c.want || gradeOf(c.found, c.registered, c.g) != grade {
			t.Errorf("%+v of %s on %+v goes beyond by %q, want %q", c.g, c.registered, c.found, got, c.want)
		}
	}
}

// TestACloudIsWarnedOfWholeKinds: of each opening, and of the leases that are tokens of the registered user.
func TestACloudIsWarnedOfWholeKinds(t *testing.T) {
	two := map[string]string{openTrusts: "", "ec2": ""}
	const password, own, token = broker.CredentialPassword, broker.CredentialApplicationCredential, broker.CredentialProjectToken
	for _, c := range []struct {
		found      broker.Cloud
		registered broker.CredentialKind
		want       string
	}{
		{broker.Cloud{Leases: own, Trusts: true}, password, ""},
		{broker.Cloud{Leases: own, Trusts: true, Openings: two}, own, "trust ec2"},
		{broker.Cloud{Leases: own, Openings: two}, password, "trust ec2 heat"},
		{broker.Cloud{Leases: token, Trusts: true, Openings: two}, password, "trust ec2 every"},
		{broker.Cloud{Leases: token, Trusts: true, Roles: []string{"admin", "member"}}, password, "every admin"},
		{broker.Cloud{Leases: token}, own, ""},
		{broker.Cloud{Leases: own, Roles: []string{"member", "admin"}}, password, "heat admin"},
		{broker.Cloud{Leases: own, Trusts: true, Roles: []string{"admin"}}, password, ""},
		{broker.Cloud{Leases: own, Roles: []string{"admin"}}, own, ""},
		{broker.Cloud{Leases: own, Roles: []string{"administrator"}}, password, "heat"},
	} {
		var got []string
		for _, says := range warnings(c.found, c.registered) {
			for _, is := range []struct{ whole, short string }{
				{"every lease is unbounded: " + tokenOfPassword, "every"},
				{"a lease for purpose heat is unbounded: " + tokenOfPassword, "heat"},
				{adminsToken, "admin"},
				{"every lease is unbounded: on this cloud the holder of an application credential can make a trust", "trust"},
				{"every lease is unbounded: on this cloud the holder of an application credential can make EC2 credentials without end", "ec2"},
			} {
				if strings.HasPrefix(says, is.whole) {
					got = append(got, is.short)
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v by a %s is warned of %q, want %q", c.found, c.registered, got, c.want)
		}
	}
}

// TestRolesThatAnotherImplies are granted with it, each that the user has, and none above it.
func TestRolesThatAnotherImplies(t *testing.T) {
	has := func(names ...string) *session {
		s := &session{}
		for _, n := range names {
			s.roles = append(s.roles, tokens.Role{ID: "id-" + n, Name: n})
		}
		return s
	}
	all := []string{"reader", "member", "manager", "admin", "custom"}
	for asked, want := range map[string]string{
		"admin": "reader member manager admin", "manager": "reader member manager", "member": "reader member", "reader": "reader", "custom": "custom",
		"": "reader member manager custom", "custom,member": "reader member custom", "manager, reader": "reader member manager",
	} {
		roles, err := has(all...).subset(asked)
		var got []string
		for _, r := range roles {
			got = append(got, r.Name)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q is %q, %v, want %q", asked, got, err, want)
		}
		few, err := has("manager", "reader").subset("manager")
		if err != nil || len(few) != 2 {
			t.Errorf("of fewer roles %v, %v", few, err)
		}
	}
}

// TestRegionsAreThoseOfTheWholeCatalog, each once and sorted.
func TestRegionsAreThoseOfTheWholeCatalog(t *testing.T) {
	s := &session{}
	for i, region := range []string{"b", "", "a", "b", "c"} {
		s.catalog = append(s.catalog, broker.CatalogEntry{Service: fmt.Sprint(i), Region: region})
	}
	if got := s.regions(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("regions are %q", got)
	}
	// Of a link that spans, each method that making and removing one takes.
	rules, err := s.rules(Network, nil)
	var methods []string
	for _, r := range rules {
		if r.Service != Network || r.Path != "/**" {
			t.Errorf("a rule is %+v", r)
		}
		methods = append(methods, r.Method)
	}
	if slices.Sort(methods); err != nil || !slices.Equal(methods, []string{"DELETE", "GET", "POST", "PUT"}) {
		t.Errorf("a lease for links may %q, %v", methods, err)
	}
}

// TestEachAnswerOnOpeningsIsKept: what is open and what is not clear, in whatever order; what is clearly shut is not there.
func TestEachAnswerOnOpeningsIsKept(t *testing.T) {
	type answer struct {
		name    string
		open    bool
		unclear error
	}
	asleep := errors.New(strings.Repeat("z", maxWhy+1))
	all := []answer{{"a", true, nil}, {"b", false, errors.New("busy")}, {"c", false, nil}, {"d", true, errors.New("late")}, {"e", false, asleep}, {"f", true, nil}}
	want := map[string]string{"a": "", "b": "busy", "d": "late", "e": strings.Repeat("z", maxWhy), "f": ""}
	for range all {
		all = append(all[1:], all[0])
		found := broker.Cloud{Openings: map[string]string{}}
		for _, one := range all {
			note(&found, one.name, one.open, one.unclear)
		}
		if !maps.Equal(found.Openings, want) {
			t.Errorf("%s first: %v", all[0].name, found.Openings)
		}
	}
}

// TestALoginNamesEachThingOnce: by what an earlier check has found, or else by its id, or else by its name and its domain, and a domain
// by its id or its name.
func TestALoginNamesEachThingOnce(t *testing.T) {
	named := broker.Scope{ProjectName: "p", UserDomainName: "un", ProjectDomainName: "pn"}
	both := broker.Scope{ProjectID: "pid", ProjectName: "p", UserDomainID: "ud", UserDomainName: "un", ProjectDomainID: "pd", ProjectDomainName: "pn"}
	ids := both
	ids.ProjectID = ""
	user, id := broker.Credential{Username: "u"}, broker.Credential{Username: "u", UserID: "uid"}
	for _, c := range []struct {
		scope broker.Scope
		c     broker.Credential
		known broker.Cloud
		want  tokens.AuthOptions
	}{
		{named, user, broker.Cloud{}, tokens.AuthOptions{Username: "u", DomainName: "un", Scope: tokens.Scope{ProjectName: "p", DomainName: "pn"}}},
		{ids, user, broker.Cloud{}, tokens.AuthOptions{Username: "u", DomainID: "ud", Scope: tokens.Scope{ProjectName: "p", DomainID: "pd"}}},
		{both, user, broker.Cloud{}, tokens.AuthOptions{Username: "u", DomainID: "ud", Scope: tokens.Scope{ProjectID: "pid"}}},
		{named, id, broker.Cloud{}, tokens.AuthOptions{UserID: "uid", Scope: tokens.Scope{ProjectName: "p", DomainName: "pn"}}},
		{both, id, broker.Cloud{UserID: "found"}, tokens.AuthOptions{UserID: "found", Scope: tokens.Scope{ProjectID: "pid"}}},
		{both, user, broker.Cloud{ProjectID: "found"}, tokens.AuthOptions{Username: "u", DomainID: "ud", Scope: tokens.Scope{ProjectID: "found"}}},
		{named, user, broker.Cloud{UserID: "a", ProjectID: "b"}, tokens.AuthOptions{UserID: "a", Scope: tokens.Scope{ProjectID: "b"}}},
	} {
		if got := options(c.scope, c.c, c.known); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%+v of %+v, known %+v: %+v, want %+v", c.c.Username+c.c.UserID, c.scope, c.known, *got, c.want)
		}
	}
}
