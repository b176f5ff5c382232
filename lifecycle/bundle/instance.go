package bundle

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
)

// Request asks for an instance, or for an upgrade of one.
type Request struct {
	Definition string `json:"rb-name"`
	Version    string `json:"rb-version"`
	Profile    string `json:"profile-name"`
	// Release is the profile's if it is empty. An upgrade keeps the one that is there.
	Release string            `json:"release-name"`
	Region  string            `json:"cloud-region"`
	Labels  map[string]string `json:"labels"`
	// Overrides are values as Helm's --set has them. They are stored and shown by their names alone.
	Overrides map[string]string `json:"override-values"`
}

// Instance is an instance as callers see it.
type Instance struct {
	ID        string     `json:"id"`
	Request   Request    `json:"request"`
	Namespace string     `json:"namespace"`
	Release   string     `json:"release-name"`
	Resources []Resource `json:"resources,omitempty"`
	// State is how far the work on it is; Status shows that in the full form.
	State  string `json:"-"`
	Status string `json:"status,omitempty"`
}

// Resource names an object.
type Resource struct {
	GVK  GVK    `json:"GVK"`
	Name string `json:"Name"`
}

// made is what an instance is made from, without what is secret of it.
type made struct {
	Request   Request `json:"request"`
	Namespace string  `json:"namespace"`
	Release   string  `json:"release"`
	VNFD      string  `json:"vnfd"`
	VIM       string  `json:"vim"`
	Instance  string  `json:"instance"` // the VNF instance
	// After is the newest operation before the one that makes it.
	After string `json:"after,omitempty"`
}

// phase is how far the work on an instance is.
type phase string

// Every phase.
const (
	steady   phase = ""
	creating phase = "creating"
	changing phase = "changing" // an upgrade where it is
	moving   phase = "moving"   // Next is being made on another region
	leaving  phase = "leaving"  // Left is being removed from the region before
	deleting phase = "deleting"
)

// instance is the document of an instance's row.
type instance struct {
	Now   made  `json:"now"`
	Next  *made `json:"next,omitempty"`
	Left  string
	Phase phase `json:"phase,omitempty"`
	// Asker is who asked for the present work, at a time.
	Asker policy.Delegation `json:"asker"`
}

const (
	// idLabel is on all objects and pods of an instance; idValue is a value that charts are given.
	idLabel, idValue = "k8splugin.io/rb-instance-id", "k8s-rb-instance-id"
	// hidden stands for a value that nobody is shown.
	hidden = "<hidden>"
	// maxOverrides bounds their number.
	maxOverrides = 1000
)

// reserved are overrides that are no values of the chart.
var reserved = form(`^k8s-rb-instance-(pre|post)-(install|delete|upgrade)-timeout$`)

// unused refuses with the ids of the instances that use something.
func (b *Bundles) unused(ctx context.Context, p policy.Principal, uses func(made) bool) error {
	found, err := b.all(ctx, p.Project, OfInstance, "")
	var ids []string
	for _, r := range found {
		i, unreadable := documentOf[instance](r)
		if unreadable != nil {
			return unreadable
		}
		if uses(i.Now) || i.Next != nil && uses(*i.Next) {
			ids = append(ids, r.Name)
		}
	}
	if len(ids) > 0 {
		return conflict("instances use it: "+strings.Join(ids[:min(len(ids), 10)], ", "), "delete them first")
	}
	return err
}

// newID is an id in the form of upstream's: two names of small letters.
func newID() string {
	const consonants, vowels, syllables = "bdfgklmnprstvz", "aeiou", 8
	var random [2 * syllables]byte
	_, _ = rand.Read(random[:]) // never fails
	var id strings.Builder
	for i := range syllables {
		if i == syllables/2 {
			id.WriteByte('_')
		}
		id.WriteByte(consonants[int(random[2*i])%len(consonants)])
		id.WriteByte(vowels[int(random[2*i+1])%len(vowels)])
	}
	return id.String()
}

