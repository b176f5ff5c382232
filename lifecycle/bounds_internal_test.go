package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// wantInvalid is an ErrInvalid of that field whose detail has a text; no error where field is empty.
func wantInvalid(t *testing.T, name string, err error, field, says string) {
	t.Helper()
	var known *broker.Error
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case field != "" && (!errors.As(err, &known) || known.Kind != broker.ErrInvalid || known.Field != field || !strings.Contains(known.Detail, says)):
		t.Errorf("%s: %v, want %s that says %q", name, err, field, says)
	}
}

func TestNumbersOfInstancesAreBounded(t *testing.T) {
	for _, c := range []struct {
		min, max, n int
		says        string
	}{
		{1, 3, 1, ""},
		{1, 3, 3, ""},
		{0, 0, 0, ""},
		{0, 0, maxReplicas, ""},
		{0, maxReplicas + 1, maxReplicas, ""},
		{1, 3, 0, "leads to 0 instances of VDU V, which has 1 to 3"},
		{1, 3, 4, "leads to 4 instances of VDU V, which has 1 to 3"},
		{0, 0, -1, "leads to -1 instances of VDU V, which has 0 to 100000"},
		{2, 0, maxReplicas + 1, "leads to 100001 instances of VDU V, which has 2 to 100000"},
		{0, maxReplicas + 1, maxReplicas + 1, "leads to 100001"},
		{2, 0, 1, "which has 2 to 100000"},
	} {
		field := map[bool]string{true: "f"}[c.says != ""]
		wantInvalid(t, fmt.Sprint(c), bounded(vnfpkg.VDU{ID: "V", Min: c.min, Max: c.max}, c.n, "f"), field, c.says)
	}
}

// scaled is a flavour of two aspects and three VDUs; of Silent the descriptor says no number.
func scaled() vnfpkg.Flavour {
	return vnfpkg.Flavour{
		ID: "simple", ExtCPs: []string{"CP"},
		VDUs: map[string]vnfpkg.VDU{
			"Front": {ID: "Front", Name: "front", Max: 5, Initial: 1}, "Back": {ID: "Back", Name: "back", Max: 5},
			"Silent": {ID: "Silent", Name: "silent"},
		},
		Aspects: map[string]vnfpkg.Aspect{
			"front": {ID: "front", MaxLevel: 3, Deltas: map[string]int{"Front": 2}}, "back": {ID: "back", MaxLevel: 2, Deltas: map[string]int{"Back": 1}},
		},
		Levels: map[string]vnfpkg.Level{
			"low": {Scale: map[string]int{"front": 0}, Instances: map[string]int{"Back": 0}}, "high": {Scale: map[string]int{"front": 1, "back": 2}},
			"much": {Instances: map[string]int{"Back": 6}},
		},
		DefaultLevel: "low",
	}
}

