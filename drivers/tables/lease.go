package tables

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// LeaseColumns are the columns that are read of leases. The sealed credential may stand elsewhere.
var LeaseColumns = strings.Replace(rows.LeaseColumns.Names(), ` sealed,`, ` /*stowed*/sealed,`, 1)

var (
	leaseByID      = statement(`SELECT ` + LeaseColumns + ` FROM leases WHERE id = ?1`)
	leaseForUpdate = statement(leaseByID + ` FOR UPDATE`)
	leaseByKey     = statement(`SELECT ` + LeaseColumns + ` FROM leases
		WHERE principal = ?1 AND idempotency_key = ?2 AND idempotency_key <> ''`)
	leaseByLogin  = statement(`SELECT ` + LeaseColumns + ` FROM leases WHERE login = ?1 AND login <> '' AND secret_sha256 <> ''`)
	leaseKeyTaken = statement(`SELECT 1 FROM leases WHERE principal = ?1 AND idempotency_key = ?2 AND idempotency_key <> ''`)
	// passSecrets takes the secrets, and the key, of the lease whose place another takes.
	passSecrets = statement(`UPDATE leases SET secret_sha256 = '', idempotency_key = ''
		WHERE login = ?1 AND login <> '' AND secret_sha256 <> '' AND revision = ?2 AND state NOT IN ('pending', 'active')`)
	insertLease = statement(rows.LeaseColumns.Insert(`leases`))
	deferLease  = statement(`UPDATE leases SET attempts = ?1, next_attempt_at = ?2, last_error = ?3 WHERE id = ?4`)
	presentKey  = statement(`SELECT g.key_ref FROM leases l
		JOIN vim_generations g ON g.vim = l.vim AND g.number = l.vim_generation WHERE l.id = ?1`)

	// vimForLease counts live leases too, for quotas: in PostgreSQL each up to its quota and no further.
	vimForLease = statement(either(`SELECT project,
		(SELECT count(*) FROM (SELECT 1 FROM live_leases WHERE principal = ?1 LIMIT ?2) AS l),
		(SELECT count(*) FROM (SELECT 1 FROM live_leases WHERE vim = ?7 LIMIT ?3) AS l),
		(SELECT count(*) FROM (SELECT 1 FROM live_leases WHERE project = ?5 LIMIT ?4) AS l)
		FROM vims WHERE id = ?7 AND state = 'registered' AND generation = ?8 AND ?6::bigint IN (0, revision)`,
		`SELECT project,
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'principal' AND name = ?1), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'vim' AND name = id), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'project' AND name = ?5), 0)
		FROM vims WHERE id = ?7 AND state = 'registered' AND generation = ?8 AND ?6 IN (0, revision)`))
	resume = statement(either(`UPDATE leases SET attempts = 0, next_attempt_at = least(next_attempt_at, ?1)
		WHERE id IN (SELECT id FROM lease_turns WHERE vim = ?2) AND state <> 'active' AND attempts > 0`,
		`UPDATE leases INDEXED BY lease_due_by_vim SET attempts = 0, next_attempt_at = min(next_attempt_at, ?1)
		WHERE vim = ?2 AND due_at IS NOT NULL AND state <> 'active' AND attempts > 0`))
	liveOn = statement(either(`SELECT v.id, (SELECT count(*) FROM (SELECT 1 FROM live_leases WHERE vim = v.id LIMIT ?2) AS l)
		FROM unnest(?1::text[]) AS v (id)`,
		`SELECT asked.value, min(n, ?2) FROM json_each(?1) AS asked CROSS JOIN lease_live_counts ON whose = 'vim' AND name = asked.value`))
	dueVIMs = statement(either(`SELECT vim, vim_project, min(due_at) FROM lease_turns WHERE due_at <= ?1 GROUP BY vim, vim_project`,
		`SELECT vim, vim_project, min(due_at) FROM leases INDEXED BY lease_due WHERE due_at <= ?1 GROUP BY vim, vim_project`))
)

// Lease returns one by its id.
func (s *Tables) Lease(ctx context.Context, id string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByID, id))
	return l, doing(err, "reading lease %s", id)
}

// LeaseByKey returns the lease that a principal was issued under an idempotency key.
func (s *Tables) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByKey, principal, key))
	return l, doing(err, "reading the lease of an idempotency key")
}

// LeaseByLogin returns the lease under whose name and secret tokens are minted.
func (s *Tables) LeaseByLogin(ctx context.Context, login string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLeases(), leaseByLogin, login))
	return l, doing(err, "reading the lease of a login")
}

func oneLease(found []broker.Lease, err error) (broker.Lease, error) {
	return rows.First("lease", found, err)
}

// scanLeases returns what scans rows one after the other, always into the same memory.
func scanLeases() func(Row) (broker.Lease, error) {
	var l broker.Lease
	var bad bool
	into := rows.LeaseColumns.Fields(&l)
	return func(row Row) (broker.Lease, error) {
		l, bad = broker.Lease{}, false
		err := row.Spare(&bad, into...)
		return rows.Sparing(l, bad), err
	}
}

// Leases lists the newest first.
func (s *Tables) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	leases, next, err := s.leases(ctx, f)
	return leases, next, doing(err, "listing leases")
}

func (s *Tables) leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	f, wider := rows.WindowOfLeases(f)
	end, err := s.leaseWindowEnd(ctx, f, wider)
	if err != nil {
		return nil, "", err
	}
	text, args, size, err := s.db.LeaseQuery(f, end)
	if err != nil {
		return nil, "", err
	}
	leases, err := read(ctx, s, scanLeases(), text, args...)
	if err != nil {
		return nil, "", err
	}
	leases, next := rows.LeaseOrder.Cut(leases, size)
	if next == "" && end != nil {
		next = rows.Token(*end)
	}
	return leases, next, nil
}

