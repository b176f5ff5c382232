package rest

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/doors"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// domain notes what it is asked for, and answers with values of which no two of a kind are the same; or with an error.
type domain struct {
	mu    sync.Mutex
	calls []string
	err   error
	fails int  // which of the calls fails; 0: none
	bare  bool // nothing is set in what it answers
}

// said notes a call with what it was given, and returns its error.
func (d *domain) said(name string, args ...any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := name
	for _, a := range args {
		text += " " + shown(reflect.ValueOf(a))
	}
	d.calls = append(d.calls, text)
	if len(d.calls) == d.fails {
		return d.err
	}
	return nil
}

type (
	allRegistry     struct{ *domain }
	allLeaser       struct{ *domain }
	allAuditLog     struct{ *domain }
	allOverseer     struct{ *domain }
	allOAuthClients struct{ *domain }
	allGrants       struct{ *domain }
	allTokenKeys    struct{ *domain }
	allClusters     struct{ *domain }
	allLinks        struct{ *domain }
	allTrust        struct{ *domain }
)

func (allRegistry) Types() []broker.Type { return nil }

func (d allRegistry) RegisterVIM(_ context.Context, _ policy.Principal, r broker.Registration) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.RegisterVIM", r)
}

func (d allRegistry) VIM(_ context.Context, _ policy.Principal, idOrName string) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.VIM", idOrName)
}

func (d allRegistry) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error) {
	return full[[]broker.VIM](d.bare), full[string](d.bare), d.said("Registry.VIMs", q)
}

func (d allRegistry) UpdateVIM(_ context.Context, _ policy.Principal, idOrName string, c broker.Change) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.UpdateVIM", idOrName, c)
}

func (d allRegistry) RotateVIM(_ context.Context, _ policy.Principal, idOrName string, c broker.Credential, ifRevision int64) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.RotateVIM", idOrName, c, ifRevision)
}

func (d allRegistry) RekeyVIM(_ context.Context, _ policy.Principal, idOrName string, keyStore string, ifRevision int64) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.RekeyVIM", idOrName, keyStore, ifRevision)
}

func (d allRegistry) RekeyRest(_ context.Context, _ policy.Principal, keyStore string, before time.Time) error {
	return d.said("Registry.RekeyRest", keyStore, before)
}

func (d allRegistry) KeyStatuses(_ context.Context, _ policy.Principal, q broker.VIMQuery, try bool) ([]broker.KeyStatus, string, error) {
	return full[[]broker.KeyStatus](d.bare), full[string](d.bare), d.said("Registry.KeyStatuses", q, try)
}

func (d allRegistry) SameSystem(_ context.Context, _ policy.Principal, v broker.VIM) ([]broker.VIM, error) {
	return full[[]broker.VIM](d.bare), d.said("Registry.SameSystem", v)
}

func (d allRegistry) CheckVIM(_ context.Context, _ policy.Principal, idOrName string) (broker.VIM, error) {
	return full[broker.VIM](d.bare), d.said("Registry.CheckVIM", idOrName)
}

func (d allRegistry) DeleteVIM(_ context.Context, _ policy.Principal, idOrName string, how broker.Deletion) (broker.VIM, bool, error) {
	return full[broker.VIM](d.bare), full[bool](d.bare), d.said("Registry.DeleteVIM", idOrName, how)
}

func (d allRegistry) WaitsFor(_ context.Context, _ policy.Principal, v broker.VIM) ([]string, error) {
	return full[[]string](d.bare), d.said("Registry.WaitsFor", v)
}

func (d allLeaser) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return full[broker.Lease](d.bare), full[clientconfig.Config](d.bare), d.said("Leaser.IssueLease", r)
}

func (d allLeaser) Lease(_ context.Context, _ policy.Principal, id string) (broker.Lease, error) {
	return full[broker.Lease](d.bare), d.said("Leaser.Lease", id)
}

func (d allLeaser) Leases(_ context.Context, _ policy.Principal, q broker.LeaseQuery) ([]broker.Lease, string, error) {
	return full[[]broker.Lease](d.bare), full[string](d.bare), d.said("Leaser.Leases", q)
}

func (d allLeaser) RenewLease(_ context.Context, _ policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error) {
	return full[broker.Lease](d.bare), full[clientconfig.Config](d.bare), d.said("Leaser.RenewLease", id, ttl)
}

