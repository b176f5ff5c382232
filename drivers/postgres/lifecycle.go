package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ lifecycle.Store = (*Store)(nil)

var (
	instanceByID  = `SELECT ` + rows.InstanceColumns.Names() + ` FROM vnf_instances WHERE id = $1`
	operationByID = `SELECT ` + rows.OperationColumns.Names() + ` FROM vnf_operations WHERE id = $1`

	changingInstance  = rows.InstanceColumns.Changing()
	changingOperation = rows.OperationColumns.Changing()
	countInstancesOf  = `SELECT count(*)::int FROM (SELECT 1 FROM vnf_instances WHERE project = $1 LIMIT $2) AS instance`
	insertInstance    = numbered(rows.InstanceColumns.Insert(`vnf_instances`))
	updateInstance    = numbered(`UPDATE vnf_instances SET ` + changingInstance.Set() + ` WHERE id = ?`)
	saveDrift         = numbered(`UPDATE vnf_instances SET ` + rows.DriftColumns.Set() + ` WHERE id = ? AND revision = ?`)
	insertOperation   = numbered(rows.OperationColumns.Insert(`vnf_operations`))
	updateOperation   = numbered(`UPDATE vnf_operations SET ` + changingOperation.Set() + ` WHERE id = ?`)
)

const (
	deleteInstance   = `DELETE FROM vnf_instances WHERE id = $1`
	deleteOperations = `DELETE FROM vnf_operations WHERE instance = $1`
	operationLive    = `SELECT FROM vnf_operations WHERE instance = $1
		AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK')`
	// The documents of operations that are live are few.
	// PostgreSQL reads no document of which any text contains an escape such as \u0000: they become
	// others. What is counted here contains none.
	liveOperations = `SELECT d->>'type', state, count(*)::int, min((d->>'stateEnteredAt')::timestamptz),
		count(*) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP')::int,
		coalesce(min(queued_at) FILTER (WHERE turn_at = '-infinity' AND state <> 'FAILED_TEMP'), '-infinity')
		FROM vnf_operations, LATERAL (SELECT replace(document, '\u', '\n')::json) AS plain (d)
		WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') GROUP BY 1, 2`
)

// CreateInstance stores a new instance.
func (s *Store) CreateInstance(ctx context.Context, i lifecycle.Instance, most int, e audit.Entry) error {
	i.Revision = 1
	row, err := rows.InstanceRow(i)
	if err == nil {
		err = s.write(ctx, e, func(t txn) error {
			if err := t.holdPackage(i.Shape.Package); err != nil {
				return err
			}
			if most > 0 {
				t.lock(lockInstances, i.Project)
				counts, err := query(t, scalar[int], countInstancesOf, i.Project, most)
				if err != nil {
					return err
				}
				if counts[0] >= most {
					return rows.InstancesUsedUp(most)
				}
			}
			t.queue(insertInstance, values(rows.InstanceColumns.Fields(&row))...)
			t.keepPackages(row.ID, row.Packages...)
			return t.notify(i.Project, lifecycle.Created(i))
		})
	}
	if err != nil {
		return fmt.Errorf("creating VNF instance %s: %w", i.ID, err)
	}
	return nil
}

// Instance returns one by its id.
func (s *Store) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	row, err := oneInstance(lookUp(ctx, s, scanInstance, instanceByID, id))
	if err != nil {
		return lifecycle.Instance{}, fmt.Errorf("reading VNF instance %s: %w", id, err)
	}
	return row.Instance()
}

func oneInstance(found []rows.Instance, err error) (rows.Instance, error) {
	return rows.First("VNF instance", found, err)
}

func scanInstance(row pgx.CollectableRow) (i rows.Instance, err error) {
	return i, scan(row, rows.InstanceColumns.Fields(&i), nil)
}

