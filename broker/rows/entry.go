package rows

import "github.com/vimbroker/vimbroker/policy/audit"

type entry = audit.Entry

// EntryColumns are the columns of the table audit_entries.
var EntryColumns = Columns[entry]{
	{Name: "seq", field: func(e *entry) any { return &e.Seq }},
	{Name: "time", field: func(e *entry) any { return &e.Time }},
	{Name: "request", field: func(e *entry) any { return &e.Request }},
	{Name: "principal", field: func(e *entry) any { return &e.Principal }},
	{Name: "project", field: func(e *entry) any { return &e.Project }},
	{Name: "action", field: func(e *entry) any { return &e.Action }},
	{Name: "kind", field: func(e *entry) any { return &e.Kind }},
	{Name: "resource", field: func(e *entry) any { return &e.Resource }},
	{Name: "outcome", field: func(e *entry) any { return &e.Outcome }},
	{Name: "detail", field: func(e *entry) any { return &e.Detail }},
	{Name: "previous", field: func(e *entry) any { return &e.Previous }},
	{Name: "hash", field: func(e *entry) any { return &e.Hash }},
}

// WaitingColumns are those of an entry that has no place in the log yet.
var WaitingColumns = EntryColumns.Pick("time", "request", "principal", "project", "action", "kind", "resource", "outcome", "detail")
