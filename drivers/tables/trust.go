package tables

import (
	"context"
	"reflect"
	"slices"

	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	trustEntries = statement(`SELECT ` + rows.TrustColumns.Names() + ` FROM trust_entries ORDER BY name`)
	insertTrust  = statement(rows.TrustColumns.Insert(`trust_entries`))
	deleteTrust  = statement(`DELETE FROM trust_entries WHERE name = ?1`)
)

// TrustEntries implements [trust.Entries].
func (s *Tables) TrustEntries(ctx context.Context) ([]trust.Listed, error) {
	all, err := lookUp(ctx, s, scanTrust, trustEntries)
	return all, doing(err, "reading the table of trust")
}

// ChangeTrust implements [trust.Entries].
func (s *Tables) ChangeTrust(ctx context.Context, change func([]trust.Listed) ([]trust.Listed, error), e audit.Entry) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		t.lock(lockTrust, "")
		before, err := query(t, scanTrust, trustEntries)
		if err != nil {
			return err
		}
		var after []trust.Listed
		if after, refused = change(slices.Clone(before)); refused != nil {
			return refused
		}
		for _, old := range before {
			if !has(after, old) {
				t.queue(deleteTrust, old.Name)
			}
		}
		for _, next := range after {
			if !has(before, next) {
				t.queue(insertTrust, rows.TrustColumns.Values(&next)...)
			}
		}
		return nil
	})
	if refused != nil {
		return refused
	}
	return doing(err, "changing the table of trust")
}

func has(all []trust.Listed, one trust.Listed) bool {
	return slices.ContainsFunc(all, func(other trust.Listed) bool { return reflect.DeepEqual(other, one) })
}

func scanTrust(row Row) (e trust.Listed, err error) {
	return e, row.Scan(rows.TrustColumns.Fields(&e)...)
}
