package openstack

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// maxToken bounds a Keystone token, in bytes: Fernet tokens have some 250, JWS
	// tokens some thousand.
	maxToken = 16 << 10
	// maxRoles bounds the roles that a token has.
	maxRoles = 256
)

// session is a project that has been logged into, for one call of the driver. Its
// token is dropped with it.
type session struct {
	*connection
	token   string
	expires time.Time
	user    tokens.User
	project tokens.Project
	// domain is set if the session is on a domain, and not on a project.
	domain  tokens.Domain
	roles   []tokens.Role
	catalog []broker.CatalogEntry
	// appCred is the id of the application credential that was logged in with, as
	// Keystone says it since Train; empty without.
	appCred string
}

// login opens a session with the registered credential. Ids that an earlier check
// has discovered count instead of names, and must come back.
func (d *Driver) login(ctx context.Context, a broker.Access) (*session, error) {
	known, err := recall(a.Discovered)
	if err != nil {
		return nil, err
	}
	c, err := dial(a.Target, a.Egress)
	if err != nil {
		return nil, err
	}
	s, err := c.login(ctx, options(a.Target.Scope, a.Credential, known))
	if said(err, http.StatusUnauthorized) || said(err, http.StatusNotFound) {
		err = c.whyNot(ctx, a, known, err)
	}
	if err == nil {
		err = s.same(a, known)
	}
	if err != nil {
		c.close()
		return nil, fault(err, "log in", "")
	}
	return s, nil
}

// options are gophercloud's options for a login: built by hand, so that nothing from
// the environment or a file gets in, and without re-authentication, which would keep
// the password in memory.
func options(scope broker.Scope, c broker.Credential, known broker.Cloud) *tokens.AuthOptions {
	if c.Kind == broker.CredentialApplicationCredential {
		return &tokens.AuthOptions{
			ApplicationCredentialID:     c.ApplicationCredentialID,
			ApplicationCredentialSecret: c.ApplicationCredentialSecret.Reveal(),
		}
	}
	o := &tokens.AuthOptions{Password: c.Password.Reveal()}
	switch {
	case known.UserID != "":
		o.UserID = known.UserID
	case c.UserID != "":
		o.UserID = c.UserID
	default:
		o.Username, o.DomainID = c.Username, scope.UserDomainID
		if o.DomainID == "" {
			o.DomainName = scope.UserDomainName
		}
	}
	switch {
	case known.ProjectID != "":
		o.Scope.ProjectID = known.ProjectID
	case scope.ProjectID != "":
		o.Scope.ProjectID = scope.ProjectID
	default:
		o.Scope.ProjectName, o.Scope.DomainID = scope.ProjectName, scope.ProjectDomainID
		if o.Scope.DomainID == "" {
			o.Scope.DomainName = scope.ProjectDomainName
		}
	}
	return o
}

// login asks Keystone for a token. Errors are gophercloud's own, but for an answer
// that makes no sense.
func (c *connection) login(ctx context.Context, o tokens.AuthOptionsBuilder) (*session, error) {
	r := tokens.Create(remote.Expect(ctx, remote.Catalog), c.identity, o)
	if r.Err != nil {
		return nil, r.Err
	}
	s := &session{connection: c}
	var body struct {
		User      tokens.User           `json:"user"`
		Project   tokens.Project        `json:"project"`
		Domain    tokens.Domain         `json:"domain"`
		Roles     []tokens.Role         `json:"roles"`
		Catalog   []tokens.CatalogEntry `json:"catalog"`
		ExpiresAt string                `json:"expires_at"`
		AppCred   struct {
			ID string `json:"id"`
		} `json:"application_credential"`
	}
	if err := r.ExtractInto(&body); err != nil {
		return nil, notKeystone(0)
	}
	s.token = r.Header.Get("X-Subject-Token")
	s.user, s.project, s.domain, s.roles, s.expires, s.appCred = body.User, body.Project, body.Domain, body.Roles,
		moment(body.ExpiresAt), body.AppCred.ID
	if !isToken(s.token) || !isID(s.user.ID) || s.expires.IsZero() || len(s.roles) > maxRoles || !s.plain() {
		return nil, notKeystone(0)
	}
	var err error
	if s.catalog, err = readCatalog(body.Catalog); err != nil {
		return nil, err
	}
	// The connection's client is the session's own: from here on it has the token.
	s.identity.SetToken(s.token)
	return s, nil
}

