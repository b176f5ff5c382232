package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// wantInvalid is an ErrInvalid of that field whose text has a part; none where field is empty.
func wantInvalid(t *testing.T, name string, err error, field, says string) {
	t.Helper()
	known, is := errors.AsType[*broker.Error](err)
	if field == "" && err != nil || field != "" && (!is || known.Kind != broker.ErrInvalid || known.Field != field || !strings.Contains(known.Detail, says)) {
		t.Errorf("%s: %v, want %s that says %q", name, err, field, says)
	}
}

// tarGz is an archive of names and texts in turn.
func tarGz(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg})
		if _, failed := w.Write([]byte(files[i+1])); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestNamesOfDocuments(t *testing.T) {
	long := strings.Repeat("a", 128)
	rb := Definition{Name: "rb", Version: "1"}
	profile := Profile{Definition: "rb", Version: "1", Name: "p", Release: "r", Namespace: "n"}
	with := func(edit func(*Profile)) Profile {
		p := profile
		edit(&p)
		return p
	}
	for name, c := range map[string]struct {
		d     Document
		field string
	}{
		"a definition": {rb, ""}, "the longest name": {Definition{Name: long, Version: "1"}, ""}, "a longer name": {Definition{Name: long + "a", Version: "1"}, "rb-name"},
		"a name that ends in a dot": {Definition{Name: "a.", Version: "1"}, "rb-name"}, "no version": {Definition{Name: "a"}, "rb-version"},
		"a chart's name": {Definition{Name: "a", Version: "1", Chart: "a/b"}, "chart-name"}, "the longest text": {Definition{Name: "a", Version: "1", Description: strings.Repeat("x", maxText)}, ""},
		"a longer text": {Definition{Name: "a", Version: "1", Description: strings.Repeat("x", maxText+1)}, "description"},
		"lines":         {Definition{Name: "a", Version: "1", Description: "a\n\tb "}, ""}, "a bell": {Definition{Name: "a", Version: "1", Description: "a\x07"}, "description"},
		"a return": {Definition{Name: "a", Version: "1", Description: "a\r"}, "description"}, "no text": {Definition{Name: "a", Version: "1", Description: "a\uFFFD"}, "description"},
		"a profile": {profile, ""}, "a namespace": {with(func(p *Profile) { p.Namespace = "N" }), "namespace"}, "no namespace": {with(func(p *Profile) { p.Namespace = "" }), "namespace"},
		"the longest namespace": {with(func(p *Profile) { p.Namespace = strings.Repeat("n", 63) }), ""}, "a longer namespace": {with(func(p *Profile) { p.Namespace = strings.Repeat("n", 64) }), "namespace"},
		"the longest release": {with(func(p *Profile) { p.Release = strings.Repeat("r", 53) }), ""}, "a longer release": {with(func(p *Profile) { p.Release = strings.Repeat("r", 54) }), "release-name"},
		"a profile's name": {with(func(p *Profile) { p.Name = "a b" }), "profile-name"}, "a version that controls": {with(func(p *Profile) { p.Kubernetes = "\x01" }), "kubernetes-version"},
		"too many kinds": {with(func(p *Profile) { p.Extra = slices.Repeat([]GVK{{Kind: "Kind"}}, 1000) }), "extra-resource-types"},
		"a template":     {Template{Name: "t"}, ""}, "a template's name": {Template{Name: ""}, "template-name"}, "a template's text": {Template{Name: "t", Description: "\x01"}, "description"},
		"a template's chart": {Template{Name: "t", Chart: "."}, "chart-name"},
	} {
		wantInvalid(t, name, c.d.valid(), c.field, "must be")
	}
	if got := []string{rb.name(), profile.name(), Template{Definition: "rb", Version: "1", Name: "t"}.name()}; !slices.Equal(got, []string{"rb/1", "rb/1/p", "rb/1/t"}) {
		t.Errorf("the rows are called %q", got)
	}
}

