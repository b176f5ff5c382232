package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// fault translates client-go's answer into one of broker's sentinels, in the broker's
// words: none of them holds the remote side's text, cause included. verb and what name
// the request ("create", "serviceaccounts in namespace default").
func fault(err error, verb, what string) error {
	var own *broker.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	}
	if s, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return answered(s, verb, what)
	}
	return unanswered(err)
}

// answered translates an HTTP answer that is no success.
func answered(s *apierrors.StatusError, verb, what string) error {
	code := int(s.ErrStatus.Code)
	switch {
	case code == http.StatusUnauthorized:
		return &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: "the API server refuses the credential (401)",
			Remedy: "replace the VIM's credential with one that the cluster knows",
		}
	case code == http.StatusTooManyRequests:
		return unreachable("the API server limits requests (429)", "try again later")
	case code >= http.StatusInternalServerError:
		return unreachable(fmt.Sprintf("the API server cannot answer now (%d)", code), "try again later")
	case !parsed(s):
		return notKubernetes(code)
	case code == http.StatusForbidden && apierrors.HasStatusCause(s, corev1.NamespaceTerminatingCause):
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: fmt.Sprintf("the cluster does not let us %s %s while that namespace is being deleted (403)", verb,
				what),
			Remedy: "wait until the namespace is gone",
		}
	case code == http.StatusForbidden:
		return &broker.Error{
			Kind: broker.ErrForbidden, Detail: fmt.Sprintf("the credential may not %s %s (403)", verb, what),
			Remedy: "grant it that right on the cluster, or see whether a quota or admission rule there forbids it",
		}
	case code == http.StatusConflict:
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: fmt.Sprintf("the cluster's state does not let us %s %s (409)", verb, what),
			Remedy: "try again",
		}
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		return &broker.Error{
			Kind: broker.ErrInvalid, Detail: fmt.Sprintf("the API server finds the request to %s %s invalid (%d)", verb, what, code),
		}
	}
	return notKubernetes(code)
}

// unanswered translates a call that ended without an HTTP answer, or with one that
// could not be read.
func unanswered(err error) error {
	if e := broker.Unanswered(err, "the API server"); e != nil {
		return e
	}
	return notKubernetes(0)
}

func unreachable(detail, remedy string) error {
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: remedy}
}

// notKubernetes is the error of an answer that no API server gives; code 0 is not shown.
func notKubernetes(code int) error {
	detail := "the endpoint does not answer as a Kubernetes API server does"
	if code != 0 {
		detail += fmt.Sprintf(" (%d)", code)
	}
	return unreachable(detail, "check the endpoint, and what stands in front of it")
}

// parsed reports whether the error came as the API server's own Status object,
// and was not made up from an HTTP code.
func parsed(s *apierrors.StatusError) bool {
	if s.ErrStatus.Details == nil {
		return true
	}
	for _, cause := range s.ErrStatus.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return false
		}
	}
	return true
}

// said reports whether err is the API server's own word with that HTTP code.
func said(err error, code int) bool {
	s, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && int(s.ErrStatus.Code) == code && parsed(s)
}

// notFound reports whether the API server itself says that the object is not
// there. A 404 about anything else, or from anyone else, is not that.
func notFound(err error, resource, name string) bool {
	s, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && said(err, http.StatusNotFound) && s.ErrStatus.Reason == metav1.StatusReasonNotFound &&
		s.ErrStatus.Details != nil && s.ErrStatus.Details.Kind == resource && s.ErrStatus.Details.Name == name
}

// alreadyExists reports whether the API server refuses to create an object because one of
// that name is there.
func alreadyExists(err error) bool {
	return said(err, http.StatusConflict) && apierrors.ReasonForError(err) == metav1.StatusReasonAlreadyExists
}

// isForbidden reports whether a translated error says that the credential lacks a right.
func isForbidden(err error) bool { return errors.Is(err, broker.ErrForbidden) }

// unlessForbidden drops a translated error that says so.
func unlessForbidden(err error) error {
	if isForbidden(err) {
		return nil
	}
	return err
}

// printable keeps the first 64 printable ASCII characters of a remote text.
func printable(s string) string { return plain(s, 64) }

// plain keeps the first printable ASCII characters of a remote text, at most so many.
func plain(s string, most int) string {
	kept := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return kept[:min(len(kept), most)]
}
