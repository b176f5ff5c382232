package script

import (
	"archive/zip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// tacker asks as OpenStack Tacker does with an external NFVO.
type tacker struct {
	story.Shell
	t          *testing.T
	broker     string
	id, secret string
	// client verifies the broker, where that is https.
	client http.Client
	// accept is what it says that it reads tokens in: releases differ.
	accept string
	// url is where its operations are found, states how they stand.
	url    string
	mu     sync.Mutex
	states map[string]string
}

// send sends a request, and reads the answer.
func (v *tacker) send(method, path, body string, headers ...string) (int, string, http.Header) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.broker+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	for n := 1; n < len(headers); n += 2 {
		r.Header.Set(headers[n-1], headers[n])
	}
	answer, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

// read is an answer's JSON.
func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

const form = "application/x-www-form-urlencoded"

// login fetches a token, as before every request.
func (v *tacker) login() string {
	v.t.Helper()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(v.id+":"+v.secret))
	status, text, header := v.send("POST", "/oauth2/token", "grant_type=client_credentials", "Authorization", basic, "Content-Type", form, "Accept", v.accept)
	if status != 200 || header.Get("Content-Type") != "application/json" {
		v.t.Fatalf("POST /oauth2/token = %d %s %s", status, header.Get("Content-Type"), text)
	}
	return "Bearer " + read[struct {
		Token string `json:"access_token"`
	}](v.t, text).Token
}

// ask asks for a grant.
func (v *tacker) ask(operation, id string) (int, string) {
	v.t.Helper()
	body := `{"vnfInstanceId":"97b5c0de-0000-4000-8000-000000000001","vnfLcmOpOccId":"` + id + `","vnfdId":"b1bb0ce7-ebca-4fa7-95ed-4840d70a1177","flavourId":"simple",` +
		`"operation":"` + operation + `","isAutomaticInvocation":false,"addResources":[{"id":"a464","type":"COMPUTE","resourceTemplateId":"VDU1"}],` +
		`"additionalParams":{"lcm-kubernetes-def-files":["Files/kubernetes/deployment.yaml"],"namespace":"default"},` +
		`"_links":{"vnfLcmOpOcc":{"href":"` + v.url + `/vnflcm/v2/vnf_lcm_op_occs/` + id + `"},"vnfInstance":{"href":"` + v.url + `/vnflcm/v2/vnf_instances/97b5"}}}`
	status, text, _ := v.send("POST", "/grant/v1/grants", body, "Authorization", v.login(), "Version", "1.4.0", "Content-Type", "application/json", "Accept", "application/json")
	return status, text
}

// olderAsks asks for a grant as version 1 of Tacker's API does: without a version, and with JSON made JSON once more.
func (v *tacker) olderAsks(id string) {
	v.t.Helper()
	body, err := json.Marshal(`{"vnfInstanceId": "97b5c0de-0000-4000-8000-000000000002", "vnfLcmOpOccId": "` + id + `", "vnfdId": "b1bb0ce7-ebca-4fa7-95ed-4840d70a1177", ` +
		`"flavourId": "simple", "operation": "INSTANTIATE", "isAutomaticInvocation": false, "_links": {"vnfLcmOpOcc": {"href": "` + v.url + `/vnflcm/v1/vnf_lcm_op_occs/` + id +
		`"}, "vnfInstance": {"href": "` + v.url + `/vnflcm/v1/vnf_instances/97b5"}}, "addResources": [{"id": "a464", "type": "COMPUTE", "resourceTemplateId": "VDU1", "vduId": "VDU1"}]}`)
	if err != nil {
		v.t.Fatal(err)
	}
	status, text, header := v.send("POST", "/grant/v1/grants", string(body), "Authorization", v.login(), "Content-Type", "application/json", "Accept", "*/*", "User-Agent", "python-requests/2.31.0")
	given := read[struct {
		VIMs []struct {
			ID, VIMID, VIMType string
			Access             access `json:"accessInfo"`
		} `json:"vimConnections"`
		Add []struct {
			Resource string `json:"resourceDefinitionId"`
			VIM      string `json:"vimConnectionId"`
		} `json:"addResources"`
	}](v.t, text)
	if status != 201 || header.Get("Version") != "1.2.0" || len(given.VIMs) != 1 || len(given.Add) != 1 || given.Add[0].Resource != "a464" || given.Add[0].VIM != given.VIMs[0].ID {
		v.t.Fatalf("version 1 is granted %d, version %s: %s", status, header.Get("Version"), text)
	}
	if status, _ := v.token(given.VIMs[0].Access); status != 200 {
		v.t.Errorf("a token under what version 1 was granted = %d", status)
	}
}

// access is the access information of a grant.
type access struct {
	URL      string `json:"oidc_token_url"`
	Username string `json:"username"`
	Password string `json:"password"`
	ClientID string `json:"client_id"`
}

