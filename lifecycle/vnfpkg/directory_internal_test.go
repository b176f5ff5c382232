package vnfpkg

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// bomb is an archive whose directory has many headers without names. It is made while it is read.
type bomb struct {
	before  string
	headers int64
	end     []byte
}

var header = append([]byte(headerBegin), make([]byte, headerLen-len(headerBegin))...)

func (b bomb) place() int64 { return int64(len(b.before)) + b.headers*headerLen }
func (b bomb) size() int64  { return b.place() + int64(len(b.end)) }

func (b bomb) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		var from []byte
		switch {
		case at < int64(len(b.before)):
			from = []byte(b.before[at:])
		case at < b.place():
			from = header[(at-int64(len(b.before)))%headerLen:]
		case at < b.size():
			from = b.end[at-b.place():]
		default:
			return n, io.EOF
		}
		n += copy(p[n:], from)
	}
	return n, nil
}

// end is an end record; its comment may hold another.
func end(entries uint16, size, offset uint32, comment []byte) []byte {
	b := append([]byte(endBegin), 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, entries)
	b = binary.LittleEndian.AppendUint32(b, size)
	b = binary.LittleEndian.AppendUint32(b, offset)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(comment)))
	return append(b, comment...)
}

// end64 is a zip64 end record that stands at a place, with its locator and what follows it.
func end64(at int64, entries, size, offset uint64, then []byte) []byte {
	b := append([]byte(end64Begin), make([]byte, 24-len(end64Begin))...)
	for _, n := range []uint64{entries, entries, size, offset} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, locatorBegin+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.LittleEndian.AppendUint32(b, 1)
	return append(b, then...)
}

// TestOpenReadsNoVastDirectory: an archive of 48 MB with a million entries takes no memory, whatever its end records say.
func TestOpenReadsNoVastDirectory(t *testing.T) {
	const (
		n       = 16<<16 + 1 // a count of 16 bits is 1
		length  = n * headerLen
		script  = "#!/bin/sh\n"
		escaped = 0xffff
	)
	zip64 := func(entries, size uint64) []byte {
		return end64(length, entries, size, 0, end(escaped, 1<<32-1, 1<<32-1, nil))
	}
	for name, b := range map[string]bomb{
		"counted":                          {headers: n, end: zip64(n, length)},
		"counted by 16 bits":               {headers: n, end: end(1, length, 0, nil)},
		"counted as none":                  {headers: n, end: end(0, length, 0, nil)},
		"counted as escaped":               {headers: n, end: end(escaped, length, 0, nil)},
		"counted as one by zip64":          {headers: n, end: zip64(1, length)},
		"counted, and not there":           {headers: n, end: end64(length, n, 0, length, end(escaped, 1<<32-1, 1<<32-1, nil))},
		"behind a script":                  {before: script, headers: n, end: end(1, length, 0, nil)},
		"behind a script, by its own size": {before: script, headers: n, end: end(1, 0, uint32(len(script)), nil)},
		"behind a comment's end":           {headers: n, end: end(0, 0, 1, end(1, length+endLen, 0, nil))},
		"before a comment's end":           {headers: n, end: append(end(0, 0, 1, nil), end(1, length+endLen, 0, []byte("hello"))...)},
		"beside another zip64 end":         {headers: n, end: end64(length, 1, 0, 0, end(1, length+end64Len+locatorLen, 0, nil))},
		"zip64 by a size of 65535":         {headers: n, end: end64(length, 1, length, 0, end(1, 0xffff, 0, nil))},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open(b, b.size(), ArchiveLimits{})
			runtime.ReadMemStats(&after)
			wantFault(t, err, "entries")
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("refusing it allocated %d bytes", took)
			}
		})
	}
}

func wantFault(t *testing.T, err error, want string) {
	t.Helper()
	var own *PackageError
	if !errors.As(err, &own) || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want an *Error that says %q", err, want)
	}
}

