// Package vnfm asks the VNFMs of others how their operations stand (ETSI GS NFV-SOL 003 clause
// 5.4.13). It sends no credential.
package vnfm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Driver asks VNFMs. It is safe for concurrent use.
type Driver struct {
	// CAFile holds the authorities (PEM) of VNFMs' certificates, read at each question; empty means the
	// system's.
	CAFile string
}

var _ grant.VNFM = Driver{}

// OperationState implements [grant.VNFM]. It follows no redirect, connects only where the rules let
// it, and repeats nothing of an answer but one word.
func (d Driver) OperationState(ctx context.Context, url string, rules *egress.Rules) (string, error) {
	way, err := remote.New(rules, remote.Options{Server: "the VNFM", CA: remote.Authorities{File: d.CAFile}})
	if err != nil {
		return "", err
	}
	defer way.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("the URL of the operation cannot be used")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Version", sol003.Version)
	answer, err := way.Client().Do(request)
	if err != nil {
		return "", remote.Unanswered(err, "the VNFM")
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the VNFM answers %d", answer.StatusCode)
	}
	var operation struct {
		State string `json:"operationState"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&operation); err != nil {
		return "", fmt.Errorf("the VNFM does not answer as one does")
	}
	return operation.State, nil
}