// moment reads a time of Keystone's; zero if it is none. If a token ends with its
// application credential, Keystone leaves out the zone: it is UTC.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// plain reports whether the names in a token are fit to be shown and kept.
func (s *session) plain() bool {
	return isName(s.user.Name) && !slices.ContainsFunc(s.roles, func(r tokens.Role) bool { return !isID(r.ID) || !isName(r.Name) })
}

// same compares the session with the registered project, and with the facts of an
// earlier check.
func (s *session) same(a broker.Access, known broker.Cloud) error {
	if !isID(s.project.ID) || !isName(s.project.Name) || !isID(s.project.Domain.ID) || !isName(s.project.Domain.Name) ||
		!isID(s.user.Domain.ID) || !isName(s.user.Domain.Name) {
		return notKeystone(0)
	}
	want := a.Target.Scope
	switch {
	case known.ProjectID != "" && (s.project.ID != known.ProjectID || s.user.ID != known.UserID),
		a.Identity != "" && s.identityOf() != a.Identity:
		return &broker.Error{
			Kind:   broker.ErrConflict,
			Detail: "another cloud answers at the endpoint than the one that was registered: it names another project or user",
			Remedy: "bring the cloud back, or delete the VIM and register it anew", Another: true,
		}
	case known.ProjectID != "":
		return nil // by id; names may change on the cloud
	case !s.belongsTo(a.Credential, want):
		return unreachable("Keystone answers with a token of somebody else than who logged in",
			"give user and domain as Keystone spells them; if they are, look for a proxy or a cache in front of it that mixes up answers")
	case want.ProjectID != "" && want.ProjectID != s.project.ID,
		want.ProjectID == "" && want.ProjectName != "" && !strings.EqualFold(want.ProjectName, s.project.Name):
		return broker.Invalid("project", "is not the one that the credential is for")
	case want.ProjectDomainID != "" && want.ProjectDomainID != s.project.Domain.ID,
		want.ProjectDomainID == "" && want.ProjectDomainName != "" && !strings.EqualFold(want.ProjectDomainName, s.project.Domain.Name):
		return broker.Invalid("projectDomain", "is not that of the project")
	}
	return nil
}

// belongsTo reports whether the token is of whom the credential names.
func (s *session) belongsTo(c broker.Credential, in broker.Scope) bool {
	switch {
	case c.Kind == broker.CredentialApplicationCredential:
		return s.appCred == "" || s.appCred == c.ApplicationCredentialID
	case c.UserID != "":
		return s.user.ID == c.UserID
	case in.UserDomainID != "" && s.user.Domain.ID != in.UserDomainID:
		return false
	case in.UserDomainID == "" && !strings.EqualFold(s.user.Domain.Name, in.UserDomainName):
		return false
	}
	return strings.EqualFold(s.user.Name, c.Username)
}

// identityOf names what a VIM is: one project of one cloud. Keystone makes project
// ids at random and never gives one twice, and every credential of a project
// leads to it, so that a credential can be replaced by another user's. An id is
// no secret: what keeps an impostor from answering with it is the endpoint's
// certificate, and without one nothing does.
func (s *session) identityOf() string {
	return "project " + s.project.ID + " of domain " + s.project.Domain.ID
}

