package vnfpkg

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// ArchiveLimits bound the content of a package. Zero means the default.
type ArchiveLimits struct {
	// Entries is the greatest number of files and folders; 10 000 by default. The archive's directory
	// may have 512 bytes for each: names, extra fields and comments.
	Entries int
	// Unpacked is the greatest size of all files together, in bytes; 2 GiB by default.
	Unpacked int64
	// Text is the greatest size, in bytes, of a file that is read as a whole (metadata,
	// descriptor, manifests); 8 MiB by default.
	Text int64
}

func (l ArchiveLimits) orDefault() ArchiveLimits {
	return ArchiveLimits{
		Entries:  cmp.Or(l.Entries, 10_000),
		Unpacked: cmp.Or(l.Unpacked, 2<<30),
		Text:     cmp.Or(l.Text, 8<<20),
	}
}

// maxPath bounds the path of a file in a package, in bytes.
const maxPath = 1024

// CSAR is a package that was looked through. It reads from the archive that it was
// opened with, and can be used by several goroutines.
type CSAR struct {
	// Entry is the path of the entry definitions: the main YAML file of the VNFD.
	Entry string
	// Manifest is the path of the manifest; empty if there is none.
	Manifest string
	// Artifacts are the files that the package declares, in the order of their paths.
	Artifacts []Artifact

	limits ArchiveLimits
	files  map[string]*zip.File
	// signed are the files that the manifest names with a hash, certificate the file with that
	// of its signer; it may be empty.
	signed      map[string]bool
	certificate string
	// single are the signatures of single files, by the files' paths.
	single   map[string]singleSignature
	wrapping *wrapping
}

// Artifact is a file that TOSCA.meta or the manifest names.
type Artifact struct {
	Path        string
	ContentType string
	// Algorithm and Hash (hex) are the package's own; the algorithm is "SHA-224", "SHA-256",
	// "SHA-384" or "SHA-512". Both are empty if the package gives none.
	Algorithm string
	Hash      string
}

// Open looks through a package of that size. It checks the paths of all entries,
// their sizes, and the hash of each artifact that has one. A fault of the package is
// an [*PackageError]; any other error is one of reading r. A descriptor that is no archive is a package of its own.
func Open(r io.ReaderAt, size int64, limits ArchiveLimits) (*CSAR, error) {
	c, err := Reopen(r, size, limits)
	if err != nil {
		return nil, err
	}
	for _, a := range c.Artifacts {
		if err := c.checkHash(a); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Reopen is Open for a package that Open has taken before: it compares no hashes.
func Reopen(r io.ReaderAt, size int64, limits ArchiveLimits) (*CSAR, error) {
	limits = limits.orDefault()
	r, size, err := enclosed(r, size, limits)
	if err != nil {
		return nil, err
	}
	archive, err := archiveOf(r, size, limits)
	if err != nil {
		return nil, err
	}
	c := &CSAR{limits: limits, files: map[string]*zip.File{}, signed: map[string]bool{}, single: map[string]singleSignature{}}
	if c.wrapping, err = unwrap(archive, r); err != nil {
		return nil, err
	}
	if w := c.wrapping; w != nil {
		if archive, err = archiveOf(w.csar, w.csar.Size(), limits); err != nil {
			return nil, err
		}
	}
	if err := c.collect(archive.File); err != nil {
		return nil, err
	}
	if err := apart(archive.File); err != nil {
		return nil, err
	}
	if err := c.readMetadata(); err != nil {
		return nil, err
	}
	return c, nil
}

// zipBegin begins a ZIP archive that holds anything.
const zipBegin = "PK\x03\x04"

// archiveOf reads the directory of an archive, which stands at its end, if it is within the limits.
func archiveOf(r io.ReaderAt, size int64, limits ArchiveLimits) (*zip.Reader, error) {
	if err := boundDirectory(r, size, limits); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrAlgorithm), errors.Is(err, zip.ErrChecksum), ended(err):
		begin := make([]byte, len(zipBegin))
		if err := readAt(r, begin, 0); err != nil || string(begin) == zipBegin {
			return nil, cmp.Or(err, fault("", "is a ZIP archive without its end: it was cut off, or what is behind it is not its own"))
		}
		return nil, fault("", "is not a ZIP archive")
	case errors.Is(err, zip.ErrInsecurePath): // each path is looked at when it is collected
	case err != nil:
		return nil, err
	}
	return archive, nil
}

