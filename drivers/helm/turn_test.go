package helm_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/render"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// hangs has this program be one that renders, and that says so at a pipe and then hangs where the
// namespace is noisy.
const (
	hangs = "render-a-chart-or-hang"
	noisy = "noisy"
)

func renderOrHang(pipe string) {
	said, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	if !bytes.Contains(said, []byte(`"`+noisy+`"`)) {
		os.Exit(render.Main(bytes.NewReader(said), os.Stdout))
	}
	if os.WriteFile(pipe, []byte("hangs"), 0) != nil {
		os.Exit(1)
	}
	select {}
}

// Charts of one project that take their time leave a place to another project's, however many there are.
func TestChartsOfOneProjectDelayNoOthers(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	s := fakeobjects.New(t)
	d := helm.New(helm.Options{Program: []string{os.Args[0], hangs, pipe}})
	chart := chartOf(map[string]string{"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\n"})

	ctx, cancel := context.WithCancel(t.Context())
	var loud sync.WaitGroup
	defer loud.Wait()
	defer cancel()
	for range 8 {
		loud.Go(func() {
			in := inputOf(chart)
			in.Project, in.Namespace = "loud", noisy
			if _, err := d.Plan(ctx, s.Connection(d.Survey(in)), in); err == nil {
				t.Error("a chart that hangs is planned")
			}
		})
	}
	if said, err := os.ReadFile(pipe); err != nil || len(said) == 0 {
		t.Fatalf("no chart of the loud project is being rendered: %q, %v", said, err)
	}
	for range 3 {
		in := inputOf(chart)
		in.Project = "quiet"
		patient, done := context.WithTimeout(t.Context(), time.Minute)
		_, err := d.Plan(patient, s.Connection(d.Survey(in)), in)
		done()
		if err != nil {
			t.Fatalf("a chart of another project = %v, want it rendered meanwhile", err)
		}
	}
}
