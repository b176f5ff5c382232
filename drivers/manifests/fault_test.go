package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// Every expression compiles: a wrong one would end the process at its first use.
func TestExpressionsCompile(*testing.T) {
	webhookName()
	lacks()
	undeclared()
	indexed()
	strict()
	fieldName()
	reference()
	lineOf()
	kindName()
	versionName()
	pluralName()
	plainWord()
}

// The values of Secrets and ConfigMaps are not kept of what is read.
func TestValuesAreNotRead(t *testing.T) {
	for _, kind := range []string{"Secret", "ConfigMap"} {
		var o found
		text := `{"kind":"` + kind + `","metadata":{"name":"a"},"data":{"k":"canary"},"binaryData":{"b":"canary"}}`
		if err := json.Unmarshal([]byte(text), &o); err != nil || strings.Contains(fmt.Sprint(o), "canary") {
			t.Errorf("of a %s is kept %v, %v", kind, o, err)
		}
	}
}

// Only an answer that names the object says that it is not there: not one of a path that is not
// served, nor of a namespace.
func TestGone(t *testing.T) {
	r := lifecycle.Resource{Plural: "configmaps", Kind: "ConfigMap", Name: "a"}
	said := func(code int32, reason metav1.StatusReason, details *metav1.StatusDetails) error {
		return &refusal{code: int(code), status: &metav1.Status{Reason: reason, Details: details}}
	}
	for what, c := range map[string]struct {
		err  error
		gone bool
	}{
		"it":            {said(404, metav1.StatusReasonNotFound, &metav1.StatusDetails{Kind: "configmaps", Name: "a"}), true},
		"another name":  {said(404, metav1.StatusReasonNotFound, &metav1.StatusDetails{Kind: "configmaps", Name: "b"}), false},
		"a namespace":   {said(404, metav1.StatusReasonNotFound, &metav1.StatusDetails{Kind: "namespaces", Name: "a"}), false},
		"no object":     {said(404, metav1.StatusReasonNotFound, nil), false},
		"no reason":     {said(404, "", &metav1.StatusDetails{Kind: "configmaps", Name: "a"}), false},
		"forbidden":     {said(403, metav1.StatusReasonForbidden, &metav1.StatusDetails{Kind: "configmaps", Name: "a"}), false},
		"another error": {broker.ErrUnreachable, false},
	} {
		if isGone(c.err, r) != c.gone {
			t.Errorf("an answer about %s says gone: %t", what, !c.gone)
		}
	}
}

// A call for whose answer the broker has no room says nothing of the cluster.
func TestNoRoomIsTheBrokersFault(t *testing.T) {
	err := fault(&url.Error{Op: "Get", URL: "https://vim.example", Err: &remote.CallError{Detail: "no room", Busy: true}}, "read it")
	if !errors.Is(err, broker.ErrUnavailable) || errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("without room for the answer: %v, want %v", err, broker.ErrUnavailable)
	}
}
