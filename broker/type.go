package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// VIMType names a kind of system that a VIM can be. Which there are depends on
// the drivers: see [Broker.Types].
type VIMType string

// Type is what a driver says about its kind of VIM. It never changes.
type Type struct {
	// Name is unique among the drivers of a broker.
	Name VIMType
	// Formats are the client configurations that a lease can have; the first is the default.
	Formats []clientconfig.Format
	// Credentials are the kinds of credential that a VIM can be registered with.
	Credentials []CredentialKind
	// Document is the kind of file that a VIM can be registered with in place of an
	// endpoint and a credential; empty if there is none. A registration with such a
	// file needs no type.
	Document Document
	// Rules: leases can have rules in place of a role, and be cluster-wide. Its driver is
	// a [Grader].
	Rules bool
	// Standing: there are standing leases. Renew mints further tokens of one account, as short
	// as they are asked for, and Revoke ends all of them at once.
	Standing bool
	// Users: a lease can be a user of its own on the VIM, with name and password.
	Users bool
}

// Document is a kind of file that says where a VIM is and holds its credential.
type Document string

// The kinds of document that a [Registration] can hold.
const (
	DocumentKubeconfig Document = "kubeconfig"
	DocumentCloudsYAML Document = "cloudsYaml"
)

// document is the kind of file that the registration holds; empty if there is none.
func (r Registration) document() Document {
	switch {
	case !r.Kubeconfig.Empty():
		return DocumentKubeconfig
	case !r.CloudsYAML.Empty():
		return DocumentCloudsYAML
	}
	return ""
}

// check returns what keeps VIMs of this type from being served.
func (t Type) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if t.Name == "" {
		fault("it has no name")
	}
	if len(t.Formats) == 0 {
		fault("it has no client configuration formats")
	}
	if slices.Contains(t.Formats, "") || repeated(t.Formats) {
		fault("a client configuration format is empty or listed twice")
	}
	if len(t.Credentials) == 0 {
		fault("it takes no kind of credential")
	}
	seen := map[string]CredentialKind{}
	for _, kind := range t.Credentials {
		fields := words(kind)
		switch other, taken := seen[fields]; {
		case fields == "":
			fault("%q is not a kind of credential that can be stored", kind)
		case taken:
			fault("its kinds of credential %s and %s cannot be told apart", other, kind)
		}
		seen[fields] = kind
	}
	switch t.Document {
	case "", DocumentKubeconfig, DocumentCloudsYAML:
	default:
		fault("%q is not a kind of document that a registration can hold", t.Document)
	}
	return errors.Join(faults...)
}

func repeated[T cmp.Ordered](all []T) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all)
}

// Types are the types of VIM that the broker serves, by name.
func (b *core) Types() []Type { return slices.Clone(b.types) }

// addDrivers takes the drivers in, and refuses what cannot be served.
func (b *core) addDrivers(drivers []Driver) error {
	if len(drivers) == 0 {
		return errors.New("there is no driver")
	}
	documents := map[Document]VIMType{}
	var faults []error
	for i, d := range drivers {
		if d == nil {
			faults = append(faults, fmt.Errorf("driver %d is nil", i+1))
			continue
		}
		t := d.Type()
		if err := t.check(); err != nil {
			faults = append(faults, fmt.Errorf("VIM type %q: %w", t.Name, err))
			continue
		}
		if _, taken := b.drivers[t.Name]; taken {
			faults = append(faults, fmt.Errorf("two drivers serve VIM type %q", t.Name))
			continue
		}
		if other, taken := documents[t.Document]; taken && t.Document != "" {
			faults = append(faults, fmt.Errorf("VIM types %q and %q are both registered with a %s", other, t.Name, t.Document))
		}
		b.drivers[t.Name], documents[t.Document] = d, t.Name
		b.types = append(b.types, t)
	}
	slices.SortFunc(b.types, func(x, y Type) int { return cmp.Compare(x.Name, y.Name) })
	return errors.Join(faults...)
}

// driver returns the driver of a VIM or lease that is stored.
func (b *core) driver(t VIMType) (Driver, error) {
	d, ok := b.drivers[t]
	if !ok {
		return nil, &Error{Kind: ErrUnsupported, Field: "type", Detail: "VIMs of type " + string(t) + " are not supported by this broker"}
	}
	return d, nil
}

// withAble has do ask a VIM, with its stored credential, through what its driver is able to do. Where the driver is not, lacks
// says what VIMs of the type do not have.
func withAble[D any](ctx context.Context, b *core, v VIM, lacks string, do func(context.Context, D, Access) error) error {
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	able, is := d.(D)
	if !is {
		return &Error{Kind: ErrUnsupported, Detail: "VIMs of type " + string(v.Type) + " have no " + lacks}
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return err
	}
	defer o.close()
	ctx, cancel := b.call(ctx)
	defer cancel()
	return do(ctx, able, o.Access)
}

