package tables

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	instancesText  = `SELECT ` + rows.InstanceColumns.Names() + ` FROM vnf_instances`
	operationsText = `SELECT ` + rows.OperationColumns.Names() + ` FROM vnf_operations`
	instanceByID   = statement(instancesText + ` WHERE id = ?`)
	operationByID  = statement(operationsText + ` WHERE id = ?`)
	lockInstance   = statement(instanceByID + ` FOR UPDATE`)
	lockOperation  = statement(operationByID + ` FOR UPDATE`)
	lockOperations = statement(operationsText + ` WHERE id = ANY (?) ORDER BY id FOR UPDATE`)
	instanceOf     = statement(instancesText + ` WHERE id = (SELECT instance FROM vnf_operations WHERE id = ?) FOR UPDATE`)

	changingInstance  = rows.InstanceColumns.Changing()
	changingOperation = rows.OperationColumns.Changing()
	countInstancesOf  = statement(`SELECT count(*) FROM (SELECT 1 FROM vnf_instances WHERE project = ?1 LIMIT ?2) AS instance`)
	insertInstance    = statement(rows.InstanceColumns.Insert(`vnf_instances`))
	updateInstance    = statement(`UPDATE vnf_instances SET ` + changingInstance.Set() + ` WHERE id = ?`)
	saveDrift         = statement(`UPDATE vnf_instances SET ` + rows.DriftColumns.Set() + ` WHERE id = ? AND revision = ?`)
	insertOperation   = statement(rows.OperationColumns.Insert(`vnf_operations`))
	updateOperation   = statement(`UPDATE vnf_operations SET ` + changingOperation.Set() + ` WHERE id = ?`)
)

var (
	deleteInstance   = statement(`DELETE FROM vnf_instances WHERE id = ?1`)
	deleteOperations = statement(`DELETE FROM vnf_operations WHERE instance = ?1`)
	operationLive    = statement(`SELECT 1 FROM vnf_operations WHERE instance = ?1
		AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK')`)
)

// CreateInstance stores a new instance.
func (s *Tables) CreateInstance(ctx context.Context, i lifecycle.Instance, most int, e audit.Entry) error {
	i.Revision = 1
	row, err := rows.InstanceRow(i)
	if err == nil {
		err = s.write(ctx, e, func(t Tx) error {
			if err := t.holdPackage(i.Shape.Package); err != nil {
				return err
			}
			if most > 0 {
				t.lock(lockInstances, i.Project)
				n, err := t.count(countInstancesOf, i.Project, most)
				if err != nil {
					return err
				}
				if n >= int64(most) {
					return rows.InstancesUsedUp(most)
				}
			}
			t.queue(insertInstance, rows.InstanceColumns.Values(&row)...)
			t.keepPackages(row.ID, row.Packages...)
			return t.notify(i.Project, lifecycle.Created(i))
		})
	}
	return doing(err, "creating VNF instance %s", i.ID)
}

// Instance returns one by its id.
func (s *Tables) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	row, err := oneInstance(lookUp(ctx, s, scanInstance, instanceByID, id))
	if err != nil {
		return lifecycle.Instance{}, doing(err, "reading VNF instance %s", id)
	}
	return row.Instance()
}

func oneInstance(found []rows.Instance, err error) (rows.Instance, error) {
	return rows.First("VNF instance", found, err)
}

func scanInstance(row Row) (i rows.Instance, err error) {
	return i, row.Scan(rows.InstanceColumns.Fields(&i)...)
}

// Instances lists the newest first.
func (s *Tables) Instances(ctx context.Context, f lifecycle.InstanceFilter) ([]lifecycle.Instance, string, error) {
	size, after, err := rows.ReadPage[rows.LifecyclePosition](f.Page)
	if err != nil {
		return nil, "", doing(err, "listing VNF instances")
	}
	var c rows.Conditions
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, rows.Time(after.At), after.ID)
	}
	c.AddIf(f.Project != "" && f.Name == "", `project = ?`, f.Project)
	c.AddIf(f.Project != "" && f.Name != "", `/*slow*/project = ?`, f.Project)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	text, args := c.SelectFrom(instancesText)
	all, err := read(ctx, s, scanInstance, text+newestFirst, append(args, size+1)...)
	if err != nil {
		return nil, "", doing(err, "listing VNF instances")
	}
	all, next := rows.CutInstances(all, size)
	instances, err := rows.Read(all, rows.Instance.Instance)
	return instances, next, err
}