// leaseWindowEnd is the place of the last lease that a page may look at, nil if it may look at all.
func (s *Tables) leaseWindowEnd(ctx context.Context, f broker.LeaseFilter, wider *broker.LeaseFilter) (*rows.Position, error) {
	if wider == nil {
		return nil, nil
	}
	text, args, err := s.db.LeaseWindowEnd(f, *wider)
	if err != nil || text == "" {
		return nil, err
	}
	ends, err := read(ctx, s, scanLeasePosition, text, args...)
	if err != nil || len(ends) == 0 {
		return nil, err
	}
	return &ends[0], nil
}

func scanLeasePosition(row Row) (p rows.Position, err error) {
	l := broker.Lease{}
	err = row.Scan(&l.CreatedAt, &l.ID)
	return rows.LeaseOrder.At(l), err
}

// leasable is what a lease is created by: the project of its VIM, and the live leases that quotas count.
type leasable struct {
	project string
	live    rows.Live
}

func scanLeasable(row Row) (l leasable, err error) {
	return l, row.Scan(&l.project, &l.live.OfPrincipal, &l.live.OnVIM, &l.live.OfProject)
}

// CreateLease stores the intent to issue a lease.
func (s *Tables) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	l.State, l.Revision, l.Epoch = broker.LeasePending, 1, 0
	err := s.write(ctx, e, func(t Tx) error {
		if l.Follows() {
			if passed, err := t.any(passSecrets, l.Login, q.OldRevision); err != nil || !passed {
				return cmp.Or(err, rows.LeaseLogin.Taken(nil))
			}
		}
		// First: a request that is repeated may have used up the quota itself.
		if err := t.first(rows.LeaseKey, leaseKeyTaken, l.Principal, l.IdempotencyKey); err != nil {
			return err
		}
		t.Share(l.VIM)
		if q != (broker.Quota{}) { // what is counted is locked until the lease is committed, always in the same order
			t.lock(lockPrincipal, l.Principal)
			t.lock(lockVIMQuota, l.VIM)
			t.lock(lockProject, l.Project)
		}
		epoch := t.epochOf(l)
		most, _ := q.Of(l.Principal)
		found, err := query(t, scanLeasable, vimForLease,
			l.Principal, most, q.PerVIM, q.PerProject, l.Project, q.VIMRevision, l.VIM, l.VIMGeneration)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return rows.NotLeasable()
		}
		if err := found[0].live.Within(q, l); err != nil {
			return err
		}
		l.VIMProject = found[0].project
		if l.Epoch, err = epoch(); err != nil {
			return err
		}
		t.queue(insertLease, rows.LeaseColumns.Values(&l)...)
		return nil
	})
	return l, doing(err, "creating lease %s", l.ID)
}

// UpdateLease changes a lease by a function. Changes to ID, VIM, VIMName, VIMType, VIMProject, VIMGeneration,
// Project, Principal, Operation, CreatedAt and Revision are ignored.
func (s *Tables) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	var keys []secret.Ref // of the lease's generation
	var needKeys func() error
	read := func(t Tx) (broker.Lease, error) {
		t.ShareVIMOf(id)
		needKeys = t.Ahead(collect(scalar[secret.Ref], &keys), presentKey, id)
		return oneLease(query(t, scanLeases(), leaseForUpdate, id))
	}
	changeCopy := func(l *broker.Lease) error {
		l.Namespaces = slices.Clone(l.Namespaces) // change may write into it
		return change(l)
	}
	return amend(ctx, s.recording(e), "updating lease "+id, read, changeCopy, func(t Tx, old, l broker.Lease) (broker.Lease, error) {
		if err := rows.Move("a lease", old.State, l.State); err != nil {
			return l, err
		}
		if rows.Resealed(old, l) {
			if err := needKeys(); err != nil {
				return l, err
			}
			if !slices.Contains(keys, l.SealedKey) {
				return l, rows.OtherKey()
			}
		}
		l.Revision = old.Revision + 1
		stored := old
		changed := rows.LeaseColumns.Amend(&stored, &l)
		t.AmendLease(old, stored, changed)
		if !rows.NeedsGeneration(old) || rows.NeedsGeneration(l) {
			return stored, nil
		}
		// The last two that need it may end at the same time.
		t.lock(lockGeneration, old.VIM)
		return stored, t.dropUnneeded(old.VIM, old.VIMGeneration)
	})
}

// DeferLease counts a failed try.
func (s *Tables) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	err := s.change(ctx, func(t Tx) error { return t.one("lease", deferLease, attempts, next, class, id) })
	return doing(err, "deferring lease %s", id)
}

// LiveOn counts live leases on VIMs.
func (s *Tables) LiveOn(ctx context.Context, vims []string, most int) (map[string]int, error) {
	counts, err := readMap[string, int](ctx, s, liveOn, vims, most)
	return counts, doing(err, "counting leases on VIMs")
}

// DueVIMs returns the VIMs that leases are due on.
func (s *Tables) DueVIMs(ctx context.Context, at time.Time) ([]broker.DueVIM, error) {
	due, err := read(ctx, s, func(r Row) (v broker.DueVIM, err error) {
		return v, r.Scan(&v.VIM, &v.Project, &v.Since)
	}, dueVIMs, at)
	return due, doing(err, "listing VIMs with leases that are due")
}

// resume takes the leases of a VIM up again that wait after failed tries.
func (t Tx) resume(vim string, now time.Time) { t.queue(resume, now, vim) }
