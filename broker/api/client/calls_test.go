package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

func only[T any](_ T, err error) error { return err }

func first[T any](all iter.Seq2[T, error]) error {
	for _, err := range all {
		return err
	}
	return nil
}

func begun(id string, err error) error {
	if err == nil && id != "7" {
		err = fmt.Errorf("the operation is %q", id)
	}
	return err
}

// Each call is one request, and says so where it fails.
func TestEachCallIsOneRequest(t *testing.T) {
	for want, call := range map[string]func(ctx context.Context, c *client.Client) error{
		"POST /v1/vims Idempotency-Key=k body": func(ctx context.Context, c *client.Client) error {
			return only(c.RegisterVIM(ctx, v1.Registration{Name: "edge"}, "k"))
		},
		"GET /v1/vims/a%2Fb":  func(ctx context.Context, c *client.Client) error { return only(c.VIM(ctx, "a/b")) },
		"GET /v1/vims/%2E%2E": func(ctx context.Context, c *client.Client) error { return only(c.VIM(ctx, "..")) },
		"GET /v1/vims?idPrefix=1&label=a%3Db&name=n&pageSize=3&pageToken=p&status=s&type=t": func(ctx context.Context, c *client.Client) error {
			return only(c.VIMs(ctx, client.VIMQuery{Type: "t", Name: "n", IDPrefix: "1", Status: "s", Labels: map[string]string{"a": "b"}, PageSize: 3, PageToken: "p"}))
		},
		"GET /v1/keys?name=n&try=true": func(ctx context.Context, c *client.Client) error {
			return only(c.Keys(ctx, client.VIMQuery{Name: "n"}, true))
		},
		"GET /v1/keys": func(ctx context.Context, c *client.Client) error { return only(c.Keys(ctx, client.VIMQuery{}, false)) },
		`PATCH /v1/vims/v If-Match="3" body`: func(ctx context.Context, c *client.Client) error {
			return only(c.UpdateVIM(ctx, "v", v1.Change{}, 3))
		},
		"PATCH /v1/vims/v body":     func(ctx context.Context, c *client.Client) error { return only(c.UpdateVIM(ctx, "v", v1.Change{}, 0)) },
		"POST /v1/keys:rotate body": func(ctx context.Context, c *client.Client) error { return c.RotateKeys(ctx, v1.KeyRotation{}) },
		`POST /v1/vims/v/rotate If-Match="3" body`: func(ctx context.Context, c *client.Client) error {
			return only(c.RotateVIM(ctx, "v", v1.Rotation{}, 3))
		},
		"POST /v1/vims/v/check": func(ctx context.Context, c *client.Client) error { return only(c.CheckVIM(ctx, "v")) },
		`DELETE /v1/vims/v?drain=true&force=true If-Match="3"`: func(ctx context.Context, c *client.Client) error {
			_, _, err := c.DeleteVIM(ctx, "v", client.Deletion{Drain: true, Force: true, IfRevision: 3})
			return err
		},
		"DELETE /v1/vims/v": func(ctx context.Context, c *client.Client) error {
			_, _, err := c.DeleteVIM(ctx, "v", client.Deletion{})
			return err
		},
		"POST /v1/vims/v/inventory body": func(ctx context.Context, c *client.Client) error { return only(c.Inventory(ctx, "v", true)) },

		"POST /v1/leases Idempotency-Key=k body": func(ctx context.Context, c *client.Client) error {
			return only(c.IssueLease(ctx, v1.LeaseRequest{VIM: "v"}, "k"))
		},
		"POST /v1/leases body": func(ctx context.Context, c *client.Client) error {
			return only(c.IssueLease(ctx, v1.LeaseRequest{VIM: "v"}, ""))
		},
		"GET /v1/leases/1": func(ctx context.Context, c *client.Client) error { return only(c.Lease(ctx, "1")) },
		"GET /v1/leases?for=f&idPrefix=1&instance=i&operation=o&principal=a&state=s&vim=v": func(ctx context.Context, c *client.Client) error {
			return only(c.Leases(ctx, client.LeaseQuery{IDPrefix: "1", VIM: "v", Principal: "a", Operation: "o", Instance: "i", For: "f", State: "s"}))
		},
		"POST /v1/leases/1/renew body": func(ctx context.Context, c *client.Client) error { return only(c.RenewLease(ctx, "1", v1.Renewal{})) },
		"POST /v1/leases/1/push body":  func(ctx context.Context, c *client.Client) error { return only(c.PushLease(ctx, "1", v1.LeasePush{})) },
		"DELETE /v1/leases/1":          func(ctx context.Context, c *client.Client) error { return only(c.RevokeLease(ctx, "1")) },
		"POST /v1/leases:revoke body":  func(ctx context.Context, c *client.Client) error { return only(c.RevokeLeases(ctx, v1.Selector{})) },

		"POST /v1/management-clusters body": func(ctx context.Context, c *client.Client) error {
			return only(c.EnableManagementCluster(ctx, v1.ManagementClusterRequest{}))
		},
		"GET /v1/management-clusters/v":    func(ctx context.Context, c *client.Client) error { return only(c.ManagementCluster(ctx, "v")) },
		"GET /v1/management-clusters":      func(ctx context.Context, c *client.Client) error { return only(c.ManagementClusters(ctx)) },
		"DELETE /v1/management-clusters/v": func(ctx context.Context, c *client.Client) error { return c.DisableManagementCluster(ctx, "v") },
		"POST /v1/management-clusters/v/release body": func(ctx context.Context, c *client.Client) error {
			return only(c.ReleaseManagementCluster(ctx, "v"))
		},
		"GET /v1/clusters/1": func(ctx context.Context, c *client.Client) error { return only(c.Cluster(ctx, "1")) },
		"GET /v1/clusters?managementCluster=m&name=n&namespace=ns&state=s": func(ctx context.Context, c *client.Client) error {
			return only(c.Clusters(ctx, client.ClusterQuery{ManagementCluster: "m", Namespace: "ns", Name: "n", State: "s"}))
		},
		"GET /v1/clusters?state=s": func(ctx context.Context, c *client.Client) error {
			return first(c.AllClusters(ctx, client.ClusterQuery{State: "s"}))
		},
		"POST /v1/clusters/1/push-token body": func(ctx context.Context, c *client.Client) error {
			return only(c.IssuePushToken(ctx, "1", v1.PushTokenRequest{}))
		},
		"DELETE /v1/clusters/1/push-token": func(ctx context.Context, c *client.Client) error { return c.RevokePushToken(ctx, "1") },
		"POST /v1/onboard body":            func(ctx context.Context, c *client.Client) error { return only(c.Push(ctx, v1.Push{})) },

		"POST /v1/virtual-links body": func(ctx context.Context, c *client.Client) error {
			return only(c.CreateVirtualLink(ctx, v1.VirtualLinkRequest{}))
		},
		"GET /v1/virtual-links/l":               func(ctx context.Context, c *client.Client) error { return only(c.VirtualLink(ctx, "l")) },
		"GET /v1/virtual-links":                 func(ctx context.Context, c *client.Client) error { return first(c.AllVirtualLinks(ctx)) },
		"DELETE /v1/virtual-links/l?force=true": func(ctx context.Context, c *client.Client) error { return only(c.DeleteVirtualLink(ctx, "l", true)) },
		"POST /v1/volumes body": func(ctx context.Context, c *client.Client) error {
			return only(c.CreateVolume(ctx, v1.VolumeRequest{}))
		},
		"GET /v1/volumes/l":                func(ctx context.Context, c *client.Client) error { return only(c.Volume(ctx, "l")) },
		"GET /v1/volumes":                  func(ctx context.Context, c *client.Client) error { return first(c.AllVolumes(ctx)) },
		"DELETE /v1/volumes/l?force=false": func(ctx context.Context, c *client.Client) error { return only(c.DeleteVolume(ctx, "l", false)) },
		"GET /v1/audit?action=a&credentialId=c&lease=l&outcome=o&outcome=p&pageSize=3&pageToken=t&principal=p&project=core&request=r&resource=s" +
			"&since=2030-01-02T03%3A04%3A05.000000006Z&until=2030-01-02T03%3A04%3A06Z&vim=v": func(ctx context.Context, c *client.Client) error {
			since := time.Date(2030, 1, 2, 4, 4, 5, 6, time.FixedZone("", 3600))
			return only(c.Audit(ctx, client.AuditQuery{
				Project: "core", Principal: "p", Action: "a", Resource: "s", VIM: "v", Lease: "l", CredentialID: "c", Request: "r", Outcomes: []string{"o", "p"},
				Since: since, Until: since.Add(time.Second - 6), PageSize: 3, PageToken: "t",
			}))
		},
		"GET /v1/audit":   func(ctx context.Context, c *client.Client) error { return first(c.AllAudit(ctx, client.AuditQuery{})) },
		"GET /v1/trust":   func(ctx context.Context, c *client.Client) error { return first(c.AllTrustEntries(ctx)) },
		"GET /v1/trust/n": func(ctx context.Context, c *client.Client) error { return only(c.TrustEntry(ctx, "n")) },
		"POST /v1/trust body": func(ctx context.Context, c *client.Client) error {
			return only(c.CreateTrustEntry(ctx, v1.TrustEntryRequest{}))
		},
		"PUT /v1/trust/n body": func(ctx context.Context, c *client.Client) error {
			return only(c.UpdateTrustEntry(ctx, v1.TrustEntryRequest{Name: "n"}))
		},
		"DELETE /v1/trust/n":      func(ctx context.Context, c *client.Client) error { return c.DeleteTrustEntry(ctx, "n") },
		"POST /v1/trust:try body": func(ctx context.Context, c *client.Client) error { return only(c.TryToken(ctx, secret.NewText("t"))) },
		"POST /v1/clients body": func(ctx context.Context, c *client.Client) error {
			return only(c.CreateOAuthClient(ctx, v1.OAuthClientRequest{}))
		},
		"GET /v1/clients/1":                 func(ctx context.Context, c *client.Client) error { return only(c.OAuthClient(ctx, "1")) },
		"PUT /v1/clients/1/placements body": func(ctx context.Context, c *client.Client) error { return only(c.SetPlacements(ctx, "1", nil)) },
		"POST /v1/clients/1/rotate body": func(ctx context.Context, c *client.Client) error {
			return only(c.RotateOAuthClient(ctx, "1", v1.OAuthClientRotation{}))
		},
		"DELETE /v1/clients/1":       func(ctx context.Context, c *client.Client) error { return c.DeleteOAuthClient(ctx, "1") },
		"GET /v1/clients":            func(ctx context.Context, c *client.Client) error { return first(c.AllOAuthClients(ctx)) },
		"GET /v1/grants/1":           func(ctx context.Context, c *client.Client) error { return only(c.Grant(ctx, "1")) },
		"GET /v1/token-keys":         func(ctx context.Context, c *client.Client) error { return only(c.TokenKeys(ctx)) },
		"POST /v1/token-keys:rotate": func(ctx context.Context, c *client.Client) error { return only(c.RotateTokenKey(ctx)) },
		"DELETE /v1/token-keys/1":    func(ctx context.Context, c *client.Client) error { return c.RevokeTokenKey(ctx, "1") },
		"GET /logins":                func(ctx context.Context, c *client.Client) error { return only(c.Logins(ctx)) },
		"GET /v1/grants?client=c&instance=i&lease=l&operation=o&state=s&vim=v": func(ctx context.Context, c *client.Client) error {
			return first(c.AllGrants(ctx, client.GrantQuery{Client: "c", Instance: "i", Operation: "o", VIM: "v", Lease: "l", State: "s"}))
		},

		"POST /vnfpkgm/v2/vnf_packages Version=2.1.0 body": func(ctx context.Context, c *client.Client) error { return only(c.CreatePackage(ctx, nil)) },
		"PUT /vnfpkgm/v2/vnf_packages/1/package_content Version=2.1.0 Expect=100-continue application/zip of 3 bytes": func(ctx context.Context, c *client.Client) error {
			return c.UploadPackage(ctx, "1", strings.NewReader("zip"), 3)
		},
		"POST /vnfpkgm/v2/vnf_packages/1/package_content/upload_from_uri Version=2.1.0 body": func(ctx context.Context, c *client.Client) error {
			return c.UploadPackageFrom(ctx, "1", sol003.UploadFromRequest{})
		},
		"GET /vnfpkgm/v2/vnf_packages/1 Version=2.1.0":           func(ctx context.Context, c *client.Client) error { return only(c.Package(ctx, "1")) },
		"DELETE /vnfpkgm/v2/vnf_packages/1 Version=2.1.0":        func(ctx context.Context, c *client.Client) error { return c.DeletePackage(ctx, "1") },
		"GET /vnfpkgm/v2/vnf_packages?all_fields= Version=2.1.0": func(ctx context.Context, c *client.Client) error { return first(c.AllPackages(ctx)) },
		`PATCH /vnfpkgm/v2/vnf_packages/1 Version=2.1.0 {"operationalState":"ENABLED"}`: func(ctx context.Context, c *client.Client) error {
			return c.EnablePackage(ctx, "1", true)
		},
		`PATCH /vnfpkgm/v2/vnf_packages/1 Version=2.1.0 {"operationalState":"DISABLED"}`: func(ctx context.Context, c *client.Client) error {
			return c.EnablePackage(ctx, "1", false)
		},
		"GET /vnfpkgm/v2/vnf_packages/1/package_content Version=2.1.0": func(ctx context.Context, c *client.Client) error {
			return only(c.DownloadPackage(ctx, "1", io.Discard))
		},

		"POST /vnflcm/v2/vnf_instances Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			return only(c.CreateVNF(ctx, sol003.CreateVNFRequest{}))
		},
		"GET /vnflcm/v2/vnf_instances/1 Version=2.0.0":    func(ctx context.Context, c *client.Client) error { return only(c.VNF(ctx, "1")) },
		"DELETE /vnflcm/v2/vnf_instances/1 Version=2.0.0": func(ctx context.Context, c *client.Client) error { return c.DeleteVNF(ctx, "1") },
		"POST /vnflcm/v2/vnf_instances/1/heal Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			return begun(c.BeginVNF(ctx, "1", "heal", sol003.HealRequest{}))
		},
		"POST /vnflcm/v2/vnf_instances/1/heal?dry_run= Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			return only(c.PreviewVNF(ctx, "1", "heal", sol003.HealRequest{}))
		},
		"POST /vnflcm/v2/vnf_instances/1/check Version=2.0.0": func(ctx context.Context, c *client.Client) error { return only(c.CheckVNF(ctx, "1")) },
		"PATCH /vnflcm/v2/vnf_instances/1 Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			return begun(c.ModifyVNF(ctx, "1", sol003.ModifyRequest{}))
		},
		"GET /vnflcm/v2/vnf_lcm_op_occs/1 Version=2.0.0":        func(ctx context.Context, c *client.Client) error { return only(c.VNFOperation(ctx, "1")) },
		"POST /vnflcm/v2/vnf_lcm_op_occs/1/retry Version=2.0.0": func(ctx context.Context, c *client.Client) error { return c.SettleVNFOperation(ctx, "1", "retry") },
		"POST /vnflcm/v2/vnf_lcm_op_occs/1/cancel Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			return c.CancelVNFOperation(ctx, "1", sol003.CancelRequest{})
		},
		"GET /vnflcm/v2/subscriptions/1 Version=2.0.0":                             func(ctx context.Context, c *client.Client) error { return only(c.Subscription(ctx, "1")) },
		"DELETE /vnflcm/v2/subscriptions/1 Version=2.0.0":                          func(ctx context.Context, c *client.Client) error { return c.Unsubscribe(ctx, "1") },
		"GET /vnflcm/v2/subscriptions?all_fields= Version=2.0.0":                   func(ctx context.Context, c *client.Client) error { return first(c.AllSubscriptions(ctx)) },
		"GET /vnflcm/v2/vnf_instances?all_fields= Version=2.0.0":                   func(ctx context.Context, c *client.Client) error { return first(c.AllVNFs(ctx)) },
		"GET /vnflcm/v2/vnf_lcm_op_occs?all_fields= Version=2.0.0":                 func(ctx context.Context, c *client.Client) error { return first(c.AllVNFOperations(ctx, "")) },
		"GET /vnflcm/v2/vnf_lcm_op_occs?all_fields=&vnfInstanceId=1 Version=2.0.0": func(ctx context.Context, c *client.Client) error { return first(c.AllVNFOperations(ctx, "1")) },
		"POST /vnflcm/v2/subscriptions Version=2.0.0 body": func(ctx context.Context, c *client.Client) error {
			id, made, err := c.Subscribe(ctx, sol003.SubscriptionRequest{})
			if made || err == nil && id != "7" {
				err = fmt.Errorf("the subscription is %q, made %v", id, made)
			}
			return err
		},
	} {
		var asked []string
		status := http.StatusOK
		c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, said(t, r, strings.Contains(want, "{")))
			if status != http.StatusOK {
				answers(status, v1.ProblemType, `{"title":"away"}`)(w, r)
				return
			}
			w.Header().Set("Location", "https://elsewhere.example/x/7")
			body := "{}"
			if strings.HasPrefix(r.URL.Path, "/vnf") && r.Method == "GET" && strings.Count(r.URL.Path, "/") == 3 {
				body = "[]"
			}
			answers(status, v1.MediaType, body)(w, r)
		})
		if err := call(t.Context(), c); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		status = http.StatusServiceUnavailable
		if err := call(t.Context(), c); client.Status(err) != status || !strings.Contains(fmt.Sprint(err), "away") {
			t.Errorf("%s: the server is away: %v", want, err)
		}
		if got := strings.Join(asked, "\n"); got != want+"\n"+want {
			t.Errorf("asks\n%s\nwant\n%s", got, want)
		}
	}
}

