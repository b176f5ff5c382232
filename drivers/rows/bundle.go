package rows

import "github.com/vimbroker/vimbroker/lifecycle/bundle"

// BundleColumns are the columns of the table vnf_bundles.
var BundleColumns = Columns[bundle.Row]{
	{Name: "id", field: func(r *bundle.Row) any { return &r.ID }, fixed: true},
	{Name: "project", field: func(r *bundle.Row) any { return &r.Project }, fixed: true},
	{Name: "kind", field: func(r *bundle.Row) any { return (*string)(&r.Kind) }, fixed: true},
	{Name: "name", field: func(r *bundle.Row) any { return &r.Name }, fixed: true},
	{Name: "claim", field: func(r *bundle.Row) any { return &r.Claim }},
	{Name: "document", field: func(r *bundle.Row) any { return &r.Document }},
	{Name: "busy", field: func(r *bundle.Row) any { return &r.Busy }},
	{Name: "state", field: func(r *bundle.Row) any { return (*string)(&r.State) }},
	{Name: "since", field: func(r *bundle.Row) any { return &r.Since }},
	{Name: "generation", field: func(r *bundle.Row) any { return &r.Generation }},
	{Name: "sealed", field: func(r *bundle.Row) any { return &r.Sealed }},
	{Name: "key_store", field: func(r *bundle.Row) any { return &r.KeyStore }},
	{Name: "key_ref", field: func(r *bundle.Row) any { return (*string)(&r.Ref) }},
}

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
