package openstack

import (
	"encoding/json"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// maxDiscovered bounds the stored facts about a VIM, in bytes of JSON.
const maxDiscovered = 64 << 10

// recall returns the facts that an earlier check discovered about the cloud; zero if there
// was none.
func recall(d broker.Discovered) (broker.Cloud, error) {
	if d.Cloud == nil {
		return broker.Cloud{}, nil
	}
	if !isID(d.UserID) || !isID(d.ProjectID) {
		return broker.Cloud{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "what is stored about the cloud names no user or project",
			Next: broker.NextReplaceCredential, // which discovers the cloud again
		}
	}
	return *d.Cloud, nil
}

// fit drops the endpoints that are not public from a catalog that is too long to be stored.
func fit(d broker.Discovered) (broker.Discovered, error) {
	if size(d) <= maxDiscovered {
		return d, nil
	}
	cloud := *d.Cloud
	cloud.Catalog = slices.DeleteFunc(slices.Clone(cloud.Catalog), func(e broker.CatalogEntry) bool { return e.Interface != "public" })
	d.Cloud = &cloud
	if size(d) > maxDiscovered {
		return broker.Discovered{}, badCatalog("is too long")
	}
	return d, nil
}

func size(d broker.Discovered) int {
	text, _ := json.Marshal(d) // plain data always encodes
	return len(text)
}
