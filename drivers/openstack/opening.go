package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

const (
	// nobody is the id of a user, project or request token that no Keystone has.
	nobody = "00000000000000000000000000000000"
	// maxWhy bounds the kept part of an answer that is neither yes nor no, in bytes.
	maxWhy = 200
)

// opening is a way in which the holder of a restricted application credential can go
// beyond it on some clouds.
type opening struct {
	name string
	// can names the holder's ability, after "can".
	can string
	// ask finds out whether the session's token lets him, and makes nothing: it asks
	// for what cannot be made. Keystone refuses who may not (403) before it looks for
	// what is missing, and tells who may that it is.
	ask func(s *session, ctx context.Context) (bool, error)
}

// The openings whose names are needed elsewhere.
const (
	openTrusts        = "trusts"
	openImpersonation = "impersonation"
)

// openings are those that some release of Keystone has had; which one has which is in
// docs/adversary.md.
var openings = []opening{
	{openTrusts, "make a trust without end for another user, also with roles that the lease has not", (*session).mayTrust},
	{"ec2", "make EC2 credentials without end, which have all roles of the registered user, on each of its projects", (*session).mayEC2},
	{"credentials", "make EC2 credentials for other projects than the lease's", (*session).mayCredential},
	{"heldEC2", "read the EC2 credentials that the registered user has, which have all its roles", (*session).holdsEC2},
	{"oauth1", "have an OAuth1 consumer act as the registered user, also with roles that the lease has not", (*session).mayAuthorize},
	{"totp", "make a TOTP credential of the registered user, and log in as that user with it", (*session).takesTOTP},
	{openImpersonation, "log in as any other user of the cloud", nil}, // asked with the login: see [try]
}

// explore asks, with the kind of token that a lease has, which openings the cloud has.
// Any answer but a clear no is kept: an opening that may be there counts as one.
func (s *session) explore(ctx context.Context, found *broker.Cloud) error {
	asking, cancel := context.WithDeadline(ctx, halfway(ctx))
	defer cancel()
	var (
		open  = make([]bool, len(openings))
		why   = make([]error, len(openings))
		group sync.WaitGroup
	)
	for i, o := range openings {
		if o.ask != nil {
			group.Go(func() { open[i], why[i] = o.ask(s, asking) })
		}
	}
	group.Wait()
	if err := ctx.Err(); err != nil { // we stopped asking, which is no answer of Keystone's
		return unanswered(err)
	}
	if found.Openings == nil {
		found.Openings = map[string]string{} // they were asked about
	}
	for i, o := range openings {
		note(found, o.name, open[i], why[i])
	}
	found.Trusts = open[slices.IndexFunc(openings, func(o opening) bool { return o.name == openTrusts })]
	return nil
}

// halfway leaves the rest of a check the half of its time.
func halfway(ctx context.Context) time.Time {
	now := time.Now()
	end, ok := ctx.Deadline()
	if !ok {
		end = now.Add(callTimeout)
	}
	return now.Add(end.Sub(now) / 2)
}

// note keeps an answer, unless it is no.
func note(found *broker.Cloud, name string, open bool, unclear error) {
	switch {
	case unclear != nil:
		why := unclear.Error()
		found.Openings[name] = why[:min(len(why), maxWhy)]
	case open:
		found.Openings[name] = ""
	}
}

// opened are the reasons why an application credential is not bounded on a cloud: those
// of the openings with these names, or of all.
func opened(found broker.Cloud, names ...string) []string {
	var reasons []string
	for _, o := range openings {
		if why, is := found.Openings[o.name]; is && (len(names) == 0 || slices.Contains(names, o.name)) {
			reasons = append(reasons, o.reason(why))
		}
	}
	return reasons
}

// reason says what the opening lets a holder do, or why that is not known.
func (o opening) reason(unclear string) string {
	if unclear == "" {
		return "on this cloud the holder of an application credential can " + o.can
	}
	return "it is not known whether the holder of an application credential can " + o.can + " on this cloud (" + unclear +
		"): once Keystone answers, replace the VIM's credential, which has it asked again"
}

// may asks Keystone for something that cannot be made. yes is the code of who may.
func (s *session) may(ctx context.Context, method string, path []string, body any, yes int, what string) (bool, error) {
	_, err := s.identity.Request(ctx, method, s.identity.ServiceURL(path...), &gophercloud.RequestOpts{
		JSONBody: body, OkCodes: []int{http.StatusOK, http.StatusCreated, http.StatusNoContent},
	})
	switch {
	case said(err, http.StatusForbidden):
		return false, nil
	case said(err, yes):
		return true, nil
	case err == nil: // it made what cannot be made
		return false, notKeystone(0)
	}
	return false, fault(err, "make", what)
}

// mayTrust asks for a trust whose trustee does not exist.
func (s *session) mayTrust(ctx context.Context) (bool, error) {
	roles := []map[string]string{}
	for _, r := range s.roles {
		roles = append(roles, map[string]string{"id": r.ID})
	}
	return s.may(ctx, http.MethodPost, []string{"OS-TRUST", "trusts"}, map[string]any{"trust": map[string]any{
		"trustor_user_id": s.user.ID, "trustee_user_id": nobody, "project_id": s.project.ID, "impersonation": false, "roles": roles,
	}}, http.StatusNotFound, "trusts")
}

