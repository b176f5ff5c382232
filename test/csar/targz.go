package csar

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
)

// TarGz is a tar.gz of files, whose names and texts alternate: what ONAP's door takes as a content.
func TarGz(files ...string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for f := range slices.Chunk(files, 2) {
		_ = w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])), Typeflag: tar.TypeReg}) // into memory
		_, _ = io.WriteString(w, f[1])
	}
	_ = w.Close()
	_ = zipped.Close()
	return out.Bytes()
}