// claim is the one of all that ask for the same instance.
func (m made) claim() string {
	return digest(m.VIM, m.Release, m.Request.Definition, m.Request.Version, m.Request.Profile)
}

// claimed is the row of an instance that is made from the same.
func (b *Bundles) claimed(ctx context.Context, project string, m made) (Row, error) {
	found, err := b.Store.Bundles(ctx, Filter{Project: project, Kind: OfInstance, Claim: m.claim(), Limit: 1})
	if err == nil && len(found) == 0 {
		err = missing(OfInstance)
	}
	return append(found, Row{})[0], err
}

// prepared is an instance to make, with the secret parameters of its chart.
type prepared struct {
	made

	parameters json.RawMessage
}

// prepare works out what a request comes to for the instance of an id.
func (b *Bundles) prepare(ctx context.Context, p policy.Principal, id string, r Request) (m prepared, err error) {
	if err := r.valid(); err != nil {
		return m, err
	}
	d, err := read[definition](ctx, b, p, OfDefinition, r.of())
	if err == nil && d.Package == "" {
		err = broker.Invalid("rb-name", "has no content: upload it first")
	}
	var row Row
	if err == nil {
		row, err = b.find(ctx, p, policy.PackageShow, OfProfile, r.of()+"/"+r.Profile)
	}
	var as Profile
	if err == nil {
		as, err = documentOf[Profile](row)
	}
	var v broker.VIM
	if err == nil {
		v, err = b.vim(ctx, p, r.Region)
	}
	var over overlay
	if err == nil {
		over, err = b.overlayIn(ctx, row)
	}
	if err != nil {
		return m, err
	}
	m.Namespace, m.Release, m.VIM, m.VNFD = as.Namespace, cmp.Or(r.Release, as.Release), v.ID, vnfdID(p.Project, r.of())
	m.Request, m.Request.Release, m.Request.Overrides = r, m.Release, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Overrides)) {
		if m.Request.Overrides[name] = hidden; !reserved().MatchString(name) {
			over.Sets = append(over.Sets, set{name, r.Overrides[name]})
		}
	}
	over.Sets = append(over.Sets, set{idValue, id})
	m.parameters = json.RawMessage(`{"overlay":` + written(over) + `}`)
	return m, nil
}

// of is the NAME/VERSION of the definition.
func (r Request) of() string { return r.Definition + "/" + r.Version }

// override is the form of the name of a value, as --set has it.
var override = form(`^[A-Za-z0-9_./\\\[\]-]{1,255}$`)

func (r Request) valid() error {
	for name, value := range r.Overrides {
		_, wrong := strconv.ParseUint(value, 10, 32)
		switch {
		case !override().MatchString(name) || len(r.Overrides) > maxOverrides:
			return broker.Invalid("override-values", "must have at most %d names of values as Helm has them", maxOverrides)
		case name == idValue:
			return broker.Invalid("override-values", "must not hold %s, which is set for the chart", idValue)
		case reserved().MatchString(name) && wrong != nil:
			return broker.Invalid("override-values", "must have a number of seconds as %s", name)
		case strings.ContainsRune(value, 0):
			return broker.Invalid("override-values", "must not hold a NUL")
		}
	}
	return cmp.Or(validName("rb-name", r.Definition), validName("rb-version", r.Version), validName("profile-name", r.Profile),
		validName("cloud-region", r.Region), validRelease(cmp.Or(r.Release, usualName)), validLabels(r.Labels))
}

