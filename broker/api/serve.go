package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of the HTTP server.
const (
	headerTime = 5 * time.Second
	readTime   = 20 * time.Second
	idleTime   = 2 * time.Minute
	// answerTime bounds an answer until an operation is found, which brings its own timeout.
	answerTime = 3 * time.Minute
	// stallTime is how long a stream may stop, either way.
	stallTime   = 20 * time.Second
	headerBytes = 32 << 10
	drainTime   = 30 * time.Second
)

// Server says how a handler is served.
type Server struct {
	Handler http.Handler
	// TLS with a certificate; nil serves plain HTTP, which is for loopback only.
	TLS *tls.Config
	// Grace is the time that requests under way may take once serving ends; zero means 30 s.
	Grace time.Duration
	// ReadTimeout is how long a request with its body may take to arrive, whether anyone
	// reads it or not. The time to answer is not part of it, and a stream has its own
	// limits. Zero means 20 s.
	ReadTimeout time.Duration
	// Log takes the errors of the HTTP server itself.
	Log *slog.Logger
}

// Serve answers requests that arrive at l until ctx ends. Then it accepts no new ones,
// lets those under way finish for up to Grace, and returns nil. It cuts off what is left
// after that, and returns an error that says so. It closes l.
func (s Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Grace == 0 {
		s.Grace = drainTime
	}
	if s.ReadTimeout == 0 {
		s.ReadTimeout = readTime
	}
	// Requests outlive ctx by the grace: their own context must not end with it.
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h := &http.Server{
		Handler:           s.Handler,
		ReadHeaderTimeout: min(headerTime, s.ReadTimeout),
		ReadTimeout:       s.ReadTimeout,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	serve := h.Serve
	if s.TLS != nil {
		h.TLSConfig = s.TLS.Clone()
		h.TLSConfig.MinVersion = max(h.TLSConfig.MinVersion, tls.VersionTLS12)
		serve = func(l net.Listener) error { return h.ServeTLS(l, "", "") }
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	err := h.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		cut()
		err = errors.Join(fmt.Errorf("requests were still under way after %s and were cut off", s.Grace), h.Close())
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
