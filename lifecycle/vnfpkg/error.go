package vnfpkg

import "fmt"

// PackageError is a fault of a package, and its place. Its text may be shown to the
// person who uploaded the package.
type PackageError struct {
	// Path is the file in the package; empty if it is the archive itself.
	Path string
	// Detail completes the sentence that begins with the path.
	Detail string
}

// Error names the file and the fault.
func (e *PackageError) Error() string {
	if e.Path == "" {
		return "the package " + e.Detail
	}
	return fmt.Sprintf("%s in the package %s", e.Path, e.Detail)
}

func fault(path, format string, args ...any) error {
	return &PackageError{Path: path, Detail: fmt.Sprintf(format, args...)}
}
