package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
)

// PackageCounter counts VNF packages; [catalog.Catalog] does.
type PackageCounter interface {
	Count(ctx context.Context) (map[catalog.State]int, error)
}

// packages shows at each scrape what there is of VNF packages.
type packages struct {
	of  PackageCounter
	log *slog.Logger
}

var (
	packageStates = []catalog.State{catalog.Created, catalog.Uploading, catalog.Processing, catalog.Enabled, catalog.Disabled}

	packagesByState = prometheus.NewDesc("vimbroker_packages", "VNF packages by state.", []string{"state"}, nil)
)

// Packages returns the metrics of VNF packages.
func Packages(of PackageCounter, log *slog.Logger) prometheus.Collector { return packages{of, log} }

// Describe implements [prometheus.Collector].
func (packages) Describe(ch chan<- *prometheus.Desc) { ch <- packagesByState }

// Collect implements [prometheus.Collector]. Every state is shown, also with 0.
func (c packages) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.ScrapeTime)
	defer cancel()
	found, err := c.of.Count(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "counting VNF packages for a scrape", "error", err)
		return
	}
	for _, s := range packageStates {
		ch <- prometheus.MustNewConstMetric(packagesByState, prometheus.GaugeValue, float64(found[s]), string(s))
	}
}
