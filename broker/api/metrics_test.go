package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/test/clock"
)

// collected counts how often it is asked, and answers once it may.
type collected struct {
	times   atomic.Int64
	proceed chan struct{}
}

func (c *collected) Vitals(context.Context) broker.Vitals {
	c.times.Add(1)
	<-c.proceed
	return broker.Vitals{}
}

// TestScrapesShareOneCollection: a flood of scrapes costs one collection a second, and nobody is refused.
func TestScrapesShareOneCollection(t *testing.T) {
	now, vitals := clock.New(time.Now()), &collected{proceed: make(chan struct{})}
	h := api.New(api.Options{Vitals: vitals, Now: now.Now, Log: slog.New(slog.DiscardHandler), Limits: api.DefaultLimits()})
	const flood = 300
	var here, all sync.WaitGroup
	here.Add(flood)
	scrape := func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "vimbroker_leases{") {
			t.Errorf("GET /metrics = %d %s", w.Code, w.Body)
		}
	}
	for range flood {
		all.Go(func() {
			here.Done()
			scrape()
		})
	}
	here.Wait()
	close(vitals.proceed)
	all.Wait()
	want := func(when string, times int64) {
		t.Helper()
		if got := vitals.times.Load(); got != times {
			t.Errorf("%s: %d collections, want %d", when, got, times)
		}
	}
	want("after the flood", 1)
	now.Add(time.Second - time.Millisecond)
	scrape()
	want("within a second", 1)
	now.Add(time.Millisecond)
	scrape()
	scrape()
	want("after a second", 2)
}
