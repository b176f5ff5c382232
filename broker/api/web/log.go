package web

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var outcomes = map[audit.Outcome]Mark{
	audit.Done: Good, audit.Denied: Warn, audit.Failed: Bad, audit.Read: Idle, audit.Intent: Idle,
}

func (s *server) audit() Room {
	return Room{
		Nav: "Audit", Path: "audit",
		Addresses: []Address{{Path: "/audit", Show: s.searchLog}, {Path: "/audit/{seq}", Show: s.showEntry}},
	}
}

// entryTable is a page of the audit log.
func (s *server) entryTable(v *Visit, q audit.Query) (*Grid, error) {
	found, err := s.AuditLog.Entries(v.Context(), v.Principal, q)
	t := Table([]string{"Entry", "Time", "Who", "Door", "Action", "Outcome", "VIM", "Lease", "Why"}, "",
		"The log has no such entry. Take a filter away, or ask for an earlier time.",
		found, func(e audit.Entry) []Cell {
			vim := e.Detail[audit.DetailVIM]
			return []Cell{
				To(number(e.Seq), "audit", number(e.Seq)), On(e.Time), Say(e.Principal), Say(e.Door), Say(e.Action), State(e.Outcome, outcomes),
				To(cmp.Or(e.Detail[audit.DetailVIMName], e.Detail["cluster"], Short(vim)), "vims", vim), ID(e.Detail[audit.DetailLease], "leases"),
				Say(cmp.Or(e.Detail[audit.DetailError], e.Detail[audit.DetailReason])),
			}
		})
	if last := len(found) - 1; len(found) == q.Limit && found[last].Seq > 1 {
		t.Next = v.Next(number(found[last].Seq))
	}
	return t, err
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
	t, err := s.entryTable(v, q)
	if err != nil {
		return Screen{}, err
	}
	view := Listing(v, "Audit log", t, Field{Name: "principal", Label: "Who"}, Field{Name: "action", Label: "What", Hint: "lease:issue"},
		Field{Name: "vim", Label: "VIM", Hint: "name or id"}, Field{Name: "lease", Label: "Lease", Hint: "id"},
		Field{Name: "resource", Label: "Resource", Hint: "id"}, Field{Name: "request", Label: "Failed request", Hint: "id"},
		Field{Name: "project", Label: "Project"}, Field{Name: "since", Label: "Since", Hint: "24h, or a time in UTC"},
		Field{Name: "until", Label: "Until"}, Field{Name: "outcome", Label: "Outcome", Options: options(outcomes)})
	view.Blocks[0].Form.Button = "Search"
	if !v.May(policy.AuditRead, everyProject) {
		return view, nil
	}
	proof, err := s.signed(v)
	view.Blocks = append(view.Blocks, proof...)
	return view, err
}

// everyProject is all of them, for policies.
const everyProject = "*"

// signed says how far the log is signed, anchored and delivered.
func (s *server) signed(v *Visit) ([]Block, error) {
	point, err := s.AuditLog.Checkpoint(v.Context(), v.Principal)
	newest := Block{
		Title: "Newest checkpoint", Facts: []Fact{
			Of("Covers", "entries 1 to "+number(point.Size)), At("Signed", point.Time), Code("Key", point.Key),
		}, Text: point.Note, Links: []Link{{"Export all its lines", Here("export")}},
	}
	if errors.Is(err, broker.ErrNotFound) {
		newest, err = Block{Title: newest.Title, Note: "None is signed yet. The first one comes within a minute."}, nil
	}
	if err != nil {
		return nil, err
	}
	anchors, err := s.AuditLog.AuditAnchors(v.Context(), v.Principal)
	if err != nil {
		return nil, err
	}
	sinks, err := s.AuditLog.AuditSinks(v.Context(), v.Principal)
	if err != nil {
		return nil, err
	}
	type place struct {
		name, fault, state string
		at, behind         int64
	}
	var places []place
	for _, a := range anchors {
		p := place{"anchor " + a.Anchor, a.Fault, "", a.Size, a.Behind}
		if a.Fault != "" {
			p.state = "fails"
		}
		places = append(places, p)
	}
	for _, k := range sinks {
		p := place{"sink " + k.Name, k.Fault, "", k.Cursor.Seq, int64(k.Waiting)}
		if k.Late() {
			p.state = "late"
		}
		places = append(places, p)
	}
	t := Table([]string{"Where", "State", "Has come to", "Waiting", "Fault"}, "",
		"Nothing outside gets the log: see audit.anchors and audit.sinks of the configuration.", places, func(p place) []Cell {
			how := Cell{Text: p.state, Mark: Bad}
			if p.state == "" {
				how = Cell{Text: "keeps up", Mark: Good}
			}
			return []Cell{Say(p.name), how, Say("entry " + number(p.at)), Say(number(p.behind)), Say(p.fault)}
		})
	return []Block{newest, {Title: "Anchors and sinks", Table: t}}, nil
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
	e := found[0]
	facts := []Fact{
		At("Time", e.Time), Leads("Who", e.Principal, Find("audit", "principal", e.Principal)), Of("Project", e.Project), Of("Door", e.Door),
		Of("Action", e.Action), Of("Of", e.Kind), Code("Resource", e.Resource), Code("Request", e.Request),
	}
	for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
		facts = append(facts, Of(key, e.Detail[key]))
	}
	view := Screen{
		Kind: "Entry of the audit log", Title: number(seq), State: State(e.Outcome, outcomes),
		Blocks: []Block{{Title: "Entry", Facts: facts}},
	}
	if !v.May(policy.AuditRead, everyProject) {
		return view, nil
	}
	head, e, path, err := s.AuditLog.ProveEntry(v.Context(), v.Principal, seq)
	if err != nil {
		return Screen{}, err
	}
	line, err := audit.Line(e)
	if err != nil {
		return Screen{}, err
	}
	holds := Cell{Text: "the tree holds this very line", Mark: Good}
	if err := tree.CheckInclusion(head, seq-1, tree.Leaf(line), path); err != nil {
		holds = Cell{Text: "the tree does NOT hold this line", Mark: Bad}
	}
	hashes := &bytes.Buffer{}
	for _, h := range path {
		fmt.Fprintln(hashes, base64.StdEncoding.EncodeToString(h[:]))
	}
	view.Blocks = append(view.Blocks, Block{
		Title: "Proof of inclusion",
		Note:  "Whoever has a signed checkpoint checks this without the server: vimbroker audit prove " + number(seq) + ".",
		Facts: []Fact{
			Are("Checked now", holds), Of("Size of the tree", number(head.Size)),
			Code("Root", base64.StdEncoding.EncodeToString(head.Root[:])),
		},
	}, Block{Title: "Line", Text: string(line)}, Block{Title: "Hashes of the path", Text: hashes.String()})
	return view, nil
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