func (d allLeaser) PushLease(_ context.Context, _ policy.Principal, id string, target string, name string) (broker.Lease, broker.Shelved, error) {
	return full[broker.Lease](d.bare), full[broker.Shelved](d.bare), d.said("Leaser.PushLease", id, target, name)
}

func (d allLeaser) RevokeLease(_ context.Context, _ policy.Principal, id string) (broker.Lease, error) {
	return full[broker.Lease](d.bare), d.said("Leaser.RevokeLease", id)
}

func (d allLeaser) RevokeLeases(_ context.Context, _ policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	return full[[]broker.Lease](d.bare), d.said("Leaser.RevokeLeases", s)
}

func (d allLeaser) Inventory(_ context.Context, _ policy.Principal, idOrName string, settle bool) (broker.Inventory, error) {
	return full[broker.Inventory](d.bare), d.said("Leaser.Inventory", idOrName, settle)
}

func (d allAuditLog) Entries(_ context.Context, _ policy.Principal, q audit.Query) ([]audit.Entry, error) {
	return full[[]audit.Entry](d.bare), d.said("AuditLog.Entries", q)
}

func (d allAuditLog) ProveEntry(_ context.Context, _ policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error) {
	return full[tree.Head](d.bare), full[audit.Entry](d.bare), full[[]tree.Hash](d.bare), d.said("AuditLog.ProveEntry", seq)
}

func (d allAuditLog) ProveGrowth(_ context.Context, _ policy.Principal, earlier int64, later int64) (tree.Head, []tree.Hash, error) {
	return full[tree.Head](d.bare), full[[]tree.Hash](d.bare), d.said("AuditLog.ProveGrowth", earlier, later)
}

func (d allAuditLog) Retention(_ context.Context, _ policy.Principal) (broker.Past, error) {
	return full[broker.Past](d.bare), d.said("AuditLog.Retention")
}

func (d allAuditLog) AuditSinks(_ context.Context, _ policy.Principal) ([]delivery.Status, error) {
	return full[[]delivery.Status](d.bare), d.said("AuditLog.AuditSinks")
}

func (d allAuditLog) AuditTree(_ context.Context, _ policy.Principal, size int64) (tree.Head, []tree.Hash, error) {
	return full[tree.Head](d.bare), full[[]tree.Hash](d.bare), d.said("AuditLog.AuditTree", size)
}

func (d allAuditLog) EntriesAfter(_ context.Context, _ policy.Principal, seq int64, limit int) ([]audit.Entry, error) {
	return full[[]audit.Entry](d.bare), d.said("AuditLog.EntriesAfter", seq, limit)
}

func (d allAuditLog) Checkpoint(_ context.Context, _ policy.Principal) (notary.Checkpoint, error) {
	return full[notary.Checkpoint](d.bare), d.said("AuditLog.Checkpoint")
}

func (d allAuditLog) AuditAnchors(_ context.Context, _ policy.Principal) ([]notary.AnchorStatus, error) {
	return full[[]notary.AnchorStatus](d.bare), d.said("AuditLog.AuditAnchors")
}

func (d allAuditLog) AuditKeys(_ context.Context, _ policy.Principal) ([]notary.SigningKey, error) {
	return full[[]notary.SigningKey](d.bare), d.said("AuditLog.AuditKeys")
}

func (d allAuditLog) RotateAuditKey(_ context.Context, _ policy.Principal) (notary.SigningKey, error) {
	return full[notary.SigningKey](d.bare), d.said("AuditLog.RotateAuditKey")
}

func (d allAuditLog) RevokeAuditKey(_ context.Context, _ policy.Principal, id string, until int64) (notary.SigningKey, error) {
	return full[notary.SigningKey](d.bare), d.said("AuditLog.RevokeAuditKey", id, until)
}

func (d allOverseer) Tokens(_ context.Context, _ policy.Principal, page broker.Page) ([]broker.Token, string, error) {
	return full[[]broker.Token](d.bare), full[string](d.bare), d.said("Overseer.Tokens", page)
}

func (d allOverseer) Explain(_ context.Context, _ policy.Principal, q policy.Request) (policy.Decision, error) {
	return full[policy.Decision](d.bare), d.said("Overseer.Explain", q)
}

func (d allOverseer) Ready() ([]broker.PartStatus, error) {
	return full[[]broker.PartStatus](d.bare), d.said("Overseer.Ready")
}

