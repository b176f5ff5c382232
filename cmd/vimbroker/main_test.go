package main

import (
	"bytes"
	"os"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/story"
)

// asProgram makes the test binary be vimbroker, for tests that need a process.
const asProgram = "VIMBROKER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	story.HeedSignals()
	os.Exit(m.Run())
}

// readyLog gathers a server's log, and tells when it says that it is ready.
type readyLog struct {
	ready chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	said bool
}

func newReadyLog() *readyLog { return &readyLog{ready: make(chan struct{})} }

func (l *readyLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.said && bytes.Contains(line, []byte(`"msg":"ready"`)) {
		l.said = true
		close(l.ready)
	}
	return l.text.Write(line)
}

func (l *readyLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
