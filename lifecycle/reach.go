package lifecycle

import (
	"cmp"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// The ways in which an object reaches out, as policies read them.
const (
	ReachNode        = "node"        // a node: its kernel, files, devices
	ReachNetwork     = "network"     // a network of nodes or of others
	ReachCluster     = "cluster"     // something that all who use the VIM share
	ReachRBAC        = "rbac"        // rights
	ReachDefinitions = "definitions" // kinds
	ReachWebhooks    = "webhooks"    // objects that others make
	ReachUnknown     = "unknown"     // not known here
)

// reached are those words, in the order in which they are shown.
var reached = []string{ReachNode, ReachNetwork, ReachCluster, ReachRBAC, ReachDefinitions, ReachWebhooks, ReachUnknown}

// Levels of Pod Security.
const (
	PodsRestricted = "restricted"
	PodsBaseline   = "baseline"
	PodsPrivileged = "privileged"
)

// Reach is one way by which an object gets out of its namespace, or may. It holds no value of the object.
type Reach struct {
	What, Kind, Namespace, Name string
	// Field is the field that says so, Why the thing that is reached.
	Field, Why string
	// Resource is the kind as rules write it. Types are the types that the object declares, if the owner of a VIM may
	// share some types of the kind and not others.
	Resource string
	Types    []string
	// Shareable: the owner of a VIM may share it.
	Shareable bool
}

// SortReaches returns the ways in the order in which they are shown, each once.
func SortReaches(all []Reach) []Reach {
	slices.SortStableFunc(all, func(a, b Reach) int {
		return cmp.Or(cmp.Compare(slices.Index(reached, a.What), slices.Index(reached, b.What)), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Why, b.Why))
	})
	return slices.CompactFunc(all, func(a, b Reach) bool {
		return a.What == b.What && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && a.Field == b.Field
	})
}

// unvouched are the ways that a VIM's owner does not open to every project: unknown kinds, and networks.
func unvouched(all []Reach, by broker.Vouched) []Reach {
	return slices.DeleteFunc(all, func(r Reach) bool { return r.Shareable && by.Shares(r.Resource, r.Types) })
}

// words are the words for the ways, each once.
func words(all []Reach) []string {
	var words []string
	for _, what := range reached {
		if slices.ContainsFunc(all, func(r Reach) bool { return r.What == what }) {
			words = append(words, what)
		}
	}
	return words
}
