package vnfpkg_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// stored is an archive whose files are not compressed.
func stored(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		e, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err == nil {
			_, err = e.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlainPath(t *testing.T) {
	for path, want := range map[string]bool{
		"a": true, "a/b c.yaml": true, strings.Repeat("x", 1024): true, "é": true,
		"": false, ".": false, "..": false, "a/": false, "/a": false, "a//b": false, strings.Repeat("x", 1025): false, "a\xff": false,
		"a\x1f": false, "a\x7f": false, `a\b`: false, "a:b": false,
	} {
		if got := vnfpkg.PlainPath(path); got != want {
			t.Errorf("PlainPath(%.20q) = %t, want %t", path, got, want)
		}
	}
}

// What is just within the limits is taken: a byte less, or an entry less, and it is not.
func TestOpenAtTheLimits(t *testing.T) {
	files := append(whole(), file{name: "Files/odd", mode: fs.ModeDir | 0o755})
	b, unpacked := stored(t, whole()...), int64(0)
	for _, f := range whole() {
		unpacked += int64(len(f.text))
	}
	most := vnfpkg.ArchiveLimits{Entries: 3, Unpacked: unpacked, Text: int64(len(top))}
	c, err := open(b, most)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.Read("Definitions/top.yaml"); err != nil || string(text) != top {
		t.Errorf("Read of the longest text = %d bytes, %v", len(text), err)
	}
	less := most
	less.Unpacked--
	_, err = open(b, less)
	wantFault(t, err, "unpacks to more than")
	less = most
	less.Text--
	c, err = open(b, less)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Read("Definitions/top.yaml")
	wantFault(t, err, "may have")
	_, err = c.Descriptor()
	wantFault(t, err, "may have")
	if names, err := c.Definitions(); err == nil {
		t.Errorf("Definitions of what cannot be read = %q", names)
	}
	_, err = c.Topology("simple")
	wantFault(t, err, "may have")
	if c, err = open(archive(t, files...), vnfpkg.ArchiveLimits{}); err != nil || !c.Has("Files/odd") {
		t.Errorf("an entry that calls itself a folder, and is named as a file: %v", err)
	}
}

// TestMetadataForms opens packages whose metadata says the same in other ways.
func TestMetadataForms(t *testing.T) {
	const twice = "Source: " + deployment + "\nAlgorithm: SHA-256\n"
	entry := func(text string) file { return file{name: vnfpkg.MetaFile, text: text} }
	rest := whole()[1:]
	for name, c := range map[string]struct {
		files []file
		want  vnfpkg.Artifact // the one
	}{
		"a value on two lines": {
			append([]file{entry("Entry-Definitions: Definitions/\n top.yaml\n\nName: " + deployment + "\n")}, rest...), vnfpkg.Artifact{Path: deployment},
		},
		"pairs that are indented": {
			append([]file{
				entry("Entry-Definitions: Definitions/top.yaml\nEntry-Manifest: m.mf\n"),
				{name: "m.mf", text: "Source: " + deployment + "\n Content-Type: a/b\n Algorithm: SHA-256\n Hash: " + sum(manifest) + "\n"},
			}, rest...),
			vnfpkg.Artifact{Path: deployment, ContentType: "a/b", Algorithm: "SHA-256", Hash: sum(manifest)},
		},
		"pairs without a space": {
			append([]file{entry("Entry-Definitions:Definitions/top.yaml\n\nName:" + deployment + "\nContent-Type:a/b\n")}, rest...),
			vnfpkg.Artifact{Path: deployment, ContentType: "a/b"},
		},
		"what lies elsewhere": {
			append([]file{entry("Entry-Definitions: Definitions/top.yaml\n\nName: https://example.org/a\n\nName: " + deployment + "\n")}, rest...),
			vnfpkg.Artifact{Path: deployment},
		},
		"a comment": {append([]file{entry("# x\nEntry-Definitions: Definitions/top.yaml\n")}, rest...), vnfpkg.Artifact{}},
		"a file of YAML by its shorter name": {
			[]file{{name: "web.yml", text: top}, {name: "web.mf", text: "metadata: \n\nSource: ./" + deployment + "\nContent-Type: a/b\n"}, rest[1]},
			vnfpkg.Artifact{Path: deployment, ContentType: "a/b"},
		},
		"a manifest further down that nothing names": {
			append([]file{entry("Entry-Definitions: Definitions/top.yaml\n"), {name: "Files/other.mf", text: "x"}}, rest...), vnfpkg.Artifact{},
		},
		"the source behind the hash": {
			append([]file{
				entry("Entry-Definitions: Definitions/top.yaml\nEntry-Manifest: m.mf\n"),
				{name: "m.mf", text: "Algorithm: SHA-256\nSource: " + deployment + "\nHash: " + sum(manifest) + "\n"},
			}, rest...),
			vnfpkg.Artifact{Path: deployment, Algorithm: "SHA-256", Hash: sum(manifest)},
		},
		"the hash in both files": {
			append([]file{
				entry("Entry-Definitions: Definitions/top.yaml\nETSI-Entry-Manifest: m.mf\n\nName: " + deployment + "\nAlgorithm: SHA-256\nHash: " + sum(manifest) + "\n"),
				{name: "m.mf", text: twice + "Hash: " + sum(manifest) + "\n"},
			}, rest...),
			vnfpkg.Artifact{Path: deployment, Algorithm: "SHA-256", Hash: sum(manifest)},
		},
		"the hash in the first alone": {
			append([]file{
				entry("Entry-Definitions: Definitions/top.yaml\nETSI-Entry-Manifest: m.mf\n\nName: " + deployment + "\nAlgorithm: SHA-256\nHash: " + sum(manifest) + "\n"),
				{name: "m.mf", text: "Source: " + deployment + "\nContent-Type: a/b\n"},
			}, rest...),
			vnfpkg.Artifact{Path: deployment, ContentType: "a/b", Algorithm: "SHA-256", Hash: sum(manifest)},
		},
		"the hash in the second alone": {
			append([]file{
				entry("Entry-Definitions: Definitions/top.yaml\nETSI-Entry-Manifest: m.mf\n\nName: " + deployment + "\nContent-Type: a/b\n"),
				{name: "m.mf", text: twice + "Hash: " + sum(manifest) + "\n"},
			}, rest...),
			vnfpkg.Artifact{Path: deployment, ContentType: "a/b", Algorithm: "SHA-256", Hash: sum(manifest)},
		},
	} {
		opened, err := open(archive(t, c.files...), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want []vnfpkg.Artifact
		if c.want.Path != "" {
			want = append(want, c.want)
		}
		if !slices.Equal(opened.Artifacts, want) {
			t.Errorf("%s: artifacts %+v, want %+v", name, opened.Artifacts, want)
		}
		hashed, err := opened.Hashed()
		for _, a := range hashed {
			if a.Algorithm != "SHA-256" || a.Hash != sum(manifest) || a.ContentType != c.want.ContentType {
				t.Errorf("%s: hashed %+v", name, a)
			}
		}
		if err != nil || len(hashed) != len(want) || c.want.Hash == "" && len(want) > 0 && opened.Artifacts[0].Hash != "" {
			t.Errorf("%s: Hashed = %+v, %v, beside %+v", name, hashed, err, opened.Artifacts)
		}
	}
}

func TestMetadataFaults(t *testing.T) {
	entry := "Entry-Definitions: Definitions/top.yaml\nEntry-Manifest: m.mf\n"
	for name, c := range map[string]struct{ meta, manifest, says string }{
		"nothing":                       {"# nothing\n", "", "does not name its Entry-Definitions"},
		"a continuation of nothing":     {" x\n" + entry, "", "in line 1"},
		"a manifest that is not there":  {strings.Replace(entry, "m.mf", "n.mf", 1), "", "n.mf in the package is not there"},
		"a manifest of another form":    {entry, "a: b\n\nx\n", "m.mf in the package has no \"key: value\" in line 3"},
		"a manifest of another text":    {entry, "a: \xff\n", "m.mf in the package is not UTF-8 text"},
		"a manifest of a missing file":  {entry, "Source: gone\n", "is named in m.mf and is not there"},
		"half an algorithm":             {entry, "Source: " + deployment + "\nAlgorithm: SHA\nHash: 00\n", "algorithm that is not supported"},
		"another hash, in the manifest": {entry, "Source: " + deployment + "\nAlgorithm: SHA256\nHash: 00\n", "does not have the hash"},
	} {
		_, err := open(archive(t, append([]file{{name: vnfpkg.MetaFile, text: c.meta}, {name: "m.mf", text: c.manifest}}, whole()[1:]...)...), vnfpkg.ArchiveLimits{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// The artifacts and the paths of a package are in the order of their names, whichever order they stand in; a folder that stands
// there by itself is none of them. Of a hash that the package says the algorithm stays.
func TestWhatAPackageHolds(t *testing.T) {
	long := sha512.Sum512([]byte(manifest))
	var files []file
	var want []vnfpkg.Artifact
	blocks := []string{"Name: " + deployment + "\nAlgorithm: sha512\nHash: " + hex.EncodeToString(long[:])}
	for n := range 10 {
		name := fmt.Sprintf("Files/a%d", n)
		files = append([]file{{name: name, text: manifest}}, files...)
		blocks = append([]string{"Name: ./" + name}, blocks...)
		want = append(want, vnfpkg.Artifact{Path: name, Algorithm: "SHA-256", Hash: sum(manifest)})
	}
	want = append(want, vnfpkg.Artifact{Path: deployment, Algorithm: "SHA-512", Hash: hex.EncodeToString(long[:])})
	c, err := open(archive(t, append(append(files, whole()[1:]...), meta(blocks...), file{name: "Files/empty/"}, file{name: "empty/"})...), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Hashed(); err != nil || !slices.Equal(got, want) {
		t.Errorf("Hashed = %+v, %v, want %+v", got, err, want)
	}
	paths := []string{"Definitions/top.yaml"}
	for _, a := range want {
		paths = append(paths, a.Path)
	}
	if got := c.Paths(""); !slices.Equal(got, append(paths, vnfpkg.MetaFile)) {
		t.Errorf("Paths = %q", got)
	}
}

// What a directory says in another order than that of the files, or of two empty files at one place, is no overlap.
func TestADirectoryInAnyOrder(t *testing.T) {
	b := stored(t, append(whole(), file{name: "Files/a", text: "first"}, file{name: "Files/b", text: "second"})...)
	first, second := b[directoryOf(b, "Files/a"):][:46+len("Files/a")], b[directoryOf(b, "Files/b"):][:46+len("Files/b")]
	kept := bytes.Clone(first)
	copy(first, second)
	copy(second, kept)
	c, err := open(b, vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.Read("Files/a"); err != nil || string(text) != "first" {
		t.Errorf("Files/a holds %q, %v", text, err)
	}
	b = stored(t, append(whole(), file{name: "Files/a"}, file{name: "Files/b"})...)
	copy(b[directoryOf(b, "Files/b")+42:][:4], b[directoryOf(b, "Files/a")+42:])
	if _, err := open(b, vnfpkg.ArchiveLimits{}); err != nil {
		t.Errorf("two empty files at one place: %v", err)
	}
}

// headerOf is the place of a file's own header, which stands before its bytes; directoryOf that of its entry in the directory.
func headerOf(b []byte, name string) int {
	at := bytes.Index(b, []byte(name)) - 30
	for !bytes.HasPrefix(b[at:], []byte("PK\x03\x04")) {
		at += 31 + bytes.Index(b[at+31:], []byte(name)) - 30
	}
	return at
}
func directoryOf(b []byte, name string) int { return bytes.LastIndex(b, []byte(name)) - 46 }

// TestDamagedArchives: a header, a checksum or a size that is wrong is a fault of the file that has it.
func TestDamagedArchives(t *testing.T) {
	s := newScene(t)
	wrapped := func() []byte {
		csar := string(archive(t, s.files...))
		return stored(t, file{name: "web.csar", text: csar}, file{name: "web.cms", text: s.good.sign(t, csar, how{})})
	}
	for name, c := range map[string]struct {
		b     []byte
		spoil func(b []byte)
		says  string
	}{
		"a header":               {stored(t, whole()...), func(b []byte) { b[headerOf(b, deployment)] = 0 }, "is a damaged ZIP archive"},
		"the bytes of a file":    {stored(t, whole()...), func(b []byte) { b[headerOf(b, deployment)+30+len(deployment)]++ }, deployment + " in the package cannot be unpacked"},
		"a wrapped header":       {wrapped(), func(b []byte) { b[headerOf(b, "web.csar")] = 0 }, "web.csar in the package cannot be unpacked"},
		"a signature's header":   {wrapped(), func(b []byte) { b[headerOf(b, "web.cms")] = 0 }, "web.cms in the package cannot be unpacked"},
		"a signature's bytes":    {wrapped(), func(b []byte) { b[headerOf(b, "web.cms")+30+len("web.cms")]++ }, "web.cms in the package cannot be unpacked"},
		"a size of a signature":  {wrapped(), func(b []byte) { binary.LittleEndian.PutUint32(b[directoryOf(b, "web.cms")+24:], 10) }, "web.cms in the package cannot be unpacked"},
		"too long a signature":   {wrapped(), func(b []byte) { binary.LittleEndian.PutUint32(b[directoryOf(b, "web.cms")+24:], 256<<10+1) }, "web.cms in the package unpacks to more than 262144"},
		"too large a compressed": {wrapped(), func(b []byte) { binary.LittleEndian.PutUint32(b[directoryOf(b, "web.csar")+24:], 64<<20+1) }, "web.csar in the package unpacks to more than 67108864"},
		"a size of a compressed": {wrapped(), func(b []byte) { binary.LittleEndian.PutUint32(b[directoryOf(b, "web.csar")+24:], 64<<20) }, "web.csar in the package cannot be unpacked"},
	} {
		c.spoil(c.b)
		_, err := open(c.b, vnfpkg.ArchiveLimits{})
		if own, is := errors.AsType[*vnfpkg.PackageError](err); !is || !strings.Contains(own.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	// Of a file without a hash the damage shows where it is read.
	b := stored(t, append(whole(), file{name: "Files/free", text: "abc"})...)
	b[headerOf(b, "Files/free")+30+len("Files/free")]++
	c, err := open(b, vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Read("Files/free")
	wantFault(t, err, "Files/free in the package cannot be unpacked")
}

// A package that was taken is opened again without comparing hashes, and what is damaged then has no valid signature.
func TestReopenComparesNoHash(t *testing.T) {
	s := newScene(t)
	text := singly(hashed(s.files...), "")
	m := vnfpkg.MetaFile
	b := stored(t, append([]file{
		{name: m, text: "Entry-Definitions: web.yaml\nEntry-Manifest: web.mf\n\nName: " + deployment + "\nAlgorithm: SHA-256\nHash: " + sum(manifest) + "\n"},
		{name: "web.mf", text: text},
		own(s.good.sign(t, manifest, how{})),
	}, s.files...)...)
	at := bytes.Index(b, []byte(manifest))
	b[at]++
	c, err := vnfpkg.Reopen(bytes.NewReader(b), int64(len(b)), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Verify(vnfpkg.Signers{Now: now})
	wantFault(t, err, "cannot be unpacked")
	_, err = open(b, vnfpkg.ArchiveLimits{})
	wantFault(t, err, deployment+" in the package cannot be unpacked")
}

var errAway = errors.New("the store is away")

// failing reads so many times; then it gives the bytes, and an error beside them.
type failing struct {
	io.ReaderAt
	reads int
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, at)
	if f.reads--; f.reads < 0 {
		err = errAway
	}
	return n, err
}

// Whatever read fails, nothing is taken for what it is not: the error is that of the reader, or that the file cannot be unpacked.
func TestAReaderThatFails(t *testing.T) {
	s := newScene(t)
	text := singly(hashed(s.files...), "one.cert")
	signed := s.option1(t, text, s.good.sign(t, text, how{bare: true}), own(s.good.sign(t, manifest, how{bare: true})),
		file{name: "one.cert", text: s.good.pem()}, file{name: "web.cert", text: s.good.pem()})
	trust := vnfpkg.Signers{Roots: pool(s.root), Now: now}
	told := func(err error) bool {
		own, is := errors.AsType[*vnfpkg.PackageError](err)
		return errors.Is(err, errAway) || is && (strings.Contains(own.Detail, "cannot be unpacked") || strings.Contains(own.Detail, "damaged"))
	}
	for name, b := range map[string][]byte{
		"a package": archive(t, whole()...), "a bare descriptor": []byte(simpleProfile),
		"a signed manifest": signed, "a wrapped package": s.option2(t, func(csar string) string { return s.good.sign(t, csar, how{}) }),
	} {
		opened, verified := false, false
		for reads := 0; !opened || !verified; reads++ {
			if reads > 10_000 {
				t.Fatalf("%s is read without end", name)
			}
			_, err := vnfpkg.Open(&failing{bytes.NewReader(b), reads}, int64(len(b)), vnfpkg.ArchiveLimits{})
			if !opened && err != nil && !told(err) {
				t.Errorf("%s, read %d fails: Open = %v", name, reads, err)
			}
			opened = opened || err == nil
			verified = true
			if name == "a signed manifest" {
				r := &failing{bytes.NewReader(b), 10_000}
				c, err := vnfpkg.Open(r, int64(len(b)), vnfpkg.ArchiveLimits{})
				if err != nil {
					t.Fatal(err)
				}
				r.reads = reads
				signer, err := c.Verify(trust)
				if verified = err == nil; !verified && !told(err) || verified != (signer != "") {
					t.Errorf("%s, read %d fails: Verify = %q, %v", name, reads, signer, err)
				}
			}
		}
	}
	r := &failing{bytes.NewReader(signed), 10_000}
	c, err := vnfpkg.Open(r, int64(len(signed)), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	r.reads = 0
	c.Artifacts[0].Algorithm, c.Artifacts[0].Hash = "", ""
	if all, err := c.Hashed(); !told(err) {
		t.Errorf("Hashed without the store = %v, %v", all, err)
	}
}

// once has one read fail: with the bytes beside the error, or with none.
type once struct {
	io.ReaderAt
	before int
	bytes  bool
}

func (o *once) ReadAt(p []byte, at int64) (int, error) {
	if o.before--; o.before != -1 {
		return o.ReaderAt.ReadAt(p, at)
	}
	n := 0
	if o.bytes {
		n, _ = o.ReaderAt.ReadAt(p, at)
	}
	return n, errAway
}

// One read that fails, before others that do not, has nothing taken for what it is not.
func TestAReadThatFailsOnce(t *testing.T) {
	s := newScene(t)
	text := singly(hashed(s.files...), "one.cert")
	signed := s.option1(t, text, s.good.sign(t, text, how{bare: true}), own(s.good.sign(t, manifest, how{bare: true})),
		file{name: "one.cert", text: s.good.pem()}, file{name: "web.cert", text: s.good.pem()})
	for name, b := range map[string][]byte{
		"a package": archive(t, whole()...), "a bare descriptor": []byte(simpleProfile), "a signed manifest": signed,
		"what was cut off":  archive(t, whole()...)[:200],
		"a wrapped package": s.option2(t, func(csar string) string { return s.good.sign(t, csar, how{}) }),
	} {
		whole, why := seen(bytes.NewReader(b), int64(len(b)), s.root)
		for _, given := range []bool{true, false} {
			for n := 0; ; n++ {
				r := &once{bytes.NewReader(b), n, given}
				got, err := seen(r, int64(len(b)), s.root)
				if r.before >= 0 {
					if got != whole || fmt.Sprint(err) != fmt.Sprint(why) {
						t.Errorf("%s is %q, %v, want %q, %v", name, got, err, whole, why)
					}
					break
				}
				own, is := errors.AsType[*vnfpkg.PackageError](err)
				if given && err == nil && got == whole {
					continue // the bytes were there
				}
				if !errors.Is(err, errAway) && (!is || !strings.Contains(own.Detail, "cannot be unpacked") && !strings.Contains(own.Detail, "damaged")) {
					t.Errorf("%s, of which read %d fails: %q, %v", name, n, got, err)
				}
			}
		}
	}
}

// seen is what comes of a package: its signer and its VNFD.
func seen(r io.ReaderAt, size int64, root *signer) (string, error) {
	c, err := vnfpkg.Open(r, size, vnfpkg.ArchiveLimits{})
	if err != nil {
		return "", err
	}
	by, err := c.Verify(vnfpkg.Signers{Roots: pool(root), Now: now})
	if err != nil {
		return "", err
	}
	d, err := c.Descriptor()
	if _, is := errors.AsType[*vnfpkg.PackageError](err); is && strings.Contains(err.Error(), "types.yaml") {
		err = nil // it brings no other definitions
	}
	return fmt.Sprint(by, d.ID), err
}