// said is a request in words.
func said(t *testing.T, r *http.Request, whole bool) string {
	t.Helper()
	text := r.Method + " " + r.URL.RequestURI()
	for _, name := range []string{"Version", "Idempotency-Key", "If-Match", "Expect"} {
		if v := r.Header.Get(name); v != "" {
			text += " " + name + "=" + v
		}
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		t.Error(err)
	case whole:
		text += " " + strings.TrimSpace(string(body))
	case len(body) > 0 && r.Header.Get("Content-Type") != v1.MediaType:
		text += fmt.Sprintf(" %s of %d bytes", r.Header.Get("Content-Type"), r.ContentLength)
	case len(body) > 0:
		text += " body"
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+canary {
		t.Errorf("%s shows %q", text, got)
	}
	return text
}

// A download that ends before its length is none.
func TestADownloadIsWhole(t *testing.T) {
	c := newClient(t, answers(http.StatusOK, "application/zip", "12345"))
	var to bytes.Buffer
	if n, err := c.DownloadPackage(t.Context(), "whole", &to); n != 5 || err != nil || to.String() != "12345" {
		t.Errorf("%d bytes, %v: %q", n, err, to.String())
	}
	short := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "123")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	if n, err := short.DownloadPackage(t.Context(), "torn", io.Discard); n != 3 || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "downloading the package from ") {
		t.Errorf("%d bytes of a torn download, %v", n, err)
	}
}

