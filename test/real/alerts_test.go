package real_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// promtool finds Prometheus' tool in bin/prometheus or in the path.
func promtool() (string, error) {
	root, err := process.Repository()
	if err != nil {
		return "", err
	}
	name := filepath.Join(root, "bin", "prometheus", "promtool")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	name, err = exec.LookPath("promtool")
	if err != nil {
		return "", errors.New("promtool is neither in bin/prometheus nor in the path; get it with test/real/prometheus/unpack.sh bin/prometheus")
	}
	return name, nil
}

// TestAlertsFire has Prometheus evaluate every rule of deploy/alerts.yaml over series in which it
// fires, and before that stays silent. A rule that is broken fails its test.
func TestAlertsFire(t *testing.T) {
	tool, err := promtool()
	switch demand := os.Getenv(real.Demand); {
	case demand == "0" || err != nil && demand == "":
		t.Skip("no promtool")
	case err != nil:
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = "../../deploy"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
