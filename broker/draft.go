package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// edit is a write of a VIM that was decided on.
type edit struct {
	caller policy.Principal
	action policy.Action
	vim    VIM
	change Change
	driver Driver
	// target and credential are those of the generation to come; the credential is
	// empty where the one before stays.
	target     Target
	credential Credential
	// renews: the generation to come has another token of the VIM's own account.
	renews bool
	// keyStore holds the key of what would be sealed.
	keyStore string
}

// wish is what policy weighs of the update, made to the VIM as it is now.
func (u *edit) wish(now VIM) policy.Wish {
	after := now
	u.change.apply(&after)
	after.Current.Target = u.target
	d := draft(now, after, u.keyStore)
	d.Inline = u.change.Inline
	return policy.Wish{VIM: d}
}

// onlyCredential reports whether the update changes the VIM's credential, and nothing else.
func (u *edit) onlyCredential() bool {
	rest := u.change
	rest.Credential, rest.Kubeconfig, rest.CloudsYAML = Credential{}, secret.Text{}, secret.Text{}
	// The target follows from these.
	rest.Context, rest.Cloud, rest.Endpoint, rest.CACert, rest.InsecureSkipVerify = "", "", nil, nil, nil
	rest.ServerName, rest.Namespace, rest.Scope, rest.SharedKinds, rest.PodsHeldBy = nil, nil, nil, nil, nil
	rest.IfRevision = 0
	return u.change.given() && u.target == u.vim.Current.Target && reflect.ValueOf(rest).IsZero()
}

func (b *Registry) enterExtraRights(ctx context.Context, p policy.Principal, v VIM, wish policy.Wish) error {
	for _, need := range b.extraRights(wish.VIM) {
		if err := b.enterExtra(ctx, p, need.action, vimResource(v), wish); err != nil {
			return denied(err, need.field, need.detail)
		}
	}
	return nil
}

type extraRight struct {
	action        policy.Action
	field, detail string
}

// extraRights lists the rights that a draft needs besides the one for the write itself.
func (b *Registry) extraRights(d *policy.VIMDraft) []extraRight {
	var needs []extraRight
	switch {
	case d.Shared != d.SharedBefore:
		needs = append(needs, extraRight{policy.VIMShare, "shared", "policy does not let you share VIMs"})
	case !slices.Equal(d.SharedWith, d.SharedWithBefore):
		needs = append(needs, extraRight{policy.VIMShare, "sharedWith", "policy does not let you share VIMs"})
	}
	if d.VouchesForPods {
		needs = append(needs, extraRight{policy.VIMVouch, "podsHeldBy", "policy does not let you vouch for what holds pods on VIMs"})
	} else if d.Vouches {
		needs = append(needs, extraRight{policy.VIMVouch, "sharedKinds", "policy does not let you say which kinds all may have on VIMs"})
	}
	if d.Inline {
		needs = append(needs, extraRight{
			policy.VIMInline, "vimConnectionInfo", "policy does not let you bring a VIM's credential with a request",
		})
	}
	for _, prefix := range b.reserved {
		if d.Inline && len(d.LabelsBefore) == 0 {
			continue // the labels of a VIM that came with a request are the broker's own
		}
		if !maps.Equal(withPrefix(d.Labels, prefix), withPrefix(d.LabelsBefore, prefix)) {
			needs = append(needs, extraRight{policy.VIMLabelReserved, "labels", "policy does not let you change labels that begin with " + prefix})
		}
	}
	return needs
}

func withPrefix(labels map[string]string, prefix string) map[string]string {
	found := map[string]string{}
	for key, value := range labels {
		if strings.HasPrefix(key, prefix) {
			found[key] = value
		}
	}
	return found
}

// writableFor reports whether the VIM can be written now by an update that was decided on
// another state of it: errMoved where it has to be decided again.
func (b *Registry) writableFor(now *VIM, u *edit) error {
	if now.State == VIMDraining && !u.onlyCredential() {
		return &Error{Kind: ErrConflict, Detail: "the VIM is being deleted, and only its credential can be replaced"}
	}
	if err := now.writableAny(u.change.IfRevision); err != nil {
		return err
	}
	if now.Revision == u.vim.Revision {
		return nil
	}
	wish := u.wish(*now)
	allowed := b.guard.Still(u.caller, u.action, vimResource(*now), wish)
	for _, need := range b.extraRights(wish.VIM) {
		allowed = allowed && b.guard.Still(u.caller, need.action, vimResource(*now), wish)
	}
	if !allowed || u.change.makesGeneration() && now.Current.Number != u.vim.Current.Number {
		return errMoved
	}
	return nil
}