var (
	toObserve = statement(instancesText + ` AS i WHERE state = 'INSTANTIATED' AND observed_at < ?1
		AND NOT EXISTS (SELECT 1 FROM vnf_operations WHERE instance = i.id AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK'))
		ORDER BY observed_at, id LIMIT ?2`)
	countInstances = statement(`SELECT state, count(*), count(*) FILTER (WHERE drifted > 0), count(*) FILTER (WHERE unseen)
		FROM vnf_instances GROUP BY state`)
)

// InstancesToObserve lists those that have waited longest first.
func (s *Tables) InstancesToObserve(ctx context.Context, before time.Time, limit int) ([]lifecycle.Instance, error) {
	all, err := read(ctx, s, scanInstance, toObserve, before, limit)
	if err != nil {
		return nil, doing(err, "listing VNF instances to look at")
	}
	return rows.Read(all, rows.Instance.Instance)
}

// SaveDrift stores what was seen of an instance.
func (s *Tables) SaveDrift(ctx context.Context, id string, revision int64, d lifecycle.Drift) error {
	var row rows.Instance
	if err := row.SetDrift(d); err != nil {
		return err
	}
	err := s.change(ctx, func(t Tx) error {
		saved, err := t.any(saveDrift, append(rows.DriftColumns.Values(&row), id, revision)...)
		if err != nil || saved {
			return err
		}
		if _, err := oneInstance(query(t, scanInstance, lockInstance, id)); err != nil {
			return err
		}
		return rows.Changed()
	})
	return doing(err, "saving what was seen of VNF instance %s", id)
}

// CountInstances counts by state.
func (s *Tables) CountInstances(ctx context.Context) (lifecycle.InstanceCount, error) {
	all, err := read(ctx, s, func(r Row) (c rows.InstanceCount, err error) {
		return c, r.Scan(&c.State, &c.N, &c.Drifted, &c.Unseen)
	}, countInstances)
	return rows.CountInstances(all), doing(err, "counting VNF instances")
}

// DeleteInstance removes an instance with its operations.
func (s *Tables) DeleteInstance(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		row, err := oneInstance(query(t, scanInstance, lockInstance, id))
		if errors.Is(err, broker.ErrNotFound) {
			return ErrNothing
		}
		if err != nil {
			return err
		}
		live, err := t.there(operationLive, id)
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
		if err := t.use(id, nil); err != nil {
			return err
		}
		t.keepPackages(id)
		t.stand(row.Use(), nil)
		t.queue(deleteOperations, id)
		t.queue(deleteInstance, id)
		t.queue(abandonSecretParametersOf, t.Now(), id)
		return t.notify(i.Project, lifecycle.Deleted(i, e.Time))
	})
	return doing(err, "deleting VNF instance %s", id)
}

// BeginOperation stores a new operation.
func (s *Tables) BeginOperation(
	ctx context.Context, o lifecycle.Operation, revision int64, change func(*lifecycle.Instance), e audit.Entry,
) error {
	err := s.write(ctx, e, func(t Tx) error {
		if err := t.occupy(rows.Occupies(o)); err != nil {
			return err
		}
		row, err := oneInstance(query(t, scanInstance, lockInstance, o.Instance))
		if err != nil {
			return err
		}
		live, err := t.there(operationLive, o.Instance)
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
		if err := t.use(o.Instance, begun.Instance.Links); err != nil {
			return err
		}
		t.queue(insertOperation, rows.OperationColumns.Values(&begun.Operation)...)
		t.queue(updateInstance, append(changingInstance.Values(&begun.Instance), o.Instance)...)
		t.keepPackages(o.Instance, begun.Instance.Packages...)
		t.stand(begun.Instance.Use(), begun.Instance.VIMs)
		if err := t.conceal(begun.Concealed); err != nil {
			return err
		}
		if o.ByRequest() {
			if err := t.EnqueueFor(o.Deadline, o.Job()); err != nil {
				return err
			}
		}
		return t.notify(o.Project, begun.Events...)
	})
	return doing(err, "beginning operation %s", o.ID)
}

// Operation returns one by its id.
func (s *Tables) Operation(ctx context.Context, id string) (lifecycle.Operation, error) {
	row, err := oneOperation(lookUp(ctx, s, scanOperation, operationByID, id))
	if err != nil {
		return lifecycle.Operation{}, doing(err, "reading operation %s", id)
	}
	return row.Operation()
}