func (v *tacker) accessOf(grant string) access {
	v.t.Helper()
	for _, info := range read[struct {
		VIMs map[string]struct {
			Access access `json:"accessInfo"`
		} `json:"vimConnectionInfo"`
	}](v.t, grant).VIMs {
		return info.Access
	}
	v.t.Fatalf("the grant has no connection: %s", grant)
	return access{}
}

// token fetches one for the cluster, as for each operation and each synchronisation.
func (v *tacker) token(a access) (int, string) {
	v.t.Helper()
	fields := url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {a.ClientID}, "client_secret": {""}, "username": {a.Username}, "password": {a.Password},
	}
	status, text, header := v.send("POST", strings.TrimPrefix(a.URL, v.broker), fields.Encode(), "Content-Type", form)
	if status != 200 {
		return status, text
	}
	if header.Get("Content-Type") != "application/json" {
		v.t.Errorf("the token comes as %s", header.Get("Content-Type"))
	}
	return status, read[struct {
		Token string `json:"id_token"`
	}](v.t, text).Token
}

// packages fetches a package as Tacker does, which asks for JSON where it reads an archive.
func (v *tacker) packages() {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(v.Dir, "edge.csar"), csar.Tacker().Zip(v.t), 0o600); err != nil {
		v.t.Fatal(err)
	}
	v.Must(v.t, "vimbroker package upload edge.csar")
	at := "/vnfpkgm/v2/onboarded_vnf_packages/" + csar.TackerVNFD
	fetch := func(path string) (string, string) {
		v.t.Helper()
		status, text, header := v.send("GET", at+path, "", "Authorization", v.login(), "Version", "2.1.0", "Accept", "application/json")
		if status != 200 || header.Get("Version") != "2.1.0" {
			v.t.Fatalf("GET %s = %d, version %s: %s", at+path, status, header.Get("Version"), text)
		}
		return text, header.Get("Content-Type")
	}
	text, _ := fetch("")
	info := read[struct{ ID, VNFDID, VNFProvider, VNFProductName, VNFSoftwareVersion, VNFDVersion, OperationalState string }](v.t, text)
	if info.ID == "" || info.VNFDID != csar.TackerVNFD || info.VNFProvider == "" || info.VNFProductName == "" || info.VNFSoftwareVersion == "" ||
		info.VNFDVersion == "" || info.OperationalState != "ENABLED" {
		v.t.Errorf("the package is %s", text)
	}
	for path, file := range map[string]string{"/vnfd": "Definitions/edge_top.vnfd.yaml", "/package_content": "Files/kubernetes/deployment.yaml"} {
		text, kind := fetch(path)
		zipped, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
		if kind != "application/zip" || err != nil {
			v.t.Fatalf("GET %s answers %s, %v", at+path, kind, err)
		}
		if _, err := zipped.Open(file); err != nil {
			v.t.Errorf("what GET %s answers lacks %s: %v", at+path, file, err)
		}
	}
	if status, text, _ := v.send("GET", at, "", "Version", "2.1.0"); status != 401 {
		v.t.Errorf("GET %s without a token = %d %s", at, status, text)
	}
}

