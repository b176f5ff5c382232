package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/testlog"
)

func TestTheCallersAddress(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	const proxy = "10.0.0.1:4000"
	for name, c := range map[string]struct {
		header, peer string
		sent         http.Header
		want         string
	}{
		"no proxy":                           {ForwardedFor, "203.0.113.9:5", http.Header{}, "203.0.113.9:5"},
		"a header of a stranger":             {ForwardedFor, "203.0.113.9:5", http.Header{ForwardedFor: {"10.0.0.7"}}, "203.0.113.9:5"},
		"a proxy that says nothing":          {ForwardedFor, proxy, http.Header{}, proxy},
		"one proxy":                          {ForwardedFor, proxy, http.Header{ForwardedFor: {"198.51.100.7"}}, "198.51.100.7:0"},
		"what the caller made up":            {ForwardedFor, proxy, http.Header{ForwardedFor: {"127.0.0.1, 198.51.100.7"}}, "198.51.100.7:0"},
		"made up in lines of its own":        {ForwardedFor, proxy, http.Header{ForwardedFor: {"127.0.0.1", "10.9.9.9", "198.51.100.7"}}, "198.51.100.7:0"},
		"two proxies":                        {ForwardedFor, proxy, http.Header{ForwardedFor: {"1.1.1.1, 198.51.100.7, 10.0.0.2"}}, "198.51.100.7:0"},
		"proxies only":                       {ForwardedFor, proxy, http.Header{ForwardedFor: {"10.0.0.3,10.0.0.2"}}, "10.0.0.3:0"},
		"nonsense before the proxy":          {ForwardedFor, proxy, http.Header{ForwardedFor: {"1.1.1.1, unknown, 10.0.0.2"}}, "10.0.0.2:0"},
		"nonsense at the end":                {ForwardedFor, proxy, http.Header{ForwardedFor: {"1.1.1.1, zog"}}, proxy},
		"an empty end":                       {ForwardedFor, proxy, http.Header{ForwardedFor: {"1.1.1.1,"}}, proxy},
		"a port":                             {ForwardedFor, proxy, http.Header{ForwardedFor: {"198.51.100.7:99"}}, "198.51.100.7:0"},
		"IPv6":                               {ForwardedFor, "[2001:db8:1::1]:4", http.Header{ForwardedFor: {"2001:db8:2::7"}}, "[2001:db8:2::7]:0"},
		"IPv4 in IPv6":                       {ForwardedFor, "[::ffff:10.0.0.1]:4", http.Header{ForwardedFor: {"::ffff:198.51.100.7"}}, "198.51.100.7:0"},
		"the header that proxies do not set": {ForwardedFor, proxy, http.Header{Forwarded: {"for=198.51.100.7"}, "X-Real-Ip": {"1.1.1.1"}}, proxy},
		"Forwarded":                          {Forwarded, proxy, http.Header{Forwarded: {`for=1.1.1.1, for=198.51.100.7;proto=https`}, ForwardedFor: {"2.2.2.2"}}, "198.51.100.7:0"},
		"Forwarded, IPv6 with a port":        {Forwarded, proxy, http.Header{Forwarded: {`By=x;For="[2001:db8:2::7]:4711"`}}, "[2001:db8:2::7]:0"},
		"Forwarded behind an open quote":     {Forwarded, proxy, http.Header{Forwarded: {`for="1.1.1.1, for=198.51.100.7`}}, "198.51.100.7:0"},
		"Forwarded, hidden":                  {Forwarded, proxy, http.Header{Forwarded: {`for=1.1.1.1, for=_hidden`}}, proxy},
		"Forwarded without for":              {Forwarded, proxy, http.Header{Forwarded: {`proto=https`}}, proxy},
		"Forwarded twice in one":             {Forwarded, proxy, http.Header{Forwarded: {`for=1.1.1.1;for=2.2.2.2`}}, proxy},
		"a peer without a port":              {ForwardedFor, "@", http.Header{ForwardedFor: {"1.1.1.1"}}, "@"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: c.sent}
		if got := (Proxies{Networks: networks, Header: c.header}).caller(r); got != c.want {
			t.Errorf("%s: caller() = %q, want %q", name, got, c.want)
		}
		if got := (Proxies{}).caller(r); got != c.peer {
			t.Errorf("%s: caller() where no proxy is trusted = %q, want %q", name, got, c.peer)
		}
	}
}

// Whatever is behind the door knows the caller's address, and the log names it.
func TestTheLogNamesTheCallerBehindAProxy(t *testing.T) {
	for trusted, want := range map[string]string{"192.0.2.0/24": "198.51.100.7", "10.0.0.0/8": "192.0.2.1"} {
		var lines strings.Builder
		h := New(Options{
			Log:     testlog.To(t, slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Proxies: Proxies{Networks: []netip.Prefix{netip.MustParsePrefix(trusted)}, Header: ForwardedFor},
		})
		r := httptest.NewRequest(http.MethodGet, "/nowhere", nil) // from 192.0.2.1
		r.Header.Set(ForwardedFor, "127.0.0.1, 198.51.100.7")
		h.ServeHTTP(httptest.NewRecorder(), r)
		if !strings.Contains(lines.String(), "remote="+want+":") {
			t.Errorf("where %s is trusted the log says %s, want the caller %s", trusted, lines.String(), want)
		}
	}
}
