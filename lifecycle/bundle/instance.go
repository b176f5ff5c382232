package bundle

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/vimbroker/vimbroker/policy/audit"
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
	// Template and Versions are of a configuration alone.
	Template string          `json:"template,omitempty"`
	Versions []Configuration `json:"versions,omitempty"`
	// After is the newest operation before the one that makes it.
	After string `json:"after,omitempty"`
}

// instance is the document of an instance's row, and of a configuration's, which is an instance of its template.
type instance struct {
	// Now is what it is, nil while it was never made; Next what it is becoming.
	Now  *made `json:"now,omitempty"`
	Next *made `json:"next,omitempty"`
	// Left is the VNF instance that is being removed from the region before.
	Left string `json:"left,omitempty"`
	// Ending: it is being deleted.
	Ending bool `json:"ending,omitempty"`
	// Versions are those of a configuration; what is secret of them is sealed.
	Versions []Configuration `json:"versions,omitempty"`
	// Asker is who asked for the present work, at a time.
	Asker policy.Delegation `json:"asker"`
}

// at is what it is, or will be at first.
func (i instance) at() made { return *cmp.Or(i.Now, i.Next, &made{}) }

// state is how far the work on it is.
func (i instance) state() string {
	switch {
	case i.Ending:
		return "DELETING"
	case i.Now == nil && i.Next != nil:
		return "CREATING"
	case i.Next != nil || i.Left != "":
		return "UPGRADING"
	}
	return done
}

const (
	// idLabel is on all objects and pods of an instance; idValue is a value that charts are given.
	idLabel, idValue = "k8splugin.io/rb-instance-id", "k8s-rb-instance-id"
	// done is the state of one that no work is left on.
	done = "DONE"
	// hidden stands for a value that nobody is shown.
	hidden = "<hidden>"
	// maxOverrides bounds their number.
	maxOverrides = 1000
)

// reserved are overrides that are no values of the chart.
var reserved = form(`^k8s-rb-instance-(pre|post)-(install|delete|upgrade)-timeout$`)

// uses reports whether it is made of a document, or on a VIM.
func (m made) uses(k Kind, name string) bool {
	of := m.Request.of()
	return name == map[Kind]string{
		OfDefinition: of, OfProfile: of + "/" + m.Request.Profile, OfTemplate: of + "/" + m.Template, OfRegion: m.VIM,
	}[k]
}

// unused refuses with the ids of the instances that use something.
func (b *Bundles) unused(ctx context.Context, p policy.Principal, k Kind, name string) error {
	users := Filter{Project: p.Project, Kind: map[bool]Kind{true: OfConfig, false: OfInstance}[k == OfTemplate]}
	ids, err := gathered(ctx, b, users, func(r Row, i instance) (string, bool) {
		return r.Name, i.at().uses(k, name) || i.Next != nil && i.Next.uses(k, name)
	})
	if err == nil && len(ids) > 0 {
		err = conflict("instances use it: "+strings.Join(ids[:min(len(ids), 10)], ", "), "delete them first")
	}
	return err
}

// newID is an id in the form of upstream's: two names of small letters.
func newID() string {
	letters := strings.Map(func(r rune) rune {
		if r < 'A' { // the digits from 2 to 7
			return r - '2' + 'u'
		}
		return r - 'A' + 'a'
	}, rand.Text()[:16])
	return letters[:8] + "_" + letters[8:]
}

// claim is the one of all that ask for the same instance.
func (m made) claim() string {
	return strings.Join([]string{m.VIM, m.Release, m.Request.of(), m.Request.Profile}, "/")
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
	as, over, err := b.charted(ctx, p, OfDefinition, r.of(), r)
	if err != nil {
		return m, err
	}
	v, err := b.vim(ctx, p, r.Region)
	if err != nil {
		return m, err
	}
	m.Namespace, m.Release, m.VIM, m.VNFD = as.Namespace, cmp.Or(r.Release, as.Release), v.ID, packageID(p.Project, r.of())
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

// charted is the profile of a request, and its overlay, for a chart that was uploaded.
func (b *Bundles) charted(ctx context.Context, p policy.Principal, k Kind, name string, r Request) (as Profile, over overlay, err error) {
	d, err := show[map[string]any](ctx, b, p, k, name)
	if err == nil && d[contentKey] != true {
		err = broker.Invalid(map[bool]string{true: "rb-name", false: "template-name"}[k == OfDefinition], "has no content: upload it first")
	}
	if err != nil {
		return as, over, err
	}
	row, as, err := read[Profile](b.find(ctx, p, policy.PackageShow, OfProfile, r.of()+"/"+r.Profile))
	if err == nil {
		err = b.unseal(ctx, row, &over)
	}
	for n := range over.Files {
		var inside bool
		if over.Files[n].Path, inside = strings.CutPrefix(over.Files[n].Path, fmt.Sprint(d[chartKey], "/")); !inside && k == OfDefinition {
			err = broker.Invalid("profile-name", "has a chartpath that does not begin with %s, the folder of the chart", d[chartKey])
		}
	}
	return as, over, err
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
		validName("cloud-region", r.Region), validRelease(cmp.Or(r.Release, usualName)), broker.ValidLabels(r.Labels))
}

