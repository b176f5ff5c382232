package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// patience bounds a person's login.
const patience = 10 * time.Minute

// Code logs a person in by a browser on this machine (RFC 6749 section 4.1, RFC 7636, RFC 8252): show is called with
// the URL to open. The callback comes to a loopback address, once, with the state that was sent.
func (i Issuer) Code(ctx context.Context, show func(url string) error) (Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, ctx, err := i.begin(ctx)
	if err != nil {
		return Kept{}, err
	}
	if f.Authorization == "" {
		return Kept{}, fmt.Errorf("%s has no login by browser; use --device", i.URL)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Kept{}, fmt.Errorf("listening for the browser: %w", err)
	}
	f.config.RedirectURL = "http://" + l.Addr().String() + "/callback"
	state, verifier := random(), oauth2.GenerateVerifier()
	back := callback{issuer: i.URL, state: state, came: make(chan came, 1)}
	server := &http.Server{Handler: &back, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	defer func() {
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(done)
	}()
	if err := show(f.config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))); err != nil {
		return Kept{}, err
	}
	select {
	case <-ctx.Done():
		return Kept{}, errors.New("nobody has logged in, and the wait is over; begin again: vimbroker login")
	case came := <-back.came:
		if came.err != nil {
			return Kept{}, came.err
		}
		t, err := f.config.Exchange(ctx, came.code, oauth2.VerifierOption(verifier))
		if err != nil {
			return Kept{}, f.refused(err)
		}
		return f.login(t, Kept{})
	}
}

// refused is an error of an issuer, without what it answered but its word for it.
func (f flow) refused(err error) error {
	if said := (*oauth2.RetrieveError)(nil); errors.As(err, &said) {
		return fmt.Errorf("%s refuses the login: %s", f.URL, word(said.ErrorCode))
	}
	return fmt.Errorf("%s does not answer: %w", f.URL, plain(err))
}

// word is a word of OAuth; another text may be anything.
func word(text string) string {
	if len(text) > 64 || strings.ContainsFunc(text, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) || text == "" {
		return "without a word"
	}
	return text
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (see crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

// came is what a callback brings.
type came struct {
	code string
	err  error
}

// callback takes the one callback of a login.
type callback struct {
	issuer, state string
	came          chan came
}

// ServeHTTP implements [http.Handler]. A callback with another state is none: anybody can open such a URL in the
// person's browser.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/callback" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 {
		http.Error(w, "This is not the login that was begun.", http.StatusBadRequest)
		return
	}
	var got came
	switch from := q.Get("iss"); {
	case from != "" && from != c.issuer: // RFC 9207
		got.err = errors.New("another issuer answers than the one that was asked; log in again: vimbroker login")
	case q.Get("error") != "":
		got.err = fmt.Errorf("%s refuses the login: %s", c.issuer, word(q.Get("error")))
	case q.Get("code") == "":
		got.err = errors.New("the browser came back without a code; log in again: vimbroker login")
	default:
		got.code = q.Get("code")
	}
	select {
	case c.came <- got:
	default:
		http.Error(w, "The login was finished before.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, "You can close this window: vimbroker goes on in the terminal.\n")
}

// Device logs a person in by a browser on any machine (RFC 8628): show is called with the address to open there, and
// the code to type.
func (i Issuer) Device(ctx context.Context, show func(address, code string) error) (Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, ctx, err := i.begin(ctx)
	if err != nil {
		return Kept{}, err
	}
	if f.document.Device == "" {
		return Kept{}, fmt.Errorf("%s has no login by device code", i.URL)
	}
	asked, err := f.config.DeviceAuth(ctx)
	if err != nil {
		return Kept{}, f.refused(err)
	}
	address := asked.VerificationURIComplete
	if address == "" {
		address = asked.VerificationURI
	}
	if !safe(address) {
		return Kept{}, fmt.Errorf("%s has a login that is not https", i.URL)
	}
	if err := show(address, asked.UserCode); err != nil {
		return Kept{}, err
	}
	t, err := f.config.DeviceAccessToken(ctx, asked)
	if err != nil {
		return Kept{}, f.refused(err)
	}
	return f.login(t, Kept{})
}

// claimsOf reads a token without any check.
func claimsOf(token string) (s said, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return s, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	return s, err == nil && json.Unmarshal(text, &s) == nil
}
