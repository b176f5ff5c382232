package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapeTime bounds what one scrape asks of the store.
const scrapeTime = 5 * time.Second

// metrics count requests, and at each scrape what the broker holds. Labels are of
// fixed sets; no metric names a VIM, a lease or a principal.
type metrics struct {
	requests *prometheus.HistogramVec
	broker   Broker
	log      *slog.Logger

	vims, health, leases, up, orphans, ghosts *prometheus.Desc
}

func newMetrics(r *prometheus.Registry, b Broker, log *slog.Logger) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("vimbroker_"+name, help, labels, nil)
	}
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "vimbroker_http_request_duration_seconds",
			Help:    "Time to answer a request, by route pattern, method and status code.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"route", "method", "code"}),
		broker:  b,
		log:     log,
		vims:    desc("vims", "VIMs by state.", "state"),
		health:  desc("vim_health", "VIMs by what their last check found.", "status"),
		leases:  desc("leases", "Leases by state.", "state"),
		up:      desc("census_up", "1 if VIMs and leases could be counted at this scrape."),
		orphans: desc("inventory_orphans", "Objects of ours on VIMs that no lease has, at the last inventory."),
		ghosts:  desc("inventory_ghosts", "Leases whose object on the VIM is missing, at the last inventory."),
	}
	r.MustRegister(m.requests, m)
	return m
}

// observe counts one request.
func (m *metrics) observe(route, asked string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method(asked), strconv.Itoa(status)).Observe(took.Seconds())
}

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.vims, m.health, m.leases, m.up, m.orphans, m.ghosts} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every state is shown, those without
// a VIM or lease as 0, so that an alert can tell none from unknown.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n int, label ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label...)
	}
	d := m.broker.Discrepancies()
	gauge(m.orphans, d.Orphans)
	gauge(m.ghosts, d.Ghosts)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	c, err := m.broker.Census(ctx)
	if err != nil {
		m.log.WarnContext(ctx, "counting VIMs and leases for a scrape", "error", err)
		gauge(m.up, 0)
		return
	}
	gauge(m.up, 1)
	for _, s := range vimStates {
		gauge(m.vims, c.VIMs[s], string(s))
	}
	for _, s := range healthStatuses {
		gauge(m.health, c.Health[s], string(s))
	}
	for _, s := range leaseStates {
		gauge(m.leases, c.Leases[s], string(s))
	}
}

// handler serves what the registry holds. Errors go to the log, not to the scraper.
func (m *metrics) handler(r *prometheus.Registry, log *slog.Logger) http.Handler {
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Registry:      r,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		traceOf(req.Context()).quiet = true
		h.ServeHTTP(w, req)
	})
}
