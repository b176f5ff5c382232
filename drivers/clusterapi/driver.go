package clusterapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/ways"
)

var _ onboard.Source = (*Driver)(nil)

const (
	// group is the API group of Cluster objects.
	group = "cluster.x-k8s.io"
	// page is how many objects are asked for at a time: a Cluster has some 10 KiB.
	page = 100
	// maxPages bounds a list.
	maxPages = 200
	// watchFor is how long one watch lasts; watchLimit ends one that hangs.
	watchFor   = 5 * time.Minute
	watchLimit = watchFor + time.Minute
	// breaks is how often a watch may break, one after the other, before it is a failure.
	breaks = 5
)

// versions of the API that are understood, the preferred one first.
var versions = []string{"v1beta2", "v1beta1"}

// whole is the limit of a secret: etcd keeps none that is longer.
var whole = remote.Limit{Bytes: 3 << 20, Values: 20_000, Items: 1000}

// Driver implements [onboard.Source]. It is safe for concurrent use.
type Driver struct {
	connections *ways.Pool[ways.Peer, *remote.Transport]
	after       func(time.Duration) <-chan time.Time
}

// New returns a driver that has connected to nothing yet.
func New() *Driver {
	return &Driver{connections: ways.New[ways.Peer, *remote.Transport](maxConnections), after: time.After}
}

// Close closes the connections that are idle now. The driver can still be used.
func (d *Driver) Close() { d.connections.Close() }

// groupVersion is a version of an API group that is served.
type groupVersion struct {
	Version string `json:"version"`
}

// version asks which version of the API is served.
func (d *Driver) version(ctx context.Context, a onboard.ManagementAccess) (string, error) {
	var served struct {
		Versions []groupVersion `json:"versions"`
	}
	if err := d.read(ctx, a, call{path: []string{"apis", group}, what: "the API group " + group}, &served); err != nil {
		return "", err
	}
	for _, known := range versions {
		if slices.Contains(served.Versions, groupVersion{known}) {
			return known, nil
		}
	}
	return "", &broker.Error{
		Kind: broker.ErrUnsupported, Detail: "the management cluster serves no version of " + group +
			" that is understood: v1beta2 and v1beta1 are",
	}
}

// Ping implements [onboard.Source].
func (d *Driver) Ping(ctx context.Context, a onboard.ManagementAccess) error {
	_, err := d.version(ctx, a)
	return err
}

// Cluster implements [onboard.Source].
func (d *Driver) Cluster(ctx context.Context, a onboard.ManagementAccess, namespace, name string) (onboard.Seen, error) {
	version, err := d.version(ctx, a)
	if err != nil {
		return onboard.Seen{}, err
	}
	var c cluster
	err = d.read(ctx, a, call{path: inNamespace(group, version, namespace, "clusters", name), what: "the cluster " + name}, &c)
	switch {
	case err != nil:
		return onboard.Seen{}, err
	case c.Metadata.Name != name || c.Metadata.Namespace != namespace || c.Metadata.UID == "":
		return onboard.Seen{}, notKubernetes(0)
	}
	return c.seen(), nil
}

// Secret implements [onboard.Source].
func (d *Driver) Secret(ctx context.Context, a onboard.ManagementAccess, namespace, name, key string) (onboard.ClusterSecret, error) {
	var s secretObject
	err := d.read(remote.Expect(ctx, whole), a, call{path: inNamespace("", "v1", namespace, "secrets", name), what: "the secret " + name}, &s)
	switch {
	case err != nil:
		return onboard.ClusterSecret{}, err
	case s.Metadata.Name != name:
		return onboard.ClusterSecret{}, notKubernetes(0)
	}
	out := onboard.ClusterSecret{SecretVersion: s.version(), Owners: s.owners()}
	var value []byte
	if raw := s.Data[key]; len(raw) > 0 && json.Unmarshal(raw, &value) != nil {
		return onboard.ClusterSecret{}, notKubernetes(0)
	}
	defer clear(value)
	if out.Large = len(value) > onboard.MaxKubeconfig; !out.Large {
		out.Value = secret.NewText(string(value))
	}
	return out, nil
}