// CreateInstance makes an instance, and returns once it is ready. One that is live for the same request is returned, in
// place of a second.
func (b *Bundles) CreateInstance(ctx context.Context, p policy.Principal, r Request) (Instance, error) {
	id := newID()
	m, err := b.prepare(ctx, p, id, r)
	if err != nil {
		return Instance{}, err
	}
	act, err := b.enter(ctx, p, policy.VNFCreate, projectOf(p), OfInstance)
	if err != nil {
		return Instance{}, err
	}
	m.Instance = uuid.NewString()
	row := b.newRow(p, OfInstance, id, instance{Now: m.made, Phase: creating, Asker: policy.Delegate(p, b.now())})
	row.Claim, row.Busy = m.claim(), true
	err = b.Store.CreateBundles(ctx, []Row{row}, perProject, act.About(policy.Resource{
		Kind: policy.KindVNFInstance, ID: m.Instance, Project: p.Project, Name: id, Owner: p.Name, VNFDID: m.VNFD,
	}).Done())
	if errors.Is(err, broker.ErrExists) {
		if row, err = b.claimed(ctx, p.Project, m.made); err == nil {
			m, err = b.prepare(ctx, p, row.Name, r) // the id is among its values
		}
	}
	if err != nil {
		return Instance{}, b.refuse(ctx, act, err)
	}
	failpoint.At("bundle.instance-noted")
	i, err := documentOf[instance](row)
	if err == nil && i.Phase == creating {
		err = b.begin(ctx, p, row, i.Now, m.parameters)
	}
	if err != nil {
		return Instance{}, err
	}
	return b.await(ctx, p, row)
}

// begin makes the VNF instance that a row names and has its resources made, as far as that was not begun before. If it
// cannot be begun, nothing of it stays.
func (b *Bundles) begin(ctx context.Context, p policy.Principal, row Row, m made, parameters json.RawMessage) error {
	_, err := b.Life.CreateInstance(ctx, p, lifecycle.NewInstance{ID: m.Instance, VNFDID: m.VNFD, Name: row.Name})
	failpoint.At("bundle.instance-made")
	if err == nil || errors.Is(err, broker.ErrExists) {
		_, err = b.Life.Instantiate(ctx, p, m.Instance, lifecycle.Instantiation{
			VIM: m.VIM, Namespace: m.Namespace, Release: m.Release, Parameters: parameters,
			Labels: map[string]string{idLabel: row.Name}, Params: json.RawMessage(`{"flavourId":"simple"}`),
		})
	}
	failpoint.At("bundle.instance-begun")
	if err == nil {
		return nil
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	newest, left := b.newest(ending, m.Instance)
	if left == nil && newest.ID != "" { // another request has begun it
		return nil
	}
	gone := false
	if left == nil {
		gone, left = b.end(ending, p, m.Instance, false)
	}
	if gone {
		left = b.undo(ending, p, row)
	}
	b.leftover(ctx, row, left)
	return err
}

// undo has a row be as it was before work that is over without effect: one that was being created goes.
func (b *Bundles) undo(ctx context.Context, p policy.Principal, row Row) error {
	i, err := documentOf[instance](row)
	if err != nil {
		return err
	}
	if i.Phase == creating || i.Phase == deleting {
		act, err := b.enter(ctx, p, policy.VNFDelete, i.resource(row), OfInstance)
		if err != nil {
			return err
		}
		return b.Store.DeleteBundles(ctx, []string{row.ID}, act.Done())
	}
	_, err = b.Store.UpdateBundle(ctx, row.ID, moved(i.Phase, func(i *instance) { i.Phase, i.Next = steady, nil }), nil)
	return err
}

func (i instance) resource(r Row) policy.Resource {
	return policy.Resource{
		Kind: policy.KindVNFInstance, ID: i.Now.Instance, Project: r.Project, Name: r.Name, Owner: i.Asker.Name, VNFDID: i.Now.VNFD,
		VIM: i.Now.VIM, VIMName: i.Now.Request.Region, VIMType: string(kubernetes),
	}
}

// errMoved: another process was quicker.
var errMoved = errors.New("the row is in another phase")

// moved changes the document of a row that is in a phase; ErrConflict if another process was quicker.
func moved(from phase, change func(*instance)) func(*Row) error {
	return func(now *Row) error {
		i, err := documentOf[instance](*now)
		if err != nil {
			return err
		}
		if i.Phase != from {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "another request is at the instance", Remedy: "wait until that has ended", Cause: errMoved,
			}
		}
		change(&i)
		now.Document, now.Busy = written(i), i.Phase != steady
		if i.Phase == steady {
			now.Claim = i.Now.claim()
		}
		return nil
	}
}

