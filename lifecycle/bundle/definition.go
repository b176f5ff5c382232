package bundle

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// Definition is a resource bundle: a chart, and what is said of it.
type Definition struct {
	Name        string            `json:"rb-name"`
	Version     string            `json:"rb-version"`
	Chart       string            `json:"chart-name"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
}

const (
	provider  = "ONAP"       // of packages that are made from definitions
	chartFile = "Chart.yaml" // makes a folder a chart
	// A chart has at most maxChartFiles files of maxChart bytes in all.
	maxChart, maxChartFiles = 32 << 20, 2000
)

func (Definition) kind() Kind { return OfDefinition }

func (d Definition) name() string { return d.Name + "/" + d.Version }

func (d Definition) valid() error {
	return cmp.Or(validName("rb-name", d.Name), validName("rb-version", d.Version), validText("description", d.Description),
		validName("chart-name", cmp.Or(d.Chart, usualName)), broker.ValidLabels(d.Labels))
}

// chartOf are the files of the one chart of an archive, and its name: the folder's.
func (b *Bundles) chartOf(content []byte, want string) (files []vnfpkg.ManifestFile, name string, err error) {
	limits := b.Limits
	limits.Unpacked = min(cmp.Or(limits.Unpacked, maxChart), maxChart)
	limits.Entries = min(cmp.Or(limits.Entries, maxChartFiles), maxChartFiles)
	all, err := vnfpkg.UnpackTarGz(content, limits)
	if err != nil {
		return nil, "", err
	}
	var charts []string
	for _, f := range all {
		if folder, file := path.Split(f.Path); file == chartFile && strings.Count(folder, "/") == 1 {
			charts = append(charts, strings.TrimSuffix(folder, "/"))
		}
	}
	switch {
	case len(charts) != 1:
		return nil, "", broker.Invalid("content", "holds %d charts, and has to hold one: a folder with a %s", len(charts), chartFile)
	case want != "" && want != charts[0]:
		return nil, "", broker.Invalid("content", "holds a chart of another name than the definition's chart-name")
	}
	files = slices.DeleteFunc(all, func(f vnfpkg.ManifestFile) bool { return !strings.HasPrefix(f.Path, charts[0]+"/") })
	return files, charts[0], validName("content", charts[0])
}
