package rows

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// VIMPosition, LeasePosition and Position are the content of page tokens: the last item of the page, or the last that it
// looked at ([WindowOfLeases]). They hold nothing that the list does not show, and every filter applies to the next
// page too, so a forged token shows no more.
type VIMPosition struct {
	Project string `json:"vimProject"`
	Name    string `json:"vimName"`
}

// LeasePosition is the place of a lease in its list.
type LeasePosition struct {
	CreatedAt int64  `json:"leaseCreatedAt"` // see Micro
	ID        string `json:"leaseId"`
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
func ReadPage[T VIMPosition | LeasePosition | Position](page broker.Page) (size int, after *T, err error) {
	if page, err = page.Valid(); err != nil || page.Token == "" {
		return page.Size, nil, err
	}
	invalid := otherToken()
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

func otherToken() error { return broker.Invalid("pageToken", "it is not one that this list gave out") }

// Position is the place of a row in a list: what its columns hold that the list is ordered by.
type Position struct {
	List  string   `json:"list"`
	At    int64    `json:"at,omitempty"` // see Micro
	Names []string `json:"names"`
}

// Order is the order of a list of rows that hold a T.
type Order[T any] struct {
	// List tells its tokens from those of others.
	List string
	// Dated is the column of a time that comes first, if there is one. Columns are texts that tell rows apart.
	Dated   string
	Columns []string
	// Descending says that the newest come first.
	Descending bool
	// Of are what the columns of a row hold.
	Of func(T) (at time.Time, names []string)
}

// Read returns the size of a page and the place it starts after, nil at the beginning.
func (o Order[T]) Read(page broker.Page) (size int, after *Position, err error) {
	size, after, err = ReadPage[Position](page)
	if after != nil && (after.List != o.List || len(after.Names) != len(o.Columns)) {
		return 0, nil, otherToken()
	}
	return size, after, err
}

// After adds the condition of what follows a place, if there is one.
func (o Order[T]) After(c *Conditions, after *Position) {
	if after == nil {
		return
	}
	columns, than := o.Columns, ` > `
	var args []any
	if o.Dated != "" {
		columns, args = append([]string{o.Dated}, columns...), append(args, Time(after.At))
	}
	for _, name := range after.Names {
		args = append(args, name)
	}
	if o.Descending {
		than = ` < `
	}
	c.Add(`(`+strings.Join(columns, `, `)+`)`+than+`(?`+strings.Repeat(`, ?`, len(columns)-1)+`)`, args...)
}

// By orders a page, whose limit is an argument.
func (o Order[T]) By() string {
	columns, direction := strings.Join(o.Columns, `, `), ``
	if o.Dated != "" {
		columns = o.Dated + `, ` + columns
	}
	if o.Descending {
		columns, direction = strings.ReplaceAll(columns, `,`, ` DESC,`), ` DESC`
	}
	return ` ORDER BY ` + columns + direction + ` LIMIT ?`
}

// Cut cuts a list that is longer than a page, and returns the next page's token.
func (o Order[T]) Cut(all []T, size int) ([]T, string) {
	return Cut(all, size, func(row T) string {
		at, names := o.Of(row)
		return Token(Position{o.List, Micro(at), names})
	})
}