// ControlPlane implements [onboard.Source].
func (d *Driver) ControlPlane(ctx context.Context, a onboard.ManagementAccess, namespace, group, plural, name string) (string, error) {
	var served struct {
		PreferredVersion groupVersion `json:"preferredVersion"`
	}
	if err := d.read(ctx, a, call{path: []string{"apis", group}, what: "the API group " + group}, &served); err != nil {
		return "", err
	}
	var m metadata
	err := d.read(ctx, a, call{
		path: inNamespace(group, served.PreferredVersion.Version, namespace, plural, name), what: plural + "." + group + " " + name,
		accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	}, &m)
	switch {
	case err != nil:
		return "", err
	case m.Metadata.Name != name:
		return "", notKubernetes(0)
	}
	return m.Metadata.UID, nil
}

// Namespaces implements [onboard.Source].
func (d *Driver) Namespaces(ctx context.Context, a onboard.ManagementAccess) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	_, err := list(ctx, d, a, followed[metadata]{
		path: []string{"api", "v1", "namespaces"}, what: "namespaces",
		list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		all: func(found []metadata) {
			for _, m := range found {
				all[m.Metadata.Name] = m.Metadata.Labels
			}
		},
		trim: func(m *metadata) bool { return short(m.Metadata.Name) },
	})
	return all, err
}

// Watch implements [onboard.Source].
func (d *Driver) Watch(ctx context.Context, access func() onboard.ManagementAccess, namespace string, sight onboard.Sight) error {
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	version, err := d.version(bounded, access())
	cancel()
	if err != nil {
		return err
	}
	together, ctx := errgroup.WithContext(ctx)
	together.Go(func() error {
		return follow(ctx, d, access, followed[cluster]{
			path: inNamespace(group, version, namespace, "clusters"), what: "clusters" + where(namespace),
			all: func(found []cluster) {
				all := make([]onboard.Seen, 0, len(found))
				for _, c := range found {
					if lies(c.Metadata.Namespace, namespace) {
						all = append(all, c.seen())
					}
				}
				sight.Clusters(all)
			},
			one: func(c cluster, gone bool) {
				switch {
				case !lies(c.Metadata.Namespace, namespace):
				case gone:
					sight.Gone(c.Metadata.Namespace, c.Metadata.Name)
				default:
					sight.Cluster(c.seen())
				}
			},
			version: func(c cluster) string { return c.Metadata.ResourceVersion },
			trim:    func(c *cluster) bool { return c.trim(sight.Labels) },
		})
	})
	together.Go(func() error {
		return follow(ctx, d, access, followed[metadata]{
			path: inNamespace("", "v1", namespace, "secrets"), what: "secrets" + where(namespace),
			list:  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
			watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
			query: url.Values{"labelSelector": {clusterLabel}},
			all: func(found []metadata) {
				all := make([]onboard.SecretVersion, 0, len(found))
				for _, m := range found {
					if lies(m.Metadata.Namespace, namespace) {
						all = append(all, m.version())
					}
				}
				sight.Secrets(all)
			},
			one: func(m metadata, gone bool) {
				v := m.version()
				if gone {
					v.Version = ""
				}
				if lies(m.Metadata.Namespace, namespace) {
					sight.Secret(v)
				}
			},
			version: func(m metadata) string { return m.Metadata.ResourceVersion },
			trim:    (*metadata).trim,
		})
	})
	return together.Wait()
}

// lies reports whether an object's namespace is the one that is watched.
func lies(in, watched string) bool {
	return in == watched || watched == onboard.AllNamespaces && in != ""
}

// where names the namespaces that are watched, in errors.
func where(namespace string) string {
	if namespace == onboard.AllNamespaces {
		return " in all namespaces"
	}
	return " in namespace " + namespace
}

// followed is a kind of object that is listed and then watched.
type followed[T any] struct {
	path        []string
	what        string
	list, watch string // what is accepted
	query       url.Values
	all         func([]T)
	one         func(object T, gone bool)
	version     func(T) string
	// trim leaves what is used of an object; false if it can be none.
	trim func(*T) bool
}

