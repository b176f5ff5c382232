package rows

import (
	"encoding/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/link"
)

// Link is a row of the table virtual_links: a document, and what is looked for.
type Link struct {
	link.Link
	Document string
}

// LinkColumns are the columns of the table virtual_links.
var LinkColumns = ColumnsOf[Link](`
	id! project! name! vim! state network=Made.Network maker loose since revision document`)

// LinkRow is a link as a store keeps it.
func LinkRow(l link.Link) (Link, error) {
	text, err := json.Marshal(l)
	return Link{l, string(text)}, err
}

// Read reads the document, and what changes without it.
func (r Link) Read() (link.Link, error) {
	l, err := document[link.Link]("virtual_links", r.ID, r.Document)
	l.Loose, l.Since, l.Revision = r.Loose, r.Since, r.Revision
	return l, err
}

// LinkOrder is the order of a list of links.
var LinkOrder = OrderOf[Link]("links", "id", true)

// LinksGone says that a link that an instance is to use is not to be had any more.
func LinksGone() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "a virtual link that the instance is to use was removed in the meantime",
		Remedy: "make it again, or name another one",
	}
}
