package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// Origin is where the content of a package lies. Its password is used for one request, and kept nowhere.
type Origin struct {
	URI, Username string
	Password      secret.Text
}

const (
	originField = "addressInformation"
	origin      = "the package's server"
)

// address is the address of an origin. Only https proves who answers.
func (o Origin) address() (*url.URL, error) {
	u, err := url.Parse(o.URI)
	if err != nil || u.Host == "" || len(o.URI) > 2048 {
		return nil, broker.Invalid(originField, "must be a URI of at most 2048 bytes")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.User != nil:
		return nil, broker.Invalid(originField, "holds a user; give userName and password")
	case u.Scheme != "https" && (u.Scheme != "http" || err != nil || !ip.IsLoopback()):
		return nil, broker.Invalid(originField, "must begin with https://, unless its host is a loopback address")
	}
	return u, nil
}

// UploadFrom is [Catalog.Upload] of a content that lies elsewhere, at an address that the egress rules of the package's
// project allow. Nothing is asked for before policy has decided, and redirects are not followed.
func (c *Catalog) UploadFrom(ctx context.Context, p policy.Principal, ref PackageRef, o Origin) (Package, error) {
	at, err := o.address()
	if err != nil {
		return Package{}, err
	}
	content := &fetched{ctx: ctx, from: o, at: at, catalog: c}
	defer content.close()
	return c.upload(ctx, p, ref, func(pkg Package) io.Reader {
		content.project = pkg.Project
		return content
	})
}

// fetched is a content that is asked for when it is first read.
type fetched struct {
	ctx     context.Context
	catalog *Catalog
	from    Origin
	at      *url.URL
	project string
	way     *remote.Transport
	body    io.ReadCloser
}

// Read implements [io.Reader]. Its errors are [*broker.Error]s, and io.EOF.
func (f *fetched) Read(into []byte) (int, error) {
	if f.body == nil {
		if err := f.ask(); err != nil {
			return 0, err
		}
	}
	n, err := f.body.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unanswered(err)
	}
	return n, err
}

func (f *fetched) ask() (err error) {
	if f.way, err = remote.New(f.catalog.Egress(f.project), remote.Options{Server: origin, CA: f.catalog.Authorities}); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(remote.Stream(f.ctx), http.MethodGet, f.at.String(), http.NoBody)
	if err != nil {
		return broker.Invalid(originField, "cannot be asked for")
	}
	request.Header.Set("Accept", "application/zip, application/octet-stream")
	if f.from.Username != "" {
		request.SetBasicAuth(f.from.Username, f.from.Password.Reveal())
	}
	response, err := f.way.Client().Do(request) //nolint:bodyclose // close does, when the package was read
	if err != nil {
		return unanswered(err)
	}
	f.body = response.Body
	if response.StatusCode != http.StatusOK {
		return &broker.Error{
			Kind: broker.ErrInvalid, Field: originField,
			Detail: fmt.Sprintf("is answered %d by its server, and not with a package", response.StatusCode),
			Remedy: "see whether the address and the password are right; redirects are not followed",
		}
	}
	return nil
}

func (f *fetched) close() {
	if f.body != nil {
		_ = f.body.Close()
	}
	if f.way != nil {
		f.way.CloseIdleConnections()
	}
}

// unanswered is a failure of the way to a server.
func unanswered(err error) error {
	if e := broker.Unanswered(err, origin); e != nil {
		e.Field = originField
		return e
	}
	return &broker.Error{
		Kind: broker.ErrUnreachable, Field: originField, Detail: origin + " has not sent the whole package", Remedy: "try again",
	}
}
