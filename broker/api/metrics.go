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
	"github.com/vimbroker/vimbroker/broker/onboard"
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

func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "vimbroker_build_info",
		Help:        "The version of vimbroker, and of Go; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
}

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
		Routes: []Route{{
			Method: "GET", Path: "/metrics", Identify: Anyone, Timeout: time.Minute, Status: http.StatusOK, Quiet: true, Lane: Watching,
			Handle: func(*Call) (Answer, error) { return Answer{Serve: h}, nil },
		}},
		Refuse: func(_ *http.Request, p Problem) Answer { return Answer{Status: p.Status} },
	}
}

// sharedFor is the time for which collected values are shown.
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

// Vitals gives operators their figures; [broker.Oversight] implements it.
type Vitals interface {
	Vitals(ctx context.Context) broker.Vitals
}

// ScrapeTime bounds what one scrape asks of the store and the key stores.
const ScrapeTime = 5 * time.Second

// vitals shows the broker's content and health at each scrape.
type vitals struct{ broker Vitals }

// descriptions are those of metrics, by their names without the prefix.
type descriptions map[string]*prometheus.Desc

type describing func(name, help string, labels ...string)

func described(by func(describing)) descriptions {
	all := descriptions{}
	by(func(name, help string, labels ...string) {
		all[name] = prometheus.NewDesc("vimbroker_"+name, help, labels, nil)
	})
	return all
}

func (all descriptions) sendTo(ch chan<- *prometheus.Desc) {
	for _, d := range all {
		ch <- d
	}
}

var metrics = described(func(desc describing) {
	desc("vim_health", "VIMs by type and by what their last check found.", "type", "status")
	desc("leases", "Leases by state.", "state")
	desc("lease_grades", "Live leases by what their holder can become.", "grade")
	desc("vim_credentials_expiring", "VIMs whose stored credential expires within so many days; 0: it has expired.", "days")
	desc("audit_behind_seconds", "How long the oldest audit entry has waited for its place in the log; more than 2 needs a person.")
	desc("audit_unsigned_seconds", "How long the oldest audit entry has waited that no signed checkpoint covers.")
	desc("audit_unanchored_seconds",
		"How long the oldest audit entry has waited that no checkpoint covers which every anchor has; 0 without anchors.")
	desc("audit_sink_behind_seconds", "Age of the oldest audit entry that is still to be delivered to a sink.", "sink")
	desc("audit_sink_skipped_entries_total", "Audit entries that a sink of best effort has missed for ever.", "sink")
	desc("audit_sink_late", "1 if a sink is further behind than it may be; where it is required, only revocations go on.", "sink")
	desc("jobs_due", "Jobs that wait for a worker or are under way.")
	desc("jobs_failing", "Jobs whose last attempt failed.")
	desc("jobs_late_seconds", "How long the job has waited for a worker that should have begun first.")
	desc("leases_late_seconds", "For how long the lease is over that is over for longest and not revoked.")
	desc("leases_revocation_failing", "Leases that are being revoked, and whose last try failed.")
	desc("leases_ending", "Leases for months that end within thirty days, and whose place no other takes.")
	desc("database_connections_in_use", "Connections to the database that this process uses now.")
	desc("database_connections_max", "Connections to the database that this process may use at once; 0 with the embedded store.")
	desc("key_store_up", "1 if the key store could be used when it was last looked at.", "key_store")
	desc("part_up", "1 if the part of this server could be used when it was last looked at: database, recording (the "+
		"database takes writes), issuing (every key store opens), trust (every issuer of callers' tokens gives its keys).", "part")
	desc("lease_alarms_total", "Leases that a person has to look at, by alarm, since this process started.", "alarm")
	desc("inventory_orphans", "Objects of ours on VIMs that no lease has, at the last inventory.")
	desc("inventory_ghosts", "Leases whose object on the VIM is missing, at the last inventory.")
	desc("inventory_foreign", "Objects on VIMs that are not ours and could be used to act as a lease, at the last inventory.")
	desc("keys_unexplained_vims", "VIMs that keys name and no row explains, as after an old backup was restored.")
	desc("actions_total", "How actions ended (done, failed, denied), and why those failed that did, since this "+
		"process started.", "action", "outcome", "reason")
	desc("pass_last_success_timestamp_seconds",
		"When this process last ran the pass without an error; before it has, when it started.", "pass")
	desc("pass_interval_seconds", "How often the pass is to run, on one of the replicas.", "pass")
	desc("pass_failures_total", "How often the pass failed in this process.", "pass")
	desc("lease_expiry_lag_seconds", "How long after its end an expired lease was revoked.")
	desc("lease_death_lag_seconds", "How long after its revocation a credential was seen to be refused.")
})

