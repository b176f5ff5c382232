package rows

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

const torn = `{"id": "x`

// tornInstance has a document that cannot be read.
var tornInstance = Instance{Instance: lifecycle.Instance{ID: "x"}, Document: torn, DriftText: `{}`}

var tornOperation = Operation{Operation: lifecycle.Operation{ID: "x"}, Document: torn}

func soundInstance(t *testing.T, i lifecycle.Instance) Instance {
	t.Helper()
	row, err := InstanceRow(i)
	if err != nil {
		t.Fatal(err)
	}
	row.Revision = i.Revision
	return row
}

func soundOperation(t *testing.T, o lifecycle.Operation) Operation {
	t.Helper()
	row, err := OperationRow(o)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestARowThatCannotBeReadIsNamed, in what reads it and in all that reads it first.
func TestARowThatCannotBeReadIsNamed(t *testing.T) {
	instance, operation := soundInstance(t, lifecycle.Instance{ID: "i"}), soundOperation(t, lifecycle.Operation{ID: "o"})
	tornDrift := instance
	tornDrift.ID, tornDrift.DriftText = "x", torn
	never := func(*lifecycle.Operation) { t.Error("an operation that cannot be read is given its turn") }
	change := func(*lifecycle.Operation, *lifecycle.Instance) error {
		t.Error("what cannot be read is changed")
		return nil
	}
	for what, read := range map[string]func() error{
		"vnf_instances":               func() error { _, err := tornInstance.Read(); return err },
		"vnf_instances drift":         func() error { _, err := tornDrift.Read(); return err },
		"vnf_instances of a change":   func() error { _, err := ChangeOperation(operation, tornInstance, change); return err },
		"vnf_instances of a begin":    func() error { _, err := BeginOperation(tornInstance, lifecycle.Operation{}, 0, false, nil); return err },
		"vnf_operations":              func() error { _, err := tornOperation.Read(); return err },
		"vnf_operations of a change":  func() error { _, err := ChangeOperation(tornOperation, instance, change); return err },
		"vnf_operations of a turn":    func() error { _, _, err := GiveTurn(tornOperation, never); return err },
		"vnf_operations of progress":  func() error { _, err := Progress(tornOperation, lifecycle.Operation{}); return err },
		"vnf_subscriptions":           func() error { _, err := (Subscription{subscription.Subscription{ID: "x"}, torn}).Read(); return err },
		"vnf_subscriptions of events": func() error { _, err := Notify(nil, []Subscriber{{"s", `{}`}, {"x", torn}}); return err },
		"vnf_grants":                  func() error { _, err := VNFGrant{grant.Grant{ID: "x"}, torn}.Read(); return err },
		"vnf_grants with its lease": func() error {
			_, err := VNFGrantRecord{VNFGrant: VNFGrant{grant.Grant{ID: "x"}, torn}}.Read()
			return err
		},
		"assets":            func() error { _, err := Asset{asset.Asset{ID: "x"}, torn}.Read(); return err },
		"vnf_notifications": func() error { return Notification(7, "x", torn).Unreadable },
	} {
		table, _, _ := strings.Cut(what, " ")
		id := "x"
		if table == "vnf_notifications" {
			id = "7"
		}
		wantUnreadable(t, what, read(), "restore the row "+id+" of the table "+table+" from a backup")
	}
	_, err := Package{Document: torn}.Package()
	wantUnreadable(t, "vnf_packages", err, "restore the table vnf_packages from a backup")
	for given, want := range map[string][]string{"": nil, "BASIC": {"BASIC"}} {
		s, err := Subscription{subscription.Subscription{Auth: strings.Fields(given)}, "{}"}.Read()
		if err != nil || !reflect.DeepEqual(s.Auth, want) {
			t.Errorf("a subscription of the ways %q is read with %#v, %v", given, s.Auth, err)
		}
	}
	if n := Notification(7, "x", `{"id": "e", "at": "x"}`); n.Event.ID != "" || n.Unreadable == nil {
		t.Errorf("a notification that can be read in part is %+v, want nothing of its event", n)
	}
}

func wantUnreadable(t *testing.T, what string, err error, remedy string) {
	t.Helper()
	var e *broker.Error
	if !errors.As(err, &e) || !errors.Is(err, broker.ErrUnavailable) || e.Remedy != remedy || e.Cause == nil {
		t.Errorf("%s: %v, want ErrUnavailable with its cause and the remedy %q", what, err, remedy)
	}
}

// late is a time that JSON cannot say.
var late = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestWhatJSONCannotSayIsNotStored: a document of it would be empty.
func TestWhatJSONCannotSayIsNotStored(t *testing.T) {
	drifted := lifecycle.Drift{SeenAt: late}
	waits := soundOperation(t, lifecycle.Operation{ID: "o", State: lifecycle.Processing, QueuedAt: time.Unix(1, 0)})
	instance := soundInstance(t, lifecycle.Instance{ID: "i"})
	if given, ok, err := GiveTurn(waits, func(*lifecycle.Operation) {}); err != nil || !ok || given.Revision != waits.Revision+1 {
		t.Fatalf("GiveTurn = %+v, %v, %v; want the turn of one that waits", given, ok, err)
	}
	for what, store := range map[string]func() error{
		"an instance":         func() error { _, err := InstanceRow(lifecycle.Instance{CreatedAt: late}); return err },
		"an instance's drift": func() error { _, err := InstanceRow(lifecycle.Instance{Drift: drifted}); return err },
		"a drift":             func() error { return new(Instance).SetDrift(drifted) },
		"an operation":        func() error { _, err := OperationRow(lifecycle.Operation{StartedAt: late}); return err },
		"a grant":             func() error { _, err := VNFGrantRow(grant.Grant{CreatedAt: late}); return err },
		"an asset":            func() error { _, err := AssetRow(asset.Asset{CreatedAt: late}); return err },
		"an event":            func() error { _, err := Notify([]lifecycle.Event{{At: late}}, []Subscriber{{"s", `{}`}}); return err },
		"a turn": func() error {
			given, ok, err := GiveTurn(waits, func(o *lifecycle.Operation) { o.Deadline = late })
			if ok {
				t.Errorf("GiveTurn = %+v, though it is not stored", given)
			}
			return err
		},
		"a change of an operation": func() error {
			_, err := ChangeOperation(waits, instance, func(o *lifecycle.Operation, _ *lifecycle.Instance) error { o.Deadline = late; return nil })
			return err
		},
		"a change of its instance": func() error {
			_, err := ChangeOperation(waits, instance, func(_ *lifecycle.Operation, i *lifecycle.Instance) error { i.Drift = drifted; return nil })
			return err
		},
		"the beginning of an operation": func() error {
			_, err := BeginOperation(instance, lifecycle.Operation{Deadline: late}, 0, false, nil)
			return err
		},
		"the beginning at its instance": func() error {
			_, err := BeginOperation(instance, lifecycle.Operation{}, 0, false, func(i *lifecycle.Instance) { i.CreatedAt = late })
			return err
		},
	} {
		if err := store(); err == nil || !strings.Contains(err.Error(), "year outside of range") {
			t.Errorf("storing %s = %v, want what JSON cannot say", what, err)
		}
	}
}

// TestAColumnOfAnotherTypeIsRefused: the fields keep what they have, but for documents, which are left zero.
func TestAColumnOfAnotherTypeIsRefused(t *testing.T) {
	for _, c := range []struct {
		stored  any
		spare   bool
		want    map[string]string
		wantBad bool
		err     string
	}{
		{stored: `{"a": "b"}`, spare: true, want: map[string]string{"a": "b"}},
		{stored: `{}`, spare: true},
		{stored: ``},
		{stored: int64(1), err: "a document is stored as int64"},
		{stored: int64(1), spare: true, err: "a document is stored as int64"},
		{stored: torn, err: "unexpected end of JSON input"},
		{stored: torn, spare: true, wantBad: true},
		{stored: `{"a": "b", "c": 1}`, spare: true, wantBad: true}, // which is read in part
	} {
		to, bad := map[string]string{"before": "it"}, false
		d := Document[map[string]string]{To: &to}
		if c.spare {
			d.Bad = &bad
		}
		err := d.Scan(c.stored)
		if diff := cmp.Diff(c.want, to); diff != "" || bad != c.wantBad || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("scanning %v = %v, bad %v; want %q, %v: (-want +got)\n%s", c.stored, err, bad, c.err, c.wantBad, diff)
		}
	}
	d := time.Hour
	if err := (Span{&d}).Scan("1"); err == nil || err.Error() != "a duration is stored as string" || d != time.Hour {
		t.Errorf("a duration that is a text: %v, %v", d, err)
	}
	if err := (Span{&d}).Scan(int64(5)); err != nil || d != 5*time.Microsecond {
		t.Errorf("a duration of 5 microseconds: %v, %v", d, err)
	}
}

