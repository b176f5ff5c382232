package rows

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// Position is the content of page tokens: what the columns that a list is ordered by hold of the last item of the page, or
// of the last that it looked at ([WindowOfLeases]). It holds nothing that the list does not show, and every filter
// applies to the next page too, so a forged token shows no more.
type Position struct {
	List  string   `json:"list"`
	At    int64    `json:"at,omitempty"` // see Micro
	Names []string `json:"names"`
}

// Token makes a page token.
func Token(p Position) string {
	b, _ := json.Marshal(p) // cannot fail for strings and numbers
	return base64.RawURLEncoding.EncodeToString(b)
}

// Order is the order of a list of rows that hold a T.
type Order[T any] struct {
	list       string
	descending bool
	columns    Columns[T]
}

// OrderOf is the order of a list, whose name tells its tokens from others', by columns of texts that tell rows apart. One
// of a time may come first.
func OrderOf[T any](list, columns string, descending bool) Order[T] {
	return Order[T]{list, descending, ColumnsOf[T](columns)}
}

// At is the place of a row.
func (o Order[T]) At(row T) Position {
	p := Position{List: o.list}
	for _, field := range o.columns.Fields(&row) {
		if at, dated := field.(*time.Time); dated {
			p.At = Micro(*at)
		} else {
			p.Names = append(p.Names, *field.(*string))
		}
	}
	return p
}

// Read returns the size of a page and the place it starts after, nil at the beginning. It accepts only what Token made
// of a place in this list.
func (o Order[T]) Read(page broker.Page) (size int, after *Position, err error) {
	if page, err = page.Valid(); err != nil || page.Token == "" {
		return page.Size, nil, err
	}
	invalid := broker.Invalid("pageToken", "it is not one that this list gave out")
	b, err := base64.RawURLEncoding.Strict().DecodeString(page.Token)
	if err != nil {
		return 0, nil, invalid
	}
	var p Position
	if json.Unmarshal(b, &p) != nil || Token(p) != page.Token || p.List != o.list || len(p.Names) != len(o.At(*new(T)).Names) {
		return 0, nil, invalid
	}
	return page.Size, &p, nil
}

// After adds the condition of what follows a place, if there is one.
func (o Order[T]) After(c *Conditions, after *Position) {
	if after == nil {
		return
	}
	than := ` > `
	if o.descending {
		than = ` < `
	}
	names := after.Names
	args := o.columns.Fields(new(T))
	for i, field := range args {
		if _, dated := field.(*time.Time); dated {
			args[i] = Time(after.At)
		} else {
			args[i], names = names[0], names[1:]
		}
	}
	c.Add(`(`+o.columns.Names()+`)`+than+`(?`+strings.Repeat(`, ?`, len(args)-1)+`)`, args...)
}

// By orders a page, whose limit is an argument.
func (o Order[T]) By() string {
	columns := o.columns.Names()
	if o.descending {
		columns = strings.ReplaceAll(columns, `,`, ` DESC,`) + ` DESC`
	}
	return ` ORDER BY ` + columns + ` LIMIT ?`
}

// Cut cuts a list that is longer than a page, and returns the next page's token.
func (o Order[T]) Cut(all []T, size int) ([]T, string) {
	if len(all) <= size {
		return all, ""
	}
	return all[:size], Token(o.At(all[size-1]))
}
