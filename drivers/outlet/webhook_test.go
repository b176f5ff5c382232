package outlet_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/story"
)

// closed is an address where nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	mustDo(t, err)
	mustDo(t, l.Close())
	return l.Addr().String()
}

// hook is a webhook that keeps what it is posted.
type hook struct {
	*fake.Server
	mu   sync.Mutex
	got  []json.RawMessage
	head http.Header
	body []byte
}

func newHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = fake.New(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var items []json.RawMessage
		if err == nil {
			err = json.Unmarshal(body, &items)
		}
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, fake.Canary, http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got, h.head, h.body = append(h.got, items...), r.Header, body
		w.WriteHeader(http.StatusAccepted)
	})
	return h
}

const (
	tokenCanary = "canary-token-of-the-webhook"
	keyCanary   = "whsec_Y2FuYXJ5LWtleS1vZi10aGUtd2ViaG9vay0tLS0="
)

// outlet returns an outlet to the webhook that shows a token and signs.
func (h *hook) outlet(t *testing.T) (*outlet.Webhook, outlet.WebhookOptions) {
	t.Helper()
	o := outlet.WebhookOptions{
		URL: h.URL + "/audit?site=a", CAFile: story.WriteFile(t, "ca.pem", h.CA, 0o600), Rules: loopback(),
		TokenFile:   story.WriteFile(t, "token", tokenCanary+"\n", 0o600),
		HMACKeyFile: story.WriteFile(t, "key", keyCanary+"\n", 0o600),
		Now:         func() time.Time { return noon },
	}
	mustDo(t, o.Validate())
	w, err := outlet.NewWebhook(o)
	mustDo(t, err)
	t.Cleanup(func() { mustDo(t, w.Close()) })
	return w, o
}

func TestWebhookPostsSignedLines(t *testing.T) {
	h := newHook(t)
	w, _ := h.outlet(t)
	mustDo(t, w.Send(t.Context(), lines(`{"a":1}`, `{"a":2}`)))
	id := h.head.Get("Webhook-Id")
	mustDo(t, w.Send(t.Context(), lines(`{"a":1}`, `{"a":2}`)))
	if again := h.head.Get("Webhook-Id"); id == "" || again != id {
		t.Errorf("the same lines have the ids %q and %q", id, again)
	}
	if len(h.got) != 4 || string(h.got[1]) != `{"a":2}` {
		t.Errorf("got %s", h.got)
	}
	ids := map[string]bool{id: true}
	for _, other := range [][][]byte{lines(`{"a":1}`, `{"a":3}`), lines(`{"a":1}`), lines(`{"a":2}`, `{"a":1}`), lines(`{"a":1}`, `{"a":2}`, `{"a":3}`)} {
		mustDo(t, w.Send(t.Context(), other))
		if other := h.head.Get("Webhook-Id"); ids[other] {
			t.Errorf("other lines have the id %q, too", other)
		}
		ids[h.head.Get("Webhook-Id")] = true
	}
	mustDo(t, w.Send(t.Context(), lines(`{"a":1}`, `{"a":2}`)))
	if got := h.head.Get("Authorization"); got != "Bearer "+tokenCanary {
		t.Errorf("Authorization = %q", got)
	}
	// Standard Webhooks, "Verifying webhooks"
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(keyCanary, "whsec_"))
	mustDo(t, err)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + h.head.Get("Webhook-Timestamp") + "." + string(h.body)))
	if got, want := h.head.Get("Webhook-Signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
	if got := h.head.Get("Webhook-Timestamp"); got != "1935835200" {
		t.Errorf("timestamp %q", got)
	}
}

// Tokens and keys are read for each request, so that they can be rotated.
func TestWebhookReadsItsSecretsAgain(t *testing.T) {
	h := newHook(t)
	w, o := h.outlet(t)
	mustDo(t, w.Send(t.Context(), lines(`{}`)))
	mustDo(t, os.WriteFile(o.TokenFile, []byte("another"), 0o600))
	mustDo(t, w.Send(t.Context(), lines(`{}`)))
	if got := h.head.Get("Authorization"); got != "Bearer another" {
		t.Errorf("Authorization = %q", got)
	}
	mustDo(t, os.WriteFile(o.HMACKeyFile, []byte(tokenCanary), 0o600))
	if err := w.Send(t.Context(), lines(`{}`)); err == nil || !strings.Contains(err.Error(), "whsec_") || strings.Contains(err.Error(), tokenCanary) {
		t.Errorf("Send with a key that is none = %v", err)
	}
	mustDo(t, os.Remove(o.HMACKeyFile))
	if err := w.Send(t.Context(), lines(`{}`)); err == nil {
		t.Error("Send without the key = nil")
	}
	if len(h.got) != 2 {
		t.Errorf("%d lines came, want 2: none unsigned", len(h.got))
	}
}

