package fake

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// Buffer is a [bytes.Buffer] for several writers.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Step notes a call of something in memory, and returns the error that it is to have: that of its name, and that of its name
// and number, as "Cursors 2".
func Step(taken *[]string, fails map[string]error, name string) error {
	*taken = append(*taken, name)
	n := 0
	for _, was := range *taken {
		if was == name {
			n++
		}
	}
	return errors.Join(fails[name], fails[fmt.Sprint(name, " ", n)])
}
