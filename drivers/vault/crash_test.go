//go:build unix && failpoints

package vault_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/process"
)

// reach is what the child needs to reach the fake.
type reach struct {
	Address, CA string
	Auth        vault.Auth
}

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks
// what the next one finds.
func TestKilledOnTheWay(t *testing.T) {
	var given reach
	if process.Errand(t, &given) {
		s := mustOpen(t, vault.Options{Address: given.Address, CACert: given.CA, Auth: given.Auth})
		ref, _ := mustPut(t, s)
		if _, err := s.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		t.Fatal("the process lives on")
	}
	for point, readable := range map[string]bool{
		"vault.put.written":      true,
		"vault.delete.destroyed": false,
		"vault.delete.metadata":  false,
	} {
		t.Run(point, func(t *testing.T) {
			f := fakevault.New(t, nil)
			o := optionsFor(t, f)
			process.KillAt(t, point, reach{Address: o.Address, CA: o.CACert, Auth: o.Auth})
			// What List shows can be deleted; what it does not show is not there.
			s := mustOpen(t, o)
			held, err := s.List(t.Context(), "")
			if err != nil || len(held) != len(f.Names()) {
				t.Fatalf("List = %v, %v, and Vault holds %v", held, err, f.Names())
			}
			if wanted := point != "vault.delete.metadata"; wanted != (len(held) == 1) {
				t.Fatalf("List = %v", held)
			}
			for _, h := range held {
				if _, err := s.Get(t.Context(), h.Ref); readable != (err == nil) {
					t.Errorf("Get = %v", err)
				}
				if worth, err := s.Delete(t.Context(), h.Ref); worth != secret.Shredded || err != nil {
					t.Errorf("Delete = %q, %v", worth, err)
				}
			}
			if names := f.Names(); len(names) != 0 {
				t.Errorf("Vault still holds %v", names)
			}
		})
	}
}