// follow lists and watches until ctx ends or something fails. If the history since a list
// is gone, it lists again.
func follow[T any](ctx context.Context, d *Driver, access func() onboard.ManagementAccess, f followed[T]) error {
	for {
		at, err := list(ctx, d, access(), f)
		if err != nil {
			return err
		}
		for broken := 0; ; {
			began := time.Now()
			at, err = watch(ctx, d, access(), f, at)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, errHistory) {
				break
			}
			if err == nil || time.Since(began) > time.Minute {
				broken = 0
			}
			if err == nil {
				continue
			}
			if broken++; broken > breaks || !errors.Is(err, broker.ErrUnreachable) && !errors.Is(err, broker.ErrUnavailable) {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-d.after(time.Second << broken / 2):
			}
		}
	}
}

// list shows all objects, and returns the version of the list.
func list[T any](ctx context.Context, d *Driver, a onboard.ManagementAccess, f followed[T]) (at string, err error) {
	ctx, cancel := context.WithTimeout(remote.Expect(ctx, remote.List), 2*time.Minute)
	defer cancel()
	var all []T
	query := url.Values{"limit": {strconv.Itoa(page)}}
	maps.Copy(query, f.query)
	for range maxPages {
		var part struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		err := d.read(ctx, a, call{path: f.path, query: query, accept: f.list, what: f.what}, &part)
		if errors.Is(err, errHistory) { // the list took too long to page through
			err = &broker.Error{Kind: broker.ErrUnreachable, Detail: "the list of " + f.what + " changed while it was read"}
		}
		if err != nil {
			return "", err
		}
		if part.Metadata.ResourceVersion == "" {
			return "", notKubernetes(0)
		}
		if len(all)+len(part.Items) > page*maxPages {
			return "", errTooMany(f.what)
		}
		for i := range part.Items {
			if !f.trim(&part.Items[i]) {
				return "", notKubernetes(0)
			}
		}
		all = append(all, part.Items...)
		if part.Metadata.Continue == "" {
			f.all(all)
			return part.Metadata.ResourceVersion, nil
		}
		query.Set("continue", part.Metadata.Continue)
	}
	return "", errTooMany(f.what)
}

func errTooMany(what string) error {
	return &broker.Error{Kind: broker.ErrUnsupported, Detail: "there are more " + what + " than can be watched"}
}

// watch shows what changes after a version, and returns the version that it came to. It
// returns nil when the API server ends the watch.
func watch[T any](ctx context.Context, d *Driver, a onboard.ManagementAccess, f followed[T], at string) (string, error) {
	ctx, cancel := context.WithCancel(remote.Stream(ctx))
	defer cancel()
	go func() {
		select {
		case <-d.after(watchLimit):
			cancel()
		case <-ctx.Done():
		}
	}()
	query := url.Values{
		"watch": {"true"}, "resourceVersion": {at}, "allowWatchBookmarks": {"true"},
		"timeoutSeconds": {strconv.Itoa(int(watchFor / time.Second))},
	}
	maps.Copy(query, f.query)
	body, err := d.send(ctx, a, call{path: f.path, query: query, accept: f.watch, what: f.what})
	if err != nil {
		return at, err
	}
	defer body.Close()
	for line, err := range remote.Lines(body, remote.Small, server) {
		if err != nil {
			return at, unanswered(err)
		}
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if json.Unmarshal(line, &event) != nil {
			return at, notKubernetes(0)
		}
		if event.Type == "ERROR" {
			var said struct {
				Code int `json:"code"`
			}
			_ = json.Unmarshal(event.Object, &said)
			return at, refusal(said.Code, event.Object, f.what)
		}
		var object T
		if json.Unmarshal(event.Object, &object) != nil || !f.trim(&object) {
			return at, notKubernetes(0)
		}
		if v := f.version(object); v != "" {
			at = v
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			f.one(object, false)
		case "DELETED":
			f.one(object, true)
		}
	}
	return at, nil
}