func named(t testing.TB, comment string, lengths ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, length := range lengths {
		if _, err := w.CreateRaw(&zip.FileHeader{Name: string(rune('a'+i)) + strings.Repeat("x", length-headerLen-1), Comment: comment}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOpenBoundsNamesAndComments: few entries make no vast directory either.
func TestOpenBoundsNamesAndComments(t *testing.T) {
	limits := ArchiveLimits{Entries: 4} // 2048 bytes
	for name, b := range map[string][]byte{
		"names":                       named(t, "", 600, 600, 900),
		"comments":                    named(t, strings.Repeat("c", 700), 50, 50, 50),
		"one more, behind all it may": named(t, "", 500, 1000, 548, 50),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(b), int64(len(b)), limits)
			wantFault(t, err, "directory of more than 2048 bytes")
		})
	}
	for name, b := range map[string][]byte{
		"2048 bytes": named(t, "", 500, 1000, 548),
		"zip64":      append(bytes.Repeat(header, 4), end64(4*headerLen, 4, 4*headerLen, 0, end(escaped, 1<<32-1, 1<<32-1, nil))...),
	} {
		if err := boundDirectory(bytes.NewReader(b), int64(len(b)), limits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpenBoundsAWrappedDirectory: the bounds hold for the package in a signed archive as well.
func TestOpenBoundsAWrappedDirectory(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string][]byte{"web.csar": named(t, "", 50, 50, 50), "web.cms": nil} {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), ArchiveLimits{Entries: 2})
	wantFault(t, err, "holds 3 entries, and may hold 2")
}

// TestOpenOfABrokenEnd: end records that lead nowhere are faults of the package.
func TestOpenOfABrokenEnd(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                        nil,
		"less than an end":               []byte(endBegin),
		"nothing but an end":             end(0, 0, 0, nil),
		"a comment that is cut off":      end(0, 0, 0, []byte("comment"))[:25],
		"a size beyond the archive":      end(1, 1<<30, 0, nil),
		"zip64 beyond the archive":       end64(1<<40, 1, 0, 0, end(escaped, 0, 0, nil)),
		"zip64 before the archive":       end64(-1, 1, 0, 0, end(escaped, 0, 0, nil)),
		"zip64 that is cut off":          end64(80, 1, 0, 0, end(escaped, 0, 0, nil)),
		"zip64 that is none":             end64(1, 1, 0, 0, end(escaped, 0, 0, nil)),
		"zip64 of a size beyond 63 bits": end64(0, 1, 1<<64-1, 1<<63, end(escaped, 0, 0, nil)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(b), int64(len(b)), ArchiveLimits{})
			wantFault(t, err, "")
		})
	}
}

// reads fails at the read of that number, and gives what it has read.
type reads struct {
	io.ReaderAt
	left int
}

var errAway = errors.New("the store is away")

func (r *reads) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, at)
	if r.left--; r.left == -1 {
		err = errAway
	}
	return n, err
}

// TestBoundsNeedTheirReads: a directory that cannot be read is none within the bounds.
func TestBoundsNeedTheirReads(t *testing.T) {
	b := append(bytes.Repeat(header, 200), end64(200*headerLen, 200, 200*headerLen, 0, end(escaped, 1<<32-1, 1<<32-1, nil))...)
	limits := ArchiveLimits{Entries: 200}
	n := 0
	for ; ; n++ {
		err := boundDirectory(&reads{bytes.NewReader(b), n}, int64(len(b)), limits)
		if err == nil {
			break
		}
		if !errors.Is(err, errAway) {
			t.Errorf("read %d fails: %v", n, err)
		}
	}
	if n < 5 { // end record, locator, zip64 end record, and the headers in two
		t.Errorf("the bounds of %d bytes are known after %d reads", len(b), n)
	}
	// What a header promises behind the end of the archive is not there to be read.
	promised := bytes.Clone(header)
	promised[28] = 200
	b = append(promised, end(1, 0, 0, nil)...)
	if err := boundDirectory(bytes.NewReader(b), int64(len(b)), limits); err != nil {
		t.Errorf("a name behind the end: %v", err)
	}
	for n := range 3 {
		b := append(bytes.Clone(promised), make([]byte, 300)...)
		b[29] = 100 // more than a buffer holds
		b = append(append(b, make([]byte, 30<<10)...), end(1, 0, 0, nil)...)
		if err := boundHeaders(io.NewSectionReader(&reads{bytes.NewReader(b), n}, 0, int64(len(b))), ArchiveLimits{Entries: 200}); !errors.Is(err, errAway) {
			t.Errorf("read %d of a long name fails: %v", n, err)
		}
	}
}

