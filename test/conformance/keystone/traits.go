package keystone

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// nobody is the id of a user, project or token that no Keystone has.
const nobody = "00000000000000000000000000000000"

var digits = regexp.MustCompile(`[0-9]`)

// Traits is how a Keystone answers what the driver relies on: statuses, roles, and
// the form of times. A fake is to have those of a real one. The user has the roles
// member, reader and creator.
func Traits(t *testing.T, c Cloud) map[string]string {
	t.Helper()
	found := map[string]string{}
	token := func(auth object) login {
		in, status := c.logIn(t, auth)
		if status != http.StatusCreated {
			t.Fatalf("login = %d", status)
		}
		return in
	}
	status := func(what, token, method, path string, in any) {
		_, got := c.ask(t, token, method, path, in, nil)
		found[what] = fmt.Sprint(got)
	}
	refused := func(what string, auth object) {
		_, got := c.logIn(t, auth)
		found["login with "+what] = fmt.Sprint(got)
	}
	form := func(what, moment string) { found["form of "+what] = digits.ReplaceAllString(moment, "0") }
	mine, theirs := "/users/"+c.User.ID+"/application_credentials", "/users/"+c.Colleague.ID+"/application_credentials"
	wanted := func(name string, fields object) object {
		fields["name"] = name
		return object{"application_credential": fields}
	}
	me, colleague := token(c.User.auth()), token(c.Colleague.auth())
	form("a token's end", me.Token.ExpiresAt)

	end := c.Now().Add(10 * time.Minute).UTC().Format("2006-01-02T15:04:05")
	restricted := c.appCred(t, object{"name": "restricted", "roles": []object{{"name": "member"}}, "expires_at": end})
	form("an application credential's end", restricted.ExpiresAt)
	r := token(restricted.auth())
	form("the end of a token that is capped by it", r.Token.ExpiresAt)
	found["roles of member's token"] = strings.Join(c.rolesOf(t, restricted.auth()), ",")
	mighty := c.appCred(t, object{"name": "mighty", "unrestricted": true})
	m := token(mighty.auth())
	found["roles of all roles' token"] = strings.Join(c.rolesOf(t, mighty.auth()), ",")

	for who, as := range map[string]string{"password": me.token, "restricted": r.token, "unrestricted": m.token} {
		status(who+" lists", as, http.MethodGet, mine, nil)
		status(who+" shows", as, http.MethodGet, mine+"/"+restricted.ID, nil)
		status(who+" creates", as, http.MethodPost, mine, wanted("by "+who, object{}))
		status(who+" creates with a name that is taken", as, http.MethodPost, mine, wanted("restricted", object{}))
		status(who+" creates with a role it lacks", as, http.MethodPost, mine, wanted("more", object{"roles": []object{{"name": "admin"}}}))
		status(who+" creates what has ended", as, http.MethodPost, mine, wanted("ended", object{"expires_at": "2020-01-01T00:00:00"}))
		status(who+" lists another's", as, http.MethodGet, theirs, nil)
		status(who+" asks for regions", as, http.MethodGet, "/regions", nil)
		status(who+" asks for access rules", as, http.MethodGet, "/users/"+c.User.ID+"/access_rules", nil)
		status(who+" asks for a trust", as, http.MethodPost, "/OS-TRUST/trusts", object{"trust": object{
			"trustor_user_id": c.User.ID, "trustee_user_id": nobody, "project_id": c.User.ProjectID,
			"impersonation": false, "roles": []object{{"name": "member"}},
		}})
		status(who+" asks for an EC2 credential", as, http.MethodPost, "/users/"+c.User.ID+"/credentials/OS-EC2", object{"tenant_id": nobody})
		status(who+" asks for a credential", as, http.MethodPost, "/credentials", object{"credential": object{
			"type": "ec2", "user_id": c.User.ID, "project_id": c.User.ProjectID, "blob": "{}",
		}})
		status(who+" lists EC2 credentials", as, http.MethodGet, "/users/"+c.User.ID+"/credentials/OS-EC2", nil)
		status(who+" authorizes OAuth1", as, http.MethodPut, "/OS-OAUTH1/authorize/"+nobody, object{"roles": []object{}})
	}
	refused("no method that is known", object{"identity": object{"methods": []string{"vimbroker"}, "vimbroker": object{}}})
	claiming := restricted.auth()
	claiming["identity"].(object)["application_credential"].(object)["user"] = object{"id": nobody} //nolint:forcetypeassert // it is made so
	refused("a user that does not exist", claiming)
	status("a colleague deletes", colleague.token, http.MethodDelete, mine+"/"+restricted.ID, nil)
	status("a colleague deletes by his own path", colleague.token, http.MethodDelete, theirs+"/"+restricted.ID, nil)
	status("restricted deletes itself", r.token, http.MethodDelete, mine+"/"+restricted.ID, nil)
	for _, beginning := range []string{"might", "ighty"} {
		var some struct {
			Credentials []AppCred `json:"application_credentials"`
		}
		c.ask(t, me.token, http.MethodGet, mine+"?name__startswith="+beginning, nil, &some)
		found["names that begin with "+beginning] = fmt.Sprint(len(some.Credentials))
	}

	refused("a wrong secret", AppCred{ID: mighty.ID, Secret: "wrong"}.auth())
	status("unrestricted deletes another", m.token, http.MethodDelete, mine+"/"+restricted.ID, nil)
	refused("a deleted application credential", restricted.auth())
	status("deleted again", me.token, http.MethodDelete, mine+"/"+restricted.ID, nil)
	status("a token of a deleted one lists", r.token, http.MethodGet, mine, nil)
	status("a token of a deleted one deletes", r.token, http.MethodDelete, mine+"/"+mighty.ID, nil)
	status("a token of a deleted one asks for projects", r.token, http.MethodGet, "/auth/projects", nil)
	status("unrestricted deletes itself", m.token, http.MethodDelete, mine+"/"+mighty.ID, nil)
	status("no token", "", http.MethodGet, "/auth/projects", nil)
	status("a token that is none", "gAAAAAnone", http.MethodGet, "/auth/projects", nil)
	return found
}
