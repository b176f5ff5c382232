package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// standingLeases stand at the same time; Tacker asks for a token of each every pollEvery.
	standingLeases, pollEvery = 10_000, 300 * time.Second
	// polledLeases are those of them that are issued on the cluster, and polled in the place of all.
	polledLeases = 120
	pollFor      = 15 * time.Second
)

// nfvo is a server on PostgreSQL as a VNFM meets it that is a client of it.
type nfvo struct {
	*client.Client
	fleet *engineFleet
	http  http.Client
	id    string
	token string
	// upstream makes by hand what a grant and a token rest on.
	upstream *bare
	seq      atomic.Int64
}

// newNFVO starts one, with the real cluster as the VIM of its client.
func newNFVO(b *testing.B, p *program) *nfvo {
	b.Helper()
	cluster, fleet := real.Kubernetes(b), newEngineFleet(b, p)
	ca, err := pki.NewCA("the issuer's")
	if err != nil {
		b.Fatal(err)
	}
	fleet.config += fmt.Sprintf("oauth: {issuer: https://vimbroker.example, caFile: %q}\n", story.WriteFile(b, "issuer.pem", string(ca.PEM), 0o600))
	fleet.config += "limits: {principal: {perSecond: 100000, inFlight: 256}, project: {perSecond: 100000, inFlight: 256}}\n"
	n := &nfvo{fleet: fleet, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	b.Cleanup(n.http.CloseIdleConnections)
	server := fleet.start(b)
	v := newVNFM(b, cluster, server.URL, fleet.token, smallCNF)
	n.Client, n.upstream = v.Client, newBare(b, &stack{cluster: cluster, token: cluster.AdminToken(b)})
	made, err := n.CreateOAuthClient(b.Context(), v1.OAuthClientRequest{
		Name: "vnfm", Roles: []string{policy.RoleVNFM}, Placements: []v1.Placement{{VIM: "cluster", Role: "view", Namespaces: benchNamespaces(b, cluster, 1)}},
	})
	if err != nil {
		b.Fatal(err)
	}
	n.id = made.ID
	var logged struct {
		Token string `json:"access_token"`
	}
	err = n.post(b.Context(), "/oauth2/token", "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {n.id}, "client_secret": {made.ClientSecret.Reveal()},
	}.Encode(), &logged)
	if err != nil {
		b.Fatal(err)
	}
	n.token = logged.Token
	return n
}

func (n *nfvo) server() *story.Broker { return n.fleet.servers[0] }

// post sends a request as the VNFM, and reads the answer.
func (n *nfvo) post(ctx context.Context, path, kind, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.server().URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	if strings.HasPrefix(path, "/grant/") {
		r.Header.Set("Version", "1.4.0")
		r.Header.Set("Authorization", "Bearer "+n.token)
	}
	answer, err := n.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %s: %s", path, answer.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// lent is what a grant lends: a lease, and the secret under which tokens are fetched.
type lent struct{ lease, secret string }

// grant asks for the grant of one more instance.
func (n *nfvo) grant(ctx context.Context) (lent, error) {
	id := fmt.Sprintf("op-%d", n.seq.Add(1))
	var given struct {
		VIMs map[string]struct {
			Access struct{ Username, Password string } `json:"accessInfo"`
		} `json:"vimConnectionInfo"`
	}
	// Its links are not to be asked at: what is measured is the grant.
	err := n.post(ctx, "/grant/v1/grants", "application/json", fmt.Sprintf(`{"vnfInstanceId":"i-%s","vnfLcmOpOccId":"%s","vnfdId":"vnfd","operation":"INSTANTIATE",
		"isAutomaticInvocation":false,"addResources":[{"id":"r-1","type":"COMPUTE","vduId":"vdu"}],
		"_links":{"vnfLcmOpOcc":{"href":"http://192.0.2.1/op"},"vnfInstance":{"href":"http://192.0.2.1/instance"}}}`, id, id), &given)
	for _, v := range given.VIMs {
		return lent{v.Access.Username, v.Access.Password}, err
	}
	return lent{}, cmp.Or(err, errors.New("a grant without a connection"))
}

// fetch has a token minted under a lease.
func (n *nfvo) fetch(ctx context.Context, l lent) error {
	var token struct {
		Token string `json:"id_token"`
	}
	err := n.post(ctx, "/oidc/token", "application/x-www-form-urlencoded", url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {n.id}, "username": {l.lease}, "password": {l.secret},
	}.Encode(), &token)
	if err == nil && token.Token == "" {
		err = errors.New("an answer without a token")
	}
	return err
}

// mint requests one more token of an account, with client-go alone.
func (b *bare) mint(ctx context.Context, account string) error {
	ttl := int64(900)
	_, err := b.core.ServiceAccounts(bareNamespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &ttl},
	}, metav1.CreateOptions{})
	return err
}

