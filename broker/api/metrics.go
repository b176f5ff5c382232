package api

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vimbroker/vimbroker/broker"
)

// newRequests is the metric that counts and times requests. Labels are of fixed sets: no
// metric names a VIM, a lease or a principal.
func newRequests(r *prometheus.Registry) *prometheus.HistogramVec {
	m := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "vimbroker_http_request_duration_seconds",
		Help:    "Time to answer a request, by operation, method and status code.",
		Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"route", "method", "code"})
	r.MustRegister(m)
	return m
}

// buildInfo is the metric that names the version.
func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "vimbroker_build_info",
		Help:        "The version of vimbroker, and of Go; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
}

// observe counts one request.
func (s *server) observe(route, asked string, status int, took time.Duration) {
	s.requests.WithLabelValues(route, method(asked), strconv.Itoa(status)).Observe(took.Seconds())
}

// metricsDoor serves what the registry contains: to all who scrape it within a second the same, because anybody
// may scrape, and collecting it asks the store. Errors go to the log, not to the scraper.
func metricsDoor(r *prometheus.Registry, now func() time.Time, log *slog.Logger) Door {
	h := promhttp.HandlerFor(prometheus.GathererFunc(shared(r.Gather, now)), promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Registry:      r,
	})
	return Door{
		Paths:    []string{"/metrics{$}"},
		Tolerant: true,
		Operations: []Operation{{
			Method: "GET", Path: "/metrics", Identify: Anyone, Timeout: time.Minute, Status: http.StatusOK, Quiet: true, Lane: Watching,
			Handle: func(*Call) (Answer, error) { return Answer{Serve: h}, nil },
		}},
		Refuse: func(_ *http.Request, p Problem) Answer { return Answer{Status: p.Status} },
	}
}

// sharedFor is for how long what was collected is shown.
const sharedFor = time.Second

// shared returns a function that answers what ask did, for sharedFor after that, and has those who come meanwhile wait
// for the one who asks. That one alone is told an error.
func shared[T any](ask func() (T, error), now func() time.Time) func() (T, error) {
	var turn sync.Mutex
	var known T
	var until time.Time
	return func() (T, error) {
		turn.Lock()
		defer turn.Unlock()
		if now().Before(until) {
			return known, nil
		}
		found, err := ask()
		known, until = found, now().Add(sharedFor)
		return found, err
	}
}

// Vitals says what an operator watches; [broker.Broker] does.
type Vitals interface {
	Vitals(ctx context.Context) broker.Vitals
}

// ScrapeTime bounds what one scrape asks of the store and the key stores.
const ScrapeTime = 5 * time.Second

// vitals shows at each scrape what the broker contains and how it fares.
type vitals struct {
	broker Vitals

	health, leases, grades, expiring, behind, unsigned, unanchored         *prometheus.Desc
	jobsDue, jobsFailing, jobsLate, connections, maxConnections, keyStores *prometheus.Desc
	leasesLate, leasesFailing                                              *prometheus.Desc
	alarms, orphans, ghosts, foreign, unexplained                          *prometheus.Desc
	actions, lastSuccess, passInterval, passFailures, expiryLag, deathLag  *prometheus.Desc
	sinkBehind, sinkSkipped, sinkLate                                      *prometheus.Desc
	parts                                                                  *prometheus.Desc
}

