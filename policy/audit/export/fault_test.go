package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/export"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// linesOf are those of a whole export of the second to the eleventh of twelve entries.
func linesOf(t *testing.T) (*book, []string) {
	t.Helper()
	b := newBook(t, 12)
	f := newFile(t)
	b.write(f, 2, 11, -1)
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// Each header says one thing that no log can be, and is refused for that alone, by who reads it and by who would write it.
func TestEachFaultOfAHeaderIsNamed(t *testing.T) {
	b, lines := linesOf(t)
	short := [][]byte{make([]byte, 31)}
	for name, c := range map[string]struct {
		spoil func(h *export.Header)
		says  string
	}{
		"from nothing":        {func(h *export.Header) { h.From, h.Frontier = 0, nil }, "entries that the log cannot have"},
		"backwards":           {func(h *export.Header) { h.To = 1 }, "entries that the log cannot have"},
		"more than there are": {func(h *export.Header) { h.Size = 10 }, "entries that the log cannot have"},
		"a short root":        {func(h *export.Header) { h.Root = short[0] }, "another length"},
		"a short proof":       {func(h *export.Header) { h.Proof = short }, "another length"},
		"a short frontier":    {func(h *export.Header) { h.Frontier = short }, "another length"},
		"no frontier":         {func(h *export.Header) { h.Frontier = nil }, "the frontier is not"},
	} {
		h := b.header(2, 11)
		c.spoil(&h)
		h.Format = 1
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var fault *export.FaultError
		_, err = export.Read(strings.NewReader(string(text)+"\n"+strings.Join(lines[1:], "\n")+"\n"), nil)
		if !errors.As(err, &fault) || fault.Line != 1 || !strings.Contains(fault.Fault, c.says) {
			t.Errorf("%s: Read = %v, want a fault of line 1 that says %q", name, err, c.says)
		}
		_, w, err := export.Resume(newFile(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Begin(h); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Begin = %v, want one that says %q", name, err, c.says)
		}
	}
	for name, c := range map[string]struct {
		lines []string
		line  int64
		says  string
	}{
		"another format":        {[]string{strings.Replace(lines[0], `Audit":1`, `Audit":2`, 1)}, 1, "format 1"},
		"no header":             {[]string{"{}x"}, 1, "no header"},
		"two headers":           {[]string{lines[0] + lines[0]}, 1, "no header"},
		"another number":        {[]string{lines[0], strings.Replace(lines[1], `{"seq":2,"leaf`, `{"seq":3,"leaf`, 1)}, 2, "entry 3 was altered"},
		"an entry that is none": {append([]string{lines[0], strings.Replace(lines[1], `"entry":{`, `"entry":{"zz":1,`, 1)}, lines[2:]...), 2, ""},
		"a trailer with more":   {append(slices.Clone(lines[:11]), strings.Replace(lines[11], `}`, `,"x":1}`, 1)), 12, "no trailer"},
		"a trailer of another":  {append(slices.Clone(lines[:11]), strings.Replace(lines[11], `"end":11`, `"end":10`, 1)), 12, "not the one"},
		"a trailer too early":   {append(slices.Clone(lines[:10]), lines[11]), 11, "entry 11 is missing"},
	} {
		var fault *export.FaultError
		_, err := export.Read(strings.NewReader(strings.Join(c.lines, "\n")+"\n"), nil)
		if !errors.As(err, &fault) || fault.Line != c.line || !strings.Contains(fault.Fault, c.says) {
			t.Errorf("%s: Read = %v, want a fault of line %d that says %q", name, err, c.line, c.says)
		}
	}
}

// The second section names the entry that follows the first, and goes on from the tree of this log.
func TestASectionOfAnotherLogDoesNotFollow(t *testing.T) {
	other := newBook(t, 20)
	for i := range other.entries {
		other.entries[i].Principal = "mallet"
	}
	forged := &book{t: t, tiles: map[[2]int64][]byte{}, state: tree.Empty(), entries: other.entries}
	forged.grow(0)
	for name, second := range map[string]func(own *book) export.Header{
		"another log": func(*book) export.Header { return forged.header(13, 20) },
		"another log that is signed": func(*book) export.Header {
			h := forged.header(13, 20)
			h.Checkpoint = "signed"
			return h
		},
		"a gap":     func(own *book) export.Header { return own.header(14, 20) },
		"once more": func(own *book) export.Header { return own.header(1, 12) },
	} {
		own, f := newBook(t, 20), newFile(t)
		own.write(f, 1, 12, -1)
		_, w, err := export.Resume(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Begin(second(own)), w.Flush()); err != nil {
			t.Fatal(err)
		}
		var fault *export.FaultError
		if _, err := read(f); !errors.As(err, &fault) || fault.Line != 15 || !strings.Contains(fault.Fault, "does not go on") {
			t.Errorf("%s: Read = %v, want line 15 that does not go on", name, err)
		}
	}
}

// broken is a file in memory whose operations fail from the one on that is named.
type broken struct {
	bytes.Buffer
	fails map[string]error
	seeks int
}

func (b *broken) Read(p []byte) (int, error) {
	if err := b.fails["read"]; err != nil {
		return 0, err
	}
	return b.Buffer.Read(p)
}

func (b *broken) Write(p []byte) (int, error) {
	if err := b.fails["write"]; err != nil {
		return 0, err
	}
	return b.Buffer.Write(p)
}

func (b *broken) Seek(int64, int) (int64, error) {
	if b.seeks++; b.seeks == 2 {
		return 0, b.fails["seek again"]
	}
	return 0, b.fails["seek"]
}

func (b *broken) Truncate(int64) error { return b.fails["truncate"] }
func (b *broken) Sync() error          { return b.fails["sync"] }

func TestAFileThatFailsStopsAnExport(t *testing.T) {
	b := newBook(t, 2)
	away := errors.New("the disk is away")
	whole := func(f *broken) error {
		_, w, err := export.Resume(f)
		if err != nil {
			return err
		}
		if err := w.Begin(b.header(1, 2)); err != nil {
			return err
		}
		if err := errors.Join(w.Add(b.entries[0]), w.Add(b.entries[1])); err != nil {
			return err
		}
		_, err = w.End()
		return err
	}
	if err := whole(&broken{}); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"seek", "read", "truncate", "seek again", "write", "sync"} {
		if err := whole(&broken{fails: map[string]error{op: away}}); !errors.Is(err, away) {
			t.Errorf("an export to a file that fails to %s ends with %v", op, err)
		}
	}
	if _, err := export.Read(iotest.ErrReader(away), nil); !errors.Is(err, away) {
		t.Errorf("Read of what cannot be read = %v", err)
	}
	// What the buffer does not hold fails where it is written.
	f := &broken{}
	_, w, err := export.Resume(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(b.header(1, 2)); err != nil {
		t.Fatal(err)
	}
	f.fails = map[string]error{"write": away}
	if err := w.Flush(); !errors.Is(err, away) {
		t.Errorf("Flush = %v", err)
	}
	if err := w.Add(b.entries[0]); !errors.Is(err, away) {
		t.Errorf("Add = %v", err)
	}
	if err := w.Add(b.entries[1]); !errors.Is(err, away) {
		t.Errorf("Add = %v", err)
	}
	if _, err := w.End(); !errors.Is(err, away) {
		t.Errorf("End = %v", err)
	}
	_, w, err = export.Resume(&broken{})
	if err != nil {
		t.Fatal(err)
	}
	h := b.header(1, 2)
	h.Checkpoint = strings.Repeat("x", 300<<10)
	_, bad, err := export.Resume(&broken{fails: map[string]error{"write": away}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bad.Begin(h); !errors.Is(err, away) {
		t.Errorf("Begin with a header that no buffer holds = %v", err)
	}
	h.Keys = json.RawMessage("{")
	if err := w.Begin(h); err == nil || !strings.Contains(err.Error(), "encoding a line") {
		t.Errorf("Begin with keys that are no JSON = %v", err)
	}
}

// A writer takes the entries that its section names, in their order, and one section at a time.
func TestAWriterTakesWhatItsHeaderNames(t *testing.T) {
	b := newBook(t, 4)
	_, w, err := export.Resume(&broken{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(b.header(1, 2)); err != nil {
		t.Fatal(err)
	}
	damaged := b.entries[0]
	damaged.Damaged = true
	end := func() error { _, err := w.End(); return err }
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"a second section": {w.Begin(b.header(1, 2)), "is open"},
		"a later entry":    {w.Add(b.entries[1]), "entry 1 is missing"},
		"a damaged entry":  {w.Add(damaged), "cannot be read"},
		"an end too early": {end(), "entry 1 is missing"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v, want one that says %q", name, c.err, c.says)
		}
	}
	for i, e := range b.entries[:2] {
		if seq, more := w.Next(); seq != int64(i+1) || !more {
			t.Errorf("Next = %d, %t", seq, more)
		}
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, more := w.Next(); more {
		t.Error("a section that is complete wants more")
	}
	if err := w.Add(b.entries[2]); err == nil || !strings.Contains(err.Error(), "none of those") {
		t.Errorf("an entry beyond the header's last = %v", err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := w.Begin(b.header(3, 4)); err != nil {
		t.Errorf("a section after the end of one = %v", err)
	}
	altered := b.entries[2]
	altered.Principal = "mallet"
	if err := errors.Join(w.Add(altered), w.Add(b.entries[3])); err != nil {
		t.Fatal(err)
	}
	if err := end(); err == nil || !strings.Contains(err.Error(), "from 3 to 4 are not those of the log") {
		t.Errorf("the end of a section with an altered entry = %v", err)
	}
}

// A line of exactly a mebibyte is read, and refused for what it says.
func TestTheLongestLine(t *testing.T) {
	for size, says := range map[int]string{1 << 20: "no header", 1<<20 + 1: "longer than any line"} {
		_, err := export.Read(io.MultiReader(strings.NewReader(strings.Repeat("x", size-1)+"\n")), nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a line of %d bytes with its break: %v, want one that says %q", size, err, says)
		}
	}
	if x, err := export.Read(strings.NewReader(""), nil); err != nil || x.Complete() || x.Lines != 0 {
		t.Errorf("an empty export = %+v, %v", x, err)
	}
	if _, err := audit.ParseLine([]byte("{")); err == nil {
		t.Error("half an object is an entry")
	}
}
