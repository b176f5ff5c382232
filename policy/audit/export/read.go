package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// maxLine bounds a line, in bytes. An entry has some ten thousand at most.
const maxLine = 1 << 20

// Export is the verified content of a file.
type Export struct {
	// From and To are the first and the last entry; To is From-1 if there is none.
	From, To int64
	// Log is the log of the newest complete section.
	Log tree.Head
	// State is the tree over all entries up to the end of the newest complete section.
	State tree.Head
	// Signed reports whether the newest complete section holds a checkpoint.
	Signed bool
	// Lines counts those that are whole.
	Lines int64

	trust    Vouch
	distrust *FaultError // of the newest complete section
	open     *section    // that has no trailer yet
	whole    int64       // bytes up to the end of the last whole line
}

// Complete reports whether the file ends with the end of a section.
func (x *Export) Complete() bool { return x.open == nil && x.From > 0 }

// Open returns the last entry of the section that is not complete, as its header names it.
func (x *Export) Open() (to int64, is bool) {
	if x.open == nil {
		return 0, false
	}
	return x.open.header.To, true
}

// Read verifies an export, in memory that does not grow with it. A file that was cut off is no
// error: [Export.Complete] says so. Anything else is a [*FaultError]. trust sees the header of each complete
// section, and the newest has to pass: it covers those before. Without trust no signature is checked.
func Read(r io.Reader, trust Vouch) (*Export, error) {
	x := &Export{trust: trust}
	in := bufio.NewReaderSize(r, 64<<10)
	for number := int64(1); ; number++ {
		text, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && x.distrust != nil:
			return nil, x.distrust
		case errors.Is(err, io.EOF): // what stands there without a line break was being written
			return x, nil
		}
		if err == nil {
			if err = x.take(text); err != nil {
				return nil, &FaultError{number, err.Error()}
			}
			x.whole += int64(len(text)) + 1
			x.Lines = number
			continue
		}
		if errors.Is(err, errLong) {
			return nil, &FaultError{number, err.Error()}
		}
		return nil, err
	}
}

var errLong = errors.New("it is longer than any line of an export")

func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, errLong
		case err == nil:
			return text[:len(text)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// take verifies the next line.
func (x *Export) take(text []byte) error {
	if x.open == nil {
		return x.takeHeader(text)
	}
	if bytes.HasPrefix(text, []byte(`{"end":`)) {
		return x.takeTrailer(text)
	}
	var l line
	if err := decode(text, &l); err != nil {
		return errors.New("it is no entry")
	}
	e, err := audit.ParseLine(l.Entry)
	if err != nil {
		return err
	}
	leaf := tree.Leaf(l.Entry)
	if l.Seq != e.Seq || !bytes.Equal(l.Leaf, leaf[:]) {
		return fmt.Errorf("entry %d was altered", l.Seq)
	}
	if err := x.open.add(e, leaf); err != nil {
		return err
	}
	x.To = e.Seq
	return nil
}

func (x *Export) takeHeader(text []byte) error {
	var h Header
	if err := decode(text, &h); err != nil {
		return errors.New("it is no header of an export")
	}
	s, err := begin(h)
	if err != nil {
		return err
	}
	if x.From == 0 {
		x.From, x.To = h.From, h.From-1
	} else if h.From != x.To+1 || s.built.State() != x.State {
		return errors.New("the section does not go on from the one before it")
	}
	s.line = x.Lines + 1
	x.open = s
	return nil
}

func (x *Export) takeTrailer(text []byte) error {
	var t trailer
	if err := decode(text, &t); err != nil {
		return errors.New("it is no trailer of an export")
	}
	state, err := x.open.end()
	if err != nil {
		return err
	}
	if t.End != state.Size || !bytes.Equal(t.Root, state.Root[:]) {
		return errors.New("the trailer is not the one of the entries before it")
	}
	x.distrust = nil
	if x.trust != nil {
		if err := x.trust(x.open.header); err != nil {
			x.distrust = &FaultError{x.open.line, err.Error()}
		}
	}
	x.Log, x.State, x.Signed, x.open = x.open.log, state, x.open.header.Checkpoint != "", nil
	return nil
}

// decode reads one JSON value strictly.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
