package api

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

func TestClientCertCountsFromTrustedProxiesAlone(t *testing.T) {
	ca, err := pki.NewCA("ca")
	if err != nil {
		t.Fatal(err)
	}
	var certs [2]*x509.Certificate
	for i := range certs {
		pair, err := ca.Client("a", nil, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		one, err := pair.TLS()
		if err != nil {
			t.Fatal(err)
		}
		if certs[i], err = x509.ParseCertificate(one.Certificate[0]); err != nil {
			t.Fatal(err)
		}
	}
	field := func(c *x509.Certificate) string { return ":" + base64.StdEncoding.EncodeToString(c.Raw) + ":" }
	chain := func(n int) http.Header {
		return http.Header{clientCert: {field(certs[0])}, clientCertChain: {strings.Join(slices.Repeat([]string{field(certs[1])}, n-1), " , ")}}
	}
	over := &tls.ConnectionState{PeerCertificates: certs[1:]}
	trusting := Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, ClientCert: true}
	deaf := trusting
	deaf.ClientCert = false
	for what, c := range map[string]struct {
		proxies  Proxies
		peer     string
		header   http.Header
		tls      *tls.ConnectionState
		want     []*x509.Certificate
		stranger bool
		ok       bool
	}{
		"over TLS":       {Proxies{}, "192.0.2.1:1", nil, over, certs[1:], false, true},
		"plain":          {Proxies{}, "192.0.2.1:1", nil, nil, nil, false, true},
		"a proxy's word": {trusting, "10.0.0.1:1", http.Header{clientCert: {field(certs[0])}}, over, certs[:1], false, true},
		"with a chain":   {trusting, "10.0.0.1:1", http.Header{clientCert: {field(certs[0])}, clientCertChain: {field(certs[1])}}, nil, certs[:], false, true},
		"with a chain in two": {
			trusting, "10.0.0.1:1",
			http.Header{clientCert: {field(certs[0])}, clientCertChain: {field(certs[1]), field(certs[0])}},
			nil,
			append(certs[:2:2], certs[0]), false, true,
		},
		"the longest chain": {trusting, "10.0.0.1:1", chain(maxChain), nil, append([]*x509.Certificate{certs[0]},
			slices.Repeat(certs[1:], maxChain-1)...), false, true},
		"one more":               {trusting, "10.0.0.1:1", chain(maxChain + 1), nil, nil, false, false},
		"more behind it":         {trusting, "10.0.0.1:1", http.Header{clientCert: {strings.TrimSuffix(field(certs[0]), ":") + "!:"}}, nil, nil, false, false},
		"without an end":         {trusting, "10.0.0.1:1", http.Header{clientCert: {strings.TrimSuffix(field(certs[0]), ":")}}, nil, nil, false, false},
		"without a begin":        {trusting, "10.0.0.1:1", http.Header{clientCert: {strings.TrimPrefix(field(certs[0]), ":")}}, nil, nil, false, false},
		"a proxy without a word": {trusting, "10.0.0.1:1", nil, over, nil, false, true},
		"a stranger":             {trusting, "192.0.2.1:1", http.Header{clientCert: {field(certs[0])}}, over, nil, true, false},
		"where none may":         {deaf, "10.0.0.1:1", http.Header{clientCert: {field(certs[0])}}, over, nil, true, false},
		"a stranger's chain":     {trusting, "192.0.2.1:1", http.Header{clientCertChain: {field(certs[0])}}, over, nil, true, false},
		"twice":                  {trusting, "10.0.0.1:1", http.Header{clientCert: {field(certs[0]), field(certs[1])}}, nil, nil, false, false},
		"a chain alone":          {trusting, "10.0.0.1:1", http.Header{clientCertChain: {field(certs[0])}}, nil, nil, false, false},
		"no certificate in it":   {trusting, "10.0.0.1:1", http.Header{clientCert: {":AAAA:"}}, nil, nil, false, false},
		"without colons":         {trusting, "10.0.0.1:1", http.Header{clientCert: {base64.StdEncoding.EncodeToString(certs[0].Raw)}}, nil, nil, false, false},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: c.header, TLS: c.tls}
		if r.Header == nil {
			r.Header = http.Header{}
		}
		got, stranger, ok := c.proxies.Certificates(r)
		if !slices.EqualFunc(got, c.want, (*x509.Certificate).Equal) || stranger != c.stranger || ok != c.ok {
			t.Errorf("%s: %d certificates, %v, %v", what, len(got), stranger, ok)
		}
		if len(r.Header) > 0 {
			t.Errorf("%s: the header stays: %v", what, r.Header)
		}
	}
}
