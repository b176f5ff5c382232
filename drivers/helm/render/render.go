// Package render renders charts, with Helm's own loader and template engine. Charts are untrusted programs:
// templates can use memory and time without end. So rendering runs in a process of its own, [Main], which takes
// one chart from its input, and first gives up all other abilities.
package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/ignore"
	releasecommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/vimbroker/vimbroker/drivers/helm/chart"
)

// maxUnpacked bounds the files of one chart, unpacked.
const maxUnpacked = 32 << 20

// Main reads a [chart.Task] and writes a [chart.Rendering]. It returns the process's exit code, which is 0 also
// for a chart that cannot be rendered: the answer says why.
// A stop signal for the server may reach its whole process group: the server decides when this process ends.
func Main(in io.Reader, out io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	text, err := io.ReadAll(io.LimitReader(in, chart.MaxRequest+1))
	if err != nil || len(text) > chart.MaxRequest || confine() != nil {
		return 1
	}
	var r chart.Task
	if err := json.Unmarshal(text, &r); err != nil {
		return 1
	}
	answer := render
	if len(r.Index) > 0 {
		answer = find
	}
	a, err := answer(r)
	if err != nil {
		a = chart.Rendering{Fault: err.Error(), Asked: a.Asked}
	}
	said, err := json.Marshal(a)
	if err == nil && len(said) > chart.MaxAnswer {
		said, err = json.Marshal(chart.Rendering{Fault: fmt.Sprintf("the chart gives more than %d MiB", chart.MaxAnswer>>20)})
	}
	if err != nil {
		return 1
	}
	if _, err := out.Write(said); err != nil {
		return 1
	}
	return 0
}

func render(r chart.Task) (a chart.Rendering, err error) {
	if err := signed(r); err != nil {
		return a, err
	}
	c, err := load(r)
	if err != nil {
		return a, err
	}
	values, err := given(r)
	if err != nil {
		return a, err
	}
	for _, d := range c.CRDObjects() {
		for _, text := range inOrder(releaseutil.SplitManifests(string(d.File.Data))) {
			text, err := plain(d.Filename, []byte(text), nil)
			if err != nil {
				return a, err
			}
			a.Definitions = append(a.Definitions, chart.ChartFile{Path: d.Filename, Text: text})
		}
	}
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return a, errors.New("the chart's dependencies cannot be worked out from its values")
	}
	r.APIVersions = append(r.APIVersions, defined(a.Definitions)...)
	caps, err := capabilities(r)
	if err != nil {
		return a, err
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return a, fmt.Errorf("the chart asks for Kubernetes %s, and the cluster is %s", printable(want), printable(r.KubeVersion))
	}
	top, err := commonutil.ToRenderValues(c, values, common.ReleaseOptions{
		Name: r.Release, Namespace: r.Namespace, Revision: r.Revision, IsInstall: !r.Upgrade, IsUpgrade: r.Upgrade,
	}, caps)
	if err != nil {
		return a, unfit(err)
	}
	lines := linesOf(c)
	seen := &lookups{found: r.Found}
	files, err := engine.RenderWithClientProvider(c, top, seen) // the process ends with its time
	a.Asked = seen.asked
	if err != nil {
		return a, faultOf(err, lines)
	}
	notes := notesOf(c, files)
	hooks, objects, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return a, faultOf(err, lines)
	}
	for _, o := range objects {
		text, err := plain(o.Name, []byte(o.Content+"\n"), lines) // Helm ends it so: a block of text keeps its last line's end
		if err != nil {
			return a, err
		}
		a.Objects = append(a.Objects, chart.ChartFile{Path: o.Name, Text: text})
	}
	for _, h := range hooks {
		text, err := plain(h.Path, []byte(h.Manifest), lines)
		if err != nil {
			return a, err
		}
		h.Manifest = string(text)
	}
	now := time.Now().UTC()
	a.Release, err = json.Marshal(release.Release{
		Name: r.Release, Namespace: r.Namespace, Version: r.Revision, Chart: c, Config: values, Hooks: hooks,
		ApplyMethod: string(release.ApplyMethodServerSideApply),
		Info:        &release.Info{FirstDeployed: now, LastDeployed: now, Status: releasecommon.StatusUnknown, Notes: notes},
	})
	return a, err
}

