package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/export"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// book is a log in memory.
type book struct {
	t       *testing.T
	entries []audit.Entry
	tiles   map[[2]int64][]byte
	state   tree.Head
}

func (b *book) Tiles(_ context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	var found []tree.Tile
	for _, w := range wanted {
		if hashes, ok := b.tiles[[2]int64{int64(w.Level), w.Index}]; ok {
			found = append(found, tree.Tile{Level: w.Level, Index: w.Index, Hashes: hashes})
		}
	}
	return found, nil
}

func newBook(t *testing.T, n int) *book {
	t.Helper()
	b := &book{t: t, tiles: map[[2]int64][]byte{}, state: tree.Empty()}
	b.grow(n)
	return b
}

func (b *book) grow(n int) {
	b.t.Helper()
	for range n {
		b.entries = append(b.entries, audit.Kept(audit.Entry{
			Seq: int64(len(b.entries) + 1), Time: noon, Principal: "alice", Project: "core", Action: policy.LeaseIssue, Kind: policy.KindVIM,
			Resource: fmt.Sprint("vim-", len(b.entries)), Outcome: audit.Done, Detail: map[string]string{"role": "<edit>"},
		}))
	}
	to, tiles, err := audit.Grown(b.t.Context(), b, b.state, b.entries[b.state.Size:])
	if err != nil {
		b.t.Fatal(err)
	}
	for _, tile := range tiles {
		b.tiles[[2]int64{int64(tile.Level), tile.Index}] = tile.Hashes
	}
	b.state = to
}

func raw(hashes []tree.Hash) [][]byte {
	all := make([][]byte, 0, len(hashes))
	for _, h := range hashes {
		all = append(all, h[:])
	}
	return all
}

func (b *book) header(from, to int64) export.Header {
	b.t.Helper()
	proof, err := tree.ProveConsistency(b.t.Context(), b, b.state, to)
	if err != nil {
		b.t.Fatal(err)
	}
	frontier, err := tree.Frontier(b.t.Context(), b, b.state, from-1)
	if err != nil {
		b.t.Fatal(err)
	}
	return export.Header{From: from, To: to, Size: b.state.Size, Root: b.state.Root[:], Proof: raw(proof), Frontier: raw(frontier)}
}

// write goes on with the file, or begins a section, and writes at most n entries; n < 0: all.
func (b *book) write(f namedFile, from, to int64, n int) {
	b.t.Helper()
	_, w, err := export.Resume(f)
	if err != nil {
		b.t.Fatal(err)
	}
	if x, err := read(f); err != nil {
		b.t.Fatal(err)
	} else if _, open := x.Open(); !open {
		if err := w.Begin(b.header(from, to)); err != nil {
			b.t.Fatal(err)
		}
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		b.t.Fatal(err)
	}
	for seq, more := w.Next(); more; seq, more = w.Next() {
		if n == 0 {
			if err := w.Flush(); err != nil {
				b.t.Fatal(err)
			}
			return
		}
		n--
		if err := w.Add(b.entries[seq-1]); err != nil {
			b.t.Fatal(err)
		}
	}
	if state, err := w.End(); err != nil || state.Size != to {
		b.t.Fatalf("End = %v, %v", state, err)
	}
}

// named is a file that is read again by its name.
type named interface{ Name() string }

type namedFile interface {
	export.Output
	named
}

func read(f named) (*export.Export, error) {
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, err
	}
	return export.Read(bytes.NewReader(text), nil)
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "export"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestAnExportProvesItself(t *testing.T) {
	b := newBook(t, 700)
	for _, span := range [][2]int64{{1, 700}, {1, 1}, {700, 700}, {257, 600}, {1, 699}} {
		f := newFile(t)
		b.write(f, span[0], span[1], -1)
		x, err := read(f)
		if err != nil || !x.Complete() || x.From != span[0] || x.To != span[1] || x.Log != b.state || x.State.Size != span[1] {
			t.Errorf("export of %v = %+v, %v", span, x, err)
		}
	}
}

// An export that was cut anywhere goes on, and is the one that it would have been.
func TestAnExportGoesOnWhereItWasCut(t *testing.T) {
	b := newBook(t, 20)
	whole := newFile(t)
	b.write(whole, 3, 18, -1)
	want, err := os.ReadFile(whole.Name())
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(want); cut += 7 {
		f := newFile(t)
		if _, err := f.Write(want[:cut]); err != nil {
			t.Fatal(err)
		}
		if x, err := read(f); err != nil || x.Complete() {
			t.Fatalf("cut at %d: %+v, %v; want one that is not complete", cut, x, err)
		}
		b.write(f, 3, 18, -1)
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("cut at %d, the export is another:\n%s", cut, got)
		}
	}
}

