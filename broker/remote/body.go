// Package remote is what drivers share in talking to systems that may be hostile
// or gone: answers that are bounded, and errors in our own words.
package remote

import (
	"errors"
	"fmt"
	"io"
)

// TooLargeError says that an answer was longer than its bound, in bytes.
type TooLargeError int

// Error names the bound.
func (e TooLargeError) Error() string { return fmt.Sprintf("answer is longer than %d bytes", int(e)) }

// Body bounds an answer's body: past Max bytes, Read errs with [TooLargeError].
type Body struct {
	Body io.ReadCloser
	Max  int
	// Failed, if set, is told why a Read failed; the end is no failure.
	Failed func(error)
	// Closed, if set, is called by Close.
	Closed func()

	read int
}

// Read reads what the bound leaves.
func (b *Body) Read(p []byte) (int, error) {
	if b.read > b.Max {
		return 0, TooLargeError(b.Max)
	}
	n, err := b.Body.Read(p[:min(len(p), b.Max+1-b.read)])
	b.read += n
	if err != nil && !errors.Is(err, io.EOF) && b.Failed != nil {
		b.Failed(err)
	}
	return n, err
}

// Close closes the body.
func (b *Body) Close() error {
	if b.Closed != nil {
		defer b.Closed()
	}
	return b.Body.Close()
}