// Instances lists the newest first.
func (s *Store) Instances(ctx context.Context, f lifecycle.InstanceFilter) ([]lifecycle.Instance, string, error) {
	size, after, err := rows.ReadPage[rows.LifecyclePosition](f.Page)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF instances: %w", err)
	}
	var c rows.Conditions
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, stamp(rows.Time(after.At)), after.ID)
	}
	c.AddIf(f.Project != "", `project = ?`, f.Project)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	text, args := c.SelectFrom(`SELECT ` + rows.InstanceColumns.Names() + ` FROM vnf_instances`)
	all, err := read(ctx, s, scanInstance, numbered(text+newestFirst), append(args, size+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF instances: %w", err)
	}
	all, next := rows.CutInstances(all, size)
	instances, err := rows.Read(all, rows.Instance.Instance)
	return instances, next, err
}

const (
	toObserve = ` WHERE state = 'INSTANTIATED' AND observed_at < $1
		AND NOT EXISTS (SELECT 1 FROM vnf_operations WHERE instance = i.id AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK'))
		ORDER BY observed_at, id LIMIT $2`
	countInstances = `SELECT state, count(*), count(*) FILTER (WHERE drifted > 0), count(*) FILTER (WHERE unseen) FROM vnf_instances GROUP BY state`
)

// InstancesToObserve lists those that have waited longest first.
func (s *Store) InstancesToObserve(ctx context.Context, before time.Time, limit int) ([]lifecycle.Instance, error) {
	all, err := read(ctx, s, scanInstance, `SELECT `+rows.InstanceColumns.Names()+` FROM vnf_instances AS i`+toObserve, stamp(before), limit)
	if err != nil {
		return nil, fmt.Errorf("listing VNF instances to look at: %w", err)
	}
	return rows.Read(all, rows.Instance.Instance)
}

// SaveDrift stores what was seen of an instance.
func (s *Store) SaveDrift(ctx context.Context, id string, revision int64, d lifecycle.Drift) error {
	var row rows.Instance
	if err := row.SetDrift(d); err != nil {
		return err
	}
	err := s.change(ctx, func(t txn) error {
		saved, err := t.any(saveDrift, append(values(rows.DriftColumns.Fields(&row)), id, revision)...)
		if err != nil || saved {
			return err
		}
		if _, err := oneInstance(query(t, scanInstance, instanceByID, id)); err != nil {
			return err
		}
		return rows.Changed()
	})
	if err != nil {
		return fmt.Errorf("saving what was seen of VNF instance %s: %w", id, err)
	}
	return nil
}

// CountInstances counts by state.
func (s *Store) CountInstances(ctx context.Context) (lifecycle.InstanceCount, error) {
	all, err := read(ctx, s, func(r pgx.CollectableRow) (c rows.InstanceCount, err error) {
		return c, r.Scan(&c.State, &c.N, &c.Drifted, &c.Unseen)
	}, countInstances)
	if err != nil {
		return lifecycle.InstanceCount{}, fmt.Errorf("counting VNF instances: %w", err)
	}
	return rows.CountInstances(all), nil
}

// DeleteInstance removes an instance with its operations.
func (s *Store) DeleteInstance(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t txn) error {
		row, err := oneInstance(query(t, scanInstance, instanceByID+` FOR UPDATE`, id))
		if errors.Is(err, broker.ErrNotFound) {
			return errNothing
		}
		if err != nil {
			return err
		}
		live, err := t.any(operationLive, id)
		if err != nil {
			return err
		}
		if err := rows.Deletable(row, live); err != nil {
			return err
		}
		i, err := row.Instance()
		if err != nil {
			return err
		}
		t.keepPackages(id)
		t.stand(row.Use(), []string{})
		t.queue(deleteOperations, id)
		t.queue(deleteInstance, id)
		t.queue(abandonHiddenOf, stamp(t.s.now()), id)
		return t.notify(i.Project, lifecycle.Deleted(i, e.Time))
	})
	if err != nil {
		return fmt.Errorf("deleting VNF instance %s: %w", id, err)
	}
	return nil
}