func oneOperation(found []rows.Operation, err error) (rows.Operation, error) {
	return rows.First("operation", found, err)
}

func scanOperation(row Row) (o rows.Operation, err error) {
	return o, row.Scan(rows.OperationColumns.Fields(&o)...)
}

// Operations lists the newest first.
func (s *Tables) Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error) {
	size, after, err := rows.ReadPage[rows.LifecyclePosition](f.Page)
	if err != nil {
		return nil, "", doing(err, "listing operations")
	}
	var c rows.Conditions
	if after != nil {
		c.Add(`(started_at, id) < (?, ?)`, rows.Time(after.At), after.ID)
	}
	few := f.Instance != "" || f.Failed
	c.AddIf(f.Project != "" && !few, `project = ?`, f.Project)
	c.AddIf(f.Project != "" && few, `/*slow*/project = ?`, f.Project)
	c.AddIf(f.Failed, `state = 'FAILED_TEMP'`)
	c.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	text, args := c.SelectFrom(operationsText)
	all, err := read(ctx, s, scanOperation, text+` ORDER BY started_at DESC, id DESC LIMIT ?`, append(args, size+1)...)
	if err != nil {
		return nil, "", doing(err, "listing operations")
	}
	all, next := rows.CutOperations(all, size)
	operations, err := rows.Read(all, rows.Operation.Operation)
	return operations, next, err
}

// UpdateOperation changes an operation and its instance by a function. The instance is locked first, as where an
// operation begins.
func (s *Tables) UpdateOperation(ctx context.Context, id string, change func(
	*lifecycle.Operation, *lifecycle.Instance,
) error, e audit.Entry,
) (lifecycle.Operation, error) {
	var stored lifecycle.Operation
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, e, func(t Tx) error {
		i, err := oneInstance(query(t, scanInstance, instanceOf, id))
		if err != nil {
			return err
		}
		o, err := oneOperation(query(t, scanOperation, lockOperation, id))
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
		if err := t.use(i.ID, to.Instance.Links); err != nil {
			return err
		}
		stored = to.Stored
		t.queue(updateOperation, append(changingOperation.Values(&to.Operation), o.ID)...)
		t.queue(updateInstance, append(changingInstance.Values(&to.Instance), i.ID)...)
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
	return stored, doing(err, "updating operation %s", id)
}

// SaveProgress stores how far an operation has come.
func (s *Tables) SaveProgress(ctx context.Context, of lifecycle.Operation) error {
	err := s.change(ctx, func(t Tx) error {
		o, err := oneOperation(query(t, scanOperation, lockOperation, of.ID))
		if err != nil {
			return err
		}
		if o, err = rows.Progress(o, of); err != nil {
			return err
		}
		t.queue(updateOperation, append(changingOperation.Values(&o), o.ID)...)
		return nil
	})
	return doing(err, "saving the progress of operation %s", of.ID)
}

// The condition is that of the index vnf_operation_live_once_per_instance, so that it serves.
var places = statement(`SELECT ` + rows.PlaceColumns + ` FROM vnf_operations
	WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') AND state <> 'FAILED_TEMP' ORDER BY queued_at, id`)

func scanPlace(row Row) (p rows.Place, err error) {
	return p, row.Scan(p.Fields()...)
}

// Places lists the operations that are worked and those that wait.
func (s *Tables) Places(ctx context.Context) ([]lifecycle.Place, error) {
	all, err := read(ctx, s, scanPlace, places)
	return rows.Places(all), doing(err, "listing operations that are worked or wait")
}

// GiveTurns lets operations begin that wait. No other write holds the row of an operation and waits for lockTurns.
func (s *Tables) GiveTurns(ctx context.Context, choose func([]lifecycle.Place) []string, begin func(*lifecycle.Operation)) error {
	// The work to do is looked up without keeping others waiting.
	all, err := s.Places(ctx)
	if err != nil || len(choose(all)) == 0 {
		return err
	}
	err = s.change(ctx, func(t Tx) error {
		t.lock(lockTurns, "")
		all, err := query(t, scanPlace, places)
		if err != nil {
			return err
		}
		chosen := choose(rows.Places(all))
		if len(chosen) == 0 {
			return ErrNothing
		}
		found, err := query(t, scanOperation, lockOperations, chosen)
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
			t.queue(updateOperation, append(changingOperation.Values(&given), row.ID)...)
			if err := t.enqueue(job.Job{Kind: lifecycle.JobKind, Subject: row.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	return doing(err, "giving operations their turn")
}
