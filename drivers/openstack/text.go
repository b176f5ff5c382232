package openstack

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxName bounds names of users, projects, domains and roles, as Keystone does.
const maxName = 255

var id = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.:@-]{1,64}$`) })

// isID reports whether s can be the id of something in Keystone: hexadecimal for
// the most part, "default" for one domain, 64 characters for users of LDAP. None
// can change the meaning of a URL.
func isID(s string) bool { return id().MatchString(s) && s != "." && s != ".." }

// isName reports whether s can be the name of a user, project, domain or role.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isToken reports whether s can stand in a header unchanged.
func isToken(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
