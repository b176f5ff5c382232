package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Actor is the part of the broker that goes on with the work of callers, to policy.
const Actor = "system:onap"

// Options wire [Bundles]. Every field without a stated default is required.
type Options struct {
	Store interface {
		Store
		lifecycle.Store
	}
	// Keys are the key stores; new keys go to the first.
	Keys keyring.Ring
	// Ledger is the broker.
	Ledger   Ledger
	Packages *catalog.Catalog
	Life     *lifecycle.Lifecycle
	VIMs     *broker.Registry
	Leaser   *broker.Leaser
	// Guard is the server's, whose sink is the store.
	Guard     *audit.Guard
	Delegates *policy.Delegates
	// Endpoint reaches subscribers, at the addresses that Egress gives for a project.
	Endpoint subscription.Endpoint
	Egress   func(project string) *egress.Rules
	// Limits bound what an archive may hold.
	Limits vnfpkg.ArchiveLimits
	// Lease: the answer about a region holds a kubeconfig with a lease for the caller.
	Lease bool
	// Wait is how long a request waits for its operation.
	Wait time.Duration
	Log  *slog.Logger
	// Now is the store's time.
	Now func() time.Time
}

// Ledger is the broker's ledger of retired keys.
type Ledger interface{ RetireKeys(ctx context.Context) }

const (
	// perProject bounds the rows of a project.
	perProject = 20_000
	// atOnce is the size of one list, and settleEvery the interval of the pass.
	atOnce, settleEvery = 500, 15 * time.Second
	// sealedWithin bounds the sealing of a text and the beginning of work; an older attempt is a dead process's.
	sealedWithin = 5 * time.Minute
	// endPatience bounds the undoing of a request's work.
	endPatience = 30 * time.Second
	// maxText bounds what a caller writes into one field.
	maxText = 4 << 10
)

// Bundles keeps definitions, profiles, regions and instances. Its methods are safe for concurrent use, by any number of
// processes on one store. Each takes the caller, decides, and records. What is another project's is ErrNotFound.
type Bundles struct{ Options }

// New returns Bundles; it starts nothing.
func New(o Options) *Bundles {
	o.Now = broker.Clock(o.Now)
	return &Bundles{o}
}

// Passes are the periodic work, for a job queue to run.
func (b *Bundles) Passes() []broker.Pass {
	return []broker.Pass{
		{Name: "settle-bundles", Every: settleEvery, Run: func(ctx context.Context) error {
			return b.Settle(ctx, b.Now().Add(-sealedWithin))
		}},
		{Name: "tell-bundles", Every: tellEvery, Run: b.Tell},
		{Name: "sweep-bundles", Every: time.Hour, Run: b.Sweep},
	}
}

// Settle goes on with what no request waits for, and with what processes have left that began before a time and died.
func (b *Bundles) Settle(ctx context.Context, before time.Time) error {
	return b.each(ctx, Filter{Busy: true}, func(r Row) error {
		switch {
		case r.State == keyring.Rekeying && r.Since.Before(before):
			return b.Keys.EndRekey(ctx, b.sealedRow(r), r.Since)
		case (r.Kind == OfInstance || r.Kind == OfConfig) && r.State == keyring.Active:
			i, err := documentOf[instance](r)
			var p policy.Principal
			if err == nil { // who asked for it, and whose request may be over
				p, err = b.Delegates.Resume(ctx, Actor, i.Asker)
			}
			if err == nil {
				_, err = b.step(ctx, p, r, before)
			}
			if !errors.Is(err, errEnded) {
				return err
			}
		}
		return nil
	})
}

// Reseal reseals the texts that due selects; it is for [broker.Registry.RekeyRest], which has decided on and recorded it.
func (b *Bundles) Reseal(ctx context.Context, due broker.Due) error {
	return b.each(ctx, Filter{Sealed: true}, func(r Row) error {
		if !due.Selects(r.Sealed) {
			return nil
		}
		err := b.Keys.Rekey(ctx, due.To, b.sealedRow(r))
		if errors.Is(err, broker.ErrNotFound) { // it was deleted
			return nil
		}
		return keyFault(err)
	})
}

