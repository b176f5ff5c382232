package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
)

var _ Decider = (*Policies)(nil)

// systemPrefix starts the name of every pass of the broker, and of no caller.
const systemPrefix = "system:"

// Decide implements [Decider]. A permit counts only if no forbid matches and every
// policy could be evaluated: Cedar itself skips a policy that fails, and would let a
// broken forbid pass. A request that the schema does not know is denied with an error.
// If an actor stands in for the principal, both must be permitted: the actor by the
// built-in policies, the principal by those for callers.
func (p *Policies) Decide(r Request) Decision {
	who := principalEntity(r.Principal, "")
	if r.Principal.Actor == "" {
		return p.decide(r, who)
	}
	if r.Principal.Name == "" || r.Principal.Authenticator() == bySystem {
		return refuse("principal %q: the broker's own parts act for callers only", r.Principal.Name)
	}
	act := r
	act.Principal = Principal{Name: r.Principal.Actor, Project: r.Principal.Project, Roles: []string{RoleSystem}}
	actor := p.decide(act, principalEntity(act.Principal, r.Principal.Name))
	if !actor.Allowed {
		return actor
	}
	d := p.decide(r, who)
	d.Policies = append(actor.Policies, d.Policies...)
	return d
}

// decide answers for one principal, as who describes it.
func (p *Policies) decide(r Request, who cedar.Entity) Decision {
	system := slices.Contains(r.Principal.Roles, RoleSystem)
	switch {
	case system != strings.HasPrefix(r.Principal.Name, systemPrefix):
		return refuse("principal %q: the role %q and the prefix %q go together", r.Principal.Name, RoleSystem, systemPrefix)
	case !system && (r.Principal.Name == "" || r.Principal.Project == ""):
		return refuse("principal %q of project %q: a caller has a name and a project", r.Principal.Name, r.Principal.Project)
	}
	shape, known := p.actions[r.Action]
	if !known || !slices.Contains(shape.kinds, r.Resource.Kind) {
		return refuse("action %q is not done to a %s", r.Action, r.Resource.Kind)
	}
	policies := shape.callers[r.Resource.Kind]
	if system {
		policies = shape.passes[r.Resource.Kind]
	}

	question, about := p.ask(shape, r, who)
	verdict, why := cedar.Authorize(policies, about, question)

	d := Decision{Allowed: verdict == cedar.Allow && len(why.Errors) == 0}
	for _, reason := range why.Reasons {
		d.Policies = append(d.Policies, string(reason.PolicyID))
		if text := policies.reason(reason.PolicyID); text != "" && !slices.Contains(d.Reasons, text) {
			d.Reasons = append(d.Reasons, text)
		}
	}
	for _, e := range why.Errors {
		d.Errors = append(d.Errors, fmt.Sprintf("%s: %s", e.PolicyID, e.Message))
	}
	return d
}

// ask is a question in Cedar's form, and the two entities that it is about.
func (p *Policies) ask(shape actionShape, r Request, who cedar.Entity) (cedar.Request, facts) {
	if r.At.IsZero() {
		r.At = p.Now()
	}
	thing := resourceEntity(r.Resource)
	question := cedar.Request{Principal: who.UID, Action: shape.entity, Resource: thing.UID}
	switch shape.context {
	case wishContext:
		question.Context = wishRecord(r.Wish, r.At)
	case draftContext:
		question.Context = draftRecord(r.Wish.VIM)
	case planContext:
		question.Context = planRecord(r.Wish.Plan, r.At)
	}
	return question, facts{who, thing}
}

func refuse(format string, args ...any) Decision {
	return Decision{Errors: []string{fmt.Sprintf(format, args...)}}
}

// facts are the two entities that a request is about: all that Cedar may look up.
type facts [2]cedar.Entity

// Get implements [cedar.EntityGetter].
func (f facts) Get(uid cedar.EntityUID) (cedar.Entity, bool) {
	for _, e := range f {
		if e.UID == uid {
			return e, true
		}
	}
	return cedar.Entity{}, false
}