func TestALevelSaysHowManyThereAre(t *testing.T) {
	for level, want := range map[string]Shape{
		"":     {Scale: map[string]int{"front": 0, "back": 0}, Replicas: map[string]int32{"front": 1, "back": 0}},
		"low":  {Scale: map[string]int{"front": 0, "back": 0}, Replicas: map[string]int32{"front": 1, "back": 0}},
		"high": {Scale: map[string]int{"front": 1, "back": 2}, Replicas: map[string]int32{"front": 3, "back": 2}},
	} {
		want.ExtCPs, want.MaxScale = []string{"CP"}, map[string]int{"front": 3, "back": 2}
		var got Shape
		if err := got.level(scaled(), level); err != nil {
			t.Errorf("level %q: %v", level, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("level %q differs (-want +got):\n%s", level, diff)
		}
	}
	var s Shape
	wantInvalid(t, "an unknown level", s.level(scaled(), "none"), "instantiationLevelId", "flavour simple has no such level")
	wantInvalid(t, "a level of too many", s.level(scaled(), "much"), "instantiationLevelId", "leads to 6 instances of VDU Back")
	f := scaled()
	f.DefaultLevel = ""
	if err := s.level(f, ""); err != nil || s.Replicas["front"] != 1 {
		t.Errorf("without a level there are %v, %v", s.Replicas, err)
	}
}

func TestStepsStayWithinAnAspect(t *testing.T) {
	for _, c := range []struct {
		aspect string
		steps  int
		field  string
		says   string
	}{
		{"front", 2, "", ""},
		{"back", 2, "", ""},
		{"front", -1, "numberOfSteps", "lead to scale level -1 of aspect front, which goes from 0 to 3"},
		{"back", 3, "numberOfSteps", "lead to scale level 3 of aspect back, which goes from 0 to 2"},
		{"front", 3, "numberOfSteps", "leads to 7 instances of VDU Front, which has 0 to 5"},
		{"other", 1, "aspectId", "flavour simple has no scaling aspect other"},
	} {
		var s Shape
		if err := s.level(scaled(), ""); err != nil {
			t.Fatal(err)
		}
		before := s
		wantInvalid(t, c.aspect, s.step(scaled(), c.aspect, c.steps), c.field, c.says)
		want := maps.Clone(before.Scale)
		if c.field == "" {
			want[c.aspect] = c.steps
		}
		if !maps.Equal(s.Scale, want) || c.field != "" && !maps.Equal(s.Replicas, before.Replicas) || before.Scale["front"] != 0 {
			t.Errorf("%d steps of %s lead to %v and %v", c.steps, c.aspect, s.Scale, s.Replicas)
		}
	}
	// What the new package does not know, or bounds lower, is at its default there.
	var s Shape
	f := scaled()
	f.DefaultLevel = ""
	if err := s.level(f, ""); err != nil {
		t.Fatal(err)
	}
	s.keep(Shape{Scale: map[string]int{"front": 2, "back": 3, "gone": 0}}, f)
	if want := map[string]int{"front": 2, "back": 0}; !maps.Equal(s.Scale, want) {
		t.Errorf("the scale that is kept is %v, want %v", s.Scale, want)
	}
	s.keep(Shape{Scale: map[string]int{"back": 2}}, f)
	if s.Scale["back"] != 2 {
		t.Errorf("the highest level is not kept: %v", s.Scale)
	}
}

func TestTextsAreBounded(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, "abcde": true, "a\nb\tc": true, "\t": true, "\n": true, "é": true,
		"abcdef": false, "a\xff": false, "a\rb": false, "a\x00": false, "\u200b": false,
	} {
		wantInvalid(t, fmt.Sprintf("%q", text), validText("f", text, 5), map[bool]string{false: "f"}[good], "at most 5 bytes")
	}
}

func TestRulesOfWaves(t *testing.T) {
	for _, c := range []struct {
		rule WaveRule
		says string
	}{
		{WaveRule{Kind: "Job"}, ""},
		{WaveRule{Name: "a"}, ""},
		{WaveRule{Labels: map[string]string{"a": "b"}}, ""},
		{WaveRule{Wave: 1}, "needs a kind, a name or labels"},
		{WaveRule{Kind: "Job", Wave: math.MinInt16}, ""},
		{WaveRule{Kind: "Job", Wave: math.MaxInt16}, ""},
		{WaveRule{Kind: "Job", Wave: math.MinInt16 - 1}, "needs a wave"},
		{WaveRule{Kind: "Job", Wave: math.MaxInt16 + 1}, "needs a wave"},
	} {
		if got := c.rule.Fault(); !strings.HasPrefix(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%+v: %q, want %q", c.rule, got, c.says)
		}
	}
}

func TestInputIsBounded(t *testing.T) {
	const order, files, of = "additionalParams.order", "additionalParams.lcm-kubernetes-def-files", "additionalParams.variables"
	rules := slices.Repeat([]WaveRule{{Kind: "Job"}}, maxWaves+1)
	variables := map[string]string{}
	for n := range maxVariables {
		variables[fmt.Sprint("v", n)] = ""
	}
	more := maps.Clone(variables)
	more["one"] = ""
	for name, c := range map[string]struct {
		files      []string
		waves      []WaveRule
		variables  map[string]string
		parameters string
		field      string
		says       string
	}{
		"nothing":          {},
		"the most":         {files: slices.Repeat([]string{"a"}, maxFiles), waves: rules[1:], variables: variables, parameters: `{}`},
		"too many rules":   {waves: rules, field: order, says: "has more than 200 rules"},
		"a rule of none":   {waves: []WaveRule{{Kind: "Job"}, {}}, field: order, says: "rule 2 needs a kind"},
		"no object":        {parameters: `[]`, field: "additionalParams.nfv", says: "is not a JSON object"},
		"too many files":   {files: slices.Repeat([]string{"a"}, maxFiles+1), field: files, says: "names more than 10000 files"},
		"too long a file":  {files: []string{strings.Repeat("x", 1025)}, field: files, says: "1024 bytes"},
		"too many values":  {variables: more, field: of, says: "has more than 200 members"},
		"a bad name":       {variables: map[string]string{"1a": ""}, field: of, says: "does not begin with a digit"},
		"the longest name": {variables: map[string]string{strings.Repeat("x", 64): strings.Repeat("x", maxVariable)}},
		"a longer name":    {variables: map[string]string{strings.Repeat("x", 65): ""}, field: of, says: "1 to 64"},
		"too long a value": {variables: map[string]string{"a": strings.Repeat("x", maxVariable+1)}, field: of + ".a", says: "4096 bytes"},
	} {
		var parameters json.RawMessage
		if c.parameters != "" {
			parameters = json.RawMessage(c.parameters)
		}
		wantInvalid(t, name, validInput(c.files, c.waves, c.variables, parameters), c.field, c.says)
	}
}