// CreateInstance makes an instance, and returns once it is ready. One that is live for the same request is returned, in
// place of a second.
func (b *Bundles) CreateInstance(ctx context.Context, p policy.Principal, r Request) (Instance, error) {
	id := newID()
	m, err := b.prepare(ctx, p, id, r)
	if err != nil {
		return Instance{}, err
	}
	act, err := b.desk(OfInstance).Enter(ctx, p, policy.VNFCreate, broker.InProject(p.Project))
	if err != nil {
		return Instance{}, err
	}
	m.Instance = uuid.NewString()
	row := b.newRow(p, OfInstance, id, instance{Next: &m.made, Asker: policy.Delegate(p, b.Now())})
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
	if err == nil && i.state() == "CREATING" {
		err = b.begin(ctx, p, row, i, m.parameters)
	}
	if err == nil {
		err = b.work(ctx, p, row)
	}
	if err != nil {
		return Instance{}, err
	}
	return b.Instance(ctx, p, row.Name)
}

// begin begins the operation that makes what an instance is becoming, as far as that was not begun before: on the VNF
// instance that it has, or on a new one. If it cannot be begun, the instance is as before.
func (b *Bundles) begin(ctx context.Context, p policy.Principal, row Row, i instance, parameters json.RawMessage) (err error) {
	m := *i.Next
	if i.on(m) {
		_, err = b.Life.ChangePackage(ctx, p, m.Instance, lifecycle.PackageChange{
			VNFDID: m.VNFD, Parameters: parameters, Params: json.RawMessage(`{"vnfdId":"` + m.VNFD + `"}`),
		})
	} else {
		_, err = b.Life.CreateInstance(ctx, p, lifecycle.NewInstance{ID: m.Instance, VNFDID: m.VNFD, Name: row.Name})
		failpoint.At("bundle.instance-made")
		if err == nil || errors.Is(err, broker.ErrExists) {
			_, err = b.Life.Instantiate(ctx, p, m.Instance, lifecycle.Instantiation{
				VIM: m.VIM, Namespace: m.Namespace, Release: m.Release, Parameters: parameters,
				Labels: map[string]string{idLabel: strings.SplitN(row.Name, "/", 2)[0]}, Params: json.RawMessage(`{"flavourId":"simple"}`),
			})
		}
	}
	failpoint.At("bundle.instance-begun")
	if err == nil {
		return nil
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	newest, left := b.newest(ending, m.Instance)
	if left == nil && newest.ID != m.After { // another request has begun it
		return nil
	}
	b.leftover(ctx, row, cmp.Or(left, b.undo(ending, p, row, i)))
	return err
}

// on reports whether something is made of the VNF instance that it has.
func (i instance) on(m made) bool { return i.Now != nil && i.Now.Instance == m.Instance }

// undo has an instance be as it was before work that is over without effect: one that never was goes.
func (b *Bundles) undo(ctx context.Context, p policy.Principal, row Row, i instance) error {
	if !i.on(*i.Next) {
		if gone, err := b.end(ctx, p, i.Next.Instance, true); err != nil || !gone {
			return err
		}
	}
	if i.Now == nil && len(i.Versions) == 0 {
		return b.drop(ctx, p, row)
	}
	_, err := b.move(ctx, row, nil, func(i *instance) { i.Next = nil })
	return err
}

// drop removes the row of an instance that has nothing left, with its subscriptions.
func (b *Bundles) drop(ctx context.Context, p policy.Principal, row Row) error {
	act, err := b.desk(OfInstance).Enter(ctx, p, policy.VNFDelete, row.resource())
	if err != nil {
		return err
	}
	below, err := b.rowsBelow(ctx, row, OfWatch)
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	return b.remove(ctx, act, append(below, row)...)
}

func (i instance) resource(r Row) policy.Resource {
	return policy.Resource{
		Kind: policy.KindVNFInstance, ID: i.at().Instance, Project: r.Project, Name: r.Name, Owner: i.Asker.Name, VNFDID: i.at().VNFD,
		VIM: i.at().VIM, VIMName: i.at().Request.Region, VIMType: string(kubernetes),
	}
}

// errMoved: the row is no longer what it was read as.
var errMoved = errors.New("the row is another")

// move changes the document of a row as it was read; ErrConflict if another process was quicker.
func (b *Bundles) move(ctx context.Context, row Row, e *audit.Entry, change func(*instance)) (Row, error) {
	return b.Store.UpdateBundle(ctx, row.ID, func(now *Row) error {
		if now.Document != row.Document {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "another request is at the instance", Remedy: "wait until that has ended", Cause: errMoved,
			}
		}
		i, err := documentOf[instance](*now)
		change(&i)
		if now.Document, now.Busy = written(i), i.state() != done; !now.Busy && now.Kind == OfInstance {
			now.Claim = i.at().claim()
		}
		return err
	}, e)
}