// refuseUpdate is refuse, but for what is decided again.
func (b *Registry) refuseUpdate(ctx context.Context, act *audit.Act, why error) error {
	if errors.Is(why, errMoved) {
		return why
	}
	return b.refuse(ctx, act, why)
}

// draft is what policy weighs of a VIM that is written.
func draft(before, after VIM, keyStore string) *policy.VIMDraft {
	d := &policy.VIMDraft{
		Name: after.Name, Type: string(after.Type), InsecureSkipVerify: after.Current.Target.InsecureSkipVerify,
		ServerName: after.Current.Target.ServerName, KeyStore: keyStore, Default: after.Default,
		Shared: after.Shared, SharedBefore: before.Shared, SharedWith: after.SharedWith, SharedWithBefore: before.SharedWith,
		Labels: after.Labels, LabelsBefore: before.Labels,
		Vouches:        before.Current.Target.Vouched != after.Current.Target.Vouched,
		VouchesForPods: before.Current.Target.Vouched.PodsHeldBy != after.Current.Target.Vouched.PodsHeldBy,
	}
	d.EndpointHost = endpointHost(after.Current.Target)
	if u, err := url.Parse(after.Current.Target.Endpoint); err == nil {
		d.PlainHTTP = u.Scheme == "http"
	}
	return d
}

// addChanges puts into an entry what differs between two states of a VIM, in the names
// of REST: old and new values where they are no secret. For a field that may hold anything it says
// only that it is another, of a CA its digest. Nothing of an earlier call is left.
func addChanges(e audit.Entry, before, after VIM) {
	maps.DeleteFunc(e.Detail, func(key, _ string) bool {
		return strings.HasPrefix(key, audit.DetailOld) || strings.HasPrefix(key, audit.DetailNew) && key != newCredential
	})
	if before.Description != after.Description {
		e.Detail[audit.DetailNew+"description"] = notShown
	}
	if before.Extra != after.Extra {
		e.Detail[audit.DetailNew+"extra"] = notShown
	}
	was, is := describe(before), describe(after)
	for key, value := range is {
		if was[key] != value {
			note(e, audit.DetailNew+key, value)
		}
	}
	for key, value := range was {
		if is[key] != value {
			note(e, audit.DetailOld+key, value)
		}
	}
}

// newCredential is where the act itself says that a credential was given.
const newCredential = audit.DetailNew + "credential"

// notShown stands for a value that may hold anything.
const notShown = "(not shown)"

func note(e audit.Entry, key, value string) {
	if value != "" {
		e.Detail[key] = audit.Cut(value)
	}
}

func describe(v VIM) map[string]string {
	t := v.Current.Target
	all := map[string]string{
		"name": v.Name, "type": string(v.Type), "project": v.Project,
		"shared": yes(v.Shared), "sharedWith": strings.Join(v.SharedWith, ","), "default": yes(v.Default),
		"suspended": v.Suspended,
		"endpoint":  t.Endpoint, "caCert": digestOf(t.CACert), "insecureSkipVerify": yes(t.InsecureSkipVerify),
		"serverName": t.ServerName, "namespace": t.Namespace, "scope": t.Scope.text(),
		"credential.kind": string(v.Current.CredentialKind), "credential.username": v.Current.Username,
		"identity": v.Current.Identity, "keyStore": v.Current.KeyStore,
		"sharedKinds": t.Vouched.SharedKinds, "podsHeldBy": t.Vouched.PodsHeldBy,
	}
	if v.Current.Number > 0 {
		all["generation"] = strconv.FormatInt(v.Current.Number, 10)
	}
	for key, value := range v.Labels {
		all["labels."+key] = strconv.Quote(value)
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

func yes(is bool) string { return strconv.FormatBool(is) }

// digestOf tells one certificate from another.
func digestOf(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (s Scope) text() string {
	if s == (Scope{}) {
		return ""
	}
	text, _ := json.Marshal(s) // cannot fail for this type
	return string(text)
}
