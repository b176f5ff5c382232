package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// CloudAuthorities reads the file that a cloud of a clouds.yaml names as cacert, and
// answers with its name and its certificates; both are empty if it names none. The
// server reads everything else of the clouds.yaml, and opens no file that it names.
func CloudAuthorities(name, cloud string, text []byte) (file, certificates string, err error) {
	d := &strictyaml.Document{Name: name}
	if root := d.Parse(text); root != nil {
		d.Pairs(root, "", func(key, clouds *yaml.Node, at string) {
			if key.Value != "clouds" {
				return
			}
			d.Pairs(clouds, at, func(key, body *yaml.Node, at string) {
				if key.Value != cloud {
					return
				}
				d.Pairs(body, at, func(key, value *yaml.Node, at string) {
					if key.Value == "cacert" {
						d.Text(&file)(value, at)
					}
				})
			})
		})
	}
	if err := d.Err(); err != nil {
		return "", "", err
	}
	if file == "" {
		return "", "", nil
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", fmt.Errorf("%s: cacert of cloud %s: %w", name, strictyaml.Printable(cloud), err)
		}
		file = filepath.Join(home, rest)
	}
	content, err := ReadNamed(file)
	var at *fs.PathError
	switch {
	case errors.As(err, &at):
		return "", "", fmt.Errorf("%s: cacert of cloud %s: %w; give the certificates with --ca-cert-file", name, strictyaml.Printable(cloud), err)
	case err != nil:
		return "", "", fmt.Errorf("%s: cacert of cloud %s: %w", name, strictyaml.Printable(cloud), err)
	}
	kept := pemBlocks(content, false)
	if len(kept) == 0 {
		return "", "", fmt.Errorf("%s: cacert of cloud %s: %s holds no certificate in PEM, so it is not sent; give the certificates with "+
			"--ca-cert-file", name, strictyaml.Printable(cloud), file)
	}
	return file, string(kept), nil
}
