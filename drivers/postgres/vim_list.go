package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// VIMs lists by project and name.
func (s *Store) VIMs(ctx context.Context, f broker.VIMFilter) ([]broker.VIM, string, error) {
	text, args, size, err := listVIMs(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing VIMs: %w", err)
	}
	query := read[rows.VIM]
	if f.ID != "" || f.Name != "" {
		query = lookUp[rows.VIM]
	}
	found, err := query(ctx, s, scanVIMs(), text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing VIMs: %w", err)
	}
	vims, next := rows.CutVIMs(rows.Gather(found), size)
	return vims, next, nil
}

const (
	positions = `SELECT id, project, name FROM vims`
	byName    = ` ORDER BY project, name LIMIT ?`

	// sharedPositions are those of the VIMs that are shared with named projects.
	sharedPositions = `SELECT id, project, name FROM vim_shares JOIN vims ON project = vim_project AND name = vim_name`
	byShare         = ` ORDER BY vim_project, vim_name LIMIT ?`
)

// listVIMs writes the query. It finds the page through an index, and joins only its
// rows with their generations and labels. One row more than the page shows whether
// there is a next page.
func listVIMs(f broker.VIMFilter) (text string, args []any, size int, err error) {
	size, after, err := rows.ReadPage[rows.VIMPosition](f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	var c rows.Conditions
	c.AddIf(f.ID != "", `id = ?`, f.ID)
	c.AddIf(f.IDPrefix != "", `id BETWEEN ? AND ?`, f.IDPrefix, f.IDPrefix+"~")
	c.AddIf(f.Identity != "", `id IN (SELECT vim FROM vim_generations WHERE identity = ?)`, f.Identity)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	c.AddIf(f.Type != "", `type = ?`, f.Type)
	c.AddIf(f.Default, `is_default`)
	c.AddIf(!f.CheckDue.IsZero(), `health_next <= ?`, stamp(f.CheckDue))
	c.AddIf(!f.PendingBefore.IsZero(), `unsettled_since < ?`, stamp(f.PendingBefore))
	if len(f.Labels) > 0 {
		keys, values := []string{}, []string{}
		for k, v := range f.Labels {
			keys, values = append(keys, k), append(values, v)
		}
		c.Add(`id IN (SELECT l.vim FROM unnest(?::text[], ?::text[]) AS wanted (key, value)
			JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
			GROUP BY l.vim HAVING count(*) = ?)`, keys, values, len(keys))
	}
	// Few VIMs are due, are unsettled or have the label.
	few := !f.CheckDue.IsZero() || !f.PendingBefore.IsZero() || len(f.Labels) > 0

	shared := c.Clone()
	c.AddIf(f.State != "", `state = ?`, f.State)
	c.AddIf(f.Status != "", `health = ?`, f.Status)
	// Few of the VIMs of a state are shared: IS TRUE keeps the planner from reading all.
	shared.AddIf(f.State != "", `(state = ?) IS TRUE`, f.State)
	shared.AddIf(f.Status != "", `(health = ?) IS TRUE`, f.Status)

	var page string
	if f.Project == "" {
		if after != nil {
			c.Add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		page, args = c.SelectFrom(positions)
	} else {
		own, granted := c.Clone(), c.Clone()
		own.Add(`project = ?`, f.Project)
		shared.Add(`shared AND project <> ?`, f.Project)
		granted.Add(`shared_with = ? AND NOT shared`, f.Project)
		granted.AddIf(f.Name != "", `vim_name = ?`, f.Name)
		if after != nil {
			// With the project given, the index is only searched for a bound of the name alone.
			own.AddIf(after.Project == f.Project, `name > ?`, after.Name)
			own.AddIf(after.Project > f.Project, `FALSE`)
			shared.Add(`(project, name) > (?, ?)`, after.Project, after.Name)
			granted.Add(`(vim_project, vim_name) > (?, ?)`, after.Project, after.Name)
		}
		first, firstArgs := own.SelectFrom(positions)
		second, secondArgs := shared.SelectFrom(positions)
		third, thirdArgs := granted.SelectFrom(sharedPositions)
		page = `(` + first + byName + `) UNION ALL (` + second + byName + `) UNION ALL (` + third + byShare + `)`
		args = slices.Concat(firstArgs, []any{size + 1}, secondArgs, []any{size + 1}, thirdArgs, []any{size + 1})
	}
	if few {
		page = apart(page)
	}
	text = `WITH page AS MATERIALIZED (` + page + byName + `)
		SELECT ` + vimColumns + ` FROM page JOIN vims v ON v.id = page.id
		LEFT JOIN vim_generations g ON g.vim = v.id ORDER BY v.project, v.name, g.number`
	return numbered(text), append(args, size+1), size, nil
}
