package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// Template is a chart that configurations of instances are made from.
type Template struct {
	Definition  string `json:"-"`
	Version     string `json:"-"`
	Name        string `json:"template-name"`
	Description string `json:"description"`
	Chart       string `json:"chart-name"`
	Content     bool   `json:"has-content"`
}

func (Template) kind() Kind { return OfTemplate }

func (t Template) name() string { return t.Definition + "/" + t.Version + "/" + t.Name }

func (t Template) valid() error {
	return cmp.Or(validName("template-name", t.Name), validText("description", t.Description),
		validName("chart-name", cmp.Or(t.Chart, usualName)))
}

// Configuration is a configuration of an instance, as one of its versions has it: what a template makes of values. The objects are a
// VNF instance beside that of the instance.
type Configuration struct {
	Name        string         `json:"config-name"`
	Template    string         `json:"template-name"`
	Description string         `json:"description"`
	Values      map[string]any `json:"values"`
	Version     int            `json:"config-version"`
	Tag         string         `json:"config-tag"`
	// Gone: in this version it was deleted.
	Gone bool `json:"deleted,omitempty"`
}

// ConfigResult says to what a change of a configuration has led.
type ConfigResult struct {
	Instance   string `json:"instance-id"`
	Definition string `json:"rb-name"`
	RBVersion  string `json:"rb-version"`
	Profile    string `json:"profile-name"`
	Name       string `json:"config-name"`
	Template   string `json:"template-name"`
	Version    int    `json:"config-version"`
}

// maxVersions bounds the versions of a configuration, whose values are sealed together.
const maxVersions = 100

// newest is the version that holds.
func (i instance) newest() (c Configuration) {
	if len(i.Versions) > 0 {
		c = i.Versions[len(i.Versions)-1]
	}
	return c
}

// KeepConfig makes a configuration of an instance, or another version of the one of a name.
func (b *Bundles) KeepConfig(ctx context.Context, p policy.Principal, id, name string, c Configuration) (ConfigResult, error) {
	c.Name = cmp.Or(name, c.Name)
	if err := cmp.Or(validName("config-name", c.Name), validText("description", c.Description)); err != nil {
		return ConfigResult{}, err
	}
	at, err := part[instance](ctx, b, p, policy.VNFUpdate, OfConfig, id, name)
	if err == nil && at.of.Now == nil {
		err = b.refuse(ctx, at.act, conflict("the instance is not made", "wait until it is"))
	}
	if err != nil {
		return ConfigResult{}, err
	}
	if name == "" {
		at.Row = b.newRow(p, OfConfig, id+"/"+c.Name, instance{Asker: policy.Delegate(p, b.Now())})
		if err = b.Store.CreateBundles(ctx, []Row{at.Row}, perProject, at.act.Intent()); err != nil {
			return ConfigResult{}, b.refuse(ctx, at.act, err)
		}
	}
	was := at.is.newest()
	c.Template, c.Version, c.Tag = cmp.Or(c.Template, was.Template), was.Version+1, ""
	err = b.turn(ctx, p, at, append(slices.Clone(at.is.Versions), c))
	if now, gone := b.Store.Bundle(ctx, p.Project, OfConfig, at.Name); err != nil && name == "" && gone == nil && !now.Busy {
		b.leftover(ctx, at.Row, b.remove(ctx, at.act, at.Row)) // it never was
	}
	return result(id, at.of.at(), c), err
}

func result(id string, of made, c Configuration) ConfigResult {
	return ConfigResult{id, of.Request.Definition, of.Request.Version, of.Request.Profile, c.Name, c.Template, c.Version}
}