func newVitals(b Vitals) *vitals {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("vimbroker_"+name, help, labels, nil)
	}
	return &vitals{
		broker:   b,
		health:   desc("vim_health", "VIMs by type and by what their last check found.", "type", "status"),
		leases:   desc("leases", "Leases by state.", "state"),
		grades:   desc("lease_grades", "Live leases by what their holder can become.", "grade"),
		expiring: desc("vim_credentials_expiring", "VIMs whose stored credential expires within so many days; 0: it has expired.", "days"),
		behind: desc("audit_behind_seconds",
			"How long the oldest audit entry has waited for its place in the log; more than 2 needs a person."),
		unsigned: desc("audit_unsigned_seconds", "How long the oldest audit entry has waited that no signed checkpoint covers."),
		unanchored: desc("audit_unanchored_seconds",
			"How long the oldest audit entry has waited that no checkpoint covers which every anchor has; 0 without anchors."),
		sinkBehind:  desc("audit_sink_behind_seconds", "Age of the oldest audit entry that is still to be delivered to a sink.", "sink"),
		sinkSkipped: desc("audit_sink_skipped_entries_total", "Audit entries that a sink of best effort has missed for ever.", "sink"),
		sinkLate: desc("audit_sink_late",
			"1 if a sink is further behind than it may be; where it is required, only revocations go on.", "sink"),
		jobsDue:       desc("jobs_due", "Jobs that wait for a worker or are under way."),
		jobsFailing:   desc("jobs_failing", "Jobs whose last attempt failed."),
		jobsLate:      desc("jobs_late_seconds", "How long the job has waited for a worker that should have begun first."),
		leasesLate:    desc("leases_late_seconds", "For how long the lease is over that is over for longest and not revoked."),
		leasesFailing: desc("leases_revocation_failing", "Leases that are being revoked, and whose last try failed."),
		connections:   desc("database_connections_in_use", "Connections to the database that this process uses now."),
		maxConnections: desc("database_connections_max",
			"Connections to the database that this process may use at once; 0 with the embedded store."),
		keyStores: desc("key_store_up", "1 if the key store could be used when it was last looked at.", "key_store"),
		parts: desc("part_up", "1 if the part of this server could be used when it was last looked at: database, recording (the "+
			"database takes writes), issuing (every key store opens).", "part"),
		alarms:      desc("lease_alarms_total", "Leases that a person has to look at, by alarm, since this process started.", "alarm"),
		orphans:     desc("inventory_orphans", "Objects of ours on VIMs that no lease has, at the last inventory."),
		ghosts:      desc("inventory_ghosts", "Leases whose object on the VIM is missing, at the last inventory."),
		foreign:     desc("inventory_foreign", "Objects on VIMs that are not ours and could be used to act as a lease, at the last inventory."),
		unexplained: desc("keys_unexplained_vims", "VIMs that keys name and no row explains, as after an old backup was restored."),
		actions: desc("actions_total", "How actions ended (done, failed, denied), and why those failed that did, since this "+
			"process started.", "action", "outcome", "reason"),
		lastSuccess: desc("pass_last_success_timestamp_seconds",
			"When this process last ran the pass without an error; before it has, when it started.", "pass"),
		passInterval: desc("pass_interval_seconds", "How often the pass is to run, on one of the replicas.", "pass"),
		passFailures: desc("pass_failures_total", "How often the pass failed in this process.", "pass"),
		expiryLag:    desc("lease_expiry_lag_seconds", "How long after its end an expired lease was revoked."),
		deathLag:     desc("lease_death_lag_seconds", "How long after its revocation a credential was seen to be refused."),
	}
}

// Describe implements [prometheus.Collector].
func (c *vitals) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.health, c.leases, c.grades, c.expiring, c.behind, c.unsigned, c.unanchored,
		c.jobsDue, c.jobsFailing, c.jobsLate, c.leasesLate, c.leasesFailing, c.connections, c.maxConnections, c.keyStores,
		c.alarms, c.orphans, c.ghosts, c.foreign, c.unexplained,
		c.actions, c.lastSuccess, c.passInterval, c.passFailures, c.expiryLag, c.deathLag,
		c.sinkBehind, c.sinkSkipped, c.sinkLate, c.parts,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every state is shown, also