// chooseType fills in the type of a registration that leaves it to its document,
// and returns its driver.
func (b *Registry) chooseType(r *Registration) (Driver, error) {
	document := r.document()
	var names []string
	for _, t := range b.types {
		if r.Type == "" && document != "" && t.Document == document {
			r.Type = t.Name
		}
		names = append(names, string(t.Name))
	}
	if d, ok := b.drivers[r.Type]; ok {
		return d, nil
	}
	if r.Type == "" {
		return nil, Invalid("type", "is required: %s", oneOf(names))
	}
	return nil, &Error{Kind: ErrInvalid, Field: "type", Detail: "must be " + oneOf(names), Cause: ErrUnsupported}
}

// chooseFormat fills in the format of a lease, and refuses one that the VIM does not have.
func (t Type) chooseFormat(f *clientconfig.Format) error {
	if *f == "" {
		*f = t.Formats[0]
	}
	if slices.Contains(t.Formats, *f) {
		return nil
	}
	var names []string
	for _, known := range t.Formats {
		names = append(names, string(known))
	}
	return Invalid("format", "must be one of %s: the VIM is of type %s", strings.Join(names, ", "), t.Name)
}

// oneOf lists alternatives: "a, b or c".
func oneOf(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Discovered is what a driver found out about a VIM. It is stored with the
// generation as JSON of at most 64 KiB, shown to callers, and handed back to the
// driver in [Access]. None of it is secret.
type Discovered struct {
	// Regions are the VIM's regions; on Kubernetes its namespaces.
	Regions []string `json:"regions"`
	// Cloud is nil where the VIM is no cloud, or nothing was discovered yet. In the
	// stored form its fields stand beside the regions.
	*Cloud
	// Cluster is nil where the VIM is no cluster, or was last checked before there were
	// modes. In the stored form its fields stand beside the regions.
	*Cluster
}

// Account is what the VIM's own account may do, and why there is none although it was asked for; each may be empty.
func (d Discovered) Account() (profile, none string) {
	if d.Cluster == nil {
		return "", ""
	}
	return d.Profile, d.NoAccount
}

// The modes of a cluster.
const (
	// ModeManaged: the registered credential makes the namespaces that it needs.
	ModeManaged = "managed"
	// ModePrepared: it uses those of a pool that an administrator made.
	ModePrepared = "prepared"
)

// Cluster is what a driver found out about a Kubernetes cluster.
type Cluster struct {
	Mode string `json:"mode"`
	// Pool counts the namespaces of the pool, PoolFree those that no grant has claimed.
	Pool     int `json:"pool,omitempty"`
	PoolFree int `json:"poolFree,omitempty"`
	// User is who the cluster takes the registered credential for.
	User string `json:"user,omitempty"`
	// Profile is what the account may do that works in the place of the credential that
	// was given (see [Account]); empty where that credential was kept. NoAccount says then
	// why, if an account was asked for.
	Profile   string `json:"profile,omitempty"`
	NoAccount string `json:"noAccount,omitempty"`
	// RenewAt is when the account's token is to be replaced; zero where it is none's.
	RenewAt time.Time `json:"renewAt,omitzero"`
}

// Cloud is what a driver found out about a cloud with projects.
type Cloud struct {
	// UserID and UserDomainID are those of the registered user.
	UserID       string `json:"userId"`
	UserDomainID string `json:"userDomainId"`
	// The project is the one that the credential acts in.
	ProjectID         string `json:"projectId"`
	ProjectName       string `json:"projectName"`
	ProjectDomainID   string `json:"projectDomainId"`
	ProjectDomainName string `json:"projectDomainName"`
	// Roles are those of the user on the project.
	Roles []string `json:"roles"`

	// Leases is the kind of credential that a lease is: ApplicationCredential, or
	// ProjectToken where the registered credential may not make any.
	Leases CredentialKind `json:"leases"`
	// Trusts: application credentials may make trusts, which Heat needs. Where they
	// may not, a lease whose purpose is Heat is a project token.
	Trusts bool `json:"trustsByApplicationCredential"`
	// Openings are the ways in which the holder of an application credential can go beyond
	// it on this cloud, by the driver's names for them: empty where the cloud says so, and
	// otherwise why it is not known. Nil where nobody has asked.
	Openings map[string]string `json:"openings,omitzero"`
	// Warnings are sentences that say which leases are not bounded.
	Warnings []string `json:"warnings,omitempty"`

	Catalog []CatalogEntry `json:"catalog"`
}

// CatalogEntry is one line of a cloud's service catalog, reduced to where it leads:
// a token follows to that host.
type CatalogEntry struct {
	Service   string `json:"service"`
	Interface string `json:"interface"`
	Region    string `json:"region,omitempty"`
	// Origin is scheme, host and port.
	Origin string `json:"origin"`
}