// turn has a configuration be what the last of some versions is. Values that are not hidden are new, and are sealed; those
// of the others are sealed.
func (b *Bundles) turn(ctx context.Context, p policy.Principal, at opened[instance], versions []Configuration) error {
	i := at.is
	if i.state() != done || len(versions) > maxVersions {
		return b.refuse(ctx, at.act, conflict(
			"work on the configuration is under way, or it has too many versions", "wait until that has ended, or delete it"))
	}
	values := map[string]map[string]any{}
	err := b.unseal(ctx, at.Row, &values)
	last := &versions[len(versions)-1]
	number := strconv.Itoa(last.Version)
	if last.Version > len(i.Versions) {
		maps.DeleteFunc(values, func(version string, _ map[string]any) bool { // of what was gone back from
			return !slices.ContainsFunc(versions, func(c Configuration) bool { return strconv.Itoa(c.Version) == version })
		})
		values[number] = last.Values
		last.Values = map[string]any{}
		for name := range values[number] {
			last.Values[name] = hidden
		}
	}
	m, unmade := b.prepareConfig(ctx, p, at.Name, at.of.at(), *last, values[number])
	m.Versions = versions
	if err = cmp.Or(err, unmade); err != nil {
		return b.refuse(ctx, at.act, err)
	}
	if err = b.seal(ctx, at.act, at.Row, values); err != nil {
		return err
	}
	if m.Instance = uuid.NewString(); i.Now != nil {
		m.Instance = i.Now.Instance
	}
	before, err := b.newest(ctx, m.Instance)
	if err != nil {
		return err
	}
	m.After = before.ID
	return b.change(ctx, p, at.act, at.Row, nil, m.parameters, func(i *instance) { i.Next = &m.made })
}

// prepareConfig works out what a version of a configuration comes to.
func (b *Bundles) prepareConfig(
	ctx context.Context, p policy.Principal, row string, of made, c Configuration, values map[string]any,
) (m prepared, err error) {
	id, name, _ := strings.Cut(row, "/")
	template := of.Request.of() + "/" + c.Template
	_, over, err := b.charted(ctx, p, OfTemplate, template, of.Request)
	merged := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal([]byte(over.Values), &merged)
	}
	m.made = of
	m.VNFD, m.Template, m.After = packageID(p.Project, template), c.Template, ""
	m.Release += "-" + strings.ReplaceAll(strings.ToLower(name), "_", "-")
	over = overlay{Values: written(laid(merged, values)), Sets: []set{{idValue, id}}}
	m.parameters = json.RawMessage(`{"overlay":` + written(over) + `}`)
	return m, cmp.Or(err, validRelease(m.Release))
}

// laid are values with others laid over them, as Helm lays files of values.
func laid(under, over map[string]any) map[string]any {
	for name, value := range over {
		is, has := under[name].(map[string]any)
		if more, both := value.(map[string]any); both && has {
			value = laid(is, more)
		}
		under[name] = value
	}
	return under
}

// Chosen names a version of a configuration, by its number or its tag, or a tag to give.
type Chosen struct {
	Version string `json:"config-version"`
	Tag     string `json:"config-tag"`
	Give    string `json:"tag-name"`
}

// Tagged is a version with a tag.
type Tagged struct {
	Version int    `json:"config-version"`
	Tag     string `json:"config-tag"`
}

// Configuration returns a version of a configuration, by its number or its tag; the newest where both are empty.
func (b *Bundles) Configuration(ctx context.Context, p policy.Principal, id, name, version, tag string) (Configuration, error) {
	all, err := b.Versions(ctx, p, id, name)
	if err != nil || version == "" && tag == "" {
		return instance{Versions: all}.newest(), err
	}
	return chosen(all, version, tag)
}

// Tags are those of a configuration.
func (b *Bundles) Tags(ctx context.Context, p policy.Principal, id, name string) ([]Tagged, error) {
	versions, err := b.Versions(ctx, p, id, name)
	all := []Tagged{}
	for _, v := range versions {
		if v.Tag != "" {
			all = append(all, Tagged{v.Version, v.Tag})
		}
	}
	return all, err
}

