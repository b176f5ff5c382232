package rows

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/link"
)

// LinkName is the rule of uniqueness of links.
var LinkName = Unique{"name", "the project has one of this name already"}

// Link is a row of the table virtual_links: a document, and what is looked for.
type Link struct {
	ID, Project, Name, VIM, State, Network, Maker string
	Loose                                         bool
	Since                                         time.Time
	Revision                                      int64
	Document                                      string
}

// LinkColumns are the columns of the table virtual_links.
var LinkColumns = Columns[Link]{
	{Name: "id", field: func(l *Link) any { return &l.ID }, fixed: true},
	{Name: "project", field: func(l *Link) any { return &l.Project }, fixed: true},
	{Name: "name", field: func(l *Link) any { return &l.Name }, fixed: true},
	{Name: "vim", field: func(l *Link) any { return &l.VIM }, fixed: true},
	{Name: "state", field: func(l *Link) any { return &l.State }},
	{Name: "network", field: func(l *Link) any { return &l.Network }},
	{Name: "maker", field: func(l *Link) any { return &l.Maker }},
	{Name: "loose", field: func(l *Link) any { return &l.Loose }},
	{Name: "since", field: func(l *Link) any { return &l.Since }},
	{Name: "revision", field: func(l *Link) any { return &l.Revision }},
	{Name: "document", field: func(l *Link) any { return &l.Document }},
}

// LinkRow is a link as a store keeps it.
func LinkRow(a link.Link) (Link, error) {
	text, err := json.Marshal(a)
	return Link{
		ID: a.ID, Project: a.Project, Name: a.Name, VIM: a.VIM, State: string(a.State), Network: a.Made.Network,
		Maker: a.Maker, Loose: a.Loose, Since: a.Since, Revision: a.Revision, Document: string(text),
	}, err
}

// Link reads the document, and what changes without it.
func (r Link) Link() (a link.Link, err error) {
	if err := json.Unmarshal([]byte(r.Document), &a); err != nil {
		return link.Link{}, unreadable("virtual_links", r.ID, err)
	}
	a.Loose, a.Since, a.Revision = r.Loose, r.Since, r.Revision
	return a, nil
}

// LinkPosition is the place of a link in its list.
type LinkPosition struct {
	ID string `json:"linkId"`
}

// LinksUsedUp says that a project has as many links as it may have.
func LinksUsedUp(most int) error {
	return &broker.Error{
		Kind: broker.ErrQuota, Detail: fmt.Sprintf("quota links is used up: the project has %d virtual links, as many as it may have", most),
		Remedy: "delete those that are no longer needed, or ask the broker's operator for more",
	}
}

// LinksGone says that a link that an instance is to use is not to be had any more.
func LinksGone() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "a virtual link that the instance is to use was removed in the meantime",
		Remedy: "make it again, or name another one",
	}
}
