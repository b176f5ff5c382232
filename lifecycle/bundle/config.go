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
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
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

// Config is a configuration of an instance, as one of its versions has it: what a template makes of values. The objects are a
// VNF instance beside that of the instance.
type Config struct {
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
func (i instance) newest() (c Config) {
	if len(i.Versions) > 0 {
		c = i.Versions[len(i.Versions)-1]
	}
	return c
}

// CreateConfig makes a configuration of an instance, or, where it is there, another version of it.
func (b *Bundles) CreateConfig(ctx context.Context, p policy.Principal, id string, c Config, fresh bool) (ConfigResult, error) {
	if err := cmp.Or(validName("config-name", c.Name), validText("description", c.Description)); err != nil {
		return ConfigResult{}, err
	}
	_, i, act, err := b.openInstance(ctx, p, policy.VNFUpdate, id)
	if err != nil {
		return ConfigResult{}, err
	}
	if i.Now == nil {
		return ConfigResult{}, b.refuse(ctx, act, conflict("the instance is not made", "wait until it is"))
	}
	r := b.newRow(p, OfConfig, id+"/"+c.Name, instance{Asker: policy.Delegate(p, b.now())})
	if fresh {
		err = b.Store.CreateBundles(ctx, []Row{r}, perProject, act.Intent())
	} else {
		r, err = b.Store.Bundle(ctx, p.Project, OfConfig, r.Name)
	}
	if err != nil {
		return ConfigResult{}, b.refuse(ctx, act, err)
	}
	of, err := documentOf[instance](r)
	was := of.newest()
	c.Template, c.Version, c.Tag = cmp.Or(c.Template, was.Template), was.Version+1, ""
	if err == nil {
		err = b.turn(ctx, p, act, *i.Now, r, append(slices.Clone(of.Versions), c))
	}
	if err != nil && fresh && len(of.Versions) == 0 {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		if now, gone := b.Store.Bundle(ending, p.Project, OfConfig, r.Name); gone == nil && !now.Busy {
			b.leftover(ctx, r, b.remove(ending, act, r))
		}
	}
	return result(id, *i.Now, c), err
}

func result(id string, of made, c Config) ConfigResult {
	return ConfigResult{id, of.Request.Definition, of.Request.Version, of.Request.Profile, c.Name, c.Template, c.Version}
}

// turn has a configuration be what the last of some versions is. Values that are not hidden are new, and are sealed; those
// of the others are sealed.
func (b *Bundles) turn(ctx context.Context, p policy.Principal, act *audit.Act, of made, r Row, versions []Config) error {
	i, err := documentOf[instance](r)
	if err == nil && (i.state() != done || len(versions) > maxVersions) {
		err = conflict("work on the configuration is under way, or it has too many versions", "wait until that has ended, or delete it")
	}
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	sealed, err := b.text(ctx, r)
	values := map[string]map[string]any{}
	if err == nil && !sealed.Empty() {
		err = json.Unmarshal([]byte(sealed.Reveal()), &values)
	}
	last := &versions[len(versions)-1]
	at := strconv.Itoa(last.Version)
	if last.Version > len(i.Versions) {
		maps.DeleteFunc(values, func(version string, _ map[string]any) bool { // of what was gone back from
			return !slices.ContainsFunc(versions, func(c Config) bool { return strconv.Itoa(c.Version) == version })
		})
		values[at] = last.Values
		last.Values = map[string]any{}
		for name := range values[at] {
			last.Values[name] = hidden
		}
	}
	m, unmade := b.prepareConfig(ctx, p, r.Name, of, *last, values[at])
	m.Versions = versions
	if err = cmp.Or(err, unmade); err != nil {
		return b.refuse(ctx, act, err)
	}
	if err = b.seal(ctx, act, r, secret.NewText(written(values))); err != nil {
		return err
	}
	if m.Instance = uuid.NewString(); i.Now != nil {
		m.Instance = i.Now.Instance
	}
	before, err := b.newest(ctx, m.Instance)
	m.After = before.ID
	if err == nil {
		r, err = b.move(ctx, r, nil, func(i *instance) { i.Next, i.Asker = &m.made, policy.Delegate(p, b.now()) })
	}
	if err == nil {
		i, err = documentOf[instance](r)
	}
	if err == nil {
		err = b.begin(ctx, p, r, i, m.parameters)
	}
	if err == nil {
		err = b.work(ctx, p, r)
	}
	return err
}

// prepareConfig works out what a version of a configuration comes to.
func (b *Bundles) prepareConfig(
	ctx context.Context, p policy.Principal, row string, of made, c Config, values map[string]any,
) (m prepared, err error) {
	id, name, _ := strings.Cut(row, "/")
	template := of.Request.of() + "/" + c.Template
	d, err := show[Template](ctx, b, p, OfTemplate, template)
	if err == nil && !d.Content {
		err = broker.Invalid("template-name", "has no content: upload it first")
	}
	if err != nil {
		return m, err
	}
	profile, err := b.find(ctx, p, policy.PackageShow, OfProfile, of.Request.of()+"/"+of.Request.Profile)
	var over overlay
	if err == nil {
		over, err = b.overlayIn(ctx, profile)
	}
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

// Config returns a version of a configuration, by its number or its tag; the newest where both are empty.
func (b *Bundles) Config(ctx context.Context, p policy.Principal, id, name, version, tag string) (Config, error) {
	all, err := b.Versions(ctx, p, id, name)
	if err != nil || version == "" && tag == "" && len(all) > 0 {
		return instance{Versions: all}.newest(), err
	}
	return chosen(all, version, tag)
}

func chosen(all []Config, version, tag string) (Config, error) {
	for _, c := range slices.Backward(all) {
		if tag != "" && c.Tag == tag || version != "" && strconv.Itoa(c.Version) == version {
			return c, nil
		}
	}
	return Config{}, missing("version")
}

// Versions are all of a configuration, the oldest first.
func (b *Bundles) Versions(ctx context.Context, p policy.Principal, id, name string) ([]Config, error) {
	r, _, _, err := b.part(ctx, p, policy.VNFShow, OfConfig, id, name)
	if err != nil {
		return nil, err
	}
	i, err := documentOf[instance](r)
	return append([]Config{}, i.Versions...), err
}

// Configs are the newest versions of all configurations of an instance.
func (b *Bundles) Configs(ctx context.Context, p policy.Principal, id string) ([]Config, error) {
	all, err := parts[instance](ctx, b, p, OfConfig, id)
	out := []Config{}
	for _, i := range all {
		out = append(out, i.newest())
	}
	return out, err
}

// Rollback goes back to a version of a configuration, by its number or its tag: those that followed it are gone.
func (b *Bundles) Rollback(ctx context.Context, p policy.Principal, id, name, version, tag string) (ConfigResult, error) {
	r, of, act, err := b.part(ctx, p, policy.VNFUpdate, OfConfig, id, name)
	if err != nil {
		return ConfigResult{}, err
	}
	i, err := documentOf[instance](r)
	to, unknown := chosen(i.Versions, version, tag)
	if err = cmp.Or(err, unknown); err != nil {
		return ConfigResult{}, b.refuse(ctx, act, err)
	}
	at := slices.IndexFunc(i.Versions, func(c Config) bool { return c.Version == to.Version })
	if to.Gone {
		return ConfigResult{}, b.refuse(ctx, act, broker.Invalid("config-version", "is one in which the configuration was deleted"))
	}
	return result(id, of.at(), to), b.turn(ctx, p, act, of.at(), r, slices.Clone(i.Versions[:at+1]))
}

// Tag names the newest version of a configuration.
func (b *Bundles) Tag(ctx context.Context, p policy.Principal, id, name, tag string) (c Config, err error) {
	r, _, act, err := b.part(ctx, p, policy.VNFUpdate, OfConfig, id, name)
	if err == nil {
		err = b.refuse(ctx, act, validName("tag-name", tag))
	}
	if err != nil {
		return c, err
	}
	_, err = b.move(ctx, r, new(act.Done()), func(i *instance) {
		for n := range i.Versions {
			if c = i.Versions[n]; n == len(i.Versions)-1 || c.Tag == tag {
				i.Versions[n].Tag = map[bool]string{true: tag}[n == len(i.Versions)-1]
			}
		}
	})
	return c, b.refuse(ctx, act, err)
}

// DeleteConfig removes what a configuration has made, which is a version of it, or, with all, the configuration.
func (b *Bundles) DeleteConfig(ctx context.Context, p policy.Principal, id, name string, all bool) (ConfigResult, error) {
	r, of, act, err := b.part(ctx, p, policy.VNFUpdate, OfConfig, id, name)
	if err != nil {
		return ConfigResult{}, err
	}
	var last Config
	if i, unreadable := documentOf[instance](r); unreadable != nil || !all && i.state() != done {
		return ConfigResult{}, b.refuse(ctx, act, cmp.Or(unreadable, conflict("work on the configuration is under way", "wait until that has ended")))
	}
	r, err = b.move(ctx, r, new(act.Done()), func(i *instance) {
		last = i.newest()
		last.Version, last.Tag, last.Values, last.Gone = last.Version+1, "", map[string]any{}, true
		if i.Ending, i.Asker = all, policy.Delegate(p, b.now()); !all {
			if i.Versions = append(i.Versions, last); i.Now != nil {
				i.Left, i.Now = i.Now.Instance, nil
			}
		}
	})
	if err == nil {
		err = b.work(ctx, p, r)
	} else {
		err = b.refuse(ctx, act, err)
	}
	return result(id, of.at(), last), err
}
