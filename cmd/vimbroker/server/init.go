package server

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

// unconfigured begins the configuration that the packages install: init replaces it.
const unconfigured = "# vimbroker is not configured yet"

// configDir is where the configuration is, unless init was told otherwise.
const configDir = "/etc/vimbroker"

// authorityLife and certificateLife are those of the certificates that init makes.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 397 * 24 * time.Hour
)

// setup are the choices of init.
type setup struct {
	dir, state, listen, admin, project, owner string
	hosts                                     []string
	certFile, keyFile                         string
	renew                                     bool
	// login is how the administrator comes in where there is no token; nobody by default.
	login trustConfig
	match map[string]string
}

const initHelp = `Write the configuration of a server for one machine: SQLite and the keys in the
state directory, TLS, and an administrator's token. Without --tls-cert it makes
a certificate authority of its own, and a certificate for the names of this
machine; --renew makes another certificate of that authority, which a running
server takes up by itself. Nothing that is there is replaced, but for the empty
configuration that the packages install. Whoever has no context yet gets one for
the server.

With --issuer nobody gets a token: the administrators are those whose tokens of
that issuer (OpenID Connect) have the claims --admin-claim. docs/callers.md says
how to let in more people.

Files of the server belong to the user --user where that exists and root runs
this; the administrator's token and the authority's key belong to whoever runs
it. Production has more: docs/production.md.`

func (p *program) initCommand() *cobra.Command {
	s := setup{login: trustConfig{TrustEntry: files.TrustEntry{Authority: trust.Authority{Name: "login", Login: &trust.Signin{}}}}}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write the configuration of a server for one machine",
		Long:  initHelp,
		Example: `  vimbroker init
  vimbroker init --host broker.example --tls-cert tls.crt --tls-key tls.key
  vimbroker init --issuer https://id.org --client-id cli --admin-claim role=op
  vimbroker init --dir ./broker --state-dir ./state --listen 127.0.0.1:8420
  vimbroker init --renew`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if (s.certFile == "") != (s.keyFile == "") {
				return console.Usagef(c, "give --tls-cert and --tls-key, or neither")
			}
			if err := s.checkIssuer(c); err != nil {
				return err
			}
			if err := s.complete(); err != nil {
				return err
			}
			if s.renew {
				if err := s.certify(p.Now()); err != nil {
					return err
				}
				p.Warn("%s is renewed until %s", s.path("tls/tls.crt"), p.Now().Add(certificateLife).UTC().Format(time.DateOnly))
				return nil
			}
			if err := s.write(p.Now()); err != nil {
				return err
			}
			return p.announceSetup(s)
		},
	}
	flags := c.Flags()
	flags.StringVar(&s.dir, "dir", configDir, "directory of the configuration")
	flags.StringVar(&s.state, "state-dir", "/var/lib/vimbroker", "directory of the database and the keys")
	flags.StringVar(&s.listen, "listen", "0.0.0.0:8420", "host:port to listen on")
	flags.StringArrayVar(&s.hosts, "host", nil,
		"name or address by which callers reach the server (repeatable; default: this machine's name and loopback)")
	flags.StringVar(&s.certFile, "tls-cert", "", "certificate chain, PEM, that is there already")
	flags.StringVar(&s.keyFile, "tls-key", "", "its key, PEM")
	flags.StringVar(&s.admin, "admin", "admin", "name of the administrator")
	flags.StringVar(&s.project, "project", "platform", "project that the administrator acts in")
	flags.StringVar(&s.login.Issuer, "issuer", "", "URL of the OpenID Connect issuer whose tokens let the administrators in")
	flags.StringVar(&s.login.Login.ClientID, "client-id", "", "id of the public client at the issuer, for \"vimbroker login\"")
	flags.StringVar(&s.login.Audience, "audience", "", "audience of the issuer's tokens (default: the client's id, which ID tokens have)")
	flags.StringVar(&s.login.CAFile, "issuer-ca", "", "authorities of the issuer's server, PEM (default: the system's)")
	flags.StringToStringVar(&s.match, "admin-claim", nil, "CLAIM=PATTERN that an administrator's token has (repeatable: all of them)")
	flags.StringVar(&s.owner, "user", "vimbroker", "user that the server runs as")
	flags.BoolVar(&s.renew, "renew", false, "only make another certificate of the authority that an earlier init made")
	return c
}

// complete makes the paths absolute, and finds the names that the certificate is for.
func (s *setup) complete() error {
	for _, path := range []*string{&s.dir, &s.state, &s.certFile, &s.keyFile, &s.login.CAFile} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = full
	}
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return fmt.Errorf("--listen must be host:port, like 0.0.0.0:8420")
	}
	if len(s.hosts) > 0 {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	s.hosts = []string{name, "localhost", "127.0.0.1", "::1"}
	return nil
}

