package sqlite

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
	vims, err := s.vims(ctx, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing VIMs: %w", err)
	}
	vims, next := rows.CutVIMs(vims, size)
	return vims, next, nil
}

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
	c.AddIf(f.State != "", `state = ?`, f.State)
	c.AddIf(f.Status != "", `health = ?`, f.Status)
	c.AddIf(f.Default, `is_default = 1`)
	c.AddIf(!f.CheckDue.IsZero(), `health_next <= ?`, rows.Micro(f.CheckDue))
	c.AddIf(!f.PendingBefore.IsZero(), `unsettled_since < ?`, rows.Micro(f.PendingBefore))
	c.AddIf(len(f.Labels) > 0, `id IN (SELECT l.vim FROM json_each(?) AS wanted
		JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
		GROUP BY l.vim HAVING count(*) = ?)`, rows.JSON(f.Labels), len(f.Labels))

	var page string
	if f.Project == "" {
		if after != nil {
			c.Add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		page, args = c.SelectFrom(positions + vimIndex(f, ""))
	} else {
		own, shared, granted := c.Clone(), c.Clone(), c.Clone()
		few := f.ID != "" || f.IDPrefix != "" || f.Identity != "" || len(f.Labels) > 0
		// "+" keeps SQLite from reading all of the project.
		own.AddIf(few, `+project = ?`, f.Project)
		own.AddIf(!few, `project = ?`, f.Project)
		shared.Add(`shared = 1 AND project <> ?`, f.Project)
		granted.Add(`shared_with = ? AND shared = 0`, f.Project)
		granted.AddIf(f.Name != "", `vim_name = ?`, f.Name)
		if after != nil {
			// With the project given, the index is only searched for a bound of the name alone.
			own.AddIf(after.Project == f.Project, `name > ?`, after.Name)
			own.AddIf(after.Project > f.Project, `FALSE`)
			shared.Add(`(project, name) > (?, ?)`, after.Project, after.Name)
			granted.Add(`(vim_project, vim_name) > (?, ?)`, after.Project, after.Name)
		}
		first, firstArgs := own.SelectFrom(positions + vimIndex(f, ""))
		second, secondArgs := shared.SelectFrom(positions + vimIndex(f, " INDEXED BY vim_shared"))
		sharing := sharedPositions
		if few {
			sharing = sharedAmongFew
		}
		third, thirdArgs := granted.SelectFrom(sharing)
		page, args = first+` UNION ALL `+second+` UNION ALL `+third, slices.Concat(firstArgs, secondArgs, thirdArgs)
	}
	text = `WITH page AS (` + page + ` ORDER BY project, name LIMIT ?+0)
		SELECT ` + vimColumns + ` FROM page CROSS JOIN vims v ON v.rowid = page.r
		LEFT JOIN vim_generations g ON g.vim = v.id ORDER BY v.project, v.name, g.number`
	return text, append(args, size+1), size, nil
}

const (
	positions = `SELECT rowid AS r, project, name FROM vims`
	// sharedPositions are those of the VIMs that are shared with named projects.
	sharedPositions = `SELECT vims.rowid AS r, vim_project AS project, vim_name AS name
		FROM vim_shares CROSS JOIN vims ON project = vim_project AND name = vim_name`
	// sharedAmongFew are the same, where the VIMs are few.
	sharedAmongFew = `SELECT vims.rowid AS r, vim_project AS project, vim_name AS name
		FROM vims CROSS JOIN vim_shares ON vim_project = project AND vim_name = name`
)

// vimIndex names the index to use where SQLite, which does not know that few
// are due, unsettled or shared, may choose one that leaves more to look at;
// otherwise is for filters that say nothing of that kind.
func vimIndex(f broker.VIMFilter, otherwise string) string {
	switch {
	case !f.PendingBefore.IsZero():
		return ` INDEXED BY vim_unsettled`
	case !f.CheckDue.IsZero():
		return ` INDEXED BY vim_check_due`
	case f.ID != "" || f.IDPrefix != "" || f.Identity != "" || f.Name != "" || f.Default || len(f.Labels) > 0:
		return ""
	}
	return otherwise
}
