package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/fakekube"
)

// pluginTurns and pluginCalls are how often each program is started.
const pluginTurns, pluginCalls = 5, 20

// plugin measures how long the exec plugin takes from its start to its answer with a cached
// credential: while the server is there, which is asked whether the lease is alive, and while it
// is not. What a start of the program takes alone is "vimbroker version".
func plugin(b *testing.B, p *program) *figure {
	b.Helper()
	bin, home := p.binary(b), b.TempDir()
	data := filepath.Join(home, "data")
	server, err := serveIn(bin, home, data)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Kill()
	kube := fakekube.New(b, fakekube.Options{})
	config := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(config, []byte(kube.Kubeconfig()), 0o600); err != nil {
		b.Fatal(err)
	}
	run := func(args ...string) func(int) error {
		return func(int) error {
			c := exec.Command(bin, args...)
			c.Env = []string{
				"HOME=" + home, "TMPDIR=" + home, "VIMBROKER_ADDR=" + server.URL, "VIMBROKER_TOKEN_FILE=" + filepath.Join(data, "dev-token"),
				"KUBERNETES_EXEC_INFO=" + kube.ExecInfo(),
			}
			out, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w: %s", args[0], err, out)
			}
			return err
		}
	}
	if err := run("vim", "register", "--kubeconfig", config, "edge")(0); err != nil {
		b.Fatal(err)
	}
	version, credential := run("version"), run("credential", "--vim", "edge", "--role", "view")
	f := &figure{Title: "The exec plugin with a cached credential, from start to answer"}
	for _, down := range []bool{false, true} {
		what := "the server is there"
		if down {
			what = "the server is down"
			server.Kill()
		}
		out, err := turns(pluginTurns, 1, pluginCalls, contender{"version", version}, contender{"credential", credential})
		if err != nil {
			b.Fatal(err)
		}
		base := timed("vimbroker version, "+what, out[0].sample)
		f.Rows = append(f.Rows, base, timed("vimbroker credential, "+what, out[1].sample).over(base))
	}
	return f
}
