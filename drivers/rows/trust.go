package rows

import "github.com/vimbroker/vimbroker/broker/trust"

// TrustColumns are the columns of the table trust_entries.
var TrustColumns = Columns[trust.Listed]{
	{Name: "name", field: func(e *trust.Listed) any { return &e.Name }, fixed: true},
	{Name: "definition", field: func(e *trust.Listed) any { return &e.Authority }},
	{Name: "created_by", field: func(e *trust.Listed) any { return &e.CreatedBy }},
	{Name: "created_at", field: func(e *trust.Listed) any { return &e.CreatedAt }},
	{Name: "updated_by", field: func(e *trust.Listed) any { return &e.UpdatedBy }},
	{Name: "updated_at", field: func(e *trust.Listed) any { return &e.UpdatedAt }},
}