func TestChartsOfArchives(t *testing.T) {
	const chart = "apiVersion: v2\n"
	b := &Bundles{}
	files, name, err := b.chartOf(tarGz(t, "web/Chart.yaml", chart, "web/charts/a/Chart.yaml", chart, "web/x", "y", "README", "z"), "")
	if err != nil || name != "web" || len(files) != 3 {
		t.Errorf("a chart is %q with %d files, %v", name, len(files), err)
	}
	if _, name, err = b.chartOf(tarGz(t, "web/Chart.yaml", chart), "web"); err != nil || name != "web" {
		t.Errorf("the chart that is wanted is %q, %v", name, err)
	}
	for says, c := range map[string]struct {
		content []byte
		want    string
		limits  vnfpkg.ArchiveLimits
	}{
		"holds 0 charts": {tarGz(t, "Chart.yaml", chart, "a/b/Chart.yaml", chart), "", vnfpkg.ArchiveLimits{}},
		"holds 2 charts": {tarGz(t, "a/Chart.yaml", chart, "b/Chart.yaml", chart), "", vnfpkg.ArchiveLimits{}},
		"another name":   {tarGz(t, "a/Chart.yaml", chart), "web", vnfpkg.ArchiveLimits{}},
		"must be":        {tarGz(t, "a b/Chart.yaml", chart), "", vnfpkg.ArchiveLimits{}},
	} {
		_, _, err := b.chartOf(c.content, c.want)
		wantInvalid(t, says, err, "content", says)
	}
	many := []string{"a/Chart.yaml", chart}
	for n := range maxChartFiles {
		many = append(many, fmt.Sprint("a/", n), "")
	}
	wide := &Bundles{Options{Limits: vnfpkg.ArchiveLimits{Entries: maxChartFiles + 9}}}
	if files, _, err := wide.chartOf(tarGz(t, many[2:]...), ""); err == nil || !strings.Contains(err.Error(), "holds 0 charts") {
		t.Errorf("the most files are told as %v, %d files", err, len(files))
	}
	if _, _, err := wide.chartOf(tarGz(t, many...), ""); err == nil || !strings.Contains(err.Error(), "more than 2000 entries") {
		t.Errorf("one file more is told as %v", err)
	}
	for _, limits := range []vnfpkg.ArchiveLimits{{Entries: 1}, {Unpacked: 3}} {
		if _, _, err := (&Bundles{Options{Limits: limits}}).chartOf(tarGz(t, "a/Chart.yaml", chart, "a/b", "x"), ""); err == nil {
			t.Errorf("an archive beyond %+v is taken", limits)
		}
	}
	if err := unpackable(&vnfpkg.PackageError{Path: "a", Detail: "is b"}); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "a in the package is b") {
		t.Errorf("a fault of an archive is told as %v", err)
	}
	if err := unpackable(errEnded); !errors.Is(err, errEnded) {
		t.Errorf("another error is told as %v", err)
	}
}

func TestOverlaysOfProfiles(t *testing.T) {
	manifest := func(text string, more ...string) []byte { return tarGz(t, append(more, "manifest.yaml", text)...) }
	one := func(from, to string) string {
		return "version: v1\ntype: {configresource: [{filepath: " + from + ", chartpath: " + to + "}]}\n"
	}
	long := "a: " + strings.Repeat("x", maxOverlay-len(`{"values":"a: "}`))
	for name, c := range map[string]struct {
		content []byte
		want    string // values, and files
		says    string
	}{
		"nothing":              {manifest("version: v1\n"), " []", ""},
		"values":               {manifest("version: v1\ntype: {values: ./a.yaml}\n", "a.yaml", "b: c\n"), "b: c\n []", ""},
		"a file":               {manifest(one("./a", "web/./b"), "a", "x"), " [{web/b [120]}]", ""},
		"the most":             {manifest("version: v1\ntype: {values: a}\n", "a", long), long + " []", ""},
		"too much":             {manifest("version: v1\ntype: {values: a}\n", "a", long+"x"), "", "more than 61440 bytes"},
		"no manifest":          {tarGz(t, "a", "b"), "", "holds no manifest.yaml"},
		"another version":      {manifest("version: v2\n"), "", "not of version v1"},
		"no YAML":              {manifest("version: v1\n["), "", "not of version v1"},
		"values of none":       {manifest("version: v1\ntype: {values: a}\n"), "", "names values that it does not hold"},
		"values of a list":     {manifest("version: v1\ntype: {values: a}\n", "a", "- b\n"), "", "not a mapping"},
		"a file of none":       {manifest(one("a", "b")), "", "names a filepath"},
		"a way out":            {manifest(one("a", "../b"), "a", "x"), "", "leads out of the chart"},
		"a chart's own file":   {manifest(one("a", "web/Chart.yaml"), "a", "x"), "", "replaces Chart.yaml"},
		"one file twice":       {manifest("version: v1\ntype: {configresource: [{filepath: a, chartpath: b}, {filepath: a, chartpath: ./b}]}\n", "a", "x"), "", "or one file twice"},
		"two files of one way": {manifest("version: v1\ntype: {configresource: [{filepath: a, chartpath: b}, {filepath: a, chartpath: c}]}\n", "a", "x"), " [{b [120]} {c [120]}]", ""},
	} {
		got, err := overlayOf(c.content)
		if wantInvalid(t, name, err, map[bool]string{true: "content"}[c.says != ""], c.says); err == nil && fmt.Sprint(got.Values, " ", got.Files) != c.want {
			t.Errorf("%s: %.80v %v", name, got.Values, got.Files)
		}
	}
	if _, err := overlayOf([]byte("x")); err == nil {
		t.Error("what is no archive is an overlay")
	}
}

