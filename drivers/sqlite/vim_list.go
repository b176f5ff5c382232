package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
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
	if len(vims) <= size {
		return vims, "", nil
	}
	vims = vims[:size]
	last := vims[size-1]
	return vims, pageToken(vimPosition{last.Project, last.Name}), nil
}

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
	c.addIf(f.Default, `is_default = 1`)
	c.addIf(!f.CheckDue.IsZero(), `health_next <= ?`, micro(f.CheckDue))
	c.addIf(!f.PendingBefore.IsZero(), `unsettled_since < ?`, micro(f.PendingBefore))
	c.addIf(len(f.Labels) > 0, `id IN (SELECT l.vim FROM json_each(?) AS wanted
		JOIN vim_labels l ON l.key = wanted.key AND l.value = wanted.value
		GROUP BY l.vim HAVING count(*) = ?)`, encode(f.Labels), len(f.Labels))

	var page string
	if f.Project == "" {
		if after != nil {
			c.add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		page, args = c.selectFrom(positions + vimIndex(f, ""))
	} else {
		own, shared := c.clone(), c.clone()
		own.add(`project = ?`, f.Project)
		shared.add(`shared = 1 AND project <> ?`, f.Project)
		if after != nil {
			// With the project given, the index is only searched for a bound of the name alone.
			own.addIf(after.Project == f.Project, `name > ?`, after.Name)
			own.addIf(after.Project > f.Project, `FALSE`)
			shared.add(`(project, name) > (?, ?)`, after.Project, after.Name)
		}
		first, firstArgs := own.selectFrom(positions + vimIndex(f, ""))
		second, secondArgs := shared.selectFrom(positions + vimIndex(f, " INDEXED BY vim_shared"))
		page, args = first+` UNION ALL `+second, append(firstArgs, secondArgs...)
	}
	text = `WITH page AS (` + page + ` ORDER BY project, name LIMIT ?+0)
		SELECT ` + vimColumns + ` FROM page CROSS JOIN vims v ON v.rowid = page.r
		LEFT JOIN vim_generations g ON g.vim = v.id ORDER BY v.project, v.name, g.number`
	return text, append(args, size+1), size, nil
}

const positions = `SELECT rowid AS r, project, name FROM vims`

// vimIndex names the index to use where SQLite, which does not know that few
// are due, unsettled or shared, may choose one that leaves more to look at;
// otherwise is for filters that say nothing of that kind.
func vimIndex(f broker.VIMFilter, otherwise string) string {
	switch {
	case !f.PendingBefore.IsZero():
		return ` INDEXED BY vim_unsettled`
	case !f.CheckDue.IsZero():
		return ` INDEXED BY vim_check_due`
	case f.ID != "" || f.Name != "" || f.Default || len(f.Labels) > 0:
		return ""
	}
	return otherwise
}

// conditions are joined by AND. Their texts are constants, so the number of
// different queries is bounded.
type conditions struct {
	texts []string
	args  []any
}

func (c *conditions) add(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

func (c *conditions) addIf(asked bool, text string, args ...any) {
	if asked {
		c.add(text, args...)
	}
}

func (c *conditions) clone() *conditions {
	return &conditions{append([]string(nil), c.texts...), append([]any(nil), c.args...)}
}

func (c *conditions) selectFrom(text string) (string, []any) {
	if len(c.texts) > 0 {
		text += ` WHERE ` + strings.Join(c.texts, ` AND `)
	}
	return text, append([]any(nil), c.args...)
}