func TestParametersAreDeclared(t *testing.T) {
	d := vnfpkg.VNFD{Parameters: map[string]bool{"colour": false, "vnf_site_name": true, "a_long_word": false, "a_copies_x": false, "copie": false}}
	for name, c := range map[string][2]string{
		"colour": {}, "color": {"holds the unknown member color", "write colour, or leave it out"},
		"a_long":      {"holds the unknown member a_long", "write a_long_word, or leave it out"},
		"site":        {"holds the unknown member site", "write vnf_site_name, or leave it out"},
		"copies":      {"holds the unknown member copies", "write copie, or leave it out"},
		"sit":         {"holds the unknown member sit", "leave it out, or have the VNFD declare it"},
		"":            {"holds a member without a name", "leave it out, or have the VNFD declare it"},
		"nothinglike": {"holds the unknown member nothinglike", "leave it out, or have the VNFD declare it"},
	} {
		err := declared(d, []string{"colour", "vnf_site_name", name})
		wantInvalid(t, name, err, map[bool]string{true: "additionalParams"}[c[0] != ""], c[0])
		if known, is := errors.AsType[*broker.Error](err); is && known.Remedy != c[1] {
			t.Errorf("%s: %s, want %s", name, known.Remedy, c[1])
		}
	}
}

func TestMergedObjects(t *testing.T) {
	long := strings.Repeat("x", maxObject-len(`{"a":""}`))
	for _, c := range []struct{ object, patch, want, says string }{
		{`{"a":1}`, "", `{"a":1}`, ""},
		{"", `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`, ""},
		{`{"a":{"x":2},"d":3}`, `{"a":{"b":null,"c":1},"d":null}`, `{"a":{"c":1,"x":2}}`, ""},
		{`{"a":1}`, `{"a":null}`, "", ""},
		{"", `{"a":"` + long + `"}`, `{"a":"` + long + `"}`, ""},
		{"", `{"a":"x` + long + `"}`, "", "would be longer than 65536 bytes"},
		{"", `1`, "", "is not a JSON object"},
	} {
		var patch json.RawMessage
		if c.patch != "" {
			patch = json.RawMessage(c.patch)
		}
		got, err := merged("f", json.RawMessage(c.object), patch)
		wantInvalid(t, fmt.Sprintf("%.40s on %.40s", c.patch, c.object), err, map[bool]string{true: "f"}[c.says != ""], c.says)
		if string(got) != c.want {
			t.Errorf("%.40s on %.40s is %.60s, want %.60s", c.patch, c.object, got, c.want)
		}
	}
	var known *broker.Error
	if got, err := merged("f", json.RawMessage(`{`), json.RawMessage(`{}`)); err == nil || errors.As(err, &known) || got != nil {
		t.Errorf("a patch of a stored text that is no object is %s, %v", got, err)
	}
	vnfcs := []VNFC{{VDU: "v", Name: "a"}, {VDU: "v", Name: "b"}}
	if got, err := named(vnfcs, []string{"b", "v-a"}); err != nil || len(got) != 2 || got[0].Name != "b" || got[1].Name != "a" {
		t.Errorf("VNFCs by name and by id are %v, %v", got, err)
	}
	_, err := named(vnfcs, []string{"a", "c"})
	wantInvalid(t, "an unknown VNFC", err, "vnfcInstanceId", "has no such VNFC")
}

