package rows

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/vimbroker/vimbroker/broker"
)

// VIMPosition and LeasePosition are the content of page tokens: the last item of
// the page, or the last that it looked at ([WindowOfLeases]). They hold nothing that the list does not show, and every filter applies
// to the next page too, so a forged token shows no more.
type VIMPosition struct {
	Project string `json:"vimProject"`
	Name    string `json:"vimName"`
}

// LeasePosition is the place of a lease in its list.
type LeasePosition struct {
	CreatedAt int64  `json:"leaseCreatedAt"` // see Micro
	ID        string `json:"leaseId"`
}

// PackagePosition is the place of a VNF package in its list.
type PackagePosition struct {
	CreatedAt int64  `json:"packageCreatedAt"` // see Micro
	ID        string `json:"packageId"`
}

// CutVIMs cuts a list that is longer than a page, and returns the next page's token.
func CutVIMs(vims []broker.VIM, size int) ([]broker.VIM, string) {
	return Cut(vims, size, func(v broker.VIM) string { return Token(VIMPosition{v.Project, v.Name}) })
}

// CutLeases cuts a list that is longer than a page, and returns the next page's token.
func CutLeases(leases []broker.Lease, size int) ([]broker.Lease, string) {
	return Cut(leases, size, func(l broker.Lease) string { return Token(LeasePosition{Micro(l.CreatedAt), l.ID}) })
}

// Cut cuts a list that is longer than a page, and returns the token of the last item's place.
func Cut[T any](items []T, size int, token func(T) string) ([]T, string) {
	if len(items) <= size {
		return items, ""
	}
	return items[:size], token(items[size-1])
}

// Token makes a page token.
func Token(position any) string {
	b, _ := json.Marshal(position) // cannot fail for strings and numbers
	return base64.RawURLEncoding.EncodeToString(b)
}

// ReadPage returns the size of a page and the position it starts after, nil at the
// beginning. It accepts only what Token made of a T.
func ReadPage[T VIMPosition | LeasePosition | LifecyclePosition | ClusterPosition | PackagePosition |
	ClientPosition | SubscriptionPosition | VNFGrantPosition | LinkPosition](page broker.Page) (size int, after *T, err error) {
	if page, err = page.Valid(); err != nil || page.Token == "" {
		return page.Size, nil, err
	}
	invalid := broker.Invalid("pageToken", "it is not one that this list gave out")
	b, err := base64.RawURLEncoding.Strict().DecodeString(page.Token)
	if err != nil {
		return 0, nil, invalid
	}
	var p T
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&p) != nil {
		return 0, nil, invalid
	}
	if _, err := d.Token(); err != io.EOF || Token(p) != page.Token {
		return 0, nil, invalid
	}
	return page.Size, &p, nil
}
