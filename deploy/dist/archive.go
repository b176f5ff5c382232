package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// archives makes one archive for each platform: its programs, their pages and the papers.
func (r *release) archives() error {
	for _, p := range r.platforms() {
		base := "vimbroker-" + r.version + "-" + p.String()
		files, err := r.built(p, base+"/")
		if err != nil {
			return err
		}
		papers := map[string]string{"README.md": "README.md", "LICENSE": "LICENSE"}
		if p.os == "linux" {
			for _, name := range []string{
				"vimbroker.yaml", "vimbroker.service", "alerts.yaml", "dashboard.json", "vault-policy.hcl", "kubernetes-guard.yaml",
				"kubernetes-rbac.yaml",
			} {
				papers["deploy/"+name] = "deploy/" + name
			}
		}
		for _, from := range sorted(papers) {
			f, err := r.source(from, base+"/"+papers[from])
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		files = append(files, file{base + "/LICENSES.txt", 0o644, r.licences})
		for _, page := range r.pages {
			files = append(files, file{base + "/" + page.name, page.mode, page.data})
		}
		name, pack := base+".tar.gz", tarred
		if p.os == "windows" {
			name, pack = base+".zip", zipped
		}
		data, err := pack(files, r.made)
		if err != nil {
			return err
		}
		r.sources[name] = p
		if err := r.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

// tarred packs files into a compressed archive that says nothing of who packed it.
func tarred(files []file, made time.Time) ([]byte, error) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := tarInto(tar.NewWriter(packed), files, made); err != nil {
		return nil, err
	}
	err = packed.Close()
	return out.Bytes(), err
}

func tarInto(w *tar.Writer, files []file, made time.Time) error {
	for _, f := range files {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode.Perm()), ModTime: made, Format: tar.FormatPAX,
		}
		if f.mode.IsDir() {
			head.Typeflag, head.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(head); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func zipped(files []file, made time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: made}
		head.SetMode(f.mode)
		into, err := w.CreateHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := into.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// chart packs the Helm chart, whose version must be the release's.
func (r *release) chart() error {
	top := filepath.Join(r.top, "deploy", "chart")
	var all []file
	err := filepath.WalkDir(top, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(at) // a link to a file of deploy/ is that file
		if e.Name() == "Chart.yaml" && !bytes.Contains(data, []byte("\nversion: "+r.version+"\nappVersion: "+r.version+"\n")) {
			return fmt.Errorf("deploy/chart/Chart.yaml must have the version and the appVersion of VERSION, %s", r.version)
		}
		within, _ := filepath.Rel(top, at) // it is below
		all = append(all, file{"vimbroker/" + filepath.ToSlash(within), 0o644, data})
		return err
	})
	if err != nil {
		return err
	}
	data, err := tarred(all, r.made)
	if err != nil {
		return err
	}
	return r.write("vimbroker-chart-"+r.version+".tgz", data)
}