func chosen(all []Configuration, version, tag string) (Configuration, error) {
	for _, c := range slices.Backward(all) {
		if tag != "" && c.Tag == tag || strconv.Itoa(c.Version) == version {
			return c, nil
		}
	}
	return Configuration{}, missing("version")
}

// Versions are all of a configuration, the oldest first.
func (b *Bundles) Versions(ctx context.Context, p policy.Principal, id, name string) ([]Configuration, error) {
	at, err := part[instance](ctx, b, p, policy.VNFShow, OfConfig, id, name)
	return append([]Configuration{}, at.is.Versions...), err
}

// Configs are the newest versions of all configurations of an instance.
func (b *Bundles) Configs(ctx context.Context, p policy.Principal, id string) ([]Configuration, error) {
	return parts(ctx, b, p, OfConfig, id, instance.newest)
}

// Rollback goes back to a version of a configuration: those that followed it are gone.
func (b *Bundles) Rollback(ctx context.Context, p policy.Principal, id, name string, c Chosen) (ConfigResult, error) {
	at, err := part[instance](ctx, b, p, policy.VNFUpdate, OfConfig, id, name)
	if err != nil {
		return ConfigResult{}, err
	}
	to, err := chosen(at.is.Versions, c.Version, c.Tag)
	if err == nil && to.Gone {
		err = broker.Invalid("config-version", "is one in which the configuration was deleted")
	}
	if err != nil {
		return ConfigResult{}, b.refuse(ctx, at.act, err)
	}
	return result(id, at.of.at(), to), b.turn(ctx, p, at, slices.Clone(at.is.Versions[:to.Version]))
}

// Tag gives the newest version of a configuration a tag.
func (b *Bundles) Tag(ctx context.Context, p policy.Principal, id, name string, c Chosen) (t Tagged, err error) {
	at, err := part[instance](ctx, b, p, policy.VNFUpdate, OfConfig, id, name)
	if err == nil {
		err = b.refuse(ctx, at.act, validName("tag-name", c.Give))
	}
	if err != nil {
		return t, err
	}
	_, err = b.move(ctx, at.Row, new(at.act.Done()), func(i *instance) {
		for n, v := range i.Versions {
			if v.Tag == c.Give {
				i.Versions[n].Tag = ""
			}
		}
		i.Versions[len(i.Versions)-1].Tag = c.Give
		t = Tagged{i.newest().Version, c.Give}
	})
	return t, b.refuse(ctx, at.act, err)
}

// ClearConfig removes what a configuration has made, which is a version of it.
func (b *Bundles) ClearConfig(ctx context.Context, p policy.Principal, id, name string) (ConfigResult, error) {
	return b.endConfig(ctx, p, id, name, func(i *instance) {
		last := i.newest()
		last.Version, last.Tag, last.Values, last.Gone = last.Version+1, "", map[string]any{}, true
		if i.Versions = append(i.Versions, last); i.Now != nil {
			i.Left, i.Now = i.Now.Instance, nil
		}
	})
}

// DeleteConfig removes a configuration with what it has made.
func (b *Bundles) DeleteConfig(ctx context.Context, p policy.Principal, id, name string) error {
	_, err := b.endConfig(ctx, p, id, name, func(i *instance) { i.Ending = true })
	return err
}

func (b *Bundles) endConfig(ctx context.Context, p policy.Principal, id, name string, change func(*instance)) (ConfigResult, error) {
	at, err := part[instance](ctx, b, p, policy.VNFUpdate, OfConfig, id, name)
	if err == nil && at.is.Next != nil {
		err = b.refuse(ctx, at.act, conflict("work on the configuration is under way", "wait until that has ended"))
	}
	if err != nil {
		return ConfigResult{}, err
	}
	err = b.change(ctx, p, at.act, at.Row, new(at.act.Done()), nil, func(now *instance) {
		change(now)
		at.is = *now
	})
	return result(id, at.of.at(), at.is.newest()), err
}
