package real

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// VaultTokenTTL is how long a login's token lives; [VaultServer.SetTokenTTL]
// changes it.
const VaultTokenTTL = time.Hour

// configure does what an operator does once, with the project's own policy.
func (v *VaultServer) configure(ctx context.Context) error {
	root, err := process.Repository()
	if err != nil {
		return err
	}
	policy, err := os.ReadFile(filepath.Join(root, "deploy", "vault-policy.hcl"))
	if err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	}
	var public []byte
	if v.signing, public, err = pki.NewKey(); err != nil {
		return err
	}
	type object = map[string]any
	for _, step := range []struct {
		path string
		body object
	}{
		{"sys/mounts/secret", object{"type": "kv", "options": object{"version": "2"}}},
		{"sys/policies/acl/vimbroker", object{"policy": string(policy)}},
		{"sys/auth/approle", object{"type": "approle"}},
		{"sys/auth/jwt", object{"type": "jwt"}},
		{"auth/jwt/config", object{"jwt_validation_pubkeys": []string{string(public)}}},
	} {
		if err := v.call(ctx, "POST", step.path, step.body, nil); err != nil {
			return err
		}
	}
	if err := v.setRoles(ctx, VaultTokenTTL, 24*time.Hour); err != nil {
		return err
	}
	var id struct {
		Data struct {
			RoleID string `json:"role_id"`
		}
	}
	if err := v.call(ctx, "GET", "auth/approle/role/vimbroker/role-id", nil, &id); err != nil {
		return err
	}
	v.RoleID, v.SecretIDFile, v.JWTFile = id.Data.RoleID, v.file("secret-id"), v.file("jwt")
	jwt, err := v.sign(time.Now().Add(24 * time.Hour))
	if err != nil {
		return err
	}
	if err := os.WriteFile(v.JWTFile, []byte(jwt+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the JWT: %w", err)
	}
	if err := v.writeSecretID(ctx); err != nil {
		return err
	}
	// A new mount answers 400 until it has made itself versioned.
	return v.server.Await(ctx, func(ctx context.Context) error {
		return v.call(ctx, "GET", "secret/config", nil, nil)
	})
}

// setRoles makes both roles, with that life of their tokens.
func (v *VaultServer) setRoles(ctx context.Context, ttl, most time.Duration) error {
	role := map[string]any{
		"token_policies": []string{"vimbroker"}, "token_no_default_policy": true,
		"token_ttl": int(ttl.Seconds()), "token_max_ttl": int(most.Seconds()),
	}
	if err := v.call(ctx, "POST", "auth/approle/role/vimbroker", role, nil); err != nil {
		return err
	}
	role["role_type"], role["user_claim"] = "jwt", "sub"
	role["bound_audiences"], role["bound_subject"] = []string{"vault"}, "vimbroker"
	return v.call(ctx, "POST", "auth/jwt/role/vimbroker", role, nil)
}

// SetTokenTTL changes how long tokens of coming logins live, and how long they
// can be renewed; both in whole seconds.
func (v *VaultServer) SetTokenTTL(t testing.TB, ttl, most time.Duration) {
	t.Helper()
	if err := v.setRoles(t.Context(), ttl, most); err != nil {
		t.Fatal(err)
	}
}

// NewSecretID makes all secret ids invalid, and puts a new one into the file if
// write says so.
func (v *VaultServer) NewSecretID(t testing.TB, write bool) {
	t.Helper()
	id, err := os.ReadFile(v.SecretIDFile)
	if err != nil {
		t.Fatal(err)
	}
	v.Do(t, "POST", "auth/approle/role/vimbroker/secret-id/destroy", map[string]string{"secret_id": string(id)}, nil)
	if write {
		if err := v.writeSecretID(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (v *VaultServer) writeSecretID(ctx context.Context) error {
	var id struct {
		Data struct {
			SecretID string `json:"secret_id"`
		}
	}
	if err := v.call(ctx, "POST", "auth/approle/role/vimbroker/secret-id", nil, &id); err != nil {
		return err
	}
	if err := os.WriteFile(v.SecretIDFile, []byte(id.Data.SecretID), 0o600); err != nil {
		return fmt.Errorf("writing the secret id: %w", err)
	}
	return nil
}

// sign makes a JWT (RFC 7519, ES256) that the role of the JWT method takes.
func (v *VaultServer) sign(until time.Time) (string, error) {
	block, _ := pem.Decode(v.signing)
	if block == nil {
		return "", errors.New("signing a JWT: no key")
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("signing a JWT: %w", err)
	}
	claims, err := json.Marshal(map[string]any{"sub": "vimbroker", "aud": "vault", "iat": time.Now().Unix(), "exp": until.Unix()})
	if err != nil {
		return "", fmt.Errorf("signing a JWT: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing a JWT: %w", err)
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + encode(signature[:]), nil
}
