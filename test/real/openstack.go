package real

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

// OpenStackOptions are the settings of a cloud that tests want both ways. The zero
// value is a cloud as Debian's packages make it.
type OpenStackOptions struct {
	// InsecureTrusts lets tokens of application credentials make trusts, as
	// Keystone did before the fixes of 2026: then they can create Heat stacks.
	InsecureTrusts bool
	// TokenTTL is how long Keystone's tokens live, in whole seconds; 0 means an hour.
	TokenTTL time.Duration
	// AskAlways makes Barbican and Heat ask Keystone about every token, so that a
	// revocation shows at once; otherwise they may believe it for 300 s.
	AskAlways bool
	// WithoutHeat starts faster: Heat is in the catalog, and does not answer.
	WithoutHeat bool
	// WithServers adds what servers and ports need: Placement, Glance, Neutron, and
	// Nova with its fake hypervisor, which boots nothing and takes no time for it.
	WithServers bool
}

// services are those of a cloud with these options.
func (options OpenStackOptions) services() []Service {
	all := []Service{Keystone, Barbican, Heat}
	if options.WithServers {
		all = append(all, Placement, Glance, Neutron, Nova)
	}
	return all
}

// Cloud is a running OpenStack: Keystone, Barbican and Heat, and with servers more, on
// loopback, without TLS: [Cloud.TLS] puts that in front. Its methods are safe for concurrent use;
// those that stop, pause or restart a service disturb everyone who uses it.
type Cloud struct {
	// AuthURL is Keystone's URL, with /v3. KeyManager and Orchestration are those
	// of Barbican and Heat, without a version.
	AuthURL, KeyManager, Orchestration string
	// Region is the only one.
	Region string
	// Admin is the administrator, in the project "admin" of the domain "default".
	Admin Tenant
	// Dir is where everything of it lies, logs included.
	Dir string

	options  OpenStackOptions
	programs string
	ports    []int // of the services, in their order
	made     int   // projects so far
	mu       sync.Mutex
	database *process.Process
	cache    *process.Process // Keystone's
	services map[Service]*process.Process
	roles    map[string]string // name to id
	token    string            // of the administrator
}

// Service is one of the cloud's programs that a test can disturb.
type Service string

// The services.
const (
	Keystone Service = "keystone"
	Barbican Service = "barbican"
	Heat     Service = "heat"
	// With servers.
	Placement Service = "placement"
	Glance    Service = "glance"
	Neutron   Service = "neutron"
	Nova      Service = "nova"
)

// StartOpenStack starts a cloud of one's own that keeps everything in dir, which
// must exist and have a short path. The caller stops it. It fails with the end of
// the log of whichever program did not start.
func StartOpenStack(ctx context.Context, dir string, options OpenStackOptions) (*Cloud, error) {
	programs, err := openStackDir(options)
	if err != nil {
		return nil, err
	}
	var o *Cloud
	return o, process.OnFreePorts(ctx, len(options.services()), dir, func(home string, ports []int) error {
		o = &Cloud{Dir: home, Region: "RegionOne", options: options, programs: programs, services: map[Service]*process.Process{}}
		err := o.start(ctx, ports)
		if err != nil {
			o.Stop()
		}
		return err
	})
}

func (o *Cloud) start(ctx context.Context, ports []int) error {
	o.ports = ports
	o.AuthURL, o.KeyManager, o.Orchestration = o.URL(Keystone)+"/v3", o.URL(Barbican), o.URL(Heat)
	if err := o.writeFiles(); err != nil {
		return err
	}
	if err := o.startDatabase(ctx); err != nil {
		return err
	}
	if err := o.startCache(ctx); err != nil {
		return err
	}
	if err := o.launch(ctx, Keystone); err != nil {
		return err
	}
	if err := o.seed(ctx); err != nil {
		return err
	}
	// Nova asks Placement while it starts.
	first := slices.DeleteFunc(o.options.services(), func(s Service) bool {
		return s == Keystone || s == Nova || s == Heat && o.options.WithoutHeat
	})
	if err := o.launchAll(ctx, first); err != nil || !o.options.WithServers {
		return err
	}
	return o.launch(ctx, Nova)
}

// startCache starts the memcached that Keystone's processes share: what one of them changes, none remembers otherwise.
func (o *Cloud) startCache(ctx context.Context) error {
	var err error
	if o.cache, err = o.begin("memcached", filepath.Join(o.programs, "usr/bin/memcached"), "-s", o.cacheSocket(), "-u", "root"); err != nil {
		return err
	}
	return o.cache.Await(ctx, func(context.Context) error {
		_, err := os.Stat(o.cacheSocket())
		return err
	})
}

// cacheSocket is where it listens.
func (o *Cloud) cacheSocket() string { return o.file("cache") }

func (o *Cloud) launchAll(ctx context.Context, services []Service) error {
	errs := make(chan error, len(services))
	for _, service := range services {
		go func() { errs <- o.launch(ctx, service) }()
	}
	var err error
	for range services {
		err = errors.Join(err, <-errs)
	}
	return err
}

