package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// patience bounds how long one chart is rendered: the program has less time of a processor, and may have to wait
// for it.
const patience = 90 * time.Second

// render has the program render a chart for a project, in its turn. A fault of the chart is [broker.ErrInvalid].
func (d *Driver) render(ctx context.Context, project string, r chart.Task) (a chart.Rendering, err error) {
	leave, err := d.seats.Sit(ctx, project)
	if err != nil {
		return a, err
	}
	defer leave()
	said, _ := json.Marshal(r) // cannot fail: what is JSON in it was read as such
	defer clear(said)
	if len(said) > chart.MaxRequest {
		return a, faultOf("it is too large")
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out bounds
	defer func() { clear(out.Bytes()) }()
	c := exec.CommandContext(bounded, d.options.Program[0], d.options.Program[1:]...)
	c.Stdin, c.Stdout, c.Env, c.Dir, c.WaitDelay = bytes.NewReader(said), &out, []string{"TZ=UTC"}, "/", time.Second
	if err := c.Run(); err != nil {
		switch {
		case ctx.Err() != nil:
			return a, ctx.Err()
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, exec.ErrNotFound):
			return a, &broker.Error{
				Kind: broker.ErrUnsupported, Detail: "the server has no program that renders charts",
				Remedy: "install vimbroker-helm beside vimbroker on the server", Cause: err,
			}
		}
		return a, faultOf("rendering it takes more time or memory than one chart may have, or gives too much")
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return a, faultOf(strange)
	}
	if a.Fault != "" {
		return chart.Rendering{Asked: a.Asked}, faultOf(a.Fault)
	}
	return a, nil
}

const strange = "the program that renders it does not answer as it should; see that vimbroker-helm is of the server's version"

func faultOf(says string) error {
	return &broker.Error{Kind: broker.ErrInvalid, Detail: "the chart: " + says, Remedy: "correct the chart or its values"}
}

// bounds is a buffer that takes no more than an answer can have.
type bounds struct{ bytes.Buffer }

func (b *bounds) Write(p []byte) (int, error) {
	if b.Len()+len(p) > chart.MaxAnswer {
		return 0, errors.New("the answer is too long")
	}
	return b.Buffer.Write(p)
}

// parameters are those of a request for a chart, by the names of OpenStack Tacker; helm_values is the
// broker's own.
type parameters struct {
	// Values are laid over the chart's; Sets are single ones, by Helm's notation of --set.
	Values json.RawMessage            `json:"helm_values"`
	Sets   map[string]json.RawMessage `json:"helm_parameters"`
	// Names are the values that say how many instances VDUs have, by the VDUs' ids or names.
	Names map[string]struct {
		Replica string `json:"replica"`
	} `json:"helm_value_names"`
	// Overlay is of ONAP's door alone.
	Overlay chart.Overlay `json:"overlay"`
	// NewSecrets: Secrets that the chart generates again at each rendering may change.
	NewSecrets bool `json:"helm_new_secrets"`
}

func parametersOf(in lifecycle.PlanInput) (p parameters, err error) {
	if len(in.Parameters) > 0 && json.Unmarshal(in.Parameters, &p) != nil {
		err = broker.Invalid("additionalParams",
			"give helm_values as an object, helm_parameters as an object of single values, and helm_value_names as {VDU: {replica: NAME}}")
	}
	return p, err
}

// replicas are the values that say how many VNFCs there are, by the names of VDUs.
func (p parameters) replicas(in lifecycle.PlanInput) map[string]string {
	names := map[string]string{}
	for vdu, of := range p.Names {
		if known, is := in.Flavour.VDUs[vdu]; is {
			vdu = known.Name
		}
		if of.Replica != "" {
			names[vdu] = of.Replica
		}
	}
	return names
}

// pulled adds a chart to a request that lies at a registry or a repository.
func (d *Driver) pulled(ctx context.Context, in lifecycle.PlanInput, r *chart.Task) error {
	named, err := d.reference(in.Named[0])
	if err != nil {
		return err
	}
	got, err := d.puller.Pull(ctx, in.Egress, in.Project, named, d.find(in.Project))
	if err != nil {
		return err
	}
	r.Archive, r.Provenance, r.Name, r.Version = got.Archive, got.Provenance, named.Name, named.Version
	if r.Signed = named.Digest == ""; !r.Signed {
		return nil
	}
	if r.Keyring, err = os.ReadFile(d.options.KeyringFile); err != nil {
		return &broker.Error{
			Kind: broker.ErrUnavailable, Field: pull.Field, Detail: "the broker cannot read its keyring",
			Remedy: "see the server's configuration (charts.keyringFile)", Cause: err,
		}
	}
	return nil
}

// find is a [pull.Find] for a project, by the program that renders: an index is others' text. If the pull's time ends
// first it is [broker.ErrUnavailable]: the project's other charts come before it.
func (d *Driver) find(project string) pull.Find {
	return func(ctx context.Context, index []byte, name, version string) (url, digest string, err error) {
		a, err := d.render(ctx, project, chart.Task{Index: index, Name: name, Version: version})
		if errors.Is(err, context.DeadlineExceeded) {
			err = &broker.Error{
				Kind: broker.ErrUnavailable, Field: pull.Field,
				Detail: "other charts of the project are being rendered, and the repository's index waits for them",
				Remedy: "try again in a moment",
			}
		}
		return a.URL, a.Digest, err
	}
}

// requestOf is the chart of an instance with its values.
func (d *Driver) requestOf(ctx context.Context, in lifecycle.PlanInput, p parameters) (r chart.Task, err error) {
	r = chart.Task{Release: releaseName(in), Namespace: in.Namespace, Values: p.Values, Overlay: p.Overlay}
	if len(in.Named) == 1 && pull.Is(in.Named[0]) {
		if err := d.pulled(ctx, in, &r); err != nil {
			return r, err
		}
	} else if len(in.Manifests) == 1 && path.Ext(in.Manifests[0].Path) == ".tgz" {
		r.Archive = []byte(in.Manifests[0].Text.Reveal())
	} else {
		var paths []string
		for _, m := range in.Manifests {
			paths = append(paths, m.Path)
		}
		roots := charts(paths)
		if len(roots) != 1 {
			return r, faultOf("the package holds no chart where it was")
		}
		for _, m := range in.Manifests {
			r.Files = append(r.Files, chart.ChartFile{Path: strings.TrimPrefix(m.Path, roots[0]+"/"), Text: []byte(m.Text.Reveal())})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Sets)) {
		value := string(p.Sets[name])
		if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
			return r, broker.Invalid("additionalParams.helm_parameters", "holds single values; give objects and lists in helm_values")
		}
		if strings.HasPrefix(value, `"`) {
			_ = json.Unmarshal(p.Sets[name], &value) // a text, as it begins so
		}
		r.Sets = append(r.Sets, chart.Set{Name: name, Value: value})
	}
	counted := p.replicas(in)
	for _, vdu := range slices.Sorted(maps.Keys(counted)) {
		if n, known := in.Replicas[vdu]; known {
			r.Sets = append(r.Sets, chart.Set{Name: counted[vdu], Value: strconv.Itoa(int(n))})
		}
	}
	return r, nil
}
