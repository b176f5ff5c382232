package cloud_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// instance is the id of one.
var instance = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// TestDocsOfHeat types what docs/heat.md says to try, word for word, and compares what it comes to.
func TestDocsOfHeat(t *testing.T) {
	t.Parallel()
	o := real.OpenStack(t)
	who, home := o.Project(t), t.TempDir()
	bin := story.Build(t, t.TempDir())
	data := filepath.Join(home, "data")
	if err := os.CopyFS(filepath.Join(home, "docs"), os.DirFS("../../../docs")); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "TMPDIR=" + t.TempDir()}
	server, err := story.Serve(bin, home, env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	shell := story.Shell{Dir: home, Env: append(env,
		"PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "VIMBROKER_ADDR="+server.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(data, "dev-token"),
		"OS_AUTH_URL="+o.AuthURL, "OS_USERNAME="+who.Username, "OS_PASSWORD="+who.Password, "OS_PROJECT_NAME="+who.Project,
	)}
	page, err := os.ReadFile("../../../docs/heat.md")
	if err != nil {
		t.Fatal(err)
	}
	sections, err := story.Runbook("../../../docs/heat.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, section := range sections {
		for _, step := range section.Steps {
			tried++
			if strings.HasPrefix(step.Command, "export ") {
				shell.Before += step.Command + "\n"
				continue
			}
			got := shell.Try(t, step.Command)
			if (got.Code != 0) != step.Fails {
				t.Fatalf("%s: exit code %d\n%s%s", step.Command, got.Code, got.Stdout, got.Stderr)
			}
			for prefix, want := range map[string][]string{
				"vimbroker vnf instantiate edge --vim nfv1 --nfv \"$NFV\" --dry-run": {"Makes:", "resourcegroup/RTR_group", "unbounded in the project, for heat"},
				"vimbroker vnf watch": {"RTR_group is ready", "COMPLETED"},
				"vimbroker vnf show":  {"VNFC:", "RTR-"},
				"vimbroker exec nfv1": {"UPDATE_COMPLETE"},
				"vimbroker vnf heal":  {"COMPLETED"},
			} {
				for _, text := range want {
					if strings.HasPrefix(step.Command, prefix) && !strings.Contains(got.Stdout+got.Stderr, text) {
						t.Errorf("%s says nothing of %q:\n%s%s", step.Command, text, got.Stdout, got.Stderr)
					}
				}
			}
			if strings.Contains(got.Stdout+got.Stderr, "of-the-caller") {
				t.Errorf("%s shows what the template hides:\n%s%s", step.Command, got.Stdout, got.Stderr)
			}
			switch {
			case strings.HasPrefix(step.Command, "vimbroker vnf show") && strings.Count(got.Stdout, "VNFC:") != 3:
				t.Errorf("scaled out by two there are not three VNFCs:\n%s", got.Stdout)
			case strings.HasPrefix(step.Command, "vimbroker vnf watch"):
				// Of what the page shows of a watch the end is always seen; before that, what there is time for.
				shown := regexp.MustCompile(`(?m)^ {4} +[0-9.]+m?s  (\S+ is ready|COMPLETED)$`).FindAllStringSubmatch(string(page), -1)
				if len(shown) < 4 {
					t.Errorf("the page shows %q of a watch", shown)
				}
				for _, line := range shown {
					if words := instance.ReplaceAllString(line[1], ""); !strings.Contains(instance.ReplaceAllString(got.Stdout+got.Stderr, ""), words) {
						t.Errorf("the page shows %q of a watch, which prints\n%s%s", words, got.Stdout, got.Stderr)
					}
				}
			}
		}
	}
	if tried < 14 {
		t.Errorf("%d lines were tried: the page says no more what to try", tried)
	}
}
