package subscription

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Endpoint reaches subscribers. It is safe for concurrent use. Each call is bounded in time and in the bytes it reads
// of the answer, connects only to addresses that the rules allow, and follows no redirect. Errors are in the broker's
// own words, fit for answers and the audit log, and hold no secret.
type Endpoint interface {
	// Test asks a subscriber with GET, and returns nil if it answers 204 (SOL003 clause 5.4.20.3.2).
	Test(ctx context.Context, to Subscriber) error
	// Send posts a notification, and returns nil once the subscriber has taken it: it answered 2xx. An error is an
	// [ErrRefused] if the subscriber takes others, but not this one, and an [ErrOurs] if it was not asked.
	Send(ctx context.Context, to Subscriber, body []byte) error
	// Forget drops the state kept of a subscription.
	Forget(subscription string)
}

// ErrRefused: the subscriber does not take this notification (it answered 400, 413, 415 or 422).
var ErrRefused = errors.New("the subscriber refuses the notification")

// ErrOurs: the broker cannot authenticate itself now, and the subscriber has no part in that.
var ErrOurs = errors.New("the broker cannot authenticate itself to the subscriber")

// Subscriber is a subscriber as an [Endpoint] needs it.
type Subscriber struct {
	// Subscription is the id under which connections and tokens may be kept; empty keeps nothing.
	Subscription string
	Callback     string
	// Credentials are asked for if none is kept.
	Credentials func(context.Context) (Credentials, error)
	// Egress are the addresses that may be dialled for the project.
	Egress *egress.Rules
}

// Credentials authenticate the broker to a subscriber.
type Credentials struct {
	// User and Password are for BASIC; empty if that is not used.
	User     string
	Password secret.Text
	// ClientID, ClientPassword and TokenEndpoint are for OAuth 2.0's client credentials; empty if those are not used.
	ClientID       string
	ClientPassword secret.Text
	TokenEndpoint  string
	// Certificate says that the broker shows its client certificate.
	Certificate bool
}

// secrets reports whether there is something to seal.
func (c Credentials) secrets() bool { return c.User != "" || c.ClientID != "" }

// sealable is the part of credentials that is sealed.
type sealable struct {
	User           string `json:"user,omitempty"`
	Password       string `json:"password,omitempty"`
	ClientID       string `json:"clientId,omitempty"`
	ClientPassword string `json:"clientPassword,omitempty"`
	TokenEndpoint  string `json:"tokenEndpoint,omitempty"`
	// Callback is where they are sent: they open for no other.
	Callback string `json:"callback"`
}

var errForeign = errors.New("the sealed text belongs to another subscription")

func (c Credentials) text(callback string) secret.Text {
	plain := sealable{c.User, c.Password.Reveal(), c.ClientID, c.ClientPassword.Reveal(), c.TokenEndpoint, callback}
	b, _ := json.Marshal(plain) //nolint:gosec // texts always encode, and are sealed at once
	defer clear(b)
	return secret.NewText(string(b))
}

func readCredentials(t secret.Text, callback string) (Credentials, error) {
	var s sealable
	if json.Unmarshal([]byte(t.Reveal()), &s) != nil || s.Callback != callback {
		return Credentials{}, errForeign
	}
	return Credentials{
		User: s.User, Password: secret.NewText(s.Password),
		ClientID: s.ClientID, ClientPassword: secret.NewText(s.ClientPassword), TokenEndpoint: s.TokenEndpoint,
	}, nil
}
