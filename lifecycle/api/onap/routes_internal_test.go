package onap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/test/golden"
)

// Each operation has its door, its status, the time in which it is answered and the length of what it takes.
func TestOperations(t *testing.T) {
	var said []string
	for _, d := range Doors(Options{Bundles: &bundle.Bundles{Options: bundle.Options{Wait: 7 * time.Second}}}) {
		for _, r := range d.Routes {
			one := fmt.Sprintf("%s: %d %s %s, %d bytes in %s", d.Paths[0], r.Status, r.Method, r.Path, r.Body.Limit, r.Timeout)
			if r.Quiet {
				one += ", quiet"
			}
			if !r.Body.Optional {
				one += ", with a body"
			}
			said = append(said, one)
		}
	}
	slices.Sort(said)
	golden.Compare(t, "testdata/operations.txt", strings.Join(said, "\n")+"\n")
}
