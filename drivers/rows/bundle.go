package rows

import "github.com/vimbroker/vimbroker/lifecycle/bundle"

// BundleColumns are the columns of the table vnf_bundles.
var BundleColumns = ColumnsOf[bundle.Row](`
	id! project! kind! name! claim document busy state since generation=Owner.Generation sealed=Text key_store key_ref=Ref`)

// BundlesUnsettled is the condition of the index bundle_unsettled, so that it serves.
const BundlesUnsettled = `(busy OR state <> 'active')`

// WhereBundles are the conditions of a filter, and the order of its results.
func WhereBundles(f bundle.Filter) (*Conditions, string) {
	where, order := new(Conditions), "name"
	if f.Project == "" {
		order = "id"
		where.AddIf(f.Busy, BundlesUnsettled)
		where.AddIf(f.Sealed, `key_ref <> ''`)
	} else {
		where.Add(`project = ? AND kind = ?`, f.Project, string(f.Kind))
		where.AddIf(f.Claim != "", `claim = ?`, f.Claim)
		where.AddIf(f.Under != "", `name > ? AND name < ?`, f.Under+"/", f.Under+"0") // "0" follows "/"
	}
	where.AddIf(f.After != "", order+` > ?`, f.After)
	return where, order
}