// Describe implements [prometheus.Collector].
func (vitals) Describe(ch chan<- *prometheus.Desc) { metrics.sendTo(ch) }

// scrape takes the values of metrics.
type scrape struct {
	to chan<- prometheus.Metric
	of descriptions
}

func (s scrape) gauge(name string, n float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.of[name], prometheus.GaugeValue, n, labels...)
}

func (s scrape) counter(name string, n int, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.of[name], prometheus.CounterValue, float64(n), labels...)
}

// Collect implements [prometheus.Collector]. Every state is shown, also
// with 0, so that an alert can tell none from unknown.
func (c vitals) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), ScrapeTime)
	defer cancel()
	v, s := c.broker.Vitals(ctx), scrape{ch, metrics}
	s.gauge("inventory_orphans", float64(v.Discrepancies.Orphans))
	s.gauge("inventory_ghosts", float64(v.Discrepancies.Ghosts))
	s.gauge("inventory_foreign", float64(v.Discrepancies.Foreign))
	s.gauge("keys_unexplained_vims", float64(v.Discrepancies.Unexplained))
	for _, a := range alarms {
		s.counter("lease_alarms_total", v.Alarms[a], string(a))
	}
	for r, n := range v.Results {
		s.counter("actions_total", n, string(r.Action), string(r.Outcome), r.Class)
	}
	for name, p := range v.Passes {
		s.counter("pass_failures_total", p.Failures, name)
		s.gauge("pass_last_success_timestamp_seconds", float64(p.LastSuccess.Unix()), name)
		s.gauge("pass_interval_seconds", p.Every.Seconds(), name)
	}
	for name, up := range v.KeyStores {
		s.gauge("key_store_up", oneIf(up), name)
	}
	for name, up := range v.Parts {
		s.gauge("part_up", oneIf(up), string(name))
	}
	ch <- Histogram(metrics["lease_expiry_lag_seconds"], v.ExpiryLag)
	ch <- Histogram(metrics["lease_death_lag_seconds"], v.DeathLag)
	if v.Counted != nil {
		s.counted(v.Counted, v.Types)
	}
}