func TestRequestsForInstances(t *testing.T) {
	whole := Request{Definition: "rb", Version: "1", Profile: "p", Region: "edge"}
	with := func(edit func(*Request)) Request {
		r := whole
		edit(&r)
		return r
	}
	sets := func(pairs ...string) Request {
		return with(func(r *Request) {
			r.Overrides = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				r.Overrides[pairs[i]] = pairs[i+1]
			}
		})
	}
	many := func(n int) Request {
		return with(func(r *Request) {
			r.Overrides = map[string]string{}
			for i := range n {
				r.Overrides[fmt.Sprint("v", i)] = ""
			}
		})
	}
	const of = "override-values"
	for name, c := range map[string]struct {
		r           Request
		field, says string
	}{
		"whole": {whole, "", ""}, "no definition": {with(func(r *Request) { r.Definition = "" }), "rb-name", ""}, "no version": {with(func(r *Request) { r.Version = "" }), "rb-version", ""},
		"no profile": {with(func(r *Request) { r.Profile = "" }), "profile-name", ""}, "no region": {with(func(r *Request) { r.Region = "" }), "cloud-region", ""},
		"a release": {with(func(r *Request) { r.Release = "R" }), "release-name", ""}, "values": {sets(`a.b[0]\/-_`, "x", "k8s-rb-instance-pre-install-timeout", "300"), "", ""},
		"the longest name": {sets(strings.Repeat("a", 255), ""), "", ""}, "a longer name": {sets(strings.Repeat("a", 256), ""), of, "at most 1000 names"},
		"a name": {sets("a b", "x"), of, "at most 1000 names"}, "the id": {sets(idValue, "x"), of, "which is set for the chart"}, "no number": {sets("k8s-rb-instance-post-delete-timeout", "x"), of, "a number of seconds"},
		"too large a number": {sets("k8s-rb-instance-post-upgrade-timeout", "4294967296"), of, "a number of seconds"}, "a NUL": {sets("a", "x\x00"), of, "NUL"},
		"as many as there may be": {many(maxOverrides), "", ""}, "too many": {many(maxOverrides + 1), of, "at most 1000 names"},
	} {
		wantInvalid(t, name, c.r.valid(), c.field, c.says)
	}
	m := made{Request: whole, VIM: "v", Release: "r", Template: "t"}
	for k, name := range map[Kind]string{OfDefinition: "rb/1", OfProfile: "rb/1/p", OfTemplate: "rb/1/t", OfRegion: "v"} {
		if !m.uses(k, name) || m.uses(k, name+"x") {
			t.Errorf("what it uses as a %s is not %s", k, name)
		}
	}
	if m.claim() != "v/r/rb/1/p" {
		t.Errorf("its claim is %s", m.claim())
	}
	if a, b := newID(), newID(); a == b || len(a) != 17 || a[8] != '_' || strings.Trim(a, "abcdefghijklmnopqrstuvwxyz_") != "" {
		t.Errorf("ids are %s and %s", a, b)
	}
}

