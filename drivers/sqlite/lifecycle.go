package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ lifecycle.Store = (*Store)(nil)

var (
	instanceByID  = `SELECT ` + rows.InstanceColumns.Names() + ` FROM vnf_instances WHERE id = ?`
	operationByID = `SELECT ` + rows.OperationColumns.Names() + ` FROM vnf_operations WHERE id = ?`

	changingInstance   = rows.InstanceColumns.Changing()
	changingOperation  = rows.OperationColumns.Changing()
	instanceForUpdate  = prepared(instanceByID)
	operationForUpdate = prepared(operationByID)
	countInstancesOf   = prepared(`SELECT count(*) FROM (SELECT 1 FROM vnf_instances WHERE project = ? LIMIT ?)`)
	insertInstance     = prepared(rows.InstanceColumns.Insert(`vnf_instances`))
	updateInstance     = prepared(`UPDATE vnf_instances SET ` + changingInstance.Set() + ` WHERE id = ?`)
	saveDrift          = prepared(`UPDATE vnf_instances SET ` + rows.DriftColumns.Set() + ` WHERE id = ? AND revision = ?`)
	deleteInstance     = prepared(`DELETE FROM vnf_instances WHERE id = ?`)
	insertOperation    = prepared(rows.OperationColumns.Insert(`vnf_operations`))
	updateOperation    = prepared(`UPDATE vnf_operations SET ` + changingOperation.Set() + ` WHERE id = ?`)
	deleteOperations   = prepared(`DELETE FROM vnf_operations WHERE instance = ?`)
	operationLive      = prepared(`SELECT 1 FROM vnf_operations WHERE instance = ?
		AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK')`)
)

// The documents of operations that are live are few.
const liveOperations = `SELECT json_extract(document, '$.type'), state, count(*), min(unixepoch(json_extract(document, '$.stateEnteredAt'))),
	count(*) FILTER (WHERE turn_at = 0 AND state <> 'FAILED_TEMP'),
	coalesce(min(queued_at) FILTER (WHERE turn_at = 0 AND state <> 'FAILED_TEMP'), 0)
	FROM vnf_operations WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') GROUP BY 1, 2`

// CreateInstance stores a new instance.
func (s *Store) CreateInstance(ctx context.Context, i lifecycle.Instance, most int, e audit.Entry) error {
	i.Revision = 1
	row, err := rows.InstanceRow(i)
	if err == nil {
		err = s.write(ctx, func(t txn) error {
			if err := t.holdPackage(i.Shape.Package); err != nil {
				return err
			}
			if most > 0 {
				var n int
				if err := t.queryRow(countInstancesOf, i.Project, most).Scan(&n); err != nil {
					return translate(err)
				}
				if n >= most {
					return rows.InstancesUsedUp(most)
				}
			}
			if _, err := t.exec(insertInstance, values(rows.InstanceColumns.Fields(&row))...); err != nil {
				return err
			}
			if err := t.keepPackages(row.ID, row.Packages...); err != nil {
				return err
			}
			if err := t.notify(i.Project, lifecycle.Created(i)); err != nil {
				return err
			}
			return t.append(e)
		})
	}
	if err != nil {
		return fmt.Errorf("creating VNF instance %s: %w", i.ID, err)
	}
	return nil
}

// Instance returns one by its id.
func (s *Store) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	found, err := s.query(ctx, instanceByID, id)
	row, err := oneInstance(found, err)
	if err != nil {
		return lifecycle.Instance{}, fmt.Errorf("reading VNF instance %s: %w", id, err)
	}
	return row.Instance()
}

func oneInstance(found *sql.Rows, err error) (rows.Instance, error) {
	all, err := collect(found, err, scanInstance)
	return rows.First("VNF instance", all, err)
}

