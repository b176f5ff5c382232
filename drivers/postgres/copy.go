package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Source is a store to copy. Nobody may write to it during the copy.
type Source interface {
	VIMs(ctx context.Context, f broker.VIMFilter) ([]broker.VIM, string, error)
	Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error)
	Grants(ctx context.Context) ([]rows.Grant, error)
	Managements(ctx context.Context) ([]onboard.Management, error)
	Clusters(ctx context.Context, f onboard.ClusterFilter) ([]onboard.Cluster, string, error)
	RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error)
	TokenUses(ctx context.Context) (map[string]time.Time, error)
	Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error)
	SigningKeys(ctx context.Context) ([]notary.Key, error)
	CheckpointsAfter(ctx context.Context, size int64, limit int) ([]notary.Checkpoint, error)
	Anchorings(ctx context.Context) ([]notary.Anchoring, error)
	Cursors(ctx context.Context) ([]delivery.Cursor, error)
	Horizon(ctx context.Context) (int64, error)
	Grow(ctx context.Context) error
	Tree(ctx context.Context) (tree.State, error)
	Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error)
	Packages(ctx context.Context, f catalog.Filter) ([]catalog.Package, string, error)
	Chunk(ctx context.Context, content string, n int) ([]byte, error)
	Clients(ctx context.Context, f oauth.Filter) ([]oauth.Client, string, error)
	TokenKeys(ctx context.Context) ([]oauth.Key, error)
	VNFGrants(ctx context.Context, after string, limit int) ([]grant.Grant, error)
	Instances(ctx context.Context, f lifecycle.InstanceFilter) ([]lifecycle.Instance, string, error)
	Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error)
	Subscriptions(ctx context.Context, q subscription.Query) ([]subscription.Subscription, string, error)
	Notifications(ctx context.Context, id string, limit int) ([]subscription.Notification, error)
	HiddensAfter(ctx context.Context, id string, limit int) ([]lifecycle.Hidden, error)
}

// Copied counts rows.
type Copied struct {
	VIMs, Generations, Labels, Shares, Grants, Leases, RetiredKeys, Entries    int64
	SigningKeys, Checkpoints, Managements, Clusters, Cursors, Packages, Chunks int64
	Instances, Operations, Anchors, Clients, TokenKeys, VNFGrants              int64
	Subscriptions, Notifications, Hiddens                                      int64
}

// copyPage is how many rows are read and written at a time.
const copyPage = broker.MaxPage

// Copy brings everything that a store holds into an empty database, whose schema
// it makes: all of it or, if it fails, nothing. When it returns nil, it has counted
// the rows that arrived and verified the audit log. A database that holds anything is
// broker.ErrConflict.
func Copy(ctx context.Context, o Options, from Source) (Copied, error) {
	s, err := connect(ctx, o)
	if err != nil {
		return Copied{}, err
	}
	defer func() { _ = s.Close() }()
	var c copying
	if err = s.prepareCopy(ctx); err == nil {
		err = translate(pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			c = copying{ctx: ctx, tx: tx, from: from}
			return c.run()
		}))
	}
	if err != nil {
		return Copied{}, fmt.Errorf("copying into store %s: %w", s.where, s.outcome(ctx, ctx, err))
	}
	return c.Copied, nil
}

// prepareCopy makes the schema of a database that has none; one that is there must be ours.
func (s *Store) prepareCopy(ctx context.Context) error {
	found, err := s.schema(ctx, released())
	switch {
	case err != nil:
		return err
	case found.Have == 0:
		_, err = s.migrate(ctx, released())
		return err
	case found.Newer():
		return &broker.Error{Kind: broker.ErrUnsupported, Detail: "a newer version migrated the database", Remedy: "copy with that version"}
	}
	return s.accept(found)
}

type copying struct {
	Copied
	ctx  context.Context
	tx   pgx.Tx
	from Source
}

