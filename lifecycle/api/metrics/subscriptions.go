package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

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
