package vault_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const renewPath = "/v1/auth/token/renew-self"

// within checks a pause against what it is without jitter.
func within(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want*9/10 || got > want*11/10 {
		t.Errorf("the next pass is in %v, want %v, give or take a tenth", got, want)
	}
}

func TestKeeperRenewsAfterAThirdOfTheLife(t *testing.T) {
	f, c, o := timed(t)
	s := mustOpen(t, o)
	var k vault.Keeper
	for round := range 5 {
		pause := k.Pass(t.Context(), s)
		within(t, pause, 20*time.Minute)
		c.Add(pause - time.Second)
		if again := k.Pass(t.Context(), s); again != time.Second {
			t.Errorf("a pass before its time: the next one is in %v, want 1s", again)
		}
		if n := f.Count("PUT", renewPath); n != round {
			t.Errorf("renewed %d times, want %d", n, round)
		}
		c.Add(time.Second)
		if pause := k.Pass(t.Context(), s); pause != 0 {
			t.Errorf("after renewing the next pass is in %v, want at once", pause)
		}
	}
	wantLogins(t, f, 1)
}

// When Vault gives less and less, there is a new login before the end.
func TestKeeperReplacesATokenNearItsEnd(t *testing.T) {
	f, c, o := timed(t)
	f.SetTTL(time.Hour, 90*time.Minute)
	s := mustOpen(t, o)
	ref, key := mustPut(t, s)
	var k vault.Keeper
	for range 40 {
		c.Add(k.Pass(t.Context(), s))
		wantKey(t, s, ref, key)
	}
	renewals, logins := f.Count("PUT", renewPath), f.Count("PUT", loginPath)
	if renewals <= logins || logins < 3 {
		t.Errorf("%d renewals and %d logins, want some of both and more of the first", renewals, logins)
	}
	// No call had to log in by itself: that would have followed a refusal.
	if n := f.Count("GET", "/v1/auth/token/lookup-self"); n != 0 {
		t.Errorf("%d calls were refused meanwhile", n)
	}
}

func TestKeeperLogsInAgainWhereNothingIsRenewable(t *testing.T) {
	f, c, o := timed(t)
	f.Batch()
	s := mustOpen(t, o)
	var k vault.Keeper
	pause := k.Pass(t.Context(), s)
	within(t, pause, 40*time.Minute)
	c.Add(pause)
	k.Pass(t.Context(), s)
	wantLogins(t, f, 2)
	if n := f.Count("PUT", renewPath); n != 0 {
		t.Errorf("tried to renew what is not renewable %d times", n)
	}
}

func TestKeeperLogsInWhereRenewalIsRefused(t *testing.T) {
	for _, status := range []int{400, 403, 500} {
		f, c, o := timed(t)
		s := mustOpen(t, o)
		var k vault.Keeper
		c.Add(k.Pass(t.Context(), s))
		f.Fail(fake.Fault{Path: renewPath, Kind: fake.Refuse, Status: status})
		k.Pass(t.Context(), s)
		wantLogins(t, f, 2)
	}
}

// While Vault cannot be asked the session is used to its end, attempts come
// further and further apart, and the log says so once.
func TestKeeperTriesOn(t *testing.T) {
	for name, fault := range map[string]fake.Fault{
		"drop": {Kind: fake.Drop}, "sealed": {Kind: fake.Refuse, Status: 503}, "rate": {Kind: fake.Refuse, Status: 429},
	} {
		t.Run(name, func(t *testing.T) {
			f, c, o := timed(t)
			var logged bytes.Buffer
			o.Log = testlog.To(t, slog.NewTextHandler(&logged, nil))
			s := mustOpen(t, o)
			ref, key := mustPut(t, s)
			var k vault.Keeper
			c.Add(k.Pass(t.Context(), s))
			fault.Path, fault.Times = "^/v1/auth/", -1
			f.Fail(fault)
			for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
				pause := k.Pass(t.Context(), s)
				within(t, pause, want*time.Second)
				c.Add(pause)
			}
			wantLogins(t, f, 1)
			wantKey(t, s, ref, key)
			c.Add(time.Hour)
			within(t, k.Pass(t.Context(), s), 30*time.Second)
			wantLogins(t, f, 2) // it is over: there is nothing to renew
			f.Heal()
			c.Add(30 * time.Second)
			k.Pass(t.Context(), s)
			wantKey(t, s, ref, key)
			within(t, k.Pass(t.Context(), s), 20*time.Minute)
			if n := strings.Count(logged.String(), "cannot be kept alive"); n != 1 {
				t.Errorf("the log says %d times that the session cannot be kept alive, want once:\n%s", n, &logged)
			}
			if n := strings.Count(logged.String(), "kept alive again"); n != 1 {
				t.Errorf("the log says %d times that all is well again, want once:\n%s", n, &logged)
			}
		})
	}
}

// An outage after another begins as the first did: with a word in the log, and a short pause.
func TestKeeperForgetsAnOutageThatIsOver(t *testing.T) {
	f, c, o := timed(t)
	var logged bytes.Buffer
	o.Log = testlog.To(t, slog.NewTextHandler(&logged, nil))
	s := mustOpen(t, o)
	var k vault.Keeper
	for outage := 1; outage <= 2; outage++ {
		c.Add(k.Pass(t.Context(), s))
		f.Fail(fake.Fault{Path: "^/v1/auth/", Times: -1, Kind: fake.Refuse, Status: 429})
		for _, want := range []time.Duration{1, 2} {
			pause := k.Pass(t.Context(), s)
			within(t, pause, want*time.Second)
			c.Add(pause)
		}
		f.Heal()
		k.Pass(t.Context(), s)
		if down, up := strings.Count(logged.String(), "cannot be kept alive"), strings.Count(logged.String(), "kept alive again"); down != outage || up != outage {
			t.Errorf("after outage %d the log tells of %d, and of %d ends:\n%s", outage, down, up, &logged)
		}
	}
}

func TestKeeperLeavesATokenThatDoesNotExpire(t *testing.T) {
	f, c, o := timed(t)
	f.SetTTL(0, 0)
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.JSON, Status: 200, Body: `{"auth":{"client_token":"` + f.Token() + `","lease_duration":0,"renewable":false}}`})
	s := mustOpen(t, o)
	var k vault.Keeper
	c.Add(k.Pass(t.Context(), s))
	c.Add(k.Pass(t.Context(), s))
	wantLogins(t, f, 1)
	if n := f.Count("PUT", renewPath); n != 0 {
		t.Errorf("renewed a token that does not expire %d times", n)
	}
}

// Run notices a session that a call has made, and ends with its context also
// while Vault hangs.
func TestRunEndsWithItsContext(t *testing.T) {
	f := fakevault.New(t, nil)
	o := optionsFor(t, f)
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Refuse, Status: 500})
	s := mustOpen(t, o)
	reached := make(chan struct{}, 1)
	f.Fail(fake.Fault{Path: loginPath, Kind: fake.Hang, Times: -1, Reached: func() {
		select {
		case reached <- struct{}{}:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-reached
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run() = %v, want nil", err)
	}
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run with a context that has ended = %v, want nil", err)
	}
}
