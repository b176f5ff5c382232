package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var outcomes = Marked(map[audit.Outcome]Mark{
	audit.Done: Good, audit.Denied: Warn, audit.Failed: Bad, audit.Read: Idle, audit.Intent: Idle,
})

func (s *server) audit() Room {
	return Room{
		Nav: "Audit", Path: "audit",
		Addresses: []Address{{Path: "/audit", Show: s.searchLog}, {Path: "/audit/{seq}", Show: s.showEntry}},
	}
}

// entries are a page of the audit log.
func (s *server) entries(v *Visit, q audit.Query) (*Block, error) {
	found, err := s.AuditLog.Entries(v.Context(), v.Principal, q)
	list := &Block{Of: found, Button: "Search"}
	if last := len(found) - 1; len(found) == q.Limit && found[last].Seq > 1 {
		list.Next = number(found[last].Seq)
	}
	return list, err
}

// moment reads a time, or a duration before now, from the address.
func moment(v *Visit, name string) (time.Time, error) {
	text := v.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return v.Now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return v.Now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, broker.Invalid(name, "must be a duration before now, like 24h or 7d, or a time in UTC like 2026-01-31 12:00")
}

func (s *server) searchLog(v *Visit) (Screen, error) {
	q := audit.Query{
		Principal: v.Get("principal"), Action: policy.Action(v.Get("action")), Lease: v.Get("lease"), Resource: v.Get("resource"),
		Request: v.Get("request"), Project: v.Get("project"), Limit: pageSize,
	}
	if vim := v.Get("vim"); len(vim) == len("00000000-0000-0000-0000-000000000000") && strings.Count(vim, "-") == 4 {
		q.VIM = vim
	} else {
		q.VIMName = vim
	}
	if o := v.Get("outcome"); o != "" {
		q.Outcomes = []audit.Outcome{audit.Outcome(o)}
	}
	var err error
	if q.Since, err = moment(v, "since"); err != nil {
		return Screen{}, err
	}
	if q.Until, err = moment(v, "until"); err != nil {
		return Screen{}, err
	}
	if after := v.Query.Get("page"); after != "" {
		if q.Before, err = strconv.ParseInt(after, 10, 64); err != nil || q.Before < 1 {
			return Screen{}, broker.Invalid("page", "must be as the link to the next page has it")
		}
	}
	list, err := s.entries(v, q)
	if err != nil {
		return Screen{}, err
	}
	view := Listing(v, "audit", "Audit log", list,
		Field{Name: "principal", Label: "Who"}, Field{Name: "action", Label: "What", Hint: "lease:issue"},
		Field{Name: "vim", Label: "VIM", Hint: "name or id"}, Field{Name: "lease", Label: "Lease", Hint: "id"},
		Field{Name: "resource", Label: "Resource", Hint: "id"}, Field{Name: "request", Label: "Failed request", Hint: "id"},
		Field{Name: "project", Label: "Project"}, Field{Name: "since", Label: "Since", Hint: "24h, or a time in UTC"},
		Field{Name: "until", Label: "Until"}, Field{Name: "outcome", Label: "Outcome", Options: options(outcomes)})
	if v.May(policy.AuditRead, everyProject) {
		view.Of, err = s.signed(v)
	}
	return view, err
}

// everyProject is all of them, for policies.
const everyProject = "*"

// outside is how far the log is signed, anchored and delivered.
type outside struct {
	Point   *notary.Checkpoint
	Anchors []notary.AnchorStatus
	Sinks   []delivery.Status
}

func (s *server) signed(v *Visit) (o outside, err error) {
	point, err := s.AuditLog.Checkpoint(v.Context(), v.Principal)
	switch {
	case err == nil:
		o.Point = &point
	case !errors.Is(err, broker.ErrNotFound):
		return o, err
	}
	if o.Anchors, err = s.AuditLog.AuditAnchors(v.Context(), v.Principal); err == nil {
		o.Sinks, err = s.AuditLog.AuditSinks(v.Context(), v.Principal)
	}
	return o, err
}

func number[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// showEntry shows an entry, with its proof where the person may read the whole log.
func (s *server) showEntry(v *Visit) (Screen, error) {
	seq, err := strconv.ParseInt(v.PathValue("seq"), 10, 64)
	if err != nil || seq < 1 {
		return Screen{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such entry"}
	}
	found, err := s.AuditLog.Entries(v.Context(), v.Principal, audit.Query{Before: seq + 1, Limit: 1})
	if err != nil {
		return Screen{}, err
	}
	if len(found) == 0 || found[0].Seq != seq {
		return Screen{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such entry"}
	}
	if !v.May(policy.AuditRead, everyProject) {
		return Screen{Page: "entry", Of: map[string]any{"Entry": found[0]}}, nil
	}
	head, e, path, err := s.AuditLog.ProveEntry(v.Context(), v.Principal, seq)
	if err != nil {
		return Screen{}, err
	}
	line, err := audit.Line(e)
	hashes := &bytes.Buffer{}
	for _, h := range path {
		fmt.Fprintln(hashes, base64.StdEncoding.EncodeToString(h[:]))
	}
	return Screen{Page: "entry", Of: map[string]any{"Entry": e, "Proof": map[string]any{
		"Holds": tree.CheckInclusion(head, seq-1, tree.Leaf(line), path) == nil, "Size": head.Size,
		"Root": base64.StdEncoding.EncodeToString(head.Root[:]), "Line": string(line), "Path": hashes.String(),
	}}}, err
}

const (
	// exported is how many lines of the log are read at a time, and exportTime how long all of them may take.
	exported   = 10000
	exportTime = time.Hour
)

// export is the route of the lines that a checkpoint covers: all, or those after an entry. They are read as they go out.
func (s *server) export() api.Route {
	return api.Route{
		Method: "GET", Path: Root + "/export", Identify: s.identify, Timeout: exportTime, Status: http.StatusOK,
		Handle: func(c *api.Call) (api.Answer, error) {
			point, err := s.AuditLog.Checkpoint(c.Context(), c.Principal)
			if err != nil {
				return api.Answer{}, err
			}
			var after int64
			if text := c.Query.Get("after"); text != "" {
				if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
					return api.Answer{}, broker.Invalid("after", "must be the number of an entry")
				}
			}
			found, err := s.AuditLog.EntriesAfter(c.Context(), c.Principal, after, exported)
			if err != nil {
				return api.Answer{}, err
			}
			name := fmt.Sprintf("audit-%d-to-%d.jsonl", after+1, point.Size)
			return api.Answer{
				Header: http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Disposition": {`attachment; filename="` + name + `"`}},
				Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					at, err := writeLines(w, found, after, point.Size)
					for err == nil && at < point.Size {
						if found, err = s.AuditLog.EntriesAfter(c.Context(), c.Principal, at, exported); err == nil {
							at, err = writeLines(w, found, at, point.Size)
						}
					}
					if err != nil {
						panic(http.ErrAbortHandler) // the browser sees that lines are missing
					}
				}),
			}, nil
		},
	}
}

// writeLines writes entries that follow one, but none after the last, and returns which it came to.
func writeLines(w io.Writer, found []audit.Entry, at, last int64) (int64, error) {
	if len(found) == 0 && at < last {
		return at, io.ErrUnexpectedEOF
	}
	for ; len(found) > 0 && at < last; found = found[1:] {
		line, err := audit.Line(found[0])
		if err == nil && found[0].Seq != at+1 {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		if err != nil {
			return at, err
		}
		at++
	}
	return at, nil
}
