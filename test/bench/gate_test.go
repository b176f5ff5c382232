package bench

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// gate stands before a VIM: it lets requests pass, or does with them what a VIM
// that is down does, and counts them all.
type gate struct {
	vim  http.Handler
	mode atomic.Int32

	mu              sync.Mutex
	now, most, seen int
}

// What a gate does with requests.
const (
	passes  = iota
	silent  // answers nothing, until the client gives up
	breaks  // breaks the connection
	refuses // answers 503, as a balancer does with nothing behind it
)

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.now++
	g.seen++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.now--
	}()
	switch g.mode.Load() {
	case passes:
		g.vim.ServeHTTP(w, r)
		return
	case refuses:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case silent:
		_, _ = io.Copy(io.Discard, r.Body) // only then is a client that goes away noticed
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// count is how many requests came since the last call, and how many of them at
// most were there at once.
func (g *gate) count() (seen, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen, most = g.seen, g.most
	g.seen, g.most = 0, g.now
	return seen, most
}
