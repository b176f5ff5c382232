package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Limit bounds one answer.
type Limit struct {
	// Bytes bounds the body.
	Bytes int
	// Values bounds the JSON values in it, member names included, Items the
	// elements of any one array.
	Values, Items int
}

// The limits of all that is read from VIMs and key stores.
var (
	// Small is the limit of one object, and the default. Kubernetes allows an
	// object 256 KiB of annotations.
	Small = Limit{Bytes: 320 << 10, Values: 20_000, Items: 1000}
	// Catalog is the limit of a Keystone token with its catalog, which has some
	// hundred KiB in a large cloud.
	Catalog = Limit{Bytes: 1 << 20, Values: 40_000, Items: 2048}
	// List is the limit of one page of a list.
	List = Limit{Bytes: 4 << 20, Values: 200_000, Items: 5000}
	// Keys is the limit of the list of all keys in a key store: 40 bytes for each VIM.
	Keys = Limit{Bytes: 16 << 20, Values: 500_000, Items: 500_000}
)

// maxDepth bounds how deep JSON nests. An object of Kubernetes nests up to some twenty deep.
const maxDepth = 64

type limitKey struct{}

// Expect returns a context whose calls may answer up to the limit.
func Expect(ctx context.Context, l Limit) context.Context {
	return context.WithValue(ctx, limitKey{}, l)
}

func limitOf(ctx context.Context) Limit {
	if l, ok := ctx.Value(limitKey{}).(Limit); ok {
		return l
	}
	return Small
}

// limitError says which bound an answer exceeds.
type limitError string

func (e limitError) Error() string { return string(e) }

func tooLong(bytes int) error {
	return limitError(fmt.Sprintf("the answer is longer than %d KiB", bytes>>10))
}

// Check counts the values of JSON that an answer held in another form, packed or in a text, before it is
// decoded. Its length is the caller's to bound.
func (l Limit) Check(text []byte) error {
	_, err := l.check(text)
	return err
}

// check counts the values of the JSON that body begins with, before any decoder
// allocates for them. A body that is not JSON passes: the decoder refuses it.
func (l Limit) check(body []byte) (values int, _ error) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return 0, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for ; ; values++ {
		t, err := d.ReadToken()
		if err != nil {
			return values, nil // a decoder refuses it before it allocates anything
		}
		if values > l.Values {
			return values, limitError(fmt.Sprintf("the answer holds more than %d values", l.Values))
		}
		depth := d.StackDepth()
		switch {
		case depth == 0:
			return values, nil
		case depth > maxDepth:
			return values, limitError(fmt.Sprintf("the answer nests more than %d deep", maxDepth))
		}
		if kind, n := d.StackIndex(depth); kind == '[' && n > int64(l.Items) {
			return values, limitError(fmt.Sprintf("the answer holds a list of more than %d items", l.Items))
		}
		if t.Kind() == '0' && len(t.String()) > maxNumber {
			return values, limitError(fmt.Sprintf("the answer holds a number of more than %d digits", maxNumber))
		}
	}
}

// maxNumber bounds a number, in digits.
const maxNumber = 64

// chunk is the size of an answer's first buffer, and the least share of the budget.
const chunk = 16 << 10

// read reads a body of at most limit bytes within a share of the budget. expected is how long
// the server says that it is; negative if it does not, and no more than a first guess at the
// memory to read it into.
func read(ctx context.Context, s *share, r io.Reader, expected int64, limit int) ([]byte, error) {
	if err := s.grow(ctx, chunk); err != nil {
		return nil, err
	}
	room := chunk
	if 0 <= expected && expected < chunk {
		room = int(expected) + 1 // where the end is found
	}
	body := make([]byte, 0, room)
	for {
		if len(body) > limit {
			return nil, tooLong(limit)
		}
		if len(body) == room {
			if room < chunk {
				room = chunk // it is longer than was said
			} else {
				more := min(room, limit+1-room)
				if err := s.grow(ctx, more); err != nil {
					return nil, err
				}
				room += more
			}
			body = slices.Grow(body, room-len(body))
		}
		n, err := r.Read(body[len(body):room])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
