package api_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/testlog"
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
	h := api.New(api.Options{Vitals: vitals, Now: now.Now, Log: testlog.Silent(t), Limits: api.DefaultLimits()})
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

// figures are of which no two are the same.
type figures struct{ err error }

func (figures) Vitals(context.Context) broker.Vitals {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lag := func(n int) broker.Lag {
		l := broker.Lag{Count: n, Sum: time.Duration(n) * time.Second}
		for i := range broker.LagBounds {
			l.Buckets = append(l.Buckets, i+n)
		}
		return l
	}
	return broker.Vitals{
		Counted: &broker.Counted{
			Census: broker.Census{
				VIMs:   map[broker.VIMState]int{broker.VIMRegistered: 11, broker.VIMDraining: 12},
				Health: map[broker.TypeHealth]int{{Type: "toy", Status: broker.HealthUnreachable}: 13},
				Leases: map[broker.LeaseState]int{broker.LeaseActive: 14, broker.LeaseRevoking: 15},
				Grades: map[broker.Grade]int{"": 16, broker.GradeBounded: 17},
			},
			Load: broker.Load{
				JobsDue: 21, JobsFailing: 22, JobsLate: 23 * time.Second, LeasesLate: 24 * time.Second, LeasesFailing: 25, LeasesEnding: 26,
				ConnectionsInUse: 27, ConnectionsMax: 28,
			},
			AuditBehind: 31 * time.Second, AuditUnsigned: 32 * time.Second, AuditUnanchored: 33 * time.Second,
			Sinks: []delivery.Status{
				{Name: "siem", Within: time.Second, Cursor: delivery.Cursor{Sink: "siem", Seq: 5, Start: 5, Skipped: 34}, Waiting: 35, Behind: 36 * time.Second},
				{Name: "new", Within: time.Second, Behind: time.Second},
			},
			Expiring: map[time.Duration]int{0: 41, 7 * 24 * time.Hour: 42, 30 * 24 * time.Hour: 43},
		},
		KeyStores:     map[string]bool{"vault": true, "barbican": false},
		Parts:         map[broker.Part]bool{broker.PartDatabase: true, broker.PartIssuing: false},
		Types:         []broker.VIMType{"toy"},
		Discrepancies: broker.Discrepancy{Orphans: 51, Ghosts: 52, Foreign: 53, Unexplained: 54},
		Alarms:        map[broker.Alarm]int{broker.AlarmGivenUp: 55},
		Results:       map[audit.Result]int{{Action: policy.LeaseIssue, Outcome: audit.Failed, Class: "unreachable"}: 56},
		Passes:        map[string]broker.PassRecord{"reap": {Every: 57 * time.Second, LastSuccess: at, Failures: 58}},
		ExpiryLag:     lag(61), DeathLag: lag(62),
	}
}

func (f figures) Count(context.Context) (onboard.Count, error) {
	return onboard.Count{
		States: map[onboard.State]int{onboard.StateRegistered: 71, onboard.StateQuarantined: 72}, Reasons: map[onboard.ClusterReason]int{onboard.ReasonNotReady: 73},
		Managements: 74, Troubled: 75, Held: 76,
		Each: []onboard.ManagementCount{{VIM: "hub", Project: "core", Age: 77 * time.Second, Queue: 78, Adoptions: 79}},
	}, f.err
}

// TestEveryFigureIsShown by its name, with its labels: testdata/metrics.txt has the page.
func TestEveryFigureIsShown(t *testing.T) {
	page := func(f figures, more ...prometheus.Collector) string {
		var log buffer
		logs := testlog.To(t, slog.NewTextHandler(&log, nil))
		h := api.New(api.Options{
			Vitals: f, Log: logs, Limits: api.DefaultLimits(),
			Collectors: append(more, api.ClusterMetrics(f, logs)),
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if told := strings.Contains(log.String(), "counting clusters for a scrape"); told != (f.err != nil) {
			t.Errorf("clusters that fail with %v: the log says %s", f.err, log.String())
		}
		ours := ""
		for _, line := range regexp.MustCompile(`(?m)^(?:# HELP )?vimbroker_.*\n`).FindAllString(w.Body.String(), -1) {
			if !strings.Contains(line, "build_info") && !strings.Contains(line, "http_") {
				ours += line
			}
		}
		return ours
	}
	got := page(figures{})
	golden.Compare(t, "testdata/metrics.txt", got)
	if bare := page(figures{errors.New("down")}); strings.Contains(bare, "cluster") || !strings.Contains(bare, "vimbroker_leases{") {
		t.Errorf("the page without clusters is\n%s", bare)
	}
}
