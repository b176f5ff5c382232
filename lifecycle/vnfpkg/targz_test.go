package vnfpkg_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// An archive whose file stands twice is refused, whichever of the two a reader would take: also where the paths differ
// and the file is the same.
func TestAnArchiveHasAFileOnce(t *testing.T) {
	for _, c := range []struct{ first, second, says string }{
		{"chart/Chart.yaml", "chart/Chart.yaml", "chart/Chart.yaml in the package stands twice in the archive"},
		{"chart/Chart.yaml", "./chart//Chart.yaml", "chart/Chart.yaml in the package stands twice in the archive"},
		{"chart/Chart.yaml", "../Chart.yaml", "../Chart.yaml in the package has a path that leads out of the archive"},
		{"chart/Chart.yaml", "chart/values.yaml", ""},
	} {
		var text bytes.Buffer
		zip := gzip.NewWriter(&text)
		w := tar.NewWriter(zip)
		for _, name := range []string{c.first, c.second} {
			err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: 1})
			if _, failed := w.Write([]byte("a")); err != nil || failed != nil {
				t.Fatal(err, failed)
			}
		}
		if err := errors.Join(w.Close(), zip.Close()); err != nil {
			t.Fatal(err)
		}
		files, err := vnfpkg.UnpackTarGz(text.Bytes(), vnfpkg.ArchiveLimits{})
		if c.says == "" {
			if err != nil || len(files) != 2 {
				t.Errorf("%s and %s are %d files, %v", c.first, c.second, len(files), err)
			}
			continue
		}
		if _, is := errors.AsType[*vnfpkg.PackageError](err); !is || !strings.Contains(err.Error(), c.says) || files != nil {
			t.Errorf("%s and %s are %d files, %v, want %q", c.first, c.second, len(files), err, c.says)
		}
	}
}
