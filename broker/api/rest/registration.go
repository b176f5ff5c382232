package rest

import (
	"cmp"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// soon is how long before a stored credential expires there is a warning.
const soon = broker.EndsSoon

// scopeNames are the wire's names of a scope.
const scopeNames = `Project=ProjectName ProjectDomain=ProjectDomainName UserDomain=UserDomainName`

var (
	registrationAsked = api.Asked[v1.Registration, broker.Registration](`VIMProject=Project Project=Scope.ProjectName Domain=
		ProjectDomain=Scope.ProjectDomainName UserDomain=Scope.UserDomainName Scope`)
	changeAsked = api.Asked[v1.Change, broker.Change](`Scope=`)
	scopeAsked  = api.Asked[v1.Scope, broker.Scope](scopeNames)
	scopeShown  = api.Shown[broker.Scope, v1.Scope](scopeNames)
	// credential is a credential, whose kind follows from its fields, and from what the VIM's type takes.
	credential = api.Asked[v1.Credential, broker.Credential]("")
	vimShown   = api.Shown[broker.VIM, v1.VIM](`Current.Target Current Current.Target.Vouched Health Generation=Current.Number
		Status= Extra= Credential= SharedKinds= Scope= Warnings= WaitsFor= SameAs=`)
)

// registration is a registration for the domain. A single domain is the domain of user and project.
func registration(in v1.Registration) broker.Registration {
	in.ProjectDomain, in.UserDomain = cmp.Or(in.ProjectDomain, in.Domain), cmp.Or(in.UserDomain, in.Domain)
	return registrationAsked(in)
}

func vimChange(in v1.Change) broker.Change {
	out := changeAsked(in)
	if in.Scope != nil {
		out.Scope = new(scopeAsked(*in.Scope))
	}
	return out
}

// vim is what may be shown of a VIM.
func vim(v broker.VIM, now time.Time) v1.VIM {
	shown, current := vimShown(v), v.Current
	shown.Status = string(v.Health.Status)
	if v.State != broker.VIMRegistered {
		shown.Status = shown.State
	}
	shown.Extra, _ = codec.Kept(v.Extra)
	shown.Credential = v1.StoredCredential{
		Kind: string(current.CredentialKind), ExpiresAt: current.CredentialExpiresAt.UTC(), KeyStore: current.KeyStore,
	}
	shown.SharedKinds, shown.Warnings = current.Target.Vouched.Kinds(), warnings(v, now)
	if s := current.Target.Scope; s != (broker.Scope{}) {
		shown.Scope = new(scopeShown(s))
	}
	return shown
}

// warnings say what deserves attention although nothing has failed.
func warnings(v broker.VIM, now time.Time) []string {
	var w []string
	if v.Current.Target.InsecureSkipVerify {
		w = append(w, v1.WarnInsecure)
	}
	if strings.HasPrefix(v.Current.Target.Endpoint, "http://") {
		w = append(w, v1.WarnPlainHTTP)
	}
	switch end := v.Current.Target.CAExpiresAt(); {
	case end.IsZero():
	case !end.After(now):
		w = append(w, v1.WarnCAExpired)
	case end.Before(now.Add(soon)):
		w = append(w, v1.WarnCAExpiring)
	}
	near := soon
	if c := v.Current.Discovered.Cluster; c != nil && !c.RenewAt.IsZero() {
		near = v.Current.CredentialExpiresAt.Sub(c.RenewAt) / 2 // it was to be renewed long ago
	}
	switch end := v.Current.CredentialExpiresAt; {
	case end.IsZero():
	case !end.After(now):
		w = append(w, v1.WarnExpired)
	case end.Before(now.Add(near)):
		w = append(w, v1.WarnExpiring)
	}
	return w
}
