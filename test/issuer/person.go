package issuer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// Person is a person who logs in at an issuer, by code with PKCE (RFC 7636), by device code (RFC 8628), and by
// refresh tokens that are taken once.
type Person struct {
	*Issuer
	// Subject is who logs in; Life how long tokens are good, in seconds.
	Subject string
	Life    int64

	mu         sync.Mutex
	challenges map[string]string // by code
	refresh    map[string]bool   // those that count
	made       int
	approved   bool
	// Twice counts refresh tokens that came again.
	twice   int
	revoked []string
}

// LogIn has the issuer let a person in.
func (i *Issuer) LogIn(subject string) *Person {
	p := &Person{Issuer: i, Subject: subject, Life: 300, challenges: map[string]string{}, refresh: map[string]bool{}}
	i.Answer(p.serve)
	return p
}

// Approve lets the device code in.
func (p *Person) Approve() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved = true
}

// Seen are the tokens that were revoked, and how many refresh tokens came twice.
func (p *Person) Seen() (revoked []string, twice int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revoked, p.twice
}

func (p *Person) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := func(status int, body map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch _ = r.ParseForm(); r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(http.StatusOK, map[string]any{
			"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"device_authorization_endpoint": p.URL + "/device", "revocation_endpoint": p.URL + "/revoke",
			"scopes_supported": []string{"openid", "offline_access"},
		})
	case "/keys":
		_, _ = w.Write(p.JWKS())
	case "/auth":
		code := p.name("code")
		if p.challenges[code] = r.Form.Get("code_challenge"); r.Form.Get("code_challenge_method") != "S256" {
			answer(http.StatusBadRequest, map[string]any{"error": "invalid_request"})
			return
		}
		back, _ := url.Parse(r.Form.Get("redirect_uri"))
		back.RawQuery = url.Values{"code": {code}, "state": {r.Form.Get("state")}, "iss": {p.URL}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	case "/device":
		answer(http.StatusOK, map[string]any{
			"device_code": "d1", "user_code": "ABCD-EFGH", "verification_uri": p.URL + "/type", "expires_in": 60, "interval": 1,
		})
	case "/revoke":
		p.revoked = append(p.revoked, r.Form.Get("token"))
		delete(p.refresh, r.Form.Get("token"))
	case "/token":
		status, body := p.token(r.Form)
		answer(status, body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *Person) token(form url.Values) (int, map[string]any) {
	refused := func(word string) (int, map[string]any) { return http.StatusBadRequest, map[string]any{"error": word} }
	switch form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		challenge, known := p.challenges[form.Get("code")]
		delete(p.challenges, form.Get("code"))
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return refused("invalid_grant")
		}
	case "urn:ietf:params:oauth:grant-type:device_code":
		if !p.approved {
			return refused("authorization_pending")
		}
	case "refresh_token":
		shown := form.Get("refresh_token")
		if !p.refresh[shown] {
			p.twice++
			return refused("invalid_grant")
		}
		delete(p.refresh, shown)
	default:
		return refused("unsupported_grant_type")
	}
	next := p.name("canary-refresh-")
	p.refresh[next] = true
	token := p.Token(p.Subject, map[string]any{"exp": p.Now().Unix() + p.Life})
	return http.StatusOK, map[string]any{
		"access_token": "opaque", "id_token": token, "token_type": "Bearer", "expires_in": p.Life, "refresh_token": next,
	}
}

func (p *Person) name(kind string) string {
	p.made++
	return fmt.Sprint(kind, p.made)
}