// BeginOperation stores a new operation.
func (s *Store) BeginOperation(
	ctx context.Context, o lifecycle.Operation, revision int64, change func(*lifecycle.Instance), e audit.Entry,
) error {
	err := s.write(ctx, e, func(t txn) error {
		if err := t.occupy(rows.Occupies(o)); err != nil {
			return err
		}
		row, err := oneInstance(query(t, scanInstance, instanceByID+` FOR UPDATE`, o.Instance))
		if err != nil {
			return err
		}
		live, err := t.any(operationLive, o.Instance)
		if err != nil {
			return err
		}
		begun, err := rows.BeginOperation(row, o, revision, live, change)
		if err != nil {
			return err
		}
		if o.Target.Package != o.Before.Package {
			if err := t.holdPackage(o.Target.Package); err != nil {
				return err
			}
		}
		t.queue(insertOperation, values(rows.OperationColumns.Fields(&begun.Operation))...)
		t.queue(updateInstance, append(values(changingInstance.Fields(&begun.Instance)), o.Instance)...)
		t.keepPackages(o.Instance, begun.Instance.Packages...)
		t.stand(begun.Instance.Use(), begun.Instance.VIMs)
		if err := t.conceal(begun.Concealed); err != nil {
			return err
		}
		if o.ByRequest() {
			if err := t.enqueueFor(o.Deadline, o.Job()); err != nil {
				return err
			}
		}
		return t.notify(o.Project, begun.Events...)
	})
	if err != nil {
		return fmt.Errorf("beginning operation %s: %w", o.ID, err)
	}
	return nil
}

// Operation returns one by its id.
func (s *Store) Operation(ctx context.Context, id string) (lifecycle.Operation, error) {
	row, err := oneOperation(lookUp(ctx, s, scanOperation, operationByID, id))
	if err != nil {
		return lifecycle.Operation{}, fmt.Errorf("reading operation %s: %w", id, err)
	}
	return row.Operation()
}

func oneOperation(found []rows.Operation, err error) (rows.Operation, error) {
	return rows.First("operation", found, err)
}

func scanOperation(row pgx.CollectableRow) (o rows.Operation, err error) {
	return o, scan(row, rows.OperationColumns.Fields(&o), nil)
}

// Operations lists the newest first.
func (s *Store) Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error) {
	size, after, err := rows.ReadPage[rows.LifecyclePosition](f.Page)
	if err != nil {
		return nil, "", fmt.Errorf("listing operations: %w", err)
	}
	var c rows.Conditions
	if after != nil {
		c.Add(`(started_at, id) < (?, ?)`, stamp(rows.Time(after.At)), after.ID)
	}
	c.AddIf(f.Project != "", `project = ?`, f.Project)
	c.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	text, args := c.SelectFrom(`SELECT ` + rows.OperationColumns.Names() + ` FROM vnf_operations`)
	all, err := read(ctx, s, scanOperation, numbered(text+` ORDER BY started_at DESC, id DESC LIMIT ?`), append(args, size+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("listing operations: %w", err)
	}
	all, next := rows.CutOperations(all, size)
	operations, err := rows.Read(all, rows.Operation.Operation)
	return operations, next, err
}

// UpdateOperation changes an operation and its instance by a function. The instance is locked first, as where an
// operation begins.
func (s *Store) UpdateOperation(ctx context.Context, id string, change func(
	*lifecycle.Operation, *lifecycle.Instance,
) error, e audit.Entry,
) (lifecycle.Operation, error) {
	var stored lifecycle.Operation
	var refusal error // change's own words, returned as they are
	err := s.write(ctx, e, func(t txn) error {
		i, err := oneInstance(query(t, scanInstance, `SELECT `+rows.InstanceColumns.Names()+` FROM vnf_instances
			WHERE id = (SELECT instance FROM vnf_operations WHERE id = $1) FOR UPDATE`, id))
		if err != nil {
			return err
		}
		o, err := oneOperation(query(t, scanOperation, operationByID+` FOR UPDATE`, id))
		if err != nil {
			return err
		}
		to, err := rows.ChangeOperation(o, i, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
			refusal = change(o, i)
			return refusal
		})
		if err != nil {
			return err
		}
		stored = to.Stored
		t.queue(updateOperation, append(values(changingOperation.Fields(&to.Operation)), o.ID)...)
		t.queue(updateInstance, append(values(changingInstance.Fields(&to.Instance)), i.ID)...)
		t.keepPackages(i.ID, to.Instance.Packages...)
		t.stand(to.Instance.Use(), to.Instance.VIMs)
		if err := t.conceal(to.Concealed); err != nil {
			return err
		}
		return t.notify(o.Project, to.Events...)
	})
	if refusal != nil {
		return lifecycle.Operation{}, refusal
	}
	if err != nil {
		return lifecycle.Operation{}, fmt.Errorf("updating operation %s: %w", id, err)
	}
	return stored, nil
}

