package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// chartFile is the file that makes a directory a Helm chart.
const chartFile = "Chart.yaml"

// chart are the files of a Helm chart, in a folder of its name, and the VDUs that the flags name: what a chart gives
// is not known before it is rendered.
func (f packing) chart(root *os.Root, name string) (files []vnfpkg.ManifestFile, vdus []vnfpkg.DraftVDU, err error) {
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := fs.ReadFile(root.FS(), file)
		if err == nil && len(text) > maxManifest {
			err = fmt.Errorf("%s has more than %d bytes", file, maxManifest)
		}
		files = append(files, vnfpkg.ManifestFile{Path: path.Join(name, filepath.ToSlash(file)), Text: text})
		return err
	})
	for _, vdu := range f.vdus {
		vdus = append(vdus, vnfpkg.DraftVDU{Name: vdu, Number: 1, Min: 1, Max: max(1, f.most)})
	}
	return files, vdus, err
}
