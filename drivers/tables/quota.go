package tables

import (
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// quota bounds how many rows of a table a project or a client has.
type quota struct {
	lock  Lock
	count string
	// full says with %d how many there are, field names what it is about in a request.
	field, full, remedy string
}

func quotaOf(lock Lock, table, owner, field, full, remedy string) quota {
	count := statement(`SELECT count(*) FROM (SELECT 1 FROM ` + table + ` WHERE ` + owner + ` = ?1 LIMIT ?2) AS found`)
	return quota{lock, count, field, full, remedy}
}

const (
	asManyAs = ", as many as it may have"
	orAsk    = "or ask the broker's operator for more"
)

var (
	bundleQuota  = quotaOf(lockBundles, `vnf_bundles`, `project`, "", "the project has as many of these as it may have", "")
	clientQuota  = quotaOf(lockClients, `oauth_clients`, `project`, "", "the project has %d clients"+asManyAs, "delete some")
	packageQuota = quotaOf(lockPackages, `vnf_packages`, `project`, "", "the project has %d VNF packages"+asManyAs, "delete some")
	subsQuota    = quotaOf(lockSubs, `vnf_subscriptions`, `project`, "", "the project has %d subscriptions"+asManyAs, "delete some")

	instanceQuota = quotaOf(lockInstances, `vnf_instances`, `project`, "",
		"quota vnfInstances is used up: the project has %d VNF instances"+asManyAs, "delete VNF instances that are no longer needed, "+orAsk)
	vimQuota = quotaOf(lockVIMs, `vims`, `project`, "project",
		"quota vims is used up: the project has %d VIMs"+asManyAs, "delete VIMs that are no longer needed, "+orAsk)
	vnfGrantQuota = quotaOf(lockVNFGrants, `vnf_grants`, `client`, "",
		"the client has %d grants"+asManyAs, "have operations end before more begin: say so at /grant/v1/notifications")
)

// within is [Tx.room] for one row more.
func within(q quota, owner string, most int) func(Tx) error {
	return func(t Tx) error { return t.room(q, owner, 1, most) }
}

// assetQuotas are of each kind by itself.
var assetQuotas = map[policy.Kind]quota{
	policy.KindLink: quotaOf(lockAssets, `assets`, `kind = 'VirtualLink' AND project`, "",
		"quota links is used up: the project has %d virtual links"+asManyAs, "delete those that are no longer needed, "+orAsk),
	policy.KindVolume: quotaOf(lockAssets, `assets`, `kind = 'Volume' AND project`, "",
		"quota links is used up: the project has %d volumes"+asManyAs, "delete those that are no longer needed, "+orAsk),
}

// room makes sure that so many rows more are within a quota until the transaction ends. Without a bound there is none.
func (t Tx) room(q quota, owner string, more, most int) error {
	if most <= 0 {
		return nil
	}
	t.lock(q.lock, owner)
	n, err := t.count(q.count, owner, most)
	if err == nil && int(n)+more > most {
		return &broker.Error{
			Kind: broker.ErrQuota, Field: q.field, Detail: strings.Replace(q.full, "%d", strconv.Itoa(most), 1), Remedy: q.remedy,
		}
	}
	return err
}