// SaveProgress stores how far an operation has come.
func (s *Store) SaveProgress(ctx context.Context, of lifecycle.Operation) error {
	err := s.change(ctx, func(t txn) error {
		o, err := oneOperation(query(t, scanOperation, operationByID+` FOR UPDATE`, of.ID))
		if err != nil {
			return err
		}
		if o, err = rows.Progress(o, of); err != nil {
			return err
		}
		t.queue(updateOperation, append(values(changingOperation.Fields(&o)), o.ID)...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("saving the progress of operation %s: %w", of.ID, err)
	}
	return nil
}

// LiveOperations counts operations that have not ended.
func (s *Store) LiveOperations(ctx context.Context) ([]lifecycle.OperationCount, error) {
	counts, err := read(ctx, s, func(r pgx.CollectableRow) (c lifecycle.OperationCount, err error) {
		err = r.Scan(&c.Type, &c.State, &c.Count, &c.Oldest, &c.Waiting, &moment{&c.OldestWaiting})
		c.OldestWaiting = c.OldestWaiting.Truncate(time.Second)
		return c, err
	}, liveOperations)
	if err != nil {
		return nil, fmt.Errorf("counting VNF operations: %w", err)
	}
	return counts, nil
}

// The condition is that of the index vnf_operation_live_once_per_instance, so that it serves.
const places = `SELECT ` + rows.PlaceColumns + ` FROM vnf_operations
	WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') AND state <> 'FAILED_TEMP' ORDER BY queued_at, id`

func scanPlace(row pgx.CollectableRow) (p rows.Place, err error) {
	return p, scan(row, p.Fields(), nil)
}

// Places lists the operations that are worked and those that wait.
func (s *Store) Places(ctx context.Context) ([]lifecycle.Place, error) {
	all, err := read(ctx, s, scanPlace, places)
	if err != nil {
		return nil, fmt.Errorf("listing operations that are worked or wait: %w", err)
	}
	return rows.Places(all), nil
}

// GiveTurns lets operations begin that wait. No other write holds the row of an operation and waits for lockTurns.
func (s *Store) GiveTurns(ctx context.Context, choose func([]lifecycle.Place) []string, begin func(*lifecycle.Operation)) error {
	// What there is to do is looked up without keeping others waiting.
	all, err := s.Places(ctx)
	if err != nil || len(choose(all)) == 0 {
		return err
	}
	err = s.change(ctx, func(t txn) error {
		t.lock(lockTurns)
		all, err := query(t, scanPlace, places)
		if err != nil {
			return err
		}
		chosen := choose(rows.Places(all))
		if len(chosen) == 0 {
			return errNothing
		}
		found, err := query(t, scanOperation,
			`SELECT `+rows.OperationColumns.Names()+` FROM vnf_operations WHERE id = ANY ($1) ORDER BY id FOR UPDATE`, chosen)
		if err != nil {
			return err
		}
		for _, row := range found {
			given, ok, err := rows.GiveTurn(row, begin)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			t.queue(updateOperation, append(values(changingOperation.Fields(&given)), row.ID)...)
			if err := t.enqueue(job.Job{Kind: lifecycle.JobKind, Subject: row.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("giving operations their turn: %w", err)
	}
	return nil
}
