package subscription

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// wantInvalid is an error of that field whose text has a part; none where field is empty.
func wantInvalid(t *testing.T, name string, err error, field, says string) {
	t.Helper()
	known, is := errors.AsType[*broker.Error](err)
	if field == "" && err != nil || field != "" && (!is || known.Field != field || !strings.Contains(known.Detail, says)) {
		t.Errorf("%s: %v, want %s that says %q", name, err, field, says)
	}
}

// Each way to authenticate needs all that it is made of, and nothing of another is given without it.
func TestWhatASubscriptionNeeds(t *testing.T) {
	const at, of, basic, oauth = "https://nfvo.example", "authentication.authType", "authentication.paramsBasic", "authentication.paramsOauth2ClientCredentials"
	text := secret.NewText
	long := strings.Repeat("x", maxSecret)
	client := Credentials{ClientID: "c", ClientPassword: text("p"), TokenEndpoint: at}
	for name, c := range map[string]struct {
		r           NewSubscription
		certificate bool
		field, says string
	}{
		"nothing":                     {NewSubscription{}, false, "", ""},
		"short":                       {NewSubscription{Verbosity: Short}, false, "", ""},
		"full":                        {NewSubscription{Verbosity: Full}, false, "", ""},
		"another verbosity":           {NewSubscription{Verbosity: "LOUD"}, false, "verbosity", "must be FULL or SHORT"},
		"a filter":                    {NewSubscription{Filter: Filter{Kinds: []lifecycle.EventKind{"x"}}}, false, "filter.notificationTypes", "must be"},
		"a certificate":               {NewSubscription{Auth: []string{TLS}}, true, "", ""},
		"no certificate":              {NewSubscription{Auth: []string{TLS}}, false, of, "no client certificate"},
		"basic":                       {NewSubscription{Auth: []string{Basic, Basic}, Credentials: Credentials{User: "u", Password: text("p")}}, false, "", ""},
		"no user":                     {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{Password: text("p")}}, false, basic, "userName and password"},
		"no password":                 {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{User: "u"}}, false, basic, "userName and password"},
		"a client":                    {NewSubscription{Auth: []string{OAuth2}, Credentials: client}, false, "", ""},
		"no client":                   {NewSubscription{Auth: []string{OAuth2}, Credentials: Credentials{ClientPassword: text("p"), TokenEndpoint: at}}, false, oauth, "clientId"},
		"no password of a client":     {NewSubscription{Auth: []string{OAuth2}, Credentials: Credentials{ClientID: "c", TokenEndpoint: at}}, false, oauth, "clientId"},
		"no endpoint":                 {NewSubscription{Auth: []string{OAuth2}, Credentials: Credentials{ClientID: "c", ClientPassword: text("p")}}, false, oauth, "clientId"},
		"another way":                 {NewSubscription{Auth: []string{"DIGEST"}}, false, of, "must be"},
		"a user without its way":      {NewSubscription{Credentials: Credentials{User: "u"}}, false, of, "must contain BASIC"},
		"a password without its way":  {NewSubscription{Credentials: Credentials{Password: text("p")}}, false, of, "must contain BASIC"},
		"a client without its way":    {NewSubscription{Credentials: Credentials{ClientID: "c"}}, false, of, "must contain OAUTH2"},
		"a secret without its way":    {NewSubscription{Credentials: Credentials{ClientPassword: text("p")}}, false, of, "must contain OAUTH2"},
		"an endpoint without its way": {NewSubscription{Credentials: Credentials{TokenEndpoint: at}}, false, of, "must contain OAUTH2"},
		"a colon":                     {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{User: "a:b", Password: text("p")}}, false, basic + ".userName", "must not contain"},
		"the longest password":        {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{User: "u", Password: text(long)}}, false, "", ""},
		"a longer password":           {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{User: "u", Password: text(long + "x")}}, false, basic + ".password", "4096 bytes"},
		"a password that controls":    {NewSubscription{Auth: []string{Basic}, Credentials: Credentials{User: "u", Password: text("a\nb")}}, false, basic + ".password", "printable"},
		"an endpoint without TLS": {
			NewSubscription{Auth: []string{OAuth2}, Credentials: Credentials{ClientID: "c", ClientPassword: text("p"), TokenEndpoint: "http://nfvo.example"}},
			false, oauth + ".tokenEndpoint", "https://",
		},
	} {
		s := &Subscriptions{Options: Options{Terms: Terms{Certificate: c.certificate}}}
		c.r.Callback = at
		host, err := s.check(&c.r)
		if wantInvalid(t, name, err, c.field, c.says); (host == "nfvo.example") != (err == nil) {
			t.Errorf("%s: the host is %q", name, host)
		}
	}
}

