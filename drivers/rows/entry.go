package rows

import (
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/policy/audit"
)

type entry = audit.Entry

// EntryColumns are the columns of the table audit_entries.
var EntryColumns = ColumnsOf[entry](`
	seq time request door principal project action kind resource outcome detail`)

// WaitingColumns are those of an entry that has no place in the log yet.
var WaitingColumns = EntryColumns.Pick("time", "request", "door", "principal", "project", "action", "kind", "resource", "outcome", "detail")

// unusual are the outcomes that have an index: such entries are few among all.
const unusual = `outcome IN ('denied', 'failed')`

// EntryConditions are the conditions of q on entries. If q names a project there
// are two: one for the acts of its principals, and one for the acts of others on its VIMs. If q asks for unusual outcomes
// alone, or for an action, there are as many for each outcome; if it names a resource there are as many for leases, which
// are in an index of their own. Each is one range of an index.
func EntryConditions(q audit.Query) []*Conditions {
	var c Conditions
	c.AddIf(q.Principal != "", `principal = ?`, q.Principal)
	c.AddIf(q.Action != "", `action = ?`, string(q.Action))
	c.AddIf(q.VIM != "", `detail->>'vim' = ?`, q.VIM)
	c.AddIf(q.VIMName != "", `detail->>'vimName' = ?`, q.VIMName)
	c.AddIf(q.Lease != "", `detail->>'lease' = ?`, q.Lease)
	c.AddIf(q.CredentialID != "", `detail->>'credential-id' = ?`, q.CredentialID)
	c.AddIf(q.Request != "", `request = ? AND `+unusual, q.Request)
	each := unusualOutcomes(q)
	if n := len(q.Outcomes); n > 0 && each == nil {
		outcomes := make([]any, n)
		for i, o := range q.Outcomes {
			outcomes[i] = string(o)
		}
		c.Add(`outcome IN (?`+strings.Repeat(`, ?`, n-1)+`)`, outcomes...)
	}
	c.AddIf(q.Before > 0, `seq < ?`, q.Before)
	c.AddIf(!q.Since.IsZero(), `time >= ?`, q.Since)
	c.AddIf(!q.Until.IsZero(), `time < ?`, q.Until)
	all := []*Conditions{&c}
	if q.Project != "" {
		own, lent := c.Clone(), c.Clone()
		own.Add(`project = ?`, q.Project)
		lent.Add(`detail->>'vimProject' = ? AND detail->>'vimProject' <> project`, q.Project)
		all = []*Conditions{own, lent}
	}
	var apart []*Conditions
	for _, of := range all {
		for _, o := range each {
			one := of.Clone()
			one.Add(`outcome = ? AND `+unusual, string(o))
			apart = append(apart, one)
		}
		if q.Resource != "" {
			lease, other := of.Clone(), of.Clone()
			lease.Add(`detail->>'lease' = ? AND kind = 'Lease'`, q.Resource)
			other.Add(`resource = ? AND kind <> 'Lease'`, q.Resource)
			apart = append(apart, lease, other)
		}
	}
	if apart == nil {
		return all
	}
	return apart
}

// unusualOutcomes are those of q, each once, where an index of outcomes leaves less to look at than another: nil
// where q asks for others too, or for what has few entries.
func unusualOutcomes(q audit.Query) []audit.Outcome {
	if q.Resource != "" || q.VIM != "" || q.VIMName != "" || q.Lease != "" || q.CredentialID != "" || q.Request != "" {
		return nil
	}
	each := slices.Compact(slices.Sorted(slices.Values(q.Outcomes)))
	for _, o := range each {
		if o != audit.Denied && o != audit.Failed {
			return nil
		}
	}
	return each
}
