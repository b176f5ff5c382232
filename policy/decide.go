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
	return cedar.Entity{
		UID: cedar.NewEntityUID("Principal", cedar.String(p.Name)),
		Attributes: cedar.NewRecord(cedar.RecordMap{
			"name":          cedar.String(p.Name),
			"authenticator": cedar.String(p.Authenticator()),
			"project":       cedar.String(p.Project),
			"roles":         stringSet(p.Roles),
			"actor":         cedar.String(p.Actor),
			"onBehalfOf":    cedar.String(behalf),
			"claims":        claimRecord(p.Claims),
		}),
	}
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
	attributes := cedar.RecordMap{}
	switch r.Kind {
	case KindVIM:
		attributes = cedar.RecordMap{
			"name":       cedar.String(r.VIMName),
			"type":       cedar.String(r.VIMType),
			"shared":     cedar.Boolean(r.Shared),
			"sharedWith": stringSet(r.SharedWith),
		}
		e.Tags = labelRecord(r.Labels)
	case KindLease:
		attributes = cedar.RecordMap{
			"owner":      cedar.String(r.Owner),
			"vimProject": cedar.String(r.VIMProject),
			"vimName":    cedar.String(r.VIMName),
			"vimType":    cedar.String(r.VIMType),
		}
	case KindVNFInstance:
		attributes = cedar.RecordMap{
			"owner":   cedar.String(r.Owner),
			"name":    cedar.String(r.Name),
			"vnfdId":  cedar.String(r.VNFDID),
			"vimName": cedar.String(r.VIMName),
			"vimType": cedar.String(r.VIMType),
		}
	case KindLink:
		attributes = cedar.RecordMap{
			"owner":      cedar.String(r.Owner),
			"name":       cedar.String(r.Name),
			"vimName":    cedar.String(r.VIMName),
			"vimType":    cedar.String(r.VIMType),
			"shared":     cedar.Boolean(r.Shared),
			"sharedWith": stringSet(r.SharedWith),
		}
	case KindPackage:
		attributes = cedar.RecordMap{
			"provider": cedar.String(r.Provider),
			"product":  cedar.String(r.Product),
			"version":  cedar.String(r.Version),
			"signed":   cedar.Boolean(r.Signer != ""),
			"signer":   cedar.String(r.Signer),
		}
		e.Tags = labelRecord(r.Labels)
	case KindGrant:
		attributes = cedar.RecordMap{
			"owner":    cedar.String(r.Owner),
			"vnfdId":   cedar.String(r.VNFDID),
			"instance": cedar.String(r.Name),
		}
	case KindSubscription:
		attributes["owner"] = cedar.String(r.Owner)
	case KindClient:
		attributes = cedar.RecordMap{
			"name":  cedar.String(r.Name),
			"roles": stringSet(r.Roles),
		}
	}
	attributes["project"] = cedar.String(r.Project)
	e.Attributes = cedar.NewRecord(attributes)
	return e
}

func labelRecord(labels map[string]string) cedar.Record {
	tags := make(cedar.RecordMap, len(labels))
	for key, value := range labels {
		tags[cedar.String(key)] = cedar.String(value)
	}
	return cedar.NewRecord(tags)
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
	return cedar.NewRecord(cedar.RecordMap{
		"now":        nowRecord(at),
		"leaseAge":   cedar.Long(secondsUp(age)),
		"for":        cedar.String(w.For),
		"ttlSeconds": cedar.Long(secondsUp(w.TTL)),
		"role":       cedar.String(w.Role),
		"namespaces": stringSet(w.Namespaces),
		"purpose":    cedar.String(w.Purpose),
		// The values granted, not those asked for.
		"grade":       cedar.String(w.Grade),
		"clusterWide": cedar.Boolean(w.ClusterWide),
		"standing":    cedar.Boolean(w.Standing),
		"rules": cedar.NewRecord(cedar.RecordMap{
			"resources": stringSet(w.Rules.Resources),
			"verbs":     stringSet(w.Rules.Verbs),
		}),
	})
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
	return cedar.NewRecord(cedar.RecordMap{
		"name":               cedar.String(d.Name),
		"type":               cedar.String(d.Type),
		"endpointHost":       cedar.String(d.EndpointHost),
		"plainHTTP":          cedar.Boolean(d.PlainHTTP),
		"insecureSkipVerify": cedar.Boolean(d.InsecureSkipVerify),
		"serverName":         cedar.String(d.ServerName),
		"keyStore":           cedar.String(d.KeyStore),
		"isDefault":          cedar.Boolean(d.Default),
		"inline":             cedar.Boolean(d.Inline),
		"shared":             cedar.Boolean(d.Shared),
		"sharedBefore":       cedar.Boolean(d.SharedBefore),
		"sharedWith":         stringSet(d.SharedWith),
		"sharedWithBefore":   stringSet(d.SharedWithBefore),
		"vouches":            cedar.Boolean(d.Vouches),
		"labels":             labelSet(d.Labels),
		"labelsBefore":       labelSet(d.LabelsBefore),
		"labelsChanged":      stringSet(changed),
	})
}

// planRecord describes the plan of an operation; nil is an operation that is not
// planned yet.
func planRecord(p *OperationPlan, at time.Time) cedar.Record {
	planned := p != nil
	if !planned {
		p = &OperationPlan{}
	}
	return cedar.NewRecord(cedar.RecordMap{
		"now":               nowRecord(at),
		"planned":           cedar.Boolean(planned),
		"vimName":           cedar.String(p.VIMName),
		"vimProject":        cedar.String(p.VIMProject),
		"vimLabels":         labelSet(p.VIMLabels),
		"vnfdId":            cedar.String(p.VNFDID),
		"provider":          cedar.String(p.Provider),
		"product":           cedar.String(p.Product),
		"softwareVersion":   cedar.String(p.SoftwareVersion),
		"kinds":             stringSet(p.Kinds),
		"namespaces":        stringSet(p.Namespaces),
		"images":            stringSet(p.Images),
		"clusterScoped":     cedar.Boolean(p.ClusterScoped),
		"privileged":        cedar.Boolean(p.Privileged),
		"bringsRBAC":        cedar.Boolean(p.BringsRBAC),
		"bringsDefinitions": cedar.Boolean(p.BringsDefinitions),
		"bringsWebhooks":    cedar.Boolean(p.BringsWebhooks),
		"outlives":          cedar.Boolean(p.Outlives),
		"reaches":           stringSet(p.Reaches),
		"podSecurity":       cedar.String(p.PodSecurity),
	})
}

// labelSet writes labels as "key=value".
func labelSet(labels map[string]string) cedar.Set {
	pairs := make([]string, 0, len(labels))
	for key, value := range labels {
		pairs = append(pairs, key+"="+value)
	}
	return stringSet(pairs)
}

func stringSet(items []string) cedar.Set {
	values := make([]cedar.Value, len(items))
	for i, s := range items {
		values[i] = cedar.String(s)
	}
	return cedar.NewSet(values...)
}