func (c *copying) run() error {
	// The inbox and the end of the audit log are locked until the copy is committed:
	// nobody else writes. The source is read in between, for as long as it takes.
	for _, text := range []string{
		`SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`,
		`LOCK TABLE audit_inbox IN EXCLUSIVE MODE`, readHead,
	} {
		if _, err := c.tx.Exec(c.ctx, text); err != nil {
			return err
		}
	}
	if err := c.demandEmpty(); err != nil {
		return err
	}
	if err := c.from.Grow(c.ctx); err != nil { // what is copied is compared with its tree
		return err
	}
	// The trigger counts row by row, which takes hours for a million VIMs.
	if _, err := c.tx.Exec(c.ctx, `ALTER TABLE vims DISABLE TRIGGER vim_counted`); err != nil {
		return err
	}
	for _, part := range []struct {
		what string
		copy func() error
	}{
		{"VIMs", c.vims},
		{"management clusters", c.managements},
		{"clusters", c.clusters},
		{"grants", c.grants},
		{"leases", c.leases},
		{"retired keys", c.retired},
		{"the uses of tokens", c.tokenUses},
		{"clients", c.clients},
		{"keys that sign tokens", c.tokenKeys},
		{"grants to VNFMs", c.vnfGrants},
		{"VNF packages", c.packages},
		{"VNF instances", c.instances},
		{"operations", c.operations},
		{"hidden parameters", c.hiddens},
		{"subscriptions", c.subscriptions},
		{"the audit log", c.entries},
		{"keys and checkpoints of the audit log", c.notary},
		{"anchors of the audit log", c.anchors},
		{"cursors of audit sinks", c.cursors},
		{"what is left of the audit log", c.horizon},
	} {
		if err := part.copy(); err != nil {
			return fmt.Errorf("copying %s: %w", part.what, err)
		}
	}
	for _, text := range []string{
		`ALTER TABLE vims ENABLE TRIGGER vim_counted`,
		`INSERT INTO vim_census (part, value, n) SELECT 'state', state, count(*) FROM vims GROUP BY 2
			UNION ALL SELECT 'health', health, count(*) FROM vims GROUP BY 2`,
		`UPDATE ended_leases SET n = (SELECT count(*) FROM leases WHERE state = 'revoked') WHERE part = 0`,
	} {
		if _, err := c.tx.Exec(c.ctx, text); err != nil {
			return err
		}
	}
	if err := c.verifyCounts(); err != nil {
		return err
	}
	return c.verifyEntries()
}

func (c *copying) demandEmpty() error {
	var used bool
	err := c.tx.QueryRow(c.ctx, `SELECT EXISTS (SELECT FROM vims) OR EXISTS (SELECT FROM leases)
		OR EXISTS (SELECT FROM retired_keys) OR EXISTS (SELECT FROM vnf_packages) OR EXISTS (SELECT FROM oauth_clients) OR EXISTS (SELECT FROM oauth_keys) OR EXISTS (SELECT FROM vnf_instances) OR EXISTS (SELECT FROM vnf_subscriptions) OR EXISTS (SELECT FROM vnf_hidden) OR EXISTS (SELECT FROM audit_entries) OR EXISTS (SELECT FROM audit_inbox)`).Scan(&used)
	if err == nil && used {
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: "the database is in use: it holds VIMs, leases, keys, VNF packages or audit entries",
			Remedy: "name an empty one",
		}
	}
	return err
}

