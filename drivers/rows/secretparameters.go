package rows

import (
	"slices"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// SecretParametersColumns are the columns of the table vnf_secret_parameters.
var SecretParametersColumns = ColumnsOf[lifecycle.SecretParameters](`
	id! instance! vim! state since generation=Owner.Generation sealed=Text key_store key_ref=Ref`)

// The conditions of [lifecycle.SecretParametersFilter]. SecretParametersUnsettled is the condition of the index
// secret_parameters_unsettled, so that it serves.
const (
	SecretParametersUnsettled = `state <> 'active'`
	SecretParametersNeeded    = `state IN ('active', 'rekeying')`
)

// SecretParametersChange is the effect of a write on secret parameters: those in the making that an instance or a live operation on
// it now needs, and those that are needed no more.
type SecretParametersChange struct{ Kept, Dropped []string }

// concealed compares what was needed before a write with what is after it.
func concealed(before, after []string) SecretParametersChange {
	without := func(all, others []string) []string {
		all = slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(others, id) })
		slices.Sort(all)
		return slices.Compact(all)
	}
	return SecretParametersChange{Kept: without(after, before), Dropped: without(before, after)}
}

// needs are the secret parameters that an instance needs, and an operation on it that is live.
func needs(i lifecycle.Instance, o lifecycle.Operation) (ids []string) {
	shapes := []lifecycle.Shape{i.Shape}
	if o.State.Live() {
		shapes = append(shapes, o.Before, o.Target)
	}
	for _, s := range shapes {
		if s.Concealed.ID != "" {
			ids = append(ids, s.Concealed.ID)
		}
	}
	return ids
}

// NotSecretParameters says that secret parameters which an operation names are not being made any more.
func NotSecretParameters() error {
	return Conflict("the secret parameters took too long to seal, and were dropped")
}