// mayEC2 asks for an EC2 credential on a project that does not exist. A release whose fix came
// last (Debian's 22.0.2) looks for the project before it refuses application credentials: it
// shows them no list either.
func (s *session) mayEC2(ctx context.Context) (bool, error) {
	path := []string{"users", s.user.ID, "credentials", "OS-EC2"}
	open, err := s.may(ctx, http.MethodPost, path, map[string]any{"tenant_id": nobody}, http.StatusNotFound, "EC2 credentials")
	if !open {
		return false, err
	}
	err = s.get(remote.Expect(ctx, remote.List), "users/"+s.user.ID+"/credentials/OS-EC2", nil)
	return !said(err, http.StatusForbidden) || byPolicy(err, "identity:ec2_list_credentials"), nil
}

// byPolicy reports whether a refusal names an action of Keystone's policy: a site's rule on one
// action says nothing of another.
func byPolicy(err error, action string) bool {
	var a gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &a) && strings.Contains(string(a.Body), action)
}

// mayCredential asks for an EC2 credential without the key that each has, by the
// other way to make one.
func (s *session) mayCredential(ctx context.Context) (bool, error) {
	return s.may(ctx, http.MethodPost, []string{"credentials"}, map[string]any{"credential": map[string]any{
		"type": "ec2", "user_id": s.user.ID, "project_id": s.project.ID, "blob": "{}",
	}}, http.StatusBadRequest, "credentials")
}

// mayAuthorize asks to authorize an OAuth1 request token that does not exist.
func (s *session) mayAuthorize(ctx context.Context) (bool, error) {
	body := map[string]any{"roles": []map[string]string{}}
	return s.may(ctx, http.MethodPut, []string{"OS-OAUTH1", "authorize", nobody}, body, http.StatusNotFound, "OAuth1 tokens")
}

// holdsEC2 asks whether the token is shown EC2 credentials of its user: they come with
// their keys. These are not decoded.
func (s *session) holdsEC2(ctx context.Context) (bool, error) {
	all, err := listOf[struct{}](ctx, s, "users/"+s.user.ID+"/credentials/OS-EC2", "credentials", "EC2 credentials", "")
	if errors.Is(err, broker.ErrForbidden) {
		return false, nil
	}
	return len(all) > 0, err
}

// takesTOTP asks whether users can log in with TOTP. Each release lets application
// credentials make credentials of that type, and none can be asked about that without
// making one; but Keystone tells who comes with an unknown method which ones it has.
func (s *session) takesTOTP(ctx context.Context) (bool, error) {
	const unknown = "vimbroker"
	body := map[string]any{"auth": map[string]any{"identity": map[string]any{"methods": []string{unknown}, unknown: map[string]any{}}}}
	nameless := &gophercloud.RequestOpts{OmitHeaders: []string{"X-Auth-Token"}}
	_, err := s.identity.Post(ctx, s.identity.ServiceURL("auth", "tokens"), body, nil, nameless)
	var refusal gophercloud.ErrUnexpectedResponseCode
	switch {
	case err == nil:
		return false, notKeystone(0)
	case !said(err, http.StatusUnauthorized) || !errors.As(err, &refusal):
		return false, fault(err, "ask for", "the ways to log in")
	}
	var answer struct {
		Error struct {
			Identity struct {
				Methods []string `json:"methods"`
			} `json:"identity"`
		} `json:"error"`
	}
	if json.Unmarshal(refusal.Body, &answer) != nil || len(answer.Error.Identity.Methods) == 0 {
		return false, notKeystone(http.StatusUnauthorized)
	}
	return slices.Contains(answer.Error.Identity.Methods, "totp"), nil
}

// try logs in with a lease's application credential and finds out what its holder could do.
// It logs in as a user that does not exist: a Keystone that takes the user from
// the request finds none (401), and one that takes it from the credential does not look.
func try(ctx context.Context, a broker.Access, c broker.Credential, found *broker.Cloud) error {
	way, err := dial(a.Target, a.Egress)
	if err != nil {
		return err
	}
	defer way.close()
	o := options(broker.Scope{}, c, broker.Cloud{})
	s, err := way.login(ctx, claiming{o})
	impersonates, unclear := said(err, http.StatusUnauthorized), error(nil)
	if err != nil {
		if !impersonates {
			unclear = fault(err, "log in with", "an application credential and a user")
		}
		if s, err = way.login(ctx, o); err != nil {
			return fault(err, "log in with", "a new application credential")
		}
	}
	found.Openings = map[string]string{}
	note(found, openImpersonation, impersonates, unclear)
	return s.explore(ctx, found)
}

// claiming logs in with an application credential as another user.
type claiming struct{ *tokens.AuthOptions }

// ToTokenV3CreateMap implements [tokens.AuthOptionsBuilder].
func (o claiming) ToTokenV3CreateMap(scope map[string]any) (map[string]any, error) {
	body, err := o.AuthOptions.ToTokenV3CreateMap(scope)
	if err != nil {
		return nil, err
	}
	auth, _ := body["auth"].(map[string]any)
	identity, _ := auth["identity"].(map[string]any)
	credential, is := identity["application_credential"].(map[string]any)
	if !is {
		return nil, notKeystone(0)
	}
	credential["user"] = map[string]any{"id": nobody}
	return body, nil
}
