package openstack

import (
	"encoding/json"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// maxDiscovered bounds what is kept of a VIM, in bytes.
const maxDiscovered = 64 << 10

// Kinds of lease that a VIM gives: see [discovered.Leases].
const (
	byApplicationCredential = "applicationCredential"
	byProjectToken          = "projectToken"
)

// discovered is what a check finds out about a cloud, kept with the generation
// and shown to callers. None of it is secret.
type discovered struct {
	Regions []string `json:"regions"`

	UserID            string   `json:"userId"`
	UserDomainID      string   `json:"userDomainId"`
	ProjectID         string   `json:"projectId"`
	ProjectName       string   `json:"projectName"`
	ProjectDomainID   string   `json:"projectDomainId"`
	ProjectDomainName string   `json:"projectDomainName"`
	Roles             []string `json:"roles"`

	// Leases says what a lease is: applicationCredential, or projectToken where
	// the registered credential may not make any.
	Leases string `json:"leases"`
	// AccessRules: Keystone knows them, and leases for purpose "read" are held to
	// them. Whether a service obeys or refuses such a lease is its own.
	AccessRules bool `json:"accessRules"`
	// Trusts says whether application credentials may make trusts, which Heat
	// needs: where not, a lease whose purpose is Heat is a project token.
	Trusts bool `json:"trustsByApplicationCredential"`

	Catalog []endpoint `json:"catalog"`
}

// parseDiscovered reads what an earlier check wrote; nothing if there was none.
func parseDiscovered(text string) (discovered, error) {
	var d discovered
	if text == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil || !isID(d.UserID) || !isID(d.ProjectID) {
		return d, &broker.Error{
			Kind: broker.ErrConflict, Detail: "what is kept of the cloud cannot be read",
			Next: broker.NextReplaceCredential, // which discovers it anew
		}
	}
	return d, nil
}

// encode writes it down. Of a catalog that is too long, the endpoints that are not public go.
func (d discovered) encode() (string, error) {
	for range 2 {
		text, err := json.Marshal(d)
		if err == nil && len(text) <= maxDiscovered {
			return string(text), nil
		}
		d.Catalog = slices.DeleteFunc(slices.Clone(d.Catalog), func(e endpoint) bool { return e.Interface != "public" })
	}
	return "", badCatalog("is too long")
}
