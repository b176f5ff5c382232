// Package files reads the files that people hand over: kubeconfigs, VIM files of
// OpenStack Tacker, and private files.
package files

import (
	"fmt"
	"io"
	"os"
)

// maxFile bounds every file that a command reads whole.
const maxFile = 1 << 20

// ReadNamed reads a regular file of at most [maxFile] bytes that another file or the
// configuration names. A pipe or device is refused: opening one can block for ever.
func ReadNamed(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; name a file", name)
	}
	return ReadFile(name, nil)
}

// ReadFile reads a file of at most [maxFile] bytes that a person names; "-" is
// standard input.
func ReadFile(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	return text, nil
}