// newest is the last operation on a VNF instance; empty if there is none.
func (b *Bundles) newest(ctx context.Context, id string) (lifecycle.Operation, error) {
	found, _, err := b.Store.Operations(ctx, lifecycle.OperationFilter{Instance: id, Page: broker.Page{Size: 1}})
	return append(found, lifecycle.Operation{})[0], err
}

// Instance returns one.
func (b *Bundles) Instance(ctx context.Context, p policy.Principal, id string) (Instance, error) {
	shown, _, err := b.instance(ctx, p, id)
	return shown, err
}

func (b *Bundles) instance(ctx context.Context, p policy.Principal, id string) (Instance, instance, error) {
	row, i, err := read[instance](b.find(ctx, p, policy.VNFShow, OfInstance, id))
	if err != nil {
		return Instance{}, i, err
	}
	is, err := b.Life.Instance(ctx, p, i.at().Instance)
	if errors.Is(err, broker.ErrNotFound) {
		err = missing(OfInstance)
	}
	return i.shown(row, append([]lifecycle.Resource{}, is.Shape.Resources...)), i, err
}

func (i instance) shown(row Row, resources []lifecycle.Resource) Instance {
	m := i.at()
	out := Instance{ID: row.Name, Request: m.Request, Namespace: m.Namespace, Release: m.Release, State: i.state()}
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

// Instances returns those of a definition, version, profile and region, each as far as it is given, with all of some labels.
func (b *Bundles) Instances(ctx context.Context, p policy.Principal, q Request) ([]Instance, error) {
	all, err := listed(ctx, b, p, policy.VNFShow, OfInstance, "", func(r Row, i instance) (Instance, policy.Resource) {
		return i.shown(r, nil), i.resource(r)
	})
	return slices.DeleteFunc(all, func(i Instance) bool {
		r, want := i.Request, map[string]string{}
		maps.Copy(want, i.Request.Labels)
		maps.Copy(want, q.Labels)
		return cmp.Or(q.Definition, r.Definition) != r.Definition || cmp.Or(q.Version, r.Version) != r.Version ||
			cmp.Or(q.Profile, r.Profile) != r.Profile || cmp.Or(q.Region, r.Region) != r.Region || !maps.Equal(want, r.Labels)
	}), err
}

// patience bounds the pause between two looks at an operation that another process works.
const patience = time.Second

// change changes an instance or a configuration, as p asks, begins with parameters what it becomes, if it becomes something,
// and returns once the work on it is over. No entry is for what is recorded.
func (b *Bundles) change(
	ctx context.Context, p policy.Principal, act *audit.Act, row Row, e *audit.Entry, parameters json.RawMessage, how func(*instance),
) error {
	row, i, err := read[instance](b.move(ctx, row, e, func(i *instance) {
		how(i)
		i.Asker = policy.Delegate(p, b.Now())
	}))
	switch {
	case err != nil && e != nil:
		err = b.refuse(ctx, act, err)
	case err == nil && parameters != nil:
		failpoint.At("bundle.upgrade-noted")
		err = b.begin(ctx, p, row, i, parameters)
	}
	if err != nil {
		return err
	}
	return b.work(ctx, p, row)
}

// work waits for the end of the work on a row, and does the steps that follow.
func (b *Bundles) work(ctx context.Context, p policy.Principal, row Row) error {
	bounded, cancel := context.WithTimeout(ctx, b.Wait)
	defer cancel()
	for {
		ended := b.Life.Ended()
		over, err := b.step(bounded, p, row, time.Time{})
		if over || err != nil && bounded.Err() == nil {
			return err
		}
		select {
		case <-ended:
		case <-time.After(patience):
		case <-bounded.Done():
			return &broker.Error{
				Kind: context.DeadlineExceeded, Detail: "the work on instance " + row.Name + " goes on",
				Remedy: "ask for the instance later, or send the request again, which waits for the same instance",
			}
		}
	}
}
