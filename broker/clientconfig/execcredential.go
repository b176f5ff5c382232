package clientconfig

import (
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// execAPIVersion is that of the exec credential protocol
// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/).
const execAPIVersion = "client.authentication.k8s.io/v1"

// execMargin is how much earlier than it really does an exec credential expires:
// a client asks for a new one at that time, and still has a working one then.
const execMargin = 10 * time.Second

type execCredential struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       execSpec   `json:"spec"`
	Status     execStatus `json:"status"`
}

type execSpec struct {
	Interactive bool `json:"interactive"`
}

// execStatus holds plaintext, from filling to encoding.
type execStatus struct {
	ExpirationTimestamp   string `json:"expirationTimestamp,omitempty"`
	Token                 string `json:"token,omitempty"`
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	ClientKeyData         string `json:"clientKeyData,omitempty"`
}

// execCredential is the output of an exec plugin, on one line.
func (Cluster) execCredential(c Config) (secret.Text, error) {
	if c.Username != "" {
		return secret.Text{}, fmt.Errorf("an exec credential is a token or a certificate, not a password: %w", ErrFormat)
	}
	out := execCredential{
		APIVersion: execAPIVersion,
		Kind:       "ExecCredential",
		Status: execStatus{
			Token:                 c.Token.Reveal(),
			ClientCertificateData: c.ClientCertificate,
			ClientKeyData:         c.ClientKey.Reveal(),
		},
	}
	if !c.ExpiresAt.IsZero() {
		out.Status.ExpirationTimestamp = c.ExpiresAt.Add(-execMargin).UTC().Format(time.RFC3339)
	}
	return encodeJSON(out, "")
}
