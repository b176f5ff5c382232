package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Package is one VNF package. Times are in UTC, in microseconds.
type Package struct {
	ID      string
	Project string
	State   State
	// UserData is the JSON object of ETSI's userDefinedData; empty means {}. Its members that
	// are texts are the package's labels to policies.
	UserData string

	// The descriptor's information on the product. These fields are empty until the package is
	// onboarded.
	VNFDID          string
	Provider        string
	ProductName     string
	SoftwareVersion string
	VNFDVersion     string
	VNFMInfo        []string
	// Entry is the main YAML file of the descriptor, Manifest the path of the manifest; the
	// latter may be empty.
	Entry, Manifest string
	// Signer is the subject of the certificate (RFC 4514) that signed the package, verified at upload; empty
	// if the package is not signed. Wrapped: the content is an archive of the CSAR and its signature.
	Signer  string
	Wrapped bool
	// Artifacts are the files that the package declares, each with a hash.
	Artifacts []vnfpkg.Artifact
	// Warnings are sentences about what seems wrong in the content.
	Warnings []string

	// Content names the bytes. Each upload has a name of its own; empty if there are none.
	Content string
	// Size is that of the content in bytes; SHA256 and SHA512 are its digests in hex.
	Size           int64
	SHA256, SHA512 string

	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	OnboardedAt time.Time
	// TouchedAt is when an upload that is under way last said that it is alive.
	TouchedAt time.Time
	// Revision counts the writes, from 1.
	Revision int64
	// InUse: a VNF instance was made from it. It follows from the instances, so that no
	// write sets it.
	InUse bool
}

// State says how far a package is. The two states of an onboarded package are ETSI's
// operational states.
type State string

// Every state of a package.
const (
	// Created: it has no content yet.
	Created State = "created"
	// Uploading: its content is coming in.
	Uploading State = "uploading"
	// Processing: its content is there and is being looked through.
	Processing State = "processing"
	// Enabled: VNF instances can be made from it.
	Enabled State = "enabled"
	// Disabled: no more VNF instances can be made from it.
	Disabled State = "disabled"
)

// packageMoves lists the states that may follow each state. A failed upload restores the
// package's previous state; the next upload overtakes one that is silent for too long.
// Being in use is no state: it follows from the instances.
var packageMoves = map[State][]State{
	Created:    {Uploading},
	Uploading:  {Processing, Created},
	Processing: {Enabled, Uploading, Created},
	Enabled:    {Disabled},
	Disabled:   {Enabled},
}

// CanMove reports whether a package in this state may become next. Staying is no move.
func (s State) CanMove(next State) bool { return slices.Contains(packageMoves[s], next) }

// Onboarded reports whether the content is there and was looked through.
func (s State) Onboarded() bool { return s == Enabled || s == Disabled }

// underWay reports whether an upload is.
func (s State) underWay() bool { return s == Uploading || s == Processing }

// Resource is the package as policies see it.
func (p Package) Resource() policy.Resource {
	return policy.Resource{
		Kind: policy.KindPackage, ID: p.ID, Project: p.Project, Labels: p.labels(),
		Provider: p.Provider, Product: p.ProductName, Version: p.SoftwareVersion, Signer: p.Signer,
	}
}

// labels are the members of UserData that are texts.
func (p Package) labels() map[string]string {
	var all map[string]any
	if json.Unmarshal([]byte(p.UserData), &all) != nil {
		return nil
	}
	labels := map[string]string{}
	for name, value := range all {
		if text, ok := value.(string); ok {
			labels[name] = text
		}
	}
	return labels
}

// Document is the stored form of a package: everything except the fields that have
// columns of their own: State, TouchedAt, Revision and InUse.
func (p Package) Document() string {
	text, _ := json.Marshal(p) // cannot fail for texts, numbers and times
	return string(text)
}

// OfDocument reads what [Package.Document] made.
func OfDocument(text string) (Package, error) {
	var p Package
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "the stored VNF package cannot be read",
			Remedy: "restore the table vnf_packages from a backup", Cause: fmt.Errorf("reading a package: %w", err),
		}
	}
	return p, nil
}

// Moved is the package that an update stores in place of the previous one: fields that an
// update may not change keep their values. A move that the table of states does not list
// is [broker.ErrConflict].
func (p Package) Moved(next Package) (Package, error) {
	if p.State != next.State && !p.State.CanMove(next.State) {
		return p, &broker.Error{
			Kind: broker.ErrConflict, Detail: fmt.Sprintf("the package is %s, and cannot become %s", p.State, next.State),
		}
	}
	next.ID, next.Project, next.CreatedBy, next.CreatedAt = p.ID, p.Project, p.CreatedBy, p.CreatedAt
	next.Revision, next.InUse = p.Revision+1, p.InUse
	return next, nil
}