// counted shows the content of the store.
func (s scrape) counted(c *broker.Counted, types []broker.VIMType) {
	s.gauge("audit_behind_seconds", c.AuditBehind.Seconds())
	s.gauge("audit_unsigned_seconds", c.AuditUnsigned.Seconds())
	s.gauge("audit_unanchored_seconds", c.AuditUnanchored.Seconds())
	for _, sink := range c.Sinks { // their names are the operator's
		s.gauge("audit_sink_behind_seconds", sink.Behind.Seconds(), sink.Name)
		s.counter("audit_sink_skipped_entries_total", int(sink.Cursor.Skipped), sink.Name)
		s.gauge("audit_sink_late", oneIf(sink.Late()), sink.Name)
	}
	s.gauge("jobs_due", float64(c.JobsDue))
	s.gauge("jobs_failing", float64(c.JobsFailing))
	s.gauge("jobs_late_seconds", c.JobsLate.Seconds())
	s.gauge("leases_late_seconds", c.LeasesLate.Seconds())
	s.gauge("leases_revocation_failing", float64(c.LeasesFailing))
	s.gauge("leases_ending", float64(c.LeasesEnding))
	s.gauge("database_connections_in_use", float64(c.ConnectionsInUse))
	s.gauge("database_connections_max", float64(c.ConnectionsMax))
	for horizon, n := range c.Expiring {
		s.gauge("vim_credentials_expiring", float64(n), strconv.Itoa(int(horizon/(24*time.Hour))))
	}
	for _, t := range types {
		for _, state := range broker.HealthStatuses() {
			s.gauge("vim_health", float64(c.Health[broker.TypeHealth{Type: t, Status: state}]), string(t), string(state))
		}
	}
	for _, state := range broker.LeaseStates() {
		s.gauge("leases", float64(c.Leases[state]), string(state))
	}
	for g, name := range leaseGrades {
		s.gauge("lease_grades", float64(c.Grades[g]), name)
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

// The complete label values of the metrics.
var (
	alarms = []broker.Alarm{
		broker.AlarmGivenUp, broker.AlarmStillWorks, broker.AlarmConflict, broker.AlarmBeyondGrant, broker.AlarmLeftBehind,
	}
	leaseGrades = map[broker.Grade]string{
		"": "none", broker.GradeBounded: "bounded", broker.GradeNamespaces: "namespaces", broker.GradeUnbounded: "unbounded",
	}
)

// Clusters counts the clusters of management clusters; [onboard.Onboarding] does.
type Clusters interface {
	Count(ctx context.Context) (onboard.Count, error)
}

// clusters shows at each scrape what there is of clusters.
type clusters struct {
	of  Clusters
	log *slog.Logger
}

// clusterMetrics are those of clusters, by their names without the prefix.
var clusterMetrics = described(func(desc describing) {
	desc("clusters", "Clusters of Cluster API by state.", "state")
	desc("clusters_not_well", "Clusters of Cluster API that are not well, by reason.", "reason")
	desc("management_clusters", "Management clusters of Cluster API.")
	desc("management_clusters_unwatched", "Management clusters that cannot be watched now.")
	desc("management_clusters_held",
		"Management clusters of which so many clusters were gone at once that none is let go of until a person releases them.")
	// Labels of one management cluster are project and name of its VIM.
	desc("management_cluster_watch_age_seconds",
		"How long ago a management cluster was last seen to be watched whole.", "project", "management_cluster")
	desc("management_cluster_queue", "Clusters of a management cluster that are to be looked at now; 0 on a server that "+
		"does not watch it.", "project", "management_cluster")
	desc("management_cluster_adoptions_total",
		"Credentials that VIMs have got from a management cluster, by this server.", "project", "management_cluster")
})

// ClusterMetrics returns the metrics of clusters and management clusters.
func ClusterMetrics(of Clusters, log *slog.Logger) prometheus.Collector {
	return clusters{of, log}
}

// Describe implements [prometheus.Collector].
func (clusters) Describe(ch chan<- *prometheus.Desc) { clusterMetrics.sendTo(ch) }

// Collect implements [prometheus.Collector]. Every state and reason is shown, also with 0.
func (c clusters) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), ScrapeTime)
	defer cancel()
	found, err := c.of.Count(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "counting clusters for a scrape", "error", err)
		return
	}
	s := scrape{ch, clusterMetrics}
	s.gauge("management_clusters", float64(found.Managements))
	s.gauge("management_clusters_unwatched", float64(found.Troubled))
	s.gauge("management_clusters_held", float64(found.Held))
	for _, m := range found.Each {
		s.gauge("management_cluster_watch_age_seconds", m.Age.Seconds(), m.Project, m.VIM)
		s.counter("management_cluster_adoptions_total", m.Adoptions, m.Project, m.VIM)
		s.gauge("management_cluster_queue", float64(m.Queue), m.Project, m.VIM)
	}
	for _, state := range onboard.States() {
		s.gauge("clusters", float64(found.States[state]), string(state))
	}
	for _, r := range onboard.Reasons() {
		s.gauge("clusters_not_well", float64(found.Reasons[r]), string(r))
	}
}
