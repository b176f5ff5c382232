package rows

import "github.com/vimbroker/vimbroker/broker/session"

// SessionColumns are the columns of the table sessions.
var SessionColumns = Columns[session.Session]{
	{Name: "digest", field: func(s *session.Session) any { return &s.Digest }},
	{Name: "id", field: func(s *session.Session) any { return &s.ID }},
	{Name: "principal", field: func(s *session.Session) any { return &s.Principal }},
	{Name: "project", field: func(s *session.Session) any { return &s.Project }},
	{Name: "came", field: func(s *session.Session) any { return &s.Came }},
	{Name: "source", field: func(s *session.Session) any { return &s.Source }},
	{Name: "created_at", field: func(s *session.Session) any { return &s.CreatedAt }},
	{Name: "used_at", field: func(s *session.Session) any { return &s.UsedAt }},
	{Name: "until", field: func(s *session.Session) any { return &s.Until }},
	{Name: "ends_at", field: func(s *session.Session) any { return &s.EndsAt }},
}
