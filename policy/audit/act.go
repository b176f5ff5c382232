package audit

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// Keys of [Entry.Detail]: identifiers and classes only.
const (
	// DetailPolicy holds the ids of the policies that decided, separated by commas.
	DetailPolicy = "policy"
	// DetailError holds the class of what went wrong, in our words.
	DetailError = "error"
	// DetailResourceProject is set where the resource is another project's.
	DetailResourceProject = "resourceProject"
	// DetailActor is the part of the broker that acted on behalf of the principal.
	DetailActor      = "actor"
	DetailVIM        = "vim"
	DetailLease      = "lease"
	DetailGeneration = "generation"
	DetailRole       = "role"
	DetailNamespaces = "namespaces"
	DetailTTL        = "ttl"
	DetailExpiresAt  = "expiresAt"
	DetailReason     = "reason"
	DetailPurpose    = "purpose"
	DetailGrade      = "grade"
	// DetailCredentialID is how the VIM's own audit log names the credential.
	DetailCredentialID = "credential-id"
	// DetailLeft is what the holder of a lease left behind on the VIM.
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

// With adds a detail to the entries made from now on, and returns the act. A
// later value of a key replaces an earlier one; values over 512 bytes are cut.
func (a *Act) With(key, value string) *Act {
	if a.entry.Detail == nil {
		a.entry.Detail = make(map[string]string)
	}
	a.entry.Detail[key] = cut(value)
	return a
}

// On names the resource where it had no id yet when the act was allowed (what is
// being registered or issued). It returns the act.
func (a *Act) On(id string) *Act {
	a.entry.Resource = id
	return a
}

// Intent is the entry to write before the effect begins.
func (a *Act) Intent() Entry { return a.as(Intent) }

// Done is the entry to write when the effect has happened. Keys and values
// alternate in detail, and are in this entry only; a last key without a value is ignored.
func (a *Act) Done(detail ...string) Entry {
	e := a.as(Done)
	for i := 1; i < len(detail); i += 2 {
		e.Detail[detail[i-1]] = cut(detail[i])
	}
	return e
}

// Failed is the entry to write when the effect did not happen, or only in part.
// The class says why, in our words: never another system's answer.
func (a *Act) Failed(class string) Entry {
	e := a.as(Failed)
	e.Detail[DetailError] = cut(class)
	return e
}

// Read records that the act was allowed and only reads. What was read is handed
// out only if Read returns nil.
func (a *Act) Read(ctx context.Context) error {
	if err := a.guard.Sink.Append(ctx, a.as(Read)); err != nil {
		return fmt.Errorf("recording %s on %s %s: %w", a.entry.Action, a.entry.Kind, a.entry.Resource, err)
	}
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

// cut shortens s to the limit, at the end of a character.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= detailLimit {
		return s
	}
	n := detailLimit
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
