package depot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

// order asks for a pass, or for one more token of it.
type order struct {
	VIM     string `json:"vim"`
	Lease   string `json:"lease"`
	Role    string `json:"role"`
	Seconds int64  `json:"seconds"`
}

// answer is every answer of a depot. Its token is plaintext.
type answer struct {
	Error     *problem  `json:"error,omitempty"`
	ID        string    `json:"id,omitempty"`
	Version   string    `json:"version,omitempty"`
	MayLease  bool      `json:"mayLease,omitempty"`
	Token     string    `json:"token,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Passes    []pass    `json:"passes,omitempty"`
}

type problem struct {
	Status int    `json:"status"`
	Field  string `json:"field,omitempty"`
}

// call sends one request with the access's credential. Each call has a connection of
// its own.
func call(ctx context.Context, a broker.Access, method, path string, in any) (answer, error) {
	way, err := remote.New(a.Egress, remote.Options{
		Server: "the depot", CA: remote.Authorities{PEM: a.Target.CACert}, InsecureSkipVerify: a.Target.InsecureSkipVerify,
	})
	if err != nil {
		return answer{}, broker.Invalid("caCert", "holds no certificate")
	}
	defer way.CloseIdleConnections()
	body, err := json.Marshal(in)
	if err != nil {
		return answer{}, fmt.Errorf("encoding a request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.Target.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, broker.Invalid("endpoint", "is not a URL")
	}
	if a.Credential.Kind == broker.CredentialBasicAuth {
		request.SetBasicAuth(a.Credential.Username, a.Credential.Password.Reveal())
	} else {
		request.Header.Set("Authorization", "Bearer "+a.Credential.Token.Reveal())
	}
	response, err := way.Client().Do(request)
	if err != nil {
		f := remote.Unanswered(err, "the depot")
		return answer{}, &broker.Error{Kind: broker.ErrUnreachable, Detail: f.Detail, Remedy: f.Remedy, Cause: f.Cause}
	}
	defer response.Body.Close()
	var out answer
	if response.StatusCode == http.StatusNoContent {
		return out, nil
	}
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		return answer{}, noDepot(response.StatusCode)
	}
	switch {
	case response.StatusCode == http.StatusOK && out.Error == nil:
		return out, nil
	case out.Error == nil || out.Error.Status != response.StatusCode:
		return answer{}, noDepot(response.StatusCode)
	}
	return answer{}, out.Error.translate()
}

func noDepot(status int) error {
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: fmt.Sprintf("the endpoint does not answer as a depot does (%d)", status), Remedy: "check the endpoint"}
}

// translate puts a depot's own word into the broker's.
func (p *problem) translate() error {
	kinds := map[int]error{
		http.StatusUnauthorized: broker.ErrUnauthorized, http.StatusForbidden: broker.ErrForbidden,
		http.StatusNotFound: broker.ErrNotFound, http.StatusConflict: broker.ErrConflict,
	}
	if p.Field == "role" {
		return broker.Invalid("role", "is not one of the depot's")
	}
	kind, known := kinds[p.Status]
	if !known {
		return noDepot(p.Status)
	}
	return &broker.Error{Kind: kind, Detail: fmt.Sprintf("the depot refuses (%d)", p.Status), Remedy: "check the VIM's credential"}
}
