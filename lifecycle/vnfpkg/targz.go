package vnfpkg

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"slices"
)

// UnpackTarGz returns the files of a tar.gz, in the order of their paths, or a [*PackageError]. It holds them all in
// memory: limits say how much that may be. Folders are passed over; links and devices are faults.
func UnpackTarGz(archive []byte, limits ArchiveLimits) ([]ManifestFile, error) {
	limits = limits.orDefault()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fault("", "is no gzip archive")
	}
	// A header may be as long as a path; what is beyond both is not read.
	bounded := &io.LimitedReader{R: unzipped, N: limits.Unpacked + int64(limits.Entries)*2*maxPath + 1}
	var files []ManifestFile
	seen, entries, size := map[string]bool{}, 0, int64(0)
	for in := tar.NewReader(bounded); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch entries++; {
		case bounded.N <= 0:
			return nil, fault("", "has more than %d bytes unpacked", limits.Unpacked)
		case err != nil:
			return nil, fault("", "is a damaged tar.gz archive")
		case entries > limits.Entries:
			return nil, fault("", "holds more than %d entries", limits.Entries)
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			return nil, fault(Printable(h.Name), "is neither a file nor a folder")
		}
		name := path.Clean(h.Name)
		switch {
		case !PlainPath(name):
			return nil, fault(Printable(h.Name), "has a path that leads out of the archive, or that is not plain")
		case seen[name]:
			return nil, fault(Printable(name), "stands twice in the archive")
		case h.Size > limits.Text:
			return nil, fault(Printable(name), "has more than %d bytes", limits.Text)
		}
		if size += h.Size; size > limits.Unpacked {
			return nil, fault("", "has more than %d bytes unpacked", limits.Unpacked)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, fault("", "is a damaged tar.gz archive")
		}
		seen[name] = true
		files = append(files, ManifestFile{name, text})
	}
	if len(files) == 0 {
		return nil, fault("", "is an archive without a file")
	}
	slices.SortFunc(files, func(a, b ManifestFile) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}
