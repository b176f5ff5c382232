package postgres

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

const (
	positions = `SELECT id, project, name FROM vims`
	byName    = ` ORDER BY project, name LIMIT ?`

	// sharedPositions are those of the VIMs that are shared with named projects.
	sharedPositions = `SELECT id, project, name FROM vim_shares JOIN vims ON project = vim_project AND name = vim_name`
	byShare         = ` ORDER BY vim_project, vim_name LIMIT ?`
)

// VIMQuery implements [tables.Database]. The query finds the page through an index, and joins only its rows with their
// generations and labels.
func (database) VIMQuery(f broker.VIMFilter) (text string, args []any, size int, err error) {
	size, after, err := rows.VIMOrder.Read(f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	c := rows.VIMConditions(f)
	if len(f.Labels) > 0 {
		keys, values := []string{}, []string{}
		for k, v := range f.Labels {
			keys, values = append(keys, k), append(values, v)
		}
		c.Add(`id IN (SELECT l.vim FROM unnest(?::text[], ?::text[]) AS wanted (key, value)
			JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
			GROUP BY l.vim HAVING count(*) = ?)`, keys, values, len(keys))
	}
	shared := c.Clone()
	c.AddIf(f.State != "", `state = ?`, f.State)
	c.AddIf(f.Status != "", `health = ?`, f.Status)
	// Few of the VIMs of a state are shared: IS TRUE keeps the planner from reading all.
	shared.AddIf(f.State != "", `(state = ?) IS TRUE`, f.State)
	shared.AddIf(f.Status != "", `(health = ?) IS TRUE`, f.Status)

	var page string
	if f.Project == "" {
		rows.VIMOrder.After(c, after)
		page, args = c.SelectFrom(positions)
	} else {
		own, all, granted := c.OfVIMs(shared, f, false, after)
		first, firstArgs := own.SelectFrom(positions)
		second, secondArgs := all.SelectFrom(positions)
		third, thirdArgs := granted.SelectFrom(sharedPositions)
		page = `(` + first + byName + `) UNION ALL (` + second + byName + `) UNION ALL (` + third + byShare + `)`
		args = slices.Concat(firstArgs, []any{size + 1}, secondArgs, []any{size + 1}, thirdArgs, []any{size + 1})
	}
	// Few VIMs are due, are unsettled, end soon or have the label.
	if !f.EndsBefore.IsZero() || !f.CheckDue.IsZero() || !f.PendingBefore.IsZero() || len(f.Labels) > 0 {
		page = apart(page)
	}
	text = `WITH page AS MATERIALIZED (` + page + byName + `)
		SELECT ` + tables.VIMColumns + ` FROM page JOIN vims v ON v.id = page.id
		LEFT JOIN vim_generations g ON g.vim = v.id ORDER BY v.project, v.name, g.number`
	return text, append(args, size+1), size, nil
}