// A request changes of a VIM what it says, and what is as it was is no change.
func TestWhatARequestChangesOfItsVIM(t *testing.T) {
	now := broker.Target{
		Endpoint: "https://a", CACert: "c", Scope: broker.Scope{Region: "r", ProjectID: "p", ProjectDomainID: "pd", UserDomainID: "ud"},
	}
	v := broker.VIM{Current: broker.Generation{Target: now, Username: "u"}}
	text := func(p *string) string {
		if p == nil {
			return "stays"
		}
		return *p
	}
	for name, c := range map[string]struct {
		in                         InlineVIM
		endpoint, cert, skip, user string
		scope                      broker.Scope
	}{
		"nothing":           {InlineVIM{}, "stays", "stays", "stays", "", broker.Scope{}},
		"the same":          {InlineVIM{Endpoint: now.Endpoint, CACert: now.CACert, Scope: broker.Scope{Region: "r"}}, "stays", "stays", "stays", "", broker.Scope{}},
		"another place":     {InlineVIM{Endpoint: "https://b"}, "https://b", "stays", "stays", "", broker.Scope{}},
		"another authority": {InlineVIM{CACert: "d"}, "stays", "d", "stays", "", broker.Scope{}},
		"less care":         {InlineVIM{InsecureSkipVerify: true}, "stays", "stays", "true", "", broker.Scope{}},
		"a password": {
			InlineVIM{Credential: broker.Credential{Password: secret.NewText("x")}}, "stays", "stays", "stays", "u", broker.Scope{},
		},
		"a password of another": {
			InlineVIM{Credential: broker.Credential{Password: secret.NewText("x"), Username: "w"}}, "stays", "stays", "stays", "w", broker.Scope{},
		},
		"a project": {
			InlineVIM{Scope: broker.Scope{ProjectName: "n"}},
			"stays", "stays", "stays", "",
			broker.Scope{Region: "r", ProjectName: "n", ProjectDomainID: "pd", UserDomainID: "ud"},
		},
		"a project's domain": {
			InlineVIM{Scope: broker.Scope{ProjectDomainName: "n"}},
			"stays", "stays", "stays", "",
			broker.Scope{Region: "r", ProjectID: "p", ProjectDomainName: "n", UserDomainID: "ud"},
		},
		"a user's domain in another region": {
			InlineVIM{Scope: broker.Scope{UserDomainName: "n", Region: "s"}},
			"stays", "stays", "stays", "",
			broker.Scope{Region: "s", ProjectID: "p", ProjectDomainID: "pd", UserDomainName: "n"},
		},
	} {
		got := c.in.change(v)
		skip, scope := "stays", broker.Scope{}
		if got.InsecureSkipVerify != nil {
			skip = fmt.Sprint(*got.InsecureSkipVerify)
		}
		if got.Scope != nil {
			scope = *got.Scope
		}
		if text(got.Endpoint) != c.endpoint || text(got.CACert) != c.cert || skip != c.skip || scope != c.scope || got.Credential.Username != c.user || !got.Inline {
			t.Errorf("%s: %+v with scope %+v, user %q", name, got, scope, got.Credential.Username)
		}
	}
	v.Current.Target.InsecureSkipVerify = true
	if got := (InlineVIM{InsecureSkipVerify: true}).change(v); got.InsecureSkipVerify != nil {
		t.Error("what is not verified already is changed")
	}
}

