package sqlite

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	defaultPage = 100
	largestPage = 1000
)

// vimPosition and leasePosition are what page tokens say: the last item shown.
// They hold nothing that the list itself does not, and every filter applies
// again to the next page, so a made-up token shows nobody more.
type vimPosition struct {
	Project string `json:"vimProject"`
	Name    string `json:"vimName"`
}

type leasePosition struct {
	CreatedAt int64  `json:"leaseCreatedAt"`
	ID        string `json:"leaseId"`
}

func pageSize(p broker.Page) (int, error) {
	switch {
	case p.Size < 0 || p.Size > largestPage:
		return 0, broker.Invalid("pageSize", "a page has 1 to %d items", largestPage)
	case p.Size == 0:
		return defaultPage, nil
	}
	return p.Size, nil
}

func pageToken(position any) string {
	b, _ := json.Marshal(position) // strings and numbers always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

// readToken accepts what pageToken made of a T, and nothing else.
func readToken[T vimPosition | leasePosition](token string) (T, error) {
	var p T
	invalid := broker.Invalid("pageToken", "it is not one that this list gave out")
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return p, invalid
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&p) != nil {
		return p, invalid
	}
	if _, err := d.Token(); err != io.EOF || pageToken(p) != token {
		return p, invalid
	}
	return p, nil
}