// principalEntity describes a principal; behalf is the caller that a part of the broker
// acts for.
func principalEntity(p Principal, behalf string) cedar.Entity {
	said := ofPrincipal.of(p)
	said["authenticator"], said["onBehalfOf"] = cedar.String(p.Authenticator()), cedar.String(behalf)
	said["claims"] = claimRecord(p.Claims)
	return cedar.Entity{UID: cedar.NewEntityUID("Principal", cedar.String(p.Name)), Attributes: cedar.NewRecord(said)}
}

// claimRecord holds the claims that there are.
func claimRecord(claims map[string][]string) cedar.Record {
	record := cedar.RecordMap{}
	for name, values := range claims {
		many, known := ClaimNames[name]
		switch {
		case !known || len(values) == 0:
		case many:
			record[cedar.String(name)] = stringSet(values)
		case name == "auth_time":
			if seconds, err := strconv.ParseInt(values[0], 10, 64); err == nil {
				record["auth_time"] = cedar.Long(seconds)
			}
		default:
			record[cedar.String(name)] = cedar.String(values[0])
		}
	}
	return cedar.NewRecord(record)
}

func resourceEntity(r Resource) cedar.Entity {
	e := cedar.Entity{UID: cedar.NewEntityUID(cedar.EntityType(r.Kind), cedar.String(r.ID))}
	said := cedar.RecordMap{}
	if known, ok := ofResource[r.Kind]; ok {
		said = known.of(r)
	}
	said["project"] = cedar.String(r.Project)
	if r.Kind == KindPackage {
		said["signed"] = cedar.Boolean(r.Signer != "")
	}
	if r.Kind == KindVIM || r.Kind == KindPackage {
		tags := make(cedar.RecordMap, len(r.Labels))
		for key, value := range r.Labels {
			tags[cedar.String(key)] = cedar.String(value)
		}
		e.Tags = cedar.NewRecord(tags)
	}
	e.Attributes = cedar.NewRecord(said)
	return e
}

// nowRecord is the time of a decision, in the zone of the site.
func nowRecord(at time.Time) cedar.Record {
	weekday := (int64(at.Weekday())+6)%7 + 1 // 7 is Sunday, as in ISO 8601
	return cedar.NewRecord(cedar.RecordMap{
		"hour": cedar.Long(at.Hour()), "weekday": cedar.Long(weekday), "zone": cedar.String(at.Format("-07:00")), "epoch": cedar.Long(at.Unix()),
	})
}

func wishRecord(w Wish, at time.Time) cedar.Record {
	var age time.Duration
	if !w.Issued.IsZero() {
		age = max(0, at.Sub(w.Issued))
	}
	said := ofWish.of(w)
	said["now"], said["leaseAge"], said["rules"] = nowRecord(at), cedar.Long(secondsUp(age)), cedar.NewRecord(ofRules.of(w.Rules))
	return cedar.NewRecord(said)
}

// secondsUp rounds up, so that 3600.5 s do not pass a limit of 3600.
func secondsUp(d time.Duration) int64 {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return seconds
}

// draftRecord describes a VIM after a write; nil is a draft of which nothing is known.
func draftRecord(d *VIMDraft) cedar.Record {
	if d == nil {
		d = &VIMDraft{}
	}
	var changed []string
	for key, value := range d.Labels {
		if before, had := d.LabelsBefore[key]; !had || before != value {
			changed = append(changed, key)
		}
	}
	for key := range d.LabelsBefore {
		if _, stays := d.Labels[key]; !stays {
			changed = append(changed, key)
		}
	}
	said := ofDraft.of(*d)
	said["labelsChanged"] = stringSet(changed)
	return cedar.NewRecord(said)
}

// planRecord describes the plan of an operation; nil is an operation that is not
// planned yet.
func planRecord(p *OperationPlan, at time.Time) cedar.Record {
	planned := p != nil
	if !planned {
		p = &OperationPlan{}
	}
	said := ofPlan.of(*p)
	said["now"], said["planned"] = nowRecord(at), cedar.Boolean(planned)
	return cedar.NewRecord(said)
}
