package web

import (
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
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
	return Screen{Page: "sessions", Of: map[string]any{"Who": v.Principal, "Own": own.ID, "All": all}}, nil
}

func (s *server) askEnd(v *Visit) (Screen, error) {
	all, err := s.Sessions.List(v.Context(), v.Principal)
	if err != nil {
		return Screen{}, err
	}
	for _, one := range all {
		if one.ID == v.PathValue("id") {
			return Screen{Page: "end session", Of: one}, nil
		}
	}
	return Screen{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such session, or it has ended"}
}

func (s *server) endSession(v *Visit, _ url.Values) (string, error) {
	return Here("sessions"), s.Sessions.End(v.Context(), v.Principal, v.PathValue("id"))
}
