package bench

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// goodLogins of each turn are with a token that nobody has shown before.
	goodLogins = 20
	// badClients show tokens that nobody has, each again badPause after it was answered.
	badClients = 150
	badPause   = time.Second
	// loginGoal bounds how much longer a good login takes for it.
	loginGoal = 1.5
)

// login measures how long a caller waits who shows the broker a token of Keystone for the first
// time: alone, beside 150 clients with bad tokens of one address, and beside as many that have
// an address each.
func login(b *testing.B, p *program) *figure {
	b.Helper()
	o, home := real.OpenStack(b), b.TempDir()
	member, validator := o.Project(b, real.TenantRoles...), o.Project(b, "service")
	file := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	config := file("config.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
trust: [{name: k, keystone: {authURL: %q, auth: {password: {userID: %q, projectID: %q, passwordFile: %s}}}}]
`, filepath.Join(home, "data"), o.AuthURL, validator.UserID, validator.ProjectID, file("password", validator.Password)))
	server, err := story.Serve(p.binary(b), home, []string{"HOME=" + home}, "--config", config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	good := newLogins(server.URL, "127.0.0.2")
	b.Cleanup(good.client.CloseIdleConnections)
	const rounds = 2
	var tokens []string // each is good for one login
	for range goodLogins * (1 + 3*rounds) {
		token, err := o.LogIn(b.Context(), member, nil)
		if err != nil {
			b.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	var alone, beside, spread waits
	measure := func(into *waits) {
		b.Helper()
		for range goodLogins {
			token := tokens[0]
			tokens = tokens[1:]
			began := time.Now()
			status, err := good.show(b.Context(), token)
			if err != nil {
				b.Fatal(err)
			}
			into.sample = append(into.sample, time.Since(began))
			if status != http.StatusOK {
				into.refused++
			}
		}
	}
	measure(new(waits)) // what is made once is made now
	for range rounds {
		measure(&alone)
		stop := badLogins(b.Context(), server.URL, func(int) string { return "127.0.0.3" })
		measure(&beside)
		stop()
		stop = badLogins(b.Context(), server.URL, func(n int) string { return fmt.Sprintf("127.0.1.%d", n+1) })
		measure(&spread)
		stop()
	}
	base := timed("good login, alone", alone.sample)
	rows := []row{base, alone.refusals(base)}
	for _, with := range []struct {
		what string
		waits
	}{
		{fmt.Sprintf("the same, beside %d bad clients of one address", badClients), beside},
		{fmt.Sprintf("the same, beside %d bad clients of as many addresses", badClients), spread},
	} {
		r := timed(with.what, with.sample).over(base)
		rows = append(rows, r.ratioGoal(loginGoal), r.tailOver(base), with.refusals(r))
	}
	return &figure{Title: "What bad logins do to a good one, at a real Keystone", Rows: rows}
}

// waits are the times of good logins, of which so many were refused all the same.
type waits struct {
	sample
	refused float64
}

// refusals is a row of its own for how many were refused.
func (w waits) refusals(of row) row {
	return row{What: of.What + ", refused", N: len(w.sample), Value: w.refused, Unit: "logins"}
}

// logins shows tokens to the broker from one address.
type logins struct {
	url    string
	client http.Client
}

func newLogins(url, from string) *logins {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &logins{url, http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}}
}

// show asks for a list with a token, and returns the answer's status.
func (l *logins) show(ctx context.Context, token string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/v1/vims", http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := l.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// badLogins has clients show tokens that Keystone does not know, until stop is called.
func badLogins(ctx context.Context, url string, from func(client int) string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range badClients {
		all.Go(func() {
			l := newLogins(url, from(n))
			defer l.client.CloseIdleConnections()
			for ctx.Err() == nil {
				_, _ = l.show(ctx, badToken()) // that it is refused, and how, is not what is measured
				select {
				case <-ctx.Done():
				case <-time.After(badPause):
				}
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// badToken looks like one of Keystone's: a Fernet token of version 0x80.
func badToken() string {
	text := make([]byte, 137)
	_, _ = rand.Read(text) // never fails
	text[0] = 0x80
	copy(text[1:5], "\x00\x00\x00\x00")
	return base64.URLEncoding.EncodeToString(text)
}