// each does something with the rows that match. One that fails keeps no other from its turn.
func (b *Bundles) each(ctx context.Context, f Filter, do func(Row) error) error {
	var failed []error
	for f.Limit = atOnce; ; {
		found, err := b.Store.Bundles(ctx, f)
		failed = append(failed, err)
		for _, r := range found {
			if err := do(r); err != nil {
				failed = append(failed, fmt.Errorf("%s %s of ONAP's: %w", r.Kind, r.ID, err))
			}
		}
		if len(found) < f.Limit || ctx.Err() != nil {
			return errors.Join(append(failed, ctx.Err())...)
		}
		if f.After = found[len(found)-1].ID; f.Project != "" {
			f.After = found[len(found)-1].Name
		}
	}
}

// field binds a sealed text to what it is of.
func (r Row) field() string { return "ONAP " + string(r.Kind) }

// held is the sealed part of a row, with the owners of its keys.
func (r *Row) held() *keyring.SealedRow { return r.OwnedBy(r.ID) }

// sealedRow is a row for resealing, whose first writes record entries.
func (b *Bundles) sealedRow(r Row, entries ...audit.Entry) keyring.Row {
	return broker.RekeyRow(r.field(), b.Now, (*Row).held, func(ctx context.Context, change func(*Row) error) (Row, error) {
		var e *audit.Entry
		if len(entries) > 0 {
			e, entries = &entries[0], entries[1:]
		}
		return b.Store.UpdateBundle(ctx, r.ID, change, e)
	})
}

// seal gives a row something else that is secret.
func (b *Bundles) seal(ctx context.Context, act *audit.Act, r Row, v any) error {
	plain, row := secret.NewText(written(v)), b.sealedRow(r, act.Intent(), act.Done())
	row.Text = &plain
	err := b.Keys.Rekey(ctx, b.Keys, row)
	if errors.Is(err, keyring.ErrOvertaken) {
		err = conflict("another request is changing it", "try again")
	}
	return b.refuse(ctx, act, keyFault(err))
}

// unseal reads into v what is secret of a row, if anything is.
func (b *Bundles) unseal(ctx context.Context, r Row, v any) error {
	if r.Ref == "" {
		return nil
	}
	text, err := b.Keys.Open(ctx, r.held().Owner, r.field(), r.Sealed)
	if err != nil {
		return keyFault(err)
	}
	return json.Unmarshal([]byte(text.Reveal()), v)
}

func keyFault(err error) error {
	return broker.KeyFault(err, broker.Error{
		Detail: "what is sealed of it does not open: its row or its key is lost or was changed", Remedy: "give it again",
	})
}

// desk decides and records about rows of a kind.
func (b *Bundles) desk(k Kind) broker.Desk {
	return broker.Desk{Guard: b.Guard, Log: b.Log, Missing: func() error { return missing(k) }}
}

// refuse records that an act came to nothing, if it did, and returns why.
func (b *Bundles) refuse(ctx context.Context, act *audit.Act, why error) error {
	if why == nil {
		return nil
	}
	return broker.RecordFailed(ctx, b.Guard.Sink, b.Log, act, why)
}

// remove removes rows, and what seals their texts.
func (b *Bundles) remove(ctx context.Context, act *audit.Act, all ...Row) error {
	ids := make([]string, len(all))
	for n, r := range all {
		ids[n] = r.ID
	}
	if err := b.Store.DeleteBundles(ctx, ids, act.Done()); err != nil {
		return b.refuse(ctx, act, err)
	}
	b.Ledger.RetireKeys(ctx)
	return nil
}

