package rows

import (
	"encoding/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
)

// Asset is a row of the table assets: a document, and what is looked for.
type Asset struct {
	asset.Asset
	Document string
}

// AssetColumns are the columns of the table assets.
var AssetColumns = ColumnsOf[Asset](`
	id! project! kind! name! vim! state network=Made.Network maker loose since revision document`)

// AssetRow is an asset as a store keeps it.
func AssetRow(l asset.Asset) (Asset, error) {
	text, err := json.Marshal(l)
	return Asset{l, string(text)}, err
}

// Read reads the document, and what changes without it.
func (r Asset) Read() (asset.Asset, error) {
	l, err := document[asset.Asset]("assets", r.ID, r.Document)
	l.Loose, l.Since, l.Revision = r.Loose, r.Since, r.Revision
	return l, err
}

// AssetOrder is the order of a list of assets.
var AssetOrder = OrderOf[Asset]("assets", "id", true)

// AssetsGone says that one that an instance is to use is not to be had any more.
func AssetsGone() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "a virtual link or volume that the instance is to use was removed in the meantime",
		Remedy: "make it again, or name another one",
	}
}
