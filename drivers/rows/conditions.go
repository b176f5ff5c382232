package rows

import (
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
)

// Conditions are joined by AND. "?" stands for an argument. Their texts are
// constants, so the number of different queries is bounded.
type Conditions struct {
	texts []string
	args  []any
}

// Add adds a condition.
func (c *Conditions) Add(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

// AddIf adds a condition that a filter asks for.
func (c *Conditions) AddIf(asked bool, text string, args ...any) {
	if asked {
		c.Add(text, args...)
	}
}

// Clone returns a copy to which conditions can be added.
func (c *Conditions) Clone() *Conditions {
	return &Conditions{slices.Clone(c.texts), slices.Clone(c.args)}
}

// SelectFrom adds the conditions to a SELECT, and returns their arguments.
func (c *Conditions) SelectFrom(text string) (string, []any) {
	if len(c.texts) > 0 {
		text += ` WHERE ` + strings.Join(c.texts, ` AND `)
	}
	return text, slices.Clone(c.args)
}

// OfProject are the ranges of leases that a project sees: its own, and those on its VIMs. Where few leases are left to
// look at it is one range. Without a project the conditions stay as they are.
func (c *Conditions) OfProject(project string, few bool) []*Conditions {
	switch {
	case project == "":
		return []*Conditions{c}
	case few:
		c.Add(`(project = ? OR vim_project = ?)`, project, project)
		return []*Conditions{c}
	}
	own, lent := c.Clone(), c.Clone()
	own.Add(`project = ?`, project)
	lent.Add(`vim_project = ? AND project <> vim_project`, project)
	return []*Conditions{own, lent}
}

// LeaseConditions are those of a filter that say the same in every database, for a page that ends with end at the
// latest, if that is not nil. The size is that of the page.
func LeaseConditions(f broker.LeaseFilter, end *Position) (c *Conditions, size int, err error) {
	size, after, err := LeaseOrder.Read(f.Page)
	if err != nil {
		return nil, 0, err
	}
	c = &Conditions{}
	if end != nil {
		c.Add(`(created_at, id) >= (?, ?)`, Time(end.At), end.Names[0])
	}
	LeaseOrder.After(c, after)
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.AddIf(f.Instance != "", `instance = ? AND instance <> ''`, f.Instance)
	c.AddIf(f.For != "", `for_whom = ? AND for_whom <> ''`, f.For)
	c.AddIf(f.Principal != "", `principal = ?`, f.Principal)
	c.AddIf(!f.CreatedBefore.IsZero(), `created_at < ?`, f.CreatedBefore)
	return c, size, nil
}

// VIMConditions are those of a filter that every database says alike: all but states and labels.
func VIMConditions(f broker.VIMFilter) *Conditions {
	var c Conditions
	c.AddIf(f.ID != "", `id = ?`, f.ID)
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Identity != "", `id IN (SELECT vim FROM vim_generations WHERE identity = ?)`, f.Identity)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	c.AddIf(f.Type != "", `type = ?`, f.Type)
	c.AddIf(f.Default, `is_default`)
	c.AddIf(!f.EndsBefore.IsZero(), `(id, generation) IN (SELECT vim, number FROM vim_generations
		WHERE credential_expires_at > '-infinity' AND credential_expires_at < ? AND discovered NOT LIKE '%"renewAt":%')`, f.EndsBefore)
	c.AddIf(!f.CheckDue.IsZero(), `health_next <= ?`, f.CheckDue)
	c.AddIf(!f.PendingBefore.IsZero(), `unsettled_since < ?`, f.PendingBefore)
	return &c
}

// OfVIMs are the ranges of VIMs that the project of f sees, after a place in the list: its own, those that are shared
// with all, and those that are shared with it. The conditions of the second may be written otherwise. Where few VIMs are
// left to look at, a project's own are not looked for by the project.
func (c *Conditions) OfVIMs(shared *Conditions, f broker.VIMFilter, few bool, after *Position) (own, all, granted *Conditions) {
	own, all, granted = c.Clone(), shared.Clone(), c.Clone()
	own.AddIf(few, `/*slow*/project = ?`, f.Project)
	own.AddIf(!few, `project = ?`, f.Project)
	all.Add(`shared AND project <> ?`, f.Project)
	granted.Add(`shared_with = ? AND NOT shared`, f.Project)
	granted.AddIf(f.Name != "", `vim_name = ?`, f.Name)
	if after != nil {
		// With the project given, the index is only searched for a bound of the name alone.
		own.AddIf(after.Names[0] == f.Project, `name > ?`, after.Names[1])
		own.AddIf(after.Names[0] > f.Project, `FALSE`)
		VIMOrder.After(all, after)
		granted.Add(`(vim_project, vim_name) > (?, ?)`, after.Names[0], after.Names[1])
	}
	return own, all, granted
}