// Pages of ETSI's lists are walked by the links that say next; what comes twice ends the walk.
func TestPagesFollowTheLinksThatSayNext(t *testing.T) {
	pages := map[string]string{ // by marker: links
		"":  `<http://x.example/?other=1>; rel="self"|<http://x.example/?nextpage_opaque_marker=a>; rel = "next"`,
		"a": `no link|<http://x.example/%zz>; rel="next"|<http://x.example/?nextpage_opaque_marker=b>; rel="next"`,
		"b": `<http://x.example/?nextpage_opaque_marker=c>; rel="prev"`,
	}
	var asked []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		marker := r.URL.Query().Get("nextpage_opaque_marker")
		asked = append(asked, marker)
		for link := range strings.SplitSeq(pages[marker], "|") {
			w.Header().Add("Link", link)
		}
		answers(200, v1.MediaType, `[{"id":"`+marker+`1"}]`)(w, r)
	})
	var got []string
	for one, err := range c.AllPackages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, one.ID)
	}
	if strings.Join(got, " ") != "1 a1 b1" || strings.Join(asked, ",") != ",a,b" {
		t.Errorf("packages %q of the pages %q", got, asked)
	}
	pages["b"] = pages["a"] + `|`
	pages["a"] = `<http://x.example/?nextpage_opaque_marker=a>; rel="next"`
	var last error
	for _, err := range c.AllPackages(t.Context()) {
		last = err
	}
	if last == nil {
		t.Error("a page that names itself as the next ends well")
	}
	asked = nil
	half := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("pageToken"))
		answers(200, v1.MediaType, `{"nextPageToken":"next","items":7}`)(w, r)
	})
	said := 0
	for range half.AllVIMs(t.Context(), client.VIMQuery{}) {
		said++
	}
	if said != 1 || len(asked) != 1 {
		t.Errorf("a page that is none makes %d answers, of the pages %q", said, asked)
	}
}

