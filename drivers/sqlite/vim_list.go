package sqlite

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// VIMQuery implements [tables.Database]. The query finds the page through an index, and joins only its rows with their
// generations and labels.
func (database) VIMQuery(f broker.VIMFilter) (text string, args []any, size int, err error) {
	size, after, err := rows.VIMOrder.Read(f.Page)
	if err != nil {
		return "", nil, 0, err
	}
	c := rows.VIMConditions(f)
	c.AddIf(f.State != "", `state = ?`, f.State)
	c.AddIf(f.Status != "", `health = ?`, f.Status)
	c.AddIf(len(f.Labels) > 0, `id IN (SELECT l.vim FROM json_each(?) AS wanted
		JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
		GROUP BY l.vim HAVING count(*) = ?)`, f.Labels, len(f.Labels))

	var page string
	if f.Project == "" {
		rows.VIMOrder.After(c, after)
		page, args = c.SelectFrom(positions + vimIndex(f, ""))
	} else {
		few := f.ID != "" || f.IDPrefix != "" || f.Identity != "" || !f.EndsBefore.IsZero() || len(f.Labels) > 0
		own, all, granted := c.OfVIMs(c, f, few, after)
		sharing := sharedPositions
		if few {
			sharing = sharedAmongFew
		}
		first, firstArgs := own.SelectFrom(positions + vimIndex(f, ""))
		second, secondArgs := all.SelectFrom(positions + vimIndex(f, " INDEXED BY vim_shared"))
		third, thirdArgs := granted.SelectFrom(sharing)
		page, args = first+` UNION ALL `+second+` UNION ALL `+third, slices.Concat(firstArgs, secondArgs, thirdArgs)
	}
	text = `WITH page AS (` + page + ` ORDER BY project, name LIMIT ?)
		SELECT ` + tables.VIMColumns + ` FROM page CROSS JOIN vims v ON v.rowid = page.r
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
	case f.ID != "" || f.IDPrefix != "" || f.Identity != "" || f.Name != "" || f.Default || !f.EndsBefore.IsZero() || len(f.Labels) > 0:
		return ""
	}
	return otherwise
}
