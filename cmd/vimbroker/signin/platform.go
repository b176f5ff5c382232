package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// podToken is where a pod has the token that is projected for the broker, unless EnvPodToken names another file.
	podToken    = "/var/run/secrets/vimbroker/token"
	EnvPodToken = "VIMBROKER_POD_TOKEN_FILE"
	// EnvIDToken is the variable that a GitLab job's id_tokens fill.
	EnvIDToken = "VIMBROKER_ID_TOKEN"
	// maxTokenFile bounds a token's file, in bytes.
	maxTokenFile = 64 << 10
)

// CheckPlatform is an error for a platform that nobody knows.
func CheckPlatform(from string) error {
	path, isFile := strings.CutPrefix(from, "file:")
	if from == "github" || from == "gitlab" || from == "kubernetes" || isFile && path != "" {
		return nil
	}
	return errors.New("--from must be github, gitlab, kubernetes or file:PATH")
}

// Platform returns the token that a platform has put where its programs find it. It is read each time: platforms
// replace it.
func Platform(ctx context.Context, from, audience string, get func(string) string) (secret.Text, error) {
	switch path, isFile := strings.CutPrefix(from, "file:"); {
	case isFile:
		return readToken(path)
	case from == "kubernetes":
		if named := get(EnvPodToken); named != "" {
			return readToken(named)
		}
		return readToken(podToken)
	case from == "gitlab":
		token := get(EnvIDToken)
		if token == "" {
			return secret.Text{}, fmt.Errorf("%s is not set: the job needs id_tokens: {%s: {aud: %s}}", EnvIDToken, EnvIDToken, audience)
		}
		return secret.NewText(token), nil
	case from == "github":
		return gitHub(ctx, audience, get)
	}
	return secret.Text{}, CheckPlatform(from)
}

func readToken(name string) (secret.Text, error) {
	f, err := os.Open(name)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the platform's token: %w", err)
	}
	defer f.Close()
	text := make([]byte, maxTokenFile)
	n, _ := f.Read(text)
	text = bytes.TrimSpace(text[:n])
	if len(text) == 0 || bytes.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, fmt.Errorf("%s does not hold one token and nothing else", name)
	}
	return secret.NewText(string(text)), nil
}

// gitHub asks the runner for a token of the job.
func gitHub(ctx context.Context, audience string, get_ func(string) string) (secret.Text, error) {
	at, bearer := get_("ACTIONS_ID_TOKEN_REQUEST_URL"), secret.NewText(get_("ACTIONS_ID_TOKEN_REQUEST_TOKEN"))
	u, err := url.Parse(at)
	if at == "" || err != nil || bearer.Empty() {
		return secret.Text{}, errors.New("the job gets no token of GitHub: it needs permissions: {id-token: write}")
	}
	q := u.Query()
	q.Set("audience", audience)
	u.RawQuery = q.Encode()
	text, err := get(ctx, &http.Client{Timeout: 30 * time.Second}, u.String(), &bearer)
	if err != nil {
		return secret.Text{}, err
	}
	var said struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(text, &said) != nil || said.Value == "" {
		return secret.Text{}, errors.New("GitHub gives no token; see that the job has permissions: {id-token: write}, and run it again")
	}
	return secret.NewText(said.Value), nil
}
