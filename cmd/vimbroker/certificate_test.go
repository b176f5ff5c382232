package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// The whole way with TLS: configuration file, tokens file, CA file of the client.
func TestServeWithTLS(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	token, digest := policy.NewToken()
	tokens := story.WriteFile(t, "tokens.yaml", "tokens: [{name: alice, project: acme, roles: [admin], sha256: "+digest+"}]\n", 0o600)
	addr := process.FreeAddress(t)
	config := story.WriteFile(t, "config.yaml", "listen: "+addr+"\ndataDir: "+filepath.Join(t.TempDir(), "data")+
		"\ntls: {certFile: "+cert+", keyFile: "+key+"}\ntokensFile: "+tokens+"\n", 0o600)

	s := serve(t, nil, "--config", config)
	env := []string{console.EnvAddr + "=https://" + addr, console.EnvToken + "=" + token}
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"vim", "list"}, nil, &out, &stderr, env); code != console.ExitFailed || !strings.Contains(stderr.String(), console.EnvCAFile) {
		t.Errorf("without the CA: code %d, %q, want a hint at %s", code, stderr.String(), console.EnvCAFile)
	}
	if code := run(t.Context(), []string{"vim", "list"}, nil, &out, &stderr, append(env, console.EnvCAFile+"="+cert)); code != 0 {
		t.Errorf("with the CA: code %d, %q", code, stderr.String())
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the token is in the log")
	}
}
