package audit

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/vimbroker/vimbroker/policy"
)

// Keys of [Entry.Detail]: identifiers and classes only.
const (
	// DetailPolicy holds the ids of the policies that decided, separated by commas.
	DetailPolicy = "policy"
	// DetailError holds the class of what went wrong, in our words.
	DetailError = "error"
	// DetailActor is the part of the broker that acted on behalf of the principal.
	DetailActor = "actor"
	// DetailWarrant is what the permission of a caller who may be gone rests on.
	DetailWarrant = "warrant"
	// DetailQuestion: the caller asked what would be allowed, and nothing was to be done.
	DetailQuestion = "question"
	// DetailSource is the address that the request came from.
	DetailSource = "source"
	// detailAuthenticator says who established the principal's name.
	detailAuthenticator = "authenticator"
	// DetailTrust is the entry of the table of trust that let a caller in, detailShown its name for people.
	DetailTrust = "trust"
	detailShown = "shown"
	// DetailCallerProject is the principal's project, in an entry of another project.
	DetailCallerProject = "callerProject"
	// DetailVIM is the id of the VIM that it was about; name, project and endpoint are
	// those of then.
	DetailVIM          = "vim"
	DetailVIMName      = "vimName"
	DetailVIMProject   = "vimProject"
	DetailEndpointHost = "endpointHost"
	// DetailOld and DetailNew begin the keys of changed values: "old.shared", "new.shared".
	DetailOld = "old."
	DetailNew = "new."
	// DetailRepeats counts the acts that were not recorded one by one since the previous entry.
	DetailRepeats = "repeats"
	// DetailPolicies is the hash of the policies in force.
	DetailPolicies = "policies"
	// DetailTaken and DetailRestart are the keys of the configuration that a reload found
	// changed: those that hold now, and those that need a restart.
	DetailTaken   = "taken"
	DetailRestart = "needRestart"
	DetailVersion = "version"
	// DetailBefore, DetailCount and DetailThrough describe a removal: the time before which
	// entries are removed, their number, and the last of them.
	DetailBefore  = "before"
	DetailCount   = "count"
	DetailThrough = "through"
	// DetailUnguarded names the guards of the log that were found missing.
	DetailUnguarded = "unguarded"
	DetailLease     = "lease"
	// DetailInPlaceOf is the lease whose place another takes.
	DetailInPlaceOf = "inPlaceOf"
	// DetailInstance is the id of a VNF instance.
	DetailInstance   = "instance"
	DetailGeneration = "generation"
	DetailRole       = "role"
	DetailNamespaces = "namespaces"
	DetailTTL        = "ttl"
	DetailExpiresAt  = "expiresAt"
	DetailReason     = "reason"
	DetailPurpose    = "purpose"
	// DetailRules holds the verbs and resources of a lease that has rules in place of a role.
	DetailRules = "rules"
	// DetailFor is whom a lease is for, as its holder says.
	DetailFor = "for"
	// DetailOfPrincipal and DetailOperation are the values by which leases were selected.
	DetailOfPrincipal = "ofPrincipal"
	DetailOperation   = "operation"
	DetailGrade       = "grade"
	// DetailGradeReasons are the first reasons of the grade, if a lease is ended.
	DetailGradeReasons = "gradeReasons"
	// DetailCredentialID is the credential's name in the VIM's own audit log.
	DetailCredentialID = "credential-id"
	// DetailTarget is where a kubeconfig was pushed to, as TARGET/SECRET.
	DetailTarget = "target"
	// DetailAuditKey is the id of a key that signs checkpoints of the log.
	DetailAuditKey = "auditKey"
	// DetailPackage is the id of a VNF package, DetailVNFD that of its descriptor.
	DetailPackage = "package"
	DetailVNFD    = "vnfd"
	// DetailSubscription is the id of a subscription to VNF instances.
	DetailSubscription = "subscription"
	// DetailClient is the id of a client, DetailClientName its name.
	DetailClient     = "client"
	DetailClientName = "clientName"
	DetailRoles      = "roles"
	// DetailCertificate is the kind and the name of the certificate that a client logs in with.
	DetailCertificate = "certificate"
	// DetailTokenKey is the id of a key that signs clients' tokens.
	DetailTokenKey = "tokenKey"
	// DetailLeft lists the objects that the holder of a lease left behind on the VIM.
	DetailLeft = "left-behind"
)

// detailLimit is the longest detail value in bytes. Longer ones are cut: some
// begin as a caller's words.
const detailLimit = 512

// Act is something that was allowed, on its way to being done. It makes the
// entries that record it, to be handed to the store with the change that each
// records; the entries of one act share request, principal, action and resource.
// An Act belongs to one goroutine.
type Act struct {
	guard *Guard
	entry Entry
}

