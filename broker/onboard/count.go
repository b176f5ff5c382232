package onboard

import "context"

// Count counts all clusters and management clusters.
func (o *Onboarding) Count(ctx context.Context) (Count, error) {
	c, err := o.store.CountClusters(ctx)
	if err != nil {
		return c, err
	}
	all, err := o.store.Managements(ctx)
	for _, m := range all {
		c.Managements++
		if m.Trouble != "" {
			c.Troubled++
		}
		if !m.HeldAt.IsZero() {
			c.Held++
		}
	}
	return c, err
}
