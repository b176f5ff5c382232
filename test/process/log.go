package process

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Log is what a program says. It tells whoever waits for a line.
type Log struct {
	out io.Writer

	mu    sync.Mutex
	text  strings.Builder
	read  int           // how far Next has come
	more  chan struct{} // closed at the next change
	ended bool
}

// NewLog makes a log that writes to out too.
func NewLog(out io.Writer) *Log { return &Log{out: out, more: make(chan struct{})} }

// Write implements [io.Writer].
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(text)
	l.changed()
	return l.out.Write(text)
}

// End says that the program says no more.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.changed()
}

func (l *Log) changed() {
	close(l.more)
	l.more = make(chan struct{})
}

// String is all that was said so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail is the end of it.
func (l *Log) Tail() string {
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// Next waits for a line with one of these texts, and returns it. Lines up to the one
// that it returned last do not count.
func (l *Log) Next(ctx context.Context, texts ...string) (string, error) {
	for {
		l.mu.Lock()
		line, more, ended := l.next(texts), l.more, l.ended
		l.mu.Unlock()
		if line != "" {
			return line, nil
		}
		if ended {
			return "", fmt.Errorf("the program ended before it said %q; its log:\n%s", texts, l)
		}
		select {
		case <-more:
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for %q: %w; the log:\n%s", texts, ctx.Err(), l)
		}
	}
}

func (l *Log) next(texts []string) string {
	for {
		line, _, whole := strings.Cut(l.text.String()[l.read:], "\n")
		if !whole {
			return ""
		}
		l.read += len(line) + 1
		for _, text := range texts {
			if strings.Contains(line, text) {
				return line
			}
		}
	}
}
