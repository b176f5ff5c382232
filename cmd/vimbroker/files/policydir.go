package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/policy"
)

// Policies reads a directory of policy files by name. It is strict: any entry that is not
// a regular *.cedar file which only its owner can change is an error, because a skipped
// policy would go unnoticed. Names that begin with a dot are left out: orchestrators keep
// their own links under such names.
func Policies(dir string) (map[string][]byte, error) {
	entries, err := policyEntries(dir)
	if err != nil {
		return nil, fmt.Errorf("reading policies: %w", err)
	}
	texts := make(map[string][]byte)
	var faults []error
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, name)
		if filepath.Ext(name) != ".cedar" {
			faults = append(faults, fmt.Errorf("%s: its name does not end in .cedar; rename it, or move it to another directory", path))
			continue
		}
		text, err := policyFile(path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		texts[name] = text
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("reading policies: %w", errors.Join(faults...))
	}
	return texts, nil
}

// maxPolicies is the greatest number of names in a directory of policies.
const maxPolicies = 1000

// policyEntries lists the directory in the order of names.
func policyEntries(dir string) ([]os.DirEntry, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxPolicies + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxPolicies {
		return nil, fmt.Errorf("%s holds more than %d names", dir, maxPolicies)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// policyFile reads one file, which only its owner can change.
func policyFile(path string) ([]byte, error) {
	text, err := ReadNamed(path)
	if fault := WritableByOthers(path); err == nil && fault != "" {
		return nil, errors.New(fault)
	}
	return text, err
}

// SitePolicies loads the built-in policies, with the files of a directory where one is named.
func SitePolicies(dir string) (*policy.Policies, error) {
	if dir == "" {
		return policy.Load(nil)
	}
	texts, err := Policies(dir)
	if err != nil {
		return nil, err
	}
	return policy.Load(texts)
}