func (s *setup) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// mine reports whether the server takes a certificate of the own authority.
func (s *setup) mine() bool { return s.certFile == "" }

// write makes every file, the configuration last: where it is, all is.
func (s *setup) write(now time.Time) error {
	switch text, err := os.ReadFile(s.path("vimbroker.yaml")); {
	case err == nil && !bytes.HasPrefix(text, []byte(unconfigured)):
		return fmt.Errorf("%s is there already; change it by hand, or name another directory with --dir", s.path("vimbroker.yaml"))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	for _, dir := range []struct {
		path string
		mode os.FileMode
		own  bool
	}{{s.dir, 0o750, false}, {s.path("tls"), 0o750, false}, {s.path("policies"), 0o750, false}, {s.state, 0o700, true}} {
		if err := os.MkdirAll(dir.path, dir.mode); err != nil {
			return err
		}
		if err := s.hand(dir.path, dir.mode, dir.own); err != nil {
			return err
		}
	}
	if s.mine() {
		if err := s.certify(now); err != nil {
			return err
		}
		s.certFile, s.keyFile = s.path("tls/tls.crt"), s.path("tls/tls.key")
	}
	callers, written, err := s.callers()
	if err != nil {
		return err
	}
	config := fmt.Sprintf("# \"vimbroker serve --help\" shows every key.\n"+
		"listen: %q\ntls:\n  certFile: %q\n  keyFile: %q\ndataDir: %q\npolicyDir: %q\n%s",
		s.listen, s.certFile, s.keyFile, s.state, s.path("policies"), callers)
	for _, f := range append(written, initFile{"vimbroker.yaml", config, true}) {
		if err := s.put(f); err != nil {
			return err
		}
	}
	return nil
}

// put writes a file, and hands it to the server if that reads it.
func (s *setup) put(f initFile) error {
	err := files.WritePrivate(s.path(f.name), []byte(f.text))
	if err == nil && f.served {
		err = s.hand(s.path(f.name), 0o640, false)
	}
	return err
}

// initFile is a file of the configuration; the server reads it if it is served.
type initFile struct {
	name, text string
	served     bool
}

// issued reports whether the administrators come from an issuer, and not with a token.
func (s *setup) issued() bool { return s.login.Issuer != "" }

// initFlags are the flags of what an entry of trust can lack.
var initFlags = map[string]string{"issuer": "--issuer", "principals[0].match": "--admin-claim", "principals[0].project": "--project"}

// checkIssuer refuses an issuer that the server would refuse.
func (s *setup) checkIssuer(c *cobra.Command) error {
	s.login.Principals = []trust.Mapping{{Match: s.match, Project: s.project, Roles: []string{policy.RoleAdmin}}}
	if !s.issued() {
		for _, flag := range []string{"client-id", "audience", "issuer-ca", "admin-claim"} {
			if c.Flags().Changed(flag) {
				return console.Usagef(c, "--%s needs --issuer", flag)
			}
		}
		return nil
	}
	if c.Flags().Changed("admin") {
		return console.Usagef(c, "--admin names the holder of a token; with --issuer there is none")
	}
	if s.login.Login.ClientID == "" || len(s.match) == 0 {
		return console.Usagef(c, "--issuer needs --client-id and --admin-claim")
	}
	s.login.Audience = cmp.Or(s.login.Audience, s.login.Login.ClientID)
	for _, f := range s.login.WithDefaults().Flaws() {
		return console.Usagef(c, "%s %s", cmp.Or(initFlags[f.Field], f.Field), f.Text)
	}
	return nil
}

// callers are the lines of the configuration that let the administrator in, and the files that they name.
func (s *setup) callers() (lines string, written []initFile, err error) {
	if s.issued() {
		entry := map[string]any{
			"name": s.login.Name, "issuer": s.login.Issuer, "audience": s.login.Audience,
			"login": map[string]string{"clientID": s.login.Login.ClientID},
			"principals": []map[string]any{{
				"match": s.match, "project": s.project, "roles": []string{policy.RoleAdmin},
			}},
		}
		if s.login.CAFile != "" {
			entry["caFile"] = s.login.CAFile
		}
		text, err := yaml.Marshal(map[string]any{"trust": []any{entry}})
		return string(text), nil, err
	}
	token, digest := policy.NewToken()
	line := fmt.Sprintf("tokens:\n  - {name: %s, project: %s, roles: [%s], sha256: %s}\n",
		strconv.Quote(s.admin), strconv.Quote(s.project), policy.RoleAdmin, digest)
	_, err = policy.NewStaticTokens([]policy.StaticToken{{
		Name: s.admin, Project: s.project, Roles: []string{policy.RoleAdmin}, SHA256: digest,
	}})
	return fmt.Sprintf("tokensFile: %q\n", s.path("tokens.yaml")),
		[]initFile{{"admin.token", token + "\n", false}, {"tokens.yaml", line, true}}, err
}

// hand gives a file to the server: to its user, or to its group alone, who may then read it and not change it.
func (s *setup) hand(path string, mode os.FileMode, own bool) error {
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup(s.owner)
	if errors.As(err, new(user.UnknownUserError)) {
		return nil
	}
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(account.Uid) // numbers on Linux
	gid, _ := strconv.Atoi(account.Gid)
	if !own {
		uid = 0
	}
	return os.Lchown(path, uid, gid)
}

// certify makes the server's certificate, and the authority if there is none.
func (s *setup) certify(now time.Time) error {
	authority, key, err := s.authority(now)
	if err != nil {
		return err
	}
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	leaf := certificateOf("vimbroker", now, certificateLife)
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range s.hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	made, err := x509.CreateCertificate(rand.Reader, leaf, authority, mine.Public(), key)
	if err != nil {
		return err
	}
	text, err := privatePEM(mine)
	if err != nil {
		return err
	}
	// The key first: a server that looks in between keeps the certificate that it has.
	if err := s.put(initFile{"tls/tls.key", string(text), true}); err != nil {
		return err
	}
	return s.put(initFile{"tls/tls.crt", string(certificatePEM(made)), true})
}

// authority is the one that an earlier init made, or a new one.
func (s *setup) authority(now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certificate, keyText := s.path("tls/ca.crt"), s.path("tls/ca.key")
	text, err := os.ReadFile(keyText)
	if errors.Is(err, os.ErrNotExist) && !s.renew {
		return s.newAuthority(now, certificate, keyText)
	}
	if err != nil {
		return nil, nil, err
	}
	known, err := os.ReadFile(certificate)
	if err != nil {
		return nil, nil, err
	}
	keyBlock, _ := pem.Decode(text)
	block, _ := pem.Decode(known)
	if keyBlock == nil || block == nil {
		return nil, nil, fmt.Errorf("%s or %s holds no PEM", certificate, keyText)
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", certificate, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s holds no key in PKCS #8", keyText)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s holds a key of another kind than init makes", keyText)
	}
	return parsed, signer, nil
}

