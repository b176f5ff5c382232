package web

import (
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/session"
)

func (s *server) sessions() Room {
	return Room{
		Addresses: []Address{{Path: "/sessions", Show: s.listSessions}},
		Doings:    []Doing{{Path: "/sessions/{id}/end", Ask: s.askEnd, Do: s.endSession}},
	}
}

// listSessions shows the person and the person's sessions.
func (s *server) listSessions(v *Visit) (Screen, error) {
	all, err := s.Sessions.List(v.Context(), v.Principal)
	if err != nil {
		return Screen{}, err
	}
	_, own, err := s.Sessions.Find(v.Context(), shown(v.Request), false)
	if err != nil {
		return Screen{}, err
	}
	t := Table([]string{"Session", "From", "Began", "Used", "Ends unless used", "Ends", "End it"}, "", "",
		all, func(one session.Session) []Cell {
			name := ID(one.ID)
			if one.ID == own.ID {
				name.Text += " (this one)"
			}
			return []Cell{
				name, Say(one.Source), On(one.CreatedAt), On(one.UsedAt), On(one.Until), On(one.EndsAt),
				To("End "+Short(one.ID), "sessions", one.ID, "end"),
			}
		})
	p := v.Principal
	return Screen{Title: "Your sessions", Blocks: []Block{
		{Title: "You", Facts: []Fact{
			Of("Name", p.Name), Of("Shown as", p.Login.Shown), Of("Project", p.Project), Of("Roles", p.Roles...),
			Of("Came in by", p.Authenticator()),
		}},
		{Title: "Sessions", Table: t},
	}}, nil
}

func (s *server) askEnd(v *Visit) (Screen, error) {
	all, err := s.Sessions.List(v.Context(), v.Principal)
	if err != nil {
		return Screen{}, err
	}
	for _, one := range all {
		if one.ID == v.PathValue("id") {
			return Screen{
				Kind: "Session", Title: "End session " + Short(one.ID) + "?",
				Blocks: []Block{{Note: "Whoever has it has to log in again.", Facts: []Fact{
					Of("From", one.Source), At("Began", one.CreatedAt), At("Used", one.UsedAt),
				}}},
				Ask: &Question{Button: "End it", Back: Here("sessions")},
			}, nil
		}
	}
	return Screen{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such session, or it has ended"}
}

func (s *server) endSession(v *Visit, _ url.Values) (string, error) {
	return Here("sessions"), s.Sessions.End(v.Context(), v.Principal, v.PathValue("id"))
}