func (d allOAuthClients) Create(_ context.Context, _ policy.Principal, r oauth.NewClient) (oauth.Client, secret.Text, error) {
	return full[oauth.Client](d.bare), full[secret.Text](d.bare), d.said("OAuthClients.Create", r)
}

func (d allOAuthClients) Client(_ context.Context, _ policy.Principal, id string) (oauth.Client, error) {
	return full[oauth.Client](d.bare), d.said("OAuthClients.Client", id)
}

func (d allOAuthClients) Clients(_ context.Context, _ policy.Principal, q oauth.Query) ([]oauth.Client, string, error) {
	return full[[]oauth.Client](d.bare), full[string](d.bare), d.said("OAuthClients.Clients", q)
}

func (d allOAuthClients) SetPlacements(_ context.Context, _ policy.Principal, id string, all []oauth.Placement) (oauth.Client, error) {
	return full[oauth.Client](d.bare), d.said("OAuthClients.SetPlacements", id, all)
}

func (d allOAuthClients) Rotate(_ context.Context, _ policy.Principal, id string, r oauth.Rotation) (oauth.Client, secret.Text, error) {
	return full[oauth.Client](d.bare), full[secret.Text](d.bare), d.said("OAuthClients.Rotate", id, r)
}

func (d allOAuthClients) Delete(_ context.Context, _ policy.Principal, id string) error {
	return d.said("OAuthClients.Delete", id)
}

func (d allGrants) Record(_ context.Context, _ policy.Principal, id string) (grant.Record, error) {
	return full[grant.Record](d.bare), d.said("Grants.Record", id)
}

func (d allGrants) Records(_ context.Context, _ policy.Principal, q grant.Query) ([]grant.Record, string, error) {
	return full[[]grant.Record](d.bare), full[string](d.bare), d.said("Grants.Records", q)
}

func (d allTokenKeys) Keys(_ context.Context, _ policy.Principal) ([]oauth.TokenKey, error) {
	return full[[]oauth.TokenKey](d.bare), d.said("TokenKeys.Keys")
}

func (d allTokenKeys) RotateKey(_ context.Context, _ policy.Principal) (oauth.TokenKey, error) {
	return full[oauth.TokenKey](d.bare), d.said("TokenKeys.RotateKey")
}

func (d allTokenKeys) RevokeKey(_ context.Context, _ policy.Principal, id string) error {
	return d.said("TokenKeys.RevokeKey", id)
}

func (d allClusters) Enable(_ context.Context, _ policy.Principal, vim string, s onboard.Settings) (onboard.Management, error) {
	return full[onboard.Management](d.bare), d.said("Clusters.Enable", vim, s)
}

func (d allClusters) Disable(_ context.Context, _ policy.Principal, vim string) error {
	return d.said("Clusters.Disable", vim)
}

func (d allClusters) Release(_ context.Context, _ policy.Principal, vim string) (onboard.Management, error) {
	return full[onboard.Management](d.bare), d.said("Clusters.Release", vim)
}

func (d allClusters) Management(_ context.Context, _ policy.Principal, vim string) (onboard.ManagementView, error) {
	return full[onboard.ManagementView](d.bare), d.said("Clusters.Management", vim)
}

func (d allClusters) Managements(_ context.Context, _ policy.Principal) ([]onboard.ManagementView, error) {
	return full[[]onboard.ManagementView](d.bare), d.said("Clusters.Managements")
}

func (d allClusters) Clusters(_ context.Context, _ policy.Principal, q onboard.ClusterQuery) ([]onboard.View, string, error) {
	return full[[]onboard.View](d.bare), full[string](d.bare), d.said("Clusters.Clusters", q)
}

func (d allClusters) Cluster(_ context.Context, _ policy.Principal, id string) (onboard.View, error) {
	return full[onboard.View](d.bare), d.said("Clusters.Cluster", id)
}

func (d allClusters) IssuePushToken(_ context.Context, _ policy.Principal, id string, ttl time.Duration) (secret.Text, time.Time, error) {
	return full[secret.Text](d.bare), full[time.Time](d.bare), d.said("Clusters.IssuePushToken", id, ttl)
}

func (d allClusters) RevokePushToken(_ context.Context, _ policy.Principal, id string) error {
	return d.said("Clusters.RevokePushToken", id)
}

