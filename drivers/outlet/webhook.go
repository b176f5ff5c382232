package outlet

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// WebhookOptions say who is posted lines.
type WebhookOptions struct {
	// URL is where to post; https, or http to a loopback address.
	URL string
	// CAFile holds the authorities (PEM) of the receiver's certificate; empty means the
	// system's.
	CAFile string
	// TokenFile holds a bearer token; empty sends none. It is read for each request.
	TokenFile string
	// HMACKeyFile holds the key that requests are signed with, "whsec_" and base64, as
	// Standard Webhooks has it (standardwebhooks.com); empty signs none. It is read for
	// each request.
	HMACKeyFile string
	// Rules bound where the connection may lead.
	Rules *egress.Rules
	// Now dates signatures; nil means time.Now.
	Now func() time.Time
}

// Validate returns what is wrong with the options, joined; it reads no file.
func (o WebhookOptions) Validate() error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("url must be like https://siem.example.org/audit, without user, password or fragment")
	case u.Scheme == "https", u.Scheme == "http" && egress.OwnHost(u.Hostname()):
		return nil
	}
	return errors.New("url must begin with https:// unless its host is a loopback address")
}

// Webhook posts lines as one JSON array. Any answer of 2xx takes them; redirects are not
// followed.
type Webhook struct {
	options WebhookOptions
	media   string // of the array
	way     *remote.Transport
	turn    sync.Mutex // one request at a time: lines come in their order
}

const webhook = "the webhook"

// NewWebhook returns an outlet to a webhook; the first Send connects.
func NewWebhook(o WebhookOptions) (*Webhook, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	way, err := remote.New(o.Rules, remote.Options{Server: webhook, CA: remote.Authorities{File: o.CAFile}})
	if err != nil {
		return nil, err
	}
	return &Webhook{options: o, media: "application/json", way: way}, nil
}

// Close closes connections.
func (w *Webhook) Close() error {
	w.way.CloseIdleConnections()
	return nil
}

// Send posts lines; see the package's comment.
func (w *Webhook) Send(ctx context.Context, lines [][]byte) error {
	w.turn.Lock()
	defer w.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	body := append(append([]byte("["), bytes.Join(lines, []byte(",\n"))...), ']')
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.options.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's url cannot be used")
	}
	request.Header.Set("Content-Type", w.media)
	if err := w.sign(request.Header, body); err != nil {
		return err
	}
	if w.options.TokenFile != "" {
		token, err := readSecret(w.options.TokenFile)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	response, err := w.way.Client().Do(request)
	if err != nil {
		return remote.Explain(err, webhook)
	}
	if err := response.Body.Close(); err != nil {
		return remote.Explain(err, webhook)
	}
	return refusal(response.StatusCode)
}

// sign sets the headers of Standard Webhooks. The id is made of the lines, so that those
// that are sent again have it again.
func (w *Webhook) sign(h http.Header, body []byte) error {
	if w.options.HMACKeyFile == "" {
		return nil
	}
	text, err := readSecret(w.options.HMACKeyFile)
	if err != nil {
		return err
	}
	key, err := HMACKey(text)
	if err != nil {
		return fmt.Errorf("%s %w", w.options.HMACKeyFile, err)
	}
	digest := sha256.Sum256(body)
	id := "msg_" + hex.EncodeToString(digest[:16])
	at := strconv.FormatInt(w.options.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key) // its Write never fails
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", at)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}

// HMACKey reads a key of Standard Webhooks: "whsec_" and the base64 of 24 to 64 bytes.
func HMACKey(text secret.Text) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text.Reveal(), "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil,
			errors.New(`must hold "whsec_" and the base64 of 24 to 64 random bytes; make it with: (printf whsec_; head -c 32 /dev/urandom | base64)`)
	}
	return key, nil
}

// maxSecret bounds a file of a token or key, in bytes.
const maxSecret = 16 << 10

func readSecret(name string) (secret.Text, error) {
	info, err := os.Stat(name)
	if err != nil {
		return secret.Text{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return secret.Text{}, fmt.Errorf("%s is not a file of a credential", name)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(content)
	text := secret.NewText(strings.TrimSpace(string(content)))
	if text.Empty() {
		return secret.Text{}, fmt.Errorf("%s is empty", name)
	}
	return text, nil
}

// refusal explains a status; nil for 2xx.
func refusal(status int) error {
	var remedy string
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status >= 300 && status <= 399:
		remedy = "redirects are not followed: configure the url that it leads to"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		remedy = "check tokenFile and hmacKeyFile"
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		remedy = "check the url"
	case status == http.StatusRequestEntityTooLarge:
		remedy = "let it take bodies of 1 MiB"
	default:
		remedy = "see its log"
	}
	return fmt.Errorf("the webhook answers %d; %s", status, remedy)
}

// Events posts what becomes of the VIMs of clusters, as CloudEvents in a batch (the
// CloudEvents HTTP protocol binding 1.0, clause 3.3). It takes the lines of the audit log,
// and drops those that are no such events: an event is as durable, and as often repeated,
// as its entry is delivered. Its id is the entry's leaf in the tree of the log, the same each time.
type Events struct{ to *Webhook }

// NewEvents returns an outlet to a webhook that takes CloudEvents.
func NewEvents(o WebhookOptions) (*Events, error) {
	w, err := NewWebhook(o)
	if err != nil {
		return nil, err
	}
	w.media = "application/cloudevents-batch+json; charset=UTF-8"
	return &Events{w}, nil
}

// Close closes connections.
func (e *Events) Close() error { return e.to.Close() }

// Send posts the events that lines tell of; nothing if they tell of none.
func (e *Events) Send(ctx context.Context, lines [][]byte) error {
	var batch [][]byte
	for _, line := range lines {
		entry, err := audit.ParseLine(line)
		if err != nil {
			return err
		}
		told, ok := onboard.EventOf(entry)
		if !ok {
			continue
		}
		text, err := cloudEvent(tree.Leaf(line), entry, told)
		if err != nil {
			return fmt.Errorf("making an event of audit entry %d: %w", entry.Seq, err)
		}
		batch = append(batch, text)
	}
	if len(batch) == 0 {
		return nil
	}
	return e.to.Send(ctx, batch)
}

func cloudEvent(leaf tree.Hash, entry audit.Entry, told onboard.ClusterEvent) ([]byte, error) {
	e := event.New(event.CloudEventsVersionV1)
	e.SetID(hex.EncodeToString(leaf[:]))
	e.SetType(string(told.Kind))
	e.SetSource("/v1/management-clusters/" + told.ManagementCluster)
	e.SetSubject(told.Cluster)
	e.SetTime(entry.Time)
	if err := e.SetData(event.ApplicationJSON, told); err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}