func (s *setup) newAuthority(now time.Time, certificate, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificateOf("vimbroker authority of "+s.hosts[0], now, authorityLife)
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	text, err := privatePEM(key)
	if err != nil {
		return nil, nil, err
	}
	if err := files.WritePrivate(certificate, certificatePEM(made)); err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(certificate, 0o644); err != nil {
		return nil, nil, err
	}
	// The key last: while it is missing, another run makes both anew.
	if err := files.WritePrivate(keyFile, text); err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParseCertificate(made)
	return parsed, key, err
}

// certificateOf is a template. It begins an hour before now, for clocks that are behind.
func certificateOf(name string, now time.Time, life time.Duration) *x509.Certificate {
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // never fails
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life), KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func privatePEM(key *ecdsa.PrivateKey) ([]byte, error) {
	text, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), err
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// announceSetup prints the next three commands. Where the person has no context yet, the server becomes it.
func (p *program) announceSetup(s setup) error {
	_, port, _ := net.SplitHostPort(s.listen) // complete has looked
	own := contexts.Context{Name: "vimbroker", Server: "https://" + net.JoinHostPort(s.hosts[0], port), TokenFile: s.path("admin.token")}
	start := "systemctl enable --now vimbroker"
	if s.dir != configDir {
		start = shellWord(console.SelfCommand()) + " serve --config " + shellWord(s.path("vimbroker.yaml"))
	}
	ca := ""
	if s.certFile == s.path("tls/tls.crt") {
		own.CAFile = s.path("tls/ca.crt")
		ca = "VIMBROKER_CA_FILE=" + shellWord(own.CAFile) + " "
	}
	const register = "vimbroker vim register --kubeconfig ~/.kube/config edge-1"
	said, next := "is written", []string{start}
	switch set, err := p.Contexts(); {
	case s.issued():
		if s.login.CAFile != "" {
			ca += "VIMBROKER_ISSUER_CA_FILE=" + shellWord(s.login.CAFile) + " "
		}
		next = append(next, ca+"vimbroker login --addr "+own.Server, register)
	case err == nil && len(set.Contexts) == 0 && set.Put(own) == nil:
		said += ", and its server is your context (vimbroker context list)"
		next = append(next, register, "vimbroker lease issue --vim edge-1 --role view --out edge-1.kubeconfig")
	default:
		next = append(next, "export "+ca+"VIMBROKER_ADDR="+own.Server+" VIMBROKER_TOKEN_FILE="+shellWord(own.TokenFile), register)
	}
	_, err := fmt.Fprintf(p.Out, "%s %s. Next:\n\n  %s\n", s.path("vimbroker.yaml"), said, strings.Join(next, "\n  "))
	return err
}
