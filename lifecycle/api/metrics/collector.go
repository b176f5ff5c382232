// Package metrics shows at each scrape what there is of VNF instances, operations, packages and
// subscriptions. Every state is shown, also with 0.
package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
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

// OperationVitals gives operators the figures of operations on VNF instances; [lifecycle.Lifecycle]
// implements it.
type OperationVitals interface {
	Vitals(ctx context.Context) lifecycle.Vitals
}

var (
	liveOperations = describe("vnf_operations", "Operations on VNF instances that have not ended, by type and state.", "type", "state")
	oldestIn       = describe("vnf_operation_oldest_timestamp_seconds",
		"When the operation came into the state that has been in it for longest; absent where there is none.", "state")
	waitingOperations = describe("vnf_operations_waiting",
		"Operations on VNF instances that wait for their turn, because a VIM or a project has as many under way as are allowed.")
	oldestWaiting = describe("vnf_operations_waiting_oldest_timestamp_seconds",
		"Since when the operation has waited for its turn that has waited for longest; absent where none waits.")
	operationsTook = describe("vnf_operation_duration_seconds",
		"Time from the request for an operation until it was in the state, since this process started.", "type", "state")
)

// Operations returns the metrics of operations on VNF instances.
func Operations(of OperationVitals) prometheus.Collector {
	return collector{
		[]*prometheus.Desc{liveOperations, oldestIn, operationsTook, waitingOperations, oldestWaiting},
		func(ctx context.Context, to scrape) { to.operations(of.Vitals(ctx)) },
	}
}

func (s scrape) operations(v lifecycle.Vitals) {
	for _, t := range operationTypes {
		for _, state := range operationEnds {
			s <- api.Histogram(operationsTook, v.Took[lifecycle.Ended{Type: t, State: state}], string(t), string(state))
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
	s.gauge(waitingOperations, float64(waiting))
	if waiting > 0 {
		s.gauge(oldestWaiting, float64(since.Unix()))
	}
	for _, state := range operationStates {
		for _, t := range operationTypes {
			s.gauge(liveOperations, float64(counts[lifecycle.Ended{Type: t, State: state}]), string(t), string(state))
		}
		if at, any := oldest[state]; any {
			s.gauge(oldestIn, float64(at.Unix()), string(state))
		}
	}
}

// The complete label values of the operation metrics: the types that the engine works, the
// states that are not final, and the states that work ends in.
var (
	operationTypes = []lifecycle.OperationType{
		lifecycle.Instantiate, lifecycle.ScaleVNF, lifecycle.Heal, lifecycle.ChangePackage, lifecycle.ChangeConn, lifecycle.Terminate,
	}
	operationStates = []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack}
	operationEnds   = []lifecycle.OperationState{lifecycle.Completed, lifecycle.FailedTemp, lifecycle.RolledBack}
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

// SubscriptionVitals gives operators the figures of subscriptions to VNF instances; [subscription.Subscriptions]
// implements it.
type SubscriptionVitals interface {
	Vitals(ctx context.Context) subscription.Vitals
}

// Subscriptions returns the metrics of subscriptions to VNF instances.
func Subscriptions(of SubscriptionVitals) prometheus.Collector {
	waiting := describe("vnf_notifications_waiting", "Notifications that are still to be sent.")
	sent := describe("vnf_notifications_total",
		"Notifications that this process sent, tried in vain, and gave up since it started.", "outcome")
	return collector{[]*prometheus.Desc{waiting, sent}, func(ctx context.Context, to scrape) {
		v := of.Vitals(ctx)
		for outcome, n := range map[string]int64{"sent": v.Sent, "failed": v.Failed, "given-up": v.GivenUp} {
			to <- prometheus.MustNewConstMetric(sent, prometheus.CounterValue, float64(n), outcome)
		}
		if v.Waiting != nil {
			to.gauge(waiting, float64(*v.Waiting))
		}
	}}
}
