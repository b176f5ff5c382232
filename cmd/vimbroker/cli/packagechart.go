package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// chartFile is the file that makes a directory a Helm chart, ignoreFile the one file of a chart with a dot that is packed.
const chartFile, ignoreFile = "Chart.yaml", ".helmignore"

// chart are the files of a Helm chart, in a folder of its name, and the VDUs that the flags name: what a chart gives
// is not known before it is rendered.
func (f *packing) chart(root *os.Root, name string) (files []vnfpkg.ManifestFile, vdus []vnfpkg.DraftVDU, err error) {
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(file); file != "." && base != ignoreFile && strings.HasPrefix(base, ".") {
			f.leftOut = append(f.leftOut, file)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root.FS(), file)
		switch {
		case err != nil:
			return err
		case len(text) > maxManifest:
			return fmt.Errorf("%s has more than %d bytes", file, maxManifest)
		case isCredential(file, text):
			f.leftOut = append(f.leftOut, file)
			return nil
		}
		files = append(files, vnfpkg.ManifestFile{Path: path.Join(name, filepath.ToSlash(file)), Text: text})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, given := range f.vdus {
		vdu, number, counted := strings.Cut(given, "=")
		n := 1
		if counted {
			if n, err = strconv.Atoi(number); err != nil || n < 0 {
				return nil, nil, fmt.Errorf("--vdu %s: the number of instances must be a whole number", given)
			}
		}
		vdus = append(vdus, vnfpkg.DraftVDU{Name: vdu, Number: n, Min: min(1, n), Max: max(n, f.most)})
	}
	return files, vdus, nil
}

// isCredential reports whether a file is a kubeconfig or a private key: all who may read a package would have it.
func isCredential(file string, text []byte) bool {
	base := strings.ToLower(path.Base(file))
	return strings.HasSuffix(base, "kubeconfig") || strings.HasPrefix(base, "id_rsa") || strings.HasPrefix(base, "id_ed25519") ||
		bytes.Contains(text, []byte("kind: Config\n")) && bytes.Contains(text, []byte("current-context:")) ||
		bytes.HasPrefix(text, []byte("-----BEGIN ")) && bytes.Contains(text[:min(len(text), 64)], []byte("PRIVATE KEY"))
}