// leftover logs what is left for the pass, or for the next request.
func (b *Bundles) leftover(ctx context.Context, r Row, err error) {
	if err != nil {
		b.Log.WarnContext(ctx, "work for ONAP is left to be undone", "kind", string(r.Kind), "name", r.Name, "error", err)
	}
}

// resource is what policies see of a row: of a definition and its parts the package that it is, of an instance the VNF instance.
func (r Row) resource() policy.Resource {
	if r.Kind == OfInstance || r.Kind == OfConfig {
		i, _ := documentOf[instance](r) // one that cannot be read has no owner
		return i.resource(r)
	}
	part := append(strings.SplitN(r.Name, "/", 3), "")
	return policy.Resource{
		Kind: policy.KindPackage, ID: r.ID, Project: r.Project, Provider: provider, Product: part[0], Version: part[1],
	}
}

// find returns the row of a name in p's project; a missing one is recorded.
func (b *Bundles) find(ctx context.Context, p policy.Principal, action policy.Action, k Kind, name string) (Row, error) {
	r, err := b.Store.Bundle(ctx, p.Project, k, name)
	if !errors.Is(err, broker.ErrNotFound) {
		return r, err
	}
	if err := b.Guard.Missing(ctx, p, action, Row{Kind: k}.resource().Kind); err != nil {
		return Row{}, broker.Unrecorded(err)
	}
	return Row{}, missing(k)
}

// open finds a row, decides on an action, and records that already where it only reads.
func (b *Bundles) open(ctx context.Context, p policy.Principal, action policy.Action, k Kind, name string) (Row, *audit.Act, error) {
	r, err := b.find(ctx, p, action, k, name)
	if err != nil {
		return r, nil, err
	}
	act, err := b.desk(k).Enter(ctx, p, action, r.resource())
	if err == nil && (action == policy.PackageShow || action == policy.VNFShow) {
		err = broker.Unrecorded(act.Read(ctx))
	}
	return r, act, err
}

func missing(k Kind) error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such " + string(k)}
}

func conflict(detail, remedy string) error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: detail, Remedy: remedy}
}

// newRow is a row without anything secret.
func (b *Bundles) newRow(p policy.Principal, k Kind, name string, document any) Row {
	id := uuid.NewString()
	return Row{
		ID: id, Project: p.Project, Kind: k, Name: name, Claim: id, Document: written(document),
		SealedRow: keyring.SealedRow{State: keyring.Active, Since: b.Now()},
	}
}

func written(v any) string {
	text, _ := json.Marshal(v) // texts, lists and times always encode
	return string(text)
}

func documentOf[T any](r Row) (v T, err error) {
	if err := json.Unmarshal([]byte(r.Document), &v); err != nil {
		return v, &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "a stored " + string(r.Kind) + " cannot be read",
			Remedy: "restore the table vnf_bundles from a backup", Cause: err,
		}
	}
	return v, nil
}

// read is a row that was read, with its document.
func read[D any](r Row, err error) (Row, D, error) {
	d, unreadable := documentOf[D](r)
	return r, d, cmp.Or(err, unreadable)
}

// The forms of names.
var (
	plainName = form(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)
	release   = form(`^[a-z0-9]([-a-z0-9.]{0,51}[a-z0-9])?$`)
	namespace = form(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// fits refuses a text that has not the form of its field.
func fits(field, text string, form func() *regexp.Regexp, says string) error {
	if !form().MatchString(text) {
		return broker.Invalid(field, "must be %s", says)
	}
	return nil
}

func validRelease(name string) error {
	return fits("release-name", name, release, "a name of at most 53 lower-case letters, digits, dots and dashes")
}

func validName(field, name string) error {
	return fits(field, name, plainName, "1 to 128 letters, digits, dots, dashes and underscores, and begin and end with a letter or a digit")
}

func validText(field, text string) error {
	if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == '\uFFFD' }) {
		return broker.Invalid(field, "must be at most %d bytes of text", maxText)
	}
	return nil
}
