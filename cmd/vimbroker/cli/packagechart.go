package cli

import (
	"bytes"
	"errors"
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
	text, err := fs.ReadFile(root.FS(), ignoreFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	ignored, err := ignoresOf(text)
	if err != nil {
		return nil, nil, err
	}
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(file)
		if file != "." && base != ignoreFile && (strings.HasPrefix(base, ".") || ignored.names(file, entry.IsDir())) {
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

// ignores are the rules of a chart's .helmignore, as Helm reads them.
type ignores []ignoring

// ignoring is one rule: a pattern of base names, or of whole paths; but has it name all that does not match.
type ignoring struct {
	pattern          string
	whole, dirs, but bool
}

func ignoresOf(text []byte) (all ignores, err error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule := ignoring{}
		line, rule.but = strings.CutPrefix(line, "!")
		line, rule.dirs = strings.CutSuffix(line, "/")
		rule.whole = strings.Contains(line, "/")
		if rule.pattern = strings.TrimPrefix(line, "/"); strings.Contains(line, "**") {
			return nil, fmt.Errorf("%s: Helm knows no pattern with **; name the folders one by one", ignoreFile)
		}
		if _, err := path.Match(rule.pattern, ""); err != nil {
			return nil, fmt.Errorf("%s holds a pattern that cannot be read; its form is that of .gitignore, without **", ignoreFile)
		}
		all = append(all, rule)
	}
	return all, nil
}

// names reports whether the rules leave a file or a directory out.
func (all ignores) names(file string, dir bool) bool {
	for _, rule := range all {
		of := file
		if !rule.whole {
			of = path.Base(file)
		}
		matches, _ := path.Match(rule.pattern, of) // the pattern was tried
		if rule.but && (rule.dirs && !dir || !matches) || !rule.but && matches && (!rule.dirs || dir) {
			return true
		}
	}
	return false
}
