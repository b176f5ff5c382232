package metrics

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// InstanceCounter counts VNF instances; [lifecycle.Lifecycle] does.
type InstanceCounter interface {
	Count(ctx context.Context) (lifecycle.InstanceCount, error)
}

// Instances returns the metrics of VNF instances.
func Instances(of InstanceCounter, log *slog.Logger) prometheus.Collector {
	states := describe("vnf_instances", "VNF instances by state.", "state")
	drifted := describe("vnf_instances_drifted",
		"VNF instances of which resources were missing or changed when they were looked at last.")
	unseen := describe("vnf_instances_unseen", "VNF instances whose VIM did not answer when they were looked at last.")
	return collector{[]*prometheus.Desc{states, drifted, unseen}, func(ctx context.Context, to scrape) {
		found, err := of.Count(ctx)
		if err != nil {
			log.WarnContext(ctx, "counting VNF instances for a scrape", "error", err)
			return
		}
		for _, s := range []lifecycle.InstanceState{lifecycle.NotInstantiated, lifecycle.Instantiated} {
			to.gauge(states, float64(found.States[s]), string(s))
		}
		to.gauge(drifted, float64(found.Drifted))
		to.gauge(unseen, float64(found.Unseen))
	}}
}