// TestALocatorAtTheBegin: an archive may begin with the locator of a zip64 end record.
func TestALocatorAtTheBegin(t *testing.T) {
	record := end64(0, 9, 0, 0, nil)[:end64Len]
	b := append([]byte(locatorBegin), 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, locatorLen+endLen)
	b = append(binary.LittleEndian.AppendUint32(b, 1), end(0, 0, 0, record)...)
	wantFault(t, boundDirectory(bytes.NewReader(b), int64(len(b)), ArchiveLimits{Entries: 8}), "holds 9 entries, and may hold 8")
	if err := boundDirectory(bytes.NewReader(b), int64(len(b)), ArchiveLimits{Entries: 9}); err != nil {
		t.Error(err)
	}
}

// What only looks like a part of the directory's end bounds nothing, and what stands at the edge of where its end is looked for does.
func TestEndsThatAreNone(t *testing.T) {
	limits := ArchiveLimits{Entries: 2}
	zip64 := end64(headerLen, 9, 0, 0, end(1, headerLen, 0, nil))
	for name, c := range map[string]struct {
		begin int // of what is another byte
		says  string
	}{
		"both": {-1, "holds 9 entries, and may hold 2"}, "no zip64 end": {0, ""}, "no locator": {end64Len, ""},
	} {
		b := append(bytes.Clone(header), bytes.Clone(zip64)...)
		if c.begin >= 0 {
			b[headerLen+c.begin]++
		}
		if err := boundDirectory(bytes.NewReader(b), int64(len(b)), limits); c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != "the package "+c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	for _, c := range []struct {
		behind int
		says   string
	}{{endWithin - endLen, "holds 3 entries, and may hold 2"}, {endWithin - endLen + 1, ""}} {
		b := append(append(bytes.Repeat(header, 3), end(3, 3*headerLen, 0, nil)...), make([]byte, c.behind)...)
		err := boundDirectory(bytes.NewReader(b), int64(len(b)), limits)
		if c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != "the package "+c.says) {
			t.Errorf("an end with %d bytes behind it: %v, want %q", c.behind, err, c.says)
		}
		_, read := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if none := errors.Is(read, zip.ErrFormat); none != (c.says == "") {
			t.Errorf("archive/zip finds an end with %d bytes behind it: %v", c.behind, read)
		}
	}
}

// FuzzDirectory: what boundDirectory lets pass archive/zip reads within the bounds.
func FuzzDirectory(f *testing.F) {
	three := named(f, "", 50, 50, 50)
	f.Add(three)
	f.Add(append([]byte("#!/bin/sh\n"), three...))
	f.Add(append(bytes.Repeat(header, 3), end64(3*headerLen, 3, 3*headerLen, 0, end(escaped, 0, 0, nil))...))
	f.Add(append(bytes.Repeat(header, 3), end64(3*headerLen, 3, 3*headerLen, 0, end(3, 0xffff, 0, nil))...))
	f.Add(append(bytes.Repeat(header, 3), end(0, 0, 0, end(3, 3*headerLen+endLen, 0, nil))...))
	f.Add(append(append([]byte("before"), bytes.Repeat(header, 3)...), end(3, 0, 6, nil)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 2
		if boundDirectory(bytes.NewReader(b), int64(len(b)), ArchiveLimits{Entries: most}) != nil {
			return
		}
		archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		text := 0
		for _, e := range archive.File {
			text += headerLen + len(e.Name) + len(e.Extra) + len(e.Comment)
		}
		if len(archive.File) > most || text > most*entryText {
			t.Errorf("archive/zip reads %d entries of %d bytes", len(archive.File), text)
		}
	})
}
