package tacker

import (
	"errors"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
)

// show returns one VIM; what the query says counts for lists only.
func (s *server) show(c *api.Call) (api.Answer, error) {
	id := vimID(c.Request)
	if uuid.Validate(id) != nil {
		return api.Answer{}, noSuchVIM()
	}
	v, err := s.Registry.VIM(c.Context(), c.Principal, id)
	if err != nil {
		return api.Answer{}, err
	}
	return answer(v, asRead), nil
}

// list returns all VIMs that the caller may see and the filters select, whole or
// only the fields that are named. It filters by name, type, id and is_default; a filter
// that is repeated selects any of its values. Unknown parameters are ignored.
func (s *server) list(c *api.Call) (api.Answer, error) {
	query := c.Query
	if s.Compat && (query.Has("is_default") || query.Has("shared") || len(query["name"]) > 1) {
		return api.Answer{}, unlisted()
	}
	found, err := s.find(c, query)
	if err != nil {
		return api.Answer{}, err
	}
	fields := query["fields"]
	vims := make([]any, 0, len(found))
	for _, v := range found {
		if !selected(v, query) {
			continue
		}
		shown := vim(v, asRead)
		if len(fields) > 0 {
			for name := range shown {
				if !slices.Contains(fields, name) {
					delete(shown, name)
				}
			}
		}
		vims = append(vims, shown)
	}
	return api.Answer{Body: map[string]any{"vims": vims}}, nil
}

// find reads as few VIMs as the filters allow; without filters, all.
func (s *server) find(c *api.Call, query url.Values) ([]broker.VIM, error) {
	ctx := c.Context()
	if ids := query["id"]; len(ids) == 1 {
		if uuid.Validate(ids[0]) != nil {
			return nil, nil
		}
		v, err := s.Registry.VIM(ctx, c.Principal, ids[0])
		if errors.Is(err, broker.ErrNotFound) {
			return nil, nil
		}
		return []broker.VIM{v}, err
	}
	q := broker.VIMQuery{Page: broker.Page{Size: broker.MaxPage}}
	if names := query["name"]; len(names) == 1 {
		q.Name = names[0]
	}
	if types := query["type"]; len(types) == 1 {
		q.Type = broker.VIMType(types[0])
	}
	var all []broker.VIM
	for {
		page, next, err := s.Registry.VIMs(ctx, c.Principal, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" {
			return all, nil
		}
		q.Token = next
	}
}

func selected(v broker.VIM, query url.Values) bool {
	for name, value := range map[string]string{"id": v.ID, "name": v.Name, "type": string(v.Type)} {
		if wanted, given := query[name]; given && !slices.Contains(wanted, value) {
			return false
		}
	}
	wanted, given := query["is_default"]
	return !given || slices.ContainsFunc(wanted, func(text string) bool {
		yes, ok := boolean(text)
		return ok && yes == v.Default
	})
}
