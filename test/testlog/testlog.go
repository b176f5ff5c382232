// Package testlog makes loggers of tests. A test fails where a line tells of an error that there is not: whoever wrote
// it has taken a success for a failure.
package testlog

import (
	"context"
	"log/slog"
	"sync"
	"testing"
)

// Silent is a logger whose lines nobody reads.
func Silent(t testing.TB) *slog.Logger { return To(t, slog.DiscardHandler) }

// To is a logger whose lines a handler gets, as far as it wants them.
func To(t testing.TB, to slog.Handler) *slog.Logger {
	t.Helper()
	h := &handler{to: to, of: &of{t: t}}
	t.Cleanup(h.of.end)
	return slog.New(h)
}

// of is a test, until it has ended: a goroutine may outlive it.
type of struct {
	mu sync.Mutex
	t  testing.TB
}

func (o *of) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t = nil
}

func (o *of) errorf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.t != nil {
		o.t.Errorf(format, args...)
	}
}

type handler struct {
	to slog.Handler
	of *of
}

func (h *handler) Enabled(context.Context, slog.Level) bool { return true }

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" && a.Value.Kind() == slog.KindAny && a.Value.Any() == nil {
			h.of.errorf("the log says %q, and of which error: none", r.Message)
		}
		return true
	})
	if !h.to.Enabled(ctx, r.Level) {
		return nil
	}
	return h.to.Handle(ctx, r)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{to: h.to.WithAttrs(attrs), of: h.of}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{to: h.to.WithGroup(name), of: h.of}
}
