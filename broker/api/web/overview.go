package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
)

// counted is how many live leases the overview looks at: the newest. It counts no others, however many there are.
const counted = 200

// overview says what needs somebody, and what is lent now.
func (s *server) overview(v *Visit) (Screen, error) {
	needs, err := s.needs(v)
	if err != nil {
		return Screen{}, err
	}
	view := Screen{Page: "overview", Title: "Overview", Live: true, State: Cell{Text: "nothing needs you", Mark: Good}}
	var all []*Block
	if len(needs) > 0 {
		view.State = Cell{Text: Count(len(needs), 0, "thing needs somebody", "things need somebody"), Mark: Bad}
		t := &Block{Title: "What needs somebody", Columns: []string{"What", "Why", "When"}}
		for _, n := range needs {
			t.Row(n.What, n.Why, n.Since)
		}
		all = append(all, t)
	}
	if v.May(policy.LeaseShow, v.Principal.Project) {
		lent, err := s.lent(v)
		if err != nil {
			return Screen{}, err
		}
		all = append(all, lent...)
	}
	var replicas []broker.Replica
	if v.May(policy.AuditRead, everyProject) {
		replicas, err = s.Overseer.Replicas(v.Context(), v.Principal)
	}
	view.Of = map[string]any{"Blocks": all, "Replicas": replicas}
	return view, err
}

// lent says what is lent now.
func (s *server) lent(v *Visit) ([]*Block, error) {
	lent, next, err := leasePage(v, s.Leaser, broker.LeaseQuery{
		State: broker.LeaseActive,
		Page:  broker.Page{Size: counted},
	})
	b := (&Block{Title: "Lent now", Note: Count(len(lent), 0, "lease is", "leases are") + " live."}).Leads("All live leases", Here("leases"))
	switch {
	case err != nil:
		return nil, err
	case len(lent) == 0:
		return []*Block{{Title: b.Title, Empty: "No lease is live. Take one: vimbroker lease issue --vim VIM --role view"}}, nil
	case next != "":
		b.Note = "More than " + number(counted) + " leases are live. These figures are of the newest " + number(len(lent)) + "."
	}
	return []*Block{
		b,
		lentBy("VIM", lent, func(l broker.Lease) Cell { return Cell{Text: l.VIMName, Href: Find("leases", "vim", l.VIM)} }),
		lentBy("project", lent, func(l broker.Lease) Cell { return Cell{Text: l.Project} }),
		lentBy("grade", lent, func(l broker.Lease) Cell { return Cell{Text: string(l.Grade), Mark: cmp.Or(gradeMarks[l.Grade], Idle)} }),
		lentBy("age", lent, func(l broker.Lease) Cell { return Cell{Text: ageOf(v.Now.Sub(l.IssuedAt))} }),
	}, nil
}

// ages are the bounds that live leases are counted by.
var ages = []struct {
	most time.Duration
	text string
}{{time.Hour, "up to an hour"}, {12 * time.Hour, "up to twelve hours"}, {7 * 24 * time.Hour, "up to a week"}}

func ageOf(d time.Duration) string {
	for _, a := range ages {
		if d <= a.most {
			return a.text
		}
	}
	return "older than a week"
}

// lentBy counts leases by something, the most first.
func lentBy(what string, all []broker.Lease, by func(broker.Lease) Cell) *Block {
	counts := map[Cell]int{}
	for _, l := range all {
		counts[by(l)]++
	}
	b := &Block{Title: "By " + what, Small: true, Columns: []string{strings.ToUpper(what[:1]) + what[1:], "Live leases"}}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b Cell) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a.Text, b.Text))
	})
	for _, c := range most[:min(few, len(most))] {
		b.Row(c, counts[c])
	}
	return b
}