// About adds the objects that a VIM or a lease belongs to, as far as the resource names
// them. It returns the act.
func (a *Act) About(res policy.Resource) *Act {
	vim, lease := res.VIM, ""
	project := res.Project
	switch res.Kind {
	case policy.KindVIM:
		vim = res.ID
	case policy.KindLease:
		lease, project = res.ID, res.VIMProject
	case policy.KindVNFInstance:
		project = res.VIMProject
	}
	if vim == "" && lease == "" && res.VIMName == "" {
		return a
	}
	return a.withGiven(
		DetailVIM, vim, DetailVIMName, res.VIMName, DetailVIMProject, project, DetailEndpointHost, res.EndpointHost, DetailLease, lease,
	)
}

// wished adds what was asked for in a lease that is refused.
func (a *Act) wished(w policy.Wish) {
	if w.TTL == 0 {
		return // no question about a lease
	}
	rules := strings.Join(w.Rules.Verbs, ",") + ":" + strings.Join(w.Rules.Resources, ",")
	a.withGiven(
		DetailTTL, w.TTL.String(), DetailRole, w.Role, DetailRules, strings.Trim(rules, ":"), DetailNamespaces, strings.Join(w.Namespaces, ","),
		DetailGrade, w.Grade, DetailPurpose, w.Purpose, DetailFor, w.For,
	)
	if w.ClusterWide {
		a.With(DetailNamespaces, "*")
	}
}

// With adds a detail to the entries made from now on, and returns the act. A
// later value of a key replaces an earlier one; values over 512 bytes are cut.
func (a *Act) With(key, value string) *Act {
	if a.entry.Detail == nil {
		a.entry.Detail = make(map[string]string)
	}
	a.entry.Detail[key] = Cut(value)
	return a
}

// withGiven adds details, keys and values in turn. A key without a value is left out.
func (a *Act) withGiven(detail ...string) *Act {
	for i := 1; i < len(detail); i += 2 {
		if detail[i] != "" {
			a.With(detail[i-1], detail[i])
		}
	}
	return a
}

// Intent is the entry to write before the effect begins.
func (a *Act) Intent() Entry { return a.as(Intent) }

// Done is the entry to write when the effect has happened. Keys and values
// alternate in detail, and are in this entry only; a key without a value is left out.
func (a *Act) Done(detail ...string) Entry {
	a.guard.Tally.add(Result{Action: a.entry.Action, Outcome: Done})
	return (&Act{guard: a.guard, entry: a.as(Done)}).withGiven(detail...).entry
}

// Failed is the entry to write when the effect did not happen, or only in part.
// The class says why, in our words: never another system's answer.
func (a *Act) Failed(class string) Entry {
	a.guard.Tally.add(Result{Action: a.entry.Action, Outcome: Failed, Class: class})
	e := a.as(Failed)
	e.Detail[DetailError] = Cut(class)
	return e
}

// Read records that the act was allowed and only reads, as far as [Guard.Reads] has
// reads recorded. The caller hands the result out only if Read returns nil.
func (a *Act) Read(ctx context.Context) error {
	e := a.as(Read)
	if !a.guard.Reads.due(e) {
		return nil
	}
	if err := a.guard.Sink.Append(ctx, e); err != nil {
		return fmt.Errorf("recording %s on %s %s: %w", a.entry.Action, a.entry.Kind, a.entry.Resource, err)
	}
	a.guard.Reads.recorded(e)
	return nil
}

// as copies the act into an entry of its own.
func (a *Act) as(o Outcome) Entry {
	e := a.entry
	e.Outcome = o
	e.Time = a.guard.Now().UTC()
	e.Detail = make(map[string]string, len(a.entry.Detail)+1)
	maps.Copy(e.Detail, a.entry.Detail)
	return e
}

// Cut shortens the value of a detail to 512 bytes, at the end of a character.
func Cut(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD") // PostgreSQL reads no NUL
	if len(s) <= detailLimit {
		return s
	}
	n := detailLimit
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A key keeps a value of one type in contexts.
type key[T any] struct{ name string }

func (k key[T]) with(ctx context.Context, value T) context.Context {
	return context.WithValue(ctx, k, value)
}

// of returns the value that a context has, or the zero value.
func (k key[T]) of(ctx context.Context) T {
	value, _ := ctx.Value(k).(T)
	return value
}

var (
	byRequest  = key[string]{"request"}
	bySource   = key[string]{"source"}
	byDoor     = key[Door]{"door"}
	asQuestion = key[bool]{"question"}
)

// WithRequest returns a context under which entries carry id as their Request:
// the id of an API request, or of one run of a pass. It is not a credential and
// grants nothing.
func WithRequest(ctx context.Context, id string) context.Context { return byRequest.with(ctx, id) }

// WithSource returns a context under which entries say that the request came from an
// address.
func WithSource(ctx context.Context, address string) context.Context {
	return bySource.with(ctx, address)
}

// SourceOf returns the address that [WithSource] put into the context, or "".
func SourceOf(ctx context.Context) string { return bySource.of(ctx) }

// AsQuestion returns a context under which entries say that the caller only asked what would be allowed. Refusals
// are not counted among those of acts that were tried.
func AsQuestion(ctx context.Context) context.Context { return asQuestion.with(ctx, true) }
