// Package generated proves that a client that others generate from the OpenAPI document
// compiles, and talks to the server. The program is in testdata/client; the generator runs
// from the module cache, and nothing that it writes is kept.
package generated

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

func TestGeneratedClient(t *testing.T) {
	kube, home := fakekube.New(t, fakekube.Options{}), t.TempDir()
	data := filepath.Join(home, "data")
	b, err := story.Serve(story.BuildWithFailpoints(t, t.TempDir()), home, []string{"HOME=" + home}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)

	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/client")); err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(b.URL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "openapi.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(data, "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		c := exec.Command("go", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "ADDR="+b.URL, "TOKEN="+strings.TrimSpace(string(token)),
			"ENDPOINT="+kube.Endpoint, "CA="+kube.CA, "CLUSTER_TOKEN="+kube.AdminToken)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("run", generator, "-config", "oapi-codegen.yaml", "openapi.json")
	run("run", ".")
	if left := kube.Names("secrets", "vimbroker"); len(left) > 0 {
		t.Errorf("the cluster still holds %q", left)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
}
