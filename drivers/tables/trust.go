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
	trusted      = tableOf(`trust_entries`, "trust entry", rows.TrustColumns)
	trustEntries = statement(trusted.text + ` ORDER BY name`)
	deleteTrust  = statement(`DELETE FROM trust_entries WHERE name = ?1`)
)

// TrustEntries implements [trust.Entries].
func (s *Tables) TrustEntries(ctx context.Context) ([]trust.Listed, error) {
	all, err := lookUp(ctx, s, trusted.scan, trustEntries)
	return all, doing(err, "reading the table of trust")
}

// ChangeTrust implements [trust.Entries].
func (s *Tables) ChangeTrust(ctx context.Context, change func([]trust.Listed) ([]trust.Listed, error), e audit.Entry) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		t.lock(lockTrust, "")
		before, err := query(t, trusted.scan, trustEntries)
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
				trusted.add(t, next)
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
