package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the id of the image's user and group: nobody's on any distribution.
const user = "65532"

// image makes one OCI image for all platforms of the server, as an archive of an image layout. It holds two static programs,
// Mozilla's authorities, and nothing else: no shell, no package manager. Its root can be mounted read-only; state is under
// /var/lib/vimbroker.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.servers {
		built, err := r.imageOf(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: built, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	index = mutate.Annotations(index, map[string]string{"org.opencontainers.image.version": r.version}).(v1.ImageIndex)
	dir := filepath.Join(r.work, "image")
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": r.version}
	if err := path.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	var files []file
	err = filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(at)
		within, _ := filepath.Rel(dir, at)
		files = append(files, file{filepath.ToSlash(within), 0o644, data})
		return err
	})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := tarInto(tar.NewWriter(&out), files, r.made); err != nil {
		return err
	}
	artefact := "vimbroker-" + r.version + "-image.tar"
	r.sources[artefact] = r.servers[0]
	return r.write(artefact, out.Bytes())
}

// imageOf is the image of a platform.
func (r *release) imageOf(p platform) (v1.Image, error) {
	programs, err := r.built(p, "usr/bin/")
	if err != nil {
		return nil, err
	}
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a plain bundle cannot say where an authority ends
			_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	files := append(programs,
		file{"etc/ssl/certs/ca-certificates.crt", 0o644, roots.Bytes()},
		file{"etc/passwd", 0o644, []byte("vimbroker:x:" + user + ":" + user + "::/var/lib/vimbroker:/sbin/nologin\n")},
		file{"etc/group", 0o644, []byte("vimbroker:x:" + user + ":\n")},
		file{"usr/share/doc/vimbroker/LICENSES.txt", 0o644, r.licences},
	)
	var text bytes.Buffer
	if err := tarInto(tar.NewWriter(&text), files, r.made); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	built, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	config, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.made}
	for n := range config.History {
		config.History[n] = v1.History{Created: v1.Time{Time: r.made}}
	}
	config.Config = v1.Config{
		User: user + ":" + user, Entrypoint: []string{"/usr/bin/vimbroker"}, Cmd: []string{"serve", "--config", "/etc/vimbroker/vimbroker.yaml"},
		WorkingDir: "/", ExposedPorts: map[string]struct{}{"8420/tcp": {}},
		Env: []string{"PATH=/usr/bin", "XDG_STATE_HOME=/var/lib", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "vimbroker", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source": "https://github.com/vimbroker/vimbroker",
		},
	}
	return mutate.ConfigFile(built, config)
}
