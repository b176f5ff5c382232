package api

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// Clusters counts the clusters of management clusters; [onboard.Onboarding] does.
type Clusters interface {
	Count(ctx context.Context) (onboard.Count, error)
}

// clusters shows at each scrape what there is of clusters.
type clusters struct {
	of  Clusters
	log *slog.Logger

	states, reasons, managements, troubled, held *prometheus.Desc
}

// ClusterMetrics returns the metrics of clusters and management clusters.
func ClusterMetrics(of Clusters, log *slog.Logger) prometheus.Collector {
	return &clusters{
		of: of, log: log,
		states: prometheus.NewDesc("vimbroker_clusters", "Clusters of Cluster API by state.", []string{"state"}, nil),
		reasons: prometheus.NewDesc("vimbroker_clusters_not_well", "Clusters of Cluster API that are not well, by reason.",
			[]string{"reason"}, nil),
		managements: prometheus.NewDesc("vimbroker_management_clusters", "Management clusters of Cluster API.", nil, nil),
		troubled:    prometheus.NewDesc("vimbroker_management_clusters_unwatched", "Management clusters that cannot be watched now.", nil, nil),
		held: prometheus.NewDesc("vimbroker_management_clusters_held",
			"Management clusters of which so many clusters were gone at once that none is let go of until a person releases them.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *clusters) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.states, c.reasons, c.managements, c.troubled, c.held} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every state and reason is shown, also with 0.
func (c *clusters) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), ScrapeTime)
	defer cancel()
	found, err := c.of.Count(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "counting clusters for a scrape", "error", err)
		return
	}
	for d, n := range map[*prometheus.Desc]int{c.managements: found.Managements, c.troubled: found.Troubled, c.held: found.Held} {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
	for _, s := range onboard.States() {
		ch <- prometheus.MustNewConstMetric(c.states, prometheus.GaugeValue, float64(found.States[s]), string(s))
	}
	for _, r := range onboard.Reasons() {
		ch <- prometheus.MustNewConstMetric(c.reasons, prometheus.GaugeValue, float64(found.Reasons[r]), string(r))
	}
}