func TestSectionsFollowEachOther(t *testing.T) {
	b := newBook(t, 300)
	f := newFile(t)
	b.write(f, 1, 300, -1)
	b.grow(300)
	b.write(f, 301, 600, 10)
	if x, err := read(f); err != nil || x.Complete() || x.To != 310 || x.State.Size != 300 {
		t.Errorf("in the middle of the second section: %+v, %v", x, err)
	}
	b.write(f, 301, 600, -1)
	if x, err := read(f); err != nil || !x.Complete() || x.From != 1 || x.To != 600 || x.Log != b.state {
		t.Errorf("%+v, %v", x, err)
	}
	other := newBook(t, 300) // another log of the same size
	other.entries[299].Principal = "mallet"
	forged := &book{t: t, tiles: map[[2]int64][]byte{}, state: tree.Empty(), entries: other.entries}
	forged.grow(10)
	_, w, err := export.Resume(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(forged.header(301, 310)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := read(f); err == nil {
		t.Error("a section of another log goes on from this one")
	}
}

func TestEveryChangeOfAnExportIsFound(t *testing.T) {
	b := newBook(t, 12)
	f := newFile(t)
	b.write(f, 2, 11, -1)
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	// A forger who knows how leaves are made makes them anew.
	forged := slices.Clone(b.entries)
	for i := 4; i < len(forged); i++ {
		forged[i].Principal = "mallet"
	}
	reforged := slices.Clone(lines)
	for i := 4; i < 11; i++ {
		line, err := audit.Line(forged[i])
		if err != nil {
			t.Fatal(err)
		}
		leaf := tree.Leaf(line)
		reforged[i] = fmt.Sprintf(`{"seq":%d,"leaf":"%s","entry":%s}`, i+1, leaf, line)
	}
	again := &book{t: t, tiles: map[[2]int64][]byte{}, state: tree.Empty(), entries: forged[:11]}
	again.grow(0)
	wholly := append(slices.Clone(reforged[:11]), fmt.Sprintf(`{"end":11,"root":"%s"}`, again.state.Root))
	for name, changed := range map[string][]string{
		"wholly":          wholly,
		"another leaf":    slices.Concat(lines[:3], []string{strings.Replace(lines[3], `"leaf":"`, `"leaf":"A`, 1)}, lines[4:]),
		"a leaf's byte":   slices.Concat(lines[:3], []string{leafOf(lines[3], lines[4])}, lines[4:]),
		"edited":          slices.Concat(lines[:3], []string{strings.Replace(lines[3], "alice", "mallet", 1)}, lines[4:]),
		"removed":         slices.Delete(slices.Clone(lines), 3, 4),
		"doubled":         slices.Insert(slices.Clone(lines), 3, lines[3]),
		"reordered":       slices.Concat(lines[:3], []string{lines[4], lines[3]}, lines[5:]),
		"rewritten":       reforged,
		"first cut":       lines[1:],
		"last cut":        slices.Delete(slices.Clone(lines), len(lines)-2, len(lines)-1),
		"another root":    slices.Concat(lines[:len(lines)-1], []string{`{"end":11,"root":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}`}),
		"another header":  slices.Concat([]string{strings.Replace(lines[0], `"to":11`, `"to":10`, 1)}, lines[1:]),
		"not JSON":        slices.Concat(lines[:3], []string{"x"}, lines[3:]),
		"spaces":          slices.Concat(lines[:3], []string{strings.Replace(lines[3], `"request":`, `"request": `, 1)}, lines[4:]),
		"something after": append(slices.Clone(lines), "{}"),
		"unknown field":   slices.Concat(lines[:3], []string{strings.Replace(lines[3], `{"seq"`, `{"x":1,"seq"`, 1)}, lines[4:]),
	} {
		var fault *export.FaultError
		if x, err := export.Read(strings.NewReader(strings.Join(changed, "\n")+"\n"), nil); !errors.As(err, &fault) {
			t.Errorf("%s: %+v, %v; want a fault", name, x, err)
		}
	}
	if _, err := export.Read(strings.NewReader(strings.Repeat("x", 2<<20)), nil); err == nil {
		t.Error("a line without end was read")
	}
}

// The newest section covers those before, so that its header alone has to be trusted.
func TestTheNewestSectionHasToBeTrusted(t *testing.T) {
	b := newBook(t, 6)
	f := newFile(t)
	b.write(f, 1, 6, -1)
	b.grow(4)
	b.write(f, 7, 10, -1)
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	for i, trusted := range [][]int64{{}, {6}, {10}, {6, 10}} {
		x, err := export.Read(bytes.NewReader(text), func(h export.Header) error {
			if !slices.Contains(trusted, h.To) {
				return errors.New("nobody signed it")
			}
			return nil
		})
		var fault *export.FaultError
		if i >= 2 && (err != nil || !x.Complete() || x.Signed || x.Lines != 14) ||
			i < 2 && (!errors.As(err, &fault) || fault.Line != 9 || fault.Fault != "nobody signed it") {
			t.Errorf("with the sections up to %v trusted: %+v, %v; want a fault in line 9: %t", trusted, x, err, i < 2)
		}
	}
}

// An export is signed where its newest complete section is, whatever those before are.
func TestTheNewestSectionIsSigned(t *testing.T) {
	for _, signed := range [][]bool{{false}, {true}, {true, false}, {false, true}, {true, true}} {
		b, f := newBook(t, 0), newFile(t)
		for n, is := range signed {
			b.grow(2)
			_, w, err := export.Resume(f)
			if err != nil {
				t.Fatal(err)
			}
			h := b.header(int64(2*n+1), int64(2*n+2))
			if is {
				h.Checkpoint = "signed"
			}
			err = errors.Join(w.Begin(h), w.Add(b.entries[2*n]), w.Add(b.entries[2*n+1]))
			if _, endErr := w.End(); err != nil || endErr != nil {
				t.Fatal(err, endErr)
			}
		}
		x, err := read(f)
		if err != nil || x.Signed != signed[len(signed)-1] {
			t.Errorf("of sections that are signed as %v: %+v, %v", signed, x, err)
		}
	}
}

// leafOf is a line with the leaf of another.
func leafOf(line, other string) string {
	_, leaf, _ := strings.Cut(other, `"leaf":"`)
	before, rest, _ := strings.Cut(line, `"leaf":"`)
	return before + `"leaf":"` + leaf[:44] + rest[44:]
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"vimbrokerAudit":1,"from":1,"to":1,"size":1,"root":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=","proof":[],"frontier":[]}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := export.Read(bytes.NewReader(text), nil); err == nil && x.Complete() && x.State.Size != x.To {
			t.Errorf("%q is a whole export of %+v", text, x)
		}
	})
}
