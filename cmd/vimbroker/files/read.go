// Package files reads the files that people hand over: kubeconfigs, VIM files of
// OpenStack Tacker, and private files.
package files

import (
	"fmt"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
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

// Listed reads a list of mappings that have the same fields.
func Listed[T any](d *strictyaml.Document, to *[]T, fields func(*T, *strictyaml.Document) strictyaml.Fields) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		d.List(n, at, func(item *yaml.Node, path string) {
			var one T
			d.Mapping(item, path, fields(&one, d))
			*to = append(*to, one)
		})
	}
}

// Made reads a mapping that is nil where the file has none.
func Made[T any](d *strictyaml.Document, to **T, fields func(*T, *strictyaml.Document) strictyaml.Fields) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		*to = new(T)
		d.Mapping(n, at, fields(*to, d))
	}
}

// Moment reads a time; like is one in an error.
func Moment(d *strictyaml.Document, to *time.Time, like string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		var err error
		if *to, err = time.Parse(time.RFC3339, n.Value); err != nil {
			d.Fault(n, at, "must be a time like %s", like)
		}
	}
}

// Words reads a mapping from names to texts.
func Words(d *strictyaml.Document, to *map[string]string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		*to = map[string]string{}
		d.Pairs(n, at, func(key, value *yaml.Node, path string) {
			var text string
			d.Text(&text)(value, path)
			(*to)[key.Value] = text
		})
	}
}
