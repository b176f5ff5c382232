package vnfm_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/vnfm"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/story"
)

// A VNFM behind TLS is asked where its authority is known, without a credential.
func TestAVNFMIsAskedWhereItsAuthorityIsKnown(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Version") == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, `{"operationState":"COMPLETED"}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	rules, err := egress.Parse(true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	known := story.WriteFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o600)
	url := server.URL + "/vnflcm/v2/vnf_lcm_op_occs/o"
	if state, err := (vnfm.Driver{CAFile: known}).OperationState(t.Context(), url, rules); err != nil || state != "COMPLETED" {
		t.Errorf("with its authority: %q, %v", state, err)
	}
	if state, err := (vnfm.Driver{}).OperationState(t.Context(), url, rules); err == nil || state != "" {
		t.Errorf("with the system's authorities: %q, %v", state, err)
	}
	if state, err := (vnfm.Driver{CAFile: known}).OperationState(t.Context(), url, nil); err == nil || state != "" {
		t.Errorf("where the rules let nothing be asked: %q, %v", state, err)
	}
}
