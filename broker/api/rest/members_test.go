package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A parameter at its last good value is taken; beyond it, it is named and refused.
func TestParametersHaveLimits(t *testing.T) {
	b := newBench(t)
	b.mustRegister("edge")
	for path, want := range map[string]string{ // field; "" is 200
		"/v1/vims?pageSize=1": "", "/v1/vims?pageSize=200": "", "/v1/vims?pageSize=0": "pageSize", "/v1/vims?pageSize=100000": "pageSize",
		"/v1/vims?pageSize=x": "pageSize", "/v1/vims?pageSize=-1": "pageSize", "/v1/vims?label=a%3Db": "", "/v1/vims?label=a": "label", "/v1/keys?label=a": "label",
		"/v1/vims?status=draining": "", "/v1/vims?status=reachable": "",
		"/v1/audit?pageToken=1": "", "/v1/audit?pageToken=0": "pageToken", "/v1/audit?pageToken=x": "pageToken", "/v1/audit?pageToken=-1": "pageToken",
		"/v1/audit?since=2026-01-31T12:00:00Z": "", "/v1/audit?since=yesterday": "since", "/v1/audit?until=1": "until",
		"/v1/audit/tree?size=-1": "size", "/v1/audit/tree?size=x": "size", "/v1/audit/tree?size=0": "",
		"/v1/audit/growth?size=x": "size", "/v1/audit/growth?size=0&later=-2": "later",
		"/v1/audit/lines?limit=1": "", "/v1/audit/lines?limit=10000": "", "/v1/audit/lines?limit=10001": "limit", "/v1/audit/lines?limit=0": "limit",
		"/v1/audit/lines?after=-1": "after", "/v1/audit/proofs/x": "seq",
	} {
		answer, body := b.raw("root", "GET", path, "")
		switch {
		case want == "" && answer.StatusCode != http.StatusOK:
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		case want != "" && (answer.StatusCode < 400 || answer.StatusCode > 499 || !strings.Contains(body, fmt.Sprintf("%q", want))):
			t.Errorf("%s: %d %s, want a fault of %s", path, answer.StatusCode, body, want)
		}
	}
	if _, body := b.raw("root", "GET", "/v1/audit/lines?limit=2", ""); strings.Count(body, "\n") != 2 {
		t.Errorf("two lines are %q", body)
	}
	if _, body := b.raw("alice", "GET", "/v1/vims?status=draining", ""); strings.Contains(body, "edge") {
		t.Errorf("a VIM that is not draining is shown as such: %s", body)
	}
	if _, body := b.raw("alice", "GET", "/v1/vims?status=reachable", ""); !strings.Contains(body, "edge") {
		t.Errorf("a VIM that is reachable is not shown: %s", body)
	}
	for header, want := range map[string]int{`"1"`: 412, `"99"`: 412, "*": 200, "1": 422, `"1`: 422, `"0"`: 422, `"-1"`: 422, `"x"`: 422, `W/"1"`: 422, `"1", "2"`: 422} {
		answer, body := b.raw("alice", "PATCH", "/v1/vims/edge", `{"labels":{"a":"b"}}`, "If-Match", header)
		if answer.StatusCode != want || want == 422 && !strings.Contains(body, "If-Match") {
			t.Errorf("If-Match %s: %d %s, want %d", header, answer.StatusCode, body, want)
		}
	}
	if answer, body := b.raw("alice", "POST", "/v1/vims/edge/rotate", `{"keyStore":"keydir","credential":{"token":"canary-of-a-token"}}`); answer.StatusCode != 422 || !strings.Contains(body, `"keyStore"`) {
		t.Errorf("a key store with a credential: %d %s", answer.StatusCode, body)
	}
}