// TestTackerWithAnExternalNFVO replays what Tacker sends, with the headers of both releases.
func TestTackerWithAnExternalNFVO(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	home := t.TempDir()
	bin := story.BuildWithFailpoints(t, t.TempDir())
	data := filepath.Join(home, "data")
	env := []string{"HOME=" + home, "PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH")}
	server, err := story.Serve(bin, home, env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	for name, text := range map[string]string{
		"kubeconfig": kube.Kubeconfig(), "placements.yaml": "- {vnfd: 'b1bb0ce7-*', vim: edge, role: edit, namespaces: [default]}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := &tacker{t: t, broker: server.URL, states: map[string]string{}}
	v.Shell = story.Shell{Dir: home, Env: append(env, "VIMBROKER_ADDR="+server.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(data, "dev-token"))}
	vnfm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if r.Header.Get("Version") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"operationState":"`+v.states[filepath.Base(r.URL.Path)]+`"}`)
	}))
	t.Cleanup(vnfm.Close)
	v.url = vnfm.URL
	v.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge")
	client := func(name string) (id, secret string) {
		t.Helper()
		made := read[struct{ ID, ClientSecret string }](t, v.Must(t, "vimbroker client create "+name+" --placements placements.yaml -o json"))
		return made.ID, made.ClientSecret
	}
	v.id, v.secret = client("tacker")

	var last access
	for n, accept := range []string{form, "application/json"} {
		v.accept = accept
		suffix := string(rune('a' + n))
		status, first := v.ask("INSTANTIATE", "18d2-instantiate-"+suffix)
		if status != 201 {
			t.Fatalf("INSTANTIATE = %d %s", status, first)
		}
		if _, again := v.ask("INSTANTIATE", "18d2-instantiate-"+suffix); again != first {
			t.Errorf("a repeat is answered otherwise:\n%s\n%s", first, again)
		}
		lent := v.accessOf(first)
		if lent.ClientID != v.id || lent.URL != v.broker+"/oidc/token" {
			t.Errorf("the access information is for %s at %s", lent.ClientID, lent.URL)
		}
		seen := map[string]bool{}
		for _, operation := range []string{"INSTANTIATE", "SCALE", "HEAL"} {
			if operation != "INSTANTIATE" {
				status, grant := v.ask(operation, "18d2-"+operation+suffix)
				if status != 201 || v.accessOf(grant) != lent {
					t.Errorf("%s = %d %s, want the connection of INSTANTIATE", operation, status, grant)
				}
			}
			status, token := v.token(lent)
			if status != 200 || seen[token] || !taken(t, kube, token) {
				t.Errorf("%s: a token that works is not fetched: %d", operation, status)
			}
			seen[token] = true
		}
		last = lent
	}

	v.packages()
	v.olderAsks("18d2-older")

	// Who runs the broker sees what was granted, and no secret of it.
	list := v.Must(t, "vimbroker grant list --client tacker --vim edge -o json")
	given := read[struct {
		Items []struct{ ID, OperationType, Instance, State, Lease, LeaseState, TokenAt string }
	}](t, list)
	if len(given.Items) != 7 || given.Items[0].OperationType != "INSTANTIATE" || given.Items[1].OperationType != "HEAL" {
		t.Errorf("the grants are %s", list)
	}
	for _, g := range given.Items {
		if g.State != "granted" || g.LeaseState != "active" || g.TokenAt == "" {
			t.Errorf("a grant is listed as %+v", g)
		}
	}
	shown := v.Must(t, "vimbroker grant show "+given.Items[1].ID) + v.Must(t, "vimbroker grant list --lease "+last.Username)
	if !strings.Contains(shown, last.Username+", active") || !strings.Contains(shown, "Newest token") || strings.Contains(shown+list, last.Password) {
		t.Errorf("a grant is shown as %s", shown)
	}

	for _, id := range []string{"nonsense", "0197a2f0-6ad9-7a1a-9c55-4a9a1f0c7a11"} {
		if r := v.Try(t, "vimbroker grant show "+id); r.Code != 3 {
			t.Errorf("grant show %s = %d (%s), want 3: it is not there", id, r.Code, r.Stderr)
		}
	}

	// Between two operations somebody cuts the instance off.
	v.Must(t, "vimbroker lease revoke "+last.Username)
	if status, text := v.token(last); status == 200 {
		t.Errorf("a token under a revoked lease: %s", text)
	}
	if status, text := v.ask("SCALE", "18d2-cut-off"); status != 403 || !strings.Contains(text, "was revoked") {
		t.Errorf("SCALE after the lease was revoked = %d %s", status, text)
	}

	// What another client knows of it is nothing.
	own := v.id
	v.id, v.secret = client("mallet")
	status, stolen := v.ask("INSTANTIATE", "18d2-instantiate-a")
	if status != 201 || v.accessOf(stolen).ClientID == own || strings.Contains(stolen, last.Password) {
		t.Errorf("another client with the same operation id = %d %s", status, stolen)
	}

	// An instance that is terminated gives its lease back.
	lent := v.accessOf(stolen)
	if status, text := v.ask("TERMINATE", "18d2-terminate"); status != 201 || v.accessOf(text) != lent {
		t.Fatalf("TERMINATE = %d %s", status, text)
	}
	if status, _ := v.token(lent); status != 200 {
		t.Errorf("a token while TERMINATE runs = %d", status)
	}
	v.mu.Lock()
	v.states["18d2-terminate"] = "COMPLETED"
	v.mu.Unlock()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		status, _ := v.token(lent)
		if status != 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the lease of an instance that was terminated goes on")
		}
		time.Sleep(200 * time.Millisecond) // until the server has asked
	}

	// No secret stands where it does not belong.
	for name, secret := range map[string]string{"lease": lent.Password, "client": v.secret} {
		log := v.Must(t, "vimbroker audit list -o json")
		if strings.Contains(log, secret) || strings.Contains(server.Log.String(), secret) {
			t.Errorf("the secret of the %s stands in a log", name)
		}
		for _, file := range []string{"broker.db", "broker.db-wal"} {
			if text, err := os.ReadFile(filepath.Join(data, file)); err == nil && strings.Contains(string(text), secret) {
				t.Errorf("the secret of the %s stands in %s", name, file)
			}
		}
	}
}

// taken reports whether the cluster takes a token.
func taken(t *testing.T, kube *fakekube.Server, token string) bool {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return false
	}
	id := read[struct {
		ID string `json:"jti"`
	}](t, string(text)).ID
	return slices.ContainsFunc(kube.Tokens(), func(k fakekube.Token) bool { return k.ID == id })
}