func (d allClusters) Pusher(_ context.Context, token string) (policy.Principal, error) {
	return full[policy.Principal](d.bare), d.said("Clusters.Pusher", token)
}

func (d allClusters) Push(_ context.Context, _ policy.Principal, in onboard.Pushed) (onboard.View, error) {
	return full[onboard.View](d.bare), d.said("Clusters.Push", in)
}

func (d allLinks) Create(_ context.Context, _ policy.Principal, r asset.Request) (asset.Asset, bool, error) {
	return full[asset.Asset](d.bare), full[bool](d.bare), d.said("Links.Create", r)
}

func (d allLinks) List(_ context.Context, _ policy.Principal, kind policy.Kind, page broker.Page) ([]asset.Asset, string, error) {
	return full[[]asset.Asset](d.bare), full[string](d.bare), d.said("Links.List", kind, page)
}

func (d allLinks) Show(_ context.Context, _ policy.Principal, kind policy.Kind, ref string) (asset.Asset, []asset.Use, int, error) {
	return full[asset.Asset](d.bare), full[[]asset.Use](d.bare), full[int](d.bare), d.said("Links.Show", kind, ref)
}

func (d allLinks) Delete(_ context.Context, _ policy.Principal, kind policy.Kind, ref string, force bool) (asset.Asset, []asset.Use, error) {
	return full[asset.Asset](d.bare), full[[]asset.Use](d.bare), d.said("Links.Delete", kind, ref, force)
}

func (d allTrust) Logins() []trust.Authority { return full[[]trust.Authority](d.bare) }

func (d allTrust) List(_ context.Context, _ policy.Principal) ([]trust.Listed, error) {
	return full[[]trust.Listed](d.bare), d.said("Trust.List")
}

func (d allTrust) Entry(_ context.Context, _ policy.Principal, name string) (trust.Listed, error) {
	return full[trust.Listed](d.bare), d.said("Trust.Entry", name)
}

func (d allTrust) Create(_ context.Context, _ policy.Principal, a trust.Authority) (trust.Listed, error) {
	return full[trust.Listed](d.bare), d.said("Trust.Create", a)
}

func (d allTrust) Update(_ context.Context, _ policy.Principal, a trust.Authority) (trust.Listed, error) {
	return full[trust.Listed](d.bare), d.said("Trust.Update", a)
}

func (d allTrust) Delete(_ context.Context, _ policy.Principal, name string) error {
	return d.said("Trust.Delete", name)
}

func (d allTrust) Try(_ context.Context, _ policy.Principal, token string) (trust.TokenTrial, error) {
	return full[trust.TokenTrial](d.bare), d.said("Trust.Try", token)
}

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// full is a value of which each field is set, a text to its name, each number and time to another one, each list to two; or a bare
// one.
func full[T any](bare bool) (made T) {
	if bare {
		return made
	}
	n := 0
	fillIn(reflect.ValueOf(&made).Elem(), "it", &n, 2)
	return made
}

func fillIn(v reflect.Value, name string, n *int, most int) {
	*n++
	switch at := v.Addr().Interface().(type) {
	case *secret.Text:
		*at = secret.NewText("plain " + name)
		return
	case *time.Time:
		*at = started.Add(time.Duration(*n) * time.Second)
		return
	case *time.Duration:
		*at = time.Duration(*n) * time.Minute
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem(), name, n, most)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fillIn(v.Field(i), f.Name, n, most)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fillIn(v.Index(i), name, n, most)
		}
	case reflect.Slice:
		if v.Type().Elem() == v.Type() {
			return
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			most = 1
		}
		v.Set(reflect.MakeSlice(v.Type(), most, most))
		for i := range most {
			fillIn(v.Index(i), name+strings.Repeat("'", i), n, most-i)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillIn(key, name, n, most)
		fillIn(value, name, n, most)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}

// shown writes a value with the names of its fields, and leaves out those that are zero.
func shown(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	if v.CanInterface() {
		switch at := v.Interface().(type) {
		case secret.Text:
			return fmt.Sprintf("secret %q", at.Reveal())
		case time.Time:
			return at.UTC().Format(time.RFC3339)
		case time.Duration:
			return at.String()
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return shown(v.Elem())
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Func:
		return "func"
	case reflect.Slice, reflect.Array:
		var all []string
		for i := range v.Len() {
			all = append(all, shown(v.Index(i)))
		}
		return "[" + strings.Join(all, " ") + "]"
	case reflect.Map:
		var all []string
		for _, key := range v.MapKeys() {
			all = append(all, shown(key)+":"+shown(v.MapIndex(key)))
		}
		slices.Sort(all)
		return "[" + strings.Join(all, " ") + "]"
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
				all = append(all, f.Name+":"+shown(v.Field(i)))
			}
		}
		return "{" + strings.Join(all, " ") + "}"
	}
	return fmt.Sprint(v)
}

