// Package metrics shows at each scrape what there is of VNF instances, operations, packages and
// subscriptions.
package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// OperationVitals says what an operator watches of operations on VNF instances; [lifecycle.Lifecycle] does.
type OperationVitals interface {
	Vitals(ctx context.Context) lifecycle.Vitals
}

// operations shows at each scrape what is done to VNF instances.
type operations struct {
	of OperationVitals

	live, oldest, took, waiting, oldestWaiting *prometheus.Desc
}

// Operations returns the metrics of operations on VNF instances.
func Operations(of OperationVitals) prometheus.Collector {
	return &operations{
		of: of,
		live: prometheus.NewDesc("vimbroker_vnf_operations",
			"Operations on VNF instances that have not ended, by type and state.", []string{"type", "state"}, nil),
		oldest: prometheus.NewDesc("vimbroker_vnf_operation_oldest_timestamp_seconds",
			"When the operation came into the state that has been in it for longest; absent where there is none.", []string{"state"}, nil),
		waiting: prometheus.NewDesc("vimbroker_vnf_operations_waiting",
			"Operations on VNF instances that wait for their turn, because a VIM or a project has as many under way as are allowed.", nil, nil),
		oldestWaiting: prometheus.NewDesc("vimbroker_vnf_operations_waiting_oldest_timestamp_seconds",
			"Since when the operation has waited for its turn that has waited for longest; absent where none waits.", nil, nil),
		took: prometheus.NewDesc("vimbroker_vnf_operation_duration_seconds",
			"Time from the request for an operation until it was in the state, since this process started.", []string{"type", "state"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *operations) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.live, c.oldest, c.took, c.waiting, c.oldestWaiting} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Every type and state is shown, also with 0.
func (c *operations) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.ScrapeTime)
	defer cancel()
	v := c.of.Vitals(ctx)
	for _, t := range operationTypes {
		for _, s := range operationEnds {
			ch <- api.Histogram(c.took, v.Took[lifecycle.Ended{Type: t, State: s}], string(t), string(s))
		}
	}
	if v.Live == nil {
		return
	}
	counts := map[lifecycle.Ended]int{}
	oldest := map[lifecycle.OperationState]time.Time{}
	waiting, since := 0, time.Time{}
	for _, n := range v.Live {
		if n.Waiting > 0 && (waiting == 0 || n.OldestWaiting.Before(since)) {
			since = n.OldestWaiting
		}
		waiting += n.Waiting
		counts[lifecycle.Ended{Type: n.Type, State: n.State}] = n.Count
		if first, known := oldest[n.State]; !known || n.Oldest.Before(first) {
			oldest[n.State] = n.Oldest
		}
	}
	ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(waiting))
	if waiting > 0 {
		ch <- prometheus.MustNewConstMetric(c.oldestWaiting, prometheus.GaugeValue, float64(since.Unix()))
	}
	for _, s := range operationStates {
		for _, t := range operationTypes {
			ch <- prometheus.MustNewConstMetric(c.live, prometheus.GaugeValue,
				float64(counts[lifecycle.Ended{Type: t, State: s}]), string(t), string(s))
		}
		if at, any := oldest[s]; any {
			ch <- prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, float64(at.Unix()), string(s))
		}
	}
}

// What the metrics of operations count by, in full: the types that the engine works, the states
// that are no end, and those that work ends in.
var (
	operationTypes = []lifecycle.OperationType{
		lifecycle.Instantiate, lifecycle.ScaleVNF, lifecycle.Heal, lifecycle.ChangePackage, lifecycle.Terminate,
	}
	operationStates = []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack}
	operationEnds   = []lifecycle.OperationState{lifecycle.Completed, lifecycle.FailedTemp, lifecycle.RolledBack}
)