func TestStatesOfInstances(t *testing.T) {
	now, next := &made{Instance: "1", VIM: "now"}, &made{Instance: "2", VIM: "next"}
	for _, c := range []struct {
		i     instance
		state string
		at    string
		on    bool
	}{
		{instance{}, done, "", false},
		{instance{Next: next}, "CREATING", "next", false},
		{instance{Now: now}, done, "now", true},
		{instance{Now: now, Next: next}, "UPGRADING", "now", true},
		{instance{Now: now, Left: "3"}, "UPGRADING", "now", true},
		{instance{Now: now, Ending: true}, "DELETING", "now", true},
		{instance{Next: next, Ending: true}, "DELETING", "next", false},
	} {
		if got := c.i.state(); got != c.state || c.i.at().VIM != c.at || c.i.on(*now) != c.on || c.i.on(*next) {
			t.Errorf("%+v is %s at %s", c.i, got, c.i.at().VIM)
		}
	}
	i := instance{Now: now}
	now.Request, now.Release = Request{Definition: "rb"}, "r"
	shown := i.shown(Row{Name: "id"}, []lifecycle.Resource{{Kind: "Secret", Name: "sh.helm.release.v1.web"}, {Group: "apps", Version: "v1", Kind: "Deployment", Name: "web"}})
	if shown.ID != "id" || shown.State != done || shown.Release != "r" || len(shown.Resources) != 1 || shown.Resources[0] != (Resource{GVK{"apps", "v1", "Deployment"}, "web"}) {
		t.Errorf("shown is %+v", shown)
	}
	if shown = i.shown(Row{}, nil); shown.Resources != nil {
		t.Errorf("shown without objects is %+v", shown)
	}
	if shown = i.shown(Row{}, []lifecycle.Resource{}); shown.Resources == nil {
		t.Error("an instance without objects shows none")
	}
	for _, c := range []struct {
		failure *lifecycle.Failure
		kind    error
		detail  string
	}{
		{nil, broker.ErrConflict, "given up"},
		{&lifecycle.Failure{Status: 403, Detail: "a"}, broker.ErrInvalid, "a"},
		{&lifecycle.Failure{Status: 422, Detail: "b"}, broker.ErrInvalid, "b"},
		{&lifecycle.Failure{Status: 502, Detail: "c"}, lifecycle.ErrNotReady, "c"},
		{&lifecycle.Failure{Status: 503}, lifecycle.ErrNotReady, ""},
		{&lifecycle.Failure{Status: 504}, lifecycle.ErrNotReady, ""},
		{&lifecycle.Failure{Status: 409, Detail: "d"}, broker.ErrConflict, "d"},
	} {
		if err := ended(lifecycle.Operation{Failure: c.failure}); !errors.Is(err, c.kind) || !errors.Is(err, errEnded) || !strings.Contains(err.Error(), c.detail) {
			t.Errorf("%+v is told as %v", c.failure, err)
		}
	}
	versions := []Configuration{{Version: 1, Tag: "a"}, {Version: 2}, {Version: 3, Tag: "b"}}
	for _, c := range []struct {
		version, tag string
		want         int
	}{{"2", "", 2}, {"", "a", 1}, {"", "b", 3}, {"4", "", 0}, {"", "c", 0}, {"2", "b", 3}} {
		if got, err := chosen(versions, c.version, c.tag); got.Version != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("version %q of tag %q is %d, %v", c.version, c.tag, got.Version, err)
		}
	}
	if got := (instance{Versions: versions}).newest(); got.Version != 3 || (instance{}).newest().Version != 0 {
		t.Errorf("the newest is %+v", got)
	}
	under := map[string]any{"a": 1, "b": map[string]any{"c": 1, "d": 2}, "e": map[string]any{"f": 1}, "g": 1}
	over := map[string]any{"a": 2, "b": map[string]any{"c": 3}, "e": 4, "g": map[string]any{"h": 1}}
	if got := written(laid(under, over)); got != `{"a":2,"b":{"c":3,"d":2},"e":4,"g":{"h":1}}` {
		t.Errorf("laid over it is %s", got)
	}
}

