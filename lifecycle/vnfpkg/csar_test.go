package vnfpkg_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// file is an entry of an archive that a test makes.
type file struct {
	name, text string
	mode       fs.FileMode
}

func archive(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.mode != 0 {
			h.SetMode(f.mode)
		}
		e, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(b []byte, l vnfpkg.ArchiveLimits) (*vnfpkg.CSAR, error) {
	return vnfpkg.Open(bytes.NewReader(b), int64(len(b)), l)
}

const (
	deployment = "Files/kubernetes/deployment.yaml"
	manifest   = "kind: Deployment\n"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func meta(blocks ...string) file {
	return file{name: "TOSCA-Metadata/TOSCA.meta", text: "TOSCA-Meta-File-Version: 1.0\nCreated-by: tests\nCSAR-Version: 1.1\nEntry-Definitions: Definitions/top.yaml\n\n" + strings.Join(blocks, "\n\n")}
}

// whole is a package that Open takes.
func whole() []file {
	return []file{
		meta("Name: " + deployment + "\nContent-Type: text/yaml\nAlgorithm: SHA-256\nHash: " + sum(manifest)),
		{name: "Definitions/top.yaml", text: top},
		{name: deployment, text: manifest},
	}
}

func TestOpen(t *testing.T) {
	c, err := open(archive(t, whole()...), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []vnfpkg.Artifact{{Path: deployment, ContentType: "text/yaml", Algorithm: "SHA-256", Hash: sum(manifest)}}
	if c.Entry != "Definitions/top.yaml" || !slices.Equal(c.Artifacts, want) {
		t.Errorf("Open = entry %q, artifacts %v, want %v", c.Entry, c.Artifacts, want)
	}
	if text, err := c.Read(deployment); err != nil || string(text) != manifest {
		t.Errorf("Read(%s) = %q, %v", deployment, text, err)
	}
	if got := c.Paths("Files"); !slices.Equal(got, []string{deployment}) {
		t.Errorf("Paths(Files) = %v", got)
	}
}

func TestOpenWithoutMetadata(t *testing.T) {
	c, err := open(archive(t,
		file{name: "web.yaml", text: top},
		file{name: "web.mf", text: "metadata:\n  vnf_product_name: web\n\nSource: " + deployment + "\nAlgorithm: sha256\nHash: " + strings.ToUpper(sum(manifest)) + "\nSource: web.yaml\n\n-----BEGIN CMS-----\nnot read\n"},
		file{name: deployment, text: manifest},
	), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Entry != "web.yaml" || len(c.Artifacts) != 2 {
		t.Errorf("Open = entry %q, artifacts %v", c.Entry, c.Artifacts)
	}
}

func TestOpenRefuses(t *testing.T) {
	with := func(more ...file) []file { return append(whole(), more...) }
	instead := func(i int, f file) []file {
		files := whole()
		files[i] = f
		return files
	}
	for name, c := range map[string]struct {
		files  []file
		limits vnfpkg.ArchiveLimits
		want   string
	}{
		"a path up":                     {with(file{name: "../etc/passwd"}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a path up inside":              {with(file{name: "Files/../../x"}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"an absolute path":              {with(file{name: "/etc/passwd"}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a backslash":                   {with(file{name: `Files\x`}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a drive":                       {with(file{name: "c:x"}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a path of 1025 bytes":          {with(file{name: strings.Repeat("x", 1025)}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a control character":           {with(file{name: "Files/a\x1b[2J"}), vnfpkg.ArchiveLimits{}, "plain relative"},
		"a symbolic link":               {with(file{"Files/link", "/etc/passwd", fs.ModeSymlink | 0o777}), vnfpkg.ArchiveLimits{}, "link"},
		"a symbolic link like a folder": {with(file{"Files/link/", "", fs.ModeSymlink | 0o777}), vnfpkg.ArchiveLimits{}, "link"},
		"a device":                      {with(file{"Files/null", "", fs.ModeDevice | 0o666}), vnfpkg.ArchiveLimits{}, "special"},
		"a file twice":                  {with(file{name: deployment, text: "other"}), vnfpkg.ArchiveLimits{}, "twice"},
		"a file below a file":           {with(file{name: deployment + "/x"}), vnfpkg.ArchiveLimits{}, "file and a folder"},
		"a file and folder":             {with(file{name: deployment + "/"}), vnfpkg.ArchiveLimits{}, "file and a folder"},
		"too many entries":              {whole(), vnfpkg.ArchiveLimits{Entries: 2}, "may hold 2"},
		"too much":                      {whole(), vnfpkg.ArchiveLimits{Unpacked: 100}, "more than 100 bytes"},
		"a long text":                   {whole(), vnfpkg.ArchiveLimits{Text: 10}, "may have 10"},
		"another hash":                  {instead(2, file{name: deployment, text: "other"}), vnfpkg.ArchiveLimits{}, "does not have the hash"},
		"an artifact that is missing":   {whole()[:2], vnfpkg.ArchiveLimits{}, "is not there"},
		"no metadata":                   {whole()[1:], vnfpkg.ArchiveLimits{}, "neither"},
		"no entry definitions":          {instead(1, file{name: "other.yaml"}), vnfpkg.ArchiveLimits{}, "entry definitions"},
		"metadata without an entry":     {instead(0, file{name: "TOSCA-Metadata/TOSCA.meta", text: "CSAR-Version: 1.1\n"}), vnfpkg.ArchiveLimits{}, "Entry-Definitions"},
		"a manifest of another name":    {append(whole()[1:1:1], file{name: "VNF.yaml", text: top}, file{name: "VNF1.mf", text: "metadata:\n  a: b\n"}), vnfpkg.ArchiveLimits{}, "a manifest that nothing names"},
		"a manifest that is not named":  {append(whole(), file{name: "other.mf", text: "metadata:\n  a: b\n"}), vnfpkg.ArchiveLimits{}, "a manifest that nothing names"},
		"a line that is no pair":        {instead(0, meta("Name "+deployment)), vnfpkg.ArchiveLimits{}, "line 6"},
		"a key twice":                   {instead(0, meta("Name: "+deployment+"\nName: x")), vnfpkg.ArchiveLimits{}, "twice"},
		"an artifact twice":             {instead(0, meta("Name: "+deployment, "Name: "+deployment)), vnfpkg.ArchiveLimits{}, "named twice"},
		"an algorithm of old":           {instead(0, meta("Name: "+deployment+"\nAlgorithm: MD5\nHash: 00")), vnfpkg.ArchiveLimits{}, "not supported"},
		"two hashes of one file": {append(instead(0, file{name: "TOSCA-Metadata/TOSCA.meta", text: "Entry-Definitions: Definitions/top.yaml\nETSI-Entry-Manifest: web.mf\n\nName: " + deployment +
			"\nAlgorithm: SHA-256\nHash: " + sum("other")}), file{name: "web.mf", text: "Source: " + deployment + "\nAlgorithm: SHA-256\nHash: " + sum(manifest)}), vnfpkg.ArchiveLimits{}, "two different hashes"},
		"a hash without an algorithm":                {instead(0, meta("Name: "+deployment+"\nHash: 00")), vnfpkg.ArchiveLimits{}, "without an algorithm"},
		"an algorithm of digits":                     {instead(0, meta("Name: "+deployment+"\nAlgorithm: 256\nHash: "+sum(manifest))), vnfpkg.ArchiveLimits{}, "not supported"},
		"an algorithm without a hash":                {instead(0, meta("Name: "+deployment+"\nAlgorithm: SHA-256")), vnfpkg.ArchiveLimits{}, "without a hash"},
		"an artifact with a path up":                 {instead(0, meta("Name: ../x")), vnfpkg.ArchiveLimits{}, "plain relative"},
		"an artifact without a hash that is missing": {instead(0, meta("Name: Files/gone.yaml")), vnfpkg.ArchiveLimits{}, "is named in TOSCA-Metadata/TOSCA.meta and is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(archive(t, c.files...), c.limits)
			wantFault(t, err, c.want)
		})
	}
	_, err := open([]byte("not a ZIP"), vnfpkg.ArchiveLimits{})
	wantFault(t, err, "not a ZIP")
	_, err = open(archive(t, whole()...)[:200], vnfpkg.ArchiveLimits{})
	wantFault(t, err, "it was cut off")
}

func wantFault(t *testing.T, err error, want string) {
	t.Helper()
	var own *vnfpkg.PackageError
	if !errors.As(err, &own) || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want an *Error that says %q", err, want)
	}
}

// A directory that lists one run of bytes under many names unpacks to far more than
// it has, and each entry by itself looks well.
func TestOpenRefusesOverlap(t *testing.T) {
	b := archive(t, file{name: "a.yaml", text: strings.Repeat("a", 1000)}, file{name: "b.yaml", text: strings.Repeat("b", 1000)})
	second := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[second+42:], 0) // the second entry's bytes are the first's
	_, err := open(b, vnfpkg.ArchiveLimits{})
	wantFault(t, err, "overlap")
}

// What an archive says of a file's size is what is read of it.
func TestStreamStopsAtTheStatedSize(t *testing.T) {
	files := append(whole(), file{name: "Files/bomb", text: strings.Repeat("0", 1<<20)})
	b := archive(t, files...)
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[at+24:], 10)
	c, err := open(b, vnfpkg.ArchiveLimits{Unpacked: 100 << 10})
	if err == nil {
		_, err = c.Read("Files/bomb")
	}
	wantFault(t, err, "in the package")
}

func FuzzOpen(f *testing.F) {
	f.Add(archive(f, whole()...))
	f.Add(archive(f, file{name: "web.yaml", text: top}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := open(b, vnfpkg.ArchiveLimits{Entries: 100, Unpacked: 1 << 20, Text: 1 << 16})
		if err != nil {
			return
		}
		for _, p := range c.Paths("") {
			if !fs.ValidPath(p) {
				t.Errorf("Open took the path %q", p)
			}
		}
		if d, err := c.Descriptor(); err == nil && (d.ID == "" || len(d.Flavours) == 0) {
			t.Errorf("Descriptor = %+v without an error", d)
		}
	})
}

// An entry that nobody here can read is refused, whether or not something names it.
func TestOpenRefusesWhatCannotBeRead(t *testing.T) {
	for want, h := range map[string]zip.FileHeader{
		"is encrypted":     {Name: "x", Method: zip.Store, Flags: 1},
		"is compressed in": {Name: "x", Method: 12},
	} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		if _, err := w.CreateRaw(&h); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := open(b.Bytes(), vnfpkg.ArchiveLimits{})
		wantFault(t, err, want)
	}
}

// A file with two hashes has both.
func TestOpenComparesEveryHash(t *testing.T) {
	long := sha512.Sum512([]byte(top))
	manifest := file{name: "web.mf", text: "Source: Definitions/top.yaml\nAlgorithm: SHA-512\nHash: " + hex.EncodeToString(long[:]) + "\n"}
	for hash, want := range map[string]string{sum(top): "", sum("another"): "does not have the hash"} {
		m := meta("Name: Definitions/top.yaml\nAlgorithm: SHA-256\nHash: " + hash)
		m.text = strings.Replace(m.text, "Entry-Definitions", "ETSI-Entry-Manifest: web.mf\nEntry-Definitions", 1)
		_, err := open(archive(t, m, manifest, file{name: "Definitions/top.yaml", text: top}), vnfpkg.ArchiveLimits{})
		if want == "" && err == nil {
			continue
		}
		wantFault(t, err, want)
	}
}

// FuzzMetadata: any TOSCA.meta and any manifest name files of the package, or are refused.
func FuzzMetadata(f *testing.F) {
	f.Add(meta().text, "metadata:\n  a: b\n\nSource: Definitions/top.yaml\nAlgorithm: SHA-256\nHash: 00\n")
	f.Add("Entry-Definitions: Definitions/top.yaml\nETSI-Entry-Manifest: web.mf\n\nName: ./web.mf\n", "Source: ./Definitions/top.yaml\nSource: http://x/y\n -----BEGIN CMS-----\n")
	f.Fuzz(func(t *testing.T, meta, manifest string) {
		c, err := open(archive(t, file{name: vnfpkg.MetaFile, text: meta}, file{name: "web.mf", text: manifest}, file{name: "Definitions/top.yaml", text: top}), vnfpkg.ArchiveLimits{})
		var fault *vnfpkg.PackageError
		if err != nil {
			if !errors.As(err, &fault) {
				t.Errorf("%v, which is no fault of the package", err)
			}
			return
		}
		for _, a := range c.Artifacts {
			if !c.Has(a.Path) || !fs.ValidPath(a.Path) {
				t.Errorf("Open took the artifact %+v", a)
			}
		}
		if !c.Has(c.Entry) || c.Manifest != "" && !c.Has(c.Manifest) {
			t.Errorf("Open took entry %q and manifest %q", c.Entry, c.Manifest)
		}
	})
}

func TestErrorsNameTheFile(t *testing.T) {
	if got, want := (&vnfpkg.PackageError{Path: "a", Detail: "is b"}).Error(), "a in the package is b"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(&vnfpkg.PackageError{Detail: "is b"}), "the package is b"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
