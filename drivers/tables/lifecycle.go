package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	instances  = keyedBy(`id`, `vnf_instances`, "VNF instance", rows.InstanceColumns, rows.Instance.Read, rows.InstanceRow)
	operations = keyedBy(`id`, `vnf_operations`, "operation", rows.OperationColumns, rows.Operation.Read, rows.OperationRow)

	lockOperations = statement(operations.text + ` WHERE id = ANY (?) ORDER BY id FOR UPDATE`)
	instanceOf     = statement(instances.text + ` WHERE id = (SELECT instance FROM vnf_operations WHERE id = ?) FOR UPDATE`)

	saveDrift = statement(`UPDATE vnf_instances SET ` + rows.DriftColumns.Set() + ` WHERE id = ? AND revision = ?`)
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
	return instances.create(ctx, s, e, i.ID, i, func(t Tx) error {
		if err := t.holdPackage(i.Shape.Package); err != nil {
			return err
		}
		return t.room(instanceQuota, i.Project, 1, most)
	}, func(t Tx) error {
		t.keepPackages(i.ID, i.Shape.Package)
		return t.notify(i.Project, lifecycle.Created(i))
	})
}

// Instance returns one by its id.
func (s *Tables) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	return instances.get(ctx, s, id)
}

// Instances lists the newest first.
func (s *Tables) Instances(ctx context.Context, f lifecycle.InstanceFilter) ([]lifecycle.Instance, string, error) {
	var c rows.Conditions
	c.AddIf(f.Project != "" && f.Name == "", `project = ?`, f.Project)
	c.AddIf(f.Project != "" && f.Name != "", `/*slow*/project = ?`, f.Project)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	return instances.page(ctx, s, rows.InstanceOrder, f.Page, instances.text, &c)
}

var (
	toObserve = statement(instances.text + ` AS i WHERE state = 'INSTANTIATED' AND observed_at < ?1
		AND NOT EXISTS (SELECT 1 FROM vnf_operations WHERE instance = i.id AND state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK'))
		ORDER BY observed_at, id LIMIT ?2`)
	countInstances = statement(`SELECT state, count(*), count(*) FILTER (WHERE drifted > 0), count(*) FILTER (WHERE unseen)
		FROM vnf_instances GROUP BY state`)
)

// InstancesToObserve lists those that have waited longest first.
func (s *Tables) InstancesToObserve(ctx context.Context, before time.Time, limit int) ([]lifecycle.Instance, error) {
	all, err := instances.each(read(ctx, s, instances.scan, toObserve, before, limit))
	return all, doing(err, "listing VNF instances to look at")
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
		if _, err := instances.lockedRow(t, id); err != nil {
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
		row, err := orNothing(instances.lockedRow(t, id))
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
		i, err := row.Read()
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
		for _, vim := range rows.Occupies(o) {
			if err := t.occupy(vim); err != nil {
				return err
			}
		}
		row, err := instances.lockedRow(t, o.Instance)
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
		operations.add(t, begun.Operation)
		if err := t.altered(begun); err != nil || !o.ByRequest() {
			return err
		}
		return t.EnqueueFor(o.Deadline, o.Job())
	})
	return doing(err, "beginning operation %s", o.ID)
}

// altered stores what an instance has become by its operation, and what goes with it.
func (t Tx) altered(to rows.Altered) error {
	i := to.Instance
	if err := t.use(i.ID, i.Links); err != nil {
		return err
	}
	instances.replace(t, i.ID, i)
	t.keepPackages(i.ID, i.Packages...)
	t.stand(i.Use(), i.VIMs)
	if err := t.conceal(to.Concealed); err != nil {
		return err
	}
	return t.notify(to.Operation.Project, to.Events...)
}

// Operation returns one by its id.
func (s *Tables) Operation(ctx context.Context, id string) (lifecycle.Operation, error) {
	return operations.get(ctx, s, id)
}

// Operations lists the newest first.
func (s *Tables) Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error) {
	var c rows.Conditions
	few := f.Instance != "" || f.Failed
	c.AddIf(f.Project != "" && !few, `project = ?`, f.Project)
	c.AddIf(f.Project != "" && few, `/*slow*/project = ?`, f.Project)
	c.AddIf(f.Failed, `state = 'FAILED_TEMP'`)
	c.AddIf(f.Instance != "", `instance = ?`, f.Instance)
	return operations.page(ctx, s, rows.OperationOrder, f.Page, operations.text, &c)
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
		found, err := query(t, instances.scan, instanceOf, id)
		i, err := rows.First("VNF instance", found, err)
		if err != nil {
			return err
		}
		o, err := operations.lockedRow(t, id)
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
		operations.replace(t, o.ID, to.Operation)
		return t.altered(to)
	})
	if refusal != nil {
		return lifecycle.Operation{}, refusal
	}
	return stored, doing(err, "updating operation %s", id)
}

// SaveProgress stores how far an operation has come.
func (s *Tables) SaveProgress(ctx context.Context, of lifecycle.Operation) error {
	err := s.change(ctx, func(t Tx) error {
		o, err := operations.lockedRow(t, of.ID)
		if err != nil {
			return err
		}
		if o, err = rows.Progress(o, of); err != nil {
			return err
		}
		operations.replace(t, o.ID, o)
		return nil
	})
	return doing(err, "saving the progress of operation %s", of.ID)
}

// The condition is that of the index vnf_operation_live_once_per_instance, so that it serves.
var places = statement(`SELECT id, project, vim, queued_at, turn_at FROM vnf_operations
	WHERE state IN ('STARTING', 'PROCESSING', 'FAILED_TEMP', 'ROLLING_BACK') AND state <> 'FAILED_TEMP' ORDER BY queued_at, id`)

func scanPlace(row Row) (p lifecycle.Place, err error) {
	var turn time.Time
	err = row.Scan(&p.Operation, &p.Project, &p.VIM, &p.QueuedAt, &turn)
	p.Waits = turn.IsZero()
	return p, err
}

// Places lists the operations that are worked and those that wait.
func (s *Tables) Places(ctx context.Context) ([]lifecycle.Place, error) {
	all, err := read(ctx, s, scanPlace, places)
	return all, doing(err, "listing operations that are worked or wait")
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
		chosen := choose(all)
		if len(chosen) == 0 {
			return ErrNothing
		}
		found, err := query(t, operations.scan, lockOperations, chosen)
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
			operations.replace(t, row.ID, given)
			if err := t.enqueue(job.Job{Kind: lifecycle.JobKind, Subject: row.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	return doing(err, "giving operations their turn")
}
