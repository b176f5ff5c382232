package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/lifecycle/catalog"
)

// PackageCounter counts VNF packages; [catalog.Catalog] does.
type PackageCounter interface {
	Count(ctx context.Context) (map[catalog.State]int, error)
}

var packageStates = []catalog.State{catalog.Created, catalog.Uploading, catalog.Processing, catalog.Enabled, catalog.Disabled}

// Packages returns the metrics of VNF packages.
func Packages(of PackageCounter, log *slog.Logger) prometheus.Collector {
	byState := describe("packages", "VNF packages by state.", "state")
	return collector{[]*prometheus.Desc{byState}, func(ctx context.Context, to scrape) {
		found, err := of.Count(ctx)
		if err != nil {
			log.WarnContext(ctx, "counting VNF packages for a scrape", "error", err)
			return
		}
		for _, s := range packageStates {
			to.gauge(byState, float64(found[s]), string(s))
		}
	}}
}