// needs are what needs somebody: of each kind the first few.
func (s *server) needs(v *Visit) ([]Need, error) {
	var all []Need
	parts, err := s.Overseer.Ready()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.Fault != "" {
			all = append(all, Need{What: Cell{Text: "the broker: " + string(p.Part), Mark: Bad}, Why: p.Fault})
		}
	}
	own := v.Principal.Project
	for _, look := range []struct {
		action  policy.Action
		project string
		find    func(*Visit) ([]Need, error)
	}{
		{policy.AuditRead, everyProject, s.replicasInNeed},
		{policy.VIMShow, own, s.vimsInNeed},
		{policy.LeaseShow, own, s.leasesInNeed},
		{policy.ClusterShow, own, s.clustersInNeed},
		{policy.AuditRead, everyProject, s.outsideInNeed},
		{policy.VNFShow, own, s.roomsInNeed},
	} {
		if !v.May(look.action, look.project) {
			continue
		}
		found, err := look.find(v)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// roomsInNeed are what rooms of other floors name.
func (s *server) roomsInNeed(v *Visit) (all []Need, err error) {
	for _, room := range s.rooms {
		if room.Needs != nil && err == nil {
			var found []Need
			found, err = room.Needs(v)
			all = append(all, found...)
		}
	}
	return all, err
}

// replicasInNeed are those that are late, and what the others find wrong with their parts.
func (s *server) replicasInNeed(v *Visit) (all []Need, err error) {
	found, err := s.Overseer.Replicas(v.Context(), v.Principal)
	for _, r := range found {
		n := Need{What: Cell{Text: "replica " + r.ID, Href: Here() + "#is-replicas", Mark: Bad}, Why: r.Fault, Since: r.SeenAt}
		if r.Late {
			n.Why = "it says nothing any more: it was killed, hangs, or cannot write to the database; it is forgotten after an hour"
		}
		if r.Late || r.Fault != "" && !r.Own { // this one's parts are seen already
			all = append(all, n)
		}
	}
	return all, err
}

// vimsInNeed are those that do not work, and those whose credential ends soon.
func (s *server) vimsInNeed(v *Visit) (all []Need, err error) {
	asked := []broker.VIMQuery{{EndsBefore: v.Now.Add(broker.EndsSoon)}}
	for _, bad := range []broker.HealthStatus{
		broker.HealthUnreachable, broker.HealthUnauthorized, broker.HealthIdentityChanged, broker.HealthUnopenable,
	} {
		asked = append(asked, broker.VIMQuery{Status: bad})
	}
	for _, q := range asked {
		q.Page.Size = few
		found, _, err := s.Registry.VIMs(v.Context(), v.Principal, q)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			n := Need{What: Cell{Text: "VIM " + one.Name, Href: Here("vims", one.ID), Mark: Bad}}
			switch end := one.Current.CredentialExpiresAt; {
			case q.Status != "":
				n.Why, n.Since = string(q.Status)+": "+one.Health.Message, one.Health.CheckedAt
			case !end.After(v.Now):
				n.Why, n.Since = "its credential has ended: vimbroker vim rotate "+one.Name, end
			default:
				n.What.Mark, n.Why, n.Since = Warn, "its credential ends soon: vimbroker vim rotate "+one.Name, end
			}
			all = append(all, n)
		}
	}
	return all, nil
}

// lateAfter is how long work for a lease may wait before it is late.
const lateAfter = 5 * time.Minute

// leasesInNeed are those that cannot be revoked, and those that nobody has revoked in time.
func (s *server) leasesInNeed(v *Visit) (all []Need, err error) {
	seen := map[string]bool{}
	for _, q := range []broker.LeaseQuery{
		{State: broker.LeaseIrrevocable},
		{State: broker.LeaseActive, DueBefore: v.Now.Add(-lateAfter)},
		{State: broker.LeaseRevoking, DueBefore: v.Now.Add(-lateAfter)},
		{State: broker.LeaseRevoking},
	} {
		q.Page.Size = few
		found, _, err := s.Leaser.Leases(v.Context(), v.Principal, q)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			why, mark := string(l.State)+": "+l.LastError, leaseStates[q.State]
			switch late := !q.DueBefore.IsZero(); {
			case seen[l.ID] || !late && l.State == broker.LeaseRevoking && l.LastError == "":
				continue
			case late && l.LastError == "":
				why, mark = "late: its end has come, and it is not revoked", Bad
			case late:
				mark = Bad
			}
			seen[l.ID] = true
			all = append(all, Need{
				What: Cell{Text: "lease " + Short(l.ID) + " on " + l.VIMName, Href: Here("leases", l.ID), Mark: mark},
				Why:  why, Since: l.ExpiresAt,
			})
		}
	}
	return all, nil
}

func (s *server) clustersInNeed(v *Visit) (all []Need, err error) {
	found, _, err := s.Clusters.Clusters(v.Context(), v.Principal, onboard.ClusterQuery{
		State: onboard.StateQuarantined,
		Page:  broker.Page{Size: few},
	})
	for _, c := range found {
		all = append(all, Need{
			What: Cell{Text: "cluster " + c.Namespace + "/" + c.Name, Href: Here("clusters", c.ID), Mark: Bad}, Why: c.Message, Since: c.UpdatedAt,
		})
	}
	return all, err
}

// outsideInNeed are the anchors and sinks that the log does not come to in time, for those who read the whole log.
func (s *server) outsideInNeed(v *Visit) (all []Need, err error) {
	need := func(name, why string, since time.Time) {
		all = append(all, Need{What: Cell{Text: name, Href: Here("audit"), Mark: Bad}, Why: why, Since: since})
	}
	anchors, err := s.AuditLog.AuditAnchors(v.Context(), v.Principal)
	for _, a := range anchors {
		if a.Fault != "" || a.Behind > 0 && v.Now.Sub(a.Time) > lateAfter {
			need("anchor "+a.Anchor, cmp.Or(a.Fault, "late: it lacks "+number(a.Behind)+" entries that are signed"), a.Time)
		}
	}
	if err != nil {
		return nil, err
	}
	sinks, err := s.AuditLog.AuditSinks(v.Context(), v.Principal)
	for _, k := range sinks {
		if k.Late() {
			need("sink "+k.Name, cmp.Or(k.Fault, "late: "+number(k.Waiting)+" entries wait"), v.Now.Add(-k.Behind))
		}
	}
	return all, err
}
