package rebuild

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// maxEndpoint bounds an endpoint, in bytes.
const maxEndpoint = 2048

var (
	hostName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	})
	pathPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/[A-Za-z0-9._~:-]+)*/?$`) })
	portNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,4}$`) })
)

// Endpoint rebuilds the URL of a server: https, or http where plain allows it,
// host, port if it is not the scheme's own, a path prefix if there is one
// (servers behind a gateway), and nothing else. field names it in errors.
func Endpoint(field, raw string, plain bool) (string, error) {
	if raw == "" {
		return "", broker.Invalid(field, "is required")
	}
	if len(raw) > maxEndpoint {
		return "", broker.Invalid(field, "is longer than %d bytes", maxEndpoint)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", broker.Invalid(field, "is not a URL") // the parser's text quotes the URL, with the user-info in it
	}
	own := "443"
	switch {
	case u.Scheme == "http" && plain:
		own = "80"
	case u.Scheme != "https" && plain:
		return "", broker.Invalid(field, "must begin with https:// or http://")
	case u.Scheme != "https":
		return "", broker.Invalid(field, "must begin with https://: a credential is never sent unencrypted")
	}
	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return "", broker.Invalid(field, "must not hold a user name or password")
	case strings.ContainsAny(raw, "?#"):
		return "", broker.Invalid(field, "must not hold a query or fragment")
	case u.Opaque != "" || u.RawPath != "" || !pathPrefix().MatchString(u.Path) || hasDotSegment(u.Path):
		return "", broker.Invalid(field, "has a path that is not a plain prefix")
	}
	host, ok := canonicalHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
	if !ok {
		return "", broker.Invalid(field, "has a host that is neither a DNS name nor an IP address")
	}
	if rest := strings.TrimPrefix(u.Host[strings.LastIndexByte(u.Host, ']')+1:], u.Hostname()); rest != "" {
		if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || !portNumber().MatchString(u.Port()) {
			return "", broker.Invalid(field, "has a port that is not a number from 1 to 65535")
		}
		if u.Port() != own {
			host += ":" + u.Port()
		}
	}
	return u.Scheme + "://" + host + strings.TrimSuffix(u.Path, "/"), nil
}

// canonicalHost returns the host in the form of a URL: lower case, an IPv6 address in
// its one canonical form and in brackets.
func canonicalHost(h string, bracketed bool) (string, bool) {
	if ip, err := netip.ParseAddr(h); err == nil {
		if ip.Zone() != "" || bracketed != ip.Is6() {
			return "", false
		}
		if ip.Is6() {
			return "[" + ip.String() + "]", true
		}
		return ip.String(), true
	}
	h = strings.ToLower(h)
	return h, !bracketed && IsHostName(h)
}

// ServerName checks the name that a server's certificate must have instead of its host.
func ServerName(field, name string) (string, error) {
	name = strings.ToLower(name)
	if name != "" && !IsHostName(name) {
		return "", broker.Invalid(field, "must be a DNS name")
	}
	return name, nil
}

// IsHostName reports whether s is a DNS name in lower case that no resolver reads as an
// address: its last label is not a number in any of the spellings of inet_aton.
func IsHostName(s string) bool {
	if len(s) > 253 || !hostName().MatchString(s) {
		return false
	}
	last := s[strings.LastIndexByte(s, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err != nil && strings.Trim(last, "0123456789") != ""
}

func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// Fault returns the first fault of a document as the broker's error; nil if there is none.
func Fault(d *strictyaml.Document) error {
	if len(d.Faults) == 0 {
		return nil
	}
	f := d.Faults[0]
	if f.Line > 0 {
		return broker.Invalid(f.At, "%s (line %d)", f.Text, f.Line)
	}
	return broker.Invalid(f.At, "%s", f.Text)
}