// launch starts a service, and returns when it works.
func (o *Cloud) launch(ctx context.Context, service Service) error {
	var (
		p   *process.Process
		err error
	)
	uwsgi := func(port, workers int, wsgi string) (*process.Process, error) {
		return o.begin(string(service), "/usr/bin/uwsgi",
			"--plugins", "python3", "--http-socket", "127.0.0.1:"+strconv.Itoa(port), "--wsgi-file", wsgi,
			// Processes and no threads: with threads Keystone now and then mixes up
			// requests that come at the same time.
			"--master", "--no-orphans", "--processes", strconv.Itoa(workers), "--threads", "1", "--enable-threads",
			"--need-app", "--die-on-term", "--buffer-size", "65535", "--listen", "100", "--thunder-lock", "--disable-logging",
			// A body that nobody read would become a reset instead of an answer.
			"--post-buffering", "65536",
			// It closes after each answer: let it say so.
			"--add-header", "Connection: close")
	}
	ready := func(ctx context.Context) error { return answers(ctx, o.URL(service)) }
	switch service {
	case Keystone:
		p, err = uwsgi(o.port(Keystone), 2, "/usr/bin/keystone-wsgi-public")
	case Barbican:
		p, err = uwsgi(o.port(Barbican), 1, o.file("barbican.wsgi"))
	case Heat:
		p, err = o.begin(string(service), python, filepath.Join(o.programs, "usr/bin/heat-all"), "--config-file", o.file("heat.conf"))
		// A list goes from the API to the engine, to the database and back.
		ready = func(ctx context.Context) error {
			return o.call(ctx, "GET", o.Orchestration+"/v1/"+o.Admin.ProjectID+"/stacks", nil, nil)
		}
	case Placement:
		p, err = uwsgi(o.port(Placement), 1, "/usr/bin/placement-api")
	case Glance:
		p, err = o.begin(string(service), python, filepath.Join(o.programs, "usr/bin/glance-api"), "--config-file", o.file("glance.conf"))
	case Neutron:
		p, err = o.begin(string(service), python, o.file("networks.py"), "--config-file", o.file("neutron.conf"))
	case Nova:
		p, err = o.begin(string(service), python, o.file("servers.py"), "--config-file", o.file("nova.conf"))
		// A server finds room once the scheduler knows the host.
		ready = o.hosted
	default:
		return fmt.Errorf("starting %q: no such service", service)
	}
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.services[service] = p
	o.mu.Unlock()
	return p.Await(ctx, ready)
}

// hosted fails unless Nova knows the host that its servers are on.
func (o *Cloud) hosted(ctx context.Context) error {
	var all struct{ Hypervisors []object }
	err := o.call(ctx, "GET", o.URL(Nova)+"/v2.1/os-hypervisors", nil, &all)
	if err == nil && len(all.Hypervisors) == 0 {
		err = errors.New("no host is known")
	}
	return err
}

func (o *Cloud) service(service Service) *process.Process {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.services[service]
}

// Halt kills a service: connections are refused. [Cloud.Restart] brings it back.
func (o *Cloud) Halt(service Service) { o.service(service).Kill() }

// Restart kills a service and starts it again at the same address; what it kept is
// still there.
func (o *Cloud) Restart(t testing.TB, service Service) {
	t.Helper()
	o.Halt(service)
	o.awaitPort(t, service)
	// Also in a Cleanup, when the test's context is over.
	if err := o.launch(context.WithoutCancel(t.Context()), service); err != nil {
		t.Fatal(err)
	}
}

// AllowTrusts restarts Keystone as one that lets tokens of application credentials make trusts: see
// [OpenStackOptions.InsecureTrusts]. It is for a cloud of the test's own.
func (o *Cloud) AllowTrusts(t testing.TB) {
	t.Helper()
	const setting = "allow_insecure_application_credential_trust_escalation = "
	file := o.file("keystone/keystone.conf")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte(setting+"false"), []byte(setting+"true"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Restart(t, Keystone)
}

// awaitPort waits until the last process of a halted service has let go of its port.
func (o *Cloud) awaitPort(t testing.TB, service Service) {
	t.Helper()
	u, err := url.Parse(o.URL(service))
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(process.Patience); ; {
		l, err := net.Listen("tcp", u.Host)
		if err == nil {
			_ = l.Close()
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s is halted, and its port is not free: %v", service, err)
		}
	}
}

// Pause stops a service in its tracks: connections are accepted by the kernel, and
// nothing answers. The test's end resumes it.
func (o *Cloud) Pause(t testing.TB, service Service) {
	t.Helper()
	if err := o.service(service).Pause(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Resume(t, service) })
}

// Resume ends a Pause.
func (o *Cloud) Resume(t testing.TB, service Service) {
	t.Helper()
	if err := o.service(service).Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

// Stop ends the cloud, at once. It may be called twice.
func (o *Cloud) Stop() {
	for _, service := range slices.Backward(o.options.services()) {
		if p := o.service(service); p != nil {
			p.Kill()
		}
	}
	for _, p := range []*process.Process{o.cache, o.database} {
		if p != nil {
			p.Kill()
		}
	}
}

// URL is where a service listens, without a version.
func (o *Cloud) URL(service Service) string {
	return "http://127.0.0.1:" + strconv.Itoa(o.port(service))
}

func (o *Cloud) port(service Service) int {
	return o.ports[slices.Index(o.options.services(), service)]
}

func (o *Cloud) file(name string) string { return filepath.Join(o.Dir, name) }
