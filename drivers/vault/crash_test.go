//go:build unix && failpoints

package vault_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fakevault"
)

// reach is what the child needs to reach the fake.
type reach struct {
	Address, CA string
	Auth        vault.Auth
}

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks
// what the next one finds.
func TestKilledOnTheWay(t *testing.T) {
	if file := os.Getenv("VAULT_TEST_CRASH"); file != "" {
		var given reach
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &given); err != nil {
			t.Fatal(err)
		}
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
			text, err := json.Marshal(reach{Address: o.Address, CA: o.CACert, Auth: o.Auth})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "options")
			writeFile(t, file, string(text))
			child := exec.Command(os.Args[0], "-test.run=^TestKilledOnTheWay$")
			child.Env = append(os.Environ(), "VAULT_TEST_CRASH="+file, "VIMBROKER_FAILPOINT="+point)
			out, err := child.CombinedOutput()
			if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("the child was not killed: %v\n%s", err, out)
			}
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
