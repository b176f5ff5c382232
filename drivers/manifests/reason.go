package manifests

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// maxReason bounds in bytes a reason that Kubernetes wrote.
const maxReason = 300

var invalidValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Invalid value: (?:"(?:[^"\\]|\\.)*"|[^ ,;:]+)`)
})

// reasonText is a text of one of Kubernetes' own controllers on one short line. The values that a validation quotes are
// left out: a manifest gave them.
func reasonText(s string) string {
	s = invalidValue().ReplaceAllString(s, "Invalid value")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }), " ")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}

var (
	quotaVerdict = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`exceeded quota: [a-z0-9.-]{1,253}` +
			`(?:, (?:requested|used|limited): [A-Za-z0-9.=/:_-]+(?:,[A-Za-z0-9.=/:_-]+)*)*`)
	})
	quotaDemand = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`failed quota: [a-z0-9.-]{1,253}: must specify [A-Za-z0-9.,:; /_-]{1,300}`)
	})
	securityVerdict = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`violates PodSecurity "([a-z]+:[a-z0-9.]+)": (.*)`)
	})
	notAuthorized = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`User "[^"]*" cannot [a-z]+ (?:resource|path)`)
	})
)

// quota matches the API server's text on a quota that does not allow an object: its name and the
// amounts.
func (r *refusal) quota() string {
	for _, form := range []*regexp.Regexp{quotaVerdict(), quotaDemand()} {
		if found := form.FindString(r.message()); found != "" {
			return reasonText(found)
		}
	}
	return ""
}

// security matches the API server's text on the level of Pod Security that does not allow a pod.
func (r *refusal) security() string {
	if m := securityVerdict().FindStringSubmatch(r.message()); m != nil {
		return reasonText("Pod Security " + m[1] + " of the namespace does not allow it: " + m[2])
	}
	return ""
}

// unauthorized reports whether the lease itself lacks the right.
func (r *refusal) unauthorized() bool {
	return notAuthorized().MatchString(r.message()) || lacks().MatchString(r.message())
}

func (r *refusal) message() string {
	if r.status == nil {
		return ""
	}
	return r.status.Message
}

// tellsByEvents reports whether the controller of a kind tells in events alone why it cannot make its pods. Others have a
// condition for it.
func tellsByEvents(r lifecycle.Resource) bool {
	switch r.Group + "/" + r.Kind {
	case apps + "/" + statefulSet, apps + "/DaemonSet", batch + "/Job":
		return true
	}
	return false
}

// newestEvent is the newest event about an object, of a reason where one is given; empty without one.
func (s *server) newestEvent(ctx context.Context, r lifecycle.Resource, uid, of string) (reason, says string, err error) {
	about := "involvedObject.uid=" + uid
	if of != "" {
		about += ",reason=" + of
	}
	var page struct {
		Items []struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
			Last    string `json:"lastTimestamp"`
		} `json:"items"`
	}
	err = s.call(ctx, request{
		method: http.MethodGet, path: pathOf(lifecycle.Resource{Version: "v1", Plural: "events", Namespace: r.Namespace}),
		query: url.Values{"fieldSelector": {about}, "limit": {strconv.Itoa(onePage)}},
	}, &page)
	if err != nil {
		return "", "", fault(err, "list events in namespace "+r.Namespace)
	}
	last := ""
	for _, e := range page.Items {
		if (of == "" || e.Reason == of) && e.Last >= last { // times in RFC 3339, UTC
			last, reason, says = e.Last, word(e.Reason), reasonText(e.Message)
		}
	}
	return reason, says, nil
}

// getWaited is get of what a wave has applied: of a claim without a volume an event says what it waits for.
func (r *run) getWaited(ctx context.Context, of lifecycle.Resource) (*found, error) {
	o, err := r.get(ctx, of)
	if err == nil && o == nil && r.wave.Deed == lifecycle.Apply && of.Passes && of.UID != "" {
		return r.passed(ctx, of)
	}
	if err == nil && o != nil && r.wave.Deed == lifecycle.Apply && isClaim(of) && text(mapAt(o.whole, "status"), "phase") == "Pending" {
		o.event, o.says, err = r.newestEvent(ctx, of, o.Metadata.UID, "")
	}
	return o, err
}

// passed is a Job that the cluster has removed after its work, as far as an event tells how that ended; nil if none does.
func (r *run) passed(ctx context.Context, of lifecycle.Resource) (*found, error) {
	end := map[string]any{"type": "Complete", "status": "True"}
	reason, _, err := r.newestEvent(ctx, of, of.UID, "Completed")
	if err == nil && reason == "" {
		var says string
		reason, says, err = r.newestEvent(ctx, of, of.UID, "")
		if !slices.Contains([]string{"BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "FailedIndexes"}, reason) {
			return nil, err
		}
		end = map[string]any{"type": "Failed", "status": "True", "reason": reason, "message": says}
	}
	if err != nil {
		return nil, err
	}
	o := &found{Kind: of.Kind, passed: true, whole: map[string]any{
		"apiVersion": batch + "/" + of.Version, "kind": of.Kind, "metadata": map[string]any{"name": of.Name},
		"status": map[string]any{"conditions": []any{end}},
	}}
	o.Metadata.Name, o.Metadata.UID = of.Name, of.UID
	return o, nil
}

// ends names the event that ends the wait for a finalizer, if it is one of Kubernetes' own.
func (o *found) ends(finalizer string) string {
	switch finalizer {
	case "kubernetes.io/pv-protection":
		ref := mapAt(o.whole, "spec", "claimRef")
		if namespace, name := word(text(ref, "namespace")), word(text(ref, "name")); name != "" {
			return "claim " + namespace + "/" + name + " uses it; delete that claim"
		}
		return "a claim uses it; delete that claim"
	case "kubernetes.io/pvc-protection":
		return "a pod uses it; it goes with the last such pod"
	case "foregroundDeletion":
		return "what it owns goes before it"
	case "orphan", "kubernetes":
		return ""
	case "service.kubernetes.io/load-balancer-cleanup":
		return "the cluster's load balancer is being removed"
	}
	return "its controller takes that away; see whether that one runs"
}