func TestAddressesOfSubscribers(t *testing.T) {
	long := "https://a/" + strings.Repeat("x", maxURI-len("https://a/"))
	for _, c := range []struct {
		text       string
		tls        bool
		host, says string
	}{
		{"https://a.example:8443/x?y=z", true, "a.example", ""},
		{"http://a.example", false, "a.example", ""},
		{"http://127.0.0.1:9", true, "127.0.0.1", ""},
		{"http://[::1]:9", true, "::1", ""},
		{long, true, "a", ""},
		{long + "x", false, "", "at most 2048 bytes"},
		{"http://a.example", true, "", "must begin with https://"},
		{"http://10.0.0.1", true, "", "must begin with https://"},
		{"https://a/%zz", false, "", "must be like"},
		{"https://a/\u200b", false, "", "must be like"},
		{"https:///x", false, "", "must be like"},
		{"https://:8443/x", false, "", "must be like"},
		{"https:a", false, "", "must be like"},
		{"ftp://a", false, "", "must be like"},
		{"", false, "", "must be like"},
		{"https://u@a", false, "", "no user"},
		{"https://a/#x", false, "", "no user, password or fragment"},
	} {
		host, err := Address("f", c.text, c.tls)
		if wantInvalid(t, c.text, err, map[bool]string{true: "f"}[c.says != ""], c.says); host != c.host {
			t.Errorf("the host of %.40s is %q, want %q", c.text, host, c.host)
		}
	}
}

func TestFiltersAreChecked(t *testing.T) {
	long := func(n int) Filter {
		f := Filter{Instances: []string{""}}
		f.Instances[0] = strings.Repeat("x", n-len(`{"vnfInstanceIds":[""]}`))
		return f
	}
	of := func(names ...string) []string { return names }
	for name, c := range map[string]struct {
		f           Filter
		field, says string
	}{
		"nothing":              {Filter{}, "", ""},
		"all kinds":            {Filter{Kinds: []lifecycle.EventKind{lifecycle.OperationMoved, lifecycle.InstanceCreated, lifecycle.InstanceDeleted}}, "", ""},
		"another kind":         {Filter{Kinds: []lifecycle.EventKind{lifecycle.InstanceDeleted, "x"}}, "filter.notificationTypes", "must be"},
		"VNFDs and products":   {Filter{VNFDs: of("a"), Providers: []sol003.ProviderFilter{{Provider: "p"}}}, "filter.vnfInstanceSubscriptionFilter", "not both"},
		"ids and names":        {Filter{Instances: of("a"), Names: of("b")}, "filter.vnfInstanceSubscriptionFilter", "vnfInstanceIds or vnfInstanceNames"},
		"types without moves":  {Filter{Kinds: []lifecycle.EventKind{lifecycle.InstanceCreated}, Types: []lifecycle.OperationType{lifecycle.Heal}}, "filter.notificationTypes", "must contain"},
		"states without moves": {Filter{Kinds: []lifecycle.EventKind{lifecycle.InstanceCreated}, States: []lifecycle.OperationState{lifecycle.Failed}}, "filter.notificationTypes", "must contain"},
		"types and states":     {Filter{Types: []lifecycle.OperationType{"OPERATE"}, States: []lifecycle.OperationState{lifecycle.Failed}}, "", ""},
		"another type":         {Filter{Types: []lifecycle.OperationType{"x"}}, "filter.operationTypes", "no type"},
		"another state":        {Filter{States: []lifecycle.OperationState{"x"}}, "filter.operationStates", "no state"},
		"the longest":          {long(maxFilter), "", ""},
		"a longer one":         {long(maxFilter + 1), "filter", "longer than 32 KiB"},
		"a name that controls": {Filter{Names: of("a\x07")}, "filter", "printable"},
		"a provider's":         {Filter{Providers: []sol003.ProviderFilter{{Provider: "\x07"}}}, "filter", "printable"},
		"a product's":          {Filter{Providers: []sol003.ProviderFilter{{Provider: "p", Products: []sol003.ProductFilter{{Name: "\x07"}}}}}, "filter", "printable"},
		"a software's": {
			Filter{Providers: []sol003.ProviderFilter{{Provider: "p", Products: []sol003.ProductFilter{{Name: "n", Versions: []sol003.VersionFilter{{Software: "\x07"}}}}}}},
			"filter", "printable",
		},
		"a name of no text": {Filter{Names: of("a\uFFFD")}, "filter", "printable"},
		"a version's": {
			Filter{Providers: []sol003.ProviderFilter{{Provider: "p", Products: []sol003.ProductFilter{{Name: "n", Versions: []sol003.VersionFilter{{Software: "1", VNFDs: of("\x07")}}}}}}},
			"filter", "printable",
		},
	} {
		wantInvalid(t, name, c.f.check(), c.field, c.says)
	}
}

