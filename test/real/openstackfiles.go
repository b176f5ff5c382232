package real

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/vimbroker/vimbroker/test/process"
)

//go:embed openstack/*.conf openstack/*.cnf openstack/*.inc openstack/*.wsgi openstack/*.yaml
var openStackFiles embed.FS

// openStackPassword is the password of the administrator and of the services: on
// loopback, and gone with the test.
const openStackPassword = "only-for-tests"

// python is Debian's, which has OpenStack's libraries; another may be first in the path.
const python = "/usr/bin/python3"

// openStackDir finds what openstack/install.sh installed, and where it unpacked
// the rest: bin/openstack of this repository.
func openStackDir(options OpenStackOptions) (string, error) {
	root, err := process.Repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "openstack")
	var missing []string
	needed := []string{
		"/usr/bin/keystone-wsgi-public", "/usr/bin/uwsgi", "/usr/sbin/mariadbd", "/usr/lib/python3/dist-packages/barbican",
		filepath.Join(dir, "usr/bin/heat-all"), filepath.Join(dir, "usr/share/barbican-common/barbican-api-paste.ini"),
		filepath.Join(dir, "usr/bin/memcached"),
	}
	if options.WithServers {
		needed = append(needed, "/usr/bin/placement-api", "/usr/lib/python3/dist-packages/nova", filepath.Join(dir, "usr/bin/glance-api"),
			filepath.Join(dir, "usr/bin/neutron-db-manage"), filepath.Join(dir, "usr/share/nova-common/api-paste.ini"))
	}
	for _, name := range needed {
		if _, err := os.Stat(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%w: %s; install them with test/real/openstack/install.sh bin/openstack (Debian 12, as root)",
			errNoPrograms, strings.Join(missing, ", "))
	}
	return dir, nil
}

// begin starts a program of the cloud's under a name, and returns when it runs.
func (o *Cloud) begin(name, path string, args ...string) (*process.Process, error) {
	c := exec.Command(path, args...)
	c.Dir, c.Env = o.Dir, o.environment()
	return process.Start(c, name)
}

// environment is what the services start with: Debian's programs, and nothing of
// the caller's that Python or OpenStack would read.
func (o *Cloud) environment() []string {
	return []string{
		"HOME=" + o.Dir, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		"OS_KEYSTONE_CONFIG_DIR=" + o.file("keystone"), "OS_PLACEMENT_CONFIG_DIR=" + o.file("placement"),
	}
}

// settings are what the templates of the configuration files speak of.
type settings struct {
	*Cloud
	Service, Password, Keystone, Socket, Cache, User, MasterKey, HeatKey string
	TokenSeconds, TokenCache                                             int
	InsecureTrusts                                                       bool
}

// Database is the URL of a database, as SQLAlchemy reads it.
func (s settings) Database(name string) string {
	return s.databaseURL(name)
}

// Port is where a service listens.
func (s settings) Port(service string) int { return s.port(Service(service)) }

// Programs is where packages were unpacked.
func (s settings) Programs() string { return s.programs }

// As are the same settings, of another service.
func (s settings) As(service string) settings {
	s.Service = service
	return s
}

// writeFiles makes the directories, keys and configuration files.
func (o *Cloud) writeFiles() error {
	for _, dir := range []string{
		"mysql", "lock", ".barbican", "barbican", "keystone/fernet-keys", "keystone/credential-keys", "heat/environment.d",
		"placement", "glance/images", "glance/staging", "glance/tasks", "neutron", "nova/instances",
	} {
		if err := os.MkdirAll(o.file(dir), 0o700); err != nil {
			return fmt.Errorf("making directories of OpenStack: %w", err)
		}
	}
	files := map[string][]byte{}
	for _, dir := range []string{"fernet-keys", "credential-keys"} {
		for _, name := range []string{"0", "1"} {
			files["keystone/"+dir+"/"+name] = []byte(fernetKey())
		}
	}
	s := settings{
		Cloud: o, Password: openStackPassword, Keystone: strings.TrimSuffix(o.AuthURL, "/v3"), Socket: o.socket(), Cache: o.cacheSocket(),
		User: "root", MasterKey: fernetKey(), HeatKey: hex.EncodeToString(random(16)),
		TokenSeconds: 3600, TokenCache: 300, InsecureTrusts: o.options.InsecureTrusts,
	}
	if os.Geteuid() != 0 {
		s.User = fmt.Sprint(os.Geteuid())
	}
	if o.options.TokenTTL > 0 {
		s.TokenSeconds = int(o.options.TokenTTL.Seconds())
	}
	if o.options.AskAlways {
		s.TokenCache = -1
	}
	templates, err := template.ParseFS(openStackFiles, "openstack/*")
	if err != nil {
		return fmt.Errorf("reading templates of OpenStack: %w", err)
	}
	for _, f := range []struct{ template, service, file string }{
		{"my.cnf", "", "my.cnf"},
		{"keystone.conf", "keystone", "keystone/keystone.conf"},
		{"keystone-policy.yaml", "keystone", "keystone/policy.yaml"},
		{"barbican.conf", "barbican", ".barbican/barbican.conf"},
		{"barbican.wsgi", "barbican", "barbican.wsgi"},
		{"heat.conf", "heat", "heat.conf"},
	} {
		s.Service = f.service
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, f.template, s); err != nil {
			return fmt.Errorf("making %s: %w", f.file, err)
		}
		files[f.file] = text.Bytes()
	}
	if o.options.WithServers {
		if err := s.serverFiles(templates, files); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{
		"barbican/barbican-api-paste.ini": "usr/share/barbican-common/barbican-api-paste.ini",
		"heat/api-paste.ini":              "etc/heat/api-paste.ini",
		"heat/environment.d/default.yaml": "etc/heat/environment.d/default.yaml",
	} {
		text, err := os.ReadFile(filepath.Join(o.programs, from))
		if err != nil {
			return fmt.Errorf("reading %s: %w", from, err)
		}
		files[to] = bytes.ReplaceAll(text, []byte("file:///etc/heat/"), []byte("file://"+o.file("heat")+"/"))
	}
	for name, text := range files {
		if err := os.WriteFile(o.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := os.CopyFS(o.file("heat/templates"), os.DirFS(filepath.Join(o.programs, "etc/heat/templates"))); err != nil {
		return fmt.Errorf("copying templates of Heat: %w", err)
	}
	return nil
}

func fernetKey() string { return base64.URLEncoding.EncodeToString(random(32)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never errs (see crypto/rand)
	return b
}
