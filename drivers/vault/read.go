package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// plain is a JSON string that decodes into bytes, which can be cleared.
type plain []byte

// UnmarshalJSON takes strings without escapes only, as keys are spelled.
func (p *plain) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' || bytes.ContainsRune(data, '\\') {
		return secret.ErrCorrupt
	}
	*p = bytes.Clone(data[1 : len(data)-1])
	return nil
}

// read returns the field of the first version of a secret; the caller clears it.
// A Store writes only the first: later versions are ignored.
func (s *Store) read(ctx context.Context, name, field string) ([]byte, error) {
	answer, err := s.ask(ctx, request{method: http.MethodGet, path: s.data(name), query: url.Values{"version": {"1"}}})
	if err != nil {
		return nil, err
	}
	defer wipe(answer)
	var a struct {
		Data *struct {
			// Fields stay undecoded: fields other than the broker's may be
			// anything.
			Data     map[string]json.RawMessage `json:"data"`
			Metadata *struct {
				Version int `json:"version"`
			} `json:"metadata"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data == nil || a.Data.Metadata == nil {
		return nil, unavailable("what answers is not a KV version 2 engine of Vault")
	}
	if a.Data.Data == nil {
		return nil, &fault{kind: secret.ErrNotFound, reason: "Vault holds only the trace of a deleted secret"}
	}
	defer func() {
		for _, raw := range a.Data.Data {
			clear(raw)
		}
	}()
	var value plain
	if a.Data.Metadata.Version != 1 || value.UnmarshalJSON(a.Data.Data[field]) != nil {
		return nil, secret.ErrCorrupt
	}
	return value, nil
}
