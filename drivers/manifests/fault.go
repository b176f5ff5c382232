package manifests

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// title names a resource for people: "Deployment shop/web".
func title(r lifecycle.Resource) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// fault translates the outcome of a call. From the remote side's text it repeats names alone:
// those of fields and of webhooks. deed completes "cannot": "apply Deployment shop/web".
func fault(err error, deed string) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*broker.Error](err); ok {
		return own
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.fault(deed)
	}
	e := broker.Unanswered(err, apiServer)
	if e == nil {
		return notKubernetes(deed, 0)
	}
	e.Detail = "cannot " + deed + ": " + e.Detail
	return e
}

// fault is the meaning of an answer that is no success.
func (r *refusal) fault(deed string) error {
	say := func(kind error, detail, remedy string) error {
		return &broker.Error{Kind: kind, Detail: fmt.Sprintf("cannot %s: %s (%d)", deed, detail, r.code), Remedy: remedy}
	}
	switch {
	case r.code == http.StatusUnauthorized:
		return say(broker.ErrUnauthorized, "the API server does not know the lease's credential", "see whether the lease was revoked")
	case r.code == http.StatusTooManyRequests:
		return say(broker.ErrUnreachable, "the API server limits requests", "try again later")
	case r.webhook() != "" && r.code >= http.StatusInternalServerError:
		return say(broker.ErrUnreachable, "admission webhook "+r.webhook()+" does not answer", "see to what runs that webhook on the cluster")
	case r.webhook() != "":
		return say(broker.ErrForbidden, "admission webhook "+r.webhook()+" denies it",
			"ask whoever runs that webhook on the cluster for its reasons")
	case r.untyped():
		return say(broker.ErrInvalid, "it is not of the form of its kind"+r.fields(), "correct the manifest")
	case r.code >= http.StatusInternalServerError:
		return say(broker.ErrUnreachable, "the API server cannot do it now", "try again later")
	case r.status == nil:
		return notKubernetes(deed, r.code)
	case r.code == http.StatusForbidden && r.caused(corev1.NamespaceTerminatingCause):
		return say(broker.ErrConflict, "its namespace is being deleted", "wait until the namespace is gone")
	case r.code == http.StatusForbidden:
		return r.forbidden(say)
	case r.code == http.StatusNotFound:
		return say(broker.ErrNotFound, "the API server finds no such kind or namespace",
			"see whether the definition or the namespace was removed")
	case r.code == http.StatusConflict:
		return say(broker.ErrConflict, "it was changed or replaced meanwhile", "try again")
	case r.code == http.StatusRequestEntityTooLarge:
		return say(broker.ErrInvalid, "it is larger than the API server takes", "make it smaller")
	}
	return say(broker.ErrInvalid, "the API server finds it invalid"+r.fields(), "correct the manifest")
}

// forbidden tells the rights of the lease from what else forbids something.
func (r *refusal) forbidden(say func(kind error, detail, remedy string) error) error {
	if quota := r.quota(); quota != "" {
		return say(broker.ErrQuota, quota, "free some of it, or have whoever runs the cluster raise the quota")
	}
	if level := r.security(); level != "" {
		return say(broker.ErrInvalid, level, "have the pods ask for less, or use a namespace of another level")
	}
	if r.unauthorized() {
		return say(broker.ErrForbidden, "the lease does not allow it"+r.missing(),
			"see whether the namespace was removed, or somebody took the lease's rights away")
	}
	return say(broker.ErrForbidden, "the cluster forbids it", "see which admission rule of the cluster does, such as a limit range")
}

func notKubernetes(deed string, code int) error {
	detail := "cannot " + deed + ": " + errNotKubernetes.Error()
	if code != 0 {
		detail += fmt.Sprintf(" (%d)", code)
	}
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: "check the endpoint, and what stands in front of it"}
}

// isGone reports whether the API server says that the object is not there. A 404 about
// anything else, or from anyone else, is not that.
func isGone(err error, r lifecycle.Resource) bool {
	said, ok := errors.AsType[*refusal](err)
	return ok && said.is(http.StatusNotFound) && said.status.Reason == metav1.StatusReasonNotFound &&
		said.status.Details != nil && said.status.Details.Kind == r.Plural && said.status.Details.Name == r.Name
}

func isConflict(err error) bool {
	said, ok := errors.AsType[*refusal](err)
	return ok && said.is(http.StatusConflict)
}

func (r *refusal) caused(by metav1.CauseType) bool {
	return r.status.Details != nil && slices.ContainsFunc(r.status.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == by })
}

var (
	webhookName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:failed calling webhook|admission webhook) "([A-Za-z0-9.-]{1,253})"`)
	})
	// The rights that a Role lacks: the API server lists them after these words, as
	// {APIGroups:["x"], ...}.
	lacks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`is attempting to grant RBAC permissions not currently held:\n((?:\{[A-Za-z0-9:,."*/\[\] -]{1,190}\}\n?){1,5})`)
	})
	undeclared = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`: (\.[^:]{1,200}): (field not declared in schema|expected [a-z]{1,20})`)
	})
	indexed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]*\]`) })
	strict  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:unknown|duplicate) field "([A-Za-z0-9_.\[\]-]{1,200})"`)
	})
	fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.\[\]/-]{1,200}$`) })
)

// webhook is the name of the admission webhook that the API server speaks of.
func (r *refusal) webhook() string {
	if r.status == nil {
		return ""
	}
	if m := webhookName().FindStringSubmatch(r.status.Message); m != nil {
		return m[1]
	}
	return ""
}

// untyped reports whether an object that was to be applied does not have the form of its kind: the API
// server answers so with 500.
func (r *refusal) untyped() bool {
	return r.status != nil && (strings.HasPrefix(r.status.Message, "failed to create typed patch object") ||
		strings.HasPrefix(r.status.Message, "failed to convert new object"))
}

// missing lists the rights that the maker of a role would have to hold.
func (r *refusal) missing() string {
	if m := lacks().FindStringSubmatch(r.status.Message); m != nil {
		return ": whoever makes or binds a role has to hold " + strings.Join(strings.Fields(m[1]), " ")
	}
	return ""
}

// maxFields bounds how many fields an error names.
const maxFields = 5

// fields names the fields that the API server faults, without any value.
func (r *refusal) fields() string {
	var names []string
	add := func(name, why string) {
		if len(names) < maxFields && fieldName().MatchString(name) {
			names = append(names, strings.TrimPrefix(name, ".")+why)
		}
	}
	if r.status.Details != nil {
		for _, c := range r.status.Details.Causes {
			why := ""
			if fieldName().MatchString(string(c.Type)) {
				why = " (" + string(c.Type) + ")"
			}
			add(c.Field, why)
		}
	}
	for _, m := range undeclared().FindAllStringSubmatch(r.status.Message, maxFields) {
		// Lists are indexed by values of their items.
		add(indexed().ReplaceAllString(m[1], "[]"), " ("+m[2]+")")
	}
	for _, m := range strict().FindAllStringSubmatch(r.status.Message, maxFields) {
		add(m[1], " (unknown)")
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Compact(names), ", ")
}

// foreign is the error of an object that has the name of one of the instance's.
func foreign(r lifecycle.Resource) error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: title(r) + " exists on the cluster and is not the instance's",
		Remedy: "see whose it is, or give the object of the package another name",
	}
}
