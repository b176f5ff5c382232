package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// line is an entry as a line of JSON. The order of the fields never changes; a field that
// is added later is left out if it is empty, so that earlier lines stay the same.
type line struct {
	Seq       int64             `json:"seq"`
	Time      string            `json:"time"`
	Request   string            `json:"request"`
	Door      string            `json:"door,omitempty"`
	Principal string            `json:"principal"`
	Project   string            `json:"project"`
	Action    string            `json:"action"`
	Kind      string            `json:"kind"`
	Resource  string            `json:"resource"`
	Outcome   string            `json:"outcome"`
	Detail    map[string]string `json:"detail,omitempty"`
}

// lineTime is RFC 3339 in UTC, always with six digits of a second.
const lineTime = "2006-01-02T15:04:05.000000Z"

// Kept returns an entry in the form that every store and encoding keeps: time in
// UTC with whole microseconds, text as valid UTF-8.
func Kept(e Entry) Entry {
	e.Time = e.Time.UTC().Truncate(time.Microsecond)
	e.Request = valid(e.Request)
	e.Door = valid(e.Door)
	e.Principal = valid(e.Principal)
	e.Project = valid(e.Project)
	e.Action = valid(e.Action)
	e.Kind = valid(e.Kind)
	e.Resource = valid(e.Resource)
	e.Outcome = valid(e.Outcome)
	if e.Detail != nil {
		detail := make(map[string]string, len(e.Detail))
		for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
			detail[valid(key)] = valid(e.Detail[key])
		}
		e.Detail = detail
	}
	return e
}

func valid[T ~string](s T) T { return T(strings.ToValidUTF8(string(s), "\uFFFD")) }

// Line is the entry as one line of JSON, without a line break: what an export holds,
// and the leaf of the log's Merkle tree. Keys of the detail are in the order of their
// bytes, as encoding/json writes it. One that is damaged has no line: [tree.ErrTorn].
func Line(e Entry) ([]byte, error) {
	if e.Damaged {
		return nil, fmt.Errorf("%w: what is stored of entry %d cannot be read", tree.ErrTorn, e.Seq)
	}
	e = Kept(e)
	text, err := json.Marshal(line{
		Seq: e.Seq, Time: e.Time.Format(lineTime), Request: e.Request, Door: string(e.Door), Principal: e.Principal, Project: e.Project,
		Action: string(e.Action), Kind: string(e.Kind), Resource: e.Resource, Outcome: string(e.Outcome),
		Detail: e.Detail,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding audit entry %d: %w", e.Seq, err)
	}
	return text, nil
}

// ParseLine reads what [Line] wrote. A line that Line would write in another way is refused:
// its leaf would be another.
func ParseLine(text []byte) (Entry, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Entry{}, fmt.Errorf("an audit entry is not JSON: %w", err)
	}
	at, err := time.Parse(lineTime, l.Time)
	if err != nil {
		return Entry{}, fmt.Errorf("audit entry %d has no time", l.Seq)
	}
	e := Entry{
		Seq: l.Seq, Time: at, Request: l.Request, Door: Door(l.Door), Principal: l.Principal, Project: l.Project,
		Action: policy.Action(l.Action), Kind: policy.Kind(l.Kind), Resource: l.Resource, Outcome: Outcome(l.Outcome),
		Detail: l.Detail,
	}
	again, err := Line(e)
	if string(again) != string(text) {
		err = fmt.Errorf("audit entry %d is not written as the log writes it", l.Seq)
	}
	return e, err
}

// Leaf is the entry's hash in the log's Merkle tree. The entry with Seq 1 is leaf 0.
func Leaf(e Entry) (tree.Hash, error) {
	text, err := Line(e)
	if err != nil {
		return tree.Hash{}, err
	}
	return tree.Leaf(text), nil
}

// Grown adds entries to the tree of a log, oldest first. They must follow each other and
// the tree: a gap is [tree.ErrTorn].
func Grown(ctx context.Context, tiles tree.Tiles, from tree.Head, entries []Entry) (tree.Head, []tree.Tile, error) {
	leaves := make([]tree.Hash, len(entries))
	for i, e := range entries {
		if want := from.Size + int64(i) + 1; e.Seq != want {
			return tree.Head{}, nil, fmt.Errorf("%w: entry %d is missing", tree.ErrTorn, want)
		}
		var err error
		if leaves[i], err = Leaf(e); err != nil {
			return tree.Head{}, nil, err
		}
	}
	return tree.Grow(ctx, tiles, from, leaves)
}
