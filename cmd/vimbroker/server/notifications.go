package server

import (
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// notificationsConfig says how those are met who have subscribed to VNF instances.
type notificationsConfig struct {
	// CAFile holds the authorities of subscribers' certificates; empty means the system's.
	CAFile string
	// CertFile and KeyFile are the client certificate for subscribers that accept TLS_CERT.
	CertFile, KeyFile string
}

// subscriptionTerms are the terms of subscriptions.
func (c *config) subscriptionTerms() subscription.Terms {
	t := subscription.DefaultTerms()
	t.Certificate = c.SOL003.Notifications.CertFile != ""
	return t
}

// load looks at the files that are named.
func (n notificationsConfig) load(d *strictyaml.Document) {
	const at = "sol003.notifications"
	files.Authorities(d, at+".caFile", n.CAFile)
	files.KeyPair(d, at, n.CertFile, n.KeyFile)
}
