package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Configured says which configuration a server runs by.
type Configured struct {
	// Policies is the hash of the policies in use.
	Policies string
	// Loaded is when the configuration in use was read. Failed: a later one had faults.
	Loaded time.Time
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
	reloadTime = prometheus.NewDesc("vimbroker_config_last_reload_success_timestamp_seconds",
		"When the configuration in use was read.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (configuration) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{policiesInUse, reloadGood, reloadTime, certificateEnds} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c configuration) Collect(ch chan<- prometheus.Metric) {
	now := c.ask()
	good := 1.0
	if now.Failed {
		good = 0
	}
	ch <- prometheus.MustNewConstMetric(policiesInUse, prometheus.GaugeValue, 1, now.Policies)
	ch <- prometheus.MustNewConstMetric(reloadGood, prometheus.GaugeValue, good)
	ch <- prometheus.MustNewConstMetric(reloadTime, prometheus.GaugeValue, float64(now.Loaded.UnixMilli())/1000)
	if !now.CertificateEnds.IsZero() {
		ch <- prometheus.MustNewConstMetric(certificateEnds, prometheus.GaugeValue, float64(now.CertificateEnds.Unix()))
	}
}
