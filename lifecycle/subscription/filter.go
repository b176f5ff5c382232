package subscription

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// Filter selects events (SOL003, LifecycleChangeNotificationsFilter). An empty field selects all; a list selects an
// event if one item matches.
type Filter struct {
	VNFDs     []string                `json:"vnfdIds,omitempty"`
	Providers []sol003.ProviderFilter `json:"vnfProductsFromProviders,omitempty"`
	Instances []string                `json:"vnfInstanceIds,omitempty"`
	Names     []string                `json:"vnfInstanceNames,omitempty"`

	Kinds []lifecycle.EventKind `json:"notificationTypes,omitempty"`
	// Types and States are of operations; events of other kinds pass them.
	Types  []lifecycle.OperationType  `json:"operationTypes,omitempty"`
	States []lifecycle.OperationState `json:"operationStates,omitempty"`
}

// Selects reports whether an event matches.
func (f Filter) Selects(e lifecycle.Event) bool {
	p := e.Product
	switch {
	case !has(f.VNFDs, p.VNFDID), !has(f.Instances, e.Instance), !has(f.Names, e.Name), !has(f.Kinds, e.Kind):
		return false
	case len(f.Providers) > 0 && !slices.ContainsFunc(f.Providers, func(of sol003.ProviderFilter) bool { return selects(of, p) }):
		return false
	}
	return e.Kind != lifecycle.OperationMoved || has(f.Types, e.Type) && has(f.States, e.State)
}

// has reports whether a list, which selects all if it is empty, selects an item.
func has[T comparable](list []T, item T) bool { return len(list) == 0 || slices.Contains(list, item) }

func selects(of sol003.ProviderFilter, p lifecycle.Product) bool {
	return of.Provider == p.Provider && (len(of.Products) == 0 || slices.ContainsFunc(of.Products, func(one sol003.ProductFilter) bool {
		return one.Name == p.Name && (len(one.Versions) == 0 || slices.ContainsFunc(one.Versions, func(v sol003.VersionFilter) bool {
			return v.Software == p.SoftwareVersion && has(v.VNFDs, p.VNFDVersion)
		}))
	}))
}

// maxFilter bounds a filter, in bytes as JSON.
const maxFilter = 32 << 10

// check refuses values that the standard does not have.
func (f Filter) check() error {
	const of = "filter.vnfInstanceSubscriptionFilter"
	switch {
	case len(f.VNFDs) > 0 && len(f.Providers) > 0:
		return broker.Invalid(of, "holds vnfdIds or vnfProductsFromProviders, not both")
	case len(f.Instances) > 0 && len(f.Names) > 0:
		return broker.Invalid(of, "holds vnfInstanceIds or vnfInstanceNames, not both")
	}
	for _, k := range f.Kinds {
		if k != lifecycle.OperationMoved && k != lifecycle.InstanceCreated && k != lifecycle.InstanceDeleted {
			return broker.Invalid("filter.notificationTypes", "must be %s, %s or %s",
				lifecycle.OperationMoved, lifecycle.InstanceCreated, lifecycle.InstanceDeleted)
		}
	}
	if (len(f.Types) > 0 || len(f.States) > 0) && !has(f.Kinds, lifecycle.OperationMoved) {
		return broker.Invalid("filter.notificationTypes", "must contain %s where operationTypes or operationStates are given",
			lifecycle.OperationMoved)
	}
	for _, t := range f.Types {
		if !slices.Contains(operationTypes, t) {
			return broker.Invalid("filter.operationTypes", "holds something that is no type of an operation")
		}
	}
	for _, s := range f.States {
		if !slices.Contains(operationStates, s) {
			return broker.Invalid("filter.operationStates", "holds something that is no state of an operation")
		}
	}
	if text, _ := json.Marshal(f); len(text) > maxFilter { // texts always encode
		return broker.Invalid("filter", "is longer than %d KiB", maxFilter>>10)
	}
	if !printable(strings.Join(f.texts(), "")) {
		return broker.Invalid("filter", "must be printable text")
	}
	return nil
}

// texts are the texts that a caller wrote into a filter.
func (f Filter) texts() []string {
	all := slices.Concat(f.VNFDs, f.Instances, f.Names)
	for _, of := range f.Providers {
		all = append(all, of.Provider)
		for _, product := range of.Products {
			all = append(all, product.Name)
			for _, v := range product.Versions {
				all = append(append(all, v.Software), v.VNFDs...)
			}
		}
	}
	return all
}

func printable(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

var (
	// operationTypes are those of SOL003; of some there is never an event.
	operationTypes = []lifecycle.OperationType{
		lifecycle.Instantiate, lifecycle.ScaleVNF, "SCALE_TO_LEVEL", "CHANGE_FLAVOUR", lifecycle.Terminate, lifecycle.Heal, "OPERATE",
		"CHANGE_EXT_CONN", lifecycle.ModifyInfo, "CREATE_SNAPSHOT", "REVERT_TO_SNAPSHOT", lifecycle.ChangePackage,
	}
	operationStates = []lifecycle.OperationState{
		lifecycle.Starting, lifecycle.Processing, lifecycle.Completed, lifecycle.FailedTemp, lifecycle.Failed,
		lifecycle.RollingBack, lifecycle.RolledBack,
	}
)
