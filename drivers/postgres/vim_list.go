package postgres

import (
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

// VIMs lists by project and name.
func (s *Store) VIMs(ctx context.Context, f broker.VIMFilter) ([]broker.VIM, string, error) {
	text, args, size, err := listVIMs(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing VIMs: %w", err)
	}
	query := read[vimRow]
	if f.ID != "" || f.Name != "" {
		query = lookUp[vimRow]
	}
	found, err := query(ctx, s, scanVIM, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing VIMs: %w", err)
	}
	vims := gather(found)
	if len(vims) <= size {
		return vims, "", nil
	}
	vims = vims[:size]
	last := vims[size-1]
	return vims, pageToken(vimPosition{last.Project, last.Name}), nil
}

const positions = `SELECT id, project, name FROM vims`

// listVIMs writes the query. Only rows of the page, found through an index, are
// joined with their generations and labels. One row more than the page says
// whether there is a next.
func listVIMs(f broker.VIMFilter) (text string, args []any, size int, err error) {
	if size, err = pageSize(f.Page); err != nil {
		return "", nil, 0, err
	}
	var after *vimPosition
	if f.Token != "" {
		p, err := readToken[vimPosition](f.Token)
		if err != nil {
			return "", nil, 0, err
		}
		after = &p
	}
	var c conditions
	c.addIf(f.ID != "", `id = ?`, f.ID)
	c.addIf(f.Name != "", `name = ?`, f.Name)
	c.addIf(f.Type != "", `type = ?`, f.Type)
	c.addIf(f.State != "", `state = ?`, f.State)
	c.addIf(f.Status != "", `health = ?`, f.Status)
	c.addIf(f.Default, `is_default`)
	c.addIf(!f.CheckDue.IsZero(), `health_next <= ?`, stamp(f.CheckDue))
	c.addIf(!f.PendingBefore.IsZero(), `unsettled_since < ?`, stamp(f.PendingBefore))
	if len(f.Labels) > 0 {
		keys, values := []string{}, []string{}
		for k, v := range f.Labels {
			keys, values = append(keys, k), append(values, v)
		}
		c.add(`id IN (SELECT l.vim FROM unnest(?::text[], ?::text[]) AS wanted (key, value)
			JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
			GROUP BY l.vim HAVING count(*) = ?)`, keys, values, len(keys))
	}
	// Who is due, unsettled or has a label: few.
	few := !f.CheckDue.IsZero() || !f.PendingBefore.IsZero() || len(f.Labels) > 0

	var page string
	if f.Project == "" {
		if after != nil {
			c.add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		page, args = c.selectFrom(positions)
	} else {
		own, shared := c.clone(), c.clone()
		own.add(`project = ?`, f.Project)
		shared.add(`shared AND project <> ?`, f.Project)
		if after != nil {
			// With the project given, the index is only searched for a bound of the name alone.
			own.addIf(after.Project == f.Project, `name > ?`, after.Name)
			own.addIf(after.Project > f.Project, `FALSE`)
			shared.add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		first, firstArgs := own.selectFrom(positions)
		second, secondArgs := shared.selectFrom(positions)
		page, args = first+` UNION ALL `+second, append(firstArgs, secondArgs...)
	}
	if few {
		page = apart(page)
	}
	text = `WITH page AS MATERIALIZED (` + page + ` ORDER BY project, name LIMIT ?)
		SELECT ` + vimColumns + ` FROM page JOIN vims v ON v.id = page.id
		LEFT JOIN vim_generations g ON g.vim = v.id ORDER BY v.project, v.name, g.number`
	return numbered(text), append(args, size+1), size, nil
}
