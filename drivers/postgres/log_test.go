package postgres

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// signalLog is a log that a test may read while it is written, and that tells when
// it holds a text.
type signalLog struct {
	want string
	seen chan struct{}

	mu   sync.Mutex
	once sync.Once
	text bytes.Buffer
}

func (l *signalLog) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *signalLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.text.Write(p)
	if l.want != "" && strings.Contains(l.text.String(), l.want) {
		l.once.Do(func() { close(l.seen) })
	}
	return n, err
}

func (l *signalLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