// A broker that cannot be asked gives no token.
func TestNoShortTokenComesOfNobody(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	if token, err := newClient(t, answers(200, "application/json", `{"access_token":"short"}`)).ShortToken(ended); !errors.Is(err, context.Canceled) || !token.Empty() {
		t.Errorf("a token that nobody was asked for: %v", err)
	}
}

// A token is exchanged for a short one; what the server says of a refusal is shown if it is a word of OAuth.
func TestAShortTokenIsAskedFor(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"access_token":"short"}`, ""},
		{404, `{}`, "its operator sets oauth.issuer"},
		{400, `{"error":"invalid_grant"}`, "(400): invalid_grant"},
		{400, `{"error":"` + long + `"}`, ": " + long},
		{400, `{"error":"` + long + `a"}`, ": ?"},
		{400, `{"error":"az_"}`, ": az_"},
		{400, "{\"error\":\"a`\"}", ": ?"},
		{400, `{"error":"a{"}`, ": ?"},
		{400, `{"error":"A"}`, ": ?"},
		{400, `{"access_token":"x","error":"a"}`, ": a"},
		{200, `{"access_token":"x"`, "(200): "},
		{503, `busy`, "(503): "},
	} {
		var form string
		token, err := newClient(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			form = r.URL.Path + " " + string(body)
			answers(c.status, "application/json", c.body)(w, r)
		}).ShortToken(t.Context())
		if c.want == "" && (err != nil || token.Reveal() != "short") || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want) || !token.Empty()) {
			t.Errorf("%d %s: %v", c.status, c.body, err)
		}
		if !strings.HasPrefix(form, "/oauth2/token ") || !strings.Contains(form, "subject_token="+canary) || !strings.Contains(form, "token-exchange") {
			t.Errorf("asks %s", form)
		}
	}
}