// TestAPageTokenIsOneOfItsList: each of these differs from one in one respect.
func TestAPageTokenIsOneOfItsList(t *testing.T) {
	o := VIMOrder
	good := Position{List: "VIMs", Names: []string{"north", "core"}}
	if size, after, err := o.Read(broker.Page{Size: 7, Token: Token(good)}); err != nil || size != 7 || !cmp.Equal(after, &good) {
		t.Fatalf("a token of the list = %v, %+v, %v", size, after, err)
	}
	var odd *broker.Error
	if _, after, err := o.Read(broker.Page{Size: -1, Token: Token(good)}); !errors.As(err, &odd) || odd.Field != "pageSize" || after != nil {
		t.Errorf("a token of the list, for a page of -1: %+v, %v; want an invalid pageSize", after, err)
	}
	raw := base64.RawURLEncoding.EncodeToString
	for what, token := range map[string]string{
		"no base64":          "?",
		"no JSON":            raw([]byte(`{"list":"VIMs","names":["north","core"]`)),
		"JSON of other kind": raw([]byte(`{"list":"VIMs","names":["north",1]}`)),
		"a space more":       raw([]byte(`{"list":"VIMs","names":["north", "core"]}`)),
		"another list":       Token(Position{List: "clients", Names: good.Names}),
		"a name too few":     Token(Position{List: "VIMs", Names: good.Names[:1]}),
		"a name too many":    Token(Position{List: "VIMs", Names: append(good.Names, "x")}),
	} {
		var e *broker.Error
		if _, after, err := o.Read(broker.Page{Token: token}); !errors.As(err, &e) || !errors.Is(err, broker.ErrInvalid) || e.Field != "pageToken" || after != nil {
			t.Errorf("a token that has %s: %+v, %v; want an invalid pageToken", what, after, err)
		}
	}
}

