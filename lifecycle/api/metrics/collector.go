// Package metrics shows at each scrape what there is of VNF instances, operations, packages and
// subscriptions. Every state is shown, also with 0.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
)

// collector sends at each scrape the metrics of these descriptions that read finds.
type collector struct {
	described []*prometheus.Desc
	read      func(context.Context, scrape)
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.described {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.ScrapeTime)
	defer cancel()
	c.read(ctx, ch)
}

// scrape takes the values of one scrape.
type scrape chan<- prometheus.Metric

func (s scrape) gauge(d *prometheus.Desc, n float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vimbroker_"+name, help, labels, nil)
}
