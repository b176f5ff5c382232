package real

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// statusError is an answer that is no success.
type statusError struct {
	method, path string
	status       int
	text         []byte
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s is answered with %d: %s", e.method, e.path, e.status, bytes.TrimSpace(e.text))
}

// call asks Vault with the root token, over a connection of its own.
func (v *VaultServer) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("asking Vault: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, v.Address+"/v1/"+path, body)
	if err != nil {
		return fmt.Errorf("asking Vault: %w", err)
	}
	request.Header.Set("X-Vault-Token", v.RootToken)
	// The file that was written last: RotateTLS leaves the old authority to the
	// stores under test.
	config, err := v.latest()
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("asking Vault: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("asking Vault: %w", err)
	}
	if response.StatusCode >= 300 {
		return &statusError{method, path, response.StatusCode, text}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("reading Vault's answer to %s %s: %w", method, path, err)
	}
	return nil
}

// latest trusts exactly the certificate that the server was given last.
func (v *VaultServer) latest() (*tls.Config, error) {
	pem, err := os.ReadFile(v.file("server.crt"))
	if err != nil {
		return nil, fmt.Errorf("asking Vault: %w", err)
	}
	pool, err := pool(pem)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func pool(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("there is no certificate")
	}
	return pool, nil
}