// inOrder are the documents of a file, by the names that Helm gives them.
func inOrder(documents map[string]string) (all []string) {
	names := slices.Collect(maps.Keys(documents))
	sort.Sort(releaseutil.BySplitManifestsOrder(names))
	for _, name := range names {
		all = append(all, documents[name])
	}
	return all
}

// load reads a chart, and refuses one that cannot stand by itself.
func load(r chart.Task) (c *helmchart.Chart, err error) {
	archive.MaxDecompressedChartSize = maxUnpacked
	if r.Archive != nil {
		c, err = loader.LoadArchive(bytes.NewReader(r.Archive))
	} else {
		files, bad := wanted(laidOver(r.Files, r.Overlay.Files))
		if bad != nil {
			return nil, bad
		}
		c, err = loader.LoadFiles(files)
	}
	if err != nil && strings.Contains(err.Error(), "larger than the maximum size") {
		return nil, fmt.Errorf("the chart has more than %d MiB unpacked", maxUnpacked>>20)
	}
	if err != nil || c.Validate() != nil {
		return nil, errors.New("it is no chart that Helm can read: it needs a Chart.yaml with apiVersion, name and version")
	}
	if r.Name != "" && c.Metadata.Name != r.Name || r.Version != "" && c.Metadata.Version != r.Version {
		return nil, fmt.Errorf("it is %s %s, and not what it is named by", printable(c.Metadata.Name), printable(c.Metadata.Version))
	}
	if c.Metadata.Type == "library" {
		return nil, errors.New("it is a library chart, and gives no objects by itself")
	}
	for _, d := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(has *helmchart.Chart) bool { return has.Metadata != nil && has.Metadata.Name == d.Name }) {
			return nil, fmt.Errorf("its dependency %s is not in its folder charts; run helm dependency update before you pack it", printable(d.Name))
		}
	}
	return c, nil
}

// laidOver are the files of a chart with those of an overlay in their places.
func laidOver(all, over []chart.ChartFile) []chart.ChartFile {
	out := slices.DeleteFunc(slices.Clone(all), func(f chart.ChartFile) bool {
		return slices.ContainsFunc(over, func(o chart.ChartFile) bool { return o.Path == f.Path })
	})
	return append(out, over...)
}

// ignoreFile says which files of a chart's folder are none of the chart's.
const ignoreFile = ".helmignore"

// folder is a path that is one, as rules of that file ask.
type folder struct {
	os.FileInfo
	name string
	dir  bool
}

func (f folder) Name() string { return f.name }
func (f folder) IsDir() bool  { return f.dir }

// wanted are the files of a chart's folder but those that its .helmignore names, as Helm reads it.
func wanted(all []chart.ChartFile) (files []*archive.BufferedFile, err error) {
	rules := ignore.Empty()
	for _, f := range all {
		if f.Path == ignoreFile {
			if rules, err = ignore.Parse(bytes.NewReader(f.Text)); err != nil {
				return nil, errors.New("its .helmignore cannot be read")
			}
		}
	}
	rules.AddDefaults()
	for _, f := range all {
		ignored := rules.Ignore(f.Path, folder{name: path.Base(f.Path)})
		for in := path.Dir(f.Path); in != "." && in != "/" && !ignored; in = path.Dir(in) {
			ignored = rules.Ignore(in, folder{name: path.Base(in), dir: true})
		}
		if !ignored {
			files = append(files, &archive.BufferedFile{Name: f.Path, Data: f.Text})
		}
	}
	return files, nil
}

