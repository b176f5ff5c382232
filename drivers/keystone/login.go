// Package keystone is how the broker itself logs in at a Keystone: as the user of a key store, and as
// the user who asks about callers.
package keystone

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// Auth is one way to log in: exactly one field is set. The files are read again at
// each login, so what is in them may be replaced at any time. White space around
// their contents is ignored.
type Auth struct {
	ApplicationCredential *ApplicationCredential
	Password              *Password
}

// ApplicationCredential logs in with an application credential, which names user
// and project by itself.
type ApplicationCredential struct{ ID, SecretFile string }

// Password logs a user in to a project. Each of the two is given by its id, or by
// its name and its domain's id.
type Password struct {
	UserID, Username, UserDomainID      string
	ProjectID, Project, ProjectDomainID string
	PasswordFile                        string
}

// Flaws are the faults of the login that show without reading a file.
func (l Auth) Flaws() (flaws []error) {
	need := func(ok bool, text string) {
		if !ok {
			flaws = append(flaws, errors.New(text))
		}
	}
	need((l.ApplicationCredential == nil) != (l.Password == nil), "login: give either an application credential or a password")
	if a := l.ApplicationCredential; a != nil {
		need(a.ID != "", "login by application credential: needs its id")
		need(a.SecretFile != "", "login by application credential: needs the file of its secret")
	}
	if p := l.Password; p != nil {
		need(p.PasswordFile != "", "login by password: needs the file of the password")
		need(either(p.UserID, p.Username, p.UserDomainID), "login by password: give the user's id, or the user's name and its domain's id")
		need(either(p.ProjectID, p.Project, p.ProjectDomainID),
			"login by password: give the project's id, or the project's name and its domain's id")
	}
	return flaws
}

// either reports whether a thing is given in exactly one of the two ways.
func either(id, name, domain string) bool {
	if id != "" {
		return name == "" && domain == ""
	}
	return name != "" && domain != ""
}

// Secret reads the file of the login; the caller clears it.
func (l Auth) Secret() ([]byte, error) {
	var file string
	if l.ApplicationCredential != nil {
		file = l.ApplicationCredential.SecretFile
	} else {
		file = l.Password.PasswordFile
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("the file of the credential cannot be read")
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, errors.New("the file of the credential is empty")
	}
	return text, nil
}

// Options are gophercloud's for a login with what the file holds: built by hand, so that nothing
// from the environment or a clouds.yaml gets in, and without re-authentication,
// which would keep the password in memory.
func (l Auth) Options(text string) *gophercloud.AuthOptions {
	if a := l.ApplicationCredential; a != nil {
		return &gophercloud.AuthOptions{ApplicationCredentialID: a.ID, ApplicationCredentialSecret: text}
	}
	p := l.Password
	return &gophercloud.AuthOptions{
		UserID: p.UserID, Username: p.Username, DomainID: p.UserDomainID, Password: text,
		Scope: &gophercloud.AuthScope{ProjectID: p.ProjectID, ProjectName: p.Project, DomainID: p.ProjectDomainID},
	}
}

// Address completes a service's URL, which is https, or http on loopback: version and a slash at its end.
func Address(text, version string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("must be a URL like https://cloud.example:5000")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return "", errors.New("must be scheme, host, port and path only")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !egress.OwnHost(u.Hostname())) {
		return "", errors.New("must be https, or http on a loopback address")
	}
	path := strings.TrimRight(u.Path, "/")
	u.Path = strings.TrimSuffix(path, "/"+version) + "/" + version + "/"
	return u.String(), nil
}
