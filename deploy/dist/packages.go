package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes the packages for Debian and Fedora, and their kin.
func (r *release) packages() error {
	for _, p := range r.servers {
		info, err := r.packageInfo(p)
		if err != nil {
			return err
		}
		for ending, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
			copied := *info
			copied.Contents = nil
			for _, c := range info.Contents {
				one := *c
				copied.Contents = append(copied.Contents, &one)
			}
			var out bytes.Buffer
			if err := nfpm.PrepareForPackager(nfpm.WithDefaults(&copied), ending); err != nil {
				return err
			}
			if err := packager.Package(&copied, &out); err != nil {
				return err
			}
			name := packager.ConventionalFileName(&copied)
			r.sources[name] = p
			if err := r.write(name, out.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// packageInfo describes the package of a platform.
func (r *release) packageInfo(p platform) (*nfpm.Info, error) {
	info := &nfpm.Info{
		Name: "vimbroker", Arch: p.arch, Platform: p.os, Version: r.version, Section: "admin", Priority: "optional", License: "Apache-2.0",
		Maintainer: "the vimbroker authors <vimbroker@users.noreply.github.com>", Homepage: "https://github.com/vimbroker/vimbroker", MTime: r.made,
		Description: "registry of VIMs and broker of their credentials\n" +
			"Keeps the credentials of OpenStack clouds and Kubernetes clusters sealed, and\nhands out short-lived ones derived from them.",
	}
	info.RPM.BuildHost = "localhost"
	info.Deb.Fields = map[string]string{"Bugs": "https://github.com/vimbroker/vimbroker/issues"}
	scripts := filepath.Join(r.top, "deploy", "package")
	info.Scripts = nfpm.Scripts{PostInstall: filepath.Join(scripts, "postinstall.sh"), PreRemove: filepath.Join(scripts, "preremove.sh")}
	info.Scripts.PostRemove = filepath.Join(scripts, "postremove.sh")
	add := func(f file, to, kind, group string) error {
		at := filepath.Join(r.work, "package", p.String(), filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, f.data, 0o600); err != nil {
			return err
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: at, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.made, Owner: "root", Group: group},
		})
		return nil
	}
	all, err := r.packaged(p)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		kind := files.TypeFile
		if strings.HasPrefix(f.name, "/etc/") {
			kind = files.TypeConfigNoReplace
		}
		if err := add(f, f.name, kind, "root"); err != nil {
			return nil, err
		}
	}
	// kubectl finds it as "kubectl vimbroker".
	info.Contents = append(info.Contents, &files.Content{Source: "vimbroker", Destination: "/usr/bin/kubectl-vimbroker", Type: files.TypeSymlink})
	return info, nil
}

// packaged are the files of a package, with the paths where they are installed.
func (r *release) packaged(p platform) ([]file, error) {
	all, err := r.built(p, "/usr/bin/")
	if err != nil {
		return nil, err
	}
	unit, err := r.unit()
	if err != nil {
		return nil, err
	}
	all = append(all, file{"/usr/lib/systemd/system/vimbroker.service", 0o644, unit},
		file{"/usr/share/doc/vimbroker/LICENSES.txt.gz", 0o644, compressed(r.licences)})
	for _, c := range []struct{ from, to string }{
		{"deploy/package/vimbroker.yaml", "/etc/vimbroker/vimbroker.yaml"},
		{"LICENSE", "/usr/share/doc/vimbroker/copyright"},
		{"deploy/vimbroker.yaml", "/usr/share/doc/vimbroker/examples/vimbroker.yaml"},
		{"deploy/alerts.yaml", "/usr/share/doc/vimbroker/examples/alerts.yaml"},
		{"deploy/dashboard.json", "/usr/share/doc/vimbroker/examples/dashboard.json"},
		{"deploy/vault-policy.hcl", "/usr/share/doc/vimbroker/examples/vault-policy.hcl"},
	} {
		f, err := r.source(c.from, c.to)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	places := map[string]string{
		".bash": "/usr/share/bash-completion/completions/vimbroker", "_vimbroker": "/usr/share/zsh/vendor-completions/_vimbroker",
		".fish": "/usr/share/fish/vendor_completions.d/vimbroker.fish",
	}
	for _, page := range r.pages {
		if path.Ext(page.name) == ".1" {
			all = append(all, file{"/usr/share/" + page.name + ".gz", 0o644, compressed(page.data)})
		}
		for ending, to := range places {
			if strings.HasSuffix(page.name, ending) {
				all = append(all, file{to, 0o644, page.data})
			}
		}
	}
	return all, nil
}

// unit is the systemd unit as the package has it: with the program where the package puts it, and without credentials that
// a new machine does not have. A drop-in adds them.
func (r *release) unit() ([]byte, error) {
	f, err := r.source("deploy/vimbroker.service", "")
	if err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(string(f.data), "[Unit]")
	text = strings.ReplaceAll("[Unit]"+text, "/usr/local/bin/", "/usr/bin/")
	return []byte(strings.ReplaceAll(text, "\nLoadCredential=", "\n#LoadCredential=")), nil
}

// compressed is a page as Debian keeps it.
func compressed(data []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a known one
	_, _ = w.Write(data)                                    // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}