// defined are the versions and kinds that definitions of the chart bring: they stand before it is rendered.
func defined(definitions []chart.ChartFile) (names []string) {
	for _, d := range definitions {
		var of struct {
			Kind string `json:"kind"`
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind string `json:"kind"`
				} `json:"names"`
				Versions []struct {
					Name   string `json:"name"`
					Served bool   `json:"served"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if json.Unmarshal(d.Text, &of) != nil || of.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, v := range of.Spec.Versions {
			if v.Served {
				names = append(names, of.Spec.Group+"/"+v.Name, of.Spec.Group+"/"+v.Name+"/"+of.Spec.Names.Kind)
			}
		}
	}
	return names
}

// given are the values of the request.
func given(r chart.Task) (map[string]any, error) {
	values := map[string]any{}
	if len(r.Values) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(r.Values))
		decoder.UseNumber()
		if err := decoder.Decode(&values); err != nil {
			return nil, errors.New("the values of the request are not a JSON object")
		}
		if values == nil { // a release without values has null
			values = map[string]any{}
		}
	}
	if r.Overlay.Values != "" {
		over, err := common.ReadValues([]byte(r.Overlay.Values))
		if err != nil {
			return nil, errors.New("the values of the profile are not a mapping in YAML")
		}
		values = loader.MergeMaps(values, over)
	}
	for _, s := range r.Sets {
		// A comma would begin another value.
		if err := strvals.ParseInto(s.Name+"="+strings.ReplaceAll(s.Value, ",", `\,`), values); err != nil {
			return nil, fmt.Errorf("%s does not name a value of a chart", printable(s.Name))
		}
	}
	for _, s := range r.Overlay.Sets {
		if err := strvals.ParseInto(s.Name+"="+s.Value, values); err != nil {
			return nil, fmt.Errorf("override %s is not in Helm's notation of values", printable(s.Name))
		}
	}
	return values, nil
}

func capabilities(r chart.Task) (*common.Capabilities, error) {
	version, err := common.ParseKubeVersion(r.KubeVersion)
	if err != nil {
		return nil, errors.New("the cluster does not say which version of Kubernetes it is")
	}
	caps := common.DefaultCapabilities.Copy()
	caps.KubeVersion, caps.APIVersions = *version, r.APIVersions
	return caps, nil
}

// plain is an object as JSON: without anchors, and with the last of keys that stand twice, as Helm reads it.
func plain(name string, text []byte, lines map[string]int) ([]byte, error) {
	out, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, faultOf(fmt.Errorf("%s: YAML", name), lines)
	}
	return out, nil
}

// notesOf takes the notes out of the rendered text: they are no objects.
func notesOf(c *helmchart.Chart, files map[string]string) string {
	const name = "NOTES.txt"
	notes := files[path.Join(c.Name(), "templates", name)]
	maps.DeleteFunc(files, func(file, _ string) bool { return strings.HasSuffix(file, name) })
	return notes
}

var (
	place = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z0-9._/-]{1,200}/templates/[A-Za-z0-9._/-]{1,200})(?::(\d{1,6}))?`)
	})
	member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`at '(/[A-Za-z0-9._/-]{0,200})'`) })
)

// linesOf counts the lines of each template of a chart, and of those in it, by Helm's names for them.
func linesOf(c *helmchart.Chart) map[string]int {
	lines := map[string]int{}
	for _, t := range c.Templates {
		lines[path.Join(c.ChartFullPath(), t.Name)] = bytes.Count(t.Data, []byte("\n")) + 1
	}
	for _, in := range c.Dependencies() {
		maps.Copy(lines, linesOf(in))
	}
	return lines
}

// faultOf names the template that stops, and the line. The text of a template or of Helm may hold values, also in the
// form of a place: the place has to be one of the chart's.
func faultOf(err error, lines map[string]int) error {
	says, at := err.Error(), "a template"
	for _, m := range place().FindAllStringSubmatch(says, -1) {
		has := lines[m[1]]
		if has == 0 {
			continue
		}
		// The last is the innermost of those that include each other.
		if n, err := strconv.Atoi(m[2]); err == nil && n <= has {
			at = m[1] + ":" + m[2]
		} else if !strings.HasPrefix(at, m[1]+":") {
			at = m[1]
		}
	}
	why := "cannot be rendered"
	switch {
	case strings.Contains(says, "execution error at"), strings.Contains(says, "error calling required"),
		strings.Contains(says, "error calling fail"):
		why = "stops by itself (fail, or required): see there which value it misses"
	case strings.Contains(says, "not defined"):
		why = "calls a function or a template that is not there"
	case strings.Contains(says, "parse error"), strings.Contains(says, "YAML"):
		why = "gives no YAML"
	case strings.Contains(says, "nil pointer"), strings.Contains(says, "can't evaluate field"):
		why = "asks for a value that is not there"
	}
	return fmt.Errorf("%s %s", at, why)
}

// unfit names the values that do not fit the chart's schema.
func unfit(err error) error {
	var names []string
	for _, m := range member().FindAllStringSubmatch(err.Error(), 5) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		return errors.New("the values do not fit the chart's values.schema.json, or that cannot be read without what it refers to elsewhere")
	}
	return fmt.Errorf("the values do not fit the chart's values.schema.json at %s", strings.Join(slices.Compact(names), ", "))
}

// printable is a name of a chart as far as an error can hold it.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 100)]
}
