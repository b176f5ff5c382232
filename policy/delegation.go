package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrDelegationEnded: nothing more may be done on behalf of the caller. The caller is
// not in the directory any more, or the directory could not be asked for too long.
var ErrDelegationEnded = errors.New("acting on behalf of the caller has ended")

// ErrNotAsked: the directory knows that there may be such a caller, and cannot ask for the roles
// without the caller's token.
var ErrNotAsked = errors.New("its roles are known only while it is there")

// DefaultHold is the time for which recorded roles hold unless an operator sets another.
const DefaultHold = time.Hour

// Delegation is the stored record of a caller, so that work can continue for them after
// their request has ended. It holds no credential.
type Delegation struct {
	Name    string    `json:"name"`
	Project string    `json:"project"`
	Roles   []string  `json:"roles"`
	At      time.Time `json:"at"`
	// Claims are those of [Principal]; older records have none.
	Claims map[string][]string `json:"claims,omitempty"`
}

// Delegate records the present state of a caller.
func Delegate(p Principal, at time.Time) Delegation {
	return Delegation{Name: p.Name, Project: p.Project, Roles: slices.Clone(p.Roles), At: at, Claims: p.Claims}
}

// Directory knows callers without their tokens.
type Directory interface {
	// Lookup returns the present state of a caller; [ErrUnauthenticated] if there is no
	// such caller in that project. Any other error means that the directory cannot
	// answer now.
	Lookup(ctx context.Context, name, project string) (Principal, error)
}

// Delegates resumes delegations. It must not be changed once used.
type Delegates struct {
	// Directories are by authenticator. Keystone has none: it shows the roles of a
	// token only.
	Directories map[string]Directory
	// Hold is the time for which recorded roles hold if no directory can be asked,
	// counted from the request; 0 means [DefaultHold].
	Hold time.Duration
	// HoldOf is the Hold of one caller, where that is not zero; nil means that all have the same.
	HoldOf func(name string) time.Duration
	Now    func() time.Time
}

// Resume returns the caller for the next step of work that actor ("system:lifecycle")
// does on their behalf. It is called before each step, and grants nothing by itself:
// each step is decided by policy, for actor and caller.
//
// If the caller's directory can be asked, the caller has the roles that it gives now,
// and [ErrDelegationEnded] is returned if the caller is gone. If not, the recorded roles
// hold for [Delegates.Hold] after the request; then [ErrDelegationEnded].
func (d *Delegates) Resume(ctx context.Context, actor string, g Delegation) (Principal, error) {
	p := Principal{Name: g.Name, Project: g.Project, Roles: slices.Clone(g.Roles), Claims: g.Claims}
	if !strings.HasPrefix(actor, systemPrefix) || p.Authenticator() == bySystem || slices.Contains(g.Roles, RoleSystem) {
		return Principal{}, fmt.Errorf("%q for %q: %w: only a part of the broker acts, and only for a caller", actor, g.Name, ErrDelegationEnded)
	}
	why := errors.New("its authenticator has no directory")
	if directory, ok := d.Directories[p.Authenticator()]; ok {
		now, err := directory.Lookup(ctx, g.Name, g.Project)
		switch {
		case err == nil:
			p.Roles, p.Actor, p.Warrant = now.Roles, actor, d.Warrant(g)
			return p, nil
		case errors.Is(err, ErrUnauthenticated):
			return Principal{}, fmt.Errorf("%s in project %s: %w: there is no such caller any more", g.Name, g.Project, ErrDelegationEnded)
		case ctx.Err() != nil:
			return Principal{}, ctx.Err()
		}
		why = err
	}
	hold := d.hold(g)
	if age := d.Now().Sub(g.At); age < 0 || age >= hold {
		return Principal{}, fmt.Errorf("%s in project %s: %w: the roles were recorded more than %v ago: %w", g.Name, g.Project,
			ErrDelegationEnded, hold, why)
	}
	p.Actor, p.Warrant = actor, d.held(g)
	return p, nil
}

func (d *Delegates) hold(g Delegation) time.Duration {
	hold := cmp.Or(d.Hold, DefaultHold)
	if d.HoldOf != nil {
		hold = cmp.Or(d.HoldOf(g.Name), hold)
	}
	return hold
}

// answers are the directories that know a caller's roles now, in words.
var answers = map[string]string{ByStaticToken: "the tokens file", ByClient: "the client's row"}

// Warrant says what is asked before each step for a caller who may be gone by then, or until when what was confirmed
// counts.
func (d *Delegates) Warrant(g Delegation) string {
	if asked, known := answers[Principal{Name: g.Name}.Authenticator()]; known {
		return asked + " is asked for the roles before each step"
	}
	return d.held(g)
}

// held is the warrant of a caller whose roles nobody says now.
func (d *Delegates) held(g Delegation) string {
	until := "the roles of the request count until " + g.At.Add(d.hold(g)).UTC().Format(time.RFC3339)
	if part := strings.SplitN(g.Name, ":", 3); len(part) == 3 && d.Directories[part[0]] != nil {
		return until + " while " + part[1] + " is in the table of trust"
	}
	return until
}