func TestPartsOfAShape(t *testing.T) {
	s := Shape{Part: Part{VIM: "1", VIMName: "one", Connection: "a"}, More: []Part{{Name: "p2", VIM: "2", VIMName: "two", Connection: "b"}}}
	for connection, want := range map[string]string{"a": "1", "b": "2", "": "1", "c": "1"} {
		if got := s.Connected(connection); got.VIM != want {
			t.Errorf("connection %q leads to VIM %s, want %s", connection, got.VIM, want)
		}
	}
	if got := s.VIMNames(); got != "one, two" {
		t.Errorf("VIMNames() = %q", got)
	}
	if got := words([]Reach{{What: ReachRBAC}, {What: ReachNode}, {What: ReachRBAC}}); !slices.Equal(got, []string{ReachNode, ReachRBAC}) {
		t.Errorf("the words are %v", got)
	}
	links := []Link{
		{ID: "1", CPs: []sol003.ExtCP{{CPDID: "x"}, {CPDID: "y"}}}, {ID: "2", CPs: []sol003.ExtCP{{CPDID: "y"}}}, {ID: "3", VL: "x"}, {ID: "4", VL: "y"},
	}
	var got []string
	for _, k := range divided(links, func(name string) bool { return name == "x" }) {
		got = append(got, fmt.Sprint(k.ID, len(k.CPs)))
	}
	if !slices.Equal(got, []string{"11", "30"}) || len(links[0].CPs) != 2 {
		t.Errorf("the links of the part are %v", got)
	}
	if none := divided(links, func(string) bool { return false }); none == nil || len(none) != 0 {
		t.Errorf("a part that takes none has %v", none)
	}
}

// A link of the descriptor is changed where another one takes its place; one that is external is none of these.
func TestLinksThatAnOperationChanges(t *testing.T) {
	link := func(vl, id string) Link { return Link{VL: vl, ID: id} }
	o := Operation{
		Before: Shape{Links: []Link{link("a", "1"), link("b", "2"), link("c", "3"), link("", "4")}},
		Target: Shape{Links: []Link{link("a", "1"), link("b", "5"), link("d", "3"), link("", "6")}},
	}
	var got []string
	for _, a := range o.AffectedLinks() {
		got = append(got, string(a.Change)+" "+a.VL+a.ID)
	}
	if want := []string{"ADDED b5", "ADDED d3", "REMOVED b2", "REMOVED c3"}; !slices.Equal(got, want) {
		t.Errorf("changed are %v, want %v", got, want)
	}
	o = Operation{
		Before: Shape{VNFCs: []VNFC{{VDU: "v", Name: "same", UID: "1"}, {VDU: "v", Name: "new", UID: "2"}, {VDU: "v", Name: "gone"}, {VDU: "w", Name: "else"}}},
		Steps:  []Observation{{Resource: Resource{VDU: "v"}, VNFCs: []VNFC{{VDU: "v", Name: "same", UID: "1"}, {VDU: "v", Name: "new", UID: "3"}, {VDU: "v", Name: "more"}}}},
	}
	got = nil
	for _, a := range o.Affected() {
		got = append(got, string(a.Change)+" "+a.Name)
	}
	if want := []string{"MODIFIED new", "ADDED more", "REMOVED gone"}; !slices.Equal(got, want) {
		t.Errorf("changed are %v, want %v", got, want)
	}
	for of, want := range map[OperationType]bool{
		Instantiate: true, ScaleVNF: true, ChangePackage: true, ChangeConn: true, Heal: false, Terminate: false, ModifyInfo: false,
	} {
		if of.Rollbackable() != want {
			t.Errorf("%s: Rollbackable is not %t", of, want)
		}
	}
	for _, c := range []struct {
		o    Operation
		want bool
	}{
		{Operation{State: Processing, Type: Heal}, true}, {Operation{State: Processing, Type: ModifyInfo}, false}, {Operation{State: Completed, Type: Heal}, false},
	} {
		if c.o.Cancelable() != c.want {
			t.Errorf("%s of %s: Cancelable is not %t", c.o.State, c.o.Type, c.want)
		}
	}
}

func TestDeploymentFlavours(t *testing.T) {
	one := vnfpkg.VNFD{Flavours: map[string]vnfpkg.Flavour{"a": {ID: "a"}}}
	two := vnfpkg.VNFD{Flavours: map[string]vnfpkg.Flavour{"a": {ID: "a"}, "b": {ID: "b"}}}
	byDefault := two
	byDefault.DefaultFlavour = "b"
	for _, c := range []struct {
		of       vnfpkg.VNFD
		id, want string
	}{{one, "", "a"}, {one, "a", "a"}, {byDefault, "", "b"}, {byDefault, "a", "a"}, {two, "", ""}, {one, "b", ""}} {
		got, err := flavour(c.of, c.id)
		wantInvalid(t, c.id, err, map[bool]string{true: "flavourId"}[c.want == ""], "has no such deployment flavour; it has a")
		if got.ID != c.want {
			t.Errorf("flavour %q is %q, want %q", c.id, got.ID, c.want)
		}
	}
}
