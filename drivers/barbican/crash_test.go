//go:build unix && failpoints

package barbican_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
)

// reach is what the child needs to reach the fake.
type reach struct {
	AuthURL, Endpoint, CAFile string
	Auth                      barbican.Auth
}

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks
// what the next one finds.
func TestKilledOnTheWay(t *testing.T) {
	if file := os.Getenv("BARBICAN_TEST_CRASH"); file != "" {
		var given reach
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &given); err != nil {
			t.Fatal(err)
		}
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
			text, err := json.Marshal(reach{o.AuthURL, o.Endpoint, o.CAFile, o.Auth})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "options")
			writeFile(t, file, string(text))
			child := exec.Command(os.Args[0], "-test.run=^TestKilledOnTheWay$")
			child.Env = append(os.Environ(), "BARBICAN_TEST_CRASH="+file, "VIMBROKER_FAILPOINT="+point)
			out, err := child.CombinedOutput()
			if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.Fatalf("the child was not killed: %v\n%s", err, out)
			}
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
