package bundle

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// Profile is what an instance makes of a definition: names, values and overlays.
type Profile struct {
	Definition string            `json:"rb-name"`
	Version    string            `json:"rb-version"`
	Name       string            `json:"profile-name"`
	Release    string            `json:"release-name"`
	Namespace  string            `json:"namespace"`
	Kubernetes string            `json:"kubernetes-version"`
	Labels     map[string]string `json:"labels"`
	Extra      []GVK             `json:"extra-resource-types"`
}

// GVK names a kind of objects.
type GVK struct {
	Group   string `json:"Group"`
	Version string `json:"Version"`
	Kind    string `json:"Kind"`
}

// usualName is the profile that each definition has, and its release and namespace.
const usualName = "default"

// overlay is what a profile's content and a request make of a chart, as drivers/helm reads it.
type overlay struct {
	Values string                `json:"values,omitempty"`
	Sets   []set                 `json:"sets,omitempty"`
	Files  []vnfpkg.ManifestFile `json:"files,omitempty"`
}

type set struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (Profile) kind() Kind { return OfProfile }

func (p Profile) name() string { return p.Definition + "/" + p.Version + "/" + p.Name }

func (p Profile) valid() error {
	return cmp.Or(fits("namespace", p.Namespace, namespace, "a name of at most 63 lower-case letters, digits and dashes"),
		validName("profile-name", p.Name), validText("kubernetes-version", p.Kubernetes),
		validText("extra-resource-types", written(p.Extra)), broker.ValidLabels(p.Labels), validRelease(p.Release))
}

// manifest is a profile's manifest.yaml.
type manifest struct {
	Version string `yaml:"version"`
	Type    struct {
		Values string `yaml:"values"`
		Files  []struct {
			From string `yaml:"filepath"`
			To   string `yaml:"chartpath"`
		} `yaml:"configresource"`
	} `yaml:"type"`
}

// maxOverlay bounds the values and overlays of a profile: they are sealed with the parameters of each instance, of which
// all together are not more than 64 KiB.
const maxOverlay = 60 << 10

// overlayOf reads the content of a profile.
func overlayOf(content []byte) (overlay, error) {
	fail := func(format string, args ...any) (overlay, error) {
		return overlay{}, broker.Invalid("content", format, args...)
	}
	files, err := vnfpkg.UnpackTarGz(content, vnfpkg.ArchiveLimits{Entries: maxChartFiles, Unpacked: 4 << 20})
	if err != nil {
		return overlay{}, err
	}
	held := map[string][]byte{}
	for _, f := range files {
		held[f.Path] = f.Text
	}
	text, has := held["manifest.yaml"]
	if !has {
		return fail("holds no manifest.yaml")
	}
	var m manifest
	if yaml.NewDecoder(bytes.NewReader(text)).Decode(&m) != nil || m.Version != "v1" {
		return fail("has a manifest.yaml that is not of version v1 with values and configresource")
	}
	var out overlay
	if m.Type.Values != "" {
		values, has := held[path.Clean(m.Type.Values)]
		var mapping map[string]any
		if !has || yaml.Unmarshal(values, &mapping) != nil {
			return fail("names values that it does not hold, or that are not a mapping in YAML")
		}
		out.Values = string(values)
	}
	for _, f := range m.Type.Files {
		text, has := held[path.Clean(f.From)]
		to := path.Clean(f.To)
		switch {
		case !has:
			return fail("names a filepath that it does not hold")
		case !vnfpkg.PlainPath(to):
			return fail("has a chartpath that leads out of the chart, or that is not plain")
		case path.Base(to) == chartFile || slices.ContainsFunc(out.Files, func(o vnfpkg.ManifestFile) bool { return o.Path == to }):
			return fail("replaces " + chartFile + ", or one file twice")
		}
		out.Files = append(out.Files, vnfpkg.ManifestFile{Path: to, Text: text})
	}
	if len(written(out)) > maxOverlay {
		return fail("has values and overlays of more than %d bytes", maxOverlay)
	}
	return out, nil
}
