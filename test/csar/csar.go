// Package csar makes VNF packages as others write them, and runs them through the
// engine: those of OpenStack Tacker's users, and hostile ones. Through them the doors of
// ETSI's APIs are compared with ETSI's documents.
package csar

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Files are the files of a package, by their paths.
type Files map[string]string

// With is the package with other files in it.
func (f Files) With(more Files) Files {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// As is the package with another id of its descriptor.
func (f Files) As(vnfd string) Files {
	all := Files{}
	for name, text := range f {
		all[name] = strings.ReplaceAll(text, TackerVNFD, vnfd)
	}
	return all
}

// metaFile is where a package says what is in it.
const metaFile = "TOSCA-Metadata/TOSCA.meta"

// Zip packs a package. Unless it has a TOSCA.meta, it gets one in the form that Tacker's
// packages have: the *_top.vnfd.yaml is the entry, *.mf the manifest, and each other file outside
// Definitions an artifact with its hash.
func (f Files) Zip(t testing.TB) []byte {
	t.Helper()
	if _, has := f[metaFile]; !has {
		f = f.With(Files{metaFile: f.meta()})
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		e, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte(f[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (f Files) meta() string {
	text := "TOSCA-Meta-File-Version: 1.0\nCreated-by: an operator\nCSAR-Version: 1.1\n"
	artifacts := ""
	for _, name := range slices.Sorted(maps.Keys(f)) {
		switch {
		case strings.HasSuffix(name, "_top.vnfd.yaml"):
			text += "Entry-Definitions: " + name + "\n"
		case strings.HasSuffix(name, ".mf"):
			text += "ETSI-Entry-Manifest: " + name + "\n"
		case path.Dir(name) != "Definitions":
			sum := sha256.Sum256([]byte(f[name]))
			artifacts += "\nName: " + name + "\nContent-Type: test-data\nAlgorithm: SHA-256\nHash: " + hex.EncodeToString(sum[:]) + "\n"
		}
	}
	return text + artifacts
}