// What a filter selects: each part of it alone lets an event pass, or not.
func TestWhatAFilterSelects(t *testing.T) {
	e := lifecycle.Event{
		Kind: lifecycle.OperationMoved, Instance: "i", Name: "n", Type: lifecycle.Heal, State: lifecycle.Failed,
		Product: lifecycle.Product{VNFDID: "d", Provider: "p", Name: "x", SoftwareVersion: "1", VNFDVersion: "2"},
	}
	product := func(provider, name string, versions ...sol003.VersionFilter) Filter {
		return Filter{Providers: []sol003.ProviderFilter{{Provider: "other"}, {Provider: provider, Products: []sol003.ProductFilter{{Name: "y"}, {Name: name, Versions: versions}}}}}
	}
	for name, c := range map[string]struct {
		f    Filter
		want bool
	}{
		"nothing": {Filter{}, true}, "its VNFD": {Filter{VNFDs: []string{"c", "d"}}, true}, "another VNFD": {Filter{VNFDs: []string{"c"}}, false},
		"its id": {Filter{Instances: []string{"i"}}, true}, "another id": {Filter{Instances: []string{"j"}}, false},
		"its name": {Filter{Names: []string{"n"}}, true}, "another name": {Filter{Names: []string{"m"}}, false},
		"its kind": {Filter{Kinds: []lifecycle.EventKind{lifecycle.OperationMoved}}, true}, "another kind": {Filter{Kinds: []lifecycle.EventKind{lifecycle.InstanceCreated}}, false},
		"its type": {Filter{Types: []lifecycle.OperationType{lifecycle.Heal}}, true}, "another type": {Filter{Types: []lifecycle.OperationType{lifecycle.ScaleVNF}}, false},
		"its state": {Filter{States: []lifecycle.OperationState{lifecycle.Failed}}, true}, "another state": {Filter{States: []lifecycle.OperationState{lifecycle.Completed}}, false},
		"its provider": {Filter{Providers: []sol003.ProviderFilter{{Provider: "p"}}}, true}, "another provider": {Filter{Providers: []sol003.ProviderFilter{{Provider: "q"}}}, false},
		"its product": {product("p", "x"), true}, "another product": {product("p", "z"), false}, "its product of another": {product("q", "x"), false},
		"its version": {product("p", "x", sol003.VersionFilter{Software: "1"}), true}, "another version": {product("p", "x", sol003.VersionFilter{Software: "9"}), false},
		"its VNFD's version":     {product("p", "x", sol003.VersionFilter{Software: "1", VNFDs: []string{"2"}}), true},
		"another of the VNFD":    {product("p", "x", sol003.VersionFilter{Software: "1", VNFDs: []string{"3"}}), false},
		"of another version its": {product("p", "x", sol003.VersionFilter{Software: "9", VNFDs: []string{"2"}}), false},
		"the second version":     {product("p", "x", sol003.VersionFilter{Software: "9"}, sol003.VersionFilter{Software: "1", VNFDs: []string{"3", "2"}}), true},
		"two, and none its": {
			product("p", "x", sol003.VersionFilter{Software: "9", VNFDs: []string{"2"}}, sol003.VersionFilter{Software: "1", VNFDs: []string{"3"}}), false,
		},
	} {
		if got := c.f.Selects(e); got != c.want {
			t.Errorf("%s: selected is %t", name, got)
		}
	}
	// Of two parts both have to let it pass.
	parts := []func(f *Filter, own bool){
		func(f *Filter, own bool) { f.VNFDs = []string{map[bool]string{true: "d", false: "c"}[own]} },
		func(f *Filter, own bool) { f.Instances = []string{map[bool]string{true: "i", false: "j"}[own]} },
		func(f *Filter, own bool) { f.Names = []string{map[bool]string{true: "n", false: "m"}[own]} },
		func(f *Filter, own bool) {
			f.Kinds = []lifecycle.EventKind{map[bool]lifecycle.EventKind{true: e.Kind, false: lifecycle.InstanceDeleted}[own]}
		},
		func(f *Filter, own bool) {
			f.Types = []lifecycle.OperationType{map[bool]lifecycle.OperationType{true: e.Type, false: lifecycle.ScaleVNF}[own]}
		},
		func(f *Filter, own bool) {
			f.States = []lifecycle.OperationState{map[bool]lifecycle.OperationState{true: e.State, false: lifecycle.Completed}[own]}
		},
		func(f *Filter, own bool) {
			f.Providers = product(map[bool]string{true: "p", false: "q"}[own], "x").Providers
		},
	}
	for one := range parts {
		for other := range one {
			for _, owns := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
				var f Filter
				parts[one](&f, owns[0])
				parts[other](&f, owns[1])
				if got := f.Selects(e); got != (owns[0] && owns[1]) {
					t.Errorf("%+v, of which the event has %v, selects it: %t", f, owns, got)
				}
			}
		}
	}
	e.Kind = lifecycle.InstanceCreated
	if !(Filter{Types: []lifecycle.OperationType{lifecycle.ScaleVNF}, States: []lifecycle.OperationState{lifecycle.Completed}}).Selects(e) {
		t.Error("a filter of operations keeps another event back")
	}
}

