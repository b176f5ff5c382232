package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// InstanceCounter counts VNF instances; [lifecycle.Lifecycle] does.
type InstanceCounter interface {
	Count(ctx context.Context) (lifecycle.InstanceCount, error)
}

// instances shows at each scrape what there is of VNF instances.
type instances struct {
	of  InstanceCounter
	log *slog.Logger

	states, drifted, unseen *prometheus.Desc
}

// Instances returns the metrics of VNF instances.
func Instances(of InstanceCounter, log *slog.Logger) prometheus.Collector {
	return &instances{
		of: of, log: log,
		states: prometheus.NewDesc("vimbroker_vnf_instances", "VNF instances by state.", []string{"state"}, nil),
		drifted: prometheus.NewDesc("vimbroker_vnf_instances_drifted",
			"VNF instances of which resources were missing or changed when they were looked at last.", nil, nil),
		unseen: prometheus.NewDesc("vimbroker_vnf_instances_unseen",
			"VNF instances whose VIM did not answer when they were looked at last.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *instances) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.states, c.drifted, c.unseen} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every state is shown, also with 0.
func (c *instances) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.ScrapeTime)
	defer cancel()
	found, err := c.of.Count(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "counting VNF instances for a scrape", "error", err)
		return
	}
	for _, s := range []lifecycle.InstanceState{lifecycle.NotInstantiated, lifecycle.Instantiated} {
		ch <- prometheus.MustNewConstMetric(c.states, prometheus.GaugeValue, float64(found.States[s]), string(s))
	}
	ch <- prometheus.MustNewConstMetric(c.drifted, prometheus.GaugeValue, float64(found.Drifted))
	ch <- prometheus.MustNewConstMetric(c.unseen, prometheus.GaugeValue, float64(found.Unseen))
}
