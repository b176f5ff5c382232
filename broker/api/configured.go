package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Configured says which configuration a server runs by.
type Configured struct {
	Policies string
	// Failed: the last configuration that was read had faults, and the one before is in use.
	Failed bool
	// CertificateEnds is when the certificate ends that callers see; zero without TLS.
	CertificateEnds time.Time
}

// configuration shows at each scrape which configuration is in use.
type configuration struct{ ask func() Configured }

var (
	policiesInUse = prometheus.NewDesc("vimbroker_policies_info", "The hash of the policies in use; always 1.", []string{"hash"}, nil)
	reloadGood    = prometheus.NewDesc("vimbroker_config_last_reload_successful",
		"1 if the last reading of the configuration had no fault; with 0 the one before is in use.", nil, nil)
	certificateEnds = prometheus.NewDesc("vimbroker_tls_certificate_expiry_timestamp_seconds",
		"When the certificate ends that callers see.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (configuration) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{policiesInUse, reloadGood, certificateEnds} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c configuration) Collect(ch chan<- prometheus.Metric) {
	now := c.ask()
	ch <- prometheus.MustNewConstMetric(policiesInUse, prometheus.GaugeValue, 1, now.Policies)
	ch <- prometheus.MustNewConstMetric(reloadGood, prometheus.GaugeValue, oneIf(!now.Failed))
	if !now.CertificateEnds.IsZero() {
		ch <- prometheus.MustNewConstMetric(certificateEnds, prometheus.GaugeValue, float64(now.CertificateEnds.Unix()))
	}
}