func scanInstance(row *sql.Rows) (i rows.Instance, err error) {
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
		c.Add(`(created_at, id) < (?, ?)`, after.At, after.ID)
	}
	// "+" keeps SQLite from reading all of the project.
	c.AddIf(f.Project != "" && f.Name != "", `+project = ?`, f.Project)
	c.AddIf(f.Project != "" && f.Name == "", `project = ?`, f.Project)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	text, args := c.SelectFrom(`SELECT ` + rows.InstanceColumns.Names() + ` FROM vnf_instances`)
	found, err := s.query(ctx, text+` ORDER BY created_at DESC, id DESC LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanInstance)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF instances: %w", err)
	}
	all, next := rows.CutInstances(all, size)
	instances, err := rows.Read(all, rows.Instance.Instance)
	return instances, next, err
}

const (
	toObserve = ` WHERE state = 'INSTANTIATED' AND observed_at < ?
		AND NOT EXISTS (SELECT 1 FROM vnf_operations WHERE instance = i.id AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK'))
		ORDER BY observed_at, id LIMIT ?+0`
	countInstances = `SELECT state, count(*), sum(drifted > 0), sum(unseen) FROM vnf_instances GROUP BY state`
)

// InstancesToObserve lists those that have waited longest first.
func (s *Store) InstancesToObserve(ctx context.Context, before time.Time, limit int) ([]lifecycle.Instance, error) {
	found, err := s.query(ctx, `SELECT `+rows.InstanceColumns.Names()+` FROM vnf_instances AS i`+toObserve, rows.Micro(before), limit)
	all, err := collect(found, err, scanInstance)
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
	err := s.write(ctx, func(t txn) error {
		r, err := t.exec(saveDrift, append(values(rows.DriftColumns.Fields(&row)), id, revision)...)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n > 0 {
			return err
		}
		found, err := t.query(instanceForUpdate, id)
		if _, err := oneInstance(found, err); err != nil {
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
	found, err := s.query(ctx, countInstances)
	all, err := collect(found, err, func(r *sql.Rows) (c rows.InstanceCount, err error) {
		return c, r.Scan(&c.State, &c.N, &c.Drifted, &c.Unseen)
	})
	if err != nil {
		return lifecycle.InstanceCount{}, fmt.Errorf("counting VNF instances: %w", err)
	}
	return rows.CountInstances(all), nil
}

// DeleteInstance removes an instance with its operations.
func (s *Store) DeleteInstance(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(instanceForUpdate, id)
		row, err := oneInstance(found, err)
		if errors.Is(err, broker.ErrNotFound) {
			return nil
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
		if err := t.keepPackages(id); err != nil {
			return err
		}
		if err := t.stand(row.Use(), []string{}); err != nil {
			return err
		}
		if _, err := t.exec(deleteOperations, id); err != nil {
			return err
		}
		if _, err := t.exec(deleteInstance, id); err != nil {
			return err
		}
		if _, err := t.exec(abandonHiddenOf, rows.Micro(t.s.now()), id); err != nil {
			return err
		}
		i, err := row.Instance()
		if err != nil {
			return err
		}
		if err := t.notify(i.Project, lifecycle.Deleted(i, e.Time)); err != nil {
			return err
		}
		return t.append(e)
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
	err := s.write(ctx, func(t txn) error {
		if err := t.occupy(rows.Occupies(o)); err != nil {
			return err
		}
		found, err := t.query(instanceForUpdate, o.Instance)
		row, err := oneInstance(found, err)
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
		if _, err := t.exec(insertOperation, values(rows.OperationColumns.Fields(&begun.Operation))...); err != nil {
			return err
		}
		if _, err := t.exec(updateInstance, append(values(changingInstance.Fields(&begun.Instance)), o.Instance)...); err != nil {
			return err
		}
		if err := t.keepPackages(o.Instance, begun.Instance.Packages...); err != nil {
			return err
		}
		if err := t.stand(begun.Instance.Use(), begun.Instance.VIMs); err != nil {
			return err
		}
		if err := t.conceal(begun.Concealed); err != nil {
			return err
		}
		if o.ByRequest() {
			if err := t.enqueueFor(o.Deadline, o.Job()); err != nil {
				return err
			}
		}
		if err := t.notify(o.Project, begun.Events...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("beginning operation %s: %w", o.ID, err)
	}
	return nil
}

// Operation returns one by its id.
func (s *Store) Operation(ctx context.Context, id string) (lifecycle.Operation, error) {
	found, err := s.query(ctx, operationByID, id)
	row, err := oneOperation(found, err)
	if err != nil {
		return lifecycle.Operation{}, fmt.Errorf("reading operation %s: %w", id, err)
	}
	return row.Operation()
}

func oneOperation(found *sql.Rows, err error) (rows.Operation, error) {
	all, err := collect(found, err, scanOperation)
	return rows.First("operation", all, err)
}

func scanOperation(row *sql.Rows) (o rows.Operation, err error) {
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
		c.Add(`(started_at, id) < (?, ?)`, after.At, after.ID)
	}
	// "+" keeps SQLite from reading all of the project.
	c.AddIf(f.Project != "" && f.Instance != "", `+project = ?`, f.Project)
	c.AddIf(f.Project != "" && f.Instance == "", `project = ?`, f.Project)
	c.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	text, args := c.SelectFrom(`SELECT ` + rows.OperationColumns.Names() + ` FROM vnf_operations`)
	found, err := s.query(ctx, text+` ORDER BY started_at DESC, id DESC LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanOperation)
	if err != nil {
		return nil, "", fmt.Errorf("listing operations: %w", err)
	}
	all, next := rows.CutOperations(all, size)
	operations, err := rows.Read(all, rows.Operation.Operation)
	return operations, next, err
}

