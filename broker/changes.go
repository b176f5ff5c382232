package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/policy/audit"
)

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

// describe lists what an entry may say of a VIM; what is empty is left out.
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
		"sharedKinds": t.Vouched.SharedKinds,
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

// text is the scope as JSON; empty where nothing is set.
func (s Scope) text() string {
	if s == (Scope{}) {
		return ""
	}
	text, _ := json.Marshal(s) // cannot fail for this type
	return string(text)
}
