package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Output is the destination of an export: an [os.File].
type Output interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
	Sync() error
}

// Writer writes the rest of a section. It belongs to one goroutine.
type Writer struct {
	file Output
	out  *bufio.Writer
	open *section
}

// Resume verifies the content of a file and cuts off an unfinished line. The writer is nil
// if no section is open: [Writer.Begin] begins one.
func Resume(f Output) (*Export, *Writer, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, nil, err
	}
	x, err := Read(f, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Truncate(x.whole); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(x.whole, io.SeekStart); err != nil {
		return nil, nil, err
	}
	return x, &Writer{file: f, out: bufio.NewWriterSize(f, 256<<10), open: x.open}, nil
}

// Begin begins a section; none may be open.
func (w *Writer) Begin(h Header) error {
	if w.open != nil {
		return errors.New("a section of the export is open")
	}
	h.Format = format
	s, err := begin(h)
	if err != nil {
		return err
	}
	w.open = s
	return w.write(h)
}

// Next is the next entry to write; false if the section is complete.
func (w *Writer) Next() (seq int64, more bool) { return w.open.next, w.open.next <= w.open.header.To }

// Add writes the next entry.
func (w *Writer) Add(e audit.Entry) error {
	text, err := audit.Line(e)
	if err != nil {
		return err
	}
	leaf := tree.Leaf(text)
	if err := w.open.add(e, leaf); err != nil {
		return err
	}
	return w.write(line{e.Seq, leaf[:], text})
}

// Flush makes the written lines durable.
func (w *Writer) Flush() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	return w.file.Sync()
}

// End ends the section and makes it durable. It fails if the entries are not those of the
// log that the header names: then the section stays open.
func (w *Writer) End() (tree.Head, error) {
	state, err := w.open.end()
	if err != nil {
		return tree.Head{}, err
	}
	if err := w.write(trailer{state.Size, state.Root[:]}); err != nil {
		return tree.Head{}, err
	}
	w.open = nil
	return state, w.Flush()
}

func (w *Writer) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding a line of an export: %w", err)
	}
	if _, err := w.out.Write(append(text, '\n')); err != nil {
		return err
	}
	return nil
}