func TestWebhookThatFails(t *testing.T) {
	h := newHook(t)
	w, _ := h.outlet(t)
	elsewhere := newHook(t)
	for name, c := range map[string]struct {
		fault fake.Fault
		want  string
	}{
		"refuses":     {fake.Fault{Kind: fake.Refuse, Status: 503}, "answers 503"},
		"knows not":   {fake.Fault{Kind: fake.Refuse, Status: 401}, "check tokenFile"},
		"a page":      {fake.Fault{Kind: fake.HTML}, "check the url"},
		"too large":   {fake.Fault{Kind: fake.Refuse, Status: 413}, "1 MiB"},
		"breaks":      {fake.Fault{Kind: fake.Drop}, "broke"},
		"breaks late": {fake.Fault{Kind: fake.Drop, Late: true}, "broke"},
		"huge answer": {fake.Fault{Kind: fake.Huge}, "longer than"},
		"redirects":   {fake.Fault{Kind: fake.Redirect, Location: strings.TrimPrefix(elsewhere.URL, "https://")}, "redirects are not followed"},
	} {
		h.Fail(c.fault)
		err := w.Send(t.Context(), lines(`{"line":"canary-line"}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Send = %v, want %q", name, err, c.want)
			continue
		}
		for _, canary := range []string{fake.Canary, tokenCanary, "canary-line", keyCanary[6:]} {
			if strings.Contains(err.Error(), canary) {
				t.Errorf("%s: the error holds a canary: %v", name, err)
			}
		}
	}
	if elsewhere.head != nil {
		t.Error("a redirect was followed")
	}
	h.Heal()
	mustDo(t, w.Send(t.Context(), lines(`{"a":1}`)))
}

// Closing ends the connection; the next line goes over another.
func TestWebhookThatIsClosed(t *testing.T) {
	h := newHook(t)
	w, _ := h.outlet(t)
	for range 2 {
		mustDo(t, w.Send(t.Context(), lines(`{}`)))
		mustDo(t, w.Send(t.Context(), lines(`{}`)))
		mustDo(t, w.Close())
	}
	from := h.Requests()
	if from[0].From != from[1].From || from[1].From == from[2].From || from[2].From != from[3].From {
		t.Errorf("four lines come from %s, %s, %s and %s, want two connections", from[0].From, from[1].From, from[2].From, from[3].From)
	}
}

func TestWebhookThatHangs(t *testing.T) {
	h := newHook(t)
	w, _ := h.outlet(t)
	h.Fail(fake.Fault{Kind: fake.Hang, Times: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := w.Send(ctx, lines(`{}`)); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("Send = %v, want that it does not answer in time", err)
	}
	h.Heal()
	mustDo(t, w.Send(t.Context(), lines(`{}`)))
}

func TestWebhookStaysUnderTheRules(t *testing.T) {
	h := newHook(t)
	_, o := h.outlet(t)
	o.Rules = egress.Default()
	w, err := outlet.NewWebhook(o)
	mustDo(t, err)
	if err := w.Send(t.Context(), lines(`{}`)); err == nil || !strings.Contains(err.Error(), "egress rules refuse") {
		t.Errorf("Send = %v, want that the rules refuse", err)
	}
}

func TestWebhookOptionsAreChecked(t *testing.T) {
	for url, good := range map[string]bool{
		"https://siem.example.org/audit": true, "http://127.0.0.1:8080/": true, "http://[::1]/": true,
		"http://siem.example.org/": false, "https://user:canary@siem/": false, "https:///audit": false, "siem": false, "ftp://siem/": false,
	} {
		if err := (outlet.WebhookOptions{URL: url}).Validate(); (err == nil) != good || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("Validate(%s) = %v", url, err)
		}
	}
	for text, good := range map[string]bool{keyCanary: true, keyCanary[6:]: false, "whsec_": false, "whsec_c2hvcnQ=": false, "": false} {
		if key, err := outlet.HMACKey(secret.NewText(text)); (err == nil) != good || good != bytes.HasPrefix(key, []byte("canary")) {
			t.Errorf("HMACKey(%q) = %q, %v", text, key, err)
		}
	}
}
