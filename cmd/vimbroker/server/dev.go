package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

// devTokenFile holds the admin token of the try-out mode, in the data directory.
const devTokenFile = "dev-token"

// devConfig is the configuration of the try-out mode.
func devConfig(env console.Environment) config {
	c := defaults(env)
	c.Dev = true
	c.LogFormat = "text"
	c.Egress.AllowLoopback, c.Audit.Egress.AllowLoopback = true, true
	c.TackerAPI.Enabled = true
	c.SOL003.Enabled, c.ONAP.Enabled = true, true
	return c
}

// devTokens knows one caller: admin of the project "default", with the token in
// the data directory, which is made if it is not there. Only its digest is kept.
func devTokens(dir string) (*policy.StaticTokens, error) {
	name := filepath.Join(dir, devTokenFile)
	digest, err := readDevToken(name)
	if errors.Is(err, os.ErrNotExist) {
		digest, err = makeDevToken(name)
	}
	if err != nil {
		return nil, fmt.Errorf("token of the try-out mode: %w", err)
	}
	admin := devAdmin()
	return policy.NewStaticTokens([]policy.StaticToken{{Name: admin.Name, Project: admin.Project, Roles: admin.Roles, SHA256: digest}})
}

// devAdmin is the one caller.
func devAdmin() policy.Principal {
	return policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
}

// devLinkWithin is for how long the link is good that lets a browser in once.
const devLinkWithin = time.Hour

// readDevToken returns the digest of a token that is there already.
func readDevToken(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s must be a file that only its owner can read; remove it, and the next start makes another", name)
	}
	text, err := files.ReadNamed(name)
	if err != nil {
		return "", err
	}
	token := string(bytes.TrimSpace(text))
	if !strings.HasPrefix(token, "vbt_") {
		return "", fmt.Errorf("%s does not hold a token; remove it, and the next start makes another", name)
	}
	return policy.Digest(token), nil
}

// makeDevToken writes a new token, whole or not at all, and returns its digest.
func makeDevToken(name string) (string, error) {
	token, digest := policy.NewToken()
	return digest, files.WritePrivate(name, []byte(token+"\n"))
}

// announceDev prints a clear notice on this mode, and the first steps.
func (p *program) announceDev(url string, c config, link string) {
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		dir = c.DataDir
	}
	self := shellWord(console.SelfCommand())
	fmt.Fprintf(p.Err, `
*** NOT FOR PRODUCTION: this is the try-out mode. It serves plain HTTP on loopback,
*** keeps the keys beside the data they seal (%s),
*** and lets VIM endpoints be on loopback. For real use: vimbroker serve --config FILE

Ready at %s. In another terminal:

  export VIMBROKER_ADDR=%s
  export VIMBROKER_TOKEN_FILE=%s
  %[5]s vim register --kubeconfig ~/.kube/config my-cluster
  %[5]s lease issue --vim my-cluster --role view --out my-cluster.kubeconfig
  kubectl --kubeconfig my-cluster.kubeconfig get namespaces
  %[5]s exec my-cluster --role view -- kubectl get namespaces

Or look, with a browser. This link lets in once, within an hour:

  %[2]s/ui/link/%[6]s

`, dir, url, url, shellWord(filepath.Join(dir, devTokenFile)), self, link)
}

// shellWord quotes text that a shell would split.
func shellWord(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r))
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