// grants measures grants that lend a new standing lease, and tokens under such leases, each beside what they rest on.
func grants(b *testing.B, p *program, clients, rounds, each int) *figure {
	b.Helper()
	n, ctx := newNFVO(b, p), b.Context()
	if _, err := n.upstream.core.ServiceAccounts(bareNamespace).Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "tokens-"},
	}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	accounts, err := n.upstream.core.ServiceAccounts(bareNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	at := slices.IndexFunc(accounts.Items, func(a corev1.ServiceAccount) bool { return strings.HasPrefix(a.Name, "tokens-") })
	account := accounts.Items[at].Name
	leases := make([]lent, (rounds+1)*clients*each)
	const mints, given, tokens, fetched = "account and token by client-go", "grant that lends a new standing lease", "token by client-go", "token under a standing lease"
	out, err := turns(rounds, clients, each,
		contender{mints, func(int) error { return n.upstream.issue(ctx) }},
		contender{given, func(i int) (err error) {
			leases[i], err = n.grant(ctx)
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	// Of one lease 30 tokens are minted at once, and one a second then.
	again, err := turns(rounds, clients, each,
		contender{tokens, func(int) error { return n.upstream.mint(ctx, account) }},
		contender{fetched, func(i int) error { return n.fetch(ctx, leases[i]) }},
	)
	if err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("Grants and tokens for a VNFM, clients at the same time: %d", clients)}
	for _, pair := range [][2]struct {
		what string
		outcome
	}{{{mints, out[0]}, {given, out[1]}}, {{tokens, again[0]}, {fetched, again[1]}}} {
		base, ours := timed(pair[0].what, pair[0].sample), timed(pair[1].what, pair[1].sample)
		base.PerSecond, ours.PerSecond = pair[0].perSecond(), pair[1].perSecond()
		f.Rows = append(f.Rows, base, ours.over(base))
	}
	b.ReportMetric(f.Rows[1].PerSecond, "grants/s")
	b.ReportMetric(f.Rows[3].PerSecond, "tokens/s")
	return f
}

// standing measures what very many standing leases cost that nobody uses, and what they cost that Tacker polls: one
// token of each in five minutes.
func standing(b *testing.B, p *program) *figure {
	b.Helper()
	n, ctx := newNFVO(b, p), b.Context()
	leases := make([]lent, polledLeases)
	if _, err := turn(4, polledLeases/4, 0, func(i int) (err error) {
		leases[i], err = n.grant(ctx)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, n.fleet.dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	f := &figure{Title: fmt.Sprintf("%d standing leases, and a token of each every %v", standingLeases, pollEvery)}
	memory := func(when string) {
		b.Helper()
		held, err := resident(n.server().PID())
		if err != nil {
			b.Fatal(err)
		}
		f.Rows = append(f.Rows, row{What: "resident memory, " + when, N: 1, Value: held, Unit: "MB"})
	}
	load := func(when string, during func()) {
		b.Helper()
		before, began := n.usage(b, conn), time.Now()
		during()
		after, took := n.usage(b, conn), time.Since(began).Seconds()
		for _, u := range []struct {
			what, unit string
			used       float64
		}{
			{"processor of the server", "ms/s", after.processor - before.processor},
			{"transactions", "per s", after.transactions - before.transactions},
			{"write-ahead log", "KiB/s", (after.log - before.log) / 1024},
		} {
			f.Rows = append(f.Rows, row{What: u.what + ", " + when, N: int(took), Value: u.used / took, Unit: u.unit})
		}
	}
	atRest := func() { <-time.After(idleFor) }
	memory(fmt.Sprintf("leases: %d", polledLeases))
	load(fmt.Sprintf("leases: %d, at rest", polledLeases), atRest)
	// The others are copies, each with an account's name of its own, which nobody asks the cluster for meanwhile.
	if _, err := conn.Exec(ctx, `INSERT INTO leases SELECT copy.* FROM leases AS one,
			LATERAL (SELECT gen_random_uuid()::text AS new FROM generate_series(1, $1::int) AS i WHERE one.id <> '') AS ids,
			LATERAL jsonb_populate_record(one, jsonb_build_object('id', new, 'handle', 'lease-' || new, 'idempotency_key', '')) AS copy
		WHERE one.id = (SELECT min(id) FROM leases WHERE state = 'active')`,
		standingLeases-polledLeases); err != nil {
		b.Fatal(err)
	}
	memory(fmt.Sprintf("leases: %d", standingLeases))
	load(fmt.Sprintf("leases: %d, at rest", standingLeases), atRest)
	var polls sample
	load(fmt.Sprintf("leases: %d, polled", standingLeases), func() { polls = n.poll(b, leases) })
	memory(fmt.Sprintf("leases: %d, polled", standingLeases))
	r := timed("a token while they are polled", polls)
	r.PerSecond = float64(len(polls)) / pollFor.Seconds()
	f.Rows = append(f.Rows, r)
	return f
}

// poll fetches tokens as often as all standing leases would have them fetched, whatever the answers take.
func (n *nfvo) poll(b *testing.B, leases []lent) (all sample) {
	b.Helper()
	var asking sync.WaitGroup
	var mu sync.Mutex
	var failed error
	every := time.NewTicker(pollEvery / standingLeases)
	defer every.Stop()
	for i := range int(pollFor / (pollEvery / standingLeases)) {
		<-every.C
		asking.Go(func() {
			began := time.Now()
			err := n.fetch(b.Context(), leases[i%len(leases)])
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, time.Since(began)), cmp.Or(failed, err)
		})
	}
	asking.Wait()
	if failed != nil {
		b.Fatal(failed)
	}
	return all
}

// usage is what the server and its database have used.
type usage struct{ processor, transactions, log float64 }

func (n *nfvo) usage(b *testing.B, conn *pgx.Conn) (u usage) {
	b.Helper()
	u.processor = n.fleet.processor(b)
	// Other processes tell what they did at most a second later.
	if err := conn.QueryRow(b.Context(), `SELECT xact_commit + xact_rollback, pg_current_wal_lsn() - '0/0'::pg_lsn FROM pg_stat_database
		WHERE datname = current_database()`).Scan(&u.transactions, &u.log); err != nil {
		b.Fatal(err)
	}
	return u
}

const (
	// subscribersAtOnce are those of one project, of which hangingSubscribers never answer.
	subscribersAtOnce, hangingSubscribers = 100, 10
	// toldOfOne and toldOfMany are how many instances are made for one subscriber, and for many.
	toldOfOne, toldOfMany = 600, 30
)

// audience are subscribers on one server.
type audience struct {
	*httptest.Server
	hang chan struct{}

	mu   sync.Mutex
	took sample
	last time.Time
	told chan struct{} // has room for all
}

func newAudience(b *testing.B) *audience {
	b.Helper()
	a := &audience{hang: make(chan struct{}), told: make(chan struct{}, 100_000)}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		if r.Method == http.MethodPost {
			if strings.HasPrefix(r.URL.Path, "/hangs/") {
				_, _ = io.Copy(io.Discard, r.Body)
				select {
				case <-a.hang:
				case <-r.Context().Done():
				}
				return
			}
			var n struct{ TimeStamp time.Time }
			if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
				b.Error(err)
			}
			a.mu.Lock()
			a.took, a.last = append(a.took, now.Sub(n.TimeStamp)), now
			a.mu.Unlock()
			a.told <- struct{}{}
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	b.Cleanup(func() { close(a.hang); a.Close() })
	return a
}

// notifications measures how many a server sends, and how late they come: to one subscriber, to a hundred, and to a
// hundred of which ten never answer.
func notifications(b *testing.B, p *program) *figure {
	b.Helper()
	f := &figure{Title: "Notifications, from the event to the subscriber"}
	for _, c := range []struct{ subscribers, hang, instances int }{
		{1, 0, toldOfOne}, {subscribersAtOnce, 0, toldOfMany}, {subscribersAtOnce, hangingSubscribers, toldOfMany},
	} {
		what := fmt.Sprintf("to subscribers: %d", c.subscribers)
		if c.hang > 0 {
			what += fmt.Sprintf(", of which %d hang", c.hang)
		}
		a, fleet := newAudience(b), newEngineFleet(b, p)
		server := fleet.start(b)
		v := newVNFM(b, real.Kubernetes(b), server.URL, fleet.token, smallCNF)
		for n := range c.subscribers {
			path := "/takes/"
			if n < c.hang {
				path = "/hangs/"
			}
			if _, _, err := v.Subscribe(b.Context(), sol003.SubscriptionRequest{CallbackURI: a.URL + path + uuid.NewString()}); err != nil {
				b.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := turn(6, c.instances/6, 0, func(int) error {
			_, err := v.CreateVNF(b.Context(), sol003.CreateVNFRequest{VNFDID: "bench"})
			return err
		}); err != nil {
			b.Fatal(err)
		}
		all := (c.subscribers - c.hang) * c.instances
		for range all {
			select {
			case <-a.told:
			case <-time.After(time.Minute):
				b.Fatalf("%s: of %d notifications %d came", what, all, len(a.took))
			}
		}
		a.mu.Lock()
		r := timed(what, a.took)
		r.PerSecond = float64(all) / a.last.Sub(began).Seconds()
		a.mu.Unlock()
		f.Rows = append(f.Rows, r)
		server.Kill()
	}
	f.Rows[2] = f.Rows[2].over(f.Rows[1])
	f.Rows = append(f.Rows, f.Rows[2].tailOver(f.Rows[1]))
	return f
}
