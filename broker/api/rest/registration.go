package rest

import (
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/codec"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// soon is how long before a stored credential expires there is a warning.
const soon = broker.EndsSoon

// registration rebuilds a registration for the domain, field by field.
func registration(in v1.Registration) broker.Registration {
	return broker.Registration{
		Name:               in.Name,
		Project:            in.VIMProject,
		Type:               broker.VIMType(in.Type),
		Endpoint:           in.Endpoint,
		CACert:             in.CACert,
		InsecureSkipVerify: in.InsecureSkipVerify,
		ServerName:         in.ServerName,
		Namespace:          in.Namespace,
		Credential:         credential(in.Credential),
		Scope:              scope(in),
		CloudsYAML:         in.CloudsYAML,
		Cloud:              in.Cloud,
		Kubeconfig:         in.Kubeconfig,
		Context:            in.Context,
		Description:        in.Description,
		Extra:              string(in.Extra),
		Labels:             in.Labels,
		Shared:             in.Shared,
		SharedWith:         in.SharedWith,
		Default:            in.Default,
	}
}

// scope rebuilds which part of a cloud a registration is for. A single domain is the
// domain of user and project.
func scope(in v1.Registration) broker.Scope {
	out := broker.Scope{
		Region: in.Region, ProjectID: in.ProjectID, ProjectName: in.Project,
		ProjectDomainName: in.ProjectDomain, UserDomainName: in.UserDomain,
	}
	if out.ProjectDomainName == "" {
		out.ProjectDomainName = in.Domain
	}
	if out.UserDomainName == "" {
		out.UserDomainName = in.Domain
	}
	return out
}

func changedScope(in *v1.Scope) *broker.Scope {
	if in == nil {
		return nil
	}
	return &broker.Scope{
		Region: in.Region, ProjectID: in.ProjectID, ProjectName: in.Project,
		ProjectDomainID: in.ProjectDomainID, ProjectDomainName: in.ProjectDomain,
		UserDomainID: in.UserDomainID, UserDomainName: in.UserDomain,
	}
}

// shownScope is nil for a VIM that has none.
func shownScope(s broker.Scope) *v1.Scope {
	if s == (broker.Scope{}) {
		return nil
	}
	return &v1.Scope{
		Region: s.Region, ProjectID: s.ProjectID, Project: s.ProjectName,
		ProjectDomainID: s.ProjectDomainID, ProjectDomain: s.ProjectDomainName,
		UserDomainID: s.UserDomainID, UserDomain: s.UserDomainName,
	}
}

// discovered is nil before anything was.
func discovered(d broker.Discovered) *v1.Discovered {
	if d.Regions == nil && d.Cloud == nil && d.Cluster == nil {
		return nil
	}
	out := &v1.Discovered{Regions: d.Regions}
	if c := d.Cluster; c != nil {
		out.Cluster = &v1.Cluster{
			Mode: c.Mode, User: c.User, Profile: c.Profile, NoAccount: c.NoAccount, RenewAt: c.RenewAt.UTC(),
		}
	}
	if d.Cloud == nil {
		return out
	}
	out.Cloud = &v1.Cloud{
		UserID: d.UserID, UserDomainID: d.UserDomainID,
		ProjectID: d.ProjectID, ProjectName: d.ProjectName,
		ProjectDomainID: d.ProjectDomainID, ProjectDomainName: d.ProjectDomainName,
		Roles: d.Roles, Leases: string(d.Leases), Trusts: d.Trusts, Warnings: d.Warnings,
	}
	for _, e := range d.Catalog {
		out.Catalog = append(out.Catalog, v1.CatalogEntry(e))
	}
	return out
}

// credential rebuilds a credential. Which kind it is follows from its fields, and
// from what the VIM's type takes.
func credential(in v1.Credential) broker.Credential {
	return broker.Credential{
		Token: in.Token, ClientCertificate: in.ClientCertificate, ClientKey: in.ClientKey,
		Username: in.Username, Password: in.Password,
		ApplicationCredentialID: in.ApplicationCredentialID, ApplicationCredentialSecret: in.ApplicationCredentialSecret,
	}
}

func vimChange(in v1.Change) broker.Change {
	return broker.Change{
		Name:               in.Name,
		Description:        in.Description,
		Extra:              string(in.Extra),
		Labels:             in.Labels,
		Shared:             in.Shared,
		SharedWith:         in.SharedWith,
		Default:            in.Default,
		Suspended:          in.Suspended,
		SharedKinds:        in.SharedKinds,
		PodsHeldBy:         in.PodsHeldBy,
		Endpoint:           in.Endpoint,
		CACert:             in.CACert,
		InsecureSkipVerify: in.InsecureSkipVerify,
		ServerName:         in.ServerName,
		Namespace:          in.Namespace,
		Scope:              changedScope(in.Scope),
		Credential:         credential(in.Credential),
		CloudsYAML:         in.CloudsYAML,
		Cloud:              in.Cloud,
		Kubeconfig:         in.Kubeconfig,
		Context:            in.Context,
	}
}

// vim lists what may be shown of a VIM.
func vim(v broker.VIM, now time.Time) v1.VIM {
	status := string(v.Health.Status)
	if v.State != broker.VIMRegistered {
		status = string(v.State)
	}
	extra, _ := codec.Kept(v.Extra)
	return v1.VIM{
		ID:          v.ID,
		Name:        v.Name,
		Type:        string(v.Type),
		Endpoint:    v.Current.Target.Endpoint,
		Status:      status,
		State:       string(v.State),
		Project:     v.Project,
		Description: v.Description,
		Extra:       extra,
		Labels:      v.Labels,
		Shared:      v.Shared,
		SharedWith:  v.SharedWith,
		Default:     v.Default,
		Suspended:   v.Suspended,
		Generation:  v.Current.Number,
		Revision:    v.Revision,
		Credential: v1.StoredCredential{
			Kind:      string(v.Current.CredentialKind),
			ExpiresAt: v.Current.CredentialExpiresAt.UTC(),
			KeyStore:  v.Current.KeyStore,
		},
		CACert:             v.Current.Target.CACert,
		InsecureSkipVerify: v.Current.Target.InsecureSkipVerify,
		ServerName:         v.Current.Target.ServerName,
		Namespace:          v.Current.Target.Namespace,
		SharedKinds:        v.Current.Target.Vouched.Kinds(),
		PodsHeldBy:         v.Current.Target.Vouched.PodsHeldBy,
		Scope:              shownScope(v.Current.Target.Scope),
		Discovered:         discovered(v.Current.Discovered),
		CheckedAt:          v.Health.CheckedAt.UTC(),
		Message:            v.Health.Message,
		Version:            v.Health.Version,
		Identity:           v.Current.Identity,
		CanMint:            v.Health.CanMint,
		MintMessage:        v.Health.MintMessage,
		ExternalIPs:        v.Health.ExternalIPs,
		Warnings:           warnings(v, now),
		CreatedAt:          v.CreatedAt.UTC(),
		UpdatedAt:          v.UpdatedAt.UTC(),
		CreatedBy:          v.CreatedBy,
	}
}

// warnings say what deserves attention although nothing has failed.
func warnings(v broker.VIM, now time.Time) []string {
	var w []string
	if v.Current.Target.InsecureSkipVerify {
		w = append(w, v1.WarnInsecure)
	}
	if strings.HasPrefix(v.Current.Target.Endpoint, "http://") {
		w = append(w, v1.WarnPlainHTTP)
	}
	switch end := v.Current.Target.CAExpiresAt(); {
	case end.IsZero():
	case !end.After(now):
		w = append(w, v1.WarnCAExpired)
	case end.Before(now.Add(soon)):
		w = append(w, v1.WarnCAExpiring)
	}
	near := soon
	if c := v.Current.Discovered.Cluster; c != nil && !c.RenewAt.IsZero() {
		near = v.Current.CredentialExpiresAt.Sub(c.RenewAt) / 2 // it was to be renewed long ago
	}
	switch end := v.Current.CredentialExpiresAt; {
	case end.IsZero():
	case !end.After(now):
		w = append(w, v1.WarnExpired)
	case end.Before(now.Add(near)):
		w = append(w, v1.WarnExpiring)
	}
	return w
}
