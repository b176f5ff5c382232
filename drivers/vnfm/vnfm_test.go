package vnfm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/vnfm"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const canary = "canary-7c1e" // in all that a VNFM answers

func TestOperationState(t *testing.T) {
	loopback, err := egress.Parse(true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	let := make(chan struct{})
	aim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(func() { close(let); aim.Close() })
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		rules  *egress.Rules
		want   string
		says   string
	}{
		"a state": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.Header.Get("Version") == "" || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" {
				t.Errorf("asked with %s %v", r.Method, r.Header)
			}
			_, _ = io.WriteString(w, `{"id":"`+canary+`","operationState":"COMPLETED"}`)
		}, loopback, "COMPLETED", ""},
		"a state that does not count": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNonAuthoritativeInfo)
			_, _ = io.WriteString(w, `{"operationState":"COMPLETED"}`)
		}, loopback, "", "answers 203"},
		"a state that was taken": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"operationState":"COMPLETED"}`)
		}, loopback, "", "answers 202"},
		"401": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, canary)
		}, loopback, "", "answers 401"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, aim.URL, http.StatusTemporaryRedirect)
		}, loopback, "", "answers 307"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, canary) }, loopback, "", "not answer as one does"},
		"another type": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"operationState":["`+canary+`"]}`)
		}, loopback, "", "not answer as one does"},
		"breaks":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, loopback, "", "broke"},
		"no way there":  {func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }, egress.Default(), "", "egress rules"},
		"does not stop": {endless, loopback, "", "longer than"},
		"hangs":         {func(http.ResponseWriter, *http.Request) { <-let }, loopback, "", "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			t.Cleanup(s.CloseClientConnections)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			if name == "hangs" {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
			}
			defer cancel()
			got, err := vnfm.Driver{}.OperationState(ctx, s.URL+"/vnf_lcm_op_occs/op", c.rules)
			if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("OperationState = %q, %v, want %q and an error that says %q", got, err, c.want, c.says)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("the error repeats what was answered: %v", err)
			}
		})
	}
}

// endless answers with a document that has no end.
func endless(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"x":"`)
	for chunk := strings.Repeat(canary, 4096); ; {
		if _, err := io.WriteString(w, chunk); err != nil {
			return
		}
	}
}
