package heat

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// What a server tells of resources that nobody asked for takes no memory, nor does a status that is none.
func TestWhatIsToldIsBounded(t *testing.T) {
	seen := 0
	r := &run{told: map[string]status{}, progress: func(lifecycle.Observation) { seen++ }}
	r.wave.Objects = []lifecycle.Object{{Resource: lifecycle.Resource{Plural: pieces, Name: "group"}}}
	for n := range 100 {
		r.tell(fmt.Sprint("more-", n), "CREATE_COMPLETE", "")
		r.tell("group", status(strings.Repeat("x", n+100)), "")
	}
	if len(r.told) != 1 || len(r.told["group"]) > 64 || seen != 1 {
		t.Errorf("%d names are kept, %d bytes of a status, and %d were told", len(r.told), len(r.told["group"]), seen)
	}
}

// Heat is not asked about the ports of a stack that has too many, or none; nor is what it says of one kept without end.
func TestPortsAreBounded(t *testing.T) {
	var nobody *server // to ask
	for _, n := range []int{0, maxPorts + 1} {
		if points, err := nobody.connected(t.Context(), &stack{}, slices.Repeat([]part{{Type: portType}}, n)); points != nil || err != nil {
			t.Errorf("of a stack with %d ports there are %d connection points, %v", n, len(points), err)
		}
	}
	var p port
	p.Attributes.IPs = slices.Repeat([]address{{Subnet: "s", Address: "192.0.2.1"}}, 100)
	if n := len(p.point().Addresses["s"]); n != maxAddresses {
		t.Errorf("%d addresses are kept of %d", n, len(p.Attributes.IPs))
	}
}

// A call for whose answer the broker has no room says nothing of the cloud.
func TestNoRoomIsTheBrokersFault(t *testing.T) {
	err := refusal(&url.Error{Op: "Get", URL: "https://vim.example", Err: &remote.CallError{Detail: "no room", Busy: true}}, "read the stack", orchestrator)
	if !errors.Is(err, broker.ErrUnavailable) || errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("without room for the answer: %v, want %v", err, broker.ErrUnavailable)
	}
}