// with 0, so that an alert can tell none from unknown.
func (c *vitals) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	counter := func(d *prometheus.Desc, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), ScrapeTime)
	defer cancel()
	v := c.broker.Vitals(ctx)
	gauge(c.orphans, float64(v.Discrepancies.Orphans))
	gauge(c.ghosts, float64(v.Discrepancies.Ghosts))
	gauge(c.foreign, float64(v.Discrepancies.Foreign))
	gauge(c.unexplained, float64(v.Discrepancies.Unexplained))
	for _, a := range alarms {
		counter(c.alarms, v.Alarms[a], string(a))
	}
	for r, n := range v.Results {
		counter(c.actions, n, string(r.Action), string(r.Outcome), r.Class)
	}
	for name, p := range v.Passes {
		counter(c.passFailures, p.Failures, name)
		gauge(c.lastSuccess, float64(p.LastSuccess.Unix()), name)
		gauge(c.passInterval, p.Every.Seconds(), name)
	}
	for name, up := range v.KeyStores {
		gauge(c.keyStores, oneIf(up), name)
	}
	for name, up := range v.Parts {
		gauge(c.parts, oneIf(up), string(name))
	}
	ch <- Histogram(c.expiryLag, v.ExpiryLag)
	ch <- Histogram(c.deathLag, v.DeathLag)
	if v.Counted == nil {
		return
	}
	gauge(c.behind, v.Counted.AuditBehind.Seconds())
	gauge(c.unsigned, v.Counted.AuditUnsigned.Seconds())
	gauge(c.unanchored, v.Counted.AuditUnanchored.Seconds())
	for _, s := range v.Counted.Sinks { // their names are the operator's
		gauge(c.sinkBehind, s.Behind.Seconds(), s.Name)
		counter(c.sinkSkipped, int(s.Cursor.Skipped), s.Name)
		gauge(c.sinkLate, oneIf(s.Late()), s.Name)
	}
	gauge(c.jobsDue, float64(v.Counted.JobsDue))
	gauge(c.jobsFailing, float64(v.Counted.JobsFailing))
	gauge(c.jobsLate, v.Counted.JobsLate.Seconds())
	gauge(c.leasesLate, v.Counted.LeasesLate.Seconds())
	gauge(c.leasesFailing, float64(v.Counted.LeasesFailing))
	gauge(c.connections, float64(v.Counted.ConnectionsInUse))
	gauge(c.maxConnections, float64(v.Counted.ConnectionsMax))
	for horizon, n := range v.Counted.Expiring {
		gauge(c.expiring, float64(n), strconv.Itoa(int(horizon/(24*time.Hour))))
	}
	for _, t := range v.Types {
		for _, s := range healthStatuses {
			gauge(c.health, float64(v.Counted.Health[broker.TypeHealth{Type: t, Status: s}]), string(t), string(s))
		}
	}
	for _, s := range leaseStates {
		gauge(c.leases, float64(v.Counted.Leases[s]), string(s))
	}
	for g, name := range leaseGrades {
		gauge(c.grades, float64(v.Counted.Grades[g]), name)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Histogram shows how long things took.
func Histogram(d *prometheus.Desc, l broker.Lag, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(broker.LagBounds))
	for i, bound := range broker.LagBounds {
		buckets[bound.Seconds()] = 0
		if len(l.Buckets) > 0 {
			buckets[bound.Seconds()] = uint64(l.Buckets[i])
		}
	}
	return prometheus.MustNewConstHistogram(d, uint64(l.Count), l.Sum.Seconds(), buckets, labels...)
}

// What the metrics count by, in full.
var (
	healthStatuses = []broker.HealthStatus{
		broker.HealthUnchecked, broker.HealthReachable, broker.HealthUnreachable, broker.HealthUnauthorized, broker.HealthIdentityChanged,
		broker.HealthUnopenable,
	}
	alarms = []broker.Alarm{
		broker.AlarmGivenUp, broker.AlarmStillWorks, broker.AlarmConflict, broker.AlarmBeyondGrant, broker.AlarmLeftBehind,
	}
	leaseGrades = map[broker.Grade]string{
		"": "none", broker.GradeBounded: "bounded", broker.GradeNamespaces: "namespaces", broker.GradeUnbounded: "unbounded",
	}
	leaseStates = []broker.LeaseState{
		broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseRevoked, broker.LeaseIrrevocable,
	}
)
