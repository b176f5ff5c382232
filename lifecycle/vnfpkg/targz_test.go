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

// tarred is a tar.gz of some entries; each file has the size that its header says.
func tarred(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	w := tar.NewWriter(zip)
	for _, h := range entries {
		if h.Typeflag == tar.TypeReg {
			h.Mode = 0o600
		}
		err := w.WriteHeader(&h)
		if err == nil && h.Size > 0 {
			_, err = w.Write(bytes.Repeat([]byte("a"), int(h.Size)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Each limit of a tar.gz is met by what is just within it, and each thing that is no plain file is named or passed over.
func TestUnpackTarGz(t *testing.T) {
	one := func(name string, size int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}
	}
	two := []tar.Header{one("b", 6), one("a", 4)}
	raw := func() []byte {
		zip, err := gzip.NewReader(bytes.NewReader(tarred(t, one("a", 2000))))
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		if _, err := all.ReadFrom(zip); err != nil {
			t.Fatal(err)
		}
		return all.Bytes()
	}()
	for name, c := range map[string]struct {
		archive []byte
		limits  vnfpkg.ArchiveLimits
		says    string // the paths, or the fault
	}{
		"at every limit": {tarred(t, two...), vnfpkg.ArchiveLimits{Entries: 2, Unpacked: 10, Text: 6}, "a b"},
		"folders and what is for all": {
			tarred(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}, one("d/a", 1)),
			vnfpkg.ArchiveLimits{},
			"d/a",
		},
		"an entry too many":    {tarred(t, two...), vnfpkg.ArchiveLimits{Entries: 1}, "holds more than 1 entries"},
		"a byte too many":      {tarred(t, two...), vnfpkg.ArchiveLimits{Unpacked: 9}, "the package has more than 9 bytes unpacked"},
		"too long a file":      {tarred(t, two...), vnfpkg.ArchiveLimits{Text: 5}, "b in the package has more than 5 bytes"},
		"headers without end":  {tarred(t, one(strings.Repeat("x", 9000), 1)), vnfpkg.ArchiveLimits{Entries: 1, Unpacked: 10}, "has more than 10 bytes unpacked"},
		"a link":               {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "a"}), vnfpkg.ArchiveLimits{}, "l in the package is neither a file nor a folder"},
		"no gzip":              {[]byte("x"), vnfpkg.ArchiveLimits{}, "is no gzip archive"},
		"no tar":               {zipped(t, bytes.Repeat([]byte("x"), 1024)), vnfpkg.ArchiveLimits{}, "is a damaged tar.gz archive"},
		"a file that is cut":   {zipped(t, raw[:1000]), vnfpkg.ArchiveLimits{}, "is a damaged tar.gz archive"},
		"nothing":              {tarred(t), vnfpkg.ArchiveLimits{}, "is an archive without a file"},
		"nothing but a folder": {tarred(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}), vnfpkg.ArchiveLimits{}, "is an archive without a file"},
	} {
		files, err := vnfpkg.UnpackTarGz(c.archive, c.limits)
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		if own, is := errors.AsType[*vnfpkg.PackageError](err); is && !strings.Contains(own.Error(), c.says) || !is && (err != nil || strings.Join(paths, " ") != c.says) {
			t.Errorf("%s: %q, %v; want %q", name, paths, err, c.says)
		}
	}
}
