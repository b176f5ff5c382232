package manifests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// An error names five of the objects that are waited for, and says whether there are others.
func TestWhatIsWaitedForIsNamed(t *testing.T) {
	var open []*waiting
	for n := range 6 {
		if n > 0 {
			err := (&run{}).unready(t.Context(), open, nil)
			if strings.Contains(err.Error(), "others") || strings.Count(err.Error(), "is slow") != n {
				t.Errorf("of %d objects: %v", n, err)
			}
		}
		o := lifecycle.Object{Resource: lifecycle.Resource{Kind: "Job", Name: fmt.Sprint("a", n)}}
		open = append(open, &waiting{Object: o, is: lifecycle.Observation{Message: "is slow"}})
	}
	err := (&run{}).unready(t.Context(), open, nil)
	if !strings.HasSuffix(err.Error(), "; and others") || strings.Count(err.Error(), "is slow") != 5 {
		t.Errorf("of six objects: %v", err)
	}
}
