package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
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

// observe counts one request.
func (s *server) observe(route, asked string, status int, took time.Duration) {
	s.requests.WithLabelValues(route, method(asked), strconv.Itoa(status)).Observe(took.Seconds())
}

// metricsDoor serves what the registry contains. Errors go to the log, not to the scraper.
func metricsDoor(r *prometheus.Registry, log *slog.Logger) Door {
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Registry:      r,
	})
	return Door{
		Paths:    []string{"/metrics{$}"},
		Tolerant: true,
		Operations: []Operation{{
			Method: "GET", Path: "/metrics", Identify: Anyone, Timeout: time.Minute, Status: http.StatusOK, Quiet: true,
			Handle: func(*Call) (Answer, error) { return Answer{Serve: h}, nil },
		}},
		Refuse: func(_ *http.Request, p Problem) Answer { return Answer{Status: p.Status} },
	}
}

// Census counts what the broker contains; [broker.Broker] says what each method does.
type Census interface {
	Census(ctx context.Context) (broker.Census, error)
	Discrepancies() broker.Discrepancy
	Alarms() map[broker.Alarm]int
	AuditBehind(ctx context.Context) (time.Duration, error)
	AuditUnsigned(ctx context.Context) (time.Duration, error)
	SinkStatuses(ctx context.Context) ([]delivery.Status, error)
}

// scrapeTime bounds what one scrape asks of the store.
const scrapeTime = 5 * time.Second

// census shows at each scrape what the broker contains.
type census struct {
	broker Census
	log    *slog.Logger

	vims, health, leases, grades, alarms, up, orphans, ghosts, foreign, unexplained, behind, unsigned, sinkBehind, sinkWaiting, sinkSkipped, sinkLate *prometheus.Desc
}

func newCensus(b Census, log *slog.Logger) *census {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("vimbroker_"+name, help, labels, nil)
	}
	return &census{
		broker:      b,
		log:         log,
		vims:        desc("vims", "VIMs by state.", "state"),
		health:      desc("vim_health", "VIMs by what their last check found.", "status"),
		leases:      desc("leases", "Leases by state.", "state"),
		grades:      desc("lease_grades", "Live leases by what their holder can become.", "grade"),
		alarms:      desc("lease_alarms_total", "Leases that a person has to look at, by alarm, since this process started.", "alarm"),
		up:          desc("census_up", "1 if VIMs and leases could be counted at this scrape."),
		orphans:     desc("inventory_orphans", "Objects of ours on VIMs that no lease has, at the last inventory."),
		ghosts:      desc("inventory_ghosts", "Leases whose object on the VIM is missing, at the last inventory."),
		foreign:     desc("inventory_foreign", "Objects on VIMs that are not ours and could be used to act as a lease, at the last inventory."),
		behind:      desc("audit_behind_seconds", "How long the oldest audit entry has waited for its place in the log; more than 2 needs a person."),
		unsigned:    desc("audit_unsigned_seconds", "How long the oldest audit entry has waited that no signed checkpoint covers."),
		sinkBehind:  desc("audit_sink_behind_seconds", "Age of the oldest audit entry that is still to be delivered to a sink.", "sink"),
		sinkWaiting: desc("audit_sink_waiting_entries", "Audit entries that are still to be delivered to a sink.", "sink"),
		sinkSkipped: desc("audit_sink_skipped_entries_total", "Audit entries that a sink of best effort has missed for ever.", "sink"),
		sinkLate:    desc("audit_sink_late", "1 if a sink is further behind than it may be; where it is required, only revocations go on.", "sink"),
		unexplained: desc("keys_unexplained_vims", "VIMs that keys name and no row explains, as after an old backup was restored."),
	}
}

// Describe implements [prometheus.Collector].
func (c *census) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.vims, c.health, c.leases, c.grades, c.alarms, c.up, c.orphans, c.ghosts, c.foreign, c.unexplained, c.behind, c.unsigned, c.sinkBehind, c.sinkWaiting, c.sinkSkipped, c.sinkLate} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every state is shown, also
// with 0, so that an alert can tell none from unknown.
func (c *census) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, n int, label ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label...)
	}
	d := c.broker.Discrepancies()
	gauge(c.orphans, d.Orphans)
	gauge(c.ghosts, d.Ghosts)
	gauge(c.foreign, d.Foreign)
	gauge(c.unexplained, d.Unexplained)
	raised := c.broker.Alarms()
	for _, a := range alarms {
		ch <- prometheus.MustNewConstMetric(c.alarms, prometheus.CounterValue, float64(raised[a]), string(a))
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	found, err := c.broker.Census(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "counting VIMs and leases for a scrape", "error", err)
		gauge(c.up, 0)
		return
	}
	gauge(c.up, 1)
	for d, age := range map[*prometheus.Desc]func(context.Context) (time.Duration, error){
		c.behind: c.broker.AuditBehind, c.unsigned: c.broker.AuditUnsigned,
	} {
		if found, err := age(ctx); err != nil {
			c.log.WarnContext(ctx, "looking how far the audit log is behind for a scrape", "error", err)
		} else {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, found.Seconds())
		}
	}
	c.collectSinks(ctx, ch)
	for _, s := range vimStates {
		gauge(c.vims, found.VIMs[s], string(s))
	}
	for _, s := range healthStatuses {
		gauge(c.health, found.Health[s], string(s))
	}
	for _, s := range leaseStates {
		gauge(c.leases, found.Leases[s], string(s))
	}
	for g, name := range leaseGrades {
		gauge(c.grades, found.Grades[g], name)
	}
}

// collectSinks shows how the sinks of the audit log stand. Their names are the operator's.
func (c *census) collectSinks(ctx context.Context, ch chan<- prometheus.Metric) {
	sinks, err := c.broker.SinkStatuses(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "looking how far the sinks of the audit log are behind for a scrape", "error", err)
		return
	}
	for _, s := range sinks {
		late := 0.0
		if s.Late() {
			late = 1
		}
		ch <- prometheus.MustNewConstMetric(c.sinkBehind, prometheus.GaugeValue, s.Behind.Seconds(), s.Name)
		ch <- prometheus.MustNewConstMetric(c.sinkWaiting, prometheus.GaugeValue, float64(s.Waiting), s.Name)
		ch <- prometheus.MustNewConstMetric(c.sinkSkipped, prometheus.CounterValue, float64(s.Cursor.Skipped), s.Name)
		ch <- prometheus.MustNewConstMetric(c.sinkLate, prometheus.GaugeValue, late, s.Name)
	}
}

// What the metrics count by, in full.
var (
	healthStatuses = []broker.HealthStatus{
		broker.HealthUnchecked, broker.HealthReachable, broker.HealthUnreachable, broker.HealthUnauthorized, broker.HealthIdentityChanged, broker.HealthUnopenable,
	}
	vimStates   = []broker.VIMState{broker.VIMRegistering, broker.VIMRegistered, broker.VIMDraining}
	alarms      = []broker.Alarm{broker.AlarmGivenUp, broker.AlarmStillWorks, broker.AlarmConflict, broker.AlarmBeyondGrant, broker.AlarmLeftBehind}
	leaseGrades = map[broker.Grade]string{
		"": "none", broker.GradeBounded: "bounded", broker.GradeNamespaces: "namespaces", broker.GradeUnbounded: "unbounded",
	}
	leaseStates = []broker.LeaseState{
		broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseRevoked, broker.LeaseIrrevocable,
	}
)
