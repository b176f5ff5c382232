package grant_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestWhoSeesGrants: operators see what the VNFMs of their project were granted, and no credential of it. Reading
// decides on nothing.
func TestWhoSeesGrants(t *testing.T) {
	s := set(t, false)
	mine, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.refused("what no placement has", broker.ErrDenied, "no placement", s.tacker, ask(grant.Instantiate, "op-2", "none"))
	s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-3", "plain-1"))
	s.fail = nil
	south := policy.Principal{Name: "client:" + uuid.NewString(), Project: "ran", Roles: s.tacker.Roles}
	theirs, _, err := s.Request(t.Context(), south, ask(grant.Instantiate, "op-1", "vnfd-1"))
	if err != nil {
		t.Fatal(err)
	}
	leased := len(s.asked)
	as := func(name, project, role string) policy.Principal {
		return policy.Principal{Name: name, Project: project, Roles: []string{role}}
	}
	for name, c := range map[string]struct {
		by           policy.Principal
		err          error
		count        int
		mine, theirs bool
	}{
		"an administrator":              {as("root", "ops", policy.RoleAdmin), nil, 3, true, true},
		"an administrator of a project": {as("pat", "core", policy.RoleProjectAdmin), nil, 2, true, false},
		"a member":                      {as("alice", "core", policy.RoleMember), nil, 2, true, false},
		"a reader":                      {as("rita", "core", policy.RoleReader), nil, 2, true, false},
		"the client":                    {s.tacker, nil, 2, true, false},
		"another project's client":      {south, nil, 1, false, true},
		"another client":                {policy.Principal{Name: "client:" + uuid.NewString(), Project: "core", Roles: s.tacker.Roles}, nil, 0, false, false},
		"a member of none of them":      {as("bob", "it", policy.RoleMember), nil, 0, false, false},
		"somebody without a role":       {as("eve", "core", "guest"), broker.ErrDenied, 0, false, false},
	} {
		found, next, err := s.Records(t.Context(), c.by, grant.Query{})
		if !errors.Is(err, c.err) || len(found) != c.count || next != "" {
			t.Errorf("%s lists %d grants, %v, want %d, %v", name, len(found), err, c.count, c.err)
		}
		text, err := json.Marshal(found)
		if err != nil || strings.Contains(string(text), "canary") {
			t.Errorf("%s is shown a credential: %s, %v", name, text, err)
		}
		for id, sees := range map[string]bool{mine.ID: c.mine, theirs.ID: c.theirs} {
			one, err := s.Record(t.Context(), c.by, id)
			if sees && (err != nil || one.ID != id) || !sees && (!errors.Is(err, broker.ErrNotFound) || err.Error() != "no such grant" || one.ID != "") {
				t.Errorf("%s is shown %s, %v", name, one.ID, err)
			}
		}
	}
	if len(s.asked) != leased {
		t.Errorf("to read grants issued %d leases", len(s.asked)-leased)
	}
	// To see a grant is not to have its credential.
	if _, c, err := s.Grant(t.Context(), as("alice", "core", policy.RoleMember), mine.ID); !errors.Is(err, broker.ErrDenied) || !c.Config.LeaseSecret.Empty() {
		t.Errorf("a member is given the credential of %s: %v", lent.Lease.ID, err)
	}
	for _, id := range []string{"", "x", "../" + mine.ID, uuid.NewString()} {
		if _, err := s.Record(t.Context(), as("root", "ops", policy.RoleAdmin), id); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%q is shown: %v", id, err)
		}
	}
	_, _, err = s.Records(t.Context(), s.tacker, grant.Query{State: "open"})
	var wrong *broker.Error
	if !errors.As(err, &wrong) || wrong.Field != "state" {
		t.Errorf("a state that is none = %v", err)
	}
	if _, _, err := s.Records(t.Context(), s.tacker, grant.Query{Page: broker.Page{Size: 1001}}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a page that is too large = %v", err)
	}
	read, hidden := 0, 0
	entries, err := s.options.Guard.Sink.(interface {
		audit.Sink
		broker.Store
	}).Entries(t.Context(), audit.Query{Action: policy.GrantShow, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch {
		case e.Principal == "rita" && e.Outcome == audit.Read && e.Resource == mine.ID:
			read++
		case e.Principal == "bob" && e.Outcome == audit.Denied && e.Project == "it":
			hidden++
		}
	}
	if read != 1 || hidden != 2 {
		t.Errorf("recorded are %d of a reader's looks and %d refusals of a stranger's, want 1 and 2", read, hidden)
	}
}