// TestClientsBehindAPlace: a token of all projects' list may stand before, in and behind the one that is listed now.
func TestClientsBehindAPlace(t *testing.T) {
	for project, want := range map[string]string{
		"a": `project = ? AND FALSE`, "m": `project = ? AND name > ?`, "z": `project = ?`, "": `(project, name) > (?, ?)`,
	} {
		text, _ := WhereClients(oauth.Filter{Project: project}, &Position{Names: []string{"m", "x"}}).SelectFrom("")
		if text != " WHERE "+want {
			t.Errorf("clients of %q behind one of project m: %s, want %s", project, text, want)
		}
	}
}

// TestAGenerationIsReplacedByANewOne: whatever differs under the same number is refused, the time to the microsecond.
func TestAGenerationIsReplacedByANewOne(t *testing.T) {
	from := broker.Generation{Number: 2, Identity: "uid", CredentialExpiresAt: time.Unix(1, 1000)}
	for _, c := range []struct {
		change            func(*broker.Generation)
		replaces, refused bool
	}{
		{change: func(*broker.Generation) {}},
		{change: func(g *broker.Generation) { g.CredentialExpiresAt = time.Unix(1, 1999) }}, // not stored so finely
		{change: func(g *broker.Generation) { g.CredentialExpiresAt = time.Unix(1, 2000) }, refused: true},
		{change: func(g *broker.Generation) { g.Identity = "other" }, refused: true},
		{change: func(g *broker.Generation) { g.Number, g.Identity = 3, "other" }, replaces: true},
		{change: func(g *broker.Generation) { g.Number = 1 }, refused: true},
	} {
		to := from
		c.change(&to)
		replaces, err := Replaces(from, to)
		if replaces != c.replaces || errors.Is(err, broker.ErrConflict) != c.refused {
			t.Errorf("%+v in place of %+v: %v, %v; want %v, refused %v", to, from, replaces, err, c.replaces, c.refused)
		}
	}
}

// TestMigrationsStandInTheirOrder reads files of migrations.
func TestMigrationsStandInTheirOrder(t *testing.T) {
	files := fstest.MapFS{"m/0001_schema.sql": {Data: []byte("CREATE")}}
	if text, err := Migration(files, "m/0001_schema.sql", 1); err != nil || string(text) != "CREATE" {
		t.Errorf("Migration = %q, %v", text, err)
	}
	if _, err := Migration(files, "m/0001_schema.sql", 2); err == nil || !strings.Contains(err.Error(), "number 2") {
		t.Errorf("Migration of another number = %v, want the number that belongs there", err)
	}
	if err := DemandMaker(files, "m/0001_schema.sql", Fingerprint([]byte("CREATE"))); err != nil {
		t.Errorf("DemandMaker of its own text = %v", err)
	}
	if err := DemandMaker(files, "m/0001_schema.sql", "other"); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("DemandMaker of another text = %v, want ErrUnsupported", err)
	}
	if err := DemandMaker(files, "m/0002.sql", "other"); err == nil || errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("DemandMaker without the file = %v, want that it is not there", err)
	}
}