// collect checks each entry by itself.
func (c *CSAR) collect(entries []*zip.File) error {
	left := uint64(c.limits.Unpacked)
	folders := map[string]bool{}
	for _, f := range entries {
		name, folder := strings.CutSuffix(f.Name, "/")
		if !PlainPath(name) {
			return fault("", "holds an entry whose path is not a plain relative one: %q", Printable(f.Name))
		}
		switch mode := f.Mode(); {
		case folder && mode&fs.ModeSymlink == 0:
			folders[name] = true
			continue
		case folder, mode&fs.ModeType != 0 && mode&fs.ModeType != fs.ModeDir:
			return fault(name, "is a link or a special file")
		case f.Flags&1 != 0:
			return fault(name, "is encrypted")
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return fault(name, "is compressed in a way that is not supported")
		case c.files[name] != nil:
			return fault(name, "is there twice")
		case f.UncompressedSize64 > left:
			return fault("", "unpacks to more than %d bytes", c.limits.Unpacked)
		}
		left -= f.UncompressedSize64
		c.files[name] = f
	}
	for name := range c.files {
		for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
			if c.files[parent] != nil {
				return fault(parent, "is a file and a folder")
			}
		}
		if folders[name] {
			return fault(name, "is a file and a folder")
		}
	}
	return nil
}

// PlainPath reports whether a path can only mean one file below the package's root.
func PlainPath(name string) bool {
	return name != "" && len(name) <= maxPath && utf8.ValidString(name) && fs.ValidPath(name) && name != "." &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' })
}

// Printable is the part of a text, from a package or from a request about one, that may be
// repeated.
func Printable(s string) string { return strings.ToValidUTF8(s[:min(len(s), 100)], "?") }

// apart refuses entries whose bytes overlap: a small archive that unpacks to a vast one.
func apart(entries []*zip.File) error {
	type span struct{ from, to int64 }
	spans := make([]span, 0, len(entries))
	for _, f := range entries {
		from, err := f.DataOffset()
		if err != nil {
			return fault("", "is a damaged ZIP archive")
		}
		spans = append(spans, span{from, from + int64(f.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return fault("", "holds entries that overlap")
		}
	}
	return nil
}

// Has reports whether there is a file at a path.
func (c *CSAR) Has(name string) bool { return c.files[name] != nil }

// Paths lists the files under a folder, sorted; all files for an empty folder.
func (c *CSAR) Paths(folder string) []string {
	var found []string
	for name := range c.files {
		if folder == "" || strings.HasPrefix(name, folder+"/") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// Stream opens a file for reading. It yields at most as many bytes as the archive
// says the file has; a file that has more, or whose checksum is wrong, is an
// [*PackageError] at its end. The caller closes it.
func (c *CSAR) Stream(name string) (io.ReadCloser, int64, error) {
	f := c.files[name]
	if f == nil {
		return nil, 0, fault(name, "is not there")
	}
	r, err := f.Open()
	if err != nil {
		return nil, 0, fault(name, "cannot be unpacked")
	}
	return &exact{ReadCloser: r, name: name, left: int64(f.UncompressedSize64)}, int64(f.UncompressedSize64), nil
}

// exact turns the faults of an archive into errors of this package.
type exact struct {
	io.ReadCloser
	name string
	left int64
}

// Read implements [io.Reader].
func (e *exact) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if e.left -= int64(n); e.left < 0 {
		return 0, fault(e.name, "is larger than it says")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault(e.name, "cannot be unpacked")
	}
	return n, err
}

// Read returns a whole file. One over the limit for text is an [*PackageError].
func (c *CSAR) Read(name string) ([]byte, error) {
	r, size, err := c.Stream(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if size > c.limits.Text {
		return nil, fault(name, "has %d bytes, and may have %d", size, c.limits.Text)
	}
	return io.ReadAll(r)
}

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
