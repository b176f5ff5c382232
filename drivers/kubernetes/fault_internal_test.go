package kubernetes

import (
	"errors"
	"net/url"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

// A call for whose answer the broker has no room says nothing of the cluster.
func TestNoRoomIsTheBrokersFault(t *testing.T) {
	err := fault(&url.Error{Op: "Get", URL: "https://vim.example", Err: &remote.CallError{Detail: "no room", Busy: true}}, "get", "pods")
	if !errors.Is(err, broker.ErrUnavailable) || errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("without room for the answer: %v, want %v", err, broker.ErrUnavailable)
	}
}