func TestSecretsOpenForTheirCallbackAlone(t *testing.T) {
	c := Credentials{User: "u", Password: secret.NewText("p"), ClientID: "c", ClientPassword: secret.NewText("q"), TokenEndpoint: "https://t"}
	text := c.text("https://a")
	got, err := readCredentials(text, "https://a")
	if err != nil || got.User != c.User || got.Password.Reveal() != "p" || got.ClientID != "c" || got.ClientPassword.Reveal() != "q" || got.TokenEndpoint != c.TokenEndpoint {
		t.Errorf("what was sealed is read as %+v, %v", got, err)
	}
	for name, text := range map[string]secret.Text{"another's": text, "no JSON": secret.NewText(`{"callback":"https://b"`)} {
		if got, err := readCredentials(text, "https://b"); !errors.Is(err, errForeign) || got.User != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, alone := range []Credentials{{}, {User: "u", Password: secret.NewText("p")}, {ClientID: "c", ClientPassword: secret.NewText("q"), TokenEndpoint: "https://t"}} {
		if got, err := readCredentials(alone.text("https://a"), "https://b"); !errors.Is(err, errForeign) || got.User+got.ClientID != "" {
			t.Errorf("of %q and %q for another's callback: %+v, %v", alone.User, alone.ClientID, got, err)
		}
	}
	if got, err := readCredentials(secret.NewText(`{"user":"x"`), ""); !errors.Is(err, errForeign) {
		t.Errorf("half a text for no callback: %+v, %v", got, err)
	}
	if slices.Contains([]bool{(Credentials{User: "u"}).secrets(), (Credentials{ClientID: "c"}).secrets()}, false) || (Credentials{}).secrets() {
		t.Error("what there is to seal is not known")
	}
}

// Two subscriptions of which anything differs that is sent, or where it is sent, are two; who made one, and when, is no difference.
func TestWhatTellsSubscriptionsApart(t *testing.T) {
	whole := func() Subscription {
		return Subscription{ID: "1", Callback: "https://a", Verbosity: Full, Filter: Filter{Names: []string{"n"}}, CreatedBy: "alice"}
	}
	for name, change := range map[string]func(*Subscription){
		"callback": func(s *Subscription) { s.Callback = "https://b" }, "verbosity": func(s *Subscription) { s.Verbosity = Short },
		"filter": func(s *Subscription) { s.Filter.Names[0] = "m" }, "no filter": func(s *Subscription) { s.Filter = Filter{} },
		"another part of the filter": func(s *Subscription) { s.Filter = Filter{Instances: []string{"n"}} },
	} {
		other := whole()
		if change(&other); other.digest() == whole().digest() {
			t.Errorf("subscriptions that differ in their %s are one", name)
		}
	}
	same := whole()
	if same.ID, same.CreatedBy, same.CreatedAt, same.Delivered = "2", "bob", time.Unix(1, 0), 3; same.digest() != whole().digest() {
		t.Error("who made a subscription makes it another")
	}
}