// UpdateOperation changes an operation and its instance by a function.
func (s *Store) UpdateOperation(ctx context.Context, id string, change func(
	*lifecycle.Operation, *lifecycle.Instance,
) error, e audit.Entry,
) (lifecycle.Operation, error) {
	var stored lifecycle.Operation
	var refusal error // change's own words, returned as they are
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(operationForUpdate, id)
		o, err := oneOperation(found, err)
		if err != nil {
			return err
		}
		found, err = t.query(instanceForUpdate, o.Instance)
		i, err := oneInstance(found, err)
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
		if _, err := t.exec(updateOperation, append(values(changingOperation.Fields(&to.Operation)), o.ID)...); err != nil {
			return err
		}
		if _, err := t.exec(updateInstance, append(values(changingInstance.Fields(&to.Instance)), i.ID)...); err != nil {
			return err
		}
		if err := t.keepPackages(i.ID, to.Instance.Packages...); err != nil {
			return err
		}
		if err := t.stand(to.Instance.Use(), to.Instance.VIMs); err != nil {
			return err
		}
		if err := t.conceal(to.Concealed); err != nil {
			return err
		}
		if err := t.notify(o.Project, to.Events...); err != nil {
			return err
		}
		return t.append(e)
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
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(operationForUpdate, of.ID)
		o, err := oneOperation(found, err)
		if err != nil {
			return err
		}
		if o, err = rows.Progress(o, of); err != nil {
			return err
		}
		_, err = t.exec(updateOperation, append(values(changingOperation.Fields(&o)), o.ID)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("saving the progress of operation %s: %w", of.ID, err)
	}
	return nil
}

// LiveOperations counts operations that have not ended.
func (s *Store) LiveOperations(ctx context.Context) ([]lifecycle.OperationCount, error) {
	found, err := s.query(ctx, liveOperations)
	counts, err := collect(found, err, func(r *sql.Rows) (c lifecycle.OperationCount, err error) {
		var oldest, waiting int64
		err = r.Scan(&c.Type, &c.State, &c.Count, &oldest, &c.Waiting, &waiting)
		c.Oldest, c.OldestWaiting = time.Unix(oldest, 0).UTC(), rows.Time(waiting).Truncate(time.Second)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("counting VNF operations: %w", err)
	}
	return counts, nil
}

// The condition is that of the index vnf_operation_live_once_per_instance, so that it serves.
const places = `SELECT ` + rows.PlaceColumns + ` FROM vnf_operations
	WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') AND state <> 'FAILED_TEMP' ORDER BY queued_at, id`

var placesForUpdate = prepared(places)

func scanPlace(row *sql.Rows) (p rows.Place, err error) { return p, scan(row, p.Fields(), nil) }

// Places lists the operations that are worked and those that wait.
func (s *Store) Places(ctx context.Context) ([]lifecycle.Place, error) {
	found, err := s.query(ctx, places)
	all, err := collect(found, err, scanPlace)
	if err != nil {
		return nil, fmt.Errorf("listing operations that are worked or wait: %w", err)
	}
	return rows.Places(all), nil
}

// GiveTurns lets operations begin that wait.
func (s *Store) GiveTurns(ctx context.Context, choose func([]lifecycle.Place) []string, begin func(*lifecycle.Operation)) error {
	// What there is to do is looked up without keeping other writes waiting.
	all, err := s.Places(ctx)
	if err != nil || len(choose(all)) == 0 {
		return err
	}
	err = s.write(ctx, func(t txn) error {
		found, err := t.query(placesForUpdate)
		all, err := collect(found, err, scanPlace)
		if err != nil {
			return err
		}
		for _, id := range choose(rows.Places(all)) {
			found, err := t.query(operationForUpdate, id)
			row, err := oneOperation(found, err)
			if err != nil {
				return err
			}
			given, ok, err := rows.GiveTurn(row, begin)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if _, err := t.exec(updateOperation, append(values(changingOperation.Fields(&given)), id)...); err != nil {
				return err
			}
			if err := t.enqueue(job.Job{Kind: lifecycle.JobKind, Subject: id}); err != nil {
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