// newest is the last operation on a VNF instance; empty if there is none.
func (b *Bundles) newest(ctx context.Context, id string) (lifecycle.Operation, error) {
	found, _, err := b.Store.Operations(ctx, lifecycle.OperationFilter{Instance: id, Page: broker.Page{Size: 1}})
	if err != nil || len(found) == 0 {
		return lifecycle.Operation{}, err
	}
	return found[0], nil
}

// Instance returns one.
func (b *Bundles) Instance(ctx context.Context, p policy.Principal, id string) (Instance, error) {
	shown, _, err := b.instance(ctx, p, id)
	return shown, err
}

func (b *Bundles) instance(ctx context.Context, p policy.Principal, id string) (Instance, instance, error) {
	row, err := b.find(ctx, p, policy.VNFShow, OfInstance, id)
	if err != nil {
		return Instance{}, instance{}, err
	}
	i, err := documentOf[instance](row)
	if err != nil {
		return Instance{}, i, err
	}
	is, err := b.Life.Instance(ctx, p, i.Now.Instance)
	if errors.Is(err, broker.ErrNotFound) {
		err = missing(OfInstance)
	}
	return i.shown(row, append([]lifecycle.Resource{}, is.Shape.Resources...)), i, err
}

func (i instance) shown(row Row, resources []lifecycle.Resource) Instance {
	out := Instance{ID: row.Name, Request: i.Now.Request, Namespace: i.Now.Namespace, Release: i.Now.Release, State: "DONE"}
	if i.Phase != steady {
		out.State = strings.ToUpper(string(i.Phase))
	}
	if resources == nil {
		return out
	}
	out.Resources = []Resource{}
	for _, r := range resources {
		if !strings.HasPrefix(r.Name, "sh.helm.release.v1.") {
			out.Resources = append(out.Resources, Resource{GVK{r.Group, r.Version, r.Kind}, r.Name})
		}
	}
	return out
}

// Instances returns those of a definition, version and profile, each as far as it is given.
func (b *Bundles) Instances(ctx context.Context, p policy.Principal, q Request) ([]Instance, error) {
	act, err := b.enter(ctx, p, policy.VNFShow, projectOf(p), OfInstance)
	if err != nil {
		return nil, err
	}
	if err := act.Read(ctx); err != nil {
		return nil, broker.Unrecorded(err)
	}
	found, err := b.all(ctx, p.Project, OfInstance, "")
	all := []Instance{}
	for _, row := range found {
		i, unreadable := documentOf[instance](row)
		if unreadable != nil {
			return nil, unreadable
		}
		r := i.Now.Request
		is := b.Guard.Allows(p, policy.VNFShow, i.resource(row)) && cmp.Or(q.Definition, r.Definition) == r.Definition &&
			cmp.Or(q.Version, r.Version) == r.Version && cmp.Or(q.Profile, r.Profile) == r.Profile
		if is {
			all = append(all, i.shown(row, nil))
		}
	}
	return all, err
}

// patience bounds the pause between two looks at an operation.
const patience = time.Second

// await is work for an instance that there is then.
func (b *Bundles) await(ctx context.Context, p policy.Principal, row Row) (Instance, error) {
	if err := b.work(ctx, p, row); err != nil {
		return Instance{}, err
	}
	return b.Instance(ctx, p, row.Name)
}

// work waits for the end of the work on a row, and does the steps that follow.
func (b *Bundles) work(ctx context.Context, p policy.Principal, row Row) error {
	bounded, cancel := context.WithTimeout(ctx, b.Wait)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause = min(pause*3/2, patience) {
		done, err := b.step(bounded, p, row, time.Time{})
		if done || err != nil && bounded.Err() == nil {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-bounded.Done():
			wait.Stop()
			return &broker.Error{
				Kind: context.DeadlineExceeded, Detail: "the work on instance " + row.Name + " goes on",
				Remedy: "ask for the instance later, or send the request again, which waits for the same instance",
			}
		}
	}
}
