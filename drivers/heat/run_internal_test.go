package heat

import (
	"fmt"
	"strings"
	"testing"

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