// valueOf is a value that a parameter of a query may have.
func valueOf(p parameter) string {
	switch {
	case len(p.values) > 0:
		return p.values[0]
	case p.kind == "integer", p.name == "pageToken", p.name == "size":
		return "7"
	case p.name == "later":
		return "9"
	case p.name == "label":
		return "site=north"
	case p.kind == "boolean":
		return "true"
	case strings.HasPrefix(p.name, "since") || strings.HasPrefix(p.name, "until") || strings.HasPrefix(p.name, "before"):
		return "2026-01-02T03:04:05Z"
	}
	return "a-" + p.name
}

// exchange asks an operation, and writes down what it was asked, what it asked of the domain, and its answer; and, of each of
// its calls that fails, the status.
func exchange(t *testing.T, rt route) string {
	var text strings.Builder
	path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.Replace(rt.path, "{seq}", "7", 1), "x1")
	if rt.id == "updateTrustEntry" {
		path = strings.Replace(path, "x1", "corp", 1)
	}
	body := strings.Join(strings.Fields(string(example(rt.id, rt.in))), " ")
	var asked []string
	for _, p := range rt.query {
		if asked = append(asked, p.name+"="+valueOf(p)); p.name == "label" {
			asked = append(asked, "label=tier=edge")
		} else if p.many {
			asked = append(asked, p.name+"="+p.values[1])
		}
	}
	if len(asked) > 0 {
		path += "?" + strings.Join(asked, "&")
	}
	fmt.Fprintf(&text, "== %s: %s %s\n", rt.id, rt.method, path)
	if body != "" {
		fmt.Fprintf(&text, "> %s\n", body)
	}
	for fails, of := -1, 0; fails <= of; fails++ {
		d := &domain{fails: fails, bare: fails < 0, err: &broker.Error{Kind: broker.ErrConflict, Detail: "as the part says"}}
		c := doors.Serve(t, testlog.Silent(t), Door(Options{
			Registry: allRegistry{d}, Leaser: allLeaser{d}, AuditLog: allAuditLog{d}, Overseer: allOverseer{d}, Clusters: allClusters{d},
			Clients: allOAuthClients{d}, TokenKeys: allTokenKeys{d}, Grants: allGrants{d}, Links: allLinks{d}, Trust: allTrust{d},
			Log: testlog.Silent(t), Version: "v1", Now: func() time.Time { return started },
		}))
		answer, said := c.Ask(rt.method, path, body, "If-Match", "", "Idempotency-Key", "")
		if fails > 0 {
			fmt.Fprintf(&text, "call %d fails: %d, told %t\n", fails, answer.StatusCode, strings.Contains(said, d.err.(*broker.Error).Detail))
			continue
		}
		if of = len(d.calls); d.bare {
			text.WriteString("of nothing: ")
		} else {
			text.WriteString(strings.Join(d.calls, "\n") + "\n")
		}
		fmt.Fprintf(&text, "< %d", answer.StatusCode)
		for _, name := range []string{"Location", "Etag", "Content-Type"} {
			if value := answer.Header.Get(name); value != "" {
				fmt.Fprintf(&text, " %s: %s", name, value)
			}
		}
		fmt.Fprintf(&text, "\n%s\n", strings.TrimSpace(said))
	}
	return text.String() + "\n"
}

// TestEveryOperationLeadsToItsPartAndBack: testdata/exchanges.txt has of each operation the call that it makes, with every member
// of the request, and the answer, with every field of what the part says.
func TestEveryOperationLeadsToItsPartAndBack(t *testing.T) {
	var all strings.Builder
	for _, rt := range routesFor(nil) {
		if rt.public() && rt.path != "/readyz" {
			continue
		}
		all.WriteString(exchange(t, rt))
	}
	got := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).ReplaceAllString(all.String(), "UUID")
	golden.Compare(t, "testdata/exchanges.txt", got)
}