// into writes rows by COPY, and counts them.
func (c *copying) into(table, columns string, values [][]any, count *int64) error {
	names := strings.Split(columns, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	n, err := c.tx.CopyFrom(c.ctx, pgx.Identifier{table}, names, pgx.CopyFromRows(values))
	*count += n
	return translate(err)
}

func (c *copying) vims() error {
	f := broker.VIMFilter{Page: broker.Page{Size: copyPage}}
	for {
		vims, next, err := c.from.VIMs(c.ctx, f)
		if err != nil {
			return err
		}
		var stored, generations, labels, shares [][]any
		for _, v := range vims {
			if v.Damaged {
				return broker.Damaged(v)
			}
			stored = append(stored, values(rows.VIMColumns.Fields(rows.OfVIM(v))))
			for _, g := range append(slices.Clone(v.Past), v.Current) {
				if g.Number != 0 {
					generations = append(generations, values(rows.GenerationColumns.Fields(&rows.Generation{VIM: v.ID, Generation: g})))
				}
			}
			for key, value := range v.Labels {
				labels = append(labels, []any{v.ID, key, value})
			}
			for _, project := range v.SharedWith {
				shares = append(shares, []any{project, v.Project, v.Name})
			}
		}
		if err := errors.Join(
			c.into("vims", rows.VIMColumns.Names(), stored, &c.VIMs),
			c.into("vim_generations", rows.GenerationColumns.Names(), generations, &c.Generations),
			c.into("vim_labels", "vim, key, value", labels, &c.Labels),
			c.into("vim_shares", "shared_with, vim_project, vim_name", shares, &c.Shares),
		); err != nil || next == "" {
			return err
		}
		f.Token = next
	}
}

func (c *copying) leases() error {
	f := broker.LeaseFilter{Page: broker.Page{Size: copyPage}}
	for {
		leases, next, err := c.from.Leases(c.ctx, f)
		if err != nil {
			return err
		}
		var stored [][]any
		for _, l := range leases {
			stored = append(stored, values(rows.LeaseColumns.Fields(&l)))
		}
		if err := c.into("leases", rows.LeaseColumns.Names(), stored, &c.Leases); err != nil || next == "" {
			return err
		}
		f.Token = next
	}
}

func (c *copying) grants() error {
	grants, err := c.from.Grants(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, g := range grants {
		stored = append(stored, values(rows.GrantColumns.Fields(&g)))
	}
	return c.into("grants", rows.GrantColumns.Names(), stored, &c.Grants)
}

// managements copies management clusters. Each has a job that watches it.
func (c *copying) managements() error {
	all, err := c.from.Managements(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, m := range all {
		stored = append(stored, values(rows.ManagementColumns.Fields(&m)))
		if _, err := c.tx.Exec(c.ctx, enqueueJob, onboard.JobKind, m.VIM, stamp(m.UpdatedAt)); err != nil {
			return translate(err)
		}
	}
	return c.into("management_clusters", rows.ManagementColumns.Names(), stored, &c.Managements)
}

func (c *copying) clusters() error {
	f := onboard.ClusterFilter{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Clusters(c.ctx, f)
		if err != nil {
			return err
		}
		var stored [][]any
		for _, cluster := range found {
			stored = append(stored, values(rows.ClusterColumns.Fields(&cluster)))
		}
		if err := c.into("clusters", rows.ClusterColumns.Names(), stored, &c.Clusters); err != nil || next == "" {
			return err
		}
		f.Token = next
	}
}

func (c *copying) clients() error {
	f := oauth.Filter{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Clients(c.ctx, f)
		if err != nil {
			return err
		}
		var stored [][]any
		for _, one := range found {
			stored = append(stored, values(rows.ClientColumns.Fields(&one)))
		}
		if err := c.into("oauth_clients", rows.ClientColumns.Names(), stored, &c.Clients); err != nil || next == "" {
			return err
		}
		f.Token = next
	}
}

// subscriptions copies subscriptions and what they are still to be told, which a job sends.
func (c *copying) subscriptions() error {
	q := subscription.Query{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Subscriptions(c.ctx, q)
		if err != nil {
			return err
		}
		var stored, waiting [][]any
		for _, one := range found {
			row, err := rows.SubscriptionRow(one)
			if err != nil {
				return err
			}
			stored = append(stored, values(rows.SubscriptionColumns.Fields(&row)))
			all, err := c.from.Notifications(c.ctx, one.ID, math.MaxInt32)
			if err != nil {
				return err
			}
			for _, n := range all {
				document, err := json.Marshal(n.Event)
				if err = cmp.Or(n.Unreadable, err); err != nil {
					return err
				}
				waiting = append(waiting, []any{one.ID, stamp(n.Event.At), string(document)})
			}
			if _, err := c.tx.Exec(c.ctx, enqueueJob, subscription.JobKind, one.ID, stamp(one.CreatedAt)); err != nil {
				return translate(err)
			}
		}
		if err := errors.Join(
			c.into("vnf_subscriptions", rows.SubscriptionColumns.Names(), stored, &c.Subscriptions),
			c.into("vnf_notifications", "subscription, at, document", waiting, &c.Notifications),
		); err != nil || next == "" {
			return err
		}
		q.Token = next
	}
}

func (c *copying) tokenKeys() error {
	keys, err := c.from.TokenKeys(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, k := range keys {
		stored = append(stored, values(rows.TokenKeyColumns.Fields(&k)))
	}
	return c.into("oauth_keys", rows.TokenKeyColumns.Names(), stored, &c.TokenKeys)
}

func (c *copying) vnfGrants() error {
	for after := ""; ; {
		found, err := c.from.VNFGrants(c.ctx, after, copyPage)
		if err != nil || len(found) == 0 {
			return err
		}
		var stored [][]any
		for _, g := range found {
			row, err := rows.VNFGrantRow(g)
			if err != nil {
				return err
			}
			stored = append(stored, values(rows.VNFGrantColumns.Fields(&row)))
		}
		if err := c.into("vnf_grants", rows.VNFGrantColumns.Names(), stored, &c.VNFGrants); err != nil {
			return err
		}
		after = found[len(found)-1].ID
	}
}

func (c *copying) hiddens() error {
	for after := ""; ; {
		found, err := c.from.HiddensAfter(c.ctx, after, copyPage)
		if err != nil || len(found) == 0 {
			return err
		}
		var stored [][]any
		for _, h := range found {
			stored = append(stored, values(rows.HiddenColumns.Fields(&h)))
		}
		if err := c.into("vnf_hidden", rows.HiddenColumns.Names(), stored, &c.Hiddens); err != nil {
			return err
		}
		after = found[len(found)-1].ID
	}
}

func (c *copying) retired() error {
	keys, err := c.from.RetiredKeys(c.ctx, math.MaxInt32)
	if err != nil {
		return err
	}
	for _, k := range keys { // in their order, which is kept
		tag, err := c.tx.Exec(c.ctx, `INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
			VALUES ($1, $2, $3, $4, now())`, k.KeyStore, string(k.Ref), k.Owner.ID, k.Owner.Generation)
		if err != nil {
			return translate(err)
		}
		c.RetiredKeys += tag.RowsAffected()
	}
	return nil
}

func (c *copying) tokenUses() error {
	uses, err := c.from.TokenUses(c.ctx)
	if err != nil {
		return err
	}
	_, err = c.tx.Exec(c.ctx, recordTokenUses, tokenUseArgs(uses)...)
	return translate(err)
}

// packages copies VNF packages and their bytes. What an upload under way has stored is
// left out: its process has ended, and the settle pass undoes it.
func (c *copying) packages() error {
	f := catalog.Filter{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Packages(c.ctx, f)
		if err != nil {
			return err
		}
		for _, p := range found {
			size, err := c.chunks(p)
			if err != nil {
				return err
			}
			_, err = c.tx.Exec(c.ctx,
				`INSERT INTO vnf_packages (id, project, state, vnfd, content, stored, created_at, touched_at, revision, document)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, p.ID, p.Project, p.State, p.VNFDID, p.Content, size,
				stamp(p.CreatedAt), stamp(p.TouchedAt), p.Revision, p.Document())
			if err != nil {
				return translate(err)
			}
			c.Packages++
		}
		if next == "" {
			return nil
		}
		f.Token = next
	}
}

func (c *copying) instances() error {
	f := lifecycle.InstanceFilter{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Instances(c.ctx, f)
		if err != nil {
			return err
		}
		for _, i := range found {
			row, err := rows.InstanceRow(i)
			if err != nil {
				return err
			}
			if _, err := c.tx.Exec(c.ctx, insertInstance, values(rows.InstanceColumns.Fields(&row))...); err != nil {
				return translate(err)
			}
			if _, err := c.tx.Exec(c.ctx, addUses, row.ID, row.Packages); err != nil {
				return translate(err)
			}
			if err := c.stand(row, row.VIMs); err != nil {
				return err
			}
			c.Instances++
		}
		if next == "" {
			return nil
		}
		f.Token = next
	}
}

// stand notes that an instance stands on VIMs, which are copied already.
func (c *copying) stand(i rows.Instance, vims []string) error {
	u := i.Use()
	_, err := c.tx.Exec(c.ctx, standOnVIMs, u.Kind, u.Subject, u.Project, u.Name, vims)
	return translate(err)
}

// operations copies operations. Those that are being worked go on with the first server; others wait on.
func (c *copying) operations() error {
	f := lifecycle.OperationFilter{Page: broker.Page{Size: copyPage}}
	for {
		found, next, err := c.from.Operations(c.ctx, f)
		if err != nil {
			return err
		}
		for _, o := range found {
			row, err := rows.OperationRow(o)
			if err != nil {
				return err
			}
			if _, err := c.tx.Exec(c.ctx, insertOperation, values(rows.OperationColumns.Fields(&row))...); err != nil {
				return translate(err)
			}
			if o.State.Live() {
				if _, err := c.tx.Exec(c.ctx, addUses, o.Instance, []string{o.Before.Package, o.Target.Package}); err != nil {
					return translate(err)
				}
				of := rows.Instance{ID: o.Instance, Project: o.Project}
				if err := c.tx.QueryRow(c.ctx, `SELECT name FROM vnf_instances WHERE id = $1`, o.Instance).Scan(&of.Name); err != nil {
					return translate(err)
				}
				if err := c.stand(of, []string{o.Before.VIM, o.Target.VIM}); err != nil {
					return err
				}
			}
			if o.State.Working() && !o.Waits() {
				if _, err := c.tx.Exec(c.ctx, enqueueJob, o.Job().Kind, o.Job().Subject, stamp(o.StateEnteredAt)); err != nil {
					return translate(err)
				}
			}
			c.Operations++
		}
		if next == "" {
			return nil
		}
		f.Token = next
	}
}

// chunks copies the bytes of a package, and returns how many they are.
func (c *copying) chunks(p catalog.Package) (size int64, err error) {
	for n := 0; size < p.Size && p.State.Onboarded(); n++ {
		b, err := c.from.Chunk(c.ctx, p.Content, n)
		if err != nil {
			return 0, err
		}
		if err := c.into("vnf_package_chunks", "content, number, bytes", [][]any{{p.Content, n, b}}, &c.Chunks); err != nil {
			return 0, err
		}
		size += int64(len(b))
	}
	return size, nil
}

// entries copies the audit log as it is, hashes included, from its end to its
// beginning.
func (c *copying) entries() error {
	for before := int64(0); ; {
		entries, err := c.from.Entries(c.ctx, audit.Query{Before: before, Limit: copyPage})
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return nil
		}
		if before == 0 {
			_, err := c.tx.Exec(c.ctx, moveHead, entries[0].Seq)
			if err != nil {
				return translate(err)
			}
		}
		var stored [][]any
		for _, e := range entries {
			if e.Damaged {
				return fmt.Errorf("entry %d: what is stored of it cannot be read; restore it from a backup", e.Seq)
			}
			stored = append(stored, values(rows.EntryColumns.Fields(&e)))
		}
		if err := c.into("audit_entries", entryColumns, stored, &c.Entries); err != nil {
			return err
		}
		before = entries[len(entries)-1].Seq
	}
}

// notary copies what was signed, and by whom.
func (c *copying) notary() error {
	keys, err := c.from.SigningKeys(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, k := range keys {
		stored = append(stored, values(rows.SigningKeyColumns.Fields(&k)))
	}
	if err := c.into("audit_keys", rows.SigningKeyColumns.Names(), stored, &c.SigningKeys); err != nil {
		return err
	}
	for after := int64(0); ; {
		page, err := c.from.CheckpointsAfter(c.ctx, after, copyPage)
		if err != nil || len(page) == 0 {
			return err
		}
		stored = nil
		for _, p := range page {
			stored = append(stored, []any{p.Size, p.Root[:], stamp(p.Time), p.Key, p.Note})
		}
		if err := c.into("audit_checkpoints", "size, root, time, key, note", stored, &c.Checkpoints); err != nil {
			return err
		}
		after = page[len(page)-1].Size
	}
}

func (c *copying) verifyCounts() error {
	var there Copied
	err := c.tx.QueryRow(c.ctx, `SELECT (SELECT count(*) FROM vims), (SELECT count(*) FROM vim_generations),
		(SELECT count(*) FROM vim_labels), (SELECT count(*) FROM vim_shares), (SELECT count(*) FROM grants), (SELECT count(*) FROM leases), (SELECT count(*) FROM retired_keys),
		(SELECT count(*) FROM audit_entries), (SELECT count(*) FROM audit_keys), (SELECT count(*) FROM audit_checkpoints),
		(SELECT count(*) FROM management_clusters), (SELECT count(*) FROM clusters), (SELECT count(*) FROM audit_cursors),
		(SELECT count(*) FROM vnf_packages), (SELECT count(*) FROM vnf_package_chunks),
		(SELECT count(*) FROM vnf_instances), (SELECT count(*) FROM vnf_operations), (SELECT count(*) FROM audit_anchors), (SELECT count(*) FROM oauth_clients), (SELECT count(*) FROM oauth_keys), (SELECT count(*) FROM vnf_grants),
		(SELECT count(*) FROM vnf_subscriptions), (SELECT count(*) FROM vnf_notifications), (SELECT count(*) FROM vnf_hidden)`).Scan(&there.VIMs, &there.Generations, &there.Labels, &there.Shares, &there.Grants, &there.Leases,
		&there.RetiredKeys, &there.Entries, &there.SigningKeys, &there.Checkpoints, &there.Managements, &there.Clusters, &there.Cursors,
		&there.Packages, &there.Chunks, &there.Instances, &there.Operations, &there.Anchors, &there.Clients, &there.TokenKeys,
		&there.VNFGrants, &there.Subscriptions, &there.Notifications, &there.Hiddens)
	if err == nil && there != c.Copied {
		err = fmt.Errorf("of %+v there arrived %+v", c.Copied, there)
	}
	return err
}

// horizon copies the tree of a log whose first entries were removed: from those that are left
// it cannot be made again.
func (c *copying) horizon() error {
	through, err := c.from.Horizon(c.ctx)
	if err != nil || through == 0 {
		return err
	}
	state, err := c.from.Tree(c.ctx)
	if err != nil {
		return err
	}
	var tiles int64
	for _, wanted := range tree.AllTiles(state.Size, copyPage) {
		found, err := c.from.Tiles(c.ctx, wanted)
		if err != nil {
			return err
		}
		var stored [][]any
		for _, t := range found {
			stored = append(stored, []any{t.Level, t.Index, t.Hashes})
		}
		if err := c.into("audit_tiles", "level, number, hashes", stored, &tiles); err != nil {
			return err
		}
	}
	if _, err := c.tx.Exec(c.ctx, storeTree, state.Size, state.Root[:]); err != nil {
		return translate(err)
	}
	_, err = c.tx.Exec(c.ctx, raiseThrough, through)
	return translate(err)
}

func (c *copying) anchors() error {
	all, err := c.from.Anchorings(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, a := range all {
		stored = append(stored, []any{a.Anchor, a.Size, stamp(a.Time)})
	}
	return c.into("audit_anchors", "anchor, size, time", stored, &c.Anchors)
}

func (c *copying) cursors() error {
	all, err := c.from.Cursors(c.ctx)
	if err != nil {
		return err
	}
	var stored [][]any
	for _, at := range all {
		stored = append(stored, []any{at.Sink, at.Seq, at.Start, at.Skipped})
	}
	return c.into("audit_cursors", "sink, seq, start, skipped", stored, &c.Cursors)
}

// verifyEntries checks that the log as it now stands in the database is the one whose tree the source keeps, and
// ends where audit_head says.
func (c *copying) verifyEntries() error {
	state, err := c.from.Tree(c.ctx)
	if err != nil {
		return err
	}
	at, err := c.from.Horizon(c.ctx)
	if err != nil {
		return err
	}
	frontier, err := tree.Frontier(c.ctx, c.from, state, at)
	if err != nil {
		return err
	}
	points, err := c.points(at, state)
	if err != nil {
		return err
	}
	v, err := audit.NewVerifier(at, frontier, points)
	for more := true; err == nil && more; {
		more, err = c.verifyPage(v)
	}
	if err != nil {
		return err
	}
	var end int64
	if err := c.tx.QueryRow(c.ctx, readHead).Scan(&end); err != nil {
		return err
	}
	if end != v.Size() || end < state.Size {
		return errors.New("the audit log does not end where its head says")
	}
	return nil
}

// points are what the source's tree was at the end of each page, so that an error names one.
func (c *copying) points(from int64, state tree.State) ([]audit.Point, error) {
	var points []audit.Point
	for size := from; ; size = min(size+copyPage, state.Size) {
		was, err := tree.At(c.ctx, c.from, state, size)
		if err != nil {
			return nil, err
		}
		if points = append(points, audit.Point{State: was, Name: "the log that is copied"}); size == state.Size {
			return points, nil
		}
	}
}

// verifyPage verifies the entries that follow, if there are more.
func (c *copying) verifyPage(v *audit.Verifier) (more bool, err error) {
	found, err := c.tx.Query(c.ctx, readFollowing, v.Size(), copyPage)
	if err != nil {
		return false, err
	}
	page, err := pgx.CollectRows(found, scanEntry)
	if err != nil {
		return false, err
	}
	lines := make([][]byte, len(page))
	for i, e := range page {
		if lines[i], err = audit.Line(e); err != nil {
			return false, err
		}
	}
	return len(page) > 0, v.Add(lines)
}
