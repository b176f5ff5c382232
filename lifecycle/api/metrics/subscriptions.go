package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// SubscriptionVitals says what an operator watches of subscriptions to VNF instances; [subscription.Subscriptions] does.
type SubscriptionVitals interface {
	Vitals(ctx context.Context) subscription.Vitals
}

// subscriptions shows at each scrape how subscribers are told.
type subscriptions struct {
	of SubscriptionVitals

	waiting, sent *prometheus.Desc
}

// Subscriptions returns the metrics of subscriptions to VNF instances.
func Subscriptions(of SubscriptionVitals) prometheus.Collector {
	return &subscriptions{
		of:      of,
		waiting: prometheus.NewDesc("vimbroker_vnf_notifications_waiting", "Notifications that are still to be sent.", nil, nil),
		sent: prometheus.NewDesc("vimbroker_vnf_notifications_total",
			"Notifications that this process sent, tried in vain, and gave up since it started.", []string{"outcome"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *subscriptions) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.waiting
	ch <- c.sent
}

// Collect implements [prometheus.Collector].
func (c *subscriptions) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), api.ScrapeTime)
	defer cancel()
	v := c.of.Vitals(ctx)
	for outcome, n := range map[string]int64{"sent": v.Sent, "failed": v.Failed, "given-up": v.GivenUp} {
		ch <- prometheus.MustNewConstMetric(c.sent, prometheus.CounterValue, float64(n), outcome)
	}
	if v.Waiting != nil {
		ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(*v.Waiting))
	}
}