// whyNot finds out why the credential does not lead into the project, for which
// Keystone refused it. It answers 401 to everything; without a project, the same
// credential tells whether it is the user or the project that is wrong.
func (c *connection) whyNot(ctx context.Context, a broker.Access, known broker.Cloud, refusal error) error {
	if a.Credential.Kind == broker.CredentialApplicationCredential {
		why := "Keystone refuses the application credential (401): its secret is another, it has expired, or its user or project is disabled"
		if said(refusal, http.StatusNotFound) {
			why = "Keystone has no such application credential (404): it was deleted, by hand or because a role of its user on the project " +
				"was removed"
		}
		return &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: why, Remedy: "make another on the cloud, and replace the VIM's credential with it",
		}
	}
	o := options(a.Target.Scope, a.Credential, known)
	o.Scope = tokens.Scope{}
	s, err := c.login(ctx, unscoped{o})
	if said(err, http.StatusUnauthorized) {
		return &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: "Keystone does not know the user with this password in this user domain (401); it does not " +
				"say which of the three is wrong",
			Remedy: "check user name, user domain and password, and that the user is enabled",
		}
	}
	if err != nil {
		return err
	}
	projects, err := listOf[tokens.Project](ctx, s, "auth/projects", "projects", "the user's projects", "")
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		return &broker.Error{
			Kind: broker.ErrForbidden, Field: "project", Detail: "user and password are right, but the user has no role on any project",
			Remedy: "give it a role on the project, as with: openstack role add --user USER --project PROJECT member",
		}
	}
	for _, p := range projects {
		if strings.EqualFold(p.Name, a.Target.Scope.ProjectName) {
			return &broker.Error{
				Kind: broker.ErrForbidden, Field: "projectDomain",
				Detail: "the user has a role on a project of that name in another domain, and none in this one",
				Remedy: "give the domain that the project is in; it may be another than the user's",
			}
		}
	}
	return &broker.Error{
		Kind: broker.ErrForbidden, Field: "project", Detail: "user and password are right, but the user has no role on that project, or " +
			"the project is disabled or does not exist; Keystone does not say which",
		Remedy: "check the project's name, or give the user a role on it",
	}
}

// unscoped logs in without a project, even if the user has a default one.
type unscoped struct{ *tokens.AuthOptions }

// ToTokenV3ScopeMap implements [tokens.AuthOptionsBuilder].
func (unscoped) ToTokenV3ScopeMap() (map[string]any, error) {
	return map[string]any{"unscoped": map[string]any{}}, nil
}

// get reads a document of Keystone. Errors are gophercloud's own.
func (s *session) get(ctx context.Context, path string, into any) error {
	_, err := s.identity.Get(ctx, s.identity.ServiceURL(path), into, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return err
}

// listOf reads a list, which is the member of that name in the document at a path. What names it in errors. No link in the
// answer is followed: it would take the token to an address of the remote side's choice. A list that is cut off is an
// error with the remedy, if there is one.
func listOf[T any](ctx context.Context, s *session, path, member, what, remedy string) ([]T, error) {
	var (
		body  map[string]json.RawMessage
		items []T
		links struct {
			Next string `json:"next"`
		}
		truncated bool
	)
	if err := s.get(remote.Expect(ctx, remote.List), path, &body); err != nil {
		return nil, fault(err, "list", what)
	}
	members := map[string]any{member: &items}
	if remedy != "" {
		members["links"], members["truncated"] = &links, &truncated
	}
	for name, into := range members {
		if text, given := body[name]; given && json.Unmarshal(text, into) != nil {
			return nil, notKeystone(0)
		}
	}
	switch {
	case truncated || links.Next != "":
		return nil, &broker.Error{Kind: broker.ErrUnsupported, Detail: "the cloud does not list all " + what, Remedy: remedy}
	case items == nil:
		return nil, notKeystone(0)
	}
	return items, nil
}

// projectToken is the session's own token, as a lease's credential.
func (s *session) projectToken() broker.Credential {
	return broker.Credential{Kind: broker.CredentialProjectToken, UserID: s.user.ID, Token: secret.NewText(s.token)}
}