// Rows are to policies what they are made of.
func TestWhatRowsAreToPolicies(t *testing.T) {
	r := Row{ID: "1", Project: "core", Kind: OfProfile, Name: "rb/2/p"}
	if got := r.resource(); got.Kind != policy.KindPackage || got.ID != "1" || got.Product != "rb" || got.Version != "2" || got.Provider != provider {
		t.Errorf("a profile is %+v", got)
	}
	if got := (Row{Kind: OfDefinition, Name: "rb"}).resource(); got.Product != "rb" || got.Version != "" {
		t.Errorf("half a name is %+v", got)
	}
	i := instance{Now: &made{VNFD: "d", VIM: "v", Instance: "2", Request: Request{Region: "edge"}}, Asker: policy.Delegation{Name: "alice"}}
	for _, k := range []Kind{OfInstance, OfConfig} {
		if got := (Row{Kind: k, Project: "core", Name: "id", Document: written(i)}).resource(); got.Kind != policy.KindVNFInstance || got.Owner != "alice" || got.VNFDID != "d" || got.VIM != "v" {
			t.Errorf("a %s is %+v", k, got)
		}
	}
	if _, err := documentOf[instance](Row{Kind: OfInstance, Document: "{"}); !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), "a stored instance cannot be read") {
		t.Errorf("half a document is told as %v", err)
	}
	if _, _, err := read[instance](Row{Document: "{"}, errEnded); !errors.Is(err, errEnded) {
		t.Errorf("the error of reading is told as %v", err)
	}
	if packageID("a", "b") == packageID("a", "c") || packageID("a", "b") == packageID("b", "b") {
		t.Error("ids of packages do not follow from project and name")
	}
}

func TestWhatSubscribersAreTold(t *testing.T) {
	seen := Objects([]lifecycle.Showing{{Resource: lifecycle.Resource{Version: "v1", Kind: "Pod", Name: "a"}, Object: json.RawMessage(`{"a":1}`)}, {Resource: lifecycle.Resource{Version: "v1", Kind: "Secret", Name: "b"}}})
	if len(seen) != 2 || string(seen[0].Status) != `{"a":1}` || string(seen[1].Status) != `{}` || seen[1].GVK.Kind != "Secret" {
		t.Errorf("shown are %+v", seen)
	}
	var w watch
	told := func(objects ...Shown) string {
		var all []string
		delta := w.changes(objects)
		for _, of := range slices.Sorted(maps.Keys(delta)) {
			for _, o := range delta[of] {
				all = append(all, of+" "+o.GVK.Kind+"/"+o.Name)
			}
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	first, second := seen[0], seen[1]
	changed := first
	changed.Status = json.RawMessage(`{"a":2}`)
	for _, c := range []struct {
		objects []Shown
		want    string
	}{
		{[]Shown{first, second}, "created Pod/a, created Secret/b"},
		{[]Shown{first, second}, ""},
		{[]Shown{changed}, "deleted Secret/b, modified Pod/a"},
		{[]Shown{changed, second}, "created Secret/b"},
		{nil, "deleted Pod/a, deleted Secret/b"},
	} {
		if got := told(c.objects...); got != c.want {
			t.Errorf("told is %q, want %q", got, c.want)
		}
	}
	b := &Bundles{Options{Egress: func(string) *egress.Rules {
		r := egress.Default()
		r.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		r.Ports = []egress.PortRange{{First: 80, Last: 80}, {First: 443, Last: 443}, {First: 8443, Last: 8443}}
		return r
	}}}
	for url, field := range map[string]string{
		"http://192.0.2.9/": "", "https://192.0.2.9/": "", "https://192.0.2.9:8443/": "", "https://name.example:9/": "", "https://192.0.2.9:9/": "callback-url",
		"http://198.51.100.9/": "callback-url", "http://169.254.169.254/": "callback-url", "ftp://192.0.2.9/": "callback-url",
	} {
		one := Watch{Name: "w", Callback: url}
		wantInvalid(t, url, b.checked("core", &one), field, "")
		if field == "" && one.Metadata == nil {
			t.Error("what is not given is null")
		}
	}
	for name, c := range map[string]struct {
		w     Watch
		field string
	}{
		"no name": {Watch{}, "name"}, "an interval": {Watch{Name: "w", Interval: -1}, "min-notify-interval"}, "no interval": {Watch{Name: "w"}, ""},
		"much to say":                {Watch{Name: "w", Metadata: map[string]any{"a": strings.Repeat("x", maxText)}}, "metadata"},
		"an interval for no address": {Watch{Name: "w", Callback: "ftp://a/", Interval: -1}, "callback-url"},
	} {
		c.w.Callback = cmp.Or(c.w.Callback, "http://192.0.2.9/")
		wantInvalid(t, name, b.checked("core", &c.w), c.field, "")
	}
}
