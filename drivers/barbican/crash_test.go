//go:build unix && failpoints

package barbican_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
	"github.com/vimbroker/vimbroker/test/process"
)

// reach is what the child needs to reach the fake.
type reach struct {
	AuthURL, Endpoint, CAFile string
	Auth                      keystone.Auth
}

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks
// what the next one finds.
func TestKilledOnTheWay(t *testing.T) {
	var given reach
	if process.Errand(t, &given) {
		mustPut(t, mustOpen(t, barbican.Options{AuthURL: given.AuthURL, Endpoint: given.Endpoint, CAFile: given.CAFile, Auth: given.Auth}))
		t.Fatal("the process lives on")
	}
	for point, readable := range map[string]bool{
		"barbican.put.made":   false,
		"barbican.put.closed": false,
		"barbican.put.filled": true,
	} {
		t.Run(point, func(t *testing.T) {
			f := fakebarbican.New(t, nil)
			o := optionsFor(t, f)
			process.KillAt(t, point, reach{o.AuthURL, o.Endpoint, o.CAFile, o.Auth})
			// What is left over can be seen and deleted, and nobody else could ever read a key in it.
			s := mustOpen(t, o)
			held, err := s.List(t.Context(), "")
			if err != nil || len(held) != 1 {
				t.Fatalf("List = %v, %v, want the one secret", held, err)
			}
			for _, left := range f.Secrets() {
				if left.Exposed || len(left.Payload) > 0 && !left.Closed {
					t.Error("the project's other users can read the key")
				}
			}
			if _, err := s.Get(t.Context(), held[0].Ref); readable != (err == nil) {
				t.Errorf("Get = %v", err)
			}
			if worth, err := s.Delete(t.Context(), held[0].Ref); worth != secret.Recoverable || err != nil {
				t.Errorf("Delete = %q, %v", worth, err)
			}
			if left := f.Secrets(); len(left) != 0 {
				t.Errorf("Barbican still holds %v", left)
			}
		})
	}
}
