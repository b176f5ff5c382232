package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// maxCredential bounds the files of credentials, in bytes.
const maxCredential = 64 << 10

// grant is a token, as Vault's login and renewal answer with it
// (developer.hashicorp.com/vault/api-docs/auth/token).
type grant struct {
	Token     secret.Text `json:"client_token"`
	Seconds   int64       `json:"lease_duration"`
	Renewable bool        `json:"renewable"`
}

func (g grant) life() time.Duration { return time.Duration(g.Seconds) * time.Second }

// sender sends one request.
type sender func(ctx context.Context, token secret.Text, r request) ([]byte, *fault)

// credential reads what is presented at login: the secret id, or the token.
func (a Auth) credential() (secret.Text, error) {
	file := a.TokenFile
	switch {
	case a.AppRole != nil:
		file = a.AppRole.SecretIDFile
	case a.JWT != nil:
		file = a.JWT.TokenFile
	}
	f := &fault{kind: secret.ErrUnavailable}
	text, err := readCredential(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.reason = fmt.Sprintf("logging in to Vault: the file %s is missing", file)
	case err != nil:
		f.reason = fmt.Sprintf("logging in to Vault: the file %s cannot be read", file)
	case text.Empty():
		f.reason = fmt.Sprintf("logging in to Vault: the file %s is empty", file)
	default:
		return text, nil
	}
	return secret.Text{}, f
}

func readCredential(file string) (secret.Text, error) {
	info, err := os.Stat(file)
	if err != nil {
		return secret.Text{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCredential {
		return secret.Text{}, errors.New("not a file of a credential")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(content)
	return secret.NewText(strings.TrimSpace(string(content))), nil
}

// login exchanges the credential for a token.
func (a Auth) login(ctx context.Context, send sender, credential secret.Text) (grant, *fault) {
	switch {
	case a.AppRole != nil:
		return post(ctx, send, a.AppRole.MountPath, remedySecretID, map[string]string{
			"role_id": a.AppRole.RoleID, "secret_id": credential.Reveal(),
		})
	case a.JWT != nil:
		return post(ctx, send, a.JWT.MountPath, remedyToken, map[string]string{"role": a.JWT.Role, "jwt": credential.Reveal()})
	default:
		return lookUp(ctx, send, credential)
	}
}

// Remedies for a login that was refused.
const (
	remedySecretID = "give the server a new secret id, and see that the role exists"
	remedyToken    = "see that the role exists, that it names the token's account and audience, and that Vault can check the token " +
		"(the method's settings); or give the server a new token"
)

// post logs in by a method that is mounted at mount.
func post(ctx context.Context, send sender, mount, remedy string, fields map[string]string) (grant, *fault) {
	body, err := json.Marshal(fields)
	if err != nil {
		return grant{}, &fault{reason: "the credential cannot be sent as JSON"}
	}
	// Each lost answer leaves a token in Vault that no client holds, until it expires. So
	// a login is not repeated at once.
	answer, f := send(ctx, secret.Text{}, request{method: http.MethodPut, path: "auth/" + mount + "/login", body: body, once: true})
	if f != nil {
		// AppRole says 400 to a wrong secret id, JWT to a wrong token, Kubernetes to a role
		// that is not there and 403 to the rest.
		if f.status == http.StatusBadRequest || f.status == http.StatusForbidden || f.status == http.StatusUnauthorized {
			return grant{}, &fault{kind: secret.ErrForbidden, reason: "Vault refuses the login", remedy: remedy, status: f.status}
		}
		return grant{}, f
	}
	clear(body)
	return granted(answer)
}

// granted reads the answer to a login or a renewal, and clears it.
func granted(answer []byte) (grant, *fault) {
	defer wipe(answer)
	var a struct {
		Auth *grant `json:"auth"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Auth == nil {
		return grant{}, unavailable("what answers is not Vault (no token)")
	}
	if a.Auth.Token.Empty() {
		return grant{}, &fault{kind: secret.ErrForbidden, reason: "Vault wants more than this credential to log in"}
	}
	return *a.Auth, nil
}

// lookUp makes a session of a token that was given whole.
func lookUp(ctx context.Context, send sender, token secret.Text) (grant, *fault) {
	answer, f := send(ctx, token, request{method: http.MethodGet, path: "auth/token/lookup-self"})
	if f != nil {
		return grant{}, f
	}
	defer wipe(answer)
	var a struct {
		Data *struct {
			TTL       int64 `json:"ttl"`
			Renewable bool  `json:"renewable"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data == nil {
		return grant{}, unavailable("what answers is not Vault (no token)")
	}
	return grant{Token: token, Seconds: a.Data.TTL, Renewable: a.Data.Renewable}, nil
}
